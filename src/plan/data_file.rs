//! Real documents in a file, of which fields of an entity take values.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use bson::spec::ElementType;
use bson::{Bson, RawDocumentBuf};
use sha2::{Digest, Sha256};

use super::json::JsonDocument;
use super::memo::Memo;
use super::{Raw, Value};

/// The documents of a file, a line each.
#[derive(Debug)]
pub struct DataFile {
    /// The path as the scenario names it.
    pub name: String,
    /// SHA-256 of the whole file, hexadecimal.
    pub sha256: String,
    lines: Vec<Raw>,
}

impl DataFile {
    /// The bytes of the largest file: it is kept in memory.
    pub const MOST_BYTES: u64 = 64 << 20;

    /// The file of this name in a folder. It is read once, so that all plans of a process have the same data.
    ///
    /// # Errors
    /// What is wrong with the file; a bad line with its number, never with a value of it.
    pub fn load(folder: &Path, name: &str) -> Result<Arc<DataFile>, String> {
        static FILES: LazyLock<Memo<PathBuf, Arc<DataFile>>> = LazyLock::new(Memo::default);
        let path = folder.join(name);
        FILES.get(&path, || DataFile::read(&path, name).map(Arc::new)).cloned()
    }

    fn read(path: &Path, name: &str) -> Result<DataFile, String> {
        let shown = path.display();
        let unreadable = |error| format!("cannot read {shown}: {error}");
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(unreadable)?;
        file.take(DataFile::MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > DataFile::MOST_BYTES {
            return Err(format!("{shown} is larger than 64 MiB, the limit of files with data"));
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| format!("{shown} is not UTF-8 text"))?;
        let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
        let lines = lines.filter(|(_, line)| !line.trim().is_empty()).map(|(place, line)| {
            document(line)
                .map_err(|why| format!("line {} of {shown} is no document of Extended JSON: {why}", place + 1))
        });
        let lines = lines.collect::<Result<Vec<Raw>, String>>()?;
        if lines.is_empty() {
            return Err(format!("{shown} has no documents"));
        }
        Ok(DataFile { name: name.to_owned(), sha256: hex::encode(Sha256::digest(&bytes)), lines })
    }

    /// The value at a path of the line that belongs to a record; `None` where the line has no such key. Records after the last
    /// line begin with the first line again.
    pub fn value(&self, record: u64, path: &str) -> Option<Value> {
        value_at(&self.lines[(record % self.lines.len() as u64) as usize], path)
    }
}

/// A document of one line, or why it is none.
fn document(line: &str) -> Result<Raw, String> {
    let parsed: JsonDocument = serde_json::from_str(line).map_err(|error| format!("see column {}", error.column()))?;
    RawDocumentBuf::try_from(&parsed.0?).map(Raw::new).map_err(|_| "it cannot be BSON".to_owned())
}

/// The value at a path; a key that contains dots comes before what the dots would lead to.
fn value_at(document: &Raw, path: &str) -> Option<Value> {
    match (document.get(path), document.element(path)) {
        // Other ints are written in 32 bits where they fit.
        (Some(Value::Int(int)), Some((ElementType::Int64, _))) => Some(Value::Other(Arc::new(Bson::Int64(int)))),
        (Some(value), _) => Some(value),
        (None, _) => match path.split_once('.').map(|(key, rest)| (document.get(key), rest))? {
            (Some(Value::Document(inner)), rest) => value_at(&inner, rest),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<DataFile, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x.ndjson"), bytes).unwrap();
        DataFile::read(&folder.path().join("x.ndjson"), "x.ndjson")
    }

    #[test]
    fn records_have_the_lines_in_turns_and_keys_may_be_missing() {
        let file =
            read(b"{\"n\":1,\"a\":{\"b\":\"x\"},\"a.c\":2}\n\n{\"n\":{\"$numberLong\":\"7\"},\"d\":null}\n").unwrap();
        assert_eq!(
            [0, 1, 4].map(|record| file.value(record, "n").unwrap().referenced()),
            [1, 7, 1].map(|n| Ok(Value::Int(n)))
        );
        assert!(matches!(file.value(1, "n"), Some(Value::Other(_))), "it stays an int64");
        assert_eq!((file.value(0, "a.b"), file.value(0, "a.c")), (Some(Value::text("x")), Some(Value::Int(2))));
        assert_eq!((file.value(1, "d"), file.value(1, "a.b"), file.value(0, "n.b")), (Some(Value::Null), None, None));
        assert_eq!(file.sha256.len(), 64);
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said_without_its_values() {
        for (bytes, words) in [
            (&b"{\"a\":1}\n{\"a\":secret}\n"[..], "line 2 of"),
            (b"[1]\n", "a value that is no document"),
            (b"{\"a\":{\"$oid\":\"secret\"}}\n", "line 1 of"),
            (b"\n \n", "has no documents"),
            (b"{\"a\":\"\xff\"}", "is not UTF-8"),
        ] {
            let message = read(bytes).unwrap_err();
            assert!(message.contains(words) && !message.contains("secret"), "{message}");
        }
        let long = vec![b' '; DataFile::MOST_BYTES as usize + 1];
        assert!(read(&long).unwrap_err().contains("larger than 64 MiB"));
        assert!(DataFile::load(Path::new("no/such"), "x.ndjson").unwrap_err().contains("cannot read no/such/x.ndjson"));
    }
}
