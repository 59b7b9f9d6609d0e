//! What a run says about the mix: which strategy to choose, or which ones it does not tell apart. Whoever names a winner asks here.

use crate::record::{Metric, Part};
use crate::results::{Standing, Verdict};

use super::compare::{ArmComparison, Comparison, Quantity, Ratio, UNSTABLE};
use super::ranking::Ranking;

/// The strategies, ranked by one number of the mix.
#[derive(Debug, Clone, PartialEq)]
pub struct MixRanking {
    /// The part that measured it.
    pub part: Part,
    /// The number.
    pub metric: Metric,
    /// The ranking.
    pub ranking: Ranking,
}

/// A strategy that the best one is shown to be better than.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beaten {
    /// The strategy.
    pub strategy: usize,
    /// The number of the best one divided by that of this one.
    pub ratio: Ratio,
    /// The part that shows it.
    pub part: Part,
    /// Whether the ratio is of times or of calls per second.
    pub quantity: Quantity,
}

/// The decision of a run: by the mean response time at the common rate, or, where that shows no difference, by the calls per
/// second at saturation.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The first ranking that shows a difference; where none does, the first one.
    pub decided: MixRanking,
    /// Those before it.
    pub undecided: Vec<MixRanking>,
    /// A later ranking with the same best strategy, which is shown there to be better than all that the first one does not tell
    /// it from.
    pub tie_break: Option<MixRanking>,
}

impl Answer {
    /// From the comparisons of all parts in their order; `None` where the mix was not measured.
    pub fn of<'c>(comparisons: impl Iterator<Item = (Part, &'c ArmComparison)>) -> Option<Answer> {
        let is_meant = |metric: Metric| matches!(metric, Metric::MEAN | Metric::Throughput);
        let asked =
            comparisons.filter(|(part, one)| *part != Part::Own && one.operation.is_none() && is_meant(one.metric));
        let mut rankings: Vec<MixRanking> = asked
            .filter_map(|(part, one)| Some(MixRanking { part, metric: one.metric, ranking: one.ranking()? }))
            .collect();
        let decided = rankings.iter().position(|one| one.ranking.ahead().next().is_some());
        let undecided = rankings.drain(..decided.unwrap_or(0)).collect();
        let mut rankings = rankings.into_iter();
        let mut answer = Answer { decided: rankings.next()?, undecided, tie_break: None };
        if decided.is_some() && !answer.decided.ranking.is_clear() {
            answer.tie_break = rankings.find(|later| answer.is_settled_by(&later.ranking));
        }
        Some(answer)
    }

    /// Whether a later ranking shows the best strategy to be better than all that are not told from it.
    fn is_settled_by(&self, later: &Ranking) -> bool {
        let is_beaten = |strategy: usize| later.ahead().any(|one| one.against == strategy);
        later.best == self.best() && self.tied().all(|one| is_beaten(one.against))
    }

    /// The strategy with the best number.
    pub fn best(&self) -> usize {
        self.decided.ranking.best
    }

    /// The strategy that is shown to be better than all others.
    pub fn winner(&self) -> Option<usize> {
        Some(self.best()).filter(|_| self.decided.ranking.is_clear() || self.tie_break.is_some())
    }

    /// The winner; without one, the best strategy and those that are not shown to be worse.
    pub fn leading(&self) -> Vec<usize> {
        let tied = self.tied().filter(|_| self.tie_break.is_none());
        std::iter::once(self.best()).chain(tied.map(|one| one.against)).collect()
    }

    /// The comparisons of the best strategy with those that the deciding ranking does not tell from it.
    pub fn tied(&self) -> impl Iterator<Item = &Comparison> {
        self.decided.ranking.tied()
    }

    /// The strategies that the best one is shown to be better than, the nearest first.
    pub fn beaten(&self) -> Vec<Beaten> {
        let beaten = |by: &MixRanking, one: &Comparison| {
            Some(Beaten { strategy: one.against, ratio: one.ratio?, part: by.part, quantity: by.ranking.quantity })
        };
        let first = self.decided.ranking.ahead().filter_map(|one| beaten(&self.decided, one));
        let is_tied = |one: &&Comparison| self.tied().any(|tied| tied.against == one.against);
        let settled = self
            .tie_break
            .iter()
            .flat_map(|by| by.ranking.ahead().filter(is_tied).filter_map(|one| beaten(by, one)).collect::<Vec<_>>());
        let mut all: Vec<Beaten> = first.chain(settled).collect();
        all.sort_by(|a, b| a.ratio.mean.ln().abs().total_cmp(&b.ratio.mean.ln().abs()));
        all
    }

    /// The strategy that the best one is explained against: the baseline if it is beaten, else the nearest.
    pub fn loser(&self) -> Option<Beaten> {
        let beaten = self.beaten();
        beaten.iter().find(|one| one.strategy == self.decided.ranking.baseline).or(beaten.first()).copied()
    }
}

impl Ranking {
    /// The comparisons in which the best strategy is shown to be better.
    pub fn ahead(&self) -> impl Iterator<Item = &Comparison> {
        self.best_against.iter().filter(|one| one.verdict == Verdict::Faster)
    }

    /// The others.
    pub fn tied(&self) -> impl Iterator<Item = &Comparison> {
        self.best_against.iter().filter(|one| one.verdict != Verdict::Faster)
    }

    /// How a judged strategy stands by this number. `winner` is that of the run's answer: no other is called the best.
    pub fn standing(&self, strategy: usize, winner: Option<usize>) -> Standing {
        let is_tied = |one: &Comparison| effect(one.verdict).is_some();
        if strategy == self.best {
            return match (self.is_clear(), winner == Some(strategy)) {
                (true, true) => Standing::Best,
                (true, false) => Standing::First,
                (false, _) if self.tied().any(is_tied) => Standing::Tied,
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

/// The effect that all comparisons would have shown; `None` where one shows nothing.
pub fn least_effect<'c>(comparisons: impl Iterator<Item = &'c Comparison>) -> Option<f64> {
    let effects = comparisons.map(|one| effect(one.verdict)).collect::<Option<Vec<f64>>>()?;
    Some(effects.into_iter().fold(0.0, f64::max))
}
