//! Rules of thumb: what the sources say of document shapes, what was measured, and where the answer turns.

use std::collections::BTreeMap;

use crate::report::document::{Cell, Headline, Measure, Row, Section, Table, Tone, column, counted, plain};
use crate::report::run::sections::claims::{self, BY_DESIGN, ClaimView};
use crate::report::{Report, encoded};
use crate::results::{ClaimOutcome, ClaimRecord, ClaimsRecord, ClaimsRunRecord, DecidedClaimRecord, Part, RunRecord};

/// Results beneath a folder.
#[derive(Debug, Default)]
pub struct PublishedResults {
    /// How many results each kind of study has, such as `3 sweeps`, and what they say.
    pub studies: Vec<(String, Option<Section>)>,
    /// The claims of scenarios.
    pub claims: Vec<ClaimsRecord>,
    /// Published runs, which say something of the claims, too.
    pub runs: Vec<RunRecord>,
}

/// A claim with all that was measured of it under its conditions: the mixes differ, and nothing else.
pub(super) struct Rule<'c> {
    pub(super) record: &'c ClaimsRecord,
    pub(super) decided: &'c DecidedClaimRecord,
    run: Option<&'c ClaimsRunRecord>,
    view: ClaimView<'c>,
    /// The mix of each published run that measured it, and what it says.
    others: Vec<(&'c str, ClaimView<'c>)>,
}

/// A published run and the claims that it measured.
type MeasuringRun<'c> = (&'c RunRecord, Vec<ClaimView<'c>>);

impl<'c> Rule<'c> {
    fn new(record: &'c ClaimsRecord, decided: &'c DecidedClaimRecord, runs: &[MeasuringRun<'c>]) -> Rule<'c> {
        let run = record.run(decided);
        let is_same = |other: &RunRecord| {
            other.scenario.name == record.scenario && run.is_some_and(|run| run.parameters == other.parameters)
        };
        let of_run = |(other, claims): &MeasuringRun<'c>| {
            let found = claims.iter().find(|one| asks_same(one.claim, &decided.claim))?;
            Some((other.mix.name.as_str(), found.clone()))
        };
        let others = runs.iter().filter(|(other, _)| is_same(other)).filter_map(of_run).collect();
        Rule { record, decided, run, view: claims::decided(record, decided), others }
    }

    /// By which links find it.
    pub(super) fn address(&self) -> String {
        format!("{}/{}", encoded(&self.record.scenario), encoded(&self.view.id()))
    }

    /// What all runs say of it in a word or a few, how that looks, and its place among the others: the surprising ones go first.
    fn verdict(&self) -> (&'static str, Tone, u8) {
        match self.outcome() {
            _ if self.view.claim.by_design => ("by design", Tone::Faint, 4),
            Some(ClaimOutcome::Refuted) => (ClaimOutcome::Refuted.name(), Tone::Bad, 0),
            None => ("depends on the mix", Tone::Strong, 1),
            Some(ClaimOutcome::Confirmed) => (ClaimOutcome::Confirmed.name(), Tone::Good, 2),
            Some(ClaimOutcome::Undecided) => (ClaimOutcome::Undecided.name(), Tone::Faint, 3),
        }
    }

    /// What all runs say of it; `None` where they contradict each other.
    pub(super) fn outcome(&self) -> Option<ClaimOutcome> {
        let all = std::iter::once(&self.view).chain(self.others.iter().map(|(_, other)| other));
        let mut decided = all.map(ClaimView::outcome).filter(|outcome| *outcome != ClaimOutcome::Undecided);
        let Some(first) = decided.next() else { return Some(ClaimOutcome::Undecided) };
        Some(first).filter(|first| decided.all(|other| other == *first))
    }

    /// The numbers; where published runs have measured it, too, those of all, whatever they decide.
    fn found(&self) -> String {
        if self.others.is_empty() {
            return self.view.found().to_owned();
        }
        let said = |view: &ClaimView| format!("{}: {}", view.outcome().name(), view.found());
        let others = self.others.iter().map(|(mix, other)| format!("published run of mix {mix}: {}", said(other)));
        std::iter::once(said(&self.view)).chain(others).collect::<Vec<_>>().join("; ")
    }
}

/// Whether two claims ask the same, in whichever words.
fn asks_same(one: &ClaimRecord, other: &ClaimRecord) -> bool {
    let (says, source) = (other.says.clone(), other.source.clone());
    ClaimRecord { says, source, ..one.clone() } == *other
}

/// The claims that each published run measured.
fn measured_by(runs: &[RunRecord]) -> Vec<MeasuringRun<'_>> {
    runs.iter().map(|run| (run, claims::claims(run).into_iter().filter(ClaimView::is_measured).collect())).collect()
}

impl PublishedResults {
    /// All claims.
    pub(super) fn rules(&self) -> Vec<Rule<'_>> {
        let runs = measured_by(&self.runs);
        let all = self.claims.iter().flat_map(|record| record.claims.iter().map(move |one| (record, one)));
        all.map(|(record, one)| Rule::new(record, one, &runs)).collect()
    }
}

/// How many claims of one scenario have which verdict, as [`of_scenario`] shows them; `None` without any.
pub(super) fn count(rules: &[Rule], scenario: &str) -> Option<String> {
    let mut found: BTreeMap<(u8, &str), usize> = BTreeMap::new();
    for rule in rules.iter().filter(|rule| rule.record.scenario == scenario) {
        let (word, _, place) = rule.verdict();
        *found.entry((place, word)).or_default() += 1;
    }
    let parts: Vec<String> = found.iter().map(|((_, word), number)| format!("{number} {word}")).collect();
    let all = found.values().sum::<usize>() as u64;
    (all > 0).then(|| format!("{}: {}", counted(all, "claim"), parts.join(", ")))
}

/// The claims of one scenario with their verdicts; `None` without any.
pub(super) fn of_scenario(rules: &[Rule], scenario: &str) -> Option<Section> {
    let mut own: Vec<&Rule> = rules.iter().filter(|rule| rule.record.scenario == scenario).collect();
    own.sort_by_key(|rule| rule.verdict().2);
    let mut measures = measures();
    let verdict = column("verdict", "verdict", "What was found, in a word.");
    measures.insert(0, verdict.text(|rule| Cell::text(rule.verdict().0).tone(rule.verdict().1)));
    let table = claim_table("claims", "Claims", &measures, own.into_iter());
    Section::new("claims", "Claims, measured").table(table).with_rows()
}

impl Report {
    /// Computes the rules that some results confirm, refute and bound.
    pub fn of_rules(results: &PublishedResults) -> Report {
        let decided = results.rules();
        let studies = results.studies.iter().map(|(count, _)| count.as_str()).collect::<Vec<_>>().join(", ");
        let headline = Headline {
            scenario: "docshape".to_owned(),
            title: "Rules of thumb, measured".to_owned(),
            subject: vec![
                format!("{studies}; {}.", claims::count_results(decided.iter().map(|rule| &rule.view))),
                "Each line holds for the conditions next to it: another machine, server or size may give another one. Unless they say otherwise, \
                 client and server share a machine, and writes wait for the journal of a replica set of one member."
                    .to_owned(),
            ],
            ..Headline::default()
        };
        let of = |id, title: &str, is_in: &dyn Fn(&Rule) -> bool| {
            let rules = decided.iter().filter(|rule| is_in(rule));
            Section::new(id, title).table(claim_table(id, title, &measures(), rules)).with_rows()
        };
        let measured =
            |outcome: Option<ClaimOutcome>| move |rule: &Rule| !rule.view.claim.by_design && rule.outcome() == outcome;
        let sections = [
            of("refuted_rules", "Refuted", &measured(Some(ClaimOutcome::Refuted))),
            of("confirmed_rules", "Confirmed", &measured(Some(ClaimOutcome::Confirmed))),
            of("depending_rules", "Depends on the mix", &measured(None)),
            of("undecided_rules", "Undecided", &measured(Some(ClaimOutcome::Undecided))),
            of("rules_by_design", BY_DESIGN, &|rule| rule.view.claim.by_design),
        ];
        let of_studies = results.studies.iter().filter_map(|(_, section)| section.clone());
        Report::of(headline, of_studies.chain(sections.into_iter().flatten()))
    }
}

/// What a table says of a claim.
fn measures<'c>() -> Vec<Measure<'c, &'c Rule<'c>>> {
    vec![
        column("rule", "rule", "The claim in a sentence, and its source.").text(|rule| {
            let claim = rule.view.claim;
            let source = claim.source.as_ref().map(|source| format!("({})", plain(source)));
            let cell = Cell::text(plain(&claim.says)).tone(Tone::Strong);
            source.into_iter().fold(cell, Cell::remark)
        }),
        column("found", "found", "The numbers; if undecided, also the reason.")
            .text(|rule| Cell::text(plain(&rule.found())).remark(format!("(expected: {})", rule.view.expected()))),
        column("conditions", "conditions", "Server, length, mix and what was set.")
            .text(|rule| plain(&claim_conditions(rule))),
    ]
}

fn claim_table<'c>(
    id: &'static str,
    title: &str,
    measures: &[Measure<'_, &'c Rule<'c>>],
    rules: impl Iterator<Item = &'c Rule<'c>>,
) -> Table {
    let rows = rules.map(|rule| {
        let id = format!("{}, {}", plain(&rule.record.scenario), rule.view.id());
        (Row::new(id).id(Some(rule.address())), rule)
    });
    Table::new(id, title, column("id", "scenario, id", "The scenario and the id."), measures, rows).list()
}

/// Whether the number of a claim is of calls by themselves, one client at a time.
fn is_by_itself(rule: &Rule, run: &ClaimsRunRecord) -> bool {
    let claim = rule.view.claim;
    let metric = claim.known_metric().filter(|_| claim.audit.is_none());
    let part = metric.and_then(|metric| metric.parts().first());
    part.map_or_else(|| run.parts.iter().all(|part| part == Part::Own.name()), |part| *part == Part::Own)
}

/// Under which conditions a claim was decided.
pub(super) fn claim_conditions(rule: &Rule) -> String {
    let record = rule.record;
    let server = record.server.as_ref().map(|version| format!("MongoDB {version}"));
    let of_run = rule.run.map(|run| {
        let clients = if is_by_itself(rule, run) { "one client".to_owned() } else { counted(run.clients, "client") };
        let set: String = run.set.iter().map(|(name, value)| format!(", {name} = {value}")).collect();
        format!("{}, mix {}, {clients}{set}", counted(run.rounds, "round"), run.mix)
    });
    let parts = [server, Some(format!("preset {}", record.preset.name())), of_run];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::report::tests::in_every_form;
    use crate::results::{CLAIMS_FORMAT, ClaimResult, Preset, Reason, Relation, Than, Verdict};
    use crate::stats::sample;
    use crate::studies::{growth, sweep};

    const UNDECIDED: Verdict = Verdict::Inconclusive(Reason::FewCalls);

    /// Claims with every verdict.
    fn claims(text: &str) -> ClaimsRecord {
        let own = || text.to_owned();
        // Ids are those of the page, so that each is there once.
        let claim = |(number, (verdict, by_design)): (usize, _)| DecidedClaimRecord {
            claim: ClaimRecord {
                id: format!("{text}{number}"),
                says: own(),
                source: Some(own()),
                by_design,
                metric: "round_trips".into(),
                operation: Some(own()),
                strategy: own(),
                relation: Relation::Below,
                than: Than::Strategy(own()),
                ..ClaimRecord::default()
            },
            result: ClaimResult { verdict, value: Some(1.0), against: Some(2.0), ratio: None, interval: None },
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
                ..ClaimsRunRecord::default()
            }],
            claims: [(Verdict::Faster, false), (Verdict::Slower, false), (UNDECIDED, false), (Verdict::Faster, true)]
                .into_iter()
                .enumerate()
                .map(claim)
                .collect(),
        }
    }

    /// Rules of every kind, with this text in every place.
    pub(crate) fn named(run: &RunRecord, text: &str) -> Report {
        Report::of_rules(&PublishedResults {
            studies: vec![
                (
                    "1 sweep".to_owned(),
                    sweep::rules::flips(&[("folder/report.md".to_owned(), sweep::report::tests::sweep(run, text).0)]),
                ),
                (
                    "1 growth".to_owned(),
                    growth::rules::growths(&[(
                        "folder/report.md".to_owned(),
                        growth::report::tests::growth(run, text),
                    )]),
                ),
            ],
            claims: vec![claims(text)],
            runs: Vec::new(),
        })
    }

    pub(crate) fn complete() -> Report {
        named(&sample::whole(&sample::run(6)), "text")
    }

    #[test]
    fn published_runs_under_the_same_conditions_decide_or_contradict_claims() {
        let mut run = sample::whole(&sample::run(8));
        run.mix.name = "reads".into();
        run.claims = vec![ClaimRecord {
            id: "C1".into(),
            says: "One takes fewer.".into(),
            metric: "round_trips".into(),
            operation: Some("read_post".into()),
            strategy: "embedded".into(),
            relation: Relation::Below,
            than: Than::Strategy("linked".into()),
            ..ClaimRecord::default()
        }];
        let rule = |verdict: Verdict, runs: &[RunRecord]| {
            let mut record = claims("text");
            record.scenario.clone_from(&run.scenario.name);
            record.runs[0].parameters.clone_from(&run.parameters);
            record.claims[0].claim = ClaimRecord { says: "In other words.".into(), ..run.claims[0].clone() };
            record.claims[0].result.verdict = verdict;
            let runs = measured_by(runs);
            let rule = Rule::new(&record, &record.claims[0], &runs);
            (rule.outcome(), rule.found())
        };
        let own = "embedded 1, linked 2".to_owned();
        let one = [run.clone()];
        let undecided = rule(UNDECIDED, &one);
        let of_run = format!("published run of mix reads: confirmed: {own}");
        assert!(undecided.0 == Some(ClaimOutcome::Confirmed) && undecided.1.ends_with(&of_run), "{undecided:?}");
        let twice = format!("confirmed: {own}; {of_run}");
        assert_eq!(rule(Verdict::Faster, &one), (Some(ClaimOutcome::Confirmed), twice));
        let both = format!("refuted: {own}; {of_run}");
        assert_eq!(rule(Verdict::Slower, &one), (None, both));
        // Other parameters, another claim, or strategies that were not measured say nothing.
        let mut others = vec![run.clone(); 3];
        others[0].parameters.push(("posts".into(), 5.into()));
        others[1].claims[0].relation = Relation::Above;
        others[2].claims[0].strategy = "other".into();
        for other in others {
            assert_eq!(rule(Verdict::Slower, &[other]), (Some(ClaimOutcome::Refuted), own.clone()));
        }
    }

    #[test]
    fn every_rule_has_its_conditions() {
        let [_, markdown] = in_every_form(&complete());
        insta::assert_snapshot!("rules_markdown", markdown);
    }
}
