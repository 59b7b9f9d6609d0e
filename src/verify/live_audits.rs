//! Audits that run while calls run.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::engine::{RunError, audit_rows, example_row, row_count, unaudited};
use crate::plan::Audit;
use crate::results::verification::LiveRecord;
use crate::server::{Db, Target};

use super::Verifier;
use super::call::ArmDatabase;

/// The longest pause between two rounds of audits.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

impl<T: Target> Verifier<'_, T> {
    /// Repeats the live audits of a strategy until the calls are over: in a snapshot, so that the reading itself makes no
    /// anomaly, and as plain reads, as an application would. It pauses for as long as they took, so that the server is busy
    /// with the calls.
    pub(super) async fn run_live_audits(
        &self,
        place: &ArmDatabase,
        is_over: &Cell<bool>,
    ) -> Result<Vec<LiveRecord>, RunError> {
        let recorded = |audit| {
            let Audit { name, snapshot, is_tolerated, .. }: &Audit = audit;
            let record = LiveRecord { audit: name.to_string(), tolerated: *is_tolerated, ..LiveRecord::default() };
            Some((audit, snapshot.as_ref()?, record))
        };
        let arm = &self.plan.arms[place.arm];
        let mut live: Vec<_> = arm.audits.iter().filter_map(recorded).collect();
        let db = Db { target: self.target, name: &place.database };
        while !is_over.get() && !live.is_empty() {
            let started = Instant::now();
            for (audit, snapshot, record) in &mut live {
                for (program, is_snapshot) in [(*snapshot, true), (&audit.program, false)] {
                    let rows = match audit_rows(&db, self.plan, program).await {
                        Ok(rows) => rows,
                        Err(error) if self.fault.is_none() && error.is_connection_error() => {
                            return Err(unaudited(self.plan, place.arm, audit, &error).into());
                        }
                        // Writers may keep a snapshot from being read, an unsafe strategy its data, and a fault the server.
                        Err(error) => {
                            let is_refused = is_snapshot && error.is_refusal() && !arm.is_unsafe;
                            record.unread = record.unread.take().or_else(|| is_refused.then(|| error.to_string()));
                            continue;
                        }
                    };
                    let counts = if is_snapshot { &mut record.snapshot } else { &mut record.plain };
                    counts.add(row_count(&rows));
                    if is_snapshot && record.example.is_none() {
                        record.example = example_row(&rows);
                    }
                }
            }
            tokio::time::sleep(started.elapsed().min(LONGEST_PAUSE)).await;
        }
        Ok(live.into_iter().map(|(.., record)| record).collect())
    }
}
