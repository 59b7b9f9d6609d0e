//! The answer, and how sure it is.

use crate::record::Part;
use crate::report::arm_comparison::{ArmComparison, ComparedMetric};
use crate::report::evaluation::Evaluation;
use crate::report::format::{count, listed, marked, percent};
use crate::report::parts::PartEvaluations;
use crate::report::verdict_text::{VerdictText, brief, capitalised};
use crate::stats::{Comparison, InconclusiveReason, MINIMUM_ROUNDS, Quantity, Ranking, Ratio, Role, UNSTABLE, Verdict};

/// More names than these are counted.
const NAMED: usize = 3;

/// A question about the mix: the mean response time at the common rate, or the calls per second at saturation.
#[derive(Clone, Copy)]
pub(in crate::report) struct Asked<'r> {
    /// The part that it is about.
    pub(in crate::report) part: Part,
    run: &'r Evaluation,
    question: &'r ArmComparison,
}

/// A strategy that the best one is shown to be better than.
#[derive(Clone, Copy)]
pub(in crate::report) struct Beaten<'r> {
    /// The strategy.
    pub(in crate::report) place: usize,
    /// How it compares.
    pub(super) ratio: Ratio,
    /// The question that shows it.
    pub(super) asked: Asked<'r>,
}

/// The question about the mix that a run is decided by: the mean response time at the common rate, or, where that shows no
/// difference, the calls per second at saturation.
pub(in crate::report) struct Judged<'r> {
    /// The parts of the run.
    pub(in crate::report) parts: &'r PartEvaluations,
    /// The question.
    pub(in crate::report) asked: Asked<'r>,
    /// The best strategy, and how it compares.
    pub(in crate::report) ranking: Ranking,
    /// The questions about the mix that show no difference, and were asked before this one.
    undecided: Vec<(Asked<'r>, Ranking)>,
    /// The later question in which the best strategy is also the best, and is shown to be better than all that this one does not
    /// tell it from.
    tie_break: Option<(Asked<'r>, Ranking)>,
}

impl<'r> Judged<'r> {
    /// `None` where the mix was not measured.
    pub(in crate::report) fn of(parts: &'r PartEvaluations) -> Option<Judged<'r>> {
        let questions = parts.iter().filter(|(part, _)| *part != Part::Own).flat_map(|(part, run)| {
            let questions = run.comparisons().filter(|one| one.metric != ComparedMetric::P99);
            questions.filter_map(move |question| Some((Asked { part, run, question }, question.ranking()?)))
        });
        let mut questions: Vec<_> = questions.collect();
        let decided = questions.iter().position(|(_, ranking)| ahead(ranking).next().is_some());
        let undecided = questions.drain(..decided.unwrap_or(0)).collect();
        let mut questions = questions.into_iter();
        let (asked, ranking) = questions.next()?;
        let mut judged = Judged { parts, asked, ranking, undecided, tie_break: None };
        if decided.is_some() && !judged.ranking.is_clear() {
            judged.tie_break = questions.find(|(_, later)| judged.is_settled_by(later));
        }
        Some(judged)
    }

    /// Whether a later question shows the best strategy to be better than all that are not told from it.
    fn is_settled_by(&self, later: &Ranking) -> bool {
        let best = self.ranking.best;
        let is_beaten = |place: usize| ahead(later).any(|one| one.against == place);
        later.best == best && self.tied().all(|one| is_beaten(one.strategy_besides(best)))
    }

    /// A strategy's name.
    pub(super) fn name(&self, strategy: usize) -> &'r str {
        self.asked.run.strategies.get(strategy).map_or("?", |strategy| &strategy.name)
    }

    /// A strategy's name within a sentence.
    pub(super) fn marked(&self, strategy: usize) -> String {
        marked(self.name(strategy))
    }

    /// The strategy that is shown to be better than all others.
    pub(super) fn winner(&self) -> Option<usize> {
        Some(self.ranking.best).filter(|_| self.ranking.is_clear() || self.tie_break.is_some())
    }

    /// The winner; without one, the best strategy and those that are not shown to be worse.
    pub(super) fn candidates(&self) -> Vec<usize> {
        let best = self.ranking.best;
        let tied = self.tied().filter(|_| self.tie_break.is_none());
        std::iter::once(best).chain(tied.map(|one| one.strategy_besides(best))).collect()
    }

    /// The strategies that take part in verdicts.
    pub(super) fn judged(&self) -> impl Iterator<Item = usize> {
        self.asked.question.arms().iter().filter(|arm| arm.role == Role::Judged).map(|arm| arm.strategy)
    }

    /// The strategies that the best one is shown to be better than, the nearest first.
    pub(in crate::report) fn beaten(&self) -> Vec<Beaten<'r>> {
        let best = self.ranking.best;
        let of = |asked: Asked<'r>, one: &Comparison| Some(Beaten { place: one.against, ratio: one.ratio?, asked });
        let is_tied = |one: &&Comparison| self.tied().any(|tied| tied.strategy_besides(best) == one.against);
        let settled = self
            .tie_break
            .iter()
            .flat_map(|(asked, ranking)| ahead(ranking).filter(is_tied).filter_map(|one| of(*asked, one)));
        let mut beaten: Vec<_> = ahead(&self.ranking).filter_map(|one| of(self.asked, one)).chain(settled).collect();
        beaten.sort_by(|a, b| a.ratio.mean.ln().abs().total_cmp(&b.ratio.mean.ln().abs()));
        beaten
    }

    /// The strategy that the winner is explained against: the baseline if it is beaten, else the nearest.
    pub(super) fn loser(&self) -> Option<Beaten<'r>> {
        let beaten = self.beaten();
        beaten.iter().find(|one| one.place == self.ranking.baseline).or(beaten.first()).copied()
    }

    /// The best strategies: the one with the best number, and those that are not shown to be worse.
    pub(super) fn tied(&self) -> impl Iterator<Item = &Comparison> {
        self.ranking.best_against.iter().filter(|one| one.verdict != Verdict::Faster)
    }

    /// The answer.
    pub(super) fn answer(&self) -> String {
        if let Some(winner) = self.winner() {
            let factors =
                self.named_losers().into_iter().map(|one| format!("{} than {}", one.factor(), self.name(one.place)));
            return format!("Choose {}: {}.", self.name(winner), factors.collect::<Vec<_>>().join(", "));
        }
        let best = self.name(self.ranking.best);
        let rest = match self.beaten().as_slice() {
            [] => String::new(),
            [one] => format!("; {} {} than {best}", self.name(one.place), one.worse(["is", "makes"])),
            [nearest, ..] => format!("; the others {} than {best}", nearest.worse(["are at least", "make at least"])),
        };
        format!("{}{rest}.", self.tie())
    }

    /// The losers that the answer names: the baseline and the runner-up; where these are one, or the baseline wins, the runner-up
    /// and the last.
    fn named_losers(&self) -> Vec<Beaten<'r>> {
        let beaten = self.beaten();
        let baseline = beaten.iter().find(|one| one.place == self.ranking.baseline);
        let (first, last) = (beaten.first(), beaten.last());
        let place = |one: Option<&Beaten>| one.map(|one| one.place);
        let is_apart = baseline.is_some() && place(baseline) != place(first);
        let named = if is_apart { [baseline, first] } else { [first, last] };
        let mut named: Vec<Beaten> = named.into_iter().flatten().copied().collect();
        named.dedup_by_key(|one| one.place);
        named
    }

    /// Which strategies are not shown to differ.
    fn tie(&self) -> String {
        let text = VerdictText { strategies: &self.asked.run.strategies };
        let few = self.tied().find_map(|one| match one.verdict {
            Verdict::Inconclusive(reason @ InconclusiveReason::TooFewRounds(_)) => Some(reason),
            _ => None,
        });
        if let Some(reason) = few {
            return format!("No verdict: {}", text.reason(reason));
        }
        let names: Vec<&str> = self.candidates().into_iter().map(|place| self.name(place)).collect();
        let names = if names.len() <= NAMED {
            listed(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        } else {
            format!("{} and {} others", names[..NAMED - 1].join(", "), names.len() + 1 - NAMED)
        };
        match least_effect(self.tied()) {
            Some(least) => format!("{} between {names}", capitalised(&no_difference(least))),
            None => format!("Undecided between {names}"),
        }
    }

    /// How sure the answer is: rounds ahead, intervals, and the baseline measured twice.
    pub(super) fn sure(&self) -> String {
        let losers = if self.winner().is_some() { self.named_losers() } else { self.loser().into_iter().collect() };
        // The answer names the winner.
        let subject =
            if self.winner().is_some() { String::new() } else { format!("{} ", self.marked(self.ranking.best)) };
        let ahead = |asked: Asked, losers: &[Beaten]| {
            let of = losers.iter().filter(|one| one.asked.part == asked.part);
            let texts: Vec<String> = of.enumerate().map(|(place, one)| self.ahead_of(one, place == 0)).collect();
            (!texts.is_empty()).then(|| format!("{subject}{}", listed(&texts)))
        };
        let not_told_apart = self.tie_break.as_ref().map(|_| self.not_told_apart());
        let texts: Vec<String> = ahead(self.asked, &losers).into_iter().chain(not_told_apart).collect();
        let text = if texts.is_empty() { self.sensitivity() } else { texts.join(", ") };
        let mut sentences = vec![format!("{}: {text}", self.asked.subject())];
        sentences.extend(
            self.tie_break
                .iter()
                .filter_map(|(asked, _)| Some(format!("{}: {}", asked.subject(), ahead(*asked, &self.beaten())?))),
        );
        sentences.extend(self.twice());
        sentences.extend(self.undecided.iter().map(|(asked, ranking)| {
            let shown = least_effect(ranking.best_against.iter());
            format!("{}: {}", asked.subject(), shown.map_or("undecided".to_owned(), no_difference))
        }));
        format!("{}.", sentences.join(". "))
    }

    /// In how many rounds the best strategy was ahead of another one; the first of a list in full.
    fn ahead_of(&self, other: &Beaten, is_first: bool) -> String {
        let (ahead, rounds) = other.asked.rounds_ahead(self.ranking.best, other.place);
        let (ahead_of, of, level) = if is_first { ("ahead of", " rounds", "95 % CI ") } else { ("of", "", "") };
        let interval = brief(&other.ratio, other.asked.quantity()).interval;
        let interval = interval.map_or_else(String::new, |interval| format!(" ({level}{interval})"));
        format!("{ahead_of} {} in {ahead} of {rounds}{of}{interval}", self.marked(other.place))
    }

    /// Those that the best strategy is not told from by the first question.
    fn not_told_apart(&self) -> String {
        let names: Vec<String> = self.tied().map(|one| self.marked(one.strategy_besides(self.ranking.best))).collect();
        let names = listed(&names);
        match least_effect(self.tied()) {
            Some(least) => format!("{} from {names}", no_difference(least)),
            None => format!("undecided against {names}"),
        }
    }

    /// What would have been found.
    fn sensitivity(&self) -> String {
        let effects: Vec<f64> = self.ranking.best_against.iter().filter_map(|one| one.mde).collect();
        let most = effects.into_iter().filter(|effect| effect.is_finite()).fold(0.0, f64::max);
        if most > 0.0 {
            format!("minimum detectable effect {} (80 % power)", percent(most))
        } else if self.asked.run.rounds < MINIMUM_ROUNDS as u64 {
            format!("{} of the {MINIMUM_ROUNDS} rounds that a verdict requires", self.asked.run.rounds)
        } else {
            "no strategy could be compared".into()
        }
    }

    /// How far the baseline was from itself.
    fn twice(&self) -> Option<String> {
        let repeat = self.asked.question.arms().iter().find(|arm| arm.role == Role::Repeat)?;
        let ratio = self.asked.question.with_baseline(repeat.strategy)?.ratio?.mean;
        let (baseline, off) = (self.marked(self.ranking.baseline), percent(ratio.max(ratio.recip()) - 1.0));
        Some(format!("Two measurements of {baseline} differed by {off}"))
    }
}

impl Asked<'_> {
    /// Whether its ratios are of times or of calls per second.
    pub(super) fn quantity(&self) -> Quantity {
        self.question.compared.question.quantity
    }

    /// The load of the part: `at 982 calls/s`, `with 8 clients`.
    pub(super) fn load(&self) -> String {
        let load = self.run.load.replace(" calls per second", " calls/s");
        if self.run.is_open { format!("at {load}") } else { format!("with {load}") }
    }

    /// What was compared, at the start of a sentence.
    fn subject(&self) -> String {
        let load = self.run.load.replace(" calls per second", " calls/s");
        match self.question.metric {
            ComparedMetric::Throughput => format!("Calls/s of {load}"),
            _ if self.run.is_open => format!("Mean response time at {load}"),
            _ => format!("Mean service time of {load}"),
        }
    }

    /// In how many of the common rounds the best strategy was ahead of another, and how many there are.
    fn rounds_ahead(&self, best: usize, other: usize) -> (usize, usize) {
        let arms = self.question.arms();
        let pairs = arms[best].means.iter().zip(&arms[other].means);
        let pairs: Vec<(f64, f64)> = pairs.filter_map(|(best, other)| best.zip(*other)).collect();
        let is_ahead = |(best, other): &&(f64, f64)| match self.quantity() {
            Quantity::Time => best < other,
            Quantity::Throughput => best > other,
        };
        (pairs.iter().filter(is_ahead).count(), pairs.len())
    }
}

impl Beaten<'_> {
    /// How far the best strategy is ahead.
    fn factor(&self) -> String {
        factor(self.ratio, self.asked.quantity())
    }

    /// How far this one is behind, with the verb for times and that for calls per second.
    fn worse(&self, [time, throughput]: [&str; 2]) -> String {
        let inverse = Ratio { mean: self.ratio.mean.recip(), ..self.ratio };
        let verb = match self.asked.quantity() {
            Quantity::Time => time,
            Quantity::Throughput => throughput,
        };
        format!("{verb} {}", factor(inverse, self.asked.quantity()))
    }
}

/// What a comparison without a difference shows: one as large as this would have been found.
fn no_difference(least: f64) -> String {
    format!("no difference of {} or more", percent(least))
}

/// The effect that all comparisons would have shown; `None` where one shows nothing.
fn least_effect<'c>(comparisons: impl Iterator<Item = &'c Comparison>) -> Option<f64> {
    let effects = comparisons.map(|one| effect(one.verdict)).collect::<Option<Vec<f64>>>()?;
    Some(effects.into_iter().fold(0.0, f64::max))
}

/// The comparisons in which the best strategy is shown to be better.
fn ahead(ranking: &Ranking) -> impl Iterator<Item = &Comparison> {
    ranking.best_against.iter().filter(|one| one.verdict == Verdict::Faster)
}

/// The effect that a comparison would have shown; `None` where that is so large that it shows nothing.
fn effect(verdict: Verdict) -> Option<f64> {
    match verdict {
        Verdict::Same { within } => Some(within),
        Verdict::NoDifference { mde, .. } => Some(mde).filter(|mde| *mde <= UNSTABLE),
        Verdict::Faster | Verdict::Slower | Verdict::Inconclusive(_) => None,
    }
}

/// A ratio as a headline has it: two digits, in percent where it is close to 1.
pub(super) fn factor(ratio: Ratio, quantity: Quantity) -> String {
    let times = ratio.mean.max(ratio.mean.recip());
    let written = brief(&ratio, quantity).factor;
    let word = written.split_once(' ').map_or("", |(_, word)| word);
    match times {
        // Of the larger number: 8 % fewer, where the other makes 8.7 % more.
        _ if times < 1.995 && word.starts_with("fewer") => format!("{} {word}", percent(1.0 - times.recip())),
        _ if times < 1.095 => format!("{} {word}", percent(times - 1.0)),
        _ if times < 9.95 => format!("{times:.1}x {word}"),
        _ => format!("{}x {word}", count(times.round() as u64)),
    }
}

impl Comparison {
    /// The strategy of a comparison that is not this one.
    fn strategy_besides(&self, one: usize) -> usize {
        if self.strategy == one { self.against } else { self.strategy }
    }
}
