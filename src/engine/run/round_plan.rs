//! What a round measures: the same for every arm.

use std::collections::BTreeMap;

use crate::record::Part;
use crate::results::{EventRecord, RoundRecord};

use super::schedule::Window;

/// How much a round measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundPlan {
    /// Calls before all measured ones.
    pub warmup: u64,
    /// Own costs.
    pub own: Option<OwnCalls>,
    /// Calls at the common rate.
    pub rate: Option<PartCalls>,
    /// Calls at saturation.
    pub saturation: Option<PartCalls>,
}

/// Calls that measure own costs: a stretch of the mix, regrouped by operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnCalls {
    /// Calls of the stretch.
    pub stretch: u64,
    /// The most calls of an operation that are measured; those before them in the stretch only bring the data into their state.
    pub measured: u64,
}

/// Calls of a part; at saturation, strategies that are much slower make fewer, as the settings
/// say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartCalls {
    /// Measured calls.
    pub calls: u64,
    /// Seconds that the slowest arm is expected to take, when a pilot has measured it.
    pub seconds: Option<f64>,
}

/// A measured round.
#[derive(Debug)]
pub struct MeasuredRound {
    /// The record of every part.
    pub parts: BTreeMap<Part, RoundRecord>,
    /// Remarks for readers of the report.
    pub warnings: Vec<String>,
    /// What happened to the servers.
    pub events: Vec<EventRecord>,
}

impl RoundPlan {
    /// A round of closed load alone.
    pub const fn saturation(calls: u64, warmup: u64) -> RoundPlan {
        RoundPlan { warmup, own: None, rate: None, saturation: Some(PartCalls { calls, seconds: None }) }
    }

    /// The calls of an arm in a round before saturation, with those that are not measured.
    pub fn calls_before_saturation(&self) -> u64 {
        self.warmup + self.own.map_or(0, |own| own.stretch) + self.rate.map_or(0, |rate| rate.calls)
    }

    /// The parts in their order.
    pub(super) fn parts(&self) -> impl Iterator<Item = Part> + use<> {
        let is_measured = [self.own.is_some(), self.rate.is_some(), self.saturation.is_some()];
        Part::ALL.into_iter().zip(is_measured).filter(|(_, is_measured)| *is_measured).map(|(part, _)| part)
    }

    /// The window of a part with slices of the whole mix; `None` for own costs, and for a part that is not measured.
    pub(super) fn window(&self, part: Part) -> Option<Window> {
        let (before, part) = match part {
            Part::Own => return None,
            Part::Rate => (RoundPlan { rate: None, ..*self }, self.rate?),
            Part::Saturation => (*self, self.saturation?),
        };
        Some(Window { first: before.calls_before_saturation(), calls: part.calls, seconds: part.seconds })
    }
}

impl MeasuredRound {
    /// The record and the warnings of a round with a single part.
    pub fn single(mut self) -> Option<(RoundRecord, Vec<String>)> {
        let (_, round) = self.parts.pop_first().filter(|_| self.parts.is_empty())?;
        Some((round, self.warnings))
    }
}
