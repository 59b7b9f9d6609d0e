//! One operation with two strategies side by side: the commands, the query plans, and what a call costs by itself.

use crate::record::{Counter, Part, Unit};
use crate::report::Report;
use crate::report::document::format::{marked, percent, plain};
use crate::report::document::{Cell, Column, Forms, Headline, Kind, Row, Section, Table, column};
use crate::results::{QueryPlanRecord, RunRecord};
use crate::stats::{self, Cause, Criterion, MixEstimate, WaitReason, cause, mix_shares, own_cost, own_time};

use super::decision::{Judged, differences, mechanism};
use super::parts::PartEvaluations;

/// Counters that are shown besides the columns of own costs where one of the strategies has some.
const MORE_COUNTERS: [&str; 8] = [
    "documents_returned", "documents_inserted", "documents_updated", "documents_deleted", "transactions_started",
    "sorts_in_memory", "collection_scans", "journal_bytes",
];

/// What a report explains: positions in the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExplainedPair {
    /// The operation.
    pub operation: usize,
    /// The slower and the faster strategy.
    pub pair: [usize; 2],
}

impl ExplainedPair {
    /// Completes what the user left open: the strategies are those of the largest factor of the answer, and without an answer the
    /// fastest and the slowest; the operation is the one that makes most of their difference.
    ///
    /// # Errors
    /// Why nothing can be explained, with what the run has.
    pub fn new(
        record: &RunRecord,
        pair: Option<[usize; 2]>,
        operation: Option<usize>,
    ) -> Result<ExplainedPair, String> {
        let parts = record.all_parts();
        let Some(own) = parts.get(&Part::Own) else {
            let has: Vec<&str> = parts.keys().map(|part| part.label()).collect();
            let has = if has.is_empty() { "nothing".to_owned() } else { has.join(", ") };
            return Err(format!("this run has no own costs to explain, only {has}; measure again without --only"));
        };
        let answered = || {
            let parts = PartEvaluations::new(record);
            let judged = Judged::of(&parts)?;
            differences(&judged).into_iter().next()
        };
        let estimate = MixEstimate::new(own);
        let slower_first = |[one, other]: [usize; 2]| {
            let time = |strategy: usize| match operation {
                Some(operation) => own_time(own, strategy, operation),
                None => estimate.mean(strategy),
            };
            if time(one) < time(other) { [other, one] } else { [one, other] }
        };
        let (pair, by, times) = match pair.map(slower_first) {
            Some(pair) => (pair, Criterion::OWN_TIME, ratio(&estimate, pair)),
            None => match answered() {
                Some(found) => found,
                None => {
                    let pair = ends(own, &estimate).ok_or("this run has fewer than two strategies with own costs")?;
                    (pair, Criterion::OWN_TIME, ratio(&estimate, pair))
                }
            },
        };
        let found = || match cause(&parts, by, pair, times)? {
            Cause::Operations(all) => all.first().map(|one| one.operation),
            Cause::Waiting(waiting) => match waiting.reason {
                WaitReason::Retries { operation, .. } | WaitReason::Behind { operation, .. } => Some(operation),
                WaitReason::Counted(_) => None,
            },
        };
        let operation = operation.or_else(found).or_else(|| largest(own, pair));
        let operation = operation.ok_or("no operation of this run was measured with both strategies")?;
        Ok(ExplainedPair { operation, pair })
    }
}

fn ratio(estimate: &MixEstimate, [slower, faster]: [usize; 2]) -> f64 {
    estimate.mean(slower).zip(estimate.mean(faster)).map_or(1.0, |(slow, fast)| slow / fast)
}

/// The strategies with the largest and the smallest own time of the mix.
fn ends(own: &RunRecord, estimate: &MixEstimate) -> Option<[usize; 2]> {
    let all = stats::judged(own).filter_map(|place| Some((place, estimate.mean(place)?)));
    let mut all: Vec<(usize, f64)> = all.collect();
    all.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let ([slowest, ..], [.., fastest]) = (&all[..], &all[..]) else { return None };
    (slowest.0 != fastest.0).then_some([slowest.0, fastest.0])
}

/// The operation whose times differ most in the mix.
fn largest(own: &RunRecord, pair: [usize; 2]) -> Option<usize> {
    let shares = mix_shares(own);
    let gap = |operation: usize| {
        let [slow, fast] = pair.map(|strategy| own_time(own, strategy, operation));
        Some((operation, (slow? - fast?).abs() * shares[operation]))
    };
    (0..shares.len()).filter_map(gap).max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(operation, _)| operation)
}

impl Report {
    /// The report of `docshape explain`. `commands` are those of the slower and the faster strategy as the scenario has them, a
    /// line each; empty where they are not known.
    pub fn of_explanation(record: &RunRecord, subject: ExplainedPair, commands: [Vec<String>; 2]) -> Report {
        let parts = record.all_parts();
        let names = subject.pair.map(|strategy| plain(&record.strategies[strategy].name));
        let operation = plain(&record.operations[subject.operation]);
        let share = percent(mix_shares(record)[subject.operation]);
        let own = parts.get(&Part::Own);
        let found = own
            .zip(stats::inspected(&parts))
            .and_then(|(own, inspected)| stats::mechanisms(own, inspected, subject.pair, subject.operation));
        let [slower, faster] = [marked(&names[0]), marked(&names[1])];
        let reasons = found.unwrap_or_default();
        let reasons = reasons.iter().map(|one| format!("{slower} {}.", mechanism(one, &faster)));
        let headline = Headline {
            scenario: plain(&record.scenario.name),
            title: plain(&record.scenario.title),
            mix: plain(&record.mix.name),
            subject: vec![format!("{} ({share} of calls of the mix {}).", marked(&operation), plain(&record.mix.name))],
            sentences: reasons.collect(),
            ..Headline::default()
        };
        let plans = side_by_side("plans", "Query plans", plans(record, subject), &names);
        let commands = side_by_side("commands", "Commands", commands, &names);
        let cost = Section::new("own-cost", "A call by itself")
            .table(
                own.map_or_else(|| Table::empty("own_cost", "", Column::strategy()), |own| table(own, subject, &names)),
            )
            .note("Per call, with nothing else on the server.");
        Report::of(headline, [explained(&operation, &names), commands, plans, cost])
    }
}

/// What is explained, for programs: others read it in headings.
fn explained(operation: &str, names: &[String; 2]) -> Section {
    let columns = [("slower", "The slower strategy."), ("faster", "The faster strategy.")];
    let columns = columns.map(|(key, about)| column(key, key, about)).into();
    let rows = vec![Row { cells: names.iter().map(Cell::text).collect(), ..Row::new(operation) }];
    let table = Table { rows, columns, ..Table::empty("explained", "Explained", Column::operation()) };
    Section::new("explained", "Explained").table(table.only(Forms::JSON))
}

/// The query plans of both strategies, a line for each command and, set in, for each of its stages; those of the same place begin in
/// the same line.
fn plans(record: &RunRecord, subject: ExplainedPair) -> [Vec<String>; 2] {
    let operation = &record.operations[subject.operation];
    let mut plans = subject.pair.map(|strategy| {
        let name = &record.strategies[strategy].name;
        let own = record.query_plans.iter().filter(|plan| plan.strategy == *name && plan.operation == *operation);
        own.map(plan_lines).collect::<Vec<_>>()
    });
    let count = plans.iter().map(Vec::len).max().unwrap_or(0);
    plans.iter_mut().for_each(|all| all.resize(count, Vec::new()));
    for place in 0..count {
        let lines = plans.iter().map(|all| all[place].len()).max().unwrap_or(0);
        plans.iter_mut().for_each(|all| all[place].resize(lines, String::new()));
    }
    plans.map(|all| all.concat())
}

/// `find posts`, `FETCH`, `IXSCAN (post_1)`.
fn plan_lines(plan: &QueryPlanRecord) -> Vec<String> {
    let indexes = match plan.indexes.as_slice() {
        [] => String::new(),
        names => format!(" ({})", plain(&names.join(", "))),
    };
    let mut lines = vec![plain(&plan.step)];
    // No form of a report drops such a space.
    lines.extend(plan.stages.iter().map(|stage| format!("\u{a0}\u{a0}{}", plain(stage))));
    lines.last_mut().into_iter().for_each(|last| last.push_str(&indexes));
    lines
}

/// Lines of both strategies side by side; without rows where neither has any.
fn side_by_side(id: &'static str, title: &'static str, lines: [Vec<String>; 2], names: &[String; 2]) -> Section {
    let cell = |all: &Vec<String>, place: usize| Cell::text(all.get(place).cloned().unwrap_or_default());
    let row = |place: usize| Row {
        cells: lines.iter().map(|all| cell(all, place)).collect(),
        ..Row::new((place + 1).to_string())
    };
    let columns = [("slower", &names[0]), ("faster", &names[1])];
    let columns = columns.map(|(key, name)| column(key, name.clone(), "Its lines.")).into();
    let rows = (0..lines.iter().map(Vec::len).max().unwrap_or(0)).map(row).collect();
    let table = Table { rows, columns, ..Table::empty(id, title, column("line", "line", "The line.")) };
    Section::new(id, title).table(table)
}

fn table(own: &RunRecord, subject: ExplainedPair, names: &[String; 2]) -> Table {
    let costs = subject.pair.map(|strategy| own_cost(own, strategy, subject.operation).unwrap_or_default());
    let times = subject.pair.map(|strategy| own_time(own, strategy, subject.operation));
    let row = |label: &str, unit: Unit, values: [Option<f64>; 2]| {
        let cells = values.map(|value| Cell::number(value, |value| unit.text(value)));
        Row { cells: cells.into(), ..Row::new(label) }
    };
    let more = MORE_COUNTERS.into_iter().filter_map(Counter::named);
    let is_some = |values: &[Option<f64>; 2]| values.iter().flatten().any(|value| *value > 0.0);
    let columns = Counter::own_cost_columns().into_iter().chain(Counter::router_columns());
    let counted = columns.chain(more).filter_map(|counter| {
        let values = [costs[0].of(counter), costs[1].of(counter)];
        is_some(&values).then(|| row(counter.label, counter.unit, values))
    });
    let rows = std::iter::once(row("time", Unit::Nanoseconds, times)).chain(counted).collect();
    let number =
        |key: &'static str, name: &String| Column { kind: Kind::Number, ..column(key, name.clone(), "Per call.") };
    let columns = vec![number("slower", &names[0]), number("faster", &names[1])];
    Table {
        rows,
        columns,
        ..Table::empty("explain", "A call by itself", column("counter", "per call", "What is counted."))
    }
}

#[cfg(test)]
pub(in crate::report) mod tests {
    use super::*;
    use crate::stats::sample;

    /// An explanation with all its tables.
    pub(in crate::report) fn complete() -> Report {
        let run = sample::whole(&sample::run(8));
        let subject = ExplainedPair::new(&run, None, None).unwrap();
        Report::of_explanation(&run, subject, [vec!["find posts".to_owned()], Vec::new()])
    }

    #[test]
    fn plans_stand_side_by_side_from_the_same_line() {
        let mut run = sample::whole(&sample::run(8));
        let subject = ExplainedPair::new(&run, None, None).unwrap();
        let plan = |strategy: usize, step: &str, stages: &[&str]| QueryPlanRecord {
            strategy: run.strategies[strategy].name.clone(),
            operation: run.operations[subject.operation].clone(),
            step: step.to_owned(),
            stages: stages.iter().map(|stage| (*stage).to_owned()).collect(),
            indexes: vec!["post_1".to_owned()],
        };
        let [slow, fast] = subject.pair;
        run.query_plans = vec![
            plan(slow, "find a", &["FETCH", "IXSCAN"]),
            plan(slow, "find b", &["IXSCAN"]),
            plan(fast, "find c", &["IXSCAN"]),
            plan(fast, "find d", &["IXSCAN"]),
        ];
        let plans = plans(&run, subject).map(|lines| lines.join("|").replace('\u{a0}', ">"));
        let expected = [
            "find a|>>FETCH|>>IXSCAN (post_1)|find b|>>IXSCAN (post_1)",
            "find c|>>IXSCAN (post_1)||find d|>>IXSCAN (post_1)",
        ];
        assert_eq!(plans, expected);
    }

    #[test]
    fn a_run_without_own_costs_says_what_it_has() {
        let mut run = sample::whole(&sample::run(8));
        assert!(ExplainedPair::new(&run, None, None).is_ok());
        run.parts.remove(&Part::Own);
        let text = ExplainedPair::new(&run, None, None).unwrap_err();
        assert!(
            text.starts_with("this run has no own costs to explain, only ") && text.contains("saturation"),
            "{text}"
        );
    }
}
