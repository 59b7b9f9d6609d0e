//! Lines over an axis: the frame that percentiles and throughput share.

use super::Chart;
use super::axis::Axis;
use super::scale::Scale;
use super::series::Series;
use super::svg::{Point, Svg, path};

/// The size of one chart; several are shown side by side.
const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 244.0;
pub(super) const LEFT: f64 = 60.0;
pub(super) const RIGHT: f64 = WIDTH - 20.0;
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
    /// The x axis.
    pub axis: Axis,
    /// Whether the y axis is logarithmic.
    pub is_log: bool,
    /// Formats values of the y axis.
    pub unit: &'c dyn Fn(f64) -> String,
    /// The lines.
    pub lines: Vec<Line<'c>>,
}

/// A part of the x axis that is shaded in the look of a line.
#[derive(Debug, Clone)]
pub struct Band {
    /// Its ends on the x axis.
    pub ends: (f64, f64),
    /// The tooltip.
    pub words: String,
}

/// A point of a line: where it is on the x axis, its value, and the ends of the value's range.
pub type LinePoint = (f64, f64, Option<(f64, f64)>);

/// The points of a strategy, before it has a look.
#[derive(Debug, Clone)]
pub struct StrategyLine {
    /// The strategy.
    pub strategy: usize,
    /// In the order of the x axis.
    pub points: Vec<LinePoint>,
    /// Shaded parts.
    pub bands: Vec<Band>,
}

impl StrategyLine {
    /// The line in the strategy's look; `words` are the tooltip of a point. `None` without such a series.
    pub fn with_look<'c>(&self, series: &'c [Series], words: impl Fn(&str, f64, f64) -> String) -> Option<Line<'c>> {
        let series = series.get(self.strategy)?;
        let line = Line::through(series, self.points.clone(), |x, value| words(&series.name, x, value));
        Some(Line { bands: self.bands.clone(), ..line })
    }
}

/// One line.
pub struct Line<'c> {
    /// The strategy.
    pub series: &'c Series,
    /// Its points.
    pub points: Vec<LinePoint>,
    /// Points with a marker and a tooltip.
    pub marks: Vec<(f64, f64, String)>,
    /// Points without a value, which are marked above all values.
    pub above: Vec<OffScale>,
    /// Shaded parts.
    pub bands: Vec<Band>,
}

/// A point without a value.
#[derive(Debug, Clone)]
pub struct OffScale {
    /// Where it is on the x axis.
    pub x: f64,
    /// Its place among those of other lines there, from the top.
    pub slot: usize,
    /// What is written beside it.
    pub label: String,
    /// The tooltip.
    pub words: String,
}

/// The height of a slot for points without a value.
const SLOT: f64 = 15.0;

impl<'c> Line<'c> {
    /// A line whose points all have a marker with a tooltip.
    pub fn through(series: &'c Series, points: Vec<LinePoint>, words: impl Fn(f64, f64) -> String) -> Line<'c> {
        let marks = points.iter().map(|(x, value, _)| (*x, *value, words(*x, *value))).collect();
        Line::of(series, points, marks)
    }

    /// A line with these markers.
    pub fn of(series: &'c Series, points: Vec<LinePoint>, marks: Vec<(f64, f64, String)>) -> Line<'c> {
        Line { series, points, marks, above: Vec::new(), bands: Vec::new() }
    }
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
        let points = self.lines.iter().flat_map(|line| &line.points);
        points
            .flat_map(|(_, value, range)| [Some(*value), range.map(|ends| ends.0), range.map(|ends| ends.1)])
            .flatten()
    }

    /// Draws the chart with a y axis for these values.
    fn draw_with(&self, values: impl Iterator<Item = f64>) -> Chart {
        let mut svg = Svg::default();
        let above = self.lines.iter().flat_map(|line| &line.above).map(|point| point.slot + 1).max().unwrap_or(0);
        let top = TOP + SLOT * above as f64;
        let axis = if self.is_log { Scale::log(values, BOTTOM, top) } else { Scale::linear(values, BOTTOM, top, 5) };
        svg.plane(&self.axis.name, self.axis.span, (LEFT, TOP), (RIGHT - LEFT, BOTTOM - TOP));
        self.frame(&mut svg, &axis);
        self.lines.iter().for_each(|line| line.draw_bands(&mut svg, &self.axis.scale));
        // The repeat is drawn first, so that it does not hide the baseline.
        let (repeats, others): (Vec<_>, Vec<_>) = self.lines.iter().partition(|line| line.series.is_repeat());
        repeats.into_iter().chain(others).for_each(|line| line.draw(&mut svg, &self.axis.scale, &axis));
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
        for (value, text) in &self.axis.ticks {
            let x = self.axis.scale.at(*value);
            svg.line("grid", (x, TOP), (x, BOTTOM));
            svg.text("tick m", (x, BOTTOM + 16.0), text);
        }
        svg.line("axis", (LEFT, BOTTOM), (RIGHT, BOTTOM));
        svg.text("note e", (RIGHT, BOTTOM + 34.0), &self.axis.label);
    }
}

impl Line<'_> {
    fn draw_bands(&self, svg: &mut Svg, across: &Scale) {
        /// The narrowest band that can be seen.
        const NARROWEST: f64 = 2.0;
        for Band { ends: (from, to), words } in &self.bands {
            let (left, right) = (across.at(*from), across.at(*to));
            let wide = (right - left).max(NARROWEST);
            let left = left.min(RIGHT - wide);
            svg.group(&format!("mark {}", self.series.class()), words, |svg| {
                svg.rect("band", (left, TOP), wide, BOTTOM - TOP);
            });
        }
    }

    fn draw(&self, svg: &mut Svg, across: &Scale, up: &Scale) {
        let at = |x: f64, value: f64| -> Point { (across.at(x), up.at(value)) };
        svg.group(&self.series.class(), "", |svg| {
            let range = || self.points.iter().filter_map(|(x, _, range)| Some((*x, (*range)?)));
            if range().nth(1).is_some() {
                let upper = range().map(|(x, (_, high))| at(x, high));
                let lower: Vec<Point> = range().map(|(x, (low, _))| at(x, low)).collect();
                svg.path("spread", &(path(&upper.chain(lower.into_iter().rev()).collect::<Vec<_>>()) + "Z"));
            }
            let points: Vec<Point> = self.points.iter().map(|(x, value, _)| at(*x, *value)).collect();
            if points.len() > 1 {
                svg.path("curve", &path(&points));
            }
            for OffScale { x, slot, label, words } in &self.above {
                let (x, y) = (across.at(*x), TOP + SLOT * (*slot as f64 + 0.5));
                svg.group("mark", words, |svg| {
                    self.series.marker(svg, "hollow", (x, y), 3.4);
                    svg.circle("hit", (x, y), 9.0);
                });
                // Beside the marker, on the side where there is room.
                let (class, place) = if x > (LEFT + RIGHT) / 2.0 { ("tick e", x - 8.0) } else { ("tick", x + 8.0) };
                svg.text(class, (place, y + 4.0), label);
            }
            for (x, value, words) in &self.marks {
                svg.group("mark", words, |svg| {
                    self.series.marker(svg, "dot", at(*x, *value), 3.4);
                    svg.circle("hit", at(*x, *value), 9.0);
                });
            }
        });
    }
}
