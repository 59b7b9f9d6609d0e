//! Documents while they grow: every stage is a step.

use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use crate::campaign::{EarlyEnd, Study};
use crate::engine::Lives;
use crate::report::bytes;
use crate::results::{self, ResultsError, RunRecord, StageRecord};
use crate::server::Target;
use crate::studies::growth::curve::{calls_after, largest_document};
use crate::studies::growth::record::GrowthRecord;

/// The growth of the documents of all strategies. Stages that the record has are repeated, and not recorded again.
pub struct Growing<'g, 'l, 'e, T, G> {
    /// The documents.
    pub lives: Lives<'l, 'e, T, G>,
    /// What is finished.
    pub record: &'g mut GrowthRecord,
    /// The folder of the record.
    pub folder: &'g Path,
    /// After this time it ends.
    pub time_limit: Duration,
    /// When the first stage began that the record did not have.
    pub since: Option<Instant>,
    /// Whether the audits at the end are made.
    pub is_audited: bool,
}

/// A step of growth.
pub enum GrowthStep {
    /// The next stage.
    Stage,
    /// The audits at the end.
    Audits,
}

impl<T, G> Growing<'_, '_, '_, T, G> {
    /// A stage in a line: the calls, those measured at the stage included, and the largest document of every strategy.
    fn describe(&self, stage: &StageRecord) -> String {
        let largest = self.record.run.strategies.iter().zip(&stage.cells).map(|(strategy, cell)| match cell {
            Some(cell) => format!("{} {}", strategy.name, bytes(largest_document(cell) as f64)),
            None => format!("{} has ended", strategy.name),
        });
        let calls = calls_after(self.record, stage);
        format!("after {calls} calls, the largest document: {}", largest.collect::<Vec<_>>().join(", "))
    }
}

impl<T: Target, G: Target + 'static> Study for Growing<'_, '_, '_, T, G> {
    type Step = GrowthStep;

    fn next(&self) -> Option<GrowthStep> {
        let is_late = self.since.is_some_and(|since| since.elapsed() >= self.time_limit);
        if !self.lives.is_reached && !is_late {
            return Some(GrowthStep::Stage);
        }
        (!self.is_audited).then_some(GrowthStep::Audits)
    }

    async fn take(&mut self, step: GrowthStep) -> Result<Option<String>, EarlyEnd> {
        match step {
            GrowthStep::Stage => {
                let is_repeated = self.lives.stage < self.record.stages.len() as u64;
                if !is_repeated {
                    self.since.get_or_insert_with(Instant::now);
                }
                let stage = self.lives.grow().await?;
                if is_repeated {
                    return Ok(Some(format!("grown again to where they were after {} calls", stage.calls)));
                }
                let line = self.describe(&stage);
                self.record.stages.push(stage);
                self.record.ends.clone_from(&self.lives.ends);
                Ok(Some(line))
            }
            GrowthStep::Audits => {
                self.lives.audit().await?;
                self.record.ends.clone_from(&self.lives.ends);
                self.record.is_reached = self.lives.is_reached;
                self.is_audited = true;
                Ok(None)
            }
        }
    }

    fn save(&mut self) -> Result<(), ResultsError> {
        results::save_document(self.record, self.folder)
    }

    /// When a strategy refuses is not known before.
    fn left(&self) -> Option<f64> {
        None
    }

    fn run(&self) -> Option<&RunRecord> {
        Some(&self.record.run)
    }
}
