//! The progress of a run on standard error.
//!
//! A terminal shows one line for the run and one per strategy, redrawn in place. Elsewhere a line is written per round and
//! phase, and one per strategy when a round is complete.

mod strategy;

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::engine::{Event, Observer, RoundPlan, RunPhase};
use crate::report::{count, counted};

use super::output;
use strategy::StrategyProgress;

/// The size that is assumed for a terminal of unknown size.
const TERMINAL: TerminalSize = TerminalSize { columns: 80, rows: 24 };
/// Draws per second at most, so that drawing disturbs no measurement.
const DRAWS: u8 = 4;

/// Takes a line with its line feed.
type WriteLine = Box<dyn Fn(&str) + Send + Sync>;

/// Shows the progress of one run, until dropped.
pub struct Progress {
    /// Draws the lines; hidden without a terminal. It also is the clock.
    bar: ProgressBar,
    state: Mutex<State>,
    write_line: Option<WriteLine>,
}

/// The events of a run so far.
#[derive(Debug, Default)]
struct State {
    rounds: u64,
    strategies: Vec<StrategyProgress>,
    /// Length of the longest strategy name; aligns the columns.
    widest_arm: usize,
    /// `None` in the pilot.
    round: Option<u64>,
    phase: Option<RunPhase>,
    arm: String,
    detail: String,
    /// Calls per second, with open load.
    rate: Option<f64>,
    /// Rounds that were completed here, and the number of the next, from 0: a run may be resumed.
    finished: u64,
    next: u64,
    /// When the first round started and the last one ended.
    started: Option<Duration>,
    ended: Duration,
    /// The round that was written last, and its phases so far: in the pilot each strategy goes through all of them.
    written: (Option<u64>, Vec<RunPhase>),
}

impl Progress {
    /// Shows progress on standard error: drawn on a terminal, else as lines.
    pub fn start() -> Progress {
        if !std::io::stderr().is_terminal() {
            return Progress::written(output::message);
        }
        // The message alone.
        let style = ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
        let target = ProgressDrawTarget::stderr_with_hz(DRAWS);
        let bar = ProgressBar::with_draw_target(None, target).with_style(style);
        Progress { bar, state: Mutex::default(), write_line: None }
    }

    /// Shows progress on standard error as lines that start with a name.
    pub fn named(name: &str) -> Progress {
        let name = name.to_owned();
        Progress::written(move |line| output::message(&format!("{name} {line}")))
    }

    /// Progress as whole lines, each handed to `write_line` with its line feed.
    fn written(write_line: impl Fn(&str) + Send + Sync + 'static) -> Progress {
        Progress { bar: ProgressBar::hidden(), state: Mutex::default(), write_line: Some(Box::new(write_line)) }
    }
}

impl Observer for Progress {
    fn event(&self, event: &Event<'_>) {
        let elapsed = self.bar.elapsed();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.take(event, elapsed);
        match &self.write_line {
            None => self.bar.set_message(state.lines(elapsed, TerminalSize::read())),
            Some(write_line) => {
                for line in state.new_lines(event, elapsed) {
                    write_line(&format!("[{:7.1} s] {line}\n", elapsed.as_secs_f64()));
                }
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl State {
    fn take(&mut self, event: &Event<'_>, elapsed: Duration) {
        match event {
            Event::Started { rounds, arms } => {
                self.rounds = *rounds;
                self.strategies = arms.iter().map(|arm| StrategyProgress::new(arm)).collect();
                self.widest_arm = arms.iter().map(|arm| arm.chars().count()).max().unwrap_or(0);
            }
            Event::Phase { round, arm, phase } => {
                // The detail of the last slice stays until the next one ends.
                if (self.round, self.phase) != (*round, Some(*phase)) || !matches!(phase, RunPhase::Measure(_)) {
                    self.detail.clear();
                }
                self.enter(*round, *phase, arm, elapsed);
            }
            Event::Loaded { arm, documents } => {
                self.arm = (*arm).to_owned();
                self.detail = format!("{} documents", count(*documents));
            }
            Event::Slice { round, part, arm, done, calls, failed, seconds } => {
                self.enter(Some(*round), RunPhase::Measure(*part), arm, elapsed);
                // The number of calls that measure own costs is unknown before their end.
                let planned = if done < calls { format!(" of {}", count(*calls)) } else { String::new() };
                self.detail = format!("{}{planned} calls", count(*done));
                self.strategy(arm).into_iter().for_each(|strategy| strategy.slice(*done, *seconds, *failed));
            }
            Event::Round(round) => {
                self.finished += 1;
                self.next = round + 1;
                self.ended = elapsed;
                self.strategies.iter_mut().for_each(StrategyProgress::end_round);
            }
            Event::Planned { rate, .. } => self.rate = *rate,
            Event::Interval { arm, interval, .. } => {
                self.strategy(arm).into_iter().for_each(|strategy| strategy.interval(&interval.histogram));
            }
        }
    }

    fn enter(&mut self, round: Option<u64>, phase: RunPhase, arm: &str, elapsed: Duration) {
        if round.is_some() && self.started.is_none() {
            self.started = Some(elapsed);
        }
        (self.round, self.phase) = (round, Some(phase));
        arm.clone_into(&mut self.arm);
    }

    fn strategy(&mut self, name: &str) -> Option<&mut StrategyProgress> {
        self.strategies.iter_mut().find(|strategy| strategy.is(name))
    }

    /// Returns the lines of a terminal; the strategies only if there is room for all.
    fn lines(&self, elapsed: Duration, terminal: TerminalSize) -> String {
        let is_room = self.strategies.len() + 2 <= terminal.rows;
        let strategies = self.rows().filter(|_| is_room && self.started.is_some());
        // A wrapped line would leave its rest on the screen.
        let columns = terminal.columns.saturating_sub(1);
        let lines = std::iter::once(self.line(elapsed)).chain(strategies);
        lines.map(|line| line.chars().take(columns).collect()).collect::<Vec<String>>().join("\n")
    }

    /// A line per strategy.
    fn rows(&self) -> impl Iterator<Item = String> {
        self.strategies.iter().map(|strategy| strategy.row(self.widest_arm, self.rate))
    }

    /// Returns the line of the run.
    fn line(&self, elapsed: Duration) -> String {
        let phase = self.phase.map_or("start", RunPhase::name);
        let width = self.widest_arm;
        let place = self.place(self.round, self.phase);
        let mut line = format!("{place}  {phase:<7}  {:<width$}  {}", self.arm, self.detail);
        if let Some(left) = self.time_left(elapsed) {
            let _ = write!(line, "  {left}");
        }
        line
    }

    /// Returns the lines of an event for output that is not a terminal.
    fn new_lines(&mut self, event: &Event<'_>, elapsed: Duration) -> Vec<String> {
        match event {
            Event::Started { rounds, arms } => vec![format!("{} of {}", counted(*rounds, "round"), arms.join(", "))],
            Event::Planned { plan, rate } => vec![planned(plan, *rate)],
            Event::Phase { .. } | Event::Slice { .. } => {
                let Some(phase) = self.phase else { return Vec::new() };
                if self.written.0 != self.round {
                    self.written = (self.round, Vec::new());
                }
                if self.written.1.contains(&phase) {
                    return Vec::new();
                }
                self.written.1.push(phase);
                vec![format!("{}: {}", self.place(self.round, self.phase), phase.name())]
            }
            Event::Round(round) => {
                let left = self.time_left(elapsed).map(|left| format!(", {left}")).unwrap_or_default();
                let done = format!("{}: done{left}", self.place(Some(*round), None));
                std::iter::once(done).chain(self.rows()).collect()
            }
            Event::Loaded { .. } | Event::Interval { .. } => Vec::new(),
        }
    }

    fn place(&self, round: Option<u64>, phase: Option<RunPhase>) -> String {
        let digits = self.rounds.to_string().len();
        match (round, phase) {
            (Some(round), _) => format!("round {:>digits$} of {}", round + 1, self.rounds),
            (None, Some(RunPhase::Explain)) => "query plans".to_owned(),
            (None, _) => "pilot".to_owned(),
        }
    }

    fn time_left(&self, elapsed: Duration) -> Option<String> {
        let left = self.remaining(elapsed).filter(|left| !left.is_zero())?;
        Some(format!("about {} left", format_duration(left)))
    }

    /// Returns the expected time of the remaining rounds.
    fn remaining(&self, elapsed: Duration) -> Option<Duration> {
        let started = self.started?;
        let finished = u32::try_from(self.finished).ok().filter(|finished| *finished > 0)?;
        let to_come = u32::try_from(self.rounds.saturating_sub(self.next)).ok()?;
        let expected = self.ended.saturating_sub(started) / finished * to_come;
        Some(expected.saturating_sub(elapsed.saturating_sub(self.ended)))
    }
}

/// What every strategy does in every round.
fn planned(plan: &RoundPlan, rate: Option<f64>) -> String {
    let warm_up = format!("{} warm-up calls", count(plan.warmup));
    let own = plan.own.map(|own| format!("own costs in {} calls", count(own.stretch)));
    let at_rate = plan.rate.zip(rate).map(|(part, rate)| format!("{} calls at {rate} calls/s", count(part.calls)));
    let saturation = plan.saturation.map(|part| format!("{} calls at saturation", count(part.calls)));
    let parts: Vec<String> = [Some(warm_up), own, at_rate, saturation].into_iter().flatten().collect();
    format!("per strategy and round: {}", parts.join(", "))
}

/// The size of a terminal in characters.
#[derive(Debug, Clone, Copy)]
struct TerminalSize {
    columns: usize,
    rows: usize,
}

impl TerminalSize {
    fn read() -> TerminalSize {
        let size = terminal_size::terminal_size_of(std::io::stderr());
        size.map_or(TERMINAL, |(width, height)| TerminalSize { columns: width.0.into(), rows: height.0.into() })
    }
}

/// Formats a time like `45 s`, `3 min`, `1 h 20 min`.
fn format_duration(time: Duration) -> String {
    let seconds = time.as_secs_f64().ceil() as u64;
    match seconds {
        0..100 => format!("{seconds} s"),
        100..5_400 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use crate::results::Part;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn phase(round: Option<u64>, arm: &str, phase: RunPhase) -> Event<'_> {
        Event::Phase { round, arm, phase }
    }

    fn slice(arm: &str, done: u64) -> Event<'_> {
        Event::Slice { round: 0, part: Part::Saturation, arm, done, calls: 60_000, failed: 0, seconds: 0.5 }
    }

    #[test]
    fn output_without_a_terminal_has_one_line_per_round_and_phase() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&lines);
        let progress = Progress::written(move |line| sink.lock().unwrap().push(line.to_owned()));
        let arms = ["embedded".to_owned(), "linked".to_owned()];
        progress.event(&Event::Started { rounds: 1, arms: &arms });
        for arm in ["embedded", "linked"] {
            progress.event(&phase(None, arm, RunPhase::Load));
            progress.event(&phase(None, arm, RunPhase::Measure(Part::Saturation)));
        }
        progress.event(&Event::Planned { plan: RoundPlan::saturation(60_000, 20_000), rate: None });
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
        assert_eq!(
            texts,
            [
                "1 round of embedded, linked",
                "pilot: load",
                "pilot: saturation",
                "per strategy and round: 20,000 warm-up calls, 60,000 calls at saturation",
                "round 1 of 1: load",
                "round 1 of 1: saturation",
                "round 1 of 1: done",
                "  embedded       400/s",
                "  linked         400/s",
            ]
        );
    }

    #[test]
    fn drawn_lines_are_aligned_and_cut_to_the_terminal() {
        let mut state = State::default();
        let arms = ["embedded".to_owned(), "linked".to_owned()];
        state.take(&Event::Started { rounds: 12, arms: &arms }, Duration::ZERO);
        state.take(&phase(None, "linked", RunPhase::Load), Duration::ZERO);
        assert_eq!(state.lines(SECOND, TERMINAL), "pilot  load     linked    ");
        state.take(&slice("linked", 1_200), SECOND);
        let lines =
            ["round  1 of 12  saturation  linked    1,200 of 60,000 calls", "  embedded", "  linked       2,400/s"];
        assert_eq!(state.lines(SECOND, TERMINAL), lines.join("\n"));
        state.take(&slice("embedded", 1_200), SECOND);
        let lines = ["round  1 of 12  saturation ", "  embedded     2,400/s", "  linked       2,400/s"];
        assert_eq!(state.lines(SECOND, TerminalSize { columns: 28, rows: 4 }), lines.join("\n"));
        assert_eq!(state.lines(SECOND, TerminalSize { columns: 28, rows: 3 }), lines[0], "no room for the strategies");
    }

    #[test]
    fn rows_have_the_offered_rate_with_open_load() {
        let mut state = State::default();
        let arms = ["linked".to_owned()];
        state.take(&Event::Started { rounds: 12, arms: &arms }, Duration::ZERO);
        state.take(&Event::Planned { plan: RoundPlan::rate(60_000, 1), rate: Some(512.5) }, SECOND);
        state.take(&slice("linked", 255), SECOND);
        assert_eq!(
            state.lines(SECOND, TERMINAL),
            "round  1 of 12  saturation  linked  255 of 60,000 calls\n  linked          510 of 513/s"
        );
    }

    #[test]
    fn remaining_time_follows_from_complete_rounds() {
        let mut state = State { rounds: 5, ..State::default() };
        state.take(&phase(None, "a", RunPhase::Load), SECOND);
        state.take(&phase(Some(0), "a", RunPhase::Load), SECOND * 10);
        assert_eq!(state.remaining(SECOND * 12), None);
        state.take(&Event::Round(0), SECOND * 30);
        assert_eq!(state.remaining(SECOND * 30), Some(SECOND * 80));
        assert_eq!(state.remaining(SECOND * 45), Some(SECOND * 65));
        state.take(&Event::Round(1), SECOND * 40);
        assert_eq!(state.remaining(SECOND * 40), Some(SECOND * 45));
        assert_eq!(state.remaining(SECOND * 400), Some(Duration::ZERO));
    }

    #[test]
    fn remaining_time_of_a_resumed_run() {
        let mut state = State { rounds: 8, ..State::default() };
        state.take(&phase(Some(6), "a", RunPhase::Load), SECOND * 10);
        state.take(&Event::Round(6), SECOND * 30);
        assert_eq!(state.remaining(SECOND * 30), Some(SECOND * 20));
        state.take(&Event::Round(7), SECOND * 50);
        assert_eq!(state.remaining(SECOND * 50), Some(Duration::ZERO));
    }

    #[test]
    fn durations_have_one_or_two_units() {
        let times = [5, 99, 100, 4_801, 5_400].map(|seconds| format_duration(SECOND * seconds));
        assert_eq!(times, ["5 s", "99 s", "2 min", "81 min", "1 h 30 min"]);
    }
}
