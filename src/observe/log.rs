//! The reader of the JSON log of mongod 4.4 and later.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use bson::Bson;
use flate2::read::MultiGzDecoder;

use crate::error::{ErrorKind, KindedError};

use super::json;
use super::observations::{Observations, RecordedCommand};
use super::statement::number;

/// The message of the lines of statements, at whatever threshold.
const MESSAGE: &str = "\"Slow query\"";

/// The two bytes that gzip files begin with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A longer line is no log line. The server cuts commands at 10 KB unless it was told otherwise.
const LONGEST_LINE: u64 = 64 << 20;

/// Why a log could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file cannot be read.
    #[error("the log {} cannot be read: {source}; check the path, and whether you may read it", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// None of the lines is JSON.
    #[error(
        "{} is not a JSON log of mongod: none of its first lines is JSON; servers before 4.4 wrote another format, and \
         cannot be read", path.display()
    )]
    NotJson {
        /// The file.
        path: PathBuf,
    },
}

impl KindedError for LogError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }
}

/// Reads the statements on one database from logs, also compressed ones, in the order given.
///
/// # Errors
/// When a file cannot be read, or is no JSON log. Single lines that cannot be read are counted.
pub fn read<P: AsRef<Path>>(paths: &[P], database: &str) -> Result<Observations, LogError> {
    let mut observations = Observations::new(database);
    for path in paths.iter().map(AsRef::as_ref) {
        let failed = |source| LogError::File { path: path.to_owned(), source };
        let file = BufReader::new(File::open(path).map_err(failed)?);
        read_file(path, file, &mut observations)?;
    }
    observations.finish();
    Ok(observations)
}

fn read_file(path: &Path, mut file: impl BufRead, observations: &mut Observations) -> Result<(), LogError> {
    let failed = |source| LogError::File { path: path.to_owned(), source };
    let is_compressed = file.fill_buf().map_err(failed)?.starts_with(&GZIP);
    let mut lines: Box<dyn BufRead> =
        if is_compressed { Box::new(BufReader::new(MultiGzDecoder::new(file))) } else { Box::new(file) };
    let (mut line, mut seen, mut has_json) = (Vec::new(), 0, false);
    loop {
        line.clear();
        if lines.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(failed)? == 0 {
            break;
        }
        seen += 1;
        has_json |= line.starts_with(b"{");
        if seen == 100 && !has_json {
            break;
        }
        read_line(&String::from_utf8_lossy(&line), observations);
    }
    if seen > 0 && !has_json { Err(LogError::NotJson { path: path.to_owned() }) } else { Ok(()) }
}

/// Reads one line if it is that of a statement.
pub(super) fn read_line(line: &str, observations: &mut Observations) {
    if !line.contains(MESSAGE) {
        return;
    }
    let Some(line) = json::document(line) else {
        observations.left_out.unreadable += 1;
        return;
    };
    let Ok(attributes) = line.get_document("attr") else { return };
    let Ok(command) = attributes.get_document("command") else { return };
    // Replies and plans may be cut, too, which does no harm.
    if line.get_document("truncated").is_ok_and(|cut| cut.contains_key("command")) {
        observations.left_out.cut += 1;
        return;
    }
    observations.took(number(attributes.get("durationMillis")));
    observations.add(&RecordedCommand {
        namespace: attributes.get_str("ns").unwrap_or_default(),
        command,
        app_name: attributes.get_str("appName").unwrap_or_default(),
        at: line.get("t").map(millis).unwrap_or_default(),
        connection: line.get_str("ctx").ok(),
        is_remove: matches!(attributes.get_str("type"), Ok("remove" | "delete")),
        failed: attributes.contains_key("errCode") || attributes.contains_key("errName"),
    });
}

fn millis(time: &Bson) -> i64 {
    let parsed = time.as_str().and_then(|text| bson::DateTime::parse_rfc3339_str(text).ok());
    parsed.map(bson::DateTime::timestamp_millis).unwrap_or_default()
}
