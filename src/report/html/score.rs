//! The first table of a page: who is fastest in what, by how much, and how sure that is.

use crate::stats::Claim;

use super::super::format::{NOTHING, percent, time};
use super::super::words::brief;
use super::super::{Measured, Report, Row as Measurements};
use super::tables::{Cell, Row, Table, cell, each, maybe, rows, some, times_of};

/// A row per operation, the mix first; a column per strategy but the control. Nothing without two of them, nor where no
/// number is to be relied on.
pub fn score(report: &Report) -> Option<Table> {
    let shown: Vec<usize> =
        (0..report.strategies.len()).filter(|place| !report.strategies[*place].is_control).collect();
    if shown.len() < 2 || report.is_void() {
        return None;
    }
    let heads =
        each(report).into_iter().filter(|(series, _)| shown.contains(&series.place)).map(|(series, strategy)| {
            let remark = match (series.place, strategy.is_unsafe) {
                (_, true) => "unsafe",
                (0, _) => "reference",
                _ => "",
            };
            let class = format!("s{}", series.place);
            Cell { class, look: series.look_class(), remark: remark.into(), ..cell(&strategy.name) }
        });
    let head = std::iter::once(cell("mean time per call")).chain(heads).collect();
    let made = rows(report).enumerate().map(|(place, row)| Row {
        class: if row.is_mix { "mix".into() } else { String::new() },
        cells: std::iter::once(name(row, place)).chain(shown.iter().map(|one| value(report, row, *one))).collect(),
        ..Row::default()
    });
    some("Mean times per call of every operation and strategy", head, made.collect())
}

fn name(row: &Measurements, place: usize) -> Cell {
    Cell { remark: row.share.map_or(String::new(), percent), link: times_of(place), ..cell(row.label()) }
}

fn value(report: &Report, row: &Measurements, place: usize) -> Cell {
    let measured = &row.cells[place];
    let mut made = if place == 0 { maybe(measured.mean, time) } else { difference(report, measured) };
    if report.fastest(row) == Some(place) {
        made.class.push_str(" best");
        made.spoken = "fastest: ".into();
    }
    made.class = format!("s{place} {}", made.class);
    made
}

fn difference(report: &Report, measured: &Measured) -> Cell {
    let Some(ratio) = measured.comparison.as_ref().and_then(|comparison| comparison.ratio) else {
        return cell(NOTHING);
    };
    let (class, mark) = match report.claimed(measured) {
        Some(Claim::Faster) => ("good", "▼ "),
        Some(_) => ("bad", "▲ "),
        None => ("open", ""),
    };
    let brief = brief(&ratio);
    let text = format!("{mark}{} {}", brief.number, brief.unit);
    Cell { class: class.into(), remark: brief.range.unwrap_or_default(), ..cell(text) }
}
