//! How often claims are wrong, and how often they are made: simulated runs with known truth.

use std::f64::consts::TAU;

use crate::generate::{Label, Seed, Stream};

use super::*;

const ROUNDS: usize = 8;
const OPERATIONS: usize = 9;

/// A standard normal variable, by Box and Muller.
fn normal(stream: &mut Stream) -> f64 {
    (-2.0 * (1.0 - stream.unit()).ln()).sqrt() * (TAU * stream.unit()).cos()
}

/// A reference and two strategies with nine operations: a family of 18. All share the weather of a round, which cancels;
/// each cell has noise of its own. The first strategy's first operation takes this many times the reference's time.
fn claims(stream: &mut Stream, noise: f64, first: f64) -> Vec<Vec<Comparison>> {
    let weather: Vec<f64> = (0..ROUNDS).map(|_| normal(stream) * 0.2).collect();
    let mut arm = |strategy: usize, factor: f64| {
        let means = weather.iter().map(|weather| Some(1e6 * factor * (weather + noise * normal(stream)).exp()));
        Arm { strategy, role: Role::Judged, means: means.collect(), failed_share: 0.0, overloaded: None }
    };
    let questions: Vec<Vec<Arm>> = (0..OPERATIONS)
        .map(|operation| {
            let factor = if operation == 0 { first } else { 1.0 };
            vec![arm(0, 1.0), arm(1, factor), arm(2, 1.0)]
        })
        .collect();
    compare(&questions, Limits::default())
}

fn is_claimed(comparison: &Comparison) -> bool {
    matches!(comparison.claim, Claim::Faster | Claim::Slower)
}

/// The share of so many seeded runs for which this holds.
fn share(runs: u64, holds: impl Fn(&mut Stream) -> bool) -> f64 {
    let held = (0..runs).filter(|run| holds(&mut Stream::new(Seed::new(7), Label::new("simulation"), *run)));
    held.count() as f64 / runs as f64
}

#[test]
fn identical_arms_raise_a_false_alarm_in_about_one_run_of_twenty() {
    let alarms = share(4_000, |stream| claims(stream, 0.04, 1.0).iter().flatten().any(is_claimed));
    assert!((0.02..0.06).contains(&alarms), "{alarms}");
}

#[test]
fn a_quarter_more_time_is_found_in_nearly_every_run() {
    let found = share(1_000, |stream| claims(stream, 0.04, 1.25)[0][0].claim == Claim::Slower);
    assert!(found > 0.97, "{found}");
}

#[test]
fn the_interval_holds_the_truth() {
    let holds = |comparison: &Comparison| {
        let interval = comparison.ratio.and_then(|ratio| ratio.interval);
        interval.is_some_and(|interval| interval.low <= 1.0 && 1.0 <= interval.high)
    };
    let all = share(1_000, |stream| claims(stream, 0.04, 1.0).iter().flatten().all(holds));
    assert!((0.93..0.98).contains(&all), "{all}");
}

#[test]
fn a_difference_that_would_have_shown_does_show_in_most_runs() {
    let shown = |stream: &mut Stream| match claims(stream, 0.04, 1.0)[0][0].claim {
        Claim::No(Reason::NotFound { detectable }) => Some(detectable),
        _ => None,
    };
    let stream = |run| Stream::new(Seed::new(7), Label::new("detectable"), run);
    let mut detectable: Vec<f64> = (0..500).filter_map(|run| shown(&mut stream(run))).collect();
    detectable.sort_by(f64::total_cmp);
    let typical = detectable[detectable.len() / 2];
    let found = share(1_000, |stream| claims(stream, 0.04, 1.0 + typical)[0][0].claim == Claim::Slower);
    assert!((0.6..0.95).contains(&found), "{typical}: {found}");
}
