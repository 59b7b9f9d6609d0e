//! Counts the allocations of a call, which are the same on every machine.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bson::{RawDocumentBuf, rawdoc};
use docshape::compile::{Choice, compile};
use docshape::engine::{Job, Load, Slice};
use docshape::plan::Plan;
use docshape::record::Recorder;
use docshape::scenario::{Diagnostics, Source, read};
use docshape::server::{Failure, Reply, ReplyKind, Target};

const CALLS: u64 = 1_000;

/// The most allocations of a point read in addition to the driver's; it makes 5.
const MOST: f64 = 6.0;

/// Answers every command immediately with one document, which takes two allocations.
struct OneDocument(RawDocumentBuf);

const OF_THE_REPLY: f64 = 2.0;

impl Target for OneDocument {
    async fn run(&self, _: &str, _: RawDocumentBuf, _: ReplyKind) -> Result<Reply, Failure> {
        Ok(Reply::from(self.0.clone()))
    }
}

fn plan() -> Arc<Plan> {
    let source = Source::new("points", include_str!("../benches/points.yaml"));
    let diagnostics = Diagnostics::new();
    let scenario = read(&source, &diagnostics).unwrap();
    let choice = Choice { mix: Some("reads".to_owned()), ..Choice::default() };
    Arc::new(compile(&scenario, &choice, &diagnostics).unwrap().unwrap())
}

#[test]
fn point_read_makes_few_allocations() {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build_local(tokio::runtime::LocalOptions::default()).unwrap();
    let plan = plan();
    let recorder = Recorder::new(plan.operations.len(), Duration::from_secs(10));
    let document = rawdoc! { "_id": 1, "name": "Ada Lovelace", "text": "x".repeat(120) };
    let cursor = rawdoc! { "id": 0_i64, "firstBatch": [document] };
    let target = Rc::new(OneDocument(rawdoc! { "cursor": cursor, "ok": 1.0 }));
    let slice =
        |calls| Slice { every: Duration::from_secs(3_600), ..Slice::new(&plan, "points", Load::closed(calls), 1) };
    let made = |slice, recorder| {
        let (intervals, _) = tokio::sync::mpsc::unbounded_channel();
        let result = runtime.block_on(Job { slice, recorder, intervals }.run(&target));
        assert!(result.fatal.is_none(), "{:?}", result.fatal);
        result.recorder
    };
    let entered = runtime.enter();
    let (first, second) = (slice(0..CALLS), slice(CALLS..2 * CALLS + 1));
    drop(entered);
    // The first slice allocates histograms and everything else that is allocated once.
    let recorder = made(first, recorder);
    let counted = allocation_counter::measure(|| drop(made(second, recorder)));
    let per_call = counted.count_total as f64 / (CALLS + 1) as f64 - OF_THE_REPLY;
    assert!(per_call <= MOST, "{per_call:.2} allocations per call");
    assert!(per_call > 1.0, "{per_call:.2} allocations per call: a command needs one or more");
}
