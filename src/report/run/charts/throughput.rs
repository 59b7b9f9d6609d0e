//! Calls per second over time, within a round by slices and from round to round, and latency from round to round.

use crate::report::document::chart::{
    Chart, ChartLayout, Gallery, Series, axis::Axis, gallery, lines::Line, lines::Lines,
};
use crate::report::document::format::{count, short, three, time};
use crate::report::run::{Evaluation, StrategyResults};
use crate::stats::RoundTimes;

/// The most marks that are distinguishable.
const MARKS: usize = 16;

/// Draws the charts for which the run has data.
pub fn throughput(run: &Evaluation, series: &[Series]) -> Vec<Gallery> {
    let rates = within(run, series).into_iter().chain(rates_of_rounds(run, series));
    let medians = latency(run, series, ("p50", "median", |times| times.median));
    let high = latency(run, series, ("p99", "99th percentile", |times| times.p99));
    gallery(ChartLayout::Two, rates.chain(medians).chain(high).collect())
}

fn rate(value: f64) -> String {
    if value >= 10_000.0 { format!("{} k", short(&three(value / 1e3))) } else { count(value.round() as u64) }
}

fn within(run: &Evaluation, series: &[Series]) -> Option<Chart> {
    let slices = run.strategies.iter().map(|strategy| strategy.slice_rates.len()).max().filter(|slices| *slices > 1)?;
    let every = slices.div_ceil(MARKS);
    let lines = series.iter().zip(&run.strategies).map(|(series, strategy)| {
        let known = strategy.slice_rates.iter().enumerate().filter_map(|(slice, rate)| Some((slice, (*rate)?)));
        let points = known.map(|(slice, rate)| (slice as f64, rate.median, Some((rate.low, rate.high))));
        let mut line = Line::through(series, points.collect(), |slice, median| {
            format!("{}, slice {} of {slices}: {} calls per second", series.name, slice + 1.0, three(median))
        });
        line.marks.retain(|(slice, ..)| (*slice as usize).is_multiple_of(every));
        line
    });
    let lines = Lines {
        id: "throughput-slices".into(),
        title: "Within a round".into(),
        remark: "calls per second".into(),
        description: format!(
            "Calls per second of each of {slices} slices, the median over the rounds, a line per strategy."
        ),
        axis: Axis::of_items(slices, "slice", "median of the rounds, shaded: their middle half"),
        is_log: false,
        unit: &rate,
        lines: lines.collect(),
    };
    Some(lines.draw())
}

/// A quantity from round to round: `chart` has its texts, and `text` writes a value in a tooltip. `None` with a single round or
/// without values.
fn of_rounds<'c>(
    run: &Evaluation,
    series: &'c [Series],
    chart: impl Fn(usize) -> Lines<'c>,
    text: impl Fn(f64) -> String,
    value: impl Fn(&StrategyResults, usize) -> Option<f64>,
) -> Option<Chart> {
    let rounds = usize::try_from(run.rounds).ok().filter(|rounds| *rounds > 1)?;
    let lines = series.iter().zip(&run.strategies).map(|(series, strategy)| {
        let points = (0..rounds).filter_map(|round| Some((round as f64, value(strategy, round)?, None)));
        Line::through(series, points.collect(), |round, value| {
            format!("{}, round {} of {rounds}: {}", series.name, round + 1.0, text(value))
        })
    });
    let chart = Lines { lines: lines.collect(), ..chart(rounds) };
    chart.lines.iter().any(|line| !line.points.is_empty()).then(|| chart.draw())
}

fn rates_of_rounds(run: &Evaluation, series: &[Series]) -> Option<Chart> {
    let chart = |rounds: usize| Lines {
        id: "throughput-rounds".into(),
        title: "From round to round".into(),
        remark: "calls per second".into(),
        description: format!("Calls per second of each of {rounds} rounds, a line per strategy."),
        axis: Axis::of_items(rounds, "round", "all slices of a round"),
        is_log: false,
        unit: &rate,
        lines: Vec::new(),
    };
    let text = |rate: f64| format!("{} calls per second", three(rate));
    of_rounds(run, series, chart, text, |strategy, round| *strategy.round_rates.get(round)?)
}

/// A quantile: its short and full name, and how to read it.
type Quantile = (&'static str, &'static str, fn(&RoundTimes) -> Option<u64>);

fn latency(run: &Evaluation, series: &[Series], (name, long_name, of): Quantile) -> Option<Chart> {
    let kind = run.times();
    let chart = |rounds: usize| Lines {
        id: format!("latency-rounds-{name}"),
        title: format!("{name} from round to round"),
        remark: format!("{kind} time"),
        description: format!("The {long_name} of the {kind} times of each of {rounds} rounds, a line per strategy."),
        axis: Axis::of_items(rounds, "round", "all operations of the mix"),
        is_log: false,
        unit: &|value| short(&time(value)),
        lines: Vec::new(),
    };
    let text = |nanoseconds: f64| format!("{name} {}", time(nanoseconds));
    of_rounds(run, series, chart, text, |strategy, round| Some(of(strategy.round_times.get(round)?)? as f64))
}
