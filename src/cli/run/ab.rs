//! `docshape run --ab`: two servers in one session.
//!
//! Each server has a run of its own, and the runs take turns: round by round, with the same data, calls and rates. So what
//! the machine does meanwhile meets both, and `compare` may judge their times as they are.

use std::path::{Path, PathBuf};

use crate::campaign::{EarlyEnd, Interleaving, Point, Rounds, carry_out};
use crate::cli::argument::ConnectionString;
use crate::cli::compare::compare_two;
use crate::cli::progress::Progress;
use crate::cli::scenario::prepare;
use crate::cli::server::ServerChoice;
use crate::cli::session::on_main_thread;
use crate::cli::{CliError, Exit, output};
use crate::engine::StopFlag;
use crate::report::NamedRun;
use crate::results::{self, Status};
use crate::server::client::MongoTarget;
use crate::stats::{self, MINIMUM_ROUNDS};

use super::conclude::conclude;
use super::job::{JobServers, PointSetup, ServerJob, on_servers};
use super::{Invocation, RunArguments, check_threads, threshold};

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
    let chosen = arguments.study.subject.choice(settings.seed, true);
    let ready = prepare(arguments.study.scenario(), &chosen)?;
    threshold::check(&arguments.measurement.threshold, &ready.plan)?;
    let invocations = [Invocation::now(), Invocation::now()];
    let folder = invocations[0].folder(arguments.measurement.out.as_deref(), &ready.plan.name);
    let _locked = results::create_folder(&folder)?;
    let folders = ["a", "b"].map(|name| folder.join(name));
    let _parts = folders.iter().map(|folder| results::create_folder(folder)).collect::<Result<Vec<_>, _>>()?;
    let is_confirmed = arguments.study.server.yes;
    let [a, b] = uris.map(|uri| ServerChoice::Uri { uri, source: "--ab", is_confirmed });
    let quit = a.quit_error(&format!("complete rounds are in {}", folder.display()));
    let point = PointSetup::new(ready, chosen, settings, folders[0].clone());
    let pair = Pair { arguments, invocations, folders };
    on_main_thread(quit, async |stop| pair.on_both(point, a, b, stop).await)
}

/// Two runs that take turns.
struct Pair<'p> {
    arguments: &'p RunArguments,
    invocations: [Invocation; 2],
    folders: [PathBuf; 2],
}

impl Pair<'_> {
    /// Prepares server A, then B with the strategies that A knows, and measures both.
    async fn on_both(
        &self,
        point: PointSetup,
        a: ServerChoice,
        b: ServerChoice,
        stop: StopFlag,
    ) -> Result<Exit, CliError> {
        let on_a = async |points: Vec<PointSetup>, servers_a: JobServers<'_>| {
            let Some(mut a) = points.into_iter().next() else { return Ok(Exit::Success) };
            let of_b = PointSetup::new(a.ready.clone(), a.choice.clone(), a.settings.clone(), self.folders[1].clone());
            let on_b = async |points: Vec<PointSetup>, servers_b: JobServers<'_>| {
                let Some(b) = points.into_iter().next() else { return Ok(Exit::Success) };
                // What B does not know is not measured on A either.
                a.ready = b.ready.clone();
                self.measure([a, b], [servers_a, servers_b]).await
            };
            Box::pin(on_servers(self.job(1, of_b), b, stop.clone(), on_b)).await
        };
        on_servers(self.job(0, point), a, stop.clone(), on_a).await
    }

    fn job(&self, place: usize, point: PointSetup) -> ServerJob<'static> {
        let invocation = self.invocations[place].clone();
        let announce = move |what: &str| output::message(&format!("server {}: {what}\n", NAMES[place]));
        ServerJob { announce: Box::new(announce), ..ServerJob::new(vec![point], invocation, &self.arguments.study) }
    }

    async fn measure(&self, setups: [PointSetup; 2], servers: [JobServers<'_>; 2]) -> Result<Exit, CliError> {
        let mut all = Vec::new();
        for (place, (setup, servers)) in setups.into_iter().zip(&servers).enumerate() {
            for mut begun in servers.begin_all(vec![setup])? {
                begun.record.turns_with = Some(self.invocations[1 - place].id.clone());
                all.push((begun, Progress::named(NAMES[place])));
            }
        }
        let observers: Vec<_> = all.iter().map(|(begun, progress)| (progress, &begun.log)).collect();
        let points = all.iter().zip(&observers).zip(&servers);
        let points =
            points.map(|(((begun, _), observer), servers)| servers.point(begun, observer, self.arguments.keep));
        let points = points.collect();
        let mut rounds = Rounds { points, at: 0, interleaving: Interleaving::InStep, save_together: &|_| Ok(()) };
        // Servers of the user's end without docshape's knowledge.
        let result = carry_out(&mut rounds, std::future::pending(), &output::line).await;
        let at = rounds.at;
        self.conclude(rounds.points, at, result)
    }

    /// Writes the reports of both runs, and compares them. `at` is the one that ended early.
    fn conclude(
        &self,
        points: Vec<Point<'_, MongoTarget, MongoTarget>>,
        at: usize,
        result: Result<(), EarlyEnd>,
    ) -> Result<Exit, CliError> {
        let is_whole = result.is_ok();
        let (mut result, mut exits, mut first_error) = (Some(result), Vec::new(), None);
        for (place, (mut point, folder)) in points.into_iter().zip(&self.folders).enumerate() {
            let end = if is_whole || place == at {
                let concluded = conclude(&mut point, result.take_if(|_| !is_whole).unwrap_or(Ok(())), folder, None);
                concluded.map(|(exit, _)| exits.push(exit))
            } else {
                let ended = point.end(Status::Failed("the run on the other server ended early".to_owned()));
                ended.map_err(CliError::from)
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
        let runs = [named(a)?, named(b)?];
        let compared = if runs.iter().all(|run| stats::is_valid(&run.record)) {
            compare_two(&runs[0], &runs[1], None)?
        } else {
            output::message("a run is invalid, so they were not compared; see `docshape report`\n");
            Exit::Invalid
        };
        output::message(&format!("reports of the runs: {} and {}\n", a.display(), b.display()));
        let first = exits.into_iter().find(|exit| *exit != Exit::Success);
        Ok(if compared == Exit::Success { first.unwrap_or(compared) } else { compared })
    }
}
