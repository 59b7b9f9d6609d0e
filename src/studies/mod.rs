//! Studies: what answers a question that a single run does not.
//!
//! A study is a folder with its record, statistics, report and command. It uses the core; the core knows no study, and no study
//! knows another.

pub mod capacity;
pub mod explore;
pub mod growth;
pub mod published;
pub mod shard_key;
pub mod sweep;
