//! The verdict in words.

use crate::results::{RunRecord, Status};
use crate::stats::{Claim, Comparison, MINIMUM_ROUNDS, NOISE_FLOOR, Reason, Tally, Verdict};

use super::format::{count, counted, listed, percent, plain};

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
        let best = self.name(verdict.best);
        if verdict.is_clear() {
            let claims = self.claims(verdict);
            return vec![format!("{best} is fastest in mix {mix}: per call it takes {claims}.")];
        }
        if !verdict.claims_something() {
            return vec![format!("no claim: {}.", self.reasons(verdict))];
        }
        let mut sentences = vec![format!("In mix {mix} {best} takes per call {}.", self.claims(verdict))];
        sentences.extend(unclaimed(verdict).map(|(comparison, reason)| {
            format!("Against {} no claim: {}.", self.name(comparison.against), self.reason(verdict.best, reason))
        }));
        sentences
    }

    /// What is claimed of one operation; `None` when nothing is.
    pub(super) fn operation(&self, verdict: &Verdict) -> Option<String> {
        let (best, claims) = (self.name(verdict.best), self.claims(verdict));
        if verdict.is_clear() {
            return Some(format!("{best} leads: {claims}"));
        }
        let others: Vec<String> =
            unclaimed(verdict).map(|(comparison, _)| self.name(comparison.against).to_owned()).collect();
        verdict.claims_something().then(|| format!("{best}: {claims}; no claim against {}", listed(&others)))
    }

    /// Why nothing is claimed.
    pub(super) fn reasons(&self, verdict: &Verdict) -> String {
        let spoken = |(comparison, reason): (&Comparison, Reason)| {
            (self.name(comparison.against).to_owned(), self.reason(verdict.best, reason))
        };
        let all: Vec<(String, String)> = unclaimed(verdict).map(spoken).collect();
        match all.split_first() {
            Some(((_, first), rest)) if rest.iter().all(|(_, reason)| reason == first) => first.clone(),
            _ => {
                let best = self.name(verdict.best);
                let all = all.iter().map(|(against, reason)| format!("{best} against {against}: {reason}"));
                all.collect::<Vec<_>>().join("; ")
            }
        }
    }

    fn reason(&self, best: usize, reason: Reason) -> String {
        match reason {
            Reason::Failures { strategy, share } => {
                format!("{} failed in {} of its calls", self.name(strategy), percent(share))
            }
            Reason::NoSuccess { strategy } => {
                format!("{} had no successful call in at least one round", self.name(strategy))
            }
            Reason::TooFewRounds(rounds) => {
                let are = if rounds == 1 { "is" } else { "are" };
                let rounds = counted(rounds as u64, "round");
                format!("below {MINIMUM_ROUNDS} rounds no claim is possible, and there {are} only {rounds}")
            }
            Reason::RoundsDisagree { ahead, rounds } => {
                format!("rounds disagree ({} ahead in {ahead} of {rounds})", self.name(best))
            }
            Reason::WithinNoise => format!("the difference is within {:.0} %", NOISE_FLOOR * 100.0),
        }
    }

    /// What the best takes less than those that it is claimed to be faster than.
    fn claims(&self, verdict: &Verdict) -> String {
        let claimed = verdict.over.iter().filter(|comparison| comparison.claim == Claim::Faster);
        let spoken = claimed.filter_map(|comparison| Some((comparison.against, comparison.ratio?)));
        let all: Vec<String> = spoken
            .map(|(against, ratio)| {
                let (least, most) = (percent(1.0 - ratio.highest), percent(1.0 - ratio.lowest));
                let less = percent(1.0 - ratio.mean);
                format!("{less} less time than {} ({} to {most})", self.name(against), least.trim_end_matches(" %"))
            })
            .collect();
        listed(&all)
    }
}

fn unclaimed(verdict: &Verdict) -> impl Iterator<Item = (&Comparison, Reason)> {
    verdict.over.iter().filter_map(|comparison| match comparison.claim {
        Claim::No(reason) => Some((comparison, reason)),
        Claim::Faster | Claim::Slower => None,
    })
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

/// What to know of a strategy's calls before believing its times.
pub(super) fn refusals(name: &str, tally: &Tally) -> Option<String> {
    let (refused, share) = (tally.refused(), tally.refused() as f64 / tally.calls.max(1) as f64);
    (refused > 0).then(|| {
        let calls = count(tally.calls);
        format!(
            "{name} refused {} of {calls} calls ({}); its times are those of the others.",
            count(refused),
            percent(share)
        )
    })
}
