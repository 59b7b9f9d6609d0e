//! From an argument to a scenario that can run; prints all problems.

use std::sync::Arc;

use crate::compile::{Choice, compile};
use crate::engine::{Refusals, refusals};
use crate::plan::Plan;
use crate::results::SkippedStrategy;
use crate::scenario::{self, Diagnostics, Scenario, Source};
use crate::server::namespace::Namespace;

use super::argument::SubjectArguments;
use super::exit::CliError;
use super::reservation::databases;
use super::session::Session;
use super::{catalogue, left_out, output};

/// A scenario without errors.
#[derive(Debug, Clone)]
pub struct Ready {
    /// Its text.
    pub source: Source,
    /// As written.
    pub scenario: Scenario,
    /// As it will run.
    pub plan: Arc<Plan>,
    /// Chosen strategies that are not in the plan, because the server does not know a command of theirs.
    pub skipped: Vec<SkippedStrategy>,
}

impl Ready {
    /// Returns the plan of all strategies, even of those that a plain run leaves out; `None` when one of them cannot run.
    pub fn plan_of_all(&self, choice: Choice) -> Option<Plan> {
        let strategies = self.scenario.strategies.iter().map(|strategy| strategy.name.value.clone()).collect();
        // The scenario has compiled, so that this finds no problems.
        compile(&self.scenario, &Choice { strategies, ..choice }, &Diagnostics::new()).ok().flatten()
    }

    /// Leaves out, and names, the strategies of `choice` with a command that only a later release of the server knows.
    ///
    /// # Errors
    /// When the server refuses what no release knows, the baseline is left out, or fewer than two strategies are left.
    pub async fn skip_unsupported(
        &mut self,
        session: &Session,
        choice: Choice,
        namespace: &Namespace,
    ) -> Result<(), CliError> {
        let database = databases(namespace, &self.plan).into_iter().next().unwrap_or_default();
        let version = &session.deployment.version;
        let Refusals { skipped, mistakes } = refusals(&session.target, &self.plan, &database, version).await;
        if !mistakes.is_empty() {
            return Err(CliError::usage(format!(
                "MongoDB {version} refuses what no release of MongoDB knows; correct the scenario:\n  {}",
                mistakes.join("\n  ")
            )));
        }
        if skipped.is_empty() {
            return Ok(());
        }
        let lines = skipped.iter().map(|one| format!("skipped {}: {}", one.name, one.reason)).collect::<Vec<_>>();
        output::message(&format!(
            "MongoDB {version} does not know all commands and options:\n  {}\n",
            lines.join("\n  ")
        ));
        let mut left: Vec<String> =
            self.plan.arms.iter().filter(|arm| !arm.is_repeat).map(|arm| arm.name.clone()).collect();
        let baseline = left.first().cloned();
        left.retain(|name| skipped.iter().all(|one| one.name != *name));
        let has_baseline = left.first() == baseline.as_ref();
        if left.len() < 2 || !has_baseline {
            let missing = if has_baseline { "all strategies but one are" } else { "the baseline strategy is" };
            return Err(CliError::usage(format!(
                "{missing} skipped, so there is nothing to compare on MongoDB {version}; use a newer server, or choose others \
                 with --strategies ({})",
                lines.join("; ")
            )));
        }
        let choice = Choice { strategies: left, all: false, ..choice };
        // The scenario has compiled with more strategies, so that this finds no problems.
        let compiled = compile(&self.scenario, &choice, &Diagnostics::new());
        let plan = compiled.map_err(|error| CliError::usage(error.to_string()))?;
        self.plan = plan.map_or_else(|| self.plan.clone(), Arc::new);
        left_out::note(&skipped);
        self.skipped.extend(skipped);
        Ok(())
    }
}

/// Opens, reads and compiles a scenario. Warnings are shown, and so are errors before they end the command.
///
/// # Errors
/// When the scenario cannot be opened or has errors, or the choice names something unknown.
pub fn prepare(name_or_path: &str, choice: &Choice) -> Result<Ready, CliError> {
    prepare_source(catalogue::open(name_or_path)?, choice)
}

/// Returns a scenario as written, for what it says about runs; the mix that is measured may depend on that.
///
/// # Errors
/// As those of [`prepare`].
pub fn definitions(name_or_path: &str, subject: &SubjectArguments, seed: u64) -> Result<Scenario, CliError> {
    Ok(prepare(name_or_path, &Choice { mix: None, ..subject.choice(seed, false) })?.scenario)
}

/// The same for a text that is there already.
///
/// # Errors
/// When the scenario has errors, or the choice names something unknown.
pub fn prepare_source(source: Source, choice: &Choice) -> Result<Ready, CliError> {
    let diagnostics = Diagnostics::new();
    let scenario = scenario::read(&source, &diagnostics);
    let compiled = scenario.as_ref().map(|scenario| compile(scenario, choice, &diagnostics));
    print_diagnostics(&diagnostics, &source);
    if diagnostics.has_errors() {
        return Err(CliError::usage(""));
    }
    match (scenario, compiled) {
        (Some(scenario), Some(Ok(Some(plan)))) => {
            Ok(Ready { source, scenario, plan: Arc::new(plan), skipped: Vec::new() })
        }
        (_, Some(Err(error))) => Err(CliError::usage(format!("{}: {error}", source.path))),
        _ => Err(CliError::usage(format!("{} cannot run, for an unknown reason; please report this", source.path))),
    }
}

/// Prints problems, if there are any.
pub fn print_diagnostics(diagnostics: &Diagnostics, source: &Source) {
    if !diagnostics.is_empty() {
        output::message(&diagnostics.render(source, true));
    }
}
