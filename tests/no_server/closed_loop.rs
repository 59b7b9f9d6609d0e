//! Closed load on a scripted server and a paused clock.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bson::RawDocumentBuf;
use docshape::compile::Choice;
use docshape::engine::{Job, Load, RoundPlan, Servers, Slice, SliceEnd};
use docshape::generate::{Label, Seed, Stream};
use docshape::plan::Plan;
use docshape::record::Recorder;
use docshape::results::CellRecord;
use docshape::server::{Failure, Reply, ReplyKind, Target};
use docshape::stats::cell_rate;

use crate::harness::{self, AnyTarget};

/// Answers every command after 2 ms and keeps it.
#[derive(Default)]
struct Keeping(RefCell<Vec<RawDocumentBuf>>);

impl Target for Keeping {
    async fn run(&self, _: &str, command: RawDocumentBuf, _: ReplyKind) -> Result<Reply, Failure> {
        self.0.borrow_mut().push(command.clone());
        tokio::time::sleep(Duration::from_millis(2)).await;
        Ok(harness::reply_to(&command))
    }
}

fn plan() -> Arc<Plan> {
    let many = harness::POINTS.replace("count: 40", "count: 4000").replace("zipf(", "uniform(");
    harness::plan(&many, &Choice::default())
}

/// The commands of a slice with this number of clients.
async fn commands(plan: &Arc<Plan>, load: Load, clients: usize) -> Vec<RawDocumentBuf> {
    let (slice, target) = (Slice::new(plan, "points", load, clients), Rc::new(Keeping::default()));
    let (intervals, _) = tokio::sync::mpsc::unbounded_channel();
    let recorder = Recorder::new(plan.operations.len(), slice.timeout);
    let running = Job { slice, recorder, intervals };
    let result =
        tokio::task::LocalSet::new().run_until(running.run(&Rc::new(AnyTarget::new(Rc::clone(&target))))).await;
    assert!(result.fatal.is_none(), "{:?}", result.fatal);
    let commands = target.0.take();
    assert_eq!(result.recorder.finish()[0].calls, commands.len() as u64);
    commands
}

#[tokio::test(start_paused = true)]
async fn listed_calls_are_those_of_their_indexes() {
    let plan = plan();
    let all = commands(&plan, Load::closed(0..100), 1).await;
    assert_ne!(all[3], all[41]);
    let list = || Arc::from([3, 41, 7, 99]);
    let picked = [3, 41, 7, 99].map(|index: usize| all[index].clone());
    assert_eq!(commands(&plan, Load::listed(list(), SliceEnd::AtCall(4)), 1).await, picked);
    assert_eq!(
        commands(&plan, Load::listed(list(), SliceEnd::AtCall(3)), 3).await,
        picked[..3],
        "positions, not indexes"
    );
    let timed = |milliseconds| SliceEnd::After(Duration::from_millis(milliseconds));
    assert_eq!(
        commands(&plan, Load::listed(list(), timed(1_000)), 8).await,
        picked,
        "the list may end before the time"
    );
    assert_eq!(commands(&plan, Load::listed(list(), timed(3)), 1).await, picked[..2]);
}

/// Answers a call after 1 ms, and one of a hundred after 200 ms.
#[derive(Default)]
struct LongTailed(Cell<u64>);

impl Target for LongTailed {
    async fn run(&self, _: &str, command: RawDocumentBuf, _: ReplyKind) -> Result<Reply, Failure> {
        if harness::is_call(&command) {
            let call = self.0.replace(self.0.get() + 1);
            let is_long = Stream::new(Seed::new(1), Label::new("long"), call).below(100) == 0;
            tokio::time::sleep(Duration::from_millis(if is_long { 200 } else { 1 })).await;
        }
        Ok(harness::reply_to(&command))
    }
}

/// The cell of a round of this many calls in this many slices.
async fn cell(calls: u64, slices: u64) -> CellRecord {
    let target = AnyTarget::new(Rc::new(LongTailed::default()));
    let servers = Servers::Shared { target: &target, load_threads: &target.inline() };
    let window = RoundPlan::saturation(calls, 0);
    let experiment = harness::experiment(&plan(), harness::settings(8, slices), servers);
    let (mut round, _) = experiment.round(0, window).await.unwrap().single().unwrap();
    assert_eq!(round.cells[0].slices.len() as u64, slices);
    round.cells.remove(0)
}

#[tokio::test(start_paused = true)]
async fn slices_change_neither_mean_nor_rate() {
    let settings = harness::settings(8, 1);
    let mean = |cell: &CellRecord| service_sum(cell) / cell.calls as f64;
    let in_flight = |cell: &CellRecord| service_sum(cell) / 1e9 / cell.seconds;
    let rate = |cell: &CellRecord| cell_rate(cell, &settings).unwrap();
    let whole = cell(40_000, 1).await;
    assert!((rate(&whole) * mean(&whole) / 8e9 - 1.0).abs() < 0.005, "Little's law: {} {}", rate(&whole), mean(&whole));
    // The shorter the slices, the more clients wait at their ends.
    for (slices, least, most) in [(1, 7.9, 8.0), (4, 7.6, 7.9), (16, 7.0, 7.4)] {
        let sliced = cell(40_000, slices).await;
        assert!((least..most).contains(&in_flight(&sliced)), "{slices}: {}", in_flight(&sliced));
        assert_eq!(mean(&sliced), mean(&whole), "{slices}");
        assert!((rate(&sliced) / rate(&whole) - 1.0).abs() < 0.01, "{slices}: {} {}", rate(&sliced), rate(&whole));
    }
}

/// The sum of the service times in nanoseconds.
fn service_sum(cell: &CellRecord) -> f64 {
    cell.operations[0].outcomes.iter().map(|outcome| outcome.sum as f64).sum()
}
