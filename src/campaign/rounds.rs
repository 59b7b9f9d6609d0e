//! The rounds of one or more runs, interleaved.

use crate::engine::shuffled;
use crate::generate::Label;
use crate::results::{ResultsError, RunRecord, RunSettings};
use crate::server::Target;

use super::Study;
use super::early_end::EarlyEnd;
use super::point::Point;

/// Labels the order of the points in a round.
const ORDER: Label = Label::new("order of points");

/// How the points of a study belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interleaving {
    /// Every point has a rate and calls of its own. Each round has them in another order, drawn from the seed. One that fails
    /// does not end the others.
    Apart,
    /// All points make the same calls at the same rate, and take turns to be the first of a round. One that fails ends all: with
    /// its numbers alone nothing can be compared.
    InStep,
}

/// Called when runs are saved, to save what is known of all of them together.
type SaveTogether<'s, T, G> = &'s dyn Fn(&[Point<'s, T, G>]) -> Result<(), ResultsError>;

/// Runs whose rounds are interleaved: what the machine does meanwhile meets all of them. The pilots come first.
pub struct Rounds<'s, T, G> {
    /// The runs.
    pub points: Vec<Point<'s, T, G>>,
    /// The run that was measured when the study ended early.
    pub at: usize,
    /// How they belong together.
    pub interleaving: Interleaving,
    /// Saves what is known of all of them.
    pub save_together: SaveTogether<'s, T, G>,
}

/// A step of a run.
#[derive(Debug, Clone, Copy)]
pub enum RoundStep {
    /// The pilot.
    Pilot,
    /// A round, from 0.
    Round(u64),
}

impl<'s, T: Target, G: Target + 'static> Rounds<'s, T, G> {
    fn order(&self, round: u64) -> Vec<usize> {
        let points = self.points.len();
        match self.interleaving {
            Interleaving::Apart => self
                .points
                .first()
                .map_or_else(Vec::new, |point| shuffled(points, point.experiment.plan.round_seed(round), ORDER, round)),
            Interleaving::InStep => (0..points).map(|place| (place + round as usize) % points).collect(),
        }
    }

    fn rounds(&self) -> u64 {
        self.points.iter().map(|point| point.record.settings.rounds).max().unwrap_or(0)
    }

    /// Gives all points the rate, calls and slices of the slowest, once all pilots have run.
    async fn agree(&mut self) -> Result<(), EarlyEnd> {
        if self.points.len() < 2 || self.points.iter().any(|point| point.plan.is_none()) {
            return Ok(());
        }
        let settings = |point: &Point<'s, T, G>| point.record.settings.clone();
        let Some(common) = common(&self.points.iter().map(settings).collect::<Vec<_>>()) else { return Ok(()) };
        for point in &mut self.points {
            point.record.settings.clone_from(&common);
            point.plan_rounds().await?;
        }
        Ok(())
    }

    fn line(&self, place: usize, step: RoundStep) -> Option<String> {
        let (RoundStep::Round(round), Interleaving::Apart) = (step, self.interleaving) else { return None };
        let (rounds, name) = (self.rounds(), self.points[place].name());
        let left: u64 = self.points.iter().map(rounds_left).sum();
        let more = if left == 0 { String::new() } else { format!(", {left} more") };
        Some(format!("round {} of {rounds}: {name}{more}", round + 1))
    }
}

/// Settings with the rate and the calls of the slowest and the fewest slices, none in turns where one is isolated. With `--calls`
/// pilots find rates only, and with `--rate` only calls.
fn common(all: &[RunSettings]) -> Option<RunSettings> {
    let rate = |settings: &RunSettings| settings.planned_rate().unwrap_or(0.0);
    let slower =
        |one: &&RunSettings, other: &&RunSettings| rate(one).total_cmp(&rate(other)).then(one.calls.cmp(&other.calls));
    let settings = all.iter().min_by(slower)?.clone();
    let slices = all.iter().map(|settings| settings.slices).min().unwrap_or(settings.slices);
    let isolated = all.iter().find_map(|settings| settings.isolated.clone());
    Some(RunSettings { slices, isolated, ..settings })
}

/// The rounds that a point lacks; none once it has failed.
fn rounds_left<T, G>(point: &Point<'_, T, G>) -> u64 {
    if point.error.is_some() {
        return 0;
    }
    point.record.settings.rounds.saturating_sub(point.record.complete_rounds() as u64)
}

impl<T: Target, G: Target + 'static> Study for Rounds<'_, T, G> {
    type Step = (usize, RoundStep);

    fn next(&self) -> Option<(usize, RoundStep)> {
        let is_open = |place: &usize| rounds_left(&self.points[*place]) > 0;
        let is_unplanned = |place: &usize| is_open(place) && self.points[*place].plan.is_none();
        if let Some(place) = (0..self.points.len()).find(is_unplanned) {
            return Some((place, RoundStep::Pilot));
        }
        let lacks = |place: &usize, round: u64| self.points[*place].record.complete_rounds() as u64 <= round;
        (0..self.rounds()).find_map(|round| {
            let place = self.order(round).into_iter().find(|place| is_open(place) && lacks(place, round))?;
            Some((place, RoundStep::Round(round)))
        })
    }

    async fn take(&mut self, (place, step): (usize, RoundStep)) -> Result<Option<String>, EarlyEnd> {
        self.at = place;
        let point = &mut self.points[place];
        let taken = match step {
            RoundStep::Pilot => point.prepare().await,
            RoundStep::Round(round) => point.round(round).await.map(|()| None),
        };
        match taken {
            Err(error) if self.interleaving != Interleaving::InStep && error.is_of_one_point() => {
                let line = format!("{}: {error}; the other points go on", point.name());
                point.error = Some(error);
                Ok(Some(line))
            }
            Err(error) => Err(error),
            Ok(said) => {
                if self.interleaving == Interleaving::InStep && matches!(step, RoundStep::Pilot) {
                    self.agree().await?;
                }
                Ok(said.or_else(|| self.line(place, step)))
            }
        }
    }

    fn save(&mut self) -> Result<(), ResultsError> {
        self.points.iter_mut().try_for_each(Point::save)?;
        (self.save_together)(&self.points)
    }

    fn left(&self) -> Option<f64> {
        Some(self.points.iter().map(rounds_left).sum::<u64>() as f64)
    }

    fn run(&self) -> Option<&RunRecord> {
        Some(&self.points.get(self.at)?.record)
    }
}
