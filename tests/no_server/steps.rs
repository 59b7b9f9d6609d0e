//! What the steps of an operation send, and what they come to, on a scripted server and a paused clock.

use std::cell::RefCell;
use std::time::Duration;

use bson::{Document, RawDocumentBuf, doc};
use docshape::compile::{Choice, compile};
use docshape::engine::{CallTrace, Interpreter, RetryCause};
use docshape::plan::{Plan, written};
use docshape::scenario::{Diagnostics, Source, read};
use docshape::server::{Failure, FailureKind, Reply, ReplyKind, Target, Transaction};
use tokio::time::Instant;

/// How long the server takes for every command.
const ANSWER: Duration = Duration::from_millis(2);

type Script<'s> = dyn Fn(usize, &Document) -> Result<Document, Failure> + 's;

/// A server that answers the n-th command, from 0, as its script says.
struct Scripted<'s> {
    sent: RefCell<Vec<Document>>,
    script: &'s Script<'s>,
}

impl Target for Scripted<'_> {
    async fn run(&self, _: &str, command: RawDocumentBuf, _: ReplyKind) -> Result<Reply, Failure> {
        self.answer(Document::try_from(&*command).unwrap()).await
    }

    async fn end(&self, _: &mut Transaction, commits: bool) -> Result<(), Failure> {
        let name = if commits { "commit" } else { "abort" };
        self.answer(doc! { name: 1 }).await.map(drop)
    }
}

impl Scripted<'_> {
    async fn answer(&self, mut command: Document) -> Result<Reply, Failure> {
        tokio::time::sleep(ANSWER).await;
        let answer = (self.script)(self.sent.borrow().len(), &command);
        // What every command carries says nothing here.
        ["readConcern", "writeConcern", "singleBatch"].iter().for_each(|key| drop(command.remove(key)));
        self.sent.borrow_mut().push(command);
        answer.map(|reply| Reply::from(RawDocumentBuf::try_from(&reply).unwrap()))
    }
}

/// A server that runs a program once.
struct Ran {
    /// The result, or the words of the failure.
    result: Result<String, String>,
    sent: Vec<Document>,
    trace: CallTrace,
    /// Whether the call failed and may have taken effect.
    is_unknown: bool,
    milliseconds: u128,
}

fn plan(steps: &str) -> Plan {
    let text = format!(
        "format: 1\nname: steps\ntitle: Steps\nentities: {{ post: {{ count: 3, fields: {{ _id: index }} }} }}\n\
         operations: {{ act: {{ arguments: {{ post: 'record(post, 2)', three: '[10, 11, 12]' }} }} }}\n\
         mixes: {{ default: {{ act: 1 }} }}\nstrategies:\n  s:\n    collections: {{ posts: {{ each: post }} }}\n    \
         operations:\n      act:\n{}",
        steps.lines().map(|line| format!("        {line}\n")).collect::<String>()
    );
    let source = Source::new("steps.yaml", text);
    let diagnostics = Diagnostics::new();
    let scenario = read(&source, &diagnostics);
    let plan = scenario.and_then(|scenario| compile(&scenario, &Choice::default(), &diagnostics).unwrap());
    plan.filter(|_| diagnostics.is_empty()).unwrap_or_else(|| panic!("{}", diagnostics.render(&source, false)))
}

async fn run(steps: &str, script: impl Fn(usize, &Document) -> Result<Document, Failure>) -> Ran {
    run_scripted(steps, &script).await
}

async fn run_scripted(steps: &str, script: &Script<'_>) -> Ran {
    let plan = plan(steps);
    let server = Scripted { sent: RefCell::default(), script };
    let (operation, mut frame) = plan.draw(plan.round_seed(0), 3, 0).unwrap();
    let start = Instant::now();
    let mut interpreter = Interpreter::new(&server, "db");
    let result = interpreter.run(&plan.arms[0].operations[operation], &mut frame).await;
    let trace = interpreter.trace;
    let is_unknown = result.as_ref().is_err_and(|error| trace.is_outcome_unknown(Some(error)));
    Ran {
        is_unknown,
        result: result.map(|value| written(&value)).map_err(|halt| halt.to_string()),
        sent: server.sent.take(),
        trace,
        milliseconds: start.elapsed().as_millis(),
    }
}

fn refusal(code: i32) -> Failure {
    Failure { kind: FailureKind::Server(code), message: format!("refused with {code}"), labels: Vec::new() }
}

fn duplicate_then(n: usize) -> Result<Document, Failure> {
    if n == 0 { Err(refusal(11000)) } else { Ok(doc! { "ok": 1, "n": 1, "nModified": 1 }) }
}

/// A cursor's reply with one row.
fn row(row: Document) -> Result<Document, Failure> {
    Ok(doc! { "ok": 1, "cursor": { "id": 0_i64, "firstBatch": [row] } })
}

#[tokio::test(start_paused = true)]
async fn while_goes_on_as_long_as_its_condition_holds() {
    let steps = "\
- let: { up: post._id, way: '[]' }
- while: up != null
  do:
    - { findOne: posts, filter: { _id: <up> } }
    - let: { way: 'way + [up]', up: reply.parent }
- return: way";
    let parents = |n: usize, _: &Document| {
        row(if n < 2 {
            doc! { "parent": 1 - n as i32 }
        } else {
            doc! {}
        })
    };
    let ran = run(steps, parents).await;
    assert_eq!(ran.result.as_deref(), Ok("[2, 1, 0]"));
    let asked: Vec<_> = ran.sent.iter().map(|find| find.get_document("filter").unwrap().get("_id").unwrap()).collect();
    assert_eq!(asked, [&bson::bson!(2), &bson::bson!(1), &bson::bson!(0)]);
    assert_eq!((ran.trace.round_trips, ran.milliseconds), (3, 6));
}

#[tokio::test(start_paused = true)]
async fn while_ends_by_return_and_by_its_bound() {
    let endless = |bound: &str| format!("- {{ while: true{bound}, do: [{{ deleteOne: posts, filter: {{}} }}] }}");
    let nothing = |_: usize, _: &Document| Ok(doc! { "ok": 1, "n": 0 });
    let ran = run(&endless(", max_iterations: 5"), nothing).await;
    assert_eq!(ran.result, Err("while true: 5 iterations were not enough".to_owned()));
    assert_eq!((ran.sent.len(), ran.milliseconds), (5, 10));
    assert_eq!(run(&endless(""), nothing).await.sent.len(), 1_000);

    // The last turn that is allowed may be the last one.
    let counted = "- let: { n: 0 }\n- { while: n < 5, max_iterations: 5, do: [{ let: { n: n + 1 } }] }\n- return: n";
    assert_eq!(run(counted, nothing).await.result.as_deref(), Ok("5"));
    let returns = "- while: true\n  do: [{ deleteOne: posts, filter: {} }, { if: reply.deleted == 0, then: [{ return: not_found() }] }]";
    let ran = run(returns, nothing).await;
    assert_eq!((ran.result.as_deref(), ran.sent.len()), (Ok("not_found()"), 1));
}

#[tokio::test(start_paused = true)]
async fn again_inside_of_while_begins_the_retry_around_it_again() {
    let steps = "\
- let: { n: 0 }
- retry: { attempts: 3 }
  do:
    - while: n < 2
      do:
        - { findOne: posts, filter: {} }
        - let: { n: n + 1 }
        - retry_if: reply.seen == 1
- return: n";
    let ran = run(steps, |n, _| row(doc! { "seen": i32::from(n < 2) })).await;
    assert_eq!(ran.result.as_deref(), Ok("2"));
    assert_eq!((ran.trace.retries, ran.sent.len()), (vec![RetryCause::Condition, RetryCause::Condition], 4));
}

const TRY: &str = "\
- let: { n: 0 }
- try:
    - let: { n: 1 }
    - { insertOne: posts, document: { _id: 1 } }
    - let: { n: 2 }
  catch:
    11000:
      - { updateOne: posts, filter: { _id: 1 }, update: { $set: { n: <n> } } }
      - return: n * 10
    size:
      - return: n * 100
- return: n";

#[tokio::test(start_paused = true)]
async fn what_is_caught_leads_to_its_steps_and_keeps_the_variables() {
    let fine = run(TRY, |_, _| Ok(doc! { "ok": 1, "n": 1 })).await;
    assert_eq!((fine.result.as_deref(), fine.sent.len()), (Ok("2"), 1));

    let caught = run(TRY, |n, _| duplicate_then(n)).await;
    assert_eq!((caught.result.as_deref(), caught.sent.len(), caught.milliseconds), (Ok("10"), 2, 4));
    let set = caught.sent[1].get_array("updates").unwrap()[0].as_document().unwrap().get_document("u").unwrap();
    assert_eq!(set, &doc! { "$set": { "n": 1 } });
    assert_eq!((caught.trace.round_trips, caught.trace.retries), (2, vec![]));

    let other = run(TRY, |_, _| Err(refusal(112))).await;
    assert_eq!(other.result, Err("insertOne posts: refused with 112".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn size_is_caught_whoever_says_it_and_a_named_code_goes_first() {
    let too_large = |kind, message: &str| Failure { kind, message: message.into(), labels: Vec::new() };
    for failure in [
        too_large(FailureKind::TooLarge, "x"),
        too_large(FailureKind::Server(10334), "x"),
        too_large(FailureKind::Server(2), "the document is too large"),
    ] {
        let ran = run(TRY, |_, _| Err(failure.clone())).await;
        assert_eq!(ran.result.as_deref(), Ok("100"), "{failure:?}");
    }
    let both = TRY.replace("11000:", "10334:");
    let ran = run(&both, |n, _| if n == 0 { Err(refusal(10334)) } else { duplicate_then(n) }).await;
    assert_eq!(ran.result.as_deref(), Ok("10"));
    // Not caught, a refusal for size is a result.
    let ran = run(&TRY.replace("size:", "7:"), |_, _| Err(refusal(17419))).await;
    assert_eq!(ran.result.as_deref(), Ok("rejected(\"size\")"));
}

#[tokio::test(start_paused = true)]
async fn a_failure_among_the_steps_of_catch_is_not_caught_again() {
    let ran = run(TRY, |_, _| Err(refusal(11000))).await;
    assert_eq!(ran.result, Err("updateOne posts: refused with 11000".to_owned()));
    assert_eq!(ran.sent.len(), 2);
}

const BULK: &str = "\
- bulkWrite: posts
  ORDERED
  requests:
    - insertOne: { document: { _id: 7 } }
    - { forEach: { n: three }, item: { updateOne: { filter: { _id: <n> }, update: { $inc: { n: 1 } }, upsert: true } } }
    - deleteMany: { filter: { _id: <post> } }
    - insertOne: { document: { _id: 8 } }
  errors: [11000]
  as: bulk
- return: { matched: bulk.matched, modified: bulk.modified, id: bulk.upserted_id, inserted: bulk.inserted,
            deleted: reply.deleted, errors: bulk.errors }";

/// The names of the commands that were sent, and how many requests each had.
fn messages(ran: &Ran) -> Vec<(String, usize)> {
    let requests = |command: &Document| {
        let lists = ["documents", "updates", "deletes"].iter().filter_map(|list| command.get_array(list).ok());
        lists.map(Vec::len).sum()
    };
    ran.sent.iter().map(|command| (command.keys().next().unwrap().clone(), requests(command))).collect()
}

fn pairs(messages: &[(&str, usize)]) -> Vec<(String, usize)> {
    messages.iter().map(|(name, requests)| ((*name).to_owned(), *requests)).collect()
}

#[tokio::test(start_paused = true)]
async fn an_ordered_bulk_write_sends_neighbours_of_one_kind_together() {
    let answers = |_: usize, command: &Document| match command.keys().next().unwrap().as_str() {
        "update" => Ok(
            doc! { "ok": 1, "n": 3, "nModified": 2, "upserted": [{ "index": 1, "_id": 11 }, { "index": 2, "_id": 12 }] },
        ),
        _ => Ok(doc! { "ok": 1, "n": 1 }),
    };
    let ran = run(&BULK.replace("ORDERED", "ordered: true"), answers).await;
    let expected = "{deleted: 1, errors: [], id: 11, inserted: 2, matched: 1, modified: 2}";
    assert_eq!(ran.result.as_deref(), Ok(expected));
    assert_eq!(messages(&ran), pairs(&[("insert", 1), ("update", 3), ("delete", 1), ("insert", 1)]));
    assert_eq!((ran.trace.round_trips, ran.milliseconds), (4, 8));
    assert_eq!(ran.sent[0], doc! { "insert": "posts", "ordered": true, "documents": [{ "_id": 7 }] });
    assert_eq!(
        ran.sent[2],
        doc! { "delete": "posts", "ordered": true, "deletes": [{ "q": { "_id": 2 }, "limit": 0 }] }
    );
    let update = doc! { "q": { "_id": 11 }, "u": { "$inc": { "n": 1 } }, "upsert": true, "multi": false };
    assert_eq!(ran.sent[1].get_array("updates").unwrap()[1].as_document(), Some(&update));
    // Others can see what the first three commands did before the fourth: 2 ms to 8 ms.
    assert_eq!(ran.trace.inconsistency_window(), Some(Duration::from_millis(6)));
}

#[tokio::test(start_paused = true)]
async fn an_unordered_bulk_write_goes_on_and_tells_the_errors_that_pass() {
    let answers = |_: usize, command: &Document| match command.keys().next().unwrap().as_str() {
        "insert" => Ok(doc! { "ok": 1, "n": 1, "writeErrors": [{ "index": 1, "code": 11000, "errmsg": "twice" }] }),
        "update" => Ok(doc! { "ok": 1, "n": 2, "nModified": 2, "writeErrors": [{ "index": 0, "code": 11000 }] }),
        _ => Ok(doc! { "ok": 1, "n": 0 }),
    };
    let ran = run(&BULK.replace("ORDERED", "ordered: false"), answers).await;
    let expected = "{deleted: 0, errors: [{code: 11000, index: 1}, {code: 11000, index: 5}], id: null, inserted: 1, \
                  matched: 2, modified: 2}";
    assert_eq!(ran.result.as_deref(), Ok(expected));
    assert_eq!(messages(&ran), pairs(&[("insert", 2), ("update", 3), ("delete", 1)]));
}

#[tokio::test(start_paused = true)]
async fn an_ordered_bulk_write_ends_with_the_first_error_and_others_fail_the_call() {
    let refusing = |code: i32| {
        move |_: usize, command: &Document| match command.keys().next().unwrap().as_str() {
            "update" => Ok(
                doc! { "ok": 1, "n": 1, "nModified": 1, "writeErrors": [{ "index": 1, "code": code, "errmsg": "no" }] },
            ),
            _ => Ok(doc! { "ok": 1, "n": 1 }),
        }
    };
    let ordered = BULK.replace("ORDERED", "ordered: true");
    let ran = run(&ordered, refusing(11000)).await;
    assert_eq!(messages(&ran), pairs(&[("insert", 1), ("update", 3)]));
    assert!(ran.result.unwrap().contains("errors: [{code: 11000, index: 2}]"));
    let ran = run(&ordered, refusing(121)).await;
    assert_eq!((ran.result, ran.sent.len()), (Err("bulkWrite posts: no".to_owned()), 2));
    let ran = run(&BULK.replace("ORDERED", "ordered: false"), refusing(121)).await;
    assert_eq!((ran.result, ran.sent.len()), (Err("bulkWrite posts: no".to_owned()), 3));
}

#[tokio::test(start_paused = true)]
async fn a_bulk_write_without_requests_sends_nothing_and_a_large_one_is_split() {
    let of = |list: &str| {
        format!(
            "- bulkWrite: posts\n  requests: [{{ forEach: {{ n: '{list}' }}, item: {{ insertOne: {{ document: {{ _id: <n> }} }} }} }}]"
        )
    };
    let all =
        |_: usize, command: &Document| Ok(doc! { "ok": 1, "n": command.get_array("documents").unwrap().len() as i32 });
    let ran = run(&of("[]"), all).await;
    assert_eq!((ran.result.as_deref(), ran.sent.len()), (Ok("not_found()"), 0));
    let ran = run(&of("range(0, 100001)"), all).await;
    assert_eq!(ran.result.as_deref(), Ok("ok()"));
    assert_eq!(messages(&ran), pairs(&[("insert", 100_000), ("insert", 1)]));
}

#[tokio::test(start_paused = true)]
async fn a_bulk_write_that_is_refused_whole_fails_as_any_command() {
    let steps = "- retry: { errors: [112], attempts: 2 }\n  do: { bulkWrite: posts, requests: [{ deleteOne: { filter: {} } }] }";
    let ran = run(steps, |n, _| if n == 0 { Err(refusal(112)) } else { Ok(doc! { "ok": 1, "n": 1 }) }).await;
    assert_eq!((ran.trace.retries, ran.sent.len()), (vec![RetryCause::Code(112)], 2));
}

const TRANSACTION: &str = "\
- let: { n: 0 }
- transaction:
    - let: { n: n + 1 }
    - { updateOne: posts, filter: { _id: 1 }, update: { $set: { n: <n> } } }
    - if: reply.matched == 0
      then: [{ abort: rejected(\"none\") }]
    - if: reply.modified == 0
      then: [{ return: same() }]
    - { insertOne: posts, document: { _id: <n> } }
  attempts: 3
- { findOne: posts, filter: {} }
- return: n";

/// What every command of a transaction that succeeds is answered.
fn all_well(name: &str) -> Result<Document, Failure> {
    match name {
        "find" => row(doc! { "_id": 1 }),
        _ => Ok(doc! { "ok": 1, "n": 1, "nModified": 1 }),
    }
}

fn name_of(command: &Document) -> &str {
    command.keys().next().unwrap()
}

fn labelled(code: i32, label: &str) -> Failure {
    Failure { labels: vec![label.to_owned()], ..refusal(code) }
}

fn names(ran: &Ran) -> Vec<&str> {
    ran.sent.iter().map(name_of).collect()
}

#[tokio::test(start_paused = true)]
async fn a_transaction_commits_and_its_writes_are_one() {
    let ran = run(TRANSACTION, |_, command| all_well(name_of(command))).await;
    assert_eq!(ran.result.as_deref(), Ok("1"));
    assert_eq!(names(&ran), ["update", "insert", "commit", "find"]);
    assert_eq!((ran.trace.round_trips, ran.milliseconds), (4, 8));
    assert_eq!((ran.trace.inconsistency_window(), ran.trace.retries), (None, vec![]));
}

#[tokio::test(start_paused = true)]
async fn commands_inside_of_a_transaction_carry_no_concerns() {
    let carries = RefCell::new(Vec::new());
    run(TRANSACTION, |_, command| {
        let name = name_of(command).to_owned();
        carries.borrow_mut().push((name, command.keys().any(|key| key.ends_with("Concern"))));
        all_well(name_of(command))
    })
    .await;
    let expected = [("update", false), ("insert", false), ("commit", false), ("find", true)];
    assert_eq!(carries.into_inner(), expected.map(|(name, carries)| (name.to_owned(), carries)));
}

#[tokio::test(start_paused = true)]
async fn return_commits_and_abort_takes_back() {
    let same = run(TRANSACTION, |_, _| Ok(doc! { "ok": 1, "n": 1, "nModified": 0 })).await;
    assert_eq!((same.result.as_deref(), names(&same)), (Ok("same()"), vec!["update", "commit"]));
    let none = run(TRANSACTION, |_, _| Ok(doc! { "ok": 1, "n": 0, "nModified": 0 })).await;
    assert_eq!((none.result.as_deref(), names(&none)), (Ok("rejected(\"none\")"), vec!["update", "abort"]));
    assert_eq!(none.trace.round_trips, 2);
}

#[tokio::test(start_paused = true)]
async fn a_transient_error_begins_again_so_many_times_and_others_fail() {
    let once = |n: usize, command: &Document| match (n, name_of(command)) {
        (1, "insert") => Err(labelled(112, "TransientTransactionError")),
        (_, name) => all_well(name),
    };
    let ran = run(TRANSACTION, once).await;
    // The variables are those of the first attempt.
    assert_eq!(ran.result.as_deref(), Ok("1"));
    assert_eq!(names(&ran), ["update", "insert", "abort", "update", "insert", "commit", "find"]);
    assert_eq!((ran.trace.round_trips, ran.trace.retries), (7, vec![RetryCause::Transaction]));

    let always = |_: usize, command: &Document| match name_of(command) {
        "insert" => Err(labelled(112, "TransientTransactionError")),
        name => all_well(name),
    };
    let ran = run(TRANSACTION, always).await;
    assert_eq!(ran.result, Err("insertOne posts: refused with 112".to_owned()));
    assert_eq!((ran.sent.len(), ran.trace.retries.len()), (9, 2));

    let plain = |_: usize, command: &Document| match name_of(command) {
        "insert" => Err(refusal(112)),
        name => all_well(name),
    };
    assert_eq!(names(&run(TRANSACTION, plain).await), ["update", "insert", "abort"]);
}

#[tokio::test(start_paused = true)]
async fn a_commit_of_unknown_result_is_sent_again() {
    let unknown = |n: usize, command: &Document| match (n, name_of(command)) {
        (2, "commit") => Err(labelled(91, "UnknownTransactionCommitResult")),
        (_, name) => all_well(name),
    };
    let ran = run(TRANSACTION, unknown).await;
    assert_eq!(names(&ran), ["update", "insert", "commit", "commit", "find"]);
    assert_eq!((ran.result.as_deref(), ran.trace.retries), (Ok("1"), vec![RetryCause::Commit]));
    let refused = |_: usize, command: &Document| match name_of(command) {
        "commit" => Err(refusal(251)),
        name => all_well(name),
    };
    assert_eq!(run(TRANSACTION, refused).await.result, Err("commit: refused with 251".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn again_around_a_transaction_takes_it_back_first() {
    let steps = "\
- retry: { attempts: 3 }
  do:
    - transaction:
        - { updateOne: posts, filter: {}, update: { $set: { n: 1 } } }
        - retry_if: reply.modified == 0
    - { deleteOne: posts, filter: {} }";
    let ran = run(steps, |n, _| Ok(doc! { "ok": 1, "n": 1, "nModified": i32::from(n > 0) })).await;
    assert_eq!(names(&ran), ["update", "abort", "update", "commit", "delete"]);
    assert_eq!(
        (ran.trace.retries.clone(), ran.trace.inconsistency_window()),
        (vec![RetryCause::Condition], Some(ANSWER))
    );
}

/// Whether the outcome of a call is unknown when its command of this position fails like this.
async fn is_unknown(steps: &str, failing: usize, failure: &Failure) -> bool {
    let script = |n: usize, command: &Document| match name_of(command) {
        _ if n == failing => Err(failure.clone()),
        name => all_well(name),
    };
    run(steps, script).await.is_unknown
}

#[tokio::test(start_paused = true)]
async fn a_call_is_unknown_when_a_write_of_it_may_be_done() {
    let stepped_down = refusal(11602);
    let undone = labelled(11602, "NoWritesPerformed");
    let two =
        "- { updateOne: posts, filter: {}, update: { $set: { n: 1 } } }\n- { insertOne: posts, document: { _id: 1 } }";
    assert!(is_unknown(two, 0, &stepped_down).await);
    assert!(!is_unknown(two, 0, &undone).await, "nothing was done");
    assert!(is_unknown(two, 1, &undone).await, "the first write was done");
    assert!(!is_unknown(two, 1, &refusal(11000)).await, "a failure of the command itself is known");
    let read = "- { findOne: posts, filter: {} }";
    assert!(!is_unknown(read, 0, &stepped_down).await);
    assert!(is_unknown(&format!("{two}\n{read}"), 2, &stepped_down).await, "the read is not answered, the writes are");
}

#[tokio::test(start_paused = true)]
async fn a_transaction_is_unknown_when_its_commit_is() {
    let stepped_down = refusal(11602);
    assert!(!is_unknown(TRANSACTION, 1, &stepped_down).await, "an interrupted transaction is aborted");
    assert!(is_unknown(TRANSACTION, 2, &stepped_down).await);
    assert!(!is_unknown(TRANSACTION, 2, &refusal(251)).await);
    assert!(is_unknown(TRANSACTION, 3, &stepped_down).await, "the read after the commit");
}

#[tokio::test(start_paused = true)]
async fn values_that_grow_without_end_are_refused() {
    let nothing = |_: usize, _: &Document| Ok(doc! { "ok": 1 });
    let growing = |first: &str, next: &str| {
        format!("- let: {{ x: '{first}' }}\n- forEach: {{ n: 'range(0, 200000)' }}\n  do: {{ let: {{ x: '{next}' }} }}")
    };
    for (first, next, expected) in [
        ("1", "[x]", "steps.yaml:14: let: the value is nested more than 100 deep"),
        ("[1]", "x + x", "steps.yaml:14: let: makes values of more than 64 MiB"),
        ("\"x\"", "x + x", "steps.yaml:14: let: makes values of more than 64 MiB"),
    ] {
        let ran = run(&growing(first, next), nothing).await;
        assert_eq!(ran.result, Err(expected.to_owned()), "{next}");
    }
    let items = "{ forEach: { n: 'range(0, 2100)' }, item: [{ forEach: { m: 'range(0, 2100)' }, item: <m> }] }";
    let large = format!("- {{ insertOne: posts, document: {{ _id: 1, all: [{items}] }} }}");
    let ran = run(&large, nothing).await;
    assert!(ran.result.as_ref().is_err_and(|error| error.contains("makes values of more than")), "{:?}", ran.result);
    assert_eq!(ran.sent.len(), 0);
}
