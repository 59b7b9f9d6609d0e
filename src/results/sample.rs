//! A small run for the tests of this folder.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::record::{CallOutcome, LatencyHistogram, StoredHistogram};

use super::{
    CellRecord, CollectionSizes, Environment, FORMAT_VERSION, MixRecord, OperationRecord, OutcomeRecord, Part, Preset,
    RoundRecord, RunRecord, RunSettings, ScenarioRecord, ServerRecord, ServerSharing, Status, StrategyRecord,
};

/// One strategy, one operation, one round with these service times.
pub(super) fn run(times: &[u64]) -> RunRecord {
    RunRecord {
        format: FORMAT_VERSION,
        version: "0.1.0".into(),
        id: "1a2b3c4d".into(),
        git: None,
        turns_with: None,
        status: Status::Failed("the server was lost".into()),
        started: "2026-11-21T01:42:00.25Z".into(),
        scenario: ScenarioRecord {
            name: "blog".into(),
            title: "Embed, link or bucket?".into(),
            about: "\u{1f600} \"quoted\"\n".into(),
            argument: String::new(),
            sha256: "0f".repeat(32),
            text: "format: 1\n".into(),
        },
        parameters: vec![("posts".into(), 200.into()), ("share".into(), 0.25.into()), ("word".into(), "a".into())],
        mix: MixRecord { name: "default".into(), weights: vec![("read".into(), 1.5)] },
        settings: settings(),
        server: ServerRecord {
            version: "6.0.5".into(),
            embedded: true,
            topology: "a replica set of one member".into(),
            facts: vec![("storage engine".into(), "wiredTiger".into())],
            cache_bytes: None,
            servers: ServerSharing::Shared,
        },
        environment: Environment { platform: "linux x86_64".into(), cores: Some(2), ..Environment::default() },
        strategies: vec![StrategyRecord {
            name: "embedded".into(),
            about: "In an array.".into(),
            is_unsafe: false,
            is_repeat: false,
            collections: Vec::new(),
        }],
        skipped: Vec::new(),
        operations: vec!["read".into()],
        claims: Vec::new(),
        verification: None,
        parts: BTreeMap::from([(Part::Saturation, vec![round(times)])]),
        rounds: Vec::new(),
        part: None,
        identical: Vec::new(),
        query_plans: Vec::new(),
        events: Vec::new(),
        warnings: vec!["steal above 5 %".into()],
    }
}

fn round(times: &[u64]) -> RoundRecord {
    RoundRecord { index: 0, seed: u64::MAX, order: vec![vec![0], vec![0]], cells: vec![cell(times)] }
}

fn settings() -> RunSettings {
    RunSettings { seed: 42, calls: Some(30_000), duration: Some(2.5), ..RunSettings::of(Preset::Quick) }
}

fn cell(times: &[u64]) -> CellRecord {
    let mut service = LatencyHistogram::new(Duration::from_secs(10));
    times.iter().for_each(|time| service.record(*time));
    let (count, saturated, sum) = (service.count(), service.saturated(), service.sum());
    let service = StoredHistogram::new(&service);
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
        checkpointed: true,
    };
    CellRecord {
        loaded: 200,
        load_seconds: 0.5,
        calls: count,
        seconds: 3.25,
        connections_created: 0,
        operations: vec![OperationRecord {
            calls: count,
            round_trips: 2 * count,
            outcomes: vec![OutcomeRecord { outcome: CallOutcome::Ok, count, saturated, sum, service, response: None }],
            errors: BTreeMap::new(),
            unknown: 0,
            messages: BTreeMap::new(),
            retries: BTreeMap::from([("112".into(), 7)]),
            inconsistency: None,
        }],
        before: vec![sizes.clone()],
        after: vec![sizes],
        own_counters: Vec::new(),
        deferred: None,
        slices: Vec::new(),
        warm_up: Vec::new(),
        open: None,
        check_out: None,
        counters: BTreeMap::new(),
        machine: Default::default(),
        audits: Vec::new(),
    }
}
