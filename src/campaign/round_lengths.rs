//! How much the rounds of a run measure: from the settings, else from a pilot.

use crate::engine::{CALLS_PER_CLIENT, Event, Experiment, OwnCalls, PartCalls, RoundPlan, RunError};
use crate::results::{LoadModel, Part, RunRecord, RunSettings, in_percent};
use crate::server::Target;
use crate::stats::DIRTY_SHARE;

/// The longest pilot per strategy, in seconds.
const PILOT_SECONDS: f64 = 1.0;

/// How much longer a stretch is than the rarest operation needs on average: chance may draw it less often.
const STRETCH: f64 = 1.2;

/// How many times as many calls as the rarest operation's are measured of one that has more in the stretch. They are made
/// in any case.
const MOST_OWN_CALLS: u64 = 3;

/// Calls of which a little more than 10 are beyond the 99th percentile.
const CALLS_FOR_P99: f64 = 1_100.0;

/// How much longer than planned calls with open load may take, to be enough for a 99th percentile.
const LONGER: f64 = 2.0;

/// The share (0 to 1) of the time of a part with open load that the windows of a curve take together. The rest is for the flushes
/// between them.
const CURVE_SHARE: f64 = 0.75;

/// Arms whose rate is this many times that of the next slower one are not held back by it.
const MUCH_FASTER: f64 = 5.0;

/// The share of a slice that the longest calls of the slowest strategy (99.9th percentile) may take.
const TAIL_SHARE: f64 = 0.02;

/// Plans the parts of a run's rounds, and writes the plan into its record.
///
/// # Errors
/// When the pilot fails.
pub(super) async fn plan_rounds<T: Target, G: Target + 'static>(
    experiment: &Experiment<'_, T, G>,
    record: &mut RunRecord,
) -> Result<RoundPlan, RunError> {
    let is_planned = record.settings.calls.is_some() && record.settings.planned_rate().is_some();
    let pilot_seconds = record.settings.preset.length().seconds.min(PILOT_SECONDS);
    let pilot = if is_planned { None } else { Some(experiment.pilot(pilot_seconds).await?) };
    let settings = &mut record.settings;
    // Settings of an earlier run may have them in another order.
    settings.parts.sort_unstable();
    let preset = settings.preset.length();
    let seconds = settings.duration.unwrap_or(preset.seconds);
    let arms = || experiment.plan.arms.iter().map(|arm| arm.name.as_str());
    if let Some(pilot) = &pilot {
        settings.pilot = arms().map(str::to_owned).zip(pilot.rates.iter().copied()).collect();
        let is_safe: Vec<bool> = experiment.plan.arms.iter().map(|arm| !arm.is_unsafe).collect();
        if let LoadModel::Open { rate: 0.0, arrivals } = settings.load {
            settings.load = LoadModel::Open { rate: middle_rate(&pilot.rates, &is_safe), arrivals };
        }
    }
    let rate = settings.planned_rate().unwrap_or(1.0);
    // One of the two is known: without a number of calls there was a pilot.
    if let Some(pilot) = pilot.as_ref().filter(|_| settings.calls.is_none()) {
        let all = saturation_calls(&pilot.rates, seconds, CALLS_PER_CLIENT * settings.clients as u64);
        let most = all.iter().copied().max();
        let fewer = arms().zip(all).filter(|(_, calls)| Some(*calls) < most);
        settings.fewer_calls = fewer.map(|(name, calls)| (name.to_owned(), calls)).collect();
        settings.calls = most;
    }
    let calls = settings.calls.unwrap_or(1);
    if let (Some(pilot), None) = (&pilot, settings.planned_seconds) {
        let needed = arms()
            .zip(&pilot.rates)
            .map(|(arm, rate)| settings.calls_of(Part::Saturation, arm).unwrap_or(calls) as f64 / rate);
        settings.planned_seconds = Some(needed.fold(seconds, f64::max));
    }
    let least = settings.fewer_calls.values().copied().min().unwrap_or(calls);
    let is_measured = |settings: &RunSettings, part: Part| settings.parts.contains(&part);
    let loads = Part::CURVE.into_iter().filter(|part| is_measured(settings, *part)).count();
    let at_rate = settings.rate_calls.unwrap_or_else(|| of_window(calls_at_rate(rate, seconds), loads));
    let warmup = settings.warmup_calls.unwrap_or_else(|| preset.warmup_calls(least));
    let stretch =
        settings.own_calls.unwrap_or_else(|| stretch(experiment.plan.mix.least_share(), preset.own_calls).min(least));
    (settings.calls, settings.rate_calls, settings.own_calls, settings.warmup_calls) =
        (Some(calls), Some(at_rate), Some(stretch), Some(warmup));
    if let Some(pilot) = &pilot {
        settings.slices = settings.slices.min(slices_for_tail(seconds, pilot.tail));
    }
    let rate_seconds = at_rate as f64 / rate;
    let own = OwnCalls { stretch, measured: preset.own_calls * MOST_OWN_CALLS };
    let open = |part: Part| {
        let calls = settings.calls_in(part).filter(|_| is_measured(settings, part))?;
        Some(PartCalls { calls, seconds: Some(rate_seconds) })
    };
    let plan = RoundPlan {
        warmup,
        own: Some(own).filter(|_| is_measured(settings, Part::Own)),
        saturation: Some(PartCalls { calls, seconds: settings.planned_seconds })
            .filter(|_| is_measured(settings, Part::Saturation)),
        curve: Part::CURVE.map(open),
    };
    let calls_of = |arm: &str, part: Part| plan.calls(part).map_or(0, |calls| settings.fewer(part, arm, calls));
    let at_saturation: Vec<u64> = arms().map(|arm| calls_of(arm, Part::Saturation)).collect();
    let in_round: Vec<u64> =
        arms().map(|arm| warmup + plan.parts().map(|part| calls_of(arm, part)).sum::<u64>()).collect();
    let rates = pilot.as_ref().map_or_else(Vec::new, |pilot| pilot.rates.clone());
    let is_shared = experiment.servers.are_shared() && experiment.plan.arms.len() > 1;
    if let Some(pilot) = pilot.filter(|_| is_shared && settings.isolated.is_none()) {
        let dirty = in_round.iter().zip(&pilot.dirty).map(|(calls, dirty)| *calls as f64 * dirty).sum();
        settings.isolated = cache_pressure(pilot.bytes, dirty, record.server.cache_bytes);
    }
    let rate = plan.of(Part::Rate).map(|_| rate);
    experiment.observer.event(&Event::Planned { plan, rate, saturation: &at_saturation, pilot: &rates });
    Ok(plan)
}

/// The calls of every arm at saturation, from their rates: those that the slowest makes in this time. Where an arm is much
/// faster than the next slower one, it and the faster ones make those that it makes itself. None makes fewer than `fewest`:
/// of slow calls so few would end in the time that clients without a next call would be a large part of the window.
fn saturation_calls(rates: &[f64], seconds: f64, fewest: u64) -> Vec<u64> {
    let mut order: Vec<usize> = (0..rates.len()).collect();
    order.sort_by(|a, b| rates[*a].total_cmp(&rates[*b]));
    let (mut calls, mut slowest, mut last) = (vec![0; rates.len()], 0.0, 0.0);
    for arm in order {
        if rates[arm] > last * MUCH_FASTER {
            slowest = rates[arm];
        }
        last = rates[arm];
        calls[arm] = ((slowest * seconds).ceil() as u64).max(fewest);
    }
    calls
}

/// The calls per second of [`Part::Rate`]: its share of what the best safe arm made in the pilot, so that slower arms do not move it.
fn middle_rate(rates: &[f64], is_safe: &[bool]) -> f64 {
    let safe = rates.iter().zip(is_safe).filter(|(_, is_safe)| **is_safe).map(|(rate, _)| *rate);
    let best = safe.reduce(f64::max).or_else(|| rates.iter().copied().reduce(f64::max)).unwrap_or(0.0);
    three_digits(best * Part::Rate.share().unwrap_or(1.0))
}

/// The calls that fill the time of a part with open load: enough for a 99th percentile per round, unless they took too long.
fn calls_at_rate(rate: f64, seconds: f64) -> u64 {
    (rate * seconds).max(CALLS_FOR_P99.min(rate * seconds * LONGER)).ceil() as u64
}

/// The calls of [`Part::Rate`] where the time of its calls is divided among this many loads.
fn of_window(calls: u64, loads: usize) -> u64 {
    let share = if loads > 1 { CURVE_SHARE / loads as f64 } else { 1.0 };
    (calls as f64 * share).ceil() as u64
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
fn cache_pressure(data: u64, dirty: f64, cache: Option<u64>) -> Option<String> {
    let (cache, megabytes) = (cache?, |bytes: f64| bytes as u64 / 1_000_000);
    let of_cache = format!("of the server's cache of {} MB", megabytes(cache as f64));
    if data > cache / 2 {
        let data = megabytes(data as f64);
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

    fn pressure(data: u64, dirty: f64) -> Option<String> {
        cache_pressure(data, dirty, Some(1_000_000_000))
    }

    #[test]
    fn much_faster_arms_are_not_held_back() {
        assert_eq!(saturation_calls(&[101.0, 25.3, 100.0, 500.0], 1.5, 1), [38; 4]);
        assert_eq!(saturation_calls(&[510.0, 20.0, 1_000.0, 30.0], 1.5, 1), [765, 30, 765, 30]);
        assert_eq!(saturation_calls(&[1_000.0, 1.0, 10.0], 2.0, 1), [2_000, 2, 20]);
        assert_eq!(saturation_calls(&[7.0], 2.0, 1), [14]);
    }

    #[test]
    fn a_curve_takes_no_longer_than_a_single_load() {
        assert_eq!((of_window(1_200, 1), of_window(1_200, 0)), (1_200, 1_200));
        // Windows at 0.2, 0.5 and 0.8 of the capacity are equally long.
        assert_eq!(of_window(1_200, 3), 300);
    }

    #[test]
    fn rates_follow_the_best_safe_arm_alone() {
        let all_safe = |rates: &[f64]| middle_rate(rates, &vec![true; rates.len()]);
        assert_eq!(all_safe(&[2_634.0, 4_882.0, 881.0]), 2_440.0);
        assert_eq!(all_safe(&[2_634.0, 4_882.0]), 2_440.0, "without the slowest");
        assert_eq!(middle_rate(&[2_000.0, 9_000.0], &[true, false]), 1_000.0, "an unsafe one may be fast");
        assert_eq!(middle_rate(&[9_000.0], &[false]), 4_500.0);
    }

    #[test]
    fn overloaded_arms_make_fewer_calls_of_equally_long_windows() {
        let load = LoadModel::Open { rate: 2_440.0, arrivals: crate::results::Arrivals::Poisson };
        let pilot = |arms: &[(&str, f64)]| arms.iter().map(|(arm, rate)| ((*arm).to_owned(), *rate)).collect();
        let all = [("embedded", 2_634.0), ("ref", 4_882.0), ("list", 881.0)];
        let settings = RunSettings { load, rate_calls: Some(1_220), pilot: pilot(&all), ..RunSettings::default() };
        let calls = |settings: &RunSettings, arm: &str| Part::CURVE.map(|part| settings.calls_of(part, arm).unwrap());
        assert_eq!(calls(&settings, "ref"), [488, 1_220, 1_952], "half a second each");
        assert_eq!(calls(&settings, "embedded"), [488, 1_220, 1_317], "2,634 of 3,904 calls per second");
        assert_eq!(calls(&settings, "list"), [441, 610, 976], "and at least half, which are given up in time");
        let without = RunSettings { pilot: pilot(&all[..2]), ..settings.clone() };
        assert_eq!(calls(&without, "embedded"), calls(&settings, "embedded"));
        let unknown = RunSettings { pilot: pilot(&[]), ..settings };
        assert_eq!(calls(&unknown, "list"), [488, 1_220, 1_952], "nothing is known without a pilot");
    }

    #[test]
    fn every_client_has_several_calls_however_slow_they_are() {
        assert_eq!(saturation_calls(&[0.5, 0.4], 1.5, 64), [64; 2]);
        assert_eq!(saturation_calls(&[1_000.0, 1.0], 1.5, 64), [1_500, 64]);
    }

    #[test]
    fn strategies_that_leave_much_to_write_are_isolated() {
        assert_eq!((pressure(0, 50e6), cache_pressure(0, f64::MAX, None)), (None, None));
        let reason = pressure(0, 51e6).unwrap();
        assert!(reason.contains("leave 51 MB to write, more than 5 % of the server's cache of 1000 MB"), "{reason}");
    }

    #[test]
    fn strategies_that_fill_half_of_the_cache_are_isolated() {
        assert_eq!((pressure(500_000_000, 0.0), cache_pressure(u64::MAX, 0.0, None)), (None, None));
        let reason = pressure(501_000_000, 0.0).unwrap();
        assert!(reason.contains("take 501 MB") && reason.contains("cache of 1000 MB"), "{reason}");
    }
}
