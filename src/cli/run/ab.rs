//! `docshape run --ab`: two servers in one session.
//!
//! Each server has a run of its own, and the runs take turns: round by round, with the same data, calls and common rate. So what
//! the machine does meanwhile meets both, and `compare` may judge their times as they are.

use std::path::{Path, PathBuf};

use tokio::time::Instant;

use crate::cli::argument::ConnectionString;
use crate::cli::compare::compare_in_turns;
use crate::cli::exit::{CliError, Exit};
use crate::cli::output;
use crate::cli::progress::Progress;
use crate::cli::reservation::databases;
use crate::cli::scenario::{Ready, prepare};
use crate::cli::session::{Session, on_main_thread};
use crate::cli::verify::verify_before_run;
use crate::engine::{Event, Experiment, LoadThreads, Observer, Servers, StopFlag};
use crate::report::NamedRun;
use crate::results::{self, RunRecord, RunSettings};
use crate::server::client::MongoTarget;
use crate::server::namespace::Namespace;
use crate::stats::MINIMUM_ROUNDS;

use super::latency_log::LogWriter;
use super::rounds::{EarlyEnd, Rounds};
use super::{Invocation, RunArguments, check_threads, record, threshold};

/// The names of the servers.
const NAMES: [&str; 2] = ["A", "B"];

/// Measures two servers, writes a run folder for each, prints how the second differs from the first.
///
/// # Errors
/// When the scenario or a server cannot be used, or a run fails.
pub fn run(arguments: &RunArguments, uris: [ConnectionString; 2]) -> Result<Exit, CliError> {
    let settings = arguments.settings();
    check_threads(&settings)?;
    if settings.rounds < MINIMUM_ROUNDS as u64 {
        return Err(CliError::usage(format!(
            "--ab needs {MINIMUM_ROUNDS} rounds, and this run would have {}: use --preset quick or --rounds 8",
            settings.rounds
        )));
    }
    let scenario = arguments.scenario.as_deref().unwrap_or_default();
    let ready = prepare(scenario, &arguments.subject.choice(settings.seed, true))?;
    threshold::check(&arguments.measurement.threshold, &ready.plan)?;
    let invocations = [Invocation::now(), Invocation::now()];
    let folder = invocations[0].folder(arguments.measurement.out.as_deref(), &ready.plan.name);
    let _locked = results::create_folder(&folder)?;
    let folders = ["a", "b"].map(|name| folder.join(name));
    let _parts = folders.iter().map(|folder| results::create_folder(folder)).collect::<Result<Vec<_>, _>>()?;
    let [a, b] = uris.map(|uri| arguments.server.user_server(uri, "--ab"));
    let quit = a.quit_error(&format!("complete rounds are in {}", folder.display()));
    let namespaces =
        invocations.each_ref().map(|invocation| arguments.server.databases.namespace(&ready.plan.name, &invocation.id));
    let pair = Pair { arguments, settings, ready, invocations, namespaces: namespaces.clone(), folders };
    on_main_thread(quit, async |stop| {
        let with_both = async |a: Session| {
            let with_b = async |b: Session| {
                let names = namespaces.each_ref().map(|namespace| databases(namespace, &pair.ready.plan));
                let sessions = [a, b];
                let on_b = async || pair.measure(&sessions, stop.clone()).await;
                let on_a = async || sessions[1].with_databases(&namespaces[1], &names[1], on_b).await;
                sessions[0].with_databases(&namespaces[0], &names[0], on_a).await
            };
            Session::with(&b, &stop, with_b).await
        };
        Session::with(&a, &stop, with_both).await
    })
}

/// Two runs that are ready to be measured.
struct Pair<'p> {
    arguments: &'p RunArguments,
    settings: RunSettings,
    ready: Ready,
    invocations: [Invocation; 2],
    namespaces: [Namespace; 2],
    folders: [PathBuf; 2],
}

/// One of the two while it is measured.
struct Turn<'t> {
    experiment: Experiment<'t, MongoTarget, MongoTarget>,
    rounds: Rounds<'t>,
    observer: &'t (Progress, LogWriter),
    record: RunRecord,
}

impl Pair<'_> {
    async fn measure(mut self, sessions: &[Session; 2], stop: StopFlag) -> Result<Exit, CliError> {
        for (session, namespace) in sessions.iter().zip(&self.namespaces) {
            let choice = self.arguments.subject.choice(self.settings.seed, true);
            let skipped = std::mem::take(&mut self.ready.skipped);
            self.ready.skip_unsupported(session, choice, namespace).await?;
            self.ready.skipped.extend(skipped);
        }
        let mut records = Vec::new();
        for (place, session) in sessions.iter().enumerate() {
            records.push(self.begin(place, session).await?);
        }
        let (clients, threads) = (self.settings.most_clients() as u64, self.settings.threads as u64);
        let (mut load_threads, mut observers): (Vec<LoadThreads<MongoTarget>>, Vec<(Progress, LogWriter)>) =
            Default::default();
        for ((session, record), (name, folder)) in sessions.iter().zip(&records).zip(NAMES.iter().zip(&self.folders)) {
            load_threads.push(session.load_threads(clients, threads).await?);
            observers.push((Progress::named(name), LogWriter::open(folder, record, record::started(record))?));
        }
        let mut turns = Vec::new();
        for (place, record) in records.into_iter().enumerate() {
            let target = &sessions[place].target;
            let experiment = Experiment {
                plan: self.ready.plan.clone(),
                settings: record.settings.clone(),
                namespace: self.namespaces[place].clone(),
                keep: self.arguments.keep,
                servers: Servers::Shared { target, load_threads: &load_threads[place] },
                observer: &observers[place],
                stop: stop.clone(),
                started: Instant::now(),
            };
            let arms: Vec<String> = experiment.plan.arms.iter().map(|arm| arm.name.clone()).collect();
            observers[place].event(&Event::Started { rounds: record.settings.rounds, arms: &arms });
            let rounds = Rounds::new(&self.folders[place], None, 0);
            turns.push(Turn { experiment, rounds, observer: &observers[place], record });
        }
        let result = in_turns(&mut turns).await;
        self.conclude(turns, result)
    }

    /// Verifies the strategies on a server, and begins its record.
    async fn begin(&self, place: usize, session: &Session) -> Result<RunRecord, CliError> {
        let Pair { arguments, settings, ready, invocations, namespaces, .. } = self;
        let compared = ready.plan.arms.iter().filter(|arm| !arm.is_repeat).count();
        let verification = if arguments.no_verify || compared < 2 {
            None
        } else {
            output::message(&format!("server {}:\n", NAMES[place]));
            let scenario = arguments.scenario.as_deref().unwrap_or_default();
            Some(verify_before_run(session, &ready.plan, settings, &namespaces[place], scenario, output::line).await?)
        };
        let begun = record::begin(settings.clone(), ready, session.record(), &invocations[place]);
        let warnings = session.missing_rights().into_iter().collect();
        Ok(RunRecord { verification, warnings, turns_with: Some(invocations[1 - place].id.clone()), ..begun })
    }

    /// Writes the reports of both runs, and compares them.
    fn conclude(&self, turns: Vec<Turn>, result: Result<(), (usize, EarlyEnd)>) -> Result<Exit, CliError> {
        let (ended, mut early) = result.map_or_else(|(place, end)| (Some(place), Some(end)), |()| (None, None));
        let (mut exits, mut first_error) = (Vec::new(), None);
        for (place, Turn { rounds, mut record, experiment, .. }) in turns.into_iter().enumerate() {
            drop(experiment);
            let end = match ended {
                None => rounds.finish(Ok(()), &mut record).map(|(exit, _)| exits.push(exit)),
                Some(ended) if ended == place => rounds.finish(early.take().map_or(Ok(()), Err), &mut record).map(drop),
                Some(_) => rounds.give_up(record),
            };
            let of_server = |error: CliError| error.with(&format!("this was server {}", NAMES[place]));
            first_error = first_error.or(end.err().map(of_server));
        }
        if let Some(error) = first_error {
            return Err(error);
        }
        let named = |folder: &Path| {
            Ok::<NamedRun, CliError>(NamedRun { name: folder.display().to_string(), record: results::load(folder)? })
        };
        let [a, b] = &self.folders;
        let compared = if exits.contains(&Exit::Invalid) {
            output::message("a run is invalid, so they were not compared; see `docshape report`\n");
            Exit::Invalid
        } else {
            compare_in_turns(&named(a)?, &named(b)?)?
        };
        output::message(&format!("reports of the runs: {} and {}\n", a.display(), b.display()));
        let first = exits.into_iter().find(|exit| *exit != Exit::Success);
        Ok(if compared == Exit::Success { first.unwrap_or(compared) } else { compared })
    }
}

/// Runs the pilots, then the rounds. The server that is first changes from round to round.
///
/// Returns with an error the place of the run that ended early.
async fn in_turns(turns: &mut [Turn<'_>]) -> Result<(), (usize, EarlyEnd)> {
    for (place, turn) in turns.iter_mut().enumerate() {
        turn.rounds.prepare(&mut turn.experiment, &mut turn.record).await.map_err(|end| (place, end))?;
    }
    // With --calls the pilots find rates only, and with --rate only calls.
    let rate = |settings: &RunSettings| settings.planned_rate().unwrap_or(0.0);
    let slower =
        |one: &&RunSettings, other: &&RunSettings| rate(one).total_cmp(&rate(other)).then(one.calls.cmp(&other.calls));
    if let Some(settings) = turns.iter().map(|turn| &turn.record.settings).min_by(slower).cloned() {
        let slices = turns.iter().map(|turn| turn.record.settings.slices).min().unwrap_or(settings.slices);
        let isolated = turns.iter().find_map(|turn| turn.record.settings.isolated.clone());
        let common = RunSettings { slices, isolated, ..settings };
        turns.iter_mut().for_each(|turn| turn.record.settings.clone_from(&common));
    }
    let mut plans = Vec::new();
    for (place, turn) in turns.iter_mut().enumerate() {
        // The settings say all that a pilot finds, so there is none.
        let plan = turn.rounds.prepare(&mut turn.experiment, &mut turn.record).await.map_err(|end| (place, end))?;
        plans.push(plan);
    }
    let rounds = turns.first().map_or(0, |turn| turn.record.settings.rounds);
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..turns.len()).collect();
        order.rotate_left(round as usize % turns.len());
        for place in order {
            let Turn { experiment, rounds, observer: (progress, log), record } = &mut turns[place];
            rounds.round(experiment, plans[place], round, log, record).await.map_err(|end| (place, end))?;
            progress.end_round();
        }
    }
    Ok(())
}
