//! The fourth phase: two writing calls at a time on the same records.
//!
//! A pair passes if its results and the rows after it are those of one of its two orders, in the model or else each made on data
//! of its own. A call that reports that it was rejected may also be left out: strategies that try and undo sometimes reject both
//! of two calls. One that reports `not_found` may not: it passed by a record that is there, unless an order says the same. For
//! the pairs that were made this shows that no write was lost, whatever the operations mean: two reads before two writes, a
//! check that another call makes obsolete, or half of a change that another call overwrites lead to neither order's results.
//! Each call waits for the other before its first write. Waves of pairs on different records run at the same time; a pair that
//! fails in its wave must fail again alone, so that nothing but its two calls can be the cause.

use std::collections::BTreeSet;

use futures_util::future::{join, join_all};
use tokio::sync::Barrier;

use crate::engine::RunError;
use crate::plan::{Outcome, Value, brief};
use crate::results::verification::{PhaseFindings, Problem, StrategyFindings, VerifyPhase};
use crate::server::Target;
use crate::server::namespace::Namespace;

use super::call::{self, ArmDatabase, CallResult};
use super::meeting::Meeting;
use super::oracle::{Oracle, RecordId};
use super::pairs::{CallPair, waves};
use super::state::{self, FinalState, RowsById};
use super::{Verifier, is_same, readable};

/// Pairs that run at the same time.
const WAVE: usize = 8;
/// Waves of a strategy, at most.
const MOST_WAVES: usize = 4;
/// How many pairs are made alone to see whether one fails again.
const TRIES: usize = 48;

/// The results of a pair, in the order of its calls; `None` for a call that was not made.
type BothResults = [Option<CallResult>; 2];

/// The results of pairs, and the rows after them.
struct PairsMade {
    results: Vec<BothResults>,
    rows: FinalState,
}

/// Whether a call reported that it was rejected.
fn is_rejected(result: &Option<CallResult>) -> bool {
    matches!(result, Some(CallResult::Value(Value::Outcome(Outcome::Rejected(_)))))
}

impl<T: Target> Verifier<'_, T> {
    /// Runs the pairs of one strategy.
    pub(super) async fn pairs(
        &self,
        arm: usize,
        loaded: Option<&Oracle<'_>>,
        own: &mut StrategyFindings,
    ) -> Result<(), RunError> {
        (self.progress)(VerifyPhase::Pairs, Some(&self.plan.arms[arm].name));
        let mut findings = PhaseFindings::new(VerifyPhase::Pairs);
        for wave in waves(self.plan, self.settings.calls, WAVE, MOST_WAVES)? {
            own.pairs += wave.len() as u64;
            let Some(trials) = self.compare(arm, &wave, loaded, &mut findings).await? else { break };
            let suspects: Vec<CallPair> = trials.unexplained().into_iter().map(|pair| wave[pair].clone()).collect();
            if let Some(problem) = self.lone_failure(arm, &suspects, loaded, &mut findings).await? {
                findings.add(problem);
                break;
            }
        }
        own.phases.push(findings);
        Ok(())
    }

    /// Makes the pairs at the same time and in both orders; the second one only if the first does not explain all. `None` when
    /// a call has no result, which is a finding of its own.
    async fn compare(
        &self,
        arm: usize,
        pairs: &[CallPair],
        loaded: Option<&Oracle<'_>>,
        findings: &mut PhaseFindings,
    ) -> Result<Option<PairsCompared>, RunError> {
        let start = loaded.map(|loaded| self.before_pairs(loaded, pairs)).transpose()?;
        let all = |order: [usize; 2]| vec![order.to_vec(); pairs.len()];
        let in_order = async |orders: Vec<Vec<usize>>| match &start {
            Some(start) => self.by_model(start, pairs, &orders),
            None => self.trial(arm, pairs, Some(orders)).await,
        };
        let (together, as_drawn) = join(self.trial(arm, pairs, None), in_order(all([0, 1]))).await;
        let changed = start.as_ref().map(|start| self.changed(start, pairs)).transpose()?;
        let mut trials = PairsCompared { together: together?, in_order: vec![as_drawn?], changed };
        for (pair, results) in pairs.iter().zip(&trials.together.results) {
            for (call, result) in pair.calls.iter().zip(results.iter().flatten()) {
                if let Some(problem) = self.without_result(*call, result) {
                    findings.add(problem);
                    return Ok(None);
                }
            }
        }
        if !trials.is_explained() {
            trials.in_order.push(in_order(all([1, 0])).await?);
        }
        if !trials.is_explained() {
            let others = |both: &BothResults| (0..2).filter(|at| !is_rejected(&both[*at])).collect();
            let others: Vec<Vec<usize>> = trials.together.results.iter().map(others).collect();
            if others.iter().any(|made| made.len() < 2) {
                trials.in_order.push(in_order(others).await?);
            }
        }
        Ok(Some(trials))
    }

    /// Makes pairs that failed alone until one fails again. `None` if none does, so that other pairs may have been the cause.
    async fn lone_failure(
        &self,
        arm: usize,
        suspects: &[CallPair],
        loaded: Option<&Oracle<'_>>,
        findings: &mut PhaseFindings,
    ) -> Result<Option<Problem>, RunError> {
        for pair in suspects.iter().cycle().take(TRIES) {
            let one = std::slice::from_ref(pair);
            let Some(trials) = self.compare(arm, one, loaded, findings).await? else { return Ok(None) };
            if !trials.is_explained() {
                return Ok(Some(self.problem(pair, &trials)));
            }
        }
        Ok(None)
    }

    /// Makes pairs on fresh data, after the calls that they need: at the same time, or the calls of each pair at the positions
    /// of its order one after the other.
    async fn trial(
        &self,
        arm: usize,
        pairs: &[CallPair],
        orders: Option<Vec<Vec<usize>>>,
    ) -> Result<PairsMade, RunError> {
        let (Namespace { names, .. }, strategy) = (&self.settings.namespace, &self.plan.arms[arm].name);
        let database = if orders.is_some() { names.in_order(strategy) } else { names.concurrent(strategy) };
        let place = &self.provision(arm, database).await?;
        for call in calls_before(pairs) {
            self.call(place, call).await?;
        }
        let mut results = Vec::new();
        if let Some(orders) = orders {
            for (pair, order) in pairs.iter().zip(orders) {
                let mut both = [None, None];
                for position in order {
                    both[position] = Some(self.call(place, pair.calls[position]).await?.result);
                }
                results.push(both);
            }
        } else {
            let made = join_all(pairs.iter().map(|pair| self.at_the_same_time(place, pair.calls))).await;
            results = made.into_iter().collect::<Result<_, _>>()?;
        }
        // What cannot be read has no rows, which differ from those of the other order.
        let unreadable = &mut PhaseFindings::new(VerifyPhase::Pairs);
        let rows = readable(self.state(place).await, unreadable)?.unwrap_or_default();
        self.settings.namespace.drop(self.target, &place.database).await?;
        Ok(PairsMade { results, rows })
    }

    /// The model after the calls that pairs need.
    fn before_pairs<'p>(&self, loaded: &Oracle<'p>, pairs: &[CallPair]) -> Result<Oracle<'p>, RunError> {
        let mut start = loaded.clone();
        calls_before(pairs).into_iter().try_for_each(|call| self.answer(Some(&mut start), call).map(|_| ()))?;
        Ok(start)
    }

    /// The same pairs in the model, the calls of each at the positions of its order one after the other.
    fn by_model(&self, start: &Oracle<'_>, pairs: &[CallPair], orders: &[Vec<usize>]) -> Result<PairsMade, RunError> {
        let (mut oracle, mut results) = (start.clone(), Vec::new());
        for (pair, order) in pairs.iter().zip(orders) {
            let mut both = [None, None];
            for position in order {
                both[*position] = self.answer(Some(&mut oracle), pair.calls[*position])?;
            }
            results.push(both);
        }
        Ok(PairsMade { results, rows: self.rows(&oracle)? })
    }

    /// The records that either order of each pair changes in the model.
    fn changed(&self, start: &Oracle<'_>, pairs: &[CallPair]) -> Result<Vec<BTreeSet<RecordId>>, RunError> {
        let of_pair = |pair: &CallPair| {
            let mut changed = BTreeSet::new();
            for [first, second] in [[0, 1], [1, 0]] {
                let mut oracle = start.clone();
                self.answer(Some(&mut oracle), pair.calls[first])?;
                changed.extend(oracle.changed_since(start));
                self.answer(Some(&mut oracle), pair.calls[second])?;
                changed.extend(oracle.changed_since(start));
            }
            Ok(changed)
        };
        pairs.iter().map(of_pair).collect()
    }

    async fn at_the_same_time(&self, place: &ArmDatabase, calls: [u64; 2]) -> Result<BothResults, RunError> {
        let barrier = Barrier::new(2);
        let call = async |call| {
            let target = Meeting::new(self.target, &barrier);
            let finished = self.call_through(&target, place, call).await;
            target.meet().await;
            finished
        };
        let (first, second) = join(call(calls[0]), call(calls[1])).await;
        Ok([Some(first?.result), Some(second?.result)])
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

fn shown(results: &BothResults) -> String {
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
    /// As drawn, and, where that does not explain all, reversed and without the calls that were rejected.
    in_order: Vec<PairsMade>,
    /// The records that each pair changes; `None` where only the model would know.
    changed: Option<Vec<BTreeSet<RecordId>>>,
}

/// The calls that are made before pairs.
fn calls_before(pairs: &[CallPair]) -> BTreeSet<u64> {
    let mut before: BTreeSet<u64> = pairs.iter().flat_map(|pair| pair.before.iter().copied()).collect();
    before.retain(|call| !pairs.iter().any(|pair| pair.calls.contains(call)));
    before
}

impl PairsCompared {
    /// Whether all results and rows are those of one of the orders.
    fn is_explained(&self) -> bool {
        self.unexplained().is_empty()
    }

    /// The pairs whose results and rows are not those of one of the orders. Where it is not known which rows a pair changes, any
    /// of them may be the cause of a row that is of no order.
    fn unexplained(&self) -> Vec<usize> {
        let own = state::by_ids(&self.together.rows);
        let others: Vec<_> = self.in_order.iter().map(|order| state::by_ids(&order.rows)).collect();
        let has_rows = |pair: usize, order: usize| {
            let row = |state: &[RowsById], (entity, id): &RecordId| state.get(*entity)?.get(&**id).cloned();
            let mut changed = self.changed.iter().flat_map(|changed| &changed[pair]);
            changed.all(|record| row(&own, record) == row(&others[order], record))
        };
        let is_of_an_order = |pair: &usize| {
            let both = &self.together.results[*pair];
            let mut orders = self.in_order.iter().enumerate();
            orders.any(|(at, order)| are_same(both, &order.results[*pair]) && has_rows(*pair, at))
        };
        let all = 0..self.together.results.len();
        let unexplained: Vec<usize> = all.clone().filter(|pair| !is_of_an_order(pair)).collect();
        if unexplained.is_empty() && !state::is_made_of(&own, &others) { all.collect() } else { unexplained }
    }
}

/// Whether two calls returned the same both times. One that was left out reported the first time that it did nothing.
fn are_same(ours: &BothResults, theirs: &BothResults) -> bool {
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
