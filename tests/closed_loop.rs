//! Closed load on a scripted server and a paused clock.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bson::RawDocumentBuf;
use docshape::compile::Choice;
use docshape::engine::{Job, Load, Slice, SliceEnd};
use docshape::plan::Plan;
use docshape::record::Recorder;
use docshape::server::{Failure, Reply, ReplyKind, Target};

mod harness;

const SCENARIO: &str = "
format: 1
name: closed
title: Closed
about: Points.
entities:
  point: { count: 4000, fields: { _id: index } }
operations:
  read: { arguments: { point: uniform(point) }, returns: point }
mixes: { default: { read: 1 } }
strategies:
  one:
    about: The only one.
    collections: { points: { each: point } }
    operations:
      read: { findOne: points, filter: { _id: <point> } }
";

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
    harness::plan(SCENARIO, &Choice { seed: 1, ..Choice::default() })
}

/// The commands of a slice with this number of clients.
async fn commands(plan: &Arc<Plan>, load: Load, clients: usize) -> Vec<RawDocumentBuf> {
    let (slice, target) = (Slice::new(plan, "points", load, clients), Rc::new(Keeping::default()));
    let (intervals, _) = tokio::sync::mpsc::unbounded_channel();
    let recorder = Recorder::new(plan.operations.len(), slice.timeout);
    let running = Job { slice, recorder, intervals };
    let result = tokio::task::LocalSet::new().run_until(running.run(&target)).await;
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
