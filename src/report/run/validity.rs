//! Why a run is invalid, and the warnings about its environment, as sentences.

use std::collections::BTreeMap;

use crate::record::Metric;
use crate::report::document::format::{bytes, count, counted, enumerated, listed, percent, plain, three, time};
use crate::results::{LoadModel, Part, RunRecord};
use crate::stats::{
    self, CarryOver, EnvironmentWarning, Interference, InvalidReason, Reason, Role, SharedCache, Unsettled,
};

use super::PartEvaluations;
use super::decision::phrase;

/// Cells, or effects of one arm on another, that a warning names.
const NAMED: usize = 3;

/// The share of an operation's calls that do nothing above which its times are mostly theirs.
const IDLE: f64 = 0.5;

/// How many times as long a run should measure in which something had not settled.
const LONGER: f64 = 4.0;

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
        InvalidReason::Disturbed(share) => format!(
            "{name} kept up with {} of the calls of a round in which the primary changed meanwhile, so run again.",
            percent(share)
        ),
        InvalidReason::PacerLag { lag, allowed } => format!(
            "Calls of {name} were released {} late (p99, the median of its cells), and {} is allowed; lower the rate, or \
             give the load more of the machine.",
            time(lag),
            time(allowed)
        ),
    }
}

/// The warnings of a part.
pub(crate) fn warnings(record: &RunRecord) -> Vec<String> {
    let mut warnings = environment(record);
    warnings.extend(carry_over(record));
    warnings.extend(idle_operations(record));
    warnings.extend(few_in_flight(record));
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
fn idle_operations(record: &RunRecord) -> Option<String> {
    // Two parts with the mix would say the same, with other numbers.
    let with_mix = record.settings.parts.iter().copied().find(|part| *part != Part::Own);
    if record.part.is_some() && record.part != with_mix {
        return None;
    }
    let idle = |operation: usize| {
        let share =
            |strategy: usize| stats::outcome_totals(stats::operations(record, strategy, operation)).idle_share();
        let strategies = (0..record.strategies.len()).filter(|strategy| !record.strategies[*strategy].is_repeat);
        let most = strategies.map(share).filter(|share| *share > IDLE).reduce(f64::max)?;
        Some(format!("{} (up to {})", plain(&record.operations[operation]), percent(most)))
    };
    Some(format!(
        "Most calls did nothing (not found, rejected or unchanged), so that the times are mostly theirs: {}. Check what the \
         arguments refer to.",
        enumerated((0..record.operations.len()).filter_map(idle))?
    ))
}

/// Strategies that left clients idle at saturation: those whose throughput is not compared, and those where it is a little too low.
fn few_in_flight(record: &RunRecord) -> impl Iterator<Item = String> {
    let is_saturated = record.part == Some(Part::Saturation);
    let of =
        |strategy| Some((strategy, stats::in_flight(record, strategy).filter(|found| is_saturated && found.is_low())?));
    let found: Vec<_> = (0..record.strategies.len()).filter_map(of).collect();
    let has_slices = record.rounds.iter().flat_map(|round| &round.cells).any(|cell| cell.slices.len() > 1);
    let cure = if has_slices {
        "slices; use fewer slices (--slices)".to_owned()
    } else {
        format!("a round; measure longer (--duration {}s)", longer(record))
    };
    let claims = [(true, "so that throughput is not compared"), (false, "so that throughput is a little too low")];
    let texts = claims.map(|(is_too_low, claim)| {
        let these = found.iter().filter(|(_, found)| found.is_too_low() == is_too_low);
        let names = enumerated(these.map(|(strategy, of)| format!("{} ({})", name(record, *strategy), three(of.achieved))))?;
        Some(format!(
            "Fewer than {} clients were busy at saturation with {names}, {claim}: long calls leave clients idle at the end of {cure}.",
            record.settings.clients
        ))
    });
    texts.into_iter().flatten()
}

/// The seconds for which a run measures that should measure longer than this one.
fn longer(record: &RunRecord) -> String {
    format!("{}", record.settings.duration.unwrap_or(record.settings.preset.length().seconds) * LONGER)
}

/// A strategy that makes fewer calls at saturation than others, because it is much slower, where calls change sizes.
fn fewer_calls(record: &RunRecord, strategy: usize) -> Option<String> {
    let entry =
        record.strategies.get(strategy).filter(|one| !one.is_repeat && record.part == Some(Part::Saturation))?;
    let fewer = record.settings.fewer_calls.get(&entry.name)?;
    let grows = (0..record.strategies.len()).any(|strategy| stats::is_growing(record, strategy));
    grows.then_some(format!(
        "{} made {} per round at saturation where others made {}, because it is more than five times slower, so its documents grew \
         less. With --calls {fewer} all make as many.",
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

/// The parts with a verdict about the mix that a longer run could change, because a ratio had not settled.
fn unsettled_parts(parts: &PartEvaluations) -> impl Iterator<Item = (Part, &RunRecord, Vec<Unsettled>)> {
    let metrics = [(Part::Own, Metric::MEAN), (Part::Saturation, Metric::Throughput)];
    let found = metrics.into_iter().filter_map(|(part, metric)| {
        let (record, question) = (parts.record(part)?, parts.of_mix(part, metric)?);
        Some((part, record, stats::unsettled(record, question)))
    });
    found.filter(|(.., found)| !found.is_empty())
}

/// How long to measure, as `--duration` takes it, where a longer run could give another verdict.
pub(crate) fn settling_time(parts: &PartEvaluations) -> Option<String> {
    unsettled_parts(parts).next().map(|(_, record, _)| format!("{}s", longer(record)))
}

/// Verdicts about the mix that a longer run could change, because a ratio had not settled.
pub(crate) fn unsettled(parts: &PartEvaluations) -> Vec<String> {
    let found = unsettled_parts(parts).filter_map(|(part, record, found)| {
        let words = |one: &Unsettled| {
            let [best, other] = [one.strategy, one.against].map(|strategy| name(record, strategy));
            let [early, late] = [one.early, one.late].map(three);
            format!("a call with {best} took {early} of the time with {other} in the first half, {late} in the second")
        };
        let has_grown = |strategy| parts.all_records().values().any(|part| stats::is_growing(part, strategy));
        let grows = found.iter().any(|one| has_grown(one.strategy) || has_grown(one.against));
        Some(format!(
            "A longer run may give another verdict ({}): {}. Use --duration {}s{}.",
            part.label(),
            enumerated(found.iter().map(words))?,
            longer(record),
            if grows { ", or `docshape grow`, because documents grow" } else { "" }
        ))
    });
    found.collect()
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
        format!("Strategies affect each other: {listed}. --isolate measures them one after another.")
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
        EnvironmentWarning::Steal { most, least } => steal(record, most, least),
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

fn steal(record: &RunRecord, most: (usize, f64), least: (usize, f64)) -> String {
    let of = |(strategy, share): (usize, f64)| format!("{} from {}", percent(share), name(record, strategy));
    let both = stats::distinct([most, least].into_iter()).into_iter().map(of);
    format!(
        "The hypervisor took processor time: {}. Times are longer by about as much, and ratios off by the difference; run again when \
         the machine is quiet.",
        listed(both)
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
    fn stolen_time_that_could_move_a_ratio_is_named() {
        let mut run = sample::run(3);
        let mut warned = |shares: [f64; 3]| {
            for round in &mut run.rounds {
                round.cells.iter_mut().zip(shares).for_each(|(cell, share)| cell.machine.steal = Some(share));
            }
            warnings(&run).into_iter().find(|warning| warning.contains("hypervisor"))
        };
        assert_eq!(warned([0.03, 0.04, 0.03]), None, "the same for all");
        let warning = warned([0.01, 0.08, 0.03]).unwrap();
        assert!(warning.contains("time: 8.0 % from linked and 1.0 % from embedded."), "{warning}");
        assert!(warned([0.09, 0.09, 0.09]).is_some(), "times are too long");
    }
}
