//! Runs cells: fills fresh databases, makes the calls, reads the sizes.

mod arrivals;
mod cell;
mod error;
mod event;
mod experiment;
mod generators;
mod inspect;
mod interpret;
mod load;
mod pacer;
mod part;
mod queue;
mod schedule;
mod state;
mod stop;
mod thread;
mod trial;
mod window;

pub use arrivals::ArrivalTimes;
pub use error::RunError;
pub use event::{Event, Interval, Observer, Phase};
pub use experiment::{Experiment, Settings};
pub use generators::{Generators, share};
pub use inspect::{flush, sizes};
pub use interpret::{Halt, Interpreter, Retry, Tally};
pub use load::{Documents, LoadError, Loader};
pub use pacer::{Paced, Pacer, Pacing};
pub use queue::{Due, DueQueue};
pub use schedule::Window;
pub use state::read as read_state;
pub use stop::Stop;
pub use thread::{Job, LoadThread, SliceResult, ThreadError};
pub use trial::Trial;
pub use window::{Fatal, Slice, SliceInterval};
