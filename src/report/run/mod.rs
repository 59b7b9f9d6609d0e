//! The report of a run: from its record to a headline and sections.

pub(crate) mod charts;
pub(crate) mod claims;
pub(crate) mod conditions;
pub(crate) mod cost;
pub(crate) mod decision;
pub(crate) mod details;
pub(crate) mod evaluation;
pub(crate) mod facts;
pub(crate) mod histogram;
pub(crate) mod parts;
pub(crate) mod sections;
pub(crate) mod validity;
pub(crate) mod verdict_text;

pub use evaluation::{Evaluation, Measured, OperationResults, StrategyResults};
pub use parts::PartEvaluations;
