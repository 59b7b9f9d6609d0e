//! Other mixes, estimated from own times, next to the measured ones that show how good the estimate is.
//!
//! The page's script (`html/what_if.js`) makes the same sum for the weights of its sliders, from the numbers in
//! [`Section::data`].

use serde_json::{Value, json};

use crate::record::Part;
use crate::report::document::cell::{Cell, Tone};
use crate::report::document::format::{capitalised, percent, plain, three, time};
use crate::report::document::section::Section;
use crate::report::document::table::{Column, Forms, Measure, Row, Table};
use crate::report::run::decision::phrase::UNPREDICTED;
use crate::report::run::parts::PartEvaluations;
use crate::results::RunRecord;
use crate::stats::{AGREEMENT, FailedPrediction, MixEstimate, Prediction, mix_ratio, mix_time};

use super::strategy_cell;

/// A mix in one part: what the estimate says, and what was measured. Mean times by strategy, in nanoseconds.
struct MeasuredMix {
    /// Its place among the mixes; 0 for that of the run.
    mix: usize,
    name: String,
    part: Part,
    estimate: MixEstimate,
    measured: Vec<Option<f64>>,
    record: RunRecord,
}

/// Strategies of the run, as far as the estimate holds of them.
struct WhatIf<'r> {
    own: &'r RunRecord,
    parts: &'r PartEvaluations,
    /// The mixes that were measured, that of the run first.
    mixes: Vec<&'r RunRecord>,
    measured: Vec<MeasuredMix>,
    /// Of which strategies the estimate holds.
    prediction: Prediction,
}

/// A strategy in a measured mix.
struct Entry<'r> {
    of: &'r MeasuredMix,
    strategy: usize,
    best: usize,
}

/// The section; `None` without own costs or without a measured mix of two strategies. `others` are runs of other mixes.
pub(crate) fn section(record: &RunRecord, parts: &PartEvaluations, others: &[RunRecord]) -> Option<Section> {
    // A mix that sets parameters differs in more than its weights.
    let others = others.iter().filter(|other| other.parameters == record.parameters);
    let what_if = WhatIf::of(parts, std::iter::once(record).chain(others).collect())?;
    let section = Section::new("what-if", "What if my mix is different?").only(Forms::DETAILED);
    let failures: Vec<String> = what_if.prediction.failed.iter().map(|one| what_if.failure(one)).collect();
    if what_if.prediction.held.is_empty() {
        let text = format!("{}, so no other mix is estimated: {}.", capitalised(UNPREDICTED), failures.join("; "));
        return Some(section.note(text));
    }
    let left_out = match failures.as_slice() {
        [] => String::new(),
        failures => format!(" Left out, because {UNPREDICTED}: {}.", failures.join("; ")),
    };
    let note = format!(
        "Estimated from own times, not measured: waiting, interference between operations, and what another mix does to the data are \
         not in it. {} It does not tell apart strategies that are within {} of each other.{left_out}",
        what_if.largest_miss(),
        percent(AGREEMENT)
    );
    let lead = "The mean time of a call, from the own time of each operation (one client, nothing else on the server) and its share \
                of the calls.";
    let section = section.lead(lead).lead(note).table(what_if.estimates()).table(what_if.own_times());
    Some(section.table(what_if.shares()).data(what_if.data()))
}

/// What was measured in a part.
fn label(part: Part) -> &'static str {
    match part {
        Part::Own => "own cost",
        Part::Rate => "response at the common rate",
        Part::Saturation => "calls/s at saturation",
    }
}

/// The load of a part.
fn load(part: Part) -> &'static str {
    if part == Part::Rate { "at the common rate" } else { "at saturation" }
}

impl<'r> WhatIf<'r> {
    fn of(parts: &'r PartEvaluations, mixes: Vec<&'r RunRecord>) -> Option<WhatIf<'r>> {
        let own = parts.record(Part::Own)?;
        let mixes: Vec<&RunRecord> = mixes.into_iter().filter(|run| has_times(own, run)).collect();
        let measured: Vec<MeasuredMix> =
            mixes.iter().enumerate().flat_map(|(mix, run)| MeasuredMix::all(own, mix, run)).collect();
        let prediction = Prediction::of(parts.all_records()).filter(|_| !measured.is_empty())?;
        Some(WhatIf { own, parts, mixes, measured, prediction })
    }

    fn name(&self, strategy: usize) -> &str {
        self.parts.main().strategies.get(strategy).map_or("?", |strategy| &strategy.name)
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

    /// How far the estimates of the strategies that are shown are from what was measured.
    fn largest_miss(&self) -> String {
        let misses = self.measured.iter().flat_map(|of| {
            self.prediction
                .held
                .iter()
                .filter_map(|strategy| of.ratios(*strategy, self.prediction.best))
                .map(|(estimated, measured)| (estimated / measured - 1.0).abs())
        });
        format!("It misses the measured ratios by up to {}.", percent(misses.fold(0.0, f64::max)))
    }

    /// The strategies that are shown, in the order of the run.
    fn shown(&self) -> Vec<usize> {
        let mut shown: Vec<usize> = self.prediction.held.iter().copied().chain([self.prediction.best]).collect();
        shown.sort_unstable();
        shown
    }

    /// The estimate next to what was measured.
    fn estimates(&self) -> Table {
        let metrics = [
            Measure::text("mix", "", "The mix.", |one: &Entry| Cell::text(&one.of.name)).only(Forms::JSON),
            Measure::text("part", "", "The part of the run: `rate` or `saturation`.", |one: &Entry| one.of.part.name())
                .only(Forms::JSON),
            Measure::number(
                "estimated_ns",
                "estimated",
                "Own times, weighted by the shares of the mix.",
                time,
                |one| one.of.estimate.mean(one.strategy),
            ),
            Measure::number("measured_ns", "measured", "The mean time of a call in this mix and part.", time, |one| {
                one.of.measured[one.strategy]
            }),
            Measure::number(
                "estimated_ratio",
                "estimated, × best",
                "Estimated, relative to the best strategy.",
                three,
                |one| one.ratios().map(|(estimated, _)| estimated),
            ),
            Measure::number(
                "measured_ratio",
                "measured, × best",
                "Measured, relative to the best strategy.",
                three,
                |one| one.ratios().map(|(_, measured)| measured),
            ),
            Measure::cell("miss", "miss", "The estimated ratio divided by the measured one, minus 1.", |one| {
                let miss = one.ratios().map(|(estimated, measured)| estimated / measured - 1.0);
                Cell::number(miss, signed)
            }),
        ];
        let rows = self.measured.iter().flat_map(|of| {
            self.shown().into_iter().map(move |strategy| {
                let id = format!("what-if-{}-{}-{strategy}", of.mix, of.part.name());
                let tone = if strategy == self.prediction.best { Tone::Strong } else { Tone::Plain };
                let row = Row::new(strategy_cell(self.parts.main(), strategy).tone(tone)).series(strategy).id(Some(id));
                (
                    row.group(format!("{}, {}", of.name, label(of.part))),
                    Entry { of, strategy, best: self.prediction.best },
                )
            })
        });
        let title = "Measured mixes, and what the estimate says of them";
        let question = Column::text("question", "measured mix", "A mix, and the part in which it was measured.");
        Table::new("mix_estimates", title, Column::strategy(), &metrics, rows).grouped(question)
    }

    /// The own time of every operation that was called.
    fn own_times(&self) -> Table {
        let metrics = [Measure::number(
            "own_ns",
            "own time",
            "The mean time of a call with nothing else on the server.",
            time,
            |own: &Option<f64>| *own,
        )];
        let estimate = MixEstimate::new(self.own);
        let called = (0..self.own.operations.len()).filter(|operation| estimate.share(*operation) > 0.0);
        let times: Vec<(String, usize, Option<f64>)> = called
            .flat_map(|operation| {
                let name = plain(&self.own.operations[operation]);
                let time = |strategy| (name.clone(), strategy, estimate.time(strategy, operation));
                self.shown().into_iter().map(time).collect::<Vec<_>>()
            })
            .collect();
        let rows = times.into_iter().map(|(operation, strategy, time)| {
            (Row::new(strategy_cell(self.parts.main(), strategy)).group(operation).series(strategy), time)
        });
        let table = Table::new("own_times", "Own time of each operation", Column::strategy(), &metrics, rows);
        table.grouped(Column::text("operation", "operation", "The operation.")).side_by_side(Forms::DOCUMENT).folded()
    }

    /// What the page's script estimates with: own times in nanoseconds, shares from 0 to 1.
    fn data(&self) -> Value {
        let estimate = MixEstimate::new(self.own);
        let called: Vec<usize> =
            (0..self.own.operations.len()).filter(|operation| estimate.share(*operation) > 0.0).collect();
        let strategies = self.shown().into_iter().map(|place| {
            let own: Vec<Option<f64>> = called.iter().map(|operation| estimate.time(place, *operation)).collect();
            json!({ "place": place, "name": self.name(place), "own": own })
        });
        let mixes = self.mixes.iter().enumerate().map(|(mix, run)| {
            let of_mix = MixEstimate::of_mix(self.own, &run.mix.weights);
            let measured = self.measured.iter().filter(|one| one.mix == mix).map(|one| {
                let times: Vec<Option<f64>> = self.shown().into_iter().map(|place| one.measured[place]).collect();
                json!({ "part": load(one.part), "times": times })
            });
            json!({
                "name": plain(&run.mix.name),
                "shares": called.iter().map(|operation| of_mix.share(*operation)).collect::<Vec<f64>>(),
                "measured": measured.collect::<Vec<Value>>(),
            })
        });
        json!({
            "noise": estimate.noise,
            "tolerance": AGREEMENT,
            "operations": called.iter().map(|operation| plain(&self.own.operations[*operation])).collect::<Vec<_>>(),
            "strategies": strategies.collect::<Vec<Value>>(),
            "mixes": mixes.collect::<Vec<Value>>(),
        })
    }

    /// The shares of the operations in the measured mixes.
    fn shares(&self) -> Table {
        let metrics =
            [Measure::number("share", "share", "Its share (0 to 1) of the calls.", percent, |share: &f64| *share)];
        let own = MixEstimate::new(self.own);
        let called: Vec<usize> =
            (0..self.own.operations.len()).filter(|operation| own.share(*operation) > 0.0).collect();
        let estimate = |run: &&RunRecord| (plain(&run.mix.name), MixEstimate::of_mix(self.own, &run.mix.weights));
        let mixes: Vec<(String, MixEstimate)> = self.mixes.iter().map(estimate).collect();
        let rows = called.into_iter().flat_map(|operation| {
            let row = |name: &String| Row::new(name.as_str()).group(plain(&self.own.operations[operation]));
            mixes.iter().map(|(name, mix)| (row(name), mix.share(operation))).collect::<Vec<_>>()
        });
        let name = Column::text("mix", "mix", "The mix.");
        let table =
            Table::new("mix_shares", "Shares of the calls in the measured mixes", name, &metrics, rows).folded();
        let operation = Column::text("operation", "operation", "The operation.");
        table.grouped(operation).only(Forms::JSON)
    }
}

/// Whether every operation of a run's mix has own times.
fn has_times(own: &RunRecord, run: &RunRecord) -> bool {
    let estimate = MixEstimate::new(own);
    let has_time = |name: &String| {
        let operation = own.operations.iter().position(|other| other == name);
        operation.is_some_and(|operation| estimate.share(operation) > 0.0)
    };
    run.mix.weights.iter().filter(|(_, weight)| *weight > 0.0).all(|(name, _)| has_time(name))
}

impl MeasuredMix {
    /// A run's mix in the parts that have one.
    fn all(own: &RunRecord, mix: usize, run: &RunRecord) -> Vec<MeasuredMix> {
        let measured = [Part::Rate, Part::Saturation].into_iter().filter_map(|part| {
            let record = run.part(part).or_else(|| Some(run.clone()).filter(|run| run.part == Some(part)))?;
            let strategies = 0..own.strategies.len();
            Some(MeasuredMix {
                mix,
                name: plain(&run.mix.name),
                part,
                estimate: MixEstimate::of_mix(own, &run.mix.weights),
                measured: strategies.map(|strategy| mix_time(&record, strategy)).collect(),
                record,
            })
        });
        measured.collect()
    }

    /// The estimated and the measured time of a strategy divided by that of another one.
    fn ratios(&self, one: usize, other: usize) -> Option<(f64, f64)> {
        Some((self.estimate.ratio(one, other)?, mix_ratio(&self.record, one, other)?))
    }
}

impl Entry<'_> {
    fn ratios(&self) -> Option<(f64, f64)> {
        self.of.ratios(self.strategy, self.best)
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
        Report::among(run, others).sections.into_iter().find(|section| section.id == "what-if").unwrap()
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
        let row = estimates.rows.iter().find(|row| row.name.text == "linked").unwrap();
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
            note.contains("Left out, because single-call times do not add up to the measured mix: linked (estimated "),
            "{note}"
        );
        // Nothing is left to compare with the fastest one.
        let section = section_of(&run(2, 2), &[]);
        assert!(section.tables.is_empty() && section.items.is_empty());
        assert!(
            section.notes[0]
                .text
                .starts_with("Single-call times do not add up to the measured mix, so no other mix is estimated: ")
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
