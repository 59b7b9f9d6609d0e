//! What a run is published with: the numbers of its report that a reader needs next to those of other runs.

use std::collections::BTreeMap;

use crate::record::{Metric, Part, SizeMetric};
use crate::report::document::plain;
use crate::report::run::decision::Judged;
use crate::report::run::facts::verification;
use crate::report::run::parts::PartEvaluations;
use crate::report::run::sections::method;
use crate::report::run::validity;
use crate::results::{
    LoadModel, MetricRecord, PUBLISHED_FORMAT, PublishedData, PublishedMachine, PublishedMetric, PublishedOperation,
    PublishedRecord, PublishedScenario, PublishedServer, PublishedStrategy, PublishedVerification, RunRecord,
    SessionRecord, Standing,
};
use crate::stats::{self, ArmTimes, CollectionGrowth, Prediction, SeriesKey};

/// Computes what a run is published with. `scenario` is what its text says, `machine` the owner's name for the machine.
pub fn published(record: &RunRecord, scenario: PublishedScenario, machine: &str) -> PublishedRecord {
    let parts = PartEvaluations::new(record);
    let judged = Judged::of(&parts).filter(|_| parts.main().no_verdict.is_none());
    let run = Published { record, parts: &parts, judged, prediction: Prediction::of(parts.all_records()) };
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
        rate: rate(record),
        clients: record.settings.clients as u64,
        valid: parts.distinct(validity::invalid).is_empty(),
        verification: verification(record)
            .map(|found| PublishedVerification { calls: found.calls, clean: found.clean }),
        answer: run.judged.as_ref().map(Judged::published).unwrap_or_default(),
        operations: run.operations(),
        strategies: run.strategies(),
        sessions: vec![run.session()],
    }
}

/// The calls per second at which response times of a run are compared.
fn rate(record: &RunRecord) -> Option<f64> {
    match record.settings.load_at_rate() {
        LoadModel::Closed => None,
        LoadModel::Open { rate, .. } => Some(rate),
    }
}

/// A run that is published.
struct Published<'r> {
    record: &'r RunRecord,
    parts: &'r PartEvaluations,
    judged: Option<Judged<'r>>,
    prediction: Option<Prediction>,
}

impl Published<'_> {
    fn strategies(&self) -> Vec<PublishedStrategy> {
        let entry = |(place, _): (usize, _)| {
            let entry = &self.record.strategies[place];
            let of = |metric: PublishedMetric| Some((metric, self.metric(metric, place)?));
            PublishedStrategy {
                name: plain(&entry.name),
                about: plain(&entry.about),
                is_unsafe: entry.is_unsafe,
                is_predicted: self.prediction.as_ref().map(|one| one.holds(place, one.best)),
                metrics: PublishedMetric::all().filter_map(of).collect(),
            }
        };
        self.parts.main().without_repeat().map(entry).collect()
    }

    /// The run as a session of its result.
    fn session(&self) -> SessionRecord {
        let record = self.record;
        let winner = self.judged.as_ref().and_then(|judged| judged.answer.winner());
        let of_metric = |metric: PublishedMetric| {
            let rounds = |place: usize| Some((plain(&record.strategies[place].name), self.rounds(metric, place)?));
            (metric, stats::judged(record).filter_map(rounds).collect::<BTreeMap<_, _>>())
        };
        let numbers = PublishedMetric::OF_SESSIONS.into_iter().map(of_metric);
        SessionRecord {
            started: plain(&record.started),
            version: plain(&record.version),
            commit: record.git.as_deref().map(plain),
            seed: record.settings.seed,
            preset: record.settings.preset,
            rounds: record.complete_rounds() as u64,
            rate: rate(record),
            clients: record.settings.clients as u64,
            winner: winner.map(|place| plain(record.strategy_name(place))),
            numbers: numbers.filter(|(_, strategies)| !strategies.is_empty()).collect(),
        }
    }

    /// A number of the mix in every round; `None` of a strategy that no run would compare by it.
    fn rounds(&self, metric: PublishedMetric, strategy: usize) -> Option<Vec<Option<f64>>> {
        let part = self.parts.record(metric.column().part)?;
        let arm = ArmTimes::by(part, SeriesKey::new(metric.metric(), strategy, None));
        let is_idle = metric.is_rate() && stats::too_few_in_flight(part, strategy).is_some();
        let is_compared = arm.overloaded.is_none() && arm.failed_share <= part.settings.error_budget && !is_idle;
        let kept = |value: f64| Some(stats::digits(value)).filter(|value| value.is_finite() && *value > 0.0);
        let rounds: Vec<Option<f64>> = arm.series.rounds.into_iter().map(|value| value.and_then(kept)).collect();
        (is_compared && rounds.iter().any(Option::is_some)).then_some(rounds)
    }

    fn metric(&self, metric: PublishedMetric, strategy: usize) -> Option<MetricRecord> {
        let (part, measured) = (metric.column().part, metric.metric());
        let value = match measured {
            Metric::Counter(counter) => self.parts.mix_cost(strategy, counter.name),
            Metric::Size(SizeMetric::Collections) => self.files(strategy, |one| one.storage.after),
            Metric::Size(SizeMetric::Indexes) => self.files(strategy, |one| one.indexes.after),
            _ if metric.is_tested() => return self.compared(part, measured, strategy),
            _ => self.parts.record(part).and_then(|run| stats::value(run, measured, strategy, None)),
        };
        let value = value.filter(|value| value.is_finite())?;
        Some(MetricRecord { value, ..MetricRecord::default() })
    }

    /// A number that a family of comparisons asks for.
    fn compared(&self, part: Part, metric: Metric, strategy: usize) -> Option<MetricRecord> {
        let (run, question) = (self.parts.get(part)?, self.parts.of_mix(part, metric)?);
        let value = question.arms()[strategy].series.value?;
        let none = MetricRecord { value, ..MetricRecord::default() };
        let is_judged = run.no_verdict.is_none() && !run.strategies[strategy].is_unsafe;
        let Some(ranking) = question.ranking().filter(|_| is_judged) else { return Some(none) };
        let winner = self.judged.as_ref().and_then(|judged| judged.answer.winner());
        let ratio = question.pair(strategy, ranking.best).and_then(|one| one.ratio);
        let standing = ranking.standing(strategy, winner);
        let against_best = ranking.best_against.iter().find(|one| one.against == strategy).map(|one| one.verdict);
        Some(MetricRecord {
            standing: Some(standing),
            undecided: against_best.filter(|_| standing == Standing::Undecided),
            ratio: ratio.map(|ratio| ratio.mean),
            interval: ratio.and_then(|ratio| ratio.interval).map(|interval| [interval.low, interval.high]),
            ..none
        })
    }

    /// The sizes of files; `None` where they were read without a checkpoint and lag behind.
    fn files(&self, strategy: usize, of: fn(&CollectionGrowth) -> f64) -> Option<f64> {
        let collections = &self.parts.last().strategies.get(strategy)?.collections;
        let is_known = !collections.is_empty() && collections.iter().all(|one| one.checkpointed);
        is_known.then(|| collections.iter().map(of).sum())
    }

    fn data(&self) -> PublishedData {
        PublishedData {
            documents: self.parts.most_stored(|one| one.documents.after),
            bytes: self.parts.most_stored(|one| one.size.after + one.indexes.after),
            cache_bytes: self.record.server.cache_bytes,
        }
    }

    fn operations(&self) -> Vec<PublishedOperation> {
        let shares = stats::shares(&self.record.operations, &self.record.mix.weights);
        let own = self.parts.record(Part::Own);
        let operation = |(place, name): (usize, &String)| {
            let time = |strategy| stats::own_time(own?, strategy, place);
            PublishedOperation {
                name: plain(name),
                share: shares[place],
                writes: own.and_then(|own| stats::writes(own, place)),
                own_times: self.parts.main().without_repeat().map(|(strategy, _)| time(strategy)).collect(),
            }
        };
        self.record.operations.iter().enumerate().map(operation).collect()
    }
}
