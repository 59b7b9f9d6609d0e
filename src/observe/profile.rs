//! The reader of documents of `system.profile`.

use bson::Document;

use super::observations::{Observations, RecordedCommand};

/// Reads the statements on one database from the documents of its `system.profile`, in their order.
///
/// Connections are not in these documents, and the writes of transactions do not say of which one they are.
pub fn read(documents: impl IntoIterator<Item = Document>, database: &str) -> Observations {
    let mut observations = Observations::new(database);
    for document in documents {
        let Ok(command) = document.get_document("command") else { continue };
        let kind = document.get_str("op").unwrap_or_default();
        if command.contains_key("$truncated") {
            observations.left_out.cut += 1;
            continue;
        }
        observations.add(&RecordedCommand {
            namespace: document.get_str("ns").unwrap_or_default(),
            command,
            app_name: document.get_str("appName").unwrap_or_default(),
            at: document.get_datetime("ts").map(|time| time.timestamp_millis()).unwrap_or_default(),
            connection: None,
            is_remove: kind == "remove" || kind == "delete",
            failed: document.contains_key("errCode") || document.contains_key("errName"),
        });
    }
    observations.finish();
    observations.limits.push(
        "system.profile does not say which statements belong together, and keeps only the last 1 MB: a log has more (--log)".to_owned(),
    );
    observations
}
