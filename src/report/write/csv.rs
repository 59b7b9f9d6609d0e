//! What a run measured, round by round, as one table for pandas, R, DuckDB or a spreadsheet; docs/results.md explains it.
//!
//! The other formats summarise the rounds. This one has a row per measured number, for statistics that docshape does not
//! compute.

use std::fmt::{self, Write};

use crate::record::{MetricRow, MetricUse};
use crate::report::document::plain;
use crate::results::{
    CellRecord, CollectionSizes, OpenRecord, OperationRecord, Part, RoundRecord, RunRecord, SliceRecord, TimesRecord,
};
use crate::stats::{self, Distribution};

/// The name of the table in a run's folder.
pub const CSV_FILE: &str = "metrics.csv";

/// The first line: the names of the columns.
pub const CSV_COLUMNS: &str =
    "run,scenario,mix,part,round,arm,strategy,repeat,operation,metric,item,after_calls,unit,value";

/// Writes the table of a run.
///
/// # Errors
/// When `out` cannot be written; a `String` always can.
pub fn csv(record: &RunRecord, out: &mut dyn Write) -> fmt::Result {
    let mut table = Table { record, rows: Vec::new() };
    record.parts.iter().for_each(|(part, rounds)| table.fill(*part, rounds));
    writeln!(out, "{CSV_COLUMNS}")?;
    let mut writer = csv::Writer::from_writer(Vec::new());
    table.rows.iter().try_for_each(|row| writer.write_record(row)).map_err(|_| fmt::Error)?;
    let bytes = writer.into_inner().map_err(|_| fmt::Error)?;
    out.write_str(std::str::from_utf8(&bytes).map_err(|_| fmt::Error)?)
}

/// Of what a number is; what does not apply is empty.
#[derive(Debug, Clone, Copy, Default)]
struct Place<'r> {
    part: &'static str,
    round: Option<usize>,
    arm: usize,
    operation: &'r str,
    after_calls: Option<u64>,
}

/// A number, and what it is: the metric, a closer description, the unit.
type Number<'n> = (&'n str, &'n str, &'n str, f64);

struct Table<'r> {
    record: &'r RunRecord,
    rows: Vec<[String; 14]>,
}

impl Table<'_> {
    fn fill(&mut self, part: Part, rounds: &[RoundRecord]) {
        let record = self.record;
        for (round, this) in rounds.iter().enumerate() {
            for (arm, cell) in this.cells.iter().enumerate().take(record.strategies.len()) {
                let place = Place { part: part.name(), round: Some(round + 1), arm, ..Place::default() };
                self.cell(place, cell);
                for (place_of, (name, operation)) in record.operations.iter().zip(&cell.operations).enumerate() {
                    let place = Place { operation: name, ..place };
                    self.operations(place, std::slice::from_ref(operation));
                    if let Some(grown) = cell.own_counters.get(place_of) {
                        self.counters(place, grown.iter().map(|(name, value)| (name, *value)), operation.calls);
                    }
                }
                self.operations(place, &cell.operations);
                self.over_calls(place, cell);
            }
        }
    }

    /// Adds a row; what is no finite number is left out.
    fn row(&mut self, place: Place<'_>, (metric, item, unit, value): Number<'_>) {
        if !value.is_finite() {
            return;
        }
        let record = self.record;
        let (arm, is_repeat) =
            record.strategies.get(place.arm).map_or(("", false), |strategy| (&strategy.name, strategy.is_repeat));
        // The repeat is an arm of the baseline strategy.
        let strategy = if is_repeat { record.strategies.first().map_or("", |first| &first.name) } else { arm };
        self.rows.push([
            text(&record.id),
            text(&record.scenario.name),
            text(&record.mix.name),
            place.part.to_owned(),
            place.round.map_or_else(String::new, |round| round.to_string()),
            text(arm),
            text(strategy),
            is_repeat.to_string(),
            text(place.operation),
            metric.to_owned(),
            text(item),
            place.after_calls.map_or_else(String::new, |calls| calls.to_string()),
            unit.to_owned(),
            number(value),
        ]);
    }

    fn numbers<'n>(&mut self, place: Place<'_>, numbers: impl IntoIterator<Item = Number<'n>>) {
        numbers.into_iter().for_each(|number| self.row(place, number));
    }

    /// Numbers of a whole arm in one round.
    fn cell(&mut self, place: Place<'_>, cell: &CellRecord) {
        let machine = &cell.machine;
        let numbers = [
            ("documents_loaded", "", "documents", cell.loaded as f64),
            ("load_time", "", "s", cell.load_seconds),
            ("measured_time", "", "s", cell.seconds),
            ("throughput", "", "calls/s", known(stats::cell_rate(cell, &self.record.settings))),
            ("connections_created", "", "connections", cell.connections_created as f64),
            ("machine_steal", "", "share", known(machine.steal)),
            ("machine_busy", "", "share", known(machine.busy)),
            ("load_thread_busy", "", "share", known(machine.load_thread_busy)),
            ("load_average", "", "processes", known(machine.load_average)),
        ];
        self.numbers(place, numbers);
        for audit in &cell.audits {
            self.row(place, ("audit_rows", &audit.audit, "rows", audit.found as f64));
            self.row(place, ("anomalies", &audit.audit, "anomalies", audit.anomalies() as f64));
        }
        if let Some(open) = &cell.open {
            self.open(place, open);
        }
        if let Some(waits) = cell.check_out {
            let mean = ("check_out_mean", "", "ns", known(waits.mean()));
            self.numbers(place, [mean, ("check_out_count", "", "calls", waits.count as f64)]);
        }
        let grown = cell.counters.keys().filter_map(|name| Some((name, cell.counter(name)?)));
        self.counters(place, grown, cell.calls);
        if let Some(cost) = cell.deferred {
            self.row(place, ("deferred_time", "", "s", cost.seconds));
            self.row(place, ("deferred_bytes", "", "bytes", known(cost.bytes)));
        }
    }

    /// Growth of the server's counters per call.
    fn counters<'c>(&mut self, place: Place<'_>, grown: impl Iterator<Item = (&'c String, f64)>, calls: u64) {
        for (counter, grown) in grown {
            let unit = match counter.as_str() {
                counter if counter.ends_with("_us") => "us/call",
                counter if counter.contains("bytes") => "bytes/call",
                _ => "1/call",
            };
            self.row(place, ("server_cost", counter, unit, grown / calls as f64));
        }
    }

    fn open(&mut self, place: Place<'_>, open: &OpenRecord) {
        let numbers = [
            ("offered", "", "calls", open.offered as f64),
            ("offered_rate", "", "calls/s", open.offered as f64 / open.seconds),
            ("achieved_share", "", "share", stats::achieved_share(open)),
            ("waiting", "", "calls", open.waiting as f64),
            ("never_started", "", "calls", open.never_started as f64),
        ];
        self.numbers(place, numbers);
        self.all_times(place, "pacer_lag", &[&open.pacer_lag]);
        self.all_times(place, "queue_wait", &[&open.queue_wait]);
    }

    /// Numbers of one operation, or of all.
    fn operations(&mut self, place: Place<'_>, operations: &[OperationRecord]) {
        let totals = stats::outcome_totals(operations.iter());
        let numbers = [
            ("calls", "", "calls", totals.calls as f64),
            ("round_trips", "", "messages", totals.round_trips as f64),
            ("above_bound", "", "calls", totals.saturated as f64),
        ];
        self.numbers(place, numbers);
        let outcomes = totals.outcomes.iter().map(|(outcome, count)| (outcome.to_string(), *count)).collect();
        for (metric, unit, counts) in [
            ("outcome", "calls", &outcomes),
            ("error", "calls", &totals.errors),
            ("retry", "attempts", &totals.retries),
        ] {
            self.numbers(place, counts.iter().map(|(item, count)| (metric, item.as_str(), unit, *count as f64)));
        }
        let outcomes = operations.iter().flat_map(|operation| &operation.outcomes);
        let answered = || outcomes.clone().filter(|outcome| !outcome.outcome.is_failure());
        let service = Distribution::merged(answered().map(|outcome| &outcome.service));
        self.times(place, "service", &service, stats::service_mean(operations.iter()));
        let response = answered().filter_map(|outcome| Some(&outcome.response.as_ref()?.histogram));
        self.times(place, "response", &Distribution::merged(response), stats::response_mean(operations.iter()));
        let inconsistent = operations.iter().filter_map(|one| one.inconsistency.as_ref());
        self.all_times(place, "inconsistent", &inconsistent.collect::<Vec<_>>());
        let beside_job = operations.iter().filter_map(|one| one.beside_job.as_ref());
        self.all_times(place, "beside_job", &beside_job.collect::<Vec<_>>());
    }

    fn all_times(&mut self, place: Place<'_>, name: &str, times: &[&TimesRecord]) {
        let (sum, count) =
            times.iter().fold((0.0, 0.0), |(sum, count), times| (sum + times.sum as f64, count + times.count as f64));
        self.times(place, name, &Distribution::merged(times.iter().map(|times| &times.histogram)), Some(sum / count));
    }

    /// Count, mean, percentiles and maximum of some times; percentiles beyond which there are fewer than 10 calls are left out.
    fn times(&mut self, place: Place<'_>, name: &str, times: &Distribution, mean: Option<f64>) {
        if times.calls() == 0 {
            return;
        }
        self.row(place, (&format!("{name}_count"), "", "calls", times.calls() as f64));
        let quantile = |share| known(times.quantile(share).map(|value| value as f64));
        let quantiles = MetricRow::quantiles().filter(|(metric, _)| metric.is_used(MetricUse::Threshold));
        let quantiles = quantiles.map(|(metric, share)| (metric.name, quantile(share)));
        let longest = ("max", known(times.max().map(|value| value as f64)));
        std::iter::once(("mean", known(mean)))
            .chain(quantiles)
            .chain([longest])
            .for_each(|(which, value)| self.row(place, (&format!("{name}_{which}"), "", "ns", value)));
    }

    /// What changes over the calls of a round: sizes, throughput of slices.
    fn over_calls(&mut self, place: Place<'_>, cell: &CellRecord) {
        for (calls, sizes) in [(0, &cell.before), (cell.calls, &cell.after)] {
            let place = Place { after_calls: Some(calls), ..place };
            sizes.iter().for_each(|collection| self.sizes(place, collection));
        }
        for (metric, slices) in [("warm_up_throughput", &cell.warm_up), ("slice_throughput", &cell.slices)] {
            let mut calls = 0_u64;
            for SliceRecord { calls: more, seconds, .. } in slices {
                calls = calls.saturating_add(*more);
                let place = Place { after_calls: Some(calls), ..place };
                self.row(place, (metric, "", "calls/s", *more as f64 / seconds));
            }
        }
    }

    fn sizes(&mut self, place: Place<'_>, sizes: &CollectionSizes) {
        let CollectionSizes { name, documents, mean, p50, p99, max, size, storage, indexes, .. } = sizes;
        let numbers = [
            ("documents", name.as_str(), "documents", *documents as f64),
            ("document_mean", name, "bytes", *mean),
            ("document_p50", name, "bytes", *p50 as f64),
            ("document_p99", name, "bytes", *p99 as f64),
            ("document_max", name, "bytes", *max as f64),
            ("collection_size", name, "bytes", *size as f64),
            ("storage_size", name, "bytes", *storage as f64),
            ("storage_in_use", name, "bytes", sizes.storage_in_use() as f64),
            ("indexes_in_use", name, "bytes", sizes.indexes_in_use() as f64),
        ];
        self.numbers(place, numbers);
        for (index, bytes) in indexes {
            self.row(place, ("index_size", &format!("{name}/{index}"), "bytes", *bytes as f64));
        }
    }
}

/// A number that may be missing, as one that is not finite.
fn known(number: Option<f64>) -> f64 {
    number.unwrap_or(f64::NAN)
}

/// A name on one line. What a spreadsheet would take for a formula begins with an apostrophe, which tells it that this is
/// text.
fn text(text: &str) -> String {
    let line = plain(text);
    if line.starts_with(['=', '+', '-', '@']) { format!("'{line}") } else { line }
}

/// A number that reads back as it is: whole ones without a fraction, others with as many digits as they need.
fn number(value: f64) -> String {
    // Beyond 2^53 not every whole number is one, and 1e300 has three hundred digits.
    let is_short = value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0;
    if is_short { format!("{:.0}", value + 0.0) } else { format!("{value:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::RoundRecord;
    use crate::stats::sample;

    /// The rows as text, in which some columns have some values.
    fn rows(record: &RunRecord, wanted: &[(&str, &str)]) -> Vec<Vec<String>> {
        let mut text = String::new();
        csv(&sample::whole(record), &mut text).unwrap();
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        let place = |name: &str| CSV_COLUMNS.split(',').position(|column| column == name).unwrap();
        let is_of_saturation = !wanted.iter().any(|(name, _)| *name == "part");
        let part = is_of_saturation.then_some(("part", "saturation"));
        let fits =
            |row: &::csv::StringRecord| wanted.iter().chain(&part).all(|(name, value)| &row[place(name)] == *value);
        let all = reader.records().map(Result::unwrap).filter(fits);
        all.map(|row| row.iter().map(str::to_owned).collect()).collect()
    }

    /// The value of the only row that fits.
    fn value(record: &RunRecord, wanted: &[(&str, &str)]) -> f64 {
        let found = rows(record, wanted);
        assert_eq!(found.len(), 1, "{wanted:?}: {found:?}");
        found[0][13].parse().unwrap()
    }

    #[test]
    fn a_row_says_what_its_number_is() {
        let found = rows(&sample::run(2), &[("round", "2"), ("arm", "linked"), ("metric", "service_count")]);
        let wanted =
            "1a2b3c4d,blog-comments,default,saturation,2,linked,linked,false,add_comment,service_count,,,calls,598";
        assert_eq!(found[0].join(","), wanted);
        assert_eq!(
            found.iter().map(|row| row[8].as_str()).collect::<Vec<_>>(),
            ["add_comment", "read_post", "count", ""]
        );
    }

    #[test]
    fn numbers_are_those_of_the_round() {
        let run = sample::run(3);
        let at = [("round", "2"), ("arm", "linked")];
        let of = |more: &[(&str, &str)]| value(&run, &[at.as_slice(), more].concat());
        let cell = &run.rounds[1].cells[1];
        let operation = [("operation", "add_comment")];
        let outcome = &cell.operations[0].outcomes[0];
        let times = Distribution::merged(std::iter::once(&outcome.service));
        let metric = |name: &'static str| of(&[operation.as_slice(), &[("metric", name)]].concat());
        assert_eq!(metric("service_mean"), outcome.sum as f64 / 598.0);
        assert_eq!(metric("service_p50"), times.quantile(0.5).unwrap() as f64);
        assert_eq!(metric("service_max"), times.max().unwrap() as f64);
        assert_eq!((metric("calls"), metric("round_trips")), (600.0, 600.0));
        assert_eq!(of(&[operation[0], ("metric", "outcome"), ("item", "failed")]), 2.0);
        assert_eq!(of(&[operation[0], ("metric", "error"), ("item", "11000 (DuplicateKey)")]), 2.0);
        assert_eq!(of(&[operation[0], ("metric", "retry"), ("item", "112 (WriteConflict)")]), 40.0);
        assert_eq!(of(&[("metric", "throughput")]), 9_150.0);
        assert!((of(&[("metric", "server_cost"), ("item", "keys_examined")]) - 35.5).abs() < 1e-9);
        let size = |metric: &'static str, item: &'static str, calls: &'static str| {
            of(&[("metric", metric), ("item", item), ("after_calls", calls)])
        };
        assert_eq!(
            (size("documents", "comments", "0"), size("documents", "comments", "915")),
            (20_000.0, 20_000.0 + 600.0)
        );
        assert_eq!(size("index_size", "comments/_id_", "915"), 412_000.0);
        let own = [("part", "own"), at[0], at[1], ("operation", "read_post")];
        assert_eq!(value(&run, &[own.as_slice(), &[("metric", "round_trips")]].concat()), 40.0);
        assert_eq!(value(&run, &[own.as_slice(), &[("item", "bytes_out")]].concat()), 36_400.0);
    }

    #[test]
    fn percentiles_of_few_calls_and_what_is_no_number_are_left_out() {
        let mut run = sample::run(1);
        let count = [("metric", "service_p50"), ("operation", "count")];
        assert!(rows(&run, &count).is_empty(), "of 15 calls");
        assert_eq!(rows(&run, &[("metric", "service_p99"), ("operation", "")]).len(), 0);
        run.rounds[0].cells[0].seconds = 0.0;
        assert_eq!(rows(&run, &[("metric", "throughput")]).len(), 2);
        run.rounds = vec![RoundRecord { cells: Vec::new(), ..run.rounds[0].clone() }];
        assert!(rows(&run, &[("round", "1")]).is_empty());
    }

    #[test]
    fn the_repeat_is_an_arm_of_the_baseline() {
        let mut run = sample::run(1);
        (run.strategies[2].name, run.strategies[2].is_repeat) = ("embedded (repeat)".into(), true);
        let found = rows(&run, &[("strategy", "embedded"), ("metric", "throughput")]);
        assert_eq!(
            found.iter().map(|row| [&row[5], &row[7]]).collect::<Vec<_>>(),
            [["embedded", "false"], ["embedded (repeat)", "true"]]
        );
    }

    #[test]
    fn numbers_read_back_as_they_are_and_texts_are_no_formulas() {
        let written = [0.0, -0.0, 5.0, 0.1, -2.5, 1e300, 1e-7, 9_007_199_254_740_992.0, 1.8e19].map(number);
        assert_eq!(written, ["0", "0", "5", "0.1", "-2.5", "1e300", "1e-7", "9007199254740992", "1.8e19"]);
        assert_eq!(
            ["=1", "@a", "-x", "+1", "a=1", " =1", "\t=1"].map(text),
            ["'=1", "'@a", "'-x", "'+1", "a=1", "'=1", "'=1"]
        );
    }
}
