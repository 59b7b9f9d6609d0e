//! The charts of a run.

pub(crate) mod budget;
pub(crate) mod cost;
pub(crate) mod forest;
pub(crate) mod loads;
pub(crate) mod mix_times;
pub(crate) mod percentiles;
pub(crate) mod sizes;
pub(crate) mod throughput;

use std::sync::Arc;

use crate::record::Part;
use crate::report::document::chart::{ChartLayout, Charts, Gallery, Series};

use super::{Evaluation, PartEvaluations};

type Drawing = fn(&Evaluation, &[Series]) -> Vec<Gallery>;

/// The series of a run, in its order.
pub(crate) fn series(run: &Evaluation) -> Vec<Series> {
    Series::of(run.strategies.iter().map(|strategy| (strategy.name.clone(), strategy.is_repeat)))
}

/// Creates charts of a run from the function that draws them. `file` arranges them in `columns` columns.
pub(crate) fn charts(run: &Arc<Evaluation>, drawing: Drawing, file: &'static str, columns: usize) -> Charts {
    let (series, run) = (series(run), Arc::clone(run));
    Charts::of(series, move |series| drawing(&run, series), file).in_columns(columns)
}

/// The CPU budget of the mix, and what its calls take; `None` without a complete round.
pub(crate) fn decision(parts: &Arc<PartEvaluations>) -> Option<Charts> {
    let all = Arc::clone(parts);
    let draw = move |series: &[Series]| {
        let drawn = |layout: &budget::BarLayout| {
            let budget = all.record(Part::Own).and_then(|own| budget::budget(own, series, layout));
            // What decides goes first.
            mix_times::mix_times(&all, series, layout).into_iter().chain(budget).collect()
        };
        [(ChartLayout::Two, &budget::WIDE), (ChartLayout::Narrow, &budget::NARROW)]
            .map(|(kind, layout)| Gallery { layout: kind, charts: drawn(layout) })
            .into()
    };
    (parts.main().rounds > 0).then(|| Charts::of(series(parts.main()), draw, "decision.svg"))
}
