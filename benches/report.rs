//! Time to read and report a large run: three parts of 20 rounds of 7 strategies and the repeat, with 9 operations each.

#![allow(missing_docs)]

#[path = "../tests/harness/record.rs"]
mod record;

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use docshape::record::LatencyHistogram;
use docshape::report::{Html, Markdown, Renderer, Report, Terminal};
use docshape::results::{
    CellRecord, OperationRecord, Part, Preset, RoundRecord, RunRecord, RunSettings, SliceRecord, load, save,
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
    record::operation(&service)
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
        operations: (0..OPERATIONS).map(|one| operation(arm, one, state)).collect(),
        slices,
        warm_up,
        ..CellRecord::default()
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
    let strategies: Vec<String> = (0..ARMS).map(|arm| format!("strategy_{arm}")).collect();
    let strategies: Vec<&str> = strategies.iter().map(String::as_str).collect();
    let mut run = record::run("Large", &strategies);
    run.strategies[ARMS - 1].is_repeat = true;
    run.mix.weights = names.iter().map(|name| (name.clone(), 1.0)).collect();
    run.settings = settings();
    run.operations = names;
    let mut state = 1;
    run.parts = Part::ALL.map(|part| (part, (0..ROUNDS).map(|index| round(index, &mut state)).collect())).into();
    run
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
