//! What a run's first screen says: the answer, how sure it is, why, and what speaks against it.

mod answer;
mod but;
#[cfg(test)]
mod combinations;
mod flips;
mod next_step;
pub(crate) mod phrase;
mod scale;
mod sure;
#[cfg(test)]
mod tests;
mod why;

use crate::report::document::decision::Decision;
use crate::report::document::format::listed;
use crate::results::{Part, RunRecord};

use super::parts::PartEvaluations;
use super::under_load::LoadCurve;
pub(crate) use answer::Judged;
pub(crate) use next_step::NextStep;
pub(crate) use why::{differences, mechanism};

/// Why no strategy has a number that decides.
fn nothing_compared(parts: &PartEvaluations) -> String {
    let measured = || parts.all_records().keys().copied();
    let why = if measured().all(|part| part == Part::Own) {
        "only own costs were measured".to_owned()
    } else if measured().any(|part| matches!(part, Part::Saturation | Part::Rate)) {
        "no strategy has a number that can be compared".to_owned()
    } else {
        let all: Vec<&str> = measured().map(Part::label).collect();
        let verb = if all.len() == 1 { "was measured, and it decides" } else { "were measured, and they decide" };
        format!("only {} {verb} nothing", listed(all))
    };
    format!("No verdict about the mix: {why}.")
}

/// The decision of a run. `others` are runs of other mixes.
pub(crate) fn decision(record: &RunRecord, parts: &PartEvaluations, others: &[RunRecord], next: &NextStep) -> Decision {
    let scale = scale::scale(record, parts);
    let next = next.sentence(record, parts);
    let none = |scale: String, answer: &str| {
        let pieces = [answer.to_owned(), String::new(), String::new()];
        Decision { scale, pieces, answer: answer.to_owned(), next: next.clone(), ..Decision::default() }
    };
    let curve = LoadCurve::new(parts);
    if let Some(text) = &parts.main().no_verdict {
        // A rate that is too high is said in any case.
        return none(scale, &[Some(text.clone()), curve.misses()].into_iter().flatten().collect::<Vec<_>>().join(" "));
    }
    if let Some(text) = curve.unreachable() {
        return none(scale, &text);
    }
    let Some(judged) = Judged::of(parts) else {
        return none(scale, &curve.overloaded().unwrap_or_else(|| nothing_compared(parts)));
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
        next,
    }
}
