//! How many calls a strategy kept in flight.

use crate::results::{Reason, RunRecord};

use super::view::{all_operations, cells};

/// Below this share of the clients there is a warning.
const KEPT: f64 = 0.95;

/// Below this share of the clients nothing is claimed of the throughput.
const ENOUGH: f64 = 0.9;

/// The calls that a strategy had in flight with closed load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InFlight {
    /// The mean over the measured time.
    pub achieved: f64,
    /// The clients, each of which has at most one.
    pub clients: usize,
}

impl InFlight {
    /// The share (0 to 1) of the clients that had a call in flight.
    pub fn share(&self) -> f64 {
        self.achieved / self.clients as f64
    }

    /// Whether the strategy had less load than it was to have, so that its times are a little too short.
    pub fn is_low(&self) -> bool {
        self.share() < KEPT
    }

    /// Whether its throughput is not that of this many clients.
    pub fn is_too_low(&self) -> bool {
        self.share() < ENOUGH
    }
}

/// The reason why a strategy's throughput is not compared.
pub fn too_few_in_flight(record: &RunRecord, strategy: usize) -> Option<Reason> {
    let found = in_flight(record, strategy).filter(InFlight::is_too_low)?;
    Some(Reason::FewInFlight { strategy, share: found.share() })
}

/// The calls in flight over all rounds, by Little's law: their number is the rate times the mean service time, which is the
/// sum of the service times of the calls of all outcomes per second. `None` when no time was measured.
pub fn in_flight(record: &RunRecord, strategy: usize) -> Option<InFlight> {
    let operations = all_operations(record, strategy);
    let nanoseconds: f64 = operations.flat_map(|operation| &operation.outcomes).map(|outcome| outcome.sum as f64).sum();
    let seconds: f64 = cells(record, strategy).map(|cell| cell.seconds).sum();
    let achieved = nanoseconds / 1e9 / seconds;
    (seconds > 0.0).then_some(InFlight { achieved, clients: record.settings.clients })
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn calls_of_all_outcomes_are_in_flight() {
        let mut run = sample::run(2);
        run.settings.clients = 8;
        for cell in run.rounds.iter_mut().flat_map(|round| &mut round.cells) {
            cell.seconds = 2.0;
            let outcomes = cell.operations.iter_mut().flat_map(|operation| &mut operation.outcomes);
            let sums = outcomes.map(|outcome| &mut outcome.sum).collect::<Vec<_>>();
            let share = 15_200_000_000 / sums.len() as u64;
            sums.into_iter().for_each(|sum| *sum = share);
        }
        let found = in_flight(&run, 0).unwrap();
        assert!((found.achieved - 7.6).abs() < 1e-6 && (found.share() - 0.95).abs() < 1e-6, "{found:?}");
        let with = |achieved| InFlight { achieved, clients: 8 };
        assert!(!with(7.61).is_low() && with(7.59).is_low() && !with(7.21).is_too_low() && with(7.19).is_too_low());
        assert_eq!(in_flight(&sample::run(0), 0), None);
    }
}
