//! The matrix of published results as one page: as every page, without network and other files, under a policy that admits its own
//! style and script alone. Without the script it shows mean response times of everything.

use std::fmt;

use askama::Template;

use crate::report::Report;
use crate::report::document::cell::Cell;
use crate::report::document::section::Section;
use crate::report::document::table::{Forms, Grid};
use crate::report::write::html::{Trusted, policy, tone};
use crate::results::PublishedMetric;

use super::cell::{Look, MatrixCell};
use super::row::{MixFamily, MixRow, RowKind, Setup};
use super::{Matrix, ScenarioMatrix, TITLE};

/// A scenario with more strategies is as wide as the page.
const NARROW: usize = 5;

/// The matrix and the rules of thumb as a page.
#[derive(Debug)]
pub struct MatrixHtml<'m> {
    /// The matrix.
    pub matrix: &'m Matrix,
    /// The rules of thumb; `None` where nothing beneath the folder has any.
    pub rules: Option<&'m Report>,
}

impl fmt::Display for MatrixHtml<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let page = MatrixPage::new(self.matrix, self.rules);
        // Askama's errors are those of the writer: nothing that is filled in can fail.
        writeln!(out, "{}", page.render().map_err(|_| fmt::Error)?)
    }
}

/// What the template shows.
#[derive(Template)]
#[template(path = "matrix.html")]
struct MatrixPage<'m> {
    title: &'static str,
    style: Trusted,
    script: Trusted,
    policy: String,
    matrix: &'m Matrix,
    filters: Vec<Filter>,
    setups: Vec<&'m Setup>,
    rules: Vec<RuleSection<'m>>,
    rules_subject: &'m [String],
}

/// A choice that hides rows, or shows another number.
struct Filter {
    key: &'static str,
    label: &'static str,
    options: Vec<FilterOption>,
}

/// One of the things to choose from. The first is chosen by default.
struct FilterOption {
    /// What the address of the page has.
    value: String,
    label: String,
    /// What a row or cell has it by.
    place: String,
    /// What is shown, in a sentence.
    about: &'static str,
}

/// A section of the rules.
struct RuleSection<'m> {
    section: &'m Section,
    grids: Vec<Grid<'m>>,
}

impl<'m> MatrixPage<'m> {
    fn new(matrix: &'m Matrix, rules: Option<&'m Report>) -> MatrixPage<'m> {
        let style =
            Trusted(format!("{}{}", include_str!("../../../report/write/html/report.css"), include_str!("matrix.css")));
        let script = Trusted(include_str!("matrix.js").to_owned());
        let sections = rules.map_or(&[][..], |report| &report.sections);
        let section = |section: &'m Section| {
            let grids = section.tables.iter().filter_map(|table| table.grid(Forms::HTML));
            RuleSection { section, grids: grids.collect() }
        };
        let setups: Vec<&Setup> = matrix.setups().into_iter().collect();
        MatrixPage {
            title: TITLE,
            policy: policy(&style, &script),
            style,
            script,
            filters: filters(matrix, &setups),
            setups,
            matrix,
            rules: sections.iter().map(section).filter(|one| !one.grids.is_empty()).collect(),
            rules_subject: rules.map_or(&[], |report| &report.headline.subject),
        }
    }

    fn is_wide(&self, scenario: &ScenarioMatrix) -> bool {
        scenario.strategies.len() > NARROW
    }

    /// Where a row was measured, if that differs from row to row.
    fn setup<'r>(&self, row: &'r MixRow) -> Option<&'r Setup> {
        row.setup.as_ref().filter(|_| self.setups.len() > 1)
    }

    /// By what filters find a row.
    fn marks(&self, row: &MixRow) -> Marks {
        let place = |of: fn(&Setup) -> &str| {
            row.setup.as_ref().and_then(|setup| {
                distinct(&self.setups, of).iter().position(|name| *name == of(setup)).map(|place| place.to_string())
            })
        };
        let families = row.families.iter().map(|family| match family {
            MixFamily::Default => "default",
            MixFamily::ReadHeavy => "read",
            MixFamily::WriteHeavy => "write",
        });
        Marks {
            server: place(|setup| &setup.version).unwrap_or_default(),
            machine: place(|setup| &setup.machine).unwrap_or_default(),
            preset: row.preset.map_or("", |preset| preset.name()),
            families: families.collect::<Vec<_>>().join(" "),
        }
    }

    /// What the name of a row says on top of it: from which mix it is estimated.
    fn source(&self, row: &MixRow) -> String {
        match &row.kind {
            RowKind::Estimated { from } => format!("estimated from own times of the mix {from}"),
            RowKind::Measured | RowKind::Missing { .. } => String::new(),
        }
    }

    /// A number stays on the line of its unit.
    fn tied(&self, text: &str) -> String {
        text.replace(" %", "\u{a0}%")
    }

    /// Whether the page folds a section of rules: the surprising ones are not folded.
    fn is_folded(&self, section: &Section) -> bool {
        ["confirmed_rules", "undecided_rules", "rules_by_design"].contains(&section.id)
    }

    /// Why a row has no numbers.
    fn reason(&self, row: &MixRow) -> Option<&'static str> {
        match row.kind {
            RowKind::Missing { reason } => Some(reason),
            RowKind::Measured | RowKind::Estimated { .. } => None,
        }
    }

    /// The cells of the number that is shown first, and what the script makes of all numbers.
    fn cells<'r>(&self, row: &'r MixRow) -> Vec<(&'r MatrixCell, String)> {
        let data = |place: usize| {
            let of_metric = row.cells.iter().map(|cells| cells.get(place).map_or_else(String::new, data));
            of_metric.collect::<Vec<_>>().join(";")
        };
        row.times().iter().enumerate().map(|(place, cell)| (cell, data(place))).collect()
    }

    fn remark(&self, cell: &MatrixCell, row: &MixRow) -> String {
        let estimated = if row.is_estimated() && cell.look != Look::Nothing { "est." } else { "" };
        [cell.remark(), estimated].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
    }

    fn class(&self, cell: &MatrixCell) -> String {
        code(cell)
    }

    fn tone(&self, cell: &Cell) -> &'static str {
        tone(cell.tone)
    }
}

/// By what filters find a row.
struct Marks {
    server: String,
    machine: String,
    preset: &'static str,
    families: String,
}

/// The class of a cell.
fn code(cell: &MatrixCell) -> String {
    match cell.look {
        Look::Best => "b".to_owned(),
        Look::TiedBest => "t".to_owned(),
        Look::NoDifference => "d".to_owned(),
        Look::Lowest => "l".to_owned(),
        Look::Times => cell.shade().map_or_else(|| "v".to_owned(), |shade| format!("k{shade}")),
        Look::Unsafe => "u".to_owned(),
        Look::Undecided => "x".to_owned(),
        Look::Value => "v".to_owned(),
        Look::Nothing => "n".to_owned(),
    }
}

/// A cell as the script reads it: class, text and what is written smaller.
fn data(cell: &MatrixCell) -> String {
    match cell.look {
        Look::Nothing => String::new(),
        _ => format!("{}|{}|{}", code(cell), cell.text(), cell.remark()),
    }
}

fn distinct<'s>(setups: &[&'s Setup], of: impl Fn(&'s Setup) -> &'s str) -> Vec<&'s str> {
    let mut names: Vec<&str> = setups.iter().map(|setup| of(setup)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The filters that have something to choose from.
fn filters(matrix: &Matrix, setups: &[&Setup]) -> Vec<Filter> {
    let all = || FilterOption { value: "all".into(), label: "all".into(), place: String::new(), about: "" };
    let option = |value: &str, label: &str, place: &str| FilterOption {
        value: value.to_owned(),
        label: label.to_owned(),
        place: place.to_owned(),
        about: "",
    };
    let choice = |key, label, options: Vec<FilterOption>| {
        let options: Vec<FilterOption> = std::iter::once(all()).chain(options).collect();
        Filter { key, label, options }
    };
    let of_setups = |of: fn(&Setup) -> &str, prefix: &str| {
        let names = distinct(setups, of);
        let options =
            names.iter().enumerate().map(|(place, name)| option(name, &format!("{prefix}{name}"), &place.to_string()));
        options.collect::<Vec<_>>()
    };
    let has = |family: MixFamily| matrix.rows().any(|row| row.families.contains(&family));
    let families = [
        (MixFamily::Default, "default", "default"),
        (MixFamily::ReadHeavy, "read", "read-heavy"),
        (MixFamily::WriteHeavy, "write", "write-heavy"),
    ];
    let families = families.into_iter().filter(|(family, ..)| has(*family));
    let metrics = PublishedMetric::all().map(|metric| {
        let column = metric.column();
        FilterOption { about: column.about, ..option(column.address, column.label, &column.place.to_string()) }
    });
    let filters = [
        Filter { key: "metric", label: "show", options: metrics.collect() },
        choice("mix", "mixes", families.map(|(_, value, label)| option(value, label, value)).collect()),
        choice("server", "server", of_setups(|setup| &setup.version, "MongoDB ")),
        choice("machine", "machine", of_setups(|setup| &setup.machine, "")),
        choice(
            "preset",
            "preset",
            matrix.presets().iter().map(|preset| option(preset.name(), preset.name(), preset.name())).collect(),
        ),
    ];
    // One thing besides "all" is no choice.
    filters.into_iter().filter(|filter| filter.key == "mix" || filter.options.len() > 2).collect()
}
