//! Whether an operation does by itself what it does in the mix.

use crate::results::{Reason, RunRecord};

use super::view::operations;
use super::{OutcomeTotals, outcome_totals};

/// Shares of outcomes that differ by no more than this are the same.
const TOLERANCE: f64 = 0.1;

/// How many standard errors of a share chance may add.
const ERRORS: f64 = 3.0;

/// Why the own cost of an operation is that of other work: its calls end otherwise by themselves than in the mix. Compares the shares of the outcomes of an operation between the parts `own` and `mix`; `None` where they agree, or where one
/// of them has no call.
pub fn out_of_context(own: &RunRecord, mix: &RunRecord, strategy: usize, operation: usize) -> Option<Reason> {
    let totals = |record| outcome_totals(operations(record, strategy, operation));
    let (alone, in_mix) = (totals(own), totals(mix));
    if alone.calls == 0 || in_mix.calls == 0 {
        return None;
    }
    let kinds = [OutcomeTotals::not_found, OutcomeTotals::rejected, OutcomeTotals::unchanged];
    let differs = kinds.iter().any(|kind| {
        let [one, other] = [&alone, &in_mix].map(|totals| kind(totals) as f64 / totals.calls as f64);
        let variance = |share: f64, totals: &OutcomeTotals| share * (1.0 - share) / totals.calls as f64;
        let error = (variance(one, &alone) + variance(other, &in_mix)).sqrt();
        (one - other).abs() > TOLERANCE + ERRORS * error
    });
    let done = |totals: &OutcomeTotals| 1.0 - totals.idle_share();
    differs.then(|| Reason::OutOfContext { strategy, alone: done(&alone), in_mix: done(&in_mix) })
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::record::{CallOutcome, Part};

    #[test]
    fn shares_of_outcomes_must_agree() {
        let run = sample::whole(&sample::run(3));
        let parts = run.all_parts();
        let (mut own, mix) = (parts[&Part::Own].clone(), &parts[&Part::Rate]);
        assert_eq!(out_of_context(&own, mix, 0, 0), None, "12 of 600 rejected in the mix, none of 60 alone");
        for cell in own.rounds.iter_mut().map(|round| &mut round.cells[0]) {
            cell.operations[1].outcomes[0].outcome = CallOutcome::NotFound;
        }
        assert_eq!(
            out_of_context(&own, mix, 0, 1),
            Some(Reason::OutOfContext { strategy: 0, alone: 0.0, in_mix: 1.0 })
        );
        assert_eq!(out_of_context(&own, mix, 1, 1), None);
        own.rounds.clear();
        assert_eq!(out_of_context(&own, mix, 0, 1), None);
    }
}
