//! How often the intervals cover the true capacities and their ratio.

use crate::generate::{Label, Seed, Stream};

use super::estimate::{Capacities, CapacityEstimate};
use super::record::{SearchRecord, TrialRecord};
use super::search::Search;

const TRUE: [f64; 2] = [1_000.0, 1_700.0];

/// What is simulated.
#[derive(Debug, Clone, Copy)]
struct Simulated {
    rounds: u64,
    /// The width of the transition, in ln(rate).
    width: f64,
    /// The standard deviation of ln(capacity) over rounds that both strategies share.
    shared: f64,
    /// The standard deviation of ln(capacity) over rounds that each strategy has by itself.
    own: f64,
}

/// A trial of a rate.
pub(crate) fn trial(rate: f64, passed: bool) -> TrialRecord {
    TrialRecord { rate, offered: 1_000, failed: 0, measured: None, overloaded: false, passed }
}

fn normal(stream: &mut Stream) -> f64 {
    let (radius, angle) = ((-2.0 * (1.0 - stream.unit()).ln()).sqrt(), std::f64::consts::TAU * stream.unit());
    radius * angle.cos()
}

fn searches(setting: Simulated, stream: &mut Stream) -> Vec<SearchRecord> {
    let mut searches: Vec<SearchRecord> = Vec::new();
    for round in 0..setting.rounds {
        let shared = setting.shared * normal(stream);
        for (strategy, rate) in TRUE.iter().enumerate() {
            let location = rate.ln() + shared + setting.own * normal(stream);
            let bounds = 1.0..=1e6;
            let mut search = match Capacities::of(&searches).rate(strategy) {
                None => Search::first(100.0 + 900.0 * stream.unit(), bounds),
                Some(found) => Search::near(found.mean, Search::offset(Seed::new(stream.bits()), strategy), bounds),
            };
            let mut trials = Vec::new();
            while let Some(rate) = search.next() {
                let kept = stream.unit() < 1.0 / (1.0 + ((rate.ln() - location) / setting.width).exp());
                search.record(kept);
                trials.push(trial(rate, kept));
            }
            searches.push(SearchRecord { round, strategy, trials });
        }
    }
    searches
}

fn covers(found: CapacityEstimate, truth: f64) -> bool {
    found.interval.is_some_and(|interval| (interval.low..=interval.high).contains(&truth))
}

/// The shares of runs whose intervals cover a strategy's capacity, and the ratio of two; and the trials per strategy.
fn coverage(setting: Simulated, runs: u64) -> (f64, f64, f64) {
    let (mut rate, mut ratio, mut trials) = (0, 0, 0);
    for run in 0..runs {
        let mut stream = Stream::new(Seed::new(run), Label::new("coverage of capacity"), setting.rounds);
        let searches = searches(setting, &mut stream);
        let found = Capacities::of(&searches);
        rate += u64::from(covers(found.rate(0).unwrap(), TRUE[0]));
        ratio += u64::from(covers(found.ratio(1, 0, 1).unwrap(), TRUE[1] / TRUE[0]));
        trials += searches.iter().map(|search| search.trials.len()).sum::<usize>();
    }
    let of = |count: u64| count as f64 / runs as f64;
    (of(rate), of(ratio), trials as f64 / runs as f64 / 2.0)
}

/// Noise that both strategies share, and that each has by itself.
const NOISE: [(f64, f64); 3] = [(0.0, 0.0), (0.05, 0.05), (0.1, 0.0)];

#[test]
fn intervals_cover_what_they_claim() {
    for (rounds, width, (shared, own)) in [(3, 0.05, NOISE[0]), (5, 0.01, NOISE[1]), (8, 0.05, NOISE[2])] {
        let setting = Simulated { rounds, width, shared, own };
        let (rate, ratio, trials) = coverage(setting, 200);
        // Three standard errors of 200 runs around 95 %.
        assert!(rate > 0.9 && ratio > 0.9, "{setting:?}: {rate} {ratio}");
        assert!(trials < 8.0 * rounds as f64, "{setting:?}: {trials}");
    }
}

#[test]
#[ignore = "takes minutes in a debug build; its output is the table of docs/experiments/capacity.md"]
fn intervals_cover_in_many_settings() {
    let mut table = String::new();
    for rounds in [3, 5, 8] {
        for width in [0.01, 0.03, 0.08] {
            for (shared, own) in NOISE {
                let (rate, ratio, trials) = coverage(Simulated { rounds, width, shared, own }, 1_000);
                table += &format!("| {rounds} | {width} | {shared} | {own} | {rate:.3} | {ratio:.3} | {trials:.0} |\n");
                assert!((0.92..=0.98).contains(&rate) && (0.92..=0.98).contains(&ratio), "{table}");
            }
        }
    }
    insta::assert_snapshot!("coverage", table);
}
