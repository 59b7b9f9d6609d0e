//! Numbers from a run's record: pure functions without texts and without rounding.
//!
//! Times are nanoseconds: service times, with open load response times. All answered calls count (`ok`, `same`, `not_found`
//! and rejected); calls that failed or were skipped count as the timeout in quantiles, and are limited by the error budget.
//!
//! Unless it says otherwise, a function reads the record of one part of a run, see [`RunRecord::part`](crate::results::RunRecord::part).

mod anomalies;
mod answer;
pub(crate) mod arm_comparison;
pub(crate) mod bound;
mod break_even;
mod budget;
mod carry_over;
mod cause;
mod claim;
pub(crate) mod compare;
pub(crate) mod context;
mod cost;
pub(crate) mod estimate;
mod family;
pub(crate) mod flip;
mod flush_wait;
mod in_flight;
mod interference;
pub(crate) mod latency;
pub(crate) mod line;
mod mechanism;
mod mix;
pub(crate) mod open_load;
mod outcome_totals;
mod prediction;
mod ranking;
pub(crate) mod run_comparison;
#[cfg(test)]
pub(crate) mod sample;
pub(crate) mod series;
pub(crate) mod session_spread;
pub(crate) mod shared_cache;
#[cfg(test)]
mod simulation;
mod sizes;
pub(crate) mod student;
mod threshold;
mod throughput;
mod timeline;
pub(crate) mod validity;
pub(crate) mod view;
mod warm_up;
pub(crate) mod welch;

pub use anomalies::{Anomalies, anomalies};
pub use answer::{Answer, Beaten, Criterion, CriterionResult, PairDecision, PairOutcome, effect, least_effect};
pub use arm_comparison::{ComparisonFamily, ask};
pub use break_even::{BreakEven, WRITTEN, break_evens, writes};
pub use budget::{CpuBudget, mix_shares, own_time, sends_nothing, shares};
pub use carry_over::{CarryOver, carry_over};
pub use cause::{Cause, CostlyOperation, Evidence, WaitReason, Waiting, cause};
pub use claim::{claim_results, counted as counted_claim};
pub use compare::{
    ArmComparison, ArmTimes, Comparison, Limits, MINIMUM_ROUNDS, Quantity, Ratio, SIGNIFICANCE, UNSTABLE, compare,
    described_ratio,
};
pub use cost::{BesideJob, Cost, OwnCost, beside_job, counters, deferred, inconsistency, own_cost, window_cost};
pub use estimate::{ConfidenceInterval, Estimate, log_ratios};
pub use flip::{AGREEMENT, MixEstimate, ShareFlip, network_flip};
pub use flush_wait::{FlushWait, flush_waits};
pub use in_flight::{InFlight, in_flight, too_few_in_flight};
pub use interference::{Interference, interference};
pub use latency::{Distribution, Times, geometric_mean, mean, response_mean, service_mean};
pub use mechanism::{DocumentSize, Mechanism, OplogKind, ServerWork, mechanisms};
pub use open_load::{OpenLoad, achieved_share, open_load};
pub use outcome_totals::{OutcomeTotals, outcome_totals};
pub use prediction::{FailedPrediction, Prediction, mix_ratio, mix_time};
pub use ranking::Ranking;
pub use series::{RoundSeries, SeriesKey, quantile_values, value};
pub use session_spread::{
    QuotedRatio, ResultSessions, SessionSpread, coverage, digits, further_between_sessions, published_spread, quoted,
    session_distance, session_ratios, spreads,
};
pub use shared_cache::{DIRTY_SHARE, SharedCache};
pub use sizes::{Change, CollectionGrowth, collection_growth};
pub use student::t_quantile;
pub use threshold::{Doubt, Measurement, Threshold};
pub use throughput::cell_rate;
pub use timeline::{RoundTimes, Spread, round_times, slice_rates};
pub use validity::{
    EnvironmentWarning, InvalidReason, environment_warnings, invalid_reasons, is_valid, misses_named_rate, overloaded,
    wrong,
};
pub(crate) use view::{CALLS_BEYOND, distinct, grouped, selected};
pub use view::{Role, all_operations, cells, inspected, judged, loaded, operations, role};

pub use warm_up::{Unsettled, is_growing, unsettled};

pub use crate::results::{Reason, Verdict};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_can_be_loaded_panics() {
        let runs = sample::edited();
        assert!(runs.len() > 100, "most edits can be loaded: {}", runs.len());
        for run in runs {
            for strategy in 0..run.strategies.len() {
                let all = || (0..run.operations.len()).flat_map(|operation| operations(run, strategy, operation));
                let times = Distribution::of(all(), run.settings.timeout());
                let _ = (times.quantile(0.5), times.max(), times.min(), times.bins(&[1, 1_000, u64::MAX]));
                let totals = outcome_totals(all());
                let _ = (totals.failed_share(), totals.rejected(), totals.round_trips_per_call());
                let _ = collection_growth(run, strategy);
                let _ = (carry_over(run), is_growing(run, strategy));
                let _ = (overloaded(run, strategy), invalid_reasons(run), environment_warnings(run));
                let limits = Limits::of(&run.settings);
                let arm = |strategy| ArmTimes::of(run, strategy, None);
                let metric = crate::record::Metric::MEAN;
                let question = ArmComparison::new(metric, None, vec![arm(0), arm(strategy)]);
                let question = &compare(vec![question], limits)[0];
                let _ = (question.ranking(), unsettled(run, question));
            }
        }
    }
}
