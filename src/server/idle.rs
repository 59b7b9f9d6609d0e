//! A server that answers at once: what calls on it take is docshape's own time.

use bson::{RawDocumentBuf, rawdoc};

use super::{Failure, Reply, ReplyKind, Target};

/// Answers every command at once with an empty cursor.
#[derive(Debug, Clone, Copy, Default)]
pub struct Idle;

impl Target for Idle {
    async fn run(&self, _: &str, _: RawDocumentBuf, _: ReplyKind) -> Result<Reply, Failure> {
        let cursor = rawdoc! { "id": 0_i64, "firstBatch": [] };
        Ok(Reply::from(rawdoc! { "ok": 1, "n": 1, "cursor": cursor }))
    }
}
