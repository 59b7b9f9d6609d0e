//! What the engine tells those who watch a run.

use crate::record::IntervalHistogram;
use crate::results::RoundRecord;

/// Something happened.
#[derive(Debug)]
pub enum Event<'e> {
    /// The run begins.
    Started {
        /// Rounds, those of an earlier part of a resumed run included.
        rounds: u64,
        /// The strategies, the reference first.
        arms: &'e [String],
    },
    /// A part of a round begins for an arm.
    Phase {
        /// The round, from 0; `None` before the first.
        round: Option<u64>,
        /// The strategy.
        arm: &'e str,
        /// Which part.
        phase: Phase,
    },
    /// Documents of an arm were inserted.
    Loaded {
        /// The strategy.
        arm: &'e str,
        /// How many so far in this collection.
        documents: u64,
    },
    /// The calls of every window are known.
    Planned {
        /// Measured calls per arm and round.
        calls: u64,
        /// Calls before them that are not measured.
        warmup: u64,
        /// Calls that fall due per second; `None` in the closed model.
        rate: Option<f64>,
    },
    /// A slice of measured calls is over.
    Slice {
        /// The round, from 0.
        round: u64,
        /// The strategy.
        arm: &'e str,
        /// The strategy's measured calls in this round so far.
        done: u64,
        /// Of so many.
        calls: u64,
        /// How many of those made have failed or were not sent.
        failed: u64,
        /// How long the strategy's slices of this round took, in seconds.
        seconds: f64,
    },
    /// The successful calls of one operation in one interval.
    Interval(&'e Interval),
    /// A round is complete.
    Round(&'e RoundRecord),
}

/// The parts of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Databases, collections, indexes and documents are made.
    Load,
    /// Every operation alone, for what it costs the server.
    Costs,
    /// Calls that are not recorded.
    WarmUp,
    /// Recorded calls.
    Measure,
    /// Sizes are read, databases dropped.
    Inspect,
}

impl Phase {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Load => "load",
            Phase::Costs => "single calls",
            Phase::WarmUp => "warm up",
            Phase::Measure => "measure",
            Phase::Inspect => "inspect",
        }
    }
}

/// The latencies of one operation of one arm in one interval of a window.
#[derive(Debug)]
pub struct Interval {
    /// The round, from 0.
    pub round: u64,
    /// The strategy.
    pub arm: String,
    /// The operation.
    pub operation: String,
    /// Since the run began, in seconds.
    pub start: f64,
    /// Length in seconds.
    pub length: f64,
    /// Service times of successful calls; in the open model response times.
    pub histogram: IntervalHistogram,
}

/// One who watches a run. It must not block: the run waits for it.
pub trait Observer {
    /// Something happened.
    fn event(&self, event: &Event<'_>);
}

/// Several observers as one.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn event(&self, event: &Event<'_>) {
        self.0.event(event);
        self.1.event(event);
    }
}

/// Nobody watches.
impl Observer for () {
    fn event(&self, _: &Event<'_>) {}
}
