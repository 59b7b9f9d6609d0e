//! The server cost of a call of the mix: a chart per counter.

use crate::record::{Counter, Shown};
use crate::report::document::chart::Chart;
use crate::report::document::chart::bars::{Bar, Bars};
use crate::report::document::chart::series::Series;
use crate::report::run::cost::MixCost;
use crate::report::run::evaluation::Evaluation;
use crate::stats::Cost;

/// Charts per call of the mix, one per counter that is not 0 for all. The repeat has no bar: it is the baseline again.
pub fn mix(run: &Evaluation, series: &[Series]) -> Vec<Chart> {
    let shown = run.costs.mix.iter().filter(|row| row.metric.shown == Shown::Everywhere && !row.is_zero(run));
    let chart = |(place, row): (usize, &MixCost)| {
        let judged = series.iter().zip(&row.costs).filter(|(series, _)| !series.is_repeat());
        let bars = judged.map(|(series, cost)| {
            let reach = |cost: Cost| cost.half_width.filter(|reach| *reach > 0.0);
            let bar = bar(series, row.metric, cost.map(|cost| cost.per_call));
            let spread = cost.and_then(reach).map(|reach| format!(" ± {}", row.metric.text(reach)));
            Bar { reach: cost.and_then(reach), words: bar.words.clone() + &spread.unwrap_or_default(), ..bar }
        });
        Bars { id: format!("cost-mix-{place}"), title: row.metric.label.to_owned(), bars: bars.collect() }.draw()
    };
    shown.enumerate().map(chart).collect()
}

fn bar(series: &Series, metric: &Counter, value: Option<f64>) -> Bar {
    let label = value.map_or_else(|| crate::report::document::format::NOTHING.to_owned(), |value| metric.text(value));
    let words = format!("{}: {label} of {} per call of the mix", series.name, metric.label);
    Bar { series: series.clone(), value, label, reach: None, before: None, words }
}
