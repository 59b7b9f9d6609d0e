//! What happens after a failure: the next attempt of `retry`, or the steps of `catch`.

use std::time::Duration;

use crate::generate::{Label, Stream};
use crate::plan::{Caught, Frame, Retry, Step};
use crate::server::{Failure, FailureKind, Target};

use super::error::{Limit, StepError};
use super::interpreter::{Flow, Interpreter, Stepped};
use super::trace::RetryCause;

/// Labels the times before retries.
const DELAY: Label = Label::new("retry delay");

impl<T: Target> Interpreter<'_, T> {
    /// Runs the steps until an attempt succeeds. Every attempt starts with the variables of the first one.
    pub(super) async fn retry(&mut self, step: &Retry, frame: &mut Frame) -> Stepped {
        let before = frame.slots.clone();
        for attempt in 1..=step.attempts {
            let cause = match self.steps(&step.body, frame).await {
                Ok(Flow::Retry) => RetryCause::Condition,
                Err(StepError::Failed { label, failure }) => match failure.code() {
                    Some(code) if step.errors.contains(&code) && attempt < step.attempts => RetryCause::Code(code),
                    _ => return Err(StepError::Failed { label, failure }),
                },
                ended => return ended,
            };
            self.trace.retries.push(cause);
            frame.slots.clone_from(&before);
            if step.delay > 0 {
                let first = Duration::from_millis(step.delay.into());
                tokio::time::sleep(back_off(frame, DELAY, first, attempt)).await;
            }
        }
        Err(StepError::LimitReached { label: "retry".to_owned(), limit: Limit::Attempts(step.attempts) })
    }

    /// Runs the steps, and those of the matching `catch` when the server fails one of them.
    pub(super) async fn catch(&mut self, body: &[Step], catches: &[(Caught, Vec<Step>)], frame: &mut Frame) -> Stepped {
        match self.steps(body, frame).await {
            Err(StepError::Failed { label, failure }) => match catching(catches, &failure) {
                Some(steps) => self.steps(steps, frame).await,
                None => Err(StepError::Failed { label, failure }),
            },
            ended => ended,
        }
    }
}

/// Returns the time to wait before a retry (from 1): a random part of `first`, of 1.5 times as much for each further retry,
/// and of at most 500 ms or `first`.
pub(super) fn back_off(frame: &Frame, label: Label, first: Duration, retry: u32) -> Duration {
    const GROWTH: f64 = 1.5;
    const MOST: f64 = 0.5;
    let part = Stream::new(frame.seed.derive(label, u64::from(retry)), label, frame.ordinal).unit();
    let first = first.as_secs_f64();
    let longest = first * GROWTH.powi(retry.saturating_sub(1).min(64) as i32);
    Duration::from_secs_f64(part * longest.min(MOST.max(first)))
}

/// The steps that catch a failure; an error code takes precedence over `size`.
fn catching<'s>(catches: &'s [(Caught, Vec<Step>)], failure: &Failure) -> Option<&'s [Step]> {
    let find = |expected| catches.iter().find(|(caught, _)| *caught == expected).map(|(_, steps)| steps.as_slice());
    let by_code = failure.code().and_then(|code| find(Caught::Code(code)));
    by_code.or_else(|| if is_too_large(failure) { find(Caught::Size) } else { None })
}

/// Whether the server, or the driver before it, found a document or message too large.
pub(super) fn is_too_large(failure: &Failure) -> bool {
    let says_so = || failure.kind == FailureKind::Server(2) && failure.message.contains("too large");
    matches!(failure.kind, FailureKind::Server(10334 | 17419) | FailureKind::TooLarge) || says_so()
}
