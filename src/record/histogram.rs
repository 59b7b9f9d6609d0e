//! A latency histogram with the bounds that all of docshape shares.

use std::io::Read;
use std::ops::RangeInclusive;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::{Deserialize, Serialize};

/// Significant decimal digits: values are kept to within 1 %. Means are exact, and the noise floor of comparisons is wider; a third
/// digit makes a histogram seven times as large in memory, and a record more than twice as large.
pub const DIGITS: u8 = 2;

/// Digits of histograms that are read. Records had three before 2026-11-28.
const READ_DIGITS: RangeInclusive<u8> = DIGITS..=3;

/// The bounds that timeouts lead to, in nanoseconds.
const BOUNDS: RangeInclusive<u64> = 60_000_000_000..=u64::MAX / 2;

/// No run has more calls; below it, sums of counts cannot overflow.
const MOST: u64 = 1 << 48;

/// Nanoseconds, 1 ns up to a fixed bound, 2 significant digits: 30 KiB for a bound of 60 s.
///
/// The sum is kept exactly, so that means are not rounded.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencyHistogram {
    inner: Histogram<u64>,
    sum: u64,
    saturated: u64,
}

/// Why no histogram with docshape's bounds is refused.
const VALID: &str = "2 digits from 1 ns to at least 60 s are valid";

impl LatencyHistogram {
    /// An empty histogram for values up to the larger of 60 s and twice the timeout.
    pub fn new(timeout: Duration) -> LatencyHistogram {
        let bound = u64::try_from(timeout.as_nanos().saturating_mul(2)).unwrap_or(u64::MAX);
        let bound = bound.clamp(*BOUNDS.start(), *BOUNDS.end());
        let inner = Histogram::new_with_bounds(1, bound, DIGITS).expect(VALID);
        LatencyHistogram { inner, sum: 0, saturated: 0 }
    }

    /// Records a value. One above the bound is recorded as the bound and counted as saturated.
    pub fn record(&mut self, nanoseconds: u64) {
        let bound = self.inner.high();
        self.inner.saturating_record(nanoseconds.min(bound));
        self.sum = self.sum.saturating_add(nanoseconds);
        if nanoseconds > bound {
            self.saturated += 1;
        }
    }

    /// Adds all values of another histogram, those above this one's bound as [`LatencyHistogram::record`] does.
    pub fn merge(&mut self, other: &LatencyHistogram) {
        self.sum = self.sum.saturating_add(other.sum);
        let bound = self.inner.high();
        if other.inner.high() <= bound && self.inner.add(&other.inner).is_ok() {
            self.saturated = self.saturated.saturating_add(other.saturated);
            return;
        }
        let mut above: u64 = 0;
        for step in other.inner.iter_recorded() {
            let (value, count) = (other.inner.lowest_equivalent(step.value_iterated_to()), step.count_at_value());
            self.inner.saturating_record_n(value.min(bound), count);
            above = above.saturating_add(if value > bound { count } else { 0 });
        }
        // Values above the other's bound were recorded there as that bound, so they are among these.
        self.saturated = self.saturated.saturating_add(above.max(other.saturated));
    }

    /// How many values are at most this, to within the histogram's 1 %.
    pub fn count_up_to(&self, nanoseconds: u64) -> u64 {
        self.inner.count_between(0, nanoseconds)
    }

    /// Removes all values and keeps the memory.
    pub fn clear(&mut self) {
        self.inner.reset();
        self.sum = 0;
        self.saturated = 0;
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.inner.len()
    }

    /// The number of values above the bound.
    pub fn saturated(&self) -> u64 {
        self.saturated
    }

    /// The exact sum of all values in nanoseconds.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// The value in nanoseconds that this share (0 to 1) of the values does not exceed, the middle of those that are kept alike; 0
    /// when empty.
    pub fn quantile(&self, share: f64) -> u64 {
        self.inner.median_equivalent(self.inner.value_at_quantile(share))
    }

    /// The largest value in nanoseconds, the middle of those that are kept alike; 0 when empty.
    pub fn max(&self) -> u64 {
        self.inner.median_equivalent(self.inner.max())
    }

    /// The histogram of the public HdrHistogram tools.
    pub fn as_hdr(&self) -> &Histogram<u64> {
        &self.inner
    }

    /// HdrHistogram V2 as base64. It is not deflated: a compressed file of many histograms is then a tenth smaller.
    pub fn to_base64(&self) -> String {
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&self.inner, &mut bytes).expect("writing to memory does not fail");
        BASE64.encode(bytes)
    }

    /// Reads [`LatencyHistogram::to_base64`], deflated or not, and rounds three digits to two. The text contains neither the number of
    /// saturated values, which becomes 0, nor the exact sum, which becomes that of the rounded values.
    ///
    /// # Errors
    /// When the text is not a histogram with docshape's digits and bounds.
    pub fn from_base64(text: &str) -> Result<LatencyHistogram, String> {
        let bytes = BASE64.decode(text).map_err(|error| error.to_string())?;
        let plain = plain(bytes)?;
        let inner: Histogram<u64> =
            Deserializer::new().deserialize(&mut plain.as_slice()).map_err(|error| error.to_string())?;
        if !READ_DIGITS.contains(&inner.sigfig()) || inner.low() != 1 || !BOUNDS.contains(&inner.high()) {
            let (digits, low, high) = (inner.sigfig(), inner.low(), inner.high());
            return Err(format!("it has {digits} digits from {low} to {high}, not {DIGITS} from 1 ns to 60 s or more"));
        }
        if inner.len() > MOST {
            return Err("it counts more values than any run can make".to_owned());
        }
        let inner = if inner.sigfig() == DIGITS { inner } else { rounded(&inner)? };
        let sum = u64::try_from(sum_of(&inner, |value| inner.median_equivalent(value))).unwrap_or(u64::MAX);
        Ok(LatencyHistogram { inner, sum, saturated: 0 })
    }

    /// The smallest and the largest sum in nanoseconds that the values can have.
    pub fn sums(&self) -> RangeInclusive<u128> {
        let inner = &self.inner;
        let lowest = sum_of(inner, |value| inner.lowest_equivalent(value));
        lowest..=sum_of(inner, |value| inner.highest_equivalent(value))
    }
}

/// A histogram with [`DIGITS`].
fn rounded(histogram: &Histogram<u64>) -> Result<Histogram<u64>, String> {
    let mut rounded = Histogram::new_with_bounds(1, histogram.high(), DIGITS).expect(VALID);
    rounded.add(histogram).map_err(|error| error.to_string())?;
    Ok(rounded)
}

/// The sum of all values, each replaced by `of` the recorded one.
fn sum_of(histogram: &Histogram<u64>, of: impl Fn(u64) -> u64) -> u128 {
    let steps = histogram.iter_recorded();
    let sums = steps.map(|step| u128::from(of(step.value_iterated_to())) * u128::from(step.count_at_value()));
    sums.fold(0, u128::saturating_add)
}

/// The first bytes of a histogram.
const PLAIN: [u8; 4] = 0x1c84_9313_u32.to_be_bytes();

/// The first bytes of a deflated one, which its length (4 bytes) follows. Records had them before 2026-11-28.
const DEFLATED: [u8; 4] = 0x1c84_9314_u32.to_be_bytes();

/// Inflates a histogram if need be, and rejects what would make the library's reader allocate gigabytes or panic.
fn plain(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    /// Mark, length of the counts, offset, digits, low, high, ratio.
    const HEADER: usize = 40;
    /// Twice the counts of the widest bounds, 9 bytes each.
    const LONGEST: u64 = 1 << 20;
    let mut plain = Vec::new();
    if bytes.starts_with(&PLAIN) {
        plain = bytes;
    } else {
        let deflated = bytes.get(8..).filter(|_| bytes.starts_with(&DEFLATED)).ok_or("it is not in the V2 form")?;
        let read = ZlibDecoder::new(deflated).take(LONGEST).read_to_end(&mut plain);
        read.map_err(|error| error.to_string())?;
    }
    let stated = plain.get(4..8).and_then(|length| length.try_into().ok()).map(u32::from_be_bytes);
    if stated.and_then(|length| usize::try_from(length).ok()?.checked_add(HEADER)) != Some(plain.len()) {
        return Err("its length is not the one that it states".to_owned());
    }
    // The encoding of `i64::MIN`, which the reader would negate.
    if plain[HEADER..].windows(9).any(|bytes| bytes == [0xff; 9]) {
        return Err("one of its counts is impossible".to_owned());
    }
    Ok(plain)
}

/// A finished histogram as its base64 text, in memory and on disk: less than a hundredth of the size.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct StoredHistogram(String);

impl StoredHistogram {
    /// Stores a histogram.
    pub fn new(histogram: &LatencyHistogram) -> StoredHistogram {
        StoredHistogram(histogram.to_base64())
    }

    /// The histogram, as [`LatencyHistogram::from_base64`] gives it.
    pub fn open(&self) -> LatencyHistogram {
        LatencyHistogram::from_base64(&self.0).expect("checked when created")
    }
}

/// Rejects text that is not a histogram.
impl<'de> Deserialize<'de> for StoredHistogram {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<StoredHistogram, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = |reason| serde::de::Error::custom(format!("not a latency histogram: {reason}"));
        LatencyHistogram::from_base64(&text).map(|read| StoredHistogram::new(&read)).map_err(wrong)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    fn histogram(values: &[u64]) -> LatencyHistogram {
        let mut made = LatencyHistogram::new(Duration::from_secs(10));
        values.iter().for_each(|value| made.record(*value));
        made
    }

    #[test]
    fn what_is_above_the_bound_is_counted() {
        let made = histogram(&[1, u64::MAX, 61_000_000_000_000]);
        assert_eq!((made.count(), made.saturated()), (3, 2));
    }

    #[test]
    fn the_sum_is_exact() {
        assert_eq!(histogram(&[1_000_003, 2_000_006, 70_000_000_001]).sum(), 70_003_000_010);
        assert_eq!(histogram(&[]).sum(), 0);
    }

    #[test]
    fn bounds_follow_the_timeout() {
        let high = |seconds| LatencyHistogram::new(Duration::from_secs(seconds)).as_hdr().high();
        assert_eq!([high(10), high(45), high(u64::MAX)], [60_000_000_000, 90_000_000_000, u64::MAX / 2]);
    }

    #[test]
    fn narrower_bounds_saturate_when_merging() {
        let mut narrow = histogram(&[7]);
        let mut wide = LatencyHistogram::new(Duration::from_secs(500));
        [9, 59_000_000_000, 900_000_000_000].into_iter().for_each(|value| wide.record(value));
        narrow.merge(&wide);
        assert_eq!((narrow.count(), narrow.saturated(), narrow.sum()), (4, 1, 959_000_000_016));
        wide.merge(&histogram(&[61_000_000_000]));
        assert_eq!((wide.count(), wide.saturated()), (4, 1));
    }

    #[test]
    fn foreign_text_is_refused() {
        for text in ["", "!!", "aGVsbG8gd29ybGQ="] {
            assert!(LatencyHistogram::from_base64(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn foreign_digits_and_bounds_are_refused() {
        let error = |low, high, digits| {
            let mut inner = Histogram::new_with_bounds(low, high, digits).unwrap();
            inner.record(5_000).unwrap();
            let foreign = LatencyHistogram { inner, sum: 5_000, saturated: 0 };
            LatencyHistogram::from_base64(&foreign.to_base64()).unwrap_err()
        };
        for (low, high, digits) in
            [(1, 60_000_000_000, 1), (1, 1_000_000, 2), (1_000, 60_000_000_000, 2), (1, u64::MAX, 2)]
        {
            let message = format!("it has {digits} digits from {low} to {high}");
            assert!(error(low, high, digits).contains(&message), "{message}");
        }
    }

    /// A histogram of docshape's bounds that states a length, with these bytes for its counts.
    fn crafted(length: u32, counts: &[u8]) -> Vec<u8> {
        let mut plain = Vec::from(PLAIN);
        [length, 0, 3].iter().for_each(|number| plain.extend(number.to_be_bytes()));
        [1, 60_000_000_000_u64].iter().for_each(|number| plain.extend(number.to_be_bytes()));
        plain.extend(1.0_f64.to_be_bytes());
        plain.extend(counts);
        plain
    }

    fn deflated(plain: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::from(DEFLATED);
        let mut deflated = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        deflated.write_all(plain).unwrap();
        let deflated = deflated.finish().unwrap();
        bytes.extend((deflated.len() as u32).to_be_bytes());
        bytes.extend(deflated);
        bytes
    }

    /// Reads bytes as they are and deflated, which must give the same.
    fn read(plain: &[u8]) -> Result<LatencyHistogram, String> {
        let [read, inflated] =
            [plain.to_vec(), deflated(plain)].map(|one| LatencyHistogram::from_base64(&BASE64.encode(one)));
        assert_eq!(read, inflated);
        read
    }

    #[test]
    fn three_digits_become_two() {
        let values = [7, 123_456, 123_999, 59_876_543_210];
        let mut precise = Histogram::new_with_bounds(1, 60_000_000_000, 3).unwrap();
        values.iter().for_each(|value| precise.record(*value).unwrap());
        let precise = LatencyHistogram { inner: precise, sum: 0, saturated: 0 };
        let (read, made) = (LatencyHistogram::from_base64(&precise.to_base64()).unwrap(), histogram(&values));
        assert_eq!(read.as_hdr(), made.as_hdr());
        assert!(read.sums().contains(&u128::from(made.sum())));
    }

    #[test]
    fn crafted_counts_do_no_harm() {
        assert_eq!(read(&crafted(2, &[0, 2])).unwrap().count(), 1);
        for (length, counts) in [(u32::MAX, &[2][..]), (9, &[0xff; 9]), (1, &[0x80]), (10, &[0xff; 10])] {
            assert!(read(&crafted(length, counts)).is_err(), "{length} {counts:?}");
        }
    }

    proptest! {
        #[test]
        fn text_round_trips(values in prop::collection::vec(1_u64..60_000_000_000, 0..200)) {
            let made = histogram(&values);
            let read = LatencyHistogram::from_base64(&made.to_base64()).unwrap();
            prop_assert_eq!(read.as_hdr(), made.as_hdr());
            prop_assert!(read.sums().contains(&u128::from(made.sum())));
            prop_assert!(read.sum().abs_diff(made.sum()) <= made.sum() / 100);
        }

        #[test]
        fn any_counts_are_read_or_refused(counts in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(mut read) = read(&crafted(counts.len() as u32, &counts)) {
                read.merge(&read.clone());
                prop_assert!(read.sums().start() <= read.sums().end());
                prop_assert!(read.quantile(0.5) <= read.max());
            }
        }

        #[test]
        fn a_cleared_histogram_is_as_new(
            before in prop::collection::vec(any::<u64>(), 0..50),
            after in prop::collection::vec(any::<u64>(), 0..50),
        ) {
            let mut reused = histogram(&before);
            reused.clear();
            after.iter().for_each(|value| reused.record(*value));
            prop_assert_eq!(reused, histogram(&after));
        }

        #[test]
        fn merging_equals_recording_all(
            a in prop::collection::vec(1_u64..60_000_000_000, 0..100),
            b in prop::collection::vec(1_u64..60_000_000_000, 0..100),
        ) {
            let mut merged = histogram(&a);
            merged.merge(&histogram(&b));
            prop_assert_eq!(merged, histogram(&[a, b].concat()));
        }

        #[test]
        fn quantiles_keep_two_digits(value in 1_u64..60_000_000_000) {
            let read = histogram(&[value]).quantile(0.5) as f64;
            prop_assert!((read / value as f64 - 1.0).abs() <= 0.01);
        }
    }
}
