//! The server cost of a call, of the mix and of every operation: a chart per counter.

use super::super::cost::{MixCost, OperationCost};
use super::super::evaluation::Evaluation;
use super::bars::{Bar, Bars};
use super::series::Series;
use super::{Chart, Gallery, Layout};
use crate::record::{Counter, Shown};
use crate::stats::Cost;

/// Charts per call of the mix, one per counter that is not 0 for all. The repeat has no bar: it is the baseline again.
pub fn mix(run: &Evaluation, series: &[Series]) -> Vec<Chart> {
    let shown = run.costs.mix.iter().filter(|row| row.metric.shown == Shown::Everywhere && !row.is_zero(run));
    let chart = |(place, row): (usize, &MixCost)| {
        let judged = series.iter().zip(&row.costs).filter(|(series, _)| !series.is_repeat());
        let bars = judged.map(|(series, cost)| {
            let reach = |cost: Cost| cost.half_width.filter(|reach| *reach > 0.0);
            let bar = bar(series, row.metric, cost.map(|cost| cost.per_call), "per call of the mix");
            let spread = cost.and_then(reach).map(|reach| format!(" ± {}", row.metric.text(reach)));
            Bar { reach: cost.and_then(reach), words: bar.words.clone() + &spread.unwrap_or_default(), ..bar }
        });
        Bars { id: format!("cost-mix-{place}"), title: row.metric.label.to_owned(), bars: bars.collect() }.draw()
    };
    shown.enumerate().map(chart).collect()
}

/// Charts of the own cost of each operation.
pub fn operations(run: &Evaluation, series: &[Series]) -> Vec<Gallery> {
    let operation = |(place, cost): (usize, &OperationCost)| {
        let charts = Counter::own_cost_columns().into_iter().enumerate().filter_map(|(column, metric)| {
            let values = || {
                cost.strategies.iter().filter_map(|(name, values)| {
                    let series = series.iter().find(|series| series.name == *name)?;
                    Some((series, values.get(column).copied().flatten()))
                })
            };
            let is_reported = values().any(|(_, value)| value.is_some_and(|value| value > 0.0));
            let bars = values().filter(|(series, _)| !series.is_repeat());
            let bars =
                bars.map(|(series, value)| bar(series, metric, value, &format!("per call of {}", cost.operation)));
            let id = format!("cost-{place}-{column}");
            is_reported.then(|| Bars { id, title: metric.label.to_owned(), bars: bars.collect() }.draw())
        });
        Gallery { heading: cost.operation.clone(), layout: Layout::Small, charts: charts.collect() }
    };
    run.costs.operations.iter().enumerate().map(operation).collect()
}

fn bar(series: &Series, metric: &Counter, value: Option<f64>, what: &str) -> Bar {
    let label = value.map_or_else(|| super::super::format::NOTHING.to_owned(), |value| metric.text(value));
    let words = format!("{}: {label} of {} {what}", series.name, metric.label);
    Bar { series: series.clone(), value, label, reach: None, before: None, words }
}
