//! Sizes of a strategy's collections before and after the calls.

use crate::report::document::chart::{ChartLayout, Gallery, Series, bars::Bar, bars::Bars, gallery};
use crate::report::document::format::{bytes, bytes_change};
use crate::report::run::Evaluation;
use crate::stats::{Change, CollectionGrowth};

/// Draws a chart per kind of size: bars show the size after the calls, a line across them the size before.
pub fn sizes(run: &Evaluation, series: &[Series]) -> Vec<Gallery> {
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
            let all = |side: fn(Change) -> f64| {
                let sizes = strategy.collections.iter().map(|growth| side(of(growth)));
                sizes.fold(0.0, |all, one| if *is_largest { f64::max(all, one) } else { all + one })
            };
            let (before, after) = (all(|change| change.before), all(|change| change.after));
            let words = format!("{}, {title}: {}", series.name, bytes_change(before, after));
            let (value, label) = (Some(after), bytes(after));
            Bar { series: series.clone(), value, label, reach: None, before: Some(before), words }
        });
        Bars { id: format!("sizes-{place}"), title: (*title).to_owned(), bars: bars.collect() }.draw()
    };
    let kinds = kinds.iter().enumerate().filter(|_| shown().next().is_some());
    gallery(ChartLayout::Small, kinds.map(chart).collect())
}
