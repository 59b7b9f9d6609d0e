//! The numbers of calls. A call is a pure function of (seed, number), so two phases that must not make the same calls
//! number theirs in different ranges.

use std::ops::Range;

/// Warm-up and measured calls, and those of `verify`.
pub const MEASURED: Range<u64> = 0..500_000_000;

/// Calls of the pilot.
pub const PILOT: Range<u64> = 500_000_000..600_000_000;

/// Calls that find an operation's own cost; each operation has `OWN_COST_CALLS` of them.
pub const OWN_COST: Range<u64> = 600_000_000..900_000_000;

/// Calls that are never made, for `earlier` where there is no earlier call: nothing is found by their arguments.
pub const NEVER: Range<u64> = 900_000_000..1_500_000_000;

/// Own-cost calls of one operation.
const OWN_COST_CALLS: u64 = 1_000_000;

/// The ordinal of the first record that calls make: call `n` makes record `FIRST_NEW_RECORD + n` of an entity. Loaded
/// records have smaller ordinals.
pub const FIRST_NEW_RECORD: u64 = 1_000_000_000;

/// Returns the id of own-cost call `number` of an operation.
pub fn own_cost(operation: usize, number: u64) -> u64 {
    OWN_COST.start + operation as u64 * OWN_COST_CALLS + number
}

/// Returns the number of an own-cost call among those of its operation; `None` for calls that a mix draws.
pub fn own_cost_number(call: u64) -> Option<u64> {
    (call >= OWN_COST.start).then(|| (call - OWN_COST.start) % OWN_COST_CALLS)
}

/// Returns a call that is never made, for `call` to look back on.
pub fn never(call: u64) -> u64 {
    NEVER.start + call % (NEVER.end - NEVER.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_disjoint() {
        let ranges = [MEASURED, PILOT, OWN_COST, NEVER];
        assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start && !pair[1].is_empty()));
    }

    #[test]
    fn ids_stay_in_their_ranges() {
        for operation in [0, 1, 299] {
            for number in [0, OWN_COST_CALLS - 1] {
                let id = own_cost(operation, number);
                assert!(OWN_COST.contains(&id));
                assert_eq!(own_cost_number(id), Some(number));
            }
        }
        for call in [0, MEASURED.end - 1, PILOT.start, OWN_COST.end - 1] {
            assert!(NEVER.contains(&never(call)));
        }
        assert_eq!(own_cost_number(PILOT.end - 1), None);
    }
}
