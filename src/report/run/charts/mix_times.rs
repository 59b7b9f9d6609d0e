//! The number that decides: a bar per strategy, with the 99th percentile as a line beyond a response time.

use crate::report::document::chart::{Chart, Series, scale::Scale, svg::Svg};
use crate::report::document::format::{three, time};
use crate::report::run::PartEvaluations;
use crate::report::run::decision::{Judged, phrase};
use crate::stats::{Criterion, Quantity, effect};

use super::budget::{BAR, BarLayout, TOP};

/// Draws the chart of a part that ran the mix; `None` where it has no numbers.
pub(super) fn mix_times(parts: &PartEvaluations, series: &[Series], layout: &BarLayout) -> Option<Chart> {
    let criterion = *Judged::of(parts)?.answer.criteria.first()?;
    let is_response = criterion == Criterion::RESPONSE;
    let tail = |place: usize| parts.number_of_mix(Criterion::TAIL, place).filter(|_| is_response);
    let shown = series.iter().filter(|series| !series.is_repeat());
    let shown: Vec<_> = shown.filter_map(|one| Some((one, parts.number_of_mix(criterion, one.place)?))).collect();
    let as_time = |number: f64| criterion.quantity().as_time(number);
    let (first, best) = shown.iter().min_by(|(_, one), (_, other)| as_time(*one).total_cmp(&as_time(*other)))?;
    let most = shown.iter().map(|(one, number)| tail(one.place).unwrap_or(0.0).max(*number)).fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let question = parts.of_mix(criterion.part, criterion.metric);
    // A gap that is not reported is not a ratio to remember.
    let behind = |place: usize, ratio: f64| {
        let pair = question.and_then(|question| question.pair(first.place, place));
        match pair.map(|pair| pair.verdict) {
            Some(verdict) if verdict.is_difference() => format!(", ×{} of the best", three(ratio)),
            Some(verdict) if effect(verdict).is_some() => format!(", {}", phrase::NO_DIFFERENCE),
            _ => ", undecided".to_owned(),
        }
    };
    let axis = Scale::between(0.0, most, 0.0, layout.width);
    let mut svg = Svg::default();
    let load = &parts.get(criterion.part)?.load;
    let text = |number: f64| match criterion.quantity() {
        Quantity::Time => time(number),
        Quantity::Throughput => format!("{} calls/s", three(number)),
    };
    let title = match criterion.quantity() {
        Quantity::Throughput => format!("Calls per second, {load}"),
        Quantity::Time if is_response => format!("Mean response time and p99, {load}"),
        Quantity::Time => "Mean time with one client".to_owned(),
    };
    svg.text("head", (0.0, 14.0), &title);
    let mut all = Vec::new();
    for (row, (one, number)) in shown.iter().enumerate() {
        let top = TOP + layout.row * row as f64;
        let is_behind = as_time(*number) > as_time(*best);
        let ratio = if is_behind { behind(one.place, number / best) } else { String::new() };
        let p99 = tail(one.place).map_or_else(String::new, |tail| format!(", p99 {}", time(tail)));
        let own = parts.number_of_mix(Criterion::OWN_TIME, one.place).filter(|_| criterion == Criterion::CAPACITY);
        let own = own.map_or_else(String::new, |own| format!(", {} with one client", time(own)));
        let text = format!("{}{ratio}{p99}{own}", text(*number));
        svg.group(&format!("mark {}", one.class()), &format!("{}: {text}", one.name), |svg| {
            let bar = layout.name(svg, one, top, &text);
            svg.rect("bar", (0.0, bar), axis.at(*number), BAR);
            if let Some(tail) = tail(one.place) {
                let (middle, end) = (bar + BAR / 2.0, axis.at(tail).min(layout.width - 1.0));
                svg.line("interval", (axis.at(*number).min(end), middle), (end, middle));
                svg.line("interval", (end, middle - 5.0), (end, middle + 5.0));
            }
        });
        all.push(format!("{} {text}", one.name));
    }
    Some(Chart {
        id: format!("mix-times{}", layout.suffix),
        description: format!("{title}: {}.", all.join("; ")),
        size: (layout.width, TOP + layout.row * shown.len() as f64),
        body: svg,
    })
}
