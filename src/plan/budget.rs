//! What an evaluation may take, so that no scenario exhausts memory or the stack, or never ends.
//!
//! The budget belongs to the thread, because evaluations do not await: the outermost expression gets a fresh one, and what it
//! evaluates on the way (records, earlier calls, elements of lists) takes from the same. Outside of evaluations nothing is taken.

use std::cell::Cell;

use super::{EvalError, Value};

/// The most expressions inside each other, records that are drawn on the way included. Load threads have 2 MiB of stack.
const MOST_LEVELS: u32 = 128;

/// What is left of one resource.
struct Resource {
    left: Cell<u64>,
    most: u64,
    /// What the message that it is exhausted counts in, and the words before and after the count.
    unit: u64,
    before: &'static str,
    after: &'static str,
}

struct Budget {
    /// Of one evaluation: expressions evaluated, elements made or visited. They take less than a second.
    steps: Resource,
    /// Of the values that one evaluation makes. Four documents of the greatest size.
    bytes: Resource,
    /// Of all evaluations on this thread while a scenario is checked: some seconds.
    check_steps: Resource,
    /// Of the values that are made while a scenario is checked.
    check_bytes: Resource,
    levels: Cell<u32>,
}

thread_local! {
    static BUDGET: Budget = const {
        Budget {
            steps: Resource::new(4_000_000, 1_000_000, "takes more than", "million steps"),
            bytes: Resource::new(64 << 20, 1 << 20, "makes values of more than", "MiB"),
            check_steps: Resource::new(40_000_000, 1_000_000, "all of the scenario takes more than", "million steps"),
            check_bytes: Resource::new(256 << 20, 1 << 20, "all of the scenario makes values of more than", "MiB"),
            levels: Cell::new(0),
        }
    };
}

impl Resource {
    /// Unlimited until [`limited`] or [`enter`] limits it.
    const fn new(most: u64, unit: u64, before: &'static str, after: &'static str) -> Resource {
        Resource { left: Cell::new(u64::MAX), most, unit, before, after }
    }

    /// Takes an amount, of which less may be left.
    fn take(&self, amount: u64) -> Result<(), EvalError> {
        let exhausted = || EvalError::new(format!("{} {} {}", self.before, self.most / self.unit, self.after));
        self.left.set(self.left.get().checked_sub(amount).ok_or_else(exhausted)?);
        Ok(())
    }

    fn share_left(&self) -> f64 {
        self.left.get() as f64 / self.most as f64
    }
}

impl Budget {
    fn take_steps(&self, steps: u64) -> Result<(), EvalError> {
        self.check_steps.take(steps)?;
        self.steps.take(steps)
    }

    fn take_bytes(&self, bytes: u64) -> Result<(), EvalError> {
        self.take_steps(bytes / 64)?;
        self.check_bytes.take(bytes)?;
        self.bytes.take(bytes)
    }
}

/// Runs `inner` with other limits of two resources, which end with it.
fn limited<T>(resources: [&Resource; 2], limits: [u64; 2], inner: impl FnOnce() -> T) -> T {
    let outer = [resources[0].left.replace(limits[0]), resources[1].left.replace(limits[1])];
    let result = inner();
    resources.into_iter().zip(outer).for_each(|(resource, left)| resource.left.set(left));
    result
}

/// One expression inside others, as long as it is evaluated.
#[derive(Debug)]
pub struct Level(());

/// Begins an evaluation, or one inside of another.
///
/// # Errors
/// When the budget is exhausted, or the expressions are nested too deeply.
pub fn enter() -> Result<Level, EvalError> {
    BUDGET.with(|budget| {
        let levels = budget.levels.get();
        if levels == 0 {
            budget.steps.left.set(budget.steps.most);
            budget.bytes.left.set(budget.bytes.most);
        } else if levels == MOST_LEVELS {
            let message = format!("is nested more than {MOST_LEVELS} deep, records that it draws included");
            return Err(EvalError::new(message));
        }
        budget.levels.set(levels + 1);
        // From here on the level ends when it is dropped.
        let level = Level(());
        budget.take_steps(1)?;
        Ok(level)
    })
}

impl Drop for Level {
    fn drop(&mut self) {
        BUDGET.with(|budget| budget.levels.set(budget.levels.get() - 1));
    }
}

/// The share of what all evaluations of a check may take that is spent.
pub fn spent_share() -> f64 {
    BUDGET.with(|budget| 1.0 - budget.check_steps.share_left().min(budget.check_bytes.share_left()))
}

/// Takes steps, each about as long as visiting an element.
///
/// # Errors
/// When they are not left.
pub fn take_steps(steps: u64) -> Result<(), EvalError> {
    BUDGET.with(|budget| if budget.levels.get() == 0 { Ok(()) } else { budget.take_steps(steps) })
}

/// Takes the bytes of a value that is about to be made, and the steps of making it.
///
/// # Errors
/// When they are not left.
pub fn take_bytes(bytes: u64) -> Result<(), EvalError> {
    BUDGET.with(|budget| if budget.levels.get() == 0 { Ok(()) } else { budget.take_bytes(bytes) })
}

/// Takes what a list of this length needs.
///
/// # Errors
/// When it is not left.
pub fn take_list(length: usize) -> Result<(), EvalError> {
    take_steps(length as u64)?;
    take_bytes((length as u64).saturating_mul(size_of::<Value>() as u64))
}

/// Takes what one of very many records needs in an index or a count, which are made once for all evaluations.
///
/// # Errors
/// When it is not left.
pub fn take_record(bytes: u64) -> Result<(), EvalError> {
    BUDGET.with(|budget| {
        budget.check_steps.take(20)?;
        budget.check_bytes.take(bytes)
    })
}

/// Evaluates what is made once for all evaluations, such as an index. Only a check's budget for all evaluations pays for it.
pub fn apart<T>(make: impl FnOnce() -> T) -> T {
    BUDGET.with(|budget| limited([&budget.steps, &budget.bytes], [u64::MAX; 2], make))
}

/// Checks a scenario with a budget for all of its evaluations together.
pub fn checking<T>(check: impl FnOnce() -> T) -> T {
    BUDGET.with(|budget| {
        let resources = [&budget.check_steps, &budget.check_bytes];
        limited(resources, resources.map(|resource| resource.most), check)
    })
}
