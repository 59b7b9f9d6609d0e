//! The report as one HTML file that needs nothing else: no network, no other file.
//!
//! `report.html` is the template; askama fills it and escapes every text. What it takes as it is are charts, whose writer
//! escapes, and the style and script below, which hold no text of a run. A content security policy admits exactly this style
//! and this script, by their hashes.

#[cfg(test)]
pub(crate) mod tests;

use std::fmt;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::report::document::chart::svg::Svg;
use crate::report::document::chart::{ChartLayout, Gallery, STYLE, Series};
use crate::report::document::{
    Cell, Column, Forms, Grid, Headline, Kind, Line, Link, Onward, Section, Table, Tone, unmarked, visible,
};
use crate::report::run::charts;
use crate::report::{Renderer, Report};

use super::brief;

const FORM: Forms = Forms::HTML;

/// The style, a file per thing that it is about.
const STYLES: [&str; 8] = [
    STYLE,
    include_str!("report.css"),
    include_str!("decision.css"),
    include_str!("contents.css"),
    include_str!("tables.css"),
    include_str!("cross_hair.css"),
    include_str!("what_if.css"),
    include_str!("print.css"),
];

/// The script, a file per thing that it does. The address comes first: it decides what is switched off.
const SCRIPTS: [&str; 6] = [
    include_str!("address.js"),
    include_str!("report.js"),
    include_str!("contents.js"),
    include_str!("tables.js"),
    include_str!("cross_hair.js"),
    include_str!("what_if.js"),
];

/// The most strategies side by side on a narrow screen.
const SIDE_BY_SIDE: usize = 4;

/// The name of the page in a run's folder.
pub const HTML_FILE: &str = "report.html";

/// Writes a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Html;

impl Renderer for Html {
    fn render(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        let series = report.run.as_ref().map_or_else(Vec::new, |run| charts::series(run.parts.main()));
        writeln!(out, "{}", Page::new(report, &series))
    }
}

/// The address of a link, which the template escapes.
impl fmt::Display for Link {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Link::Row(id) => write!(out, "#{id}"),
            Link::File(path) => out.write_str(path),
        }
    }
}

/// Style and script of the page: texts of this file's neighbours, and numbers; JSON in which nothing is markup; and SVG, whose
/// writer escapes.
pub(crate) struct Trusted(String);

impl fmt::Display for Trusted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl askama::filters::HtmlSafe for Trusted {}

/// Style and script of a page, and the content security policy that admits these two, and no network.
pub(crate) struct Assets {
    pub(crate) style: Trusted,
    pub(crate) script: Trusted,
    pub(crate) policy: String,
}

impl Assets {
    pub(crate) fn new(style: String, script: String) -> Assets {
        let [style_hash, script_hash] = [&style, &script].map(|text| STANDARD.encode(Sha256::digest(text.as_bytes())));
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{style_hash}'; script-src 'sha256-{script_hash}'; img-src data:; \
             base-uri 'none'; form-action 'none'"
        );
        Assets { style: Trusted(style), script: Trusted(script), policy }
    }
}

/// What the template shows.
#[derive(Template)]
#[template(path = "report.html")]
struct Page<'r> {
    headline: &'r Headline,
    assets: Assets,
    /// Each with a piece of its line.
    series: Vec<(Series, Trusted)>,
    parts: Vec<PagePart<'r>>,
    /// The strategy whose columns come first where there is no room for all, by its place.
    winner: Option<usize>,
    overview: Option<ShownTable<'r>>,
    /// The pictures of the first screen.
    pictures: Vec<Gallery>,
    /// How many warnings there are, in words; empty for none.
    warnings: String,
    /// The first sentence of the first of them.
    first_warning: String,
    onward: &'r [Onward],
    /// Whether it shows the scenario and the command that repeats the run.
    has_command: bool,
}

/// A section with its charts and tables.
struct PagePart<'r> {
    section: &'r Section,
    galleries: Vec<Gallery>,
    tables: Vec<ShownTable<'r>>,
}

/// A table as the page shows it.
struct ShownTable<'r> {
    table: &'r Table,
    grid: Grid<'r>,
    series: &'r [Series],
}

impl<'r> Page<'r> {
    fn new(report: &'r Report, series: &'r [Series]) -> Page<'r> {
        let shown = |table: &'r Table| Some(ShownTable { table, grid: table.grid(FORM)?, series });
        let part = |section: &'r Section| PagePart {
            section,
            galleries: section.charts.as_ref().map_or_else(Vec::new, |charts| charts.draw()),
            tables: section.tables.iter().filter_map(shown).collect(),
        };
        let parts = report.sections.iter().filter(|section| section.forms.contains(FORM)).map(part);
        let winner = report.headline.decision.as_ref().and_then(|decision| decision.winner.as_deref());
        Page {
            headline: &report.headline,
            assets: Assets::new(style(series.len()), SCRIPTS.concat()),
            series: series.iter().map(|series| (series.clone(), glyph(series))).collect(),
            parts: parts.filter(|part| !part.galleries.is_empty() || part.section.is_shown(FORM)).collect(),
            winner: series.iter().find(|one| Some(one.name.as_str()) == winner).map(|one| one.place),
            overview: report.headline.overview.as_ref().and_then(shown),
            pictures: report.headline.charts.as_ref().map_or_else(Vec::new, |charts| charts.draw()),
            warnings: brief::warnings(report).unwrap_or_default(),
            first_warning: first_warning(report),
            onward: &report.onward,
            has_command: report.run.is_some(),
        }
    }

    /// The heading of the first section.
    fn first_heading(&self) -> &'static str {
        let has_verdict = self.headline.decision.is_some() || self.headline.has_verdict();
        if has_verdict || !self.headline.invalid.is_empty() { "Verdict" } else { "About" }
    }

    /// Whether there are sections enough to need a table of contents.
    fn has_contents(&self) -> bool {
        self.parts.len() > 2
    }

    /// Whether a reader can go on from here.
    fn leads_on(&self) -> bool {
        self.has_command || !self.onward.is_empty()
    }

    /// The class of the colour of a strategy; empty for none.
    fn look_of(&self, name: &str) -> String {
        let series = self.series.iter().find(|(one, _)| one.name == name);
        series.map_or_else(String::new, |(one, _)| one.look_class())
    }

    /// The series at a position.
    fn at(&self, place: &usize) -> Option<&(Series, Trusted)> {
        self.series.get(*place)
    }
}

/// A number stays on the line of its unit.
pub(crate) fn tied(text: &str) -> String {
    let tie = |text: String, unit: &&str| text.replace(&format!(" {unit}"), &format!("\u{a0}{unit}"));
    ["%", "µs", "ms", "KB", "MB", "GB"].iter().fold(text.to_owned(), tie)
}

/// A piece of a strategy's line with its marker.
fn glyph(series: &Series) -> Trusted {
    let mut body = Svg::default();
    series.glyph(&mut body, (0.0, 0.0));
    let attributes = "class=\"chart glyph\" viewBox=\"0 0 26 14\" width=\"26\" height=\"14\" aria-hidden=\"true\"";
    Trusted(format!("<svg {attributes}>{}</svg>", body.as_str()))
}

/// The first sentence of the first warning; empty without any.
fn first_warning(report: &Report) -> String {
    let section = report.sections.iter().find(|section| section.id == "warnings");
    let text = section.and_then(|section| section.items.first()).map_or("", String::as_str);
    text.split_inclusive(". ").next().unwrap_or_default().trim_end().to_owned()
}

/// What a tab of a browser shows of the page.
fn title(headline: &Headline) -> String {
    if headline.tab.is_empty() { format!("{}: {}", headline.scenario, headline.title) } else { headline.tab.clone() }
}

/// What the page is about, for previews of links to it: the answer, or why there is none.
fn summary(headline: &Headline) -> &str {
    let answer = headline.decision.iter().map(|decision| &decision.answer);
    let texts = headline.invalid.iter().chain(answer).chain(&headline.sentences).chain(&headline.subject);
    texts.map(String::as_str).next().unwrap_or(&headline.about)
}

impl PagePart<'_> {
    /// What a script of the page computes with, without a character that could end the element.
    fn data(&self) -> Option<Trusted> {
        self.section.data.as_ref().map(|data| Trusted(data.to_string().replace('<', "\\u003c")))
    }

    /// Whether its tables need headings: those that are not folded, where there are several.
    fn has_headings(&self) -> bool {
        self.tables.iter().filter(|shown| !shown.table.is_folded).count() > 1
    }
}

impl ShownTable<'_> {
    /// The classes of a column's heading: its side, and the series it is switched off with.
    fn head(&self, series: &Option<usize>, column: &Column) -> String {
        let side = if column.kind == Kind::Text { "l" } else { "" };
        format!("{} {side}", self.block(series)).trim().to_owned()
    }

    /// The exact value of a cell whose text is a number with a unit, or rounded; empty where the text says all.
    fn value(&self, column: &Column, cell: &Cell) -> String {
        let value = cell.value.as_ref().and_then(serde_json::Value::as_f64).filter(|_| column.kind == Kind::Number);
        let value = value.and_then(|value| format!("{value:.6e}").parse::<f64>().ok());
        value.map(|value| value.to_string()).filter(|value| *value != cell.text).unwrap_or_default()
    }

    fn block(&self, series: &Option<usize>) -> String {
        series.map_or_else(String::new, |place| format!("s{place}"))
    }

    /// The class of a series' colour; empty for none.
    fn look(&self, series: &Option<usize>) -> String {
        series.and_then(|place| self.series.get(place)).map_or_else(String::new, Series::look_class)
    }

    /// Whether a narrow screen has no room for its strategies side by side: there each cell says whose it is.
    fn is_cards(&self) -> bool {
        self.table.id == "heat_map" && self.grid.blocks.len() > SIDE_BY_SIDE
    }

    /// The cells of a line with their classes and values, and whose they are where [`Self::is_cards`].
    fn cells<'l>(&'l self, line: &'l Line<'l>) -> Vec<(&'l Cell, String, String, &'l str)> {
        static BLANK: Cell = Cell::BLANK;
        let cell = |((series, column), cell): ((Option<usize>, &Column), &Option<&'l Cell>)| {
            let cell = cell.unwrap_or(&BLANK);
            let class = format!("{} {}", self.head(&series, column), cell.tone.class());
            let of = series.and_then(|place| self.series.get(place)).filter(|_| self.is_cards());
            (cell, class.trim().to_owned(), self.value(column, cell), of.map_or("", |one| one.name.as_str()))
        };
        self.grid.columns().zip(&line.cells).map(cell).collect()
    }
}

/// A text of several lines without characters that do something else than being seen.
fn visible_lines(text: &str) -> String {
    text.lines().map(|line| visible(&line.replace('\t', "    ")) + "\n").collect()
}

impl Tone {
    /// The class of a cell in this tone.
    pub(crate) fn class(self) -> &'static str {
        const HEAT: [&str; 8] = ["h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7"];
        match self {
            Tone::Heat(level) => HEAT[level.min(HEAT.len() - 1)],
            Tone::Hatched => "hatched",
            Tone::Plain => "",
            Tone::Strong => "strong",
            Tone::Faint => "faint",
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Best => "good best",
        }
    }
}

/// The style, with a rule per series that can be switched off.
fn style(series: usize) -> String {
    let rule = |place| format!("body:has(#show-{place}:not(:checked)) .s{place}{{display:none}}\n");
    STYLES.concat() + &(0..series).map(rule).collect::<String>()
}
