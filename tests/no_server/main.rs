//! Tests without a server: texts, the repository, and runs on scripted servers and a paused clock.

#[path = "../harness/mod.rs"]
mod harness;

mod closed_loop;
mod cluster;
mod corpus;
mod diagnostics;
mod hostile;
mod init;
mod install_script;
mod layering;
mod one_voice;
mod open_loop;
mod phases;
mod published_numbers;
mod reader;
mod steps;
mod turns;
mod watch;
