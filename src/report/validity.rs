//! In words: why a run is not valid, and what its machine, pool and cache warn of.

use crate::results::{LoadModel, RunRecord};
use crate::stats::{self, CarryOver, Role, Strain, Void, WarmUp};

use super::format::{bytes, count, counted, listed, percent, plain, time};

/// Cells that a warning names.
const NAMED_CELLS: usize = 3;

/// Effects of one arm on another that a warning names.
const NAMED_EFFECTS: usize = 3;

/// The reasons for which nothing of this run may be believed; empty for a valid one.
pub(super) fn void(record: &RunRecord) -> Vec<String> {
    stats::void(record).into_iter().map(|fault| fault_words(record, fault)).collect()
}

fn name(record: &RunRecord, strategy: usize) -> String {
    record.strategies.get(strategy).map_or_else(|| "?".into(), |strategy| plain(&strategy.name))
}

fn fault_words(record: &RunRecord, fault: Void) -> String {
    match fault {
        Void::Connections { strategy, created } => format!(
            "{} made while calls of {} were measured, and some calls waited for one; see whether the server closes \
             connections, then run again.",
            if created == 1 { "1 connection was".to_owned() } else { format!("{} connections were", count(created)) },
            name(record, strategy)
        ),
        Void::Errors { strategy, share } => format!(
            "{} failed in {} of its calls, and the error budget is {}; mend what the errors below name, or allow more \
             with --error-budget.",
            name(record, strategy),
            percent(share),
            percent(record.settings.error_budget)
        ),
        Void::Anomalies { strategy, count: found } => format!(
            "Audits counted {} in the data of {}: it did not do the same work as the others; docshape verify tells more.",
            if found == 1 { "1 anomaly".to_owned() } else { format!("{} anomalies", count(found)) },
            name(record, strategy)
        ),
        Void::Saturated { strategy, calls } => format!(
            "{} of {} took longer than can be recorded, so that its mean and maximum are too low; shorten --timeout.",
            counted(calls, "call"),
            name(record, strategy)
        ),
        Void::PacerLag { strategy, lag, allowed } => format!(
            "Calls of {} were released {} late (p99, the median of its cells), and {} is allowed; lower the rate, or \
             give the load more of the machine.",
            name(record, strategy),
            time(lag),
            time(allowed)
        ),
    }
}

/// What is warned of.
pub(super) fn warnings(record: &RunRecord) -> Vec<String> {
    let mut warnings: Vec<String> = Vec::new();
    warnings.extend(stats::strains(record).into_iter().map(|strain| strain_words(record, strain)));
    warnings.extend((0..record.strategies.len()).filter_map(|strategy| warm_up(record, strategy)));
    warnings.extend(carry_over(record));
    warnings
}

/// Whether the throughput settled; nothing when it did.
fn warm_up(record: &RunRecord, strategy: usize) -> Option<String> {
    let name = name(record, strategy);
    let by = |change: f64| format!("{} by {}", if change < 0.0 { "fell" } else { "rose" }, percent(change.abs()));
    let why = match stats::is_growing(record, strategy) {
        true => "its documents grow, so there is no steady state: its numbers are means over the growth",
        false => "it was not warm: use a longer preset, or more --calls",
    };
    match stats::warm_up(record, strategy)? {
        WarmUp::Warm => None,
        WarmUp::Drifting { change } => Some(format!(
            "The throughput of {name} {} at the beginning of the measured calls and then settled; {why}.",
            by(change)
        )),
        WarmUp::Never { change } => {
            Some(format!("The throughput of {name} {} and had not settled at the end; {why}.", by(change)))
        }
    }
}

/// Arms that pay for who ran before.
fn carry_over(record: &RunRecord) -> Option<String> {
    let found = stats::carry_over(record);
    let words = |one: &CarryOver| {
        let more = if one.effect < 0.0 { "less" } else { "more" };
        let (arm, before) = (name(record, one.strategy), name(record, one.after));
        format!("{arm} takes {} {more} time right after {before} than after others", percent(one.effect.abs()))
    };
    let mut named: Vec<String> = found.iter().take(NAMED_EFFECTS).map(words).collect();
    let more = found.len().saturating_sub(NAMED_EFFECTS) as u64;
    named.extend((more > 0).then(|| format!("{} more such effects", count(more))));
    (!found.is_empty()).then(|| {
        let listed = listed(&named);
        format!("Strategies disturb each other: {listed}. With --isolate each runs alone on the server.")
    })
}

/// What a strain may have done to the numbers.
pub(super) fn strain_words(record: &RunRecord, strain: Strain) -> String {
    match strain {
        Strain::Steal { cells } => steal(record, &cells),
        Strain::LoadThread { strategies, busy } => {
            let names: Vec<String> = strategies.iter().map(|strategy| name(record, *strategy)).collect();
            let meaning = match record.settings.load {
                LoadModel::Closed => "closed-loop throughput is a lower bound",
                LoadModel::Open { .. } => "calls may have waited for it",
            };
            format!(
                "A load thread was computing for {} of its time with {}: {meaning}; use more --threads.",
                percent(busy),
                listed(&names)
            )
        }
        Strain::CheckOut { waits } => {
            let waits =
                waits.iter().map(|(strategy, share)| format!("{} ({})", name(record, *strategy), percent(*share)));
            format!(
                "A part of the service time went by before the driver handed over a connection of its pool: {}. Fewer \
                 --workers or more --threads shorten that.",
                listed(&waits.collect::<Vec<_>>())
            )
        }
        Strain::Unsafe(fault) => fault_words(record, fault),
        Strain::Cache { data, cache } => format!(
            "The strategies' data are {} together, more than half of the server's cache of {}, which they shared: they \
             pushed each other out of it; use --isolate or a larger cache.",
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
    let mut named: Vec<String> = cells.iter().take(NAMED_CELLS).map(cell).collect();
    let more = cells.len().saturating_sub(NAMED_CELLS) as u64;
    named.extend((more > 0).then(|| format!("{} more", count(more))));
    format!(
        "The hypervisor gave more than 5 % of the processors' time to others in {} of {}: {}.",
        count(cells.len() as u64),
        counted(measured as u64, "cell"),
        listed(&named)
    )
}

/// Overloaded strategies that no claim would have been made about anyway: the verdict names the others.
pub(super) fn overloaded(record: &RunRecord) -> Vec<String> {
    let unjudged = (0..record.strategies.len()).filter(|strategy| stats::role(record, *strategy) != Role::Judged);
    let found = unjudged.filter_map(|strategy| Some((strategy, stats::overloaded(record, strategy)?)));
    found.map(|(strategy, achieved)| format!("{}.", overload(&name(record, strategy), achieved))).collect()
}

/// Who did not keep up.
pub(super) fn overload(name: &str, achieved: f64) -> String {
    format!("{name} was overloaded: it kept up with {} of the calls that fell due", percent(achieved))
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
