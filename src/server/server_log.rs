//! Reading the log of an embedded server: whether it listens, and its last lines.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// The log, below the server's folder.
pub(super) const LOG_FILE: &str = "mongod.log";
/// What the program printed before or instead of logging.
pub(super) const OUTPUT_FILE: &str = "mongod.out";

/// What lines of the server's stack unwinder begin with, which say nothing about the cause.
const UNWINDER: &str = "unw_";

/// Lines shown when a server ended.
const LINES: usize = 5;

/// Whether the server wrote that it accepts connections on its port.
pub(super) fn listening(folder: &Path) -> bool {
    read(folder, LOG_FILE).contains("\"Waiting for connections\"")
}

/// What the server's messages mean where the reader can do something about it: words of theirs, and the cause with the next step.
const CAUSES: [(&[&str], &str); 4] = [
    (
        &["No space left on device", "WiredTiger error message: 28"],
        "the disk of its data is full; free some space, or set TMPDIR to a folder with room",
    ),
    (&["Too many open files"], "it may not open enough files; raise the limit (`ulimit -n 64000`)"),
    (&["Cannot allocate memory", "out of memory"], "memory ran out; try a smaller --cache-gb, or fewer --strategies"),
    (&["\"signal\":15", "got signal 15"], "it was ended from outside by SIGTERM"),
];

/// Why the server ended or did not start: a known cause, with the folder of its data, else the last lines.
pub(super) fn reason(folder: &Path) -> String {
    let text = read(folder, LOG_FILE) + &read(folder, OUTPUT_FILE);
    let known = CAUSES.iter().find(|(words, _)| words.iter().any(|words| text.contains(words)));
    known.map_or_else(|| last_lines(folder), |(_, cause)| format!("{cause} (its folder was {})", folder.display()))
}

/// The errors at the end of the log; without any, what the program printed; without that, the last log lines.
fn last_lines(folder: &Path) -> String {
    let log = read(folder, LOG_FILE);
    let entries: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let is_error = |entry: &&Value| matches!(entry["s"].as_str(), Some("E" | "F"));
    let errors: Vec<String> = entries.iter().filter(is_error).map(sentence).collect();
    let printed: Vec<String> =
        read(folder, OUTPUT_FILE).lines().filter(|line| !line.starts_with(UNWINDER)).map(printed_sentence).collect();
    let rest: Vec<String> = entries.iter().map(sentence).collect();
    let lines = [errors, printed, rest].into_iter().find(|lines| !lines.is_empty()).unwrap_or_default();
    match lines.as_slice() {
        [] => "it left no log".to_owned(),
        lines => lines[lines.len().saturating_sub(LINES)..].join("; "),
    }
}

fn read(folder: &Path, file: &str) -> String {
    fs::read(folder.join(file)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// A printed line; before the log is open, the server prints log entries.
fn printed_sentence(line: &str) -> String {
    serde_json::from_str::<Value>(line)
        .ok()
        .filter(Value::is_object)
        .map_or_else(|| line.to_owned(), |entry| sentence(&entry))
}

/// The message with its cause, which sits under one of several names.
fn sentence(entry: &Value) -> String {
    let message = entry["msg"].as_str().unwrap_or("(no message)").trim();
    let cause = ["error", "reason", "message"].iter().map(|name| &entry["attr"][*name]).find(|cause| !cause.is_null());
    match cause {
        Some(Value::String(text)) => format!("{message}: {text}"),
        Some(other) => format!("{message}: {other}"),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STARTED: &str = r#"{"t":{"$date":"x"},"s":"I","c":"NETWORK","id":23016,"ctx":"listener","msg":"Waiting for connections","attr":{"port":1,"ssl":"off"}}"#;
    const TAKEN: &str = r#"{"s":"E","c":"CONTROL","id":20568,"msg":"Error setting up listener","attr":{"error":{"code":9001,"errmsg":"Address already in use"}}}"#;
    const FATAL: &str = r#"{"s":"F","c":"STORAGE","id":1,"msg":"\n\nCannot open\n","attr":{"reason":"No space left"}}"#;

    #[test]
    fn a_server_listens_when_it_says_so() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!listening(folder.path()));
        fs::write(folder.path().join(LOG_FILE), STARTED).unwrap();
        assert!(listening(folder.path()));
    }

    #[test]
    fn known_causes_have_a_next_step() {
        let folder = tempfile::tempdir().unwrap();
        let reason_of = |log: &str| {
            fs::write(folder.path().join(LOG_FILE), log).unwrap();
            reason(folder.path())
        };
        let full = r#"{"s":"E","c":"WT","msg":"WiredTiger error message","attr":{"error":28,"message":"No space left on device"}}"#;
        assert!(reason_of(full).starts_with("the disk of its data is full; free some space, or set TMPDIR"));
        let ended = r#"{"s":"I","c":"CONTROL","msg":"Signal was sent by kill(2)","attr":{"signal":15}}"#;
        assert!(reason_of(ended).contains("SIGTERM"));
        fs::write(folder.path().join(OUTPUT_FILE), "unw_get_proc_name(1) failed\n{\"msg\":\"Cannot start\"}\n")
            .unwrap();
        assert_eq!(reason_of(""), "Cannot start");
    }

    #[test]
    fn errors_come_before_everything_else() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(last_lines(folder.path()), "it left no log");
        fs::write(folder.path().join(LOG_FILE), format!("{STARTED}\n")).unwrap();
        assert_eq!(last_lines(folder.path()), "Waiting for connections");
        fs::write(folder.path().join(OUTPUT_FILE), "bad option\n").unwrap();
        assert_eq!(last_lines(folder.path()), "bad option");
        fs::write(folder.path().join(LOG_FILE), format!("{STARTED}\n{TAKEN}\nnot json\n{FATAL}\n{STARTED}\n")).unwrap();
        let lines = last_lines(folder.path());
        assert!(lines.contains("Address already in use") && lines.ends_with("; Cannot open: No space left"), "{lines}");
    }
}
