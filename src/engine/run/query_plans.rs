//! How the server finds the documents of every read step, asked once before the first round.

use crate::engine::load::clients::no_reply_within;
use crate::engine::load::slice::{FatalError, check_alive};
use crate::engine::step::error::StepError;
use crate::engine::step::explain::{ExplainTarget, QueryPlan};
use crate::engine::step::interpreter::Interpreter;
use crate::engine::step::missing_index::MissingIndex;
use crate::plan::call_id;
use crate::results::QueryPlanRecord;
use crate::server::flush::journal_flush;
use crate::server::{Db, FailureKind, Target};

use super::cell::ArmRound;
use super::error::Result;
use super::event::RunPhase;
use super::experiment::Experiment;

/// Calls of each operation whose commands are explained.
const CALLS: u64 = 5;

/// The query plans of all strategies.
#[derive(Debug, Default)]
pub struct QueryPlans {
    /// An entry per distinct command.
    pub plans: Vec<QueryPlanRecord>,
    /// The indexes that they lack.
    pub warnings: Vec<String>,
    /// How long the first strategy's server takes to flush its journal, in seconds; `None` where it takes no time, or refuses.
    pub journal_flush: Option<f64>,
}

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    /// Makes some calls of every operation of the mix, for every strategy on fresh databases, and explains every distinct
    /// command of theirs.
    ///
    /// # Errors
    /// As [`RunError`](super::error::RunError) says. The databases are dropped in any case.
    pub async fn query_plans(&self) -> Result<QueryPlans> {
        let (mut plans, mut missing) = (QueryPlans::default(), Vec::new());
        for (arm, _) in self.plan.arms.iter().enumerate().filter(|(_, arm)| !arm.is_repeat) {
            self.on_databases(false, async {
                let cell = self.provision(None, RunPhase::Explain, arm).await?;
                for (operation, _) in self.plan.mix.weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
                    missing.extend(self.explain(&cell, operation, &mut plans.plans).await?);
                }
                if arm == 0 {
                    plans.journal_flush = journal_flush(self.target(arm), &cell.database).await;
                }
                Ok(())
            })
            .await?;
        }
        plans.warnings = MissingIndex::warnings(missing);
        Ok(plans)
    }

    /// Adds the plans of an operation, and returns what they lack, with strategy and operation.
    async fn explain(
        &self,
        cell: &ArmRound,
        operation: usize,
        plans: &mut Vec<QueryPlanRecord>,
    ) -> Result<Vec<(String, String, MissingIndex)>> {
        let target = ExplainTarget::new(self.target(cell.arm));
        for number in 0..CALLS {
            self.stop.check()?;
            self.explained_call(&target, cell, operation, number).await?;
        }
        let (strategy, operation) = (&self.plan.arms[cell.arm].name, &self.plan.operations[operation].name);
        let mut missing = Vec::new();
        for mut plan in target.into_plans() {
            let names = || (strategy.clone(), operation.to_string());
            missing.extend(plan.take_missing().into_iter().map(|one| (names().0, names().1, one)));
            let QueryPlan { step, stages, indexes, .. } = plan;
            let (strategy, operation) = names();
            plans.push(QueryPlanRecord { strategy, operation, step, stages, indexes });
        }
        Ok(missing)
    }

    /// Makes one call of one operation. Failures of the server are left to the measured calls.
    async fn explained_call(&self, target: &impl Target, cell: &ArmRound, operation: usize, number: u64) -> Result<()> {
        let (plan, arm) = (&self.plan, &self.plan.arms[cell.arm]);
        let program = &arm.operations[operation];
        let index = call_id::sample(operation, number);
        let drawn = plan.arguments(operation, plan.round_seed(0), index, program.slots);
        let name = &*plan.operations[operation].name;
        let mut frame = drawn.map_err(|error| FatalError::in_strategy(&arm.name, name, &error))?;
        let mut interpreter = Interpreter::new(target, &cell.database);
        let timeout = self.settings.timeout();
        let lost = match tokio::time::timeout(timeout, interpreter.run(program, &mut frame)).await {
            Ok(Err(error @ StepError::Invalid { .. })) => {
                let call = plan.operations[operation].written_call(&frame);
                return Err(FatalError::in_strategy(&arm.name, call, &error).into());
            }
            Ok(Err(StepError::Failed { failure, .. })) if failure.kind == FailureKind::Network => Some(failure.message),
            Ok(Ok(_) | Err(StepError::LimitReached { .. } | StepError::Failed { .. })) => None,
            Err(_) => Some(no_reply_within(timeout)),
        };
        let db = Db { target: self.target(cell.arm), name: &cell.database };
        Ok(check_alive(&db, &self.plan.arms[cell.arm], lost).await?)
    }
}
