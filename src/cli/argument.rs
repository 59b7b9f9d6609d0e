//! The words of the command line, and how each value is read.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::plan::Choice;
use crate::results::{Arrivals, LoadModel};
use crate::stats::Threshold;

use super::capacity::CapacityArguments;
use super::compare::{BaselineArguments, CompareArguments};
use super::preset::Preset;
use super::selftest::SelftestArguments;
pub use super::value::ConnectionString;
use super::value::{Rate, assignment, cache_size, count, duration, name, percent, port, rate, seed};
use super::verify::VerifyArguments;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "docshape",
    version,
    about = "Measures which document shape a MongoDB application should use",
    after_help = super::EXIT_CODES,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure the strategies of a scenario, write a run folder, print the verdict
    #[command(after_help = super::EXIT_CODES)]
    Run(Box<RunArguments>),
    /// Search the highest rate of calls at which each strategy keeps an objective
    #[command(after_help = super::EXIT_CODES)]
    Capacity(CapacityArguments),
    /// Check that the strategies of a scenario do the same: the same answers, states and invariants, alone and at once
    #[command(after_help = super::EXIT_CODES)]
    Verify(VerifyArguments),
    /// Validate scenario files: all problems at once, with line and column
    Check(CheckArguments),
    /// Show the shapes and the commands of each strategy, as mongosh code
    Show(ShowArguments),
    /// List the catalogue: the scenarios inside this program
    List,
    /// Compare two runs of a scenario, say before and after an upgrade: exit code 1 when the later one is slower
    #[command(after_help = super::EXIT_CODES)]
    Compare(CompareArguments),
    /// Render the results of a run again
    Report(ReportArguments),
    /// Print one Markdown page over several runs: their verdicts and claims
    Summary(SummaryArguments),
    /// Tell whether this machine and this server can be trusted with a measurement
    #[command(after_help = super::EXIT_CODES)]
    Selftest(SelftestArguments),
    /// The embedded server by itself
    #[command(subcommand, arg_required_else_help = true, disable_help_subcommand = true)]
    Server(ServerCommand),
    /// Become a mongod that ends with its parent; docshape calls this itself
    #[command(hide = true)]
    ExecMongod(ExecMongodArguments),
}

/// What a resumed run takes from its record.
const RUN_DEFINING: [&str; 21] = [
    "scenario",
    "strategies",
    "all_strategies",
    "mix",
    "set",
    "preset",
    "rounds",
    "slices",
    "isolate",
    "calls",
    "duration",
    "rate",
    "arrivals",
    "workers",
    "threads",
    "timeout",
    "noise",
    "error_budget",
    "threshold",
    "seed",
    "out",
];

/// `run`.
#[derive(Debug, Clone, Args)]
pub struct RunArguments {
    /// A scenario file, or the name of a catalogue scenario (see `docshape list`)
    #[arg(required_unless_present = "resume")]
    pub scenario: Option<String>,
    /// Go on with the run in this folder after its last finished round, as its run.json says; --baseline,
    /// --save-baseline and --junit are to be given again [default: a new run]
    #[arg(long, value_name = "DIR", conflicts_with_all = RUN_DEFINING)]
    pub resume: Option<PathBuf>,
    /// Where to run it.
    #[command(flatten)]
    pub server: ServerArguments,
    /// What of it.
    #[command(flatten)]
    pub subject: SubjectArguments,
    /// How long to measure
    #[arg(long, value_enum, value_name = "NAME", default_value = "quick")]
    pub preset: Preset,
    /// Rounds, each with fresh databases, 1 to 1000 [default: the preset's]
    #[arg(long, value_name = "N", value_parser = count::<1000>, allow_hyphen_values = true)]
    pub rounds: Option<u64>,
    /// Slices that each window is cut into, the strategies taking turns, 1 to 1000 [default: the preset's]
    #[arg(long, value_name = "N", value_parser = count::<1000>, allow_hyphen_values = true)]
    pub slices: Option<u64>,
    /// Run whole windows, one strategy after the other and each alone on the server, instead of slices in turn: for
    /// scenarios about the cache, and where a strategy disturbs those that come after it
    #[arg(long)]
    pub isolate: bool,
    /// Measured calls per strategy and round, 1 to 100000000 [default: as many as fill the preset's seconds]
    #[arg(long, value_name = "N", value_parser = count::<100_000_000>, allow_hyphen_values = true, conflicts_with = "duration")]
    pub calls: Option<u64>,
    /// Measure for this long per strategy and round instead of an equal number of calls, such as 500ms, 3s or 2m;
    /// without --rate strategies then end in different states [default: an equal number of calls]
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub duration: Option<Duration>,
    /// Let calls fall due at this rate, whether those before are answered or not: calls per second of each strategy,
    /// 0.001 to 1000000, or `auto` for half of what the slowest strategy can do
    /// [default: every worker sends its next call when its last one is answered]
    #[arg(long, value_name = "R", value_parser = rate, allow_hyphen_values = true)]
    pub rate: Option<Rate>,
    /// How the times of the calls are drawn [default: poisson]
    #[arg(long, value_enum, value_name = "NAME", requires = "rate")]
    pub arrivals: Option<ArrivalsName>,
    /// Calls in flight at any moment, with --rate at most, 1 to 10000 [default: 8] [with --rate: 64]
    #[arg(long, value_name = "N", value_parser = count::<10_000>, allow_hyphen_values = true)]
    pub workers: Option<u64>,
    /// Threads that make the load, 1 to 256, at most as many as there are workers
    #[arg(long, value_name = "N", default_value = "1", value_parser = count::<256>, allow_hyphen_values = true)]
    pub threads: u64,
    /// A call that takes longer than this has failed
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration, allow_hyphen_values = true)]
    pub timeout: Duration,
    /// A difference smaller than this, in percent, is noise however sure it is, 0 to 50
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = percent::<50>, allow_hyphen_values = true)]
    pub noise: f64,
    /// With a greater share of failed calls in a strategy, in percent, the run is not valid, 0 to 100
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent::<100>, allow_hyphen_values = true)]
    pub error_budget: f64,
    /// End with exit code 1 unless a number of the run is below this: STRATEGY.OPERATION.METRIC<VALUE, such as
    /// 'embedded.read_post.p99<5ms'. METRIC is p50, p90, p99, p999, mean or max (of times, with us, ms or s), failed (calls,
    /// or a share with %) or round_trips (per call); may be repeated [default: nothing is checked]
    #[arg(long, value_name = "THRESHOLD", allow_hyphen_values = true)]
    pub threshold: Vec<Threshold>,
    /// Also write to this file, as JUnit XML, whether the run is valid and which thresholds it keeps [default: no file]
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// What to compare it with, and keep it as.
    #[command(flatten)]
    pub baseline: BaselineArguments,
    /// The seed of data and calls: equal seeds make equal data and calls
    #[arg(long, value_name = "N", default_value = "1", value_parser = seed, allow_hyphen_values = true)]
    pub seed: u64,
    /// The run folder, which must be new or empty [default: results/SCENARIO/TIME-ID]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Measure without checking first that the strategies give the same answers
    #[arg(long)]
    pub no_verify: bool,
    /// Keep the databases of the finished rounds; needs --uri, as the embedded server's data go with it
    #[arg(long)]
    pub keep: bool,
}

/// The laws of `--arrivals`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ArrivalsName {
    /// Independently of each other, as those of many users are
    #[default]
    Poisson,
    /// With equal gaps
    Uniform,
}

impl ArrivalsName {
    /// The law of this name.
    pub fn law(self) -> Arrivals {
        match self {
            ArrivalsName::Poisson => Arrivals::Poisson,
            ArrivalsName::Uniform => Arrivals::Uniform,
        }
    }
}

/// Calls in flight unless the user says otherwise, without a rate and with one.
const WORKERS: u64 = 8;
const WORKERS_AT_A_RATE: u64 = 64;

impl RunArguments {
    /// Calls in flight, or at most in flight with a rate.
    pub fn workers(&self) -> u64 {
        self.workers.unwrap_or(if self.rate.is_some() { WORKERS_AT_A_RATE } else { WORKERS })
    }

    /// When calls begin. A rate of `auto` is 0 until the pilot has told it.
    pub fn load(&self) -> LoadModel {
        let arrivals = self.arrivals.unwrap_or_default().law();
        match self.rate {
            None => LoadModel::Closed,
            Some(Rate::PerSecond(rate)) => LoadModel::Open { rate, arrivals },
            Some(Rate::Auto) => LoadModel::Open { rate: 0.0, arrivals },
        }
    }

    /// What the run chooses of its scenario.
    pub fn choice(&self) -> Choice {
        self.subject.choice(self.seed, true)
    }
}

/// What of a scenario is measured.
#[derive(Debug, Clone, Args)]
pub struct SubjectArguments {
    /// Compare these strategies, separated by commas, the first being the reference
    /// [default: those that the scenario marks, else all but its negative controls]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = name, conflicts_with = "all_strategies")]
    pub strategies: Vec<String>,
    /// Compare all strategies but the scenario's negative controls
    #[arg(long)]
    pub all_strategies: bool,
    /// The mix of operations [default: the one named `default`, else the scenario's first]
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub mix: Option<String>,
    /// Set a parameter of the scenario; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
}

impl SubjectArguments {
    /// What is chosen of the scenario; `control` asks for the reference a second time.
    pub fn choice(&self, seed: u64, control: bool) -> Choice {
        Choice {
            set: self.set.clone(),
            mix: self.mix.clone(),
            strategies: self.strategies.clone(),
            all: self.all_strategies,
            control,
            seed,
        }
    }
}

/// Which server to use: the user's, or an embedded one.
#[derive(Debug, Clone, Args)]
pub struct ServerArguments {
    /// A replica set or sharded cluster, MongoDB 5.0 or newer [env: MONGODB_URI] [default: an embedded server]
    #[arg(long, value_name = "URI", conflicts_with_all = ["mongod", "cache_gb"])]
    pub uri: Option<ConnectionString>,
    /// The embedded server.
    #[command(flatten)]
    pub embedded: EmbeddedArguments,
}

/// How to start the embedded server.
#[derive(Debug, Clone, Args)]
pub struct EmbeddedArguments {
    /// The program of the embedded server [env: DOCSHAPE_MONGOD] [default: the one that scripts/install-mongod.sh
    /// put in place, else `mongod` on PATH]
    #[arg(long, value_name = "PATH")]
    pub mongod: Option<PathBuf>,
    /// Cache of the embedded server in GB, 0.25 to 10000 [default: 1]
    #[arg(long, value_name = "GB", value_parser = cache_size, allow_hyphen_values = true)]
    pub cache_gb: Option<f64>,
}

impl EmbeddedArguments {
    /// The cache in GB.
    pub fn cache_gb(&self) -> f64 {
        self.cache_gb.unwrap_or(1.0)
    }
}

/// `check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Scenario files, or names of catalogue scenarios
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
}

/// `show`.
#[derive(Debug, Args)]
pub struct ShowArguments {
    /// A scenario file, or the name of a catalogue scenario (see `docshape list`)
    pub scenario: String,
    /// Show these strategies, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = name)]
    pub strategies: Vec<String>,
    /// Set a parameter of the scenario; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// The number of the drawn call whose arguments are shown
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub call: u64,
}

/// `report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// A run folder, or its run.json
    pub run: PathBuf,
    /// How to render it
    #[arg(long, value_enum, value_name = "NAME", default_value = "terminal")]
    pub format: ReportFormat,
    /// Write report.html, report.md with its pictures and metrics.csv into this folder [default: print one form]
    #[arg(long, value_name = "DIR", conflicts_with = "format")]
    pub out: Option<PathBuf>,
}

/// `summary`.
#[derive(Debug, Clone, Args)]
pub struct SummaryArguments {
    /// The folder whose subfolders are runs
    pub folder: PathBuf,
}

/// The forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For reading here
    Terminal,
    /// Markdown
    Markdown,
    /// One HTML file that needs nothing else
    Html,
    /// The conclusions as data; docs/report.schema.json describes them
    Json,
    /// What was measured, round by round, a number per row; docs/results.md describes the columns
    Csv,
}

/// `server`.
#[derive(Debug, Subcommand)]
pub enum ServerCommand {
    /// Start a one-node replica set, print its URI, keep it until Ctrl-C or SIGTERM, remove its data
    Start(StartArguments),
}

/// `server start`.
#[derive(Debug, Args)]
pub struct StartArguments {
    /// The port on 127.0.0.1, 1 to 65535; another one is taken if it is in use [default: any free port]
    #[arg(long, value_name = "PORT", value_parser = port, allow_hyphen_values = true)]
    pub port: Option<u16>,
    /// The server.
    #[command(flatten)]
    pub embedded: EmbeddedArguments,
}

/// `exec-mongod`.
#[derive(Debug, Args)]
pub struct ExecMongodArguments {
    /// The process with which the server ends
    #[arg(long)]
    pub parent: u32,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    pub program: Vec<OsString>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definitions_are_sound() {
        Arguments::command().debug_assert();
    }
}
