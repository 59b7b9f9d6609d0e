//! What is known of a run so far.

use std::time::Duration;

use crate::engine::{Event, RoundPlan, RunPhase};
use crate::record::Part;
use crate::report::count;

use super::strategy::{StrategyProgress, Tally};
use super::work::Work;

/// The events of a run so far.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) rounds: u64,
    pub(super) strategies: Vec<StrategyProgress>,
    /// What happens before the pilot.
    pub(super) preparation: String,
    /// `None` in the pilot.
    pub(super) round: Option<u64>,
    pub(super) phase: Option<RunPhase>,
    pub(super) arm: String,
    pub(super) detail: String,
    /// What every round measures.
    pub(super) plan: Option<RoundPlan>,
    work: Work,
    /// Rounds that were completed here, and the first of them, from 0: a run may be resumed.
    finished: u64,
    first: u64,
    /// When the first round started.
    started: Option<Duration>,
    /// When loading started in the pilot, and the seconds that it took every strategy.
    loading: Option<Duration>,
    load: Vec<f64>,
}

impl State {
    pub(super) fn take(&mut self, event: &Event<'_>, elapsed: Duration) {
        match event {
            Event::Started { rounds, arms } => {
                self.rounds = *rounds;
                self.strategies = arms.iter().map(|arm| StrategyProgress::new(arm)).collect();
                self.load = vec![0.0; arms.len()];
            }
            Event::Phase { round, arm, phase } => self.enter(*round, *phase, arm, elapsed),
            Event::Loaded { arm, documents } => {
                (*arm).clone_into(&mut self.arm);
                self.detail = format!("{} documents", count(*documents));
            }
            Event::Slice { round, part, arm, done, share, failed, seconds, .. } => {
                let phase = RunPhase::Measure(*part);
                self.enter(Some(*round), phase, arm, elapsed);
                if let Some(place) = self.place(arm) {
                    let tally = Tally { calls: *done, seconds: *seconds, failed: *failed };
                    self.strategies[place].slice(*part, tally);
                    self.work.set(place, phase, *share);
                }
            }
            Event::Round(_) => {
                self.finished += 1;
                self.work.end_round();
                self.strategies.iter_mut().for_each(StrategyProgress::end_round);
            }
            Event::Planned { plan, rate, saturation, pilot } => {
                self.plan = Some(*plan);
                self.work = Work::new(plan, *rate, pilot, saturation, &self.load);
            }
            Event::Interval { .. } => {}
        }
    }

    fn enter(&mut self, round: Option<u64>, phase: RunPhase, arm: &str, elapsed: Duration) {
        if let (Some(round), None) = (round, self.started) {
            (self.started, self.first) = (Some(elapsed), round);
        }
        if (self.round, self.phase, self.arm.as_str()) == (round, Some(phase), arm) {
            return;
        }
        match (self.round, self.phase.zip(self.place(&self.arm)), self.loading) {
            (None, Some((RunPhase::Load, place)), Some(loading)) => {
                self.load[place] = elapsed.saturating_sub(loading).as_secs_f64();
            }
            // Slices say themselves how much of a part is done.
            (Some(_), Some((last, place)), _) if !matches!(last, RunPhase::Measure(_)) => {
                self.work.set(place, last, 1.0);
            }
            _ => {}
        }
        (self.round, self.phase) = (round, Some(phase));
        arm.clone_into(&mut self.arm);
        self.detail.clear();
        self.loading = Some(elapsed);
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.strategies.iter().position(|strategy| strategy.name == name)
    }

    /// The part whose calls per second are shown. Operations by themselves have no common number.
    pub(super) fn rated(&self) -> Option<Part> {
        let plan = self.plan.as_ref()?;
        [Part::Saturation, Part::Rate].into_iter().find(|part| plan.of(*part).is_some())
    }

    /// What is done now, and how far it is.
    pub(super) fn now(&self) -> String {
        let Some(phase) = self.phase else { return self.preparation.clone() };
        let place = self.round_name();
        let arm = if self.arm.is_empty() { String::new() } else { format!(", {}", self.arm) };
        match (self.round, phase) {
            // Strategies alternate too fast to be read.
            (Some(_), RunPhase::Measure(_)) => {
                format!("{place}: {}, {:.0} %", phase.name(), self.work.share(Some(phase)) * 100.0)
            }
            (None, RunPhase::Explain) => format!("{place}{arm}"),
            (_, _) if self.detail.is_empty() => format!("{place}: {}{arm}", phase.name()),
            (_, _) => format!("{place}: {}{arm}, {}", phase.name(), self.detail),
        }
    }

    pub(super) fn round_name(&self) -> String {
        let digits = self.rounds.to_string().len();
        match (self.round, self.phase) {
            (Some(round), _) => format!("round {:>digits$} of {}", round + 1, self.rounds),
            (None, Some(RunPhase::Explain)) => "query plans".to_owned(),
            (None, _) => "pilot".to_owned(),
        }
    }

    /// The share (0 to 1) of all rounds that is done; `None` before it is known what they are.
    pub(super) fn share(&self) -> Option<f64> {
        self.plan.as_ref()?;
        let done = (self.first + self.finished) as f64 + self.work.share(None);
        Some((done / self.rounds.max(1) as f64).min(1.0))
    }

    /// The expected time of the remaining rounds.
    pub(super) fn left(&self, elapsed: Duration) -> Option<Duration> {
        self.plan.as_ref()?;
        let in_rounds = elapsed.saturating_sub(self.started.unwrap_or(elapsed));
        self.work.left(self.rounds.saturating_sub(self.first), self.finished, in_rounds)
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::PartCalls;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn phase(round: Option<u64>, arm: &str, phase: RunPhase) -> Event<'_> {
        Event::Phase { round, arm, phase }
    }

    /// After a pilot in which loading took 2 s: a round is expected to take 2 * (2 + 5) s.
    fn piloted() -> State {
        let mut state = State::default();
        state.take(&Event::Started { rounds: 8, arms: &["embedded".to_owned(), "linked".to_owned()] }, SECOND);
        for (arm, at) in [("embedded", 10), ("linked", 20)] {
            state.take(&phase(None, arm, RunPhase::Load), SECOND * at);
            state.take(&phase(None, arm, RunPhase::Measure(Part::Saturation)), SECOND * (at + 2));
        }
        let plan = RoundPlan::saturation(400, 100);
        let planned = Event::Planned { plan, rate: None, saturation: &[400; 2], pilot: &[100.0; 2] };
        state.take(&planned, SECOND * 23);
        state
    }

    #[test]
    fn time_left_is_known_after_the_pilot() {
        let mut state = piloted();
        assert_eq!((state.left(SECOND * 23), state.share()), (Some(SECOND * 8 * 14), Some(0.0)));
        state.take(&phase(Some(0), "embedded", RunPhase::Load), SECOND * 30);
        state.take(&phase(Some(0), "linked", RunPhase::Load), SECOND * 32);
        assert!((state.share().unwrap() - 2.0 / 14.0 / 8.0).abs() < 1e-9);
        state.take(&Event::Round(0), SECOND * 44);
        assert!(state.left(SECOND * 44).unwrap().abs_diff(SECOND * 98) < SECOND, "{:?}", state.left(SECOND * 44));
    }

    #[test]
    fn time_left_of_a_resumed_run_is_that_of_its_own_rounds() {
        let mut state = State::default();
        state.take(&Event::Started { rounds: 8, arms: &["a".to_owned()] }, SECOND);
        let plan = RoundPlan::saturation(400, 100);
        state.take(&Event::Planned { plan, rate: None, saturation: &[400], pilot: &[] }, SECOND);
        state.take(&phase(Some(6), "a", RunPhase::Load), SECOND * 10);
        assert_eq!((state.left(SECOND * 12), state.share()), (None, Some(0.75)));
        state.take(&Event::Round(6), SECOND * 30);
        assert_eq!(state.left(SECOND * 30), Some(SECOND * 20));
        state.take(&Event::Round(7), SECOND * 50);
        assert_eq!(state.left(SECOND * 50), Some(Duration::ZERO));
    }

    #[test]
    fn calls_per_second_are_those_at_saturation_where_measured() {
        let mut state = piloted();
        assert_eq!(state.rated(), Some(Part::Saturation));
        let plan = RoundPlan::saturation(400, 100).at_rate(PartCalls { calls: 10, seconds: None });
        let plan = RoundPlan { saturation: None, ..plan };
        state.take(&Event::Planned { plan, rate: Some(1_430.0), saturation: &[0; 2], pilot: &[] }, SECOND);
        assert_eq!(state.rated(), Some(Part::Rate));
    }
}
