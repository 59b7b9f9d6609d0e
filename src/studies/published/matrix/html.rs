//! The matrix of published results as one page: as every page, without network and other files, under a policy that admits its own
//! style and script alone. Without the script it shows calls per second of everything.

use std::collections::BTreeSet;

use askama::Template;

use crate::report::write::html::{Assets, tied};
use crate::results::{Preset, PublishedMetric};

use super::cell::{LEGEND, Look, MatrixCell, REMARKS};
use super::row::{MixRow, RowKind, Setup};
use super::{Matrix, TITLE};

/// A scenario with more strategies is as wide as the page.
const NARROW: usize = 5;

/// The families of mixes, and their names for people.
const FAMILIES: [(&str, &str); 3] = [("default", "default"), ("read", "read-heavy"), ("write", "write-heavy")];

/// The matrix as a page.
pub fn page(matrix: &Matrix) -> String {
    format!("{}\n", MatrixPage::new(matrix))
}

/// What the template shows.
#[derive(Template)]
#[template(path = "matrix.html")]
struct MatrixPage<'m> {
    assets: Assets,
    matrix: &'m Matrix,
    filters: Vec<Filter>,
    setups: Vec<&'m Setup>,
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

impl<'m> MatrixPage<'m> {
    fn new(matrix: &'m Matrix) -> MatrixPage<'m> {
        let style = [include_str!("../../../report/write/html/report.css"), include_str!("matrix.css")].concat();
        let setups: Vec<&Setup> = matrix.setups().into_iter().collect();
        MatrixPage {
            assets: Assets::new(style, include_str!("matrix.js").to_owned()),
            filters: filters(matrix, &setups),
            setups,
            matrix,
        }
    }

    /// By what filters find a row.
    fn marks(&self, row: &MixRow) -> [(&'static str, String); 4] {
        let place = |of: fn(&Setup) -> &str| {
            let name = row.setup.as_ref().map(of);
            let place = distinct(&self.setups, of).iter().position(|other| Some(*other) == name);
            place.map_or_else(String::new, |place| place.to_string())
        };
        [
            ("server", place(|setup| &setup.version)),
            ("machine", place(|setup| &setup.machine)),
            ("preset", row.preset.map_or("", |preset| preset.name()).to_owned()),
            ("mix", row.families.join(" ")),
        ]
    }

    /// The cells of the number that is shown first, and what the script makes of all numbers.
    fn cells<'r>(&self, row: &'r MixRow) -> Vec<(&'r MatrixCell, String)> {
        let data = |place: usize| {
            let of_metric = row.cells.iter().map(|cells| cells.get(place).map_or_else(String::new, data));
            of_metric.collect::<Vec<_>>().join(";")
        };
        row.first().iter().enumerate().map(|(place, cell)| (cell, data(place))).collect()
    }
}

/// A cell as the script reads it: class, text and what is written smaller.
fn data(cell: &MatrixCell) -> String {
    match cell.look {
        Look::Nothing => String::new(),
        _ => format!("{}|{}|{}", cell.class(), cell.text(), cell.remark()),
    }
}

fn distinct<'s>(setups: &[&'s Setup], of: fn(&Setup) -> &str) -> BTreeSet<&'s str> {
    setups.iter().map(|setup| of(setup)).collect()
}

/// The filters that have something to choose from.
fn filters(matrix: &Matrix, setups: &[&Setup]) -> Vec<Filter> {
    let option = |value: &str, label: &str, place: &str| {
        let [value, label, place] = [value, label, place].map(str::to_owned);
        FilterOption { value, label, place, about: "" }
    };
    let choice = |key, label, options: Vec<FilterOption>| {
        let options = std::iter::once(option("all", "all", "")).chain(options).collect();
        Filter { key, label, options }
    };
    let of_setups = |of: fn(&Setup) -> &str, prefix: &str| {
        let option = |(place, name)| option(name, &format!("{prefix}{name}"), &format!("{place}"));
        distinct(setups, of).into_iter().enumerate().map(option).collect::<Vec<_>>()
    };
    let has = |family: &str| matrix.rows().any(|row| row.families.contains(&family));
    let families = FAMILIES.into_iter().filter(|(family, _)| has(family));
    let presets = Preset::ALL.into_iter().filter(|preset| matrix.rows().any(|row| row.preset == Some(*preset)));
    let metrics = PublishedMetric::all().map(|metric| {
        let column = metric.column();
        FilterOption { about: column.about, ..option(column.address, column.label, &column.place.to_string()) }
    });
    let filters = [
        Filter { key: "metric", label: "show", options: metrics.collect() },
        choice("mix", "mixes", families.map(|(family, label)| option(family, label, family)).collect()),
        choice("server", "server", of_setups(|setup| &setup.version, "MongoDB ")),
        choice("machine", "machine", of_setups(|setup| &setup.machine, "")),
        choice("preset", "preset", presets.map(|preset| option(preset.name(), preset.name(), preset.name())).collect()),
    ];
    // One thing besides "all" is no choice.
    filters.into_iter().filter(|filter| filter.key == "mix" || filter.options.len() > 2).collect()
}
