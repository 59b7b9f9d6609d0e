//! How much of a run is done, and how long the rest takes.

use std::time::Duration;

use crate::engine::{RoundPlan, RunPhase};
use crate::record::Part;

/// The weight of the plan against what rounds really take, in rounds: at first there is the plan alone.
const PLAN: f64 = 0.1;

/// What one strategy does in every round.
#[derive(Debug)]
struct Task {
    arm: usize,
    phase: RunPhase,
    /// The expected time.
    seconds: f64,
    /// The share of it (0 to 1) that is done in this round.
    done: f64,
}

/// The expected work of a round. What is not planned (flushes, inspections) shows in the time of what is.
#[derive(Debug, Default)]
pub(super) struct Work {
    tasks: Vec<Task>,
    /// Whether seconds come from a pilot. Otherwise they are only weights.
    is_measured: bool,
}

impl Work {
    /// From the plan of a round. `middle` is the rate of [`Part::Rate`] in calls per second, if that is measured; the others are of every
    /// strategy: its rate in the pilot (nothing without one), its calls at saturation, and the seconds that loading took in the pilot.
    pub(super) fn new(plan: &RoundPlan, middle: Option<f64>, pilot: &[f64], saturation: &[u64], load: &[f64]) -> Work {
        // Without a pilot, weights: a rate that nobody named is half of the best strategy's.
        let usual = middle.map_or(1.0, |rate| rate * 2.0);
        let task = |arm: usize, saturation: u64| {
            let rate = pilot.get(arm).copied().filter(|rate| *rate > 0.0).unwrap_or(usual);
            let time = |calls: u64| calls as f64 / rate;
            let open = Part::CURVE.map(|part| {
                let seconds = plan.of(part).map(|part| part.seconds.unwrap_or_else(|| time(part.calls)));
                (RunPhase::Measure(part), seconds)
            });
            let phases = [
                (RunPhase::Load, load.get(arm).copied()),
                (RunPhase::WarmUp, Some(time(plan.warmup))),
                (RunPhase::Measure(Part::Own), plan.own.map(|own| time(own.stretch))),
                (RunPhase::Measure(Part::Saturation), plan.saturation.map(|_| time(saturation))),
            ];
            let planned = phases.into_iter().chain(open).filter_map(|(phase, seconds)| Some((phase, seconds?)));
            planned.map(move |(phase, seconds)| Task { arm, phase, seconds, done: 0.0 }).collect::<Vec<_>>()
        };
        let tasks = saturation.iter().enumerate().flat_map(|(arm, calls)| task(arm, *calls)).collect();
        Work { tasks, is_measured: !pilot.is_empty() }
    }

    /// A strategy has done this share of a phase.
    pub(super) fn set(&mut self, arm: usize, phase: RunPhase, share: f64) {
        if let Some(task) = self.tasks.iter_mut().find(|task| (task.arm, task.phase) == (arm, phase)) {
            task.done = task.done.max(share.clamp(0.0, 1.0));
        }
    }

    /// A round is complete.
    pub(super) fn end_round(&mut self) {
        self.tasks.iter_mut().for_each(|task| task.done = 0.0);
    }

    /// The expected seconds of a round, or 1 if nothing is planned.
    fn round(&self) -> f64 {
        let seconds: f64 = self.tasks.iter().map(|task| task.seconds).sum();
        if seconds > 0.0 { seconds } else { 1.0 }
    }

    /// The share (0 to 1) of this round, or of a part of it, that all strategies have done.
    pub(super) fn share(&self, phase: Option<RunPhase>) -> f64 {
        let tasks = || self.tasks.iter().filter(|task| phase.is_none_or(|phase| task.phase == phase));
        let seconds: f64 = tasks().map(|task| task.seconds).sum();
        if seconds > 0.0 { tasks().map(|task| task.seconds * task.done).sum::<f64>() / seconds } else { 0.0 }
    }

    /// The time that `rounds` rounds need after `finished` of them and a share of the next have taken `elapsed`; `None` as long
    /// as nothing is known.
    pub(super) fn left(&self, rounds: u64, finished: u64, elapsed: Duration) -> Option<Duration> {
        let done = finished as f64 + self.share(None);
        let plan = if self.is_measured { PLAN } else { 0.0 };
        if !self.is_measured && finished == 0 {
            return None;
        }
        let per_round = (plan * self.round() + elapsed.as_secs_f64()) / (plan + done);
        Duration::try_from_secs_f64((rounds as f64 - done) * per_round).ok()
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::{OwnCalls, PartCalls};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn plan() -> RoundPlan {
        let plan = RoundPlan::saturation(400, 100).at_rate(PartCalls { calls: 500, seconds: Some(10.0) });
        RoundPlan { own: Some(OwnCalls { stretch: 200, measured: 50 }), ..plan }
    }

    /// Two strategies, of 100 and 200 calls per second: 19 and 16.5 s per round, and 1 s each to load.
    fn work(pilot: &[f64]) -> Work {
        Work::new(&plan(), Some(50.0), pilot, &[400, 400], &[1.0, 1.0])
    }

    #[test]
    fn time_left_is_planned_before_the_first_round_is_complete() {
        let work = work(&[100.0, 200.0]);
        assert_eq!(work.round(), 1.0 + 1.0 + 2.0 + 10.0 + 4.0 + 1.0 + 0.5 + 1.0 + 10.0 + 2.0);
        assert_eq!(work.left(4, 0, Duration::ZERO), Some(SECOND.mul_f64(4.0 * 32.5)));
    }

    #[test]
    fn time_left_follows_what_rounds_take() {
        let mut work = work(&[100.0, 200.0]);
        for arm in [0, 1] {
            work.set(arm, RunPhase::Measure(Part::Rate), 0.5);
        }
        assert_eq!((work.share(None), work.share(Some(RunPhase::Measure(Part::Rate)))), (10.0 / 32.5, 0.5));
        let early = work.left(4, 0, SECOND * 20).unwrap();
        assert!(early > SECOND * 150 && early < SECOND * 240, "twice as slow as planned: {early:?}");
        work.end_round();
        assert_eq!(work.share(None), 0.0);
        let late = work.left(101, 100, SECOND * 6_500).unwrap();
        assert!((late.as_secs_f64() - 65.0).abs() < 0.1, "{late:?}");
        assert_eq!(work.left(4, 4, SECOND * 260), Some(Duration::ZERO));
    }

    #[test]
    fn without_a_pilot_nothing_is_known_before_the_first_round_is_complete() {
        let mut work = work(&[]);
        work.set(0, RunPhase::WarmUp, 1.0);
        assert!(work.share(None) > 0.0);
        assert_eq!(work.left(4, 0, SECOND * 3), None);
        work.end_round();
        assert_eq!(work.left(4, 1, SECOND * 10), Some(SECOND * 30));
        assert_eq!(Work::default().left(5, 2, SECOND * 10), Some(SECOND * 15), "nothing planned at all");
    }
}
