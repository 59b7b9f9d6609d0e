//! The cost pass: what one call of each operation costs the server when nothing else runs.

use std::sync::Arc;

use crate::plan::{Arm, EvalError, alone};
use crate::results::{CostRecord, QueryPlanRecord};
use crate::server::meter::{Meter, Usage};
use crate::server::{FailureKind, Target};

use super::cell::{Cell, named};
use super::error::RunError;
use super::experiment::Experiment;
use super::explain::Explaining;
use super::interpret::{Halt, Interpreter};
use super::provision::Purpose;
use super::slice::{Fatal, answers};

/// Calls before those that count: they fill caches, and their reads are explained.
const UNCOUNTED: u64 = 5;

/// What the cost pass found.
#[derive(Debug, Default)]
pub struct Costs {
    /// An entry per strategy and operation of the mix.
    pub costs: Vec<CostRecord>,
    /// How the server finds what they ask for.
    pub query_plans: Vec<QueryPlanRecord>,
    /// What a reader should know of the plans.
    pub warnings: Vec<String>,
}

/// What one call came to.
struct Made {
    round_trips: u64,
    /// The server's words, when it refused.
    refused: Option<String>,
}

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    /// Makes `calls` calls of every operation of the mix, one after the other, for every strategy on fresh databases. All
    /// strategies get the same calls.
    ///
    /// # Errors
    /// As [`RunError`] says. The databases are dropped in any case.
    pub async fn costs(&self, calls: u64) -> Result<Costs, RunError> {
        let mut costs = Costs::default();
        for (arm, _) in self.plan.arms.iter().enumerate().filter(|(_, arm)| !arm.is_control) {
            let mut databases = Vec::new();
            let result = self.arm_costs(arm, calls, &mut databases, &mut costs).await;
            self.finish(result, (&databases, false)).await?;
        }
        Ok(costs)
    }

    async fn arm_costs(
        &self,
        arm: usize,
        calls: u64,
        databases: &mut Vec<Arc<str>>,
        costs: &mut Costs,
    ) -> Result<(), RunError> {
        let cell = self.provision(Purpose::Costs, arm, databases).await?;
        self.flush().await?;
        let mut meter = Meter::new(self.target).await;
        for (operation, weight) in self.plan.mix.weights.iter().enumerate() {
            if *weight > 0.0 {
                self.explain(&cell, (arm, operation), costs).await?;
                meter.disturbed();
                let record = self.cost(&cell, (arm, operation), calls, &mut meter).await?;
                costs.costs.push(record);
            }
        }
        Ok(())
    }

    /// The calls before those that count, every distinct command of theirs explained.
    async fn explain(&self, cell: &Cell, (arm, operation): (usize, usize), costs: &mut Costs) -> Result<(), RunError> {
        let target = Explaining::new(self.target);
        for number in 0..UNCOUNTED {
            self.check_stop()?;
            self.single(&target, cell, (arm, operation), number).await?;
        }
        let (strategy, operation) = (&self.plan.arms[arm].name, &self.plan.operations[operation].name);
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

    /// The calls that count.
    async fn cost(
        &self,
        cell: &Cell,
        (arm, operation): (usize, usize),
        calls: u64,
        meter: &mut Meter,
    ) -> Result<CostRecord, RunError> {
        let (mut round_trips, mut refused, mut words) = (0, 0, None);
        let mut usage = Usage::default();
        meter.begin(self.target).await;
        for number in UNCOUNTED..UNCOUNTED + calls {
            self.check_stop()?;
            let made = self.single(self.target, cell, (arm, operation), number).await?;
            round_trips += made.round_trips;
            refused += u64::from(made.refused.is_some());
            words = words.or(made.refused);
        }
        meter.end(self.target, &cell.database, &mut usage).await;
        let (strategy, operation) =
            (self.plan.arms[arm].name.clone(), self.plan.operations[operation].name.to_string());
        match words {
            Some(message) if refused == calls => {
                Err(RunError::AlwaysFails { arm: strategy, operation, calls, message })
            }
            _ => Ok(CostRecord { strategy, operation, calls, round_trips, counters: named(meter.cost(&usage)) }),
        }
    }

    /// One call of one operation.
    async fn single<U: Target>(
        &self,
        target: &U,
        cell: &Cell,
        (arm, operation): (usize, usize),
        number: u64,
    ) -> Result<Made, RunError> {
        let plan = &self.plan;
        let Arm { name, operations, .. } = &plan.arms[arm];
        let mistake = |error: String| {
            let operation = plan.operations[operation].name.to_string();
            RunError::Fatal(Fatal::Scenario { arm: name.clone(), operation, words: error })
        };
        // Numbers that neither the pilot's calls have nor those that count.
        let index = alone(operation, number);
        let program = &operations[operation];
        let drawn = plan.arguments(operation, plan.round_seed(0), index, program.slots);
        let mut frame = drawn.map_err(|error: EvalError| mistake(error.to_string()))?;
        let mut interpreter = Interpreter::new(target, &cell.database);
        let result = tokio::time::timeout(self.settings.timeout, interpreter.run(program, &mut frame)).await;
        if let Some(fault) = frame.data.fault() {
            return Err(mistake(fault.to_string()));
        }
        let round_trips = interpreter.tally.round_trips;
        let lost = match result {
            Ok(Ok(_) | Err(Halt::Exhausted { .. })) => None,
            Ok(Err(halt @ Halt::Scenario { .. })) => return Err(mistake(halt.to_string())),
            Ok(Err(Halt::Failed { label, failure })) => match failure.kind {
                FailureKind::Server(_) => {
                    return Ok(Made { round_trips, refused: Some(format!("{label}: {}", failure.message)) });
                }
                FailureKind::Network => Some(failure.message),
                _ => None,
            },
            Err(_) => Some(format!("a call had no answer within {} s", self.settings.timeout.as_secs_f64())),
        };
        match lost {
            Some(words) if !answers(self.target).await => Err(Fatal::Lost(words).into()),
            _ => Ok(Made { round_trips, refused: None }),
        }
    }
}
