//! Other mixes, estimated from own times, next to the measured ones that show how good the estimate is.
//!
//! The page's script (`html/what_if.js`) makes the same sum for the weights of its sliders, from the numbers in
//! [`Section::data`].

use serde_json::{Value, json};

use crate::report::document::format::{capitalised, percent, plain, three, time};
use crate::report::document::{Cell, Column, Forms, Measure, Row, Section, Table, Tone, column};
use crate::report::run::decision::phrase::UNPREDICTED;
use crate::report::run::{Evaluation, PartEvaluations};
use crate::results::{Part, RunRecord};
use crate::stats::{AGREEMENT, FailedPrediction, MixEstimate, Prediction, mix_ratio, mix_time};

use super::{operation_column, strategy_cell, strategy_row};

/// A mix that was measured, and what the estimate says of it.
struct EstimatedMix {
    name: String,
    estimate: MixEstimate,
    measured: Vec<MeasuredPart>,
}

/// A mix in one part.
struct MeasuredPart {
    part: Part,
    /// Mean times by strategy, in nanoseconds.
    times: Vec<Option<f64>>,
    record: RunRecord,
}

/// Strategies of the run, as far as the estimate holds of them.
struct WhatIf<'r> {
    own: &'r RunRecord,
    run: &'r Evaluation,
    estimate: MixEstimate,
    /// The operations of the run's mix.
    called: Vec<usize>,
    /// The mixes that were measured, that of the run first.
    mixes: Vec<EstimatedMix>,
    /// Of which strategies the estimate holds.
    prediction: Prediction,
    /// The strategies that are shown, in the order of the run.
    shown: Vec<usize>,
}

/// A strategy in a measured mix.
struct Entry<'r> {
    mix: &'r EstimatedMix,
    of: &'r MeasuredPart,
    /// By which links find it.
    id: String,
    strategy: usize,
    best: usize,
}

/// The section; `None` without own costs or without a measured mix of two strategies. `others` are runs of other mixes.
pub(crate) fn section(record: &RunRecord, parts: &PartEvaluations, others: &[RunRecord]) -> Option<Section> {
    // A mix that sets parameters differs in more than its weights.
    let others = others.iter().filter(|other| other.parameters == record.parameters);
    let what_if = WhatIf::of(parts, std::iter::once(record).chain(others))?;
    let section = Section::new("what-if", "What if my mix is different?").only(Forms::DETAILED);
    let failures: Vec<String> = what_if.prediction.failed.iter().map(|one| what_if.failure(one)).collect();
    let failures = failures.join("; ");
    if what_if.prediction.held.is_empty() {
        let note = format!("{}, so no other mix is estimated: {failures}.", capitalised(UNPREDICTED));
        return Some(section.note(note).table(what_if.own_times()));
    }
    let left_out = format!(" Left out, because {UNPREDICTED}: {failures}.");
    let left_out = if failures.is_empty() { "" } else { &left_out };
    let largest_miss = what_if.entries().filter_map(|one| one.miss()).map(f64::abs).fold(0.0, f64::max);
    let note = format!(
        "Estimated from own times, not measured: waiting, interference between operations, and what another mix does to the data are \
         not in it. It misses the measured ratios by up to {}. It does not tell apart strategies that are within {} of each \
         other.{left_out}",
        percent(largest_miss),
        percent(AGREEMENT)
    );
    let lead = "The mean time of a call, from the own time of each operation (one client, nothing else on the server) and its share \
                of the calls.";
    let section = section.lead(lead).lead(note).table(what_if.estimates()).table(what_if.own_times());
    Some(section.table(what_if.shares()).data(what_if.data()))
}

/// What was measured in a part, and its load.
fn label(part: Part) -> String {
    format!("{} {}", if part == Part::Rate { "response" } else { "calls/s" }, load(part))
}

/// The load of a part.
fn load(part: Part) -> &'static str {
    if part == Part::Rate { "with open load" } else { "at saturation" }
}

impl<'r> WhatIf<'r> {
    fn of(parts: &'r PartEvaluations, runs: impl Iterator<Item = &'r RunRecord>) -> Option<WhatIf<'r>> {
        let (own, run) = (parts.record(Part::Own)?, &**parts.main());
        let estimate = MixEstimate::new(own);
        let called: Vec<usize> = estimate.called().collect();
        let is_called = |name: &String| called.iter().any(|operation| own.operations[*operation] == *name);
        let has_times =
            |run: &&RunRecord| run.mix.weights.iter().all(|(name, weight)| *weight <= 0.0 || is_called(name));
        let mixes: Vec<EstimatedMix> = runs.filter(has_times).map(|run| EstimatedMix::of(own, run)).collect();
        let is_measured = mixes.iter().any(|mix| !mix.measured.is_empty());
        let prediction = Prediction::of(parts.all_records()).filter(|_| is_measured)?;
        let mut shown: Vec<usize> = prediction.held.iter().copied().chain([prediction.best]).collect();
        shown.sort_unstable();
        Some(WhatIf { own, run, estimate, called, mixes, prediction, shown })
    }

    fn name(&self, strategy: usize) -> &str {
        self.run.name(strategy).unwrap_or("?")
    }

    fn operation(&self, place: usize) -> String {
        plain(&self.own.operations[place])
    }

    /// Where the estimate fails to predict how a strategy compares with the best one.
    fn failure(&self, of: &FailedPrediction) -> String {
        let (name, best) = (self.name(of.strategy), self.name(self.prediction.best));
        let Some((estimated, measured)) = of.ratios else {
            return format!("{name} (not every operation has a time)");
        };
        let (estimated, measured, part) = (three(estimated), three(measured), label(of.part));
        format!("{name} (estimated {estimated} times the time of {best}, measured {measured}: {part})")
    }

    /// The strategies in every mix and part.
    fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let best = self.prediction.best;
        let mixes = self.mixes.iter().enumerate();
        let measured = mixes.flat_map(|(place, mix)| mix.measured.iter().map(move |of| (place, mix, of)));
        measured.flat_map(move |(place, mix, of)| {
            self.shown.iter().map(move |strategy| {
                let id = format!("what-if-{place}-{}-{strategy}", of.part.name());
                Entry { mix, of, id, strategy: *strategy, best }
            })
        })
    }

    /// The estimate next to what was measured.
    fn estimates(&self) -> Table {
        let metrics = [
            Measure::word("mix", "The mix.", |one: &Entry| Cell::text(&one.mix.name)),
            Measure::word("part", "The part of the run: `rate` or `saturation`.", |one| one.of.part.name()),
            column("estimated_ns", "estimated", "Own times, weighted by the shares of the mix.")
                .number(time, |one| one.mix.estimate.mean(one.strategy)),
            column("measured_ns", "measured", "The mean time of a call in this mix and part.")
                .number(time, |one| one.of.times[one.strategy]),
            column("estimated_ratio", "estimated, × best", "Estimated, relative to the best strategy.")
                .number(three, |one| one.ratios().map(|(estimated, _)| estimated)),
            column("measured_ratio", "measured, × best", "Measured, relative to the best strategy.")
                .number(three, |one| one.ratios().map(|(_, measured)| measured)),
            column("miss", "miss", "The estimated ratio divided by the measured one, minus 1.")
                .number(signed, Entry::miss),
        ];
        let rows = self.entries().map(|one| {
            let tone = if one.strategy == one.best { Tone::Strong } else { Tone::Plain };
            let row = Row::new(strategy_cell(self.run, one.strategy).tone(tone)).series(one.strategy);
            (row.id(Some(one.id.clone())).group(format!("{}, {}", one.mix.name, label(one.of.part))), one)
        });
        let title = "Measured mixes, and what the estimate says of them";
        let question = column("question", "measured mix", "A mix, and the part in which it was measured.");
        Table::new("mix_estimates", title, Column::strategy(), &metrics, rows).grouped(question)
    }

    /// The own time of every operation that was called, with every strategy.
    fn own_times(&self) -> Table {
        let metrics = [column("own_ns", "own time", "The mean time of a call with nothing else on the server.")
            .number(time, |own: &Option<f64>| *own)];
        let rows = self.called.iter().flat_map(|operation| {
            self.run.without_repeat().map(move |(strategy, _)| {
                let row = strategy_row(self.run, strategy).group(self.operation(*operation));
                (row, self.estimate.time(strategy, *operation))
            })
        });
        let table = Table::new("own_times", "Own time of each operation", Column::strategy(), &metrics, rows);
        table.grouped(operation_column()).side_by_side(Forms::DOCUMENT).folded()
    }

    /// What the page's script estimates with: own times in nanoseconds, shares from 0 to 1.
    fn data(&self) -> Value {
        let called = || self.called.iter().copied();
        let strategies = self.shown.iter().map(|place| {
            let own: Vec<Option<f64>> = called().map(|operation| self.estimate.time(*place, operation)).collect();
            json!({ "place": place, "name": self.name(*place), "own": own })
        });
        let mixes = self.mixes.iter().map(|mix| {
            let measured = mix.measured.iter().map(|of| {
                let times: Vec<Option<f64>> = self.shown.iter().map(|place| of.times[*place]).collect();
                json!({ "part": load(of.part), "times": times })
            });
            json!({
                "name": mix.name,
                "shares": called().map(|operation| mix.estimate.share(operation)).collect::<Vec<f64>>(),
                "measured": measured.collect::<Vec<Value>>(),
            })
        });
        json!({
            "noise": self.estimate.noise,
            "tolerance": AGREEMENT,
            "operations": called().map(|operation| self.operation(operation)).collect::<Vec<_>>(),
            "strategies": strategies.collect::<Vec<Value>>(),
            "mixes": mixes.collect::<Vec<Value>>(),
        })
    }

    /// The shares of the operations in the measured mixes.
    fn shares(&self) -> Table {
        let metrics =
            [column("share", "share", "Its share (0 to 1) of the calls.").number(percent, |share: &f64| *share)];
        let rows = self.called.iter().flat_map(|operation| {
            self.mixes.iter().map(move |mix| {
                let row = Row::new(mix.name.as_str()).group(self.operation(*operation));
                (row, mix.estimate.share(*operation))
            })
        });
        let name = column("mix", "mix", "The mix.");
        let title = "Shares of the calls in the measured mixes";
        Table::new("mix_shares", title, name, &metrics, rows).folded().grouped(operation_column()).only(Forms::JSON)
    }
}

impl EstimatedMix {
    /// A run's mix in the parts that have one.
    fn of(own: &RunRecord, run: &RunRecord) -> EstimatedMix {
        let parts = run.all_parts().into_iter().filter(|(part, _)| *part != Part::Own && !part.is_end_of_curve());
        let measured = parts.map(|(part, record)| {
            let times = (0..own.strategies.len()).map(|strategy| mix_time(&record, strategy)).collect();
            MeasuredPart { part, times, record }
        });
        let estimate = MixEstimate::of_mix(own, &run.mix.weights);
        EstimatedMix { name: plain(&run.mix.name), estimate, measured: measured.collect() }
    }
}

impl Entry<'_> {
    /// The estimated and the measured time of the strategy divided by that of the best one.
    fn ratios(&self) -> Option<(f64, f64)> {
        let estimated = self.mix.estimate.ratio(self.strategy, self.best)?;
        Some((estimated, mix_ratio(&self.of.record, self.strategy, self.best)?))
    }

    fn miss(&self) -> Option<f64> {
        self.ratios().map(|(estimated, measured)| estimated / measured - 1.0)
    }
}

/// A deviation in percent with its sign.
fn signed(share: f64) -> String {
    match share {
        none if none.abs() < 5e-4 => "0 %".to_owned(),
        more if more > 0.0 => format!("+{}", percent(more)),
        less => format!("−{}", percent(-less)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Report;
    use crate::stats::sample;

    /// A whole run of three judged strategies, the last one the fastest, in which the own times of one are `factor` times those of
    /// the mix.
    fn run(strategy: usize, factor: u64) -> RunRecord {
        let mut run = sample::whole(&sample::run(8));
        run.strategies[2].is_unsafe = false;
        for round in run.parts.get_mut(&Part::Own).unwrap() {
            let outcomes = round.cells[strategy].operations.iter_mut().flat_map(|operation| &mut operation.outcomes);
            outcomes.for_each(|outcome| outcome.sum *= factor);
        }
        run
    }

    fn section_of(run: &RunRecord, others: &[RunRecord]) -> Section {
        Report::among(run, others.iter().map(|other| (std::path::PathBuf::new(), other.clone())).collect())
            .sections
            .into_iter()
            .find(|section| section.id == "what-if")
            .unwrap()
    }

    fn names(section: &Section) -> Vec<String> {
        let mut names: Vec<String> = section.tables[0].rows.iter().map(|row| row.name.text.clone()).collect();
        names.dedup();
        names.truncate(3);
        names
    }

    #[test]
    fn estimates_are_own_times_weighted_by_shares() {
        let section = section_of(&run(0, 1), &[]);
        let [estimates, times, shares] = &section.tables[..] else { panic!("{section:?}") };
        let number = |row: &Row, place: usize| row.cells[place].value.as_ref().unwrap().as_f64().unwrap();
        let of = |table: &'_ Table, name: &str| -> Vec<f64> {
            table.rows.iter().filter(|row| row.name.text == name).map(|row| number(row, 0)).collect()
        };
        let expected: f64 =
            of(times, "linked").iter().zip(of(shares, "default")).map(|(time, share)| time * share).sum();
        let is_meant = |row: &&Row| row.name.text == "linked" && row.group.text.contains("response");
        let row = estimates.rows.iter().find(is_meant).unwrap();
        assert!((number(row, 2) / expected - 1.0).abs() < 1e-12);
        // The own times of the sample are those of its mix.
        assert!(number(row, 6).abs() < 0.1, "{row:?}");
        assert!(section.lead[1].text.contains("It misses the measured ratios by up to "));
    }

    #[test]
    fn a_strategy_that_own_times_do_not_predict_is_left_out() {
        let section = section_of(&run(1, 2), &[]);
        assert!(!names(&section).contains(&"linked".to_owned()), "{:?}", names(&section));
        let note = &section.lead[1].text;
        assert!(
            note.contains("Left out, because times of single calls do not predict this mix: linked (estimated "),
            "{note}"
        );
        // Nothing is left to compare with the fastest one.
        let section = section_of(&run(2, 2), &[]);
        assert_eq!(section.tables.iter().map(|table| table.id).collect::<Vec<_>>(), ["own_times"]);
        assert!(
            section.notes[0]
                .text
                .starts_with("Times of single calls do not predict this mix, so no other mix is estimated: ")
        );
    }

    #[test]
    fn unsafe_strategies_and_the_repeat_are_left_out() {
        let mut run = run(0, 1);
        run.strategies[2].is_repeat = true;
        let section = section_of(&run, &[]);
        let names = names(&section);
        assert_eq!(names[..2], ["embedded", "linked"]);
        run.strategies[1].is_unsafe = true;
        let sections = Report::new(&run).sections;
        assert!(sections.iter().all(|section| section.id != "what-if"), "one strategy has no order");
    }

    #[test]
    fn other_mixes_count_where_only_weights_differ() {
        let run = run(0, 1);
        let mut other = run.clone();
        other.mix.name = "reads".into();
        other.mix.weights = vec![("read_post".into(), 1.0), ("count".into(), 0.0)];
        let of = |others: &[RunRecord]| section_of(&run, others).tables[2].rows.len();
        assert_eq!(of(&[other.clone()]), 6, "three operations in two mixes");
        let mut set = other.clone();
        set.parameters[0].1 = 9.into();
        assert_eq!(of(&[set]), 3);
        other.mix.weights.push(("unknown".into(), 1.0));
        assert_eq!(of(&[other]), 3);
    }
}
