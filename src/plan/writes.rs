//! How often steps write, as far as is known before they run.

use super::program::{ReplyShape, Step};

/// The writes among the steps, nested ones included.
pub(super) fn writes(steps: &[Step]) -> usize {
    let in_step = |step: &Step| match step {
        Step::Command(command) => usize::from(command.writes),
        Step::Bulk(_) => 1,
        Step::If { then, otherwise, .. } => writes(then) + writes(otherwise),
        Step::ForEach { body, .. }
        | Step::While { body, .. }
        | Step::Retry { body, .. }
        | Step::Transaction { body, .. } => writes(body),
        Step::Try { body, catches } => writes(body) + catches.iter().map(|(_, steps)| writes(steps)).sum::<usize>(),
        Step::Let(_) | Step::Again(_) | Step::Abort(_) | Step::Return(_) => 0,
    };
    steps.iter().map(in_step).sum()
}

/// The most writes that one run of the steps can send; a write in a loop is several. What a `retry` repeats is counted
/// once: an attempt begins again where its write did nothing.
pub(super) fn most_writes(steps: &[Step]) -> usize {
    let in_step = |step: &Step| match step {
        Step::Command(command) => usize::from(command.changes),
        Step::Bulk(bulk) => 1 + usize::from(bulk.is_several()),
        Step::If { then, otherwise, .. } => most_writes(then).max(most_writes(otherwise)),
        Step::ForEach { body, .. } | Step::While { body, .. } => 2 * most_writes(body),
        Step::Retry { body, .. } => most_writes(body),
        // Others see its writes all at once, when it commits.
        Step::Transaction { body, .. } => most_writes(body).min(1),
        Step::Try { body, catches } => {
            most_writes(body) + catches.iter().map(|(_, steps)| most_writes(steps)).max().unwrap_or(0)
        }
        Step::Let(_) | Step::Again(_) | Step::Abort(_) | Step::Return(_) => 0,
    };
    steps.iter().map(in_step).sum()
}

pub(super) fn writes_outcome(reply: ReplyShape) -> bool {
    matches!(reply, ReplyShape::Insert | ReplyShape::Update | ReplyShape::Delete)
}
