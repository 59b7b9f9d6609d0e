//! The headline: the decision, the heat map, and what a verdict requires.

use std::sync::Arc;

use crate::report::document::format::{counted, enumerated, listed, plain, titled};
use crate::report::document::{Headline, Tone};
use crate::report::run::decision::{Judged, NextStep, phrase};
use crate::report::run::{Evaluation, PartEvaluations, charts, decision, validity, verdict_text};
use crate::results::{Part, RunRecord};
use crate::stats::{Comparison, ComparisonFamily, MINIMUM_ROUNDS, Ranking, Reason, grouped};

use super::{heat_map, mix};

/// The headline of a run.
pub(crate) fn headline(
    record: &RunRecord,
    parts: &Arc<PartEvaluations>,
    others: &[RunRecord],
    next: &NextStep,
) -> Headline {
    let run = parts.main();
    let is_judged = run.no_verdict.is_none() && record.complete_rounds() >= MINIMUM_ROUNDS;
    let names: Vec<String> = run.strategies.iter().map(|strategy| strategy.name.clone()).collect();
    let strategies = [format!("Strategies: {}.", listed(&names))];
    let subject = strategies.into_iter().chain(verdict_text::skipped_lines(&record.skipped));
    let (rounds, invalid) = (counted(run.rounds, "round"), parts.distinct(validity::invalid));
    Headline {
        scenario: plain(&record.scenario.name),
        title: plain(&record.scenario.title),
        tab: tab(record, parts, invalid.is_empty()),
        about: plain(&record.scenario.about),
        mix: run.mix.clone(),
        times: Some(run.times()),
        subject: subject.chain([format!("Mix {}, {rounds}. {}.", run.mix, measured(parts))]).collect(),
        invalid: invalid.clone(),
        incomplete: verdict_text::incomplete(record),
        decision: Some(decision::decision(record, parts, others, next)),
        sentences: run.no_verdict.as_ref().map_or_else(|| inconclusive(parts), |text| vec![text.clone()]),
        tone: Tone::Strong,
        overview: heat_map::table(parts).filter(|_| invalid.is_empty()),
        charts: charts::decision(parts).filter(|_| invalid.is_empty()),
        notes: notes(record, parts, is_judged),
        ..Headline::default()
    }
}

/// The run in a tab of a browser: `Blog comments, write-heavy: linked (2.00x)`.
fn tab(record: &RunRecord, parts: &PartEvaluations, is_valid: bool) -> String {
    let run = parts.main();
    let answer = match (is_valid, Judged::of(parts)) {
        (false, _) => "invalid run".to_owned(),
        (true, Some(judged)) if run.no_verdict.is_none() => judged.short_answer(),
        (true, _) => "no verdict".to_owned(),
    };
    format!("{}, {}: {answer}", titled(&record.scenario.name), run.mix)
}

/// What was measured, part by part.
fn measured(parts: &PartEvaluations) -> String {
    let part = |(part, run): (Part, &Arc<Evaluation>)| match part {
        Part::Own => "own cost: each operation by itself, 1 client".to_owned(),
        Part::Saturation => format!("saturation: {}", run.load),
        Part::Light | Part::Rate | Part::Heavy => {
            let loads = Part::CURVE.into_iter().filter_map(|part| parts.get(part)).map(|run| run.load.clone());
            format!("response under load: {}", listed(loads))
        }
    };
    let texts = parts.iter().map(part).collect::<Vec<_>>().join("; ");
    if texts.is_empty() { "Nothing was measured".to_owned() } else { format!("Measured: {texts}") }
}

/// Why strategies cannot be compared in the mix: a sentence per reason, with the pairs and what was asked about them.
fn inconclusive(parts: &PartEvaluations) -> Vec<String> {
    let questions = parts.iter().flat_map(|(part, run)| run.comparisons().map(move |one| (part, run, one)));
    let said = questions.filter(|(.., one)| one.operation.is_none()).flat_map(|(part, run, question)| {
        let asked = mix::question(part, run, question.metric);
        let found = question.ranking().map_or_else(Vec::new, |ranking| obstacles(&ranking, parts.main()));
        found.into_iter().map(move |obstacle| (obstacle, asked.clone()))
    });
    let sentence = |((pairs, reason), questions): ((String, String), Vec<String>)| {
        format!("{pairs} in {}: {reason}.", listed(questions))
    };
    grouped(said).into_iter().map(sentence).collect()
}

/// The pairs that a ranking does not decide, each once, and why. The effects that could be detected are in the notes.
fn obstacles(ranking: &Ranking, run: &Evaluation) -> Vec<(String, String)> {
    let name = |place: usize| run.name(place);
    let undecided = |one: &Comparison| {
        let reason = match one.verdict.reason()? {
            Reason::NotJudged => return None,
            Reason::Unstable { .. } => Reason::Unstable { mde: f64::INFINITY },
            other => other,
        };
        Some((phrase::reason(reason, &name), [one.strategy, one.against]))
    };
    let pair = |(first, others): (usize, Vec<usize>)| {
        Some(format!("{} against {}", name(first)?, listed(others.into_iter().filter_map(name))))
    };
    let of_reason = |(reason, all): (String, Vec<[usize; 2]>)| {
        let is_new = |(place, [one, other]): &(usize, [usize; 2])| {
            !all[..*place].iter().any(|said| [[*one, *other], [*other, *one]].contains(said))
        };
        let new = all.iter().copied().enumerate().filter(is_new).map(|(_, [first, other])| (first, other));
        (grouped(new).into_iter().filter_map(pair).collect::<Vec<_>>().join(", "), reason)
    };
    let found = ranking.best_against.iter().chain(&ranking.against_baseline).filter_map(undecided);
    grouped(found).into_iter().map(of_reason).collect()
}

fn notes(record: &RunRecord, parts: &PartEvaluations, is_judged: bool) -> Vec<String> {
    let (mut notes, run) = (Vec::new(), parts.main());
    if is_judged {
        let families: Vec<&ComparisonFamily> = parts.iter().flat_map(|(_, run)| &run.families).collect();
        notes.extend(verdict_text::sensitivity(&families));
        notes.push(verdict_text::criteria(record, &families));
    }
    notes.extend(verdict_text::rejections(&run.strategies));
    let unsafe_ones = run.strategies.iter().filter(|strategy| strategy.is_unsafe);
    let are = if unsafe_ones.clone().count() == 1 { "is" } else { "are" };
    let names = enumerated(unsafe_ones.map(|strategy| strategy.name.clone()));
    notes
        .extend(names.map(|names| format!("{names} {are} unsafe (a negative control) and excluded from the verdict.")));
    notes.extend(parts.distinct(validity::overloaded));
    notes
}
