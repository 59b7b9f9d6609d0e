//! Latency by percentile, a chart per operation. As in HdrHistogram plots, every further nine has the same width.

use crate::record::MetricRow;
use crate::report::document::chart::{
    COLUMNS, ChartLayout, Gallery, Series, axis::Axis, gallery, lines::Line, lines::Lines,
};
use crate::report::document::format::{capitalised, counted, short, time};
use crate::report::run::{Evaluation, Measured, OperationResults};

/// Points of a line per further nine.
const POINTS: u32 = 10;

/// Draws a chart of the mix and one per operation.
pub fn percentiles(run: &Evaluation, series: &[Series]) -> Vec<Gallery> {
    let charts = run.mix_first().enumerate().filter_map(|(place, row)| chart(run, series, place, row));
    gallery(ChartLayout::Two, Lines::draw_rows(&charts.collect::<Vec<_>>(), COLUMNS))
}

/// The position of a percentile on the axis in nines: 0 for 0 %, 1 for 90 %, 2 for 99 %.
fn nines(share: f64) -> f64 {
    -(1.0 - share).log10()
}

fn chart<'c>(run: &Evaluation, series: &'c [Series], place: usize, row: &OperationResults) -> Option<Lines<'c>> {
    let cells = || series.iter().zip(&row.cells);
    let known = |share: &f64| cells().any(|(_, cell)| cell.quantile(*share).is_some());
    let last = MetricRow::quantiles().map(|(_, share)| share).filter(known).last()?;
    let width = nines(last) + 0.12;
    let lines = cells().map(|(series, cell)| line(run, series, row, cell, width)).collect();
    let ticks = MetricRow::quantiles().filter(|(_, share)| *share <= last);
    let ticks = ticks.map(|(metric, share)| (nines(share), metric.name.to_owned()));
    let calls: u64 = row.cells.iter().map(|cell| cell.distribution.calls()).sum();
    Some(Lines {
        id: format!("percentiles-{place}"),
        title: row.label().to_owned(),
        remark: counted(calls, "call"),
        description: format!("{} times of {} by percentile, a line per strategy.", capitalised(run.times()), row.name),
        axis: Axis::up_to(width, "percentile", &format!("percentile of the {} times", run.times()), ticks.collect()),
        is_log: true,
        unit: &|value| short(&time(value)),
        lines,
    })
}

fn line<'c>(run: &Evaluation, series: &'c Series, row: &OperationResults, cell: &Measured, width: f64) -> Line<'c> {
    let at = |share: f64| Some((nines(share), cell.distribution.quantile(share)? as f64, None));
    // Without the fastest fifth of the calls, which would take half of the height.
    let steps = (1..=4 * POINTS).map(|step| 1.0 - 10_f64.powf(-f64::from(step) / f64::from(POINTS)));
    let steps = steps.filter(|share| nines(*share) <= width);
    let named = MetricRow::quantiles().filter_map(|(metric, share)| {
        // The numbers of the table, not those of the line: these are of the calls of all rounds together.
        let (place, value, name) = (nines(share), cell.quantile(share)?, metric.name);
        let words = format!("{}, {}: {name} of the {} times is {}", series.name, row.name, run.times(), time(value));
        Some((place, value, words))
    });
    Line::of(series, steps.filter_map(at).collect(), named.collect())
}
