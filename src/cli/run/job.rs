//! Work on servers for strategies: each on one of its own if memory allows, else all on one.

use crate::cli::exit::{CliError, Exit};
use crate::cli::reservation::databases;
use crate::cli::server::ServerChoice;
use crate::cli::session::Session;
use crate::cli::{file_limit, output};
use crate::engine::{Servers, StopFlag, StrategyServer};
use crate::plan::Plan;
use crate::report::counted;
use crate::results::verification::Verification;
use crate::results::{RunSettings, ServerRecord, ServerSharing};
use crate::server::client::MongoTarget;
use crate::server::namespace::Namespace;
use crate::server::turns::EmbeddedServers;

use super::placement::Placement;

/// What is measured on servers: a run, or the points of a sweep.
#[allow(async_fn_in_trait, reason = "docshape alone implements it, on the main thread")]
pub trait ServerJob: Sized {
    /// The strategies.
    fn plan(&self) -> &Plan;

    /// The settings, into which is written where the strategies are measured.
    fn settings(&mut self) -> &mut RunSettings;

    /// The databases.
    fn namespace(&self) -> Namespace;

    /// Says what is done before the job is measured.
    fn announce(&self, _what: &str) {}

    /// Whether the strategies are verified first.
    fn is_verified(&self) -> bool;

    /// Leaves out the strategies that the server cannot run.
    async fn skip_unsupported(&mut self, session: &Session, namespace: &Namespace) -> Result<(), CliError>;

    /// Verifies the strategies.
    async fn verify(&self, session: &Session, namespace: &Namespace) -> Result<Verification, CliError>;

    /// Measures them.
    async fn measure(self, servers: JobServers<'_>, namespace: Namespace) -> Result<Exit, CliError>;
}

/// Where strategies are measured, and what is known before the first call.
pub struct JobServers<'r> {
    /// The servers and their clients.
    pub servers: Servers<'r, MongoTarget, MongoTarget>,
    /// What a record says of them.
    pub server: ServerRecord,
    /// What the check of the strategies found; `None` when it was left out.
    pub verification: Option<Verification>,
    /// What the report says of them.
    pub warnings: Vec<String>,
    /// Set when the user wants to stop.
    pub stop: StopFlag,
}

/// Whether there is more than one strategy.
pub fn is_compared(plan: &Plan) -> bool {
    plan.arms.iter().filter(|arm| !arm.is_repeat).count() > 1
}

/// Does a job on servers, which end with it. Must be called on the main thread.
///
/// # Errors
/// When there are no usable servers, or the job's own.
pub async fn on_servers<J: ServerJob>(mut job: J, choice: ServerChoice, stop: StopFlag) -> Result<Exit, CliError> {
    let arms = job.plan().arms.len();
    let (placement, warning) = Placement::of(choice, arms, job.settings());
    warning.iter().for_each(|warning| output::message(&format!("{warning}\n")));
    let mut warnings: Vec<String> = warning.into_iter().collect();
    let (namespace, settings) = (job.namespace(), job.settings().clone());
    let (clients, threads) = (settings.most_clients() as u64, settings.threads as u64);
    match placement {
        Placement::Shared(choice) => {
            if matches!(choice, ServerChoice::Embedded(_)) {
                job.announce("starting the server");
            }
            let measure = async |session: Session| {
                warnings.extend(session.missing_rights());
                let names = databases(&namespace, job.plan());
                let measure = async || {
                    job.skip_unsupported(&session, &namespace).await?;
                    let verification =
                        if job.is_verified() { Some(job.verify(&session, &namespace).await?) } else { None };
                    let load_threads = session.load_threads(clients, threads).await?;
                    let (server, stop) = (session.record(), session.stop.clone());
                    let servers = Servers::Shared { target: &session.target, load_threads: &load_threads };
                    let servers = JobServers { servers, server, verification, warnings, stop };
                    job.measure(servers, namespace.clone()).await
                };
                session.with_databases(&namespace, &names, measure).await
            };
            Session::with(&choice, &stop, measure).await
        }
        Placement::PerStrategy(options) => {
            file_limit::check(clients, threads, arms as u64)?;
            // On a server of its own, so that none of the others is warmer.
            let verification = if job.is_verified() {
                let choice = ServerChoice::Embedded(options.clone());
                job.announce("starting a server for the verification");
                let verify = async |session: Session| {
                    job.skip_unsupported(&session, &namespace).await?;
                    job.verify(&session, &namespace).await
                };
                Some(Session::with(&choice, &stop, verify).await?)
            } else {
                None
            };
            let arms = job.plan().arms.len();
            job.announce(&format!("starting {}", counted(arms as u64, "server")));
            let measure = async |sessions: Vec<Session>, turns: &EmbeddedServers| {
                if verification.is_none() {
                    job.skip_unsupported(&sessions[0], &namespace).await?;
                }
                let arms = job.plan().arms.len();
                let server = ServerRecord { servers: ServerSharing::PerStrategy, ..sessions[0].record() };
                let mut servers = Vec::new();
                for session in sessions.into_iter().take(arms) {
                    let load_threads = session.load_threads(clients, threads).await?;
                    servers.push(StrategyServer { target: session.target, load_threads });
                }
                let servers = Servers::PerStrategy { servers: &servers, turns };
                let servers = JobServers { servers, server, verification, warnings, stop: stop.clone() };
                job.measure(servers, namespace).await
            };
            Session::with_each(&options, arms, &stop, measure).await
        }
    }
}
