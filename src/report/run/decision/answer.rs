//! The decision of a run with its names, and how sure it is.

use crate::record::{Metric, Part};
use crate::report::document::format::{listed, marked, percent};
use crate::report::run::PartEvaluations;
use crate::results::{BeatenRecord, PublishedAnswer, PublishedMetric};
use crate::stats::{
    Answer, ArmComparison, Beaten, Comparison, MINIMUM_ROUNDS, MixRanking, Quantity, Reason, Role, least_effect,
};

use super::{flips, phrase};

/// The decision of a run, with the parts that it was made from.
pub(crate) struct Judged<'r> {
    /// The parts of the run.
    pub(crate) parts: &'r PartEvaluations,
    /// The decision.
    pub(crate) answer: Answer,
}

impl<'r> Judged<'r> {
    /// `None` where the mix was not measured.
    pub(crate) fn of(parts: &'r PartEvaluations) -> Option<Judged<'r>> {
        let comparisons = parts.iter().flat_map(|(part, run)| run.comparisons().map(move |one| (part, one)));
        Some(Judged { parts, answer: Answer::of(comparisons)? })
    }

    /// A strategy's name.
    pub(crate) fn name(&self, strategy: usize) -> &'r str {
        self.parts.main().name(strategy).unwrap_or("?")
    }

    /// A strategy's name within a sentence.
    pub(crate) fn marked(&self, strategy: usize) -> String {
        marked(self.name(strategy))
    }

    /// The strategies that take part in verdicts.
    pub(crate) fn judged(&self) -> Vec<usize> {
        let arms = self.question(&self.answer.decided).map(ArmComparison::arms).unwrap_or_default();
        arms.iter().filter(|arm| arm.role == Role::Judged).map(|arm| arm.strategy).collect()
    }

    /// The load of a part: `at 982 calls/s`, `with 8 clients`.
    pub(crate) fn load(&self, part: Part) -> String {
        self.parts.get(part).map_or_else(String::new, |run| {
            if run.is_open { format!("at {}", run.load) } else { format!("with {}", run.load) }
        })
    }

    fn question(&self, by: &MixRanking) -> Option<&'r ArmComparison> {
        let is_meant = |one: &&ArmComparison| one.operation.is_none() && one.metric == by.metric;
        self.parts.get(by.part)?.comparisons().find(is_meant)
    }

    /// The ranking that shows a strategy to be worse.
    fn by(&self, beaten: &Beaten) -> &MixRanking {
        let settled = self.answer.tie_break.as_ref().filter(|by| by.part == beaten.part);
        settled.unwrap_or(&self.answer.decided)
    }

    /// The decision by names and numbers.
    pub(crate) fn published(&self) -> PublishedAnswer {
        let Judged { answer, .. } = self;
        let name = |strategy: usize| self.name(strategy).to_owned();
        PublishedAnswer {
            winner: answer.winner().map(name),
            leading: answer.leading().into_iter().map(name).collect(),
            beaten: answer.beaten().into_iter().map(|one| self.beaten_record(&one)).collect(),
            least_effect: least_effect(answer.tied()).filter(|_| answer.winner().is_none()),
            fragile: flips::shares(self).is_some_and(|flips| flips.iter().any(|(_, flip)| flip.is_fragile())),
        }
    }

    fn beaten_record(&self, one: &Beaten) -> BeatenRecord {
        BeatenRecord {
            strategy: self.name(one.strategy).to_owned(),
            metric: match one.quantity {
                Quantity::Time => PublishedMetric::RESPONSE_MEAN,
                Quantity::Throughput => PublishedMetric::CALLS_PER_SECOND,
            },
            ratio: one.ratio.mean,
            interval: one.ratio.interval.map(|interval| [interval.low, interval.high]),
        }
    }

    /// The answer in pieces, see [`phrase::answer`].
    pub(crate) fn answer(&self) -> [String; 3] {
        let mut reasons = self.answer.tied().filter_map(|one| one.verdict.reason());
        if let Some(few) = reasons.find(|reason| matches!(reason, Reason::TooFewRounds(_))) {
            let text = phrase::reason(few, &|place| self.parts.main().name(place));
            return [format!("No verdict: {text}."), String::new(), String::new()];
        }
        phrase::answer(&self.published(), self.name(self.answer.decided.ranking.baseline))
    }

    /// The strategies that the answer names as worse.
    fn named_losers(&self) -> Vec<Beaten> {
        let baseline = self.answer.decided.ranking.baseline;
        phrase::named_losers(&self.answer.beaten(), |one| one.strategy == baseline).into_iter().copied().collect()
    }

    /// How sure the answer is: rounds ahead, intervals, and the baseline measured twice.
    pub(crate) fn sure(&self) -> String {
        let Judged { answer, .. } = self;
        let has_winner = answer.winner().is_some();
        let losers = if has_winner { self.named_losers() } else { answer.loser().into_iter().collect() };
        // The answer names the winner.
        let subject = if has_winner { String::new() } else { format!("{} ", self.marked(answer.best())) };
        let ahead = |by: &MixRanking, losers: &[Beaten]| {
            let of = losers.iter().filter(|one| self.by(one) == by);
            let texts: Vec<String> = of.enumerate().map(|(place, one)| self.ahead_of(one, place == 0)).collect();
            (!texts.is_empty()).then(|| format!("{subject}{}", listed(&texts)))
        };
        let not_told_apart = answer.tie_break.as_ref().map(|_| self.not_told_apart());
        let texts: Vec<String> = ahead(&answer.decided, &losers).into_iter().chain(not_told_apart).collect();
        let text = if texts.is_empty() { self.sensitivity() } else { texts.join(", ") };
        let mut sentences = vec![format!("{}: {text}", self.subject(&answer.decided))];
        let settled = |by: &MixRanking| Some(format!("{}: {}", self.subject(by), ahead(by, &answer.beaten())?));
        sentences.extend(answer.tie_break.as_ref().and_then(settled));
        sentences.extend(self.twice());
        sentences.extend(answer.undecided.iter().map(|by| {
            let shown = least_effect(by.ranking.best_against.iter());
            format!("{}: {}", self.subject(by), shown.map_or("undecided".to_owned(), phrase::no_difference))
        }));
        format!("{}.", sentences.join(". "))
    }

    /// What was compared, at the start of a sentence.
    fn subject(&self, by: &MixRanking) -> String {
        let Some(run) = self.parts.get(by.part) else { return String::new() };
        match by.metric {
            Metric::Throughput => format!("Calls/s of {}", run.load),
            _ if run.is_open => format!("Mean response time at {}", run.load),
            _ => format!("Mean service time of {}", run.load),
        }
    }

    /// In how many rounds the best strategy was ahead of another one; the first of a list in full.
    fn ahead_of(&self, other: &Beaten, is_first: bool) -> String {
        let question = self.question(self.by(other));
        let (ahead, rounds) = question.map_or((0, 0), |one| rounds_ahead(one, self.answer.best(), other.strategy));
        let (ahead_of, of, level) = if is_first { ("ahead of", " rounds", "95 % CI ") } else { ("of", "", "") };
        let interval = phrase::factor_interval(&other.ratio);
        let interval = interval.map_or_else(String::new, |interval| format!(" ({level}{interval})"));
        format!("{ahead_of} {} in {ahead} of {rounds}{of}{interval}", self.marked(other.strategy))
    }

    /// Those that the best strategy is not told from by the first question.
    fn not_told_apart(&self) -> String {
        let names: Vec<String> = self.answer.tied().map(|one| self.marked(one.against)).collect();
        let names = listed(&names);
        match least_effect(self.answer.tied()) {
            Some(least) => format!("against {names} {}", phrase::no_difference(least)),
            None => format!("undecided against {names}"),
        }
    }

    /// What would have been found.
    fn sensitivity(&self) -> String {
        let effects = self.answer.decided.ranking.best_against.iter().filter_map(|one: &Comparison| one.mde);
        let most = effects.filter(|effect| effect.is_finite()).fold(0.0, f64::max);
        let rounds = self.parts.main().rounds;
        if most > 0.0 {
            format!("could have missed a difference of up to {}", percent(most))
        } else if rounds < MINIMUM_ROUNDS as u64 {
            format!("{rounds} of the {MINIMUM_ROUNDS} rounds that a verdict requires")
        } else {
            "no strategy could be compared".into()
        }
    }

    /// How far the baseline was from itself.
    fn twice(&self) -> Option<String> {
        let question = self.question(&self.answer.decided)?;
        let repeat = question.arms().iter().find(|arm| arm.role == Role::Repeat)?;
        let ratio = question.with_baseline(repeat.strategy)?.ratio?.mean;
        let baseline = self.marked(self.answer.decided.ranking.baseline);
        Some(format!("Noise: {baseline} against itself, {}", percent(ratio.max(ratio.recip()) - 1.0)))
    }
}

/// In how many of the common rounds the best strategy was ahead of another, and how many there are.
fn rounds_ahead(question: &ArmComparison, best: usize, other: usize) -> (usize, usize) {
    let arms = question.arms();
    let pairs = arms[best].series.rounds.iter().zip(&arms[other].series.rounds);
    let pairs: Vec<(f64, f64)> = pairs.filter_map(|(best, other)| best.zip(*other)).collect();
    let is_ahead = |(best, other): &&(f64, f64)| match Quantity::of(question.metric) {
        Quantity::Time => best < other,
        Quantity::Throughput => best > other,
    };
    (pairs.iter().filter(is_ahead).count(), pairs.len())
}
