//! The size of followed documents over the calls: a chart per document.

use crate::report::document::chart::Chart;
use crate::report::document::chart::lines::{Line, Lines};
use crate::report::document::chart::series::Series;
use crate::report::document::format::{bytes, percent, short};
use crate::report::run::evaluation::{Evaluation, FOLLOWED_STEPS};

/// The most documents that are shown.
const DOCUMENTS: usize = 8;

/// Draws a chart per followed document, the most popular first.
pub fn growth(run: &Evaluation, series: &[Series]) -> Vec<Chart> {
    let mut labels: Vec<&str> = Vec::new();
    for growth in run.strategies.iter().flat_map(|strategy| &strategy.followed) {
        if !labels.contains(&growth.label.as_str()) {
            labels.push(&growth.label);
        }
    }
    labels.into_iter().take(DOCUMENTS).enumerate().map(|(place, label)| chart(run, series, place, label)).collect()
}

fn chart(run: &Evaluation, series: &[Series], place: usize, label: &str) -> Chart {
    let mut lines = Vec::new();
    for (series, strategy) in series.iter().zip(&run.strategies).filter(|(series, _)| !series.is_repeat()) {
        for growth in strategy.followed.iter().filter(|growth| growth.label == label) {
            let at = |step: usize| step as f64 / f64::from(FOLLOWED_STEPS);
            let points = || growth.bytes.iter().enumerate().map(|(step, size)| (at(step), *size));
            let words = |share: f64, size: f64| {
                format!(
                    "{}, {} in {}: {} after {} of the calls",
                    series.name,
                    label,
                    growth.collection,
                    bytes(size),
                    percent(share)
                )
            };
            let marked = points().step_by(FOLLOWED_STEPS as usize / 4);
            lines.push(Line {
                series,
                points: points().collect(),
                band: Vec::new(),
                marks: marked.map(|(share, size)| (share, size, words(share, size))).collect(),
            });
        }
    }
    let lines = Lines {
        id: format!("growth-{place}"),
        title: label.to_owned(),
        remark: "bytes, mean of the rounds".into(),
        description: format!("Size of {label} over the calls, a line per strategy and collection."),
        x_label: "share of the calls",
        axis: ("share of the calls", 1.0),
        x_ticks: [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| (share, percent(share))).to_vec(),
        is_log: false,
        unit: &|value| short(&bytes(value)),
        lines,
    };
    lines.draw()
}
