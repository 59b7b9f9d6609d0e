//! Points on servers: each strategy on a server of its own if memory allows, else all on one. The strategies are checked before.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tokio::time::Instant;

use crate::campaign::{LogWriter, Point};
use crate::cli::exit::{CliError, Exit, write_error};
use crate::cli::preference::stale_reads;
use crate::cli::reservation::databases;
use crate::cli::scenario::Ready;
use crate::cli::server::ServerChoice;
use crate::cli::session::{Session, on_main_thread};
use crate::cli::verify::verify_before_run;
use crate::cli::{file_limit, output};
use crate::compile::Choice;
use crate::engine::{Experiment, Observer, Servers, StopFlag, StrategyServer};
use crate::plan::Plan;
use crate::report::counted;
use crate::results::verification::Verification;
use crate::results::{RunRecord, RunSettings, ServerRecord, ServerSharing};
use crate::server::client::MongoTarget;
use crate::server::embedded::Checkpoints;
use crate::server::namespace::Namespace;
use crate::server::turns::EmbeddedServers;

use super::invocation::Invocation;
use super::placement::Placement;
use super::resume::{choice, continue_record, ready};
use super::{StudyArguments, record};

/// A point before it is measured: a scenario under some conditions.
pub struct PointSetup {
    /// The scenario.
    pub ready: Ready,
    /// What is chosen of it.
    pub choice: Choice,
    /// How it is measured.
    pub settings: RunSettings,
    /// The folder of its run.
    pub folder: PathBuf,
    /// The bytes that the caches of all servers have while it is measured; `None`: as they are.
    pub cache: Option<f64>,
    /// The ids of the claims that it is for; `None`: all of the scenario.
    pub claims: Option<Vec<String>>,
    /// Its record so far, when it is resumed.
    pub resumed: Option<RunRecord>,
    /// The last step that an earlier process has finished, such as `round 3`.
    pub finished: String,
    /// What the check of its strategies found; `None` when it was left out.
    pub verification: Option<Verification>,
    /// Why it cannot be measured.
    pub error: Option<CliError>,
}

impl PointSetup {
    /// A new point.
    pub fn new(ready: Ready, choice: Choice, settings: RunSettings, folder: PathBuf) -> PointSetup {
        let (cache, claims, resumed, verification, error) = (None, None, None, None, None);
        let finished = String::new();
        PointSetup { ready, choice, settings, folder, cache, claims, resumed, finished, verification, error }
    }

    /// A point that goes on after what its record has.
    ///
    /// # Errors
    /// When another build wrote the record.
    pub fn resumed(record: RunRecord, folder: PathBuf) -> Result<PointSetup, CliError> {
        Ok(PointSetup::going_on(ready(&record, &folder)?, record, folder))
    }

    /// The same where the scenario is ready.
    pub fn going_on(ready: Ready, record: RunRecord, folder: PathBuf) -> PointSetup {
        let (choice, settings) = (choice(&record), record.settings.clone());
        let finished = format!("round {}", record.complete_rounds());
        PointSetup { resumed: Some(record), finished, ..PointSetup::new(ready, choice, settings, folder) }
    }
}

/// What is measured on servers.
pub struct ServerJob<'j> {
    /// The points, of one scenario.
    pub points: Vec<PointSetup>,
    /// The invocation that measures them.
    pub invocation: Invocation,
    /// Their databases.
    pub namespace: Namespace,
    /// Whether the strategies are checked first, unless they were in an earlier part.
    pub is_verified: bool,
    /// Whether every point has a check of its own, and one that cannot be measured does not end the others.
    pub are_apart: bool,
    /// When the servers write checkpoints.
    pub checkpoints: Checkpoints,
    /// Says what is done before the first step.
    pub announce: Box<dyn Fn(&str) + 'j>,
}

/// A point whose record is begun.
pub struct BegunPoint {
    /// What is measured.
    pub setup: PointSetup,
    /// Its record before the next step.
    pub record: RunRecord,
    /// Its log.
    pub log: LogWriter,
}

/// Where strategies are measured.
pub struct JobServers<'r> {
    /// The servers and their clients.
    pub servers: Servers<'r, MongoTarget, MongoTarget>,
    /// What a record says of them.
    pub server: ServerRecord,
    /// What the report says of them.
    pub warnings: Vec<String>,
    /// Set when the user wants to stop.
    pub stop: StopFlag,
    invocation: Invocation,
    namespace: Namespace,
    started: Instant,
}

/// Whether there is more than one strategy.
fn is_compared(plan: &Plan) -> bool {
    plan.arms.iter().filter(|arm| !arm.is_repeat).count() > 1
}

impl<'r> JobServers<'r> {
    /// Returns the record of a point before its next step.
    ///
    /// # Errors
    /// When what is to come would not be like what was before.
    pub fn begin(&self, point: &PointSetup) -> Result<RunRecord, CliError> {
        let (mut settings, mut server) = (point.settings.clone(), self.server.clone());
        if let Some(bytes) = point.cache {
            settings.cache_gb = Some(bytes / 1e9);
            server.cache_bytes = Some(bytes as u64);
        }
        let mut head = RunRecord {
            verification: point.verification.clone(),
            warnings: self.warnings.iter().cloned().chain(stale_reads(&point.ready.plan)).collect(),
            ..record::begin(settings, &point.ready, server, &self.invocation)
        };
        head.claims.retain(|claim| point.claims.as_ref().is_none_or(|ids| ids.contains(&claim.id)));
        let Some(record) = &point.resumed else { return Ok(head) };
        let mut record = continue_record(record.clone(), &head, &point.finished)?;
        record.settings.cache_gb = head.settings.cache_gb;
        record.settings.shared_mongod.clone_from(&head.settings.shared_mongod);
        Ok(record)
    }

    /// Begins the records of some points, in folders that are created.
    ///
    /// # Errors
    /// As those of [`JobServers::begin`], and when a folder or a log cannot be written.
    pub fn begin_all(&self, setups: Vec<PointSetup>) -> Result<Vec<BegunPoint>, CliError> {
        let begin = |setup: PointSetup| {
            fs::create_dir_all(&setup.folder).map_err(|error| write_error(&setup.folder, &error))?;
            let record = self.begin(&setup)?;
            let now = || Invocation::now().started.saturating_sub(self.started.elapsed());
            let log = LogWriter::open(&setup.folder, &record, setup.resumed.as_ref().map(|_| now()))?;
            Ok(BegunPoint { setup, record, log })
        };
        setups.into_iter().map(begin).collect()
    }

    /// Returns a point that is ready for its next step; `observer` gets its events.
    pub fn point(
        &self,
        begun: &'r BegunPoint,
        observer: &'r dyn Observer,
        keep: bool,
    ) -> Point<'r, MongoTarget, MongoTarget> {
        let BegunPoint { setup, record, log } = begun;
        let experiment = Experiment { keep, ..self.experiment(setup, record, observer) };
        Point::new(record.clone(), experiment, log, setup.folder.clone(), setup.cache)
    }

    /// Returns what measures a point.
    pub fn experiment(
        &self,
        point: &PointSetup,
        record: &RunRecord,
        observer: &'r dyn Observer,
    ) -> Experiment<'r, MongoTarget, MongoTarget> {
        Experiment {
            plan: point.ready.plan.clone(),
            settings: record.settings.clone(),
            namespace: self.namespace.clone(),
            keep: false,
            servers: self.servers,
            observer,
            stop: self.stop.clone(),
            started: self.started,
        }
    }
}

impl<'j> ServerJob<'j> {
    /// Points of one scenario that one invocation measures, in databases that it or, when they are resumed, an earlier one owns.
    pub fn new(points: Vec<PointSetup>, invocation: Invocation, study: &StudyArguments) -> ServerJob<'j> {
        let first = points.first();
        let id = first.and_then(|point| point.resumed.as_ref()).map_or(&invocation.id, |record| &record.id);
        let namespace = study.server.databases.namespace(first.map_or("", |point| &point.ready.plan.name), id);
        // The flushes of a round write checkpoints; others would fall into its windows.
        let checkpoints = Checkpoints::OnlyByFsync;
        let (is_verified, announce) = (!study.no_verify, Box::new(output::line));
        ServerJob { points, invocation, namespace, is_verified, are_apart: false, checkpoints, announce }
    }

    /// The folder of the first point.
    pub fn folder(&self) -> PathBuf {
        self.points.first().map_or_else(PathBuf::new, |point| point.folder.clone())
    }

    /// Measures the points on servers that end with it. Must be called on the main thread. `saved` says what is in which folder when
    /// the user quits without cleanup.
    ///
    /// # Errors
    /// When there are no usable servers, or what `measure` returns.
    pub fn run(
        self,
        choice: ServerChoice,
        (saved, folder): (&str, &Path),
        measure: impl AsyncFnOnce(Vec<PointSetup>, JobServers<'_>) -> Result<Exit, CliError>,
    ) -> Result<Exit, CliError> {
        let quit = choice.quit_error(&format!("complete {saved} are in {}", folder.display()));
        on_main_thread(quit, async |stop| on_servers(self, choice, stop, measure).await)
    }

    /// The most strategies of a point.
    fn arms(&self) -> usize {
        self.points.iter().map(|point| point.ready.plan.arms.len()).max().unwrap_or(0)
    }

    /// The most clients and load threads of a point.
    fn clients(&self) -> (u64, u64) {
        let most =
            |of: fn(&RunSettings) -> usize| self.points.iter().map(|point| of(&point.settings)).max().unwrap_or(1);
        (most(RunSettings::most_clients) as u64, most(|settings| settings.threads) as u64)
    }

    /// The names of all databases.
    fn databases(&self) -> Vec<String> {
        let names = self.points.iter().flat_map(|point| databases(&self.namespace, &point.ready.plan));
        names.collect::<BTreeSet<String>>().into_iter().collect()
    }

    /// Decides where the strategies are measured, which is written into all settings. Says what the user should know.
    fn place(&mut self, choice: ServerChoice) -> Result<(Placement, Vec<String>), CliError> {
        let (arms, choice) = (self.arms(), choice.with_checkpoints(self.checkpoints));
        let Some(first) = self.points.first() else { return Err(CliError::usage("there is nothing to measure")) };
        let (placement, warning) = Placement::of(choice, arms, first.settings.shared_mongod.is_some());
        let of_set = match &placement {
            Placement::PerStrategy(options) | Placement::Shared(ServerChoice::Embedded(options)) => options.members,
            Placement::Shared(ServerChoice::Uri { .. }) => 1,
        };
        for RunSettings { cache_gb, shared_mongod, members, .. } in
            self.points.iter_mut().map(|point| &mut point.settings)
        {
            *members = Some(of_set as u64).filter(|members| *members > 1);
            match &placement {
                Placement::PerStrategy(options) => *cache_gb = Some(options.cache_gb),
                Placement::Shared(_) if warning.is_some() => shared_mongod.clone_from(&warning),
                Placement::Shared(_) => {}
            }
        }
        warning.iter().for_each(|warning| output::line(warning));
        Ok((placement, warning.into_iter().collect()))
    }

    /// Whether there is something to verify.
    fn has_check(&self) -> bool {
        let is_new = self.points.iter().all(|point| point.resumed.is_none());
        self.is_verified && is_new && self.points.iter().any(|point| is_compared(&point.ready.plan))
    }

    /// Leaves out the strategies that the server cannot run, and verifies the others.
    async fn check(&mut self, session: &Session) -> Result<(), CliError> {
        let has_check = self.has_check();
        for place in 0..self.points.len() {
            let checked = self.check_point(place, session, has_check).await;
            match checked {
                Err(error) if self.are_apart && error.exit != Exit::Interrupted => {
                    self.points[place].error = Some(error)
                }
                checked => checked?,
            }
        }
        Ok(())
    }

    /// The strategies of a resumed point have run already.
    async fn check_point(&mut self, place: usize, session: &Session, has_check: bool) -> Result<(), CliError> {
        let (before, rest) = self.points.split_at_mut(place);
        let Some(point) = rest.first_mut().filter(|point| point.resumed.is_none()) else { return Ok(()) };
        let names = |ready: &Ready| ready.plan.arms.iter().map(|arm| arm.name.clone()).collect::<Vec<_>>();
        let is_like = |other: &PointSetup| other.ready.skipped.is_empty() && names(&other.ready) == names(&point.ready);
        if !before.last().is_some_and(is_like) {
            point.ready.skip_unsupported(session, point.choice.clone(), &self.namespace).await?;
        }
        if !has_check || !is_compared(&point.ready.plan) {
            return Ok(());
        }
        let known = before.first().filter(|_| !self.are_apart).and_then(|first| first.verification.clone());
        point.verification = match known {
            Some(known) => Some(known),
            None => {
                let (plan, settings) = (&point.ready.plan, &point.settings);
                let scenario = &point.ready.source.path;
                let check = verify_before_run(session, plan, settings, &self.namespace, scenario, &*self.announce);
                Some(check.await?)
            }
        };
        Ok(())
    }
}

/// Does a job on servers, which end with it. Must be called on the main thread.
///
/// # Errors
/// When there are no usable servers, or what `measure` returns.
pub async fn on_servers(
    mut job: ServerJob<'_>,
    choice: ServerChoice,
    stop: StopFlag,
    measure: impl AsyncFnOnce(Vec<PointSetup>, JobServers<'_>) -> Result<Exit, CliError>,
) -> Result<Exit, CliError> {
    let (placement, mut warnings) = job.place(choice)?;
    let (clients, threads) = job.clients();
    let (invocation, namespace) = (job.invocation.clone(), job.namespace.clone());
    match placement {
        Placement::Shared(choice) => {
            if matches!(choice, ServerChoice::Embedded(_)) {
                (job.announce)("starting the server");
            }
            let measure = async |session: Session| {
                warnings.extend(session.missing_rights());
                warnings.extend(session.router_note().map(str::to_owned));
                let names = job.databases();
                let measure = async || {
                    job.check(&session).await?;
                    let load_threads = session.load_threads(clients, threads).await?;
                    let servers = Servers::Shared { target: &session.target, load_threads: &load_threads };
                    let (server, stop, started) = (session.record(), session.stop.clone(), Instant::now());
                    let namespace = namespace.clone();
                    let servers = JobServers { servers, server, warnings, stop, invocation, namespace, started };
                    // Boxed, since a job may be done within another one.
                    Box::pin(measure(job.points, servers)).await
                };
                session.with_databases(&namespace, &names, measure).await
            };
            Session::with(&choice, &stop, measure).await
        }
        Placement::PerStrategy(options) => {
            file_limit::check(clients, threads, (job.arms() * options.members) as u64)?;
            let has_check = job.has_check();
            // On a server of its own, so that none of the others is warmer.
            if has_check {
                let choice = ServerChoice::Embedded(options.clone());
                (job.announce)("starting a server for the verification");
                Session::with(&choice, &stop, async |session: Session| job.check(&session).await).await?;
            }
            let arms = job.arms();
            (job.announce)(&match options.members {
                1 => format!("starting {}", counted(arms as u64, "server")),
                members => {
                    let (sets, cache) =
                        (counted(arms as u64, "replica set"), (arms * members) as f64 * options.cache_gb);
                    format!("starting {sets} of {members} members, whose caches have {cache} GB together")
                }
            });
            let measure = async |sessions: Vec<Session>, turns: &EmbeddedServers| {
                if !has_check {
                    job.check(&sessions[0]).await?;
                }
                let server = ServerRecord { servers: ServerSharing::PerStrategy, ..sessions[0].record() };
                let mut servers = Vec::new();
                for session in sessions.into_iter().take(job.arms()) {
                    let load_threads = session.load_threads(clients, threads).await?;
                    servers.push(StrategyServer { target: session.target, load_threads });
                }
                let servers = Servers::PerStrategy { servers: &servers, turns };
                let (stop, started) = (stop.clone(), Instant::now());
                let servers = JobServers { servers, server, warnings, stop, invocation, namespace, started };
                Box::pin(measure(job.points, servers)).await
            };
            Session::with_each(&options, arms, &stop, measure).await
        }
    }
}
