//! `docshape verify`: whether the strategies of a scenario do the same.

mod argument;

use std::sync::Arc;
use std::time::Duration;

use crate::plan::Plan;
use crate::report::VerificationReport;
use crate::results::verification::{Phase, Verification};
use crate::scenario::{self, Diagnostics, Scenario, Source};
use crate::verify::{Settings, Verifier};

use super::catalogue;
use super::course::failed;
use super::exit::{CliError, Exit};
use super::output;
use super::run::identity;
use super::scenario::{Ready, already_told, prepare_source, tell};
use super::server::ServerChoice;
use super::session::Session;
pub use argument::VerifyArguments;

/// The mix that is made for this.
const MIX: &str = "verify";

/// Checks the strategies of a scenario, prints what was found.
///
/// # Errors
/// When the scenario or server cannot be used. Strategies that differ are the exit code 1.
pub fn verify(arguments: &VerifyArguments) -> Result<Exit, CliError> {
    let source = catalogue::open(&arguments.scenario)?;
    let mut diagnostics = Diagnostics::new();
    let Some(scenario) = scenario::read(&source, &mut diagnostics).filter(|_| !diagnostics.has_errors()) else {
        tell(&diagnostics, &source);
        return Err(already_told());
    };
    let all: Vec<Ready> = (0..arguments.times)
        .map(|time| ready(arguments, &source, &scenario, arguments.seed.wrapping_add(time)))
        .collect::<Result<_, _>>()?;
    let choice = arguments.server.choice()?;
    let (id, _) = identity();
    let left = match &choice {
        ServerChoice::Embedded(_) => String::new(),
        ServerChoice::Uri(_) => format!("; databases named docshape_..._{id}... may be left on the server, drop them"),
    };
    let at_once = CliError { exit: Exit::Interrupted, message: format!("interrupted at once{left}") };
    Session::run(choice, at_once, async |session| {
        let mut exit = Exit::Fine;
        for ready in all {
            exit = match arguments.call {
                None => check(arguments, &session, &id, ready).await?,
                Some(call) => show(arguments, &session, &id, (ready, call)).await?,
            };
            if exit != Exit::Fine {
                break;
            }
        }
        Ok(exit)
    })
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
    let is_default = |strategy: &&scenario::Strategy| strategy.is_default.as_ref().is_some_and(|flag| flag.value);
    let mut all = scenario.strategies.iter();
    let reference = all.clone().find(is_default).or_else(|| all.find(|strategy| !strategy.is_unsafe));
    let mut chosen: Vec<String> = match arguments.strategies.as_slice() {
        [] => scenario.strategies.iter().map(|strategy| strategy.name.value.clone()).collect(),
        named => named.to_vec(),
    };
    let is_safe = |name: &String| scenario.strategies.iter().any(|s| s.name.value == *name && !s.is_unsafe);
    // One strategy alone could be compared with nothing.
    let is_named = arguments.strategies.len() > 1 && chosen.first().is_some_and(is_safe);
    if let (Some(reference), false) = (reference, is_named) {
        let name = &reference.name.value;
        chosen.retain(|other| other != name);
        chosen.insert(0, name.clone());
    }
    chosen
}

async fn check(arguments: &VerifyArguments, session: &Session, id: &str, ready: Ready) -> Result<Exit, CliError> {
    let plan = Arc::new(ready.plan);
    let progress = |phase: Phase, strategy: Option<&str>| output::tell(&format!("{}\n", words(phase, strategy)));
    let settings = Settings {
        id: format!("{id}{}", plan.seed % 1_000),
        calls: arguments.calls(plan.arms.len()),
        workers: arguments.workers as usize,
        timeout: arguments.timeout,
    };
    let target = session.client(settings.connections()).await?;
    let verifier = Verifier { plan: &plan, settings, target: &target, progress: &progress, stop: session.stop.clone() };
    let verification = verifier.run().await.map_err(|error| failed(&error))?;
    let report = VerificationReport { verification: &verification, width: output::width(), colour: true };
    output::print(&report.to_string())?;
    Ok(if verification.passes() { Exit::Fine } else { Exit::CheckFailed })
}

/// Calls of the check before a run.
const CALLS_BEFOREHAND: u64 = 200;

/// The check before a run: its strategies one after the other, on its own data.
///
/// # Errors
/// When a strategy that is not marked unsafe does something else than the reference, or its audits fail.
pub async fn beforehand(
    session: &Session,
    (plan, id): (&Arc<Plan>, &str),
    timeout: Duration,
) -> Result<Verification, CliError> {
    let target = session.client(plan.arms.len() as u32).await?;
    let verifier = Verifier {
        plan,
        settings: Settings { id: id.to_owned(), calls: CALLS_BEFOREHAND, workers: 1, timeout },
        target: &target,
        progress: &|_, _| {},
        stop: session.stop.clone(),
    };
    output::tell("checking that the strategies give the same answers\n");
    let verification = verifier.run_sequential().await.map_err(|error| failed(&error))?;
    if verification.strategies.iter().all(|strategy| strategy.is_unsafe || strategy.is_clean()) {
        return Ok(verification);
    }
    output::tell(&VerificationReport { verification: &verification, width: output::width(), colour: true }.to_string());
    let message = "the strategies do not do the same, so comparing their times means nothing; mend them (docshape verify \
                   tells more), or measure all the same with --no-verify";
    Err(CliError { exit: Exit::CheckFailed, message: message.into() })
}

fn words(phase: Phase, strategy: Option<&str>) -> String {
    let strategy = strategy.unwrap_or("all strategies");
    match phase {
        Phase::Sequential => format!("{strategy}: one call after the other"),
        Phase::Ordered => format!("{strategy}: at once, in order"),
        Phase::Free => format!("{strategy}: at once, free"),
    }
}

/// One call, and what every strategy answers.
async fn show(
    arguments: &VerifyArguments,
    session: &Session,
    id: &str,
    (ready, call): (Ready, u64),
) -> Result<Exit, CliError> {
    let target = session.client(1).await?;
    let plan = Arc::new(ready.plan);
    let verifier = Verifier {
        plan: &plan,
        settings: Settings { id: id.to_owned(), calls: call + 1, workers: 1, timeout: arguments.timeout },
        target: &target,
        progress: &|_, _| {},
        stop: session.stop.clone(),
    };
    let shown = verifier.show(call).await.map_err(|error| failed(&error))?;
    output::print(&shown.to_string())?;
    Ok(if shown.is_equal() { Exit::Fine } else { Exit::CheckFailed })
}
