//! Embedded processes as a replica set, whose first member is the primary for good.

use bson::{RawArrayBuf, RawDocumentBuf, rawdoc};
use tokio::time::Instant;

use super::client::MongoTarget;
use super::embedded::{EmbeddedError, EmbeddedMongod, START};
use super::launch::REPLICA_SET;
use super::{ReplyKind, Target};

impl EmbeddedMongod {
    /// The members of the set, the primary first.
    pub fn members(&self) -> impl Iterator<Item = &EmbeddedMongod> {
        std::iter::once(self).chain(&self.secondaries)
    }

    /// The address of this member.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The connection string of this member alone.
    pub fn direct_uri(&self) -> String {
        format!("mongodb://{}/?directConnection=true", self.host())
    }

    /// The connection string, good for any client on this machine.
    pub fn uri(&self) -> String {
        if self.secondaries.is_empty() { self.direct_uri() } else { self.set_uri() }
    }

    /// The connection string of the whole set.
    fn set_uri(&self) -> String {
        let hosts: Vec<String> = self.members().map(Self::host).collect();
        format!("mongodb://{}/?replicaSet={REPLICA_SET}", hosts.join(","))
    }

    /// The connection string for a client that keeps its connections while the server is suspended: it asks for the
    /// server's state when it connects and then once a day, so that it does not take the server for lost.
    pub fn patient_uri(&self) -> String {
        const DAY_IN_MS: u32 = 24 * 60 * 60 * 1_000;
        /// Longer than a restart takes.
        const RESTART_IN_MS: u32 = 30_000;
        let uri = match (self.options.is_disturbed, self.secondaries.is_empty()) {
            (true, _) => format!("{}&serverSelectionTimeoutMS={RESTART_IN_MS}", self.set_uri()),
            (false, true) => self.direct_uri(),
            // The only look at a member may have been slow by chance, and would decide for a day who is near.
            (false, false) => format!("{}&localThresholdMS={DAY_IN_MS}", self.set_uri()),
        };
        format!("{uri}&serverMonitoringMode=poll&heartbeatFrequencyMS={DAY_IN_MS}")
    }

    /// Makes a set of the members, and waits until the first one accepts writes and the others follow it.
    pub(super) async fn initiate(&mut self) -> Result<(), EmbeddedError> {
        let deadline = Instant::now() + START;
        let primary = MongoTarget::connect(&self.direct_uri(), 1).await?;
        self.ask(&primary, rawdoc! { "replSetInitiate": self.configuration() }).await?;
        while !self.is(&primary, "isWritablePrimary").await? {
            // A single member is elected by itself. Of several, this one refuses until it and the others know the set.
            if self.members().count() > 1 {
                let _ = primary.run("admin", rawdoc! { "replSetStepUp": 1 }, ReplyKind::Single).await;
            }
            self.pause(deadline).await?;
        }
        for member in self.members().skip(1) {
            let target = MongoTarget::connect(&member.direct_uri(), 1).await?;
            while !member.is(&target, "secondary").await? {
                member.pause(deadline).await?;
            }
            // A new member takes no checkpoints before it knows of a committed write that is newer than its copy of the data.
            while target.run("admin", rawdoc! { "fsync": 1 }, ReplyKind::Single).await.is_err() {
                self.ask(&primary, rawdoc! { "appendOplogNote": 1, "data": { "start": "docshape" } }).await?;
                member.pause(deadline).await?;
            }
        }
        let build = self.ask(&primary, rawdoc! { "buildInfo": 1 }).await?;
        self.version = build.get_str("version").unwrap_or("unknown").to_owned();
        Ok(())
    }

    /// The configuration of the set. Members that are suspended together must not take each other for lost, and the first one stays the
    /// primary: the others cannot be elected, and nobody calls an election within a day.
    fn configuration(&self) -> RawDocumentBuf {
        const DAY_IN_SECONDS: i32 = 24 * 60 * 60;
        let mut members = RawArrayBuf::new();
        for (id, member) in (0_i32..).zip(self.members()) {
            members.push(rawdoc! { "_id": id, "host": member.host(), "priority": i32::from(id == 0) });
        }
        let mut set = rawdoc! { "_id": REPLICA_SET, "members": members };
        if self.members().count() > 1 {
            let settings = rawdoc! {
                "electionTimeoutMillis": DAY_IN_SECONDS * 1_000,
                "heartbeatTimeoutSecs": DAY_IN_SECONDS,
                "chainingAllowed": false,
            };
            set.append(bson::raw::cstr!("settings"), settings);
        }
        set
    }

    /// Whether `hello` says this of the member.
    async fn is(&self, target: &MongoTarget, state: &str) -> Result<bool, EmbeddedError> {
        Ok(self.ask(target, rawdoc! { "hello": 1 }).await?.get_bool(state).unwrap_or(false))
    }

    /// Sends an administrator's command; if the server died meanwhile, its own log explains more than the driver's.
    async fn ask(&self, target: &MongoTarget, command: RawDocumentBuf) -> Result<RawDocumentBuf, EmbeddedError> {
        let reply = target.run("admin", command, ReplyKind::Single).await;
        if reply.is_err() {
            self.still_running()?;
        }
        Ok(reply?.into_document())
    }
}
