//! Writing and reading `run.json`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{FORMAT_VERSION, RUN_FILE, RunRecord};

/// Results that cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The disk refused to take them.
    #[error("cannot write {}: {source}; free space or choose another --out", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file cannot be opened.
    #[error("cannot read {}: {source}; name a run folder, or its run.json", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is cut off.
    #[error("{} is cut off at line {line}; restore it from a copy, or run again", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// The last line.
        line: usize,
    },
    /// The file holds something else.
    #[error("{} is not a run of docshape: {reason}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A newer docshape wrote it.
    #[error("{} was written by docshape {version} in format {format}, this build reads up to {FORMAT_VERSION}; use that version or a later one", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: u32,
        /// Who wrote it.
        version: String,
    },
}

/// Writes the record into a folder, whole or not at all: what was there stays until the new file is on disk.
///
/// # Errors
/// When the disk refuses.
pub fn save(record: &RunRecord, folder: &Path) -> Result<(), ResultsError> {
    let path = folder.join(RUN_FILE);
    let write = || -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        let mut buffer = io::BufWriter::new(file.as_file_mut());
        serde_json::to_writer(&mut buffer, record)?;
        buffer.write_all(b"\n")?;
        buffer.flush()?;
        drop(buffer);
        readable_by_all(file.as_file())?;
        file.as_file().sync_all()?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|source| ResultsError::Write { path: path.clone(), source })
}

/// A temporary file is private; results are not.
#[cfg(unix)]
fn readable_by_all(file: &fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_all(_: &fs::File) -> io::Result<()> {
    Ok(())
}

/// Reads a run from its folder, or from the file itself.
///
/// # Errors
/// When it is missing, cut off, foreign, or from a newer version.
pub fn load(path: &Path) -> Result<RunRecord, ResultsError> {
    let path = if path.is_dir() { path.join(RUN_FILE) } else { path.to_owned() };
    let text = fs::read_to_string(&path).map_err(|source| ResultsError::Read { path: path.clone(), source })?;
    let json: serde_json::Value = serde_json::from_str(&text).map_err(|error| match error.is_eof() {
        true => ResultsError::Truncated { path: path.clone(), line: error.line() },
        false => ResultsError::Foreign { path: path.clone(), reason: error.to_string() },
    })?;
    let format = json.get("format").and_then(serde_json::Value::as_u64).and_then(|format| u32::try_from(format).ok());
    match (format, json.get("version").and_then(|version| version.as_str())) {
        (Some(format), Some(version)) if format > FORMAT_VERSION => {
            Err(ResultsError::Newer { path, format, version: version.to_owned() })
        }
        (Some(_), Some(_)) => serde_json::from_value(json)
            .map_err(|error| ResultsError::Foreign { path: path.clone(), reason: error.to_string() }),
        _ => Err(ResultsError::Foreign { path, reason: "it has no `format` and `version`".into() }),
    }
}
