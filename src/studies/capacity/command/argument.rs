//! The arguments of `docshape capacity`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::run::StudyArguments;
use crate::cli::value::{duration, duration_or_none, seed};
use crate::compile::DEFAULT_SEED;
use crate::results::{Arrivals, LoadModel, Preset, RunSettings};
use crate::scenario::quantity::whole;
use crate::studies::capacity::objective::Objective;

/// `capacity`.
#[derive(Debug, Clone, Args)]
pub struct CapacityArguments {
    /// What to measure, and where.
    #[command(flatten)]
    pub study: StudyArguments,
    /// Limit on calls, such as 'p99<20ms' or 'add.p999<50ms' [default: with --resume, that of the search]
    ///
    /// It is for all calls or for one operation, and limits a quantile or the mean.
    #[arg(long, value_name = "OBJECTIVE", required_unless_present = "resume")]
    pub objective: Option<Objective>,
    /// Resume the search in DIR after its last trial [default: a new search]
    #[arg(long, value_name = "DIR", conflicts_with_all = ["scenario", "objective", "SubjectArguments", "rounds", "confirm", "arrivals",
                                                          "clients", "threads", "timeout", "seed", "out"])]
    pub resume: Option<PathBuf>,
    /// Rounds with a search per strategy, 1 to 100; a confidence interval needs at least 3
    #[arg(long, value_name = "N", default_value = "5", value_parser = whole::<1, 100>, allow_hyphen_values = true)]
    pub rounds: u64,
    /// How long to confirm the rate found for each strategy, or 0 to skip the confirmation
    ///
    /// Each strategy runs at its rate for this time. The server writes a checkpoint every 60 s: a shorter run may miss it.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration_or_none, allow_hyphen_values = true)]
    pub confirm: Duration,
    /// Distribution of the intended start times [default: poisson]
    #[arg(long, value_enum, value_name = "NAME")]
    pub arrivals: Option<Arrivals>,
    /// Concurrent clients, the maximum number of calls in flight, 1 to 10000
    #[arg(long, alias = "workers", value_name = "N", default_value = "64", value_parser = whole::<1, 10_000>, allow_hyphen_values = true)]
    pub clients: u64,
    /// Load threads, 1 to 256, at most one per client
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole::<1, 256>, allow_hyphen_values = true)]
    pub threads: u64,
    /// Timeout per call
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration, allow_hyphen_values = true)]
    pub timeout: Duration,
    /// Seed of the generated data and of the sequence of calls
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED, value_parser = seed, allow_hyphen_values = true)]
    pub seed: u64,
    /// Run folder, which must be new or empty [default: results/SCENARIO/TIME-ID]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

impl CapacityArguments {
    /// Makes the settings of the runs that the searches consist of.
    pub fn settings(&self) -> RunSettings {
        RunSettings {
            seed: self.seed,
            load: LoadModel::Open { rate: 0.0, arrivals: self.arrivals.unwrap_or_default() },
            clients: self.clients as usize,
            clients_at_rate: self.clients as usize,
            threads: self.threads as usize,
            rounds: self.rounds,
            isolated: Some("every rate is tried with one strategy".to_owned()),
            timeout: self.timeout.as_secs_f64(),
            set: self.study.subject.set.clone(),
            shares: self.study.subject.share.clone(),
            cache_gb: Some(self.study.server.embedded.cache_gb()),
            ..RunSettings::of(Preset::Quick)
        }
    }
}
