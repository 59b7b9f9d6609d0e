//! The verdict in words.

use crate::results::{LoadModel, RunRecord, Settings, Status};
use crate::stats::{Beside, Claim, Comparison, Interval, MINIMUM_ROUNDS, Ratio, Reason, Role};
use crate::stats::{SIGNIFICANCE, Tally, Verdict};

use super::answers::Answer;
use super::format::{count, counted, listed, percent, plain, three};
use super::method::in_percent;
use super::validity::overload;

/// Speaks of strategies by name.
pub(super) struct Speaker<'n> {
    /// The strategies' names, in the run's order.
    pub(super) names: &'n [String],
}

impl Speaker<'_> {
    fn name(&self, strategy: usize) -> &str {
        self.names.get(strategy).map_or("?", String::as_str)
    }

    /// The sentences that carry the whole: who is fastest in the mix.
    pub(super) fn overall(&self, mix: &str, verdict: &Verdict) -> Vec<String> {
        if !claims_something(verdict) {
            return match self.common_reason(verdict) {
                Some((reason, words)) if is_finding(reason) => vec![format!("In mix {mix} {words}.")],
                Some((_, words)) => vec![format!("no claim: {words}.")],
                None => vec![format!("In mix {mix} nothing is claimed: {}.", self.list(verdict))],
            };
        }
        let best = self.name(verdict.best);
        let mut sentences = match verdict.is_clear() {
            true => {
                vec![format!("{best} is fastest in mix {mix}: per call {}.", self.claims(verdict, Some(verdict.best)))]
            }
            false => vec![format!("In mix {mix}, per call, {}.", self.claims(verdict, None))],
        };
        sentences.extend(self.beside(verdict));
        let unclaimed = in_order(verdict).into_iter().filter_map(reason_of);
        sentences.extend(unclaimed.map(|(strategy, reason)| {
            let (strategy, reference) = (self.name(strategy), self.name(verdict.reference));
            format!("{strategy} against {reference}: {}.", self.reason(reason))
        }));
        sentences
    }

    /// What was found of one operation.
    pub(super) fn operation(&self, verdict: &Verdict) -> String {
        match self.common_reason(verdict) {
            Some((reason, words)) if is_finding(reason) => words,
            Some((_, words)) => format!("no claim: {words}"),
            None => self.list(verdict),
        }
    }

    /// What is claimed, and for the others why nothing is.
    fn list(&self, verdict: &Verdict) -> String {
        let claims = Some(self.claims(verdict, None)).filter(|claims| !claims.is_empty());
        let reasons = in_order(verdict).into_iter().filter_map(reason_of);
        let reasons = reasons.map(|(strategy, reason)| format!("{}: {}", self.name(strategy), self.reason(reason)));
        claims.into_iter().chain(reasons).collect::<Vec<_>>().join("; ")
    }

    /// Why nothing at all is claimed, when that is the same for all.
    fn common_reason(&self, verdict: &Verdict) -> Option<(Reason, String)> {
        let reasons: Vec<Reason> = verdict
            .against_reference
            .iter()
            .map(|one| reason_of(one).map(|(_, reason)| reason))
            .collect::<Option<_>>()?;
        let words = reasons.iter().map(|reason| self.reason(*reason)).collect::<Vec<_>>();
        let (first, rest) = words.split_first()?;
        rest.iter().all(|other| other == first).then(|| (reasons[0], first.clone()))
    }

    /// All claims against the reference, the fastest first; empty without any. Who was just named is "it".
    fn claims(&self, verdict: &Verdict, named: Option<usize>) -> String {
        let mut claims = Vec::new();
        for comparison in in_order(verdict).into_iter().filter(|comparison| reason_of(comparison).is_none()) {
            let Some(ratio) = comparison.ratio else { continue };
            // The reference is named once.
            let than = claims.is_empty().then(|| self.name(verdict.reference));
            let verb = if claims.is_empty() { " takes" } else { "" };
            let name = if named == Some(comparison.strategy) { "it" } else { self.name(comparison.strategy) };
            claims.push(format!("{name}{verb} {}", difference(&ratio, than)));
        }
        listed(&claims)
    }

    /// The best beside others than the reference: a description.
    fn beside(&self, verdict: &Verdict) -> Option<String> {
        let rounds = |other: &Beside| match other.ahead == other.rounds {
            true => format!("in all {}", counted(other.rounds as u64, "round")),
            false => format!("in {} of {}", other.ahead, counted(other.rounds as u64, "round")),
        };
        let said: Vec<String> = verdict
            .beside
            .iter()
            .filter(|other| other.rounds > 0)
            .map(|other| format!("{}'s {}", self.name(other.strategy), rounds(other)))
            .collect();
        let best = self.name(verdict.best);
        (!said.is_empty()).then(|| format!("{best} was also below {}.", listed(&said)))
    }

    /// Why nothing is claimed.
    pub(super) fn reason(&self, reason: Reason) -> String {
        match reason {
            Reason::NotJudged => "not judged".into(),
            Reason::Failures { strategy, share } => {
                format!("{} failed in {} of its calls", self.name(strategy), percent(share))
            }
            Reason::Overloaded { strategy, achieved } => overload(self.name(strategy), achieved),
            Reason::NoSuccess { strategy } => {
                format!("{} had no successful call in at least one round", self.name(strategy))
            }
            Reason::TooFewRounds(rounds) => {
                let are = if rounds == 1 { "is" } else { "are" };
                let rounds = counted(rounds as u64, "round");
                format!("below {MINIMUM_ROUNDS} rounds no claim is possible, and there {are} only {rounds}")
            }
            Reason::NotFound { detectable } => {
                format!("no difference found; one of {} or more would have shown", percent(detectable))
            }
            Reason::WithinNoise { detectable } => {
                format!("no difference beyond noise found; one of {} or more would have shown", percent(detectable))
            }
            Reason::Unstable { detectable } if detectable.is_finite() && detectable < 10.0 => {
                let least = percent(detectable);
                format!("unstable: only a difference of {least} or more would have shown; use a longer preset")
            }
            Reason::Unstable { .. } => "unstable: hardly any difference would have shown; use a longer preset".into(),
        }
    }
}

/// Whether anything is claimed against the reference.
pub(super) fn claims_something(verdict: &Verdict) -> bool {
    verdict.against_reference.iter().any(|comparison| reason_of(comparison).is_none())
}

/// Who was compared and not claimed, and why.
fn reason_of(comparison: &Comparison) -> Option<(usize, Reason)> {
    match comparison.claim {
        Claim::No(reason) => Some((comparison.strategy, reason)),
        Claim::Faster | Claim::Slower => None,
    }
}

/// Whether it is a result, rather than something that kept one from being reached.
fn is_finding(reason: Reason) -> bool {
    matches!(reason, Reason::NotFound { .. } | Reason::WithinNoise { .. } | Reason::Unstable { .. })
}

/// The comparisons with the reference, the fastest first.
fn in_order(verdict: &Verdict) -> Vec<&Comparison> {
    let mut order: Vec<&Comparison> = verdict.against_reference.iter().collect();
    let mean = |comparison: &Comparison| comparison.ratio.map_or(f64::INFINITY, |ratio| ratio.mean);
    order.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
    order
}

/// How much less or more time, with the interval: in percent up to twice the time.
pub(super) fn difference(ratio: &Ratio, reference: Option<&str>) -> String {
    let Brief { number, unit, range } = brief(ratio);
    let (time, than) = if unit == "times" { ("as long", "as") } else { ("time", "than") };
    let than = reference.map_or(String::new(), |reference| format!(" {than} {reference}"));
    let range = range.map_or(String::new(), |range| format!(" ({range})"));
    format!("{number} {unit} {time}{than}{range}")
}

/// How much less or more time, in as few words as a cell of a table has place for.
pub(super) struct Brief {
    /// How much.
    pub(super) number: String,
    /// Of what: `less`, `more` or `times`.
    pub(super) unit: &'static str,
    /// The interval.
    pub(super) range: Option<String>,
}

/// A ratio in percent up to twice the time, and in times from there on.
pub(super) fn brief(ratio: &Ratio) -> Brief {
    let range = |low: &dyn Fn(&Interval) -> String, high: &dyn Fn(&Interval) -> String| {
        let interval = ratio.interval.as_ref()?;
        Some(format!("{} to {}", low(interval).trim_end_matches(" %"), high(interval)))
    };
    if ratio.mean < 1.0 {
        let range = range(&|interval| percent(1.0 - interval.high), &|interval| percent(1.0 - interval.low));
        return Brief { number: percent(1.0 - ratio.mean), unit: "less", range };
    }
    if ratio.mean < 2.0 {
        let range = range(&|interval| percent(interval.low - 1.0), &|interval| percent(interval.high - 1.0));
        return Brief { number: percent(ratio.mean - 1.0), unit: "more", range };
    }
    let range = range(&|interval| three(interval.low), &|interval| three(interval.high));
    Brief { number: three(ratio.mean), unit: "times", range }
}

/// How the claims were made and what the brackets are.
pub(super) fn how_sure(record: &RunRecord, answers: &[Answer], names: &[String]) -> String {
    let judged: usize = answers.iter().filter(|answer| answer.operation.is_some()).map(Answer::judged).sum();
    let floor = in_percent(record.settings.noise);
    let comparisons = counted(judged as u64, "comparison");
    let made = format!(
        "In brackets 95 % intervals. Claimed is what has p < {SIGNIFICANCE} when the signs of whole rounds are flipped, \
         adjusted for all {comparisons} of operations (the mix is a family of its own), has an interval without 1, and is \
         beyond noise: {floor} %"
    );
    let control = answers.iter().flat_map(|answer| &answer.arms).find(|arm| arm.role == Role::Control);
    match control.and_then(|arm| names.get(arm.strategy)) {
        None => format!("{made}. This run has no control arm that would show whether noise reaches further."),
        Some(name) => {
            let mix = answers.iter().find(|answer| answer.operation.is_none()).and_then(Answer::band);
            let mix = mix.map_or(String::new(), |band| format!(" (for the mix {})", percent(band)));
            format!("{made} and the band of {name}, the reference measured twice{mix}.")
        }
    }
}

/// The mix and the load, for which a verdict holds.
pub(super) fn at_load(mix: &str, settings: &Settings) -> String {
    match settings.load {
        LoadModel::Closed => format!("{mix} with {} in flight", counted(settings.workers as u64, "call")),
        LoadModel::Open { rate, .. } => format!("{mix} at {} calls per second", three(rate)),
    }
}

/// Which differences would have been found, whether they are there or not; `None` without comparisons.
pub(super) fn how_fine(answers: &[Answer]) -> Option<String> {
    let of = |is_mix: bool| {
        let wanted = answers.iter().filter(move |answer| answer.operation.is_none() == is_mix);
        let mut found: Vec<f64> = wanted.flat_map(Answer::detectable).filter(|least| least.is_finite()).collect();
        found.sort_by(f64::total_cmp);
        Some((*found.first()?, *found.last()?))
    };
    let range = |(low, high): (f64, f64)| match percent(low) == percent(high) {
        true => percent(low),
        false => format!("{} to {}", percent(low).trim_end_matches(" %"), percent(high)),
    };
    let (mix, operations) = (range(of(true)?), range(of(false)?));
    Some(format!("Four of five such runs find a difference of {mix} in the mix, and of {operations} in an operation."))
}

/// What must stand above everything else of a run that did not come to its end.
pub(super) fn status(record: &RunRecord) -> Option<String> {
    let rounds = match (record.rounds.len() as u64, record.settings.rounds) {
        (0, _) => "no round is complete".to_owned(),
        (done, asked) => format!("{} of {} complete; all below is about those", count(done), counted(asked, "round")),
    };
    match &record.status {
        Status::Complete if record.rounds.is_empty() => Some(format!("This run measured nothing: {rounds}.")),
        Status::Complete => None,
        Status::Unfinished => Some(format!("This run is still going on, or was ended from outside: {rounds}.")),
        Status::Interrupted => Some(format!("This run was interrupted: {rounds}.")),
        Status::Failed(reason) => Some(format!("This run failed ({}): {rounds}.", plain(reason).trim_end_matches('.'))),
    }
}

/// What to know of the strategies' calls before believing their times: a sentence for all with the same numbers.
pub(super) fn refusals(tallies: &[(&str, &Tally)]) -> Vec<String> {
    let mut groups: Vec<((u64, u64), Vec<String>)> = Vec::new();
    for (name, tally) in tallies.iter().filter(|(_, tally)| tally.refused() > 0) {
        let numbers = (tally.refused(), tally.calls);
        match groups.iter_mut().find(|(known, _)| *known == numbers) {
            Some((_, names)) => names.push((*name).to_owned()),
            None => groups.push((numbers, vec![(*name).to_owned()])),
        }
    }
    let said = groups.into_iter().map(|((refused, calls), names)| {
        let share = percent(refused as f64 / calls.max(1) as f64);
        let (who, its) = match names.len() {
            1 => (names[0].clone(), "its"),
            all if all == tallies.len() => ("Every strategy".to_owned(), "its"),
            _ => (format!("{} each", listed(&names)), "their"),
        };
        format!(
            "{who} refused {} of {} calls ({share}); {its} times are those of the others.",
            count(refused),
            count(calls)
        )
    });
    said.collect()
}
