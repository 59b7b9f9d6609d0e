//! What a run is published with: the numbers and sentences of its report that a reader needs next to those of other runs.

use std::collections::BTreeMap;

use crate::record::{OPLOG_BYTES, Part};
use crate::results::{
    LoadModel, MetricRecord, PUBLISHED_FORMAT, PublishedAnswer, PublishedData, PublishedMachine, PublishedMetric,
    PublishedOperation, PublishedRecord, PublishedScenario, PublishedServer, PublishedStrategy, PublishedVerification,
    RunRecord, Standing,
};
use crate::stats::{self, CollectionGrowth, MixEstimate, Ranking, Ratio, Verdict, geometric_mean};

use super::arm_comparison::{ArmComparison, ComparedMetric};
use super::decision::Decision;
use super::evaluation::Evaluation;
use super::format::plain;
use super::parts::PartEvaluations;
use super::run_facts::verification;
use super::section::{Headline, method, verdict};
use super::validity;

/// The counter of the server's CPU time.
const CPU_TIME: &str = "cpu_us";

/// Computes what a run is published with. `scenario` is what its text says, `machine` the owner's name for the machine, and
/// `others` are runs of other mixes, which the report of the run mentions.
pub fn published(
    record: &RunRecord,
    scenario: PublishedScenario,
    machine: &str,
    others: &[RunRecord],
) -> PublishedRecord {
    let parts = PartEvaluations::new(record);
    let run = Published { record, parts: &parts };
    PublishedRecord {
        format: PUBLISHED_FORMAT,
        version: plain(&record.version),
        commit: record.git.as_deref().map(plain),
        started: plain(&record.started),
        scenario,
        mix: record.mix.clone(),
        preset: record.settings.preset,
        rounds: record.complete_rounds() as u64,
        seed: record.settings.seed,
        command: method::command(record),
        server: PublishedServer {
            version: plain(&record.server.version),
            topology: plain(&record.server.topology),
            embedded: record.server.embedded,
        },
        machine: PublishedMachine {
            name: plain(machine),
            platform: plain(&record.environment.platform),
            cpu: record.environment.cpu.as_deref().map(plain),
            cores: record.environment.cores,
        },
        data: run.data(),
        rate: match record.settings.load_at_rate() {
            LoadModel::Closed => None,
            LoadModel::Open { rate, .. } => Some(rate),
        },
        clients: record.settings.clients as u64,
        valid: parts.distinct(validity::invalid).is_empty(),
        verification: verification(record)
            .map(|found| PublishedVerification { calls: found.calls, clean: found.clean }),
        answer: answer(verdict::headline(record, &parts, others)),
        operations: run.operations(),
        own_times_predict_mix: run.is_predicted(),
        strategies: run.strategies(),
    }
}

/// What the headline says. The one place that knows where the answer is.
fn answer(headline: Headline) -> PublishedAnswer {
    let Some(Decision { answer, sure, why, flips, but, .. }) = headline.decision else { return Default::default() };
    PublishedAnswer { answer, sure, why, flips, but }
}

/// A run that is published.
struct Published<'r> {
    record: &'r RunRecord,
    parts: &'r PartEvaluations,
}

impl Published<'_> {
    fn strategies(&self) -> Vec<PublishedStrategy> {
        let entry = |(place, _): (usize, _)| {
            let entry = &self.record.strategies[place];
            let of = |metric: &PublishedMetric| Some((*metric, self.metric(*metric, place)?));
            PublishedStrategy {
                name: plain(&entry.name),
                about: plain(&entry.about),
                is_unsafe: entry.is_unsafe,
                metrics: PublishedMetric::ALL.iter().filter_map(of).collect(),
            }
        };
        self.parts.main().without_repeat().map(entry).collect()
    }

    fn metric(&self, metric: PublishedMetric, strategy: usize) -> Option<MetricRecord> {
        let compared = |part, metric| self.compared(part, metric, strategy);
        let value = match metric {
            PublishedMetric::ResponseMean => return compared(Part::Rate, ComparedMetric::Mean),
            PublishedMetric::ResponseP99 => return compared(Part::Rate, ComparedMetric::P99),
            PublishedMetric::CallsPerSecond => return compared(Part::Saturation, ComparedMetric::Throughput),
            PublishedMetric::OwnTime => {
                self.parts.record(Part::Own).and_then(|own| MixEstimate::new(own).mean(strategy))
            }
            PublishedMetric::CpuTime => self.cost(CPU_TIME, strategy),
            PublishedMetric::OplogBytes => self.cost(OPLOG_BYTES, strategy),
            PublishedMetric::StoredBytes => self.files(strategy, |one| one.storage.after),
            PublishedMetric::IndexBytes => self.files(strategy, |one| one.indexes.after),
        };
        let value = value.filter(|value| value.is_finite())?;
        Some(MetricRecord { value, standing: None, ratio: None, interval: None })
    }

    /// A number that a family of comparisons asks for.
    fn compared(&self, part: Part, metric: ComparedMetric, strategy: usize) -> Option<MetricRecord> {
        let run = self.parts.get(part)?;
        let question = run.comparisons().find(|one| one.operation.is_none() && one.metric == metric)?;
        let value = geometric_mean(&question.arms()[strategy].means).filter(|value| value.is_finite())?;
        let none = MetricRecord { value, standing: None, ratio: None, interval: None };
        Some(standing(run, question, strategy).map_or(none, |(standing, ratio)| MetricRecord {
            standing: Some(standing),
            ratio: ratio.map(|ratio| ratio.mean),
            interval: ratio.and_then(|ratio| ratio.interval).map(|interval| [interval.low, interval.high]),
            ..none
        }))
    }

    /// A counter per call of the mix.
    fn cost(&self, counter: &str, strategy: usize) -> Option<f64> {
        let mix = [Part::Saturation, Part::Rate].iter().find_map(|part| self.parts.record(*part))?;
        stats::window_cost(mix, strategy, counter).map(|cost| cost.per_call)
    }

    fn collections(&self, strategy: usize) -> &[CollectionGrowth] {
        self.parts.last().strategies.get(strategy).map_or(&[], |results| &results.collections)
    }

    /// The sizes of files; `None` where they were read without a checkpoint and lag behind.
    fn files(&self, strategy: usize, of: fn(&CollectionGrowth) -> f64) -> Option<f64> {
        let collections = self.collections(strategy);
        let is_known = !collections.is_empty() && collections.iter().all(|one| one.checkpointed);
        is_known.then(|| collections.iter().map(of).sum())
    }

    fn data(&self) -> PublishedData {
        let most = |of: fn(&CollectionGrowth) -> f64| {
            let sums =
                self.parts.last().without_repeat().map(|(place, _)| self.collections(place).iter().map(of).sum());
            sums.fold(0.0, f64::max)
        };
        PublishedData {
            documents: most(|one| one.documents.after),
            bytes: most(|one| one.size.after + one.indexes.after),
            cache_bytes: self.record.server.cache_bytes,
        }
    }

    fn operations(&self) -> Vec<PublishedOperation> {
        let weights: BTreeMap<&str, f64> =
            self.record.mix.weights.iter().map(|(name, weight)| (name.as_str(), *weight)).collect();
        let total: f64 = weights.values().sum();
        let own = self.parts.record(Part::Own);
        let operation = |(place, name): (usize, &String)| {
            let time = |strategy| geometric_mean(&stats::means(own?, strategy, place));
            PublishedOperation {
                name: plain(name),
                share: weights.get(name.as_str()).map_or(0.0, |weight| weight / total),
                writes: own.and_then(|own| stats::writes(own, place)),
                own_times: self.parts.main().without_repeat().map(|(strategy, _)| time(strategy)).collect(),
            }
        };
        self.record.operations.iter().enumerate().map(operation).collect()
    }

    /// Whether own times predict the mix at saturation, which has the most calls, for all pairs of judged strategies. Where no
    /// difference is reported, the order is chance, and only the size of the ratio must agree.
    fn is_predicted(&self) -> Option<bool> {
        let own = self.parts.record(Part::Own)?;
        let (part, mix) =
            [Part::Saturation, Part::Rate].iter().find_map(|part| Some((*part, self.parts.record(*part)?)))?;
        let question = self.parts.get(part)?.comparisons().find(|one| one.operation.is_none())?;
        let judged: Vec<usize> =
            self.parts.main().without_repeat().filter(|(_, one)| !one.is_unsafe).map(|(place, _)| place).collect();
        let estimate = MixEstimate::new(own);
        let time = |strategy| stats::service_mean(stats::cells(mix, strategy).flat_map(|cell| &cell.operations));
        let agrees = |one: usize, other: usize| {
            let measured = time(one)? / time(other)?;
            let is_reported = question
                .compared
                .pair(one, other)
                .is_some_and(|pair| matches!(pair.verdict, Verdict::Faster | Verdict::Slower));
            Some(if is_reported {
                estimate.predicts(one, other, measured)
            } else {
                estimate.is_near(one, other, measured)
            })
        };
        let pairs =
            judged.iter().enumerate().flat_map(|(place, one)| judged[..place].iter().map(|other| (*one, *other)));
        Some(pairs.into_iter().all(|(one, other)| agrees(one, other).unwrap_or(false)))
    }
}

/// How a strategy compares with the best one, and its number divided by that of the best.
fn standing(run: &Evaluation, question: &ArmComparison, strategy: usize) -> Option<(Standing, Option<Ratio>)> {
    let Ranking { best, best_against, .. } = question.ranking().filter(|_| run.no_verdict.is_none())?;
    if run.strategies.get(strategy)?.is_unsafe {
        return None;
    }
    if strategy == best {
        return Some((Standing::Best, None));
    }
    let Some(comparison) = best_against.iter().find(|one| one.against == strategy) else {
        return Some((Standing::Inconclusive, None));
    };
    let standing = match comparison.verdict {
        Verdict::Faster => Standing::Worse,
        // The best is never slower.
        Verdict::Slower | Verdict::Same { .. } | Verdict::NoDifference { .. } => Standing::NoDifference,
        Verdict::Inconclusive(_) => Standing::Inconclusive,
    };
    let turned = comparison.ratio.map(|ratio| Ratio {
        mean: ratio.mean.recip(),
        interval: ratio.interval.map(stats::ConfidenceInterval::turned),
        rounds: ratio.rounds,
    });
    Some((standing, turned))
}
