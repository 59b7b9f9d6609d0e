//! docshape measures which document shape a MongoDB application should use.
//!
//! The folders are the pipeline:
//!
//! ```text
//! YAML ── scenario ──► derive ──► compile ──► plan ──► engine ──► results ──► stats ──► report
//!                                              ▲       ▲    ▲        ▲
//!                                          generate  server record ──┘          cli drives them all
//! ```

pub mod campaign;
pub mod cli;
pub mod command_line;
pub mod compile;
pub mod derive;
pub mod described;
pub mod engine;
pub mod error;
pub mod generate;
pub mod infer;
pub mod observe;
pub mod plan;
pub mod record;
pub mod report;
pub mod results;
pub mod scenario;
pub mod server;
pub mod stats;
pub mod studies;
pub mod verify;
