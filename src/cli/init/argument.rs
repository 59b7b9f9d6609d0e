//! The arguments of `docshape init`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::value::{ConnectionString, duration, name};

/// `init`.
#[derive(Debug, Clone, Args)]
pub struct InitArguments {
    /// Name of the scenario: lower-case letters, digits and `-`. The file is NAME.yaml
    #[arg(value_name = "NAME", required_unless_present = "rights")]
    pub name: Option<String>,
    /// A URI with its database, a folder of mongodump, or files of mongoexport [default: four questions]
    ///
    /// mongodb://HOST/DATABASE is only read, a sample of each collection. Files, divided by commas, are BSON or Extended JSON.
    #[arg(long, value_name = "SOURCE")]
    pub from: Option<ConnectionString>,
    /// Write a copy of this scenario, as `docshape list` names it [default: none]
    #[arg(long = "like", value_name = "SCENARIO", conflicts_with = "from")]
    pub copied: Option<String>,
    /// Read only these collections; `*` stands for any letters [default: all, up to 200]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = name, requires = "from")]
    pub collections: Vec<String>,
    /// Observe the operations in JSON logs of mongod, also .gz [default: guess them]
    ///
    /// Several files are divided by commas. `db.setProfilingLevel(0, { slowms: 0 })` on one member for some minutes logs every statement.
    #[arg(long, value_name = "FILES", value_delimiter = ',', requires = "from", conflicts_with_all = ["watch", "profile", "hide_names"])]
    pub log: Vec<PathBuf>,
    /// Observe the operations for so long, by counters and the oplog [default: guess them]
    ///
    /// Nothing is switched on.
    #[arg(long, value_name = "DURATION", value_parser = duration, requires = "from", conflicts_with_all = ["profile", "hide_names"])]
    pub watch: Option<Duration>,
    /// Observe the operations in system.profile, if the profiler was on
    #[arg(long, requires = "from", conflicts_with = "hide_names")]
    pub profile: bool,
    /// Write numbers in place of the names of collections and fields
    #[arg(long, requires = "from")]
    pub hide_names: bool,
    /// Copy the real values of fields of the sample into this folder, for the scenario [default: copy none]
    ///
    /// Keys and references stay generated. Confirm with --yes where there is no terminal. The folder gets a `.gitignore`.
    #[arg(long, value_name = "DIR", conflicts_with = "hide_names")]
    pub keep_data: Option<PathBuf>,
    /// Copy real values without asking
    #[arg(long, requires = "keep_data")]
    pub yes: bool,
    /// Replace NAME.yaml and the files of --keep-data if they exist
    #[arg(long)]
    pub force: bool,
    /// Print what was inferred as JSON instead of the summary
    #[arg(long, requires = "from")]
    pub json: bool,
    /// Print the smallest role that suffices, as mongosh statements, and read nothing
    #[arg(long)]
    pub rights: bool,
}
