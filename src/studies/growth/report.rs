//! The report of growth: what calls cost while documents grow, and what happens when one is full.

use crate::report::document::chart::axis::Axis;
use crate::report::document::chart::lines::{LinePoint, Lines, StrategyLine};
use crate::report::document::chart::{Chart, with_legend};
use crate::report::document::format::{enumerated, short, titled};
use crate::report::{
    Cell, Charts, Column, Finding, Forms, Headline, Measure, Report, Row, Section, Series, Table, Tone, bytes, column,
    count, counted, plain, three, time,
};
use crate::results::{AuditRecord, CellRecord, CollectionSizes, GrowthEnd, Status};

use super::curve::{GrowthCurve, StagePoint, calls_after, largest_document};
use super::record::GrowthRecord;

/// A call waits most of its time when it takes more than this many times its CPU time.
const MOSTLY_WAITING: f64 = 2.0;

/// A document that is less than this many times as large has not grown.
const GROWN: f64 = 1.5;

/// An exponent up to which a time is called flat.
const FLAT: f64 = 0.25;

/// Growth as it is reported.
struct GrowthResults<'r> {
    record: &'r GrowthRecord,
    /// The operations that were measured, the growing one first.
    operations: Vec<usize>,
    /// Per strategy, the curves of these operations.
    curves: Vec<Vec<GrowthCurve>>,
}

/// A value of all strategies over the stages.
struct StageChart {
    title: String,
    /// Of which kind its values are.
    remark: &'static str,
    unit: fn(f64) -> String,
    lines: Vec<StrategyLine>,
}

/// A strategy at a stage: what the growing operation cost it, and the sizes after it.
struct StageCost<'r> {
    cell: &'r CellRecord,
    /// The operation that lets documents grow.
    operation: usize,
}

impl Report {
    /// Computes the report of growth.
    pub fn of_growth(record: &GrowthRecord) -> Report {
        let operations: Vec<usize> = std::iter::once(record.operation).chain(record.sampled.iter().copied()).collect();
        let of = |strategy| operations.iter().map(|place| GrowthCurve::of(record, strategy, *place)).collect();
        let curves = (0..record.run.strategies.len()).map(of).collect();
        let growth = GrowthResults { record, operations, curves };
        let sections = [growth.times(), growth.sizes(), growth.ends(), growth.stages()];
        Report::of(growth.headline(), sections)
    }
}

/// The column of the calls that let documents grow.
fn calls_column() -> Column {
    column("calls", "calls", "Calls of the operation that lets documents grow.")
}

impl GrowthResults<'_> {
    fn strategy(&self, place: usize) -> String {
        plain(self.record.run.strategy_name(place))
    }

    fn operation(&self, place: usize) -> String {
        self.record.run.operations.get(place).map_or_else(String::new, |name| plain(name))
    }

    fn strategies(&self) -> std::ops::Range<usize> {
        0..self.record.run.strategies.len()
    }

    fn headline(&self) -> Headline {
        let growing = self.operation(self.record.operation);
        let calls = self.record.stages.last().map_or(0, |stage| calls_after(self.record, stage));
        let until = match self.record.until.as_str() {
            "refused" => "until a strategy refuses".to_owned(),
            calls if calls.parse::<u64>().is_ok() => format!("until {} calls are made", plain(calls)),
            size => format!("until a document has {}", plain(size)),
        };
        let clients = counted(self.record.run.settings.clients as u64, "client");
        let set = self.record.run.parameters.iter().map(|(name, value)| plain(&format!("{name} = {value}")));
        let question = self.record.question.as_deref().map(plain).filter(|question| !question.is_empty());
        let made = format!(
            "{} calls of {growing} ({until}, to the end of that stage); {}.",
            count(calls),
            set.collect::<Vec<_>>().join(", ")
        );
        let measured = format!(
            "{} were measured, one client at a time; {clients} made the calls between them.",
            counted(self.record.stages.len() as u64, "stage")
        );
        let is_complete = self.record.run.status == Status::Complete;
        Headline {
            scenario: plain(&self.record.run.scenario.name),
            title: plain(&self.record.run.scenario.title),
            tab: format!("{}, growth by {growing}", titled(&self.record.run.scenario.name)),
            subject: question.into_iter().chain([made, measured]).collect(),
            mix: plain(&self.record.run.mix.name),
            incomplete: match (is_complete, self.record.is_reached) {
                (false, _) => Some("The growth ended early: later stages are missing.".to_owned()),
                (true, false) => {
                    Some(format!("The time was over before the end ({until}): use a longer --time-limit."))
                }
                (true, true) => None,
            },
            sentences: self.strategies().filter_map(|place| self.sentence(place)).collect(),
            findings_lead: "Times that double",
            findings: self.findings(),
            ..Headline::default()
        }
    }

    /// What became of a strategy.
    fn sentence(&self, place: usize) -> Option<String> {
        let last = self.record.stages.iter().rev().find_map(|stage| stage.cells.get(place)?.as_ref())?;
        let (largest, name) = (bytes(largest_document(last) as f64), self.strategy(place));
        let end = self.record.ends.get(place)?;
        let growing = self.operation(self.record.operation);
        let said = match &end.refused {
            Some(reason) => format!(
                "{name} refused {growing} ({}) after {}, when its largest document was {largest}{}",
                plain(reason),
                counted(end.succeeded, "call"),
                self.per_day(end.succeeded).map(|time| format!("; {time}")).unwrap_or_default()
            ),
            None => {
                format!("{name} took {}; no document is larger than {largest}", counted(end.succeeded, "call"))
            }
        };
        let anomalies: u64 = end.audits.iter().map(AuditRecord::anomalies).sum();
        let kept = match (end.audits.is_empty(), anomalies) {
            (true, _) => String::new(),
            (false, 0) => ", and its audits found no data lost or wrong".to_owned(),
            (false, _) => format!(", and its audits found {}", counted(anomalies, "anomaly")),
        };
        Some(format!("{said}{kept}."))
    }

    /// After how long an application has made some calls, when the user has said how many it makes a day.
    fn per_day(&self, calls: u64) -> Option<String> {
        let days = calls as f64 / self.record.per_day? as f64;
        let (number, unit) = match days {
            days if days < 2.0 => (days * 24.0, "hours"),
            days if days < 60.0 => (days, "days"),
            days if days < 730.0 => (days / 30.44, "months"),
            days => (days / 365.25, "years"),
        };
        Some(format!("at {} a day that is after {} {unit}", count(self.record.per_day?), three(number)))
    }

    fn findings(&self) -> Vec<Finding> {
        let doubled = |strategy: usize, place: usize| {
            let curve = &self.curves[strategy][place];
            let ((_, to), first, last) = (curve.doubling()?, curve.points.first()?, curve.points.last()?);
            let when = self.per_day(to.calls).map(|time| format!(", {time}")).unwrap_or_default();
            let (name, doubling) = (self.strategy(strategy), self.doubling(curve));
            Some(format!("{name} from {} to {}, doubled {doubling}{when}", time(first.median), time(last.median)))
        };
        let finding = |(place, operation): (usize, &usize)| {
            let texts: Vec<String> = self.strategies().filter_map(|strategy| doubled(strategy, place)).collect();
            let (name, text) = (self.operation(*operation), texts.join("; "));
            (!texts.is_empty()).then_some(Finding { name, text, is_difference: true })
        };
        self.operations.iter().enumerate().filter_map(finding).collect()
    }

    /// Where the time of a curve has doubled.
    fn doubling(&self, curve: &GrowthCurve) -> String {
        let Some((from, to)) = curve.doubling() else { return "no".to_owned() };
        let sizes = format!(" ({} to {})", bytes(from.largest as f64), bytes(to.largest as f64));
        // Where documents hardly grow, it is something else that does.
        let is_larger = to.largest as f64 > from.largest as f64 * GROWN;
        let sizes = if is_larger { sizes.as_str() } else { "" };
        format!("at {} to {} calls{sizes}", count(from.calls), count(to.calls))
    }

    fn times(&self) -> Section {
        type Timed = (GrowthCurve, String);
        let grows = "How the median grows with the calls n in the last tenfold of them: n^1 is in proportion.";
        let measures = [
            column("first_ns", "at first", "The median at the first stage.")
                .number(time, |one: &Timed| one.0.points.first().map(|point| point.median)),
            column("last_ns", "at the end", "The median at the last stage.")
                .number(time, |one| one.0.points.last().map(|point| point.median)),
            column("times", "times", "The last median divided by the first.").cell(|one| {
                let ends = one.0.points.first().zip(one.0.points.last());
                let tone = if one.0.doubling().is_some() { Tone::Bad } else { Tone::Plain };
                Cell::number(ends.map(|(first, last)| last.median / first.median), three).tone(tone)
            }),
            column("shape", "growth at the end", grows).text(|one| match one.0.exponent() {
                Some(exponent) if exponent <= FLAT => "flat".to_owned(),
                Some(exponent) => format!("as n^{exponent:.2}"),
                None => String::new(),
            }),
            Measure::data("exponent", "The exponent of the calls with which the median grows.", |one| one.0.exponent()),
            column("doubles", "doubled", "The stages between which the median has doubled for good.")
                .text(|one| one.1.clone()),
        ];
        let rows = self.operations.iter().enumerate().flat_map(|(place, operation)| {
            let group = self.operation(*operation);
            self.strategies().map(move |strategy| {
                let curve = self.curves[strategy][place].clone();
                let doubled = self.doubling(&curve);
                (Row::new(self.strategy(strategy)).group(group.as_str()).series(strategy), (curve, doubled))
            })
        });
        let title = "Times while documents grow";
        let table = Table::new("grown_times", title, Column::strategy(), &measures, rows).grouped(Column::operation());
        let charts = self.charts("stage-times", self.time_charts());
        let section = Section::new("growth", title).charts(charts).table(table).note(
            "Medians of service times of one client, with intervals by order statistics (95 %). A time has doubled where, from \
             that stage on, its interval is above twice that of the first stage. Measured once, so that a passing \
             disturbance may show.",
        );
        self.waits().into_iter().fold(section, Section::note)
    }

    /// The strategies in which the growing operation mostly waits at first, so that its time hides how its work grows.
    fn waits(&self) -> Option<String> {
        let place = self.operations.iter().position(|operation| *operation == self.record.operation)?;
        let words = |strategy: usize| {
            let cell = self.record.stages.first()?.cells.get(strategy)?.as_ref()?;
            let cpu = StageCost { cell, operation: self.record.operation }.per_call("cpu_us")? * 1e3;
            let median = self.curves[strategy][place].points.first()?.median;
            let is_mostly = cpu > 0.0 && median > MOSTLY_WAITING * cpu;
            is_mostly.then(|| format!("{} {} ({} of CPU)", self.strategy(strategy), time(median), time(cpu)))
        };
        let waiting = enumerated(self.strategies().filter_map(words))?;
        Some(format!(
            "More than half of a call of {} is not CPU time at the first stage: {waiting}. A write waits for a flush of the journal, and \
             writes in turn for one each; a flush takes as long for a large document as for a small one, so that only CPU time shows \
             how the work grows.",
            self.operation(self.record.operation)
        ))
    }

    fn time_charts(&self) -> Vec<StageChart> {
        let point = |point: &StagePoint| (point.calls as f64, point.median, Some((point.low, point.high)));
        let chart = |(place, operation): (usize, &usize)| {
            let points = |strategy: usize| self.curves[strategy][place].points.iter().map(point).collect();
            self.chart(self.operation(*operation), "median time", time, points)
        };
        self.operations.iter().enumerate().map(chart).collect()
    }

    fn size_chart(&self) -> StageChart {
        let points = |strategy: usize| {
            let cells =
                self.record.stages.iter().filter_map(|stage| Some((stage, stage.cells.get(strategy)?.as_ref()?)));
            let point = |(stage, cell)| (calls_after(self.record, stage) as f64, largest_document(cell) as f64, None);
            cells.map(point).collect()
        };
        self.chart("largest document".to_owned(), "size", bytes, points)
    }

    /// A chart of a value; `points` are those of a strategy.
    fn chart(
        &self,
        title: String,
        remark: &'static str,
        unit: fn(f64) -> String,
        points: impl Fn(usize) -> Vec<LinePoint>,
    ) -> StageChart {
        let lines =
            self.strategies().map(|strategy| StrategyLine { strategy, points: points(strategy), bands: Vec::new() });
        StageChart { title, remark, unit, lines: lines.collect() }
    }

    fn charts(&self, id: &'static str, charts: Vec<StageChart>) -> Charts {
        let series = Series::named(self.strategies().map(|place| self.strategy(place)));
        let operation = self.operation(self.record.operation);
        let draw = move |series: &[Series]| {
            let charts = charts.iter().enumerate();
            with_legend(series, charts.map(|(place, chart)| chart.draw(format!("{id}-{place}"), &operation, series)))
        };
        Charts::of(series, draw, "")
    }

    fn sizes(&self) -> Section {
        let growing = self.operation(self.record.operation);
        let whole = "Bytes of whole values stored in the cache per call.";
        let measures = [
            column("largest_bytes", "largest", "The largest document.")
                .number(bytes, |one: &StageCost| largest_document(one.cell) as f64),
            column("data_bytes", "data", "All documents, uncompressed.")
                .number(bytes, |one| one.sum(|sizes| sizes.size)),
            column("index_bytes", "indexes", "The files of the indexes, which lag behind.")
                .number(bytes, |one| one.sum(|sizes| sizes.indexes_in_use())),
            column("cpu_ns", "~ CPU", "CPU time of the server per call.")
                .number(time, |one| one.per_call("cpu_us").map(|microseconds| microseconds * 1e3)),
            column("oplog_bytes", "oplog", "Bytes of oplog per call.").number(bytes, |one| one.per_call("oplog_bytes")),
            column("journal_bytes", "journal", "Bytes of journal per call, compressed.")
                .number(bytes, |one| one.per_call("journal_bytes")),
            column("whole_bytes", "whole", whole).number(bytes, |one| one.per_call("cursor_insert_bytes")),
            column("changed_bytes", "changes", "Bytes stored as changes of values per call.")
                .number(bytes, |one| one.per_call("cursor_modify_bytes")),
        ];
        let rows = self.strategies().flat_map(|strategy| {
            let name = self.strategy(strategy);
            self.record.stages.iter().filter_map(move |stage| {
                let cell = stage.cells.get(strategy)?.as_ref()?;
                let row = Row::new(count(calls_after(self.record, stage))).group(name.as_str()).series(strategy);
                Some((row, StageCost { cell, operation: self.record.operation }))
            })
        });
        let table = Table::new("grown_sizes", "Sizes and costs", calls_column(), &measures, rows)
            .grouped(Column::strategy())
            .only(Forms::READ);
        let charts = self.charts("stage-sizes", vec![self.size_chart()]);
        Section::new("sizes", "Sizes and costs").charts(charts).table(table).note(format!(
            "Sizes after each stage, the largest document first; costs per measured call of {growing}, from the server's counters. On a replica set the \
             server stores an update of a large document as changes if they are small, else whole; entries of the oplog count as whole."
        ))
    }

    fn ends(&self) -> Section {
        let measures = [
            column("succeeded", "succeeded", "Calls that succeeded.").count(|one: &GrowthEnd| one.succeeded),
            column("refused", "refused", "Why a call was refused.")
                .text(|one| one.refused.as_deref().map_or_else(|| "no".to_owned(), plain)),
            column("failed", "failed", "Calls of any operation that failed.").cell(|one| {
                let tone = if one.failed > 0 { Tone::Bad } else { Tone::Plain };
                Cell::count(one.failed).tone(tone)
            }),
            column("audits", "audits", "What the audits counted at the end.").text(|one| {
                let found = one.audits.iter().filter(|audit| audit.anomalies() > 0);
                let found: Vec<String> =
                    found.map(|audit| format!("{}: {}", plain(&audit.audit), count(audit.anomalies()))).collect();
                let passed = format!("{} passed", count(one.audits.len() as u64));
                if found.is_empty() { Cell::text(passed) } else { Cell::text(found.join(", ")).tone(Tone::Bad) }
            }),
        ];
        let rows = self.strategies().filter_map(|place| {
            Some((Row::new(self.strategy(place)).series(place), self.record.ends.get(place)?.clone()))
        });
        let table = Table::new("ends", "How it ended", Column::strategy(), &measures, rows);
        Section::new("ends", "How it ended").table(table).note(format!(
            "Calls of {}, measured or not. An audit compares what is stored with the calls that succeeded.",
            self.operation(self.record.operation)
        ))
    }

    fn stages(&self) -> Section {
        let measures = [
            column("largest_bytes", "largest document", "The largest document.")
                .number(bytes, |one: &StagePoint| one.largest as f64),
            column("median_ns", "median", "The median service time.").number(time, |one| one.median),
            column("low_ns", "from", "The lower end of its interval.").number(time, |one| one.low),
            column("high_ns", "to", "The upper end of its interval.").number(time, |one| one.high),
        ];
        let rows = self.operations.iter().enumerate().flat_map(|(place, operation)| {
            self.strategies().flat_map(move |strategy| {
                let group = format!("{}, {}", self.operation(*operation), self.strategy(strategy));
                let row = move |point: &StagePoint| {
                    (Row::new(count(point.calls)).group(group.as_str()).series(strategy), *point)
                };
                self.curves[strategy][place].points.iter().map(row)
            })
        });
        let table = Table::new("stages", "Times at the stages", calls_column(), &measures, rows)
            .grouped(column("place", "operation and strategy", "What was measured."))
            .folded()
            .only(Forms::READ);
        Section::new("stages", "Times at the stages").table(table)
    }
}

impl StageChart {
    fn draw(&self, id: String, operation: &str, series: &[Series]) -> Chart {
        let words = |name: &str, calls: f64, value: f64| {
            format!("{name}: {} after {} calls", (self.unit)(value), count(calls as u64))
        };
        let calls = self.lines.iter().flat_map(|line| &line.points).map(|(calls, ..)| *calls);
        let lines = Lines {
            id,
            title: self.title.clone(),
            remark: self.remark.to_owned(),
            description: format!("{}: {}, over the calls of {}.", self.title, self.remark, operation),
            axis: Axis::of_counts("calls", &format!("calls of {}", operation), calls),
            is_log: true,
            unit: &|value| short(&(self.unit)(value)),
            lines: self.lines.iter().filter_map(|line| line.with_look(series, words)).collect(),
        };
        lines.draw()
    }
}

impl StageCost<'_> {
    fn per_call(&self, counter: &str) -> Option<f64> {
        let calls = self.cell.operations.get(self.operation).map_or(0, |operation| operation.calls);
        let counters = self.cell.own_counters.get(self.operation).filter(|_| calls > 0);
        Some(counters?.get(counter)? / calls as f64)
    }

    fn sum(&self, of: fn(&CollectionSizes) -> u64) -> f64 {
        self.cell.after.iter().map(of).sum::<u64>() as f64
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::record::GROWTH_FORMAT;
    use super::*;
    use crate::report::tests::in_every_form;
    use crate::results::{RunRecord, StageRecord};
    use crate::stats::sample;

    /// Three stages, of which the first strategy refuses the last one.
    pub(crate) fn growth(run: &RunRecord, text: &str) -> GrowthRecord {
        let stage = |round: &crate::results::RoundRecord| {
            let cells = round.cells.iter().map(|cell| Some(cell.clone())).collect();
            StageRecord { calls: 100, cells }
        };
        let mut stages: Vec<StageRecord> = sample::run(3).rounds.iter().map(stage).collect();
        stages[2].cells[0] = None;
        let end = |place: usize| GrowthEnd {
            succeeded: 300,
            refused: (place == 0).then(|| text.to_owned()),
            failed: 0,
            audits: Vec::new(),
        };
        GrowthRecord {
            format: GROWTH_FORMAT,
            operation: 0,
            sampled: vec![1],
            until: text.to_owned(),
            question: Some(text.to_owned()),
            per_day: Some(50),
            run: run.clone(),
            is_reached: true,
            stages,
            ends: (0..run.strategies.len()).map(end).collect(),
        }
    }

    pub(crate) fn named(run: &RunRecord, text: &str) -> Report {
        Report::of_growth(&growth(run, text))
    }

    pub(crate) fn complete() -> Report {
        named(&sample::run(0), "size")
    }

    #[test]
    fn a_refusal_and_its_day_are_reported() {
        let [terminal, markdown] = in_every_form(&complete());
        assert!(terminal.contains("embedded refused add_comment (size) after 300 calls"), "{terminal}");
        assert!(markdown.contains("at 50 a day that is after 6"), "{markdown}");
    }
}
