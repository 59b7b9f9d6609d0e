//! Writes `latency.hlog` during a run.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::engine::{Event, Observer};
use crate::results::{HLOG_FILE, IntervalLog, ResultsError, RunRecord};

/// Writes the intervals that the engine reports. The first write error is kept for [`LogWriter::check`].
pub struct LogWriter {
    path: PathBuf,
    log: RefCell<IntervalLog>,
    first_error: RefCell<Option<io::Error>>,
    /// Seconds from the start of the run to that of this process.
    offset: f64,
}

impl LogWriter {
    /// Continues the log of a run after its complete rounds, or creates it. `resumed` is when this process goes on with it, since
    /// the Unix epoch.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn open(folder: &Path, record: &RunRecord, resumed: Option<Duration>) -> Result<LogWriter, ResultsError> {
        let path = folder.join(HLOG_FILE);
        let started = started(record);
        let log = IntervalLog::resume(&path, started.as_secs_f64(), record.complete_rounds());
        let log = RefCell::new(log.map_err(|source| ResultsError::Write(path.clone(), source))?);
        let offset = resumed.unwrap_or(started).saturating_sub(started).as_secs_f64();
        Ok(LogWriter { path, log, first_error: RefCell::default(), offset })
    }

    /// Returns the first write error since the last check.
    ///
    /// # Errors
    /// When an interval could not be written.
    pub fn check(&self) -> Result<(), ResultsError> {
        let error = |source| Err(ResultsError::Write(self.path.clone(), source));
        self.first_error.borrow_mut().take().map_or(Ok(()), error)
    }
}

impl Observer for LogWriter {
    fn event(&self, event: &Event<'_>) {
        if let Event::Interval { round, part, arm, operation, start, interval } = event {
            let tag = format!("{arm}/{operation}/{part}/{}", round + 1);
            let (start, length) = (self.offset + start.as_secs_f64(), interval.length.as_secs_f64());
            if let Err(error) = self.log.borrow_mut().append(&tag, start, length, &interval.histogram) {
                self.first_error.borrow_mut().get_or_insert(error);
            }
        }
    }
}

/// Returns when a run started, since the Unix epoch; the epoch itself when its record has no valid time.
fn started(record: &RunRecord) -> Duration {
    let parsed = bson::DateTime::parse_rfc3339_str(&record.started);
    let millis = parsed.map(bson::DateTime::timestamp_millis).unwrap_or(0);
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}
