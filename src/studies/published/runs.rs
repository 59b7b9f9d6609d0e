//! The report of several runs: their verdicts, the results of their claims, and how they were measured.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::report::document::{Cell, Column, Headline, Link, Row, Section, Table, column, counted};
use crate::report::run::decision::NextStep;
use crate::report::run::parts::PartEvaluations;
use crate::report::run::sections::claims::{self, ClaimView};
use crate::report::run::sections::{method, verdict};
use crate::report::{HTML_FILE, MARKDOWN_FILE, NamedRun, Report, encoded};

/// The settings of the runs that are shown: once where all agree, else in a table.
const MEASURED: [&str; 13] = [
    "docshape", "preset", "rounds", "measured", "parts", "open load", "clients", "load threads", "verification",
    "write concern", "server", "cache", "client machine",
];

/// One of the runs.
struct Summarised<'r> {
    /// Its folder, relative to the report.
    folder: &'r str,
    headline: Headline,
    claims: Vec<ClaimView<'r>>,
    settings: BTreeMap<&'static str, String>,
}

impl Report {
    /// Computes the report of several runs, which are named by their folders.
    pub fn of_runs(runs: &[NamedRun]) -> Report {
        let runs: Vec<Summarised> = runs.iter().map(Summarised::new).collect();
        let claims = claims::count_results(runs.iter().flat_map(|run| &run.claims));
        let headline = Headline {
            scenario: "docshape".to_owned(),
            title: "Published results".to_owned(),
            subject: vec![
                format!("{}; {claims}.", counted(runs.len() as u64, "run")),
                format!(
                    "Each scenario leads to its report. The page {HTML_FILE} next to it has all charts, and run.json the data."
                ),
            ],
            ..Headline::default()
        };
        let [claims, by_design] = of_claims(&runs);
        let sections = [Some(verdicts(&runs)), claims, by_design, Some(measured(&runs))];
        Report::of(headline, sections.into_iter().flatten())
    }
}

impl<'r> Summarised<'r> {
    fn new(run: &'r NamedRun) -> Summarised<'r> {
        let parts = Arc::new(PartEvaluations::new(&run.record));
        // Of settings that have one name, the first is docshape's own, and the second what the server says.
        let settings = method::measured(&run.record).into_iter().rev();
        let known = |(name, value): (String, String)| Some((*MEASURED.iter().find(|known| **known == name)?, value));
        Summarised {
            folder: &run.name,
            headline: verdict::headline(&run.record, &parts, &[], &NextStep::of(&parts, &[], false)),
            claims: claims::claims(&run.record),
            settings: settings.filter_map(known).collect(),
        }
    }

    /// The scenario's name, which leads to a file of the run.
    fn scenario(&self) -> Cell {
        Cell::text(&self.headline.scenario).link(self.file(MARKDOWN_FILE))
    }

    fn file(&self, name: &str) -> Option<Link> {
        Some(Link::File(format!("{}/{name}", encoded(self.folder))))
    }

    fn answer(&self) -> String {
        match (self.headline.invalid.is_empty(), &self.headline.incomplete) {
            (false, _) => "this run is invalid".to_owned(),
            (true, Some(status)) => status.clone(),
            (true, None) => self.headline.sentences.join(" "),
        }
    }
}

fn verdicts(runs: &[Summarised]) -> Section {
    let measures = [
        column("page", "page", "The page.").text(|run: &&Summarised| Cell::text("page").link(run.file(HTML_FILE))),
        column("question", "question", "The scenario's question.").text(|run| Cell::text(&run.headline.title)),
        column("answer", "answer", "The verdict.").text(|run| run.answer()),
    ];
    let rows = runs.iter().map(|run| (Row::new(run.scenario()), run));
    let table =
        Table::new("verdicts", "Verdicts", column("scenario", "scenario", "The scenario."), &measures, rows).list();
    Section::new("verdicts", "Verdicts").table(table)
}

fn of_claims(runs: &[Summarised]) -> [Option<Section>; 2] {
    let section = |id, title, is_by_design| {
        let claims = runs.iter().flat_map(|run| run.claims.iter().map(move |claim| (run, claim)));
        let rows = claims.filter(|(_, claim)| claim.claim.by_design == is_by_design);
        let rows = rows.map(|(run, claim)| (Row::new(claim.id()).group(run.scenario()), claim));
        let (name, group) = (column("id", "id", "Its id."), column("scenario", "scenario", "The scenario."));
        Section::new(id, title).table(Table::new(id, title, name, &claims::measures(), rows).grouped(group))
    };
    let lead = "Sentences of authors, and what these runs say of them.";
    let measured = section("all_claims", "Claims", false).lead(lead).with_rows();
    [measured, section("all_claims_by_design", claims::BY_DESIGN, true).with_rows()]
}

fn measured(runs: &[Summarised]) -> Section {
    let agree = |name: &&str| runs.windows(2).all(|pair| pair[0].settings.get(*name) == pair[1].settings.get(*name));
    let (shared, others): (Vec<&str>, Vec<&str>) = MEASURED.iter().partition(|name| agree(name));
    let value = |run: &Summarised, name: &str| run.settings.get(name).cloned().unwrap_or_default();
    let items = shared.iter().filter_map(|name| Some(format!("{name}: {}", runs.first()?.settings.get(name)?)));
    let row = |run: &Summarised| {
        let cells = others.iter().map(|name| Cell::text(value(run, name))).collect();
        Row { cells, ..Row::new(run.headline.scenario.as_str()) }
    };
    let columns: Vec<Column> = others.iter().map(|name| column(name, *name, "A setting.")).collect();
    let rows = if others.is_empty() { Vec::new() } else { runs.iter().map(row).collect() };
    let name = column("scenario", "scenario", "The scenario.");
    let table = Table { columns, rows, ..Table::empty("measured", "How they were measured", name) };
    Section::new("method", "How they were measured").items(items.collect()).table(table.list())
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::results::{Preset, RunRecord, Status};
    use crate::stats::sample;

    use super::*;
    use crate::report::tests::{complete, in_every_form};

    fn summary(runs: impl IntoIterator<Item = RunRecord>) -> Report {
        let named = |record: RunRecord| NamedRun { name: record.scenario.name.clone(), record: sample::whole(&record) };
        Report::of_runs(&runs.into_iter().map(named).collect::<Vec<_>>())
    }

    /// A summary with every section and table.
    pub(crate) fn several() -> Report {
        let mut runs = [complete(), sample::run(8)];
        runs[1].scenario.name = "other".into();
        runs[1].settings.preset = Preset::Full;
        summary(runs)
    }

    #[test]
    fn runs_claims_and_what_differs_between_runs_have_rows() {
        let [_, markdown] = in_every_form(&several());
        insta::assert_snapshot!(markdown);
    }

    #[test]
    fn incomplete_runs_have_their_status_as_the_answer() {
        let mut run = sample::run(7);
        (run.status, run.settings.rounds) = (Status::Interrupted, 8);
        let [_, text] = in_every_form(&summary([run]));
        assert!(text.contains("| This run was interrupted: 7 of 8 rounds complete"), "{text}");
    }
}
