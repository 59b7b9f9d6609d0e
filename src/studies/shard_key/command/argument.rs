//! The arguments of `docshape shardkey`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::argument::{ServerArguments, SubjectArguments};
use crate::cli::value::seed;
use crate::compile::{DEFAULT_SEED, parse_shard_key};
use crate::plan::ShardKey;
use crate::scenario::quantity::whole;

/// `shardkey`.
#[derive(Debug, Clone, Args)]
pub struct ShardKeyArguments {
    /// Scenario file, or name of a built-in one (see `docshape list`)
    pub scenario: String,
    /// Judge only this key of a collection, such as 'comments={post: 1}'; may be repeated [default: all]
    #[arg(long, value_name = "COLLECTION={KEY}", value_parser = given_key)]
    pub key: Vec<(String, ShardKey)>,
    /// Calls of the mix whose commands are looked at, one after the other
    #[arg(long, value_name = "N", default_value = "1000", value_parser = whole::<1, 1_000_000>, allow_hyphen_values = true)]
    pub calls: u64,
    /// Shards for which messages are counted, 2 to 100
    #[arg(long, value_name = "N", default_value = "4", value_parser = whole::<2, 100>, allow_hyphen_values = true)]
    pub shards: u64,
    /// The part of the scenario.
    #[command(flatten)]
    pub subject: SubjectArguments,
    /// Where the calls are made.
    #[command(flatten)]
    pub server: ServerArguments,
    /// Seed of the generated data and of the sequence of calls
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED, value_parser = seed, allow_hyphen_values = true)]
    pub seed: u64,
    /// Folder, which must be new or empty [default: results/SCENARIO/shardkey/TIME-ID]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

fn given_key(text: &str) -> Result<(String, ShardKey), String> {
    let (collection, key) = text.split_once('=').ok_or("expected COLLECTION={KEY}, such as 'comments={post: 1}'")?;
    Ok((collection.trim().to_owned(), parse_shard_key(key)?))
}
