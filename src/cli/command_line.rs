//! The command line and its subcommands.

use clap::{Parser, Subcommand};

use super::argument::{
    CheckArguments, ExecMongodArguments, ReportArguments, ServerCommand, ShowArguments, SummaryArguments,
};
use super::capacity::CapacityArguments;
use super::clean::CleanArguments;
use super::compare::CompareArguments;
use super::grow::GrowArguments;
use super::list::ListArguments;
use super::publish::PublishArguments;
use super::rights::RightsArguments;
use super::run::RunArguments;
use super::selftest::SelftestArguments;
use super::sweep::SweepArguments;
use super::verify::VerifyArguments;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "docshape",
    version,
    about = "Compares document shapes for a MongoDB application by measuring them",
    after_help = super::EXIT_CODES,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub struct Arguments {
    /// The subcommand.
    #[command(subcommand)]
    pub command: CliCommand,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Measure the strategies of a scenario, write a run folder, print the verdict
    #[command(after_help = super::EXIT_CODES)]
    Run(Box<RunArguments>),
    /// Measure a scenario under several conditions, and find where the order of its strategies flips
    #[command(after_help = super::EXIT_CODES)]
    Sweep(Box<SweepArguments>),
    /// Let documents grow until a strategy refuses, and measure every operation at stages
    #[command(after_help = super::EXIT_CODES)]
    Grow(Box<GrowArguments>),
    /// Find the highest call rate at which each strategy meets a latency objective
    #[command(after_help = super::EXIT_CODES)]
    Capacity(CapacityArguments),
    /// Check that all strategies return the same results and end in the same state
    #[command(after_help = super::EXIT_CODES)]
    Verify(VerifyArguments),
    /// Check scenario files and print all problems with line and column
    Check(CheckArguments),
    /// Print the documents, indexes and commands of each strategy as mongosh statements
    Show(ShowArguments),
    /// List the built-in scenarios
    List(ListArguments),
    /// Compare two runs of a scenario; exit with 1 if the later run is slower
    #[command(after_help = super::EXIT_CODES)]
    Compare(CompareArguments),
    /// Render the report of a run again
    Report(ReportArguments),
    /// Print one page over published results: which strategy is best in which mix of which scenario
    Summary(SummaryArguments),
    /// Write a complete run as a folder of the published results
    #[command(after_help = super::EXIT_CODES)]
    Publish(PublishArguments),
    /// Check that this machine and the server are fit for measurements
    #[command(after_help = super::EXIT_CODES)]
    Selftest(SelftestArguments),
    /// Print the smallest role that suffices on a server with access control, as mongosh statements
    Rights(RightsArguments),
    /// Remove the databases that ended runs have left on a server
    #[command(after_help = super::EXIT_CODES)]
    Clean(CleanArguments),
    /// Start the embedded server without running a benchmark
    #[command(subcommand, arg_required_else_help = true, disable_help_subcommand = true)]
    Server(ServerCommand),
    /// Print completions for a shell
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the man page
    #[command(hide = true)]
    Man,
    /// Become a mongod that ends with its parent (internal)
    #[command(hide = true)]
    ExecMongod(ExecMongodArguments),
}
