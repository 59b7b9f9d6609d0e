//! What strategies that share a server's cache do to each other: bytes that one leaves to write are written in slices of others.

use std::collections::BTreeMap;

use crate::record::OPLOG_BYTES;
use crate::results::{CellRecord, CollectionSizes, Part, Reason, RunRecord, ServerSharing};

use super::view::{cells, inspected};

/// The share of a shared cache that the calls of a round may leave to write.
pub const DIRTY_SHARE: f64 = 0.05;

/// The bytes written back in an arm's slices may be this many times those that it stored.
const WRITE_BACK: f64 = 3.0;

/// Fewer bytes written back per round than these change no time visibly.
const FLOOR: f64 = 10e6;

/// What the record of a run says of a cache that its strategies shared; nothing where each had its own, or was isolated.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SharedCache {
    /// Per strategy, why it is not compared.
    withheld: Vec<Option<Reason>>,
    /// Whether the server did not say what it wrote, so that nothing is withheld.
    pub is_unknown: bool,
}

impl SharedCache {
    /// Reads the parts of a run.
    pub fn of(parts: &BTreeMap<Part, RunRecord>) -> SharedCache {
        let Some(last) = inspected(parts).filter(|last| is_shared(last)) else {
            return SharedCache::default();
        };
        let bytes = (0..last.strategies.len()).map(|strategy| written_and_stored(parts, last, strategy));
        let Some(bytes) = bytes.collect::<Option<Vec<_>>>() else {
            return SharedCache { withheld: Vec::new(), is_unknown: true };
        };
        let dirty = bytes.iter().map(|(_, stored)| stored).sum();
        let cache = last.server.cache_bytes.map(|cache| cache as f64).filter(|cache| dirty > cache * DIRTY_SHARE);
        let of_all = cache.map(|cache| Reason::DirtyCache { dirty, cache });
        let excess = |(strategy, (written, stored))| excess(strategy, written, stored).or(of_all);
        let withheld = bytes.into_iter().enumerate().map(excess).collect();
        SharedCache { withheld, is_unknown: false }
    }

    /// Why a strategy is not compared.
    pub fn obstacle(&self, strategy: usize) -> Option<Reason> {
        self.withheld.get(strategy).copied().flatten()
    }
}

fn is_shared(record: &RunRecord) -> bool {
    let is_alone = record.settings.isolated.is_some() || record.strategies.len() < 2;
    record.server.servers == ServerSharing::Shared && !is_alone && !record.rounds.is_empty()
}

/// The bytes per round that a strategy wrote back from the cache in its measured slices, and those that it left to write:
/// growth of data and indexes, and the oplog of measured slices. `None` where the server did not report a counter. Only parts
/// between whose sizes the calls were made count, those measured up to `last`.
fn written_and_stored(parts: &BTreeMap<Part, RunRecord>, last: &RunRecord, strategy: usize) -> Option<(f64, f64)> {
    let place = |part: Part| last.settings.parts.iter().position(|other| *other == part);
    let end = last.part.and_then(place);
    let until = parts.iter().filter(|(part, _)| end.is_none() || place(**part) <= end);
    let all = || until.clone().flat_map(|(_, part)| cells(part, strategy));
    let sum = |counter| all().map(|cell| grown(cell, counter)).sum::<Option<f64>>();
    let stored: f64 = cells(last, strategy).map(|cell| (size(&cell.after) - size(&cell.before)).max(0.0)).sum();
    let rounds = last.rounds.len() as f64;
    Some((sum("cache_bytes_written")? / rounds, (stored + sum(OPLOG_BYTES)?) / rounds))
}

fn excess(strategy: usize, written: f64, stored: f64) -> Option<Reason> {
    let is_excess = written > FLOOR && written > stored * WRITE_BACK;
    is_excess.then_some(Reason::WriteBack { strategy, written, stored })
}

/// A counter's growth over the measured slices of a cell; own costs have it per operation.
fn grown(cell: &CellRecord, counter: &str) -> Option<f64> {
    if cell.own_counters.is_empty() {
        return cell.counters.get(counter).copied();
    }
    let called = cell.own_counters.iter().zip(&cell.operations).filter(|(_, operation)| operation.calls > 0);
    called.map(|(counters, _)| counters.get(counter).copied()).sum()
}

/// Data and indexes of all collections.
fn size(collections: &[CollectionSizes]) -> f64 {
    let of = |one: &CollectionSizes| one.size as f64 + one.indexes_in_use() as f64;
    collections.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    /// What linked stores in a round: 600 comments of 218 bytes, 20 bytes of index for each, and 260 bytes of oplog per call.
    const LINKED: f64 = 600.0 * 238.0 + 915.0 * 260.0;

    /// The same for all: embedded doubles its documents, and the unsafe one adds 12 buckets.
    const ALL: f64 = LINKED + 200.0 * 23_000.0 + 915.0 * 290.0 + 12.0 * 10_420.0 + 915.0 * 11_000.0;

    /// A run on a shared server with these bytes written back in the slices of every strategy, per round.
    fn run(written: [f64; 3]) -> BTreeMap<Part, RunRecord> {
        let mut run = sample::run(2);
        for cell in run.rounds.iter_mut().flat_map(|round| round.cells.iter_mut().zip(written)) {
            cell.0.counters.insert("cache_bytes_written".into(), cell.1);
        }
        run.all_parts()
    }

    fn withheld(parts: &BTreeMap<Part, RunRecord>) -> [Option<Reason>; 3] {
        let found = SharedCache::of(parts);
        [0, 1, 2].map(|strategy| found.obstacle(strategy))
    }

    #[test]
    fn more_written_back_than_stored_is_withheld() {
        assert_eq!(withheld(&run([14e6, 9.9e6, 30e6])), [None; 3], "below three times, or below the floor");
        let reason = Reason::WriteBack { strategy: 1, written: 11e6, stored: LINKED };
        assert_eq!(withheld(&run([14e6, 11e6, 30e6])), [None, Some(reason), None]);
    }

    #[test]
    fn a_cache_left_dirty_is_withheld_from_all() {
        let with = |cache: f64| {
            let mut parts = run([0.0; 3]);
            parts.values_mut().for_each(|part| part.server.cache_bytes = Some(cache as u64));
            withheld(&parts)
        };
        let cache = (ALL / DIRTY_SHARE).floor();
        assert_eq!(with(cache + 1.0), [None; 3]);
        let reason = Reason::DirtyCache { dirty: ALL, cache: cache - 1.0 };
        assert_eq!(with(cache - 1.0), [Some(reason); 3]);
    }

    #[test]
    fn bytes_of_all_parts_count() {
        let mut parts = run([0.0, 8e6, 0.0]);
        let mut own = parts[&Part::Saturation].clone();
        for cell in own.rounds.iter_mut().flat_map(|round| &mut round.cells) {
            let grown = BTreeMap::from([("cache_bytes_written".to_owned(), 2e6), (OPLOG_BYTES.to_owned(), 0.0)]);
            cell.own_counters = vec![grown.clone(), grown, BTreeMap::new()];
            cell.operations[2].calls = 0;
        }
        parts.insert(Part::Own, own);
        let reason = Reason::WriteBack { strategy: 1, written: 12e6, stored: LINKED };
        assert_eq!(withheld(&parts)[1], Some(reason));
    }

    #[test]
    fn nothing_is_withheld_where_nothing_is_shared_or_known() {
        let with = |change: &dyn Fn(&mut RunRecord)| {
            let mut parts = run([1e9; 3]);
            parts.values_mut().for_each(change);
            SharedCache::of(&parts)
        };
        let none = SharedCache::default();
        assert_eq!(with(&|run| run.settings.isolated = Some("asked for".into())), none);
        assert_eq!(with(&|run| run.server.servers = ServerSharing::PerStrategy), none);
        assert_eq!(with(&|run| run.rounds.clear()), none);
        for counter in ["cache_bytes_written", OPLOG_BYTES] {
            let found = with(&|run| run.rounds[1].cells[2].counters.retain(|name, _| name != counter));
            assert!(found.is_unknown && found.obstacle(0).is_none(), "{counter}");
        }
    }
}
