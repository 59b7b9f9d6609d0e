//! Whether the machine differed so much between runs that they decide nothing.
//!
//! Dividing by the reference cancels a machine that makes everything slower by one factor. A busy one does more: queues grow without
//! limit, and who waits for the processor suffers more than who waits for the disk. So where the reference itself changed, neither
//! a regression nor its absence is shown.

use crate::record::Metric;
use crate::results::RunRecord;
use crate::stats::compare::UNSTABLE;
use crate::stats::estimate::ConfidenceInterval;
use crate::stats::series::{SeriesKey, repeat_estimate};
use crate::stats::validity::{STEAL, median};
use crate::stats::{cells, overloaded};

use super::{Sides, position};

/// The share (0 to 1) of cells with much steal above which a run is not compared.
const STOLEN_CELLS: f64 = 0.1;

/// How much more of the processors (0 to 1) may be in use for the same calls.
const OTHER_LOAD: f64 = 0.15;

/// A side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The earlier runs.
    Before,
    /// The later runs.
    After,
}

impl Side {
    /// Both, in the order of [`Sides::map`].
    const BOTH: [Side; 2] = [Side::Before, Side::After];

    /// What reports call its runs.
    pub fn name(self) -> &'static str {
        ["A", "B"][self as usize]
    }
}

/// Why runs decide nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Disturbance {
    /// The hypervisor gave much of the processors' time to others.
    Steal {
        /// Where.
        side: Side,
        /// The share (0 to 1) of the cells of which more than 5 % was taken.
        cells: f64,
    },
    /// Other programs used the processors: for the same calls of the reference more of them was in use on one side.
    OtherLoad {
        /// The shares (0 to 1) that were in use, before and after.
        busy: [f64; 2],
    },
    /// The reference, or its repeat, did not keep up with the calls due.
    Overload {
        /// Where.
        side: Side,
        /// The share (0 to 1) of the calls that it kept up with.
        achieved: f64,
    },
    /// The two measurements of the baseline in one run are far apart.
    Repeat {
        /// Where.
        side: Side,
        /// The one divided by the other.
        ratio: f64,
    },
    /// The reference itself takes another time.
    Reference {
        /// After divided by before.
        ratio: f64,
        /// Its 95 % CI.
        interval: ConfidenceInterval,
    },
}

/// What the machine did to the mix. `reference` has the position in every run of what others are relative to; `None` for runs
/// that took turns, which met the same machine.
pub(super) fn disturbances(mix: &Sides, reference: Option<&str>) -> Vec<Disturbance> {
    let each = |of: &dyn Fn(Side, &RunRecord) -> Option<Disturbance>| {
        let sides = Side::BOTH.into_iter().zip([&mix.before, &mix.after]);
        sides.filter_map(|(side, runs)| runs.iter().find_map(|run| of(side, run))).collect::<Vec<_>>()
    };
    let mut found = each(&steal);
    found.extend(each(&repeat));
    let Some(reference) = reference else { return found };
    found.extend(other_load(mix, reference));
    found.extend(each(&|side, run| {
        let place = position(run, reference)?;
        let repeat = run.strategies.iter().position(|one| one.is_repeat && one.name == reference);
        let achieved = [Some(place), repeat].into_iter().flatten().find_map(|arm| overloaded(run, arm))?;
        Some(Disturbance::Overload { side, achieved })
    }));
    found
}

fn steal(side: Side, run: &RunRecord) -> Option<Disturbance> {
    stolen_cells(run).map(|cells| Disturbance::Steal { side, cells })
}

/// The share (0 to 1) of a run's cells with much steal, where it is too large for its times to be judged.
pub(crate) fn stolen_cells(run: &RunRecord) -> Option<f64> {
    let known = run.rounds.iter().flat_map(|round| &round.cells).filter_map(|cell| cell.machine.steal);
    let (stolen, all) =
        known.fold((0.0, 0.0), |(stolen, all), share| (stolen + f64::from(u8::from(share > STEAL)), all + 1.0));
    (stolen > STOLEN_CELLS * all).then(|| stolen / all)
}

/// Only with open load the same calls are due on both sides.
fn other_load(mix: &Sides, reference: &str) -> Option<Disturbance> {
    let busy = |runs: &[&RunRecord]| {
        let cells = runs.iter().filter_map(|run| Some(cells(run, position(run, reference)?))).flatten();
        median(cells.filter(|cell| cell.open.is_some()).filter_map(|cell| cell.machine.busy))
    };
    let busy = [busy(&mix.before)?, busy(&mix.after)?];
    ((busy[1] - busy[0]).abs() > OTHER_LOAD).then_some(Disturbance::OtherLoad { busy })
}

fn repeat(side: Side, run: &RunRecord) -> Option<Disturbance> {
    repeat_ratio(run).map(|ratio| Disturbance::Repeat { side, ratio })
}

/// The one measurement of the baseline divided by the other, where they are too far apart for times to be judged.
pub(crate) fn repeat_ratio(run: &RunRecord) -> Option<f64> {
    let found = repeat_estimate(run, SeriesKey::new(Metric::MEAN, 0, None))?;
    (found.mean.abs() > UNSTABLE.ln_1p()).then(|| found.ratio())
}
