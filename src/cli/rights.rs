//! `docshape rights`: the smallest role with which a scenario can be measured.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use clap::Args;

use crate::compile::Choice;
use crate::plan::{Arm, Plan, Program, Step};
use crate::server::cluster::SHARDING_ACTIONS;

use super::argument::DatabaseArguments;
use super::catalogue::SCENARIOS;
use super::exit::{CliError, Exit};
use super::output;
use super::scenario::prepare;

/// `rights`.
#[derive(Debug, Args)]
pub struct RightsArguments {
    /// Scenario files, or names of built-in scenarios [default: all built-in ones]
    #[arg(value_name = "SCENARIO")]
    pub scenarios: Vec<String>,
    /// The databases.
    #[command(flatten)]
    pub databases: DatabaseArguments,
}

/// The actions on databases that every scenario needs: found by leaving out each of them on a server. Who may insert may create
/// collections.
const ACTIONS: [&str; 7] = ["collStats", "createIndex", "dropDatabase", "find", "insert", "listCollections", "update"];

/// The actions that some commands need, by the label of their step: a word of the format, or a raw command. One that removes
/// documents is among several that `findAndModify` may be.
const ACTIONS_OF_COMMANDS: [(&str, &str); 10] = [
    ("deleteOne", "remove"),
    ("deleteMany", "remove"),
    ("findOneAndDelete", "remove"),
    ("command delete", "remove"),
    ("command findAndModify", "remove"),
    ("command collMod", "collMod"),
    ("command dbStats", "dbStats"),
    ("command drop", "dropCollection"),
    ("command dropIndexes", "dropIndex"),
    ("command listIndexes", "listIndexes"),
];

/// The whole server as a resource in mongosh.
const ALL: &str = "{ cluster: true }";

/// Rights beyond the own databases, which are not necessary: the resource, the action, and what is missing without it.
const OPTIONAL: [(&str, &str, &str); 7] = [
    (ALL, "serverStatus", "counters: what calls cost the server, its cache, and use by others; what flushes write"),
    (ALL, "fsync", "flushes: deferred costs, exact storage sizes, and windows without checkpoints of earlier calls"),
    ("{ db: \"local\", collection: \"\" }", "dbStats", "bytes in the oplog"),
    (ALL, "hostInfo", "system, cores and memory of the server"),
    (ALL, "getParameter", "parameters of the server"),
    (ALL, "getDefaultRWConcern", "the default write concern of the server"),
    (ALL, "listDatabases", "whether the server holds other data, so that --yes is needed"),
];

/// What a cluster needs beyond the own databases: which shards there are, and to keep the balancer from a collection.
const ON_CLUSTER: &str = "    { resource: { cluster: true }, actions: [\"listShards\"] },
    { resource: { db: \"config\", collection: \"collections\" }, actions: [\"update\"] },
";

/// Prints mongosh statements that create the role and a user.
///
/// # Errors
/// When a scenario cannot be used.
pub fn rights(arguments: &RightsArguments) -> Result<Exit, CliError> {
    let scenarios: Vec<&str> = match arguments.scenarios.as_slice() {
        [] => SCENARIOS.map(|(name, _)| name).to_vec(),
        named => named.iter().map(String::as_str).collect(),
    };
    let (mut privileges, mut sharded) = (String::new(), Vec::new());
    for scenario in &scenarios {
        let choice = Choice::default();
        let plan = prepare(scenario, &choice)?.plan_of_all(choice);
        let plan = plan.ok_or_else(|| CliError::usage(format!("{scenario}: not all of its strategies can run")))?;
        let names = arguments.databases.names(&plan.name);
        let databases = names.all(plan.arms.iter().map(|arm| arm.name.as_str()));
        privileges.push_str(&privilege(&databases, &actions(&plan)));
        if plan.arms.iter().flat_map(|arm| &arm.collections).any(|collection| collection.sharding.is_some()) {
            sharded.extend(databases);
        }
    }
    output::print(&statements(&scenarios, &privileges, &sharded)).map(|()| Exit::Success)
}

/// The actions on the databases of a scenario, in alphabetical order.
fn actions(plan: &Plan) -> BTreeSet<&'static str> {
    let mut actions = BTreeSet::from(ACTIONS);
    for program in plan.arms.iter().flat_map(programs) {
        Step::walk(&program.steps, &mut |step| actions.extend(action(step)));
    }
    actions
}

fn programs(arm: &Arm) -> impl Iterator<Item = &Program> {
    let audits = arm.audits.iter().flat_map(|audit| [Some(&audit.program), audit.snapshot.as_ref()]).flatten();
    arm.load.iter().chain(&arm.operations).chain(&arm.state).chain(audits)
}

/// The action that a step needs beyond those of all scenarios.
fn action(step: &Step) -> Option<&'static str> {
    if let Step::Bulk(bulk) = step {
        return bulk.deletes().then_some("remove");
    }
    let Step::Command(command) = step else { return None };
    let is_of = |(label, _): &&(&str, &str)| {
        command.label.strip_prefix(*label).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    ACTIONS_OF_COMMANDS.iter().find(is_of).map(|(_, action)| *action)
}

/// The same actions on some databases.
fn privilege(databases: &[String], actions: &BTreeSet<&str>) -> String {
    let databases: String = databases.iter().map(|database| format!("      \"{database}\",\n")).collect();
    let actions: Vec<String> = actions.iter().map(|action| format!("\"{action}\"")).collect();
    format!(
        "    ...[\n{databases}    ].map(db => ({{ resource: {{ db, collection: \"\" }}, actions: [{}] }})),\n",
        actions.join(", ")
    )
}

/// The statements; `sharded` are the databases with collections that a cluster distributes.
fn statements(scenarios: &[&str], privileges: &str, sharded: &[String]) -> String {
    let mut text = format!(
        "// The smallest role for docshape with {}.\n// Run this in mongosh as a user who may create roles and users.\n",
        scenarios.join(", ")
    );
    let _ = write!(
        text,
        "db.getSiblingDB(\"admin\").createRole({{\n  role: \"docshape\",\n  privileges: [\n{privileges}  ],\n  roles: [],\n}})\n\n// \
         Optional: remove the slashes before what you grant. Without a right, reports lack what the line says.\n"
    );
    for (resource, action, loss) in OPTIONAL {
        let _ = writeln!(
            text,
            "// {action}: {loss}\n// db.getSiblingDB(\"admin\").grantPrivilegesToRole(\"docshape\", [{{ resource: {resource}, actions: \
             [\"{action}\"] }}])"
        );
    }
    if !sharded.is_empty() {
        let shard = privilege(sharded, &SHARDING_ACTIONS.into());
        let statement =
            format!("db.getSiblingDB(\"admin\").grantPrivilegesToRole(\"docshape\", [\n{shard}{ON_CLUSTER}])",);
        let commented: String = statement.lines().map(|line| format!("// {line}\n")).collect();
        let _ = write!(
            text,
            "\n// On a sharded cluster these are necessary, too: scenarios with `shard` distribute collections.\n{commented}"
        );
    }
    text.push_str(
        "\n// A user with this role, and a prompt for his password\ndb.getSiblingDB(\"admin\").createUser({ user: \"docshape\", pwd: \
         passwordPrompt(), roles: [\"docshape\"] })\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_of_a_cluster_are_comments_for_sharded_collections() {
        let with = statements(&["s"], "", &["docshape_s_one".to_owned(), "docshape_s_two".to_owned()]);
        let (_, cluster) = with.split_once("On a sharded cluster").unwrap();
        let (cluster, _) = cluster.split_once("\n\n").unwrap();
        assert!(cluster.lines().skip(1).all(|line| line.starts_with("// ")), "{cluster}");
        for word in ["docshape_s_two", "enableSharding", "moveChunk", "splitChunk", "listShards", "config"] {
            assert!(cluster.contains(word), "{cluster}");
        }
        assert!(!statements(&["s"], "", &[]).contains("cluster these"));
    }
}
