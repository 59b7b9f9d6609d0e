//! Calls per second over time, within a round by slices and from round to round, and latency from round to round.

use crate::report::document::chart::Chart;
use crate::report::document::chart::lines::{Line, Lines};
use crate::report::document::chart::series::Series;
use crate::report::document::format::{count, short, three, time};
use crate::report::run::evaluation::{Evaluation, StrategyResults};
use crate::stats::RoundTimes;

/// The most marks that are distinguishable.
const MARKS: usize = 16;

/// Draws the charts for which the run has data.
pub fn throughput(run: &Evaluation, series: &[Series]) -> Vec<Chart> {
    let rates = within(run, series).into_iter().chain(rates_of_rounds(run, series));
    let medians = latency(run, series, ("p50", "median", |times| times.median));
    let high = latency(run, series, ("p99", "99th percentile", |times| times.p99));
    rates.chain(medians).chain(high).collect()
}

/// Returns the position of one of several items on an axis.
fn place(one: usize, of: usize) -> f64 {
    if of > 1 { 0.02 + 0.96 * one as f64 / (of - 1) as f64 } else { 0.5 }
}

/// Returns labels for the first item, the last one, and some between.
fn ticks(of: usize, name: &str) -> Vec<(f64, String)> {
    let every = of.saturating_sub(1).div_ceil(7).max(1);
    let shown = (0..of).step_by(every);
    shown.map(|one| (place(one, of), if one == 0 { format!("{name} 1") } else { (one + 1).to_string() })).collect()
}

fn rate(value: f64) -> String {
    if value >= 10_000.0 { format!("{} k", short(&three(value / 1e3))) } else { count(value.round() as u64) }
}

fn within(run: &Evaluation, series: &[Series]) -> Option<Chart> {
    let slices = run.strategies.iter().map(|strategy| strategy.slice_rates.len()).max().filter(|slices| *slices > 1)?;
    let every = slices.div_ceil(MARKS);
    let lines = series.iter().zip(&run.strategies).map(|(series, strategy)| {
        let known = || strategy.slice_rates.iter().enumerate().filter_map(|(one, rate)| Some((one, (*rate)?)));
        let words = |one: usize, median: f64| {
            format!("{}, slice {} of {slices}: {} calls per second", series.name, one + 1, three(median))
        };
        let marked = known().filter(|(one, _)| one % every == 0);
        Line {
            series,
            points: known().map(|(one, rate)| (place(one, slices), rate.median)).collect(),
            band: known().map(|(one, rate)| (place(one, slices), rate.low, rate.high)).collect(),
            marks: marked.map(|(one, rate)| (place(one, slices), rate.median, words(one, rate.median))).collect(),
        }
    });
    let lines = Lines {
        id: "throughput-slices".into(),
        title: "Within a round".into(),
        remark: "calls per second".into(),
        description: format!(
            "Calls per second of each of {slices} slices, the median over the rounds, a line per strategy."
        ),
        x_label: "median of the rounds, shaded: their middle half",
        axis: ("slice", 1.0),
        x_ticks: ticks(slices, "slice"),
        is_log: false,
        unit: &rate,
        lines: lines.collect(),
    };
    Some(lines.draw())
}

/// A quantity of the rounds: its chart without lines, its value in a round, and that value in a tooltip.
struct OverRounds<'c> {
    chart: Lines<'c>,
    value: &'c dyn Fn(&StrategyResults, usize) -> Option<f64>,
    text: &'c dyn Fn(f64) -> String,
}

impl<'c> OverRounds<'c> {
    /// Draws the chart; `None` with a single round or without values.
    fn draw(self, run: &Evaluation, series: &'c [Series]) -> Option<Chart> {
        let rounds = usize::try_from(run.rounds).ok().filter(|rounds| *rounds > 1)?;
        let lines = series.iter().zip(&run.strategies).map(|(series, strategy)| {
            let known = || (0..rounds).filter_map(|one| Some((one, (self.value)(strategy, one)?)));
            let words = |one: usize, value: f64| {
                format!("{}, round {} of {rounds}: {}", series.name, one + 1, (self.text)(value))
            };
            Line {
                series,
                points: known().map(|(one, value)| (place(one, rounds), value)).collect(),
                band: Vec::new(),
                marks: known().map(|(one, value)| (place(one, rounds), value, words(one, value))).collect(),
            }
        });
        let chart = Lines { x_ticks: ticks(rounds, "round"), lines: lines.collect(), ..self.chart };
        chart.lines.iter().any(|line| !line.points.is_empty()).then(|| chart.draw())
    }
}

fn rates_of_rounds(run: &Evaluation, series: &[Series]) -> Option<Chart> {
    let chart = Lines {
        id: "throughput-rounds".into(),
        title: "From round to round".into(),
        remark: "calls per second".into(),
        description: format!("Calls per second of each of {} rounds, a line per strategy.", run.rounds),
        x_label: "all slices of a round",
        axis: ("round", 1.0),
        x_ticks: Vec::new(),
        is_log: false,
        unit: &rate,
        lines: Vec::new(),
    };
    let value = |strategy: &StrategyResults, round: usize| *strategy.round_rates.get(round)?;
    let text = |value: f64| format!("{} calls per second", three(value));
    OverRounds { chart, value: &value, text: &text }.draw(run, series)
}

/// A quantile: its short and full name, and how to read it.
type Quantile = (&'static str, &'static str, fn(&RoundTimes) -> Option<u64>);

fn latency(run: &Evaluation, series: &[Series], (short, name, of): Quantile) -> Option<Chart> {
    let (kind, rounds) = (run.times(), run.rounds);
    let chart = Lines {
        id: format!("latency-rounds-{short}"),
        title: format!("{short} from round to round"),
        remark: format!("{kind} time"),
        description: format!("The {name} of the {kind} times of each of {rounds} rounds, a line per strategy."),
        x_label: "all operations of the mix",
        axis: ("round", 1.0),
        x_ticks: Vec::new(),
        is_log: false,
        unit: &|value| crate::report::document::format::short(&time(value)),
        lines: Vec::new(),
    };
    let value = |strategy: &StrategyResults, round: usize| Some(of(strategy.round_times.get(round)?)? as f64);
    let text = |value: f64| format!("{short} {}", time(value));
    OverRounds { chart, value: &value, text: &text }.draw(run, series)
}
