//! How much every window of a run measures: as its record says, else by a pilot.

use crate::engine::{Event, Experiment, RunError, Window};
use crate::results::{LoadModel, RunRecord};
use crate::server::Target;

use super::output;
use super::preset::Preset;

/// The longest pilot per strategy, in seconds.
const PILOT_SECONDS: f64 = 1.0;

/// Plans the windows of a run, and notes the plan in its record.
///
/// # Errors
/// When the pilot cannot go on.
pub async fn plan<T: Target, G: Target + 'static>(
    preset: Preset,
    experiment: &mut Experiment<'_, T, G>,
    record: &mut RunRecord,
) -> Result<Window, RunError> {
    let window = match record.settings.load {
        LoadModel::Open { .. } => at_rate(preset, experiment, record).await?,
        LoadModel::Closed => match record.settings.duration {
            Some(seconds) => return Ok(Window::Timed { seconds, warmup: preset.warmup_seconds }),
            None => at_once(preset, experiment, record).await?,
        },
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

/// A window of calls that follow each other: as many as the slowest strategy makes in the preset's seconds.
async fn at_once<T: Target, G: Target + 'static>(
    preset: Preset,
    experiment: &Experiment<'_, T, G>,
    record: &mut RunRecord,
) -> Result<Window, RunError> {
    let calls = match record.settings.calls {
        Some(calls) => calls,
        None => {
            let rate = pilot(preset, experiment, record).await?;
            record.settings.planned_seconds = Some(preset.seconds);
            (rate * preset.seconds).ceil() as u64
        }
    };
    let warmup = record.settings.warmup_calls.unwrap_or_else(|| preset.warmup_calls(calls));
    Ok(Window::Calls { calls, warmup, seconds: record.settings.planned_seconds })
}

/// A window of calls that fall due at a rate: the record's, or half of what the slowest strategy can do.
async fn at_rate<T: Target, G: Target + 'static>(
    preset: Preset,
    experiment: &mut Experiment<'_, T, G>,
    record: &mut RunRecord,
) -> Result<Window, RunError> {
    let LoadModel::Open { rate: wanted, arrivals } = record.settings.load else {
        return at_once(preset, experiment, record).await;
    };
    let rate = if wanted > 0.0 { wanted } else { three_digits(pilot(preset, experiment, record).await? / 2.0) };
    record.settings.load = LoadModel::Open { rate, arrivals };
    experiment.settings.load = record.settings.load;
    let seconds = record.settings.planned_seconds.unwrap_or(preset.seconds);
    let calls = record.settings.calls.unwrap_or((rate * seconds).ceil() as u64);
    let warmup = record.settings.warmup_calls.unwrap_or((rate * preset.warmup_seconds).ceil() as u64);
    record.settings.planned_seconds = Some(calls as f64 / rate);
    Ok(Window::Calls { calls, warmup, seconds: record.settings.planned_seconds })
}

/// The calls per second of the slowest strategy. Where their data would push each other out of the cache, the strategies
/// are made to run alone from here on.
async fn pilot<T: Target, G: Target + 'static>(
    preset: Preset,
    experiment: &Experiment<'_, T, G>,
    record: &mut RunRecord,
) -> Result<f64, RunError> {
    let pilot = experiment.pilot(preset.seconds.min(PILOT_SECONDS)).await?;
    if record.settings.isolated.is_none() && experiment.plan.arms.len() > 1 {
        record.settings.isolated = crowded(pilot.bytes, record.server.cache_bytes);
        record.settings.isolated.iter().for_each(|reason| output::tell(&format!("isolated: {reason}\n")));
    }
    Ok(pilot.rate)
}

/// Why arms must run alone: together they would push each other out of the server's cache.
fn crowded(bytes: u64, cache: Option<u64>) -> Option<String> {
    let cache = cache.filter(|cache| bytes > cache / 2)?;
    let megabytes = |bytes: u64| bytes / 1_000_000;
    Some(format!(
        "the strategies' data and indexes are {} MB together, more than half of the server's cache of {} MB",
        megabytes(bytes),
        megabytes(cache)
    ))
}

/// A number with three significant digits, so that it can be said again.
fn three_digits(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_that_fill_more_than_half_of_the_cache_run_alone() {
        assert_eq!((crowded(500, Some(1_000)), crowded(u64::MAX, None)), (None, None));
        let reason = crowded(501_000_000, Some(1_000_000_000)).unwrap();
        assert!(reason.contains("501 MB together") && reason.contains("cache of 1000 MB"), "{reason}");
    }
}
