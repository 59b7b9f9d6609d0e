//! `docshape shardkey`: makes calls of the mix with every strategy, and finds the shards of their commands.

mod analysis;
pub mod argument;
mod judged;
mod kept;

use std::path::Path;

use crate::cli::next::NextCommand;
use crate::cli::progress::Progress;
use crate::cli::report::conclude_study;
use crate::cli::reservation::databases;
use crate::cli::run::Invocation;
use crate::cli::run::record::{claims, mix_record, parameters, scenario_record};
use crate::cli::scenario::{Ready, prepare};
use crate::cli::session::Session;
use crate::cli::{CliError, Exit};
use crate::engine::{Loader, arm_database};
use crate::record::Metric;
use crate::report::Report;
use crate::results;
use crate::scenario::nearest;
use crate::server::deployment::Topology;
use crate::server::embedded::Checkpoints;
use crate::server::namespace::Namespace;

use super::record::{SHARD_KEY_FORMAT, ShardKeyRecord, StrategyKeys};
use analysis::StrategyAnalysis;
use argument::ShardKeyArguments;

/// Judges the shard keys of a scenario, writes a folder with the record and a report, prints the report.
///
/// # Errors
/// When the scenario, a key or the server cannot be used.
pub fn shard_key(arguments: &ShardKeyArguments) -> Result<Exit, CliError> {
    let choice = arguments.subject.choice(arguments.seed, false);
    let mut ready = prepare(&arguments.scenario, &choice)?;
    check_keys(arguments, &ready)?;
    let server = arguments.server.choice()?.with_checkpoints(Checkpoints::EveryFewSeconds);
    let invocation = Invocation::now();
    let folder = invocation.folder(arguments.out.as_deref(), &format!("{}/shardkey", ready.plan.name));
    let namespace = arguments.server.databases.namespace(&ready.plan.name, &invocation.id);
    Session::run(server, async |session| {
        let names = databases(&namespace, &ready.plan);
        if session.deployment.topology == Topology::Sharded {
            return Err(CliError::usage(
                "shardkey reads indexes in their order, which a mongos does not: name a replica set, or omit --uri and MONGODB_URI; on the \
                 cluster, `docshape run` measures the keys of the scenario",
            ));
        }
        let _locked = results::create_folder(&folder)?;
        let judge = async || {
            ready.skip_unsupported(&session, choice, &namespace).await?;
            let mut record = ShardKeyRecord {
                started: invocation.started_text(),
                server: session.deployment.version.clone(),
                shards: arguments.shards,
                seed: arguments.seed,
                ..record(&ready)
            };
            let drawn = Progress::on_terminal("loading");
            for arm in 0..ready.plan.arms.len() {
                drawn.iter().for_each(|drawn| drawn.prepare(&format!("{}: calls", ready.plan.arms[arm].name)));
                record.strategies.push(strategy(arguments, &ready, &session, &namespace, arm).await?);
                results::save_document(&record, &folder)?;
            }
            drop(drawn);
            record.complete = true;
            results::save_document(&record, &folder)?;
            conclude_study(Report::of_shard_keys(&record), &folder, &next(&record))?;
            Ok(Exit::Success)
        };
        session.with_databases(&namespace, &names, judge).await
    })
}

/// The report of the shard keys in a folder, and what to do next.
///
/// # Errors
/// When they cannot be read.
pub fn report(path: &Path) -> Result<(Report, NextCommand), CliError> {
    let record = results::load_as::<ShardKeyRecord>(path)?;
    Ok((Report::of_shard_keys(&record), next(&record)))
}

fn next(record: &ShardKeyRecord) -> NextCommand {
    NextCommand::new(["run", record.scenario.opened()])
}

/// Rejects keys of collections that there are not.
fn check_keys(arguments: &ShardKeyArguments, ready: &Ready) -> Result<(), CliError> {
    let names: Vec<&str> =
        ready.plan.arms.iter().flat_map(|arm| &arm.collections).map(|collection| collection.name.as_str()).collect();
    match arguments.key.iter().find(|(name, _)| !names.contains(&name.as_str())) {
        None => Ok(()),
        Some((name, _)) => {
            let help = nearest(name, &names);
            Err(CliError::usage(format!("--key: no strategy has a collection {name}: {help}")))
        }
    }
}

/// The record before the first strategy.
fn record(ready: &Ready) -> ShardKeyRecord {
    let plan = &ready.plan;
    let mut claims = claims(&ready.scenario, plan);
    claims.retain(|claim| claim.needs_cluster || matches!(claim.known_metric(), Some(Metric::Shards(_))));
    ShardKeyRecord {
        format: SHARD_KEY_FORMAT,
        version: env!("CARGO_PKG_VERSION").into(),
        scenario: scenario_record(plan, &ready.source),
        parameters: parameters(plan),
        mix: mix_record(plan),
        operations: plan.operations.iter().map(|operation| operation.name.to_string()).collect(),
        skipped: ready.skipped.clone(),
        claims,
        ..ShardKeyRecord::default()
    }
}

/// Judges the keys of one strategy on a database of its own, which is dropped.
async fn strategy(
    arguments: &ShardKeyArguments,
    ready: &Ready,
    session: &Session,
    namespace: &Namespace,
    place: usize,
) -> Result<StrategyKeys, CliError> {
    let arm = &ready.plan.arms[place];
    let database = arm_database(&namespace.names, arm);
    namespace.create(&session.target, &database).await?;
    let analysis = StrategyAnalysis {
        plan: &ready.plan,
        arm: place,
        target: &session.target,
        database: &database,
        shards: arguments.shards,
        given: &arguments.key,
        stop: &session.stop,
    };
    let loader = Loader {
        plan: &ready.plan,
        arm,
        target: &session.target,
        database: &database,
        observer: &(),
        stop: &session.stop,
    };
    let made = analysis.run(loader, arguments.calls).await;
    let dropped = namespace.drop(&session.target, &database).await;
    let made = made?;
    dropped?;
    Ok(made)
}
