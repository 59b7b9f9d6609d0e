//! The points of a sweep.

use std::path::Path;

use crate::cli::data_size::loaded_bytes;
use crate::cli::exit::CliError;
use crate::cli::onward::POINTS_FOLDER;
use crate::cli::run::{PointSetup, check_threads};
use crate::cli::scenario::prepare_source;
use crate::compile::Choice;
use crate::results::RunSettings;
use crate::scenario::quantity::cache_ratio;
use crate::scenario::{Condition, ConditionSubject, Source};
use crate::studies::sweep::record::PointRecord;

use super::condition::apply;

/// What all points of a sweep have in common.
pub struct PointBase {
    /// The scenario.
    pub source: Source,
    /// What is chosen of it.
    pub choice: Choice,
    /// How it is measured.
    pub settings: RunSettings,
}

impl PointBase {
    /// Prepares the point of some values, in a folder of the sweep's. `number` is its place among all points.
    ///
    /// # Errors
    /// When a condition cannot have its value.
    pub fn point(&self, vary: &[Condition], values: &[String], number: usize) -> Result<PointSetup, CliError> {
        let (mut choice, mut settings) = (self.choice.clone(), self.settings.clone());
        for (condition, value) in vary.iter().zip(values) {
            let subject = &condition.subject;
            let refuse = |error: String| CliError::usage(format!("--vary {subject}={value}: {error}"));
            apply(subject, value, &mut choice, &mut settings).map_err(refuse)?;
        }
        check_threads(&settings)?;
        let ready = prepare_source(self.source.clone(), &choice)?;
        let folder = format!("{POINTS_FOLDER}/{number:03}-{}", name(vary, values)).into();
        Ok(with_cache(PointSetup::new(ready, choice, settings, folder), vary, values))
    }
}

/// A point with the cache that its values ask for.
pub fn with_cache(point: PointSetup, vary: &[Condition], values: &[String]) -> PointSetup {
    let of_cache = vary.iter().zip(values).find(|(condition, _)| condition.subject == ConditionSubject::Cache);
    let ratio = of_cache.and_then(|(_, value)| cache_ratio(value).ok());
    let cache = ratio.map(|ratio| loaded_bytes(&point.ready.plan) / ratio);
    PointSetup { cache, ..point }
}

/// What `sweep.json` says of a new point, whose folder is relative to it.
pub fn point_record(values: &[String], folder: &Path) -> PointRecord {
    PointRecord { values: values.to_vec(), folder: folder.display().to_string(), rounds: 0, error: None }
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
