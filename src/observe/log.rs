//! The reader of the JSON log of mongod 4.4 and later.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use bson::Document;
use flate2::read::MultiGzDecoder;

use super::command::number;
use super::observations::Observations;

/// The message of the lines of statements, at whatever threshold.
const MESSAGE: &str = "\"Slow query\"";
/// The two bytes that gzip files begin with.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// What comes before the type of a binary value. Inside of a text, its quotes would be escaped.
const BINARY_TYPE: &str = "\"subType\":\"";
/// A longer line is no log line. The server cuts commands at 10 KB unless it was told otherwise.
const LONGEST_LINE: u64 = 64 << 20;

/// Reads the statements on one database from logs, also compressed ones, in the order given.
///
/// # Errors
/// When a file cannot be read, or is no JSON log. Single lines that cannot be read are counted.
pub fn read<P: AsRef<Path>>(paths: &[P], database: &str) -> Result<Observations, String> {
    let mut observations = Observations::new(database);
    for path in paths.iter().map(AsRef::as_ref) {
        let (shown, is_json) = (path.display(), read_file(path, &mut observations));
        let unreadable =
            |error| format!("the log {shown} cannot be read: {error}; check the path, and whether you may read it");
        if !is_json.map_err(unreadable)? {
            return Err(format!(
                "{shown} is not a JSON log of mongod: none of its first lines is JSON; servers before 4.4 wrote another format, \
                 and cannot be read"
            ));
        }
    }
    observations.finish();
    Ok(observations)
}

/// Reads a file, unless its first lines are no JSON.
fn read_file(path: &Path, observations: &mut Observations) -> io::Result<bool> {
    let mut file = BufReader::new(File::open(path)?);
    let is_compressed = file.fill_buf()?.starts_with(&GZIP);
    let mut lines: Box<dyn BufRead> =
        if is_compressed { Box::new(BufReader::new(MultiGzDecoder::new(file))) } else { Box::new(file) };
    let (mut line, mut seen, mut has_json) = (Vec::new(), 0, false);
    while lines.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? > 0 {
        seen += 1;
        has_json |= line.starts_with(b"{");
        if seen == 100 && !has_json {
            break;
        }
        read_line(&String::from_utf8_lossy(&line), observations);
        line.clear();
    }
    Ok(has_json || seen == 0)
}

/// Reads one line if it is that of a statement.
pub(super) fn read_line(line: &str, observations: &mut Observations) {
    if !line.contains(MESSAGE) {
        return;
    }
    let Some(line) = document(line) else {
        observations.left_out.unreadable += 1;
        return;
    };
    let Ok(attributes) = line.get_document("attr") else { return };
    // Replies and plans may be cut, too, which does no harm.
    if line.get_document("truncated").is_ok_and(|cut| cut.contains_key("command")) {
        observations.left_out.cut += 1;
        return;
    }
    if attributes.contains_key("command") {
        observations.took(number(attributes.get("durationMillis")));
    }
    let at = line.get_datetime("t").map(|time| time.timestamp_millis()).unwrap_or_default();
    observations.add(attributes, at, line.get_str("ctx").ok());
}

/// Reads Extended JSON as a server writes it: types of binary values below 16 have one digit, where readers expect two.
fn document(line: &str) -> Option<Document> {
    let mut parts = line.split(BINARY_TYPE);
    let mut text = parts.next()?.to_owned();
    for part in parts {
        let zero = if part.get(1..2) == Some("\"") { "0" } else { "" };
        text.extend([BINARY_TYPE, zero, part]);
    }
    serde_json::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use bson::Bson;

    use super::*;

    #[test]
    fn values_of_extended_json_are_no_mappings() {
        let line = r#"{"b":{"$binary":{"base64":"AAAA","subType":"0"}},"a":{"$oid":"6b09506a5a32abf2eb96e3b8"},
            "n":{"$numberLong":"-7"},"at":{"$date":"2026-11-27T09:42:02.367+00:00"},"in":{"$in":[1,2.5,null]},
            "r":{"$regularExpression":{"pattern":"^x","options":""}}}"#;
        let read = document(line).unwrap();
        let keys: Vec<&str> = read.keys().map(String::as_str).collect();
        assert_eq!(keys, ["b", "a", "n", "at", "in", "r"]);
        assert!(read.get_binary_generic("b").is_ok() && read.get_object_id("a").is_ok());
        assert_eq!(read.get("n"), Some(&Bson::Int64(-7)));
        assert_eq!(read.get_datetime("at").unwrap().timestamp_millis(), 1_795_772_522_367);
        let items = read.get_document("in").unwrap().get_array("$in").unwrap();
        assert_eq!((items.len(), &items[2]), (3, &Bson::Null));
        assert!(matches!(read.get("r"), Some(Bson::RegularExpression(_))));
        assert_eq!(document("[1]"), None);
    }
}
