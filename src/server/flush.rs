//! Flushing a server: everything that calls have changed is written to disk in a checkpoint.

use bson::rawdoc;
use tokio::time::Instant;

use super::field::{at, whole};
use super::{Failure, FailureKind, ReplyKind, Target};

/// What a flush wrote: the work that calls have left for later.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlushCost {
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The bytes that the block manager wrote to files, compressed and without the journal; `None` where the server does not
    /// say.
    pub bytes: Option<u64>,
}

/// Flushes everything to disk, so that storage sizes are up to date and no checkpoint falls into a measured slice. Returns
/// `false` when the user is not authorised, which is noted with the sizes.
///
/// # Errors
/// When the server fails for another reason.
pub async fn flush(target: &impl Target) -> Result<bool, Failure> {
    let is_flushed = flush_primary(target).await?;
    flush_others(target).await?;
    Ok(is_flushed)
}

/// Flushes the other members of a set of docshape's own: the checkpoints that they owe would fall into the next measurement.
async fn flush_others(target: &impl Target) -> Result<(), Failure> {
    target.run_on_others(&rawdoc! { "fsync": 1 }).await
}

async fn flush_primary(target: &impl Target) -> Result<bool, Failure> {
    match target.run("admin", rawdoc! { "fsync": 1 }, ReplyKind::Single).await {
        Ok(_) => Ok(true),
        // 13: not authorised; 59: no such command (mongos); 115: not supported.
        Err(Failure { kind: FailureKind::Server(13 | 59 | 115), .. }) => Ok(false),
        Err(failure) => Err(failure),
    }
}

/// As [`flush`], and measures what the primary wrote; `None` when the user is not authorised to flush.
///
/// # Errors
/// When the server fails for another reason.
pub async fn flush_cost(target: &impl Target) -> Result<Option<FlushCost>, Failure> {
    let before = written(target).await;
    let started = Instant::now();
    let is_flushed = flush_primary(target).await?;
    let seconds = started.elapsed().as_secs_f64();
    let after = if is_flushed { written(target).await } else { None };
    flush_others(target).await?;
    let bytes = before.zip(after).and_then(|(before, after)| u64::try_from(after - before).ok());
    Ok(is_flushed.then_some(FlushCost { seconds, bytes }))
}

/// How many writes show how long a flush of the journal takes.
const FLUSHES: usize = 31;

/// The collection of these writes.
const FLUSHED: &str = "docshape_flush";

/// Measures how long a flush of the journal takes, in seconds: the median of some writes that wait for it, less that of writes that do
/// not. `None` when the server refuses, and where it takes no time.
pub async fn journal_flush(target: &impl Target, database: &str) -> Option<f64> {
    let mut medians = [0.0; 2];
    for (is_journaled, median) in [false, true].into_iter().zip(&mut medians) {
        let mut times = Vec::new();
        for _ in 0..FLUSHES {
            let concern = rawdoc! { "w": 1, "j": is_journaled };
            let write = rawdoc! { "insert": FLUSHED, "documents": [{}], "writeConcern": concern };
            let started = Instant::now();
            target.run(database, write, ReplyKind::Single).await.ok()?;
            times.push(started.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        *median = times[FLUSHES / 2];
    }
    Some(medians[1] - medians[0]).filter(|seconds| *seconds > 0.0)
}

/// The bytes that the block manager has written since the server started.
async fn written(target: &impl Target) -> Option<i64> {
    let command = rawdoc! { "serverStatus": 1, "metrics": 0, "locks": 0, "repl": 0, "tcmalloc": 0 };
    let reply = target.run("admin", command, ReplyKind::Single).await.ok()?;
    whole(at(reply.batches().first()?, "wiredTiger.block-manager.bytes written")?)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use bson::RawDocumentBuf;

    use super::super::Reply;
    use super::*;

    /// A flush takes 40 ms and writes 700 bytes, unless it is refused.
    struct Disk {
        written: Cell<i64>,
        refusal: Option<i32>,
        is_silent: bool,
    }

    impl Target for Disk {
        async fn run(&self, _: &str, command: RawDocumentBuf, _: ReplyKind) -> Result<Reply, Failure> {
            let refused = |code| Failure::new(FailureKind::Server(code), "refused");
            if command.get("fsync").unwrap().is_some() {
                if let Some(code) = self.refusal {
                    return Err(refused(code));
                }
                tokio::time::sleep(Duration::from_millis(40)).await;
                self.written.set(self.written.get() + 700);
            } else {
                tokio::time::sleep(Duration::from_millis(5)).await;
                if self.is_silent {
                    return Err(refused(13));
                }
            }
            Ok(rawdoc! { "wiredTiger": { "block-manager": { "bytes written": self.written.get() } } }.into())
        }
    }

    async fn cost(refusal: Option<i32>, is_silent: bool) -> Result<Option<FlushCost>, Failure> {
        flush_cost(&Disk { written: Cell::new(5), refusal, is_silent }).await
    }

    /// A write takes 1 ms, and 3 ms more where it waits for the journal.
    struct Journal;

    impl Target for Journal {
        async fn run(&self, database: &str, command: RawDocumentBuf, _: ReplyKind) -> Result<Reply, Failure> {
            assert_eq!(database, "db");
            let is_journaled = command.get_document("writeConcern").unwrap().get_bool("j").unwrap();
            tokio::time::sleep(Duration::from_millis(if is_journaled { 4 } else { 1 })).await;
            Ok(rawdoc! { "ok": 1 }.into())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_flush_of_the_journal_is_what_waiting_for_it_adds() {
        assert!((journal_flush(&Journal, "db").await.unwrap() - 0.003).abs() < 1e-9);
    }

    #[tokio::test(start_paused = true)]
    async fn a_flush_is_timed_and_its_bytes_counted() {
        assert_eq!(cost(None, false).await.unwrap(), Some(FlushCost { seconds: 0.04, bytes: Some(700) }));
        assert_eq!(cost(None, true).await.unwrap(), Some(FlushCost { seconds: 0.04, bytes: None }));
        assert_eq!(cost(Some(13), false).await.unwrap(), None, "without the right to flush");
        assert!(cost(Some(8), false).await.is_err());
    }
}
