//! `latency.hlog`, written while a run goes on.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::engine::{Event, Observer};
use crate::results::{HLOG_FILE, IntervalLog, LoadModel};

use super::course::unwritten;
use super::exit::CliError;

/// Writes the interval log as the engine tells of intervals; a refusal of the disk is kept until asked for.
pub struct LogWriter {
    path: PathBuf,
    log: RefCell<IntervalLog>,
    refused: RefCell<Option<io::Error>>,
    /// Seconds from the run's beginning to that of this process's part of it.
    offset: f64,
}

impl LogWriter {
    /// Begins the log of a run; `started` is since the Unix epoch.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn create(folder: &Path, started: Duration, load: LoadModel) -> Result<LogWriter, CliError> {
        let path = folder.join(HLOG_FILE);
        let log = IntervalLog::create(&path, started.as_secs_f64(), load);
        LogWriter::new(path, log, 0.0)
    }

    /// Goes on with the log of a run that began at `started` and has so many finished rounds; `now` is since the Unix
    /// epoch, too.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn resume(
        folder: &Path,
        (started, now): (Duration, Duration),
        load: LoadModel,
        rounds: usize,
    ) -> Result<LogWriter, CliError> {
        let path = folder.join(HLOG_FILE);
        let log = IntervalLog::resume(&path, started.as_secs_f64(), load, rounds);
        LogWriter::new(path, log, now.saturating_sub(started).as_secs_f64())
    }

    fn new(path: PathBuf, log: io::Result<IntervalLog>, offset: f64) -> Result<LogWriter, CliError> {
        let log = log.map_err(|error| unwritten(&path, &error))?;
        Ok(LogWriter { path, log: RefCell::new(log), refused: RefCell::new(None), offset })
    }

    fn keep(&self, result: io::Result<()>) {
        if let Err(error) = result {
            self.refused.borrow_mut().get_or_insert(error);
        }
    }

    /// Tells of the first refusal since the last check.
    ///
    /// # Errors
    /// When the disk refused.
    pub fn check(&self) -> Result<(), CliError> {
        match self.refused.borrow_mut().take() {
            None => Ok(()),
            Some(error) => Err(unwritten(&self.path, &error)),
        }
    }
}

impl Observer for LogWriter {
    fn event(&self, event: &Event<'_>) {
        if let Event::Interval(interval) = event {
            let tag = format!("{}/{}/{}", interval.arm, interval.operation, interval.round + 1);
            let mut log = self.log.borrow_mut();
            self.keep(log.append(&tag, self.offset + interval.start, interval.length, &interval.histogram));
        }
    }
}
