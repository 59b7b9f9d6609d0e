//! Events of a run, for progress and logs.

use std::time::Duration;

use crate::engine::load::slice::Interval;
use crate::record::Part;

use super::round_plan::RoundPlan;

/// An event of a run.
#[derive(Debug)]
pub enum Event<'e> {
    /// The run starts.
    Started {
        /// Rounds, including those before a resumed run.
        rounds: u64,
        /// The strategies, the baseline first.
        arms: &'e [String],
    },
    /// A phase of a round starts for an arm.
    Phase {
        /// The round, from 0; `None` before the first.
        round: Option<u64>,
        /// The strategy.
        arm: &'e str,
        /// The phase.
        phase: RunPhase,
    },
    /// Documents of an arm were inserted.
    Loaded {
        /// The strategy.
        arm: &'e str,
        /// Documents of this collection so far.
        documents: u64,
    },
    /// It is known what every round measures.
    Planned {
        /// What every round measures.
        plan: RoundPlan,
        /// Calls per second of [`Part::Rate`]; `None` when that part is not measured.
        rate: Option<f64>,
        /// Calls of every arm at saturation; those that are much slower make fewer.
        saturation: &'e [u64],
        /// Calls per second of every arm in the pilot; empty without one.
        pilot: &'e [f64],
    },
    /// A slice of measured calls is over.
    Slice {
        /// The round, from 0.
        round: u64,
        /// The part.
        part: Part,
        /// The strategy.
        arm: &'e str,
        /// Measured calls of the strategy in this round so far.
        done: u64,
        /// All calls of its window.
        calls: u64,
        /// The share (0 to 1) of the part that the strategy has done in this round.
        share: f64,
        /// Calls that have failed or were skipped.
        failed: u64,
        /// Duration of the strategy's slices in this round so far, in seconds.
        seconds: f64,
    },
    /// The successful calls of one operation in one interval of a window.
    Interval {
        /// The round, from 0.
        round: u64,
        /// The strategy.
        arm: &'e str,
        /// The part.
        part: Part,
        /// The operation.
        operation: &'e str,
        /// The start of the interval since the start of the run.
        start: Duration,
        /// The times. With open load they are response times.
        interval: &'e Interval,
    },
    /// This round is complete, from 0.
    Round(u64),
}

/// A phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunPhase {
    /// Databases, collections, indexes and documents are created.
    Load,
    /// The server is asked how it finds documents.
    Explain,
    /// Calls that are not recorded.
    WarmUp,
    /// Recorded calls of a part.
    Measure(Part),
    /// Sizes are read and databases dropped.
    Inspect,
}

impl RunPhase {
    /// Its name in the progress.
    pub fn name(self) -> &'static str {
        match self {
            RunPhase::Load => "load",
            RunPhase::Explain => "explain",
            RunPhase::WarmUp => "warm up",
            RunPhase::Measure(part) => part.label(),
            RunPhase::Inspect => "inspect",
        }
    }
}

/// Receives the events of a run. It must not block: the run waits for it.
pub trait Observer {
    /// Handles an event.
    fn event(&self, event: &Event<'_>);
}

/// Several observers as one.
impl<A: Observer, B: Observer> Observer for (&A, &B) {
    fn event(&self, event: &Event<'_>) {
        self.0.event(event);
        self.1.event(event);
    }
}

/// An observer that may be missing.
impl<O: Observer> Observer for Option<O> {
    fn event(&self, event: &Event<'_>) {
        self.iter().for_each(|observer| observer.event(event));
    }
}

/// Ignores all events.
impl Observer for () {
    fn event(&self, _: &Event<'_>) {}
}
