//! `latency.hlog`: an HdrHistogram interval log that the public tools read.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use crate::record::LatencyHistogram;

/// Appends intervals to a log as they are measured.
#[derive(Debug)]
pub struct IntervalLog {
    file: BufWriter<File>,
}

impl IntervalLog {
    /// Begins a log; `started` is the run's beginning in seconds since the Unix epoch.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn create(path: &Path, started: f64) -> io::Result<IntervalLog> {
        let mut header = Vec::new();
        let mut serializer = V2DeflateSerializer::new();
        IntervalLogWriterBuilder::new()
            .add_comment("docshape: service times in nanoseconds of successful calls")
            .add_comment("tag: strategy/operation/round")
            .with_base_time(SystemTime::UNIX_EPOCH + Duration::from_secs_f64(started))
            .with_max_value_divisor(1_000_000.0)
            .begin_log_with(&mut header, &mut serializer)?;
        let mut file = BufWriter::new(File::create(path)?);
        file.write_all(&header)?;
        Ok(IntervalLog { file })
    }

    /// Adds an interval; `start` and `length` in seconds, `start` counted from the run's beginning.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn append(&mut self, tag: &str, start: f64, length: f64, histogram: &LatencyHistogram) -> io::Result<()> {
        // The writer of the library owns its file for as long as it lives, so each line is made apart.
        let mut line = Vec::new();
        let mut serializer = V2DeflateSerializer::new();
        let tag: String = tag.chars().map(|c| if c == ',' || c.is_whitespace() { '_' } else { c }).collect();
        let mut builder = IntervalLogWriterBuilder::new();
        let mut writer = builder.with_max_value_divisor(1_000_000.0).begin_log_with(&mut line, &mut serializer)?;
        let written = writer.write_histogram(
            histogram.as_hdr(),
            Duration::from_secs_f64(start.max(0.0)),
            Duration::from_secs_f64(length.max(0.0)),
            Tag::new(&tag),
        );
        written.map_err(|error| io::Error::other(format!("{error:?}")))?;
        // Only the line itself is kept of what the writer begins a log with.
        let body = line.split_inclusive(|byte| *byte == b'\n').rfind(|part| part.starts_with(b"Tag="));
        self.file.write_all(body.unwrap_or_default())
    }

    /// Puts everything on disk.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
