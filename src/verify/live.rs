//! Readers that look on while calls run.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::engine::{RunError, audit_rows, number_of_rows};
use crate::plan::{Audit, Program};
use crate::results::verification::{LiveRecord, Sightings};
use crate::server::Target;

use super::Verifier;
use super::call::is_lost;

/// The longest pause of a reader between two looks.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

impl<T: Target> Verifier<'_, T> {
    /// Makes the live audits of a strategy over and over until the calls are over: in a snapshot, so that the reader does
    /// not make the anomaly itself, and as plain reads, as an application would. It pauses for as long as it looked, since
    /// the calls are what should keep the server busy.
    pub(super) async fn look_on(
        &self,
        arm: usize,
        database: &str,
        is_over: &Cell<bool>,
    ) -> Result<Vec<LiveRecord>, RunError> {
        let audits: Vec<(&Audit, &Program)> =
            self.plan.arms[arm].audits.iter().filter_map(|audit| Some((audit, audit.snapshot.as_ref()?))).collect();
        let mut live: Vec<LiveRecord> = audits
            .iter()
            .map(|(audit, _)| LiveRecord {
                audit: audit.name.to_string(),
                snapshot: Sightings::default(),
                plain: Sightings::default(),
            })
            .collect();
        while !is_over.get() && !audits.is_empty() {
            let begun = Instant::now();
            for ((audit, snapshot), record) in audits.iter().zip(&mut live) {
                for (program, sightings) in [(*snapshot, &mut record.snapshot), (&audit.program, &mut record.plain)] {
                    let rows = match audit_rows(self.plan, (arm, *audit), program, (self.target, database)).await {
                        // Beside writers a snapshot may not be had; a control's data may not be readable.
                        Err(error) if !is_lost(&error) => continue,
                        rows => rows?,
                    };
                    let found = number_of_rows(&rows);
                    sightings.reads += 1;
                    sightings.found += u64::from(found > 0);
                    sightings.most = sightings.most.max(found);
                }
            }
            tokio::time::sleep(begun.elapsed().min(LONGEST_PAUSE)).await;
        }
        Ok(live)
    }
}
