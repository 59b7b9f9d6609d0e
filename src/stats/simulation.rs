//! False and true verdicts in simulated runs, whose truth is known.

use std::f64::consts::TAU;

use crate::generate::{Label, Seed, Stream};
use crate::record::Metric;

use super::{ArmComparison, ArmTimes, Comparison, Limits, Role, Verdict, compare};

/// How far the round effect of a round, which all its cells share, moves their times (standard deviation of the logarithm).
const ROUND_EFFECT: f64 = 0.2;

/// Simulated runs of a baseline with its repeat and two strategies.
#[derive(Debug, Clone, Copy)]
struct Simulation {
    /// Rounds of a run.
    rounds: usize,
    /// Operations; the family has three comparisons per operation.
    operations: usize,
    /// The noise that each cell has of its own: the standard deviation of the logarithm of its mean time.
    noise: f64,
    /// The true ratio of a strategy (1 or 2) to the baseline in an operation.
    ratio: fn(usize, usize) -> f64,
    /// How many runs.
    runs: u64,
}

impl Simulation {
    /// The share of runs (0 to 1) that report a difference.
    fn alarms(&self) -> f64 {
        self.share(|run| run.iter().flat_map(ArmComparison::tested).any(is_claimed))
    }

    /// The share of runs (0 to 1) in which all intervals of the family include the truth.
    fn coverage(&self) -> f64 {
        let truth =
            |operation: usize, strategy: usize| if strategy == 0 { 1.0 } else { (self.ratio)(operation, strategy) };
        let includes = |operation: usize, one: &Comparison| {
            let interval = one.ratio.and_then(|ratio| ratio.interval);
            let ratio = truth(operation, one.strategy) / truth(operation, one.against);
            interval.is_some_and(|interval| interval.low <= ratio && ratio <= interval.high)
        };
        self.share(|run| {
            let questions = run.iter().enumerate();
            questions.into_iter().all(|(operation, compared)| compared.tested().all(|one| includes(operation, one)))
        })
    }

    /// The share of runs (0 to 1) that find strategy 1 slower in operation 0, where it takes this many times the baseline's time.
    fn power(&self, times: f64, limits: Limits) -> f64 {
        let runs = (0..self.runs).filter(|run| {
            let made = self.compared(&mut stream(*run), limits, times);
            made[0].with_baseline(1).unwrap().verdict == Verdict::Slower
        });
        runs.count() as f64 / self.runs as f64
    }

    /// The median over runs of the minimum detectable effect of strategy 1 in operation 0.
    fn mde(&self, limits: Limits) -> f64 {
        let runs = (0..self.runs.min(500)).map(|run| self.compared(&mut stream(run), limits, 1.0));
        let mut found: Vec<f64> = runs.filter_map(|run| run[0].with_baseline(1)?.mde).collect();
        found.sort_by(f64::total_cmp);
        found[found.len() / 2]
    }

    /// A run. All cells of a round share its effect, which cancels.
    fn compared(&self, stream: &mut Stream, limits: Limits, first: f64) -> Vec<ArmComparison> {
        let round_effect: Vec<f64> = (0..self.rounds).map(|_| normal(stream) * ROUND_EFFECT).collect();
        let mut arm = |strategy: usize, role: Role, factor: f64| {
            let means =
                round_effect.iter().map(|effect| Some(1e6 * factor * (effect + self.noise * normal(stream)).exp()));
            ArmTimes::sample(strategy, role, means.collect())
        };
        let question = |operation: usize| {
            let first = if operation == 0 { first } else { 1.0 };
            let arms = vec![
                arm(0, Role::Judged, 1.0),
                arm(1, Role::Judged, (self.ratio)(operation, 1) * first),
                arm(2, Role::Judged, (self.ratio)(operation, 2)),
                arm(3, Role::Repeat, 1.0),
            ];
            ArmComparison::new(Metric::MEAN, Some(operation), arms)
        };
        compare((0..self.operations).map(question).collect(), limits)
    }

    fn share(&self, holds: impl Fn(&[ArmComparison]) -> bool) -> f64 {
        let held = (0..self.runs).filter(|run| holds(&self.compared(&mut stream(*run), Limits::default(), 1.0)));
        held.count() as f64 / self.runs as f64
    }
}

fn stream(run: u64) -> Stream {
    Stream::new(Seed::new(7), Label::new("simulation"), run)
}

/// A standard normal variable, by Box and Muller.
pub(super) fn normal(stream: &mut Stream) -> f64 {
    (-2.0 * (1.0 - stream.unit()).ln()).sqrt() * (TAU * stream.unit()).cos()
}

fn is_claimed(comparison: &Comparison) -> bool {
    matches!(comparison.verdict, Verdict::Faster | Verdict::Slower)
}

/// Strategies that do not differ.
fn alike(_: usize, _: usize) -> f64 {
    1.0
}

/// Strategies that all differ by this factor.
fn steps<const PERCENT: i32>(_: usize, strategy: usize) -> f64 {
    (1.0 + f64::from(PERCENT) / 100.0).powi(strategy as i32)
}

/// Some that are alike, and some that differ by up to a factor of 2.
fn mixed(operation: usize, strategy: usize) -> f64 {
    [1.0, 1.02, 1.1, 1.5, 2.0][(operation + strategy) % 5]
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    const QUICK: Simulation = Simulation { rounds: 8, operations: 9, noise: 0.04, ratio: alike, runs: 500 };

    const NO_FLOOR: Limits = Limits { noise: 0.0, error_budget: 0.01 };

    #[test]
    fn false_alarms_in_at_most_one_run_of_twenty() {
        let alarms = QUICK.alarms();
        assert!(alarms < 0.05, "{alarms}");
    }

    #[test]
    fn a_quarter_more_time_is_found_in_nearly_every_run() {
        let found = QUICK.power(1.25, Limits::default());
        assert!(found > 0.97, "{found}");
    }

    #[test]
    fn no_difference_is_reported_with_an_interval_that_includes_1() {
        for run in 0..100 {
            let made = QUICK.compared(&mut stream(run), Limits::default(), 1.1);
            for claimed in made.iter().flat_map(ArmComparison::tested).filter(|one| is_claimed(one)) {
                let interval = claimed.ratio.unwrap().interval.unwrap();
                assert!(interval.low > 1.0 || interval.high < 1.0, "{claimed:?}");
            }
        }
    }

    #[test]
    fn the_intervals_of_a_family_include_the_truth() {
        for ratio in [alike, steps::<50>, mixed] {
            for rounds in [6, 8] {
                let coverage = Simulation { rounds, ratio, ..QUICK }.coverage();
                assert!((0.93..0.985).contains(&coverage), "{rounds} rounds: {coverage}");
            }
        }
    }

    #[test]
    fn the_minimum_detectable_effect_is_found_in_four_of_five_runs() {
        // Nothing but the interval binds, the noise floor does, and (in the small family of the mix) the repeat's band.
        let noisy = Simulation { noise: 0.08, ..QUICK };
        let steady = Simulation { noise: 0.005, ..QUICK };
        let mix = Simulation { operations: 1, runs: 1_000, ..QUICK };
        for (simulation, limits) in
            [(noisy, NO_FLOOR), (QUICK, Limits::default()), (steady, Limits::default()), (mix, Limits::default())]
        {
            let mde = simulation.mde(limits);
            let found = simulation.power(1.0 + mde, limits);
            assert!((0.75..0.85).contains(&found), "{simulation:?} {mde}: {found}");
        }
    }

    #[test]
    #[ignore = "the table of docs/experiments/statistics.md, which takes a minute in an optimised build"]
    #[allow(clippy::print_stdout)]
    fn table() {
        println!("coverage: alike, +10 %, +50 %, mixed; false alarms");
        for rounds in [6, 8, 12, 20] {
            let runs = 2_000;
            let with = |ratio| Simulation { rounds, ratio, runs, ..QUICK };
            let coverage = [alike, steps::<10>, steps::<50>, mixed].map(|ratio| with(ratio).coverage());
            println!("{rounds} rounds: {coverage:.3?}; {:.3}", with(alike).alarms());
        }
    }

    #[test]
    #[ignore = "the minimum detectable effects and their power, which take a minute in an optimised build"]
    #[allow(clippy::print_stdout)]
    fn mde_table() {
        println!("MDE and its power");
        for rounds in [6, 8, 12, 20] {
            for operations in [1, 9] {
                for noise in [0.005, 0.02, 0.04, 0.08] {
                    let simulation = Simulation { rounds, operations, noise, runs: 2_000, ..QUICK };
                    let mde = simulation.mde(Limits::default());
                    let found = simulation.power(1.0 + mde, Limits::default());
                    println!("{rounds} rounds, {operations} operations, noise {noise}: {mde:.4} {found:.3}");
                }
            }
        }
    }

    #[test]
    #[ignore = "a measurement: a run of 20 rounds with five strategies and ten operations"]
    #[allow(clippy::print_stdout)]
    fn duration() {
        let mut stream = stream(0);
        let mut arm = |strategy| {
            let means = (0..20).map(|_| Some((0.04 * normal(&mut stream)).exp())).collect();
            ArmTimes::sample(strategy, Role::Judged, means)
        };
        let mut question = |_| ArmComparison::new(Metric::MEAN, None, (0..5).map(&mut arm).collect());
        let questions: Vec<ArmComparison> = (0..10).map(&mut question).collect();
        let begin = Instant::now();
        let made = compare(questions, Limits::default());
        let comparisons = made.iter().flat_map(ArmComparison::tested).count();
        println!("{comparisons} comparisons in {:?}", begin.elapsed());
    }
}
