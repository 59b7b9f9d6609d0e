//! What a run says about the mix: which strategy to choose, or which ones it does not tell apart. Whoever names a winner asks here.
//!
//! Two numbers decide, because each depends on two strategies only: calls per second at saturation, and the time of a call by
//! itself. Of two strategies the one is better that is shown to be ahead in one of them, and behind in neither. Response times
//! at a load decide where the user named that load, and only then: the ratio of two response times grows with the load.

use crate::record::{Metric, Part};
use crate::results::{Standing, Verdict};

use super::compare::{ArmComparison, Comparison, Quantity, Ratio, UNSTABLE};
use super::ranking::Ranking;
use super::view::Role;

/// A number of the mix that decides, and the part that measures it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Criterion {
    /// The part.
    pub part: Part,
    /// The number.
    pub metric: Metric,
}

impl Criterion {
    /// Calls per second at saturation.
    pub const CAPACITY: Criterion = Criterion { part: Part::Saturation, metric: Metric::Throughput };
    /// The time of a call by itself, weighted by the mix.
    pub const OWN_TIME: Criterion = Criterion { part: Part::Own, metric: Metric::MEAN };
    /// The response time at a load.
    pub const RESPONSE: Criterion = Criterion { part: Part::Rate, metric: Metric::MEAN };

    /// The 99th percentile of the response times at a load, which is shown and decides nothing.
    pub const TAIL: Criterion = Criterion { part: Part::Rate, metric: Metric::P99 };

    /// Whether its numbers are times or calls per second.
    pub fn quantity(self) -> Quantity {
        Quantity::of(self.metric)
    }
}

/// One strategy compared with another by one criterion.
#[derive(Debug, Clone, PartialEq)]
pub struct CriterionResult {
    /// The criterion.
    pub criterion: Criterion,
    /// The comparison.
    pub comparison: Comparison,
    /// Whether it takes part in the decision: times by themselves do not where calls per second are inconclusive and
    /// rather say the opposite.
    pub counts: bool,
    /// The share (0 to 1) of the calls that the other strategy kept up with, where that was too small for its times to be
    /// compared, and the first one kept up.
    pub overloaded: Option<f64>,
}

/// How one strategy compares with another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairOutcome {
    /// Ahead in one number, and behind in none.
    Ahead,
    /// The reverse.
    Behind,
    /// Ahead in one number and behind in another.
    TradeOff,
    /// No difference is shown.
    Open,
}

/// One strategy compared with another.
#[derive(Debug, Clone, PartialEq)]
pub struct PairDecision {
    /// The other strategy.
    pub against: usize,
    /// By every criterion that has a comparison, in the order in which they are named.
    pub results: Vec<CriterionResult>,
}

/// A strategy that the best one is shown to be better than.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beaten {
    /// The strategy.
    pub strategy: usize,
    /// The number of the best one divided by that of this one; `None` where this one is overloaded.
    pub ratio: Option<Ratio>,
    /// The first criterion that shows it.
    pub criterion: Criterion,
    /// See [`CriterionResult::overloaded`].
    pub overloaded: Option<f64>,
}

/// The decision of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What was asked, in the order in which it is named.
    pub criteria: Vec<Criterion>,
    /// The baseline strategy.
    pub baseline: usize,
    /// The strategy that none is better than; of several, the one with the best number.
    pub best: usize,
    /// It against every other judged strategy, in the order of the run.
    pub pairs: Vec<PairDecision>,
}

/// The questions about the mix by which a run is decided.
struct MixQuestions<'c> {
    questions: Vec<(Criterion, &'c ArmComparison)>,
    judged: Vec<usize>,
}

impl Answer {
    /// From the comparisons of all parts; `None` where no part measured the mix under load. `is_named_rate`: the user named the
    /// load.
    pub fn of<'c>(comparisons: impl Iterator<Item = (Part, &'c ArmComparison)>, is_named_rate: bool) -> Option<Answer> {
        let of_mix: Vec<(Part, &ArmComparison)> = comparisons.filter(|(_, one)| one.operation.is_none()).collect();
        let question = |criterion: Criterion| {
            let is_meant =
                |(part, one): &&(Part, &'c ArmComparison)| (*part, one.metric) == (criterion.part, criterion.metric);
            of_mix.iter().find(is_meant).map(|(_, question)| (criterion, *question))
        };
        let named = Some(Criterion::RESPONSE).filter(|_| is_named_rate).and_then(question);
        let questions = match (named, question(Criterion::CAPACITY), question(Criterion::RESPONSE)) {
            (Some(named), ..) => vec![named],
            (None, None, None) => return None,
            (None, Some(capacity), _) => std::iter::once(capacity).chain(question(Criterion::OWN_TIME)).collect(),
            // The response at a load is left where nothing else was measured.
            (None, None, Some(response)) => vec![question(Criterion::OWN_TIME).unwrap_or(response)],
        };
        MixQuestions::new(questions).answer()
    }

    /// The strategy that is shown to be better than all others.
    pub fn winner(&self) -> Option<usize> {
        let is_won = !self.pairs.is_empty() && self.pairs.iter().all(|one| one.outcome() == PairOutcome::Ahead);
        is_won.then_some(self.best)
    }

    /// The winner; without one, the best strategy and those that are not shown to be worse.
    pub fn leading(&self) -> Vec<usize> {
        let level = self.pairs.iter().filter(|one| one.outcome() != PairOutcome::Ahead).map(|one| one.against);
        std::iter::once(self.best).chain(level).collect()
    }

    /// The comparisons of the best strategy with those that it is not told from, as far as they count.
    pub fn tied(&self) -> impl Iterator<Item = &Comparison> {
        let level = self.pairs.iter().filter(|one| one.outcome() == PairOutcome::Open);
        level.flat_map(|one| one.counting().map(|result| &result.comparison))
    }

    /// The effect that would have been found between all strategies that no difference is shown between; `None` where a pair was
    /// not compared, or would have shown none.
    pub fn least_effect(&self) -> Option<f64> {
        let mut open = self.pairs.iter().filter(|one| one.outcome() == PairOutcome::Open);
        if open.any(|one| one.counting().next().is_none()) { None } else { least_effect(self.tied()) }
    }

    /// The strategies that are ahead of the best one in one number, and behind it in another.
    pub fn trade_offs(&self) -> impl Iterator<Item = &PairDecision> {
        self.pairs.iter().filter(|one| one.outcome() == PairOutcome::TradeOff)
    }

    /// The strategies that the best one is shown to be better than, the nearest first.
    pub fn beaten(&self) -> Vec<Beaten> {
        let mut all: Vec<Beaten> = self.pairs.iter().filter_map(PairDecision::beaten).collect();
        // Those that cannot keep up have no ratio, and go last.
        let size = |one: &Beaten| one.ratio.map_or(f64::INFINITY, |ratio| ratio.mean.ln().abs());
        all.sort_by(|a, b| size(a).total_cmp(&size(b)));
        all
    }

    /// The best strategy against another one.
    pub fn pair(&self, against: usize) -> Option<&PairDecision> {
        self.pairs.iter().find(|one| one.against == against)
    }
}

impl<'c> MixQuestions<'c> {
    fn new(questions: Vec<(Criterion, &'c ArmComparison)>) -> MixQuestions<'c> {
        let arms = questions.first().map_or(&[][..], |(_, question)| question.arms());
        let judged = arms.iter().filter(|arm| arm.role == Role::Judged).map(|arm| arm.strategy).collect();
        MixQuestions { questions, judged }
    }

    fn answer(self) -> Option<Answer> {
        let is_beaten =
            |one: &usize| self.others(*one).any(|other| self.compare(*one, other).outcome() == PairOutcome::Behind);
        let unbeaten: Vec<usize> = self.judged.iter().copied().filter(|one| !is_beaten(one)).collect();
        // None is better than all that are better than it, but some pairs may not be comparable.
        let candidates = if unbeaten.is_empty() { &self.judged } else { &unbeaten };
        let best = self.questions.iter().find_map(|(_, question)| best_of(question, candidates))?;
        let pairs: Vec<PairDecision> = self.others(best).map(|other| self.compare(best, other)).collect();
        let criteria = self.questions.iter().map(|(criterion, _)| *criterion).collect();
        let baseline = self.questions.first()?.1.arms().first()?.strategy;
        (!pairs.is_empty()).then_some(Answer { criteria, baseline, best, pairs })
    }

    fn others(&self, one: usize) -> impl Iterator<Item = usize> {
        self.judged.iter().copied().filter(move |other| *other != one)
    }

    /// How two strategies compare. It depends on no third one.
    fn compare(&self, one: usize, against: usize) -> PairDecision {
        let compared = self.questions.iter().filter_map(|(criterion, question)| {
            let overload = |strategy: usize| question.arms().get(strategy).and_then(|arm| arm.overloaded);
            let comparison = question.pair(one, against)?;
            let overloaded = overload(against).filter(|_| overload(one).is_none());
            Some(CriterionResult { criterion: *criterion, comparison, counts: true, overloaded })
        });
        let mut pair = PairDecision { against, results: compared.collect() };
        pair.leave_out_what_load_contradicts();
        pair
    }
}

/// The strategy with the best number of a question among some.
fn best_of(question: &ArmComparison, among: &[usize]) -> Option<usize> {
    let quantity = Quantity::of(question.metric);
    let arms = question.arms().iter().filter(|arm| among.contains(&arm.strategy) && arm.overloaded.is_none());
    let numbers = arms.filter_map(|arm| Some((arm.strategy, quantity.as_time(arm.series.value?))));
    numbers.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(strategy, _)| strategy)
}

impl PairDecision {
    /// Where calls per second are inconclusive and rather say the opposite, times by themselves do not decide: they miss what
    /// happens there, such as calls that wait for each other.
    fn leave_out_what_load_contradicts(&mut self) {
        let (Some(capacity), Some(own)) = (self.by(Criterion::CAPACITY), self.by(Criterion::OWN_TIME)) else { return };
        let ratios = capacity.comparison.ratio.zip(own.comparison.ratio);
        let is_same_order = ratios.is_some_and(|(capacity, own)| (capacity.mean > 1.0) == (own.mean < 1.0));
        let is_conclusive = capacity.verdict().is_difference() || effect(capacity.verdict()).is_some();
        let counts = is_same_order || is_conclusive;
        for one in self.results.iter_mut().filter(|one| one.criterion == Criterion::OWN_TIME) {
            one.counts = counts;
        }
    }

    /// The results that take part in the decision.
    pub fn counting(&self) -> impl Iterator<Item = &CriterionResult> {
        self.results.iter().filter(|one| one.counts)
    }

    /// By one criterion.
    pub fn by(&self, criterion: Criterion) -> Option<&CriterionResult> {
        self.results.iter().find(|one| one.criterion == criterion)
    }

    /// The first result that shows the strategy ahead.
    pub fn ahead(&self) -> Option<&CriterionResult> {
        self.counting().find(|one| one.verdict() == Verdict::Faster)
    }

    /// The first result that shows it behind.
    pub fn behind(&self) -> Option<&CriterionResult> {
        self.counting().find(|one| one.verdict() == Verdict::Slower)
    }

    /// How the strategy compares with the other.
    pub fn outcome(&self) -> PairOutcome {
        match (self.ahead(), self.behind()) {
            (Some(_), None) => PairOutcome::Ahead,
            (None, Some(_)) => PairOutcome::Behind,
            (Some(_), Some(_)) => PairOutcome::TradeOff,
            (None, None) => PairOutcome::Open,
        }
    }

    fn beaten(&self) -> Option<Beaten> {
        let CriterionResult { criterion, comparison, overloaded, .. } =
            self.ahead().filter(|_| self.outcome() == PairOutcome::Ahead)?;
        let ratio = comparison.ratio.filter(|_| overloaded.is_none());
        Some(Beaten { strategy: self.against, ratio, criterion: *criterion, overloaded: *overloaded })
    }
}

impl CriterionResult {
    /// What it shows: who cannot keep up with a load is behind who can.
    pub fn verdict(&self) -> Verdict {
        if self.overloaded.is_some() { Verdict::Faster } else { self.comparison.verdict }
    }
}

impl Ranking {
    /// How a judged strategy stands by this number. `winner` is that of the run's answer: no other is called the best.
    pub fn standing(&self, strategy: usize, winner: Option<usize>) -> Standing {
        let is_tied = |one: &Comparison| effect(one.verdict).is_some();
        if strategy == self.best {
            return match (self.is_clear(), winner == Some(strategy)) {
                (true, true) => Standing::Best,
                (true, false) => Standing::First,
                (false, _) if self.best_against.iter().any(is_tied) => Standing::Tied,
                (false, _) => Standing::Undecided,
            };
        }
        match self.best_against.iter().find(|one| one.against == strategy) {
            Some(one) if one.verdict == Verdict::Faster => Standing::Worse,
            Some(one) if is_tied(one) => Standing::Tied,
            Some(_) | None => Standing::Undecided,
        }
    }
}

/// The effect that a comparison would have shown; `None` where one was shown, and where it is so large that nothing is.
pub fn effect(verdict: Verdict) -> Option<f64> {
    match verdict {
        Verdict::Same { within } => Some(within),
        Verdict::NoDifference { mde, .. } => Some(mde).filter(|mde| *mde <= UNSTABLE),
        Verdict::Faster | Verdict::Slower | Verdict::Inconclusive(_) => None,
    }
}

/// The effect that all comparisons would have shown; `None` where one shows nothing, and where there is none.
pub fn least_effect<'c>(comparisons: impl Iterator<Item = &'c Comparison>) -> Option<f64> {
    let effects = comparisons.map(|one| effect(one.verdict)).collect::<Option<Vec<f64>>>()?;
    effects.into_iter().filter(|effect| *effect > 0.0).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::super::shared_cache::SharedCache;
    use super::super::{ArmTimes, ComparisonFamily, Limits, ask, compare};
    use super::*;
    use crate::results::{self, Reason, RunRecord};

    /// An arm per list of rounds.
    fn question(metric: Metric, arms: &[[f64; 6]]) -> ArmComparison {
        let arms = arms
            .iter()
            .enumerate()
            .map(|(place, rounds)| ArmTimes::sample(place, Role::Judged, rounds.iter().copied().map(Some).collect()));
        compare(vec![ArmComparison::new(metric, None, arms.collect())], Limits::default()).remove(0)
    }

    fn own_times(times: &[[f64; 6]]) -> (Part, ArmComparison) {
        (Part::Own, question(Metric::MEAN, times))
    }

    fn capacity(rates: &[[f64; 6]]) -> (Part, ArmComparison) {
        (Part::Saturation, question(Metric::Throughput, rates))
    }

    fn response(times: &[[f64; 6]]) -> (Part, ArmComparison) {
        (Part::Rate, question(Metric::MEAN, times))
    }

    fn asked(questions: &[(Part, ArmComparison)], is_named_rate: bool) -> Option<Answer> {
        Answer::of(questions.iter().map(|(part, one)| (*part, one)), is_named_rate)
    }

    fn decided(questions: &[(Part, ArmComparison)]) -> Answer {
        asked(questions, false).unwrap()
    }

    /// Numbers that differ by a percent from round to round.
    fn about(number: f64) -> [f64; 6] {
        [1.0, 1.01, 0.99, 1.005, 0.995, 1.0].map(|noise| noise * number)
    }

    /// Numbers whose rounds are too far apart for any difference to be reported.
    fn wild(number: f64) -> [f64; 6] {
        [0.3, 3.0, 0.5, 2.0, 0.4, 2.5].map(|noise| noise * number)
    }

    #[test]
    fn ahead_in_one_number_and_behind_in_none_is_better() {
        let both = decided(&[own_times(&[about(1.0), about(2.0)]), capacity(&[about(30.0), about(10.0)])]);
        assert_eq!((both.winner(), both.beaten()[0].criterion), (Some(0), Criterion::CAPACITY));
        assert!((both.beaten()[0].ratio.unwrap().mean - 3.0).abs() < 1e-9);
        let times = decided(&[own_times(&[about(2.0), about(1.0)]), capacity(&[about(10.0), about(10.0)])]);
        assert_eq!((times.winner(), times.beaten()[0].criterion), (Some(1), Criterion::OWN_TIME));
        let neither = decided(&[own_times(&[about(1.0), about(1.0)]), capacity(&[about(10.0), about(10.0)])]);
        assert_eq!((neither.winner(), neither.leading().len(), neither.beaten().len()), (None, 2, 0));
        assert!(least_effect(neither.tied()).is_some());
    }

    #[test]
    fn opposite_numbers_are_a_trade_off() {
        let found = decided(&[
            own_times(&[about(1.0), about(2.0), about(9.0)]),
            capacity(&[about(10.0), about(20.0), about(5.0)]),
        ]);
        assert_eq!((found.winner(), found.best, found.leading()), (None, 1, vec![1, 0]));
        let trade_offs: Vec<&PairDecision> = found.trade_offs().collect();
        assert_eq!((trade_offs.len(), trade_offs[0].against), (1, 0));
        assert_eq!(trade_offs[0].ahead().unwrap().criterion, Criterion::CAPACITY);
        assert_eq!(trade_offs[0].behind().unwrap().criterion, Criterion::OWN_TIME);
        assert_eq!(found.beaten().iter().map(|one| one.strategy).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn times_that_inconclusive_load_contradicts_decide_nothing() {
        let times = own_times(&[about(1.0), about(2.0)]);
        let same = decided(&[times.clone(), capacity(&[about(20.0), wild(10.0)])]);
        assert_eq!((same.winner(), same.beaten()[0].criterion), (Some(0), Criterion::OWN_TIME));
        let opposite = decided(&[times, capacity(&[about(10.0), wild(20.0)])]);
        assert_eq!(opposite.winner(), None);
        assert!(opposite.pairs[0].by(Criterion::OWN_TIME).is_some_and(|one| !one.counts));
    }

    #[test]
    fn a_response_time_decides_where_its_load_was_named() {
        let all = [
            own_times(&[about(1.0), about(2.0)]),
            response(&[about(4.0), about(2.0)]),
            capacity(&[about(20.0), about(10.0)]),
        ];
        assert_eq!((decided(&all).winner(), asked(&all, true).unwrap().winner()), (Some(0), Some(1)));
        // Nothing else was measured.
        assert_eq!(decided(&all[1..2]).winner(), Some(1));
        assert_eq!(asked(&all[..1], false), None, "no load");
    }

    #[test]
    fn what_cannot_keep_up_with_a_named_load_is_worse() {
        let of = |overloaded: [Option<f64>; 2]| {
            let arms = overloaded.into_iter().enumerate().map(|(place, overloaded)| ArmTimes {
                overloaded,
                ..ArmTimes::sample(place, Role::Judged, about(1.0).map(Some).to_vec())
            });
            let question = ArmComparison::new(Metric::MEAN, None, arms.collect());
            let question = compare(vec![question], Limits::default()).remove(0);
            asked(&[(Part::Rate, question)], true)
        };
        let found = of([None, Some(0.55)]).unwrap();
        assert_eq!((found.winner(), found.beaten()[0].overloaded), (Some(0), Some(0.55)));
        assert_eq!(of([Some(0.6), Some(0.55)]), None, "neither has a response time");
    }

    /// The folders of all published runs.
    fn published() -> Vec<PathBuf> {
        let below = |folder: PathBuf| {
            let entries = fs::read_dir(folder).into_iter().flatten();
            entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect::<Vec<_>>()
        };
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        let mut all: Vec<PathBuf> = below(root).into_iter().flat_map(below).flat_map(below).collect();
        all.retain(|folder| folder.join("summary.json").is_file());
        all.sort();
        all
    }

    /// The questions that decide, of all parts.
    fn families(run: &RunRecord) -> Vec<(Part, ComparisonFamily)> {
        let parts = run.all_parts();
        let (mix, cache) = (parts.get(&Part::Saturation), SharedCache::of(&parts));
        let decisive = [Part::Own, Part::Saturation].into_iter().filter_map(|part| Some((part, parts.get(&part)?)));
        decisive.flat_map(|(part, run)| ask(run, &[], mix, &cache).0.into_iter().map(move |one| (part, one))).collect()
    }

    fn answer(families: &[(Part, ComparisonFamily)]) -> Option<Answer> {
        let questions = families.iter().flat_map(|(part, family)| family.questions.iter().map(|one| (*part, one)));
        Answer::of(questions, false)
    }

    /// The run as if these strategies, and no other, had been in it.
    fn only(run: &RunRecord, kept: &[usize]) -> RunRecord {
        let mut made = run.clone();
        made.strategies = kept.iter().map(|place| run.strategies[*place].clone()).collect();
        made.identical.retain_mut(|one| match kept.iter().position(|place| *place == one.strategy) {
            Some(place) => {
                one.strategy = place;
                true
            }
            None => false,
        });
        for round in made.parts.values_mut().flatten() {
            round.cells = kept.iter().map(|place| round.cells[*place].clone()).collect();
        }
        made
    }

    #[test]
    fn left_out_losers_change_nothing_between_the_others() {
        let runs: Vec<RunRecord> = published().iter().map(|folder| results::load(folder).unwrap()).collect();
        assert!(runs.len() > 30, "{} published runs", runs.len());
        let (mut pairs, mut answers) = (0, 0);
        for run in &runs {
            let name = format!("{}/{}", run.scenario.name, run.mix.name);
            let all = families(run);
            let whole = answer(&all);
            // The baseline and its repeat stay: they say how far apart two arms of one strategy are.
            let is_fixed = |place: &usize| *place == 0 || run.strategies[*place].is_repeat;
            let others: Vec<usize> = (0..run.strategies.len()).filter(|place| !is_fixed(place)).collect();
            for chosen in 1..1_u32 << others.len() {
                let is_kept = |place: &usize| {
                    is_fixed(place)
                        || others.iter().position(|other| other == place).is_some_and(|at| chosen >> at & 1 == 1)
                };
                let kept: Vec<usize> = (0..run.strategies.len()).filter(is_kept).collect();
                let fewer = families(&only(run, &kept));
                for ((_, before), (_, after)) in all.iter().zip(&fewer) {
                    for (before, after) in before.questions.iter().zip(&after.questions) {
                        for (one, other) in (0..kept.len()).flat_map(|one| (0..one).map(move |other| (one, other))) {
                            let Some(after) = after.pair(one, other) else { continue };
                            let before = before.pair(kept[one], kept[other]).unwrap();
                            check_pair(&before, &after, &name);
                            pairs += 1;
                        }
                    }
                }
                // Fewer comparisons may show what more of them left open, but not another order.
                let winner = whole.as_ref().and_then(Answer::winner).filter(is_kept);
                if let (Some(winner), Some(answer)) = (winner, answer(&fewer)) {
                    assert_eq!(answer.winner().map(|place| kept[place]), Some(winner), "{name} with {kept:?}");
                    answers += 1;
                }
            }
        }
        assert!(pairs > 500 && answers > 50, "{pairs} pairs, {answers} answers");
    }

    /// A pair in the whole run and in one with fewer strategies: the same ratio, and an interval that is no wider.
    fn check_pair(before: &Comparison, after: &Comparison, name: &str) {
        let [mean, fewer] = [before, after].map(|one| one.ratio.map(|ratio| (ratio.mean, ratio.rounds)));
        assert_eq!(mean, fewer, "{name}: {before:?} {after:?}");
        let interval = |one: &Comparison| one.ratio.and_then(|ratio| ratio.interval);
        if let (Some(wide), Some(narrow), true) = (interval(before), interval(after), before.p.is_some()) {
            assert!(
                wide.low <= narrow.low * (1.0 + 1e-9) && narrow.high <= wide.high * (1.0 + 1e-9),
                "{name}: {before:?} {after:?}"
            );
        }
        if before.verdict.is_difference() {
            assert_eq!(before.verdict, after.verdict, "{name}: {before:?} {after:?}");
        } else if let Some(reason) = before.verdict.reason().filter(|reason| !matches!(reason, Reason::Unstable { .. }))
        {
            assert_eq!(
                std::mem::discriminant(&reason),
                std::mem::discriminant(&after.verdict.reason().unwrap()),
                "{name}"
            );
        }
    }
}
