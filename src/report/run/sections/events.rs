//! What happened to the servers, and how strategies came through faults.

use crate::report::document::cell::{Cell, Tone};
use crate::report::document::format::{count, plain, time};
use crate::report::document::section::Section;
use crate::report::document::table::{Column, Measure, Row, Table};
use crate::report::run::evaluation::{Evaluation, StrategyResults};
use crate::results::{EventKind, EventRecord, RunRecord};
use crate::stats::{self, FaultTotals};

use super::strategy_cell;

type EventMeasure<'r> = Measure<&'r EventRecord>;
type FaultMeasure<'r> = Measure<FaultRow<'r>>;

/// How a strategy came through the faults.
struct FaultRow<'r> {
    totals: FaultTotals,
    results: &'r StrategyResults,
}

/// Everything that happened to the servers; `None` when nothing did.
pub(crate) fn section(record: &RunRecord, run: &Evaluation) -> Option<Section> {
    let faults = faults(record, run);
    let note = "recovery: from the fault to the first answer to a call that was sent after it. longest gap: the longest time without \
                any answer. unknown: failed calls that may have taken effect. anomalies: what audits found beyond these.";
    let note = if faults.rows.is_empty() { "" } else { note };
    Section::new("events", "Events").table(faults).table(events(record, run)).note(note).with_rows()
}

fn faults(record: &RunRecord, run: &Evaluation) -> Table {
    let metrics = [
        FaultMeasure::new("faults", "faults", "Faults, one per round.", |one: &FaultRow| {
            Cell::count(one.totals.faults)
        }),
        FaultMeasure::new("recovery_median_ns", "recovery", "The median time to recover.", |one| {
            seconds(one.totals.median())
        }),
        FaultMeasure::new(
            "recovery_max_ns",
            "longest recovery",
            "The longest; none where it did not recover.",
            |one| seconds(one.totals.longest()),
        ),
        FaultMeasure::new("longest_gap_ns", "longest gap", "The longest time without any answer.", |one| {
            seconds(Some(one.totals.longest_gap))
        }),
        FaultMeasure::new("unknown", "unknown calls", "Failed calls that may have taken effect.", |one| {
            Cell::count(one.results.totals.unknown)
        }),
        FaultMeasure::new("anomalies", "anomalies", "What audits found beyond the unknown calls.", |one| {
            let found = one.anomalies();
            Cell::count(found).tone(if found > 0 { Tone::Bad } else { Tone::Plain })
        }),
    ];
    let rows = recoveries(record, run).map(|(place, one)| (Row::new(strategy_cell(run, place)).series(place), one));
    Table::new("faults", "How strategies came through the faults", Column::strategy(), &metrics, rows)
}

fn recoveries<'r>(record: &'r RunRecord, run: &'r Evaluation) -> impl Iterator<Item = (usize, FaultRow<'r>)> {
    let strategies = run.strategies.iter().enumerate();
    strategies
        .filter_map(|(place, results)| Some((place, FaultRow { totals: stats::fault_totals(record, place)?, results })))
}

impl FaultRow<'_> {
    fn anomalies(&self) -> u64 {
        self.results.audits.iter().map(|audit| audit.total).sum()
    }

    fn sentence(&self) -> String {
        let recovery = match (self.totals.median(), self.totals.longest()) {
            (Some(median), Some(longest)) => {
                format!("answered again after {} (median; at most {})", time(median * 1e9), time(longest * 1e9))
            }
            (_, None) | (None, _) => {
                let missing = self.totals.faults - self.totals.recovered.len() as u64;
                format!(
                    "did not answer again within the window after {} of {} faults",
                    count(missing),
                    count(self.totals.faults)
                )
            }
        };
        let unknown = match self.results.totals.unknown {
            0 => "no call has an unknown outcome".to_owned(),
            1 => "1 call has an unknown outcome".to_owned(),
            unknown => format!("{} calls have an unknown outcome", count(unknown)),
        };
        let audits = match self.anomalies() {
            _ if self.results.audits.is_empty() => "it has no audits".to_owned(),
            0 => "its audits found nothing beyond them".to_owned(),
            found => format!(
                "its audits found {} beyond them: copies that never agree again, or lost writes",
                if found == 1 { "1 anomaly".to_owned() } else { format!("{} anomalies", count(found)) }
            ),
        };
        format!("{} {recovery}; {unknown}; {audits}.", self.results.name)
    }
}

/// A sentence per strategy on how it came through the faults; none without faults.
pub(crate) fn sentences(record: &RunRecord, run: &Evaluation) -> Vec<String> {
    recoveries(record, run).map(|(_, one)| one.sentence()).collect()
}

fn seconds(seconds: Option<f64>) -> Cell {
    Cell::number(seconds.map(|seconds| seconds * 1e9), time)
}

fn events(record: &RunRecord, run: &Evaluation) -> Table {
    let metrics = [
        EventMeasure::text("what", "event", "What happened.", |event: &&EventRecord| Cell::text(text(&event.kind))),
        EventMeasure::new("round", "round", "The round, from 1 on.", |event| {
            Cell::count(event.round.saturating_add(1))
        }),
        EventMeasure::text("part", "while", "The part that was measured meanwhile.", |event| {
            Cell::text(event.part.map_or("no call was measured", |part| part.label()))
        }),
        EventMeasure::new("seconds", "at", "Seconds since the run was started or resumed.", |event| {
            Cell::number(Some(event.seconds), |seconds| format!("{seconds:.1} s"))
        }),
    ];
    let known = record.events.iter().filter(|event| event.strategy < run.strategies.len());
    let rows = known.map(|event| (Row::new(strategy_cell(run, event.strategy)).series(event.strategy), event));
    Table::new("events", "What happened to the servers", Column::strategy(), &metrics, rows)
}

/// What happened, in a few words.
fn text(kind: &EventKind) -> String {
    let without = |seconds: f64| {
        if seconds > 0.0 { format!(", after {} without one", time(seconds * 1e9)) } else { String::new() }
    };
    match kind {
        EventKind::PrimaryChanged { from, to, without: seconds } if from == to => {
            format!("the primary {} was lost and came back{}", plain(from), without(*seconds))
        }
        EventKind::PrimaryChanged { from, to, without: seconds } => {
            format!("the primary changed from {} to {}{}", plain(from), plain(to), without(*seconds))
        }
        EventKind::Fault { kind, .. } => format!("{} that docshape caused", kind.label()),
    }
}
