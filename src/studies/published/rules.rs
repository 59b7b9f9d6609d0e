//! Rules of thumb: what the sources say of document shapes, what was measured, and where the answer turns.

use std::collections::BTreeMap;

use crate::report::document::cell::{Cell, Link, Tone};
use crate::report::document::format::{counted, plain};
use crate::report::document::section::{Headline, Section};
use crate::report::document::table::{Column, Measure, Row, Table};
use crate::report::run::claims::{ClaimStatement, claim_statements};
use crate::report::run::conditions::conditions;
use crate::report::run::sections::claims::{self, BY_DESIGN, CountedClaim};
use crate::report::{MARKDOWN_FILE, Report};
use crate::results::{ClaimsRecord, DecidedClaimRecord, FindingRecord, RunRecord};
use crate::studies::growth::record::GrowthRecord;
use crate::studies::sweep::record::SweepRecord;
use crate::studies::sweep::report::NO_DIFFERENCE;

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
    /// Published runs, which say something of the claims, too.
    pub runs: Vec<RunRecord>,
}

/// A claim with all that was measured of it.
struct Rule<'c> {
    record: &'c ClaimsRecord,
    claim: &'c DecidedClaimRecord,
    /// The mix and the numbers of the published runs that decide it.
    others: Vec<(String, ClaimStatement)>,
}

/// Contradicting verdicts.
const DEPENDS: &str = "depends";

impl Rule<'_> {
    /// What all say that decide it: `confirmed`, `refuted`, or, where they contradict each other, [`DEPENDS`].
    fn verdict(&self) -> &str {
        let own = Some(self.claim.verdict.as_str()).filter(|verdict| *verdict != "undecided");
        let mut decided = own.into_iter().chain(self.others.iter().map(|(_, other)| other.verdict));
        let Some(first) = decided.next() else { return "undecided" };
        if decided.all(|other| other == first) { first } else { DEPENDS }
    }

    /// The numbers: of the runs for the claims where these decide, else of the others; of all where they contradict each other.
    fn found(&self) -> String {
        let others = || self.others.iter().map(|(mix, other)| format!("mix {mix}: {}: {}", other.verdict, other.found));
        if self.verdict() == DEPENDS {
            let own = format!("{}: {}", self.claim.verdict, self.claim.text);
            return std::iter::once(own).chain(others()).collect::<Vec<_>>().join("; ");
        }
        match (self.claim.verdict.as_str(), others().next()) {
            ("undecided", Some(other)) => other,
            _ => self.claim.text.clone(),
        }
    }
}

/// What published runs say of the claims of a scenario, by the claim's id.
fn decided_elsewhere(runs: &[RunRecord]) -> BTreeMap<(String, String), Vec<(String, ClaimStatement)>> {
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for run in runs {
        for (claim, statement) in claim_statements(run) {
            if statement.verdict != "undecided" {
                let key = (run.scenario.name.clone(), claim.id.clone());
                found.entry(key).or_default().push((run.mix.name.clone(), statement));
            }
        }
    }
    found
}

impl Report {
    /// Computes the rules that some results confirm, refute and bound.
    pub fn of_rules(results: &PublishedResults) -> Report {
        let elsewhere = decided_elsewhere(&results.runs);
        let mut decided: Vec<Rule> = Vec::new();
        for record in &results.claims {
            let others = |claim: &DecidedClaimRecord| elsewhere.get(&(record.scenario.clone(), claim.id.clone()));
            decided.extend(record.claims.iter().map(|claim| Rule {
                record,
                claim,
                others: others(claim).cloned().unwrap_or_default(),
            }));
        }
        let headline = Headline {
            scenario: "docshape".to_owned(),
            title: "Rules of thumb, measured".to_owned(),
            subject: vec![
                format!(
                    "{}, {}; {}.",
                    counted(results.sweeps.len() as u64, "sweep"),
                    counted(results.growths.len() as u64, "growth"),
                    claims::count_results(decided.iter().map(|rule| CountedClaim::of(rule.claim)))
                ),
                "Each line holds for the conditions next to it: another machine, server or size may give another one."
                    .to_owned(),
            ],
            ..Headline::default()
        };
        let of = |id, title: &str, is_in: &dyn Fn(&Rule) -> bool| {
            let rules = decided.iter().filter(|rule| is_in(rule));
            Section::new(id, title).table(claim_table(id, title, rules)).with_rows()
        };
        let measured = |verdict: &'static str| move |rule: &Rule| !rule.claim.by_design && rule.verdict() == verdict;
        let sections = [
            flips(&results.sweeps),
            growths(&results.growths),
            of("refuted_rules", "Refuted", &measured("refuted")),
            of("confirmed_rules", "Confirmed", &measured("confirmed")),
            of("depending_rules", "Depends on the mix", &measured(DEPENDS)),
            of("undecided_rules", "Undecided", &measured("undecided")),
            of("rules_by_design", BY_DESIGN, &|rule| rule.claim.by_design),
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
            plain(one.question.as_deref().unwrap_or(&one.title))
        }),
        Measure::text("varied", "varied", "The conditions and their values.", |one| {
            let condition = |one: &crate::studies::sweep::record::ConditionRecord| {
                format!("{} = {}", one.name, one.values.join(", "))
            };
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
            one.conclusion.as_ref().map_or_else(String::new, |conclusion| plain(&conclusion.conditions))
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
            plain(one.0.question.as_deref().unwrap_or(&one.0.run.scenario.title))
        }),
        Measure::text("answer", "answer", "What became of the strategies.", |one| {
            let findings =
                one.1.findings.iter().map(|finding| format!("{}: {}.", finding.name, finding.text)).take(DOUBLED);
            Cell::text(one.1.sentences.iter().cloned().chain(findings).collect::<Vec<_>>().join(" ")).tone(Tone::Strong)
        }),
        Measure::text("conditions", "conditions", "Server, machine and what was set.", |one| {
            conditions(&one.0.run, &[], |_| false)
        }),
    ];
    let rows = reports
        .iter()
        .map(|(folder, record, headline)| (Row::new(scenario(&record.run.scenario.name, folder)), (*record, headline)));
    let title = "While documents grow";
    let name = Column::text("scenario", "scenario", "The scenario.");
    Section::new("growths", title).table(Table::new("growths", title, name, &measures, rows).list()).with_rows()
}

fn claim_table<'c>(id: &'static str, title: &str, rules: impl Iterator<Item = &'c Rule<'c>>) -> Table {
    let measures = [
        Measure::text("rule", "rule", "The claim in a sentence, and its source.", |rule: &&Rule| {
            let source = rule.claim.source.as_ref().map(|source| format!("({})", plain(source)));
            let cell = Cell::text(plain(&rule.claim.says)).tone(Tone::Strong);
            source.into_iter().fold(cell, Cell::remark)
        }),
        Measure::text("found", "found", "The numbers; if undecided, also the reason.", |rule| {
            Cell::text(plain(&rule.found())).remark(format!("(expected: {})", plain(&rule.claim.expected)))
        }),
        Measure::text("conditions", "conditions", "Server, length, mix and what was set.", |rule| {
            plain(&claim_conditions(rule.record, rule.claim))
        }),
    ];
    let rows = rules.map(|rule| {
        let id = format!("{}, {}", plain(&rule.record.scenario), plain(&rule.claim.id));
        (Row::new(id), rule)
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
pub(crate) mod tests {
    use super::*;
    use crate::report::tests::in_every_form;
    use crate::results::{CLAIMS_FORMAT, ClaimsRunRecord, Preset};
    use crate::stats::{ClaimOutcome, ClaimResult, sample};
    use crate::studies::growth::report as growth;
    use crate::studies::sweep::report as sweep;

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
    pub(crate) fn named(run: &RunRecord, text: &str) -> Report {
        Report::of_rules(&PublishedResults {
            sweeps: vec![("folder".to_owned(), sweep::tests::sweep(run, text).0)],
            growths: vec![("folder".to_owned(), growth::tests::growth(run, text))],
            claims: vec![claims(text)],
            runs: Vec::new(),
        })
    }

    pub(crate) fn complete() -> Report {
        named(&sample::whole(&sample::run(6)), "text")
    }

    #[test]
    fn published_runs_decide_or_contradict_claims() {
        let record = claims("text");
        let statement = |verdict| ClaimStatement {
            verdict,
            measure: String::new(),
            expected: String::new(),
            found: "2 against 3".into(),
            result: ClaimResult {
                outcome: ClaimOutcome::Confirmed,
                value: None,
                against: None,
                ratio: None,
                interval: None,
            },
        };
        let rule = |claim: usize, others: &[&'static str]| {
            let others = others.iter().map(|verdict| ("reads".to_owned(), statement(*verdict))).collect();
            let rule = Rule { record: &record, claim: &record.claims[claim], others };
            (rule.verdict().to_owned(), rule.found())
        };
        let found = |verdict: &str, text: &str| (verdict.to_owned(), text.to_owned());
        assert_eq!(rule(0, &["confirmed"]), found("confirmed", "text"));
        assert_eq!(rule(2, &[]), found("undecided", "text"));
        assert_eq!(rule(2, &["refuted"]), found("refuted", "mix reads: refuted: 2 against 3"));
        assert_eq!(rule(0, &["refuted"]), found(DEPENDS, "confirmed: text; mix reads: refuted: 2 against 3"));
        assert_eq!(rule(2, &["refuted", "confirmed"]).0, DEPENDS);
    }

    #[test]
    fn every_rule_has_its_conditions() {
        let [_, markdown] = in_every_form(&complete());
        insta::assert_snapshot!("rules_markdown", markdown);
    }
}
