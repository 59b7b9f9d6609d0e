//! What the rounds of a run measure: from the settings, else from a pilot.

use crate::engine::{Event, Experiment, OwnCalls, PartCalls, Pilot, RoundPlan, RunError};
use crate::results::{LoadModel, Part, RunRecord, in_percent};
use crate::server::Target;
use crate::stats::DIRTY_SHARE;

use super::super::output;

/// The longest pilot per strategy, in seconds.
const PILOT_SECONDS: f64 = 1.0;

/// How much longer a stretch is than the rarest operation needs on average: chance may draw it less often.
const STRETCH: f64 = 1.2;

/// How many times as many calls as the rarest operation's are measured of one that has more in the stretch. They are made
/// in any case.
const MOST_OWN_CALLS: u64 = 3;

/// Calls of which a little more than 10 are beyond the 99th percentile.
const CALLS_FOR_P99: f64 = 1_100.0;

/// How much longer than planned the calls at the common rate may take, to be enough for a 99th percentile.
const LONGER: f64 = 2.0;

/// The share of a slice that the longest calls of the slowest strategy (99.9th percentile) may take.
const TAIL_SHARE: f64 = 0.02;

/// Plans the parts of a run's rounds, and writes the plan into its record.
///
/// # Errors
/// When the pilot fails.
pub async fn plan<T: Target, G: Target + 'static>(
    experiment: &Experiment<'_, T, G>,
    record: &mut RunRecord,
) -> Result<RoundPlan, RunError> {
    let is_planned = record.settings.calls.is_some() && record.settings.planned_rate().is_some();
    let pilot_seconds = record.settings.preset.length().seconds.min(PILOT_SECONDS);
    let pilot = if is_planned { None } else { Some(experiment.pilot(pilot_seconds).await?) };
    let settings = &mut record.settings;
    let preset = settings.preset.length();
    let seconds = settings.duration.unwrap_or(preset.seconds);
    let slowest = pilot.map(|pilot| pilot.rate);
    if let (LoadModel::Open { rate: 0.0, arrivals }, Some(slowest)) = (settings.load, slowest) {
        settings.load = LoadModel::Open { rate: three_digits(slowest / 2.0), arrivals };
    }
    if slowest.is_some() && settings.planned_seconds.is_none() {
        settings.planned_seconds = Some(seconds);
    }
    let rate = settings.planned_rate().unwrap_or(1.0);
    // One of the two is known: without a number of calls there was a pilot.
    let calls = settings.calls.or(slowest.map(|slowest| (slowest * seconds).ceil() as u64)).unwrap_or(1);
    let at_rate = settings.rate_calls.unwrap_or(calls_at_rate(rate, seconds));
    let warmup = settings.warmup_calls.unwrap_or_else(|| preset.warmup_calls(calls));
    let stretch =
        settings.own_calls.unwrap_or_else(|| stretch(experiment.plan.mix.least_share(), preset.own_calls).min(calls));
    (settings.calls, settings.rate_calls, settings.own_calls, settings.warmup_calls) =
        (Some(calls), Some(at_rate), Some(stretch), Some(warmup));
    if let Some(pilot) = pilot {
        settings.slices = settings.slices.min(slices_for_tail(seconds, pilot.tail));
    }
    let is_measured = |part: Part| settings.parts.contains(&part);
    let rate_seconds = at_rate as f64 / rate;
    let plan = RoundPlan {
        warmup,
        own: is_measured(Part::Own).then_some(OwnCalls { stretch, measured: preset.own_calls * MOST_OWN_CALLS }),
        rate: is_measured(Part::Rate).then_some(PartCalls { calls: at_rate, seconds: Some(rate_seconds) }),
        saturation: is_measured(Part::Saturation).then_some(PartCalls { calls, seconds: settings.planned_seconds }),
    };
    let is_shared = experiment.servers.are_shared() && experiment.plan.arms.len() > 1;
    if let Some(pilot) = pilot.filter(|_| is_shared && settings.isolated.is_none()) {
        settings.isolated = cache_pressure(&pilot, plan.calls(), record.server.cache_bytes);
        settings.isolated.iter().for_each(|reason| output::message(&format!("isolated: {reason}\n")));
    }
    let rate = plan.rate.map(|_| rate);
    experiment.observer.event(&Event::Planned { plan, rate });
    Ok(plan)
}

/// The calls at the common rate: enough for a 99th percentile per round, unless they took too long.
fn calls_at_rate(rate: f64, seconds: f64) -> u64 {
    (rate * seconds).max(CALLS_FOR_P99.min(rate * seconds * LONGER)).ceil() as u64
}

/// The calls of the mix in which the rarest operation has about this many.
fn stretch(least_share: f64, own_calls: u64) -> u64 {
    (own_calls as f64 / least_share * STRETCH).ceil() as u64
}

/// The most slices of a window for which the longest calls, which are awaited at the end of each, stay a small part.
fn slices_for_tail(seconds: f64, tail: f64) -> u64 {
    if tail > 0.0 { ((seconds * TAIL_SHARE / tail) as u64).max(1) } else { u64::MAX }
}

/// Returns why arms that share a server must be isolated: together they would evict each other from its cache, or leave each
/// other their bytes to write.
fn cache_pressure(pilot: &Pilot, calls: u64, cache: Option<u64>) -> Option<String> {
    let (cache, megabytes) = (cache?, |bytes: f64| bytes as u64 / 1_000_000);
    let of_cache = format!("of the server's cache of {} MB", megabytes(cache as f64));
    let dirty = pilot.dirty * calls as f64;
    if pilot.bytes > cache / 2 {
        let data = megabytes(pilot.bytes as f64);
        Some(format!("data and indexes of all strategies take {data} MB, more than half {of_cache}"))
    } else if dirty > cache as f64 * DIRTY_SHARE {
        let (left, share) = (megabytes(dirty), in_percent(DIRTY_SHARE));
        Some(format!("the calls of all strategies in a round leave {left} MB to write, more than {share} % {of_cache}"))
    } else {
        None
    }
}

/// Rounds to three significant digits, so that the rate can be typed again.
fn three_digits(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PILOT: Pilot = Pilot { rate: 1.0, bytes: 0, dirty: 0.0, tail: 0.0 };

    fn pressure(pilot: Pilot, calls: u64) -> Option<String> {
        cache_pressure(&pilot, calls, Some(1_000_000_000))
    }

    #[test]
    fn strategies_that_leave_much_to_write_are_isolated() {
        let pilot = Pilot { dirty: 10_000.0, ..PILOT };
        assert_eq!((pressure(pilot, 5_000), cache_pressure(&pilot, u64::MAX, None)), (None, None));
        let reason = pressure(pilot, 5_100).unwrap();
        assert!(reason.contains("leave 51 MB to write, more than 5 % of the server's cache of 1000 MB"), "{reason}");
    }

    #[test]
    fn strategies_that_fill_half_of_the_cache_are_isolated() {
        let with = |bytes| Pilot { bytes, ..PILOT };
        assert_eq!((pressure(with(500_000_000), 1), cache_pressure(&with(u64::MAX), 1, None)), (None, None));
        let reason = pressure(with(501_000_000), 1).unwrap();
        assert!(reason.contains("take 501 MB") && reason.contains("cache of 1000 MB"), "{reason}");
    }
}
