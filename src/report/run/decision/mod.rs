//! What a run's first screen says: the answer, how sure it is, why, and what speaks against it.

mod answer;
mod but;
mod flips;
pub(crate) mod phrase;
mod scale;
#[cfg(test)]
mod tests;
mod why;

use crate::report::document::decision::Decision;
use crate::results::RunRecord;

use super::parts::PartEvaluations;
use super::verdict_text::no_verdict;
pub(crate) use answer::Judged;

/// The decision of a run. `others` are runs of other mixes.
pub(crate) fn decision(record: &RunRecord, parts: &PartEvaluations, others: &[RunRecord]) -> Decision {
    let scale = scale::scale(record, parts);
    let none = |answer: String| Decision {
        scale: scale.clone(),
        pieces: [answer.clone(), String::new(), String::new()],
        answer,
        winner: None,
        sure: None,
        why: None,
        flips: Vec::new(),
        but: Vec::new(),
    };
    if let Some(reason) = parts.main().no_verdict {
        return none(no_verdict(reason, parts.main()));
    }
    let Some(judged) = Judged::of(parts) else {
        return none("No verdict about the mix: only own costs were measured.".into());
    };
    let pieces = judged.answer();
    Decision {
        scale: scale.clone(),
        answer: pieces.concat(),
        winner: judged.answer.winner().map(|place| judged.name(place).to_owned()),
        pieces,
        sure: Some(judged.sure()),
        why: why::why(&judged),
        flips: flips::flips(&judged, others),
        but: but::but(&judged),
    }
}
