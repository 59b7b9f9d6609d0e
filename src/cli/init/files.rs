//! Collections in files: a folder of mongodump, or lines of Extended JSON by mongoexport.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use bson::RawDocumentBuf;
use flate2::read::GzDecoder;

use crate::cli::exit::CliError;
use crate::infer::sample::{CollectionSample, SampledIndex};
use crate::plan::json::JsonDocument;

use super::source::{MOST_BYTES, MOST_DOCUMENTS, Read, is_chosen, why_left_out};

/// Up to so many bytes a file is read whole; of a longer one a sample is kept.
const WHOLE: usize = 64 << 20;
/// Bytes of the largest document, with room for those that a server adds.
const LARGEST: usize = 17 << 20;

/// The files of a database.
#[derive(Debug)]
pub struct Files {
    paths: Vec<PathBuf>,
    described: String,
}

impl Files {
    /// Finds the files of a folder, or those that are named.
    ///
    /// # Errors
    /// When there are none.
    pub fn find(text: &str) -> Result<Files, CliError> {
        let folder = Path::new(text);
        if folder.is_dir() {
            let entries = std::fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
            let all: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
            let mut paths: Vec<PathBuf> = all.iter().filter(|path| is_bson(path)).cloned().collect();
            paths.sort();
            if paths.is_empty() {
                let mut folders: Vec<String> =
                    all.iter().filter(|path| path.is_dir()).map(|path| path.display().to_string()).collect();
                folders.sort();
                let hint = match folders.as_slice() {
                    [] => "expected files NAME.bson, as mongodump writes them".to_owned(),
                    folders => format!("name the folder of one database: {}", folders.join(" or ")),
                };
                return Err(CliError::usage(format!(
                    "--from: there are no .bson files in {}; {hint}",
                    folder.display()
                )));
            }
            return Ok(Files { described: format!("{} ({} files)", folder.display(), paths.len()), paths });
        }
        let paths: Vec<PathBuf> = text.split(',').map(|path| PathBuf::from(path.trim())).collect();
        if let Some(missing) = paths.iter().find(|path| !path.is_file()) {
            return Err(CliError::usage(format!(
                "--from: there is no file or folder {}; name a folder of mongodump, files of mongoexport, or mongodb://HOST/DATABASE",
                missing.display()
            )));
        }
        Ok(Files {
            described: paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "),
            paths,
        })
    }

    /// The database of a dump: the name of its folder. Exported files have none.
    pub fn database(&self) -> Option<&str> {
        let folder = self.paths.first().filter(|path| is_bson(path))?.parent()?;
        folder.file_name()?.to_str()
    }

    /// Reads them.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn read(&mut self, patterns: &[String]) -> Result<Read, CliError> {
        let mut read = Read { described: self.described.clone(), ..Read::default() };
        for path in &self.paths {
            let metadata = Metadata::beside(path)?;
            let name = metadata.name.clone().unwrap_or_else(|| stem(path));
            if !is_chosen(&name, patterns) {
                continue;
            }
            if let Some(why) = why_left_out(&name).map(str::to_owned).or(metadata.kind) {
                read.left_out.push(format!("{name} was left out: {why}"));
                continue;
            }
            let mut kept = Kept::default();
            if is_bson(path) {
                read_bson(path, &mut kept)?
            } else {
                read_json(path, &mut kept)?
            }
            read.samples.push(CollectionSample {
                name,
                count: kept.count,
                is_whole: kept.count == kept.documents.len() as u64,
                documents: kept.documents,
                indexes: metadata.indexes,
                notes: Vec::new(),
            });
        }
        if read.samples.is_empty() {
            return Err(CliError::usage(format!("--collections: no collection of {} fits", self.described)));
        }
        Ok(read)
    }
}

/// Documents of a file: all, or from some size on a sample in which each has the same chance.
#[derive(Debug, Default)]
struct Kept {
    documents: Vec<RawDocumentBuf>,
    bytes: usize,
    count: u64,
    is_sampled: bool,
    state: u64,
}

impl Kept {
    fn add(&mut self, document: RawDocumentBuf) {
        self.count += 1;
        let bytes = document.as_bytes().len();
        if !self.is_sampled {
            self.bytes += bytes;
            self.documents.push(document);
            if self.bytes > WHOLE {
                self.is_sampled = true;
                let most = (MOST_BYTES * self.documents.len() / self.bytes).clamp(1, MOST_DOCUMENTS);
                for place in 0..most.min(self.documents.len()) {
                    let other = place + self.below((self.documents.len() - place) as u64) as usize;
                    self.documents.swap(place, other);
                }
                self.documents.truncate(most);
            }
            return;
        }
        let place = self.below(self.count) as usize;
        if let Some(kept) = self.documents.get_mut(place) {
            *kept = document;
        }
    }

    /// A number below a bound, the same in every process.
    fn below(&mut self, bound: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 31)) % bound.max(1)
    }
}

/// What mongodump says of a collection.
#[derive(Debug, Default)]
struct Metadata {
    name: Option<String>,
    indexes: Vec<SampledIndex>,
    /// What it is, if it is no collection of documents.
    kind: Option<String>,
}

impl Metadata {
    fn beside(path: &Path) -> Result<Metadata, CliError> {
        let beside = path.with_file_name(format!("{}.metadata.json", stem(path)));
        let zipped = beside.with_extension("json.gz");
        let Some(file) = [beside, zipped].into_iter().find(|file| file.is_file()).filter(|_| is_bson(path)) else {
            return Ok(Metadata::default());
        };
        let mut text = String::new();
        open(&file)?.read_to_string(&mut text).map_err(|error| unreadable(&file, &error))?;
        let wrong = |error: &dyn std::fmt::Display| {
            CliError::usage(format!("{} is no metadata of mongodump: {error}", file.display()))
        };
        let document: JsonDocument = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
        let document = document.0.map_err(|why| wrong(&why))?;
        let indexes = document.get_array("indexes").into_iter().flatten().filter_map(|index| index.as_document());
        let indexes = indexes.filter_map(|index| SampledIndex::read(&RawDocumentBuf::try_from(index).ok()?)).collect();
        let has_option = |name: &str| document.get_document("options").is_ok_and(|options| options.contains_key(name));
        let kind = ["timeseries", "viewOn"].into_iter().find(|option| has_option(option));
        let name = document.get_str("collectionName").ok().map(str::to_owned);
        Ok(Metadata { name, indexes, kind: kind.map(|kind| if kind == "viewOn" { "view" } else { kind }.to_owned()) })
    }
}

fn read_bson(path: &Path, kept: &mut Kept) -> Result<(), CliError> {
    let mut reader = open(path)?;
    let mut length = [0; 4];
    loop {
        if reader.fill_buf().map_err(|error| unreadable(path, &error))?.is_empty() {
            return Ok(());
        }
        reader.read_exact(&mut length).map_err(|error| unreadable(path, &error))?;
        let size = usize::try_from(i32::from_le_bytes(length)).unwrap_or(0);
        let broken = || {
            CliError::usage(format!(
                "{}: document {} is no BSON; is it a file of mongodump?",
                path.display(),
                kept.count + 1
            ))
        };
        if !(5..=LARGEST).contains(&size) {
            return Err(broken());
        }
        let mut bytes = vec![0; size];
        bytes[..4].copy_from_slice(&length);
        reader.read_exact(&mut bytes[4..]).map_err(|_| broken())?;
        let document = RawDocumentBuf::from_bytes(bytes).map_err(|_| broken())?;
        kept.add(document);
    }
}

fn read_json(path: &Path, kept: &mut Kept) -> Result<(), CliError> {
    let wrong = |number: u64, error: &dyn std::fmt::Display| {
        CliError::usage(format!("{}: document {number} is no Extended JSON: {error}", path.display()))
    };
    let mut reader = open(path)?;
    let add = |document: JsonDocument, kept: &mut Kept| {
        let number = kept.count + 1;
        let document = document.0.map_err(|why| wrong(number, &why))?;
        kept.add(RawDocumentBuf::try_from(&document).map_err(|_| wrong(number, &"it cannot be BSON"))?);
        Ok::<(), CliError>(())
    };
    // The message of an error could repeat a value.
    let place = |error: &serde_json::Error| format!("line {}, column {}", error.line(), error.column());
    if first_symbol(&mut reader).map_err(|error| unreadable(path, &error))? == Some(b'[') {
        let documents: Vec<JsonDocument> = serde_json::from_reader(reader).map_err(|error| wrong(1, &place(&error)))?;
        return documents.into_iter().try_for_each(|document| add(document, kept));
    }
    for document in serde_json::Deserializer::from_reader(reader).into_iter::<JsonDocument>() {
        let document = document.map_err(|error| wrong(kept.count + 1, &place(&error)))?;
        add(document, kept)?;
    }
    Ok(())
}

/// The first symbol that is no blank, which stays unread.
fn first_symbol(reader: &mut impl BufRead) -> io::Result<Option<u8>> {
    loop {
        let read = reader.fill_buf()?;
        if read.is_empty() {
            return Ok(None);
        }
        match read.iter().position(|symbol| !symbol.is_ascii_whitespace() && ![0xef, 0xbb, 0xbf].contains(symbol)) {
            Some(place) => {
                let symbol = read[place];
                reader.consume(place);
                return Ok(Some(symbol));
            }
            None => {
                let length = read.len();
                reader.consume(length);
            }
        }
    }
}

fn open(path: &Path) -> Result<Box<dyn BufRead>, CliError> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let is_zipped = path.extension().is_some_and(|extension| extension == "gz");
    Ok(if is_zipped { Box::new(BufReader::new(GzDecoder::new(file))) } else { Box::new(BufReader::new(file)) })
}

fn unreadable(path: &Path, error: &io::Error) -> CliError {
    CliError::usage(format!("{} cannot be read: {error}", path.display()))
}

fn is_bson(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".bson") || name.ends_with(".bson.gz")
}

/// The name of a collection from that of its file.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let ends = [".bson", ".ndjson", ".jsonl", ".json"];
    ends.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use bson::{Bson, Document, doc};

    use super::*;

    fn read(name: &str, bytes: &[u8]) -> Result<Read, CliError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        Files::find(path.to_str().unwrap()).and_then(|mut files| files.read(&[]))
    }

    #[test]
    fn both_versions_of_extended_json_are_read() {
        let text = "{\"_id\":{\"$oid\":\"65f000000000000000000001\"},\"at\":{\"$date\":5},\"n\":{\"$numberLong\":\"7\"}}\n\
                    {\"at\":{\"$date\":\"2026-01-01T00:00:00Z\"},\"b\":{\"$binary\":\"AQ==\",\"$type\":\"00\"}}\n";
        for text in [text.to_owned(), format!("\u{feff} [{}]", text.trim().replace('\n', ","))] {
            let read = read("orders.ndjson", text.as_bytes()).unwrap();
            let sample = &read.samples[0];
            assert_eq!((sample.name.as_str(), sample.count, sample.is_whole), ("orders", 2, true));
            let first = Document::try_from(&*sample.documents[0]).unwrap();
            assert_eq!(first.get("n"), Some(&Bson::Int64(7)));
            assert_eq!(first.get("at"), Some(&Bson::DateTime(bson::DateTime::from_millis(5))));
        }
    }

    #[test]
    fn broken_files_are_refused_without_their_values() {
        for (name, text) in [
            ("a.json", "{\"x\": \"secret\"} {\"y\": secret"),
            ("a.bson", "secret secret"),
            ("a.json", "{\"x\": {\"$oid\": \"secret\"}}"),
        ] {
            let error = read(name, text.as_bytes()).unwrap_err();
            assert!(error.message.contains("document ") && !error.message.contains("secret"), "{error}");
        }
        assert!(Files::find("no/such/folder").unwrap_err().message.contains("no/such/folder"));
    }

    #[test]
    fn a_dump_has_indexes_and_says_what_is_no_collection() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = |n: i32| bson::serialize_to_vec(&doc! { "_id": n }).unwrap();
        fs::write(folder.path().join("a%2Fb.bson"), [bytes(1), bytes(2)].concat()).unwrap();
        let metadata = "{\"collectionName\":\"a/b\",\"options\":{},\"indexes\":[{\"key\":{\"_id\":{\"$numberInt\":\"1\"}}},{\"key\":{\"x\":1},\"unique\":true}]}";
        fs::write(folder.path().join("a%2Fb.metadata.json"), metadata).unwrap();
        fs::write(folder.path().join("v.bson"), []).unwrap();
        fs::write(folder.path().join("v.metadata.json"), "{\"options\":{\"viewOn\":\"a\"},\"indexes\":[]}").unwrap();
        let read = Files::find(folder.path().to_str().unwrap()).unwrap().read(&[]).unwrap();
        assert_eq!((read.samples.len(), read.samples[0].name.as_str(), read.samples[0].count), (1, "a/b", 2));
        assert_eq!(read.samples[0].indexes.len(), 1);
        assert_eq!(read.left_out, ["v was left out: view"]);
        let empty = tempfile::tempdir().unwrap();
        fs::create_dir(empty.path().join("shop")).unwrap();
        let error = Files::find(empty.path().to_str().unwrap()).unwrap_err();
        assert!(error.message.contains("name the folder of one database"), "{error}");
    }

    #[test]
    fn of_a_long_file_a_fair_sample_is_kept() {
        let mut kept = Kept::default();
        for n in 0..3_000 {
            kept.add(RawDocumentBuf::try_from(&doc! { "_id": n, "x": "x".repeat(30_000) }).unwrap());
        }
        let late = kept.documents.iter().filter(|one| one.get_i32("_id").unwrap() >= 1_500).count();
        assert!(kept.count == 3_000 && kept.documents.len() == 1_000, "{}", kept.documents.len());
        assert!((400..600).contains(&late), "{late}");
    }
}
