//! `docshape selftest`: whether this machine, this server and docshape itself can be trusted with a measurement.

mod argument;
mod generator;
mod server;

use crate::plan::Choice;
use crate::scenario::Source;
use crate::stats::Simulation;

use super::exit::{CliError, Exit};
use super::output;
use super::scenario::{Ready, prepare_source};
use super::session::Session;
pub use argument::SelftestArguments;

/// The scenario that is measured.
const SCENARIO: &str = include_str!("scenario.yaml");

/// Runs that are simulated: enough to tell 5 % from 2 % and from 6 %.
const SIMULATED: u64 = 2_000;

/// The noise of a cell in simulated runs: what slices leave on a shared machine, and what they take out of it.
const NOISE: f64 = 0.04;
const MORE_NOISE: [f64; 2] = [0.10, 0.18];

/// What was found of one question.
#[derive(Debug)]
pub struct Finding {
    /// The question.
    name: &'static str,
    /// The numbers.
    found: String,
    /// What is good enough; empty where there is nothing to pass.
    wanted: String,
    /// Whether it is.
    passed: bool,
}

/// Asks all questions, prints a line for each as it is answered.
///
/// # Errors
/// When there is no server. An answer that is not good enough is the exit code 1.
pub fn selftest(arguments: &SelftestArguments) -> Result<Exit, CliError> {
    let choice = arguments.server.choice()?;
    let at_once = CliError { exit: Exit::Interrupted, message: "interrupted at once".into() };
    let mut tally = Tally::default();
    for finding in generator::questions()?.into_iter().chain(simulated()) {
        tally.add(&finding)?;
    }
    Session::run(choice, at_once, async |session| {
        for finding in server::single(&session).await? {
            tally.add(&finding)?;
        }
        tally.add(&server::identical(&session, arguments.rounds).await?)?;
        tally.conclude()
    })
}

/// The lines so far.
#[derive(Debug, Default)]
struct Tally {
    failed: u32,
}

impl Tally {
    fn add(&mut self, finding: &Finding) -> Result<(), CliError> {
        let mark = match (finding.passed, finding.wanted.is_empty()) {
            (true, true) => "    ",
            (true, false) => "ok  ",
            (false, _) => "FAIL",
        };
        let wanted = if finding.wanted.is_empty() { String::new() } else { format!(" (wanted: {})", finding.wanted) };
        self.failed += u32::from(!finding.passed);
        output::print(&format!("{mark} {}: {}{wanted}\n", finding.name, finding.found))
    }

    fn conclude(&self) -> Result<Exit, CliError> {
        match self.failed {
            0 => output::print("all is as it should be\n").map(|()| Exit::Fine),
            failed => {
                let words = "look whether something else keeps this machine busy, and run it again";
                output::print(&format!("{failed} not as it should be: {words}\n")).map(|()| Exit::CheckFailed)
            }
        }
    }
}

/// How often verdicts are wrong and right, over simulated runs of two strategies, nine operations and eight rounds.
fn simulated() -> Vec<Finding> {
    let simulation = |noise| Simulation { rounds: 8, operations: 9, noise, runs: SIMULATED };
    let (alarms, power) = (simulation(NOISE).false_alarms(), simulation(NOISE).power(1.25));
    let noisier =
        MORE_NOISE.map(|noise| format!("{:.0} % at {:.0} %", simulation(noise).power(1.25) * 100.0, noise * 100.0));
    vec![
        Finding {
            name: "false alarms, simulated",
            found: format!("{:.1} % of {SIMULATED} runs with identical strategies claim something", alarms * 100.0),
            wanted: "2 to 6 %".into(),
            passed: (0.02..=0.06).contains(&alarms),
        },
        Finding {
            name: "power, simulated",
            found: format!(
                "{:.1} % of {SIMULATED} runs find 25 % more time when cells have {:.0} % of noise; {}",
                power * 100.0,
                NOISE * 100.0,
                noisier.join(", ")
            ),
            wanted: "at least 95 %".into(),
            passed: power >= 0.95,
        },
    ]
}

/// The selftest's scenario with one of its mixes.
fn ready(mix: &str, strategies: &[&str], control: bool) -> Result<Ready, CliError> {
    let choice = Choice {
        mix: Some(mix.to_owned()),
        strategies: strategies.iter().map(|name| (*name).to_owned()).collect(),
        control,
        seed: 1,
        ..Choice::default()
    };
    prepare_source(Source::new("selftest.yaml", SCENARIO), &choice)
}
