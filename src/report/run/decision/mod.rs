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
use crate::results::{Part, RunRecord};
use crate::stats::ShareFlip;

use super::parts::PartEvaluations;
use super::under_load::LoadCurve;
pub(crate) use answer::Judged;
pub(crate) use why::{difference_of, mechanism};

/// The nearest share of an operation at which a beaten strategy overtakes; `None` where none is known.
pub(crate) fn nearest_share_flip(parts: &PartEvaluations) -> Option<(String, ShareFlip)> {
    let judged = Judged::of(parts)?;
    let (_, flip) = flips::shares(&judged)?.into_iter().next()?;
    Some((parts.record(Part::Own)?.operations.get(flip.operation)?.clone(), flip))
}

/// The decision of a run. `others` are runs of other mixes.
pub(crate) fn decision(record: &RunRecord, parts: &PartEvaluations, others: &[RunRecord]) -> Decision {
    let scale = scale::scale(record, parts);
    let none = |scale: String, answer: &str| {
        let pieces = [answer.to_owned(), String::new(), String::new()];
        Decision { scale, pieces, answer: answer.to_owned(), ..Decision::default() }
    };
    if let Some(text) = &parts.main().no_verdict {
        return none(scale, text);
    }
    if let Some(text) = LoadCurve::new(parts).unreachable() {
        return none(scale, &text);
    }
    let Some(judged) = Judged::of(parts) else {
        return none(scale, "No verdict about the mix: only own costs were measured.");
    };
    let pieces = judged.answer();
    Decision {
        scale,
        answer: pieces.concat(),
        winner: judged.answer.winner().map(|place| judged.name(place).to_owned()),
        pieces,
        sure: Some(judged.sure()),
        why: why::why(&judged),
        flips: flips::flips(&judged, others),
        but: but::but(&judged),
    }
}
