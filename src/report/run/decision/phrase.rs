//! Ratios, ties, answers, reasons and flips in words: the one place that words them.

use std::collections::BTreeSet;

use crate::report::document::format::{NOTHING, bytes, counted, interval, listed, percent, plain, three, time};
use crate::results::{
    BeatenRecord, ComparedNumber, Difference, FastestAtRecord, FastestRecord, PublishedAnswer, PublishedMetric, Reason,
    TradeOffRecord, Verdict, in_percent,
};
use crate::stats::{ConfidenceInterval, DIRTY_SHARE, MINIMUM_ROUNDS, Quantity, Ratio, ShareFlip};

/// What every form says where a comparison finds none.
pub const NO_DIFFERENCE: &str = "no difference found";
/// More names than these are counted.
const NAMED: usize = 3;

/// Ratios below it are said in percent.
const CLOSE: f64 = 1.095;
/// Of `1.25x the calls/s`, which some would read as 2.25 times if it were more.
const THE_CALLS: &str = "the calls/s";

/// How far one strategy is ahead of another, or behind it, by a number of the first divided by that of the second: with the digits
/// that tables have, in percent where it is close to 1.
pub fn factor(ratio: f64, quantity: Quantity) -> String {
    let times = ratio.max(ratio.recip());
    match (ratio < 1.0, quantity) {
        (true, Quantity::Time) => format!("{} faster", amount(times)),
        (false, Quantity::Time) => format!("{} slower", amount(times)),
        // Of the larger number: 8 % fewer, where the other makes 8.7 % more.
        (true, Quantity::Throughput) => format!("{} fewer calls/s", percent(1.0 - times.recip())),
        (false, Quantity::Throughput) if times < CLOSE => format!("{} more calls/s", amount(times)),
        (false, Quantity::Throughput) => format!("{} {THE_CALLS}", amount(times)),
    }
}

/// How many times, in percent where it is close to 1.
fn amount(times: f64) -> String {
    if times < CLOSE { percent(times - 1.0) } else { format!("{}x", three(times)) }
}

/// A [`factor`] and the strategy that it refers to: `1.25x faster than linked`, `1.25x the calls/s of linked`.
pub fn compared_with(factor: &str, other: &str) -> String {
    let word = if factor.ends_with(THE_CALLS) { "of" } else { "than" };
    format!("{factor} {word} {other}")
}

/// A [`factor`] with a verb: `is 1.25x faster`, `makes 1.25x the calls/s`.
pub fn is_factor(ratio: f64, quantity: Quantity) -> String {
    let verb = if quantity == Quantity::Time { "is" } else { "makes" };
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
    format!("{NO_DIFFERENCE} ({} would have shown)", percent(least))
}

/// Between which strategies no difference was found. `least` is the effect that would have been found, if any.
pub fn tie(names: &[String], least: Option<f64>) -> String {
    let names = short_list(names);
    match least {
        Some(least) => format!("Between {names} {}", no_difference(least)),
        None => format!("Undecided between {names}"),
    }
}

/// What one of several level strategies needs less of: `less` is a share (0 to 1), `than` the one that needs most where it is not
/// the only other one.
pub fn tie_breaker(name: &str, what: &str, less: f64, than: Option<&str>) -> String {
    let than = than.map_or_else(String::new, |other| format!(" than {other}"));
    format!("{name} needs {:.0} % less {what}{than}", (less * 100.0).min(99.0))
}

/// That a strategy could not keep up with a load, of which it did this share (0 to 1).
pub fn overload(name: &str, share: f64, rate: Option<f64>) -> String {
    let of = rate.map_or_else(|| "the calls".to_owned(), |rate| format!("{} calls/s", three(rate)));
    format!("{name} could not keep up ({} of {of})", percent(share))
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
    if let Some(winner) = &found.winner {
        let losers = losers(found, baseline).iter().map(beats).collect::<Vec<_>>().join(", ");
        let fragile = if found.fragile { " (fragile)" } else { "" };
        return ["Choose ".to_owned(), winner.clone(), format!("{fragile}: {losers}.")];
    }
    let best = found.leading.first().map_or("", String::as_str);
    let trade_offs = found.trade_offs.iter().map(|one| trade_off(best, one));
    let level = found.leading.iter().filter(|name| !found.trade_offs.iter().any(|one| one.strategy == **name));
    let level: Vec<String> = level.cloned().collect();
    let tie = (level.len() > 1 || found.trade_offs.is_empty()).then(|| tie(&level, found.least_effect) + ".");
    let sentences = worse(found, best).into_iter().chain(trade_offs).chain(tie);
    [sentences.collect::<Vec<_>>().join(" "), String::new(), String::new()]
}

/// [`answer`] in a few words, for the title of a page: `linked (2.00x)`, the factor being the first one of the answer.
pub fn short_answer(found: &PublishedAnswer, baseline: &str) -> String {
    let ahead = |one: &Loser<'_>| {
        let by = one.by.ratio.filter(|_| one.beaten.overloaded.is_none());
        by.map_or_else(String::new, |ratio| format!(" ({})", amount(ratio.max(ratio.recip()))))
    };
    let names = &found.leading;
    match &found.winner {
        Some(winner) => {
            let losers = losers(found, baseline);
            format!("{winner}{}", losers.first().map_or_else(String::new, ahead))
        }
        None if names.len() > NAMED => format!("no winner among {}", counted(names.len() as u64, "strategy")),
        None if !found.trade_offs.is_empty() => format!("{} (trade-off)", names.join(" or ")),
        None if found.least_effect.is_none() => format!("{} (undecided)", names.join(" or ")),
        None => format!("{} (no difference)", names.join(" or ")),
    }
}

/// The first number in which all losers with a ratio are shown to be worse, so that a headline speaks of one; `None` without any.
fn common_metric(losers: &[&BeatenRecord]) -> Option<PublishedMetric> {
    let compared = || losers.iter().filter(|one| one.overloaded.is_none());
    let first = compared().next()?;
    let is_common = |metric: &PublishedMetric| compared().all(|one| one.shown().any(|number| number.metric == *metric));
    first.shown().map(|number| number.metric).find(is_common)
}

/// A loser that a headline names.
pub struct Loser<'a> {
    /// Which.
    pub beaten: &'a BeatenRecord,
    /// The number that shows it: the same for all, if there is one.
    pub by: &'a ComparedNumber,
    also: Option<&'a ComparedNumber>,
}

/// The losers that the answer names, see [`named_losers`].
pub fn losers<'a>(found: &'a PublishedAnswer, baseline: &str) -> Vec<Loser<'a>> {
    let named = named_losers(&found.beaten, |one| one.strategy == baseline);
    let metric = common_metric(&named);
    let loser = |beaten: &'a BeatenRecord| match &beaten.also {
        Some(also) if Some(also.metric) == metric => Loser { beaten, by: also, also: Some(&beaten.by) },
        also => Loser { beaten, by: &beaten.by, also: also.as_ref() },
    };
    named.into_iter().map(loser).collect()
}

/// How far the best is ahead of a loser, by both numbers that were asked.
fn beats(one: &Loser<'_>) -> String {
    let Loser { beaten, by, also } = one;
    if let Some(share) = beaten.overloaded {
        return overload(&beaten.strategy, share, beaten.rate);
    }
    let also = also.map(|also| {
        let what = if also.metric.is_rate() { "calls/s" } else { "one client" };
        match also.difference {
            Difference::Reported => format!(" ({})", lead(also)),
            Difference::NotFound => format!(" ({what}: {NO_DIFFERENCE})"),
            Difference::Undecided => format!(" ({what}: undecided)"),
        }
    });
    compared_with(&lead(by), &beaten.strategy) + &also.unwrap_or_default()
}

/// Which strategies are worse than the best of those that lead.
fn worse(found: &PublishedAnswer, best: &str) -> Option<String> {
    let compared: Vec<&BeatenRecord> = found.beaten.iter().filter(|one| one.overloaded.is_none()).collect();
    let names: Vec<String> = compared.iter().map(|one| one.strategy.clone()).collect();
    let least = if names.len() > 1 { "at least " } else { "" };
    // Those that are worse in another number are not at least this far behind in this one.
    let numbers = common_metric(&compared).into_iter();
    let numbers = numbers.flat_map(|metric| {
        compared.iter().flat_map(move |one| one.shown().filter(move |number| number.metric == metric))
    });
    let size = |number: &ComparedNumber| number.ratio.map_or(f64::INFINITY, |ratio| ratio.ln().abs());
    let nearest = numbers.min_by(|a, b| size(a).total_cmp(&size(b)));
    let by = nearest.map_or_else(String::new, |nearest| format!(": {best} {}{least}{}", verb(nearest), lead(nearest)));
    let fragile = if found.fragile { " (fragile)" } else { "" };
    let behind = (!names.is_empty()).then(|| format!("Avoid {}{fragile}{by}.", short_list(&names)));
    let all: Vec<String> = behind.into_iter().chain(overloads(&found.beaten)).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// A sentence for every strategy that could not keep up with the load.
pub fn overloads(beaten: &[BeatenRecord]) -> impl Iterator<Item = String> {
    beaten.iter().filter_map(|one| {
        let subject = format!("{}: it", one.strategy);
        one.overloaded.map(|share| format!("Avoid {}.", overload(&subject, share, one.rate)))
    })
}

/// Where two strategies are better in turn.
fn trade_off(best: &str, one: &TradeOffRecord) -> String {
    let [ahead, behind] = [lead(&one.ahead), lead(&one.behind.turned())];
    format!(
        "Trade-off between {best} and {other}: {best} {is_ahead}, {other} {is_behind}.",
        other = one.strategy,
        is_ahead = format_args!("{}{ahead}", verb(&one.ahead)),
        is_behind = format_args!("{}{behind}", verb(&one.behind))
    )
}

fn verb(number: &ComparedNumber) -> &'static str {
    if number.metric.is_rate() { "makes " } else { "is " }
}

/// [`factor`] of a published number: of own times it says that they are those of one client.
pub fn lead(number: &ComparedNumber) -> String {
    let Some(ratio) = number.ratio else { return "not comparable".to_owned() };
    let quantity = if number.metric.is_rate() { Quantity::Throughput } else { Quantity::Time };
    let alone = if number.metric == PublishedMetric::OWN_TIME { " with one client" } else { "" };
    factor(ratio, quantity) + alone
}

/// The losers that an answer names: the baseline and the runner-up; where these are one, or the baseline wins, the runner-up
/// and the last.
pub fn named_losers<B: PartialEq>(beaten: &[B], is_baseline: impl Fn(&&B) -> bool) -> Vec<&B> {
    let of_baseline = beaten.iter().find(is_baseline);
    let (first, last) = (beaten.first(), beaten.last());
    let is_apart = of_baseline.is_some() && of_baseline != first;
    let named = if is_apart { [of_baseline, first] } else { [first, last] };
    let mut named: Vec<&B> = named.into_iter().flatten().collect();
    named.dedup();
    named
}

/// Why other mixes are not estimated.
pub const UNPREDICTED: &str = "times of single calls do not predict this mix";

/// From which share of an operation on another strategy wins. One digit more where the flip is fragile.
pub fn share_flip(name: &str, operation: &str, flip: &ShareFlip) -> String {
    let fragile = if flip.is_fragile() { "fragile: " } else { "" };
    format!("{fragile}{name} wins {}", from_share(operation, flip))
}

/// From which share of an operation on one of two level strategies is this much (0.2 for 20 %) slower.
pub fn end_of_tie(name: &str, than: &str, least: f64, operation: &str, end: &ShareFlip) -> String {
    format!("{name} is {} slower than {than} {}", percent(least), from_share(operation, end))
}

fn from_share(operation: &str, flip: &ShareFlip) -> String {
    let side = if flip.share > flip.measured { "exceeds" } else { "falls below" };
    let [at, measured] = shares([flip.share, flip.measured], usize::from(flip.is_fragile()));
    format!("once {operation} {side} about {at} of calls (now {measured}; estimated)")
}

/// Two shares with as few digits as tell them apart, and this many more.
fn shares(shares: [f64; 2], more: usize) -> [String; 2] {
    let with = |decimals: usize| shares.map(|share| format!("{:.decimals$} %", share * 100.0));
    let is_apart = |decimals: &usize| {
        let [one, other] = with(*decimals);
        one != other && !shares.map(percent).iter().any(|share| share.starts_with('<') && *decimals == 0)
    };
    let fewest = (0..6).find(is_apart).unwrap_or(6);
    if fewest == 0 && more == 0 { shares.map(percent) } else { with(fewest + more) }
}

/// From which network on another strategy wins, by the nanoseconds that a round trip takes longer.
pub fn network_flip(name: &str, longer: f64) -> String {
    format!("{name} is faster with one client once the network adds {} per round trip (computed)", time(longer))
}

/// Which strategy wins in another mix.
pub fn mix_flip(mix: &str, best: &str, by: &ComparedNumber, than: &str) -> String {
    format!("in the mix {mix}, {best} {}{} (measured)", verb(by), compared_with(&lead(by), than))
}

/// In which mixes a strategy beats those that win in others.
pub fn wins(name: &str, losers: &[String], mixes: &[String]) -> String {
    format!("{name} is better than {} in {}", listed(losers), listed(mixes))
}

/// Where two strategies change places on the axis of a condition: the first is faster below.
pub fn switch(first: &str, then: &str, range: &str) -> String {
    format!("the faster strategy switches from {first} to {then} at {range}")
}

/// Which strategies are the fastest at which values of a condition. Values next to each other that have the same share a mention.
pub fn fastest(record: &FastestRecord) -> String {
    let who = |strategies: &[String]| {
        let names = strategies.iter().map(|name| plain(name)).collect::<Vec<_>>().join(" or ");
        match strategies.len() {
            0 => NO_DIFFERENCE.to_owned(),
            1 => names,
            _ => format!("{names} ({NO_DIFFERENCE})"),
        }
    };
    let groups: Vec<_> = record.points.chunk_by(|one, next| one.strategies == next.strategies).collect();
    let said = |group: &&[FastestAtRecord]| {
        let values = listed(group.iter().map(|point| plain(&point.value)));
        let is_all = groups.len() == 1 && record.open.is_empty();
        let place = if is_all { "at every value".to_owned() } else { format!("at {values}") };
        format!("{} {place}", who(&group[0].strategies))
    };
    let open = (!record.open.is_empty()).then(|| not_compared(&record.open));
    let names: BTreeSet<&String> = record.points.iter().flat_map(|point| &point.left_out).collect();
    let left_out = names.into_iter().map(|name| {
        let points = record.points.iter().filter(|point| point.left_out.contains(name));
        format!("{} {}", plain(name), not_compared(points.map(|point| &point.value)))
    });
    let answer = groups.iter().map(said).chain(open).chain(left_out).collect::<Vec<_>>().join("; ");
    format!("Fastest in the {}: {answer}.", plain(&record.place))
}

fn not_compared<'v>(values: impl IntoIterator<Item = &'v String>) -> String {
    format!("not compared at {}", listed(values.into_iter().map(|value| plain(value))))
}

/// Why a verdict is no difference. `name` has the names of strategies by their position in the run.
pub fn undecided<'n>(verdict: Verdict, name: &dyn Fn(usize) -> Option<&'n str>) -> String {
    match verdict {
        Verdict::Faster | Verdict::Slower => verdict.id(),
        Verdict::Same { within } => format!("the difference is below {}", percent(within)),
        Verdict::NoDifference { within_noise: true, .. } => "within noise".to_owned(),
        Verdict::NoDifference { mde, .. } if mde.is_finite() => no_difference(mde),
        Verdict::NoDifference { .. } => NO_DIFFERENCE.to_owned(),
        Verdict::Inconclusive(why) => reason(why, name),
    }
}

/// Larger effects are as good as undetectable (10.0 for 1,000 %).
const LARGEST_EFFECT: f64 = 10.0;

/// Why a comparison is inconclusive.
pub fn reason<'n>(reason: Reason, name: &dyn Fn(usize) -> Option<&'n str>) -> String {
    let name = |strategy: usize| name(strategy).map_or_else(|| NOTHING.to_owned(), plain);
    let unstable = "inconclusive, as rounds differ too much";
    match reason {
        Reason::NotJudged => "not judged".into(),
        Reason::Reference => "the one that others are compared with".into(),
        Reason::Identical { baseline } => format!("the same commands as with {}", name(baseline)),
        // Without the strategy, so that strategies with one reason can be named together.
        Reason::OutOfContext { alone, in_mix, .. } => format!(
            "other work alone than in the mix: {} of the calls had an effect, in the mix {}",
            percent(alone),
            percent(in_mix)
        ),
        Reason::FewInFlight { strategy, share } => {
            format!("{} kept only {} of its clients busy", name(strategy), percent(share))
        }
        Reason::Failures { strategy, share } => {
            format!("{} failed in {} of its calls", name(strategy), percent(share))
        }
        Reason::Overloaded { strategy, achieved } => {
            format!("{} was overloaded: it kept up with {} of the intended calls", name(strategy), percent(achieved))
        }
        Reason::NoSuccess { strategy } => format!("{} had a round without a successful call", name(strategy)),
        Reason::WriteBack { strategy, written, stored } => format!(
            "shared cache: in a round {} were written back in slices of {}, which stored {}; measure with --isolate, or \
             with a server per strategy",
            bytes(written),
            name(strategy),
            bytes(stored)
        ),
        Reason::DirtyCache { dirty, cache } => format!(
            "shared cache: a round leaves {} to write, more than {} % of the cache of {}; measure with --isolate, or with \
             a server per strategy",
            bytes(dirty),
            in_percent(DIRTY_SHARE),
            bytes(cache)
        ),
        Reason::TooFewRounds(rounds) => format!("{MINIMUM_ROUNDS} rounds are required, and this run has {rounds}"),
        Reason::Unstable { mde } if mde < LARGEST_EFFECT => {
            format!("{unstable} (minimum detectable effect {}); use a longer preset", percent(mde))
        }
        Reason::Unstable { .. } => format!("{unstable}; use a longer preset"),
        Reason::Disturbed => {
            "not comparable, because the machine or the server differs too much between the runs".into()
        }
        Reason::Open => "a change beyond the tolerance is neither shown nor excluded".into(),
        Reason::RoundsDisagree => "lower in some rounds and higher in others".into(),
        Reason::NotSeen => "none happened in this run, which does not show that none can".into(),
        Reason::FewCalls => "too few calls per round exceed the percentile".into(),
        Reason::OtherSettings => "not measured by this run".into(),
        Reason::NeedsCluster => "needs a sharded cluster".into(),
        Reason::NeedsShardKeys => "decided by `docshape shardkey`".into(),
        Reason::NotInRun(_) => "not part of this run".into(),
        Reason::InvalidRun => "the run is invalid".into(),
        Reason::SmokePreset => "the preset smoke only checks that everything runs".into(),
        Reason::NotReported => "this run has no such number".into(),
        Reason::NotCheckpointed => "files were read without a checkpoint and lag behind".into(),
        Reason::UnknownMetric => "this version has no such metric".into(),
    }
}

/// How large a difference may be that a comparison does not show, in brackets.
pub fn missed(mde: f64) -> String {
    match mde {
        mde if mde <= 0.0 => String::new(),
        mde if mde < LARGEST_EFFECT => format!(" (a difference of up to {} could have been missed)", percent(mde)),
        _ => " (any difference could have been missed)".to_owned(),
    }
}

/// The minimum detectable effect as a table shows it.
pub fn effect(mde: f64) -> String {
    if mde < LARGEST_EFFECT { percent(mde) } else { "> 1,000 %".into() }
}

/// What sessions of one result say that do not agree about the winner, with how many sessions name each.
pub fn sessions_disagree(winners: &[(Option<&str>, usize)]) -> String {
    let all: usize = winners.iter().map(|(_, sessions)| sessions).sum();
    let of = |(winner, sessions): &(Option<&str>, usize)| match winner {
        Some(winner) => format!("{winner} is best in {sessions} of {all}"),
        None => format!("no strategy in {sessions} of {all}"),
    };
    let winners: Vec<String> = winners.iter().map(of).collect();
    format!("Sessions disagree: {}.", listed(&winners))
}

/// By how much ratios of another session may differ beyond the interval of a run, in 95 % of cases: labels of metrics, and 0.1 for
/// 10 %. `None` without any that is not 0.
pub fn other_session(further: &[(&str, f64)]) -> Option<String> {
    let known = further.iter().filter(|(_, further)| *further > 0.0);
    let known: Vec<String> = known.map(|(label, further)| format!("{} in {label}", percent(*further))).collect();
    (!known.is_empty()).then(|| format!("another session may differ by a further {}", listed(&known)))
}

/// How far the ratios of two sessions are apart: 1 is the standard deviation of the difference of two.
pub fn session_distance(distance: f64) -> String {
    format!("{distance:.1} times the usual difference of two sessions")
}
