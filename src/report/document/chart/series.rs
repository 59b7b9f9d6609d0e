//! The look of a strategy in all charts: colour, dash and marker, so that strategies never differ only in colour.

use super::svg::{Point, Svg, number};

/// Number of distinct looks; further strategies reuse them from the start.
const LOOKS: usize = 8;

/// A strategy in charts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    /// Its position in the run, which names its CSS class.
    pub place: usize,
    /// Its name.
    pub name: String,
    /// Its look; `None` for the repeat, which is grey.
    look: Option<usize>,
}

impl Series {
    /// Returns the series of strategies: of each its name, and whether it is the repeat.
    pub fn of(strategies: impl Iterator<Item = (String, bool)>) -> Vec<Series> {
        let mut looks = 0..;
        let series = strategies.enumerate().map(|(place, (name, is_repeat))| Series {
            place,
            name,
            look: if is_repeat { None } else { looks.next().map(|look: usize| look % LOOKS) },
        });
        series.collect()
    }

    /// Returns the series of strategies without a repeat.
    pub fn named(names: impl Iterator<Item = String>) -> Vec<Series> {
        Series::of(names.map(|name| (name, false)))
    }

    /// Whether it is the baseline measured a second time.
    pub fn is_repeat(&self) -> bool {
        self.look.is_none()
    }

    /// The classes of its marks: one to switch it off, one for its colour and dash.
    pub fn class(&self) -> String {
        format!("s{} {}", self.place, self.look_class())
    }

    /// The class of its colour and dash.
    pub fn look_class(&self) -> String {
        self.look.map_or("ca".to_owned(), |look| format!("c{look}"))
    }

    /// Draws its marker around a point.
    pub fn marker(&self, svg: &mut Svg, class: &str, (x, y): Point, size: f64) {
        let corners = |corners: &[Point]| {
            let places =
                corners.iter().map(|(right, down)| format!("{} {}", number(x + right * size), number(y + down * size)));
            format!("M{}Z", places.collect::<Vec<_>>().join("L"))
        };
        let commands = match self.look {
            Some(1) => corners(&[(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)]),
            Some(2) => corners(&[(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)]),
            Some(3) => corners(&[(0.0, -1.15), (1.1, 0.8), (-1.1, 0.8)]),
            Some(4) => corners(&[(0.0, 1.15), (1.1, -0.8), (-1.1, -0.8)]),
            Some(5) => corners(&[(-1.15, 0.0), (0.8, -1.1), (0.8, 1.1)]),
            Some(6) => corners(&[(0.0, -1.15), (1.1, -0.35), (0.7, 0.95), (-0.7, 0.95), (-1.1, -0.35)]),
            Some(7) => corners(&[(1.15, 0.0), (-0.8, -1.1), (-0.8, 1.1)]),
            _ => return svg.circle(class, (x, y), size),
        };
        svg.path(class, &commands);
    }

    /// Draws a piece of its line with its marker, for legends.
    pub fn glyph(&self, svg: &mut Svg, corner: Point) {
        let (x, y) = corner;
        svg.group(&self.look_class(), "", |svg| {
            svg.line("curve", (x, y + 7.0), (x + 26.0, y + 7.0));
            self.marker(svg, "dot", (x + 13.0, y + 7.0), 4.2);
        });
    }
}
