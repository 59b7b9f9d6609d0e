//! Calls per second over time, within a round by slices and from round to round, and latency from round to round.

use crate::report::document::chart::Chart;
use crate::report::document::chart::axis::Axis;
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

/// A quantity from round to round; `None` with a single round or without values.
struct OverRounds<'c> {
    id: String,
    title: String,
    remark: String,
    description: String,
    /// What the rounds contain.
    label: &'c str,
    /// Formats values of the axis, and that value in a tooltip.
    units: [&'c dyn Fn(f64) -> String; 2],
    value: &'c dyn Fn(&StrategyResults, usize) -> Option<f64>,
}

impl OverRounds<'_> {
    fn draw(self, run: &Evaluation, series: &[Series]) -> Option<Chart> {
        let rounds = usize::try_from(run.rounds).ok().filter(|rounds| *rounds > 1)?;
        let [unit, text] = self.units;
        let lines = series.iter().zip(&run.strategies).map(|(series, strategy)| {
            let points = (0..rounds).filter_map(|round| Some((round as f64, (self.value)(strategy, round)?, None)));
            Line::through(series, points.collect(), |round, value| {
                format!("{}, round {} of {rounds}: {}", series.name, round + 1.0, text(value))
            })
        });
        let chart = Lines {
            id: self.id,
            title: self.title,
            remark: self.remark,
            description: format!("{} of each of {rounds} rounds, a line per strategy.", self.description),
            axis: Axis::of_items(rounds, "round", self.label),
            is_log: false,
            unit,
            lines: lines.collect(),
        };
        chart.lines.iter().any(|line| !line.points.is_empty()).then(|| chart.draw())
    }
}

fn rates_of_rounds(run: &Evaluation, series: &[Series]) -> Option<Chart> {
    let chart = OverRounds {
        id: "throughput-rounds".into(),
        title: "From round to round".into(),
        remark: "calls per second".into(),
        description: "Calls per second".into(),
        label: "all slices of a round",
        units: [&rate, &|value| format!("{} calls per second", three(value))],
        value: &|strategy, round| *strategy.round_rates.get(round)?,
    };
    chart.draw(run, series)
}

/// A quantile: its short and full name, and how to read it.
type Quantile = (&'static str, &'static str, fn(&RoundTimes) -> Option<u64>);

fn latency(run: &Evaluation, series: &[Series], (name, long_name, of): Quantile) -> Option<Chart> {
    let kind = run.times();
    let chart = OverRounds {
        id: format!("latency-rounds-{name}"),
        title: format!("{name} from round to round"),
        remark: format!("{kind} time"),
        description: format!("The {long_name} of the {kind} times"),
        label: "all operations of the mix",
        units: [&|value| short(&time(value)), &|value| format!("{name} {}", time(value))],
        value: &|strategy, round| Some(of(strategy.round_times.get(round)?)? as f64),
    };
    chart.draw(run, series)
}
