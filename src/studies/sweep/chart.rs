//! The charts of a sweep: ratios of strategies over a condition, and the fastest strategy over two.

use crate::report::document::chart::lines::{Line, Lines};
use crate::report::document::chart::series::Series;
use crate::report::document::chart::svg::Svg;
use crate::report::document::chart::{Chart, Gallery, Layout, cut, with_legend};
use crate::report::document::format::{short, three};

/// Labels of an axis at most.
const TICKS: usize = 7;

/// Value of the condition, ratio, and the ends of its interval.
pub type RatioPoint = (f64, f64, Option<(f64, f64)>);

/// The ratio of a strategy's time to the baseline's, over a condition.
#[derive(Debug, Clone)]
pub struct RatioLine {
    /// The strategy.
    pub strategy: usize,
    /// In the order of the values.
    pub points: Vec<RatioPoint>,
}

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
    /// The other strategies.
    pub lines: Vec<RatioLine>,
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
    let drawn = charts.iter().enumerate().map(|(place, chart)| chart.draw(place, series)).collect();
    with_legend(series, Gallery { layout: Layout::Two, charts: drawn })
}

/// The fastest strategies of all operations.
pub(crate) fn winners(maps: &[WinnerMap], series: &[Series]) -> Vec<Gallery> {
    let drawn = maps.iter().enumerate().map(|(place, map)| map.draw(place, series)).collect();
    with_legend(series, Gallery { layout: Layout::Two, charts: drawn })
}

impl RatioChart {
    fn draw(&self, place: usize, series: &[Series]) -> Chart {
        let is_log = self.values.iter().all(|(value, _)| *value > 0.0);
        let position = |value: f64| if is_log { value.ln() } else { value };
        let ends = self.values.iter().map(|(value, _)| position(*value));
        let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        let across = |value: f64| if high > low { (position(value) - low) / (high - low) } else { 0.5 };
        let mut lines = Vec::new();
        if let Some(baseline) = series.get(self.baseline) {
            lines.push(Line {
                series: baseline,
                points: vec![(0.0, 1.0), (1.0, 1.0)],
                band: Vec::new(),
                marks: Vec::new(),
            });
        }
        for line in &self.lines {
            let Some(series) = series.get(line.strategy) else { continue };
            let words = |x: f64, ratio: f64| format!("{}: {} times at {}", series.name, three(ratio), self.label(x));
            lines.push(Line {
                series,
                points: line.points.iter().map(|(x, ratio, _)| (across(*x), *ratio)).collect(),
                band: line.points.iter().filter_map(|point| clipped(point, &across)).collect(),
                marks: line.points.iter().map(|(x, ratio, _)| (across(*x), *ratio, words(*x, *ratio))).collect(),
            });
        }
        let step = self.values.len().div_ceil(TICKS).max(1);
        let baseline = series.get(self.baseline).map_or("", |series| series.name.as_str());
        let lines = Lines {
            id: format!("sweep-{place}"),
            title: self.title.clone(),
            remark: String::new(),
            description: format!(
                "{}: the time of every strategy divided by that of {baseline}, over {}.",
                self.title, self.condition
            ),
            x_label: &self.condition,
            axis: (&self.condition, 1.0),
            x_ticks: self.values.iter().step_by(step).map(|(x, label)| (across(*x), label.clone())).collect(),
            is_log: true,
            unit: &|value| short(&three(value)),
            lines,
        };
        lines.draw()
    }

    fn label(&self, x: f64) -> &str {
        self.values.iter().find(|(value, _)| *value == x).map_or("", |(_, label)| label)
    }
}

/// The interval of a point, without what is so wide that nothing else could be seen.
fn clipped((x, ratio, ends): &RatioPoint, across: &impl Fn(f64) -> f64) -> Option<(f64, f64, f64)> {
    const WIDEST: f64 = 5.0;
    let (low, high) = (*ends)?;
    Some((across(*x), low.max(ratio / WIDEST), high.min(ratio * WIDEST)))
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
