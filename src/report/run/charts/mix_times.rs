//! What a call of the mix takes: the mean as a bar, the 99th percentile as a line beyond it.

use crate::record::{Metric, Part};
use crate::report::document::chart::{Chart, Series, cut, scale::Scale, svg::Svg};
use crate::report::document::format::{three, time};
use crate::report::run::PartEvaluations;

use super::budget::{BAR, ROW, TOP, WIDTH};

/// Draws the chart of a part that ran the mix; `None` where it has no times.
pub fn mix_times(parts: &PartEvaluations, series: &[Series]) -> Option<Chart> {
    let (run, saturation) = (parts.main(), parts.get(Part::Saturation));
    let mix = run.rows.iter().find(|row| row.is_mix)?;
    let p99 = run.comparisons().find(|one| one.metric == Metric::P99);
    let tail = |place: usize| p99?.arms().get(place)?.series.value;
    let shown = series.iter().filter(|series| !series.is_repeat());
    let shown: Vec<_> = shown.filter_map(|one| Some((one, mix.cells.get(one.place)?.mean?))).collect();
    let best = shown.iter().map(|(_, mean)| *mean).fold(f64::INFINITY, f64::min);
    let most = shown.iter().map(|(one, mean)| tail(one.place).unwrap_or(0.0).max(*mean)).fold(0.0, f64::max);
    if shown.is_empty() || most <= 0.0 {
        return None;
    }
    let axis = Scale::between(0.0, most, 0.0, WIDTH);
    let mut svg = Svg::default();
    let load = &run.load;
    let title = format!("Mean {} time and p99, {load}", run.times());
    svg.text("head", (0.0, 14.0), &title);
    let mut all = Vec::new();
    for (row, (one, mean)) in shown.iter().enumerate() {
        let top = TOP + ROW * row as f64;
        let ratio = if *mean > best { format!(", ×{} of the best", three(mean / best)) } else { String::new() };
        let p99 = tail(one.place).map_or_else(String::new, |tail| format!(", p99 {}", time(tail)));
        let rate = saturation.and_then(|run| run.strategies.get(one.place)?.calls_per_second);
        let rate = rate.map_or_else(String::new, |rate| format!(", at most {} calls/s", three(rate)));
        let text = format!("mean {}{ratio}{p99}", time(*mean));
        svg.group(&format!("mark {}", one.class()), &format!("{}: {text}{rate}", one.name), |svg| {
            one.marker(svg, "dot", (6.0, top + 9.0), 4.0);
            svg.text("label", (17.0, top + 13.0), &cut(&one.name, 32));
            svg.text("note e", (WIDTH, top + 13.0), &text);
            svg.rect("bar", (0.0, top + 18.0), axis.at(*mean), BAR);
            if let Some(tail) = tail(one.place) {
                let (middle, end) = (top + 18.0 + BAR / 2.0, axis.at(tail).min(WIDTH - 1.0));
                svg.line("interval", (axis.at(*mean).min(end), middle), (end, middle));
                svg.line("interval", (end, middle - 5.0), (end, middle + 5.0));
            }
        });
        all.push(format!("{} {text}", one.name));
    }
    Some(Chart {
        id: "mix-times".into(),
        description: format!("{title}: {}.", all.join("; ")),
        size: (WIDTH, TOP + ROW * shown.len() as f64),
        body: svg,
    })
}
