//! The charts of a sweep: ratios of strategies over a condition, and the fastest strategy over two.

use crate::report::document::chart::axis::Axis;
use crate::report::document::chart::lines::{Line, Lines, StrategyLine};
use crate::report::document::chart::series::Series;
use crate::report::document::chart::svg::Svg;
use crate::report::document::chart::{Chart, Gallery, cut, with_legend};
use crate::report::document::format::{short, three};

/// The ratios of the strategies in one operation.
#[derive(Debug, Clone)]
pub struct RatioChart {
    /// The operation.
    pub title: String,
    /// What was varied.
    pub condition: String,
    /// The values with their labels.
    pub values: Vec<(f64, String)>,
    /// The baseline.
    pub baseline: usize,
    /// The other strategies: ratios of their times to the baseline's, over the condition. Bands are where the order of a strategy
    /// and the baseline flips.
    pub lines: Vec<StrategyLine>,
}

/// The fastest strategies of an operation over two conditions.
#[derive(Debug, Clone)]
pub struct WinnerMap {
    /// The operation.
    pub title: String,
    /// The names of the conditions.
    pub conditions: [String; 2],
    /// The values of the first condition.
    pub columns: Vec<String>,
    /// The values of the second condition with a cell for each value of the first one.
    pub rows: Vec<(String, Vec<WinnerCell>)>,
}

/// A cell of a [`WinnerMap`].
#[derive(Debug, Clone)]
pub struct WinnerCell {
    /// The strategy that is faster than every other one; `None` where none is shown to be.
    pub winner: Option<usize>,
    /// What is written into it.
    pub text: String,
    /// The text of the tooltip.
    pub words: String,
}

/// The ratios of all operations, two charts in a row.
pub(crate) fn ratios(charts: &[RatioChart], series: &[Series]) -> Vec<Gallery> {
    with_legend(series, charts.iter().enumerate().map(|(place, chart)| chart.draw(place, series)))
}

/// The fastest strategies of all operations.
pub(crate) fn winners(maps: &[WinnerMap], series: &[Series]) -> Vec<Gallery> {
    with_legend(series, maps.iter().enumerate().map(|(place, map)| map.draw(place, series)))
}

impl RatioChart {
    fn draw(&self, place: usize, series: &[Series]) -> Chart {
        let words = |name: &str, x: f64, ratio: f64| format!("{name}: {} times at {}", three(ratio), self.label(x));
        let baseline = series.get(self.baseline);
        let one = self.values.iter().map(|(x, _)| (*x, 1.0, None)).collect();
        let baseline_line = baseline.map(|series| Line::of(series, one, Vec::new()));
        let lines = self.lines.iter().filter_map(|line| line.with_look(series, words).map(clipped));
        let lines = Lines {
            id: format!("sweep-{place}"),
            title: self.title.clone(),
            remark: String::new(),
            description: format!(
                "{}: the time of every strategy divided by that of {}, over {}.",
                self.title,
                baseline.map_or("", |series| series.name.as_str()),
                self.condition
            ),
            axis: Axis::of_values(&self.condition, &self.values),
            is_log: true,
            unit: &|value| short(&three(value)),
            lines: baseline_line.into_iter().chain(lines).collect(),
        };
        lines.draw()
    }

    fn label(&self, x: f64) -> &str {
        self.values.iter().find(|(value, _)| *value == x).map_or("", |(_, label)| label)
    }
}

/// A line whose intervals are not so wide that nothing else could be seen.
fn clipped(mut line: Line) -> Line {
    const WIDEST: f64 = 5.0;
    for (_, ratio, ends) in &mut line.points {
        *ends = ends.map(|(low, high)| (low.max(*ratio / WIDEST), high.min(*ratio * WIDEST)));
    }
    line
}

impl WinnerMap {
    fn draw(&self, place: usize, series: &[Series]) -> Chart {
        const LEFT: f64 = 86.0;
        const TOP: f64 = 44.0;
        const WIDTH: f64 = 400.0;
        const ROW: f64 = 34.0;
        let mut svg = Svg::default();
        let wide = (WIDTH - LEFT) / self.columns.len().max(1) as f64;
        svg.text("head", (0.0, 16.0), &cut(&self.title, 34));
        svg.text("note e", (LEFT - 8.0, TOP - 10.0), &cut(&self.conditions[1], 14));
        for (row, (label, cells)) in self.rows.iter().enumerate() {
            let top = TOP + ROW * row as f64;
            svg.text("tick e", (LEFT - 8.0, top + 20.0), label);
            for (column, cell) in cells.iter().enumerate() {
                let left = LEFT + wide * column as f64;
                let class = cell.winner.and_then(|winner| series.get(winner)).map_or("none".to_owned(), Series::class);
                svg.group(&format!("mark {class}"), &cell.words, |svg| {
                    svg.rect(
                        if cell.winner.is_some() { "cell" } else { "cell none" },
                        (left + 1.0, top + 1.0),
                        wide - 2.0,
                        ROW - 2.0,
                    );
                    svg.text("tick m", (left + wide / 2.0, top + 20.0), &cut(&cell.text, (wide / 7.0) as usize));
                });
            }
        }
        let bottom = TOP + ROW * self.rows.len() as f64;
        for (column, label) in self.columns.iter().enumerate() {
            svg.text("tick m", (LEFT + wide * (column as f64 + 0.5), bottom + 16.0), label);
        }
        svg.text("note e", (WIDTH, bottom + 34.0), &self.conditions[0]);
        let cells = self.rows.iter().flat_map(|(_, cells)| cells.iter().map(|cell| cell.words.as_str()));
        let description = format!("{}: {}.", self.title, cells.collect::<Vec<_>>().join("; "));
        Chart { id: format!("winners-{place}"), description, size: (WIDTH, bottom + 42.0), body: svg }
    }
}
