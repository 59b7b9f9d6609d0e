//! Histograms of intervals, whose memory returns to the recorder.

use std::ops::Deref;
use std::sync::{Arc, Mutex};

use super::LatencyHistogram;

/// Cleared histograms. The lock is taken once per operation and interval, not per call.
#[derive(Debug, Clone, Default)]
pub(super) struct Spares(Arc<Mutex<Vec<LatencyHistogram>>>);

impl Spares {
    /// Takes a spare, or a copy of `empty` when there is none.
    #[cold]
    pub(super) fn take(&self, empty: &LatencyHistogram) -> LatencyHistogram {
        let spare = self.0.lock().ok().and_then(|mut spares| spares.pop());
        spare.unwrap_or_else(|| empty.clone())
    }

    /// Lends a histogram that becomes a spare when it is dropped.
    pub(super) fn lend(&self, histogram: LatencyHistogram) -> IntervalHistogram {
        IntervalHistogram { histogram: Some(histogram), home: self.clone() }
    }

    /// The number of spares.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.0.lock().map_or(0, |spares| spares.len())
    }
}

/// The times of one operation in one interval. Its memory returns to the recorder when it is dropped.
#[derive(Debug)]
pub struct IntervalHistogram {
    /// Taken only when dropped.
    histogram: Option<LatencyHistogram>,
    home: Spares,
}

impl Deref for IntervalHistogram {
    type Target = LatencyHistogram;

    fn deref(&self) -> &LatencyHistogram {
        self.histogram.as_ref().expect("taken only on drop")
    }
}

impl Drop for IntervalHistogram {
    fn drop(&mut self) {
        let Some(mut histogram) = self.histogram.take() else { return };
        // Cleared here, so that the load thread finds it ready.
        histogram.clear();
        if let Ok(mut spares) = self.home.0.lock() {
            spares.push(histogram);
        }
    }
}
