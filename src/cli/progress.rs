//! An observer that shows how far a run is, on standard error.
//!
//! On a terminal one line is drawn over and over; elsewhere a line is written per round and phase.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::engine::{Event, Observer, Phase};

use super::output;

/// The line on a terminal is at most this wide.
const WIDTH: usize = 79;
/// Draws per second at most, so that drawing disturbs no measurement.
const DRAWS: u8 = 4;

/// Takes a line with its line feed.
type WriteLine = Box<dyn Fn(&str) + Send + Sync>;

/// Shows the progress of one run, until dropped.
pub struct Progress {
    /// Draws the line; hidden without a terminal. It also is the clock.
    bar: ProgressBar,
    state: Mutex<State>,
    write_line: Option<WriteLine>,
}

/// What is known of the run.
#[derive(Debug, Default)]
struct State {
    rounds: u64,
    /// The longest name of a strategy, so that the line does not jump.
    widest_arm: usize,
    /// `None` in the pilot.
    round: Option<u64>,
    phase: Option<Phase>,
    arm: String,
    detail: String,
    /// Calls per second, in the open model.
    rate: Option<f64>,
    /// Complete rounds.
    finished: u64,
    /// When the first round began and the last one ended.
    begun: Option<Duration>,
    ended: Duration,
    /// The round that was written last, and its phases so far: in the pilot each strategy goes through all of them.
    written: (Option<u64>, Vec<Phase>),
}

impl Progress {
    /// Progress on standard error, in the form that suits it.
    pub fn new() -> Progress {
        match std::io::stderr().is_terminal() {
            true => Progress::drawn(),
            false => Progress::written(output::tell),
        }
    }

    fn drawn() -> Progress {
        let target = ProgressDrawTarget::stderr_with_hz(DRAWS);
        let bar = ProgressBar::with_draw_target(None, target).with_style(style());
        Progress { bar, state: Mutex::default(), write_line: None }
    }

    /// Progress as whole lines, each handed to `write_line` with its line feed.
    fn written(write_line: impl Fn(&str) + Send + Sync + 'static) -> Progress {
        Progress { bar: ProgressBar::hidden(), state: Mutex::default(), write_line: Some(Box::new(write_line)) }
    }
}

/// The message alone, cut at the terminal's width.
fn style() -> ProgressStyle {
    ProgressStyle::with_template("{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_spinner())
}

impl Default for Progress {
    fn default() -> Progress {
        Progress::new()
    }
}

impl Observer for Progress {
    fn event(&self, event: &Event<'_>) {
        let elapsed = self.bar.elapsed();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.take(event, elapsed);
        match &self.write_line {
            None => self.bar.set_message(state.line(elapsed)),
            Some(write_line) => {
                if let Some(words) = state.news(event, elapsed) {
                    write_line(&format!("[{:7.1} s] {words}\n", elapsed.as_secs_f64()));
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
                self.widest_arm = arms.iter().map(|arm| arm.chars().count()).max().unwrap_or(0);
            }
            Event::Phase { round, arm, phase } => {
                // A window is cut into many slices; the words of the last one stay until the next is over.
                if (self.round, self.phase) != (*round, Some(Phase::Measure)) || *phase != Phase::Measure {
                    self.detail.clear();
                }
                self.enter(*round, *phase, arm, elapsed);
            }
            Event::Loaded { arm, documents } => {
                self.arm = (*arm).to_owned();
                self.detail = format!("{} documents", grouped(*documents));
            }
            Event::Slice { round, arm, done, calls } => {
                self.enter(Some(*round), Phase::Measure, arm, elapsed);
                // Nobody knows the number of calls of a timed window before its end.
                self.detail = match done < calls {
                    true => format!("{} of {} calls", grouped(*done), grouped(*calls)),
                    false => format!("{} calls", grouped(*done)),
                };
                if let Some(rate) = self.rate {
                    let _ = write!(self.detail, " at {rate}/s");
                }
            }
            Event::Round(_) => {
                self.finished += 1;
                self.ended = elapsed;
            }
            Event::Planned { rate, .. } => self.rate = *rate,
            Event::Interval(_) => {}
        }
    }

    fn enter(&mut self, round: Option<u64>, phase: Phase, arm: &str, elapsed: Duration) {
        if round.is_some() && self.begun.is_none() {
            self.begun = Some(elapsed);
        }
        (self.round, self.phase) = (round, Some(phase));
        arm.clone_into(&mut self.arm);
    }

    /// What takes the terminal's line.
    fn line(&self, elapsed: Duration) -> String {
        let phase = self.phase.map_or("start", Phase::name);
        let width = self.widest_arm;
        let place = self.place(self.round, self.phase);
        let mut line = format!("{place}  {phase:<7}  {:<width$}  {}", self.arm, self.detail);
        if let Some(left) = self.left(elapsed).filter(|left| !left.is_zero()) {
            let _ = write!(line, "  about {} left", spoken(left));
        }
        line.truncate(line.char_indices().nth(WIDTH).map_or(line.len(), |(end, _)| end));
        line
    }

    /// What a reader without a terminal has not been told yet.
    fn news(&mut self, event: &Event<'_>, elapsed: Duration) -> Option<String> {
        match event {
            Event::Started { rounds, arms } => Some(format!("{} of {}", counted(*rounds, "round"), arms.join(", "))),
            Event::Planned { calls, warmup, rate } => Some(format!(
                "every strategy makes {} calls per round{}, after {} to warm up",
                grouped(*calls),
                rate.map_or(String::new(), |rate| format!(" at {rate} per second")),
                grouped(*warmup)
            )),
            Event::Phase { .. } | Event::Slice { .. } => {
                let phase = self.phase?;
                if self.written.0 != self.round {
                    self.written = (self.round, Vec::new());
                }
                if self.written.1.contains(&phase) {
                    return None;
                }
                self.written.1.push(phase);
                Some(format!("{}: {}", self.place(self.round, self.phase), phase.name()))
            }
            Event::Round(round) => {
                let left = self.left(elapsed).filter(|left| !left.is_zero());
                let left = left.map(|left| format!(", about {} left", spoken(left))).unwrap_or_default();
                Some(format!("{}: done{left}", self.place(Some(round.index), None)))
            }
            Event::Loaded { .. } | Event::Interval(_) => None,
        }
    }

    fn place(&self, round: Option<u64>, phase: Option<Phase>) -> String {
        let digits = self.rounds.to_string().len();
        match (round, phase) {
            (Some(round), _) => format!("round {:>digits$} of {}", round + 1, self.rounds),
            (None, Some(Phase::Costs)) => "costs".to_owned(),
            (None, _) => "pilot".to_owned(),
        }
    }

    /// The time that the rounds to come will take if they are like those before.
    fn left(&self, elapsed: Duration) -> Option<Duration> {
        let begun = self.begun?;
        let finished = u32::try_from(self.finished).ok().filter(|finished| *finished > 0)?;
        let to_come = u32::try_from(self.rounds.saturating_sub(self.finished)).ok()?;
        let expected = self.ended.saturating_sub(begun) / finished * to_come;
        Some(expected.saturating_sub(elapsed.saturating_sub(self.ended)))
    }
}

fn counted(number: u64, word: &str) -> String {
    format!("{} {word}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A number with its thousands set apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A length of time as one says it: `45 s`, `3 min`, `1 h 20 min`.
fn spoken(time: Duration) -> String {
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

    use crate::results::RoundRecord;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn round(index: u64) -> RoundRecord {
        RoundRecord { index, seed: 1, order: Vec::new(), cells: Vec::new() }
    }

    fn phase(round: Option<u64>, arm: &str, phase: Phase) -> Event<'_> {
        Event::Phase { round, arm, phase }
    }

    fn slice(arm: &str, done: u64) -> Event<'_> {
        Event::Slice { round: 0, arm, done, calls: 60_000 }
    }

    #[test]
    fn without_a_terminal_each_round_and_phase_has_one_line() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&lines);
        let progress = Progress::written(move |line| sink.lock().unwrap().push(line.to_owned()));
        let arms = ["embedded".to_owned(), "linked".to_owned()];
        progress.event(&Event::Started { rounds: 1, arms: &arms });
        for arm in ["embedded", "linked"] {
            progress.event(&phase(None, arm, Phase::Load));
            progress.event(&phase(None, arm, Phase::Measure));
        }
        progress.event(&Event::Planned { calls: 60_000, warmup: 20_000, rate: None });
        for arm in ["embedded", "linked"] {
            progress.event(&phase(Some(0), arm, Phase::Load));
            progress.event(&Event::Loaded { arm, documents: 1_000 });
        }
        for done in [100, 200] {
            progress.event(&slice("embedded", done));
            progress.event(&slice("linked", done));
        }
        progress.event(&Event::Round(&round(0)));
        let lines = lines.lock().unwrap();
        assert!(lines.iter().all(|line| line.starts_with("[    0.0 s] ") && line.ends_with('\n')), "{lines:?}");
        let words: Vec<&str> = lines.iter().map(|line| line[12..].trim_end()).collect();
        assert_eq!(
            words,
            [
                "1 round of embedded, linked",
                "pilot: load",
                "pilot: measure",
                "every strategy makes 60,000 calls per round, after 20,000 to warm up",
                "round 1 of 1: load",
                "round 1 of 1: measure",
                "round 1 of 1: done",
            ]
        );
    }

    #[test]
    fn the_drawn_line_keeps_its_columns_and_its_width() {
        let mut state = State::default();
        let arms = ["embedded".to_owned(), "linked".to_owned()];
        state.take(&Event::Started { rounds: 12, arms: &arms }, Duration::ZERO);
        state.take(&slice("linked", 1_200), SECOND);
        assert_eq!(state.line(SECOND), "round  1 of 12  measure  linked    1,200 of 60,000 calls");
        state.take(&slice("embedded", 1_200), SECOND);
        assert_eq!(state.line(SECOND), "round  1 of 12  measure  embedded  1,200 of 60,000 calls");
        state.take(&Event::Planned { calls: 60_000, warmup: 1, rate: Some(512.5) }, SECOND);
        state.take(&slice("linked", 1_300), SECOND);
        assert_eq!(state.line(SECOND), "round  1 of 12  measure  linked    1,300 of 60,000 calls at 512.5/s");
        state.take(&phase(Some(1), &"x".repeat(100), Phase::WarmUp), SECOND);
        assert_eq!(state.line(SECOND).chars().count(), WIDTH);
    }

    #[test]
    fn the_time_left_follows_from_the_finished_rounds() {
        let mut state = State { rounds: 5, ..State::default() };
        state.take(&phase(None, "a", Phase::Load), SECOND);
        state.take(&phase(Some(0), "a", Phase::Load), SECOND * 10);
        assert_eq!(state.left(SECOND * 12), None);
        state.take(&Event::Round(&round(0)), SECOND * 30);
        assert_eq!(state.left(SECOND * 30), Some(SECOND * 80));
        assert_eq!(state.left(SECOND * 45), Some(SECOND * 65));
        state.take(&Event::Round(&round(1)), SECOND * 40);
        assert_eq!(state.left(SECOND * 40), Some(SECOND * 45));
        assert_eq!(state.left(SECOND * 400), Some(Duration::ZERO));
    }

    #[test]
    fn numbers_and_times_are_easy_to_read() {
        let numbers = [0, 999, 1_000, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "1,234,567"]);
        let times = [5, 99, 100, 4_801, 5_400].map(|seconds| spoken(SECOND * seconds));
        assert_eq!(times, ["5 s", "99 s", "2 min", "81 min", "1 h 30 min"]);
    }
}
