//! A server that replies at once, so that calls take docshape's own time only.

use bson::{RawDocumentBuf, rawdoc};

use super::{Failure, Reply, ReplyKind, Target};

/// Replies to every command at once with an empty cursor.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopTarget;

impl Target for NoopTarget {
    async fn run(&self, _: &str, _: RawDocumentBuf, _: ReplyKind) -> Result<Reply, Failure> {
        let cursor = rawdoc! { "id": 0_i64, "firstBatch": [] };
        Ok(Reply::from(rawdoc! { "ok": 1, "n": 1, "cursor": cursor }))
    }
}
