//! A sharded cluster: its shards, and how a collection is distributed over them.

use bson::raw::cstr;
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};

use super::deployment::{Topology, admin, release, topology};
use super::failure::UNAUTHORIZED;
use super::field::at;
use super::{Failure, FailureKind, ReplyKind, Target};

/// The actions on a database that sharding its collections needs.
pub const SHARDING_ACTIONS: [&str; 3] = ["enableSharding", "moveChunk", "splitChunk"];

/// From this release on, a cluster ignores `numInitialChunks`, and a hashed key has one chunk per shard.
const ONE_CHUNK_PER_SHARD: (i32, i32) = (7, 2);

/// A sharded cluster, as its router knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    /// The names of the shards, without those that are being removed.
    pub shards: Vec<String>,
    /// The major and minor number of the router's release.
    release: (i32, i32),
}

/// The chunks of a collection before it has documents.
#[derive(Debug, Clone, PartialEq)]
pub enum Chunks {
    /// At least this number, of equal parts of all hashes: the key's first field is hashed.
    Hashed(u32),
    /// Those between these keys, in order.
    Ranged(Vec<RawDocumentBuf>),
}

impl Cluster {
    /// Returns the cluster behind a router; `None` for a replica set, which is asked nothing else.
    ///
    /// # Errors
    /// When the server fails or refuses a command.
    pub async fn find(target: &impl Target) -> Result<Option<Cluster>, Failure> {
        let hello = admin(target, rawdoc! { "hello": 1 }).await?;
        if !matches!(topology(&hello), Ok(Topology::Sharded)) {
            return Ok(None);
        }
        let build = admin(target, rawdoc! { "buildInfo": 1 }).await?;
        let listed = admin(target, rawdoc! { "listShards": 1 }).await;
        let listed = listed.map_err(|failure| refused("listShards", "`listShards` on the cluster", failure))?;
        let shards = listed.get_array("shards").into_iter().flatten().flatten();
        let shards = shards.filter_map(RawBsonRef::as_document);
        let is_kept = |shard: &&RawDocument| at(shard, "draining").and_then(RawBsonRef::as_bool) != Some(true);
        let name = |shard: &RawDocument| Some(at(shard, "_id")?.as_str()?.to_owned());
        let shards = shards.filter(is_kept).filter_map(name).collect();
        Ok(Some(Cluster { shards, release: release(&build).unwrap_or_default() }))
    }

    /// Whether the balancer moves chunks; `None` where the router does not say.
    pub async fn balances(target: &impl Target) -> Option<bool> {
        let status = admin(target, rawdoc! { "balancerStatus": 1 }).await.ok()?;
        Some(at(&status, "mode")?.as_str()? != "off")
    }

    /// Shards an empty collection, keeps the balancer from it, and gives each shard its chunks.
    ///
    /// # Errors
    /// When the cluster fails or refuses a command; the failure names the command, and the right that is missing.
    pub async fn shard(
        &self,
        target: &impl Target,
        (database, collection): (&str, &str),
        key: &RawDocument,
        chunks: &Chunks,
    ) -> Result<(), Failure> {
        let namespace = format!("{database}.{collection}");
        let send = async |command: RawDocumentBuf, action: &str| {
            let name = command.iter().next().and_then(|first| Some(first.ok()?.0.to_string())).unwrap_or_default();
            let right = format!("`{action}` on {database}");
            admin(target, command).await.map_err(|failure| refused(&name, &right, failure))
        };
        // Implicit since 6.0.
        send(rawdoc! { "enableSharding": database }, "enableSharding").await?;
        let mut command = rawdoc! { "shardCollection": namespace.as_str(), "key": key.to_owned() };
        if let Chunks::Hashed(chunks) = chunks
            && self.release < ONE_CHUNK_PER_SHARD
        {
            command.append(cstr!("numInitialChunks"), i64::from(*chunks));
        }
        send(command, "enableSharding").await?;
        keep_balancer_from(target, &namespace).await?;
        let points = match chunks {
            Chunks::Ranged(points) => points.clone(),
            Chunks::Hashed(chunks) => self.hashed_points(key, *chunks),
        };
        for point in &points {
            send(rawdoc! { "split": namespace.as_str(), "middle": point.clone() }, "splitChunk").await?;
        }
        // The shards have their parts of all hashes already.
        if let Chunks::Ranged(_) = chunks {
            let [least, greatest] = [RawBson::MinKey, RawBson::MaxKey].map(|end| corner(key, end.clone(), end));
            let bounds: Vec<_> = [least].into_iter().chain(points).chain([greatest]).collect();
            for (pair, shard) in bounds.windows(2).zip(self.shards.iter().cycle()) {
                let bounds: RawArrayBuf = pair.iter().cloned().collect();
                let command = rawdoc! { "moveChunk": namespace.as_str(), "bounds": bounds, "to": shard.as_str() };
                send(command, "moveChunk").await?;
            }
        }
        Ok(())
    }

    /// Where the chunks are split that the cluster itself makes of all hashes, one per shard, so that there are at least this many,
    /// equally many on every shard. Nowhere if the cluster makes as many itself.
    fn hashed_points(&self, key: &RawDocument, chunks: u32) -> Vec<RawDocumentBuf> {
        let shards = self.shards.len().max(1) as i128;
        let pieces = (i128::from(chunks) + shards - 1) / shards;
        if self.release < ONE_CHUNK_PER_SHARD {
            return Vec::new();
        }
        // Every `pieces`-th is a bound of the cluster's own chunks.
        let inner = (1..shards * pieces).filter(|part| part % pieces != 0);
        let hash = |part| i128::from(i64::MIN) + (1_i128 << 64) / (shards * pieces) * part;
        inner.map(|part| corner(key, RawBson::Int64(hash(part) as i64), RawBson::MinKey)).collect()
    }
}

/// The key of a bound of chunks: the value of its first field, and that of all others.
fn corner(key: &RawDocument, first: RawBson, rest: RawBson) -> RawDocumentBuf {
    let mut document = RawDocumentBuf::new();
    let mut value = first;
    for (name, _) in key.iter().flatten() {
        document.append(name, std::mem::replace(&mut value, rest.clone()));
    }
    document
}

/// Has the balancer leave a collection where it is. All releases from 5.0 to 8.0 read this from the metadata; a command for it came
/// later.
async fn keep_balancer_from(target: &impl Target, namespace: &str) -> Result<(), Failure> {
    let update = rawdoc! {
        "update": "collections",
        "updates": [{ "q": { "_id": namespace }, "u": { "$set": { "noBalance": true } } }],
        "writeConcern": { "w": "majority" },
    };
    let updated = target.run("config", update, ReplyKind::Single).await;
    let updated = updated.map_err(|failure| refused("noBalance", "`update` on config.collections", failure))?;
    let unknown = || Failure::new(FailureKind::Driver, format!("the cluster does not list {namespace} as sharded"));
    (updated.n() > 0).then_some(()).ok_or_else(unknown)
}

/// The failure of a command, with its name, and the right that a user without rights needs: the router's message has neither.
fn refused(command: &str, right: &str, failure: Failure) -> Failure {
    let help = match failure.code() {
        Some(UNAUTHORIZED) => {
            format!("; this needs the right {right}: `docshape rights SCENARIO` prints what a cluster needs")
        }
        _ => String::new(),
    };
    Failure { message: format!("{command}: {}{help}", failure.message), ..failure }
}
