//! What two runs measured differently.

use crate::report::NamedRun;
use crate::report::document::format::{counted, plain, three};
use crate::report::run::validity::environment;
use crate::results::{Part, RunRecord, ServerSharing};
use crate::stats;
use crate::stats::run_comparison::{RunComparison, SharedShift, measured_parts};

use super::ComparedRuns;

/// What a reader has to know before using the numbers.
pub(super) fn warnings(found: &RunComparison, runs: ComparedRuns) -> Vec<String> {
    let mut warnings: Vec<String> = found.shared_shift.map(|shift| shared_shift(shift, found)).into_iter().collect();
    warnings.extend(runs.first().map_or_else(Vec::new, |pair| setting_warnings(found, pair)));
    warnings.extend(runs.changed.iter().map(|name| format!("The definition of strategy {} changed.", plain(name))));
    warnings.extend(stats::distinct(runs.named().flat_map(|(name, NamedRun { record, .. })| {
        let of_run = record.warnings.iter().map(|warning| plain(warning));
        let of_parts = record.all_parts().into_values().flat_map(|part| environment(&part));
        of_run.chain(of_parts).map(move |warning| format!("{name}: {warning}"))
    })));
    if !runs.named().any(|(_, run)| run.record.strategies.iter().any(|strategy| strategy.is_repeat)) {
        warnings.push("No run has a repeat of the baseline, so the noise is unknown.".into());
    }
    warnings
}

/// What two runs measured differently.
fn setting_warnings(found: &RunComparison, [before, after]: [&RunRecord; 2]) -> Vec<String> {
    let mut warnings: Vec<String> = other_rate(found, before, after).into_iter().collect();
    if let (Some(old), Some(new)) = (before.settings.calls, after.settings.calls)
        && old != new
    {
        warnings.push(format!(
            "The rounds have different numbers of calls, so documents that grow end at different sizes: measure B with {} per \
             round.",
            counted(old, "call")
        ));
    }
    if before.settings.isolated.is_some() != after.settings.isolated.is_some() {
        let (isolated, other) = if before.settings.isolated.is_some() { ("A", "B") } else { ("B", "A") };
        warnings.push(format!(
            "In {isolated} every strategy had the server to itself, in {other} it had not: measure {other} again in isolation."
        ));
    }
    if before.server.servers != after.server.servers {
        let (own, other) = if before.server.servers == ServerSharing::PerStrategy { ("A", "B") } else { ("B", "A") };
        warnings.push(format!("In {own} every strategy had a server of its own, in {other} all shared one."));
    }
    warnings
}

/// Whether the mix was compared at saturation only because the rates differ.
fn other_rate(found: &RunComparison, before: &RunRecord, after: &RunRecord) -> Option<String> {
    let have_rate = [before, after].iter().all(|record| measured_parts(record).contains(&Part::Rate));
    let rate = before.settings.planned_rate().filter(|_| have_rate && found.parts.mix != Part::Rate)?;
    Some(format!(
        "The rates or their arrivals differ, so the mix was not compared there: measure B with --rate {rate} and the \
         arrivals of A."
    ))
}

fn shared_shift(SharedShift { means, typical, range }: SharedShift, found: &RunComparison) -> String {
    let (low, high, typical) = (three(range.low), three(range.high), three(typical));
    let relative = if found.relative_to.is_some() { " What is relative does not contain it." } else { "" };
    format!(
        "All {means} means changed alike, by {low} to {high} (median {typical}): the cause may be the server, or a machine that was \
         more or less busy. See what differs; docshape run --ab measures two servers in turns.{relative}"
    )
}
