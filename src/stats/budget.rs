//! What an average call of the mix costs, operation by operation, from the own costs of the operations.

use crate::record::Metric;
use crate::results::RunRecord;

use super::view::operations;
use super::{outcome_totals, own_cost, value};

/// The counter of the server's CPU time, in microseconds.
const CPU: &str = "cpu_us";

/// The share (0 to 1) of every operation in the calls of the mix, in the order of the run.
pub fn mix_shares(record: &RunRecord) -> Vec<f64> {
    shares(&record.operations, &record.mix.weights)
}

/// The share (0 to 1) of every operation in the calls of a mix with these weights; all 0 without weights.
pub fn shares(operations: &[String], weights: &[(String, f64)]) -> Vec<f64> {
    let weight = |name: &String| weights.iter().find(|(of, _)| of == name).map_or(0.0, |(_, weight)| *weight);
    let weights: Vec<f64> = operations.iter().map(weight).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| if total > 0.0 { weight / total } else { 0.0 }).collect()
}

/// Server CPU time of one average call of the mix, in microseconds, by operation: own cost times share of the calls.
#[derive(Debug, Clone, PartialEq)]
pub struct CpuBudget {
    /// Per operation, in the order of the run; 0 for one that the mix does not call.
    pub parts: Vec<f64>,
    /// Their sum.
    pub total: f64,
}

impl CpuBudget {
    /// The budget of a strategy, from the record of the part that measures own costs; `None` where the CPU time of an
    /// operation of the mix is unknown.
    pub fn new(own: &RunRecord, strategy: usize) -> Option<CpuBudget> {
        let part = |(operation, share): (usize, f64)| match share {
            0.0 => Some(0.0),
            share => Some(share * own_cost(own, strategy, operation)?.per_call(CPU)?).filter(|cost| cost.is_finite()),
        };
        let parts: Vec<f64> = mix_shares(own).into_iter().enumerate().map(part).collect::<Option<_>>()?;
        let total: f64 = parts.iter().sum();
        (total > 0.0).then_some(CpuBudget { parts, total })
    }

    /// The share (0 to 1) of an operation.
    pub fn share(&self, operation: usize) -> f64 {
        self.parts[operation] / self.total
    }
}

/// The own time of an operation in nanoseconds: the geometric mean over rounds of its mean time by itself.
pub fn own_time(own: &RunRecord, strategy: usize, operation: usize) -> Option<f64> {
    value(own, Metric::MEAN, strategy, Some(operation))
}

/// Whether an operation sends no command, because the strategy needs none for it: how many times as long as nothing another one
/// takes says nothing.
pub fn sends_nothing(own: &RunRecord, strategy: usize, operation: usize) -> bool {
    outcome_totals(operations(own, strategy, operation)).round_trips_per_call() == Some(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::record::Part;

    #[test]
    fn budget_is_own_cpu_times_share() {
        let run = sample::whole(&sample::run(8));
        let own = &run.all_parts()[&Part::Own];
        let budget = CpuBudget::new(own, 0).unwrap();
        // 3,125 us in 20 calls of every operation.
        let shares: Vec<f64> = [60.0, 30.0, 2.0].map(|weight| weight / 92.0).to_vec();
        assert_eq!(mix_shares(own), shares);
        for (part, share) in budget.parts.iter().zip(&shares) {
            assert!((part - share * 156.25).abs() < 1e-9, "{budget:?}");
        }
        assert!((budget.total - 156.25).abs() < 1e-9 && (budget.share(0) - shares[0]).abs() < 1e-9);
    }

    #[test]
    fn unknown_cpu_of_a_called_operation_leaves_no_budget() {
        let run = sample::whole(&sample::run(8));
        let mut own = run.all_parts()[&Part::Own].clone();
        own.rounds[0].cells[0].own_counters[1].remove("cpu_us");
        assert_eq!(CpuBudget::new(&own, 0), None);
        own.mix.weights.retain(|(name, _)| name != "read_post");
        assert!(CpuBudget::new(&own, 0).is_some(), "an operation without calls needs no cost");
    }
}
