//! Runs cells: fills fresh databases, makes the calls, reads the sizes.

mod cell;
mod error;
mod event;
mod experiment;
mod generators;
mod inspect;
mod interpret;
mod load;
mod machine;
mod schedule;
mod state;
mod thread;
mod window;

pub use error::RunError;
pub use event::{Event, Interval, Observer, Phase};
pub use experiment::{Experiment, Pilot, Settings};
pub use generators::{Generators, share};
pub use inspect::{flush, sizes};
pub use interpret::{Halt, Interpreter, Retry, Tally};
pub use load::{Documents, LoadError, Loader, indexes};
pub use schedule::Window;
pub use state::read as read_state;
pub use thread::{Job, LoadThread, SliceResult, ThreadError};
pub use window::{Fatal, Slice, SliceInterval, Stop};
