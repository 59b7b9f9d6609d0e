//! Runs strategies on a server: loads fresh databases, makes the calls, and reads what they cost and leave behind.

mod load;
mod run;
mod step;

pub use load::arrivals::ArrivalTimes;
pub use load::load_threads::{Job, LoadThread, LoadThreads, ThreadError, split_clients};
pub use load::pacer::{PacedSlice, Pacer, Pacing};
pub use load::queue::{Due, DueQueue};
pub use load::slice::{FatalError, Interval, Load, Slice, SliceEnd, SliceResult, is_alive};
pub use load::stop::StopFlag;
pub use run::audit::{CallCounts, audit_rows, audits, example_row, fatal, row_count, unaudited};
pub use run::documents::Documents;
pub use run::error::RunError;
pub use run::event::{Event, Observer, RunPhase};
pub use run::experiment::Experiment;
pub use run::life::{Life, Lives};
pub use run::loader::{LoadError, Loader, create_command, indexes};
pub use run::pilot::Pilot;
pub use run::provision::arm_database;
pub use run::query_plans::QueryPlans;
pub use run::round_plan::{MeasuredRound, OwnCalls, PartCalls, RoundPlan};
pub use run::schedule::{CALLS_PER_CLIENT, shuffled};
pub use run::servers::{Servers, StrategyServer};
pub use run::state::{FinalState, read_state};
pub use run::trial::{BatchRecord, RateRecord, Trial};
pub use step::error::{Limit, StepError};
pub(crate) use step::explain::ExplainTarget;
pub use step::interpreter::Interpreter;
pub(crate) use step::missing_index::MissingIndex;
pub use step::support::{Refusals, refusals};
pub use step::trace::{CallTrace, RetryCause};
