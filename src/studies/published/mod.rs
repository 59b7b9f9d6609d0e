//! Published results: summaries, the matrix, and rules that name the runs behind them.

pub mod matrix;
pub mod publish;
pub mod rules;
pub mod runs;
pub mod sessions;
pub mod site;
pub mod summary;
pub mod summary_file;
