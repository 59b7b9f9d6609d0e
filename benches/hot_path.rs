//! Times the components that every call passes through, without a server.
#![allow(missing_docs)]

mod scenario;

use std::hint::black_box;
use std::time::Duration;

use bson::{RawDocumentBuf, rawdoc};
use criterion::{Criterion, criterion_group, criterion_main};
use docshape::compile::Choice;
use docshape::engine::Interpreter;
use docshape::generate::{Label, Seed, Stream};
use docshape::plan::{Frame, Plan, Raw, Step, Value};
use docshape::record::{Call, CallOutcome, CallTimes, Recorder};
use docshape::server::{Failure, Reply, ReplyKind, Target};
use futures_util::FutureExt;

const SCENARIO: &str = r#"
format: 1
name: hot-path
title: Hot path
about: One command with ten fields, and one that plucks.
parameters: { limit: 50 }
entities:
  item:
    count: 1000
    fields: { _id: oid(), name: full_name(500), city: city(), text: text(120), n: "uniform(1, 100)" }
operations:
  update:
    arguments: { item: zipf(item), new_item: new(item), a: "uniform(1, 9)", b: "uniform(1, 9)" }
mixes: { default: { update: 1 } }
strategies:
  one:
    about: One.
    collections: { items: { each: item } }
    operations:
      update:
        updateOne: items
        filter: { _id: <item>, n: { $lt: <limit> }, name: <item.name> }
        update:
          $set: { a: <a>, b: <b>, text: <new_item.text>, city: <new_item.city>, name: <new_item.name> }
          $inc: { n: <a> }
          $push: { list: <new_item._id> }
"#;

fn plan() -> Plan {
    scenario::plan("hot-path", SCENARIO, &Choice::default())
}

fn bind(criterion: &mut Criterion) {
    let plan = plan();
    let program = &plan.arms[0].operations[0];
    let [Step::At(_), Step::Command(command)] = program.steps.as_slice() else { panic!("one command") };
    let mut frame = plan.arguments(0, plan.round_seed(0), 7, program.slots).expect("arguments");
    // The record's document is built once per call, when the call is drawn; binding reads it.
    prepare(&plan, &mut frame);
    criterion.bench_function("bind a command of 10 fields", |b| {
        b.iter(|| black_box(command.document.bind(&mut frame).expect("a command")));
    });
    criterion.bench_function("draw a call", |b| {
        let mut index = 0;
        b.iter(|| {
            index += 1;
            black_box(plan.draw(plan.round_seed(0), index, 0).expect("a call"))
        });
    });
}

/// Replaces record arguments by their documents.
fn prepare(plan: &Plan, frame: &mut Frame) {
    for argument in plan.operations[0].arguments.iter() {
        let value = frame.slot(argument.slot).clone();
        if let Value::Record(record) = value {
            frame.set(argument.slot, Value::Document(record.document().expect("a record")));
        }
    }
}

fn record(criterion: &mut Criterion) {
    let mut recorder = Recorder::new(9, Duration::from_secs(10));
    let mut stream = Stream::new(Seed::new(1), Label::new("bench"), 0);
    let times: Vec<u64> = (0..4_096).map(|_| 100_000 + stream.below(400_000)).collect();
    let mut position = 0;
    criterion.bench_function("record a call", |b| {
        b.iter(|| {
            position = (position + 1) % times.len();
            recorder.record(Call {
                operation: position % 9,
                outcome: CallOutcome::Ok,
                times: CallTimes::Closed { service: times[position] },
                round_trips: 1,
                inconsistency: None,
                is_beside_job: false,
                retries: &[],
                error: None,
            });
        });
    });
}

fn pluck(criterion: &mut Criterion) {
    let plan = plan();
    let (mut writer, open) = docshape::plan::Writer::new();
    let rows = writer.begin_array("rows");
    for ordinal in 0..1_000 {
        docshape::plan::index_key(ordinal, |key| writer.value(key, &plan.data.whole(0, ordinal as u64)))
            .expect("a record");
    }
    writer.end(rows);
    let reply = Raw::new(writer.finish(open)).get("rows").expect("rows");
    let function = docshape::plan::find_function("pluck").expect("pluck");
    let arguments = [reply, Value::text("_id")];
    criterion.bench_function("pluck 1,000 ids", |b| {
        b.iter(|| black_box((function.body)(&arguments).expect("ids")));
    });
}

/// A target that returns the same replies immediately.
struct Canned {
    found: RawDocumentBuf,
    written: RawDocumentBuf,
}

impl Target for Canned {
    async fn run(&self, _: &str, command: RawDocumentBuf, kind: ReplyKind) -> Result<Reply, Failure> {
        black_box(command);
        let reply = if kind == ReplyKind::Cursor { &self.found } else { &self.written };
        Ok(Reply::from(reply.clone()))
    }
}

/// Times an operation of two commands in the interpreter and in hand-written code.
fn steps(criterion: &mut Criterion) {
    let plan = scenario::plan("steps", include_str!("steps.yaml"), &scenario::mix("add"));
    let program = &plan.arms[0].operations[0];
    let canned = Canned {
        found: rawdoc! { "cursor": { "firstBatch": [{ "page": 3, "count": 7 }], "id": 0_i64, "ns": "a.b" }, "ok": 1.0 },
        written: rawdoc! { "n": 1, "nModified": 1, "ok": 1.0 },
    };
    let mut group = criterion.benchmark_group("two commands");
    group.bench_function("interpreted", |b| {
        let drawn = plan.arguments(0, plan.round_seed(0), 7, program.slots).expect("arguments");
        let before = drawn.slots.clone();
        let mut frame = drawn;
        b.iter(|| {
            frame.slots.clone_from(&before);
            let mut interpreter = Interpreter::new(&canned, "database");
            let ran = interpreter.run(program, &mut frame).now_or_never().expect("no waiting");
            black_box(ran.expect("an outcome"))
        });
    });
    group.bench_function("by hand", |b| b.iter(|| black_box(by_hand(black_box(&canned), black_box(7)).now_or_never())));
    group.finish();
}

/// The parameter `full` of steps.yaml.
const FULL: i32 = 1_000_000;

async fn by_hand(target: &Canned, post: i32) -> i32 {
    let find = rawdoc! {
        "find": "buckets",
        "filter": { "post": post },
        "sort": { "page": -1 },
        "projection": { "_id": 0, "page": 1, "count": 1 },
        "limit": 1,
        "singleBatch": true,
        "readConcern": { "level": "local" },
    };
    let reply = target.run("database", find, ReplyKind::Cursor).await.expect("a reply");
    let cursor = reply.batches()[0].get_document("cursor").expect("a cursor");
    let last = cursor.get_array("firstBatch").expect("documents").get_document(0).expect("a document");
    let (page, count) = (last.get_i32("page").expect("a page"), last.get_i32("count").expect("a count"));
    let page = if count < FULL { page } else { page + 1 };
    let update = rawdoc! {
        "update": "buckets",
        "updates": [{
            "q": { "post": post, "page": page, "count": { "$lt": FULL } },
            "u": { "$inc": { "count": 1 } },
            "upsert": true,
        }],
        "writeConcern": { "w": "majority" },
    };
    let reply = target.run("database", update, ReplyKind::Single).await.expect("a reply");
    reply.batches()[0].get_i32("nModified").expect("a number")
}

criterion_group!(benches, bind, record, pluck, steps);
criterion_main!(benches);
