//! The claims of the scenario.

use crate::report::claims::{ClaimCell, ClaimVerdict, ClaimView, HOW};
use crate::report::evaluation::{Evaluation, OperationResults};
use crate::report::section::{Section, cost_id, sizes_id, strategy_id, times_id};
use crate::report::table::{Cell, Column, Forms, Kind, Measure, Row, Table, Tone};

/// A claim and the row with the number that decides it.
struct Entry<'r> {
    claim: &'r ClaimView,
    link: Option<String>,
}

/// The result of each claim; `None` without claims.
pub(super) fn section(run: &Evaluation, claims: &[ClaimView]) -> Option<Section> {
    let key = |key, heading, about, cell: fn(&Entry) -> Cell| Measure::new(key, heading, about, cell).of(Kind::Text);
    let metrics = [
        key("verdict", "verdict", "`confirmed`, `refuted` or `undecided`.", |one| verdict(one.claim.verdict)),
        key("says", "claim", "The claim in a sentence.", |one| {
            let source = one.claim.source.as_ref().map_or_else(String::new, |source| format!("({source})"));
            Cell::text(&one.claim.says).remark(source).with_value(one.claim.says.as_str()).tone(Tone::Strong)
        }),
        key("found", "found", "The numbers; if undecided, also the reason.", |one| Cell::text(&one.claim.found)),
        key("measure", "decided by", "What decides it.", |one| {
            Cell::text(&one.claim.measure).link(one.link.clone()).remark(format!(": {}", one.claim.expected))
        })
        .only(Forms::DETAILED),
        key("expected", "", "What the claim expects of it.", |one| Cell::text(&one.claim.expected)).only(Forms::JSON),
        key("source", "", "Where the claim comes from.", |one| Cell::value(one.claim.source.clone())).only(Forms::JSON),
        key("metric", "", "The metric that decides it, as the scenario names it.", |one| {
            Cell::text(&one.claim.cell.metric)
        })
        .only(Forms::JSON),
        key("operation", "", "The operation; `null` for a number of the whole run.", |one| {
            Cell::value(one.claim.cell.operation.clone())
        })
        .only(Forms::JSON),
        key("strategy", "", "The strategy.", |one| Cell::text(&one.claim.cell.strategy)).only(Forms::JSON),
    ];
    let rows =
        claims.iter().map(|claim| (Row::new(claim.id.as_str()), Entry { claim, link: row_of(run, &claim.cell) }));
    let name = Column::text("id", "id", "Its id.");
    let table = Table::new("claims", "Claims of the scenario", name, &metrics, rows).list();
    (!claims.is_empty()).then(|| Section::new("claims", "Claims of the scenario").table(table).note(HOW))
}

fn verdict(verdict: ClaimVerdict) -> Cell {
    let tone = match verdict {
        ClaimVerdict::Confirmed => Tone::Good,
        ClaimVerdict::Refuted => Tone::Bad,
        ClaimVerdict::Undecided => Tone::Faint,
    };
    Cell::text(format!("{} {}", verdict.mark(), verdict.word())).tone(tone).with_value(verdict.word())
}

/// The row with the number that decides a claim; `None` where there is no such row.
fn row_of(run: &Evaluation, cell: &ClaimCell) -> Option<String> {
    let strategy = run.strategies.iter().position(|strategy| strategy.name == cell.strategy)?;
    if run.rounds == 0 {
        return None;
    }
    match cell.metric.as_str() {
        "throughput" => Some(strategy_id(strategy)),
        "storage_bytes" => (!run.strategies[strategy].collections.is_empty()).then(|| sizes_id(strategy)),
        "mean" | "p50" | "p99" => {
            let is_meant = |row: &OperationResults| match &cell.operation {
                Some(name) => !row.is_mix && row.name == *name,
                None => row.is_mix,
            };
            run.mix_first().position(is_meant).map(|operation| times_id(operation, strategy))
        }
        _ => {
            let operations = &run.costs.operations;
            let operation = operations.iter().position(|cost| Some(&cost.operation) == cell.operation.as_ref())?;
            let is_measured = operations[operation].strategies.iter().any(|(name, _)| *name == cell.strategy);
            is_measured.then(|| cost_id(operation, strategy))
        }
    }
}
