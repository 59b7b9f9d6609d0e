//! Charts as SVG: inline in the HTML report, separate files for the Markdown report.
//!
//! [`svg`] writes the elements, [`scale`] places values on axes, [`series`] gives every strategy its look, and every kind
//! of chart has a file. Colours and fonts are in `chart.css`, which the page and every SVG file contain. Nothing here
//! measures or judges.

pub(crate) mod axis;
pub(crate) mod bars;
pub(crate) mod lines;
pub(crate) mod scale;
pub(crate) mod series;
pub(crate) mod svg;

use std::fmt;
use std::sync::Arc;

use svg::{Svg, escape, number};

pub(crate) use series::Series;

/// Colours, dashes and fonts of all charts.
pub(crate) const STYLE: &str = include_str!("chart.css");

/// The title of the pictures of the first screen.
pub(crate) const CPU_AND_TIMES: &str = "CPU time and response time of the mix";

/// Charts in a row, where a row has two.
pub(crate) const COLUMNS: usize = 2;

/// One chart.
#[derive(Debug, Clone)]
pub(crate) struct Chart {
    /// Its id in a page.
    pub(crate) id: String,
    /// The description for screen readers.
    pub(crate) description: String,
    pub(crate) size: (f64, f64),
    pub(crate) body: Svg,
}

/// Renders an element for a page that contains [`STYLE`].
impl fmt::Display for Chart {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (width, height) = (number(self.size.0), number(self.size.1));
        // A legend has no id.
        let id = if self.id.is_empty() { String::new() } else { format!(" id=\"{}\"", escape(&self.id)) };
        write!(
            out,
            "<svg{id} class=\"chart\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
             tabindex=\"0\" aria-label=\"{}\">{}</svg>",
            escape(&self.description),
            self.body.as_str()
        )
    }
}

/// The chart's writer escapes every text, so templates insert it verbatim.
impl askama::filters::HtmlSafe for Chart {}

/// Charts that belong together.
#[derive(Debug)]
pub(crate) struct Gallery {
    /// How the page arranges them.
    pub(crate) layout: ChartLayout,
    /// The charts.
    pub(crate) charts: Vec<Chart>,
}

/// How the page arranges charts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChartLayout {
    /// One chart over the whole width, replaced by the second one on narrow screens.
    Whole,
    /// Two in a row.
    Two,
    /// In the place of those before them on narrow screens, below each other.
    Narrow,
    /// As many in a row as fit.
    Small,
}

/// The charts of a section, which are drawn when a form has room for them.
#[derive(Clone)]
pub struct Charts {
    series: Vec<Series>,
    draw: Arc<SeriesDrawing>,
    file: &'static str,
    columns: usize,
    texts: Option<Arc<dyn Fn() -> Vec<String>>>,
}

/// Draws series that it has been given.
type SeriesDrawing = dyn Fn(&[Series]) -> Vec<Gallery>;

impl fmt::Debug for Charts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Charts").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Charts {
    /// Creates charts from the function that draws them. Without the name of a `file`, none is written.
    pub(crate) fn of(
        series: Vec<Series>,
        draw: impl Fn(&[Series]) -> Vec<Gallery> + 'static,
        file: &'static str,
    ) -> Charts {
        Charts { series, draw: Arc::new(draw), file, columns: COLUMNS, texts: None }
    }

    /// The same with a file of `columns` columns.
    pub(crate) fn in_columns(self, columns: usize) -> Charts {
        Charts { columns, ..self }
    }

    /// Adds a function that draws the charts as text, for Markdown.
    pub(crate) fn with_texts(self, texts: impl Fn() -> Vec<String> + 'static) -> Charts {
        Charts { texts: Some(Arc::new(texts)), ..self }
    }

    /// Draws the charts as text.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.texts.as_ref().map_or_else(Vec::new, |draw| draw())
    }

    /// Draws the charts.
    pub(crate) fn draw(&self) -> Vec<Gallery> {
        let galleries = (self.draw)(&self.series);
        galleries.into_iter().filter(|gallery| !gallery.charts.is_empty()).collect()
    }

    /// Draws the file; `None` without a file or without charts.
    pub(crate) fn picture(&self, title: &str) -> Option<Picture> {
        if self.file.is_empty() {
            return None;
        }
        let charts = self.draw().into_iter().flat_map(|gallery| {
            let shown = match gallery.layout {
                ChartLayout::Whole => 1,
                ChartLayout::Narrow => 0,
                ChartLayout::Two | ChartLayout::Small => gallery.charts.len(),
            };
            gallery.charts.into_iter().take(shown)
        });
        let charts: Vec<Chart> = charts.collect();
        (!charts.is_empty()).then(|| picture(self.file, title, &charts, self.columns, &self.series))
    }
}

pub(crate) fn gallery(layout: ChartLayout, charts: Vec<Chart>) -> Vec<Gallery> {
    vec![Gallery { layout, charts }]
}

/// Truncates a text to at most `most` characters.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// An SVG file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Its name, without a folder.
    pub file: &'static str,
    /// The content of the file.
    pub text: String,
}

const MARGIN: f64 = 20.0;
const GAP: f64 = 26.0;

/// Arranges charts in columns below a heading and a legend.
fn picture(file: &'static str, title: &str, charts: &[Chart], columns: usize, series: &[Series]) -> Picture {
    let widest = charts.iter().map(|chart| chart.size.0).fold(0.0, f64::max);
    let columns = columns.min(charts.len()).max(1);
    let width = MARGIN * 2.0 + widest * columns as f64 + GAP * (columns - 1) as f64;
    let mut svg = Svg::default();
    svg.text("title", (MARGIN, 34.0), title);
    let shown =
        |series: &&Series| charts.iter().any(|chart| chart.body.as_str().contains(&format!("{}\"", series.class())));
    let series: Vec<&Series> = series.iter().filter(shown).collect();
    let mut top = legend(&mut svg, &series, width, 48.0) + 18.0;
    for row in charts.chunks(columns) {
        for (column, chart) in row.iter().enumerate() {
            svg.nested((MARGIN + (widest + GAP) * column as f64, top), chart.size, &chart.body);
        }
        top += row.iter().map(|chart| chart.size.1).fold(0.0, f64::max) + GAP;
    }
    Picture { file, text: svg_file((width, top - GAP + MARGIN), title, "", &svg) }
}

/// A whole SVG file; `style` is in addition to [`STYLE`].
pub(crate) fn svg_file((width, height): (f64, f64), title: &str, style: &str, body: &Svg) -> String {
    let (width, height) = (number(width), number(height));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart file\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\"><title>{}</title><style>{STYLE}{style}</style>\
         <rect class=\"surface\" width=\"100%\" height=\"100%\"/>{}</svg>\n",
        escape(title),
        body.as_str()
    )
}

/// Draws names and looks of the strategies below `top`; returns the lower end.
fn legend(svg: &mut Svg, series: &[&Series], width: f64, top: f64) -> f64 {
    let (mut x, mut y) = (MARGIN, top);
    for one in series {
        let name = cut(&one.name, 40);
        let needed = 34.0 + 7.0 * name.chars().count() as f64 + 18.0;
        if x > MARGIN && x + needed > width - MARGIN {
            (x, y) = (MARGIN, y + 20.0);
        }
        one.glyph(svg, (x, y));
        svg.text("label", (x + 33.0, y + 11.5), &name);
        x += needed;
    }
    y + 20.0
}
/// A gallery with the lines and markers of the strategies before it.
pub(crate) fn with_legend(series: &[Series], charts: impl Iterator<Item = Chart>) -> Vec<Gallery> {
    let mut body = Svg::default();
    let bottom = legend(&mut body, &series.iter().collect::<Vec<_>>(), 400.0, 0.0);
    let names: Vec<&str> = series.iter().map(|series| series.name.as_str()).collect();
    let description = format!("The lines and markers of {}.", names.join(", "));
    let legend = Chart { id: String::new(), description, size: (400.0, bottom), body };
    [vec![legend], charts.collect()].map(|charts| Gallery { layout: ChartLayout::Two, charts }).into()
}
