//! What would decide a run that is undecided, and how long that takes.

use crate::report::document::format::counted;
use crate::results::{CellRecord, Part, Preset, Reason, RunRecord};
use crate::stats::effect;

use super::answer::Judged;

/// The next step where a comparison of the best strategy shows nothing; `None` where all would have shown a difference.
pub(super) fn next_step(judged: &Judged) -> Option<String> {
    let open = judged.answer.tied().find(|one| effect(one.verdict).is_none())?;
    let record = judged.parts.main_record()?;
    let name = |place: usize| judged.marked(place);
    match open.verdict.reason() {
        None | Some(Reason::Unstable { .. } | Reason::RoundsDisagree) => {
            let next = longer(record.settings.preset).map(|preset| {
                let minutes = counted(minutes(judged, preset), "minute");
                format!(": try --preset {preset} (about {minutes})")
            });
            let next = next.unwrap_or_else(|| ": try more --rounds, or a machine that does nothing else".to_owned());
            Some(format!("Rounds differ too much{next}"))
        }
        Some(Reason::FewInFlight { strategy, .. }) => {
            let clients = record.settings.clients * 4;
            Some(format!("The clients of {} were mostly idle: try --clients {clients}", name(strategy)))
        }
        Some(Reason::WriteBack { .. } | Reason::DirtyCache { .. }) => {
            Some("The strategies disturbed each other in one cache: try --isolate".to_owned())
        }
        Some(Reason::Failures { strategy, .. }) => Some(format!("Too many calls of {} failed", name(strategy))),
        Some(Reason::NoSuccess { strategy }) => {
            Some(format!("{} had a round without a successful call", name(strategy)))
        }
        Some(_) => None,
    }
}

/// The preset to try after one.
fn longer(preset: Preset) -> Option<Preset> {
    Preset::ALL.into_iter().skip_while(|one| *one != preset).nth(1)
}

/// About how long another preset measures, in minutes: what loading took in each round, the windows of that preset, and the calls
/// by themselves, of which it makes more.
fn minutes(judged: &Judged, preset: Preset) -> u64 {
    let of = |record: &RunRecord| {
        let cells = record.rounds.iter().flat_map(|round| &round.cells);
        let [had, next] = [record.settings.preset, preset].map(Preset::length);
        let window = |cell: &CellRecord| match record.part {
            Some(Part::Own) => cell.seconds * next.own_calls as f64 / had.own_calls as f64,
            _ => next.warmup_seconds + next.seconds,
        };
        let sum: f64 = cells.map(|cell| cell.load_seconds + window(cell)).sum();
        sum / record.rounds.len().max(1) as f64 * next.rounds as f64
    };
    let seconds: f64 = judged.parts.all_records().values().map(of).sum();
    (seconds / 60.0).ceil().max(1.0) as u64
}
