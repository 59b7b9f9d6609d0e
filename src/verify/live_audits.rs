//! Audits that run while calls run.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::engine::{RunError, audit_rows, example_row, row_count};
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
                    let rows = match audit_rows(&db, self.plan, place.arm, audit, program).await {
                        // Writers may keep a snapshot from being read, an unsafe strategy its data, and a fault the server.
                        Err(error) if self.fault.is_some() || !error.is_server_lost() => {
                            if is_snapshot && self.fault.is_none() {
                                record.unread = Some(error.to_string());
                            }
                            continue;
                        }
                        rows => rows?,
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
        // One that could be read once is not refused.
        let is_read = |record: &LiveRecord| arm.is_unsafe || record.snapshot.reads > 0;
        let known = |record: LiveRecord| if is_read(&record) { LiveRecord { unread: None, ..record } } else { record };
        Ok(live.into_iter().map(|(.., record)| known(record)).collect())
    }
}
