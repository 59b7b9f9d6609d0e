//! The evaluations of the parts of a run.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::record::Metric;
use crate::results::{Part, RunRecord};
use crate::stats::{self, ArmComparison, CollectionGrowth, Criterion, SharedCache, distinct};

use super::evaluation::Evaluation;

/// The parts by which a run is described, the first that was measured: open load, else saturation, else own costs.
const MAIN: [Part; 5] = [Part::Rate, Part::Saturation, Part::Own, Part::Light, Part::Heavy];

/// The parts of a run, each by itself and evaluated.
#[derive(Debug, Clone)]
pub struct PartEvaluations {
    records: BTreeMap<Part, RunRecord>,
    evaluations: BTreeMap<Part, Arc<Evaluation>>,
    /// Of a run without a complete round.
    empty: Arc<Evaluation>,
}

impl PartEvaluations {
    /// Evaluates every part.
    pub(crate) fn new(record: &RunRecord) -> PartEvaluations {
        let records = record.all_parts();
        let mix = [Part::Rate, Part::Saturation].iter().find_map(|part| records.get(part));
        let cache = SharedCache::of(&records);
        let evaluated = |(part, record): (&Part, &RunRecord)| (*part, Arc::new(Evaluation::new(record, mix, &cache)));
        let evaluations = records.iter().map(evaluated).collect();
        let empty = Arc::new(Evaluation::new(record, None, &cache));
        PartEvaluations { records, evaluations, empty }
    }

    /// A part, if it was measured.
    pub fn get(&self, part: Part) -> Option<&Arc<Evaluation>> {
        self.evaluations.get(&part)
    }

    /// The record of a part, if it was measured.
    pub(crate) fn record(&self, part: Part) -> Option<&RunRecord> {
        self.records.get(&part)
    }

    /// The records of all parts by part.
    pub(crate) fn all_records(&self) -> &BTreeMap<Part, RunRecord> {
        &self.records
    }

    /// The parts that are shown in detail, and their evaluations, in their order: without the ends of the curve of response times.
    pub fn iter(&self) -> impl Iterator<Item = (Part, &Arc<Evaluation>)> + Clone {
        self.evaluations.iter().map(|(part, run)| (*part, run)).filter(|(part, _)| !part.is_end_of_curve())
    }

    /// The comparison of the strategies by a number of the mix, where it is tested.
    pub(crate) fn of_mix(&self, part: Part, metric: Metric) -> Option<&ArmComparison> {
        self.get(part)?.comparisons().find(|one| one.operation.is_none() && one.metric == metric)
    }

    /// A number of the mix with a strategy, where it is compared; `None` also for an overloaded one, whose times are those of a queue
    /// that grows.
    pub(crate) fn number_of_mix(&self, of: Criterion, strategy: usize) -> Option<f64> {
        let arm = self.of_mix(of.part, of.metric)?.arms().get(strategy)?;
        arm.series.value.filter(|_| arm.overloaded.is_none())
    }

    /// The part in which the whole mix runs under the load of users, as far as it was measured: see `MAIN`.
    pub fn main(&self) -> &Arc<Evaluation> {
        MAIN.iter().find_map(|part| self.get(*part)).unwrap_or(&self.empty)
    }

    /// The record of [`PartEvaluations::main`].
    pub(crate) fn main_record(&self) -> Option<&RunRecord> {
        MAIN.iter().find_map(|part| self.record(*part))
    }

    /// The part whose cells have the sizes and audits.
    pub fn last(&self) -> &Arc<Evaluation> {
        Part::inspected(self.evaluations.keys().copied()).and_then(|part| self.get(part)).unwrap_or(&self.empty)
    }

    /// A counter per call of the mix, from the part with the most calls.
    pub(crate) fn mix_cost(&self, strategy: usize, counter: &str) -> Option<f64> {
        let mix = stats::loaded(&self.records)?;
        stats::window_cost(mix, strategy, counter).map(|cost| cost.per_call)
    }

    /// What a strategy had of something in the end, in all collections.
    pub(crate) fn stored(&self, strategy: usize, of: fn(&CollectionGrowth) -> f64) -> Option<f64> {
        Some(self.last().strategies.get(strategy)?.collections.iter().map(of).sum())
    }

    /// The most that a strategy had of it.
    pub(crate) fn most_stored(&self, of: fn(&CollectionGrowth) -> f64) -> f64 {
        self.last().without_repeat().filter_map(|(place, _)| self.stored(place, of)).fold(0.0, f64::max)
    }

    /// What holds of several parts, without repetitions.
    pub(crate) fn distinct(&self, of: impl Fn(&RunRecord) -> Vec<String>) -> Vec<String> {
        let detailed = self.records.iter().filter(|(part, _)| !part.is_end_of_curve());
        distinct(detailed.flat_map(|(_, record)| of(record)))
    }
}
