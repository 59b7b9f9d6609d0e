//! The arms of a run compared with the baseline, for every operation and for the mix.

use crate::results::RunRecord;
use crate::stats::{self, ArmTimes, Comparison, Limits, Ranking};

/// The arms of one operation or of the mix, compared.
#[derive(Debug)]
pub struct ArmComparison {
    /// The operation; `None` for the mix.
    pub operation: Option<usize>,
    /// All arms, the baseline first.
    pub arms: Vec<ArmTimes>,
    /// The comparison of each other arm with the baseline.
    comparisons: Vec<Comparison>,
}

impl ArmComparison {
    /// The comparison of a strategy with the baseline; `None` for the baseline itself.
    pub fn with_baseline(&self, strategy: usize) -> Option<&Comparison> {
        self.comparisons.iter().find(|comparison| comparison.strategy == strategy)
    }

    /// The strategy with the lowest time, and how it compares.
    pub fn ranking(&self) -> Option<Ranking> {
        stats::ranking(&self.arms, &self.comparisons)
    }

    /// How far from 1 (0.02 for 2 %) the repeat's ratio is; `None` without a repeat.
    pub fn band(&self) -> Option<f64> {
        stats::band(&self.arms).map(f64::exp_m1)
    }

    /// The minimum detectable effect of each judged arm.
    pub fn mde(&self) -> impl Iterator<Item = f64> {
        self.comparisons.iter().filter_map(|comparison| comparison.mde)
    }

    /// The number of comparisons that are tested.
    pub fn judged(&self) -> usize {
        self.comparisons.iter().filter(|comparison| comparison.p.is_some()).count()
    }
}

/// Compares all arms in these operations, which are one family of comparisons, and then in the mix, which is another.
pub fn compared(record: &RunRecord, operations: &[usize]) -> Vec<ArmComparison> {
    let limits = Limits::of(&record.settings);
    let arms = |operation: Option<usize>| -> Vec<ArmTimes> {
        (0..record.strategies.len()).map(|strategy| ArmTimes::of(record, strategy, operation)).collect()
    };
    let families: Vec<Vec<ArmTimes>> = operations.iter().map(|operation| arms(Some(*operation))).collect();
    let compared = stats::compare(&families, limits);
    let mut all: Vec<ArmComparison> = Vec::new();
    for ((operation, arms), comparisons) in operations.iter().zip(families).zip(compared) {
        all.push(ArmComparison { operation: Some(*operation), arms, comparisons });
    }
    let arms = arms(None);
    let comparisons = stats::compare(std::slice::from_ref(&arms), limits).into_iter().flatten().collect();
    all.push(ArmComparison { operation: None, arms, comparisons });
    all
}
