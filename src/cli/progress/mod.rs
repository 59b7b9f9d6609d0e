//! The progress of a run on standard error.
//!
//! A terminal shows at most 12 lines, redrawn in place four times a second: what is done now, a bar, and what is known of every
//! strategy. Elsewhere a line is written per round and phase, and one per strategy when a round is complete.

mod state;
mod strategy;
mod view;
mod work;

use std::fmt;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use anstream::{AutoStream, ColorChoice};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::campaign::format_duration;
use crate::engine::{Event, Observer, RoundPlan, RunPhase};
use crate::record::Part;
use crate::report::{count, counted};

use super::output;

use state::State;
use view::Screen;

/// The size that is assumed for a terminal of unknown size.
const COLUMNS: usize = 80;
const ROWS: usize = 24;
/// Draws per second, few enough that drawing disturbs no measurement.
const DRAWS: u8 = 4;

/// Takes a line with its line feed.
type WriteLine = Box<dyn Fn(&str) + Send + Sync>;

/// Shows the progress of one run, until dropped.
pub struct Progress {
    started: Instant,
    /// Draws the lines on a thread of its own, which locks the state: never used under that lock.
    bar: ProgressBar,
    drawing: Once,
    state: Arc<Mutex<State>>,
    /// The phases that have a line, with their rounds: in the pilot each strategy goes through all of them.
    written: Mutex<Vec<(Option<u64>, RunPhase)>>,
    write_line: Option<WriteLine>,
}

impl Progress {
    /// Shows progress on standard error: drawn on a terminal from the first phase on, else as lines. The time counts from here.
    pub fn start() -> Progress {
        if !std::io::stderr().is_terminal() {
            return Progress::written(output::message);
        }
        let progress = Progress::new(None);
        let (drawn, started) = (Arc::clone(&progress.state), progress.started);
        let colour = AutoStream::choice(&std::io::stderr()) != ColorChoice::Never;
        let draw = move |_: &ProgressState, out: &mut dyn fmt::Write| {
            let _ = out.write_str(&screen(colour).lines(&locked(&drawn), started.elapsed()));
        };
        let style = ProgressStyle::with_template("{lines}").unwrap_or_else(|_| ProgressStyle::default_spinner());
        progress.bar.set_style(style.with_key("lines", draw));
        progress.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(DRAWS));
        progress
    }

    /// Shows on a terminal what is done, redrawn with the time; `None` elsewhere.
    pub fn on_terminal(what: &str) -> Option<Progress> {
        let progress = std::io::stderr().is_terminal().then(Progress::start)?;
        progress.prepare(what);
        Some(progress)
    }

    /// Says what a study has done: redrawn on a terminal, else as a line.
    pub fn say(drawn: Option<&Progress>, line: &str) {
        match drawn {
            Some(drawn) => drawn.prepare(line),
            None => output::line(line),
        }
    }

    fn new(write_line: Option<WriteLine>) -> Progress {
        let (state, written) = (Arc::default(), Mutex::default());
        let (bar, drawing) = (ProgressBar::hidden(), Once::new());
        Progress { started: Instant::now(), bar, drawing, state, written, write_line }
    }

    /// Shows progress on standard error as lines that start with a name.
    pub fn named(name: &str) -> Progress {
        let name = name.to_owned();
        Progress::written(move |line| output::message(&format!("{name} {line}")))
    }

    /// Progress as whole lines, each handed to `write_line` with its line feed.
    fn written(write_line: impl Fn(&str) + Send + Sync + 'static) -> Progress {
        Progress::new(Some(Box::new(write_line)))
    }

    /// Shows what is done before the pilot. A terminal is drawn on from here: nothing else may be asked there.
    pub fn prepare(&self, what: &str) {
        what.clone_into(&mut locked(&self.state).preparation);
        self.draw();
        self.write([what.to_owned()]);
    }

    /// Stops drawing.
    pub fn end(&self) {
        if self.drawing.is_completed() {
            output::keep_below(None);
        }
        self.bar.finish_and_clear();
    }

    /// Draws every quarter of a second, and lets messages appear above what is drawn.
    fn draw(&self) {
        if self.write_line.is_none() {
            self.drawing.call_once(|| {
                output::keep_below(Some(self.bar.clone()));
                self.bar.enable_steady_tick(Duration::from_secs(1) / u32::from(DRAWS));
            });
        }
    }

    /// The lines of an event.
    fn lines(&self, event: &Event<'_>, state: &State) -> Vec<String> {
        match event {
            Event::Started { rounds, arms } => vec![format!("{} of {}", counted(*rounds, "round"), arms.join(", "))],
            Event::Planned { plan, rate, .. } => vec![planned(plan, *rate)],
            Event::Phase { .. } | Event::Slice { .. } => {
                let mut written = locked(&self.written);
                let phase = state.phase.filter(|phase| !written.contains(&(state.round, *phase)));
                written.extend(phase.map(|phase| (state.round, phase)));
                let line = |phase: RunPhase| format!("{}: {}", state.round_name(), phase.name());
                phase.map(line).into_iter().collect()
            }
            Event::Round(_) => end_of_round(state, self.started.elapsed()),
            Event::Loaded { .. } | Event::Interval { .. } => Vec::new(),
        }
    }

    fn write(&self, lines: impl IntoIterator<Item = String>) {
        let Some(write_line) = &self.write_line else { return };
        let seconds = self.started.elapsed().as_secs_f64();
        lines.into_iter().for_each(|line| write_line(&format!("[{seconds:7.1} s] {line}\n")));
    }
}

impl Observer for Progress {
    fn event(&self, event: &Event<'_>) {
        if matches!(event, Event::Started { .. }) {
            self.draw();
        }
        let mut state = locked(&self.state);
        state.take(event, self.started.elapsed());
        if self.write_line.is_some() {
            self.write(self.lines(event, &state));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

/// The lines at the end of a round: the time left, and a line per strategy.
fn end_of_round(state: &State, elapsed: Duration) -> Vec<String> {
    let left = state.left(elapsed).filter(|left| !left.is_zero());
    let left = left.map_or_else(String::new, |left| format!(", about {} left", format_duration(left)));
    let done = format!("{}: done{left}", state.round_name());
    let names = state.strategies.iter().map(|strategy| strategy.name.chars().count()).max().unwrap_or(0);
    let row = |[name, _, rate, failed]: [String; 4]| {
        let parts = [(rate, "/s"), (failed, " failed")].into_iter().filter(|(text, _)| !text.is_empty());
        let parts: Vec<String> = parts.map(|(text, after)| text + after).collect();
        format!("  {name:names$}  {}", parts.join(", ")).trim_end().to_owned()
    };
    let texts = state.strategies.iter().map(|strategy| strategy.texts(state.rated()));
    std::iter::once(done).chain(texts.map(row)).collect()
}

/// What every strategy does in every round.
fn planned(plan: &RoundPlan, rate: Option<f64>) -> String {
    let warm_up = format!("{} warm-up calls", count(plan.warmup));
    let own = plan.own.map(|own| format!("own costs in {} calls", count(own.stretch)));
    let saturation = plan.saturation.map(|part| format!("{} calls at saturation", count(part.calls)));
    let open = Part::CURVE.into_iter().filter_map(|part| {
        let (calls, rate) = (plan.of(part)?.calls, part.rate(rate?)?);
        Some(format!("{} calls at {rate} calls/s", count(calls)))
    });
    let parts: Vec<String> = [Some(warm_up), own, saturation].into_iter().flatten().chain(open).collect();
    format!("per strategy and round: {}", parts.join(", "))
}

fn screen(colour: bool) -> Screen {
    let size = terminal_size::terminal_size_of(std::io::stderr());
    let (columns, rows) = size.map_or((COLUMNS, ROWS), |(width, height)| (width.0.into(), height.0.into()));
    Screen { columns, rows, colour }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn phase(round: Option<u64>, arm: &str, phase: RunPhase) -> Event<'_> {
        Event::Phase { round, arm, phase }
    }

    fn slice(arm: &str, done: u64) -> Event<'_> {
        let part = Part::Saturation;
        Event::Slice { round: 0, part, arm, done, calls: 60_000, share: 0.1, failed: 0, seconds: 0.5 }
    }

    #[test]
    fn output_without_a_terminal_has_one_line_per_round_and_phase() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&lines);
        let progress = Progress::written(move |line| sink.lock().unwrap().push(line.to_owned()));
        let arms = ["embedded".to_owned(), "linked".to_owned()];
        progress.prepare("starting 2 servers");
        progress.event(&Event::Started { rounds: 1, arms: &arms });
        for arm in ["embedded", "linked"] {
            progress.event(&phase(None, arm, RunPhase::Load));
            progress.event(&phase(None, arm, RunPhase::Measure(Part::Saturation)));
        }
        let plan = RoundPlan::saturation(60_000, 20_000);
        progress.event(&Event::Planned { plan, rate: None, saturation: &[60_000; 2], pilot: &[1e3; 2] });
        for arm in ["embedded", "linked"] {
            progress.event(&phase(Some(0), arm, RunPhase::Load));
            progress.event(&Event::Loaded { arm, documents: 1_000 });
        }
        for done in [100, 200] {
            progress.event(&slice("embedded", done));
            progress.event(&slice("linked", done));
        }
        progress.event(&Event::Round(0));
        let lines = lines.lock().unwrap();
        assert!(lines.iter().all(|line| line.starts_with("[    0.0 s] ") && line.ends_with('\n')), "{lines:?}");
        let texts: Vec<&str> = lines.iter().map(|line| line[12..].trim_end()).collect();
        insta::assert_snapshot!(texts.join("\n"));
    }

    #[test]
    fn durations_have_one_or_two_units() {
        let times = [5, 99, 100, 4_801, 5_400].map(|seconds| format_duration(SECOND * seconds));
        assert_eq!(times, ["5 s", "99 s", "2 min", "81 min", "1 h 30 min"]);
    }
}
