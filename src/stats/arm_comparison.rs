//! The arms of a part compared with each other.

use crate::record::Metric;
use crate::results::{Part, RunRecord};

use super::compare::{ArmTimes, ComparedArms, Comparison, Limits, Quantity, Question, compare};
use super::in_flight::too_few_in_flight;
use super::ranking::Ranking;
use super::series::SeriesKey;
use super::shared_cache::SharedCache;
use super::view::Role;

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
    /// The number that is compared.
    pub metric: Metric,
    /// The comparisons.
    pub compared: ComparedArms,
}

/// What is asked of every arm.
#[derive(Debug, Clone, Copy)]
struct ArmQuestion {
    operation: Option<usize>,
    metric: Metric,
}

impl ArmQuestion {
    /// An arm by the number that is asked for.
    fn arm(self, record: &RunRecord, strategy: usize) -> ArmTimes {
        let arm = ArmTimes::by(record, SeriesKey::new(self.metric, strategy, self.operation));
        if self.metric != Metric::Throughput {
            return arm;
        }
        ArmTimes { excluded: arm.excluded.or(too_few_in_flight(record, strategy)), ..arm }
    }

    fn quantity(self) -> Quantity {
        if self.metric == Metric::Throughput { Quantity::Throughput } else { Quantity::Time }
    }
}

impl ComparisonFamily {
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

/// The questions of a part.
#[derive(Debug)]
pub struct PartQuestions {
    /// The families whose comparisons are tested.
    pub families: Vec<ComparisonFamily>,
    /// Operations, and the mix where no family asks for its mean, with ratios and without verdicts: what an operation takes
    /// under load is charged for the others.
    pub described: Vec<ArmComparison>,
}

/// Asks the questions of a part: own times of operations, mean and 99th percentile of the mix at the common rate, calls per
/// second at saturation. `mix` is a part with the whole mix, by which the context of own costs is judged; `cache` is that of
/// the run.
pub fn ask(record: &RunRecord, operations: &[usize], mix: Option<&RunRecord>, cache: &SharedCache) -> PartQuestions {
    let of_operations =
        || operations.iter().map(|operation| ArmQuestion { operation: Some(*operation), metric: Metric::MEAN });
    let family = |name, questions: Vec<ArmQuestion>| {
        let arms = |asked: &ArmQuestion| -> Vec<ArmTimes> {
            let arm =
                |strategy| asked.arm(record, strategy).in_context(record, mix, asked.operation).beside_others(cache);
            (0..record.strategies.len()).map(arm).collect()
        };
        ComparisonFamily { name, questions: compared(record, &questions, &arms) }
    };
    let described = |questions: Vec<ArmQuestion>| {
        let arms = |asked: &ArmQuestion| -> Vec<ArmTimes> {
            let arm = |strategy: usize| {
                let arm = asked.arm(record, strategy);
                let is_shown = strategy > 0 && arm.role == Role::Judged;
                if is_shown { ArmTimes { role: Role::Described, ..arm } } else { arm }
            };
            (0..record.strategies.len()).map(arm).collect()
        };
        compared(record, &questions, &arms)
    };
    let mix_of = |metrics: &[Metric]| -> Vec<ArmQuestion> {
        metrics.iter().map(|metric| ArmQuestion { operation: None, metric: *metric }).collect()
    };
    match record.part {
        Some(Part::Own) => PartQuestions {
            families: vec![family("own times of operations", of_operations().collect())],
            described: Vec::new(),
        },
        Some(Part::Rate) => PartQuestions {
            families: vec![family("the mix at the common rate", mix_of(&[Metric::MEAN, Metric::P99]))],
            described: described(of_operations().collect()),
        },
        Some(Part::Saturation) | None => PartQuestions {
            families: vec![family("the mix at saturation", mix_of(&[Metric::Throughput]))],
            described: described(of_operations().chain(mix_of(&[Metric::MEAN])).collect()),
        },
    }
}

/// Compares the arms of some questions, which are one family.
fn compared(
    record: &RunRecord,
    questions: &[ArmQuestion],
    arms: &dyn Fn(&ArmQuestion) -> Vec<ArmTimes>,
) -> Vec<ArmComparison> {
    let question = |asked: &ArmQuestion| Question { quantity: asked.quantity(), arms: arms(asked) };
    let compared = compare(questions.iter().map(question).collect(), Limits::of(&record.settings));
    let questions = questions.iter().zip(compared);
    let of = |(asked, compared): (&ArmQuestion, ComparedArms)| ArmComparison {
        operation: asked.operation,
        metric: asked.metric,
        compared,
    };
    questions.map(of).collect()
}
