//! The report as one HTML file that needs nothing else: no network, no other file.
//!
//! `report.html` is the template; askama fills it and escapes every text. What it takes as it is are [`Chart`]s, whose writer
//! escapes, and the style and script below, which hold no text of a run. [`tables`] makes the tables, [`yaml`] colours the
//! scenario. A content security policy admits exactly this style and this script, by their hashes.

#[cfg(test)]
pub(super) mod markup;
mod over_time;
#[cfg(test)]
mod recomputed;
mod score;
mod tables;
#[cfg(test)]
mod tests;
mod yaml;

use std::fmt;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::chart::{Chart, Charts, Glyph, STYLE};
use super::claims::ClaimView;
use super::cost::SILENT;
use super::format::{counted, listed, three};
use super::{Renderer, Report};
use crate::stats::MINIMUM_ROUNDS;
use tables::Table;
use yaml::Parts;

/// The name of the page in a run's folder.
pub const HTML_FILE: &str = "report.html";

/// A first sentence with more characters is too long to be read as a headline.
const LONG_HEADLINE: usize = 280;

/// Writes a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Html;

impl Renderer for Html {
    fn render(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        let page = Page::new(report);
        // Askama's errors are those of the writer: nothing that is filled in can fail.
        writeln!(out, "{}", page.render().map_err(|_| fmt::Error)?)
    }
}

/// Style and script of the page: texts of this file's neighbours, and numbers.
struct Trusted(String);

impl fmt::Display for Trusted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl askama::filters::HtmlSafe for Trusted {}

impl Trusted {
    /// As a content security policy names it.
    fn hash(&self) -> String {
        format!("sha256-{}", STANDARD.encode(Sha256::digest(self.0.as_bytes())))
    }
}

/// A strategy in the list and the legend.
struct StrategyEntry {
    place: usize,
    /// By which a link finds it.
    id: String,
    name: String,
    about: String,
    /// What is special about it.
    badge: &'static str,
    /// Calls per second, in words.
    rate: String,
    glyph: Glyph,
}

/// What the template shows.
#[derive(Template)]
#[template(path = "report.html")]
struct Page<'r> {
    report: &'r Report,
    style: Trusted,
    script: Trusted,
    policy: String,
    strategies: Vec<StrategyEntry>,
    warnings: String,
    charts: Charts,
    score: Option<Table>,
    ratios: Option<Table>,
    times: Table,
    open: Option<Table>,
    slices: Option<Table>,
    rounds: Option<Table>,
    round_times: Option<Table>,
    followed: Option<Table>,
    sizes: Option<Table>,
    mix_cost: Option<Table>,
    operation_cost: Option<Table>,
    inconsistent: Option<Table>,
    outcomes: Table,
    errors: Option<Table>,
    retries: Option<Table>,
    audits: Option<Table>,
    anomalies: Option<Table>,
    messages: Vec<String>,
    parts: Parts,
}

impl<'r> Page<'r> {
    fn new(report: &'r Report) -> Page<'r> {
        let charts = Charts::of(report);
        let style = Trusted(style(report.strategies.len()));
        let script = Trusted(include_str!("report.js").to_owned());
        let policy = format!(
            "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
            style.hash(),
            script.hash()
        );
        let names: Vec<&str> = report.strategies.iter().map(|strategy| strategy.name.as_str()).collect();
        Page {
            style,
            script,
            policy,
            strategies: strategies(report, &charts),
            warnings: counted(report.warnings.len() as u64, "warning"),
            score: score::score(report),
            ratios: tables::ratios(report),
            times: tables::times(report),
            open: tables::open(report),
            slices: over_time::slices(report),
            rounds: over_time::rounds(report),
            round_times: over_time::round_times(report),
            followed: tables::followed(report),
            sizes: tables::sizes(report),
            mix_cost: tables::mix_cost(report),
            operation_cost: tables::operation_cost(report),
            inconsistent: tables::inconsistent(report),
            outcomes: tables::outcomes(report),
            errors: tables::reasons(report, "error", |tally| &tally.errors),
            retries: tables::reasons(report, "retry because of", |tally| &tally.retries),
            audits: tables::audits(report, true),
            anomalies: tables::audits(report, false),
            messages: tables::messages(report),
            charts,
            parts: yaml::parts(&report.text, &names),
            report,
        }
    }

    /// Operation, what is said of it, and whether that is a claim.
    fn findings(&self) -> Vec<(&str, &str, bool)> {
        let said = |all: &'r [(String, String)], claimed: bool| {
            all.iter().map(move |(operation, words)| (operation.as_str(), words.as_str(), claimed))
        };
        said(&self.report.claims, true).chain(said(&self.report.unclaimed, false)).collect()
    }

    /// The first sentence of a verdict that is too long to be read as one, where the table below it shows all of it.
    fn folded(&self) -> Option<&str> {
        let is_long = |first: &&String| first.chars().count() > LONG_HEADLINE && first.contains(": ");
        let is_shown = self.score.is_some() && !self.findings().is_empty();
        self.report.verdict.first().filter(is_long).filter(|_| is_shown).map(String::as_str)
    }

    /// The sentences of the verdict; of one that is folded what stands before its colon.
    fn headline(&self) -> Vec<String> {
        let mut sentences = self.report.verdict.clone();
        if let (Some(first), Some((head, _))) =
            (sentences.first_mut(), self.folded().and_then(|all| all.split_once(": ")))
        {
            *first = format!("{head}.");
        }
        sentences
    }

    /// A number stays on the line of its unit.
    fn tied(&self, text: &str) -> String {
        text.replace(" %", "\u{a0}%")
    }

    fn reference(&self) -> &str {
        self.report.strategies.first().map_or("the reference", |strategy| &strategy.name)
    }

    /// Where the number is that decides a claim.
    fn cell(&self, claim: &ClaimView) -> Option<String> {
        tables::row_of(self.report, &claim.cell)
    }

    /// What to know of a forest without intervals.
    fn only_points(&self) -> Option<String> {
        let cells = || self.report.rows.iter().flat_map(|row| &row.cells);
        let has_interval =
            cells().filter_map(|cell| cell.comparison.as_ref()?.ratio).any(|ratio| ratio.interval.is_some());
        let here = match self.report.rounds {
            1 => "here is 1 round".to_owned(),
            few if few < MINIMUM_ROUNDS as u64 => format!("here are {}", counted(few, "round")),
            _ => format!("no strategy has so many with successful calls in common with {}", self.reference()),
        };
        let words = || format!("Points without intervals: an interval needs {MINIMUM_ROUNDS} rounds, and {here}.");
        (!has_interval).then(words)
    }

    /// The operations of which no percentile is known.
    fn without_percentiles(&self) -> Option<String> {
        let known = |row: &super::Row| row.cells.iter().any(|cell| cell.distribution.quantile(0.5).is_some());
        let names: Vec<String> =
            tables::rows(self.report).filter(|row| !known(row)).map(|row| row.label().to_owned()).collect();
        (!names.is_empty()).then(|| listed(&names))
    }

    /// The strategy at a position.
    fn strategy(&self, place: &usize) -> Option<&StrategyEntry> {
        self.strategies.get(*place)
    }

    fn subject(&self) -> String {
        self.report.subject()
    }

    fn how_claims_are_decided(&self) -> &'static str {
        super::claims::HOW
    }

    fn silent(&self) -> &'static str {
        SILENT
    }

    fn lags(&self) -> bool {
        self.report.strategies.iter().flat_map(|strategy| &strategy.collections).any(|growth| !growth.checkpointed)
    }

    fn has_control(&self) -> bool {
        self.report.strategies.iter().any(|strategy| strategy.is_control)
    }
}

fn strategies(report: &Report, charts: &Charts) -> Vec<StrategyEntry> {
    let entries = charts.series.iter().zip(&report.strategies).map(|(series, strategy)| StrategyEntry {
        place: series.place,
        id: tables::strategy_of(series.place),
        name: strategy.name.clone(),
        about: strategy.about.clone(),
        badge: match (series.place, strategy.is_control, strategy.is_unsafe) {
            (_, true, _) => "control: the reference a second time",
            (_, _, true) => "unsafe: a negative control",
            (0, ..) => "reference",
            _ => "",
        },
        rate: strategy.calls_per_second.map_or(String::new(), |rate| format!("{} calls/s", three(rate))),
        glyph: Chart::glyph(series),
    });
    entries.collect()
}

/// The style, with a rule per strategy that can be switched off.
fn style(strategies: usize) -> String {
    let mut style = format!("{STYLE}{}", include_str!("report.css"));
    for place in 0..strategies {
        style.push_str(&format!("body:has(#show-{place}:not(:checked)) .s{place}{{display:none}}\n"));
    }
    style
}
