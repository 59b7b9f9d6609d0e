//! The server's CPU time per call of the mix, by operation: a stacked bar per strategy.

use crate::report::document::chart::{Chart, Series, cut, scale::Scale, svg::Svg};
use crate::report::document::format::{percent, plain, time};
use crate::results::RunRecord;
use crate::stats::CpuBudget;

pub(super) const BAR: f64 = 20.0;
pub(super) const TOP: f64 = 26.0;

/// The size of a chart with a bar per strategy.
pub(super) struct BarLayout {
    pub(super) width: f64,
    /// From one strategy to the next.
    pub(super) row: f64,
    /// The characters of a name, and of that of an operation above the bars.
    pub(super) names: [usize; 2],
    /// What its id has at the end.
    pub(super) suffix: &'static str,
    /// Whether a strategy's numbers have a line of their own below its name.
    pub(super) is_narrow: bool,
}

pub(super) const WIDE: BarLayout = BarLayout { width: 560.0, row: 46.0, names: [32, 24], suffix: "", is_narrow: false };
pub(super) const NARROW: BarLayout =
    BarLayout { width: 340.0, row: 60.0, names: [44, 12], suffix: "-narrow", is_narrow: true };

impl BarLayout {
    /// Writes a strategy's name and numbers; returns the top of its bar.
    pub(super) fn name(&self, svg: &mut Svg, series: &Series, top: f64, numbers: &str) -> f64 {
        series.marker(svg, "dot", (6.0, top + 9.0), 4.0);
        svg.text("label", (17.0, top + 13.0), &cut(&series.name, self.names[0]));
        if self.is_narrow {
            svg.text("note", (17.0, top + 28.0), numbers);
            return top + 33.0;
        }
        svg.text("note e", (self.width, top + 13.0), numbers);
        top + 18.0
    }
}

/// Operations with a colour of their own; the others are grey.
const COLOURED: usize = 3;

/// The height of the line with the names of these operations.
const KEY: f64 = 18.0;

/// The width of a character in a segment.
const CHARACTER: f64 = 6.6;

/// Draws the chart; `None` where no budget is known.
pub(super) fn budget(own: &RunRecord, series: &[Series], layout: &BarLayout) -> Option<Chart> {
    let shown = series.iter().filter(|series| !series.is_repeat());
    let shown: Vec<_> = shown.filter_map(|one| Some((one, CpuBudget::new(own, one.place)?))).collect();
    let most = shown.iter().map(|(_, budget)| budget.total).fold(0.0, f64::max);
    if shown.is_empty() || most <= 0.0 {
        return None;
    }
    let axis = Scale::between(0.0, most, 0.0, layout.width);
    let order = order(&shown.iter().map(|(_, budget)| budget.parts.as_slice()).collect::<Vec<_>>());
    let mut svg = Svg::default();
    let of_mix = if layout.is_narrow { "" } else { " of the mix" };
    svg.text("head", (0.0, 14.0), &format!("Server CPU time per call{of_mix}, by operation"));
    let mut left = 0.0;
    for (rank, operation) in order.iter().take(COLOURED).enumerate() {
        let name = cut(&plain(&own.operations[*operation]), layout.names[1]);
        svg.rect(&format!("part o{rank}"), (left, TOP - 3.0), 10.0, 10.0);
        svg.text("note", (left + 14.0, TOP + 6.0), &name);
        left += CHARACTER * name.chars().count() as f64 + 28.0;
    }
    let start = TOP + KEY;
    for (row, (series, budget)) in shown.iter().enumerate() {
        let top = start + layout.row * row as f64;
        let total = format!("{} per call", time(budget.total * 1e3));
        svg.group(&series.class(), "", |svg| {
            let bar = layout.name(svg, series, top, &total);
            let mut start = 0.0;
            for (rank, operation) in order.iter().enumerate() {
                let (name, part) = (plain(&own.operations[*operation]), budget.parts[*operation]);
                let ends = (axis.at(start), axis.at(start + part));
                start += part;
                segment(svg, &name, rank, ends, bar, (part, budget.share(*operation)));
            }
        });
    }
    let all: Vec<String> =
        shown.iter().map(|(series, budget)| format!("{} {}", series.name, time(budget.total * 1e3))).collect();
    Some(Chart {
        id: format!("budget{}", layout.suffix),
        description: format!("Server CPU time per call of the mix: {}.", all.join(", ")),
        size: (layout.width, start + layout.row * shown.len() as f64),
        body: svg,
    })
}

/// The operations that strategies differ in most go first and have a colour.
fn order(budgets: &[&[f64]]) -> Vec<usize> {
    let spread = |operation: usize| {
        let parts = || budgets.iter().map(|parts| parts[operation]);
        parts().fold(0.0, f64::max) - parts().fold(f64::INFINITY, f64::min)
    };
    let mut order: Vec<usize> = (0..budgets.first().map_or(0, |parts| parts.len())).collect();
    order.sort_by(|a, b| spread(*b).total_cmp(&spread(*a)));
    order
}

fn segment(svg: &mut Svg, name: &str, rank: usize, (left, right): (f64, f64), top: f64, (part, share): (f64, f64)) {
    let cost = time(part * 1e3);
    svg.group("mark", &format!("{name}: {cost} per call of the mix, {}", percent(share)), |svg| {
        // A gap of a pixel separates segments.
        svg.rect(&format!("part o{}", rank.min(COLOURED)), (left, top), (right - left - 1.0).max(0.0), BAR);
        let text = format!("{name} {cost}");
        let room = |text: &str| CHARACTER * text.chars().count() as f64 + 10.0 <= right - left;
        if let Some(text) = [text.as_str(), name].into_iter().find(|text| room(text)) {
            svg.text(&format!("inside o{}", rank.min(COLOURED)), (left + 5.0, top + 14.0), text);
        }
    });
}
