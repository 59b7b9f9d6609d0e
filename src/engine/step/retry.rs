//! What happens after a failure: the next attempt of `retry`, or the steps of `catch`.

use crate::plan::{Caught, Frame, Step};
use crate::server::{Failure, FailureKind, Target};

use super::error::{Limit, StepError};
use super::interpreter::{Flow, Interpreter};
use super::trace::RetryCause;

impl<T: Target> Interpreter<'_, T> {
    /// Runs the steps until an attempt succeeds. Every attempt starts with the variables of the first one.
    pub(super) async fn retry(
        &mut self,
        errors: &[i32],
        attempts: u32,
        body: &[Step],
        frame: &mut Frame,
    ) -> Result<Flow, StepError> {
        let before = frame.snapshot();
        for attempt in 1..=attempts {
            let cause = match self.steps(body, frame).await {
                Ok(Flow::Retry) => RetryCause::Condition,
                Err(StepError::Failed { label, failure }) => match failure.code() {
                    Some(code) if errors.contains(&code) && attempt < attempts => RetryCause::Code(code),
                    _ => return Err(StepError::Failed { label, failure }),
                },
                ended => return ended,
            };
            self.trace.retries.push(cause);
            frame.restore(before.clone());
        }
        Err(StepError::LimitReached { label: "retry".to_owned(), limit: Limit::Attempts(attempts) })
    }

    /// Runs the steps, and those of the matching `catch` when the server fails one of them.
    pub(super) async fn catch(
        &mut self,
        body: &[Step],
        catches: &[(Caught, Vec<Step>)],
        frame: &mut Frame,
    ) -> Result<Flow, StepError> {
        match self.steps(body, frame).await {
            Err(StepError::Failed { label, failure }) => match catching(catches, &failure) {
                Some(steps) => self.steps(steps, frame).await,
                None => Err(StepError::Failed { label, failure }),
            },
            ended => ended,
        }
    }
}

/// The steps that catch a failure; an error code takes precedence over `size`.
fn catching<'s>(catches: &'s [(Caught, Vec<Step>)], failure: &Failure) -> Option<&'s [Step]> {
    let find = |expected| catches.iter().find(|(caught, _)| *caught == expected).map(|(_, steps)| steps.as_slice());
    let by_code = failure.code().and_then(|code| find(Caught::Code(code)));
    by_code.or_else(|| if is_too_large(failure) { find(Caught::Size) } else { None })
}

/// Whether the server, or the driver before it, found a document or message too large.
pub(super) fn is_too_large(failure: &Failure) -> bool {
    match failure.kind {
        FailureKind::Server(10334 | 17419) | FailureKind::TooLarge => true,
        FailureKind::Server(2) => failure.message.contains("too large"),
        FailureKind::Server(_)
        | FailureKind::WriteConcern(_)
        | FailureKind::Network
        | FailureKind::Timeout
        | FailureKind::Driver => false,
    }
}
