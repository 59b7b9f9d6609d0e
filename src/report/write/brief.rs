//! The first screen of a run as lines for a terminal: at most [`MOST_LINES`], the answer last, above the prompt.

use std::fmt::Write as _;

use crate::report::document::chart::cut;
use crate::report::document::{Decision, NOTHING, Tone, bytes, counted, three, time, wrap};
use crate::report::run::decision::Judged;
use crate::report::run::evaluation::Evaluation;
use crate::report::run::parts::PartEvaluations;
use crate::report::run::sections::heat_map::{self, HeatRow};
use crate::report::{HTML_FILE, Report};
use crate::stats::Criterion;

use super::terminal::unmarked;

/// The most lines at 100 columns.
pub(crate) const MOST_LINES: usize = 30;

/// The most strategies with a line of their own.
const MOST_STRATEGIES: usize = 6;

/// The length of the longest bar, and that of the longest one that is worth drawing.
const BAR: usize = 12;
const SHORTEST_BAR: usize = 3;

/// The width of a column of numbers, and that of the ratio to the best.
const COLUMN: usize = 10;
const RATIO: usize = 8;

/// The fewest operations that are shown of those that there are.
const FEWEST_OPERATIONS: usize = 2;

/// The length of the longest name of a line below the tables.
const LABEL: usize = 10;

/// The longest name in the heading of a column.
const LONGEST_HEADING: usize = 19;

/// A line and how it looks.
pub(crate) type ToneLine = (Tone, String);

/// The lines of a report about a run; `None` for one that has no decision.
pub(crate) fn lines(report: &Report, width: usize) -> Option<Vec<ToneLine>> {
    let (headline, run) = (&report.headline, report.run.as_ref()?);
    let decision = headline.decision.as_ref().filter(|_| headline.invalid.is_empty())?;
    let mut before = wrapped(Tone::Strong, &format!("{}: {}", headline.scenario, headline.title), width);
    // What strategies are called must not cost the answer its place.
    let labels = headline.labels();
    before.extend(Some((Tone::Faint, labels)).filter(|(_, line)| (1..=width).contains(&line.chars().count())));
    before.extend(wrapped(Tone::Faint, &decision.scale, width));
    before.extend(headline.incomplete.iter().flat_map(|status| wrapped(Tone::Bad, status, width)));
    before.extend(block(strategies(&run.parts, decision, width)));
    let after = after(report, decision, width);
    let room = MOST_LINES.saturating_sub(before.len() + after.len());
    before.extend(block(operations(&run.parts, width, room)));
    before.extend(after);
    Some(before)
}

/// Everything below the tables.
fn after(report: &Report, decision: &Decision, width: usize) -> Vec<ToneLine> {
    let mut lines = Vec::new();
    let thresholds = report.run.iter().flat_map(|run| &run.thresholds);
    lines.extend(thresholds.flat_map(|one| {
        let (mark, tone) = one.mark();
        let tone = if tone == Tone::Good { Tone::Plain } else { tone };
        wrapped(tone, &format!("{}  {mark} {} {}", one.text, one.word(), one.found), width)
    }));
    let claims = report.run.as_ref().and_then(|run| run.claims.clone());
    let asides: Vec<String> = claims.into_iter().chain(warnings(report)).collect();
    if !asides.is_empty() {
        lines.extend(wrapped(Tone::Faint, &format!("{}.", asides.join(" · ")), width));
    }
    for (name, text) in decision.lines() {
        let room = width.saturating_sub(LABEL + 2).max(20);
        lines.extend(wrap(&unmarked(&text), room).into_iter().enumerate().map(|(place, line)| {
            let name = if place == 0 { name } else { "" };
            (Tone::Plain, format!("{name:<LABEL$}  {line}").trim_end().to_owned())
        }));
    }
    let mut lines = block(lines);
    lines.push((Tone::Plain, String::new()));
    let tone = if decision.winner.is_some() { Tone::Best } else { Tone::Strong };
    lines.extend(wrapped(tone, &decision.answer, width));
    lines.extend(report.folder.iter().map(|folder| {
        let file = if report.has_files { format!("/{HTML_FILE}") } else { String::new() };
        // A path that is broken cannot be copied.
        let (path, more) = (format!("Report: {folder}{file}"), "; --full prints all of it");
        let fits = path.chars().count() + more.len() <= width;
        (Tone::Faint, if fits { path + more } else { path })
    }));
    lines
}

/// Lines with a blank one before them; nothing without lines.
pub(crate) fn block(lines: Vec<ToneLine>) -> Vec<ToneLine> {
    if lines.is_empty() { lines } else { std::iter::once((Tone::Plain, String::new())).chain(lines).collect() }
}

/// A text as lines in a tone.
pub(crate) fn wrapped(tone: Tone, text: &str, width: usize) -> Vec<ToneLine> {
    wrap(&unmarked(text), width).into_iter().map(|line| (tone, line)).collect()
}

/// The number of warnings.
pub(super) fn warnings(report: &Report) -> Option<String> {
    let section = report.sections.iter().find(|section| section.id == "warnings")?;
    Some(counted(section.items.len() as u64, "warning"))
}

/// A heading, the number of a strategy, and how it is written.
type StrategyColumn<'p> = (&'static str, Box<dyn Fn(usize) -> Option<f64> + 'p>, fn(f64) -> String);

/// What the lines of strategies show: the numbers that decide go first.
fn columns<'p>(parts: &'p PartEvaluations, decisive: Criterion) -> [StrategyColumn<'p>; 5] {
    let of = |heading, criterion: Criterion, text| -> StrategyColumn<'p> {
        (heading, Box::new(move |place| parts.number_of_mix(criterion, place)), text)
    };
    let cpu = Box::new(|place| parts.mix_cost(place, "cpu_us").map(|microseconds| microseconds * 1e3));
    let index = Box::new(|place| parts.stored(place, |one| one.indexes.after));
    let tail = |heading| of(heading, Criterion::TAIL, time);
    let capacity = of("calls/s", Criterion::CAPACITY, three);
    let (cpu, index): (StrategyColumn<'p>, StrategyColumn<'p>) = (("CPU/call", cpu, time), ("index", index, bytes));
    if decisive == Criterion::RESPONSE {
        [of("response", decisive, time), tail("p99"), capacity, cpu, index]
    } else {
        [capacity, of("own time", Criterion::OWN_TIME, time), cpu, tail("load p99"), index]
    }
}

/// A line per strategy.
fn strategies(parts: &PartEvaluations, decision: &Decision, width: usize) -> Vec<ToneLine> {
    let main = parts.main();
    let answer = Judged::of(parts).map(|judged| judged.answer);
    let beaten =
        answer.iter().flat_map(|answer| answer.beaten().into_iter().map(|one| one.strategy).collect::<Vec<_>>());
    let beaten: Vec<usize> = beaten.collect();
    let decisive = answer.and_then(|answer| answer.criteria.first().copied());
    let decisive = decisive.unwrap_or(Criterion::OWN_TIME);
    let as_time = |place: usize| parts.number_of_mix(decisive, place).map(|number| decisive.quantity().as_time(number));
    let mut places: Vec<usize> = main.without_repeat().map(|(place, _)| place).collect();
    let times: Vec<(usize, f64)> = places.iter().filter_map(|place| Some((*place, as_time(*place)?))).collect();
    // An unsafe strategy is none to be measured by.
    let is_unsafe = |place: usize| main.strategies[place].is_unsafe;
    let order = |a: &&(usize, f64), b: &&(usize, f64)| is_unsafe(a.0).cmp(&is_unsafe(b.0)).then(a.1.total_cmp(&b.1));
    let Some(&(best, least)) = times.iter().min_by(order) else { return Vec::new() };
    let most = times.iter().map(|(_, time)| *time).fold(least, f64::max);
    // The ratio that is tested, as in every sentence.
    let question = parts.of_mix(decisive.part, decisive.metric);
    let times_best = |place: usize, time: f64| {
        let tested = question.and_then(|question| question.pair(place, best)?.ratio);
        tested.map_or(time / least, |ratio| decisive.quantity().as_time(ratio.mean))
    };
    if places.len() > MOST_STRATEGIES {
        let size = |place: &usize| as_time(*place).unwrap_or(f64::INFINITY);
        places.sort_by(|a, b| size(a).total_cmp(&size(b)));
    }
    let left_out = places.len().saturating_sub(MOST_STRATEGIES);
    places.truncate(MOST_STRATEGIES);
    let names: Vec<String> = places.iter().map(|place| name(main, *place, width / 3)).collect();
    let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    // What does not fit is left out, the numbers that decide last.
    let fitting = width.saturating_sub(widest + 3 + RATIO) / COLUMN;
    let columns: Vec<StrategyColumn> = columns(parts, decisive).into_iter().take(fitting.max(1)).collect();
    let mut heading = format!("  {:widest$} ", "");
    columns.iter().for_each(|(column, ..)| heading.push_str(&format!(" {column:>9}")));
    heading.push_str("  ");
    // What is left of the line for a bar.
    let room = width.saturating_sub(heading.chars().count() + 7).min(BAR);
    heading.push_str(if room < 9 { "× best" } else { "times the best" });
    let line = |(place, name): (&usize, &String)| {
        let mut line = format!("  {name:widest$} ");
        for (_, number, text) in &columns {
            let _ = write!(line, " {:>9}", number(*place).map_or_else(|| NOTHING.into(), text));
        }
        if let Some(time) = as_time(*place) {
            let length = ((time / most * room as f64).round() as usize).max(usize::from(room > 0));
            let bar = "█".repeat(if room < SHORTEST_BAR { 0 } else { length });
            let _ = write!(line, "  {:<6} {bar}", format!("×{}", three(times_best(*place, time))));
            line.truncate(line.trim_end().len());
        }
        let is_winner = decision.winner.as_deref() == main.strategies.get(*place).map(|one| one.name.as_str());
        let beaten = beaten.contains(place).then(|| Some(times_best(*place, as_time(*place)?))).flatten();
        (if is_winner { Tone::Best } else { beaten.map_or(Tone::Plain, heat_map::heat) }, line)
    };
    let rest = (left_out > 0).then(|| (Tone::Faint, format!("  and {left_out} more, which are worse")));
    std::iter::once((Tone::Faint, heading)).chain(places.iter().zip(&names).map(line)).chain(rest).collect()
}

/// The name of a strategy, cut to this many characters, and its role.
fn name(run: &Evaluation, place: usize, most: usize) -> String {
    let strategy = &run.strategies[place];
    let role = match (place, strategy.is_unsafe) {
        (_, true) => " (unsafe)",
        (0, false) => " (baseline)",
        _ => "",
    };
    format!("{}{role}", cut(&strategy.name, most.saturating_sub(role.len())))
}

/// A line per operation in at most `room` lines, from the heat map.
fn operations(parts: &PartEvaluations, width: usize, room: usize) -> Vec<ToneLine> {
    let all = heat_map::rows(parts);
    let rows: Vec<&HeatRow> = all.iter().filter(|row| !row.is_mix).collect();
    let Some(first) = rows.first() else { return Vec::new() };
    let strategy = |place: usize| parts.main().name(place).unwrap_or_default();
    let headings: Vec<String> = first.cells.iter().map(|one| cut(strategy(one.place), LONGEST_HEADING)).collect();
    let texts: Vec<Vec<String>> =
        rows.iter().map(|row| row.cells.iter().map(|one| one.short.clone()).collect()).collect();
    let names: Vec<String> = rows.iter().map(|row| cut(&row.name, width / 3)).collect();
    let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let column = |place: usize| {
        let own = texts.iter().filter_map(|texts| texts.get(place)).map(|text| text.chars().count());
        own.chain([headings[place].chars().count()]).max().unwrap_or(0)
    };
    // Columns that do not fit are left out, those of the last strategies first.
    let mut used = widest + 11;
    let fits = |column: &usize| {
        used += column + 2;
        used <= width
    };
    let columns: Vec<usize> = (0..headings.len()).map(column).take_while(fits).collect();
    let line = |name: &str, share: &str, texts: &[String]| {
        let mut line = format!("  {name:widest$}  {share:>6}");
        for (text, column) in texts.iter().zip(&columns) {
            let _ = write!(line, "  {text:>column$}");
        }
        line.trim_end().to_owned()
    };
    let left_out = (headings.len() - columns.len()) as u64;
    let more = (left_out > 0).then(|| format!("; {}: --full", counted(left_out, "more strategy")));
    let title = format!("{}, times the best; in brackets: no difference reported", heat_map::what(parts));
    let mut lines = wrapped(Tone::Faint, &(title + &more.unwrap_or_default()), width);
    lines.extend([(Tone::Faint, line("", "share", &headings))]);
    let room = room.saturating_sub(lines.len() + 1);
    // A heading without a row says nothing.
    let fitting = if rows.len() > room { room.saturating_sub(1).max(FEWEST_OPERATIONS) } else { room };
    let all = rows.iter().zip(&names).zip(&texts);
    let all = all.map(|((row, name), texts)| (Tone::Plain, line(name, &row.share, texts)));
    lines.extend(all.take(fitting));
    if rows.len() > fitting {
        lines
            .push((Tone::Faint, format!("  and {} more: --full", counted((rows.len() - fitting) as u64, "operation"))));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Part;
    use crate::report::tests::report;
    use crate::stats::sample;

    #[test]
    fn first_screen_has_at_most_thirty_lines_and_ends_with_the_answer() {
        for rounds in [1, 2, 8] {
            let report = report(&sample::run(rounds)).in_folder("results/blog-comments/1").with_files();
            let lines = lines(&report, 100).unwrap();
            assert!(lines.len() <= MOST_LINES, "{lines:#?}");
            assert!(lines.iter().all(|(_, line)| line.chars().count() <= 100), "{lines:#?}");
            let answer = &report.headline.decision.as_ref().unwrap().answer;
            assert_eq!(lines[lines.len() - 2].1, *answer);
        }
    }

    #[test]
    fn more_operations_than_fit_are_counted() {
        let report = report(&sample::run(8));
        let parts = &report.run.as_ref().unwrap().parts;
        let all = operations(parts, 100, 30);
        assert_eq!(all.len(), 2 + 3, "{all:#?}");
        let few = operations(parts, 100, 5);
        assert_eq!(few.last().unwrap().1, "  and 1 operation more: --full", "{few:#?}");
        let narrow = operations(parts, 40, 30);
        let text = narrow.iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>().join(" ");
        assert!(text.contains("more strategy: --full") || text.contains("more strategies: --full"), "{narrow:#?}");
    }

    #[test]
    fn times_the_best_is_the_ratio_that_is_tested() {
        let mut run = sample::whole(&sample::run(8));
        run.parts.retain(|part, _| *part == Part::Own);
        let report = Report::new(&run);
        let line = |report: &Report| {
            let lines = lines(report, 100).unwrap();
            lines.into_iter().find(|(_, line)| line.starts_with("  embedded")).unwrap().1
        };
        let same = line(&report);
        // The ratio is that of the rounds that both strategies have.
        let own = run.parts.get_mut(&Part::Own).unwrap();
        own[0].cells[0].operations.iter_mut().for_each(|operation| operation.outcomes.clear());
        let report = Report::new(&run);
        let without = line(&report);
        assert!(same.contains("754 µs") && without.contains("757 µs"), "{same}\n{without}");
        assert!(same.contains("×1.68") && without.contains("×1.68"), "{same}\n{without}");
    }

    #[test]
    fn invalid_runs_have_no_first_screen() {
        let mut run = sample::run(8);
        run.rounds[0].cells[0].connections_created = 3;
        assert!(lines(&report(&run), 100).is_none());
    }
}
