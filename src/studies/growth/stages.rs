//! Times and sizes while documents grow, over the calls.

use crate::report::document::chart::axis::Axis;
use crate::report::document::chart::lines::{Lines, StrategyLine};
use crate::report::document::chart::series::Series;
use crate::report::document::chart::{Chart, Gallery, with_legend};
use crate::report::document::format::{count, short};

/// A value of all strategies over the stages.
#[derive(Debug, Clone)]
pub struct StageChart {
    /// What it shows.
    pub title: String,
    /// Of which kind its values are.
    pub remark: &'static str,
    /// The operation whose calls let documents grow.
    pub operation: String,
    /// Writes a value.
    pub unit: fn(f64) -> String,
    /// The strategies, over the calls.
    pub lines: Vec<StrategyLine>,
}

/// All charts, two in a row. Their ids in the page start with `id`.
pub(crate) fn stages(id: &str, charts: &[StageChart], series: &[Series]) -> Vec<Gallery> {
    with_legend(series, charts.iter().enumerate().map(|(place, chart)| chart.draw(format!("{id}-{place}"), series)))
}

impl StageChart {
    fn draw(&self, id: String, series: &[Series]) -> Chart {
        let words = |name: &str, calls: f64, value: f64| {
            format!("{name}: {} after {} calls", (self.unit)(value), count(calls as u64))
        };
        let calls = self.lines.iter().flat_map(|line| &line.points).map(|(calls, ..)| *calls);
        let lines = Lines {
            id,
            title: self.title.clone(),
            remark: self.remark.to_owned(),
            description: format!("{}: {}, over the calls of {}.", self.title, self.remark, self.operation),
            axis: Axis::of_counts("calls", &format!("calls of {}", self.operation), calls),
            is_log: true,
            unit: &|value| short(&(self.unit)(value)),
            lines: self.lines.iter().filter_map(|line| line.with_look(series, words)).collect(),
        };
        lines.draw()
    }
}
