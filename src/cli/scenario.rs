//! From an argument to a scenario that can run; prints all problems.

use std::sync::Arc;

use crate::compile::{Choice, compile, writes_without_key};
use crate::engine::{Refusals, refusals};
use crate::plan::Plan;
use crate::results::SkippedStrategy;
use crate::scenario::{self, Diagnostics, Scenario, Source};
use crate::server::deployment::{Deployment, Topology};
use crate::server::namespace::Namespace;

use super::argument::SubjectArguments;
use super::exit::CliError;
use super::preference::check_members;
use super::reservation::databases;
use super::session::Session;
use super::{catalogue, left_out, output};

/// The release since which a cluster takes writes of one document that name no value of the shard key.
const WRITES_WITHOUT_KEY: u32 = 7;

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
    /// When the server lacks a member that reads need, refuses what no release knows, the baseline is left out, or fewer than two strategies are left.
    pub async fn skip_unsupported(
        &mut self,
        session: &Session,
        choice: Choice,
        namespace: &Namespace,
    ) -> Result<(), CliError> {
        check_members(&self.plan, session)?;
        let database = databases(namespace, &self.plan).into_iter().next().unwrap_or_default();
        let version = &session.deployment.version;
        let Refusals { mut skipped, mistakes } = refusals(&session.target, &self.plan, &database, version).await;
        if !mistakes.is_empty() {
            return Err(CliError::usage(format!(
                "MongoDB {version} refuses what no release of MongoDB knows; correct the scenario:\n  {}",
                mistakes.join("\n  ")
            )));
        }
        let is_new = |one: &SkippedStrategy| skipped.iter().all(|other| other.name != one.name);
        let refused: Vec<_> =
            self.refused_by_cluster(&session.deployment, &choice).into_iter().filter(is_new).collect();
        skipped.extend(refused);
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

    /// The strategies of the plan with a write that a cluster of this release refuses.
    fn refused_by_cluster(&self, deployment: &Deployment, choice: &Choice) -> Vec<SkippedStrategy> {
        let major = deployment.version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        if deployment.topology != Topology::Sharded || major.is_none_or(|major| major >= WRITES_WITHOUT_KEY) {
            return Vec::new();
        }
        let refused = writes_without_key(&self.scenario, choice).into_iter();
        let is_in_plan = |(name, _): &(String, String)| self.plan.arms.iter().any(|arm| arm.name == *name);
        let skipped = |(name, write)| SkippedStrategy {
            name,
            reason: format!("{write} (a cluster takes such a write since MongoDB {WRITES_WITHOUT_KEY}.0)"),
        };
        refused.filter(is_in_plan).map(skipped).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
format: 1
name: test
title: Test
entities: { point: { count: 4, fields: { _id: index, host: index } } }
operations: { set: { arguments: { point: uniform(point) } } }
mixes: { default: { set: 1 } }
strategies:
  keyed:
    collections: { points: { each: point, shard: { key: { host: 1 } } } }
    operations: { set: { updateOne: points, filter: { _id: <point>, host: <point.host> }, update: { $set: { a: 1 } } } }
  by_id: { like: keyed, operations: { set: { updateOne: points, filter: { _id: <point> }, update: { $set: { a: 1 } } } } }
  keyless: { like: keyed, operations: { set: { updateOne: points, filter: { a: 1 }, update: { $set: { a: 2 } } } } }
";

    #[test]
    fn clusters_before_7_refuse_writes_without_the_key() {
        let choice = Choice { all: true, ..Choice::default() };
        let ready = prepare_source(Source::new("test.yaml", TEXT), &choice).unwrap();
        let refused = |version: &str, topology| {
            let deployment = Deployment {
                version: version.to_owned(),
                topology,
                set_name: None,
                refused: Vec::new(),
                cache_bytes: None,
                facts: Vec::new(),
            };
            ready.refused_by_cluster(&deployment, &choice)
        };
        let [SkippedStrategy { name, reason }] = &refused("6.0.5", Topology::Sharded)[..] else {
            panic!("one strategy")
        };
        assert_eq!(name, "keyless");
        let expected = "the filter has no `host`, which is in the shard key of `points` (a cluster takes such a write since MongoDB 7.0)";
        assert_eq!(reason, expected);
        assert_eq!(refused("7.0.2", Topology::Sharded), []);
        assert_eq!(refused("6.0.5", Topology::ReplicaSet { members: 3 }), []);
    }
}
