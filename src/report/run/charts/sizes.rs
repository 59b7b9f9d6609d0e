//! Sizes of a strategy's collections before and after the calls.

use crate::report::document::chart::Chart;
use crate::report::document::chart::bars::{Bar, Bars};
use crate::report::document::chart::series::Series;
use crate::report::document::format::{bytes, bytes_change};
use crate::report::run::evaluation::Evaluation;
use crate::stats::{Change, CollectionGrowth};

/// Draws a chart per kind of size: bars show the size after the calls, a line across them the size before.
pub fn sizes(run: &Evaluation, series: &[Series]) -> Vec<Chart> {
    type Of = fn(&CollectionGrowth) -> Change;
    let kinds: [(&str, bool, Of); 4] = [
        ("all documents", false, |growth| growth.size),
        ("storage", false, |growth| growth.storage),
        ("indexes", false, |growth| growth.indexes),
        ("largest document", true, |growth| growth.max),
    ];
    let shown = || {
        let strategies = series.iter().zip(&run.strategies);
        strategies.filter(|(series, strategy)| !series.is_repeat() && !strategy.collections.is_empty())
    };
    let chart = |(place, (title, is_largest, of)): (usize, &(&str, bool, Of))| {
        let bars = shown().map(|(series, strategy)| {
            let changes = strategy.collections.iter().map(of);
            let change = changes.fold(Change::default(), |all, one| {
                if *is_largest {
                    Change { before: all.before.max(one.before), after: all.after.max(one.after) }
                } else {
                    Change { before: all.before + one.before, after: all.after + one.after }
                }
            });
            Bar {
                series: series.clone(),
                value: Some(change.after),
                label: bytes(change.after),
                reach: None,
                before: Some(change.before),
                words: format!("{}, {title}: {}", series.name, bytes_change(change.before, change.after)),
            }
        });
        Bars { id: format!("sizes-{place}"), title: (*title).to_owned(), bars: bars.collect() }.draw()
    };
    if shown().next().is_none() { Vec::new() } else { kinds.iter().enumerate().map(chart).collect() }
}
