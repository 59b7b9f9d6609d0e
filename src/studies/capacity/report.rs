//! The report of a search for capacity.

use crate::report::{
    Cell, Column, Forms, Headline, Measure, Report, Row, Section, Table, Tone, column, counted, interval, listed,
    plain, three, time,
};
use crate::stats::ConfidenceInterval;

use super::estimate::{Capacities, CapacityEstimate, MINIMUM_ROUNDS, SearchEnd, search_end};
use super::record::{CapacityRecord, ConfirmationRecord, TrialRecord};

/// What the searches of one strategy found.
struct Capacity {
    /// Calls per second.
    rate: Option<CapacityEstimate>,
    searches: u64,
    trials: u64,
}

/// The capacity of a strategy divided by that of the first one.
type CapacityRatio = (usize, CapacityEstimate);

impl Report {
    /// Computes the report of a search for capacity.
    pub fn of_capacity(record: &CapacityRecord) -> Report {
        let (run, mix) = (&record.run, plain(&record.run.mix.name));
        let found = Capacities::of(&record.searches);
        let ratios = ratios(record, &found);
        let subject =
            format!("Up to how many calls per second does each strategy meet {}? Mix {mix}.", plain(&record.objective));
        let headline = Headline {
            scenario: plain(&run.scenario.name),
            title: plain(&run.scenario.title),
            subject: vec![subject],
            sentences: ratios.iter().map(|ratio| sentence(record, ratio)).collect(),
            mix,
            times: Some("response"),
            ..Headline::default()
        };
        let sections =
            [capacities(record, &found), ratio_section(record, &ratios), confirmations(record), trials(record)];
        Report::of(headline, sections)
    }
}

/// The capacities relative to that of the first strategy.
fn ratios(record: &CapacityRecord, found: &Capacities) -> Vec<CapacityRatio> {
    let others = 1..record.run.strategies.len();
    let count = others.len();
    others.filter_map(|strategy| Some((strategy, found.ratio(strategy, 0, count)?))).collect()
}

fn name(record: &CapacityRecord, strategy: usize) -> String {
    plain(record.run.strategy_name(strategy))
}

fn sentence(record: &CapacityRecord, (strategy, ratio): &CapacityRatio) -> String {
    let no_interval = || format!(" (no interval from {})", counted(ratio.rounds as u64, "round"));
    let bounds = ratio.interval.map_or_else(no_interval, |bounds| {
        let difference = if bounds.low > 1.0 || bounds.high < 1.0 { "" } else { ", which includes 1" };
        format!(" (95 % CI {}{difference})", interval(bounds.low, bounds.high))
    });
    let (name, baseline) = (name(record, *strategy), name(record, 0));
    format!("{name} carries {} times the calls per second of {baseline}{bounds}.", three(ratio.mean))
}

/// The columns of an estimate.
fn estimate_measures(key: &'static str, heading: &'static str, about: &'static str) -> Vec<Measure<'static, Capacity>> {
    let text = |one: &Capacity| one.interval().map_or_else(String::new, |bounds| interval(bounds.low, bounds.high));
    let low = "The lower bound of its 95 % CI; `null` with fewer than 3 rounds.";
    vec![
        column(key, heading, about).number(three, |one: &Capacity| one.rate.map(|rate| rate.mean)),
        column("ci", "95 % CI", "Its confidence interval.").text(text).only(Forms::READ),
        Measure::data("low", low, |one| one.interval().map(|bounds| bounds.low)),
        Measure::data("high", "The upper bound.", |one| one.interval().map(|bounds| bounds.high)),
    ]
}

fn capacities(record: &CapacityRecord, found: &Capacities) -> Section {
    let about =
        "The rate at which a trial meets the objective with a probability of one half: the geometric mean over rounds.";
    let mut measures = estimate_measures("calls_per_second", "calls per second", about);
    measures.extend([
        column("searches", "searches", "The searches, one per round.").cell(|one: &Capacity| {
            let found = one.found();
            let text = if found == one.searches { String::new() } else { format!("{found} of ") };
            Cell::text(format!("{text}{}", one.searches)).with_value(one.searches)
        }),
        Measure::data("found", "The searches that found a capacity.", |one| one.found()),
        column("trials", "trials", "The rates that were tried.").count(|one| one.trials),
    ]);
    let strategies = record.run.strategies.iter().enumerate();
    let rows = strategies.clone().map(|(place, strategy)| {
        let searches = || record.searches.iter().filter(|search| search.strategy == place);
        let trials = searches().map(|search| search.trials.len() as u64).sum();
        let capacity = Capacity { rate: found.rate(place), searches: searches().count() as u64, trials };
        (Row::new(Cell::text(plain(&strategy.name)).tone(Tone::Strong)), capacity)
    });
    let table = Table::new("capacity", "Capacity", Column::strategy(), &measures, rows);
    let rounds = record.searches.iter().map(|search| search.round + 1).max().unwrap_or_default();
    let more = if rounds < MINIMUM_ROUNDS as u64 {
        format!(" A 95 % CI requires {MINIMUM_ROUNDS} rounds; run again with --rounds 5.")
    } else {
        String::new()
    };
    let section = Section::new("capacity", "Capacity").table(table).note(format!(
        "A trial at this rate meets the objective every other time: a logistic model of all trials, {}. Every trial is \
         open load on a fresh database.{more}",
        counted(rounds, "round")
    ));
    strategies.fold(section, |section, (place, _)| section.note(not_found(record, place)))
}

fn ratio_section(record: &CapacityRecord, ratios: &[CapacityRatio]) -> Section {
    let about = "Its capacity divided by that of the first strategy: the geometric mean over rounds.";
    let mut measures = estimate_measures("ratio", "ratio", about);
    measures.push(Measure::data("rounds", "The rounds in which both have a capacity.", |one| one.found()));
    let row = |(strategy, ratio): &CapacityRatio| {
        (Row::new(name(record, *strategy)), Capacity { rate: Some(*ratio), searches: 0, trials: 0 })
    };
    let rows = ratios.iter().map(row);
    let title = format!("Capacity relative to {}", name(record, 0));
    let table = Table::new("capacity_ratios", title.clone(), Column::strategy(), &measures, rows);
    let at_once = if ratios.len() > 1 { " The intervals hold for all ratios at once." } else { "" };
    let note = format!("A ratio pairs the searches of the same round.{at_once}");
    Section::new("capacity_ratios", title).table(table).note(if ratios.is_empty() { String::new() } else { note })
}

fn confirmations(record: &CapacityRecord) -> Section {
    let measure = plain(record.objective.split('<').next().unwrap_or_default());
    let measures = [
        column("calls_per_second", "calls/s", "The rate.").number(three, |one: &&ConfirmationRecord| one.trial.rate),
        column("seconds", "seconds", "How long calls fell due.").number(three, |one| one.seconds),
        column("measured_ns", measure, "What the objective measures.").number(time, |one| one.trial.measured),
        column("failed", "failed", "Calls that failed, were skipped or never started.").count(|one| one.trial.failed),
        column("result", "result", "`kept`, `not kept` or `overloaded`.")
            .text(|one| Cell::text(one.trial.result()).tone(if one.trial.passed { Tone::Good } else { Tone::Bad })),
    ];
    let rows = record.confirmations.iter().map(|one| (Row::new(name(record, one.strategy)), one));
    let table = Table::new("confirmations", "Confirmation", Column::strategy(), &measures, rows);
    let missed = record.confirmations.iter().filter(|one| !one.trial.passed);
    let about = "A long trial at the lower end of the 95 % CI, on other data. Without an interval, at the highest rate up to the \
                 capacity that was kept.";
    let about = if record.confirmations.is_empty() { "" } else { about };
    let section = Section::new("confirmations", "Confirmation").table(table).note(about);
    missed.fold(section, |section, one| {
        section.note(format!(
            "{} does not keep the objective for {} s at {} calls/s: its capacity holds for short bursts only.",
            name(record, one.strategy),
            three(one.seconds),
            three(one.trial.rate)
        ))
    })
}

impl Capacity {
    fn interval(&self) -> Option<ConfidenceInterval> {
        self.rate?.interval
    }

    /// Rounds in which a capacity was found.
    fn found(&self) -> u64 {
        self.rate.map_or(0, |rate| rate.rounds as u64)
    }
}

/// Why some searches of a strategy found no rate; empty when all did.
fn not_found(record: &CapacityRecord, strategy: usize) -> String {
    let (mut none, mut all) = (Vec::new(), Vec::new());
    for search in record.searches.iter().filter(|search| search.strategy == strategy) {
        let round = |rate: f64| format!("round {} ({} calls/s)", search.round + 1, three(rate));
        match search_end(&search.trials) {
            SearchEnd::Enclosed => {}
            SearchEnd::NoneDownTo(rate) => none.push(round(rate)),
            SearchEnd::AllUpTo(rate) => all.push(round(rate)),
        }
    }
    let texts = [("the lowest rate did not meet the objective", none), ("the highest rate met the objective", all)];
    let texts = texts.into_iter().filter(|(_, rounds)| !rounds.is_empty());
    let texts: Vec<String> = texts.map(|(text, rounds)| format!("{text} in {}", listed(&rounds))).collect();
    if texts.is_empty() { String::new() } else { format!("{}: {}.", name(record, strategy), texts.join("; ")) }
}

fn trials(record: &CapacityRecord) -> Section {
    let measures = [
        column("round", "round", "The round, from 1 on.").count(|(round, _): &(u64, &TrialRecord)| round + 1),
        column("calls_per_second", "calls/s", "The rate that was tried.").number(three, |(_, trial)| trial.rate),
        column("measured_ns", "measured", "What the objective measures.").number(time, |(_, trial)| trial.measured),
        column("failed", "failed", "Calls that failed, were skipped or never started.")
            .count(|(_, trial)| trial.failed),
        column("offered", "offered", "Calls that were due.").count(|(_, trial)| trial.offered),
        column("result", "result", "`kept`, `not kept` or `overloaded`.").text(|(_, trial)| trial.result()),
    ];
    let rows = record.searches.iter().flat_map(|search| {
        let name = name(record, search.strategy);
        search.trials.iter().map(move |trial| (Row::new(name.as_str()), (search.round, trial)))
    });
    let table = Table::new("trials", "Trials", Column::strategy(), &measures, rows.collect::<Vec<_>>());
    Section::new("trials", "Trials").table(table).only(Forms::DETAILED)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::record::{CAPACITY_FORMAT, SearchRecord};
    use super::*;
    use crate::report::tests::in_every_form;
    use crate::report::write::json::tests::record;
    use crate::stats::sample;

    /// Four searches of two strategies; one of them found no rate.
    pub(crate) fn complete() -> Report {
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
            trials: vec![trial(rate / 2.0, true), trial(rate * 1.02, false), trial(rate / 1.02, true)],
        };
        let mut run = sample::run(0);
        run.strategies.truncate(2);
        run.settings.rounds = 4;
        let rates = [
            (0, 0, 2_000.0),
            (0, 1, 4_000.0),
            (1, 1, 4_200.0),
            (1, 0, 2_100.0),
            (2, 0, 2_050.0),
            (2, 1, 4_050.0),
            (3, 1, 50.0),
            (3, 0, 2_100.0),
        ];
        let mut searches: Vec<SearchRecord> = rates.map(|(round, strategy, rate)| search(round, strategy, rate)).into();
        searches[6].trials.retain(|trial| !trial.passed);
        let confirmations = [(0, 1_980.0, true), (1, 3_890.0, false)].map(|(strategy, rate, kept)| {
            let trial = TrialRecord { measured: Some(rate * 6e3), ..trial(rate, kept) };
            ConfirmationRecord { strategy, seconds: 60.0, trial }
        });
        let (format, objective) = (CAPACITY_FORMAT, "add_comment.p99<20ms".to_owned());
        Report::of_capacity(&CapacityRecord {
            format,
            objective,
            run,
            confirm: 60.0,
            start: Some(1_000.0),
            searches,
            unfinished: None,
            confirmations: confirmations.into(),
        })
    }

    #[test]
    fn capacities_have_an_interval_a_ratio_and_their_trials() {
        let [terminal, markdown] = in_every_form(&complete());
        insta::assert_snapshot!("capacity_80_columns", terminal);
        insta::assert_snapshot!("capacity_markdown", markdown);
        let embedded = record(&complete(), "capacity", &[("strategy", "embedded")]);
        assert!(
            (embedded["calls_per_second"].as_f64().unwrap() / 2_060.0 - 1.0).abs() < 0.01
                && embedded["low"].is_number()
        );
        let linked = record(&complete(), "capacity", &[("strategy", "linked")]);
        assert_eq!((&linked["found"], &linked["searches"]), (&3.into(), &4.into()));
        let ratio = record(&complete(), "capacity_ratios", &[("strategy", "linked")]);
        assert!((ratio["ratio"].as_f64().unwrap() / 2.0 - 1.0).abs() < 0.01 && ratio["low"].is_number(), "{ratio}");
    }
}
