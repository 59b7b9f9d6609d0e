//! Why the slower strategies are slower.

use crate::record::{Counter, Part};
use crate::report::document::format::{bytes, count, listed, marked, percent, three};
use crate::stats::{
    Cause, CostlyOperation, Criterion, DocumentSize, Evidence, Mechanism, OplogKind, Ratio, ServerWork, WaitReason,
    Waiting, cause,
};

use super::answer::Judged;
use super::phrase::named_losers;

/// The most reasons of one operation.
const REASONS: usize = 2;

/// The most counters that a sentence without a reason names.
const CANDIDATES: usize = 2;

/// The most strategies that are explained.
const EXPLAINED: usize = 3;

/// A difference to explain: the slower and the faster strategy, the criterion, and how many times.
type NamedDifference = ([usize; 2], Criterion, f64);

/// A sentence for each strategy of the answer, the largest factor first; of level strategies, what they do alike. `None` where
/// nothing is decided.
pub(crate) fn why(judged: &Judged) -> Option<String> {
    let differences = differences(judged);
    let parts = judged.parts.all_records();
    if differences.is_empty() {
        return level(judged);
    }
    if judged.parts.record(Part::Own).is_none() {
        return Some("Not known: this run did not measure own costs (--only).".into());
    }
    let sentence = |(pair, by, factor): &NamedDifference| {
        let faster = judged.marked(pair[1]);
        let reason = match cause(parts, *by, *pair, *factor) {
            Some(Cause::Operations(all)) => operations(judged, &faster, &all),
            Some(Cause::Waiting(found)) => waiting(judged, &faster, load(judged, by.part, pair[0]), &found),
            None => "not known: neither own costs nor waiting in the mix predict this difference".into(),
        };
        format!("{}, {}: {reason}.", judged.marked(pair[0]), times(*factor))
    };
    Some(differences.iter().take(EXPLAINED).map(sentence).collect::<Vec<_>>().join(" "))
}

/// The operations, at least half of the calls, in which level strategies show no difference alone, or that differences cancel out.
fn level(judged: &Judged) -> Option<String> {
    judged.answer.least_effect()?;
    let (own, level) = (judged.parts.get(Part::Own)?, judged.answer.leading());
    let questions = own.comparisons().filter_map(|question| {
        let row = own.rows.iter().find(|row| row.operation == question.operation && row.operation.is_some())?;
        Some((marked(&row.name), row.share.filter(|share| *share > 0.0)?, question.differs(&level)))
    });
    let (apart, alike): (Vec<_>, Vec<_>) = questions.partition(|(.., differs)| *differs);
    let share: f64 = alike.iter().map(|(_, share, _)| share).sum();
    let calls = match alike.len() {
        _ if share < 0.5 => return None,
        _ if apart.is_empty() => "all operations".to_owned(),
        1..=3 => format!("{} ({} of calls)", listed(alike.iter().map(|(name, ..)| name)), percent(share)),
        _ => format!("operations of {} of calls", percent(share)),
    };
    Some(format!("No difference is found in {calls} alone."))
}

/// What the answer names, the largest difference first: the best strategy against those that it beats, and both sides of a
/// trade-off.
pub(crate) fn differences(judged: &Judged) -> Vec<NamedDifference> {
    let answer = &judged.answer;
    let beaten = answer.beaten();
    let named = match answer.winner() {
        Some(_) => named_losers(&beaten, |one| one.strategy == answer.baseline),
        None => beaten.iter().collect(),
    };
    let named = named.into_iter().map(|one| (one.criterion, one.ratio, one.strategy));
    let sides = answer.trade_offs().flat_map(|one| {
        let results = [one.ahead(), one.behind()].into_iter().flatten();
        results.map(move |result| (result.criterion, result.comparison.ratio, one.against))
    });
    let difference = |(by, ratio, against): (Criterion, Option<Ratio>, usize)| {
        let times = by.quantity().as_time(ratio?.mean).recip();
        let pair = if times < 1.0 { [answer.best, against] } else { [against, answer.best] };
        Some((pair, by, times.max(times.recip())))
    };
    let mut all: Vec<NamedDifference> = named.chain(sides).filter_map(difference).collect();
    all.sort_by(|(.., one), (.., other)| other.total_cmp(one));
    all
}

/// From this share of its throughput on, a strategy's calls queue so often that this alone explains long response times: with
/// random arrivals and one server the mean wait is that of 1.5 calls.
const BUSY: f64 = 0.6;

/// `read_post (10 % of calls) reads 421 documents instead of one`.
fn operations(judged: &Judged, faster: &str, all: &[CostlyOperation]) -> String {
    let reasons = REASONS / all.len();
    let said = |one: &CostlyOperation| {
        let said = one.mechanisms.iter().take(reasons.max(1)).map(|one| mechanism(one, faster));
        said.collect::<Vec<_>>().join(", and ")
    };
    let mut sentences: Vec<String> = Vec::new();
    let mut last = String::new();
    for one in all {
        let (name, calls) = (operation(judged, one.operation), percent(one.calls));
        let reason = said(one);
        sentences.push(if reason == last {
            format!("so does {name} ({calls})")
        } else {
            format!("{name} ({calls} of calls) {reason}")
        });
        last = reason;
    }
    sentences.join("; ")
}

fn operation(judged: &Judged, operation: usize) -> String {
    marked(judged.parts.main_record().map_or("?", |record| &record.operations[operation]))
}

/// What calls of the slower strategy wait for; `load` is its [`load`].
fn waiting(judged: &Judged, faster: &str, load: Option<f64>, waiting: &Waiting) -> String {
    let [slow, fast] = waiting.stretch.map(times);
    let stretched = format!("under load, calls take {slow} as long as alone ({faster}: {fast})");
    match &waiting.reason {
        WaitReason::Retries { operation: retried, per_call: [slow, fast] } => format!(
            "{} collides with other clients and is repeated {} times per call ({faster}: {})",
            operation(judged, *retried),
            three(*slow),
            three(*fast)
        ),
        WaitReason::Behind { operation: waits, behind, cpu } => format!(
            "{} has nothing of its own: it is the same commands, and waits behind {} ({} of the CPU time)",
            operation(judged, *waits),
            operation(judged, *behind),
            percent(*cpu)
        ),
        WaitReason::Counted(all) if !all.is_empty() => format!("{stretched}: {}", evidence(all, faster)),
        WaitReason::Counted(_) => match load.filter(|load| *load >= BUSY) {
            Some(load) => format!("{stretched}: this load is {} of its calls/s at saturation", percent(load)),
            None => format!("{stretched}; no counter shows what they wait for"),
        },
    }
}

/// A load as a share (0 to 1) of the calls per second that a strategy makes at saturation; `None` at saturation.
fn load(judged: &Judged, part: Part, strategy: usize) -> Option<f64> {
    let offered = judged.parts.get(part)?.strategies.get(strategy)?.open.as_ref()?.offered;
    let most = judged.parts.get(Part::Saturation)?.strategies.get(strategy)?.calls_per_second?;
    Some(offered / most).filter(|share| share.is_finite())
}

/// What a call does, as the end of a sentence that begins with its operation. `faster` is the name of the other strategy.
pub(crate) fn mechanism(one: &Mechanism, faster: &str) -> String {
    let through = |index: &Option<String>| match index.as_deref() {
        Some("_id_") => format!(" through {}", marked("_id")),
        Some(index) => format!(" through the index {}", marked(index)),
        None => String::new(),
    };
    match one {
        Mechanism::Commands { commands: [slow, fast], in_transaction, writes } => {
            let transaction = if *in_transaction { " in a transaction" } else { "" };
            if *fast < 0.05 {
                return format!("needs {}{transaction}, {faster} none", several(*slow, "command"));
            }
            let writes = if *writes && !in_transaction { ", and some of them write" } else { "" };
            format!("needs {}{transaction} instead of {}{writes}", several(*slow, "command"), number(*fast))
        }
        Mechanism::Oplog { kind, bytes: [slow, fast], sent, updated } => {
            let than = if *fast > 0.0 { format!(" instead of {}", bytes(*fast)) } else { String::new() };
            let (slow, updated) = (bytes(*slow), several(*updated, "document"));
            match kind {
                OplogKind::ManyDocuments => format!("updates {updated}: {slow} of oplog{than}"),
                OplogKind::Rewrite => {
                    format!("rewrites much of {updated}: {slow} of oplog{than}, for {} sent", bytes(*sent))
                }
                OplogKind::Large => format!("writes {slow} of oplog{than}"),
            }
        }
        Mechanism::Documents { documents: [slow, fast], index, instead_of } => {
            let than = instead_of.map_or_else(|| number(*fast), |size| format!("one of {}", bytes(size)));
            format!("reads {}{} instead of {than}", several(*slow, "document"), through(index))
        }
        Mechanism::Walks { examined: [slow, fast], used, index } => {
            let of = index.as_deref().map_or_else(String::new, |index| format!(" of the index {}", marked(index)));
            format!("walks {}{of} to find {} ({faster}: {})", entries(*slow), number(*used), entries(*fast))
        }
        Mechanism::Server(work) => match work {
            ServerWork::GraphLookup => "looks up one level after another in the server ($graphLookup)".into(),
            ServerWork::Join => "joins in the server ($lookup)".into(),
            ServerWork::Scan => "scans a collection: no index serves it".into(),
            ServerWork::Sort => "sorts in memory".into(),
        },
        Mechanism::Update { documents, size } => {
            let what = if *documents < 1.5 { "a document".into() } else { several(*documents, "document") };
            let of = size.map_or_else(String::new, |size| format!(" of {}", document_size(size)));
            format!("finds and updates {what}{of} instead of an insert")
        }
        Mechanism::Writes { documents: [slow, fast] } => {
            format!("writes {} instead of {}", several(*slow, "document"), number(*fast))
        }
        Mechanism::Reply { bytes: [slow, fast] } => {
            format!("sends {} instead of {} for the same result", bytes(*slow), bytes(*fast))
        }
        Mechanism::Indexes { more, entries } => {
            let entries = entries.map_or_else(String::new, |[slow, fast]| {
                format!(" ({} inserted entries instead of {})", number(slow), number(fast))
            });
            let indexes = if *more == 1 { "index" } else { "indexes" };
            format!("maintains {more} more {indexes}{entries}")
        }
        Mechanism::Size { sizes: [slow, fast] } => format!(
            "runs as many commands on documents of {} instead of {}",
            document_size(*slow),
            document_size(*fast)
        ),
        Mechanism::Unknown(all) if all.is_empty() => "takes longer, and no counter tells why".into(),
        Mechanism::Unknown(all) => {
            format!("takes longer, and no counter tells why (candidates: {})", evidence(all, faster))
        }
    }
}

/// A mean number: without digits where it is close to a whole one.
fn number(value: f64) -> String {
    if (value - value.round()).abs() < 0.05 || value >= 100.0 { count(value.round() as u64) } else { three(value) }
}

/// `2 commands`, `2.68 commands`.
fn several(value: f64, noun: &str) -> String {
    let plural = if number(value) == "1" { "" } else { "s" };
    format!("{} {noun}{plural}", number(value))
}

fn entries(value: f64) -> String {
    if number(value) == "1" { "1 entry".into() } else { format!("{} entries", number(value)) }
}

/// `24 KB (up to 286 KB)`.
fn document_size(size: DocumentSize) -> String {
    let largest =
        if size.largest >= 2.0 * size.mean { format!(" (up to {})", bytes(size.largest)) } else { String::new() };
    format!("{}{largest}", bytes(size.mean))
}

/// How many times as much.
fn times(times: f64) -> String {
    format!("{}x", three(times))
}

/// Counters per call of the slower and the faster strategy.
fn evidence(all: &[Evidence], faster: &str) -> String {
    let piece = |(place, one): (usize, &Evidence)| {
        let (label, [slow, fast]) = match Counter::named(one.counter) {
            Some(counter) => (counter.label, one.per_call.map(|value| counter.unit.text(value))),
            None if one.counter == "round_trips" => ("round trips", one.per_call.map(three)),
            None => (one.counter, one.per_call.map(three)),
        };
        let of = if place == 0 { format!(" per call ({faster}: {fast})") } else { format!(" ({fast})") };
        format!("{label} {slow}{of}")
    };
    listed(all.iter().take(CANDIDATES).enumerate().map(piece).collect::<Vec<_>>())
}
