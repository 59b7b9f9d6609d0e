//! Strategies with a server each, scripted and on a paused clock: a server is asked only while it is on turn.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use bson::RawDocumentBuf;
use docshape::compile::Choice;
use docshape::engine::{RoundPlan, RunError, Servers, StrategyServer};
use docshape::server::turns::{EndedServer, Turns};
use docshape::server::{Failure, Reply, ReplyKind, Target};
use futures_util::future::{FutureExt, LocalBoxFuture};

use crate::harness::{self, AnyTarget};

/// What all servers share.
#[derive(Debug, Default)]
struct Table {
    on_turn: Cell<usize>,
    /// The servers in the order of their turns.
    turns: RefCell<Vec<usize>>,
    /// The databases of the commands that each server got.
    databases: RefCell<Vec<BTreeSet<String>>>,
    /// A server that has ended.
    dead: Option<usize>,
}

impl Turns for Table {
    fn turn(&self, server: usize) -> LocalBoxFuture<'_, Result<(), EndedServer>> {
        async move {
            if self.dead == Some(server) {
                return Err(EndedServer { server, reason: "mongod ended by itself".to_owned() });
            }
            if self.on_turn.replace(server) != server {
                self.turns.borrow_mut().push(server);
            }
            Ok(())
        }
        .boxed_local()
    }

    fn on_turn(&self) -> usize {
        self.on_turn.get()
    }

    fn ended(&self) -> LocalBoxFuture<'_, EndedServer> {
        std::future::pending().boxed_local()
    }
}

struct Own {
    position: usize,
    table: Rc<Table>,
}

impl Target for Own {
    async fn run(&self, database: &str, command: RawDocumentBuf, _: ReplyKind) -> Result<Reply, Failure> {
        assert_eq!(self.table.on_turn.get(), self.position, "a stopped server is asked: {command:?}");
        self.table.databases.borrow_mut()[self.position].insert(database.to_owned());
        Ok(harness::reply_to(&command))
    }
}

/// Runs pilot, own costs and a round.
async fn run(dead: Option<usize>) -> (Rc<Table>, Result<Vec<String>, RunError>) {
    let scenario = format!("{}  other: {{ about: The same., like: one }}\n", harness::POINTS);
    let plan = harness::plan(&scenario, &Choice { seed: 1, repeat: true, ..Choice::default() });
    let arms = plan.arms.len();
    let databases = RefCell::new(vec![BTreeSet::new(); arms]);
    let table = Rc::new(Table { databases, dead, ..Table::default() });
    let own = |position| AnyTarget::new(Rc::new(Own { position, table: Rc::clone(&table) }));
    let server = |arm| StrategyServer { target: own(arm), load_threads: own(arm).inline() };
    let servers: Vec<_> = (0..arms).map(server).collect();
    let servers = Servers::PerStrategy { servers: &servers, turns: &*table };
    let experiment = harness::experiment(&plan, harness::settings(1, 2), servers);
    let window = RoundPlan::saturation(40, 8);
    let work = async {
        experiment.query_plans().await?;
        experiment.round(0, window).await.map(|round| round.warnings)
    };
    let result = work.await;
    drop(experiment);
    (table, result)
}

#[tokio::test(start_paused = true)]
async fn only_the_server_on_turn_is_asked() {
    let (table, result) = run(None).await;
    assert_eq!(result.unwrap(), Vec::<String>::new());
    for (names, strategy) in table.databases.borrow().iter().zip(["one", "other", "repeat"]) {
        let is_own = |name: &String| name == "admin" || name == "local" || name.contains(strategy);
        assert!(names.iter().all(is_own) && names.len() > 1, "{names:?} of {strategy}");
    }
    let last = table.turns.borrow().iter().rev().take(3).copied().collect::<BTreeSet<_>>();
    assert_eq!(last.len(), 3, "each has its turn");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ended_while_stopped_is_lost() {
    let (_, result) = run(Some(1)).await;
    let error = result.unwrap_err();
    assert!(error.is_server_lost());
    let text = error.to_string();
    assert!(text.contains("the server was lost: strategy other: mongod ended by itself"), "{text}");
}
