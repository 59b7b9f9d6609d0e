//! The report of a sweep: where the order of the strategies flips, and the times at every point.

mod order;
mod point;

use crate::record::{Metric, Part};
use crate::report::document::format::{capitalised, titled};
use crate::report::run::conditions::conditions;
use crate::report::run::decision::phrase;
use crate::report::{Finding, Headline, Report, Series, counted, interval, listed, plain, three};
use crate::results::{ConclusionRecord, RunRecord};
use crate::stats::Verdict;

use super::crossover::Flip;
use super::record::{ConditionRecord, SweepRecord, condition_number, condition_unit, condition_unit_size};
use super::swept::{Swept, SweptPair, SweptQuantity};

/// Sentences of the verdict; everything is in the tables.
const STATED: usize = 3;

impl Report {
    /// Computes the report of a sweep from the runs of its points.
    pub fn of_sweep(record: &SweepRecord, runs: &[RunRecord]) -> Report {
        let sweep = Swept::of(record, runs);
        let pairs = sweep.pairs();
        let sections = [
            Some(sweep.orders(&pairs)),
            sweep.network(&pairs),
            sweep.winners(&pairs),
            Some(sweep.times()),
            sweep.costs(),
            Some(sweep.sizes()),
            Some(sweep.list()),
        ];
        Report::of(sweep.headline(&pairs), sections.into_iter().flatten())
    }
}

/// What a sweep has found; `None` without runs.
pub fn sweep_conclusion(record: &SweepRecord, runs: &[RunRecord]) -> Option<ConclusionRecord> {
    let sweep = Swept::of(record, runs);
    let conditions = sweep.conditions(runs.first()?);
    Some(ConclusionRecord { conditions, fastest: sweep.fastest(&sweep.pairs()) })
}

impl Swept<'_> {
    /// The server, the machine, the length and what was set.
    fn conditions(&self, run: &RunRecord) -> String {
        let length = [format!("preset {}", run.settings.preset.name()), counted(self.rounds(), "round")];
        conditions(run, &length, |name| self.record.vary.iter().any(|condition| condition.name == name))
    }

    fn headline(&self, pairs: &[SweptPair]) -> Headline {
        let condition = |condition: &ConditionRecord| {
            format!("{} = {}", plain(&condition.name), plain(&condition.values.join(", ")))
        };
        let conditions: Vec<String> = self.record.vary.iter().map(condition).collect();
        let mix = self.runs.first().map_or_else(String::new, |run| plain(&run.mix.name));
        let flipped = pairs.iter().filter(|one| !one.curve.flips.is_empty());
        let varied = self.varied();
        let findings: Vec<Finding> = flipped
            .map(|one| Finding {
                name: self.place(one),
                text: format!("{} ({varied})", self.sentence(one)),
                is_difference: true,
            })
            .collect();
        let said = |finding: &Finding| capitalised(&format!("{}: {}.", finding.name, finding.text));
        let mut sentences: Vec<String> = self.fastest(pairs).iter().take(STATED).map(phrase::fastest).collect();
        // A sweep may leave out the mix.
        if sentences.is_empty() {
            sentences.push(findings.first().map_or_else(|| self.no_flip(), said));
        }
        let failed = self.record.points.iter().filter(|point| point.error.is_some()).count() as u64;
        let question = self.record.question.as_deref().map(plain).filter(|question| !question.is_empty());
        let measured = format!("{}; mix {mix}, {}.", conditions.join("; "), counted(self.rounds(), "round"));
        Headline {
            scenario: plain(&self.record.scenario),
            // A page with a question answers that.
            title: question.unwrap_or_else(|| plain(&self.record.title)),
            tab: format!("{}, sweep of {varied}: {}", titled(&self.record.scenario), sentences[0]),
            subject: vec![measured],
            mix,
            incomplete: match failed {
                0 if self.record.complete => None,
                0 => Some("The sweep is not complete: `docshape sweep --resume` continues it.".to_owned()),
                _ => Some(format!("{} failed or may not be used; see the points below.", counted(failed, "point"))),
            },
            sentences,
            findings_lead: "The order of strategies flips",
            findings,
            ..Headline::default()
        }
    }

    fn no_flip(&self) -> String {
        let values = self.record.vary.first().map_or(&[][..], |condition| &condition.values);
        let ends = values.first().zip(values.last());
        let ends = ends.map(|(first, last)| format!(" between {} and {}", plain(first), plain(last)));
        format!("No flip found: {}{}.", self.varied(), ends.unwrap_or_default())
    }

    /// The name of the first condition.
    fn varied(&self) -> String {
        self.record.vary.first().map_or_else(String::new, |condition| plain(&condition.name))
    }

    /// Complete rounds of the point that has fewest.
    fn rounds(&self) -> u64 {
        self.record.points.iter().map(|point| point.rounds).min().unwrap_or(0)
    }

    fn strategy(&self, place: usize) -> String {
        self.runs.first().map_or_else(String::new, |run| plain(run.strategy_name(place)))
    }

    fn name(&self, quantity: SweptQuantity) -> String {
        let name = match quantity.operation {
            Some(operation) => {
                let run = self.runs.first();
                run.and_then(|run| run.operations.get(operation)).map_or_else(String::new, |name| plain(name))
            }
            None if quantity.part == Part::Saturation => "mix at saturation".to_owned(),
            None => format!("mix with {}", quantity.part.label()),
        };
        match quantity.metric() {
            Metric::MEAN | Metric::Throughput => name,
            other => format!("{name}, {other}"),
        }
    }

    /// The operation or mix of a pair, and the value of the second condition.
    fn place(&self, pair: &SweptPair) -> String {
        self.place_of(pair.quantity, &pair.under)
    }

    /// An operation or the mix, and a value of the second condition.
    fn place_of(&self, quantity: SweptQuantity, under: &str) -> String {
        let name = self.name(quantity);
        let Some(second) = self.record.vary.get(1) else { return name };
        format!("{name}, {} = {}", plain(&second.name), plain(under))
    }

    /// What a curve says, as a sentence.
    fn sentence(&self, pair: &SweptPair) -> String {
        let SweptPair { one, other, curve, .. } = pair;
        let (one, other) = (self.strategy(*one), self.strategy(*other));
        if !curve.flips.is_empty() {
            let flip = |Flip { below, low, high, .. }: &Flip| {
                let (first, then) = if *below == Verdict::Faster { (&one, &other) } else { (&other, &one) };
                phrase::switch(first, then, &self.range(*low, *high))
            };
            return listed(curve.flips.iter().map(flip));
        }
        let Some(order) = curve.order() else { return phrase::NO_DIFFERENCE.to_owned() };
        let decided: Vec<_> = curve.points.iter().filter(|point| point.verdict.is_difference()).collect();
        let faster = if order == Verdict::Faster { &one } else { &other };
        let factor = |ratio: f64| if order == Verdict::Faster { ratio.recip() } else { ratio };
        let factors = decided.iter().map(|point| factor(point.ratio));
        let least = factors.clone().fold(f64::INFINITY, f64::min);
        let most = factors.fold(0.0, f64::max);
        let by = if three(least) == three(most) { three(least) } else { interval(least, most) };
        let values = self.record.vary.first().map_or(0, |condition| condition.values.len());
        let places = if decided.len() == values {
            String::new()
        } else {
            format!(" at {}", listed(decided.iter().map(|point| self.label(point.x))))
        };
        format!("{faster} is {by}x faster{places}")
    }

    /// A number of the first condition in the unit of its values.
    fn value(&self, x: f64) -> String {
        let last = self.record.vary.first().and_then(|condition| condition.values.last());
        let unit = last.map_or("", |value| condition_unit(value));
        format!("{}{unit}", three(x / condition_unit_size(unit).unwrap_or(1.0)))
    }

    /// A value of the first condition as it was written.
    fn label(&self, x: f64) -> String {
        let mut values = self.record.vary.iter().flat_map(|condition| &condition.values);
        values.find(|value| condition_number(value) == Some(x)).map_or_else(|| self.value(x), |value| plain(value))
    }

    /// From one number of the first condition to another.
    fn range(&self, low: f64, high: f64) -> String {
        let (low, high) = (self.value(low), self.value(high));
        if low == high { low } else { format!("{low} to {high}") }
    }

    fn series(&self) -> Vec<Series> {
        let strategies = self.runs.first().map_or(0, |run| run.strategies.len());
        Series::named((0..strategies).map(|place| self.strategy(place)))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::record::{PointRecord, SWEEP_FORMAT};
    use super::*;
    use crate::record::CallOutcome;
    use crate::report::tests::in_every_form;
    use crate::report::{Html, Renderer};
    use crate::stats::sample;

    /// A sweep over two added latencies and two lengths, with this text in every place.
    pub(crate) fn sweep(run: &RunRecord, text: &str) -> (SweepRecord, Vec<RunRecord>) {
        let own = || text.to_owned();
        let condition = |name: &str, values: [&str; 2]| ConditionRecord {
            name: name.to_owned(),
            values: values.map(str::to_owned).to_vec(),
        };
        let point = |values: [&str; 2]| PointRecord {
            values: values.map(str::to_owned).to_vec(),
            folder: own(),
            rounds: 6,
            error: None,
        };
        let values = [["0", text], ["0", "other"], ["1ms", text], ["1ms", "other"]];
        let mut record = SweepRecord {
            format: SWEEP_FORMAT,
            version: own(),
            scenario: own(),
            title: own(),
            question: Some(own()),
            started: own(),
            complete: true,
            vary: vec![condition("rtt", ["0", "1ms"]), condition(text, [text, "other"])],
            points: values.map(point).to_vec(),
            ..SweepRecord::default()
        };
        record.points[1].error = Some(own());
        let runs = vec![run.clone(); 4];
        record.conclusion = sweep_conclusion(&record, &runs);
        (record, runs)
    }

    /// A sweep with every section and table.
    pub(crate) fn named(run: &RunRecord, text: &str) -> Report {
        let (record, runs) = sweep(run, text);
        Report::of_sweep(&record, &runs)
    }

    pub(crate) fn complete() -> Report {
        named(&sample::whole(&sample::run(6)), "length")
    }

    #[test]
    fn a_strategy_that_a_point_lacks_does_not_make_the_others_fastest_there() {
        let (record, runs) = sweep(&sample::whole(&sample::run(6)), "length");
        let mut sweep = Swept::of(&record, &runs);
        let mut pairs = sweep.pairs();
        let missing = runs[0].strategies.len();
        sweep.strategies.push(missing);
        for point in pairs.iter_mut().flat_map(|pair| &mut pair.curve.points) {
            point.verdict = Verdict::NoDifference { within_noise: true, mde: 0.1 };
        }
        let fastest = sweep.fastest(&pairs);
        assert!(!fastest.is_empty());
        assert!(fastest.iter().flat_map(|one| &one.points).all(|point| point.strategies.is_empty()), "{fastest:?}");
    }

    #[test]
    fn the_range_of_a_flip_is_shaded() {
        let (record, runs) = sweep(&sample::whole(&sample::run(6)), "length");
        let sweep = Swept::of(&record, &runs);
        let page = |pairs: &[SweptPair]| {
            let mut text = String::new();
            Html.render(&Report::of(Headline::default(), [sweep.orders(pairs)]), &mut text).unwrap();
            text
        };
        let mut pairs = sweep.pairs();
        pairs.iter_mut().for_each(|pair| pair.curve.flips.clear());
        assert!(!page(&pairs).contains(r#"class="band""#));
        let charted = pairs.iter_mut().find(|pair| pair.one == 0 && pair.curve.points.len() > 1).unwrap();
        charted.curve.flips = vec![Flip { below: Verdict::Faster, low: 0.0, at: 0.0, high: 0.001 }];
        let page = page(&pairs);
        assert_eq!(page.matches(r#"class="band""#).count(), 1);
        assert!(page.contains("change places at 0ms to 1.00ms"), "{page}");
        assert!(page.contains("A strip over their whole height"), "{page}");
    }

    #[test]
    fn a_strategy_that_does_not_keep_up_is_marked_and_not_compared() {
        let (record, mut runs) = sweep(&sample::whole(&sample::run(6)), "length");
        let fastest = |runs: &[RunRecord]| {
            let sweep = Swept::of(&record, runs);
            let found = sweep.fastest(&sweep.pairs());
            found.into_iter().find(|one| one.place.starts_with("mix with")).unwrap()
        };
        assert!(fastest(&runs).open.is_empty());
        for cell in runs[0].parts.get_mut(&Part::Rate).unwrap().iter_mut().map(|round| &mut round.cells[0]) {
            let open = cell.open.as_mut().unwrap();
            open.waiting = open.offered / 2;
        }
        let sweep = Swept::of(&record, &runs);
        let pairs = sweep.pairs();
        let is_mix = |pair: &&SweptPair| pair.quantity.operation.is_none() && pair.quantity.part == Part::Rate;
        let of_first = pairs.iter().filter(is_mix).filter(|pair| pair.under == record.points[0].values[1]);
        assert!(of_first.clone().count() > 0, "the other value of the first condition is compared");
        assert!(of_first.flat_map(|pair| &pair.curve.points).all(|point| point.x > 0.0));
        let found = fastest(&runs);
        assert_eq!(found.points[0].strategies, ["linked"], "the only one that kept up: {found:?}");
        assert!(found.points[0].left_out.is_empty(), "one that is overloaded has lost: {found:?}");
        let [terminal, markdown] = in_every_form(&Report::of_sweep(&record, &runs));
        assert!(terminal.contains("overloaded") && markdown.contains("overloaded 50 %"), "{markdown}");
    }

    #[test]
    fn the_answer_names_a_strategy_that_is_not_compared() {
        let mut run = sample::whole(&sample::run(6));
        run.strategies[2].is_unsafe = false;
        let (record, mut runs) = sweep(&run, "length");
        for cell in runs[0].parts.get_mut(&Part::Saturation).unwrap().iter_mut().map(|round| &mut round.cells[0]) {
            cell.operations.iter_mut().for_each(|operation| operation.outcomes[0].outcome = CallOutcome::Failed);
        }
        let sweep = Swept::of(&record, &runs);
        let found = sweep.fastest(&sweep.pairs());
        let found = found.iter().find(|one| one.place.starts_with("mix at saturation")).unwrap();
        assert_eq!(found.points[0].left_out, ["embedded"], "{found:?}");
        let said = phrase::fastest(found);
        assert!(said.contains("; embedded not compared at "), "{said}");
    }

    #[test]
    fn a_point_that_failed_is_marked_and_left_out() {
        let [terminal, markdown] = in_every_form(&complete());
        assert!(terminal.contains("1 point failed or may not be used"), "{terminal}");
        insta::assert_snapshot!("two_conditions_markdown", markdown);
    }
}
