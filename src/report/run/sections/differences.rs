//! How every strategy compares with the baseline.

use std::sync::Arc;

use crate::report::document::format::{counted, percent, three};
use crate::report::document::{Cell, Column, Forms, Measure, Row, Section, Table, column};
use crate::report::run::decision::phrase::effect;
use crate::report::run::{Evaluation, OperationResults, charts};
use crate::stats::{MINIMUM_ROUNDS, Verdict};

use super::{Entry, operation_rows};

/// The forest plot and its numbers; `None` where nothing is compared.
pub(crate) fn section(run: &Arc<Evaluation>) -> Option<Section> {
    let table = table(run);
    if table.rows.is_empty() {
        return None;
    }
    let baseline = run.baseline();
    let has_repeat = run.strategies.iter().any(|strategy| strategy.is_repeat);
    let repeat = format!(", or the difference of {baseline} from its own repeat where that is larger");
    let repeat = if has_repeat { repeat } else { String::new() };
    let lead = format!(
        "Mean {} times divided by those of {baseline}, geometric means over rounds: below 1 is faster. Filled markers are \
         reported differences, hollow ones only describe. The grey band is the noise floor{repeat}.",
        run.times()
    );
    let section = Section::new("ratios", format!("Time relative to {baseline}"))
        .lead(lead)
        .charts(charts::charts(run, charts::forest::forest, "forest.svg", 1))
        .table(table)
        .table(operations(run))
        .only(Forms::DETAILED);
    Some(without_intervals(run).into_iter().fold(section, Section::lead))
}

fn table(run: &Evaluation) -> Table {
    let mean =
        "The mean time divided by the baseline's, which is the mean of both its arms: the geometric mean over rounds.";
    let p = "The p-value, adjusted for all comparisons of the family; `null` for a comparison that is not tested.";
    let metrics = [
        column("share", "share of mix", "The operation's share (0 to 1) of the mix; `null` for the mix.")
            .number(percent, |one: &Entry| one.row.share)
            .only(Forms::MARKDOWN),
        column("ratio", "ratio", mean).number(three, |one| one.measured.ratio().map(|ratio| ratio.mean)),
        column("low", "low", "The lower bound of its 95 % CI, which covers all operations at once.")
            .number(three, |one| Some(one.measured.ratio()?.interval?.low)),
        column("high", "high", "The upper bound.").number(three, |one| Some(one.measured.ratio()?.interval?.high)),
        column("rounds", "rounds", "Rounds in which both have a time.")
            .count(|one| one.measured.ratio().map_or(0, |ratio| ratio.rounds as u64)),
        column("p", "adjusted p", p).number(|p| format!("{p:.3}"), |one| one.measured.comparison.as_ref()?.p),
        column("mde", "MDE", "The minimum detectable effect (80 % power): 0.1 for 10 %.")
            .number(effect, |one| one.measured.comparison.as_ref()?.mde),
        column("difference", "difference", "The reported difference, `faster` or `slower`; `null` for none.").text(
            |one| {
                let word = one.run.difference(one.measured).map(Verdict::id);
                Cell::text(word.as_deref().unwrap_or("none")).with_value(word)
            },
        ),
        Measure::word(
            "reason",
            "Why no difference is reported: `same`, `no_difference`, `within_noise`, `not_judged`, `failures`, `overloaded`, \
             `no_success`, `too_few_rounds`, `unstable`, or `no_verdicts` for a run without any.",
            |one| {
                let verdict = one.measured.comparison.as_ref().filter(|_| one.run.difference(one.measured).is_none());
                let verdict = verdict.map(|one| one.verdict);
                Cell::value(verdict.map(|one| if one.is_difference() { "no_verdicts".to_owned() } else { one.id() }))
            },
        ),
    ];
    let rows = operation_rows(run).filter(|(_, one)| one.measured.comparison.is_some());
    let title = "Ratios, p-values and minimum detectable effects";
    let table = Table::new("differences", title, Column::strategy(), &metrics, rows);
    table.grouped(Column::operation()).folded()
}

/// What every operation has once, for JSON.
fn operations(run: &Evaluation) -> Table {
    let metrics = [
        column("share", "", "Its share (0 to 1) of the mix; `null` for the mix.")
            .number(percent, |(_, row): &(&Evaluation, &OperationResults)| row.share),
        column("noise_band", "", "How far from 1 (0.02 for 2 %) the repeat's ratio is; `null` without a repeat.")
            .number(percent, |(_, row)| row.band),
        column("fastest", "", "The strategy that is clearly the fastest; `null` without one.").text(|(run, row)| {
            Cell::value(row.fastest.and_then(|place| run.strategies.get(place)).map(|strategy| strategy.name.clone()))
        }),
    ];
    let rows = run.rows.iter().map(|row| (Row::new(row.name.as_str()), (run, row)));
    let name = column("operation", "operation", "Its name, or `mix`.");
    Table::new("operations", "Operations", name, &metrics, rows).only(Forms::JSON)
}

/// Why a forest plot has no intervals; `None` where it has some.
fn without_intervals(run: &Evaluation) -> Option<String> {
    let found = match run.rounds {
        few if few < MINIMUM_ROUNDS as u64 => format!("this run has {}", counted(few, "round")),
        _ => format!("no strategy shares enough successful rounds with {}", run.baseline()),
    };
    (!run.has_intervals())
        .then(|| format!("Points without intervals: an interval requires {MINIMUM_ROUNDS} rounds, and {found}."))
}
