//! The headline: the decision, the heat map, and what a verdict requires.

use std::sync::Arc;

use crate::report::document::cell::Tone;
use crate::report::document::chart::{Charts, Series};
use crate::report::document::format::{counted, listed, plain};
use crate::report::document::section::Headline;
use crate::report::run::decision::phrase;
use crate::report::run::evaluation::Evaluation;
use crate::report::run::parts::PartEvaluations;
use crate::report::run::{charts, decision, validity, verdict_text};
use crate::results::{Part, RunRecord};
use crate::stats::{MINIMUM_ROUNDS, Ranking, Reason};

use super::heat_map;

/// The headline of a run.
pub(crate) fn headline(record: &RunRecord, parts: &PartEvaluations, others: &[RunRecord]) -> Headline {
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
        decision: Some(decision::decision(record, parts, others)),
        sentences: sentences(parts),
        tone: Tone::Strong,
        overview: heat_map::table(parts).filter(|_| invalid.is_empty()),
        charts: charts(parts).filter(|_| invalid.is_empty()),
        notes: notes(record, parts, is_judged),
        ..Headline::default()
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

/// Why there is no verdict; with a verdict, why strategies cannot be compared in the mix.
fn sentences(parts: &PartEvaluations) -> Vec<String> {
    let main = parts.main();
    match main.no_verdict {
        Some(reason) => vec![verdict_text::no_verdict(reason, main)],
        None => inconclusive(parts),
    }
}

/// A sentence per strategy and reason.
fn inconclusive(parts: &PartEvaluations) -> Vec<String> {
    let name = |place: usize| parts.main().name(place);
    let mix = parts.iter().filter(|(part, _)| *part != Part::Own).flat_map(|(_, run)| run.comparisons());
    let rankings: Vec<Ranking> = mix.filter_map(|one| one.ranking()).collect();
    let all = rankings.iter().flat_map(|ranking| ranking.best_against.iter().chain(&ranking.against_baseline));
    let sentences = all.filter_map(|one| {
        let reason = one.verdict.reason().filter(|reason| *reason != Reason::NotJudged)?;
        Some(format!("{} against {}: {}.", name(one.strategy)?, name(one.against)?, phrase::reason(reason, &name)))
    });
    let mut found: Vec<String> = Vec::new();
    for sentence in sentences {
        if !found.contains(&sentence) {
            found.push(sentence);
        }
    }
    found
}

fn notes(record: &RunRecord, parts: &PartEvaluations, is_judged: bool) -> Vec<String> {
    let (mut notes, run) = (Vec::new(), parts.main());
    if is_judged {
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
    let series = charts::series(&main);
    let draw = move |series: &[Series]| charts::decision(own.as_deref(), &main, &rates, series);
    (parts.main().rounds > 0).then(|| Charts::of(series, draw, "decision.svg"))
}
