//! The charts of a run.

pub(crate) mod budget;
pub(crate) mod cost;
pub(crate) mod forest;
pub(crate) mod mix_times;
pub(crate) mod percentiles;
pub(crate) mod sizes;
pub(crate) mod throughput;

use std::sync::Arc;

use crate::report::document::chart::{Charts, Gallery, Layout, Series, gallery};

use super::evaluation::{Evaluation, OperationResults};

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

/// The CPU budget of the mix, and what its calls take.
pub(crate) fn decision(
    own: Option<&Evaluation>,
    mix: &Evaluation,
    rates: &[Option<f64>],
    series: &[Series],
) -> Vec<Gallery> {
    let budget = own.and_then(|own| budget::budget(own.costs.budgets.as_ref()?, series));
    gallery(Layout::Two, budget.into_iter().chain(mix_times::mix_times(mix, rates, series)).collect())
}

/// The forest plot.
pub(crate) fn forest(run: &Evaluation, series: &[Series]) -> Vec<Gallery> {
    gallery(Layout::Whole, forest::forest(run, series).into_iter().flatten().collect())
}

/// Latency by percentile.
pub(crate) fn percentiles(run: &Evaluation, series: &[Series]) -> Vec<Gallery> {
    gallery(Layout::Two, percentiles::percentiles(run, series))
}

/// Throughput and latency over time.
pub(crate) fn throughput(run: &Evaluation, series: &[Series]) -> Vec<Gallery> {
    gallery(Layout::Two, throughput::throughput(run, series))
}

/// The size of collections.
pub(crate) fn sizes(run: &Evaluation, series: &[Series]) -> Vec<Gallery> {
    gallery(Layout::Small, sizes::sizes(run, series))
}

/// The cost of a call of the mix.
pub(crate) fn mix_cost(run: &Evaluation, series: &[Series]) -> Vec<Gallery> {
    gallery(Layout::Small, cost::mix(run, series))
}

/// The title of an operation's chart.
pub(crate) fn title(row: &OperationResults) -> String {
    row.label().to_owned()
}
