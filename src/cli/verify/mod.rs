//! `docshape verify`: whether the strategies of a scenario return the same results.

mod argument;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::plan::Plan;
use crate::record::FaultKind;
use crate::report::{Report, counted};
use crate::results::RunSettings;
use crate::results::verification::{Verification, VerifyPhase};
use crate::scenario::{self, Diagnostics, Scenario, Source};
use crate::server::embedded::{Checkpoints, EmbeddedOptions};
use crate::server::namespace::Namespace;
use crate::server::turns::EmbeddedServers;
use crate::verify::{Fault, Verifier, VerifySettings};

use super::exit::{CliError, Exit};
use super::report::terminal;
use super::reservation::databases;
use super::run::Invocation;
use super::scenario::{Ready, already_printed, prepare_source, print_diagnostics};
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
    let mut diagnostics = Diagnostics::new();
    let Some(scenario) = scenario::read(&source, &mut diagnostics).filter(|_| !diagnostics.has_errors()) else {
        print_diagnostics(&diagnostics, &source);
        return Err(already_printed());
    };
    let all: Vec<Ready> = (0..arguments.times)
        .map(|time| ready(arguments, &source, &scenario, arguments.seed.wrapping_add(time)))
        .collect::<Result<_, _>>()?;
    let choice = arguments.server.choice()?.with_checkpoints(Checkpoints::EveryFewSeconds);
    check_fault(arguments.fault, &choice)?;
    let namespace = arguments.server.databases.namespace(&scenario.name.value, &Invocation::now().id);
    let quit = choice.quit_error("");
    let checks = ScenarioChecks { arguments, name, all, namespace };
    match (arguments.fault, choice) {
        (Some(kind), ServerChoice::Embedded(options)) => on_main_thread(quit, async |stop| {
            let options = EmbeddedOptions { is_disturbed: true, ..options };
            let disturbed = async |sessions: Vec<Session>, servers: &EmbeddedServers| {
                let fault = Fault { kind, server: servers.servers().first() };
                checks.on(&sessions[0], Some(fault)).await
            };
            Session::with_each(&options, 1, &stop, disturbed).await
        }),
        (kind, choice) => Session::run(choice, quit, async |session| {
            checks.on(&session, kind.map(|kind| Fault { kind, server: None })).await
        }),
    }
}

/// Rejects a fault that cannot be caused on this server, or not without the user's consent.
fn check_fault(fault: Option<FaultKind>, choice: &ServerChoice) -> Result<(), CliError> {
    match (fault, choice) {
        (None, _) | (_, ServerChoice::Embedded(_)) => Ok(()),
        (Some(FaultKind::StepDown), ServerChoice::Uri(server)) if server.is_confirmed => Ok(()),
        (Some(FaultKind::StepDown), ServerChoice::Uri(_)) => Err(CliError::usage(
            "--fault stepdown makes the primary of your replica set step down for everybody who uses it: confirm with --yes",
        )),
        (Some(kind), ServerChoice::Uri(_)) => Err(CliError::usage(format!(
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
    /// One per seed.
    all: Vec<Ready>,
    namespace: Namespace,
}

impl ScenarioChecks<'_> {
    /// Makes them one after the other, up to the first that fails.
    async fn on(self, session: &Session, fault: Option<Fault<'_>>) -> Result<Exit, CliError> {
        let ScenarioChecks { arguments, name, all, namespace } = self;
        let mut names = all.first().map(|ready| databases(&namespace, &ready.plan)).unwrap_or_default();
        if arguments.call.is_none() {
            let arms = all.first().into_iter().flat_map(|ready| ready.plan.arms.iter());
            names.extend(
                arms.flat_map(|arm| [namespace.names.concurrent(&arm.name), namespace.names.in_order(&arm.name)]),
            );
        }
        let check_all = async || {
            let mut exit = Exit::Success;
            for ready in all {
                exit = match arguments.call {
                    None => check(arguments, session, &namespace, name, (ready, fault)).await?,
                    Some(call) => show(arguments, session, &namespace, (ready, call)).await?,
                };
                if exit != Exit::Success {
                    break;
                }
            }
            Ok(exit)
        };
        session.with_databases(&namespace, &names, check_all).await
    }
}

/// The scenario with the strategies that are to be checked, the reference first.
fn ready(arguments: &VerifyArguments, source: &Source, scenario: &Scenario, seed: u64) -> Result<Ready, CliError> {
    let mix = arguments
        .mix
        .clone()
        .or_else(|| scenario.mixes.iter().any(|mix| mix.name.value == MIX).then(|| MIX.to_owned()));
    prepare_source(source.clone(), &arguments.choice(strategies(arguments, scenario), mix, seed))
}

fn strategies(arguments: &VerifyArguments, scenario: &Scenario) -> Vec<String> {
    let is_default = |strategy: &&scenario::StrategyDefinition| strategy.is_compared();
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
    chosen
}

async fn check(
    arguments: &VerifyArguments,
    session: &Session,
    namespace: &Namespace,
    scenario: &str,
    (mut ready, fault): (Ready, Option<Fault<'_>>),
) -> Result<Exit, CliError> {
    let started = Instant::now();
    let names = ready.plan.arms.iter().map(|arm| arm.name.clone()).collect();
    let choice = arguments.choice(names, Some(ready.plan.mix.name.clone()), ready.plan.seed);
    ready.skip_unsupported(session, choice, namespace).await?;
    let plan = ready.plan;
    let progress = |phase: VerifyPhase, strategy: Option<&str>| {
        if !arguments.all {
            output::message(&format!("{}\n", describe(phase, strategy)));
        }
    };
    let settings = VerifySettings {
        namespace: namespace.clone(),
        command: command(scenario, &plan, &arguments.set),
        calls: arguments.calls(plan.arms.len()),
        clients: arguments.clients as usize,
        timeout: arguments.timeout,
    };
    let target = session.client(settings.connections()).await?;
    let verifier =
        Verifier { plan: &plan, settings, target: &target, progress: &progress, fault, stop: session.stop.clone() };
    let verification = Verification { skipped: ready.skipped, ..verifier.run().await? };
    if arguments.all && verification.passes() {
        output::print(&passing_line(scenario, &verification, started.elapsed()))?;
    } else {
        output::print(&terminal(&Report::of_verification(&verification)))?;
    }
    Ok(if verification.passes() { Exit::Success } else { Exit::CheckFailed })
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
    let verifier = Verifier {
        plan,
        settings: VerifySettings {
            namespace: namespace.clone(),
            command: command(scenario, plan, &settings.set),
            calls: CALLS_BEFORE_RUN,
            clients: 1,
            timeout: settings.timeout(),
        },
        target: &target,
        progress: &|_, _| {},
        fault: None,
        stop: session.stop.clone(),
    };
    announce("checking that the strategies return the same results");
    let mut verification = verifier.run_sequential().await?;
    // The run warns of query plans by itself, and measures bytes.
    verification.warnings.clear();
    verification.received.clear();
    if verification.strategies.iter().all(|strategy| strategy.is_unsafe || strategy.is_clean()) {
        return Ok(verification);
    }
    output::message(&terminal(&Report::of_verification(&verification)));
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

/// One call, and what every strategy answers.
async fn show(
    arguments: &VerifyArguments,
    session: &Session,
    namespace: &Namespace,
    (ready, call): (Ready, u64),
) -> Result<Exit, CliError> {
    let target = session.client(1).await?;
    let plan = ready.plan;
    let verifier = Verifier {
        plan: &plan,
        settings: VerifySettings {
            namespace: namespace.clone(),
            command: String::new(),
            calls: call + 1,
            clients: 1,
            timeout: arguments.timeout,
        },
        target: &target,
        progress: &|_, _| {},
        fault: None,
        stop: session.stop.clone(),
    };
    let shown = verifier.run_single_call(call).await?;
    output::print(&shown.to_string())?;
    Ok(if shown.is_equal() { Exit::Success } else { Exit::CheckFailed })
}
