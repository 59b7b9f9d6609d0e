//! The headline: the verdict, the differences of operations, and the mean times behind them.

use std::sync::Arc;

use crate::report::arm_comparison::ComparedMetric;
use crate::report::cell::Tone;
use crate::report::chart::{self, Charts, Series};
use crate::report::decision::Decision;
use crate::report::evaluation::Evaluation;
use crate::report::format::{counted, listed, plain};
use crate::report::parts::PartEvaluations;
use crate::report::section::{Finding, Headline, domain, events, heat_map};
use crate::report::validity;
use crate::report::verdict_text::{self, VerdictText};
use crate::results::{Part, RunRecord};
use crate::stats::MINIMUM_ROUNDS;

/// The headline of a run.
pub(in crate::report) fn headline(record: &RunRecord, parts: &PartEvaluations, others: &[RunRecord]) -> Headline {
    let run = parts.main();
    let is_judged = run.no_verdict.is_none() && record.complete_rounds() >= MINIMUM_ROUNDS;
    let names: Vec<String> = run.strategies.iter().map(|strategy| strategy.name.clone()).collect();
    let (rounds, invalid) = (counted(run.rounds, "round"), parts.distinct(validity::invalid));
    Headline {
        scenario: plain(&record.scenario.name),
        title: plain(&record.scenario.title),
        about: plain(&record.scenario.about),
        mix: run.mix.clone(),
        times: Some(run.times()),
        subject: std::iter::once(format!("Strategies: {}.", listed(&names)))
            .chain(verdict_text::skipped_lines(&record.skipped))
            .chain([format!("Mix {}, {rounds}. {}.", run.mix, measured(parts))])
            .collect(),
        invalid: invalid.clone(),
        incomplete: verdict_text::incomplete(record),
        decision: Some(Decision::new(record, parts, others)),
        sentences: sentences(record, parts),
        tone: Tone::Strong,
        findings_lead: "Own time of each operation, by itself with one client:",
        findings: findings(record, parts, is_judged),
        overview: heat_map::table(parts).filter(|_| invalid.is_empty()),
        charts: charts(parts).filter(|_| invalid.is_empty()),
        notes: notes(record, parts, others, is_judged),
    }
}

/// What was measured, part by part.
fn measured(parts: &PartEvaluations) -> String {
    let part = |(part, run): (Part, &Arc<Evaluation>)| match part {
        Part::Own => "own cost: each operation by itself, 1 client".to_owned(),
        Part::Rate => format!("common rate: {}", run.load),
        Part::Saturation => format!("saturation: {}", run.load),
    };
    let texts: Vec<String> = parts.iter().map(part).collect();
    match texts.as_slice() {
        [] => "Nothing was measured".to_owned(),
        texts => format!("Measured: {}", texts.join("; ")),
    }
}

/// The verdicts about the mix: at the common rate, and at saturation.
fn sentences(record: &RunRecord, parts: &PartEvaluations) -> Vec<String> {
    let main = parts.main();
    if let Some(sentence) = &main.no_verdict {
        return [vec![sentence.clone()], events::sentences(record, main)].concat();
    }
    let text = VerdictText { strategies: &main.strategies };
    let mut sentences = Vec::new();
    for (part, run) in parts.iter().filter(|(part, _)| *part != Part::Own) {
        for one in run.comparisons() {
            let about = match (part, one.metric) {
                (_, ComparedMetric::P99) => format!("99th percentile at {}", run.load),
                (Part::Rate, _) => format!("Mean response time at {}", run.load),
                (Part::Own | Part::Saturation, _) => format!("Calls per second of {}", run.load),
            };
            let verdict = match one.ranking() {
                Some(ranking) => text.overall(&ranking).join(" "),
                None if one.metric == ComparedMetric::P99 => "no verdict: too few calls per round.".into(),
                None => "no verdict: in no round did every strategy have answered calls of every operation.".into(),
            };
            sentences.push(format!("{about}: {verdict}"));
        }
    }
    if sentences.is_empty() && !record.parts.is_empty() {
        sentences.push("No verdict about the mix: only own costs were measured.".into());
    }
    sentences
}

/// What was found of the own time of each operation, the differences first.
fn findings(record: &RunRecord, parts: &PartEvaluations, is_judged: bool) -> Vec<Finding> {
    let Some(own) = parts.get(Part::Own).filter(|_| is_judged) else { return Vec::new() };
    let text = VerdictText { strategies: &own.strategies };
    let findings = own.comparisons().filter_map(|one| {
        let (operation, ranking) = (one.operation?, one.ranking()?);
        let is_difference = verdict_text::has_difference(&ranking);
        Some(Finding { name: plain(&record.operations[operation]), text: text.operation(&ranking), is_difference })
    });
    let mut findings: Vec<Finding> = findings.collect();
    findings.sort_by_key(|finding| !finding.is_difference);
    findings
}

fn notes(record: &RunRecord, parts: &PartEvaluations, others: &[RunRecord], is_judged: bool) -> Vec<String> {
    let (mut notes, run) = (Vec::new(), parts.main());
    if is_judged {
        notes.extend(domain::sentences(record, parts, others));
        let families = || parts.iter().flat_map(|(_, run)| &run.families);
        notes.extend(verdict_text::sensitivity(families()));
        notes.push(verdict_text::criteria(record, families(), &run.strategies));
    }
    notes.extend(verdict_text::rejections(&run.strategies));
    let unsafe_ones = run.strategies.iter().filter(|strategy| strategy.is_unsafe);
    let names: Vec<String> = unsafe_ones.map(|strategy| strategy.name.clone()).collect();
    if !names.is_empty() {
        let are = if names.len() == 1 { "is" } else { "are" };
        notes.push(format!("{} {are} unsafe (a negative control) and excluded from the verdict.", listed(&names)));
    }
    notes.extend(parts.distinct(validity::overloaded));
    notes
}

/// The budget of the mix and what its calls take; `None` without a complete round.
fn charts(parts: &PartEvaluations) -> Option<Charts> {
    let (own, main) = (parts.get(Part::Own).cloned(), Arc::clone(parts.main()));
    let saturation = parts.get(Part::Saturation);
    let rates: Vec<Option<f64>> =
        saturation.map_or_else(Vec::new, |run| run.strategies.iter().map(|one| one.calls_per_second).collect());
    let series = Series::all(&main);
    let draw = move |series: &[Series]| chart::decision(own.as_deref(), &main, &rates, series);
    (parts.main().rounds > 0).then(|| Charts::of(series, draw, "decision.svg"))
}
