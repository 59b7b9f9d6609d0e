//! The length of every window: from the settings, else from a pilot.

use crate::engine::{Event, Experiment, RunError, Window};
use crate::results::{Arrivals, LoadModel, RunRecord, ServerSharing};
use crate::server::Target;

use super::super::output;

/// The longest pilot per strategy, in seconds.
const PILOT_SECONDS: f64 = 1.0;

/// Plans the windows of a run, and writes the plan into its record.
///
/// # Errors
/// When the pilot fails.
pub async fn plan<T: Target, G: Target + 'static>(
    experiment: &Experiment<'_, T, G>,
    record: &mut RunRecord,
) -> Result<Window, RunError> {
    let window = match (record.settings.load, record.settings.duration) {
        (LoadModel::Open { rate, arrivals }, _) => open_window(experiment, record, rate, arrivals).await?,
        (LoadModel::Closed, None) => closed_window(experiment, record).await?,
        (LoadModel::Closed, Some(seconds)) => {
            return Ok(Window::Timed { seconds, warmup: record.settings.preset.length().warmup_seconds });
        }
    };
    if let Window::Calls { calls, warmup, .. } = window {
        (record.settings.calls, record.settings.warmup_calls) = (Some(calls), Some(warmup));
        let rate = match record.settings.load {
            LoadModel::Open { rate, .. } => Some(rate),
            LoadModel::Closed => None,
        };
        experiment.observer.event(&Event::Planned { calls, warmup, rate });
    }
    Ok(window)
}

/// Plans closed load: as many calls as the slowest strategy makes in the preset's seconds.
async fn closed_window<T: Target, G: Target + 'static>(
    experiment: &Experiment<'_, T, G>,
    record: &mut RunRecord,
) -> Result<Window, RunError> {
    let preset = record.settings.preset.length();
    let calls = match record.settings.calls {
        Some(calls) => calls,
        None => {
            let rate = pilot(experiment, record).await?;
            record.settings.planned_seconds = Some(preset.seconds);
            (rate * preset.seconds).ceil() as u64
        }
    };
    let warmup = record.settings.warmup_calls.unwrap_or_else(|| preset.warmup_calls(calls));
    Ok(Window::Calls { calls, warmup, seconds: record.settings.planned_seconds })
}

/// Plans open load: at the given rate, or for a rate of 0 at half of what the slowest strategy can do.
async fn open_window<T: Target, G: Target + 'static>(
    experiment: &Experiment<'_, T, G>,
    record: &mut RunRecord,
    given: f64,
    arrivals: Arrivals,
) -> Result<Window, RunError> {
    let preset = record.settings.preset.length();
    let rate = if given > 0.0 { given } else { three_digits(pilot(experiment, record).await? / 2.0) };
    record.settings.load = LoadModel::Open { rate, arrivals };
    let seconds = record.settings.planned_seconds.unwrap_or(preset.seconds);
    let calls = record.settings.calls.unwrap_or((rate * seconds).ceil() as u64);
    let warmup = record.settings.warmup_calls.unwrap_or((rate * preset.warmup_seconds).ceil() as u64);
    record.settings.planned_seconds = Some(calls as f64 / rate);
    Ok(Window::Calls { calls, warmup, seconds: record.settings.planned_seconds })
}

/// Returns the calls per second of the slowest strategy. Isolates the strategies if their data do not fit into the cache
/// together.
async fn pilot<T: Target, G: Target + 'static>(
    experiment: &Experiment<'_, T, G>,
    record: &mut RunRecord,
) -> Result<f64, RunError> {
    let pilot = experiment.pilot(record.settings.preset.length().seconds.min(PILOT_SECONDS)).await?;
    let is_shared = record.server.servers == ServerSharing::Shared;
    if is_shared && record.settings.isolated.is_none() && experiment.plan.arms.len() > 1 {
        record.settings.isolated = cache_pressure(pilot.bytes, record.server.cache_bytes);
        record.settings.isolated.iter().for_each(|reason| output::message(&format!("isolated: {reason}\n")));
    }
    Ok(pilot.rate)
}

/// Returns why arms must be isolated: together they would evict each other from the server's cache.
fn cache_pressure(bytes: u64, cache: Option<u64>) -> Option<String> {
    let cache = cache.filter(|cache| bytes > cache / 2)?;
    let megabytes = |bytes: u64| bytes / 1_000_000;
    Some(format!(
        "data and indexes of all strategies take {} MB, more than half of the server's cache of {} MB",
        megabytes(bytes),
        megabytes(cache)
    ))
}

/// Rounds to three significant digits, so that the rate can be typed again.
fn three_digits(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_that_fill_half_of_the_cache_are_isolated() {
        assert_eq!((cache_pressure(500, Some(1_000)), cache_pressure(u64::MAX, None)), (None, None));
        let reason = cache_pressure(501_000_000, Some(1_000_000_000)).unwrap();
        assert!(reason.contains("take 501 MB") && reason.contains("cache of 1000 MB"), "{reason}");
    }
}
