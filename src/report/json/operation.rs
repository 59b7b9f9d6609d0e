//! An operation, or the mix, in the view.

use serde::Serialize;

use crate::report::facts::finite;
use crate::report::{Measured, Report, Row};
use crate::stats::{Claim, Comparison, Distribution, Reason};

use super::strategy::Counts;

/// An operation, or the mix.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct OperationView<'r> {
    /// Its name.
    operation: &'r str,
    /// Its share (0 to 1) of the mix; `null` for the mix.
    share: Option<f64>,
    /// How far from 1 (0.02 for 2 %) the control's ratio may be by noise alone; `null` without a control.
    noise_band: Option<f64>,
    /// The strategy that may be called the fastest; null where none may.
    fastest: Option<&'r str>,
    /// One per strategy, in their order.
    strategies: Vec<CellView<'r>>,
}

/// One operation with one strategy, over all rounds.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CellView<'r> {
    /// The strategy.
    strategy: &'r str,
    /// The mean time of successful calls: the geometric mean over rounds.
    mean_ns: Option<f64>,
    /// Against the reference; `null` for the reference itself.
    against_reference: Option<Against>,
    /// The times of the successful calls of all rounds.
    times: Times,
    /// What the calls came to.
    counts: Counts,
}

/// A strategy against the reference.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Against {
    /// The mean time in relation to the reference's, below 1 is faster: the geometric mean over rounds.
    ratio: Option<f64>,
    /// The lower end of its 95 % interval, which holds for all operations of the run at once; `null` below 6 rounds.
    low: Option<f64>,
    /// The upper end.
    high: Option<f64>,
    /// Rounds that have both times.
    rounds: u64,
    /// p, adjusted for all comparisons of the run; `null` for a strategy that is not judged.
    p: Option<f64>,
    /// The smallest difference (0.1 for 10 %) that four of five such runs find; `null` when there is none.
    detectable: Option<f64>,
    /// What the report claims: `faster` or `slower`; `null` for nothing.
    claim: Option<&'static str>,
    /// Why nothing is claimed: `not_judged`, `failures`, `overloaded`, `no_success`, `too_few_rounds`, `not_found`,
    /// `within_noise`, `unstable`, or `no_claims` when the run makes none at all.
    reason: Option<&'static str>,
}

/// Times in nanoseconds.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Times {
    /// How many.
    calls: u64,
    /// The median.
    p50_ns: Option<u64>,
    /// The 90th percentile.
    p90_ns: Option<u64>,
    /// The 99th percentile.
    p99_ns: Option<u64>,
    /// The 99.9th percentile.
    p999_ns: Option<u64>,
    /// The longest.
    max_ns: Option<u64>,
}

impl Times {
    pub(super) fn of(times: &Distribution) -> Times {
        Times {
            calls: times.calls(),
            p50_ns: times.quantile(0.5),
            p90_ns: times.quantile(0.9),
            p99_ns: times.quantile(0.99),
            p999_ns: times.quantile(0.999),
            max_ns: times.max(),
        }
    }
}

impl<'r> OperationView<'r> {
    pub(super) fn of(report: &'r Report, row: &'r Row) -> OperationView<'r> {
        let Row { name, is_mix: _, share, band, fastest, cells } = row;
        let cell = |(strategy, cell): (&'r crate::report::StrategyView, &'r Measured)| {
            let Measured { mean, comparison, distribution, tally } = cell;
            CellView {
                strategy: &strategy.name,
                mean_ns: mean.and_then(finite),
                against_reference: comparison.as_ref().map(|comparison| against(report, cell, comparison)),
                times: Times::of(distribution),
                counts: Counts::of(tally),
            }
        };
        OperationView {
            operation: name,
            share: share.and_then(finite),
            noise_band: band.and_then(finite),
            fastest: fastest.and_then(|place| report.strategies.get(place)).map(|strategy| strategy.name.as_str()),
            strategies: report.strategies.iter().zip(cells).map(cell).collect(),
        }
    }
}

fn against(report: &Report, cell: &Measured, comparison: &Comparison) -> Against {
    let Comparison { strategy: _, against: _, ratio, p, detectable, claim } = comparison;
    let interval = ratio.and_then(|ratio| ratio.interval);
    let claimed = report.claimed(cell);
    Against {
        ratio: ratio.and_then(|ratio| finite(ratio.mean)),
        low: interval.and_then(|interval| finite(interval.low)),
        high: interval.and_then(|interval| finite(interval.high)),
        rounds: ratio.map_or(0, |ratio| ratio.rounds as u64),
        p: p.and_then(finite),
        detectable: detectable.and_then(finite),
        claim: claimed.map(|claim| if claim == Claim::Faster { "faster" } else { "slower" }),
        reason: match (claimed, claim) {
            (Some(_), _) => None,
            (None, Claim::No(reason)) => Some(code(*reason)),
            (None, _) => Some("no_claims"),
        },
    }
}

fn code(reason: Reason) -> &'static str {
    match reason {
        Reason::NotJudged => "not_judged",
        Reason::Failures { .. } => "failures",
        Reason::Overloaded { .. } => "overloaded",
        Reason::NoSuccess { .. } => "no_success",
        Reason::TooFewRounds(_) => "too_few_rounds",
        Reason::NotFound { .. } => "not_found",
        Reason::WithinNoise { .. } => "within_noise",
        Reason::Unstable { .. } => "unstable",
    }
}
