//! Lines over an axis: the frame that percentiles and throughput share.

use super::Chart;
use super::scale::Scale;
use super::series::Series;
use super::svg::{Point, Svg, path};

/// The size of one chart; several are shown side by side.
const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 244.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = WIDTH - 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = HEIGHT - 42.0;

/// A line chart.
pub struct Lines<'c> {
    /// Its id in the page.
    pub id: String,
    /// Title above the chart, left.
    pub title: String,
    /// Remark above the chart, right.
    pub remark: String,
    /// The description for screen readers.
    pub description: String,
    /// The label of the x axis.
    pub x_label: &'c str,
    /// What the x axis shows, and its value at the right end: charts of the same axis share a cross-hair.
    pub axis: (&'c str, f64),
    /// The tick labels of the x axis, with positions from 0 to 1.
    pub x_ticks: Vec<(f64, String)>,
    /// Whether the y axis is logarithmic.
    pub is_log: bool,
    /// Formats values of the y axis.
    pub unit: &'c dyn Fn(f64) -> String,
    /// The lines.
    pub lines: Vec<Line<'c>>,
}

/// One line.
pub struct Line<'c> {
    /// The strategy.
    pub series: &'c Series,
    /// Positions on the x axis (0 to 1) with values.
    pub points: Vec<(f64, f64)>,
    /// Positions with the lower and upper end of the values' range.
    pub band: Vec<(f64, f64, f64)>,
    /// Points with a marker and a tooltip.
    pub marks: Vec<(f64, f64, String)>,
}

/// Converts a position from 0 to 1 to an x coordinate.
fn across(share: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * share.clamp(0.0, 1.0)
}

impl Lines<'_> {
    /// Draws the chart.
    pub fn draw(&self) -> Chart {
        self.draw_with(self.values())
    }

    /// Draws charts of which those in a row of `columns` share their y axis, so that heights compare.
    pub fn draw_rows(charts: &[Lines], columns: usize) -> Vec<Chart> {
        let row = |row: &[Lines]| -> Vec<Chart> {
            row.iter().map(|chart| chart.draw_with(row.iter().flat_map(Lines::values))).collect()
        };
        charts.chunks(columns.max(1)).flat_map(row).collect()
    }

    /// All values of the y axis.
    fn values(&self) -> impl Iterator<Item = f64> {
        let bands = self.lines.iter().flat_map(|line| &line.band).flat_map(|(_, low, high)| [*low, *high]);
        self.lines.iter().flat_map(|line| &line.points).map(|(_, value)| *value).chain(bands)
    }

    /// Draws the chart with a y axis for these values.
    fn draw_with(&self, values: impl Iterator<Item = f64>) -> Chart {
        let mut svg = Svg::default();
        let axis = if self.is_log { Scale::log(values, BOTTOM, TOP) } else { Scale::linear(values, BOTTOM, TOP, 5) };
        svg.plane(self.axis.0, self.axis.1, (LEFT, TOP), (RIGHT - LEFT, BOTTOM - TOP));
        self.frame(&mut svg, &axis);
        // The repeat is drawn first, so that it does not hide the baseline.
        let (repeats, others): (Vec<_>, Vec<_>) = self.lines.iter().partition(|line| line.series.is_repeat());
        repeats.into_iter().chain(others).for_each(|line| line.draw(&mut svg, &axis));
        Chart { id: self.id.clone(), description: self.description.clone(), size: (WIDTH, HEIGHT), body: svg }
    }

    fn frame(&self, svg: &mut Svg, axis: &Scale) {
        svg.text("head", (0.0, 16.0), &super::cut(&self.title, if self.remark.is_empty() { 48 } else { 26 }));
        svg.text("note e", (RIGHT, 16.0), &self.remark);
        for tick in axis.ticks(6) {
            let y = axis.at(tick);
            svg.line("grid", (LEFT, y), (RIGHT, y));
            svg.text("tick e", (LEFT - 8.0, y + 4.0), &(self.unit)(tick));
        }
        for (share, text) in &self.x_ticks {
            let x = across(*share);
            svg.line("grid", (x, TOP), (x, BOTTOM));
            svg.text("tick m", (x, BOTTOM + 16.0), text);
        }
        svg.line("axis", (LEFT, BOTTOM), (RIGHT, BOTTOM));
        svg.text("note e", (RIGHT, BOTTOM + 34.0), self.x_label);
    }
}

impl Line<'_> {
    fn draw(&self, svg: &mut Svg, axis: &Scale) {
        let at = |share: f64, value: f64| -> Point { (across(share), axis.at(value)) };
        svg.group(&self.series.class(), "", |svg| {
            if self.band.len() > 1 {
                let upper = self.band.iter().map(|(share, _, high)| at(*share, *high));
                let lower = self.band.iter().rev().map(|(share, low, _)| at(*share, *low));
                svg.path("spread", &(path(&upper.chain(lower).collect::<Vec<_>>()) + "Z"));
            }
            let points: Vec<Point> = self.points.iter().map(|(share, value)| at(*share, *value)).collect();
            if points.len() > 1 {
                svg.path("curve", &path(&points));
            }
            for (share, value, words) in &self.marks {
                svg.group("mark", words, |svg| {
                    self.series.marker(svg, "dot", at(*share, *value), 3.4);
                    svg.circle("hit", at(*share, *value), 9.0);
                });
            }
        });
    }
}
