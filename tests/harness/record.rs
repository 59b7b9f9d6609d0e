//! Records of runs that never took place.

#![allow(dead_code)]

use std::collections::BTreeMap;

use docshape::record::{CallOutcome, LatencyHistogram, StoredHistogram};
use docshape::results::{
    Environment, FORMAT_VERSION, MixRecord, OperationRecord, OutcomeRecord, Preset, RunRecord, RunSettings,
    ScenarioRecord, ServerRecord, ServerSharing, Status, StrategyRecord,
};

/// Returns a complete run of the scenario `small` without rounds: one operation, and these strategies.
pub fn run(title: &str, strategies: &[&str]) -> RunRecord {
    RunRecord {
        skipped: Vec::new(),
        format: FORMAT_VERSION,
        version: "0.1.0".into(),
        id: "1a2b3c4d".into(),
        git: None,
        turns_with: None,
        status: Status::Complete,
        started: "2026-01-01T00:00:00Z".into(),
        scenario: ScenarioRecord {
            name: "small".into(),
            title: title.into(),
            about: "Little.".into(),
            argument: String::new(),
            sha256: "00".into(),
            text: String::new(),
        },
        parameters: Vec::new(),
        mix: MixRecord { name: "default".into(), weights: vec![("read".into(), 1.0)] },
        settings: RunSettings::of(Preset::Quick),
        server: ServerRecord {
            version: "6.0.5".into(),
            embedded: true,
            topology: "replica set".into(),
            facts: Vec::new(),
            cache_bytes: None,
            servers: ServerSharing::Shared,
        },
        environment: Environment::default(),
        strategies: strategies.iter().map(|name| strategy(name)).collect(),
        operations: vec!["read".into()],
        claims: Vec::new(),
        verification: None,
        parts: BTreeMap::new(),
        rounds: Vec::new(),
        part: None,
        identical: Vec::new(),
        query_plans: Vec::new(),
        events: Vec::new(),
        warnings: Vec::new(),
    }
}

fn strategy(name: &str) -> StrategyRecord {
    StrategyRecord {
        name: name.into(),
        about: "A shape.".into(),
        is_unsafe: false,
        is_repeat: false,
        collections: Vec::new(),
    }
}

/// Returns an operation whose calls all succeeded, in these times.
pub fn operation(service: &LatencyHistogram) -> OperationRecord {
    let outcome = OutcomeRecord {
        outcome: CallOutcome::Ok,
        count: service.count(),
        saturated: 0,
        sum: service.sum(),
        service: StoredHistogram::new(service),
        response: None,
    };
    OperationRecord {
        calls: service.count(),
        round_trips: service.count(),
        outcomes: vec![outcome],
        errors: BTreeMap::new(),
        unknown: 0,
        messages: BTreeMap::new(),
        retries: BTreeMap::new(),
        inconsistency: None,
    }
}
