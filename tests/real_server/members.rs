//! Embedded sets of three members: their life, what a run on one records, and which member answers a read.

use std::path::Path;
use std::time::{Duration, Instant};

use bson::{RawDocumentBuf, rawdoc};
use docshape::server::client::MongoTarget;
use docshape::server::deployment::{Deployment, Topology};
use docshape::server::embedded::{EmbeddedError, EmbeddedMongod, EmbeddedOptions};
use docshape::server::{Failure, ReplyKind, Target};

use crate::harness::{self, alive};

async fn start(folder: &Path) -> EmbeddedMongod {
    EmbeddedMongod::start(&EmbeddedOptions { members: 3, ..harness::options(folder) }).await.unwrap()
}

fn pids(server: &EmbeddedMongod) -> Vec<u32> {
    server.members().map(EmbeddedMongod::pid).collect()
}

fn entries(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

async fn single(target: &MongoTarget, database: &str, command: RawDocumentBuf) -> Result<RawDocumentBuf, Failure> {
    Ok(target.run(database, command, ReplyKind::Single).await?.into_document())
}

fn insert(id: i32) -> RawDocumentBuf {
    let concern = rawdoc! { "w": "majority", "wtimeout": 20_000 };
    rawdoc! { "insert": "things", "documents": [{ "_id": id }], "writeConcern": concern }
}

#[tokio::test]
async fn three_members_have_one_primary_and_end_together() {
    let temp = tempfile::tempdir().unwrap();
    let server = start(temp.path()).await;
    let pids = pids(&server);
    assert!(pids.len() == 3 && pids.iter().all(|pid| alive(*pid)));
    assert_eq!(entries(temp.path()), 3);
    assert!(server.uri().ends_with("/?replicaSet=docshape") && server.uri().matches("127.0.0.1:").count() == 3);
    let target = MongoTarget::connect(&server.uri(), 1).await.unwrap();
    assert_eq!(Deployment::read(&target).await.unwrap().topology, Topology::ReplicaSet { members: 3 });
    let hello = single(&target, "admin", rawdoc! { "hello": 1 }).await.unwrap();
    assert_eq!(hello.get_str("primary").unwrap(), server.host(), "the first member");
    for member in server.members() {
        let target = MongoTarget::connect(&member.direct_uri(), 1).await.unwrap();
        single(&target, "admin", rawdoc! { "fsync": 1 }).await.expect("all members can flush from the start");
    }
    server.stop().unwrap();
    assert!(!pids.iter().any(|pid| alive(*pid)));
    assert_eq!(entries(temp.path()), 0);

    // One member that ends by itself ends the set, and is named.
    let server = start(temp.path()).await;
    let pids = self::pids(&server);
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pids[2] as i32), nix::sys::signal::SIGKILL).unwrap();
    let error = tokio::time::timeout(Duration::from_secs(20), server.exited()).await.unwrap();
    assert!(matches!(&error, EmbeddedError::Exited { log, .. } if log.contains("killed from outside")), "{error}");
    assert!(!pids.iter().any(|pid| alive(*pid)));
    assert!(server.ended().unwrap().to_string().contains("killed from outside"), "the reason stays");
    drop(server);
    assert_eq!(entries(temp.path()), 0);
}

#[tokio::test]
async fn a_suspended_set_goes_on_at_once() {
    let temp = tempfile::tempdir().unwrap();
    let server = start(temp.path()).await;
    let target = MongoTarget::connect(&server.patient_uri(), 2).await.unwrap();
    target.warm().await.unwrap();
    single(&target, "db", insert(-1)).await.unwrap();
    let seconds = std::env::var("DOCSHAPE_TEST_SUSPENSION").ok().and_then(|seconds| seconds.parse().ok());
    for id in 0..3 {
        server.suspend().await.unwrap();
        tokio::time::sleep(Duration::from_secs(seconds.unwrap_or(1))).await;
        server.resume().unwrap();
        let started = Instant::now();
        single(&target, "db", insert(id)).await.expect("it is still the primary");
        let took = started.elapsed();
        assert!(took < Duration::from_secs(2), "{took:?}");
    }
    assert_eq!(target.take_primary_changes(), []);
}

#[tokio::test]
async fn a_read_preference_decides_who_answers() {
    let temp = tempfile::tempdir().unwrap();
    let server = start(temp.path()).await;
    let target = MongoTarget::connect(&server.uri(), 1).await.unwrap();
    single(&target, "db", insert(1)).await.unwrap();
    let queries = async || {
        let mut queries = Vec::new();
        for member in server.members() {
            let target = MongoTarget::connect(&member.direct_uri(), 1).await.unwrap();
            let status = single(&target, "admin", rawdoc! { "serverStatus": 1 }).await.unwrap();
            let count = status.get_document("opcounters").unwrap().get("query").unwrap().unwrap();
            queries.push(count.as_i64().or_else(|| count.as_i32().map(i64::from)).unwrap());
        }
        queries
    };
    let answered = async |preference: &str| {
        let before = queries().await;
        for kind in [ReplyKind::Cursor, ReplyKind::Single].repeat(10) {
            let reply = target.run_from(preference, "db", rawdoc! { "find": "things" }, kind).await.unwrap();
            assert_eq!(reply.round_trips(), 1);
        }
        let after = queries().await;
        let grown: Vec<i64> = after.iter().zip(before).map(|(after, before)| after - before).collect();
        (grown[0], grown[1] + grown[2])
    };
    // Members look up things of their own now and then.
    let (primary, others) = answered("secondary").await;
    assert!(primary < 10 && others >= 20, "{primary} {others}");
    let (primary, others) = answered("primaryPreferred").await;
    assert!(primary >= 20 && others < 10, "{primary} {others}");
    let unknown = target.run_from("second", "db", rawdoc! { "find": "things" }, ReplyKind::Cursor).await.unwrap_err();
    assert!(unknown.message.contains("`second` is no read preference"), "{unknown}");

    // Whoever sees one member alone gets the answer of that one.
    let direct = MongoTarget::connect(&server.direct_uri(), 1).await.unwrap();
    assert!(direct.is_direct && !target.is_direct);
    direct.run_from("secondary", "db", rawdoc! { "find": "things" }, ReplyKind::Cursor).await.unwrap();
}
