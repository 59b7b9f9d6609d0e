//! Headlines and sections: what every report is made of.
//!
//! A report is a [`Headline`] and sections, built once; the writers know nothing else. To report something, build
//!
//! ```ignore
//! let metrics = [
//!     column("mean_ns", "mean", "The mean time.").number(time, |row: &Change| row.mean),
//!     column("ratio", "ratio", "B divided by A.").cell(|row| Cell::number(row.ratio, three).tone(Tone::Good)),
//! ];
//! let rows = changes.iter().map(|change| (Row::new(change.name.as_str()).group(operation), change));
//! let table = Table::new("times", "Time per call", Column::strategy(), &metrics, rows)
//!     .grouped(Column::operation())
//!     .side_by_side(Forms::TERMINAL);
//! let section = Section::new("times", "Time per call").lead("Geometric means.").table(table).note("Lower is better.");
//! ```
//!
//! Which form shows what is said here and nowhere else: by `only(forms)` of a metric, row, table or section, by
//! [`Table::side_by_side`], and by [`Table::folded`] for details of the page. Leads are for documents alone, notes for every
//! form unless they are limited. A section without a table, item, chart, code or note in some form is left out of it.

use serde::Serialize;

use super::cell::{Cell, Tone};
use super::chart::Charts;
use super::decision::Decision;
use super::table::{Forms, Table};

/// What a report says first.
#[derive(Debug, Clone, Default)]
pub struct Headline {
    /// The scenario's name.
    pub scenario: String,
    /// Its question.
    pub title: String,
    /// The page in a tab of a browser: its subject and what it says of it; empty for the scenario with its question.
    pub tab: String,
    /// What the application does.
    pub about: String,
    /// The strategies, and their labels: each in two or three words, or empty. Empty without any label.
    pub labels: Vec<(String, String)>,
    /// The mix of operations.
    pub mix: String,
    /// The times that strategies are judged by: `service` or `response`; `None` where none were measured.
    pub times: Option<&'static str>,
    /// What was measured, in lines.
    pub subject: Vec<String>,
    /// Why nothing here may be used, in sentences; empty for a valid report.
    pub invalid: Vec<String>,
    /// What is missing, such as the rounds of an interrupted run.
    pub incomplete: Option<String>,
    /// What the first screen of a run says; `None` for a report that is not about a single run.
    pub decision: Option<Decision>,
    /// The verdict.
    pub sentences: Vec<String>,
    /// How the verdict looks.
    pub tone: Tone,
    /// What the findings are about; empty where they need no heading.
    pub findings_lead: &'static str,
    /// What was found in particular.
    pub findings: Vec<Finding>,
    /// The most important numbers, where a form has them next to the verdict.
    pub overview: Option<Table>,
    /// The pictures of the first screen.
    pub charts: Option<Charts>,
    /// How certain the verdict is.
    pub notes: Vec<String>,
}

impl Headline {
    /// The heading of the findings; empty without findings, or where they need none.
    pub(crate) fn findings_lead(&self) -> &'static str {
        if self.findings.is_empty() { "" } else { self.findings_lead }
    }

    /// What the strategies are called, in a line; empty without labels.
    pub(crate) fn labels(&self) -> String {
        let one =
            |(name, label): &(String, String)| [name.as_str(), label].join(if label.is_empty() { "" } else { ": " });
        self.labels.iter().map(one).collect::<Vec<_>>().join(" · ")
    }

    /// Whether anything is said besides the subject.
    pub fn has_verdict(&self) -> bool {
        let texts = [&self.sentences, &self.notes].into_iter().any(|texts| !texts.is_empty());
        texts || !self.findings.is_empty() || self.incomplete.is_some()
    }
}

/// Where a reader goes on from a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Onward {
    /// What the links have in common.
    pub name: &'static str,
    /// Texts that lead somewhere.
    pub links: Vec<Cell>,
}

/// The result for one operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "FindingView"))]
pub struct Finding {
    /// The operation; in a comparison of runs the strategy as well.
    #[serde(rename = "operation")]
    pub name: String,
    /// Whether a difference is reported.
    #[serde(rename = "difference")]
    pub is_difference: bool,
    /// The result in a sentence.
    pub text: String,
}

/// A paragraph and the forms that have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paragraph {
    /// The text.
    pub text: String,
    /// The forms.
    pub forms: Forms,
}

/// Lines that keep their form, such as a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// What they are.
    pub lead: String,
    /// Their language in Markdown.
    pub language: &'static str,
    /// The lines.
    pub lines: Vec<String>,
}

/// A part of a report under one heading.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Section {
    /// By which links find it.
    pub id: &'static str,
    /// The heading.
    pub title: String,
    /// What the tables and charts show.
    pub lead: Vec<Paragraph>,
    /// The charts.
    pub charts: Option<Charts>,
    /// The tables.
    pub tables: Vec<Table>,
    /// A list of sentences.
    pub items: Vec<String>,
    /// Lines that keep their form.
    pub code: Vec<Listing>,
    /// What to know to read the tables.
    pub notes: Vec<Paragraph>,
    /// A scenario's text, which only the page shows.
    pub source: Option<String>,
    /// What a script of the page computes with.
    pub data: Option<serde_json::Value>,
    /// The forms that show it.
    pub forms: Forms,
}

impl Section {
    /// A section without content, in every form.
    pub fn new(id: &'static str, title: impl Into<String>) -> Section {
        Section { id, title: title.into(), ..Section::default() }
    }

    /// The same with a paragraph at the beginning.
    pub fn lead(mut self, text: impl Into<String>) -> Section {
        self.lead.push(Paragraph { text: text.into(), forms: Forms::DOCUMENT.and(Forms::JSON) });
        self
    }

    /// The same with a table.
    pub fn table(mut self, table: Table) -> Section {
        self.tables.push(table);
        self
    }

    /// The same with charts.
    pub fn charts(self, charts: Charts) -> Section {
        Section { charts: Some(charts), ..self }
    }

    /// The same with a list of sentences.
    pub fn items(self, items: Vec<String>) -> Section {
        Section { items, ..self }
    }

    /// The same with a paragraph at the end.
    pub fn note(self, text: impl Into<String>) -> Section {
        self.note_in(Forms::ALL, text)
    }

    /// The same with a paragraph at the end in some forms.
    pub fn note_in(mut self, forms: Forms, text: impl Into<String>) -> Section {
        let text = text.into();
        self.notes.extend((!text.is_empty()).then_some(Paragraph { text, forms }));
        self
    }

    /// The same with numbers for a script of the page.
    pub fn data(self, data: serde_json::Value) -> Section {
        Section { data: Some(data), ..self }
    }

    /// The same in these forms alone.
    pub fn only(self, forms: Forms) -> Section {
        Section { forms, ..self }
    }

    /// The same if a table has a row.
    pub fn with_rows(self) -> Option<Section> {
        self.tables.iter().any(|table| !table.rows.is_empty()).then_some(self)
    }

    /// The same with the rows of a series in JSON alone: those of the repeat, which the noise band and a sentence stand for.
    pub(crate) fn without(mut self, series: Option<usize>) -> Section {
        let rows = self.tables.iter_mut().flat_map(|table| &mut table.rows);
        for row in rows.filter(|row| row.series.is_some() && row.series == series) {
            row.forms = row.forms.within(Forms::JSON);
        }
        self
    }

    /// Whether a form has anything to show of it.
    pub fn is_shown(&self, form: Forms) -> bool {
        let has_table = self.tables.iter().any(|table| table.grid(form).is_some());
        let has_text = !self.items.is_empty() || !self.code.is_empty() || self.notes(form).next().is_some();
        self.forms.contains(form) && (has_table || has_text || self.source.is_some())
    }

    /// The tables that a form shows.
    pub fn shown(&self, form: Forms) -> impl Iterator<Item = &Table> {
        self.tables.iter().filter(move |table| table.forms.contains(form))
    }

    /// The paragraphs at the beginning that a form shows.
    pub fn leads(&self, form: Forms) -> impl Iterator<Item = &str> {
        texts(&self.lead, form)
    }

    /// The paragraphs at the end that a form shows.
    pub fn notes(&self, form: Forms) -> impl Iterator<Item = &str> {
        texts(&self.notes, form)
    }
}

fn texts(paragraphs: &[Paragraph], form: Forms) -> impl Iterator<Item = &str> {
    paragraphs.iter().filter(move |one| one.forms.contains(form)).map(|one| one.text.as_str())
}
