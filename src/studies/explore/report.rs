//! What is said of explored shapes: lines while they are tried, and the report.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::campaign::format_duration;
use crate::report::document::format::{percent, titled};
use crate::report::{
    Cell, Column, Forms, Headline, Measure, Report, Row, Section, Table, Tone, bytes, column, counted, listed, plain,
    three, time,
};
use crate::results::{MixRecord, Part, RunRecord};
use crate::stats::{Prediction, ShareFlip, mix_ratio};

use super::ranking::{best_of_random_mixes, better_in_everything, estimate, flips, ranked, ranked_by};
use super::record::{ExploreRecord, TriedOutcome, TriedRecord};
use super::search::MOST_COMBINATIONS;

/// The folder of the final run, relative to the study's.
pub const FINAL_FOLDER: &str = "final";

/// The rows that a terminal shows of shapes that were measured.
const SHOWN: usize = 8;

/// A shape is worse in an operation if that takes so many times as long as with the best shape of the list.
const WORSE: f64 = 1.5;

/// What the words of a row are.
const WORDS: &str = "Its words.";

/// How many shapes are put into words without a run.
const IN_WORDS: usize = 4;

/// How many mixes are named in which another shape is first.
const FLIPS: usize = 4;

/// How many of these operations are named.
const WORSE_NAMED: usize = 2;

/// What will be tried.
pub fn introduction(record: &ExploreRecord) -> String {
    let relation = |one: &super::record::RelationRecord| {
        let choices: Vec<String> = one.choices.iter().map(|words| words.join(" + ")).collect();
        format!("  {:<20} {}", one.key, choices.join(" | "))
    };
    let relations: Vec<String> = record.relations.iter().map(relation).collect();
    let search = if record.combinations > MOST_COMBINATIONS { ", searched relation by relation" } else { "" };
    format!(
        "{}: {} in {}{search}\n{}",
        record.scenario.name,
        counted(record.combinations, "combination"),
        counted(record.relations.len() as u64, "relation"),
        relations.join("\n")
    )
}

/// What became of shapes that were just derived.
pub fn derived(new: &[TriedRecord]) -> String {
    let count = |is_it: fn(&TriedOutcome) -> bool| new.iter().filter(|one| is_it(&one.outcome)).count();
    // Other ways come after all shapes.
    let are_ways = new.iter().all(|one| one.join.is_some() || one.writes.as_deref() == Some("ordered"));
    let in_vain = if are_ways {
        ["changes no command", "change no command"]
    } else {
        ["stores what no operation reads", "store what no operation reads"]
    };
    let left_out = [
        (count(|outcome| matches!(outcome, TriedOutcome::Refused(_))), ["cannot be derived"; 2]),
        (count(|outcome| matches!(outcome, TriedOutcome::Unread(_))), in_vain),
        (
            count(|outcome| matches!(outcome, TriedOutcome::Same(_))),
            ["is the same as another", "are the same as others"],
        ),
    ];
    let left = new.len() - left_out.iter().map(|(count, _)| count).sum::<usize>();
    let said = left_out.into_iter().filter(|(count, _)| *count > 0);
    let said = said.map(|(count, [one, many])| format!(", {count} {}", if count == 1 { one } else { many }));
    let all = counted(new.len() as u64, if are_ways { "other way" } else { "shape" });
    let all = if are_ways { format!("{all} to read or write the first shapes") } else { all };
    format!("  {left} of {all} derived{}", said.collect::<String>())
}

/// Why shapes were left out, each reason once with the first shape and their number.
pub fn reasons(tried: &[TriedRecord]) -> Vec<String> {
    let mut all: BTreeMap<&str, Vec<&TriedRecord>> = BTreeMap::new();
    for one in tried {
        if let TriedOutcome::Refused(reason) | TriedOutcome::Unread(reason) = &one.outcome {
            all.entry(reason).or_default().push(one);
        }
    }
    let line = |(reason, shapes): (&str, Vec<&TriedRecord>)| {
        let more = if shapes.len() > 1 { format!(" and {} more", shapes.len() - 1) } else { String::new() };
        format!("  {}{more}: {}", plain(&shapes[0].name), plain(reason))
    };
    all.into_iter().map(line).collect()
}

/// What the verification of some shapes found.
pub fn verified(record: &ExploreRecord, names: &[String], took: Duration) -> String {
    let of = || names.iter().filter_map(|name| record.named(name));
    let wrong = of().filter_map(|one| match &one.outcome {
        TriedOutcome::Wrong(problem) => Some(format!("\n  {} does not: {}", plain(&one.name), plain(problem))),
        _ => None,
    });
    let (wrong, all) = (wrong.collect::<Vec<_>>(), names.len());
    let right = all - wrong.len();
    format!("  {right} of {all} give the answers of the model ({}){}", format_duration(took), wrong.concat())
}

/// What the measurement of some shapes found.
pub fn measured(record: &ExploreRecord, names: &[String], took: Duration) -> String {
    let (measured, best) = (counted(names.len() as u64, "strategy"), best_so_far(record));
    format!("  own costs of {measured}{best} ({})", format_duration(took))
}

/// That some shapes need no measurement.
pub fn known(record: &ExploreRecord, count: usize) -> String {
    let shapes = counted(count as u64, "shape");
    format!("  own costs of {shapes} known from those with the same commands{}", best_so_far(record))
}

fn best_so_far(record: &ExploreRecord) -> String {
    ranked(record).first().map_or_else(String::new, |(best, estimate)| {
        format!("; best so far {}, {}", plain(&best.name), time(*estimate))
    })
}

/// What is compared in the end.
pub fn finals(record: &ExploreRecord) -> String {
    let names = listed(record.finalists.iter().map(|name| plain(name)));
    format!("comparing {names}, preset {}", record.settings.preset.name())
}

/// A measured shape in the list.
struct Ranked<'r> {
    record: &'r ExploreRecord,
    tried: &'r TriedRecord,
    estimate: f64,
    best: f64,
    /// The share of random mixes in which it is the best.
    mixes: f64,
}

impl Report {
    /// Computes the report of explored shapes; `finals` is the run that compared the first ones, which has a report of its own.
    pub fn of_explored(record: &ExploreRecord, finals: Option<&RunRecord>) -> Report {
        let sections = [
            Some(list(record, false)),
            in_words(record),
            by_mix(record),
            flipped(record),
            failed(record),
            finals.and_then(|run| agreement(record, run)),
            refused(record),
        ];
        Report::of(headline(record, finals), sections.into_iter().flatten())
    }

    /// The same without a verdict, as a terminal shows it above that of the final run; all shapes if they are asked for.
    pub fn of_shapes(record: &ExploreRecord, all: bool) -> Report {
        let head = headline(record, None);
        let sections = [Some(list(record, all)), in_words(record), by_mix(record), flipped(record), failed(record)];
        let sections = sections.into_iter().flatten();
        Report::of(if record.finalists.len() < 2 { head } else { Headline { sentences: Vec::new(), ..head } }, sections)
    }
}

fn subject(record: &ExploreRecord) -> String {
    let measured = record.count(|outcome| matches!(outcome, TriedOutcome::Measured(_)));
    let (measured, all) = (counted(measured, "shape"), counted(record.combinations, "combination"));
    format!("{measured} measured of {all} of words; mix {}.", plain(&record.mix))
}

fn headline(record: &ExploreRecord, finals: Option<&RunRecord>) -> Headline {
    let ranked = ranked(record);
    let estimated = match ranked.as_slice() {
        [] => "No shape was measured.".to_owned(),
        [(best, _)] => format!("{} is the only shape that was measured.", plain(&best.name)),
        [(best, lowest), (second, next), ..] => format!(
            "{} has the lowest estimate, {}; {} {} times as much. Only a run compares them: contention is not in estimates.",
            plain(&best.name),
            time(*lowest),
            plain(&second.name),
            three(next / lowest)
        ),
    };
    let found = finals.filter(|run| run.complete_rounds() > 0).map(|run| Report::new(run).headline);
    let (invalid, decision) = found.map_or((Vec::new(), None), |found| (found.invalid, found.decision));
    // An answer from a run that may not be used is none.
    let answer = decision.filter(|_| invalid.is_empty()).map(|decision| decision.answer);
    let invalid = invalid.first().map(|reason| format!("The run of the finalists may not be used: {reason}"));
    let sentences: Vec<String> = answer.into_iter().chain(invalid).chain([estimated]).collect();
    Headline {
        scenario: plain(&record.scenario.name),
        title: plain(&record.scenario.title),
        tab: format!("{}, shapes: {}", titled(&record.scenario.name), sentences[0]),
        subject: vec![subject(record)],
        mix: plain(&record.mix),
        incomplete: (!record.complete).then(|| "Not all is done: `docshape explore --resume` goes on.".to_owned()),
        sentences,
        ..Headline::default()
    }
}

/// The shapes by their estimates.
fn list<'r>(record: &'r ExploreRecord, all: bool) -> Section {
    let ranked = ranked(record);
    let best = ranked.first().map_or(1.0, |(_, estimate)| *estimate);
    let mixes: BTreeMap<&str, f64> = best_of_random_mixes(record).into_iter().collect();
    // Names of other shapes are their words.
    let has_numbers = ranked.iter().any(|(tried, _)| tried.is_numbered());
    let measures = [
        column("place", "place", "Its place in the list.").count(|one: &(usize, Ranked)| one.0 as u64 + 1),
        if has_numbers {
            column("shape", "shape", WORDS).text(|one: &(usize, Ranked)| one.1.words()).only(Forms::DETAILED)
        } else {
            Measure::data("shape", WORDS, |one: &(usize, Ranked)| Some(one.1.words()))
        },
        column("estimate_ns", "estimate", "The mean of own times, weighted by the mix.")
            .number(time, |one: &(usize, Ranked)| one.1.estimate),
        column("ratio", "ratio", "That divided by the lowest one.")
            .number(three, |one: &(usize, Ranked)| one.1.estimate / one.1.best),
        column("largest_bytes", "largest", "Bytes of its largest document.")
            .number(bytes, |one: &(usize, Ranked)| one.1.tried.measured().and_then(|own| own.largest)),
        column(
            "worse",
            "slower in",
            "Operations that take much longer than with the shape that does each of them fastest.",
        )
        .text(|one: &(usize, Ranked)| one.1.worse())
        .only(Forms::DETAILED),
        column(
            "mixes",
            "best in",
            "The share of random mixes of the same operations in which its estimate is the lowest.",
        )
        .number(percent, |one: &(usize, Ranked)| one.1.mixes),
        column(
            "better",
            "more work than place",
            "A shape that does no more of anything that is counted (round trips, keys, documents, bytes, oplog), and less of something.",
        )
        .text(|one: &(usize, Ranked)| one.1.better())
        .only(Forms::DETAILED),
    ];
    let row = |(place, (tried, estimate)): (usize, (&'r TriedRecord, f64))| {
        let mixes = mixes.get(tried.name.as_str()).copied().unwrap_or(0.0);
        let is_final = record.finalists.contains(&tried.name);
        let name = Cell::text(plain(&tried.name)).tone(if is_final { Tone::Strong } else { Tone::default() });
        let row = Row::new(name);
        let row = if all || place < SHOWN || is_final { row } else { row.only(Forms::DETAILED) };
        (row, (place, Ranked { record, tried, estimate, best, mixes }))
    };
    let rows = ranked.iter().copied().enumerate().map(row);
    let table = Table::new("shapes", "Shapes tried", Column::strategy(), &measures, rows);
    let is_hidden = |(tried, _): &&(&TriedRecord, f64)| !all && !record.finalists.contains(&tried.name);
    let hidden = ranked.iter().skip(SHOWN).filter(is_hidden).count();
    let section = Section::new("shapes", "Shapes tried")
        .lead(
            "Estimates from own times of few calls: they know no contention, and places less than about 10 % apart may change. Those that the last run \
             compares are strong.",
        )
        .table(table);
    let section = section.note(record.cut_short.as_deref().map(plain).unwrap_or_default());
    let more = format!("{} more are in the page and with --all.", hidden);
    if hidden > 0 { section.note_in(Forms::TERMINAL, more) } else { section }
}

impl Ranked<'_> {
    /// The words of the shape; of a strategy of the scenario those of the same shape, if there is one.
    fn words(&self) -> String {
        plain(&self.record.shape_of(self.tried).words(&self.record.relations))
    }

    /// The place of a shape that is better in everything, and its name: a column of names would leave no room for their own.
    fn better(&self) -> Cell {
        let better = better_in_everything(self.record, self.tried);
        let ranked = ranked(self.record);
        let place = better.and_then(|name| ranked.iter().position(|(tried, _)| tried.name == name));
        Cell::text(place.map(|place| (place + 1).to_string()).unwrap_or_default()).with_value(better.map(plain))
    }

    /// The operations that take much longer than with the best shape for them.
    fn worse(&self) -> String {
        let Some(own) = self.tried.measured() else { return String::new() };
        let fastest = |operation: usize| {
            let all = self.record.tried.iter().filter_map(|one| *one.measured()?.times.get(operation)?);
            all.fold(f64::INFINITY, f64::min)
        };
        let called = self.record.weights.iter().enumerate().filter(|(_, (_, weight))| *weight > 0.0);
        let ratios = called.filter_map(|(at, (name, _))| Some((name, (*own.times.get(at)?)? / fastest(at))));
        let mut worse: Vec<_> = ratios.filter(|(_, ratio)| *ratio > WORSE).collect();
        worse.sort_by(|one, other| other.1.total_cmp(&one.1));
        let texts = worse.iter().take(WORSE_NAMED).map(|(name, ratio)| format!("{} {}x", plain(name), three(*ratio)));
        texts.collect::<Vec<_>>().join(", ")
    }
}

/// The strategy with the most calls per second in the run.
pub fn first_of_run(finals: &RunRecord) -> Option<String> {
    let parts = finals.all_parts();
    Some(parts.get(&Part::Saturation)?.strategy_name(Prediction::of(&parts)?.best).to_owned())
}

/// What the shapes of the run are, or the first ones without a run.
fn in_words(record: &ExploreRecord) -> Option<Section> {
    let ranked = ranked(record);
    let is_shown = |(place, tried): &(usize, &TriedRecord)| {
        if record.finalists.is_empty() { *place < IN_WORDS } else { record.finalists.contains(&tried.name) }
    };
    let shapes = ranked.iter().map(|(tried, _)| *tried).enumerate().filter(is_shown);
    let line = |(_, tried): (usize, &TriedRecord)| {
        format!("{}: {}", plain(&tried.name), plain(&record.shape_of(tried).words(&record.relations)))
    };
    let lines: Vec<String> = shapes.map(line).collect();
    (!lines.is_empty()).then(|| Section::new("words", "What these shapes are").items(lines))
}

/// How the estimates of the finalists compare with what the run measured.
fn agreement(record: &ExploreRecord, finals: &RunRecord) -> Option<Section> {
    let parts = finals.all_parts();
    let mix = parts.get(&Part::Saturation)?;
    let prediction = Prediction::of(&parts)?;
    let best = prediction.best;
    let name = |place: usize| plain(mix.strategy_name(place));
    let estimated = |place: usize| estimate(record, record.named(mix.strategy_name(place))?);
    let others = prediction.held.iter().copied().chain(prediction.failed.iter().map(|one| one.strategy));
    let line = |place: usize| {
        let ratio = estimated(place)? / estimated(best)?;
        let measured = mix_ratio(mix, place, best)?;
        Some(format!("{}: {} estimated, {} measured at saturation", name(place), three(ratio), three(measured)))
    };
    let mut places: Vec<usize> = others.collect();
    places.sort_unstable();
    let lines: Vec<String> = places.into_iter().filter_map(line).collect();
    let lead = format!("Time per call of the mix, relative to {}.", name(best));
    (!lines.is_empty())
        .then(|| Section::new("estimates", "Estimates and the run").lead(lead).items(lines).only(Forms::DETAILED))
}

/// The first shape by each of the other mixes that the user named, beside the one that is first by the mix.
fn by_mix(record: &ExploreRecord) -> Option<Section> {
    let best = ranked(record).first()?.0.name.as_str();
    let line = |mix: &MixRecord| {
        let ranked = ranked_by(record, &mix.weights);
        let (first, lowest) = ranked.first().map(|(tried, estimate)| (tried.name.as_str(), *estimate))?;
        let (_, own) = ranked.iter().find(|(tried, _)| tried.name == best)?;
        let (mix, ratio) = (plain(&mix.name), three(own / lowest));
        Some(if first == best {
            format!("{mix}: {} as well, {}", plain(best), time(lowest))
        } else {
            format!("{mix}: {}, {}; {} takes {ratio} times as long", plain(first), time(lowest), plain(best))
        })
    };
    let lines: Vec<String> = record.also.iter().filter_map(line).collect();
    (!lines.is_empty())
        .then(|| Section::new("by_mix", "Which shape is first in other mixes, by the estimates").items(lines))
}

/// The mixes in which another shape has the lowest estimate.
fn flipped(record: &ExploreRecord) -> Option<Section> {
    let line = |(name, flip): (&str, ShareFlip)| {
        let (word, operation) =
            if flip.share > flip.measured { ("above", flip.operation) } else { ("below", flip.operation) };
        let operation = record.weights.get(operation).map_or("", |(name, _)| name.as_str());
        let (share, measured) = (percent(flip.share), percent(flip.measured));
        format!("{} {word} {share} of calls (now {measured}): {}", plain(operation), plain(name))
    };
    let lines: Vec<String> = flips(record).into_iter().take(FLIPS).map(line).collect();
    (!lines.is_empty()).then(|| Section::new("flips", "Where another shape is first, by the estimates").items(lines))
}

/// What does not give the model's answers, or could not be measured.
fn failed(record: &ExploreRecord) -> Option<Section> {
    let line = |tried: &TriedRecord| {
        let name = plain(&tried.name);
        match &tried.outcome {
            TriedOutcome::Wrong(problem) => {
                Some(format!("{name} does not give the model's answers: {}", plain(problem)))
            }
            TriedOutcome::Failed(reason) => Some(format!("{name} could not be measured: {}", plain(reason))),
            _ => None,
        }
    };
    let lines: Vec<String> = record.tried.iter().filter_map(line).collect();
    (!lines.is_empty()).then(|| Section::new("failed", "Shapes that failed").items(lines))
}

/// What cannot be derived, or stores what nothing reads.
fn refused(record: &ExploreRecord) -> Option<Section> {
    let lines: Vec<String> = reasons(&record.tried).into_iter().map(|line| line.trim().to_owned()).collect();
    (!lines.is_empty()).then(|| Section::new("refused", "Shapes refused").items(lines).only(Forms::DETAILED))
}
