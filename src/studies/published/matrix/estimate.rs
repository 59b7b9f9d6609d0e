//! Mixes that were not measured, from the own times of a run that measured another one.

use crate::report::document::plain;
use crate::report::run::decision::phrase::UNPREDICTED;
use crate::results::{MetricRecord, PublishedMix, PublishedRecord, PublishedStrategy};
use crate::stats::{self, MixEstimate};

use super::cell::PublishedNumber;
use super::row::Setup;
use super::{MatrixStrategy, PlacedResult};

/// Estimates a mix from the results of one server and machine: the mix whose run has the own times, and the time per call of
/// each strategy in nanoseconds. Else says why not.
pub(crate) fn estimate(
    mix: &PublishedMix,
    results: &[PlacedResult],
    setup: &Setup,
    newest: &PublishedRecord,
    strategies: &[MatrixStrategy],
) -> Result<(String, Vec<Option<PublishedNumber>>), &'static str> {
    let weights = mix.weights.as_ref().ok_or("its weights depend on parameters")?;
    if mix.has_parameters {
        return Err("needs other data");
    }
    let mut sources: Vec<&PublishedRecord> = results.iter().map(|one| &one.record).collect();
    sources.retain(|record| Setup::of(record) == *setup && record.scenario.sha256 == newest.scenario.sha256);
    sources.retain(|record| !has_parameters(record));
    if sources.is_empty() {
        return Err("no mix with the same data was measured");
    }
    sources.retain(|record| record.strategies.iter().filter(|one| one.is_predicted == Some(true)).count() > 1);
    if sources.is_empty() {
        return Err(UNPREDICTED);
    }
    sources.sort_by_key(|record| record.mix.name != "default");
    let found = sources.iter().find_map(|record| {
        let times = times(record, strategies, weights);
        let judged = times.iter().flatten().filter(|time| !time.is_unsafe).count();
        (judged > 1).then(|| (plain(&record.mix.name), times))
    });
    found.ok_or("has operations that were not measured")
}

/// Whether the measured mix has data of its own, as far as its scenario is known.
fn has_parameters(record: &PublishedRecord) -> bool {
    let is_it = |mix: &&PublishedMix| mix.name == record.mix.name;
    record.scenario.mixes.iter().find(is_it).is_none_or(|mix| mix.has_parameters)
}

/// The time of a call of a mix with each strategy; `None` where not every operation was measured, and for a strategy that own
/// times do not predict.
fn times(
    record: &PublishedRecord,
    strategies: &[MatrixStrategy],
    weights: &[(String, f64)],
) -> Vec<Option<PublishedNumber>> {
    let operations: Vec<String> = record.operations.iter().map(|one| one.name.clone()).collect();
    let weights: Vec<(String, f64)> = weights.iter().map(|(name, weight)| (plain(name), *weight)).collect();
    let is_known = weights.iter().all(|(name, weight)| *weight <= 0.0 || operations.contains(name));
    let own = |place: usize| record.operations.iter().map(|one| one.own_times.get(place).copied().flatten()).collect();
    let estimate = MixEstimate {
        times: (0..record.strategies.len()).map(own).collect(),
        shares: stats::shares(&operations, &weights),
        noise: 0.0,
    };
    let time = |strategy: &MatrixStrategy| {
        let is_it = |one: &PublishedStrategy| plain(&one.name) == strategy.name && one.is_predicted == Some(true);
        let place = record.strategies.iter().position(is_it).filter(|_| is_known)?;
        let value = estimate.mean(place).filter(|time| time.is_finite() && *time > 0.0)?;
        let time = MetricRecord { value, ..MetricRecord::default() };
        Some(PublishedNumber { record: time, is_unsafe: record.strategies[place].is_unsafe, is_quoted: false })
    };
    strategies.iter().map(time).collect()
}
