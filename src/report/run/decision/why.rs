//! Why the slower strategy is slower.

use crate::record::{Counter, Part};
use crate::report::document::format::{capitalised, listed, marked, percent, three, time};
use crate::stats::{self, Cause, CostGap, CostGapOperation, Evidence, Waiting, cause};

use super::answer::Judged;

/// The most pieces of evidence in a sentence, divided among its operations.
const PIECES: usize = 2;

/// The sentence; `None` where no strategy is shown to be slower.
pub(crate) fn why(judged: &Judged) -> Option<String> {
    let loser = judged.answer.loser()?;
    let Some(own) = judged.parts.record(Part::Own) else {
        return Some("Not known: this run did not measure own costs (--only).".into());
    };
    let mix = match loser.criterion.part {
        Part::Own => stats::loaded(judged.parts.all_records())?,
        part => judged.parts.record(part)?,
    };
    let part = mix.part?;
    let measured = loser.criterion.quantity().as_time(loser.ratio?.mean).recip();
    let (slower, faster) = (judged.marked(loser.strategy), judged.marked(judged.answer.best));
    let text = Text {
        operations: &own.operations,
        slower,
        faster,
        at: judged.load(part),
        busy: load(judged, part, loser.strategy),
    };
    Some(match cause(own, mix, loser.strategy, judged.answer.best, measured) {
        Some(Cause::Cpu(gap)) => {
            let own = |one: &CostGapOperation| one.costs.map(|cost| time(cost * 1e3));
            let text = text.gap(&gap, "server CPU time", own, "CPU time by itself");
            format!("{text}. Over the whole mix: {} the CPU time.", times(gap.times))
        }
        Some(Cause::OwnTime(gap)) => {
            let text = text.gap(&gap, "time", |one| one.costs.map(time), "by itself");
            format!("{text}. Over the whole mix: {} the time; it is not CPU, so waiting or transfer.", times(gap.times))
        }
        Some(Cause::Waiting(waiting)) => text.waiting(&waiting),
        None => {
            "Not known: neither the own costs of the operations nor waiting in the mix predict this difference.".into()
        }
    })
}

/// A load as a share (0 to 1) of the calls per second that a strategy makes at saturation; `None` at saturation.
fn load(judged: &Judged, part: Part, strategy: usize) -> Option<f64> {
    let offered = judged.parts.get(part)?.strategies.get(strategy)?.open.as_ref()?.offered;
    let most = judged.parts.get(Part::Saturation)?.strategies.get(strategy)?.calls_per_second?;
    Some(offered / most).filter(|share| share.is_finite())
}

/// From this share of its throughput on, a strategy's calls queue so often that this alone explains long response times: with
/// random arrivals and one server the mean wait is that of 1.5 calls.
const BUSY: f64 = 0.6;

struct Text<'r> {
    operations: &'r [String],
    slower: String,
    faster: String,
    /// The load of the part, as `at 982 calls/s`.
    at: String,
    /// See [`load`].
    busy: Option<f64>,
}

impl Text<'_> {
    /// `by_author is 5 % of the calls and 42 % of embedded's CPU time`.
    fn gap(&self, gap: &CostGap, unit: &str, own: fn(&CostGapOperation) -> [String; 2], by_itself: &str) -> String {
        let (slower, faster) = (&self.slower, &self.faster);
        let names: Vec<String> = gap.operations.iter().map(|one| marked(&self.operations[one.operation])).collect();
        let verb = if names.len() == 1 { "is" } else { "are" };
        let share = format!(
            "{} {verb} {} of the calls and {} of {slower}'s {unit}",
            listed(&names),
            percent(gap.calls),
            percent(gap.cost)
        );
        let details = gap.operations.iter().enumerate().map(|(place, one)| {
            let [slow, fast] = own(one);
            let name = if gap.operations.len() == 1 { String::new() } else { format!("{} ", names[place]) };
            let (of, with) =
                if place == 0 { (format!(" {by_itself}"), format!(" with {faster}")) } else { Default::default() };
            let pieces = PIECES / gap.operations.len();
            format!("{name}{slow}{of} against {fast}{with}{}", evidence(&one.evidence, pieces))
        });
        format!("{share}: {}", details.collect::<Vec<_>>().join("; "))
    }

    fn waiting(&self, waiting: &Waiting) -> String {
        let (slower, faster) = (&self.slower, &self.faster);
        let [slow, fast] = waiting.stretch.map(three);
        let evidence = evidence(&waiting.evidence, PIECES);
        let what = match self.busy.filter(|load| *load >= BUSY) {
            Some(load) => {
                format!(": this load is {} of its calls/s at saturation, so calls queue{evidence}", percent(load))
            }
            None if evidence.is_empty() => "; calls queue behind each other, and no counter says for what".to_owned(),
            None => format!("; calls queue behind each other{evidence}"),
        };
        format!(
            "{} calls of {slower} take {slow} times as long as alone, those of {faster} {fast} times{what}.",
            capitalised(&self.at)
        )
    }
}

/// How many times as much, with two digits that differ from 1.
fn times(times: f64) -> String {
    if times < 1.095 { format!("{times:.2}x") } else { format!("{times:.1}x") }
}

/// Counters per call of the slower and the faster strategy, in brackets.
fn evidence(all: &[Evidence], most: usize) -> String {
    let piece = |one: &Evidence| {
        let (label, [slow, fast]) = match Counter::named(one.counter) {
            Some(counter) => (counter.label, one.per_call.map(|value| counter.unit.text(value))),
            None if one.counter == "round_trips" => ("round trips", one.per_call.map(three)),
            None => (one.counter, one.per_call.map(three)),
        };
        format!("{label} {slow} against {fast}")
    };
    let pieces: Vec<String> = all.iter().take(most).map(piece).collect();
    if pieces.is_empty() { String::new() } else { format!(" ({} per call)", pieces.join(", ")) }
}
