//! What growths say as rules of thumb.

use std::path::PathBuf;

use crate::report::rule_source::{RuleSource, scenario};
use crate::report::run::conditions::conditions;
use crate::report::{Cell, Headline, Report, Row, Section, Table, Tone, column, plain};
use crate::results::{self, GROWTH_FILE, ResultsError};

use super::record::GrowthRecord;

/// What growths give to the rules of thumb.
pub const RULES: RuleSource = RuleSource { file: GROWTH_FILE, noun: "growth", section };

/// Operations of a growth whose doubling is said; all are in its report.
const DOUBLED: usize = 2;

fn section(files: &[(String, PathBuf)]) -> Result<Option<Section>, ResultsError> {
    let load = |(report, file): &(String, PathBuf)| Ok((report.clone(), results::load_as::<GrowthRecord>(file)?));
    Ok(growths(&files.iter().map(load).collect::<Result<Vec<_>, ResultsError>>()?))
}

/// What became of the strategies of each growth.
pub(crate) fn growths(growths: &[(String, GrowthRecord)]) -> Option<Section> {
    let reports: Vec<_> =
        growths.iter().map(|(report, record)| (report, record, Report::of_growth(record).headline)).collect();
    let measures = [
        column("question", "question", "What it asks.").text(|one: &(&GrowthRecord, &Headline)| {
            plain(one.0.question.as_deref().unwrap_or(&one.0.run.scenario.title))
        }),
        column("answer", "answer", "What became of the strategies.").text(|one| {
            let findings =
                one.1.findings.iter().map(|finding| format!("{}: {}.", finding.name, finding.text)).take(DOUBLED);
            Cell::text(one.1.sentences.iter().cloned().chain(findings).collect::<Vec<_>>().join(" ")).tone(Tone::Strong)
        }),
        column("conditions", "conditions", "Server, machine and what was set.")
            .text(|one| conditions(&one.0.run, &[], |_| false)),
    ];
    let rows = reports
        .iter()
        .map(|(report, record, headline)| (Row::new(scenario(&record.run.scenario.name, report)), (*record, headline)));
    let title = "While documents grow";
    let name = column("scenario", "scenario", "The scenario.");
    Section::new("growths", title).table(Table::new("growths", title, name, &measures, rows).list()).with_rows()
}
