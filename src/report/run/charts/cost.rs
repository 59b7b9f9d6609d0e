//! The server cost of a call of the mix: a chart per counter.

use crate::record::Shown;
use crate::report::document::chart::{ChartLayout, Gallery, Series, bars::Bar, bars::Bars, gallery};
use crate::report::document::format::NOTHING;
use crate::report::run::Evaluation;
use crate::report::run::cost::MixCost;

/// Charts per call of the mix, one per counter that is not 0 for all. The repeat has no bar: it is the baseline again.
pub fn mix(run: &Evaluation, series: &[Series]) -> Vec<Gallery> {
    let shown = run.costs.mix.iter().filter(|row| row.metric.shown == Shown::Everywhere && !row.is_zero(run));
    let chart = |(place, row): (usize, &MixCost)| {
        let text = |value: f64| row.metric.unit.text(value);
        let judged = series.iter().zip(&row.costs).filter(|(series, _)| !series.is_repeat());
        let bars = judged.map(|(series, cost)| {
            let value = cost.map(|cost| cost.per_call);
            let label = value.map_or_else(|| NOTHING.to_owned(), text);
            let reach = cost.and_then(|cost| cost.half_width).filter(|reach| *reach > 0.0);
            let spread = reach.map_or_else(String::new, |reach| format!(" ± {}", text(reach)));
            let words = format!("{}: {label} of {} per call of the mix{spread}", series.name, row.metric.label);
            Bar { series: series.clone(), value, label, reach, before: None, words }
        });
        Bars { id: format!("cost-mix-{place}"), title: row.metric.label.to_owned(), bars: bars.collect() }.draw()
    };
    gallery(ChartLayout::Small, shown.enumerate().map(chart).collect())
}
