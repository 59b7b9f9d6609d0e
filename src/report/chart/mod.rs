//! Pictures as SVG: within the HTML report, and as files beside the Markdown one.
//!
//! [`svg`] writes the elements, [`scale`] places values, [`series`] gives every strategy its look; there is a file per kind of
//! picture. Colours and fonts are in `chart.css`, which the page and every file hold. Nothing here measures or judges.

mod bars;
mod cost;
mod forest;
mod growth;
mod lines;
mod percentiles;
mod scale;
mod series;
mod sizes;
mod svg;
mod throughput;

use std::fmt;

use super::{Report, Row};
use svg::{Svg, escape, number};

pub(super) use cost::{OperationCharts, title as cost_title};
pub(super) use forest::interval_text;
pub(super) use percentiles::NAMED;
pub(super) use series::Series;

/// Colours, dashes and fonts of all pictures.
pub(super) const STYLE: &str = include_str!("chart.css");

/// One picture.
#[derive(Debug, Clone)]
pub(super) struct Chart {
    /// Its place in a page.
    id: String,
    /// For who cannot see it.
    description: String,
    size: (f64, f64),
    body: Svg,
}

/// As an element of a page, which holds [`STYLE`].
impl fmt::Display for Chart {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (width, height) = self.size;
        write!(
            out,
            "<svg id=\"{}\" class=\"chart\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" role=\"img\" tabindex=\"0\" \
             aria-label=\"{}\">{}</svg>",
            escape(&self.id),
            number(width),
            number(height),
            number(width),
            number(height),
            escape(&self.description),
            self.body.as_str()
        )
    }
}

/// Its writer escapes every text, so a template need not.
impl askama::filters::HtmlSafe for Chart {}

impl Chart {
    /// A strategy's look, for legends; its name stands beside it.
    pub(super) fn glyph(series: &Series) -> Glyph {
        let mut body = Svg::default();
        series.glyph(&mut body, (0.0, 0.0));
        Glyph { body }
    }
}

/// A piece of a strategy's line with its marker.
#[derive(Debug, Clone)]
pub(super) struct Glyph {
    body: Svg,
}

impl fmt::Display for Glyph {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body = self.body.as_str();
        write!(
            out,
            "<svg class=\"chart glyph\" viewBox=\"0 0 26 14\" width=\"26\" height=\"14\" aria-hidden=\"true\">{body}</svg>"
        )
    }
}

impl askama::filters::HtmlSafe for Glyph {}

/// All pictures of a report.
pub(super) struct Charts {
    pub(super) series: Vec<Series>,
    pub(super) forest: Option<[Chart; 2]>,
    pub(super) percentiles: Vec<Chart>,
    pub(super) throughput: Vec<Chart>,
    pub(super) growth: Vec<Chart>,
    pub(super) sizes: Vec<Chart>,
    pub(super) mix_cost: Vec<Chart>,
    pub(super) operation_cost: Vec<OperationCharts>,
}

impl Charts {
    /// Draws all that there are data for.
    pub(super) fn of(report: &Report) -> Charts {
        let series = Series::all(report);
        Charts {
            forest: forest::forest(report, &series),
            percentiles: percentiles::percentiles(report, &series),
            throughput: throughput::throughput(report, &series),
            growth: growth::growth(report, &series),
            sizes: sizes::sizes(report, &series),
            mix_cost: cost::mix(report, &series),
            operation_cost: cost::operations(report, &series),
            series,
        }
    }
}

/// The mix, which is what a verdict is about, and then the operations.
fn of_mix(report: &Report) -> impl Iterator<Item = &Row> {
    report.rows.iter().filter(|row| row.is_mix).chain(report.rows.iter().filter(|row| !row.is_mix))
}

/// What stands above a picture of an operation.
fn title(row: &Row) -> String {
    row.label().to_owned()
}

/// A text in at most so many characters.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// A picture as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Its name, without a folder.
    pub file: &'static str,
    /// What it shows.
    pub title: String,
    /// The whole file.
    pub text: String,
}

impl Picture {
    /// The files that a Markdown report [refers to](Report::with_files).
    pub fn all(report: &Report) -> Vec<Picture> {
        let charts = Charts::of(report);
        let forest: Vec<Chart> = charts.forest.iter().flatten().take(1).cloned().collect();
        let times = report.times_capital();
        let files = [
            ("forest.svg", format!("Mean {} time in relation to the reference", report.times()), forest, 1),
            ("percentiles.svg", format!("{times} time by percentile"), charts.percentiles, 2),
            ("throughput.svg", "Calls per second and latency over time".into(), charts.throughput, 2),
            ("growth.svg", "Size of single documents over the calls".into(), charts.growth, 2),
            ("sizes.svg", "Sizes after the calls (a line: before)".into(), charts.sizes, 4),
            ("cost.svg", "What a call of the mix costs the server".into(), charts.mix_cost, 4),
        ];
        let drawn = files.into_iter().filter(|(_, _, charts, _)| !charts.is_empty());
        drawn.map(|(file, title, made, columns)| picture(file, title, &made, columns, &charts.series)).collect()
    }
}

const MARGIN: f64 = 20.0;
const GAP: f64 = 26.0;

/// Pictures in columns below a heading and a legend.
fn picture(file: &'static str, title: String, charts: &[Chart], columns: usize, series: &[Series]) -> Picture {
    let widest = charts.iter().map(|chart| chart.size.0).fold(0.0, f64::max);
    let columns = columns.min(charts.len()).max(1);
    let width = MARGIN * 2.0 + widest * columns as f64 + GAP * (columns - 1) as f64;
    let mut svg = Svg::default();
    svg.text("title", (MARGIN, 34.0), &title);
    let shown =
        |series: &&Series| charts.iter().any(|chart| chart.body.as_str().contains(&format!("{}\"", series.class())));
    let series: Vec<&Series> = series.iter().filter(shown).collect();
    let mut top = legend(&mut svg, &series, width) + 18.0;
    for row in charts.chunks(columns) {
        for (column, chart) in row.iter().enumerate() {
            svg.nested((MARGIN + (widest + GAP) * column as f64, top), chart.size, &chart.body);
        }
        top += row.iter().map(|chart| chart.size.1).fold(0.0, f64::max) + GAP;
    }
    let (width, height) = (number(width), number(top - GAP + MARGIN));
    let text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart file\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\"><title>{}</title><style>{STYLE}</style>\
         <rect class=\"surface\" width=\"100%\" height=\"100%\"/>{}</svg>\n",
        escape(&title),
        svg.as_str()
    );
    Picture { file, title, text }
}

/// Names and looks of the strategies; gives where it ends.
fn legend(svg: &mut Svg, series: &[&Series], width: f64) -> f64 {
    let (mut x, mut y) = (MARGIN, 48.0);
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
