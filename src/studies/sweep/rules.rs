//! What sweeps say as rules of thumb.

use std::path::PathBuf;

use crate::report::rule_source::{RuleSource, scenario};
use crate::report::run::decision::phrase;
use crate::report::{Cell, Row, Section, Table, Tone, column, plain};
use crate::results::{self, ResultsError, SWEEP_FILE};

use super::record::{ConditionRecord, SweepRecord};

/// What sweeps give to the rules of thumb.
pub const RULES: RuleSource = RuleSource { file: SWEEP_FILE, noun: "sweep", section };

fn section(files: &[(String, PathBuf)]) -> Result<Option<Section>, ResultsError> {
    let load = |(report, file): &(String, PathBuf)| Ok((report.clone(), results::load_as::<SweepRecord>(file)?));
    Ok(flips(&files.iter().map(load).collect::<Result<Vec<_>, ResultsError>>()?))
}

/// What a sweep is asked, and what it found in the mix, where no operation hides what another one gains.
pub(crate) fn flips(sweeps: &[(String, SweepRecord)]) -> Option<Section> {
    let measures = [
        column("question", "question", "What the sweep asks.")
            .text(|one: &&SweepRecord| plain(one.question.as_deref().unwrap_or(&one.title))),
        column("varied", "varied", "The conditions and their values.").text(|one| {
            let condition = |one: &ConditionRecord| format!("{} = {}", one.name, one.values.join(", "));
            Cell::text(plain(&one.vary.iter().map(condition).collect::<Vec<_>>().join("; ")))
        }),
        column("answer", "answer", "The strategies that no other one is shown to beat in the mix.").text(|one| {
            let fastest = one.conclusion.iter().flat_map(|conclusion| &conclusion.fastest);
            Cell::text(fastest.map(phrase::fastest).collect::<Vec<_>>().join(" ")).tone(Tone::Strong)
        }),
        column("conditions", "conditions", "Server, machine, length and what was set.")
            .text(|one| one.conclusion.as_ref().map_or_else(String::new, |conclusion| plain(&conclusion.conditions))),
    ];
    let rows = sweeps.iter().map(|(report, record)| (Row::new(scenario(&record.scenario, report)), record));
    let title = "Which strategy is fastest where";
    let name = column("scenario", "scenario", "The scenario.");
    Section::new("flips", title).table(Table::new("flips", title, name, &measures, rows).list()).with_rows()
}
