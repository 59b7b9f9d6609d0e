//! The report of a search for capacity, on a terminal and as Markdown.

use std::fmt;

use crate::results::{CapacityRecord, SearchOutcome, SearchRecord};
use crate::stats::capacity::over_rounds;

use super::escape::escape;
use super::format::{NOTHING, count, counted, listed, plain, three, time, wrap};
use super::table::Tone;
use super::terminal::layout::{Cell, Column, Group, Table};

/// What the searches say, strategy by strategy.
#[derive(Debug)]
pub struct CapacityReport<'c> {
    record: &'c CapacityRecord,
    rows: Vec<Row>,
}

/// One strategy.
#[derive(Debug)]
struct Row {
    name: String,
    /// Calls per second, and its interval.
    capacity: String,
    interval: String,
    /// What the objective measures at the rates that were found.
    measured: String,
    searches: String,
    trials: u64,
    /// What keeps the capacity from being a number.
    remark: Option<String>,
}

impl CapacityReport<'_> {
    /// Computes what a report of these searches says.
    pub fn new(record: &CapacityRecord) -> CapacityReport<'_> {
        let rows = (0..record.run.strategies.len()).map(|strategy| row(record, strategy)).collect();
        CapacityReport { record, rows }
    }

    fn question(&self) -> String {
        let objective = plain(&self.record.objective);
        format!("How many calls per second keep {objective}? Mix {}.", plain(&self.record.run.mix.name))
    }

    fn notes(&self) -> Vec<String> {
        let rounds = counted(self.record.run.settings.rounds, "round");
        let mut notes = vec![format!(
            "Every rate was tried on a fresh database with calls at intended times; {rounds}, each a search of its own. In \
             brackets the 95 % interval over rounds, from 3 on. A rate keeps the objective when the lower bound over its \
             batches of calls does, and nearly all calls could start in time."
        )];
        notes.extend(self.rows.iter().filter_map(|row| row.remark.clone()));
        notes
    }

    /// For a terminal of this width.
    ///
    /// # Errors
    /// When `out` refuses; a `String` never does.
    pub fn terminal(&self, width: usize, colour: bool, out: &mut dyn fmt::Write) -> fmt::Result {
        let line = |out: &mut dyn fmt::Write, tone: Tone, text: &str| {
            wrap(text, width).iter().try_for_each(|line| writeln!(out, "{}", tone.paint(line, colour)))
        };
        let run = &self.record.run;
        line(out, Tone::Strong, &format!("{}: {}", plain(&run.scenario.name), plain(&run.scenario.title)))?;
        line(out, Tone::Strong, &self.question())?;
        writeln!(out)?;
        self.table().write(out, width, colour)?;
        self.notes().iter().try_for_each(|note| line(out, Tone::Faint, note))
    }

    fn table(&self) -> Table {
        let column = |heading: &str, text: &dyn Fn(&Row) -> String| Column {
            heading: heading.into(),
            is_text: false,
            cells: self.rows.iter().map(|row| Cell::new(text(row))).collect(),
        };
        let measure = self.record.objective.split('<').next().unwrap_or_default();
        let columns = vec![
            column("calls per second", &|row| row.capacity.clone()),
            column("95 % interval", &|row| row.interval.clone()),
            column(&format!("{} there", plain(measure)), &|row| row.measured.clone()),
            column("searches", &|row| row.searches.clone()),
            column("trials", &|row| row.trials.to_string()),
        ];
        let names = self.rows.iter().map(|row| Cell::new(&row.name).tone(Tone::Strong)).collect();
        Table { names, groups: vec![Group { heading: String::new(), columns }] }
    }

    /// As Markdown, with every trial.
    ///
    /// # Errors
    /// When `out` refuses; a `String` never does.
    pub fn markdown(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let run = &self.record.run;
        writeln!(out, "# {}\n\n{}\n", escape(&plain(&run.scenario.title)), escape(&self.question()))?;
        writeln!(out, "| strategy | calls per second | 95 % interval | measured there | searches | trials |")?;
        writeln!(out, "|---|---:|---:|---:|---:|---:|")?;
        for row in &self.rows {
            let name = escape(&row.name);
            let Row { capacity, interval, measured, searches, trials, .. } = row;
            writeln!(out, "| {name} | {capacity} | {interval} | {measured} | {searches} | {trials} |")?;
        }
        self.notes().iter().try_for_each(|note| writeln!(out, "\n{}", escape(note)))?;
        writeln!(out, "\n## Trials\n\n| round | strategy | calls/s | measured | failed of offered | result |")?;
        writeln!(out, "|---:|---|---:|---:|---:|---|")?;
        for search in &self.record.searches {
            let name = self.rows.get(search.strategy).map_or_else(|| "?".into(), |row| escape(&row.name));
            for trial in &search.trials {
                let result = match (trial.overloaded, trial.passed) {
                    (true, _) => "overloaded",
                    (false, true) => "kept",
                    (false, false) => "not kept",
                };
                let (round, rate) = (search.round + 1, three(trial.rate));
                let measured = trial.measured.map_or_else(|| NOTHING.to_owned(), time);
                let (failed, offered) = (count(trial.failed), count(trial.offered));
                writeln!(out, "| {round} | {name} | {rate} | {measured} | {failed} of {offered} | {result} |")?;
            }
        }
        Ok(())
    }
}

fn row(record: &CapacityRecord, strategy: usize) -> Row {
    let name = plain(&record.run.strategies[strategy].name);
    let searches: Vec<&SearchRecord> = record.searches.iter().filter(|search| search.strategy == strategy).collect();
    let found: Vec<f64> = searches.iter().filter_map(|search| rate_of(search)).collect();
    let at_found = searches.iter().filter_map(|search| {
        let rate = rate_of(search)?;
        search.trials.iter().rev().find(|trial| trial.rate == rate).and_then(|trial| trial.measured)
    });
    let at_found: Vec<Option<f64>> = at_found.map(Some).collect();
    let over = over_rounds(&found);
    let text = |text: Option<String>| text.unwrap_or_else(|| NOTHING.into());
    Row {
        capacity: text(over.map(|(rate, _)| three(rate))),
        interval: over
            .and_then(|(_, interval)| interval)
            .map_or_else(String::new, |interval| format!("{} to {}", three(interval.low), three(interval.high))),
        measured: text(crate::stats::geometric_mean(&at_found).map(time)),
        searches: match found.len() == searches.len() {
            true => found.len().to_string(),
            false => format!("{} of {}", found.len(), searches.len()),
        },
        trials: searches.iter().map(|search| search.trials.len() as u64).sum(),
        remark: remark(&name, &searches),
        name,
    }
}

fn rate_of(search: &SearchRecord) -> Option<f64> {
    match search.outcome {
        SearchOutcome::Found(rate) => Some(rate),
        SearchOutcome::NoneDownTo(_) | SearchOutcome::AllUpTo(_) => None,
    }
}

/// Why some searches found no rate.
fn remark(name: &str, searches: &[&SearchRecord]) -> Option<String> {
    let rounds = |wanted: &dyn Fn(&SearchOutcome) -> Option<f64>| {
        let held = searches.iter().filter_map(|search| Some((search.round + 1, wanted(&search.outcome)?)));
        held.map(|(round, rate)| format!("round {round} ({} calls/s)", three(rate))).collect::<Vec<_>>()
    };
    let none = rounds(&|answer| if let SearchOutcome::NoneDownTo(rate) = answer { Some(*rate) } else { None });
    let all = rounds(&|answer| if let SearchOutcome::AllUpTo(rate) = answer { Some(*rate) } else { None });
    let mut parts = Vec::new();
    if !none.is_empty() {
        parts.push(format!("no rate that could be judged kept the objective in {}", listed(&none)));
    }
    if !all.is_empty() {
        parts.push(format!("every rate up to the highest allowed kept it in {}", listed(&all)));
    }
    (!parts.is_empty()).then(|| format!("{name}: {}.", parts.join("; ")))
}
