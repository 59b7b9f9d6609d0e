//! The answer to every combination of what was measured, how it ended, and who takes part.

use std::collections::BTreeSet;

use crate::record::Part;
use crate::report::run::parts::PartEvaluations;
use crate::results::{CellRecord, RunRecord};
use crate::stats::{self, sample};

use super::*;

/// How two strategies compare.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    /// One is twice as fast.
    Apart,
    /// Both take the same time.
    Level,
    /// Rounds differ by more than strategies do.
    Noisy,
}

/// Who takes part.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Field {
    Two(Shape),
    Single,
    UnsafeOther,
    UnsafeBaseline,
}

const FIELDS: [Field; 6] = [
    Field::Two(Shape::Apart),
    Field::Two(Shape::Level),
    Field::Two(Shape::Noisy),
    Field::Single,
    Field::UnsafeOther,
    Field::UnsafeBaseline,
];

/// The strategies that cannot keep up with the middle load.
const OVERLOADED: [&[usize]; 4] = [&[], &[0], &[1], &[0, 1]];

fn shaped(field: Field) -> RunRecord {
    let mut run = sample::curve(&sample::run(6), usize::MAX);
    let strategies = if field == Field::Single { 1 } else { 2 };
    run.strategies.truncate(strategies);
    run.strategies.iter_mut().for_each(|one| one.is_unsafe = false);
    match field {
        Field::UnsafeOther => run.strategies[1].is_unsafe = true,
        Field::UnsafeBaseline => run.strategies[0].is_unsafe = true,
        Field::Two(_) | Field::Single => {}
    }
    for (part, rounds) in &mut run.parts {
        for round in rounds {
            let index = round.index;
            round.cells.truncate(strategies);
            for (strategy, cell) in round.cells.iter_mut().enumerate() {
                let own = if strategy == 0 { 2.0 } else { 1.0 };
                let factor = match field {
                    Field::Two(Shape::Level) => 1.0,
                    Field::Two(Shape::Noisy) => [0.2, 5.0, 0.4, 3.0, 0.3, 4.0][(index as usize + strategy * 3) % 6],
                    _ => own,
                };
                slow_down(*part, cell, factor);
            }
        }
    }
    run
}

/// Lets all calls of a cell take the same time, times a factor.
fn slow_down(part: Part, cell: &mut CellRecord, factor: f64) {
    let time = if part == Part::Own { 400_000.0 } else { 800_000.0 };
    if part == Part::Saturation {
        cell.seconds = cell.calls as f64 * 0.000_8 * factor / 7.0;
    }
    cell.operations.iter_mut().for_each(|operation| {
        operation.errors.clear();
        operation.retries.clear();
        super::tests::set_time(operation, time * factor);
    });
}

/// The run as if only some parts had been measured.
fn only(run: &RunRecord, chosen: u32, overloaded: &[usize], is_named: bool) -> RunRecord {
    let mut run = run.clone();
    run.parts.retain(|part, _| chosen >> (*part as u32) & 1 == 1);
    run.settings.parts = run.parts.keys().copied().collect();
    run.settings.is_named_rate = is_named;
    for round in run.parts.get_mut(&Part::Rate).into_iter().flatten() {
        for place in overloaded {
            let open = round.cells.get_mut(*place).and_then(|cell| cell.open.as_mut());
            open.into_iter().for_each(|open| open.waiting = open.offered * 55 / 100);
        }
    }
    run
}

/// What is wrong with the sentences of a decision.
fn fault(run: &RunRecord, found: &Decision) -> Option<&'static str> {
    let has = |part: Part| run.parts.contains_key(&part);
    let all =
        [&[found.answer.clone()][..], found.sure.as_slice(), found.why.as_slice(), &found.flips, &found.but].concat();
    let text = all.join("\n");
    let is_loaded = run.parts.keys().any(|part| *part != Part::Own);
    let is_missed = stats::misses_named_rate(run);
    let faults = [
        (found.answer.trim().is_empty(), "the answer is empty"),
        (text.contains(" 0 %") || text.contains("(0 %") || text.contains("0.0 %"), "an effect of nothing"),
        (text.contains("only own costs") && is_loaded, "own costs where a load was measured"),
        (text.contains("one client") && !has(Part::Own), "own costs that were not measured"),
        (text.contains(" clients") && !has(Part::Saturation), "saturation that was not measured"),
        (
            ["the calls/s", "more calls/s", "fewer calls/s"].iter().any(|one| text.contains(one))
                && !has(Part::Saturation),
            "capacity",
        ),
        (text.contains("response") && !has(Part::Rate), "a load that was not measured"),
        (text.contains("keep up") && !has(Part::Rate), "overload without a load"),
        (is_missed && !found.answer.contains("keep"), "an overload that the answer hides"),
        (text.contains("..") || text.contains(", .") || text.contains("  "), "a broken sentence"),
    ];
    faults.into_iter().find(|(is_wrong, _)| *is_wrong).map(|(_, fault)| fault)
}

/// The answers about a field, and how many combinations there were.
fn answers(field: Field) -> (usize, BTreeSet<String>) {
    let (run, mut combinations, mut answers) = (shaped(field), 0, BTreeSet::new());
    for chosen in 1..1_u32 << Part::ALL.len() {
        let has = |part: Part| chosen >> (part as u32) & 1 == 1;
        // The ends of the curve decide nothing, and are not measured at a named rate.
        let is_loaded = has(Part::Rate) && !has(Part::Light) && !has(Part::Heavy);
        for overloaded in OVERLOADED.iter().take(if is_loaded { OVERLOADED.len() } else { 1 }) {
            for is_named in [false, true].into_iter().take(if is_loaded { 2 } else { 1 }) {
                let run = only(&run, chosen, overloaded, is_named);
                let found = decision(&run, &PartEvaluations::new(&run), &[], &NextStep::Explain);
                let what = format!("{field:?}, {:?}, overloaded {overloaded:?}, named {is_named}", run.settings.parts);
                assert_eq!(fault(&run, &found), None, "{what}: {found:#?}");
                combinations += 1;
                answers.insert(found.answer);
            }
        }
    }
    (combinations, answers)
}

#[test]
fn every_combination_has_a_true_answer() {
    let found: Vec<(usize, BTreeSet<String>)> = std::thread::scope(|scope| {
        let threads = FIELDS.map(|field| scope.spawn(move || answers(field)));
        threads.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let combinations: usize = found.iter().map(|(combinations, _)| combinations).sum();
    let answers: BTreeSet<String> = found.into_iter().flat_map(|(_, answers)| answers).collect();
    assert_eq!(combinations, 6 * (31 + 4 * 7));
    assert!(answers.len() > 20, "{answers:#?}");
}
