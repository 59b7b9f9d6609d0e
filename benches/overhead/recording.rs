//! Records the commands that calls send, so that other loops can send the same.

use std::cell::RefCell;
use std::ops::Range;

use bson::RawDocumentBuf;
use bson::raw::cstr;
use docshape::engine::Interpreter;
use docshape::plan::Plan;
use docshape::server::client::MongoTarget;
use docshape::server::{Failure, Reply, ReplyKind, Target};
use futures_util::StreamExt;
use futures_util::stream;

/// One command of a call.
pub struct Recorded {
    pub command: RawDocumentBuf,
    pub kind: ReplyKind,
}

/// The commands of each call, in order.
pub type Calls = Vec<Vec<Recorded>>;

/// Forwards commands and records them.
struct Recording<'t> {
    target: &'t MongoTarget,
    commands: RefCell<Vec<Recorded>>,
}

impl Target for Recording<'_> {
    async fn run(&self, database: &str, command: RawDocumentBuf, kind: ReplyKind) -> Result<Reply, Failure> {
        let forwarded = hurried(&command);
        self.commands.borrow_mut().push(Recorded { command, kind });
        self.target.run(database, forwarded, kind).await
    }
}

/// Returns the command with `w: 1`: the dry run need not wait for the journal.
fn hurried(command: &RawDocumentBuf) -> RawDocumentBuf {
    let mut copy = RawDocumentBuf::new();
    for element in command.iter() {
        let (key, value) = element.expect("a valid command");
        if key != cstr!("writeConcern") {
            copy.append(key, value);
        } else {
            copy.append(key, bson::rawdoc! { "w": 1 });
        }
    }
    copy
}

/// Makes the calls of the baseline strategy on a separate database, and returns the commands that they sent.
pub async fn record(target: &MongoTarget, plan: &Plan, calls: Range<u64>, clients: usize) -> Calls {
    let one = async |index| {
        let recording = Recording { target, commands: RefCell::default() };
        let (operation, mut frame) = plan.draw(plan.round_seed(0), index, 0).expect("a valid scenario");
        let program = &plan.arms[0].operations[operation];
        Interpreter::new(&recording, "dry-run").run(program, &mut frame).await.expect("a call");
        recording.commands.into_inner()
    };
    stream::iter(calls.map(one)).buffered(clients).collect().await
}
