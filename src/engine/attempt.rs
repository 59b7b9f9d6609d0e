//! What is done after a failure: attempts of `retry`, steps of `catch`.

use crate::plan::{Caught, Frame, Step};
use crate::server::{Failure, FailureKind, Target};

use super::interpret::{Bound, Flow, Halt, Interpreter, Retry};

impl<T: Target> Interpreter<'_, T> {
    /// Every attempt begins with the variables that the first one began with.
    pub(super) async fn retry(
        &mut self,
        errors: &[i32],
        attempts: u32,
        (body, reply): (&[Step], usize),
        frame: &mut Frame,
    ) -> Result<Flow, Halt> {
        let before = frame.snapshot();
        for attempt in 1..=attempts {
            let cause = match self.steps(body, reply, frame).await {
                Ok(Flow::Again) => Retry::Again,
                Ok(flow) => return Ok(flow),
                Err(Halt::Failed { label, failure }) => match failure.kind {
                    FailureKind::Server(code) if errors.contains(&code) && attempt < attempts => Retry::Code(code),
                    _ => return Err(Halt::Failed { label, failure }),
                },
                Err(halt) => return Err(halt),
            };
            self.tally.retries.push(cause);
            frame.restore(before.clone());
        }
        Err(Halt::Exhausted { label: "retry".to_owned(), bound: Bound::Attempts(attempts) })
    }
}

/// What is done instead of what failed; a code that is named goes before `size`.
pub(super) fn catching<'s>(catches: &'s [(Caught, Vec<Step>)], failure: &Failure) -> Option<&'s [Step]> {
    let find = |wanted: Caught| catches.iter().find(|(caught, _)| *caught == wanted).map(|(_, steps)| steps.as_slice());
    let by_code = failure.code().and_then(|code| find(Caught::Code(code)));
    by_code.or_else(|| if is_size(failure) { find(Caught::Size) } else { None })
}

/// The codes with which the server, or the driver before it, refuses what is too large.
pub(super) fn is_size(failure: &Failure) -> bool {
    match failure.kind {
        FailureKind::Server(10334 | 17419) | FailureKind::TooLarge => true,
        FailureKind::Server(2) => failure.message.contains("too large"),
        _ => false,
    }
}
