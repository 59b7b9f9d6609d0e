//! What an evaluation may take, so that no scenario exhausts memory or the stack, or never ends.
//!
//! The budget belongs to the thread, because evaluations do not await: the outermost expression gets a fresh one, and what it
//! evaluates on the way (records, earlier calls, elements of lists) takes from the same. Outside of evaluations nothing is taken.

use std::cell::Cell;

use super::{EvalError, Value};

/// The most steps of one evaluation: expressions evaluated, elements made or visited. They take less than a second.
const MOST_STEPS: u64 = 4_000_000;
/// The most bytes of the values that one evaluation makes. Four documents of the greatest size.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// The most expressions inside each other, records that are drawn on the way included. Load threads have 2 MiB of stack.
const MOST_LEVELS: u32 = 128;

/// The most steps of all evaluations while a scenario is checked: some seconds.
const CHECK_STEPS: u64 = 40_000_000;
/// The most bytes of the values that are made while a scenario is checked.
const CHECK_BYTES: u64 = 256 * 1024 * 1024;

/// What is left of one resource.
struct Resource {
    /// For this evaluation.
    left: Cell<u64>,
    /// For all evaluations on this thread.
    left_for_all: Cell<u64>,
}

struct Budget {
    steps: Resource,
    bytes: Resource,
    levels: Cell<u32>,
}

thread_local! {
    static BUDGET: Budget =
        const { Budget { steps: Resource::unlimited(), bytes: Resource::unlimited(), levels: Cell::new(0) } };
}

impl Resource {
    const fn unlimited() -> Resource {
        Resource { left: Cell::new(u64::MAX), left_for_all: Cell::new(u64::MAX) }
    }

    /// Takes an amount, of which less may be left.
    fn take(&self, amount: u64) -> Result<(), Exhausted> {
        self.take_for_all(amount)?;
        let left = self.left.get().checked_sub(amount).ok_or(Exhausted::Evaluation)?;
        self.left.set(left);
        Ok(())
    }

    fn take_for_all(&self, amount: u64) -> Result<(), Exhausted> {
        let left = self.left_for_all.get().checked_sub(amount).ok_or(Exhausted::Scenario)?;
        self.left_for_all.set(left);
        Ok(())
    }
}

/// Less is left than was asked for, of one of the two.
#[derive(Clone, Copy)]
enum Exhausted {
    /// One evaluation takes too much.
    Evaluation,
    /// All evaluations of a scenario take too much together.
    Scenario,
}

impl Budget {
    fn take_steps(&self, steps: u64) -> Result<(), EvalError> {
        self.steps.take(steps).map_err(too_long)
    }

    fn take_bytes(&self, bytes: u64) -> Result<(), EvalError> {
        self.take_steps(bytes / 64)?;
        self.bytes.take(bytes).map_err(too_large)
    }
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
            budget.steps.left.set(MOST_STEPS);
            budget.bytes.left.set(MOST_BYTES);
        } else if levels == MOST_LEVELS {
            return Err(EvalError::new(format!(
                "is nested more than {MOST_LEVELS} deep, records that it draws included"
            )));
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
    BUDGET.with(|budget| {
        let left = |resource: &Resource, most: u64| resource.left_for_all.get() as f64 / most as f64;
        1.0 - left(&budget.steps, CHECK_STEPS).min(left(&budget.bytes, CHECK_BYTES))
    })
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
        budget.steps.take_for_all(20).map_err(too_long)?;
        budget.bytes.take_for_all(bytes).map_err(too_large)
    })
}

/// Evaluates what is made once for all evaluations, such as an index. Only a check's budget for all evaluations pays for it.
pub fn apart<T>(make: impl FnOnce() -> T) -> T {
    BUDGET.with(|budget| {
        let outer = (budget.steps.left.replace(u64::MAX), budget.bytes.left.replace(u64::MAX));
        let made = make();
        budget.steps.left.set(outer.0);
        budget.bytes.left.set(outer.1);
        made
    })
}

/// Checks a scenario with a budget for all of its evaluations together.
pub fn checking<T>(check: impl FnOnce() -> T) -> T {
    BUDGET.with(|budget| {
        let outer = (budget.steps.left_for_all.replace(CHECK_STEPS), budget.bytes.left_for_all.replace(CHECK_BYTES));
        let checked = check();
        budget.steps.left_for_all.set(outer.0);
        budget.bytes.left_for_all.set(outer.1);
        checked
    })
}

fn too_long(exhausted: Exhausted) -> EvalError {
    EvalError::new(match exhausted {
        Exhausted::Evaluation => format!("takes more than {} million steps", MOST_STEPS / 1_000_000),
        Exhausted::Scenario => format!("all of the scenario takes more than {} million steps", CHECK_STEPS / 1_000_000),
    })
}

fn too_large(exhausted: Exhausted) -> EvalError {
    EvalError::new(match exhausted {
        Exhausted::Evaluation => format!("makes values of more than {} MiB", MOST_BYTES >> 20),
        Exhausted::Scenario => format!("all of the scenario makes values of more than {} MiB", CHECK_BYTES >> 20),
    })
}
