//! Time to read and report a large run: three parts of 20 rounds of 7 strategies and the repeat, with 9 operations each.

#![allow(missing_docs)]

use std::collections::BTreeMap;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use docshape::record::{CallOutcome, LatencyHistogram, StoredHistogram};
use docshape::report::{Html, Markdown, Renderer, Report, Terminal};
use docshape::results::{
    CellRecord, Environment, FORMAT_VERSION, MachineRecord, MixRecord, OperationRecord, OutcomeRecord, Part, Preset,
    RoundRecord, RunRecord, RunSettings, ScenarioRecord, ServerRecord, ServerSharing, SliceRecord, Status,
    StrategyRecord, load, save,
};

const ROUNDS: u64 = 20;
const ARMS: usize = 8;
const OPERATIONS: usize = 9;
const SLICES: usize = 64;
const CALLS: u64 = 3_000;

/// A pseudo-random number from 0 to 1 (splitmix64).
fn unit(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

fn operation(arm: usize, operation: usize, state: &mut u64) -> OperationRecord {
    let mut service = LatencyHistogram::new(Duration::from_secs(10));
    let typical = 300_000.0 * (1.0 + arm as f64 * 0.1) * (1.0 + operation as f64);
    for _ in 0..CALLS {
        service.record((typical * (0.5 - unit(state).ln())) as u64);
    }
    let outcome = OutcomeRecord {
        outcome: CallOutcome::Ok,
        count: service.count(),
        saturated: 0,
        sum: service.sum(),
        service: StoredHistogram::new(&service),
        response: None,
    };
    OperationRecord {
        calls: CALLS,
        round_trips: CALLS,
        outcomes: vec![outcome],
        errors: BTreeMap::new(),
        unknown: 0,
        messages: BTreeMap::new(),
        retries: BTreeMap::new(),
        inconsistency: None,
    }
}

fn cell(arm: usize, state: &mut u64) -> CellRecord {
    let mut slice = || SliceRecord {
        calls: CALLS * OPERATIONS as u64 / 64,
        seconds: 0.15 * (0.9 + 0.2 * unit(state)),
        ..SliceRecord::default()
    };
    let (slices, warm_up) = ((0..SLICES).map(|_| slice()).collect(), (0..8).map(|_| slice()).collect());
    CellRecord {
        loaded: 20_000,
        load_seconds: 0.3,
        calls: CALLS * OPERATIONS as u64,
        seconds: 10.0,
        connections_created: 0,
        operations: (0..OPERATIONS).map(|one| operation(arm, one, state)).collect(),
        own_counters: Vec::new(),
        deferred: None,
        slices,
        warm_up,
        open: None,
        check_out: None,
        counters: BTreeMap::new(),
        machine: MachineRecord::default(),
        before: Vec::new(),
        after: Vec::new(),
        audits: Vec::new(),
    }
}

fn round(index: u64, state: &mut u64) -> RoundRecord {
    let mut order: Vec<usize> = (0..ARMS).collect();
    let orders = (0..SLICES).map(|_| {
        (1..ARMS).rev().for_each(|last| order.swap(last, (unit(state) * (last + 1) as f64) as usize));
        order.clone()
    });
    let order = orders.collect();
    RoundRecord { index, seed: index, order, cells: (0..ARMS).map(|arm| cell(arm, state)).collect() }
}

fn settings() -> RunSettings {
    let calls = Some(CALLS * OPERATIONS as u64);
    RunSettings { rounds: ROUNDS, calls, warmup_calls: Some(2_700), ..RunSettings::of(Preset::Publish) }
}

fn run() -> RunRecord {
    let names: Vec<String> = (0..OPERATIONS).map(|one| format!("operation_{one}")).collect();
    let strategy = |arm: usize| StrategyRecord {
        name: format!("strategy_{arm}"),
        about: "A shape.".into(),
        is_unsafe: false,
        is_repeat: arm == ARMS - 1,
        collections: Vec::new(),
    };
    let mut state = 1;
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
            name: "large".into(),
            title: "Large".into(),
            about: "A large run.".into(),
            argument: String::new(),
            sha256: "00".into(),
            text: String::new(),
        },
        parameters: Vec::new(),
        mix: MixRecord { name: "default".into(), weights: names.iter().map(|name| (name.clone(), 1.0)).collect() },
        settings: settings(),
        server: ServerRecord {
            version: "6.0.5".into(),
            embedded: true,
            topology: "replica set".into(),
            facts: Vec::new(),
            cache_bytes: None,
            servers: ServerSharing::Shared,
        },
        environment: Environment::default(),
        strategies: (0..ARMS).map(strategy).collect(),
        operations: names,
        claims: Vec::new(),
        verification: None,
        parts: Part::ALL.map(|part| (part, (0..ROUNDS).map(|index| round(index, &mut state)).collect())).into(),
        rounds: Vec::new(),
        part: None,
        identical: Vec::new(),
        query_plans: Vec::new(),
        events: Vec::new(),
        warnings: Vec::new(),
    }
}

fn large_run(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    save(&run(), folder.path()).expect("a writable folder");
    let record = load(folder.path()).expect("what was just written");
    let report = Report::new(&record);
    let mut group = criterion.benchmark_group("large_run");
    group.sample_size(10);
    group.bench_function("read", |bencher| bencher.iter(|| load(folder.path())));
    group.bench_function("statistics", |bencher| bencher.iter(|| Report::new(&record)));
    group.bench_function("page", |bencher| {
        bencher.iter(|| {
            let mut text = String::new();
            Html.render(&report, &mut text).map(|()| text)
        });
    });
    group.bench_function("render", |bencher| {
        bencher.iter(|| {
            let mut text = String::new();
            let rendered = Markdown.render(&report, &mut text);
            rendered
                .and_then(|()| Terminal { width: 100, colour: true, full: true }.render(&report, &mut text))
                .map(|()| text)
        });
    });
}

criterion_group!(benches, large_run);
criterion_main!(benches);
