//! The decision of a run with its names, and how sure it is.

use crate::record::{Metric, Part};
use crate::report::document::format::{listed, marked, percent};
use crate::report::run::PartEvaluations;
use crate::results::{
    BeatenRecord, ComparedNumber, Difference, LoadModel, PublishedAnswer, PublishedMetric, TradeOffRecord,
};
use crate::stats::{
    Answer, ArmComparison, ArmTimes, Beaten, Criterion, CriterionResult, PairDecision, PairOutcome, Quantity, Reason,
    Role, Verdict, effect, least_effect,
};

use super::next_step::Remedy;
use super::{but, flips, phrase};

/// Differences below this (0.1 for 10 %) rarely decide a schema: level strategies are surely level if it would have shown.
const CLOSE: f64 = 0.1;

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

    /// The calls per second of a part with open load.
    fn rate(&self, part: Part) -> Option<f64> {
        match self.parts.record(part)?.settings.load {
            LoadModel::Open { rate, .. } if part.is_open() => Some(rate),
            _ => None,
        }
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
            least_effect: answer.least_effect().filter(|_| answer.winner().is_none()),
            fragile: flips::is_fragile(self),
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
            rate: one.overloaded.and_then(|_| self.rate(one.criterion.part)),
        })
    }

    /// The answer in pieces, see [`phrase::answer`].
    pub(crate) fn answer(&self) -> [String; 3] {
        let mut reasons = self.answer.tied().filter_map(|one| one.verdict.reason());
        if let Some(few) = reasons.find(|reason| matches!(reason, Reason::TooFewRounds(_))) {
            let text = phrase::reason(few, &|place| self.parts.main().name(place));
            let found = self.published();
            let overloads = phrase::overloads(&found.beaten);
            let sentences: Vec<String> = overloads.chain([format!("No verdict: {text}.")]).collect();
            return [sentences.join(" "), String::new(), String::new()];
        }
        let mut pieces = phrase::answer(&self.published(), self.name(self.answer.baseline));
        if self.answer.winner().is_none() {
            let more = Remedy::of(self).map(|remedy| remedy.text).or_else(|| but::tie_breaker(self));
            pieces[0].extend(more.map(|more| format!(" {more}.")));
        }
        pieces
    }

    /// The answer in a few words, see [`phrase::short_answer`].
    pub(crate) fn short_answer(&self) -> String {
        phrase::short_answer(&self.published(), self.name(self.answer.baseline))
    }

    /// The answer in a line: the winner, how far it is ahead of the first loser that the answer names, the 95 % CI, and in how many
    /// rounds; without a winner the answer itself.
    pub(crate) fn line(&self) -> String {
        let found = self.published();
        let losers = phrase::losers(&found, self.name(self.answer.baseline));
        let (Some(winner), Some(loser)) = (&found.winner, losers.first()) else { return self.answer().concat() };
        if let Some(share) = loser.beaten.overloaded {
            return format!("{winner}; {}", phrase::overload(&loser.beaten.strategy, share, loser.beaten.rate));
        }
        let pair = self.answer.pairs.iter().find(|one| self.name(one.against) == loser.beaten.strategy);
        let result = pair.and_then(|pair| pair.results.iter().find(|one| published(one.criterion) == loser.by.metric));
        let details = result.into_iter().flat_map(|one| {
            let interval = one.comparison.ratio.and_then(|ratio| phrase::factor_interval(&ratio));
            let rounds = self.question(one.criterion).map(|question| {
                let (ahead, rounds) = rounds_ahead(question, self.answer.best, one.comparison.against);
                format!(", {ahead} of {rounds} rounds")
            });
            [interval.map(|interval| format!(" ({interval})")), rounds]
        });
        let details: String = details.flatten().collect();
        format!("{winner}, {} than {}{details}", phrase::lead(loser.by), loser.beaten.strategy)
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
        let certainty = std::iter::once(self.certainty());
        let sentences = certainty.chain(self.answer.criteria.iter().filter_map(of));
        let sentences = sentences.chain(self.overloads()).chain(self.noise());
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
        let is_high =
            !flips::is_fragile(self) && shown.all(|pair| pair.results.iter().all(|result| is_ahead(pair, result)));
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
            _ => "Time by itself (one client)".to_owned(),
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
        let mut of_reasons: Vec<(String, Vec<&&CriterionResult>)> = Vec::new();
        for one in others {
            let why = phrase::undecided(one.comparison.verdict, &|place| self.parts.main().name(place));
            match of_reasons.iter_mut().find(|(reason, _)| *reason == why) {
                Some((_, same)) => same.push(one),
                None => of_reasons.push((why, vec![one])),
            }
        }
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
                _ if criterion.part == Part::Own => "time by itself",
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
            let interval = one.comparison.ratio.and_then(|ratio| ratio.interval);
            let least = interval.map(|all| all.low.ln().abs().min(all.high.ln().abs()).exp_m1());
            least
                .zip(self.question(one.criterion).and_then(ArmComparison::band))
                .is_some_and(|(size, band)| size > band)
        };
        let larger =
            if shown.peek().is_some() && shown.all(is_larger) { "; all reported differences exceed it" } else { "" };
        (!bands.is_empty()).then(|| format!("Noise: {baseline} against itself, {}{larger}", listed(bands)))
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
