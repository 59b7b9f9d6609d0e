//! The command line: its subcommands, and what each does. The only place that knows all studies.

mod generated;
mod report;

use clap::{Arg, Parser, Subcommand};

use crate::cli::argument::{
    CheckArguments, ExecMongodArguments, ReportArguments, ServerCommand, ShowArguments, SummaryArguments,
};
use crate::cli::clean::CleanArguments;
use crate::cli::compare::CompareArguments;
use crate::cli::explain::ExplainArguments;
use crate::cli::init::InitArguments;
use crate::cli::list::ListArguments;
use crate::cli::rights::RightsArguments;
use crate::cli::run::RunArguments;
use crate::cli::selftest::SelftestArguments;
use crate::cli::verify::VerifyArguments;
use crate::cli::{self, CliError, Exit};
use crate::report::rule_source::RuleSource;
use crate::studies;
use crate::studies::capacity::command::argument::CapacityArguments;
use crate::studies::explore::command::argument::ExploreArguments;
use crate::studies::growth::command::argument::GrowArguments;
use crate::studies::published::publish::PublishArguments;
use crate::studies::published::site::SiteArguments;
use crate::studies::shard_key::command::argument::ShardKeyArguments;
use crate::studies::sweep::command::argument::SweepArguments;

/// What `-h` says last.
const EXAMPLES: &str = "\
Examples: docshape run blog-comments             measure a built-in scenario
          docshape init shop                     write a model of your own
          docshape run shop.yaml --preset smoke  try it in 20 seconds";

/// Options that `-h` leaves to `--help`.
pub const RARE: &str = "all_strategies share write_concern yes db_prefix mongod cache_gb members no_verify like rounds slices isolate \
    shared_mongod same_data calls duration arrivals rtt threads timeout noise error_budget seed ab claims \
    junit tolerance keep refine never budget write fault only threshold save_run";

/// An option that `-h` shows if it is usual.
fn shortened(option: Arg) -> Arg {
    let is_rare = RARE.split_whitespace().any(|name| option.get_id() == name);
    option.hide_short_help(is_rare)
}

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "docshape",
    version,
    about = "Compares document shapes for a MongoDB application by measuring them",
    help_template = "{about}\n{usage-heading} {usage}\n\n{all-args}{after-help}",
    after_help = EXAMPLES,
    after_long_help = crate::cli::EXIT_CODES,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    max_term_width = 100,
    mut_subcommands(|command| command.mut_args(shortened))
)]
pub struct Arguments {
    /// The subcommand.
    #[command(subcommand)]
    pub command: CliCommand,
    /// Accept that strategies are left out for which the server is too old
    #[arg(long, global = true, hide_short_help = true)]
    pub allow_skipped: bool,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Measure the strategies of a scenario and print the verdict
    ///
    /// Writes a run folder with the record and its reports.
    #[command(after_long_help = crate::cli::EXIT_CODES)]
    Run(Box<RunArguments>),
    /// Find the conditions under which the order of strategies flips
    ///
    /// Measures the scenario under each of several conditions.
    #[command(after_long_help = crate::cli::EXIT_CODES)]
    Sweep(Box<SweepArguments>),
    /// Try all shapes of a model, and rank those that give its answers
    ///
    /// The first ones are compared by a run in the end.
    #[command(after_long_help = crate::cli::EXIT_CODES)]
    Explore(Box<ExploreArguments>),
    /// Write a model from four answers, or a sample of your database
    ///
    /// `docshape init shop` asks what your application has and does; Enter takes an example. With `--from` a sample of a database is
    /// read, and no value of a document is written. Then: docshape verify shop.yaml, docshape explore shop.yaml.
    #[command(after_long_help = crate::cli::EXIT_CODES)]
    Init(InitArguments),
    /// Let documents grow until a strategy refuses, and measure stages
    #[command(after_long_help = crate::cli::EXIT_CODES)]
    Grow(Box<GrowArguments>),
    /// Find the highest call rate that meets a latency objective
    #[command(after_long_help = crate::cli::EXIT_CODES)]
    Capacity(CapacityArguments),
    /// Judge the shard keys of each strategy, without a cluster
    ///
    /// Says which reads and writes concern one shard, several or all, and whether inserts go to one place. Any replica set will do.
    #[command(name = "shardkey", after_long_help = crate::cli::EXIT_CODES)]
    ShardKey(Box<ShardKeyArguments>),
    /// Check that all strategies return the same results
    ///
    /// They also have to end in the same state, and keep it under concurrent calls.
    #[command(after_long_help = crate::cli::EXIT_CODES)]
    Verify(VerifyArguments),
    /// Check scenario files and print all problems
    Check(CheckArguments),
    /// Print documents, indexes and commands as mongosh statements
    Show(ShowArguments),
    /// List the built-in scenarios
    List(ListArguments),
    /// Compare two runs; exit with 1 if the later run is slower
    #[command(after_long_help = crate::cli::EXIT_CODES)]
    Compare(CompareArguments),
    /// Render the report of a run again
    Report(ReportArguments),
    /// Explain a difference by commands, query plans and counters
    ///
    /// Those of one operation with two strategies.
    Explain(ExplainArguments),
    /// Print one page over published results
    ///
    /// It says which strategy is best in which mix of which scenario. `site` has the same for readers.
    #[command(hide = true)]
    Summary(SummaryArguments),
    /// Write published results as pages with numbers to cite
    ///
    /// A page per scenario, per result, and over all, which open from a disk.
    Site(SiteArguments),
    /// Write a complete run as a folder of the published results
    #[command(after_long_help = crate::cli::EXIT_CODES)]
    Publish(PublishArguments),
    /// Check that this machine and the server can measure
    #[command(after_long_help = crate::cli::EXIT_CODES)]
    Selftest(SelftestArguments),
    /// Print the smallest role that suffices, as mongosh statements
    ///
    /// For a server with access control.
    Rights(RightsArguments),
    /// Remove the databases that ended runs have left on a server
    #[command(after_long_help = crate::cli::EXIT_CODES)]
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

/// The studies that have rules of thumb.
const RULES: [RuleSource; 2] = [studies::sweep::rules::RULES, studies::growth::rules::RULES];

/// Runs the command. Must be called on the main thread, with which the embedded server ends.
///
/// # Errors
/// The error to print, with its exit code.
pub fn execute(arguments: Arguments) -> Result<Exit, CliError> {
    let exit = execute_command(arguments.command)?;
    Ok(cli::left_out::conclude(exit, arguments.allow_skipped))
}

fn execute_command(command: CliCommand) -> Result<Exit, CliError> {
    match command {
        CliCommand::Run(arguments) => cli::run::run(*arguments),
        CliCommand::Sweep(arguments) => studies::sweep::command::sweep(&arguments),
        CliCommand::Explore(arguments) => studies::explore::command::explore(&arguments),
        CliCommand::Init(arguments) => cli::init::init(&arguments),
        CliCommand::Grow(arguments) => studies::growth::command::grow(&arguments),
        CliCommand::Capacity(arguments) => studies::capacity::command::capacity(&arguments),
        CliCommand::ShardKey(arguments) => studies::shard_key::command::shard_key(&arguments),
        CliCommand::Selftest(arguments) => cli::selftest::selftest(&arguments),
        CliCommand::Verify(arguments) => cli::verify::verify(&arguments),
        CliCommand::Check(arguments) => cli::check::check(&arguments),
        CliCommand::Show(arguments) => cli::show::show(&arguments),
        CliCommand::List(arguments) => cli::list::list(&arguments),
        CliCommand::Compare(arguments) => cli::compare::compare(&arguments),
        CliCommand::Report(arguments) => report::report(&arguments),
        CliCommand::Explain(arguments) => cli::explain::explain(&arguments),
        CliCommand::Summary(arguments) => studies::published::summary::summary(&arguments, &RULES),
        CliCommand::Site(arguments) => studies::published::site::site(&arguments, &RULES, report::of_study),
        CliCommand::Publish(arguments) => studies::published::publish::publish(&arguments),
        CliCommand::Clean(arguments) => cli::clean::clean(&arguments),
        CliCommand::Rights(arguments) => cli::rights::rights(&arguments),
        CliCommand::Server(ServerCommand::Start(arguments)) => cli::server::start(&arguments),
        CliCommand::Server(ServerCommand::Install(arguments)) => cli::install::install(&arguments),
        CliCommand::Completions { shell } => generated::completions(shell),
        CliCommand::Man => generated::man(),
        CliCommand::ExecMongod(arguments) => cli::become_mongod(&arguments),
    }
}
