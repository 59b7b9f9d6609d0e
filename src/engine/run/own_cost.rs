//! Own costs: what one call of each operation costs the server when nothing else runs.

use crate::engine::load::clients::no_reply_within;
use crate::engine::load::slice::{FatalError, is_alive};
use crate::engine::step::explain::ExplainTarget;
use crate::engine::step::interpreter::{Interpreter, StepError};
use crate::plan::call_id;
use crate::results::{OwnCostRecord, QueryPlanRecord};
use crate::server::meter::{Meter, Usage};
use crate::server::{FailureKind, Target};

use super::cell::ArmRound;
use super::error::RunError;
use super::experiment::Experiment;
use super::provision::Purpose;

/// Calls before the counted ones: they fill caches, and their commands are explained.
const UNCOUNTED: u64 = 5;

/// The own costs of all strategies.
#[derive(Debug, Default)]
pub struct OwnCosts {
    /// An entry per strategy and operation of the mix.
    pub costs: Vec<OwnCostRecord>,
    /// How the server finds the documents of their commands.
    pub query_plans: Vec<QueryPlanRecord>,
    /// Problems of the query plans.
    pub warnings: Vec<String>,
}

/// The result of one call.
struct OwnCall {
    round_trips: u64,
    /// The message when the server failed it.
    server_error: Option<String>,
}

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    /// Makes `calls` calls of every operation of the mix, one after the other, for every strategy on fresh databases. All
    /// strategies get the same calls.
    ///
    /// # Errors
    /// As [`RunError`] says. The databases are dropped in any case.
    pub async fn own_costs(&self, calls: u64) -> Result<OwnCosts, RunError> {
        let mut costs = OwnCosts::default();
        for (arm, _) in self.plan.arms.iter().enumerate().filter(|(_, arm)| !arm.is_repeat) {
            self.on_databases(false, async |databases| {
                let cell = self.provision(Purpose::OwnCost, arm, databases).await?;
                self.flush(&[arm]).await?;
                let mut meter = Meter::new(self.target(arm)).await;
                for (operation, _) in self.plan.mix.weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
                    self.explain(&cell, operation, &mut costs).await?;
                    meter.invalidate();
                    costs.costs.push(self.own_cost(&cell, operation, calls, &mut meter).await?);
                }
                Ok(())
            })
            .await?;
        }
        Ok(costs)
    }

    /// Makes the uncounted calls and explains every distinct command of theirs.
    async fn explain(&self, cell: &ArmRound, operation: usize, costs: &mut OwnCosts) -> Result<(), RunError> {
        let target = ExplainTarget::new(self.target(cell.arm));
        for number in 0..UNCOUNTED {
            self.stop.check()?;
            self.own_call(&target, cell, operation, number).await?;
        }
        let (strategy, operation) = (&self.plan.arms[cell.arm].name, &self.plan.operations[operation].name);
        for plan in target.into_plans() {
            let problem = |problem| {
                format!("Strategy {strategy}, operation {operation}: `{}` {problem}; is an index missing?", plan.step)
            };
            costs.warnings.extend(plan.problems().map(problem));
            costs.query_plans.push(QueryPlanRecord {
                strategy: strategy.clone(),
                operation: operation.to_string(),
                step: plan.step.clone(),
                stages: plan.stages.clone(),
                indexes: plan.indexes.clone(),
            });
        }
        Ok(())
    }

    /// Makes the counted calls.
    async fn own_cost(
        &self,
        cell: &ArmRound,
        operation: usize,
        calls: u64,
        meter: &mut Meter,
    ) -> Result<OwnCostRecord, RunError> {
        let (mut round_trips, mut failed, mut first_error) = (0, 0, None);
        let mut usage = Usage::default();
        meter.begin(self.target(cell.arm)).await;
        for number in UNCOUNTED..UNCOUNTED + calls {
            self.stop.check()?;
            let call = self.own_call(self.target(cell.arm), cell, operation, number).await?;
            round_trips += call.round_trips;
            failed += u64::from(call.server_error.is_some());
            first_error = first_error.or(call.server_error);
        }
        meter.end(self.target(cell.arm), &cell.database, &mut usage).await;
        let strategy = self.plan.arms[cell.arm].name.clone();
        let operation = self.plan.operations[operation].name.to_string();
        match first_error {
            Some(message) if failed == calls => Err(RunError::AlwaysFails { strategy, operation, calls, message }),
            _ => Ok(OwnCostRecord { strategy, operation, calls, round_trips, counters: meter.cost(&usage) }),
        }
    }

    /// Makes one call of one operation.
    async fn own_call(
        &self,
        target: &impl Target,
        cell: &ArmRound,
        operation: usize,
        number: u64,
    ) -> Result<OwnCall, RunError> {
        let (plan, arm) = (&self.plan, &self.plan.arms[cell.arm]);
        let mistake = |message: String| FatalError::Scenario {
            strategy: arm.name.clone(),
            operation: plan.operations[operation].name.to_string(),
            message,
        };
        let program = &arm.operations[operation];
        let index = call_id::own_cost(operation, number);
        let drawn = plan.arguments(operation, plan.round_seed(0), index, program.slots);
        let mut frame = drawn.map_err(|error| mistake(error.to_string()))?;
        let mut interpreter = Interpreter::new(target, &cell.database);
        let timeout = self.settings.timeout();
        let result = tokio::time::timeout(timeout, interpreter.run(program, &mut frame)).await;
        let round_trips = interpreter.trace.round_trips;
        let (server_error, lost) = match result {
            Ok(Ok(_) | Err(StepError::LimitReached { .. })) => (None, None),
            Ok(Err(error @ StepError::Invalid { .. })) => return Err(mistake(error.to_string()).into()),
            Ok(Err(StepError::Failed { label, failure })) => match failure.kind {
                FailureKind::Server(_) => (Some(format!("{label}: {}", failure.message)), None),
                FailureKind::Network => (None, Some(failure.message)),
                FailureKind::TooLarge | FailureKind::Timeout | FailureKind::Driver => (None, None),
            },
            Err(_) => (None, Some(no_reply_within(timeout))),
        };
        match lost {
            Some(message) if !is_alive(self.target(cell.arm)).await => Err(FatalError::ServerLost(message).into()),
            _ => Ok(OwnCall { round_trips, server_error }),
        }
    }
}
