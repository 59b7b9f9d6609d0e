//! The report of a search for capacity.

use crate::results::{CapacityRecord, SearchOutcome, SearchRecord, TrialRecord};
use crate::stats::capacity::over_rounds;
use crate::stats::{ConfidenceInterval, geometric_mean};

use super::Report;
use super::cell::{Cell, Tone};
use super::format::{counted, interval, listed, plain, three, time};
use super::section::{Headline, Section};
use super::table::{Column, Forms, Measure, Row, Table};

type TrialMeasure<'c> = Measure<(u64, &'c TrialRecord)>;

/// What the searches of one strategy found.
struct Capacity {
    /// The highest rate in calls per second, and its 95 % CI.
    rate: Option<(f64, Option<ConfidenceInterval>)>,
    /// What the objective measures at that rate, in nanoseconds.
    measured: Option<f64>,
    /// Searches that found a rate.
    found: u64,
    searches: u64,
    trials: u64,
}

impl Report {
    /// Computes the report of a search for capacity.
    pub fn of_capacity(record: &CapacityRecord) -> Report {
        let (run, mix) = (&record.run, plain(&record.run.mix.name));
        let headline = Headline {
            scenario: plain(&run.scenario.name),
            title: plain(&run.scenario.title),
            subject: vec![format!("At how many calls per second is {} met? Mix {mix}.", plain(&record.objective))],
            mix,
            times: Some("response"),
            ..Headline::default()
        };
        Report::of(headline, [capacities(record), trials(record)])
    }
}

fn capacities(record: &CapacityRecord) -> Section {
    let measure = plain(record.objective.split('<').next().unwrap_or_default());
    let measures = [
        Measure::new(
            "calls_per_second",
            "calls per second",
            "The highest rate that meets the objective: the geometric mean over rounds.",
            |one: &Capacity| Cell::number(one.rate.map(|(rate, _)| rate), three),
        ),
        Measure::text("ci", "95 % CI", "Its confidence interval.", |one: &Capacity| {
            Cell::text(one.interval().map_or_else(String::new, |bounds| interval(bounds.low, bounds.high)))
        })
        .only(Forms::READ),
        Measure::data("low", "The lower bound of its 95 % CI; `null` with fewer than 3 rounds.", |one: &Capacity| {
            Cell::value(one.interval().map(|bounds| bounds.low))
        }),
        Measure::data("high", "The upper bound.", |one: &Capacity| {
            Cell::value(one.interval().map(|bounds| bounds.high))
        }),
        Measure::new("measured_ns", measure, "What the objective measures at that rate.", |one| {
            Cell::number(one.measured, time)
        }),
        Measure::new("searches", "searches", "The searches, one per round.", |one| {
            let found = if one.found == one.searches { String::new() } else { format!("{} of ", one.found) };
            Cell::text(format!("{found}{}", one.searches)).with_value(one.searches)
        }),
        Measure::data("found", "The searches that found a rate.", |one| Cell::value(one.found)),
        Measure::new("trials", "trials", "The rates that were tried.", |one| Cell::count(one.trials)),
    ];
    let strategies = record.run.strategies.iter().enumerate();
    let rows = strategies.clone().map(|(place, strategy)| {
        (Row::new(Cell::text(plain(&strategy.name)).tone(Tone::Strong)), Capacity::of(record, place))
    });
    let table = Table::new("capacity", "Capacity", Column::strategy(), &measures, rows);
    let rounds = counted(record.run.settings.rounds, "round");
    let section = Section::new("capacity", "Capacity").table(table).note(format!(
        "Every rate was tried on a fresh database with open load; {rounds}, each with its own search. A rate keeps the \
         objective when the lower bound over its batches of calls does, and nearly all calls started in time. A 95 % CI \
         requires 3 rounds."
    ));
    strategies.fold(section, |section, (place, _)| section.note(not_found(record, place)))
}

impl Capacity {
    fn of(record: &CapacityRecord, strategy: usize) -> Capacity {
        let rates: Vec<f64> = searches(record, strategy).filter_map(rate_of).collect();
        let measured = searches(record, strategy).filter_map(|search| {
            let rate = rate_of(search)?;
            search.trials.iter().rev().find(|trial| trial.rate == rate)?.measured
        });
        Capacity {
            rate: over_rounds(&rates),
            measured: geometric_mean(&measured.map(Some).collect::<Vec<_>>()),
            found: rates.len() as u64,
            searches: searches(record, strategy).count() as u64,
            trials: searches(record, strategy).map(|search| search.trials.len() as u64).sum(),
        }
    }

    fn interval(&self) -> Option<ConfidenceInterval> {
        self.rate?.1
    }
}

fn searches(record: &CapacityRecord, strategy: usize) -> impl Iterator<Item = &SearchRecord> {
    record.searches.iter().filter(move |search| search.strategy == strategy)
}

fn rate_of(search: &SearchRecord) -> Option<f64> {
    match search.outcome {
        SearchOutcome::Found(rate) => Some(rate),
        SearchOutcome::NoneDownTo(_) | SearchOutcome::AllUpTo(_) => None,
    }
}

/// Why some searches of a strategy found no rate; empty when all did.
fn not_found(record: &CapacityRecord, strategy: usize) -> String {
    let (mut none, mut all) = (Vec::new(), Vec::new());
    for search in searches(record, strategy) {
        let round = |rate: f64| format!("round {} ({} calls/s)", search.round + 1, three(rate));
        match search.outcome {
            SearchOutcome::Found(_) => {}
            SearchOutcome::NoneDownTo(rate) => none.push(round(rate)),
            SearchOutcome::AllUpTo(rate) => all.push(round(rate)),
        }
    }
    let texts = [("the lowest rate did not meet the objective", none), ("the highest rate met the objective", all)];
    let texts = texts.into_iter().filter(|(_, rounds)| !rounds.is_empty());
    let texts: Vec<String> = texts.map(|(text, rounds)| format!("{text} in {}", listed(&rounds))).collect();
    if texts.is_empty() {
        String::new()
    } else {
        format!("{}: {}.", plain(&record.run.strategies[strategy].name), texts.join("; "))
    }
}

fn trials(record: &CapacityRecord) -> Section {
    let measures = [
        TrialMeasure::new("round", "round", "The round, from 1 on.", |(round, _)| Cell::count(round + 1)),
        TrialMeasure::new("calls_per_second", "calls/s", "The rate that was tried.", |(_, trial)| {
            Cell::number(Some(trial.rate), three)
        }),
        TrialMeasure::new("measured_ns", "measured", "What the objective measures.", |(_, trial)| {
            Cell::number(trial.measured, time)
        }),
        TrialMeasure::new("failed", "failed", "Calls that failed, were skipped or never started.", |(_, trial)| {
            Cell::count(trial.failed)
        }),
        TrialMeasure::new("offered", "offered", "Calls that were due.", |(_, trial)| Cell::count(trial.offered)),
        TrialMeasure::text("result", "result", "`kept`, `not kept` or `overloaded`.", |(_, trial)| {
            Cell::text(trial.result())
        }),
    ];
    let rows = record.searches.iter().flat_map(|search| {
        let strategy = record.run.strategies.get(search.strategy);
        let name = strategy.map_or_else(|| "?".to_owned(), |strategy| plain(&strategy.name));
        search.trials.iter().map(move |trial| (Row::new(name.as_str()), (search.round, trial)))
    });
    let table = Table::new("trials", "Trials", Column::strategy(), &measures, rows.collect::<Vec<_>>());
    Section::new("trials", "Trials").table(table).only(Forms::DETAILED)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::report::json::tests::record;
    use crate::report::tests::in_every_form;
    use crate::stats::sample;

    /// Three searches of two strategies; one of them found no rate.
    pub(in crate::report) fn complete() -> Report {
        let trial = |rate: f64, passed: bool| TrialRecord {
            rate,
            offered: (rate * 3.0) as u64,
            failed: 0,
            measured: passed.then_some(rate * 1e3),
            overloaded: !passed && rate > 5_000.0,
            passed,
        };
        let search = |round: u64, strategy: usize, rate: f64| SearchRecord {
            round,
            strategy,
            outcome: SearchOutcome::Found(rate),
            trials: vec![trial(rate / 2.0, true), trial(rate * 2.0, false), trial(rate, true)],
        };
        let mut run = sample::run(0);
        run.strategies.truncate(2);
        run.settings.rounds = 3;
        let rates = [(0, 0, 2_000.0), (0, 1, 4_000.0), (1, 1, 4_200.0), (1, 0, 2_100.0), (2, 0, 2_050.0), (2, 1, 50.0)];
        let mut searches: Vec<SearchRecord> = rates.map(|(round, strategy, rate)| search(round, strategy, rate)).into();
        searches[5].outcome = SearchOutcome::NoneDownTo(50.0);
        Report::of_capacity(&CapacityRecord { objective: "add_comment.p99<20ms".into(), run, searches })
    }

    #[test]
    fn capacities_have_an_interval_and_their_trials() {
        let [terminal, markdown] = in_every_form(&complete());
        insta::assert_snapshot!("capacity_80_columns", terminal);
        insta::assert_snapshot!("capacity_markdown", markdown);
        let embedded = record(&complete(), "capacity", &[("strategy", "embedded")]);
        assert!((embedded["calls_per_second"].as_f64().unwrap() - 2_050.0).abs() < 1.0 && embedded["low"].is_number());
        let linked = record(&complete(), "capacity", &[("strategy", "linked")]);
        assert_eq!(
            (&linked["found"], &linked["searches"], &linked["low"]),
            (&2.into(), &3.into(), &None::<f64>.into())
        );
    }
}
