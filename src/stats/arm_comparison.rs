//! The arms of a part compared with each other.

use crate::record::Metric;
use crate::results::{Part, RunRecord};

use super::compare::{ArmComparison, ArmTimes, Comparison, Limits, compare};
use super::in_flight::too_few_in_flight;
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

impl ComparisonFamily {
    /// The comparisons that are tested.
    pub fn tested(&self) -> impl Iterator<Item = &Comparison> {
        self.questions.iter().flat_map(ArmComparison::tested)
    }
}

/// Asks the questions of a part: own times of operations and of the mix, and the mix under load by the metrics that the table
/// asks for there (mean and 99th percentile of open load, calls per second at saturation). `mix` is a part with the whole mix, by
/// which the context of own costs is judged; `cache` is that of the run.
///
/// The first are tested, each family by itself. The second are operations, and the mix where its mean is not tested, with ratios
/// and without verdicts: what an operation takes under load is charged for the others.
pub fn ask(
    record: &RunRecord,
    operations: &[usize],
    mix: Option<&RunRecord>,
    cache: &SharedCache,
) -> (Vec<ComparisonFamily>, Vec<ArmComparison>) {
    let part = record.part.unwrap_or(Part::Saturation);
    let asked = Metric::asked_in(part);
    let of_operations = |metric: Metric| operations.iter().map(move |operation| (metric, Some(*operation)));
    let tested = |key: SeriesKey| compared_arm(record, key).in_context(record, mix, key.operation).beside_others(cache);
    let described = |key: SeriesKey| {
        let arm = compared_arm(record, key);
        let is_shown = arm.strategy > 0 && arm.role == Role::Judged;
        if is_shown { ArmTimes { role: Role::Described, ..arm } } else { arm }
    };
    let family = |name, questions: Vec<(Metric, Option<usize>)>| ComparisonFamily {
        name,
        questions: compared(record, questions.into_iter(), &tested),
    };
    let of_mix = || asked.iter().map(|metric| (*metric, None)).collect();
    let families = match part {
        Part::Own => {
            let operations = asked.iter().flat_map(|metric| of_operations(*metric)).collect();
            vec![family("own times of operations", operations), family("own times of the mix", of_mix())]
        }
        // The ends of the curve of response times are only described.
        Part::Light | Part::Heavy => Vec::new(),
        Part::Rate => vec![family("response times of the mix", of_mix())],
        Part::Saturation => vec![family("calls/s of the mix", of_mix())],
    };
    let mean = (!asked.contains(&Metric::MEAN)).then_some((Metric::MEAN, None));
    let of_part = of_operations(Metric::MEAN).chain(mean).filter(|_| part != Part::Own);
    (families, compared(record, of_part, &described))
}

/// An arm by a number, and whether it takes part in comparisons by that number.
pub(crate) fn compared_arm(record: &RunRecord, key: SeriesKey) -> ArmTimes {
    let arm = ArmTimes::by(record, key);
    if key.metric != Metric::Throughput {
        return arm;
    }
    ArmTimes { excluded: arm.excluded.or(too_few_in_flight(record, key.strategy)), ..arm }
}

/// Compares all arms by some metrics of operations or the mix, which are one family.
fn compared(
    record: &RunRecord,
    asked: impl Iterator<Item = (Metric, Option<usize>)>,
    arm: &dyn Fn(SeriesKey) -> ArmTimes,
) -> Vec<ArmComparison> {
    let question = |(metric, operation): (Metric, Option<usize>)| {
        let arms = (0..record.strategies.len()).map(|place| arm(SeriesKey::new(metric, place, operation)));
        ArmComparison::new(metric, operation, arms.collect())
    };
    compare(asked.map(question).collect(), Limits::of(&record.settings))
}
