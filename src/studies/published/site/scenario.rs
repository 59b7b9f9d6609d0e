//! The page of a scenario: what is compared, what each mix found, the claims, and the documents.

use std::collections::BTreeSet;

use crate::cli::exit::CliError;
use crate::cli::report::label;
use crate::cli::show::{ShownStrategy, shown_strategies};
use crate::compile::Choice;
use crate::report::document::{
    Cell, Column, Headline, Link, Listing, Row, Section, Table, Tone, column, counted, plain,
};
use crate::report::{Report, encoded};
use crate::scenario::Source;
use crate::studies::published::matrix::markdown::lead;
use crate::studies::published::matrix::{MatrixCell, MixRow, ScenarioMatrix};
use crate::studies::published::rules::{self, Rule};

use super::cite::{Edition, MeasuredOn};

/// What is known of a scenario.
pub struct ScenarioPage<'s> {
    /// Its name.
    pub name: &'s str,
    /// Its question.
    pub title: String,
    /// What the application does.
    pub about: String,
    /// What its strategies keep.
    pub strategies: Vec<ShownStrategy>,
    /// What was measured; `None` before any mix was.
    pub matrix: Option<&'s ScenarioMatrix>,
}

impl<'s> ScenarioPage<'s> {
    /// Reads a scenario.
    ///
    /// # Errors
    /// When its text cannot be used.
    pub fn new(
        source: Source,
        name: &'s str,
        matrix: Option<&'s ScenarioMatrix>,
    ) -> Result<ScenarioPage<'s>, CliError> {
        let ready = crate::cli::scenario::prepare_source(source, &Choice::default())?;
        let strategies = shown_strategies(&ready.scenario, &ready.plan)?;
        let [title, about] = [&ready.plan.title, &ready.plan.about].map(|text| plain(text));
        Ok(ScenarioPage { name, title, about, strategies, matrix })
    }

    /// What it says in a sentence: the verdict of the mix `default`, else how many claims were confirmed and refuted.
    pub fn answer(&self, rules: &[Rule]) -> String {
        let verdict = self.matrix.map(|matrix| matrix.answer.clone()).filter(|answer| !answer.is_empty());
        let claims = || rules::count(rules, self.name).map(|count| count + ".");
        verdict.or_else(claims).unwrap_or_else(|| "Nothing is published yet.".to_owned())
    }

    /// The report. `studies` is what sweeps and growth say of it.
    pub fn report(
        &self,
        rules: &[Rule],
        studies: Vec<Section>,
        edition: &Edition,
        (place, measured): (&str, Option<&MeasuredOn>),
    ) -> Report {
        let label = |one: &ShownStrategy| (plain(&one.name), label(&one.name, &one.label));
        let claims = rules::of_scenario(rules, self.name);
        let mixes = self.matrix.map_or(0, |matrix| matrix.rows.iter().filter(|row| row.page.is_some()).count() as u64);
        let made = (mixes > 0).then(|| format!("{}.", counted(mixes, "measured mix")));
        // The answer itself, where no mix has one.
        let claims_made =
            rules::count(rules, self.name).map(|count| count + ".").filter(|count| *count != self.answer(rules));
        let again = format!("Measure it yourself: docshape run {}.", self.name);
        let newest = measured.map(|one| format!("Newest measurement: {}. Data {}.", one.day, edition.data));
        let headline = Headline {
            scenario: self.name.to_owned(),
            title: self.title.clone(),
            tab: format!("{}: docshape", self.title),
            about: self.about.clone(),
            labels: self.strategies.iter().map(label).collect(),
            sentences: [self.answer(rules)].into_iter().chain(self.elsewhere()).collect(),
            notes: self.matrix.and_then(|matrix| matrix.conditions.clone()).into_iter().collect(),
            subject: [made, claims_made, Some(again), newest].into_iter().flatten().collect(),
            ..Headline::default()
        };
        let citation = measured.map(|measured| edition.section(self.name, &self.title, place, measured));
        let sections = [self.mixes(), claims].into_iter().flatten().chain(studies);
        let sections = sections.chain([self.documents()]).chain(citation);
        Report::of(headline, sections)
    }

    /// Where the order flips, or else where another strategy is the first.
    fn elsewhere(&self) -> Vec<String> {
        let Some(matrix) = self.matrix else { return Vec::new() };
        if matrix.flips.is_empty() { matrix.elsewhere().into_iter().collect() } else { matrix.flips.clone() }
    }

    /// Calls per second by mix and strategy.
    fn mixes(&self) -> Option<Section> {
        let matrix = self.matrix?;
        let columns = matrix.strategies.iter().map(|strategy| Column {
            heading: strategy.name.clone() + if strategy.is_unsafe { " (unsafe)" } else { "" },
            ..column("strategy", "", "Calls per second against the best strategy of the mix.")
        });
        let has_setups = matrix.rows.iter().filter_map(|row| row.setup.as_ref()).collect::<BTreeSet<_>>().len() > 1;
        let row = |(place, row): (usize, &MixRow)| {
            let setup = row.setup.as_ref().filter(|_| has_setups).map(ToString::to_string);
            let remark = row.badges().into_iter().chain(setup).collect::<Vec<_>>().join(", ");
            let name = Cell::text(&row.mix).remark(remark).link(row.page.as_ref().map(above));
            let cells = row.first().iter().map(|cell| shown(cell, row.is_estimated())).collect();
            let id = format!("{}/{}", encoded(&matrix.name), encoded(&row.mix));
            Row { cells, ..Row::new(name).id(matrix.is_first(&place).then_some(id)) }
        };
        let table = Table {
            columns: columns.collect(),
            rows: matrix.rows.iter().enumerate().filter(|(_, row)| row.missing().is_none()).map(row).collect(),
            ..Table::empty("mixes", "Mixes", column("mix", "mix", "The mix of operations."))
        };
        Section::new("mixes", "Which strategy in which mix")
            .table(table)
            .note(matrix.undecided().unwrap_or_default())
            .note(matrix.missing().unwrap_or_default())
            .note(lead())
            .with_rows()
    }

    /// A document of each collection of each strategy.
    fn documents(&self) -> Section {
        let listing = |one: &ShownStrategy| Listing {
            lead: [plain(&one.name), plain(&one.about)].join(": "),
            language: "js",
            lines: one.documents.trim().lines().map(plain).collect(),
        };
        let code = self.strategies.iter().map(listing).collect();
        let lead = format!(
            "A document of each collection with its indexes, as docshape makes them. docshape show {} also has the commands.",
            self.name
        );
        Section { code, ..Section::new("documents", "What each strategy stores").lead(lead) }
    }
}

/// An address in the folder above.
fn above(address: &String) -> Link {
    Link::File(format!("../{address}"))
}

fn shown(cell: &MatrixCell, is_estimated: bool) -> Cell {
    let tone = match cell.class().as_str() {
        "b" => Tone::Best,
        "t" => Tone::Good,
        "l" => Tone::Strong,
        _ => Tone::Plain,
    };
    Cell::text(cell.text()).remark(cell.full_remark(is_estimated)).tone(tone)
}
