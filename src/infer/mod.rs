//! From a sample of a database to a model: what its documents look like, which fields refer to other records, where the
//! records of each relation lie, and a scenario that says so.
//!
//! Nothing here talks to a server. What has to be asked comes through a [`Probe`](sample::Probe). Values of documents are
//! compared and counted, and never written: the model has lengths, shares, ranges and made-up tokens. Only [`values`] copies some,
//! where the user asks for it.

mod buckets;
pub mod compare;
mod copies;
pub mod entities;
mod fields;
pub mod generator;
pub mod inferred;
pub mod layout;
mod maps;
pub mod names;
mod numbers;
pub mod operations;
pub mod references;
mod relations;
pub mod sample;
mod scalar;
pub mod skew;
mod tree;
pub mod values;
pub mod write;

pub use numbers::two_digits;
