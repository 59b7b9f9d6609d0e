//! `docshape selftest`: whether this machine and this server can be trusted with a measurement.

mod load_checks;
mod server_checks;

use clap::Args;

use crate::compile::Choice;
use crate::report::counted;
use crate::scenario::Source;
use crate::scenario::quantity::whole;

use super::argument::ServerArguments;
use super::exit::{CliError, Exit};
use super::output;
use super::reservation::databases;
use super::run::Invocation;
use super::scenario::{Ready, prepare_source};
use super::session::Session;

/// `selftest`.
#[derive(Debug, Clone, Args)]
pub struct SelftestArguments {
    /// The server to check.
    #[command(flatten)]
    pub server: ServerArguments,
    /// Rounds of two identical strategies, 6 to 100
    #[arg(long, value_name = "N", default_value = "8", value_parser = whole::<6, 100>, allow_hyphen_values = true)]
    pub rounds: u64,
}

/// The scenario that is measured.
const SCENARIO: &str = include_str!("scenario.yaml");

/// The result of one check.
#[derive(Debug)]
pub struct MachineCheck {
    name: &'static str,
    /// The numbers.
    found: String,
    /// What passes; empty where nothing can fail.
    expected: String,
    passed: bool,
}

/// Runs all checks, and prints a line for each as it ends.
///
/// # Errors
/// When there is no server. A failed check is the exit code 1.
pub fn selftest(arguments: &SelftestArguments) -> Result<Exit, CliError> {
    let choice = arguments.server.choice()?;
    let mut failed = 0;
    for check in load_checks::checks()? {
        failed += check.print()?;
    }
    let plan = ready("default", &["one", "other"], true)?.plan;
    let namespace = arguments.server.databases.namespace(&plan.name, &Invocation::now().id);
    let names = databases(&namespace, &plan);
    Session::run(choice, async |session| {
        let check = async || {
            if let Some(check) = server_checks::cluster(&session).await {
                check.print()?;
            }
            for check in server_checks::one_client(&session, &namespace).await? {
                failed += check.print()?;
            }
            failed += server_checks::identical(&session, &namespace, arguments.rounds).await?.print()?;
            if failed == 0 {
                return output::print("all checks passed\n").map(|()| Exit::Success);
            }
            let advice = "stop other programs on this machine and run again";
            output::print(&format!("{} failed: {advice}\n", counted(failed, "check")))?;
            Ok(Exit::CheckFailed)
        };
        session.with_databases(&namespace, &names, check).await
    })
}

impl MachineCheck {
    /// A number that cannot fail.
    fn note(name: &'static str, found: String) -> MachineCheck {
        MachineCheck { name, found, expected: String::new(), passed: true }
    }

    /// Prints the check in a line, and returns how many have failed: one or none.
    fn print(&self) -> Result<u64, CliError> {
        let MachineCheck { name, found, expected, passed } = self;
        let (mark, expected) = match (passed, expected.as_str()) {
            (true, "") => ("    ", String::new()),
            (true, expected) => ("ok  ", format!(" (expected: {expected})")),
            (false, expected) => ("FAIL", format!(" (expected: {expected})")),
        };
        output::print(&format!("{mark} {name}: {found}{expected}\n"))?;
        Ok(u64::from(!passed))
    }
}

/// The selftest's scenario with one of its mixes.
fn ready(mix: &str, strategies: &[&str], repeat: bool) -> Result<Ready, CliError> {
    let choice = Choice {
        mix: Some(mix.to_owned()),
        strategies: strategies.iter().map(|name| (*name).to_owned()).collect(),
        repeat,
        seed: 1,
        ..Choice::default()
    };
    prepare_source(Source::new("selftest.yaml", SCENARIO), &choice)
}
