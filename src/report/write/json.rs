//! The report as data: its headline, its sections, and a record per row of every table. schemas/report.schema.json describes it.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::report::document::{Decision, Finding, Forms, Section};
use crate::report::run::facts::RunFacts;
use crate::report::{Renderer, Report};

const FORM: Forms = Forms::JSON;

/// The version of the view. It grows when a field goes or changes its meaning; fields may be added without.
pub const JSON_FORMAT: u32 = 1;

/// Writes JSON, indented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json;

impl Renderer for Json {
    fn render(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        let text = serde_json::to_string_pretty(&View::of(report)).map_err(|_| fmt::Error)?;
        writeln!(out, "{text}")
    }
}

/// A report of docshape: of a run, of a comparison of two runs, of a search for capacity, or of a verification. Times are in nanoseconds, sizes in bytes; `null` is a missing number, such as a
/// percentile that fewer than 10 calls exceed.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(title = "docshape report", rename = "Report"))]
struct View<'r> {
    /// The version of this form.
    format: u32,
    /// The scenario's name.
    scenario: &'r str,
    /// Its question.
    title: &'r str,
    /// What the application does.
    about: &'r str,
    /// The mix of operations.
    mix: &'r str,
    /// The times that strategies are judged by: `service`, or `response` with open load; `null` where none were measured.
    times: Option<&'static str>,
    /// Whether the numbers may be used.
    valid: bool,
    /// Why the run is invalid.
    invalid: &'r [String],
    /// What is missing, such as the rounds of an interrupted run.
    incomplete: Option<&'r str>,
    /// What the first screen of a run says; `null` where the report is of no single run.
    decision: Option<&'r Decision>,
    /// The verdict.
    verdict: VerdictView<'r>,
    /// The sections, in the order of the page.
    sections: Vec<SectionView<'r>>,
    /// The tables by name: a record per row.
    tables: BTreeMap<&'static str, Value>,
    /// The run: its settings, server, machine, and the verification before it; `null` where the report is of no single run.
    run: Option<&'r RunFacts>,
}

/// The verdict in sentences; the numbers are in the tables.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct VerdictView<'r> {
    /// For the mix.
    sentences: &'r [String],
    /// For the operations.
    operations: &'r [Finding],
    /// How certain the verdict is.
    notes: &'r [String],
}

/// A section of the page.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SectionView<'r> {
    /// The id that links use.
    id: &'static str,
    /// Its heading.
    title: &'r str,
    /// What its tables show.
    lead: Vec<&'r str>,
    /// The names of its tables.
    tables: Vec<&'static str>,
    /// A list of sentences, such as warnings.
    items: &'r [String],
    /// Notes that explain the tables.
    notes: Vec<&'r str>,
}

impl<'r> View<'r> {
    fn of(report: &'r Report) -> View<'r> {
        let headline = &report.headline;
        let sections = || report.sections.iter().filter(|section| section.forms.contains(FORM));
        let section = |one: &'r Section| SectionView {
            id: one.id,
            title: &one.title,
            lead: one.leads(FORM).collect(),
            tables: one.shown(FORM).map(|table| table.id).collect(),
            items: &one.items,
            notes: one.notes(FORM).collect(),
        };
        View {
            format: JSON_FORMAT,
            scenario: &headline.scenario,
            title: &headline.title,
            about: &headline.about,
            mix: &headline.mix,
            times: headline.times,
            valid: !report.is_invalid(),
            invalid: &headline.invalid,
            incomplete: headline.incomplete.as_deref(),
            decision: headline.decision.as_ref(),
            verdict: VerdictView {
                sentences: &headline.sentences,
                operations: &headline.findings,
                notes: &headline.notes,
            },
            sections: sections().map(section).collect(),
            tables: sections().flat_map(|one| one.shown(FORM)).map(|table| (table.id, table.records())).collect(),
            run: report.run.as_ref().map(|run| &run.facts),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
