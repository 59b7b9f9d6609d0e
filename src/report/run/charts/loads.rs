//! Response times over the load: the mean, and the 99th percentile.

use crate::report::document::chart::{COLUMNS, Chart, Series, axis::Axis, lines::Line, lines::Lines, lines::OffScale};
use crate::report::document::format::{percent, short, three, time};
use crate::report::run::under_load::{LoadCurve, LoadPoint};

/// A time of a point: its short and its full name, and where it is.
type PointTime = (&'static str, &'static str, fn(&LoadPoint) -> Option<f64>);

const TIMES: [PointTime; 2] = [("mean", "mean", |point| point.mean), ("p99", "99th percentile", |point| point.p99)];

/// The length of the x axis, as a multiple of the heaviest load: its label needs room.
const ROOM: f64 = 1.12;

/// Draws both charts, which share their y axis.
pub(crate) fn loads(curve: &LoadCurve<'_>, series: &[Series]) -> Vec<Chart> {
    let charts: Vec<Lines> = TIMES.iter().map(|time| chart(curve, series, *time)).collect();
    Lines::draw_rows(&charts, COLUMNS)
}

fn chart<'c>(curve: &LoadCurve<'_>, series: &'c [Series], (name, long_name, of): PointTime) -> Lines<'c> {
    let label = |rate: f64, share: Option<f64>| {
        let share = share.map_or_else(String::new, |share| format!(" ({})", percent(share)));
        three(rate) + &share
    };
    let ticks: Vec<_> = curve.loads.iter().map(|load| (load.rate, label(load.rate, load.share))).collect();
    let most = curve.loads.iter().map(|load| load.rate).fold(0.0, f64::max);
    let lines = series.iter().filter(|one| !one.is_repeat()).map(|one| {
        let points = curve.loads.iter().filter_map(|load| Some((load, load.points.get(one.place)?)));
        let kept = points.clone().filter(|(_, point)| !point.is_overloaded);
        let kept = kept.filter_map(|(load, point)| Some((load.rate, of(point)?, None))).collect();
        let words = |rate: f64, value: f64| format!("{}, {name} at {} calls/s: {}", one.name, three(rate), time(value));
        let mut slots = Vec::new();
        for (load, point) in points.filter(|(_, point)| point.is_overloaded) {
            let is_drawn = |other: &&LoadPoint| other.is_overloaded && !series[other.place].is_repeat();
            let before = load.points.iter().take_while(|other| other.place != one.place);
            let share = percent(point.kept.unwrap_or(0.0));
            slots.push(OffScale {
                x: load.rate,
                slot: before.filter(is_drawn).count(),
                words: format!("{} is overloaded at {} calls/s: it keeps up with {share}", one.name, three(load.rate)),
                label: share,
            });
        }
        Line { above: slots, ..Line::through(one, kept, words) }
    });
    let is_any_over = curve.loads.iter().flat_map(|load| &load.points).any(|point| point.is_overloaded);
    let has_shares = curve.loads.iter().any(|load| load.share.is_some());
    let label = if has_shares { "calls per second (share of the highest capacity)" } else { "calls per second" };
    Lines {
        id: format!("load-{name}"),
        title: format!("{} of the response times", if name == "mean" { "Mean" } else { "p99" }),
        remark: if is_any_over { "hollow: share kept up with".to_owned() } else { String::new() },
        description: format!(
            "The {long_name} of the response times over the load, a line per strategy; strategies that are overloaded are marked at the top."
        ),
        axis: Axis::up_to(most * ROOM, "load", label, ticks),
        is_log: true,
        unit: &|value| short(&time(value)),
        lines: lines.collect(),
    }
}
