//! What docshape costs: the same calls through the whole harness and through a bare loop on the driver, in turn, in one
//! process, on one thread, against one embedded server. Prints ratios; `--test` makes it short.
#![allow(clippy::print_stdout, missing_docs)]

mod server;

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use bson::{RawDocumentBuf, rawdoc};
use docshape::engine::{Loader, Slice, Stop};
use docshape::generate::{Label, Seed, Stream, Zipf};
use docshape::plan::{Choice, Plan, compile};
use docshape::record::Recorder;
use docshape::scenario::{Diagnostics, Source, read};
use docshape::server::client::MongoTarget;
use docshape::server::embedded::EmbeddedMongod;
use docshape::server::{ReplyKind, Target};
use futures_util::StreamExt;
use nix::sys::resource::{UsageWho, getrusage};

const POINTS: u64 = 10_000;
const SCENARIO: &str = "
format: 1
name: points
title: Point reads and inserts
about: The smallest possible calls.
entities:
  point:
    count: 10000
    fields: { _id: index, name: full_name(500), text: text(120) }
operations:
  read: { arguments: { point: zipf(point) }, returns: point }
  insert: { arguments: { point: new(point) } }
mixes:
  read-only: { read: 1 }
  insert-only: { insert: 1 }
strategies:
  plain:
    about: One document each.
    collections: { points: { each: point } }
    operations:
      read: { findOne: points, filter: { _id: <point> } }
      insert: { insertOne: points, document: <point> }
";

/// Operations of several steps, as the bucketed strategy of the catalogue's blog-comments has them. The bucket is so large
/// that it never gets full: both sides then do the same whatever the other has done before. As many pages as counters
/// need are touched, so that documents stay small.
const STEPS: &str = "
format: 1
name: steps
title: Operations of several steps
about: Reads, decisions and guarded writes.
parameters: { full: 1000000 }
entities:
  post: { count: 10000, fields: { _id: index, title: words(4) } }
operations:
  add: { arguments: { post: zipf(post) } }
  read: { arguments: { post: zipf(post) }, returns: { post: post, count: value } }
mixes:
  add: { add: 1 }
  read: { read: 1 }
strategies:
  bucketed:
    about: A count per page.
    collections:
      posts: { each: post }
      buckets:
        each: post
        document: { post: <post._id>, page: 1, count: 0 }
        indexes: [{ key: { post: 1, page: 1 }, unique: true }]
    operations:
      add:
        - retry: { errors: [11000] }
          do:
            - { findOne: buckets, filter: { post: <post> }, sort: { page: -1 }, projection: { _id: 0, page: 1, count: 1 }, as: last }
            - let: { page: \"last == null ? 1 : last.count < full ? last.page : last.page + 1\" }
            - if: page > 0
              then:
                - updateOne: buckets
                  filter: { post: <post>, page: <page>, count: { $lt: <full> } }
                  update: { $inc: { count: 1 } }
                  upsert: true
      read:
        - { findOne: posts, filter: { _id: <post> }, as: found }
        - { findOne: buckets, filter: { post: <post>, page: 1 }, projection: { _id: 0, count: 1 } }
        - return: { post: found, count: reply.count }
    state:
      post: { find: posts }
";

/// Commands of a call of [`STEPS`].
const COMMANDS: f64 = 2.0;

/// One side of a comparison: calls per second, and microseconds of this thread's CPU per call.
#[derive(Clone, Copy)]
struct Speed {
    rate: f64,
    cpu: f64,
}

fn main() {
    let quick = std::env::args().any(|argument| argument == "--test");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    // For work on the interpreter: the rest takes minutes.
    let only_steps = std::env::args().any(|argument| argument == "--steps");
    runtime.block_on(run(quick, only_steps));
}

async fn run(quick: bool, only_steps: bool) {
    let server = server::start().await;
    let slices = if quick { 4 } else { 60 };
    println!("harness against bare driver loop, one thread, medians of {slices} interleaved slices each");
    println!(
        "mix          workers   calls/s: harness      bare     ratio (aim >= 0.95)   CPU us/call: harness   bare   ratio (aim <= 1.10)"
    );
    let single = if only_steps { &[][..] } else { &["read-only", "insert-only"] };
    for mix in single {
        for workers in [1, 8] {
            let calls = if quick { 50 } else { 250 * workers as u64 };
            compare(&server, mix, workers, (slices, calls)).await;
        }
    }
    println!("operations of several steps, commands written by hand on the other side");
    for mix in ["add", "read"] {
        for workers in [1, 8] {
            let calls = if quick { 50 } else { 125 * workers as u64 };
            compare(&server, mix, workers, (slices, calls)).await;
        }
    }
    if !only_steps {
        load_speed(&server, quick).await;
    }
}

fn plan(mix: &str) -> Arc<Plan> {
    let source = Source::new("bench", if matches!(mix, "add" | "read") { STEPS } else { SCENARIO });
    let mut diagnostics = Diagnostics::new();
    let scenario = read(&source, &mut diagnostics).expect("the scenario above is sound");
    let choice = Choice { mix: Some(mix.to_owned()), seed: 1, ..Choice::default() };
    let plan = compile(&scenario, &choice, &mut diagnostics).expect("its mixes are named above");
    Arc::new(plan.unwrap_or_else(|| panic!("{}", diagnostics.render(&source, false))))
}

async fn fresh(target: &MongoTarget, database: &str, plan: &Plan) -> f64 {
    target.run(database, rawdoc! { "dropDatabase": 1 }, ReplyKind::Single).await.expect("a database to fill");
    let loader = Loader { plan, arm: &plan.arms[0], target, database, observer: &(), stop: &|| false };
    let begun = Instant::now();
    loader.run().await.expect("points are inserted");
    begun.elapsed().as_secs_f64()
}

async fn compare(server: &EmbeddedMongod, mix: &str, workers: usize, (slices, calls): (usize, u64)) {
    let plan = plan(mix);
    let target = MongoTarget::connect(&server.uri(), workers as u32).await.expect("a client");
    target.warm().await.expect("its connections");
    let client = bare_client(&server.uri(), workers as u32).await;
    fresh(&target, "harness", &plan).await;
    fresh(&target, "bare", &plan).await;
    let next = Arc::new(AtomicU64::new(0));
    let recorder = RefCell::new(Recorder::new(plan.operations.len(), Duration::from_secs(10)));
    let (mut harness, mut bare) = (Vec::new(), Vec::new());
    for slice in 0..slices as u64 + 2 {
        let this = Slice {
            plan: Arc::clone(&plan),
            arm: 0,
            database: "harness".into(),
            seed: plan.round_seed(0),
            next: Arc::clone(&next),
            end: (slice + 1) * calls,
            length: None,
            due: None,
            workers,
            timeout: Duration::from_secs(10),
            stop: Stop::default(),
            interval: tokio::time::Instant::now(),
            every: Duration::from_secs(1),
        };
        next.fetch_min(slice * calls, std::sync::atomic::Ordering::Relaxed);
        let a = timed(calls, async { this.run(&target, &recorder, &|_| ()).await.map(drop).expect("calls") }).await;
        let b = timed(calls, bare_slice(&client, mix, workers, slice * calls..(slice + 1) * calls)).await;
        // The first two slices of each warm up.
        if slice >= 2 {
            harness.push(a);
            bare.push(b);
        }
    }
    print_row(mix, workers, &harness, &bare);
    if matches!(mix, "add" | "read") {
        let more = harness.iter().zip(&bare).map(|(a, b)| (a.cpu - b.cpu) / COMMANDS);
        println!(
            "{:>100} {:+.2} us CPU per command, draw and record included (hot_path has the interpreter alone)",
            "",
            median(more.collect())
        );
    }
}

fn print_row(mix: &str, workers: usize, harness: &[Speed], bare: &[Speed]) {
    let column = |speeds: &[Speed], of: fn(&Speed) -> f64| median(speeds.iter().map(of).collect());
    let ratios = |of: fn(&Speed) -> f64| median(harness.iter().zip(bare).map(|(a, b)| of(a) / of(b)).collect());
    println!(
        "{mix:<12} {workers:>7} {:>18.0} {:>9.0} {:>9.3} {:>37.1} {:>6.1} {:>7.3}",
        column(harness, |speed| speed.rate),
        column(bare, |speed| speed.rate),
        ratios(|speed| speed.rate),
        column(harness, |speed| speed.cpu),
        column(bare, |speed| speed.cpu),
        ratios(|speed| speed.cpu),
    );
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

async fn timed(calls: u64, work: impl Future<Output = ()>) -> Speed {
    let (begun, before) = (Instant::now(), thread_cpu());
    work.await;
    let (seconds, cpu) = (begun.elapsed().as_secs_f64(), thread_cpu() - before);
    Speed { rate: calls as f64 / seconds, cpu: cpu * 1e6 / calls as f64 }
}

/// Seconds of CPU that this thread has used.
fn thread_cpu() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).expect("Linux knows the usage of a thread");
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    seconds(usage.user_time()) + seconds(usage.system_time())
}

async fn bare_client(uri: &str, workers: u32) -> mongodb::Client {
    let mut options = mongodb::options::ClientOptions::parse(uri).await.expect("our own uri");
    options.min_pool_size = Some(workers);
    options.max_pool_size = Some(workers);
    options.retry_reads = Some(false);
    options.retry_writes = Some(false);
    mongodb::Client::with_options(options).expect("a client")
}

/// The loop that somebody would write by hand: it draws keys, sends commands and drops the replies.
async fn bare_slice(client: &mongodb::Client, mix: &str, workers: usize, calls: std::ops::Range<u64>) {
    let next = RefCell::new(calls);
    let law = Zipf::new(POINTS, 0.99).expect("points");
    let database = client.database("bare");
    let worker = async || loop {
        let call = next.borrow_mut().next();
        let Some(call) = call else { break };
        let mut stream = Stream::new(Seed::new(1), Label::new("bare"), call);
        if mix == "add" {
            bare_add(&database, law.sample(&mut stream) as i32).await;
        } else if mix == "read" {
            bare_read(&database, law.sample(&mut stream) as i32).await;
        } else if mix == "read-only" {
            let command = rawdoc! {
                "find": "points",
                "filter": { "_id": law.sample(&mut stream) as i32 },
                "limit": 1,
                "singleBatch": true,
                "readConcern": { "level": "local" },
            };
            let mut cursor = database.run_raw_cursor_command(command).batch().await.expect("a reply");
            while let Some(batch) = cursor.next().await {
                batch.expect("a batch");
            }
        } else {
            let document: RawDocumentBuf = rawdoc! {
                "_id": 1_000_000_000 + call as i32,
                "name": docshape::generate::full_name(&mut stream),
                "text": docshape::generate::text(&mut stream, 120),
            };
            let command = rawdoc! {
                "insert": "points",
                "documents": [document],
                "writeConcern": { "w": "majority" },
            };
            database.run_raw_command(command).await.expect("a reply");
        }
    };
    futures_util::future::join_all((0..workers).map(|_| worker())).await;
}

/// The only document of a command's reply.
async fn bare_find(database: &mongodb::Database, command: RawDocumentBuf) -> Option<RawDocumentBuf> {
    let mut cursor = database.run_raw_cursor_command(command).batch().await.expect("a reply");
    let mut found = None;
    while let Some(batch) = cursor.next().await {
        let batch = batch.expect("a batch");
        for document in batch.doc_slices().expect("documents") {
            let document = document.expect("a document");
            found = document.as_document().map(ToOwned::to_owned);
        }
    }
    found
}

async fn bare_add(database: &mongodb::Database, post: i32) {
    loop {
        let command = rawdoc! {
            "find": "buckets",
            "filter": { "post": post },
            "sort": { "page": -1 },
            "projection": { "_id": 0, "page": 1, "count": 1 },
            "limit": 1,
            "singleBatch": true,
            "readConcern": { "level": "local" },
        };
        let last = bare_find(database, command).await;
        let number = |name: &str| last.as_ref().and_then(|last| last.get_i32(name).ok());
        let page = match (number("page"), number("count")) {
            (Some(page), Some(count)) if count < 1_000_000 => page,
            (Some(page), _) => page + 1,
            _ => 1,
        };
        let command = rawdoc! {
            "update": "buckets",
            "updates": [{
                "q": { "post": post, "page": page, "count": { "$lt": 1_000_000 } },
                "u": { "$inc": { "count": 1 } },
                "upsert": true,
            }],
            "writeConcern": { "w": "majority" },
        };
        let reply = database.run_raw_command(command).await.expect("a reply");
        if reply.get("writeErrors").is_none() {
            std::hint::black_box(reply.get_i32("nModified").expect("a count"));
            return;
        }
    }
}

async fn bare_read(database: &mongodb::Database, post: i32) {
    let find = |collection: &str, filter: RawDocumentBuf, projection: RawDocumentBuf| {
        rawdoc! {
            "find": collection,
            "filter": filter,
            "projection": projection,
            "limit": 1,
            "singleBatch": true,
            "readConcern": { "level": "local" },
        }
    };
    let found = bare_find(database, find("posts", rawdoc! { "_id": post }, rawdoc! {})).await;
    let filter = rawdoc! { "post": post, "page": 1 };
    let bucket = bare_find(database, find("buckets", filter, rawdoc! { "_id": 0, "count": 1 })).await;
    std::hint::black_box((found, bucket.and_then(|bucket| bucket.get_i32("count").ok())));
}

/// Loading against a bare loop that inserts the same documents, made beforehand.
async fn load_speed(server: &EmbeddedMongod, quick: bool) {
    let plan = plan("read-only");
    let target = MongoTarget::connect(&server.uri(), 1).await.expect("a client");
    let documents: Vec<RawDocumentBuf> = (0..POINTS)
        .map(|ordinal| match plan.data.whole(0, ordinal) {
            docshape::plan::Value::Record(record) => record.document().document().to_owned(),
            _ => unreachable!("whole gives records"),
        })
        .collect();
    let client = bare_client(&server.uri(), 1).await;
    let mut ratios = Vec::new();
    for _ in 0..if quick { 2 } else { 15 } {
        let ours = fresh(&target, "loaded", &plan).await;
        let points = client.database("bare-load").collection::<RawDocumentBuf>("points");
        points.drop().await.expect("an empty collection");
        client.database("bare-load").create_collection("points").await.expect("a collection");
        let begun = Instant::now();
        for batch in documents.chunks(1_000) {
            let concern = mongodb::options::WriteConcern::nodes(1);
            points.insert_many(batch).write_concern(concern).await.expect("points are inserted");
        }
        ratios.push(begun.elapsed().as_secs_f64() / ours);
    }
    println!("loading {POINTS} documents: {:.2} of the speed of a bare insertMany loop (aim >= 0.9)", median(ratios));
}
