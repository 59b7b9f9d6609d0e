//! One operation with two strategies side by side: the commands, the query plans, and what a call costs by itself.

use crate::record::{Counter, Part, Unit};
use crate::report::Report;
use crate::report::document::format::{marked, percent, plain};
use crate::report::document::{Cell, Column, Headline, Kind, Row, Section, Table, column};
use crate::results::{QueryPlanRecord, RunRecord};
use crate::stats::{self, Cause, Criterion, MixEstimate, OwnCost, WaitReason, cause, mix_shares, own_cost, own_time};

use super::decision::{Judged, difference_of, mechanism};
use super::parts::PartEvaluations;

/// Counters that are shown besides the columns of own costs where one of the strategies has some.
const MORE_COUNTERS: [&str; 8] = [
    "documents_returned",
    "documents_inserted",
    "documents_updated",
    "documents_deleted",
    "transactions_started",
    "sorts_in_memory",
    "collection_scans",
    "journal_bytes",
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
            difference_of(&judged)
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
    let all = own.strategies.iter().enumerate().filter(|(_, one)| !one.is_repeat && !one.is_unsafe);
    let mut all: Vec<(usize, f64)> = all.filter_map(|(place, _)| Some((place, estimate.mean(place)?))).collect();
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
        let commands = Section::new("commands", "Commands").table(commands_table(&commands, &names));
        let plans = Section::new("plans", "Query plans").items(
            subject
                .pair
                .iter()
                .zip(&names)
                .flat_map(|(strategy, name)| {
                    let of = &record.strategies[*strategy].name;
                    let is_own = |plan: &&QueryPlanRecord| {
                        plan.strategy == *of && plan.operation == record.operations[subject.operation]
                    };
                    record.query_plans.iter().filter(is_own).map(move |plan| format!("{name}: {}", plan_line(plan)))
                })
                .collect(),
        );
        let cost = Section::new("own-cost", "A call by itself")
            .table(
                own.map_or_else(|| Table::empty("own_cost", "", Column::strategy()), |own| table(own, subject, &names)),
            )
            .note("Per call, with nothing else on the server.");
        Report::of(headline, [commands, plans, cost])
    }
}

/// `find posts: FETCH, IXSCAN (post_1)`.
fn plan_line(plan: &QueryPlanRecord) -> String {
    let indexes = if plan.indexes.is_empty() { String::new() } else { format!(" ({})", plan.indexes.join(", ")) };
    plain(&format!("{}: {}{indexes}", plan.step, plan.stages.join(", ")))
}

/// The commands of both strategies side by side; without rows where neither is known.
fn commands_table(commands: &[Vec<String>; 2], names: &[String; 2]) -> Table {
    let cell = |all: &Vec<String>, place: usize| Cell::text(all.get(place).cloned().unwrap_or_default());
    let row = |place: usize| Row {
        cells: commands.iter().map(|all| cell(all, place)).collect(),
        ..Row::new((place + 1).to_string())
    };
    let columns = [("slower", &names[0]), ("faster", &names[1])];
    let columns = columns.map(|(key, name)| column(key, name.clone(), "Its commands.")).into();
    let rows = (0..commands.iter().map(Vec::len).max().unwrap_or(0)).map(row).collect();
    Table { rows, columns, ..Table::empty("commands", "Commands", column("step", "step", "The step.")) }
}

fn table(own: &RunRecord, subject: ExplainedPair, names: &[String; 2]) -> Table {
    let costs = subject.pair.map(|strategy| own_cost(own, strategy, subject.operation).unwrap_or_default());
    let times = subject.pair.map(|strategy| own_time(own, strategy, subject.operation));
    let value = |cost: &OwnCost, counter: &Counter| match counter.name {
        "round_trips" => Some(cost.round_trips),
        name => cost.per_call(name),
    };
    let row = |label: &str, unit: Unit, values: [Option<f64>; 2]| {
        let cells = values.map(|value| Cell::number(value, |value| unit.text(value)));
        Row { cells: cells.into(), ..Row::new(label) }
    };
    let more = MORE_COUNTERS.into_iter().filter_map(Counter::named);
    let is_some = |values: &[Option<f64>; 2]| values.iter().flatten().any(|value| *value > 0.0);
    let counted = Counter::own_cost_columns().into_iter().chain(more).filter_map(|counter| {
        let values = [value(&costs[0], counter), value(&costs[1], counter)];
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
mod tests {
    use super::*;
    use crate::stats::sample;

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
