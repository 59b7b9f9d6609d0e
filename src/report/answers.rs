//! What a run's record answers: every operation and the mix, arm against reference.

use crate::results::RunRecord;
use crate::stats::{self, Arm, Comparison, Limits, Verdict};

/// The arms of one operation or of the mix, compared.
pub(super) struct Answer {
    /// Which operation; `None` for the mix.
    pub(super) operation: Option<usize>,
    /// All arms, the reference first.
    pub(super) arms: Vec<Arm>,
    /// Each but the reference against it.
    comparisons: Vec<Comparison>,
}

impl Answer {
    /// A strategy against the reference; `None` for the reference itself.
    pub(super) fn comparison(&self, strategy: usize) -> Option<&Comparison> {
        self.comparisons.iter().find(|comparison| comparison.strategy == strategy)
    }

    /// Who has the lowest time.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        stats::verdict(&self.arms, &self.comparisons)
    }

    /// How far from 1 (0.02 for 2 %) the control says that a ratio may be by noise alone; `None` without a control.
    pub(super) fn band(&self) -> Option<f64> {
        stats::band(&self.arms).map(f64::exp_m1)
    }

    /// The smallest difference that would be found, per judged arm.
    pub(super) fn detectable(&self) -> impl Iterator<Item = f64> {
        self.comparisons.iter().filter_map(|comparison| comparison.detectable)
    }

    /// How many comparisons can be claims.
    pub(super) fn judged(&self) -> usize {
        self.comparisons.iter().filter(|comparison| comparison.p.is_some()).count()
    }
}

/// The answers for these operations, a family of comparisons together, and then for the mix, a family of its own.
pub(super) fn answers(record: &RunRecord, operations: &[usize]) -> Vec<Answer> {
    let limits = Limits::of(&record.settings);
    let arms = |operation: Option<usize>| -> Vec<Arm> {
        (0..record.strategies.len()).map(|strategy| Arm::of(record, strategy, operation)).collect()
    };
    let questions: Vec<Vec<Arm>> = operations.iter().map(|operation| arms(Some(*operation))).collect();
    let compared = stats::compare(&questions, limits);
    let mut answers: Vec<Answer> = Vec::new();
    for ((operation, arms), comparisons) in operations.iter().zip(questions).zip(compared) {
        answers.push(Answer { operation: Some(*operation), arms, comparisons });
    }
    let arms = arms(None);
    let comparisons = stats::compare(std::slice::from_ref(&arms), limits).into_iter().flatten().collect();
    answers.push(Answer { operation: None, arms, comparisons });
    answers
}
