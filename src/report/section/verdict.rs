//! The headline: the verdict, the differences of operations, and the mean times behind them.

use crate::report::cell::{Cell, Link, Tone};
use crate::report::evaluation::{Evaluation, Measured, OperationResults};
use crate::report::format::{counted, listed, percent, plain, time};
use crate::report::section::{Finding, Headline, strategy_cell, times_id};
use crate::report::table::{Column, Forms, Measure, Row, Table};
use crate::report::validity;
use crate::report::verdict_text::{self, VerdictText};
use crate::results::RunRecord;
use crate::stats::{MINIMUM_ROUNDS, Quantity, Verdict};

/// The headline of a run.
pub(in crate::report) fn headline(record: &RunRecord, run: &Evaluation) -> Headline {
    let text = VerdictText { strategies: &run.strategies };
    let mix = run.comparisons().find(|one| one.operation.is_none()).and_then(|one| one.ranking());
    let sentences = match (&run.no_verdict, mix) {
        (Some(sentence), _) => vec![sentence.clone()],
        (None, Some(ranking)) => text.overall(&ranking),
        (None, None) => {
            vec!["No verdict: in no round did every strategy have successful calls of every operation.".into()]
        }
    };
    let is_judged = run.no_verdict.is_none() && record.rounds.len() >= MINIMUM_ROUNDS;
    let findings = run.comparisons().filter(|_| is_judged).filter_map(|one| {
        let (operation, ranking) = (one.operation?, one.ranking()?);
        let is_difference = verdict_text::has_difference(&ranking);
        Some(Finding { name: plain(&record.operations[operation]), text: text.operation(&ranking), is_difference })
    });
    let mut findings: Vec<Finding> = findings.collect();
    findings.sort_by_key(|finding| !finding.is_difference);
    let names: Vec<String> = run.strategies.iter().map(|strategy| strategy.name.clone()).collect();
    let calls = run.calls.map_or_else(String::new, |calls| format!(" of {} per strategy", counted(calls, "call")));
    let (load, rounds) = (verdict_text::load(&record.settings), counted(run.rounds, "round"));
    Headline {
        scenario: plain(&record.scenario.name),
        title: plain(&record.scenario.title),
        about: plain(&record.scenario.about),
        mix: run.mix.clone(),
        times: Some(run.times()),
        subject: vec![
            format!("Strategies: {}.", listed(&names)),
            format!("Mean {} time per call, mix {}, {load}, {rounds}{calls}.", run.times(), run.mix),
        ],
        invalid: run.invalid.clone(),
        incomplete: verdict_text::incomplete(record),
        sentences,
        tone: Tone::Strong,
        findings,
        overview: overview(run),
        notes: notes(record, run, is_judged),
    }
}

fn notes(record: &RunRecord, run: &Evaluation, is_judged: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if is_judged {
        notes.extend(verdict_text::sensitivity(&run.families));
        notes.push(verdict_text::criteria(record, &run.families, &run.strategies));
    }
    notes.extend(verdict_text::rejections(&run.strategies));
    let unsafe_ones = run.strategies.iter().filter(|strategy| strategy.is_unsafe);
    let names: Vec<String> = unsafe_ones.map(|strategy| strategy.name.clone()).collect();
    if !names.is_empty() {
        let are = if names.len() == 1 { "is" } else { "are" };
        notes.push(format!("{} {are} unsafe (a negative control) and excluded from the verdict.", listed(&names)));
    }
    notes.extend(validity::overloaded(record));
    notes
}

/// A mean time and its difference from the baseline.
struct Entry<'r> {
    run: &'r Evaluation,
    row: &'r OperationResults,
    place: usize,
}

/// A line per operation, the mix first, and a column per strategy; `None` without two of them, and for an invalid run.
fn overview(run: &Evaluation) -> Option<Table> {
    if run.without_repeat().count() < 2 || !run.invalid.is_empty() {
        return None;
    }
    let metrics = [Measure::new("difference", "", "", |entry: &Entry| entry.cell())];
    let rows = run.mix_first().enumerate().flat_map(|(operation, row)| {
        let group = Cell::text(row.label()).remark(row.share.map_or_else(String::new, percent));
        let group = group.link(Some(Link::Row(times_id(operation, 0)))).tone(if row.is_mix {
            Tone::Strong
        } else {
            Tone::Plain
        });
        run.without_repeat().map(move |(place, _)| {
            let name = strategy_cell(run, place);
            (Row::new(name).group(group.clone()).series(place), Entry { run, row, place })
        })
    });
    let title = "Mean times per call of every operation and strategy";
    let table = Table::new("overview", title, Column::strategy(), &metrics, rows);
    let group = Column::text("operation", "mean time per call", "The operation.");
    Some(table.grouped(group).side_by_side(Forms::HTML).only(Forms::HTML))
}

impl Entry<'_> {
    fn cell(&self) -> Cell {
        let measured = &self.row.cells[self.place];
        let cell = if self.place == 0 { Cell::number(measured.mean, time) } else { self.difference(measured) };
        if self.run.fastest(self.row) == Some(self.place) {
            Cell { spoken: "fastest: ", tone: Tone::Best, ..cell }
        } else {
            cell
        }
    }

    fn difference(&self, measured: &Measured) -> Cell {
        let Some(ratio) = measured.comparison.as_ref().and_then(|comparison| comparison.ratio) else {
            return Cell::number(None, time);
        };
        let brief = verdict_text::brief(&ratio, Quantity::Time);
        let (mark, tone) = match self.run.difference(measured) {
            Some(Verdict::Faster) => ("▼ ", Tone::Good),
            Some(_) => ("▲ ", Tone::Bad),
            None => ("", Tone::Faint),
        };
        Cell::text(format!("{mark}{}", brief.factor)).remark(brief.interval.unwrap_or_default()).tone(tone)
    }
}
