//! Tests on a real `mongod`. They share one program, so that a long test does not keep a core waiting.

#[path = "../harness/mod.rs"]
mod harness;

mod capacity;
mod catalogue;
mod cli;
mod compare;
mod cost;
mod documents;
mod examples;
mod failover;
mod foreign_data;
mod mongosh;
mod planted;
mod resume;
mod rights;
mod run;
mod server;
mod verify;
