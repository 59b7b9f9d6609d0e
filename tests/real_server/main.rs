//! Tests on a real `mongod`. They share one program, so that a long test does not keep a core waiting.

#[path = "../harness/mod.rs"]
mod harness;

mod all_scenarios;
mod analyze_shard_key;
mod capacity;
mod catalogue;
mod cli;
mod commands;
mod compare;
mod cost;
mod documents;
mod examples;
mod failover;
mod foreign_data;
mod members;
mod models;
mod mongosh;
mod observe;
mod planted;
mod planted_models;
mod resume;
mod rights;
mod server;
mod shard_key;
mod verify;
