//! The answer, and how sure it is.

use crate::record::Part;
use crate::report::arm_comparison::{ArmComparison, ComparedMetric};
use crate::report::evaluation::Evaluation;
use crate::report::format::{count, listed, marked, percent};
use crate::report::parts::PartEvaluations;
use crate::report::verdict_text::{VerdictText, brief};
use crate::stats::{Comparison, InconclusiveReason, MINIMUM_ROUNDS, Quantity, Ranking, Ratio, Role, UNSTABLE, Verdict};

/// More names than these are counted.
const NAMED: usize = 3;

/// The question about the mix that a run is decided by: the mean response time at the common rate, or, where that shows no
/// difference, the calls per second at saturation.
pub(in crate::report) struct Judged<'r> {
    /// The parts of the run.
    pub(in crate::report) parts: &'r PartEvaluations,
    /// The part that the question is about.
    pub(in crate::report) part: Part,
    run: &'r Evaluation,
    question: &'r ArmComparison,
    /// The best strategy, and how it compares.
    pub(in crate::report) ranking: Ranking,
    /// The questions about the mix that show no difference, and were asked before this one.
    undecided: Vec<(&'r Evaluation, Ranking)>,
}

impl<'r> Judged<'r> {
    /// `None` where the mix was not measured.
    pub(super) fn of(parts: &'r PartEvaluations) -> Option<Judged<'r>> {
        let questions = parts.iter().filter(|(part, _)| *part != Part::Own).flat_map(|(part, run)| {
            let questions = run.comparisons().filter(|one| one.metric != ComparedMetric::P99);
            questions.filter_map(move |one| Some((part, &**run, one, one.ranking()?)))
        });
        let mut questions: Vec<_> = questions.collect();
        let decided = questions.iter().position(|(_, _, _, ranking)| ahead(ranking).next().is_some());
        let mut undecided = Vec::new();
        if let Some(place) = decided {
            undecided.extend(questions.drain(..place).map(|(_, run, _, ranking)| (run, ranking)));
        }
        let (part, run, question, ranking) = questions.into_iter().next()?;
        Some(Judged { parts, part, run, question, ranking, undecided })
    }

    /// A strategy's name.
    pub(super) fn name(&self, strategy: usize) -> &'r str {
        self.run.strategies.get(strategy).map_or("?", |strategy| &strategy.name)
    }

    /// A strategy's name within a sentence.
    pub(super) fn marked(&self, strategy: usize) -> String {
        marked(self.name(strategy))
    }

    /// The strategy that is shown to be better than all others.
    pub(super) fn winner(&self) -> Option<usize> {
        Some(self.ranking.best).filter(|_| self.ranking.is_clear())
    }

    /// The winner; without one, the best strategy and those that are not shown to be worse.
    pub(super) fn candidates(&self) -> Vec<usize> {
        let best = self.ranking.best;
        std::iter::once(best).chain(self.tied().map(|one| one.strategy_besides(best))).collect()
    }

    /// The strategies that take part in verdicts.
    pub(super) fn judged(&self) -> impl Iterator<Item = usize> {
        self.question.arms().iter().filter(|arm| arm.role == Role::Judged).map(|arm| arm.strategy)
    }

    /// The strategies that the best one is shown to be better than, the nearest first.
    pub(super) fn beaten(&self) -> Vec<(usize, Ratio)> {
        let mut beaten: Vec<_> = ahead(&self.ranking).filter_map(|one| Some((one.against, one.ratio?))).collect();
        beaten.sort_by(|(_, a), (_, b)| a.mean.ln().abs().total_cmp(&b.mean.ln().abs()));
        beaten
    }

    /// The strategy that the winner is explained against: the baseline if it is beaten, else the nearest.
    pub(super) fn loser(&self) -> Option<(usize, Ratio)> {
        let beaten = self.beaten();
        beaten.iter().find(|(place, _)| *place == self.ranking.baseline).or(beaten.first()).copied()
    }

    /// The best strategies: the one with the best number, and those that are not shown to be worse.
    pub(super) fn tied(&self) -> impl Iterator<Item = &Comparison> {
        self.ranking.best_against.iter().filter(|one| one.verdict != Verdict::Faster)
    }

    /// What was compared.
    pub(super) fn subject(&self) -> String {
        subject(self.run, self.ranking.quantity)
    }

    /// The answer.
    pub(super) fn answer(&self) -> String {
        let best = self.name(self.ranking.best);
        if self.ranking.is_clear() {
            let factors = self
                .named_losers()
                .into_iter()
                .map(|(place, ratio)| format!("{} than {}", factor(ratio, self.ranking.quantity), self.name(place)));
            return format!("Choose {best}: {}.", factors.collect::<Vec<_>>().join(", "));
        }
        let rest = match self.beaten().as_slice() {
            [] => String::new(),
            [(place, ratio)] => format!("; {} {}", self.name(*place), self.worse(*ratio)),
            [(_, least), .., (_, most)] => {
                let (low, high) = (self.worse(*least), self.worse(*most));
                let others = "; the others";
                if low == high { format!("{others} {low}") } else { format!("{others} {low} to {high}") }
            }
        };
        format!("{}{rest}.", self.tie())
    }

    /// The losers that the answer names: the baseline and the runner-up; where these are one, or the baseline wins, the runner-up
    /// and the last.
    fn named_losers(&self) -> Vec<(usize, Ratio)> {
        let beaten = self.beaten();
        let baseline = beaten.iter().find(|(place, _)| *place == self.ranking.baseline).copied();
        let (first, last) = (beaten.first().copied(), beaten.last().copied());
        let place = |one: Option<(usize, Ratio)>| one.map(|(place, _)| place);
        let is_apart = baseline.is_some() && place(baseline) != place(first);
        let named = if is_apart { [baseline, first] } else { [first, last] };
        let mut named: Vec<(usize, Ratio)> = named.into_iter().flatten().collect();
        named.dedup_by_key(|(place, _)| *place);
        named
    }

    /// Which strategies are not shown to differ.
    fn tie(&self) -> String {
        let text = VerdictText { strategies: &self.run.strategies };
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
        let least = self.tied().map(|one| effect(one.verdict)).collect::<Option<Vec<f64>>>();
        match least.map(|effects| effects.into_iter().fold(0.0, f64::max)) {
            Some(least) => format!("No difference between {names} ({} would have shown)", percent(least)),
            None => format!("Undecided between {names}"),
        }
    }

    fn worse(&self, ratio: Ratio) -> String {
        let turned = Ratio { mean: ratio.mean.recip(), ..ratio };
        let verb = match self.ranking.quantity {
            Quantity::Time => "is",
            Quantity::Throughput => "makes",
        };
        format!("{verb} {}", factor(turned, self.ranking.quantity))
    }

    /// How sure the answer is: rounds ahead, intervals, and the baseline measured twice.
    pub(super) fn sure(&self) -> String {
        let losers = if self.ranking.is_clear() { self.named_losers() } else { self.loser().into_iter().collect() };
        let mut texts = Vec::new();
        for (place, ratio) in losers {
            let (ahead, rounds) = self.rounds_ahead(place);
            let of = if texts.is_empty() { format!(" of {rounds} rounds") } else { format!(" of {rounds}") };
            let level = if texts.is_empty() { "95 % CI " } else { "" };
            let interval = brief(&ratio, self.ranking.quantity).interval;
            let interval = interval.map_or_else(String::new, |interval| format!(" ({level}{interval})"));
            let ahead_of = if texts.is_empty() { "ahead of" } else { "of" };
            texts.push(format!("{ahead_of} {} in {ahead}{of}{interval}", self.marked(place)));
        }
        if texts.is_empty() {
            texts.push(self.sensitivity());
        }
        let mut sentences = vec![format!("{}: {}", self.subject(), listed(&texts))];
        sentences.extend(self.twice());
        sentences.extend(self.undecided.iter().map(|(run, ranking)| {
            let effects = ranking.best_against.iter().map(|one| effect(one.verdict)).collect::<Option<Vec<f64>>>();
            let least = effects.map(|effects| effects.into_iter().fold(0.0, f64::max));
            let shown = least
                .map_or("undecided".to_owned(), |least| format!("no difference ({} would have shown)", percent(least)));
            format!("{}: {shown}", subject(run, ranking.quantity))
        }));
        format!("{}.", sentences.join(". "))
    }

    /// What would have been found.
    fn sensitivity(&self) -> String {
        let effects: Vec<f64> = self.ranking.best_against.iter().filter_map(|one| one.mde).collect();
        let most = effects.into_iter().filter(|effect| effect.is_finite()).fold(0.0, f64::max);
        if most > 0.0 {
            format!("minimum detectable effect {} (80 % power)", percent(most))
        } else if self.run.rounds < MINIMUM_ROUNDS as u64 {
            format!("{} of the {MINIMUM_ROUNDS} rounds that a verdict requires", self.run.rounds)
        } else {
            "no strategy could be compared".into()
        }
    }

    /// In how many of the common rounds the best strategy was ahead of another, and how many there are.
    fn rounds_ahead(&self, other: usize) -> (usize, usize) {
        let arms = self.question.arms();
        let pairs = arms[self.ranking.best].means.iter().zip(&arms[other].means);
        let pairs: Vec<(f64, f64)> = pairs.filter_map(|(best, other)| best.zip(*other)).collect();
        let is_ahead = |(best, other): &&(f64, f64)| match self.ranking.quantity {
            Quantity::Time => best < other,
            Quantity::Throughput => best > other,
        };
        (pairs.iter().filter(is_ahead).count(), pairs.len())
    }

    /// How far the baseline was from itself.
    fn twice(&self) -> Option<String> {
        let repeat = self.question.arms().iter().find(|arm| arm.role == Role::Repeat)?;
        let ratio = self.question.with_baseline(repeat.strategy)?.ratio?.mean;
        let (baseline, off) = (self.marked(self.ranking.baseline), percent(ratio.max(ratio.recip()) - 1.0));
        Some(format!("{baseline} measured twice differed by {off}"))
    }
}

/// What was compared, at the start of a sentence.
fn subject(run: &Evaluation, quantity: Quantity) -> String {
    let load = run.load.replace(" calls per second", " calls/s");
    match quantity {
        Quantity::Time if run.is_open => format!("Mean response time at {load}"),
        Quantity::Time => format!("Mean service time of {load}"),
        Quantity::Throughput => format!("Calls/s of {load}"),
    }
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
        _ if times < 1.095 && word.starts_with("fewer") => format!("{} {word}", percent(1.0 - times.recip())),
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
