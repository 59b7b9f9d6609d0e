//! The arguments of `docshape selftest`.

use clap::Args;

use crate::cli::argument::ServerArguments;
use crate::scenario::quantity::whole;

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
