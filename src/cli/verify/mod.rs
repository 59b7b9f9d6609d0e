//! `docshape verify`: whether the strategies of a scenario return the same results.

mod argument;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::plan::Plan;
use crate::record::FaultKind;
use crate::report::counted;
use crate::results::RunSettings;
use crate::results::verification::{Verification, VerifyPhase};
use crate::scenario::{self, Diagnostics, Scenario, StrategyDefinition};
use crate::server::embedded::{Checkpoints, EmbeddedOptions};
use crate::server::namespace::Namespace;
use crate::server::turns::EmbeddedServers;
use crate::verify::{Fault, Verifier, VerifySettings};

use super::argument::SubjectArguments;
use super::exit::{CliError, Exit};
use super::next::NextCommand;
use super::preference::stale_reads;
use super::progress::Progress;
use super::report::terminal_of_verification;
use super::reservation::databases;
use super::run::Invocation;
use super::scenario::{Ready, prepare_source};
use super::server::ServerChoice;
use super::session::{Session, on_main_thread};
use super::{catalogue, output};
pub use argument::VerifyArguments;

/// The mix that is made for this.
const MIX: &str = "verify";

/// Checks the strategies of a scenario, or of all built-in ones, and prints what was found.
///
/// # Errors
/// When a scenario or the server cannot be used. Strategies that differ are the exit code 1.
pub fn verify(arguments: &VerifyArguments) -> Result<Exit, CliError> {
    if let Some(scenario) = &arguments.scenario {
        return verify_scenario(arguments, scenario);
    }
    let mut exit = Exit::Success;
    for (name, _) in catalogue::SCENARIOS {
        match verify_scenario(arguments, name)? {
            Exit::Success => {}
            Exit::CheckFailed => exit = Exit::CheckFailed,
            other => return Ok(other),
        }
    }
    Ok(exit)
}

fn verify_scenario(arguments: &VerifyArguments, name: &str) -> Result<Exit, CliError> {
    let source = catalogue::open(name)?;
    // A scenario with problems is not prepared, and they are printed then.
    let scenario = scenario::read(&source, &Diagnostics::new());
    let (strategies, mix) = scenario.map(|scenario| chosen(arguments, &scenario)).unwrap_or_default();
    let ready = |time| {
        let seed = arguments.seed.wrapping_add(time);
        prepare_source(source.clone(), &arguments.choice(strategies.clone(), mix.clone(), seed))
    };
    let all = (0..arguments.times).map(ready).collect::<Result<Vec<Ready>, _>>()?;
    let choice = arguments.server.choice()?.with_checkpoints(Checkpoints::EveryFewSeconds);
    check_fault(arguments.fault, &choice)?;
    let namespace = arguments.server.databases.namespace(&all[0].plan.name, &Invocation::now().id);
    let checks = ScenarioChecks { arguments, name, namespace };
    let quit = choice.quit_error("");
    match (arguments.fault, choice) {
        (Some(kind), ServerChoice::Embedded(options)) => on_main_thread(quit, async |stop| {
            let options = EmbeddedOptions { is_disturbed: true, ..options };
            let disturbed = async |sessions: Vec<Session>, servers: &EmbeddedServers| {
                let fault = Fault { kind, server: servers.servers().first() };
                checks.all(all, &sessions[0], Some(fault)).await
            };
            Session::with_each(&options, 1, &stop, disturbed).await
        }),
        (kind, choice) => Session::run(choice, async |session| {
            checks.all(all, &session, kind.map(|kind| Fault { kind, server: None })).await
        }),
    }
}

/// Rejects a fault that cannot be caused on this server, or not without the user's consent.
fn check_fault(fault: Option<FaultKind>, choice: &ServerChoice) -> Result<(), CliError> {
    if fault.is_some() && matches!(choice, ServerChoice::Embedded(options) if options.members > 1) {
        return Err(CliError::usage(
            "--fault needs a set in which the same member is elected again, and of --members 3 none but the first can be: omit \
             --members, or give a set of yours with --uri",
        ));
    }
    let (Some(kind), ServerChoice::Uri { is_confirmed, .. }) = (fault, choice) else { return Ok(()) };
    match kind {
        FaultKind::StepDown if *is_confirmed => Ok(()),
        FaultKind::StepDown => Err(CliError::usage(
            "--fault stepdown makes the primary of your replica set step down for everybody who uses it: confirm with --yes",
        )),
        FaultKind::Kill | FaultKind::Stop => Err(CliError::usage(format!(
            "--fault {} needs embedded servers, whose processes are docshape's own: omit --uri and MONGODB_URI, or use stepdown",
            kind.name()
        ))),
    }
}

/// The verifications of one scenario.
struct ScenarioChecks<'w> {
    arguments: &'w VerifyArguments,
    /// As the user named the scenario.
    name: &'w str,
    namespace: Namespace,
}

impl ScenarioChecks<'_> {
    /// Makes them one after the other, up to the first that fails; each has its seed.
    async fn all(&self, all: Vec<Ready>, session: &Session, fault: Option<Fault<'_>>) -> Result<Exit, CliError> {
        let (plan, call) = (&all[0].plan, self.arguments.call);
        let mut names = databases(&self.namespace, plan);
        if call.is_none() {
            let of = &self.namespace.names;
            names.extend(plan.arms.iter().flat_map(|arm| [of.concurrent(&arm.name), of.in_order(&arm.name)]));
        }
        let check_all = async || {
            let mut ended = Exit::Success;
            for ready in all {
                let exit = match call {
                    None => self.check(session, ready, fault).await?,
                    Some(call) => self.show(session, &ready.plan, call).await?,
                };
                ended = exit;
                if exit != Exit::Success {
                    break;
                }
            }
            Ok(ended)
        };
        let exit = session.with_databases(&self.namespace, &names, check_all).await?;
        if call.is_none() && !self.arguments.all {
            self.next(exit == Exit::Success).print();
        }
        Ok(exit)
    }

    async fn check(&self, session: &Session, mut ready: Ready, fault: Option<Fault<'_>>) -> Result<Exit, CliError> {
        let started = Instant::now();
        let ScenarioChecks { arguments, name, namespace } = self;
        let names = ready.plan.arms.iter().map(|arm| arm.name.clone()).collect();
        let choice = arguments.choice(names, Some(ready.plan.mix.name.clone()), ready.plan.seed);
        ready.skip_unsupported(session, choice, namespace).await?;
        let plan = ready.plan;
        // In a log, the phases say nothing that the report does not.
        let drawn = if arguments.all { None } else { Progress::on_terminal("loading") };
        let progress = |phase: VerifyPhase, strategy: Option<&str>| {
            drawn.iter().for_each(|drawn| drawn.prepare(&describe(phase, strategy)));
        };
        let settings = VerifySettings {
            namespace: namespace.clone(),
            command: command(name, &plan, &arguments.set),
            calls: arguments.calls(plan.arms.len()),
            clients: arguments.clients as usize,
            timeout: arguments.timeout,
        };
        let target = session.client(settings.connections()).await?;
        let verifier = Verifier::new(&plan, settings, &target, session.stop.clone());
        let mut verification = Verifier { progress: &progress, fault, ..verifier }.run().await?;
        verification.warnings.extend(stale_reads(&plan));
        drop(drawn);
        let verification = Verification { skipped: ready.skipped, ..verification };
        if arguments.all && verification.passes() {
            output::print(&passing_line(name, &verification, started.elapsed()))?;
        } else {
            output::print(&terminal_of_verification(&verification, arguments.full))?;
        }
        Ok(if verification.passes() { Exit::Success } else { Exit::CheckFailed })
    }

    /// The command after a verification: a first run, or all that was found.
    fn next(&self, passes: bool) -> NextCommand {
        let VerifyArguments { mix, set, strategies, server, .. } = self.arguments;
        let (mix, set, strategies) = (mix.clone(), set.clone(), strategies.clone());
        let subject = SubjectArguments { mix, set, strategies, ..SubjectArguments::default() };
        let next =
            NextCommand::new([if passes { "run" } else { "verify" }, self.name]).subject(&subject).server(server);
        if passes { next.option("preset", "smoke") } else { next.option("full", "") }
    }

    /// One call, and what every strategy answers.
    async fn show(&self, session: &Session, plan: &Arc<Plan>, call: u64) -> Result<Exit, CliError> {
        let target = session.client(1).await?;
        let settings = VerifySettings {
            namespace: self.namespace.clone(),
            command: String::new(),
            calls: call + 1,
            clients: 1,
            timeout: self.arguments.timeout,
        };
        let shown = Verifier::new(plan, settings, &target, session.stop.clone()).run_single_call(call).await?;
        output::print(&shown.text)?;
        Ok(if shown.is_equal { Exit::Success } else { Exit::CheckFailed })
    }
}

/// Returns the strategies that are to be checked, the reference first, and the mix.
fn chosen(arguments: &VerifyArguments, scenario: &Scenario) -> (Vec<String>, Option<String>) {
    let mix = scenario.mixes.iter().map(|mix| &mix.name.value).find(|name| *name == MIX);
    let mix = arguments.mix.as_ref().or(mix).cloned();
    let is_default = |strategy: &&StrategyDefinition| strategy.is_compared();
    let mut all = scenario.strategies.iter();
    let reference = all.clone().find(is_default).or_else(|| all.find(|strategy| !strategy.is_unsafe));
    let mut chosen: Vec<String> = match arguments.strategies.as_slice() {
        [] => scenario.strategies.iter().map(|strategy| strategy.name.value.clone()).collect(),
        named => named.to_vec(),
    };
    let is_safe = |name: &String| {
        scenario.strategies.iter().any(|s| s.name.value == *name && !s.is_unsafe && s.unsafe_with.is_empty())
    };
    // One strategy alone could be compared with nothing.
    let is_named = arguments.strategies.len() > 1 && chosen.first().is_some_and(is_safe);
    if let (Some(reference), false) = (reference, is_named) {
        let name = &reference.name.value;
        chosen.retain(|other| other != name);
        chosen.insert(0, name.clone());
    }
    (chosen, mix)
}

/// A scenario that passes, in a line.
fn passing_line(scenario: &str, verification: &Verification, took: Duration) -> String {
    let controls = verification.strategies.iter().filter(|strategy| strategy.is_unsafe).count();
    let safe = verification.strategies.len() - controls;
    let caught = counted(controls as u64, "negative control");
    let seconds = took.as_secs_f64();
    format!("{scenario:20} {safe} strategies equivalent, {caught} caught, {seconds:.1} s\n")
}

/// The command that makes a check like this, up to its strategies, seed and call.
fn command(scenario: &str, plan: &Plan, set: &[(String, String)]) -> String {
    let set: String = set.iter().map(|(name, value)| format!(" --set {name}={value}")).collect();
    format!("docshape verify {scenario} --mix {}{set}", plan.mix.name)
}

/// Calls of the check before a run.
const CALLS_BEFORE_RUN: u64 = 200;

/// Checks the strategies of a run before its first round, with calls one after the other on data of its own. `announce` says
/// what is done.
///
/// # Errors
/// When a strategy that is not marked unsafe returns other results than the baseline, or its audits find anomalies.
pub async fn verify_before_run(
    session: &Session,
    plan: &Arc<Plan>,
    settings: &RunSettings,
    namespace: &Namespace,
    scenario: &str,
    announce: impl Fn(&str),
) -> Result<Verification, CliError> {
    let target = session.client(plan.arms.len() as u32).await?;
    let settings = VerifySettings {
        namespace: namespace.clone(),
        command: command(scenario, plan, &settings.set),
        calls: CALLS_BEFORE_RUN,
        clients: 1,
        timeout: settings.timeout(),
    };
    announce("checking that the strategies return the same results");
    let mut verification = Verifier::new(plan, settings, &target, session.stop.clone()).run_sequential().await?;
    // The run warns of query plans by itself, and measures bytes.
    verification.warnings.clear();
    verification.received.clear();
    if verification.strategies.iter().all(|strategy| strategy.is_unsafe || strategy.is_clean()) {
        return Ok(verification);
    }
    output::message(&terminal_of_verification(&verification, false));
    let message = "the strategies do not return the same results, so their times cannot be compared; fix them (`docshape \
                   verify` shows more), or measure anyway with --no-verify";
    Err(CliError::new(Exit::CheckFailed, message))
}

fn describe(phase: VerifyPhase, strategy: Option<&str>) -> String {
    let strategy = strategy.unwrap_or("all strategies");
    match phase {
        VerifyPhase::Sequential => format!("{strategy}: sequential calls"),
        VerifyPhase::Ordered => format!("{strategy}: concurrent calls in a recorded order"),
        VerifyPhase::Unordered => format!("{strategy}: concurrent calls"),
        VerifyPhase::Pairs => format!("{strategy}: two calls at a time on the same records"),
    }
}
