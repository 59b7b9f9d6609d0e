//! How sure the decision of a run is.

use crate::record::{Metric, Part};
use crate::report::document::format::{listed, percent};
use crate::results::PublishedMetric;
use crate::stats::{
    ArmComparison, ArmTimes, ConfidenceInterval, Criterion, CriterionResult, PairDecision, PairOutcome, Quantity, Role,
    Verdict, distinct, further_between_sessions, grouped, least_effect,
};

use super::answer::{Judged, published};
use super::{flips, phrase};

/// Differences below this (0.1 for 10 %) rarely decide a schema: level strategies are surely level if it would have shown.
const CLOSE: f64 = 0.1;

impl Judged<'_> {
    /// How sure the answer is, a sentence per criterion: rounds ahead, intervals, and the baseline measured twice.
    pub(crate) fn sure(&self) -> String {
        let beaten = self.answer.beaten();
        let named = phrase::named_losers(&beaten, |one| one.strategy == self.answer.baseline);
        let named = named.into_iter().map(|one| one.strategy);
        let others = self.answer.pairs.iter().map(|one| one.against).filter(|_| self.answer.winner().is_none());
        let against = distinct(named.chain(others));
        let of = |criterion: &Criterion| self.sentence(*criterion, &against);
        let certainty = std::iter::once(self.certainty());
        let sentences = certainty.chain(self.answer.criteria.iter().filter_map(of));
        let sentences = sentences.chain(self.overloads()).chain(self.noise()).chain(self.of_one_session());
        format!("{}.", sentences.collect::<Vec<_>>().join(". "))
    }

    /// The answer's certainty in a word or two; the sentences after it say why.
    fn certainty(&self) -> String {
        let answer = &self.answer;
        let mut shown = answer.pairs.iter().filter(|pair| pair.outcome() == PairOutcome::Ahead).peekable();
        if shown.peek().is_none() {
            return match answer.least_effect() {
                _ if answer.trade_offs().next().is_some() => "Both sides are shown".to_owned(),
                Some(least) => {
                    let word = if least <= CLOSE { "High" } else { "Moderate" };
                    format!("{word}: a difference below {} may exist", percent(least))
                }
                None => "Low: undecided".to_owned(),
            };
        }
        let is_ahead = |pair: &PairDecision, result: &CriterionResult| {
            let rounds = || self.question(result.criterion).map(|one| rounds_ahead(one, answer.best, pair.against));
            let in_all = || rounds().is_some_and(|(ahead, rounds)| ahead == rounds);
            result.overloaded.is_some() || (result.verdict() == Verdict::Faster && in_all())
        };
        let is_high = !flips::is_fragile(self)
            && shown.all(|pair| pair.results.iter().all(|result| is_ahead(pair, result)))
            && self.within(&further).is_empty();
        if is_high { "High" } else { "Moderate" }.to_owned()
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
            _ => "Time with one client".to_owned(),
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
            None => format!("undecided against {}{}", names(&compared), phrase::missed(missed)),
        });
        // Several with one reason are named together.
        let why = |verdict: Verdict| phrase::undecided(verdict, &|place| self.parts.main().name(place));
        let of_reasons = grouped(others.into_iter().map(|one| (why(one.comparison.verdict), one)));
        let of_others = of_reasons.iter().map(|(why, all)| format!("not compared with {} ({why})", names(all)));
        of_compared.into_iter().chain(of_others).collect::<Vec<_>>().join(", ")
    }

    /// The strategies that could not keep up with a load that does not decide.
    fn overloads(&self) -> Option<String> {
        let mean = Criterion::RESPONSE;
        let question = self.question(mean).filter(|_| !self.answer.criteria.contains(&mean))?;
        let judged = question.arms().iter().filter(|arm| arm.role == Role::Judged);
        let overload = |arm: &ArmTimes| {
            let name = self.marked(arm.strategy);
            arm.overloaded.map(|share| phrase::overload(&name, share, self.rate(mean.part)))
        };
        let texts: Vec<String> = judged.filter_map(overload).collect();
        (!texts.is_empty()).then(|| listed(texts))
    }

    /// How far apart two measurements of the baseline were, by each criterion: differences within it are not reported.
    fn noise(&self) -> Option<String> {
        let of = |criterion: &Criterion| {
            let band = self.question(*criterion)?.band()?;
            let what = match criterion.metric {
                Metric::Throughput => "calls/s",
                _ if criterion.part == Part::Own => "time with one client",
                _ => "response time",
            };
            Some(format!("up to {} in {what}", percent(band)))
        };
        let bands: Vec<String> = self.answer.criteria.iter().filter_map(of).collect();
        let baseline = self.marked(self.answer.baseline);
        let results = self.answer.pairs.iter().flat_map(|pair| &pair.results);
        let mut shown = results.filter(|one| one.verdict().is_difference() && one.overloaded.is_none()).peekable();
        // By their whole intervals.
        let is_larger = |one: &CriterionResult| {
            let band = self.question(one.criterion).and_then(ArmComparison::band);
            surely(one).zip(band).is_some_and(|(size, band)| size > band)
        };
        let larger =
            if shown.peek().is_some() && shown.all(is_larger) { "; all reported differences exceed it" } else { "" };
        (!bands.is_empty()).then(|| format!("Noise: {baseline} against itself, {}{larger}", listed(bands)))
    }

    /// The strategies over which the lead is not larger than what sessions of one run differ by, in any number that shows it.
    pub(super) fn within(&self, further: &dyn Fn(PublishedMetric) -> f64) -> Vec<usize> {
        let is_beyond = |one: &&CriterionResult| {
            one.overloaded.is_some() || surely(one).is_some_and(|size| size > further(published(one.criterion)))
        };
        let is_within = |pair: &&PairDecision| {
            let mut ahead = pair.results.iter().filter(|one| one.verdict() == Verdict::Faster);
            pair.outcome() == PairOutcome::Ahead && !ahead.any(|one| is_beyond(&one))
        };
        self.answer.pairs.iter().filter(is_within).map(|pair| pair.against).collect()
    }

    /// Which leads another session may not show.
    fn of_one_session(&self) -> Option<String> {
        let within = self.within(&further);
        let further = |criterion: &Criterion| {
            let metric = published(*criterion);
            (metric.column().label, further(metric))
        };
        let further: Vec<_> = self.answer.criteria.iter().map(further).collect();
        let further = phrase::other_session(&further).filter(|_| !within.is_empty())?;
        let names = listed(within.iter().map(|one| self.marked(*one)));
        Some(format!("The lead over {names} may not repeat: {further}"))
    }
}

/// By how much another session may differ, as the published results have it: 0.1 for 10 %.
fn further(metric: PublishedMetric) -> f64 {
    further_between_sessions(metric).unwrap_or_default()
}

/// The least size that a difference has by its interval: 0.1 for 10 %.
fn surely(result: &CriterionResult) -> Option<f64> {
    let interval: ConfidenceInterval = result.comparison.ratio?.interval?;
    Some(interval.low.ln().abs().min(interval.high.ln().abs()).exp_m1())
}

/// In how many of the common rounds the best strategy was ahead of another, and how many there are.
pub(super) fn rounds_ahead(question: &ArmComparison, best: usize, other: usize) -> (usize, usize) {
    let (arms, quantity) = (question.arms(), Quantity::of(question.metric));
    let pairs = arms[best].series.rounds.iter().zip(&arms[other].series.rounds);
    let pairs: Vec<(f64, f64)> = pairs.filter_map(|(best, other)| best.zip(*other)).collect();
    let is_ahead = |(best, other): &&(f64, f64)| quantity.as_time(*best) < quantity.as_time(*other);
    (pairs.iter().filter(is_ahead).count(), pairs.len())
}
