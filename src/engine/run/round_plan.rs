//! What a round measures: the same for every arm, except that slow ones make fewer of the same calls.

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
    /// Calls at saturation.
    pub saturation: Option<PartCalls>,
    /// Calls with open load, from the lightest one on.
    pub curve: [Option<PartCalls>; Part::CURVE.len()],
}

/// Calls that measure own costs: a stretch of the mix, regrouped by operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnCalls {
    /// Calls of the stretch.
    pub stretch: u64,
    /// The most calls of an operation that are measured; those before them in the stretch only bring the data into their state.
    pub measured: u64,
}

/// Calls of a part; strategies that are much slower, or overloaded, make fewer, as the settings say.
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
        let saturation = Some(PartCalls { calls, seconds: None });
        RoundPlan { warmup, own: None, saturation, curve: [None; Part::CURVE.len()] }
    }

    /// The same with open load of [`Part::Rate`].
    pub const fn at_rate(mut self, rate: PartCalls) -> RoundPlan {
        self.curve = [None, Some(rate), None];
        self
    }

    /// The window of a part with the whole mix; `None` for own costs, and for a part that is not measured.
    pub fn of(&self, part: Part) -> Option<PartCalls> {
        match part {
            Part::Own => None,
            Part::Saturation => self.saturation,
            Part::Light | Part::Rate | Part::Heavy => {
                self.curve.into_iter().zip(Part::CURVE).find_map(|(calls, of)| calls.filter(|_| of == part))
            }
        }
    }

    /// The calls of a part that an arm makes that is not too slow; `None` when it is not measured.
    pub fn calls(&self, part: Part) -> Option<u64> {
        if part == Part::Own { self.own.map(|own| own.stretch) } else { self.of(part).map(|part| part.calls) }
    }

    /// The parts in their order.
    pub fn parts(&self) -> impl Iterator<Item = Part> + use<> {
        let plan = *self;
        Part::ALL.into_iter().filter(move |part| plan.calls(*part).is_some())
    }

    /// The window of a part with slices of the whole mix; `None` for own costs, and for a part that is not measured.
    pub(super) fn window(&self, part: Part) -> Option<Window> {
        let PartCalls { calls, seconds } = self.of(part)?;
        let before = self.parts().filter(|before| *before < part).filter_map(|before| self.calls(before));
        Some(Window { first: self.warmup + before.sum::<u64>(), calls, seconds })
    }
}

impl MeasuredRound {
    /// The record and the warnings of a round with a single part.
    pub fn single(mut self) -> Option<(RoundRecord, Vec<String>)> {
        let (_, round) = self.parts.pop_first().filter(|_| self.parts.is_empty())?;
        Some((round, self.warnings))
    }
}
