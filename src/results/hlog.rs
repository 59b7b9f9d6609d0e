//! `latency.hlog`: an HdrHistogram interval log that the public tools read.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use crate::record::LatencyHistogram;

use super::file::replace;

/// Appends intervals to a log as they are measured. Every line is written by one call, so that a crash leaves no half
/// line.
#[derive(Debug)]
pub struct IntervalLog {
    file: File,
}

impl IntervalLog {
    /// Starts a log; `started` is the start of the run in seconds since the Unix epoch. The first lines say which times
    /// it has: those by which strategies are judged.
    ///
    /// # Errors
    /// When the file cannot be created, or exists already.
    pub fn create(path: &Path, started: f64) -> io::Result<IntervalLog> {
        let started = SystemTime::UNIX_EPOCH + Duration::from_secs_f64(started);
        let mut header = Vec::new();
        let mut serializer = V2DeflateSerializer::new();
        IntervalLogWriterBuilder::new()
            .add_comment("docshape: times in nanoseconds of successful calls")
            .add_comment("part rate: response times (from the intended start on); other parts: service times")
            .add_comment("tag: strategy/operation/part/round")
            // Java's reader takes the first interval for the start when none is named.
            .with_start_time(started)
            .with_base_time(started)
            .with_max_value_divisor(1_000_000.0)
            .begin_log_with(&mut header, &mut serializer)?;
        let mut file = File::create_new(path)?;
        file.write_all(&header)?;
        Ok(IntervalLog { file })
    }

    /// Continues the log of a run with `rounds` rounds in its record. Lines of later rounds, which will run again, are removed,
    /// and so is an incomplete last line. Without a log a new one is started.
    ///
    /// # Errors
    /// When the file cannot be read or replaced.
    pub fn resume(path: &Path, started: f64, rounds: usize) -> io::Result<IntervalLog> {
        let old = match File::open(path) {
            Ok(old) => old,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return IntervalLog::create(path, started),
            Err(error) => return Err(error),
        };
        replace(path, |kept| {
            let (mut old, mut line) = (BufReader::new(old), Vec::new());
            while old.read_until(b'\n', &mut line)? > 0 {
                if line.ends_with(b"\n") && round_of(&line).is_none_or(|round| round <= rounds) {
                    kept.write_all(&line)?;
                }
                line.clear();
            }
            Ok(())
        })?;
        Ok(IntervalLog { file: OpenOptions::new().append(true).open(path)? })
    }

    /// Adds an interval; `start` and `length` in seconds, `start` counted from the start of the run.
    ///
    /// # Errors
    /// When the line cannot be written.
    pub fn append(&mut self, tag: &str, start: f64, length: f64, histogram: &LatencyHistogram) -> io::Result<()> {
        // The library's writer owns its file as long as it exists, so each line has a writer of its own.
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
        // The writer starts with a header of which only the line itself is kept.
        let body = line.split_inclusive(|byte| *byte == b'\n').rfind(|part| part.starts_with(b"Tag="));
        self.file.write_all(body.unwrap_or_default())
    }
}

/// The round, from 1, in the tag of an interval's line; `None` for other lines.
fn round_of(line: &[u8]) -> Option<usize> {
    let line = std::str::from_utf8(line).ok()?;
    let (tag, _) = line.strip_prefix("Tag=")?.split_once(',')?;
    tag.rsplit_once('/')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use base64::Engine;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    use super::*;

    fn histogram(times: &[u64]) -> LatencyHistogram {
        let mut made = LatencyHistogram::new(Duration::from_secs(10));
        times.iter().for_each(|time| made.record(*time));
        made
    }

    #[test]
    fn the_public_reader_reads_an_open_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("latency.hlog");
        let mut log = IntervalLog::create(&path, 1_795_225_320.25).unwrap();
        let written = [
            ("embedded/read/1", 0.0, 1.0, histogram(&[100_000, 2_500_000])),
            ("linked/add comment,x/2", 1.25, 0.05, histogram(&[7])),
            ("linked/none\n/2", 12.0, 0.0, histogram(&[])),
        ];
        for (tag, start, length, histogram) in &written {
            log.append(tag, *start, *length, histogram).unwrap();
        }
        let bytes = fs::read(&path).unwrap();
        let entries: Vec<LogEntry> = IntervalLogIterator::new(&bytes).map(Result::unwrap).collect();
        let started = Duration::from_millis(1_795_225_320_250);
        assert_eq!(entries[..2], [LogEntry::StartTime(started), LogEntry::BaseTime(started)]);
        assert_eq!(entries.len(), 2 + written.len());
        let tags = ["embedded/read/1", "linked/add_comment_x/2", "linked/none_/2"];
        for (((_, start, length, histogram), tag), entry) in written.iter().zip(tags).zip(&entries[2..]) {
            let LogEntry::Interval(entry) = entry else { panic!("{entry:?}") };
            assert_eq!(entry.tag().unwrap().as_str(), tag);
            let seconds = (entry.start_timestamp().as_secs_f64(), entry.duration().as_secs_f64());
            assert_eq!(seconds, (*start, *length));
            assert!((entry.max() * 1e6 - histogram.as_hdr().max() as f64).abs() <= 500.0, "milliseconds, three digits");
            let encoded = base64::engine::general_purpose::STANDARD.decode(entry.encoded_histogram()).unwrap();
            let read: Histogram<u64> = Deserializer::new().deserialize(&mut encoded.as_slice()).unwrap();
            assert_eq!(&read, histogram.as_hdr());
        }
    }

    #[test]
    fn a_resumed_log_keeps_whole_lines_of_finished_rounds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("latency.hlog");
        let mut log = IntervalLog::resume(&path, 1_795_225_320.25, 0).unwrap();
        for tag in ["a/read/1", "b/read/1", "a/read/2", "a/read/12"] {
            log.append(tag, 0.0, 1.0, &histogram(&[1_000])).unwrap();
        }
        let whole = fs::read_to_string(&path).unwrap();
        let finished = &whole[..whole.find("Tag=a/read/2").unwrap()];
        let last = whole.rfind("Tag=").unwrap();
        // Cut off in the middle of its last line.
        fs::write(&path, &whole[..last + 20]).unwrap();
        let mut log = IntervalLog::resume(&path, 0.0, 1).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), finished);
        log.append("a/read/2", 5.0, 1.0, &histogram(&[1_000])).unwrap();
        let text = fs::read(&path).unwrap();
        let tags: Vec<String> = IntervalLogIterator::new(&text)
            .filter_map(|entry| match entry.unwrap() {
                LogEntry::Interval(interval) => Some(interval.tag().unwrap().as_str().to_owned()),
                _ => None,
            })
            .collect();
        assert_eq!(tags, ["a/read/1", "b/read/1", "a/read/2"]);
    }

    #[test]
    fn an_existing_log_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("latency.hlog");
        fs::write(&path, "old").unwrap();
        assert!(IntervalLog::create(&path, 0.0).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }
}
