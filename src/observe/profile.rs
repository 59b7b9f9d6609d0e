//! The reader of documents of `system.profile`.

use bson::Document;

use super::observations::Observations;

/// Reads the statements on one database from the documents of its `system.profile`, in their order.
///
/// Connections are not in these documents, and the writes of transactions do not say of which one they are.
pub fn read(documents: impl IntoIterator<Item = Document>, database: &str) -> Observations {
    let mut observations = Observations::new(database);
    for document in documents {
        if document.get_document("command").is_ok_and(|command| command.contains_key("$truncated")) {
            observations.left_out.cut += 1;
            continue;
        }
        let at = document.get_datetime("ts").map(|time| time.timestamp_millis()).unwrap_or_default();
        observations.add(&document, at, None);
    }
    observations.finish();
    observations.limits.push(
        "system.profile does not say which statements belong together, and keeps only the last 1 MB: a log has more (--log)".to_owned(),
    );
    observations
}
