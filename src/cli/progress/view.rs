//! The progress as lines of a terminal.

use std::time::Duration;

use anstyle::{AnsiColor, Style};

use crate::campaign::format_duration;

use super::state::State;

/// The most lines, so that what is above stays in sight.
const LINES: usize = 12;
/// Lines besides those of strategies: what is done now, the bar, and the headings.
const OTHERS: usize = 3;

/// The widest bar, and the longest name of a strategy that is shown whole.
const BAR: usize = 30;
const NAME: usize = 26;

/// The size of a terminal in characters, and whether it shows colours.
#[derive(Debug, Clone, Copy)]
pub(super) struct Screen {
    pub(super) columns: usize,
    pub(super) rows: usize,
    pub(super) colour: bool,
}

/// The headings of the columns: names of strategies, and numbers, of which the first are left out where the terminal is too narrow.
const HEADINGS: [&str; 4] = ["", "calls", "calls/s", "failed"];

/// The styles of the columns.
const STYLES: [Style; 4] = [Style::new(), Style::new(), Style::new(), RED];

const RED: Style = AnsiColor::Red.on_default().bold();
const FAINT: Style = Style::new().dimmed();

impl Screen {
    /// The lines.
    pub(super) fn lines(self, state: &State, elapsed: Duration) -> String {
        let mut lines = vec![self.line(&state.now(), Style::new())];
        lines.push(self.line(&bar(state, elapsed, self.columns), Style::new()));
        // The last line of a terminal is for the cursor.
        let room = LINES.min(self.rows.saturating_sub(1)).saturating_sub(OTHERS);
        if state.plan.is_some() && room > 0 {
            lines.extend(self.table(state, room));
        }
        lines.join("\n")
    }

    /// Cuts a line to the terminal: the rest of a wrapped one would stay on the screen.
    fn line(self, text: &str, style: Style) -> String {
        self.styled(&text.chars().take(self.columns.saturating_sub(1)).collect::<String>(), style)
    }

    fn styled(self, text: &str, style: Style) -> String {
        if self.colour && style != Style::new() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// The headings and a line per strategy, the first ones in their order; nothing before there is a number.
    fn table(self, state: &State, room: usize) -> Vec<String> {
        let strategies = state.strategies.len();
        // One line says how many are left out.
        let shown = if strategies <= room { strategies } else { room.saturating_sub(1).max(1) };
        let all = state.strategies.iter().take(shown).map(|strategy| {
            let [name, calls, rate, failed] = strategy.texts(state.rated());
            [name.chars().take(NAME).collect(), calls, rate, failed]
        });
        let all: Vec<[String; 4]> = all.collect();
        if all.iter().all(|[_, calls, ..]| calls.is_empty()) {
            return Vec::new();
        }
        let columns = self.columns_of(&all);
        let row = |texts: [&str; 4], styles: [Style; 4]| {
            let mut room = self.columns.saturating_sub(1);
            let cells = columns.iter().map(|&(column, width)| {
                let text = texts[column];
                let text = if column == 0 { format!("  {text:<width$}") } else { format!("  {text:>width$}") };
                let text: String = text.chars().take(room).collect();
                room -= text.chars().count();
                self.styled(&text, styles[column])
            });
            cells.collect::<String>().trim_end().to_owned()
        };
        let mut lines = vec![row(HEADINGS, [FAINT; 4])];
        lines.extend(all.iter().map(|texts| row(texts.each_ref().map(String::as_str), STYLES)));
        let more = strategies - shown;
        lines.extend((more > 0).then(|| self.line(&format!("  and {more} more"), FAINT)));
        lines
    }

    /// The columns that have any text and fit, with their widths.
    fn columns_of(self, all: &[[String; 4]]) -> Vec<(usize, usize)> {
        let width = |column: usize| {
            let texts = all.iter().map(|texts| texts[column].chars().count()).max().unwrap_or(0);
            (texts > 0).then(|| (column, texts.max(HEADINGS[column].len())))
        };
        let mut columns: Vec<_> = (0..HEADINGS.len()).filter_map(width).collect();
        while columns.len() > 1 && columns.iter().map(|(_, width)| width + 2).sum::<usize>() >= self.columns {
            columns.remove(1);
        }
        columns
    }
}

/// The bar with the share that is done, the time since the start, and the time left.
fn bar(state: &State, elapsed: Duration, columns: usize) -> String {
    let since = format!("{} so far", clock(elapsed));
    let Some(share) = state.share() else { return since };
    let width = BAR.min(columns / 3);
    let full = (share * width as f64) as usize;
    let left = state.left(elapsed).filter(|left| !left.is_zero());
    let left = left.map_or_else(String::new, |left| format!(", about {} left", format_duration(left)));
    format!("{}{}  {:.0} %, {since}{left}", "█".repeat(full), "░".repeat(width - full), share * 100.0)
}

/// A time that ticks: `0:07`, `12:34`, `1:02:03`.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds / 3_600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::{Event, PartCalls, RoundPlan, RunPhase};
    use crate::record::Part;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const WIDE: Screen = Screen { columns: 100, rows: 30, colour: false };

    fn slice(arm: &str, failed: u64) -> Event<'_> {
        let part = Part::Saturation;
        Event::Slice { round: 1, part, arm, done: 1_200, calls: 2_400, share: 0.5, failed, seconds: 0.5 }
    }

    /// In the second of eight rounds.
    fn state(strategies: usize) -> State {
        let mut state = State::default();
        let arms: Vec<String> = (0..strategies).map(|arm| format!("strategy_{arm}")).collect();
        state.take(&Event::Started { rounds: 8, arms: &arms }, Duration::ZERO);
        let plan = RoundPlan::saturation(2_400, 100).at_rate(PartCalls { calls: 10, seconds: None });
        let saturation = vec![2_400; strategies];
        let pilot = vec![1_000.0; strategies];
        let planned = Event::Planned { plan, rate: Some(1_430.0), saturation: &saturation, pilot: &pilot };
        state.take(&planned, SECOND);
        state.take(&Event::Phase { round: Some(0), arm: "strategy_0", phase: RunPhase::Load }, SECOND);
        state.take(&Event::Round(0), SECOND * 11);
        arms.iter().for_each(|arm| state.take(&slice(arm, 0), SECOND * 16));
        state
    }

    #[test]
    fn terminal_shows_a_bar_and_a_line_per_strategy() {
        insta::assert_snapshot!(WIDE.lines(&state(3), SECOND * 16));
    }

    #[test]
    fn time_ticks_before_anything_is_known() {
        let mut state = State::default();
        state.preparation = "starting 4 servers".to_owned();
        assert_eq!(WIDE.lines(&state, SECOND * 63), "starting 4 servers\n1:03 so far");
        assert_eq!(clock(SECOND * 3_723), "1:02:03");
    }

    #[test]
    fn at_most_twelve_lines_show_the_first_strategies() {
        let state = state(20);
        let lines = WIDE.lines(&state, SECOND * 16);
        assert_eq!(lines.lines().count(), LINES, "{lines}");
        assert!(
            lines.contains("strategy_0 ") && lines.contains("strategy_7 ") && lines.contains("and 12 more"),
            "{lines}"
        );
        assert!(!lines.contains("strategy_8 "), "{lines}");
        let low = Screen { rows: 9, ..WIDE }.lines(&state, SECOND * 16);
        assert_eq!((low.lines().count(), low.contains("and 16 more")), (8, true), "{low}");
    }

    #[test]
    fn narrow_terminals_drop_columns_and_cut_lines() {
        let mut state = state(2);
        state.take(&slice("strategy_1", 12), SECOND * 16);
        for columns in [5, 20, 30, 40, 60, 80] {
            let lines = Screen { columns, ..WIDE }.lines(&state, SECOND * 16);
            assert!(lines.lines().all(|line| line.chars().count() < columns), "{columns}: {lines}");
            assert_eq!(lines.lines().any(|line| line.contains("strategy_1") && line.contains("12")), columns >= 30);
        }
    }

    #[test]
    fn failures_are_red_and_nothing_is_coloured_without_colours() {
        let mut state = state(2);
        assert!(!WIDE.lines(&state, SECOND).contains("failed"), "no failure, no column");
        state.take(&slice("strategy_1", 12), SECOND * 16);
        let coloured = Screen { colour: true, ..WIDE }.lines(&state, SECOND * 16);
        assert!(coloured.contains(&format!("{RED}      12{RED:#}")), "{coloured:?}");
        assert!(!WIDE.lines(&state, SECOND * 16).contains('\u{1b}'));
    }
}
