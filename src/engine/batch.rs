//! Documents and requests of one step in as many messages as the server's limits ask for.

use bson::RawDocumentBuf;

/// One message carries at most this many documents and bytes. The server takes 100,000 writes, and a command sent whole
/// (without a document sequence) may be no larger than a document.
const BATCH_DOCUMENTS: usize = 100_000;
const BATCH_BYTES: usize = 15_000_000;

/// A command with its documents or requests put in under `key`.
pub(super) fn with_parts(command: &RawDocumentBuf, key: &bson::raw::CStr, parts: &[RawDocumentBuf]) -> RawDocumentBuf {
    let mut array = bson::RawArrayBuf::new();
    for part in parts {
        array.push(&**part);
    }
    let mut whole = command.clone();
    whole.append(key, array);
    whole
}

/// Documents in groups that fit one message.
pub(super) fn batches(documents: &[RawDocumentBuf]) -> impl Iterator<Item = &[RawDocumentBuf]> {
    limited(documents, BATCH_DOCUMENTS, BATCH_BYTES)
}

fn limited(documents: &[RawDocumentBuf], most: usize, bytes: usize) -> impl Iterator<Item = &[RawDocumentBuf]> {
    let mut rest = documents;
    std::iter::from_fn(move || {
        let mut size = 0;
        let fits = rest.iter().take(most).take_while(|document| {
            size += document.as_bytes().len();
            size <= bytes
        });
        // A document larger than a message goes alone, so that the server says what is wrong with it.
        let length = fits.count().max(1).min(rest.len());
        let (batch, after) = rest.split_at(length);
        rest = after;
        (!batch.is_empty()).then_some(batch)
    })
}
