//! The numbers of calls. A call is a pure function of (seed, number), so two phases that must not make the same calls
//! number theirs in different ranges.

use std::ops::Range;

/// Calls of the pilot. Smaller numbers are those of warm-up and measured calls, and of `verify`.
pub const PILOT: Range<u64> = 500_000_000..600_000_000;

/// Calls of a chosen operation, for query plans and `show`; each operation has `SAMPLES` of them.
pub const SAMPLE: Range<u64> = 600_000_000..900_000_000;

/// Calls that are never made, for `earlier` where there is no earlier call: nothing is found by their arguments.
pub const NEVER: Range<u64> = 900_000_000..1_500_000_000;

/// Sample calls of one operation.
const SAMPLES: u64 = 1_000_000;

/// The ordinal of the first record that calls make: call `n` makes record `FIRST_NEW_RECORD + n` of an entity. Loaded
/// records have smaller ordinals.
pub const FIRST_NEW_RECORD: u64 = 1_000_000_000;

/// The ordinals of records that calls make as children of another new record: `MOST_NEW_CHILDREN` for each call. All other
/// records have smaller ordinals.
const FIRST_NEW_CHILD: u64 = 1_000_000_000_000;

/// The most children with which a call makes a record.
pub const MOST_NEW_CHILDREN: u64 = 10_000;

/// Returns the ordinal of a child of the record that a call makes.
pub fn new_child(call: u64, number: u64) -> u64 {
    FIRST_NEW_CHILD + call * MOST_NEW_CHILDREN + number
}

/// Returns the call that makes the record with this ordinal; `None` for loaded records.
pub fn creator(ordinal: u64) -> Option<u64> {
    match ordinal.checked_sub(FIRST_NEW_CHILD) {
        Some(child) => Some(child / MOST_NEW_CHILDREN),
        None => ordinal.checked_sub(FIRST_NEW_RECORD),
    }
}

/// Returns the id of sample call `number` of an operation.
pub fn sample(operation: usize, number: u64) -> u64 {
    SAMPLE.start + operation as u64 * SAMPLES + number
}

/// Returns the place of a call among the instants of its database: sample calls come after what is loaded, as other calls do.
pub fn instant(call: u64) -> u64 {
    match sample_number(call) {
        Some(number) if SAMPLE.contains(&call) => {
            // Calls of all operations are made on one database.
            const OPERATIONS: u64 = (SAMPLE.end - SAMPLE.start) / SAMPLES;
            number * OPERATIONS + (call - SAMPLE.start) / SAMPLES
        }
        _ => call,
    }
}

/// Returns the number of an sample call among those of its operation; `None` for calls that a mix draws.
pub fn sample_number(call: u64) -> Option<u64> {
    (call >= SAMPLE.start).then(|| (call - SAMPLE.start) % SAMPLES)
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
        let ranges = [0..PILOT.start, PILOT, SAMPLE, NEVER];
        assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start && !pair[1].is_empty()));
    }

    #[test]
    fn ids_stay_in_their_ranges() {
        for operation in [0, 1, 299] {
            for number in [0, SAMPLES - 1] {
                let id = sample(operation, number);
                assert!(SAMPLE.contains(&id));
                assert_eq!(sample_number(id), Some(number));
            }
        }
        for call in [0, PILOT.start - 1, PILOT.start, SAMPLE.end - 1] {
            assert!(NEVER.contains(&never(call)));
        }
        assert_eq!(sample_number(PILOT.end - 1), None);
        assert_eq!(
            [instant(7), instant(sample(0, 0)), instant(sample(2, 1)), instant(NEVER.start)],
            [7, 0, 302, NEVER.start]
        );
    }
}
