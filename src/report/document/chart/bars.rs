//! Bar charts of one quantity with a bar per strategy, small enough for several side by side.

use super::scale::Scale;
use super::series::Series;
use super::svg::Svg;
use super::{Chart, cut};

const WIDTH: f64 = 240.0;
const ROW: f64 = 19.0;
const LEFT: f64 = 24.0;
/// Right end of the longest bar; its number follows.
const RIGHT: f64 = WIDTH - 82.0;
const TOP: f64 = 26.0;

/// A bar chart.
pub struct Bars {
    /// Its id in the page.
    pub id: String,
    /// The quantity that the bars show.
    pub title: String,
    /// The bars, from top to bottom.
    pub bars: Vec<Bar>,
}

/// One bar.
pub struct Bar {
    /// The strategy.
    pub series: Series,
    /// Its value; `None` if it is unknown.
    pub value: Option<f64>,
    /// The value as text.
    pub label: String,
    /// The half-width of the value's interval.
    pub reach: Option<f64>,
    /// The value before the calls.
    pub before: Option<f64>,
    /// The text of the tooltip.
    pub words: String,
}

impl Bars {
    /// Draws the chart.
    pub fn draw(&self) -> Chart {
        let mut svg = Svg::default();
        svg.text("head", (0.0, 14.0), &cut(&self.title, 34));
        let ends = self.bars.iter().flat_map(|bar| {
            let end = bar.value.map(|value| value + bar.reach.unwrap_or(0.0));
            [end, bar.before]
        });
        let most = ends.flatten().filter(|end| end.is_finite()).fold(0.0, f64::max);
        let axis = Scale::between(0.0, most, LEFT, RIGHT);
        for (place, bar) in self.bars.iter().enumerate() {
            bar.draw(&mut svg, &axis, TOP + ROW * place as f64);
        }
        let bottom = TOP + ROW * self.bars.len() as f64;
        svg.line("axis", (LEFT, TOP - 2.0), (LEFT, bottom));
        let all: Vec<String> = self.bars.iter().map(|bar| format!("{} {}", bar.series.name, bar.label)).collect();
        Chart {
            id: self.id.clone(),
            description: format!("{}: {}.", self.title, all.join(", ")),
            size: (WIDTH, bottom + 6.0),
            body: svg,
        }
    }
}

impl Bar {
    fn draw(&self, svg: &mut Svg, axis: &Scale, top: f64) {
        let middle = top + ROW / 2.0 - 1.0;
        let mut end = LEFT;
        svg.group(&format!("mark {}", self.series.class()), &self.words, |svg| {
            self.series.marker(svg, "dot", (9.0, middle), 4.0);
            if let Some(value) = self.value {
                end = axis.at(value);
                svg.rect("bar", (LEFT, top + 2.0), end - LEFT, ROW - 7.0);
                if let Some(reach) = self.reach.filter(|reach| *reach > 0.0) {
                    let (low, high) = (axis.at(value - reach), axis.at(value + reach));
                    svg.line("reach", (low, middle), (high, middle));
                    end = high;
                }
            }
            if let Some(before) = self.before {
                let x = axis.at(before);
                svg.line("before", (x, top), (x, top + ROW - 3.0));
                end = end.max(x);
            }
            svg.text("value", (end + 6.0, middle + 4.0), &self.label);
            svg.rect("hit", (0.0, top), WIDTH, ROW);
        });
    }
}
