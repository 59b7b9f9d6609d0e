//! Operations whose own time is mostly the wait for flushes of the journal: a faster disk would change their ratios.

use crate::results::RunRecord;

use super::break_even::writes;
use super::{judged, own_cost, own_time};

/// An operation of a strategy that mostly waits for flushes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlushWait {
    /// The operation.
    pub operation: usize,
    /// The strategy.
    pub strategy: usize,
    /// Its own time in nanoseconds.
    pub mean: f64,
    /// The server's CPU time in it, in nanoseconds.
    pub cpu: f64,
}

/// The writing operations that spend more than half of their own time off the CPU, where flushes, one for each round trip at
/// most, explain at least half of it. From the record of own costs; empty where the time of a flush is unknown, and with a
/// network that was added.
pub fn flush_waits(record: &RunRecord) -> Vec<FlushWait> {
    let Some(flush) = record.environment.journal_flush.filter(|_| record.settings.rtt == 0.0) else {
        return Vec::new();
    };
    let of = |operation: usize, strategy: usize| {
        let cost = own_cost(record, strategy, operation)?;
        let mean = own_time(record, strategy, operation)?;
        let cpu = cost.per_call("cpu_us")? * 1e3;
        let is_mostly = mean - cpu > mean / 2.0 && flush * 1e9 * cost.round_trips > mean / 2.0;
        is_mostly.then_some(FlushWait { operation, strategy, mean, cpu })
    };
    let writing = (0..record.operations.len()).filter(|operation| writes(record, *operation) == Some(true));
    writing.flat_map(|operation| judged(record).filter_map(move |strategy| of(operation, strategy))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::record::Part;

    #[test]
    fn operations_that_mostly_wait_for_flushes_are_found() {
        let mut own = sample::whole(&sample::run(3)).all_parts().remove(&Part::Own).unwrap();
        let found =
            |run: &RunRecord| flush_waits(run).iter().map(|one| (one.operation, one.strategy)).collect::<Vec<_>>();
        assert_eq!(found(&own), [], "the time of a flush is unknown");
        own.environment.journal_flush = Some(0.004);
        for cell in own.rounds.iter_mut().flat_map(|round| &mut round.cells) {
            for (operation, counters) in cell.own_counters.iter_mut().enumerate() {
                let oplog = if operation == 0 { 1e6 } else { 0.0 };
                counters.extend([("cpu_us".to_owned(), 1.0), ("oplog_bytes".to_owned(), oplog)]);
            }
        }
        // add_comment alone writes.
        assert_eq!(found(&own), [(0, 0), (0, 1)]);
        own.environment.journal_flush = Some(0.000_1);
        assert_eq!(found(&own), [], "flushes explain a small part");
        (own.environment.journal_flush, own.settings.rtt) = (Some(0.004), 0.01);
        assert_eq!(found(&own), [], "the network waits, too");
    }
}
