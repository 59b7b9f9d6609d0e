//! Response under load: what every strategy does at every open load that was measured.

use crate::record::{Metric, Part};
use crate::report::document::format::{listed, percent, three};
use crate::results::LoadModel;
use crate::stats::{self, InvalidReason, Ratio, Role};

use super::{Evaluation, PartEvaluations};

/// The loads of a run.
#[derive(Debug)]
pub(crate) struct LoadCurve<'p> {
    /// The strategy that others are compared with.
    pub(crate) best: Option<BestStrategy>,
    /// The loads, the lightest first.
    pub(crate) loads: Vec<CurveLoad<'p>>,
    is_named: bool,
}

/// The strategy with the highest capacity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BestStrategy {
    pub(crate) place: usize,
    /// The calls per second that it makes at most: at saturation, else in the pilot; `None` where neither is known, and it is the one
    /// with the shortest mean.
    pub(crate) capacity: Option<f64>,
}

/// One load.
#[derive(Debug)]
pub(crate) struct CurveLoad<'p> {
    pub(crate) part: Part,
    pub(crate) run: &'p Evaluation,
    /// Calls per second.
    pub(crate) rate: f64,
    /// The same as a share (0 to 1) of what the best strategy makes at most; `None` where that is unknown.
    pub(crate) share: Option<f64>,
    /// A point per strategy, in their order.
    pub(crate) points: Vec<LoadPoint>,
}

/// A strategy at one load.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoadPoint {
    /// Its place.
    pub(crate) place: usize,
    /// The share (0 to 1) of the calls that it sent in time; `None` where none fell due.
    pub(crate) kept: Option<f64>,
    /// Whether it did not keep up, so that its times are those of a queue that grows.
    pub(crate) is_overloaded: bool,
    /// The mean response time in nanoseconds.
    pub(crate) mean: Option<f64>,
    /// The 99th percentile in nanoseconds; `None` with too few calls beyond it.
    pub(crate) p99: Option<f64>,
    /// The mean divided by that of the best strategy; `None` for that one, and where one of both is overloaded.
    pub(crate) ratio: Option<Ratio>,
    /// What is wrong with its numbers; `None` if nothing is.
    pub(crate) wrong: Option<InvalidReason>,
    is_judged: bool,
}

impl<'p> LoadCurve<'p> {
    /// Computes the curve of a run; without loads where none was measured.
    pub(crate) fn new(parts: &'p PartEvaluations) -> LoadCurve<'p> {
        let best = best(parts);
        let loads = Part::CURVE.into_iter().filter_map(|part| CurveLoad::new(parts, part, best));
        let is_named = parts.record(Part::Rate).is_some_and(|record| record.settings.is_named_rate);
        LoadCurve { best, loads: loads.collect(), is_named }
    }

    /// The name of the strategy that others are compared with.
    pub(crate) fn best_name(&self) -> Option<&str> {
        self.loads.first()?.run.name(self.best?.place)
    }

    /// What shares of loads are shares of.
    pub(crate) fn capacity(&self) -> Option<String> {
        let capacity = three(self.best?.capacity?);
        Some(format!("Percentages of loads are of the capacity of {}, {capacity} calls/s.", self.best_name()?))
    }

    /// What can and what cannot be compared, in sentences; empty where all strategies keep up with all loads.
    pub(crate) fn sentences(&self) -> Vec<String> {
        self.loads.iter().filter_map(|load| self.sentence(load)).collect()
    }

    /// What to do about a rate that the user named and no strategy keeps up with; `None` where one does.
    pub(crate) fn unreachable(&self) -> Option<String> {
        self.overloaded().filter(|_| self.is_named)
    }

    /// Which strategies do not keep up with a rate that the user named; `None` where all do.
    pub(crate) fn misses(&self) -> Option<String> {
        let load = self.loads.iter().find(|load| load.part == Part::Rate).filter(|_| self.is_named)?;
        self.sentence(load)
    }

    /// What to do about the middle load, if no strategy keeps up with it.
    pub(crate) fn overloaded(&self) -> Option<String> {
        let load = self.loads.iter().find(|load| load.part == Part::Rate)?;
        let is_kept = load.judged().any(|point| !point.is_overloaded);
        if is_kept { None } else { self.sentence(load) }
    }

    fn sentence(&self, load: &CurveLoad<'_>) -> Option<String> {
        let overloaded: Vec<&LoadPoint> = load.judged().filter(|point| point.is_overloaded).collect();
        let kept: Vec<&LoadPoint> = load.judged().filter(|point| !point.is_overloaded).collect();
        let best = overloaded.iter().copied().max_by(|a, b| a.kept().total_cmp(&b.kept()))?;
        let name = |place: usize| load.run.name(place).unwrap_or("?").to_owned();
        let keeps_up = |point: &LoadPoint| format!("{} ({})", name(point.place), percent(point.kept()));
        let at = load.rate_text();
        Some(match kept.as_slice() {
            [] => {
                let most = percent(best.kept());
                format!(
                    "No strategy keeps up with {at}: the best, {}, keeps up with {most}. {}",
                    name(best.place),
                    self.advice()
                )
            }
            [only] if overloaded.len() + kept.len() > 1 => format!(
                "At {at} nothing is compared: only {} keeps up. Overloaded: {}.",
                name(only.place),
                listed(overloaded.into_iter().map(keeps_up))
            ),
            kept => format!(
                "At {at}, {} keep up and are compared. Overloaded: {}.",
                listed(kept.iter().map(|point| name(point.place))),
                listed(overloaded.into_iter().map(keeps_up))
            ),
        })
    }

    /// What to do where no strategy keeps up.
    fn advice(&self) -> String {
        let lower = if self.is_named { "Measure again with a lower --rate" } else { "Measure again with --rate" };
        match self.best.and_then(|best| best.capacity) {
            Some(most) => {
                let name = self.best_name().unwrap_or("?");
                format!("{lower}: the highest capacity is that of {name}, {} calls/s.", three(most))
            }
            None => format!("{lower}, or find the highest with `docshape capacity`."),
        }
    }
}

/// The strategy with the highest capacity among those that are compared.
fn best(parts: &PartEvaluations) -> Option<BestStrategy> {
    let record = parts.main_record()?;
    let saturation = parts.get(Part::Saturation);
    let capacity = |place: usize| match saturation {
        Some(run) => run.strategies.get(place)?.calls_per_second,
        None => record.settings.pilot.get(&record.strategies.get(place)?.name).copied(),
    };
    let known = stats::judged(record).filter_map(|place| Some((place, capacity(place)?)));
    let most = known.max_by(|(_, one), (_, other)| one.total_cmp(other));
    let mix = parts.main().rows.iter().find(|row| row.is_mix)?;
    let keeps_up = |place: &usize| stats::overloaded(record, *place).is_none();
    let means = stats::judged(record).filter(keeps_up).filter_map(|place| Some((place, mix.cells.get(place)?.mean?)));
    let fastest = means.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(place, _)| (place, None));
    let (place, capacity) = most.map(|(place, most)| (place, Some(most))).or(fastest)?;
    Some(BestStrategy { place, capacity })
}

impl LoadPoint {
    /// What is wrong with its numbers, in a few words.
    pub(crate) fn wrong_text(&self) -> Option<&'static str> {
        Some(match self.wrong? {
            InvalidReason::Connections(_) => "connections were made",
            InvalidReason::Errors(_) => "too many calls failed",
            InvalidReason::Anomalies(_) => "audits found anomalies",
            InvalidReason::Saturated(_) => "calls took too long to be recorded",
            InvalidReason::Disturbed(_) => "the primary changed meanwhile",
            InvalidReason::PacerLag { .. } => "calls were released late",
        })
    }

    fn kept(&self) -> f64 {
        self.kept.unwrap_or(0.0)
    }
}

impl<'p> CurveLoad<'p> {
    fn new(parts: &'p PartEvaluations, part: Part, best: Option<BestStrategy>) -> Option<CurveLoad<'p>> {
        let (run, record) = (&**parts.get(part)?, parts.record(part)?);
        let LoadModel::Open { rate, .. } = record.settings.load else { return None };
        let mix = run.rows.iter().find(|row| row.is_mix);
        let tested = parts.of_mix(part, Metric::MEAN);
        let wrong = stats::wrong(record);
        let is_overloaded = |place: usize| stats::overloaded(record, place).is_some();
        let ratio = |place: usize| {
            let best = best.map(|best| best.place).filter(|best| *best != place)?;
            if is_overloaded(best) || is_overloaded(place) {
                return None;
            }
            // Where it is tested, the interval covers all comparisons at once.
            let tested = tested.and_then(|question| question.pair(place, best)).and_then(|pair| pair.ratio);
            tested.or_else(|| stats::described_ratio(record, place, best))
        };
        let point = |place: usize| {
            let measured = mix.and_then(|row| row.cells.get(place));
            LoadPoint {
                place,
                kept: run.strategies[place].open.as_ref().map(|open| open.share),
                is_overloaded: is_overloaded(place),
                mean: measured.and_then(|cell| cell.mean),
                p99: measured.and_then(|cell| cell.quantile(0.99)),
                ratio: ratio(place),
                wrong: wrong.iter().find(|(strategy, _)| *strategy == place).map(|(_, reason)| *reason),
                is_judged: stats::role(record, place) == Role::Judged,
            }
        };
        let points = (0..run.strategies.len()).map(point).collect();
        Some(CurveLoad { part, run, rate, share: best.and_then(|best| best.capacity).map(|most| rate / most), points })
    }

    /// The strategies that are compared.
    fn judged(&self) -> impl Iterator<Item = &LoadPoint> {
        self.points.iter().filter(|point| point.is_judged)
    }

    /// The calls per second.
    pub(crate) fn rate_text(&self) -> String {
        format!("{} calls/s", three(self.rate))
    }

    /// The calls per second, and what they are of the highest capacity.
    pub(crate) fn text(&self) -> String {
        self.rate_text() + &self.share.map_or_else(String::new, |share| format!(" ({})", percent(share)))
    }
}
