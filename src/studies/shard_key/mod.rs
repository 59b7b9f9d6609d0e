//! `docshape shardkey`: which shards the commands of each strategy would concern, by each shard key, judged without a cluster.

mod bounds;
mod claims;
pub mod command;
pub mod key_order;
mod order;
mod placement;
pub mod planner;
pub mod query;
pub mod record;
pub mod report;
