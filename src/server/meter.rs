//! What calls cost the server: the growth of its counters over pieces of work, docshape's own commands subtracted.

use std::collections::BTreeMap;

use super::counters::{Counters, Snapshot};
use super::{Failure, Target};

/// Pairs of snapshots from which it is known what a pair costs by itself.
const IDLE_PAIRS: usize = 10;

/// Reads the counters around pieces of work. Without them the cost of every piece is unknown; that never is a
/// reason to end a run.
#[derive(Debug, Default)]
pub struct Meter {
    /// What a pair of snapshots without work between them adds, the median of some; `None` without counters.
    idle: Option<Counters>,
    /// The last snapshot, when nothing was sent since.
    last: Option<Snapshot>,
}

/// The growth over some pieces of work.
#[derive(Debug, Clone, Default)]
pub struct Usage {
    /// The sums as read, of the counters known for every piece; `None` before the first.
    sums: Option<Counters>,
    /// How many pairs of snapshots they come from.
    pairs: u64,
}

impl Meter {
    /// A meter for a server that is idle now: some snapshots in a row show what they cost themselves.
    pub async fn new(target: &impl Target) -> Meter {
        let (idle, last) = idle(target).await.ok().unzip();
        Meter { idle, last }
    }

    /// Forgets the last snapshot, because commands were sent that belong to no piece of work.
    pub fn invalidate(&mut self) {
        self.last = None;
    }

    /// Starts a piece of work. The snapshot at the end of the last one serves, if nothing was sent since.
    pub async fn begin(&mut self, target: &impl Target) {
        if self.idle.is_some() && self.last.is_none() {
            self.last = Snapshot::read(target).await.ok();
        }
    }

    /// Ends a piece of work on this database.
    pub async fn end(&mut self, target: &impl Target, database: &str, usage: &mut Usage) {
        let before = self.last.take();
        let after = if before.is_some() { Snapshot::read(target).await.ok() } else { None };
        let (Some(before), Some(after)) = (before, after) else { return usage.add(&Counters::new()) };
        let (growth, is_read) = before.growth(&after, target, database).await;
        usage.add(&growth);
        self.last = (!is_read).then_some(after);
    }

    /// Returns the cost of the work: the growth that was read less that of the snapshots themselves, never below 0.
    pub fn cost(&self, usage: &Usage) -> BTreeMap<String, f64> {
        let Some(idle) = &self.idle else { return BTreeMap::new() };
        let pairs = usage.pairs as f64;
        let net = |(name, sum): (&&'static str, &f64)| {
            let own = idle.get(name).copied().unwrap_or(0.0) * pairs;
            ((*name).to_owned(), (sum - own).max(0.0))
        };
        usage.sums.iter().flatten().map(net).collect()
    }
}

impl Usage {
    /// Makes the growth unknown.
    pub fn forget(&mut self) {
        self.sums = Some(Counters::new());
    }

    /// A counter that is not known for one piece is not known for all.
    fn add(&mut self, growth: &Counters) {
        self.pairs += 1;
        match &mut self.sums {
            None => self.sums = Some(growth.clone()),
            Some(sums) => {
                sums.retain(|name, _| growth.contains_key(name));
                sums.iter_mut().for_each(|(name, sum)| *sum += growth.get(name).copied().unwrap_or(0.0));
            }
        }
    }
}

/// The median growth of every counter over pairs of snapshots with nothing between them, and the last snapshot.
async fn idle(target: &impl Target) -> Result<(Counters, Snapshot), Failure> {
    let mut last = Snapshot::read(target).await?;
    let mut grown: Vec<Counters> = Vec::new();
    // A server without counters is not asked again.
    for _ in 0..if last.is_empty() { 0 } else { IDLE_PAIRS } {
        let next = Snapshot::read(target).await?;
        grown.push(last.growth(&next, target, "").await.0);
        last = next;
    }
    let names = grown.first().cloned().unwrap_or_default().into_keys();
    let median = |name: &'static str| {
        let mut values: Vec<f64> = grown.iter().filter_map(|growth| growth.get(name).copied()).collect();
        values.sort_by(f64::total_cmp);
        (name, values.get(values.len() / 2).copied().unwrap_or(0.0))
    };
    Ok((names.map(median).collect(), last))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use bson::{RawDocumentBuf, rawdoc};

    use super::super::{FailureKind, Reply, ReplyKind};
    use super::*;

    /// Counts 7 more requests at every snapshot, and the snapshots.
    struct CountingServer {
        requests: Cell<i64>,
        looks: Cell<u64>,
        /// From this snapshot on, it fails.
        refuses: u64,
    }

    impl Target for CountingServer {
        async fn run(&self, _: &str, _: RawDocumentBuf, _: ReplyKind) -> Result<Reply, Failure> {
            self.looks.set(self.looks.get() + 1);
            if self.looks.get() >= self.refuses {
                return Err(Failure { kind: FailureKind::Server(13), message: "no".into(), labels: Vec::new() });
            }
            self.requests.set(self.requests.get() + 7);
            let status = rawdoc! { "ok": 1, "network": { "numRequests": self.requests.get(), "bytesIn": 5_i64 } };
            Ok(Reply::from(status))
        }
    }

    async fn measured(refuses: u64) -> (BTreeMap<String, f64>, u64) {
        let server = CountingServer { requests: Cell::new(0), looks: Cell::new(0), refuses };
        let mut meter = Meter::new(&server).await;
        let mut usage = Usage::default();
        for work in [100, 20] {
            meter.begin(&server).await;
            server.requests.set(server.requests.get() + work);
            meter.end(&server, "db", &mut usage).await;
        }
        meter.invalidate();
        server.requests.set(server.requests.get() + 1_000);
        meter.begin(&server).await;
        server.requests.set(server.requests.get() + 3);
        meter.end(&server, "db", &mut usage).await;
        (meter.cost(&usage), server.looks.get())
    }

    #[tokio::test]
    async fn snapshots_are_not_charged() {
        let (cost, looks) = measured(u64::MAX).await;
        assert_eq!(cost, [("bytes_in", 0.0), ("requests", 123.0)].map(|(name, sum)| (name.to_owned(), sum)).into());
        // Eleven to know what a look costs, then one where each piece ends, and one more after the disturbance.
        assert_eq!(looks, 11 + 3 + 1);
    }

    #[tokio::test]
    async fn without_rights_counters_are_not_read_again() {
        assert_eq!(measured(1).await, (BTreeMap::new(), 1));
        assert_eq!(measured(13).await.0, BTreeMap::new());
    }
}
