//! The decision of a run with its names.

use crate::record::Part;
use crate::report::document::format::marked;
use crate::report::run::PartEvaluations;
use crate::results::{
    BeatenRecord, ComparedNumber, Difference, LoadModel, PublishedAnswer, PublishedMetric, TradeOffRecord,
};
use crate::stats::{Answer, ArmComparison, Beaten, Criterion, CriterionResult, Reason, effect};

use super::next_step::Remedy;
use super::sure::rounds_ahead;
use super::{but, flips, phrase};

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
    pub(super) fn rate(&self, part: Part) -> Option<f64> {
        match self.parts.record(part)?.settings.load {
            LoadModel::Open { rate, .. } if part.is_open() => Some(rate),
            _ => None,
        }
    }

    pub(super) fn question(&self, by: Criterion) -> Option<&'r ArmComparison> {
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
        let lead = phrase::compared_with(&phrase::lead(loser.by), &loser.beaten.strategy);
        format!("{winner}, {lead}{details}")
    }
}

/// The number that a criterion is in published results.
pub(super) fn published(criterion: Criterion) -> PublishedMetric {
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
