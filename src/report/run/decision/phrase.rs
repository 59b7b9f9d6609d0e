//! Ratios, ties and answers in words: the one place that words them.

use crate::report::document::format::{count, interval, listed, percent};
use crate::results::{BeatenRecord, PublishedAnswer};
use crate::stats::{ConfidenceInterval, Quantity, Ratio};

/// More names than these are counted.
const NAMED: usize = 3;

/// How far one strategy is ahead of another, or behind it, by a number of the first divided by that of the second: two digits,
/// in percent where it is close to 1.
pub fn factor(ratio: f64, quantity: Quantity) -> String {
    let times = ratio.max(ratio.recip());
    let word = match (ratio < 1.0, quantity) {
        (true, Quantity::Time) => "faster",
        (false, Quantity::Time) => "slower",
        (true, Quantity::Throughput) => "fewer calls/s",
        (false, Quantity::Throughput) => "more calls/s",
    };
    match times {
        // Of the larger number: 8 % fewer, where the other makes 8.7 % more.
        _ if times < 1.995 && word.starts_with("fewer") => format!("{} {word}", percent(1.0 - times.recip())),
        _ if times < 1.095 => format!("{} {word}", percent(times - 1.0)),
        _ if times < 9.95 => format!("{times:.1}x {word}"),
        _ => format!("{}x {word}", count(times.round() as u64)),
    }
}

/// The same with a verb: `is 1.2x faster`, `makes 1.2x more calls/s`.
pub fn is_factor(ratio: f64, quantity: Quantity) -> String {
    let verb = match quantity {
        Quantity::Time => "is",
        Quantity::Throughput => "makes",
    };
    format!("{verb} {}", factor(ratio, quantity))
}

/// The interval of [`factor`].
pub fn factor_interval(ratio: &Ratio) -> Option<String> {
    let is_less = ratio.mean < 1.0;
    let bounds = |one: ConfidenceInterval| if is_less { one.turned() } else { one };
    ratio.interval.map(bounds).map(|bounds| interval(bounds.low, bounds.high))
}

/// What a comparison without a difference shows: one as large as this would have been found.
pub fn no_difference(least: f64) -> String {
    format!("no difference found ({} would have shown)", percent(least))
}

/// Which strategies are not told apart. `least` is the effect that would have been found, if any.
pub fn tie(names: &[String], least: Option<f64>) -> String {
    let names = short_list(names);
    match least {
        Some(least) => format!("{names}: {}", no_difference(least)),
        None => format!("Undecided between {names}"),
    }
}

/// Some names; of many, how many more there are.
fn short_list(names: &[String]) -> String {
    if names.len() <= NAMED {
        return listed(names);
    }
    format!("{} and {} others", names[..NAMED - 1].join(", "), names.len() + 1 - NAMED)
}

/// The answer in pieces: before the name of the winner, the name, and after it. Without a winner all of it is in the first.
pub fn answer(found: &PublishedAnswer, baseline: &str) -> [String; 3] {
    let losers = |beaten: &[&BeatenRecord]| {
        let texts = beaten.iter().map(|one| format!("{} than {}", factor(one.ratio, quantity(one)), one.strategy));
        texts.collect::<Vec<_>>().join(", ")
    };
    if let Some(winner) = &found.winner {
        let named = named_losers(&found.beaten, baseline);
        return ["Choose ".to_owned(), winner.clone(), format!(": {}.", losers(&named))];
    }
    let tie = tie(&found.leading, found.least_effect);
    let best = found.leading.first().map_or("", String::as_str);
    let worse = |one: &BeatenRecord| factor(one.ratio.recip(), quantity(one));
    let text = match found.beaten.as_slice() {
        [] => format!("{tie}."),
        [one] => format!("Avoid {}: {} than {best}. {tie}.", one.strategy, worse(one)),
        [nearest, ..] => {
            let names: Vec<String> = found.beaten.iter().map(|one| one.strategy.clone()).collect();
            format!("Avoid {}: at least {} than {best}. {tie}.", short_list(&names), worse(nearest))
        }
    };
    [text, String::new(), String::new()]
}

/// The losers that an answer names: the baseline and the runner-up; where these are one, or the baseline wins, the runner-up
/// and the last.
pub fn named_losers<'b>(beaten: &'b [BeatenRecord], baseline: &str) -> Vec<&'b BeatenRecord> {
    let of_baseline = beaten.iter().find(|one| one.strategy == baseline);
    let (first, last) = (beaten.first(), beaten.last());
    let is_apart = of_baseline.is_some() && of_baseline != first;
    let named = if is_apart { [of_baseline, first] } else { [first, last] };
    let mut named: Vec<&BeatenRecord> = named.into_iter().flatten().collect();
    named.dedup();
    named
}

/// What the ratio of a loser is of.
fn quantity(beaten: &BeatenRecord) -> Quantity {
    if beaten.metric.is_rate() { Quantity::Throughput } else { Quantity::Time }
}
