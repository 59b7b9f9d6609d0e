//! The decision of a run with its names, and how sure it is.

use crate::record::{Metric, Part};
use crate::report::document::format::{listed, marked, percent};
use crate::report::run::PartEvaluations;
use crate::results::{BeatenRecord, ComparedNumber, Difference, PublishedAnswer, PublishedMetric, TradeOffRecord};
use crate::stats::{
    Answer, ArmComparison, Beaten, Criterion, CriterionResult, Quantity, Reason, Role, Verdict, effect, least_effect,
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
        let is_named_rate = parts.main_record().is_some_and(|record| record.settings.is_named_rate);
        Some(Judged { parts, answer: Answer::of(comparisons, is_named_rate)? })
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
        let mut all: Vec<usize> = self.answer.pairs.iter().map(|one| one.against).chain([self.answer.best]).collect();
        all.sort_unstable();
        all
    }

    fn question(&self, by: Criterion) -> Option<&'r ArmComparison> {
        self.parts.of_mix(by.part, by.metric)
    }

    /// The decision by names and numbers.
    pub(crate) fn published(&self) -> PublishedAnswer {
        let Judged { answer, .. } = self;
        let name = |strategy: usize| self.name(strategy).to_owned();
        let trade_offs = answer.trade_offs().filter_map(|one| {
            let [ahead, behind] = [compared(one.ahead()?)?, compared(one.behind()?)?];
            Some(TradeOffRecord { strategy: name(one.against), ahead, behind })
        });
        PublishedAnswer {
            winner: answer.winner().map(name),
            leading: answer.leading().into_iter().map(name).collect(),
            beaten: answer.beaten().iter().filter_map(|one| self.beaten_record(one)).collect(),
            trade_offs: trade_offs.collect(),
            least_effect: least_effect(answer.tied()).filter(|_| answer.winner().is_none()),
            fragile: flips::shares(self).is_some_and(|flips| flips.iter().any(|(_, flip)| flip.is_fragile())),
        }
    }

    fn beaten_record(&self, one: &Beaten) -> Option<BeatenRecord> {
        let pair = self.answer.pair(one.strategy)?;
        let by = pair.by(one.criterion).and_then(compared)?;
        Some(BeatenRecord {
            strategy: self.name(one.strategy).to_owned(),
            by: if one.overloaded.is_some() { ComparedNumber { ratio: None, interval: None, ..by } } else { by },
            also: pair.counting().filter(|other| other.criterion != one.criterion).find_map(compared),
            overloaded: one.overloaded,
        })
    }

    /// The answer in pieces, see [`phrase::answer`].
    pub(crate) fn answer(&self) -> [String; 3] {
        let mut reasons = self.answer.tied().filter_map(|one| one.verdict.reason());
        if let Some(few) = reasons.find(|reason| matches!(reason, Reason::TooFewRounds(_))) {
            let text = phrase::reason(few, &|place| self.parts.main().name(place));
            return [format!("No verdict: {text}."), String::new(), String::new()];
        }
        phrase::answer(&self.published(), self.name(self.answer.baseline))
    }

    /// The answer in a few words, see [`phrase::short_answer`].
    pub(crate) fn short_answer(&self) -> String {
        phrase::short_answer(&self.published(), self.name(self.answer.baseline))
    }

    /// How sure the answer is, a sentence per criterion: rounds ahead, intervals, and the baseline measured twice.
    pub(crate) fn sure(&self) -> String {
        let baseline = self.answer.baseline;
        let named = phrase::named_losers(&self.answer.beaten(), |one| one.strategy == baseline)
            .into_iter()
            .map(|one| one.strategy)
            .collect::<Vec<_>>();
        let open = self
            .answer
            .pairs
            .iter()
            .map(|one| one.against)
            .filter(|one| self.answer.winner().is_none() && !named.contains(one));
        let against: Vec<usize> = named.iter().copied().chain(open).collect();
        let of = |criterion: &Criterion| self.sentence(*criterion, &against);
        let sentences = self.answer.criteria.iter().filter_map(of).chain(self.twice());
        format!("{}.", sentences.collect::<Vec<_>>().join(". "))
    }

    /// How the best strategy stands by one criterion against some others.
    fn sentence(&self, criterion: Criterion, against: &[usize]) -> Option<String> {
        let results = against.iter().filter_map(|one| self.answer.pair(*one)?.by(criterion));
        let (shown, open): (Vec<_>, Vec<_>) = results.partition(|one| one.verdict().is_difference());
        let mut texts: Vec<String> = Vec::new();
        for verdict in [Verdict::Faster, Verdict::Slower] {
            let of = shown.iter().filter(|one| one.verdict() == verdict);
            let of: Vec<String> = of.enumerate().map(|(place, one)| self.shown(one, place == 0)).collect();
            texts.extend((!of.is_empty()).then(|| listed(&of)));
        }
        texts.extend((!open.is_empty()).then(|| self.undecided(&open)));
        // The answer names the winner.
        let subject =
            if self.answer.winner().is_some() { String::new() } else { format!("{} ", self.marked(self.answer.best)) };
        (!texts.is_empty()).then(|| format!("{}: {subject}{}", self.subject(criterion), texts.join(", ")))
    }

    /// What was compared, at the start of a sentence.
    fn subject(&self, by: Criterion) -> String {
        let Some(run) = self.parts.get(by.part) else { return String::new() };
        match by.metric {
            Metric::Throughput => format!("Calls/s of {}", run.load),
            _ if run.is_open => format!("Mean response time at {}", run.load),
            _ => "Time by itself".to_owned(),
        }
    }

    /// In how many rounds the best strategy was ahead of another one, or behind it; the first of a list in full.
    fn shown(&self, result: &CriterionResult, is_first: bool) -> String {
        let (criterion, other) = (result.criterion, self.marked(result.comparison.against));
        let is_ahead = result.verdict() == Verdict::Faster;
        let word = if is_ahead { "ahead of" } else { "behind" };
        if let Some(share) = result.overloaded {
            return format!("{word} {other}, which kept up with {} of the calls", percent(share));
        }
        let (ahead, rounds) = self
            .question(criterion)
            .map_or((0, 0), |one| rounds_ahead(one, self.answer.best, result.comparison.against));
        let count = if is_ahead { ahead } else { rounds - ahead };
        let (word, of, level) = match (is_first, is_ahead) {
            (true, _) => (word, " rounds", "95 % CI "),
            (false, true) => ("of", "", ""),
            (false, false) => ("", "", ""),
        };
        let interval = result.comparison.ratio.and_then(|ratio| phrase::factor_interval(&ratio));
        let interval = interval.map_or_else(String::new, |interval| format!(" ({level}{interval})"));
        let counts = if result.counts { "" } else { ", which calls/s contradict" };
        format!("{word} {other} in {count} of {rounds}{of}{interval}{counts}").trim_start().to_owned()
    }

    /// Those of which no difference is shown, and why.
    fn undecided(&self, open: &[&CriterionResult]) -> String {
        let (compared, others): (Vec<&&CriterionResult>, Vec<_>) =
            open.iter().partition(|one| one.comparison.mde.is_some_and(f64::is_finite));
        let names = |of: &[&&CriterionResult]| listed(of.iter().map(|one| self.marked(one.comparison.against)));
        let least = least_effect(compared.iter().map(|one| &one.comparison));
        let missed = compared.iter().filter_map(|one| one.comparison.mde).fold(0.0, f64::max);
        let of_compared = (!compared.is_empty()).then(|| match least {
            Some(least) => format!("against {} {}", names(&compared), phrase::no_difference(least)),
            None => {
                let missed = percent(missed);
                format!(
                    "undecided against {} (a difference of up to {missed} could have been missed)",
                    names(&compared)
                )
            }
        });
        let of_others = others.into_iter().map(|one| {
            let why = phrase::undecided(one.comparison.verdict, &|place| self.parts.main().name(place));
            format!("not compared with {} ({why})", self.marked(one.comparison.against))
        });
        of_compared.into_iter().chain(of_others).collect::<Vec<_>>().join(", ")
    }

    /// How far the baseline was from itself.
    fn twice(&self) -> Option<String> {
        let question = self.question(*self.answer.criteria.first()?)?;
        let repeat = question.arms().iter().find(|arm| arm.role == Role::Repeat)?;
        let ratio = question.with_baseline(repeat.strategy)?.ratio?.mean;
        let baseline = self.marked(self.answer.baseline);
        Some(format!("Noise: {baseline} against itself, {}", percent(ratio.max(ratio.recip()) - 1.0)))
    }
}

/// The number that a criterion is in published results.
fn published(criterion: Criterion) -> PublishedMetric {
    match criterion.part {
        Part::Saturation => PublishedMetric::CALLS_PER_SECOND,
        Part::Own => PublishedMetric::OWN_TIME,
        Part::Light | Part::Rate | Part::Heavy => PublishedMetric::RESPONSE_MEAN,
    }
}

fn compared(result: &CriterionResult) -> Option<ComparedNumber> {
    let ratio = result.comparison.ratio;
    let is_known = ratio.is_some() || result.overloaded.is_some();
    let difference = match result.verdict() {
        verdict if verdict.is_difference() => Difference::Reported,
        verdict if effect(verdict).is_some() => Difference::NotFound,
        _ => Difference::Undecided,
    };
    is_known.then(|| ComparedNumber {
        metric: published(result.criterion),
        ratio: ratio.map(|ratio| ratio.mean),
        interval: ratio.and_then(|ratio| ratio.interval).map(|interval| [interval.low, interval.high]),
        difference,
    })
}

/// In how many of the common rounds the best strategy was ahead of another, and how many there are.
fn rounds_ahead(question: &ArmComparison, best: usize, other: usize) -> (usize, usize) {
    let (arms, quantity) = (question.arms(), Quantity::of(question.metric));
    let pairs = arms[best].series.rounds.iter().zip(&arms[other].series.rounds);
    let pairs: Vec<(f64, f64)> = pairs.filter_map(|(best, other)| best.zip(*other)).collect();
    let is_ahead = |(best, other): &&(f64, f64)| quantity.as_time(*best) < quantity.as_time(*other);
    (pairs.iter().filter(is_ahead).count(), pairs.len())
}
