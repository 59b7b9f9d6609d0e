//! `docshape selftest`: whether this machine and this server can be trusted with a measurement.

mod argument;
mod load_checks;
mod server_checks;

use crate::compile::Choice;
use crate::report::counted;
use crate::scenario::Source;

use super::exit::{CliError, Exit};
use super::output;
use super::reservation::databases;
use super::run::Invocation;
use super::scenario::{Ready, prepare_source};
use super::session::Session;
pub use argument::SelftestArguments;

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
    let quit = choice.quit_error("");
    let mut checklist = Checklist::default();
    for check in load_checks::checks()? {
        checklist.add(&check)?;
    }
    let plan = ready("default", &["one", "other"], true)?.plan;
    let namespace = arguments.server.databases.namespace(&plan.name, &Invocation::now().id);
    let names = databases(&namespace, &plan);
    Session::run(choice, quit, async |session| {
        let check = async || {
            for check in server_checks::one_client(&session, &namespace).await? {
                checklist.add(&check)?;
            }
            checklist.add(&server_checks::identical(&session, &namespace, arguments.rounds).await?)?;
            checklist.conclude()
        };
        session.with_databases(&namespace, &names, check).await
    })
}

/// Counts the checks so far.
#[derive(Debug, Default)]
struct Checklist {
    failed: u32,
}

impl Checklist {
    fn add(&mut self, check: &MachineCheck) -> Result<(), CliError> {
        let mark = match (check.passed, check.expected.is_empty()) {
            (true, true) => "    ",
            (true, false) => "ok  ",
            (false, _) => "FAIL",
        };
        let expected =
            if check.expected.is_empty() { String::new() } else { format!(" (expected: {})", check.expected) };
        self.failed += u32::from(!check.passed);
        output::print(&format!("{mark} {}: {}{expected}\n", check.name, check.found))
    }

    fn conclude(&self) -> Result<Exit, CliError> {
        match self.failed {
            0 => output::print("all checks passed\n").map(|()| Exit::Success),
            failed => {
                let (failed, advice) =
                    (counted(failed.into(), "check"), "stop other programs on this machine and run again");
                output::print(&format!("{failed} failed: {advice}\n")).map(|()| Exit::CheckFailed)
            }
        }
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
