//! What a verification does with one database: it makes calls and reads rows.

use std::fmt::Display;

use crate::engine::{FatalError, Interpreter, RunError, StepError, fatal, is_alive, read_state};
use crate::plan::{EvalError, Frame};
use crate::server::steady::SteadyTarget;
use crate::server::{Db, Target};

use super::Verifier;
use super::call::{ArmDatabase, CallResult, FinishedCall};
use super::state::FinalState;

impl<T: Target> Verifier<'_, T> {
    /// Runs call `call` of the plan's first round on one strategy.
    ///
    /// # Errors
    /// When the scenario has a mistake or the connection is lost.
    pub(super) async fn call(&self, place: &ArmDatabase, call: u64) -> Result<FinishedCall, RunError> {
        self.call_through(self.target, place, call).await
    }

    /// The same with a target that sees the commands.
    ///
    /// # Errors
    /// As [`Verifier::call`].
    pub(super) async fn call_through(
        &self,
        target: &impl Target,
        place: &ArmDatabase,
        call: u64,
    ) -> Result<FinishedCall, RunError> {
        let (plan, timeout) = (self.plan, self.settings.timeout);
        let arm = &plan.arms[place.arm];
        let drawn = plan.draw(plan.round_seed(0), call, place.arm);
        let (operation, mut frame) = drawn.map_err(|error| FatalError::in_strategy(&arm.name, "draw", &error))?;
        let mistake = |frame: &Frame, error: &dyn Display| {
            let written = plan.operations[operation].written_call(frame);
            FatalError::in_strategy(&arm.name, format!("{written}, call {call}"), error)
        };
        let mut interpreter = Interpreter::new(target, &place.database);
        let result = tokio::time::timeout(timeout, interpreter.run(&arm.operations[operation], &mut frame)).await;
        let retries = interpreter.trace.retries.len() as u64;
        let is_interrupted = matches!(&result, Ok(Err(StepError::Failed { failure, .. })) if failure.is_interruption());
        let shape = plan.operations[operation].returns.as_ref();
        let past = result.as_ref().ok().and_then(|result| shape?.past(result.as_ref().ok()?).transpose());
        let past = past.transpose().map_err(|error| mistake(&frame, &error))?;
        let result = match result {
            Ok(Ok(value)) => {
                let canonical = shape.map_or_else(|| value.referenced(), |shape| shape.canonical(&value));
                CallResult::Value(canonical.map_err(|error| mistake(&frame, &error))?)
            }
            // An unsafe strategy may have damaged the data that its steps read.
            Ok(Err(error @ StepError::Invalid { .. })) if !arm.is_unsafe => {
                return Err(mistake(&frame, &error).into());
            }
            // A call of which nothing is known may meet a server that is lost, whether it writes or not.
            Ok(Err(error)) if error.is_connection_error() || interpreter.trace.is_outcome_unknown(Some(&error)) => {
                CallResult::Unknown(error.to_string())
            }
            Ok(Err(error)) => CallResult::Failed(error.to_string()),
            Err(_) => CallResult::Unknown(format!("no reply within {} s (--timeout)", timeout.as_secs_f64())),
        };
        match result {
            CallResult::Unknown(message) if !self.is_alive().await => {
                Err(RunError::Fatal(FatalError::ServerLost(message)))
            }
            result => Ok(FinishedCall { operation, result, past, retries, is_interrupted }),
        }
    }

    /// Whether the server answers, in time for a fault to end.
    async fn is_alive(&self) -> bool {
        match self.fault {
            Some(_) => is_alive(&SteadyTarget(self.target)).await,
            None => is_alive(self.target).await,
        }
    }

    /// Reads the rows of a strategy.
    pub(super) async fn state(&self, place: &ArmDatabase) -> Result<FinalState, RunError> {
        let db = Db { target: &SteadyTarget(self.target), name: &place.database };
        let state = read_state(&db, self.plan, place.arm).await;
        Ok(state.map_err(|error| fatal(&self.plan.arms[place.arm].name, "state", &error))?)
    }

    /// Returns the rows that all strategies must have right after loading.
    ///
    /// # Errors
    /// When a record cannot be drawn.
    pub(super) fn generated(&self) -> Result<FinalState, RunError> {
        let entities = self.plan.data.entities.iter().enumerate();
        let rows = entities.map(|(entity, this)| Ok((this.name.to_string(), self.plan.data.generated_rows(entity)?)));
        rows.collect::<Result<_, _>>().map_err(|error: EvalError| FatalError::in_all("load", &error).into())
    }
}
