//! The points of a sweep.

use std::path::{Path, PathBuf};

use crate::cli::exit::CliError;
use crate::cli::run::{RunArguments, check_threads};
use crate::cli::scenario::{Ready, prepare};
use crate::compile::Choice;
use crate::results::{PointRecord, RunRecord, RunSettings};

use super::condition::{Condition, ConditionSubject, cache_ratio};

/// A point before it is measured.
pub struct Point {
    /// The values of the conditions.
    pub values: Vec<String>,
    /// Its folder in that of the sweep.
    pub folder: String,
    /// The scenario with its values.
    pub ready: Ready,
    /// What it chooses of the scenario.
    pub choice: Choice,
    /// The settings of its run.
    pub settings: RunSettings,
    /// Data divided by the cache, when that is varied.
    pub cache: Option<f64>,
    /// The record of its rounds so far, when the sweep is resumed.
    pub resumed: Option<RunRecord>,
}

impl Point {
    /// Prepares the point of some values. `number` is its place among all points.
    ///
    /// # Errors
    /// When a condition cannot have its value.
    pub fn prepare(
        run: &RunArguments,
        vary: &[Condition],
        values: Vec<String>,
        number: usize,
    ) -> Result<Point, CliError> {
        let mut run = run.clone();
        let mut cache = None;
        for (condition, value) in vary.iter().zip(&values) {
            let subject = &condition.subject;
            let refuse = |error: String| CliError::usage(format!("--vary {subject}={value}: {error}"));
            subject.apply(value, &mut run).map_err(refuse)?;
            if *subject == ConditionSubject::Cache {
                cache = cache_ratio(value).ok();
            }
        }
        let settings = run.settings();
        check_threads(&settings)?;
        let scenario = run.scenario.as_deref().unwrap_or_default();
        // Points are a series, which shows noise by itself: the baseline has no repeat.
        let choice = run.subject.choice(settings.seed, false);
        let ready = prepare(scenario, &choice)?;
        let folder = format!("points/{number:03}-{}", name(vary, &values));
        Ok(Point { values, folder, ready, choice, settings, cache, resumed: None })
    }

    /// What `sweep.json` says of it before its first round.
    pub fn record(&self) -> PointRecord {
        let rounds = self.resumed.as_ref().map_or(0, RunRecord::complete_rounds) as u64;
        PointRecord { values: self.values.clone(), folder: self.folder.clone(), rounds, error: None }
    }

    /// Its folder.
    pub fn path(&self, sweep: &Path) -> PathBuf {
        sweep.join(&self.folder)
    }
}

/// All combinations of the values of the conditions.
pub fn grid(vary: &[Condition]) -> Vec<Vec<String>> {
    vary.iter().fold(vec![Vec::new()], |points, condition| {
        let extended = |point: &Vec<String>| {
            let values = condition.values.iter().cloned();
            values.map(|value| point.iter().cloned().chain([value]).collect()).collect::<Vec<_>>()
        };
        points.iter().flat_map(extended).collect()
    })
}

/// A point as people read it, such as `posts=100,clients=8`; without characters that file systems reject.
fn name(vary: &[Condition], values: &[String]) -> String {
    let parts: Vec<String> =
        vary.iter().zip(values).map(|(condition, value)| format!("{}={value}", condition.subject)).collect();
    let kept = |symbol: char| if symbol.is_ascii_alphanumeric() || "=_.,-%".contains(symbol) { symbol } else { '_' };
    parts.join(",").chars().map(kept).take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::super::condition::condition;
    use super::*;

    #[test]
    fn two_conditions_make_a_grid() {
        let vary = ["posts=1,2", "share:read_post=5%,75%"].map(|text| condition(text).unwrap());
        let points = grid(&vary);
        assert_eq!(points.len(), 4);
        assert_eq!(points[1], ["1", "75%"]);
        assert_eq!(name(&vary, &points[1]), "posts=1,share_read_post=75%");
    }
}
