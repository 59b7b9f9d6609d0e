//! From words to a model, where there is no database to read: the answers to four questions.
//!
//! They fill the layout of `infer`, whose writer makes the file, so that a model looks alike wherever it comes from.

mod answers;
mod clause;
mod examples;
pub mod model;
mod steps;
mod values;

pub use answers::{belongings, fields, records};
pub use examples::{RECORDS, example_belongings, example_fields, example_steps};
pub use steps::operations;
