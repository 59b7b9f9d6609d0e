//! Times and sizes while documents grow, over the calls.

use crate::report::document::chart::lines::{Line, Lines};
use crate::report::document::chart::series::Series;
use crate::report::document::chart::{Chart, Gallery, Layout, with_legend};
use crate::report::document::format::{count, short};

/// Calls, value, and the ends of its interval.
pub type ValueAtStage = (u64, f64, Option<(f64, f64)>);

/// A strategy over the stages.
#[derive(Debug, Clone)]
pub struct StageLine {
    /// The strategy.
    pub strategy: usize,
    /// In the order of the stages.
    pub points: Vec<ValueAtStage>,
}

/// A value of all strategies over the stages.
#[derive(Debug, Clone)]
pub struct StageChart {
    /// What it shows.
    pub title: String,
    /// Of which kind its values are.
    pub remark: String,
    /// The operation whose calls let documents grow.
    pub operation: String,
    /// Writes a value.
    pub unit: fn(f64) -> String,
    /// The strategies.
    pub lines: Vec<StageLine>,
}

/// All charts, two in a row. Their ids in the page start with `id`.
pub(crate) fn stages(id: &str, charts: &[StageChart], series: &[Series]) -> Vec<Gallery> {
    let drawn = charts.iter().enumerate().map(|(place, chart)| chart.draw(format!("{id}-{place}"), series)).collect();
    with_legend(series, Gallery { layout: Layout::Two, charts: drawn })
}

impl StageChart {
    fn draw(&self, id: String, series: &[Series]) -> Chart {
        let calls = || self.lines.iter().flat_map(|line| &line.points).map(|(calls, _, _)| (*calls).max(1));
        let low = calls().min().unwrap_or(1) as f64;
        let high = calls().max().unwrap_or(1) as f64;
        let across = |calls: f64| if high > low { (calls / low).ln() / (high / low).ln() } else { 0.5 };
        let powers = (0..9).map(|power| 10_u64.pow(power)).filter(|calls| (low..=high).contains(&(*calls as f64)));
        let lines = self.lines.iter().filter_map(|line| {
            let series = series.get(line.strategy)?;
            let at = |calls: u64| across(calls.max(1) as f64);
            let band = |(calls, _, ends): &ValueAtStage| ends.map(|(low, high)| (at(*calls), low, high));
            let words = |calls: u64, value: f64| {
                format!("{}: {} after {} calls", series.name, (self.unit)(value), count(calls))
            };
            Some(Line {
                series,
                points: line.points.iter().map(|(calls, value, _)| (at(*calls), *value)).collect(),
                band: line.points.iter().filter_map(band).collect(),
                marks: line
                    .points
                    .iter()
                    .map(|(calls, value, _)| (at(*calls), *value, words(*calls, *value)))
                    .collect(),
            })
        });
        let lines = Lines {
            id,
            title: self.title.clone(),
            remark: self.remark.clone(),
            description: format!("{}: {}, over the calls of {}.", self.title, self.remark, self.operation),
            x_label: &format!("calls of {}", self.operation),
            axis: ("calls", 1.0),
            x_ticks: powers.map(|calls| (across(calls as f64), count(calls))).collect(),
            is_log: true,
            unit: &|value| short(&(self.unit)(value)),
            lines: lines.collect(),
        };
        lines.draw()
    }
}
