//! Writing and reading `run.json`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{ErrorKind, KindedError};

use super::check::check;
use super::compressed::{self, COMPRESSED_RUN_FILE};
use super::study::{RUN_FILE, StudyKind};
use super::{FORMAT_VERSION, RunRecord};

/// Results that cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The file cannot be written, and why.
    #[error("cannot write {path}: {1}; free some disk space, or choose another folder", path = .0.display())]
    Write(PathBuf, #[source] io::Error),
    /// The file cannot be opened, and why.
    #[error("cannot read {path}: {1}; name a run folder, or its run.json", path = .0.display())]
    Read(PathBuf, #[source] io::Error),
    /// The file is cut off, at this line.
    #[error("{path} is cut off at line {1}; restore it from a copy, or run again", path = .0.display())]
    Truncated(PathBuf, usize),
    /// The file contains another study than its name says.
    #[error("{} contains {found}, not {expected}: its name should be {}", path.display(), found.file())]
    OtherStudy {
        /// The file.
        path: PathBuf,
        /// What its name says.
        expected: StudyKind,
        /// What it contains.
        found: StudyKind,
    },
    /// The folder contains another study than the command is for.
    #[error("{} contains {found}, not {expected}", path.display())]
    OtherFolder {
        /// The folder.
        path: PathBuf,
        /// What the command is for.
        expected: StudyKind,
        /// What it contains.
        found: StudyKind,
    },
    /// The folder contains no study.
    #[error("{} contains no results: none of {}; name a run folder", .0.display(), StudyKind::files())]
    NoStudy(PathBuf),
    /// The folder contains these two studies.
    #[error(
        "{} contains {} ({}) and {} ({}): move the files of one of them to another folder",
        .0.display(), .1[0], .1[0].file(), .1[1], .1[1].file()
    )]
    TwoStudies(PathBuf, [StudyKind; 2]),
    /// A run that a study names is not there.
    #[error("{} names the run {run}, which is missing: restore {} from a copy, or measure again", path.display(), folder.display())]
    NoRun {
        /// The file of the study.
        path: PathBuf,
        /// The run, as the study names it.
        run: String,
        /// The folder in which it should be.
        folder: PathBuf,
    },
    /// The file is not a run record, and what is wrong.
    #[error("{path} is not a run of docshape: {1}; name a run folder, or its run.json", path = .0.display())]
    Foreign(PathBuf, String),
    /// The file was changed after docshape wrote it, and what is wrong.
    #[error("{path} is damaged: {1}; restore it from a copy, or run again", path = .0.display())]
    Damaged(PathBuf, String),
    /// Its content does not match its checksum.
    #[error(
        "{} was changed after docshape wrote it: its content does not match its field `sha256`; restore it from a copy, or, if the \
         change is yours, delete that field",
        .0.display()
    )]
    Changed(PathBuf),
    /// The file is larger than any that docshape writes, of which this many bytes are read.
    #[error("{path} has more than {1} bytes of text, which no run of docshape has; restore it from a copy, or run again", path = .0.display())]
    TooLarge(PathBuf, u64),
    /// Another version of docshape wrote it.
    #[error(
        "{} was written by docshape {version} in format {format}, but this build reads format {readable} only; use docshape \
         {version}, or run again",
        path.display()
    )]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: u32,
        /// The format that this build reads.
        readable: u32,
        /// The version that wrote it.
        version: String,
    },
}

/// What a file with a checksum begins with; the sum follows, of the document without this field, in hexadecimal.
const CHECKSUM: &[u8] = br#"{"sha256":""#;

/// Writes the record into a folder, whole or not at all: what was there stays until the new file is on disk.
///
/// # Errors
/// When the file cannot be written.
pub fn save(record: &RunRecord, folder: &Path) -> Result<(), ResultsError> {
    save_as(record, folder, RUN_FILE)
}

/// Writes a record into a file of a folder, as [`save`] does.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn save_as(record: &impl Serialize, folder: &Path, name: &str) -> Result<(), ResultsError> {
    write_into(folder, name, || document(record))
}

/// Writes a run compressed into a folder, as [`save`] does.
///
/// # Errors
/// When the file cannot be written.
pub fn save_compressed(record: &RunRecord, folder: &Path) -> Result<(), ResultsError> {
    write_into(folder, COMPRESSED_RUN_FILE, || compressed::compress(&document(record)?))
}

fn write_into(folder: &Path, name: &str, text: impl FnOnce() -> io::Result<Vec<u8>>) -> Result<(), ResultsError> {
    let path = folder.join(name);
    replace(&path, |file| file.write_all(&text()?)).map_err(|source| ResultsError::Write(path, source))
}

/// A record with its checksum.
fn document(record: &impl Serialize) -> io::Result<Vec<u8>> {
    let text = serde_json::to_vec(record)?;
    let members = text.strip_prefix(b"{").unwrap_or_default();
    Ok([CHECKSUM, checksum(members).as_bytes(), b"\",", members, b"\n"].concat())
}

/// Writes a text into a file, whole or not at all, as [`save`] does.
///
/// # Errors
/// When the file cannot be written.
pub fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    replace(path, |file| file.write_all(text.as_bytes()))
}

/// Returns the checksum of a document, from its members and its closing brace.
fn checksum(members: &[u8]) -> String {
    hex::encode(Sha256::new_with_prefix(b"{").chain_update(members).finalize())
}

/// Whether a file has the right checksum, or none: its user has removed it after a change.
fn is_as_written(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(CHECKSUM) else { return true };
    let members = rest.split_at_checked(64).and_then(|(sum, rest)| Some((sum, rest.strip_prefix(b"\",")?)));
    members.is_some_and(|(sum, members)| checksum(members.trim_ascii_end()).as_bytes() == sum)
}

/// Writes a temporary file in the same folder, and renames it once all of it is on disk.
pub(super) fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // Temporary files are private; results are as open as the user's umask lets new files be.
    let open = fs::Permissions::from_mode(0o666);
    let mut buffer = BufWriter::new(tempfile::Builder::new().permissions(open).tempfile_in(folder)?);
    write(&mut buffer)?;
    let file = buffer.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    // The rename outlives a crash of the machine only once the folder is on disk; some file systems cannot do that.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// A file of results besides `run.json`: of a study, or of what was published.
pub trait Document: Serialize + DeserializeOwned {
    /// The name of the file.
    const FILE: &'static str;
    /// The version that this build writes and reads. It grows when a field goes or changes its meaning.
    const FORMAT: u32;
}

/// What every version of a file begins with, to identify it. Documents with a run in them have its version.
#[derive(Deserialize)]
struct Head {
    format: u32,
    version: Option<String>,
    run: Option<WriterVersion>,
}

/// The version of docshape that wrote a run.
#[derive(Deserialize)]
struct WriterVersion {
    version: String,
}

/// Whether a folder contains a run, compressed or not.
pub fn is_run_folder(folder: &Path) -> bool {
    [RUN_FILE, COMPRESSED_RUN_FILE].iter().any(|name| folder.join(name).is_file())
}

/// Reads a run from its folder, or from the file itself, compressed or not.
///
/// # Errors
/// When it is missing, cut off, foreign, damaged, or in another format.
pub fn load(path: &Path) -> Result<RunRecord, ResultsError> {
    load_run(path).map_err(|error| explained(error, path, RUN_FILE))
}

fn load_run(path: &Path) -> Result<RunRecord, ResultsError> {
    let is_compressed = path.is_dir() && !path.join(RUN_FILE).exists() && path.join(COMPRESSED_RUN_FILE).is_file();
    let name = if is_compressed { COMPRESSED_RUN_FILE } else { RUN_FILE };
    let (path, record) = read_file(path, name, FORMAT_VERSION)?;
    check(&record).map(|()| record).map_err(|reason| ResultsError::Damaged(path, reason))
}

/// Reads a document from its folder, or from the file itself.
///
/// # Errors
/// As those of [`load`].
pub fn load_as<D: Document>(path: &Path) -> Result<D, ResultsError> {
    let loaded = read_file(path, D::FILE, D::FORMAT).map(|(_, record)| record);
    loaded.map_err(|error| explained(error, path, D::FILE))
}

/// Reads a run that a study names, relative to the study's folder.
///
/// # Errors
/// When it is missing, and as those of [`load`].
pub fn load_part<D: Document>(folder: &Path, run: &str) -> Result<RunRecord, ResultsError> {
    let own = folder.join(run);
    if !is_run_folder(&own) {
        return Err(ResultsError::NoRun { path: folder.join(D::FILE), run: run.to_owned(), folder: own });
    }
    load(&own)
}

/// The error of reading a study, or that it is another study, if that explains it.
fn explained(error: ResultsError, place: &Path, file: &str) -> ResultsError {
    let Some(expected) = StudyKind::of_file(file) else { return error };
    match &error {
        ResultsError::Read(..) if place.is_dir() => match StudyKind::of(place) {
            Ok(found) if found != expected => ResultsError::OtherFolder { path: place.to_owned(), expected, found },
            Err(two @ ResultsError::TwoStudies(..)) => two,
            Ok(_) | Err(_) => error,
        },
        ResultsError::OtherFormat { path, .. } | ResultsError::Damaged(path, _) | ResultsError::Foreign(path, _) => {
            let found = text_of(path).ok().and_then(|text| StudyKind::of_document(&text));
            match found.filter(|found| *found != expected) {
                Some(found) => ResultsError::OtherStudy { path: path.clone(), expected, found },
                None => error,
            }
        }
        _ => error,
    }
}

/// Writes a document into its folder, as [`save`] does.
///
/// # Errors
/// When the file cannot be written.
pub fn save_document<D: Document>(record: &D, folder: &Path) -> Result<(), ResultsError> {
    save_as(record, folder, D::FILE)
}

/// Reads a file from its folder, or the file itself, and returns it with its path.
fn read_file<R: DeserializeOwned>(path: &Path, name: &str, readable: u32) -> Result<(PathBuf, R), ResultsError> {
    let path = if path.is_dir() { path.join(name) } else { path.to_owned() };
    let text = text_of(&path)?;
    let (format, version) = match serde_json::from_slice(&text) {
        Ok(Head { format, version: Some(version), .. }) => (format, version),
        Ok(Head { format, run: Some(WriterVersion { version }), .. }) => (format, version),
        Ok(_) => return Err(ResultsError::Foreign(path, "missing field `version`".to_owned())),
        Err(error) if error.is_eof() || is_cut_off(&text, &error) => {
            return Err(ResultsError::Truncated(path, error.line()));
        }
        Err(error) => return Err(ResultsError::Foreign(path, error.to_string())),
    };
    if format != readable {
        return Err(ResultsError::OtherFormat { path, format, readable, version });
    }
    // Only now: another format may have another checksum.
    if !is_as_written(&text) {
        return Err(ResultsError::Changed(path));
    }
    read(&text).map(|record| (path.clone(), record)).map_err(|reason| ResultsError::Damaged(path, reason))
}

/// The text of a file, which is compressed where its name says so.
fn text_of(path: &Path) -> Result<Vec<u8>, ResultsError> {
    let read = || match path.extension() {
        Some(extension) if extension == "gz" => compressed::read(path, compressed::MOST_BYTES),
        _ => fs::read(path).map(Some),
    };
    let text = read().map_err(|source| ResultsError::Read(path.to_owned(), source))?;
    text.ok_or_else(|| ResultsError::TooLarge(path.to_owned(), compressed::MOST_BYTES))
}

/// Reads a record. The place of what does not fit is given by the names that lead there, since a run is one long line.
fn read<R: DeserializeOwned>(text: &[u8]) -> Result<R, String> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let record = serde_path_to_error::deserialize(&mut json).map_err(|error| error.to_string())?;
    json.end().map_err(|error| error.to_string())?;
    Ok(record)
}

/// Whether a file ends within a number, which is no end of file to the parser.
fn is_cut_off(text: &[u8], error: &serde_json::Error) -> bool {
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let is_last = error.line() == lines.len() && lines.last().is_some_and(|last| error.column() >= last.len());
    error.is_syntax() && is_last
}

impl KindedError for ResultsError {
    fn kind(&self) -> ErrorKind {
        if matches!(self, ResultsError::Write(..)) { ErrorKind::Environment } else { ErrorKind::Input }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::sample;
    use super::*;

    fn saved(folder: &Path) -> Value {
        save(&sample::run(&[1_000, 2_000]), folder).unwrap();
        serde_json::from_slice(&fs::read(folder.join(RUN_FILE)).unwrap()).unwrap()
    }

    /// The error of loading a run after a change of its file.
    fn error_after(change: impl FnOnce(&mut Value)) -> ResultsError {
        let folder = tempfile::tempdir().unwrap();
        let mut run = saved(folder.path());
        change(&mut run);
        fs::write(folder.path().join(RUN_FILE), run.to_string()).unwrap();
        load(folder.path()).unwrap_err()
    }

    fn error_of(text: &[u8]) -> ResultsError {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(RUN_FILE), text).unwrap();
        load(folder.path()).unwrap_err()
    }

    #[test]
    fn a_folder_and_its_file_are_the_same_run() {
        let folder = tempfile::tempdir().unwrap();
        let run = sample::run(&[1_000, 2_000]);
        save(&run, folder.path()).unwrap();
        assert_eq!(load(folder.path()).unwrap(), run);
        assert_eq!(load(&folder.path().join(RUN_FILE)).unwrap(), run);
    }

    #[test]
    fn a_compressed_run_is_read_where_there_is_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let run = sample::run(&[1_000, 2_000]);
        save_compressed(&run, folder.path()).unwrap();
        assert!(is_run_folder(folder.path()));
        assert_eq!(load(folder.path()).unwrap(), run);
        assert_eq!(load(&folder.path().join(COMPRESSED_RUN_FILE)).unwrap(), run);
        let newer = sample::run(&[3]);
        save(&newer, folder.path()).unwrap();
        assert_eq!(load(folder.path()).unwrap(), newer);
    }

    #[test]
    fn broken_compressed_runs_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(COMPRESSED_RUN_FILE);
        for (bytes, expected) in [
            (b"{}".to_vec(), "cannot read "),
            (compressed::compress(b"{}").unwrap(), "is not a run of docshape"),
            (
                compressed::compress(&vec![b' '; compressed::MOST_BYTES as usize + 1]).unwrap(),
                "has more than 134217728",
            ),
        ] {
            fs::write(&path, bytes).unwrap();
            let error = load(folder.path()).unwrap_err().to_string();
            assert!(error.contains(expected) && error.contains(COMPRESSED_RUN_FILE), "{error}");
        }
    }

    #[test]
    fn a_save_replaces_the_last_one_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        save(&sample::run(&[1]), folder.path()).unwrap();
        let second = sample::run(&[2, 3]);
        save(&second, folder.path()).unwrap();
        assert_eq!(load(folder.path()).unwrap(), second);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_save_keeps_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let run = sample::run(&[1]);
        save(&run, folder.path()).unwrap();
        let path = folder.path().join(RUN_FILE);
        let full = replace(&path, |file| {
            file.write_all(&[b'x'; 100_000])?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(full.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(load(folder.path()).unwrap(), run);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the half file is removed");
    }

    #[test]
    fn files_that_cannot_be_replaced_are_named_and_stay() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(RUN_FILE).join("kept")).unwrap();
        let error = save(&sample::run(&[1]), folder.path()).unwrap_err();
        assert!(matches!(&error, ResultsError::Write(path, _) if path.ends_with(RUN_FILE)), "{error}");
        assert!(folder.path().join(RUN_FILE).join("kept").is_dir());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the temporary file is removed");
        assert!(save(&sample::run(&[1]), &folder.path().join("absent")).is_err());
    }

    #[test]
    fn results_are_as_open_as_other_new_files() {
        let folder = tempfile::tempdir().unwrap();
        saved(folder.path());
        fs::write(folder.path().join("other"), "").unwrap();
        let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode(RUN_FILE), mode("other"));
    }

    #[test]
    fn missing_and_foreign_files_have_different_errors() {
        let folder = tempfile::tempdir().unwrap();
        let missing = load(folder.path()).unwrap_err();
        assert!(matches!(missing, ResultsError::Read(..)), "{missing}");
        assert!(matches!(error_of(b""), ResultsError::Truncated(..)));
        let foreign: [&[u8]; 5] =
            [b"format: 1\n", b"\xff\xfe{}", b"[1, 2]", br#"{"name": "package", "version": "1"}"#, b"{\"format\": 1}"];
        for text in foreign {
            let error = error_of(text);
            assert!(matches!(error, ResultsError::Foreign(..)), "{error}");
        }
    }

    #[test]
    fn another_format_names_its_writer() {
        let error = error_after(|run| {
            run["format"] = json!(7);
            run["version"] = json!("9.9.0");
            run["parts"] = json!("in a way that is not known yet");
        });
        assert!(matches!(error, ResultsError::OtherFormat { format: 7, .. }), "{error}");
        assert!(error.to_string().contains("written by docshape 9.9.0 in format 7"), "{error}");
        let old = error_after(|run| run["format"] = json!(1));
        assert!(old.to_string().contains("in format 1, but this build reads format 3 only; use docshape"), "{old}");
    }

    #[test]
    fn damage_is_named() {
        let outcome = "/parts/saturation/0/cells/0/operations/0/outcomes/0";
        let changed = |place: &str, value: Value| {
            let error = error_after(|run| *run.pointer_mut(place).unwrap() = value);
            assert!(matches!(error, ResultsError::Damaged(..)), "{error}");
            error.to_string()
        };
        for (place, value, expected) in [
            ("/settings/clients".to_owned(), json!("eight"), "\"eight\""),
            (format!("{outcome}/service"), json!("aGVsbG8="), "not a latency histogram"),
            (format!("{outcome}/count"), json!(3), "the histogram of outcome ok has 2 calls, 3 are stated"),
            (format!("{outcome}/sum"), json!(9_999), "cannot have a sum of 9999 ns"),
            (format!("{outcome}/saturated"), json!(3), "3 of 2 calls"),
            (
                "/parts/saturation/0/cells/0/operations/0/calls".to_owned(),
                json!(7),
                "its outcomes have 2 calls, 7 are stated",
            ),
        ] {
            let message = changed(&place, value);
            assert!(message.contains(expected), "{place}: {message}");
        }
        let error = error_after(|run| drop(run.as_object_mut().unwrap().remove("parts")));
        assert!(error.to_string().contains("missing field `parts`"), "{error}");
        let negative = changed("/parts/saturation/0/cells/0/operations/0/retries/112", json!(-7));
        let expected = "[0].cells[0].operations[0].retries.112: invalid value: integer `-7`, expected u64";
        assert!(negative.contains(expected), "{negative}");
        assert!(
            negative.contains("run.json") && negative.ends_with("restore it from a copy, or run again"),
            "{negative}"
        );
    }

    #[test]
    fn edited_histograms_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let mut run = saved(folder.path());
        let service = run.pointer_mut("/parts/saturation/0/cells/0/operations/0/outcomes/0/service").unwrap();
        let text = service.as_str().unwrap().to_owned();
        for cut in [&text[..text.len() / 8 * 4], &text[4..], &text.replace(&text[20..24], "AAAA")] {
            let error = error_after(|run| {
                *run.pointer_mut("/parts/saturation/0/cells/0/operations/0/outcomes/0/service").unwrap() = json!(cut);
            });
            assert!(error.to_string().contains("is damaged"), "{cut}: {error}");
        }
    }

    #[test]
    fn every_flipped_bit_is_found_or_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let run = sample::run(&[1_000, 2_000]);
        save(&run, folder.path()).unwrap();
        let path = folder.path().join(RUN_FILE);
        let whole = fs::read(&path).unwrap();
        for place in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[place] ^= 1 << (place % 8);
            fs::write(&path, &flipped).unwrap();
            match load(&path) {
                Ok(read) => assert_eq!(read, run, "byte {place}"),
                Err(error) => assert!(error.to_string().contains("run.json"), "byte {place}: {error}"),
            }
        }
    }

    #[test]
    fn an_edited_file_is_read_without_its_checksum() {
        let folder = tempfile::tempdir().unwrap();
        save(&sample::run(&[1_000]), folder.path()).unwrap();
        let path = folder.path().join(RUN_FILE);
        let text = fs::read_to_string(&path).unwrap();
        let edited = text.replace("All comments in the post.", "Edited.");
        fs::write(&path, &edited).unwrap();
        let error = load(folder.path()).unwrap_err();
        assert!(matches!(error, ResultsError::Changed(..)), "{error}");
        assert!(error.to_string().contains("delete that field"), "{error}");
        fs::write(&path, format!("{{{}", &edited[CHECKSUM.len() + 64 + 2..])).unwrap();
        assert_eq!(load(folder.path()).unwrap().strategies[0].about, "Edited.");
    }

    #[test]
    fn fields_of_later_versions_do_not_matter() {
        let folder = tempfile::tempdir().unwrap();
        let mut run = saved(folder.path());
        run["new"] = json!({ "field": 1 });
        run["environment"] = json!({ "platform": "other", "more": true });
        fs::write(folder.path().join(RUN_FILE), run.to_string()).unwrap();
        let read = load(folder.path()).unwrap();
        assert_eq!((read.environment.platform.as_str(), read.environment.kernel), ("other", None));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn runs_round_trip(times in prop::collection::vec(0_u64..70_000_000_000, 0..50)) {
            let folder = tempfile::tempdir().unwrap();
            let run = sample::run(&times);
            save(&run, folder.path()).unwrap();
            prop_assert_eq!(load(folder.path()).unwrap(), run);
        }

        #[test]
        fn a_file_cut_off_anywhere_is_truncated(share in 0.0..1.0_f64) {
            let folder = tempfile::tempdir().unwrap();
            saved(folder.path());
            let path = folder.path().join(RUN_FILE);
            let whole = fs::read(&path).unwrap();
            // The last two bytes are the closing brace and the line end.
            fs::write(&path, &whole[..((whole.len() - 2) as f64 * share) as usize]).unwrap();
            let error = load(folder.path()).unwrap_err();
            prop_assert!(matches!(error, ResultsError::Truncated(..)), "{}", error);
        }
    }
}
