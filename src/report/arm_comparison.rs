//! The arms of a run compared with each other, for every operation and for the mix.

use crate::results::RunRecord;
use crate::stats::{self, ArmTimes, ComparedArms, Comparison, Limits, Quantity, Question, Ranking};

/// Comparisons that are judged together.
#[derive(Debug)]
pub struct ComparisonFamily {
    /// What they are about, in a sentence: `operations`.
    pub name: &'static str,
    /// Its questions.
    pub questions: Vec<ArmComparison>,
}

/// The arms of one operation or of the mix, compared.
#[derive(Debug)]
pub struct ArmComparison {
    /// The operation; `None` for the mix.
    pub operation: Option<usize>,
    /// The comparisons.
    pub compared: ComparedArms,
}

impl ComparisonFamily {
    fn of(
        name: &'static str,
        quantity: Quantity,
        questions: Vec<(Option<usize>, Vec<ArmTimes>)>,
        limits: Limits,
    ) -> ComparisonFamily {
        let (operations, arms): (Vec<_>, Vec<_>) = questions.into_iter().unzip();
        let compared = stats::compare(arms.into_iter().map(|arms| Question { quantity, arms }).collect(), limits);
        let questions = operations.into_iter().zip(compared);
        let questions = questions.map(|(operation, compared)| ArmComparison { operation, compared });
        ComparisonFamily { name, questions: questions.collect() }
    }

    /// The comparisons that are tested.
    pub fn tested(&self) -> impl Iterator<Item = &Comparison> {
        self.questions.iter().flat_map(|question| question.compared.tested())
    }
}

impl ArmComparison {
    /// The comparison of a strategy with the baseline; `None` for the baseline itself.
    pub fn with_baseline(&self, strategy: usize) -> Option<&Comparison> {
        self.compared.with_baseline(strategy)
    }

    /// All arms, the baseline first.
    pub fn arms(&self) -> &[ArmTimes] {
        &self.compared.question.arms
    }

    /// The best strategy, and how it compares.
    pub fn ranking(&self) -> Option<Ranking> {
        self.compared.ranking()
    }

    /// How far from 1 (0.02 for 2 %) the repeat's ratio is; `None` without a repeat.
    pub fn band(&self) -> Option<f64> {
        self.compared.band().map(f64::exp_m1)
    }
}

/// Compares all arms in these operations, which are one family of comparisons, and in the mix, which is another.
pub fn compared(record: &RunRecord, operations: &[usize]) -> Vec<ComparisonFamily> {
    let limits = Limits::of(&record.settings);
    let arms = |operation: Option<usize>| -> (Option<usize>, Vec<ArmTimes>) {
        let arms = (0..record.strategies.len()).map(|strategy| ArmTimes::of(record, strategy, operation));
        (operation, arms.collect())
    };
    let of_operations = operations.iter().map(|operation| arms(Some(*operation))).collect();
    vec![
        ComparisonFamily::of("operations", Quantity::Time, of_operations, limits),
        ComparisonFamily::of("the mix", Quantity::Time, vec![arms(None)], limits),
    ]
}
