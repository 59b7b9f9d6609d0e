//! Records of runs that never took place.

#![allow(dead_code)]

use docshape::record::{CallOutcome, LatencyHistogram};
use docshape::results::{
    FORMAT_VERSION, MixRecord, OperationRecord, OutcomeRecord, Preset, RunRecord, RunSettings, ScenarioRecord,
    ServerRecord, Status, StrategyRecord,
};

/// Returns a complete run of the scenario `small` without rounds: one operation, and these strategies.
pub fn run(title: &str, strategies: &[&str]) -> RunRecord {
    let strategy =
        |name: &&str| StrategyRecord { name: (*name).into(), about: "A shape.".into(), ..StrategyRecord::default() };
    RunRecord {
        format: FORMAT_VERSION,
        version: "0.1.0".into(),
        id: "1a2b3c4d".into(),
        status: Status::Complete,
        started: "2026-01-01T00:00:00Z".into(),
        scenario: ScenarioRecord {
            name: "small".into(),
            title: title.into(),
            about: "Little.".into(),
            sha256: "00".into(),
            ..ScenarioRecord::default()
        },
        mix: MixRecord { name: "default".into(), weights: vec![("read".into(), 1.0)] },
        settings: RunSettings::of(Preset::Quick),
        server: ServerRecord {
            version: "6.0.5".into(),
            embedded: true,
            topology: "replica set".into(),
            ..ServerRecord::default()
        },
        strategies: strategies.iter().map(strategy).collect(),
        operations: vec!["read".into()],
        ..RunRecord::default()
    }
}

/// Returns an operation whose calls all succeeded, in these times.
pub fn operation(service: &LatencyHistogram) -> OperationRecord {
    OperationRecord {
        calls: service.count(),
        round_trips: service.count(),
        outcomes: vec![OutcomeRecord::new(CallOutcome::Ok, service)],
        ..OperationRecord::default()
    }
}
