//! A small run for tests of statistics and reports: exact times, no chance.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use serde_json::{Value, json};

use crate::record::{CallOutcome, LatencyHistogram};
use crate::results::verification::Verification;
use crate::results::{
    Arrivals, CellRecord, CollectionSizes, Environment, FORMAT_VERSION, LoadModel, MixRecord, OpenRecord,
    OperationRecord, OutcomeRecord, Part, Preset, RUN_FILE, RoundRecord, RunRecord, RunSettings, ScenarioRecord,
    ServerRecord, Status, StrategyRecord, TimesRecord, load,
};

/// Typical times in nanoseconds: a row per strategy, a column per operation.
const TIMES: [[f64; 3]; 3] =
    [[1_900_000.0, 610_000.0, 240_000.0], [820_000.0, 940_000.0, 241_000.0], [760_000.0, 580_000.0, 190_000.0]];

/// Calls per operation, cell and round.
const CALLS: [u64; 3] = [600, 300, 15];

/// A run of `embedded`, `linked` and the unsafe `bucket_rmw` over `rounds` rounds.
pub(crate) fn run(rounds: u64) -> RunRecord {
    RunRecord {
        format: FORMAT_VERSION,
        version: "0.1.0".into(),
        id: "1a2b3c4d".into(),
        status: Status::Complete,
        started: "2026-01-31T12:00:00Z".into(),
        scenario: ScenarioRecord {
            name: "blog-comments".into(),
            title: "Embed, link or bucket?".into(),
            about: "A post collects comments;\nreaders see a post with all of them | or <b>one</b> page.".into(),
            sha256: "5f".repeat(32),
            ..ScenarioRecord::default()
        },
        parameters: vec![("posts".into(), 200.into()), ("word".into(), "it's".into())],
        mix: MixRecord {
            name: "default".into(),
            weights: [("add_comment", 60.0), ("read_post", 30.0), ("count", 2.0)].map(|(n, w)| (n.into(), w)).to_vec(),
        },
        settings: settings(rounds),
        server: ServerRecord {
            version: "6.0.5".into(),
            embedded: true,
            topology: "replica set of one".into(),
            facts: vec![("storage engine".into(), "wiredTiger".into())],
            ..ServerRecord::default()
        },
        environment: Environment {
            platform: "linux x86_64".into(),
            cpu: Some("Example CPU".into()),
            cores: Some(2),
            memory: Some(8_000_000_000),
            ..Environment::default()
        },
        strategies: vec![
            strategy("embedded", "All comments in the post.", false),
            strategy("linked", "A document per comment.", false),
            strategy("bucket_rmw", "Read, change, write back: loses comments.", true),
        ],
        operations: ["add_comment", "read_post", "count"].map(str::to_owned).to_vec(),
        verification: Some(Verification {
            scenario: "blog-comments".into(),
            mix: "default".into(),
            seed: 42,
            calls: 200,
            clients: 1,
            baseline: "embedded".into(),
            ..Verification::default()
        }),
        rounds: (0..rounds).map(round).collect(),
        part: Some(Part::Saturation),
        warnings: vec!["read_post of linked scans `comments`\n\u{1b}[31mwhole".into()],
        ..RunRecord::default()
    }
}

fn settings(rounds: u64) -> RunSettings {
    let calls = Some(CALLS.iter().sum());
    let usual = RunSettings::of(Preset::Quick);
    // A run of today also has the ends of the curve of response times, which `curve` adds. Their calls take as long as seven clients keep seven in flight.
    RunSettings {
        seed: 42,
        rounds,
        calls,
        warmup_calls: Some(200),
        load: LoadModel::Closed,
        clients: 7,
        ..usual.without_curve()
    }
}

fn strategy(name: &str, about: &str, is_unsafe: bool) -> StrategyRecord {
    StrategyRecord { name: name.into(), about: about.into(), is_unsafe, ..StrategyRecord::default() }
}

fn round(index: u64) -> RoundRecord {
    RoundRecord {
        index,
        seed: 100 + index,
        order: vec![vec![0, 1, 2]],
        cells: (0..3).map(|s| cell(s, index)).collect(),
    }
}

fn cell(strategy: usize, round: u64) -> CellRecord {
    let grown = if strategy == 0 { 2.0 } else { 1.0 };
    CellRecord {
        loaded: 20_200,
        load_seconds: 0.4,
        calls: CALLS.iter().sum(),
        seconds: [0.2, 0.1, 0.09][strategy],
        operations: (0..3).map(|operation| operation_record(strategy, operation, round)).collect(),
        before: collections(strategy, 20_000, 1.0),
        after: collections(strategy, 20_600, grown),
        counters: counters(strategy, round),
        ..CellRecord::default()
    }
}

/// The server's counters of a cell; the keys are the same in every round.
fn counters(strategy: usize, round: u64) -> BTreeMap<String, f64> {
    let calls = CALLS.iter().sum::<u64>() as f64;
    let round_effect = 1.0 + (round * 7 % 5) as f64 * 0.02;
    let grown = [
        ("cpu_us", [310.0, 160.0, 150.0][strategy] * round_effect),
        ("bytes_out", [9_400.0, 9_100.0, 8_000.0][strategy] * round_effect),
        ("keys_examined", [1.0, 35.5, 2.0][strategy]),
        ("oplog_bytes", [290.0, 260.0, 11_000.0][strategy]),
        ("sorts_in_memory", 0.0),
    ];
    grown.map(|(name, per_call)| (name.to_owned(), per_call * calls)).into()
}

/// A run of three parts of which this record is one: that with open load if its load is open, else saturation. The other
/// of the two has the same times. By themselves calls take half as long; of each operation there are 20 per round.
pub(crate) fn whole(part: &RunRecord) -> RunRecord {
    if !part.parts.is_empty() {
        return part.clone();
    }
    let rounds = |change: &dyn Fn(usize, &mut CellRecord)| -> Vec<RoundRecord> {
        let mut rounds = part.rounds.clone();
        for (strategy, cell) in rounds.iter_mut().flat_map(|round| round.cells.iter_mut().enumerate()) {
            change(strategy, cell);
        }
        rounds
    };
    let (rate, saturation, load) = match part.settings.load {
        LoadModel::Closed => {
            let load = LoadModel::Open { rate: 1_000.0, arrivals: Arrivals::Poisson };
            (rounds(&|_, cell| at_rate(cell)), rounds(&|_, cell| at_saturation(cell)), load)
        }
        open @ LoadModel::Open { .. } => (part.rounds.clone(), rounds(&|_, cell| at_saturation(cell)), open),
    };
    let parts = [(Part::Own, rounds(&own_cell)), (Part::Rate, rate), (Part::Saturation, saturation)];
    let parts = parts.into_iter().filter(|(_, rounds)| !rounds.is_empty()).collect();
    let settings = RunSettings { load, ..part.settings.clone() };
    RunRecord { parts, rounds: Vec::new(), part: None, settings, ..part.clone() }
}

/// The same whole run with the ends of the curve: at light load calls take half as long as at the middle one, and at heavy load twice
/// as long; `overloaded` keeps up with 40 % there.
pub(crate) fn curve(run: &RunRecord, overloaded: usize) -> RunRecord {
    let mut run = whole(run);
    let of_end = |part: Part, factor: f64| {
        let mut rounds = run.parts[&Part::Rate].clone();
        for (strategy, cell) in rounds.iter_mut().flat_map(|round| round.cells.iter_mut().enumerate()) {
            for outcome in cell.operations.iter_mut().flat_map(|one| &mut one.outcomes) {
                let times = histogram(outcome.count, outcome.sum as f64 / outcome.count.max(1) as f64 * factor);
                outcome.response = Some(TimesRecord::new(&times));
            }
            if let Some(open) = cell.open.as_mut().filter(|_| part == Part::Heavy && strategy == overloaded) {
                open.waiting = open.offered * 6 / 10;
            }
        }
        (part, rounds)
    };
    let ends = [of_end(Part::Light, 0.5), of_end(Part::Heavy, 2.0)];
    run.parts.extend(ends);
    run.settings.parts = Part::ALL.to_vec();
    run
}

fn at_saturation(cell: &mut CellRecord) {
    cell.open = None;
    cell.operations.iter_mut().flat_map(|one| &mut one.outcomes).for_each(|outcome| outcome.response = None);
}

fn own_cell(strategy: usize, cell: &mut CellRecord) {
    const OWN_CALLS: u64 = 20;
    let grown = [("keys_examined", 20.0), ("bytes_out", 728_000.0), ("cpu_us", 3_125.0)];
    for (operation, of) in cell.operations.iter_mut().enumerate() {
        let answered = of
            .outcomes
            .iter()
            .filter(|one| !one.outcome.is_failure())
            .map(|one| one.headline(one.sum, |times| times.sum));
        let mean = answered.sum::<u64>() as f64 / of.calls.max(1) as f64;
        let trips = if strategy == 1 && operation == 1 { 2 } else { 1 };
        (of.calls, of.round_trips) = (OWN_CALLS, OWN_CALLS * trips);
        of.outcomes = vec![outcome(CallOutcome::Ok, OWN_CALLS, mean / 2.0)];
        (of.errors, of.messages, of.retries, of.inconsistency) = Default::default();
        cell.own_counters.push(grown.map(|(name, sum)| (name.to_owned(), sum)).into());
    }
    (cell.calls, cell.seconds) = (OWN_CALLS * cell.operations.len() as u64, 0.05);
    (cell.open, cell.slices) = Default::default();
    cell.counters.clear();
}

fn at_rate(cell: &mut CellRecord) {
    for outcome in cell.operations.iter_mut().flat_map(|operation| &mut operation.outcomes) {
        let OutcomeRecord { count, saturated, sum, service, .. } = outcome.clone();
        outcome.response = Some(TimesRecord { count, saturated, sum, histogram: service });
    }
    let none = TimesRecord::new(&LatencyHistogram::new(Duration::from_secs(10)));
    cell.seconds = cell.calls as f64 / 1_000.0;
    let open = cell.open.take();
    cell.open = open.or(Some(OpenRecord {
        offered: cell.calls,
        seconds: cell.seconds,
        waiting: 0,
        skipped: 0,
        never_started: 0,
        pacer_lag: none.clone(),
        queue_wait: none,
    }));
}

fn collections(strategy: usize, comments: u64, grown: f64) -> Vec<CollectionSizes> {
    let sizes = |name: &str, documents: u64, mean: f64| CollectionSizes {
        name: name.into(),
        documents,
        mean,
        p50: mean as u64,
        p99: mean as u64 * 3,
        max: mean as u64 * 8,
        size: documents * mean as u64,
        storage: documents * mean as u64 / 2,
        indexes: BTreeMap::from([("_id_".to_owned(), documents * 20)]),
        storage_free: None,
        indexes_free: None,
        checkpointed: true,
        shards: BTreeMap::new(),
    };
    match strategy {
        0 => vec![sizes("posts", 200, 23_000.0 * grown)],
        1 => vec![sizes("posts", 200, 612.0), sizes("comments", comments, 218.4)],
        _ => vec![sizes("posts", 200, 612.0), sizes("buckets", comments / 50, 10_400.0)],
    }
}

fn operation_record(strategy: usize, operation: usize, round: u64) -> OperationRecord {
    // Rounds differ by a few percent, and count is fastest in different strategies.
    let round_effect =
        1.0 + (round * 7 % 5) as f64 * 0.02 + if (round as usize + strategy).is_multiple_of(2) { 0.01 } else { 0.0 };
    let mood = if operation == 2 && (round as usize + strategy).is_multiple_of(3) { 1.1 } else { 1.0 };
    let typical = TIMES[strategy][operation] * round_effect * mood;
    let refused = if strategy == 0 && operation == 0 { 12 } else { 0 };
    let failed = if strategy == 1 && operation == 0 { 2 } else { 0 };
    let mut outcomes = vec![outcome(CallOutcome::Ok, CALLS[operation] - refused - failed, typical)];
    outcomes.extend((refused > 0).then(|| outcome(CallOutcome::Rejected("size".into()), refused, 90_000.0)));
    outcomes.extend((failed > 0).then(|| outcome(CallOutcome::Failed, failed, 9_000_000.0)));
    let reasons = |reason: &str, count: u64| match count {
        0 => BTreeMap::new(),
        count => BTreeMap::from([(reason.to_owned(), count)]),
    };
    OperationRecord {
        calls: CALLS[operation],
        round_trips: CALLS[operation] * if strategy == 1 && operation == 1 { 2 } else { 1 },
        outcomes,
        errors: reasons("11000 (DuplicateKey)", failed),
        messages: match failed {
            0 => BTreeMap::new(),
            _ => BTreeMap::from([("11000 (DuplicateKey)".to_owned(), "insertOne c: E11000 | `twice`".to_owned())]),
        },
        retries: reasons("112 (WriteConflict)", failed * 20),
        inconsistency: (strategy == 2 && operation == 0)
            .then(|| TimesRecord::new(&histogram(CALLS[operation], typical / 4.0))),
        ..OperationRecord::default()
    }
}

fn outcome(outcome: CallOutcome, count: u64, typical: f64) -> OutcomeRecord {
    OutcomeRecord::new(outcome, &histogram(count, typical))
}

/// Times from half of the typical to three times as much, with a thin tail beyond.
fn histogram(count: u64, typical: f64) -> LatencyHistogram {
    let mut service = LatencyHistogram::new(Duration::from_secs(10));
    for call in 0..count {
        let place = call as f64 / count as f64;
        let tail = if call % 97 == 96 { 6.0 } else { 1.0 };
        service.record((typical * (0.5 + place * place * 1.5) * tail) as u64);
    }
    service
}

/// Whole runs of one round as somebody may have edited them: one number of the file is another, or one list is empty. Only
/// those that can be loaded. Made once for all tests: it takes seconds.
pub(crate) fn edited() -> &'static [RunRecord] {
    static EDITED: LazyLock<Vec<RunRecord>> = LazyLock::new(edit);
    &EDITED
}

fn edit() -> Vec<RunRecord> {
    let folder = tempfile::tempdir().unwrap();
    let run = serde_json::to_value(whole(&run(1))).unwrap();
    let mut places = Vec::new();
    collect(&run, String::new(), &mut places);
    let mut loaded = Vec::new();
    for (number, place) in places.into_iter().enumerate() {
        let others: Vec<Value> = match run.pointer(&place) {
            Some(Value::Array(_)) => vec![json!([])],
            _ => vec![json!(0), json!(1), json!(u64::MAX), json!(-1), json!(1e308), json!(-1e308)],
        };
        // In parts a place has many of its kind, in other cells: each gets a third of the values.
        let is_one_of_many = place.starts_with("/parts/") && others.len() > 1;
        let others = others.into_iter().enumerate().filter(|(value, _)| !is_one_of_many || (value + number) % 3 == 0);
        for (_, other) in others {
            let mut run = run.clone();
            *run.pointer_mut(&place).unwrap() = other;
            std::fs::write(folder.path().join(RUN_FILE), run.to_string()).unwrap();
            loaded.extend(load(folder.path()));
        }
    }
    loaded
}

/// The places of all numbers and lists.
fn collect(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        Value::Number(_) => places.push(place),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| collect(item, format!("{place}/{at}"), places));
            places.push(place);
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| collect(field, format!("{place}/{name}"), places));
        }
        _ => {}
    }
}
