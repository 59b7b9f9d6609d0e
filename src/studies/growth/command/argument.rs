//! The arguments of `docshape grow`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::argument::SubjectArguments;
use crate::cli::run::StudyArguments;
use crate::cli::value::{duration, name, seed};
use crate::compile::DEFAULT_SEED;
use crate::record::LifeEnd;
use crate::results::{Part, Preset, RunSettings};
use crate::scenario::quantity::whole;

/// `grow`.
#[derive(Debug, Clone, Args)]
pub struct GrowArguments {
    /// What to measure, and where.
    #[command(flatten)]
    pub study: StudyArguments,
    /// Resume the growth in DIR after its last complete stage [default: a new one]
    ///
    /// Documents grow again up to there, which is not recorded.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["scenario", "SubjectArguments", "operation", "sample", "until", "per_day",
                                                          "clients", "timeout", "seed", "out"])]
    pub resume: Option<PathBuf>,
    /// Operation of the mix that lets documents grow [default: that of the scenario's `growth`]
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub operation: Option<String>,
    /// Operations to measure besides it, separated by commas [default: all of the mix]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = name)]
    pub sample: Vec<String>,
    /// When to end: refused, a size or a number of calls [default: the scenario's, else refused]
    ///
    /// When a strategy refuses a call, at a size such as 500KB or 4MB, or after N calls.
    #[arg(long, value_name = "refused|SIZE|N", allow_hyphen_values = true)]
    pub until: Option<LifeEnd>,
    /// End after the first stage that is complete after this time
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration, allow_hyphen_values = true)]
    pub time_limit: Duration,
    /// Calls of the operation a day in your application [default: unknown]
    ///
    /// The report then says after how long a time doubles and a document is full.
    #[arg(long, value_name = "N", value_parser = whole::<1, 100_000_000>, allow_hyphen_values = true)]
    pub per_day: Option<u64>,
    /// Clients that make the calls between stages, which are not measured, 1 to 1000
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole::<1, 1000>, allow_hyphen_values = true)]
    pub clients: u64,
    /// Timeout per call
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration, allow_hyphen_values = true)]
    pub timeout: Duration,
    /// Seed of the generated data and of the sequence of calls
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED, value_parser = seed, allow_hyphen_values = true)]
    pub seed: u64,
    /// Run folder, which must be new or empty [default: results/SCENARIO/growth/TIME-ID]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

impl GrowArguments {
    /// The settings of what is measured.
    pub fn settings(&self, subject: &SubjectArguments) -> RunSettings {
        RunSettings {
            seed: self.seed,
            parts: vec![Part::Own],
            clients: self.clients as usize,
            threads: 1,
            rounds: 1,
            timeout: self.timeout.as_secs_f64(),
            set: subject.set.clone(),
            shares: subject.share.clone(),
            cache_gb: Some(self.study.server.embedded.cache_gb()),
            ..RunSettings::of(Preset::Quick)
        }
    }
}
