//! How long calls get no answer after a fault.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Watches the answers of the calls of a slice in which a fault happens.
#[derive(Debug, Default)]
pub struct RecoveryWatch(Mutex<Answers>);

/// What was seen so far.
#[derive(Debug, Default)]
struct Answers {
    fault: Option<Instant>,
    last: Option<Instant>,
    recovery: Recovery,
}

/// How calls came through a fault.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Recovery {
    /// From the fault to the first answer to a call that was sent after it; `None` without one.
    pub recovered: Option<Duration>,
    /// The longest time without any answer that ended after the fault.
    pub longest_gap: Duration,
}

impl RecoveryWatch {
    /// Notes that the fault has happened.
    pub fn fault(&self, at: Instant) {
        self.lock().fault = Some(at);
    }

    /// Notes that a call was answered.
    pub fn answer(&self, sent: Instant, answered: Instant) {
        let mut seen = self.lock();
        if let Some(fault) = seen.fault {
            seen.note_gap(answered);
            if sent >= fault {
                seen.recovery.recovered.get_or_insert(answered.saturating_duration_since(fault));
            }
        }
        seen.last = seen.last.max(Some(answered));
    }

    /// What was seen by the end of the slice.
    pub fn finish(&self, end: Instant) -> Recovery {
        let mut seen = self.lock();
        seen.note_gap(end);
        seen.recovery
    }

    fn lock(&self) -> MutexGuard<'_, Answers> {
        // A panic elsewhere leaves the times as they were.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answers {
    fn note_gap(&mut self, until: Instant) {
        let since = self.last.or(self.fault).unwrap_or(until);
        self.recovery.longest_gap = self.recovery.longest_gap.max(until.saturating_duration_since(since));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovery_counts_from_the_fault_and_gaps_between_answers() {
        let (watch, start) = (RecoveryWatch::default(), Instant::now());
        let at = |millis| start + Duration::from_millis(millis);
        watch.answer(at(0), at(10));
        watch.answer(at(10), at(90));
        watch.fault(at(100));
        // The answer to a call that was sent before the fault.
        watch.answer(at(95), at(101));
        watch.answer(at(99), at(1_400));
        watch.answer(at(120), at(1_500));
        watch.answer(at(1_400), at(1_600));
        let seen = watch.finish(at(1_700));
        assert_eq!(seen.recovered, Some(Duration::from_millis(1_400)));
        assert_eq!(seen.longest_gap, Duration::from_millis(1_299));
    }

    #[test]
    fn without_an_answer_the_gap_lasts_to_the_end() {
        let (watch, start) = (RecoveryWatch::default(), Instant::now());
        watch.fault(start);
        let seen = watch.finish(start + Duration::from_secs(7));
        assert_eq!(seen, Recovery { recovered: None, longest_gap: Duration::from_secs(7) });
    }
}
