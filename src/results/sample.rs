//! A small run for the tests of this folder.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::record::{CallOutcome, LatencyHistogram};
use crate::stats::sample;

use super::{
    CellRecord, CollectionSizes, MixRecord, OperationRecord, OutcomeRecord, Part, Preset, RoundRecord, RunRecord,
    RunSettings, ScenarioRecord, Status,
};

/// One strategy, one operation, one round with these service times.
pub(super) fn run(times: &[u64]) -> RunRecord {
    let other = sample::run(0);
    let settings = RunSettings { seed: 42, calls: Some(30_000), duration: Some(2.5), ..RunSettings::of(Preset::Quick) };
    let round = RoundRecord { index: 0, seed: u64::MAX, order: vec![vec![0], vec![0]], cells: vec![cell(times)] };
    RunRecord {
        status: Status::Failed("the server was lost".into()),
        scenario: ScenarioRecord { about: "\u{1f600} \"quoted\"\n".into(), ..other.scenario },
        parameters: vec![("posts".into(), 200.into()), ("share".into(), 0.25.into()), ("word".into(), "a".into())],
        mix: MixRecord { name: "default".into(), weights: vec![("read".into(), 1.5)] },
        settings,
        strategies: vec![other.strategies[0].clone()],
        operations: vec!["read".into()],
        verification: None,
        parts: BTreeMap::from([(Part::Saturation, vec![round])]),
        part: None,
        ..other
    }
}

fn cell(times: &[u64]) -> CellRecord {
    let mut service = LatencyHistogram::new(Duration::from_secs(10));
    times.iter().for_each(|time| service.record(*time));
    let count = service.count();
    let sizes = CollectionSizes {
        name: "posts".into(),
        documents: 200,
        mean: 23_000.5,
        p50: 20_000,
        p99: 90_000,
        max: u64::from(u32::MAX) + 1,
        size: 4_600_100,
        storage: 2_000_000,
        indexes: BTreeMap::from([("_id_".into(), 4_096)]),
        storage_free: Some(500_000),
        indexes_free: Some(0),
        checkpointed: true,
        shards: BTreeMap::new(),
    };
    CellRecord {
        loaded: 200,
        load_seconds: 0.5,
        calls: count,
        seconds: 3.25,
        operations: vec![OperationRecord {
            calls: count,
            round_trips: 2 * count,
            outcomes: vec![OutcomeRecord::new(CallOutcome::Ok, &service)],
            retries: BTreeMap::from([("112".into(), 7)]),
            ..OperationRecord::default()
        }],
        before: vec![sizes.clone()],
        after: vec![sizes],
        ..CellRecord::default()
    }
}
