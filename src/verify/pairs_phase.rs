//! The fourth phase: two writing calls at a time on the same records.
//!
//! A pair passes if its results and the rows after it are those of one of its two orders, each made on data of its own. A call
//! that reports that it did nothing may also be left out: strategies that try and undo sometimes reject both of two calls. For
//! the pairs that were made this shows that no write was lost, whatever the operations mean: two reads before two writes, a
//! check that another call makes obsolete, or half of a change that another call overwrites lead to neither order's results.
//! Each call waits for the other before its first write. Waves of pairs on different records run at the same time; a pair that
//! fails in its wave must fail again alone, so that nothing but its two calls can be the cause.

use futures_util::future::{join, join_all};
use tokio::sync::Barrier;

use crate::engine::RunError;
use crate::plan::{Outcome, Value, brief};
use crate::results::verification::{PhaseFindings, Problem, VerifyPhase};
use crate::server::Target;
use crate::server::namespace::Namespace;

use super::call::{self, ArmDatabase, CallResult};
use super::meeting::Meeting;
use super::pairs::{CallPair, waves};
use super::state::{self, FinalState};
use super::{Databases, Verifier, is_same, readable};

/// Pairs that run at the same time.
const WAVE: usize = 8;
/// Waves of a strategy, at most.
const MOST_WAVES: usize = 4;
/// How often a pair is made alone to see whether it fails.
const TRIES: usize = 6;

/// The results of pairs, and the rows after them.
struct PairsMade {
    /// By pair, in the order of its calls; `None` for a call that was not made.
    results: Vec<[Option<CallResult>; 2]>,
    rows: FinalState,
}

/// How two calls of a pair are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    AtTheSameTime,
    AsDrawn,
    Reversed,
}

/// A pair, and which of its calls are made.
struct Making<'p> {
    pair: &'p CallPair,
    is_made: [bool; 2],
}

/// Whether a call reported that it did something.
fn has_effect(result: Option<&CallResult>) -> bool {
    let is_nothing = |outcome: &Outcome| match outcome {
        Outcome::Ok => false,
        Outcome::Same | Outcome::NotFound | Outcome::Rejected(_) => true,
    };
    !matches!(result, Some(CallResult::Value(Value::Outcome(outcome))) if is_nothing(outcome))
}

impl<T: Target> Verifier<'_, T> {
    /// Runs the pairs of one strategy. Returns what was found, and how many pairs were made.
    pub(super) async fn pairs(&self, arm: usize, databases: &Databases) -> Result<(PhaseFindings, u64), RunError> {
        (self.progress)(VerifyPhase::Pairs, Some(&self.plan.arms[arm].name));
        let mut findings = PhaseFindings::new(VerifyPhase::Pairs);
        let mut made = 0;
        for wave in waves(self.plan, self.settings.calls, WAVE, MOST_WAVES)? {
            made += wave.len() as u64;
            let Some(trials) = self.compare(arm, &wave, databases, &mut findings).await? else { break };
            if trials.is_explained() {
                continue;
            }
            if let Some(problem) = self.lone_failure(arm, &wave, databases, &mut findings).await? {
                findings.add(problem);
                break;
            }
        }
        Ok((findings, made))
    }

    /// Makes the pairs at the same time and in both orders; the second one only if the first does not explain all. `None` when
    /// a call has no result, which is a finding of its own.
    async fn compare(
        &self,
        arm: usize,
        pairs: &[CallPair],
        databases: &Databases,
        findings: &mut PhaseFindings,
    ) -> Result<Option<PairsCompared>, RunError> {
        let all: Vec<Making> = pairs.iter().map(|pair| Making { pair, is_made: [true; 2] }).collect();
        let (together, as_drawn) = join(
            self.trial(Order::AtTheSameTime, arm, &all, databases),
            self.trial(Order::AsDrawn, arm, &all, databases),
        )
        .await;
        let mut trials = PairsCompared { together: together?, in_order: vec![as_drawn?] };
        for (pair, results) in pairs.iter().zip(&trials.together.results) {
            for (call, result) in pair.calls.iter().zip(results.iter().flatten()) {
                if let Some(problem) = self.without_result(*call, result) {
                    findings.add(problem);
                    return Ok(None);
                }
            }
        }
        if !trials.is_explained() {
            trials.in_order.push(self.trial(Order::Reversed, arm, &all, databases).await?);
        }
        if !trials.is_explained() {
            let results = pairs.iter().zip(&trials.together.results);
            let effective: Vec<Making> = results
                .map(|(pair, [one, other])| Making {
                    pair,
                    is_made: [has_effect(one.as_ref()), has_effect(other.as_ref())],
                })
                .collect();
            trials.in_order.push(self.trial(Order::AsDrawn, arm, &effective, databases).await?);
        }
        Ok(Some(trials))
    }

    /// Makes every pair of a wave alone until one fails. `None` if none does, so that other pairs may have been the cause.
    async fn lone_failure(
        &self,
        arm: usize,
        wave: &[CallPair],
        databases: &Databases,
        findings: &mut PhaseFindings,
    ) -> Result<Option<Problem>, RunError> {
        for _ in 0..TRIES {
            for pair in wave {
                let pair = std::slice::from_ref(pair);
                let Some(trials) = self.compare(arm, pair, databases, findings).await? else { return Ok(None) };
                if !trials.is_explained() {
                    return Ok(Some(self.problem(&pair[0], &trials)));
                }
            }
        }
        Ok(None)
    }

    /// Makes pairs on fresh data, after the calls that they need.
    async fn trial(
        &self,
        order: Order,
        arm: usize,
        makings: &[Making<'_>],
        databases: &Databases,
    ) -> Result<PairsMade, RunError> {
        let (Namespace { names, .. }, strategy) = (&self.settings.namespace, &self.plan.arms[arm].name);
        let database = match order {
            Order::AtTheSameTime => names.concurrent(strategy),
            Order::AsDrawn | Order::Reversed => names.in_order(strategy),
        };
        let place = &self.provision(arm, database, databases).await?;
        let pairs = || makings.iter().map(|making| making.pair);
        let mut before: Vec<u64> = pairs().flat_map(|pair| pair.before.iter().copied()).collect();
        before.sort_unstable();
        before.dedup();
        before.retain(|call| !pairs().any(|pair| pair.calls.contains(call)));
        for call in before {
            self.call(place, call).await?;
        }
        let results = match order {
            Order::AtTheSameTime => {
                let both = pairs().map(async |pair| {
                    let [first, second] = pair.calls;
                    let barrier = Barrier::new(2);
                    let call = async |call| {
                        let target = Meeting::new(self.target, &barrier);
                        let finished = self.call_through(&target, place, call).await;
                        target.meet().await;
                        finished
                    };
                    let (first, second) = join(call(first), call(second)).await;
                    Ok::<_, RunError>([Some(first?.result), Some(second?.result)])
                });
                join_all(both).await.into_iter().collect::<Result<_, _>>()?
            }
            Order::AsDrawn | Order::Reversed => {
                let mut results = Vec::new();
                for making in makings {
                    results.push(self.in_order(place, making, order == Order::Reversed).await?);
                }
                results
            }
        };
        // What cannot be read has no rows, which differ from those of the other order.
        let unreadable = &mut PhaseFindings::new(VerifyPhase::Pairs);
        let rows = readable(self.state(place).await, unreadable)?.unwrap_or_default();
        self.settings.namespace.drop(self.target, &place.database).await?;
        Ok(PairsMade { results, rows })
    }

    async fn in_order(
        &self,
        place: &ArmDatabase,
        making: &Making<'_>,
        is_reversed: bool,
    ) -> Result<[Option<CallResult>; 2], RunError> {
        let mut results = [None, None];
        for position in if is_reversed { [1, 0] } else { [0, 1] } {
            if making.is_made[position] {
                results[position] = Some(self.call(place, making.pair.calls[position]).await?.result);
            }
        }
        Ok(results)
    }

    /// Describes a pair that is neither of its orders.
    fn problem(&self, pair: &CallPair, trials: &PairsCompared) -> Problem {
        let [first, second] = pair.calls;
        let mut lines = vec![
            format!("call      {first}: {}", call::describe(self.plan, first)),
            format!("and       {second}: {}", call::describe(self.plan, second)),
        ];
        let together = &trials.together.results[0];
        if trials.in_order.iter().any(|order| are_same(together, &order.results[0])) {
            let rows = state::compare("rows", &trials.in_order[0].rows, &trials.together.rows);
            lines.extend(rows.into_iter().flat_map(|problem| problem.lines));
        } else {
            lines.push(format!("returned  {}", shown(together)));
            let orders = ["in order", "reversed"].iter().zip(&trials.in_order);
            lines.extend(orders.map(|(name, order)| format!("{name}  {}", shown(&order.results[0]))));
        }
        if !pair.before.is_empty() {
            let before: Vec<String> = pair.before.iter().map(u64::to_string).collect();
            lines.push(format!("after     calls {}", before.join(", ")));
        }
        let title = "two calls at the same time lead to neither of their orders' results";
        Problem { title: title.into(), lines, call: None, count: 1 }
    }
}

fn shown(results: &[Option<CallResult>; 2]) -> String {
    let text = |result: &Option<CallResult>| match result {
        None => "(not made)".to_owned(),
        Some(CallResult::Value(value)) => brief(value),
        Some(CallResult::Failed(message) | CallResult::Unknown(message)) => message.clone(),
    };
    results.each_ref().map(text).join(", ")
}

/// The same pairs, made in different ways.
struct PairsCompared {
    together: PairsMade,
    /// As drawn, and, where that does not explain all, reversed and without the calls that did nothing.
    in_order: Vec<PairsMade>,
}

impl PairsCompared {
    /// Whether all results and rows are those of one of the orders.
    fn is_explained(&self) -> bool {
        let rows: Vec<&FinalState> = self.in_order.iter().map(|order| &order.rows).collect();
        let mut results = self.together.results.iter().enumerate();
        results.all(|(pair, both)| self.in_order.iter().any(|order| are_same(both, &order.results[pair])))
            && state::is_made_of(&self.together.rows, &rows)
    }
}

/// Whether two calls returned the same both times. One that was left out reported the first time that it did nothing.
fn are_same(ours: &[Option<CallResult>; 2], theirs: &[Option<CallResult>; 2]) -> bool {
    ours.iter().zip(theirs).all(|(one, other)| match (one, other) {
        (Some(one), Some(other)) => is_same(one, other) || has_changed(one) && has_changed(other),
        (Some(_), None) => true,
        (None, _) => false,
    })
}

/// Whether what a call wanted is there. Of two calls that change several documents at the same time, both may change some; the
/// rows decide.
fn has_changed(result: &CallResult) -> bool {
    matches!(result, CallResult::Value(Value::Outcome(Outcome::Ok | Outcome::Same)))
}
