//! Rules of thumb: what the sources say of document shapes, what was measured, and where the answer turns.

use crate::results::{ClaimsRecord, DecidedClaimRecord, FindingRecord, GrowthRecord, SweepRecord};

use super::cell::{Cell, Link, Tone};
use super::conditions::conditions;
use super::format::{counted, plain};
use super::section::claims::{self, BY_DESIGN, CountedClaim};
use super::section::{Headline, Section};
use super::sweep::NO_DIFFERENCE;
use super::table::{Column, Measure, Row, Table};
use super::{MARKDOWN_FILE, Report};

/// Operations of a growth whose doubling is said; all are in its report.
const DOUBLED: usize = 2;

/// Results beneath a folder.
#[derive(Debug, Default)]
pub struct PublishedResults {
    /// Sweeps and their folders, relative to the report.
    pub sweeps: Vec<(String, SweepRecord)>,
    /// Growths and their folders, relative to the report.
    pub growths: Vec<(String, GrowthRecord)>,
    /// The claims of scenarios.
    pub claims: Vec<ClaimsRecord>,
}

/// A claim that was decided, and of which scenario.
type DecidedClaim<'c> = (&'c ClaimsRecord, &'c DecidedClaimRecord);

impl Report {
    /// Computes the rules that some results confirm, refute and bound.
    pub fn of_rules(results: &PublishedResults) -> Report {
        let decided: Vec<DecidedClaim> =
            results.claims.iter().flat_map(|record| record.claims.iter().map(move |claim| (record, claim))).collect();
        let headline = Headline {
            scenario: "docshape".to_owned(),
            title: "Rules of thumb, measured".to_owned(),
            subject: vec![
                format!(
                    "{}, {}; {}.",
                    counted(results.sweeps.len() as u64, "sweep"),
                    counted(results.growths.len() as u64, "growth"),
                    claims::count_results(decided.iter().map(|(_, claim)| CountedClaim::of(claim)))
                ),
                "Each line holds for the conditions next to it: another machine, server or size may give another one."
                    .to_owned(),
            ],
            ..Headline::default()
        };
        let of = |id, title: &str, is_in: &dyn Fn(&DecidedClaimRecord) -> bool| {
            let claims = decided.iter().filter(|(_, claim)| is_in(claim)).copied();
            Section::new(id, title).table(claim_table(id, title, claims)).with_rows()
        };
        let measured =
            |verdict: &'static str| move |claim: &DecidedClaimRecord| !claim.by_design && claim.verdict == verdict;
        let sections = [
            flips(&results.sweeps),
            growths(&results.growths),
            of("refuted_rules", "Refuted", &measured("refuted")),
            of("confirmed_rules", "Confirmed", &measured("confirmed")),
            of("undecided_rules", "Undecided", &measured("undecided")),
            of("rules_by_design", BY_DESIGN, &|claim| claim.by_design),
        ];
        Report::of(headline, sections.into_iter().flatten())
    }
}

fn scenario(name: &str, folder: &str) -> Cell {
    Cell::text(plain(name)).link(Some(Link::File(format!("{folder}/{MARKDOWN_FILE}"))))
}

/// A finding as a sentence.
fn said(finding: &FindingRecord) -> String {
    let pair = if finding.flips { String::new() } else { format!(" ({})", finding.strategies.join(", ")) };
    plain(&format!("{}{pair}: {}", finding.place, finding.answer))
}

/// What a sweep is asked, and what it found: the flips, and the mixes, where no operation hides what another one gains.
fn flips(sweeps: &[(String, SweepRecord)]) -> Option<Section> {
    let measures = [
        Measure::text("question", "question", "What the sweep asks.", |one: &&SweepRecord| {
            Cell::text(plain(one.question.as_deref().unwrap_or(&one.title)))
        }),
        Measure::text("varied", "varied", "The conditions and their values.", |one| {
            let condition = |one: &crate::results::ConditionRecord| format!("{} = {}", one.name, one.values.join(", "));
            Cell::text(plain(&one.vary.iter().map(condition).collect::<Vec<_>>().join("; ")))
        }),
        Measure::text("answer", "answer", "Where the order flips, and which strategy is faster in the mix.", |one| {
            let findings = one.conclusion.iter().flat_map(|conclusion| &conclusion.findings);
            let shown = findings.filter(|finding| finding.flips || (finding.mix && finding.answer != NO_DIFFERENCE));
            let lines: Vec<String> = shown.map(said).collect();
            let lines = if lines.is_empty() { vec![format!("mix: {NO_DIFFERENCE}")] } else { lines };
            Cell::text(lines.join(". ")).tone(Tone::Strong)
        }),
        Measure::text("conditions", "conditions", "Server, machine, length and what was set.", |one| {
            Cell::text(one.conclusion.as_ref().map_or_else(String::new, |conclusion| plain(&conclusion.conditions)))
        }),
    ];
    let rows = sweeps.iter().map(|(folder, record)| (Row::new(scenario(&record.scenario, folder)), record));
    let title = "Where the answer flips";
    let name = Column::text("scenario", "scenario", "The scenario.");
    Section::new("flips", title).table(Table::new("flips", title, name, &measures, rows).list()).with_rows()
}

fn growths(growths: &[(String, GrowthRecord)]) -> Option<Section> {
    let reports: Vec<_> =
        growths.iter().map(|(folder, record)| (folder, record, Report::of_growth(record).headline)).collect();
    let measures = [
        Measure::text("question", "question", "What it asks.", |one: &(&GrowthRecord, &Headline)| {
            Cell::text(plain(one.0.question.as_deref().unwrap_or(&one.0.run.scenario.title)))
        }),
        Measure::text("answer", "answer", "What became of the strategies.", |one| {
            let findings =
                one.1.findings.iter().map(|finding| format!("{}: {}.", finding.name, finding.text)).take(DOUBLED);
            Cell::text(one.1.sentences.iter().cloned().chain(findings).collect::<Vec<_>>().join(" ")).tone(Tone::Strong)
        }),
        Measure::text("conditions", "conditions", "Server, machine and what was set.", |one| {
            Cell::text(conditions(&one.0.run, &[], |_| false))
        }),
    ];
    let rows = reports
        .iter()
        .map(|(folder, record, headline)| (Row::new(scenario(&record.run.scenario.name, folder)), (*record, headline)));
    let title = "While documents grow";
    let name = Column::text("scenario", "scenario", "The scenario.");
    Section::new("growths", title).table(Table::new("growths", title, name, &measures, rows).list()).with_rows()
}

fn claim_table<'c>(id: &'static str, title: &str, claims: impl Iterator<Item = DecidedClaim<'c>>) -> Table {
    let measures = [
        Measure::text("rule", "rule", "The claim in a sentence, and its source.", |(_, claim): &DecidedClaim| {
            let source = claim.source.as_ref().map(|source| format!("({})", plain(source)));
            let cell = Cell::text(plain(&claim.says)).tone(Tone::Strong);
            source.into_iter().fold(cell, Cell::remark)
        }),
        Measure::text("found", "found", "The numbers; if undecided, also the reason.", |(_, claim)| {
            Cell::text(plain(&claim.text)).remark(format!("(expected: {})", plain(&claim.expected)))
        }),
        Measure::text("conditions", "conditions", "Server, length, mix and what was set.", |(record, claim)| {
            Cell::text(plain(&claim_conditions(record, claim)))
        }),
    ];
    let rows = claims.map(|(record, claim)| {
        let id = format!("{}, {}", plain(&record.scenario), plain(&claim.id));
        (Row::new(id), (record, claim))
    });
    Table::new(id, title, Column::text("id", "scenario, id", "The scenario and the id."), &measures, rows).list()
}

/// Under which conditions a claim was decided.
fn claim_conditions(record: &ClaimsRecord, claim: &DecidedClaimRecord) -> String {
    let server = record.server.as_ref().map(|version| format!("MongoDB {version}"));
    let run = record.runs.iter().find(|run| run.folder == claim.run);
    let of_run = run.map(|run| {
        let set: String = run.set.iter().map(|(name, value)| format!(", {name} = {value}")).collect();
        format!("{}, mix {}{set}", counted(run.rounds, "round"), run.mix)
    });
    let parts = [server, Some(format!("preset {}", record.preset.name())), of_run];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::report::tests::in_every_form;
    use crate::report::{growth, sweep};
    use crate::results::{CLAIMS_FORMAT, ClaimsRunRecord, Preset, RunRecord};
    use crate::stats::sample;

    /// Claims with every verdict.
    fn claims(text: &str) -> ClaimsRecord {
        let own = || text.to_owned();
        let claim = |(verdict, by_design): (&str, bool)| DecidedClaimRecord {
            id: own(),
            says: own(),
            source: Some(own()),
            by_design,
            verdict: verdict.to_owned(),
            measure: own(),
            expected: own(),
            value: Some(1.0),
            against: None,
            ratio: None,
            interval: None,
            text: own(),
            run: own(),
        };
        ClaimsRecord {
            format: CLAIMS_FORMAT,
            version: own(),
            scenario: own(),
            title: own(),
            scenario_sha256: own(),
            server: Some(own()),
            started: own(),
            preset: Preset::Quick,
            complete: true,
            runs: vec![ClaimsRunRecord {
                folder: own(),
                mix: own(),
                clients: 8,
                set: vec![(own(), own())],
                strategies: vec![own()],
                parts: vec![own()],
                rounds: 6,
                error: None,
            }],
            claims: [("confirmed", false), ("refuted", false), ("undecided", false), ("confirmed", true)]
                .map(claim)
                .to_vec(),
        }
    }

    /// Rules of every kind, with this text in every place.
    pub(in crate::report) fn named(run: &RunRecord, text: &str) -> Report {
        Report::of_rules(&PublishedResults {
            sweeps: vec![("folder".to_owned(), sweep::tests::sweep(run, text).0)],
            growths: vec![("folder".to_owned(), growth::tests::growth(run, text))],
            claims: vec![claims(text)],
        })
    }

    pub(in crate::report) fn complete() -> Report {
        named(&sample::whole(&sample::run(6)), "text")
    }

    #[test]
    fn every_rule_has_its_conditions() {
        let [_, markdown] = in_every_form(&complete());
        insta::assert_snapshot!("rules_markdown", markdown);
    }
}
