//! One call in full: what it is, and what every strategy answers.

use std::cell::RefCell;
use std::fmt;

use crate::engine::RunError;
use crate::plan::{Argument, written};
use crate::results::verification::Phase;
use crate::server::Target;

use super::call::{self, Answer};
use super::{Verifier, is_same};

/// A call and the strategies' answers.
#[derive(Debug)]
pub struct Shown {
    call: u64,
    operation: String,
    /// Name and value.
    arguments: Vec<(String, String)>,
    /// Strategy and answer, the reference first.
    answers: Vec<(String, Answer)>,
}

impl Shown {
    /// Whether all strategies answer the same.
    pub fn is_equal(&self) -> bool {
        self.answers.iter().all(|(_, answer)| is_same(&self.answers[0].1, answer))
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "call {}: {}", self.call, self.operation)?;
        for (name, value) in &self.arguments {
            writeln!(out, "    {name}: {value}")?;
        }
        for (strategy, answer) in &self.answers {
            let remark = if is_same(&self.answers[0].1, answer) { "" } else { " (differs)" };
            writeln!(out, "{strategy} answers{remark}")?;
            match answer {
                Answer::Value(value) => match value.items() {
                    Some(items) => {
                        for (position, item) in items.enumerate() {
                            writeln!(out, "    [{position}] {}", written(&item))?;
                        }
                    }
                    None => writeln!(out, "    {}", written(value))?,
                },
                Answer::Failed(words) => writeln!(out, "    an error: {words}")?,
                Answer::Unknown(words) => writeln!(out, "    unknown: {words}")?,
            }
        }
        Ok(())
    }
}

impl<T: Target> Verifier<'_, T> {
    /// Makes all calls up to `call` on every strategy, one after the other, and gives the answers to the last.
    ///
    /// # Errors
    /// As [`Verifier::run`].
    pub async fn show(&self, call: u64) -> Result<Shown, RunError> {
        let mut databases = Vec::new();
        let mut answers = Vec::new();
        let result = self.answers(call, &RefCell::new(&mut databases), &mut answers).await;
        self.drop(&databases, result).await?;
        let (operation, arguments) = match call::arguments(self.plan, call) {
            None => (String::new(), Vec::new()),
            Some((operation, frame)) => {
                let operation = &self.plan.operations[operation];
                let argument = |argument: &Argument| (argument.name.to_string(), written(frame.slot(argument.slot)));
                (operation.name.to_string(), operation.arguments.iter().map(argument).collect())
            }
        };
        Ok(Shown { call, operation, arguments, answers })
    }

    async fn answers(
        &self,
        call: u64,
        databases: &RefCell<&mut Vec<String>>,
        answers: &mut Vec<(String, Answer)>,
    ) -> Result<(), RunError> {
        for arm in self.arms() {
            let database = self.provision(Phase::Sequential, arm, databases).await?;
            for before in 0..call {
                self.check_stop()?;
                call::make(self.plan, (arm, before), (self.target, &database), self.settings.timeout).await?;
            }
            let made = call::make(self.plan, (arm, call), (self.target, &database), self.settings.timeout).await?;
            answers.push((self.plan.arms[arm].name.clone(), made.answer));
        }
        Ok(())
    }
}
