//! False and true verdicts in simulated runs, whose truth is known.

use std::f64::consts::TAU;

use crate::generate::{Label, Seed, Stream};

use super::{ArmTimes, Comparison, Limits, Role, Verdict, compare};

/// How far the round effect of a round, which all its cells share, moves their times (standard deviation of the logarithm).
const ROUND_EFFECT: f64 = 0.2;

/// Simulated runs of a baseline and two strategies, identical unless an effect is set.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Simulation {
    /// Rounds of a run.
    pub rounds: usize,
    /// Operations; the family has two comparisons per operation.
    pub operations: usize,
    /// The noise that each cell has of its own: the standard deviation of the logarithm of its mean time.
    pub noise: f64,
    /// How many runs.
    pub runs: u64,
}

impl Simulation {
    /// The share of runs (0 to 1) that report a difference between identical arms.
    fn false_alarms(&self) -> f64 {
        self.share(|stream| self.compared(stream, 1.0).iter().flatten().any(is_claimed))
    }

    /// The share of runs (0 to 1) that find a strategy slower, in one operation in which it takes this many times the
    /// baseline's time.
    fn power(&self, times: f64) -> f64 {
        self.share(|stream| self.compared(stream, times)[0][0].verdict == Verdict::Slower)
    }

    /// A run's comparisons, per operation those of both strategies. All cells share the round effect of a round, which cancels.
    fn compared(&self, stream: &mut Stream, first: f64) -> Vec<Vec<Comparison>> {
        let round_effect: Vec<f64> = (0..self.rounds).map(|_| normal(stream) * ROUND_EFFECT).collect();
        let mut arm = |strategy: usize, factor: f64| {
            let means = round_effect
                .iter()
                .map(|round_effect| Some(1e6 * factor * (round_effect + self.noise * normal(stream)).exp()));
            ArmTimes { strategy, role: Role::Judged, means: means.collect(), failed_share: 0.0, overloaded: None }
        };
        let questions: Vec<Vec<ArmTimes>> = (0..self.operations)
            .map(|operation| {
                let factor = if operation == 0 { first } else { 1.0 };
                vec![arm(0, 1.0), arm(1, factor), arm(2, 1.0)]
            })
            .collect();
        compare(&questions, Limits::default())
    }

    fn share(&self, holds: impl Fn(&mut Stream) -> bool) -> f64 {
        let held = (0..self.runs).filter(|run| holds(&mut Stream::new(Seed::new(7), Label::new("simulation"), *run)));
        held.count() as f64 / self.runs as f64
    }
}

/// A standard normal variable, by Box and Muller.
fn normal(stream: &mut Stream) -> f64 {
    (-2.0 * (1.0 - stream.unit()).ln()).sqrt() * (TAU * stream.unit()).cos()
}

fn is_claimed(comparison: &Comparison) -> bool {
    matches!(comparison.verdict, Verdict::Faster | Verdict::Slower)
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Simulation = Simulation { rounds: 8, operations: 9, noise: 0.04, runs: 1_000 };

    #[test]
    fn false_alarms_in_about_one_run_of_twenty() {
        let alarms = Simulation { runs: 4_000, ..QUICK }.false_alarms();
        assert!((0.02..0.06).contains(&alarms), "{alarms}");
    }

    #[test]
    fn a_quarter_more_time_is_found_in_nearly_every_run() {
        let found = QUICK.power(1.25);
        assert!(found > 0.97, "{found}");
    }

    #[test]
    fn no_difference_is_reported_with_an_interval_that_includes_1() {
        for run in 0..300 {
            let mut stream = Stream::new(Seed::new(7), Label::new("claims"), run);
            for claimed in QUICK.compared(&mut stream, 1.1).iter().flatten().filter(|one| is_claimed(one)) {
                let interval = claimed.ratio.unwrap().interval.unwrap();
                assert!(interval.low > 1.0 || interval.high < 1.0, "{claimed:?}");
            }
        }
    }

    #[test]
    fn the_interval_includes_the_truth() {
        let holds = |comparison: &Comparison| {
            let interval = comparison.ratio.and_then(|ratio| ratio.interval);
            interval.is_some_and(|interval| interval.low <= 1.0 && 1.0 <= interval.high)
        };
        let all = QUICK.share(|stream| QUICK.compared(stream, 1.0).iter().flatten().all(holds));
        assert!((0.93..0.98).contains(&all), "{all}");
    }

    #[test]
    fn the_minimum_detectable_effect_is_found_in_most_runs() {
        let shown = |stream: &mut Stream| match QUICK.compared(stream, 1.0)[0][0].verdict {
            Verdict::NoDifference { within_noise: false, mde } => Some(mde),
            _ => None,
        };
        let stream = |run| Stream::new(Seed::new(7), Label::new("mde"), run);
        let mut mde: Vec<f64> = (0..500).filter_map(|run| shown(&mut stream(run))).collect();
        mde.sort_by(f64::total_cmp);
        let typical = mde[mde.len() / 2];
        let found = QUICK.power(1.0 + typical);
        assert!((0.6..0.95).contains(&found), "{typical}: {found}");
    }
}
