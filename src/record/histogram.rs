//! A latency histogram with the bounds that all of docshape shares.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

/// Significant decimal digits: values are kept to within 0.1 %.
const DIGITS: u8 = 3;

/// Nanoseconds, 1 ns up to a fixed bound, 3 significant digits: 216 KiB for a bound of 60 s.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencyHistogram {
    inner: Histogram<u64>,
    saturated: u64,
}

/// A histogram that cannot be read back.
#[derive(Debug, thiserror::Error)]
#[error("not a latency histogram: {0}")]
pub struct HistogramError(String);

impl LatencyHistogram {
    /// An empty histogram for values up to the larger of 60 s and twice the timeout.
    pub fn new(timeout: Duration) -> LatencyHistogram {
        let bound = Duration::from_secs(60).max(timeout.saturating_mul(2));
        let bound = u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX / 2);
        let inner = Histogram::new_with_bounds(1, bound, DIGITS).expect("1 ns to at least 60 s with 3 digits is valid");
        LatencyHistogram { inner, saturated: 0 }
    }

    /// Records a value; one above the bound is recorded as the bound, and counted.
    pub fn record(&mut self, nanoseconds: u64) {
        if nanoseconds > self.inner.high() {
            self.saturated += 1;
        }
        self.inner.saturating_record(nanoseconds);
    }

    /// Adds all values of another histogram.
    pub fn merge(&mut self, other: &LatencyHistogram) {
        self.saturated += other.saturated;
        self.inner.add(&other.inner).expect("all histograms of a run have the same bounds");
    }

    /// Forgets all values, keeping the memory.
    pub fn clear(&mut self) {
        self.inner.reset();
        self.saturated = 0;
    }

    /// How many values.
    pub fn count(&self) -> u64 {
        self.inner.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }

    /// How many values were above the bound.
    pub fn saturated(&self) -> u64 {
        self.saturated
    }

    /// The mean in nanoseconds; 0 when empty.
    pub fn mean(&self) -> f64 {
        self.inner.mean()
    }

    /// The sum of all values in nanoseconds, to the histogram's precision.
    pub fn sum(&self) -> f64 {
        self.inner.mean() * self.inner.len() as f64
    }

    /// The value in nanoseconds that this share (0 to 1) of the values does not exceed; 0 when empty.
    pub fn quantile(&self, share: f64) -> u64 {
        self.inner.value_at_quantile(share)
    }

    /// The largest value in nanoseconds; 0 when empty.
    pub fn max(&self) -> u64 {
        self.inner.max()
    }

    /// The histogram of the public HdrHistogram tools.
    pub fn as_hdr(&self) -> &Histogram<u64> {
        &self.inner
    }

    /// HdrHistogram V2, deflated, as base64.
    pub fn to_base64(&self) -> String {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&self.inner, &mut bytes).expect("writing to memory does not fail");
        BASE64.encode(bytes)
    }

    /// Reads [`LatencyHistogram::to_base64`].
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn from_base64(text: &str) -> Result<LatencyHistogram, HistogramError> {
        let bytes = BASE64.decode(text).map_err(|error| HistogramError(error.to_string()))?;
        let read: Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| HistogramError(error.to_string()))?;
        Ok(LatencyHistogram { inner: read, saturated: 0 })
    }
}

/// A finished histogram as its base64 text, about a hundredth of the size; so it is kept and so it stands on disk.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct StoredHistogram(String);

impl StoredHistogram {
    /// Stores a histogram.
    pub fn new(histogram: &LatencyHistogram) -> StoredHistogram {
        StoredHistogram(histogram.to_base64())
    }

    /// The histogram, without its count of saturated values.
    pub fn open(&self) -> LatencyHistogram {
        LatencyHistogram::from_base64(&self.0).expect("stored histograms are made or checked here")
    }
}

/// Text that is no histogram is refused when it is read.
impl<'de> Deserialize<'de> for StoredHistogram {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<StoredHistogram, D::Error> {
        let text = String::deserialize(deserializer)?;
        LatencyHistogram::from_base64(&text).map_err(serde::de::Error::custom)?;
        Ok(StoredHistogram(text))
    }
}

#[cfg(test)]
mod tests {
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
    fn foreign_text_is_refused() {
        for text in ["", "!!", "aGVsbG8gd29ybGQ="] {
            assert!(LatencyHistogram::from_base64(text).is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn text_round_trips(values in prop::collection::vec(1_u64..60_000_000_000, 0..200)) {
            let made = histogram(&values);
            let read = LatencyHistogram::from_base64(&made.to_base64()).unwrap();
            prop_assert_eq!(read.as_hdr(), made.as_hdr());
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
        fn quantiles_keep_three_digits(value in 1_u64..60_000_000_000) {
            let read = histogram(&[value]).quantile(0.5) as f64;
            prop_assert!((read / value as f64 - 1.0).abs() <= 0.001);
        }
    }
}
