//! Why a run is invalid, and the warnings about its environment, as sentences.

use std::collections::BTreeMap;

use crate::report::document::format::{bytes, count, counted, enumerated, listed, percent, plain, three, time};
use crate::results::{LoadModel, Part, RunRecord};
use crate::stats::{
    self, CarryOver, EnvironmentWarning, Interference, InvalidReason, Reason, Role, SharedCache, WarmUp,
};

use super::decision::phrase;

/// Cells, or effects of one arm on another, that a warning names.
const NAMED: usize = 3;

/// The share of an operation's calls that do nothing above which there is a warning.
const IDLE: f64 = 1.0 / 3.0;

/// Why a run is invalid; empty for a valid one.
pub(crate) fn invalid(record: &RunRecord) -> Vec<String> {
    stats::invalid_reasons(record)
        .into_iter()
        .map(|(strategy, reason)| invalid_reason(record, strategy, reason))
        .collect()
}

fn name(record: &RunRecord, strategy: usize) -> String {
    record.strategies.get(strategy).map_or_else(|| "?".into(), |strategy| plain(&strategy.name))
}

fn invalid_reason(record: &RunRecord, strategy: usize, reason: InvalidReason) -> String {
    let name = name(record, strategy);
    match reason {
        InvalidReason::Connections(created) => format!(
            "{} {} made while calls of {name} were measured, and some calls waited for one; see whether the server closes \
             connections, then run again.",
            counted(created, "connection"),
            if created == 1 { "was" } else { "were" }
        ),
        InvalidReason::Errors(share) => format!(
            "{name} failed in {} of its calls, and the error budget is {}; {}.",
            percent(share),
            percent(record.settings.error_budget),
            if record.events.iter().any(|event| event.strategy == strategy) {
                "the primary changed meanwhile, so run again"
            } else {
                "fix the errors listed below, or allow a larger error budget"
            }
        ),
        InvalidReason::Anomalies(count) => format!(
            "Audits counted {} in the data of {name}: it did not do the same work as the others; docshape verify has the details.",
            counted(count, "anomaly")
        ),
        InvalidReason::Saturated(calls) => format!(
            "{} of {name} took longer than can be recorded, so that its mean and maximum are too low; use a shorter timeout.",
            counted(calls, "call")
        ),
        InvalidReason::PacerLag { lag, allowed } => format!(
            "Calls of {name} were released {} late (p99, the median of its cells), and {} is allowed; lower the rate, or \
             give the load more of the machine.",
            time(lag),
            time(allowed)
        ),
    }
}

/// The warnings.
pub(crate) fn warnings(record: &RunRecord) -> Vec<String> {
    let mut warnings = environment(record);
    warnings.extend((0..record.strategies.len()).filter_map(|strategy| warm_up(record, strategy)));
    warnings.extend(carry_over(record));
    warnings.extend(idle_operations(record));
    warnings.extend((0..record.strategies.len()).filter_map(|strategy| few_in_flight(record, strategy)));
    warnings.extend(interference(record));
    warnings.extend((0..record.strategies.len()).filter_map(|strategy| fewer_calls(record, strategy)));
    warnings.extend(without_flush(record));
    warnings.extend(without_counters(record));
    warnings
}

/// A server that did not flush.
fn without_flush(record: &RunRecord) -> Option<String> {
    let cells = record.rounds.iter().flat_map(|round| &round.cells);
    let mut sizes = cells.flat_map(|cell| cell.before.iter().chain(&cell.after));
    sizes.any(|one| !one.checkpointed).then(|| {
        "Nothing was flushed, because the user has no right to `fsync` or the server does not know it. What calls left to write \
         was written at times of the server's choice, perhaps in slices of other strategies, and no flush was charged to any \
         strategy. `docshape rights` prints the right for it."
            .into()
    })
}

/// Strategies whose counters miss a round, because two servers did its work.
fn without_counters(record: &RunRecord) -> Option<String> {
    let is_without = |strategy: &usize| {
        let mut events = record.rounds.iter().flat_map(|round| record.events.iter().map(move |event| (round, event)));
        events.any(|(round, event)| event.is_in(round.index, *strategy, record.part))
    };
    let names = (0..record.strategies.len()).filter(is_without).map(|strategy| name(record, strategy));
    Some(format!(
        "Server counters and CPU time of {} are without the rounds in which the server failed over while it was \
         measured: counters of two processes cannot be subtracted. See the events.",
        enumerated(names)?
    ))
}

/// A shared server that did not say what it wrote. An embedded one always does.
pub(crate) fn unknown_cache(parts: &BTreeMap<Part, RunRecord>) -> Option<String> {
    let is_external = parts.values().any(|part| !part.server.embedded);
    (is_external && SharedCache::of(parts).is_unknown).then(|| {
        "It is not known whether strategies paid for what others left in the shared cache: the user may not read the server's \
         counters or its oplog. `docshape rights` prints the rights for them; or use --isolate."
            .into()
    })
}

/// Operations that do nothing in many of their calls.
fn idle_operations(record: &RunRecord) -> Vec<String> {
    // Two parts with the mix would say the same, with other numbers.
    let with_mix = record.settings.parts.iter().copied().find(|part| *part != Part::Own);
    if record.part.is_some() && record.part != with_mix {
        return Vec::new();
    }
    let idle = |operation: usize| {
        let share =
            |strategy: usize| stats::outcome_totals(stats::operations(record, strategy, operation)).idle_share();
        let strategies = (0..record.strategies.len()).filter(|strategy| !record.strategies[*strategy].is_repeat);
        let most = strategies.map(share).filter(|share| *share > IDLE).reduce(f64::max)?;
        Some(format!(
            "Up to {} of the calls of {} did nothing (not found, rejected or unchanged): their times are mostly those of \
             such calls. Check what its arguments refer to.",
            percent(most),
            plain(&record.operations[operation])
        ))
    };
    (0..record.operations.len()).filter_map(idle).collect()
}

/// A strategy that left clients idle at saturation.
fn few_in_flight(record: &RunRecord, strategy: usize) -> Option<String> {
    let found =
        stats::in_flight(record, strategy).filter(|found| record.part == Some(Part::Saturation) && found.is_low())?;
    let claim =
        if found.is_too_low() { "so its throughput is not compared" } else { "so its throughput is a little too low" };
    Some(format!(
        "{} had {} of {} clients busy at saturation, {claim}: its long calls leave clients idle at the end of slices; use fewer \
         slices.",
        name(record, strategy),
        three(found.achieved),
        found.clients
    ))
}

/// A strategy that makes fewer calls at saturation than others, because it is much slower.
fn fewer_calls(record: &RunRecord, strategy: usize) -> Option<String> {
    let entry =
        record.strategies.get(strategy).filter(|one| !one.is_repeat && record.part == Some(Part::Saturation))?;
    let fewer = record.settings.fewer_calls.get(&entry.name)?;
    Some(format!(
        "{} is more than five times slower than others: at saturation it makes {} per round where they make {}, so its documents \
         grow less.",
        name(record, strategy),
        counted(*fewer, "call"),
        count(record.settings.calls?)
    ))
}

/// Identical programs that differ by themselves: an alarm about the machine.
fn interference(record: &RunRecord) -> Option<String> {
    let found = if record.part == Some(Part::Own) { stats::interference(record) } else { Vec::new() };
    let words = |one: &Interference| {
        let (operation, strategy) = (plain(&record.operations[one.operation]), name(record, one.strategy));
        format!("{operation} with {strategy} ({}x)", three(one.ratio))
    };
    Some(format!(
        "Identical programs took different times by themselves: {}. The machine, or what a strategy keeps besides, adds \
         this much; do not trust differences of this size.",
        enumerated(found.iter().map(words))?
    ))
}

/// A warning when the throughput did not settle.
fn warm_up(record: &RunRecord, strategy: usize) -> Option<String> {
    let name = name(record, strategy);
    let (change, how) = match stats::warm_up(record, strategy)? {
        WarmUp::Warm => return None,
        WarmUp::Drifting(change) => (change, "early in the window and then settled"),
        WarmUp::Never(change) => (change, "during the window without settling"),
    };
    let moved = if change < 0.0 { "fell" } else { "rose" };
    let why = if stats::is_growing(record, strategy) {
        "its documents grow, so there is no steady state, and its numbers are means over the growth"
    } else {
        "its warm-up was too short: use a longer preset or more calls"
    };
    Some(format!("{name}: throughput {moved} by {} {how}; {why}.", percent(change.abs())))
}

/// Arms that are slower or faster after some other arm.
fn carry_over(record: &RunRecord) -> Option<String> {
    let found = stats::carry_over(record);
    let words = |one: &CarryOver| {
        let more = if one.effect < 0.0 { "less" } else { "more" };
        let (arm, before) = (name(record, one.strategy), name(record, one.after));
        format!("{arm} takes {} {more} time right after {before} than after others", percent(one.effect.abs()))
    };
    (!found.is_empty()).then(|| {
        let listed = shortened(found.iter().map(words).collect(), " such effects");
        format!("Strategies affect each other: {listed}. In isolation each has the server to itself.")
    })
}

/// Texts as an enumeration; of many, how many more there are.
fn shortened(mut texts: Vec<String>, noun: &str) -> String {
    let more = texts.split_off(NAMED.min(texts.len())).len() as u64;
    texts.extend((more > 0).then(|| format!("{} more{noun}", count(more))));
    listed(&texts)
}

/// What strains may have done to the numbers.
pub(crate) fn environment(record: &RunRecord) -> Vec<String> {
    stats::environment_warnings(record).into_iter().map(|warning| environment_warning(record, warning)).collect()
}

fn environment_warning(record: &RunRecord, warning: EnvironmentWarning) -> String {
    match warning {
        EnvironmentWarning::Steal(cells) => steal(record, &cells),
        EnvironmentWarning::LoadThread { strategies, busy } => {
            let names: Vec<String> = strategies.iter().map(|strategy| name(record, *strategy)).collect();
            let meaning = match record.settings.load {
                LoadModel::Closed => "throughput with closed load is a lower bound",
                LoadModel::Open { .. } => "calls may have waited for it",
            };
            format!(
                "A load thread was busy for {} of its time with {}: {meaning}; use more load threads.",
                percent(busy),
                listed(&names)
            )
        }
        EnvironmentWarning::CheckOut(waits) => {
            let waits =
                waits.iter().map(|(strategy, share)| format!("{} ({})", name(record, *strategy), percent(*share)));
            format!(
                "A part of the service time was spent waiting for a pooled connection: {}. Use fewer clients or more load threads.",
                listed(waits)
            )
        }
        EnvironmentWarning::Unsafe(strategy, reason) => invalid_reason(record, strategy, reason),
        EnvironmentWarning::Cache { data, cache } => format!(
            "The strategies' data are {} in total, more than half of the server's cache of {}, so they evict each other; run \
             them in isolation or use a larger cache.",
            bytes(data as f64),
            bytes(cache as f64)
        ),
    }
}

fn steal(record: &RunRecord, cells: &[(u64, usize, f64)]) -> String {
    let measured: usize = record.rounds.iter().map(|round| round.cells.len()).sum();
    let cell = |(round, strategy, share): &(u64, usize, f64)| {
        format!("{} in round {} ({})", name(record, *strategy), count(round.saturating_add(1)), percent(*share))
    };
    format!(
        "The hypervisor took more than 5 % of the processor time away in {} of {}: {}.",
        count(cells.len() as u64),
        counted(measured as u64, "cell"),
        shortened(cells.iter().map(cell).collect(), "")
    )
}

/// Overloaded strategies that are not judged anyway; the verdict names the others.
pub(crate) fn overloaded(record: &RunRecord) -> Vec<String> {
    let unjudged = (0..record.strategies.len()).filter(|strategy| stats::role(record, *strategy) != Role::Judged);
    let name = |strategy: usize| Some(record.strategies.get(strategy)?.name.as_str());
    let text = |strategy: usize| {
        let achieved = stats::overloaded(record, strategy)?;
        Some(format!("{}.", phrase::reason(Reason::Overloaded { strategy, achieved }, &name)))
    };
    unjudged.filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::sample;

    #[test]
    fn many_stolen_cells_are_shortened() {
        let mut run = sample::run(3);
        for (place, cell) in run.rounds.iter_mut().flat_map(|round| &mut round.cells).enumerate() {
            cell.machine.steal = Some(0.01 * place as f64);
        }
        let wanted =
            "in 3 of 9 cells: bucket_rmw in round 3 (8.0 %), linked in round 3 (7.0 %) and embedded in round 3";
        assert!(warnings(&run)[0].contains(wanted), "{:?}", warnings(&run));
        run.rounds[0].cells[0].machine.steal = Some(0.5);
        assert!(warnings(&run)[0].ends_with("(7.0 %) and 1 more."), "{:?}", warnings(&run));
    }
}
