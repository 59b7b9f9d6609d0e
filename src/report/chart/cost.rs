//! What a call costs the server: a picture per counter, of the mix and of every operation.

use super::super::{COLUMNS, Metric, Report};
use super::Chart;
use super::bars::{Bar, Bars};
use super::series::Series;
use crate::stats::Cost;

/// The pictures of one operation.
pub struct OperationCharts {
    /// Its name.
    pub operation: String,
    /// A picture per counter that is not 0 for all.
    pub charts: Vec<Chart>,
}

/// Per call of the mix, a picture per counter that is not 0 for all. Of the control there is no bar: it is the reference again.
pub fn mix(report: &Report, series: &[Series]) -> Vec<Chart> {
    let shown = report.costs.mix.iter().filter(|row| row.metric.is_main && !row.is_zero(report));
    let chart = |(place, row): (usize, &super::super::MixCost)| {
        let judged = series.iter().zip(&row.costs).filter(|(series, _)| !series.is_control());
        let bars = judged.map(|(series, cost)| {
            let reach = |cost: Cost| cost.reach.filter(|reach| *reach > 0.0);
            let bar = bar(series, row.metric, cost.map(|cost| cost.per_call), "per call of the mix");
            let spread = cost.and_then(reach).map(|reach| format!(" ± {}", row.metric.text(reach)));
            Bar { reach: cost.and_then(reach), words: bar.words.clone() + &spread.unwrap_or_default(), ..bar }
        });
        Bars { id: format!("cost-mix-{place}"), title: row.metric.label.to_owned(), bars: bars.collect() }.draw()
    };
    shown.enumerate().map(chart).collect()
}

/// Per call of each operation alone.
pub fn operations(report: &Report, series: &[Series]) -> Vec<OperationCharts> {
    let operation = |(place, cost): (usize, &super::super::OperationCost)| {
        let charts = COLUMNS.iter().enumerate().filter_map(|(column, metric)| {
            let values = || {
                cost.strategies.iter().filter_map(|(name, values)| {
                    let series = series.iter().find(|series| series.name == *name)?;
                    Some((series, values.get(column).copied().flatten()))
                })
            };
            let is_told = values().any(|(_, value)| value.is_some_and(|value| value > 0.0));
            let bars = values().filter(|(series, _)| !series.is_control());
            let bars =
                bars.map(|(series, value)| bar(series, metric, value, &format!("per call of {}", cost.operation)));
            let id = format!("cost-{place}-{column}");
            is_told.then(|| Bars { id, title: title(metric).to_owned(), bars: bars.collect() }.draw())
        });
        OperationCharts { operation: cost.operation.clone(), charts: charts.collect() }
    };
    report.costs.operations.iter().enumerate().map(operation).filter(|one| !one.charts.is_empty()).collect()
}

/// A column's heading where there is room for it.
pub fn title(metric: &Metric) -> &'static str {
    match metric.label {
        "trips" => "round trips",
        "keys" => "keys examined",
        "docs" => "documents examined",
        "in" => "bytes in",
        "out" => "bytes out",
        "~ CPU" => "CPU time, roughly",
        label => label,
    }
}

fn bar(series: &Series, metric: &Metric, value: Option<f64>, what: &str) -> Bar {
    let label = value.map_or_else(|| super::super::format::NOTHING.to_owned(), |value| metric.text(value));
    let words = format!("{}: {label} of {} {what}", series.name, title(metric));
    Bar { series: series.clone(), value, label, reach: None, before: None, words }
}
