//! How every strategy compares with the baseline.

use std::sync::Arc;

use crate::report::document::cell::Cell;
use crate::report::document::format::{counted, percent, three};
use crate::report::document::section::Section;
use crate::report::document::table::{Column, Forms, Measure, Row, Table};
use crate::report::run::charts;
use crate::report::run::decision::phrase::effect;
use crate::report::run::evaluation::{Evaluation, Measured, OperationResults};
use crate::stats::{Comparison, MINIMUM_ROUNDS, Ratio, Verdict};

use super::{operation_cell, strategy_cell};

/// A comparison in a report.
struct Entry<'r> {
    run: &'r Evaluation,
    row: &'r OperationResults,
    measured: &'r Measured,
    comparison: &'r Comparison,
}

impl Entry<'_> {
    fn number(&self, of: impl Fn(Ratio) -> Option<f64>, text: impl Fn(f64) -> String) -> Cell {
        Cell::number(self.comparison.ratio.and_then(of), text)
    }
}

/// The forest plot and its numbers; `None` where nothing is compared.
pub(crate) fn section(run: &Arc<Evaluation>) -> Option<Section> {
    let table = table(run);
    if table.rows.is_empty() || run.rounds == 0 {
        return None;
    }
    let baseline = run.baseline();
    let noise = if run.strategies.iter().any(|strategy| strategy.is_repeat) {
        format!("the noise floor, or the difference of {baseline} from its own repeat where that is larger")
    } else {
        "the noise floor".to_owned()
    };
    let lead = format!(
        "Mean {} times divided by those of {baseline}, geometric means over rounds: below 1 is faster. Filled markers are \
         reported differences, hollow ones only describe. The grey band is {noise}.",
        run.times()
    );
    let section = Section::new("ratios", format!("Time relative to {baseline}")).lead(lead);
    let section = without_intervals(run).map_or(section.clone(), |text| section.lead(text));
    Some(
        section
            .charts(charts::charts(run, charts::forest, "forest.svg", 1))
            .table(table)
            .table(operations(run))
            .only(Forms::DETAILED),
    )
}

fn table(run: &Evaluation) -> Table {
    let metrics = [
        Measure::number(
            "share",
            "share of mix",
            "The operation's share (0 to 1) of the mix; `null` for the mix.", percent, |one: &Entry| one.row.share)
        .only(Forms::MARKDOWN),
        Measure::cell(
            "ratio",
            "ratio",
            "The mean time divided by the baseline's, which is the mean of both its arms: the geometric mean over rounds.",
            |one| one.number(|ratio| Some(ratio.mean), three)),
        Measure::cell(
            "low",
            "low",
            "The lower bound of its 95 % CI, which covers all operations at once.",
            |one| one.number(|ratio| ratio.interval.map(|interval| interval.low), three)),
        Measure::cell("high", "high", "The upper bound.", |one| {
            one.number(|ratio| ratio.interval.map(|interval| interval.high), three)
        }),
        Measure::count("rounds", "rounds", "Rounds in which both have a time.", |one| one.comparison.ratio.map_or(0, |ratio| ratio.rounds as u64)),
        Measure::cell(
            "p",
            "adjusted p",
            "The p-value, adjusted for all comparisons of the family; `null` for a comparison that is not tested.",
            |one| Cell::number(one.comparison.p, |p| format!("{p:.3}"))),
        Measure::number("mde", "MDE", "The minimum detectable effect (80 % power): 0.1 for 10 %.", effect, |one| one.comparison.mde),
        Measure::text(
            "difference",
            "difference",
            "The reported difference, `faster` or `slower`; `null` for none.",
            |one| {
                let word = one.run.difference(one.measured).map(Verdict::id);
                Cell::text(word.unwrap_or("none")).with_value(word)
            }),
        Measure::text(
            "reason",
            "reason",
            "Why no difference is reported: `same`, `no_difference`, `within_noise`, `not_judged`, `failures`, `overloaded`, \
             `no_success`, `too_few_rounds`, `unstable`, or `no_verdicts` for a run without any.",
            |one: &Entry| {
                let verdict = one.comparison.verdict;
                let reason = if verdict.is_difference() { "no_verdicts" } else { verdict.id() };
                Cell::value(one.run.difference(one.measured).is_none().then_some(reason))
            })
        .only(Forms::JSON),
    ];
    let rows = run.mix_first().flat_map(|row| {
        let group = operation_cell(row);
        let compared =
            row.cells.iter().enumerate().filter_map(|(place, cell)| Some((place, cell, cell.comparison.as_ref()?)));
        compared.map(move |(place, measured, comparison)| {
            let named = Row::new(strategy_cell(run, place)).group(group.clone()).series(place);
            (named, Entry { run, row, measured, comparison })
        })
    });
    let table = Table::new(
        "differences",
        "Ratios, p-values and minimum detectable effects",
        Column::strategy(),
        &metrics,
        rows,
    );
    table.grouped(Column::operation()).folded()
}

/// What every operation has once, for JSON.
fn operations(run: &Evaluation) -> Table {
    let metrics = [
        Measure::number(
            "share",
            "",
            "Its share (0 to 1) of the mix; `null` for the mix.",
            percent,
            |(_, row): &(&Evaluation, &OperationResults)| row.share,
        ),
        Measure::number(
            "noise_band",
            "",
            "How far from 1 (0.02 for 2 %) the repeat's ratio is; `null` without a repeat.",
            percent,
            |(_, row)| row.band,
        ),
        Measure::text("fastest", "", "The strategy that is clearly the fastest; `null` without one.", |(run, row)| {
            Cell::value(row.fastest.and_then(|place| run.strategies.get(place)).map(|strategy| strategy.name.clone()))
        }),
    ];
    let rows = run.rows.iter().map(|row| (Row::new(row.name.as_str()), (run, row)));
    let name = Column::text("operation", "operation", "Its name, or `mix`.");
    Table::new("operations", "Operations", name, &metrics, rows).only(Forms::JSON)
}

/// Why a forest plot has no intervals; `None` where it has some.
fn without_intervals(run: &Evaluation) -> Option<String> {
    let cells = || run.rows.iter().flat_map(|row| &row.cells);
    let has_interval = cells().filter_map(|cell| cell.comparison.as_ref()?.ratio).any(|ratio| ratio.interval.is_some());
    let found = match run.rounds {
        few if few < MINIMUM_ROUNDS as u64 => format!("this run has {}", counted(few, "round")),
        _ => format!("no strategy shares enough successful rounds with {}", run.baseline()),
    };
    (!has_interval)
        .then(|| format!("Points without intervals: an interval requires {MINIMUM_ROUNDS} rounds, and {found}."))
}
