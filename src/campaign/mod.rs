//! What every study has in common: steps that are measured one after another and saved, until all are done or something ends
//! it early.
//!
//! Which step comes next follows from what is finished. So it makes no difference whether this process or an earlier one has
//! finished it: a study that is resumed just goes on.

mod early_end;
mod latency_log;
mod point;
mod round_lengths;
mod rounds;

use std::time::Duration;

use tokio::time::Instant;

use crate::engine::FatalError;
use crate::results::{ResultsError, RunRecord};
use crate::server::turns::EndedServer;

pub use early_end::{EarlyEnd, status};
pub use latency_log::LogWriter;
pub use point::Point;
pub use rounds::{Interleaving, RoundStep, Rounds};

/// A study: steps, and what is finished of them.
#[allow(async_fn_in_trait, reason = "docshape alone implements it, on the main thread")]
pub trait Study {
    /// What is done between two saves.
    type Step;

    /// Returns the next step, which follows from what is finished; `None` when all are.
    fn next(&self) -> Option<Self::Step>;

    /// Does a step. Returns what to say of it once it is saved, if anything.
    ///
    /// # Errors
    /// What ends the study early. The step is then not finished.
    async fn take(&mut self, step: Self::Step) -> Result<Option<String>, EarlyEnd>;

    /// Saves what is finished.
    ///
    /// # Errors
    /// When it cannot be written.
    fn save(&mut self) -> Result<(), ResultsError>;

    /// Returns how much work is left, in a unit of the study's own; `None` when that is unknown.
    fn left(&self) -> Option<f64>;

    /// Returns the run that is measured; `None` when there is none.
    fn run(&self) -> Option<&RunRecord>;
}

/// Takes the steps of a study that are not finished, and saves it before the first and after each. `lost` is a server that ends
/// by itself: docshape is the parent of embedded servers, and need not wait until calls fail.
///
/// # Errors
/// What ended it early. All steps before are saved.
pub async fn carry_out<S: Study>(
    study: &mut S,
    lost: impl Future<Output = EndedServer>,
    say: &dyn Fn(&str),
) -> Result<(), EarlyEnd> {
    let ended = tokio::select! {
        result = take_all(study, say) => return result,
        ended = lost => ended,
    };
    let EndedServer { server, reason } = ended;
    let strategy = study.run().map_or("?", |run| run.strategy_name(server));
    Err(EarlyEnd::Engine(FatalError::ServerLost(format!("strategy {strategy}: {reason}")).into()))
}

async fn take_all<S: Study>(study: &mut S, say: &dyn Fn(&str)) -> Result<(), EarlyEnd> {
    study.save()?;
    let (started, all) = (Instant::now(), study.left());
    while let Some(step) = study.next() {
        let line = study.take(step).await?;
        study.save()?;
        if let Some(line) = line {
            let left = all.zip(study.left()).and_then(|(all, left)| time_left(started.elapsed(), all - left, left));
            say(&format!(
                "{line}{}",
                left.map_or_else(String::new, |left| format!(", about {} left", format_duration(left)))
            ));
        }
    }
    Ok(())
}

/// The time that the work left takes if it is like that which is done; `None` before any is done, and at the end.
fn time_left(elapsed: Duration, done: f64, left: f64) -> Option<Duration> {
    if done > 0.0 && left > 0.0 { Duration::try_from_secs_f64(elapsed.as_secs_f64() * left / done).ok() } else { None }
}

/// Formats a time like `45 s`, `3 min`, `1 h 20 min`.
pub fn format_duration(time: Duration) -> String {
    let seconds = time.as_secs_f64().ceil() as u64;
    match seconds {
        0..100 => format!("{seconds} s"),
        100..5_400 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}
