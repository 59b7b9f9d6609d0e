//! Documents and requests of one step in as many messages as the server's limits require.

use bson::raw::CStr;
use bson::{RawArrayBuf, RawDocumentBuf};

/// One message carries at most this many documents and bytes. The server takes 100,000 writes, and a command sent whole
/// (without a document sequence) may be no larger than a document.
const BATCH_DOCUMENTS: usize = 100_000;
const BATCH_BYTES: usize = 15_000_000;

/// Returns the command with its documents or requests under `key`.
pub(super) fn with_items(command: &RawDocumentBuf, key: &CStr, items: &[RawDocumentBuf]) -> RawDocumentBuf {
    let mut array = RawArrayBuf::new();
    items.iter().for_each(|item| array.push(&**item));
    let mut whole = command.clone();
    whole.append(key, array);
    whole
}

/// Splits documents into groups that fit one message.
pub(super) fn batches(documents: &[RawDocumentBuf]) -> impl Iterator<Item = &[RawDocumentBuf]> {
    let mut rest = documents;
    std::iter::from_fn(move || {
        let mut size = 0;
        let fits = rest.iter().take(BATCH_DOCUMENTS).take_while(|document| {
            size += document.as_bytes().len();
            size <= BATCH_BYTES
        });
        // A document larger than a message is sent alone, so that the server reports the error.
        let length = fits.count().max(1).min(rest.len());
        let (batch, after) = rest.split_at(length);
        rest = after;
        (!batch.is_empty()).then_some(batch)
    })
}
