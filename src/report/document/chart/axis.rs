//! X axes of line charts.

use super::lines::{LEFT, RIGHT};
use super::scale::{Scale, extent};
use crate::report::document::format::count;

/// Steps between labels at most.
const STEPS: usize = 7;

/// The x axis of line charts: where a value is, and which values have labels.
pub struct Axis {
    /// What it shows: charts of the same axis share a cross-hair.
    pub(super) name: String,
    /// Its label below the chart.
    pub(super) label: String,
    /// Where values are.
    pub(super) scale: Scale,
    /// By what the page compares positions on axes of one name.
    pub(super) span: f64,
    /// Values with labels.
    pub(super) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// Items in their order, numbered from 0; the first label has their name, such as `round 1`.
    pub fn of_items(items: usize, name: &str, label: &str) -> Axis {
        let last = items.saturating_sub(1) as f64;
        let room = last / 48.0;
        let every = items.saturating_sub(1).div_ceil(STEPS).max(1);
        let text = |item: usize| if item == 0 { format!("{name} 1") } else { (item + 1).to_string() };
        let ticks = (0..items).step_by(every).map(|item| (item as f64, text(item)));
        Axis::new(name, label, (-room, last + room), false, ticks.collect())
    }

    /// Values with labels, on a logarithmic axis if all are positive.
    pub fn of_values(name: &str, values: &[(f64, String)]) -> Axis {
        let is_log = values.iter().all(|(value, _)| *value > 0.0);
        let every = values.len().div_ceil(STEPS).max(1);
        let ticks = values.iter().step_by(every).cloned();
        Axis::new(name, name, extent(values.iter().map(|(value, _)| *value)), is_log, ticks.collect())
    }

    /// Counts on a logarithmic axis, whose powers of ten have labels.
    pub fn of_counts(name: &str, label: &str, counts: impl Iterator<Item = f64>) -> Axis {
        let axis = Axis::new(name, label, extent(counts.map(|count| count.max(1.0))), true, Vec::new());
        let ticks = axis.scale.powers_of_ten().into_iter().map(|power| (power, count(power as u64)));
        Axis { ticks: ticks.collect(), ..axis }
    }

    /// From 0 to a value that may differ between charts that share a cross-hair.
    pub fn up_to(span: f64, name: &str, label: &str, ticks: Vec<(f64, String)>) -> Axis {
        Axis { span, ..Axis::new(name, label, (0.0, span), false, ticks) }
    }

    fn new(name: &str, label: &str, ends: (f64, f64), is_log: bool, ticks: Vec<(f64, String)>) -> Axis {
        let scale = Scale::exactly(ends, LEFT, RIGHT, is_log);
        Axis { name: name.to_owned(), label: label.to_owned(), scale, span: 1.0, ticks }
    }
}
