//! The sessions of a published result: what is added to it, what they say together, and how far all of them are apart.

use std::collections::{BTreeMap, BTreeSet};

use crate::report::document::{counted, percent, plain, three};
use crate::report::run::decision::phrase;
use crate::results::{
    ComparedNumber, MetricRecord, PublishedAnswer, PublishedMetric, PublishedRecord, SessionRecord, SessionsRecord,
    SpreadRecord, Standing,
};
use crate::stats::{self, ConfidenceInterval, QuotedRatio, ResultSessions, SessionSpread, quoted, session_ratios};

use super::matrix::PlacedResult;

/// Characters of a hash that a message shows.
const SHOWN_HASH: usize = 12;

/// Why a run is no other session of a result, each with both values; empty where it is one.
pub fn differences(old: &PublishedRecord, new: &PublishedRecord) -> Vec<String> {
    let hash = |record: &PublishedRecord| record.scenario.sha256.chars().take(SHOWN_HASH).collect::<String>();
    let strategies = |record: &PublishedRecord| {
        let mut names: Vec<&str> = record.strategies.iter().map(|one| one.name.as_str()).collect();
        names.sort_unstable();
        names.join(", ")
    };
    let pairs = [
        ("the SHA-256 of its scenario begins with", hash(new), hash(old)),
        ("its version of docshape is", new.version.clone(), old.version.clone()),
        ("its strategies are", strategies(new), strategies(old)),
        ("its server is", new.server.topology.clone(), old.server.topology.clone()),
        ("its clients are", new.clients.to_string(), old.clients.to_string()),
    ];
    let differing = pairs.into_iter().filter(|(_, new, old)| new != old);
    differing.map(|(what, new, old)| format!("{what} {new}, and there {old}")).collect()
}

/// Puts sessions together, the newest last; of the same session, that of the first list stays.
pub fn merged(first: Vec<SessionRecord>, others: Vec<SessionRecord>) -> Vec<SessionRecord> {
    let mut all = first;
    for session in others {
        if !all.iter().any(|known| known.is_same(&session)) {
            all.push(session);
        }
    }
    all.sort_by(|a, b| a.started.cmp(&b.started));
    all
}

/// The winners of a result's sessions, with how many sessions name each; `None` where all agree.
pub fn disagreement(sessions: &[SessionRecord]) -> Option<Vec<(Option<&str>, usize)>> {
    let mut counts: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    sessions.iter().for_each(|session| *counts.entry(session.winner.as_deref()).or_default() += 1);
    let mut counts: Vec<_> = counts.into_iter().collect();
    // The most frequent first, and no winner last of equals.
    counts.sort_by_key(|(winner, count)| (std::cmp::Reverse(*count), winner.is_none()));
    (counts.len() > 1).then_some(counts)
}

/// Takes the winner from a result whose sessions disagree about it.
pub fn settle(result: &mut PublishedRecord) {
    let Some(winners) = disagreement(&result.sessions) else { return };
    let winners = winners.into_iter().filter_map(|(winner, _)| winner).map(str::to_owned);
    let leading: Vec<String> = winners.chain(result.answer.leading.drain(..)).collect();
    let mut seen = BTreeSet::new();
    let answer = &mut result.answer;
    answer.winner = None;
    answer.leading = leading.into_iter().filter(|name| seen.insert(name.clone())).collect();
    answer.trade_offs.clear();
    answer.beaten.retain(|one| !answer.leading.contains(&one.strategy));
    for record in result.strategies.iter_mut().flat_map(|strategy| strategy.metrics.values_mut()) {
        if record.standing == Some(Standing::Best) {
            record.standing = Some(Standing::First);
        }
    }
}

/// The spread of sessions by metric, from all results that are shown.
#[derive(Debug, Clone, Default)]
pub struct Spreads(BTreeMap<PublishedMetric, SessionSpread>);

impl Spreads {
    /// Estimates them.
    pub fn of<'r>(results: impl Iterator<Item = &'r PublishedRecord>) -> Spreads {
        let results: Vec<ResultSessions> = results.map(of_result).collect();
        let spread = |metric| Some((metric, SessionSpread::of(&results, metric)?));
        Spreads(PublishedMetric::OF_SESSIONS.into_iter().filter_map(spread).collect())
    }

    /// The number of one strategy divided by that of another, as it is quoted of all sessions of a result; `None` with a single one.
    /// `run` is the interval of the newest session's run.
    pub fn quoted(
        &self,
        sessions: &[SessionRecord],
        metric: PublishedMetric,
        [strategy, against]: [&str; 2],
        run: Option<[f64; 2]>,
    ) -> Option<QuotedRatio> {
        let run = run.map(|[low, high]| ConfidenceInterval { low, high });
        quoted(&session_ratios(sessions, metric, strategy, against), *self.0.get(&metric)?, run)
    }

    /// A number of a strategy with the ratio to the best that is quoted; `None` where there is a single session, or no ratio.
    pub fn of_number(&self, result: &PublishedRecord, metric: PublishedMetric, strategy: &str) -> Option<MetricRecord> {
        let number = |name: &str| result.strategies.iter().find(|one| one.name == name)?.metrics.get(&metric).copied();
        let own = number(strategy).filter(|own| own.ratio.is_some())?;
        // Of the numbers that are tested, that of the best has no ratio.
        let is_best = |name: &&str| number(name).is_some_and(|one| one.standing.is_some() && one.ratio.is_none());
        let value = |name: &str| number(name).map_or(0.0, |one| if metric.is_rate() { -one.value } else { one.value });
        let candidates = result.strategies.iter().map(|one| one.name.as_str()).filter(is_best);
        let best = candidates.min_by(|a, b| value(a).total_cmp(&value(b)))?;
        let found = self.quoted(&result.sessions, metric, [strategy, best], own.interval)?;
        let interval = Some([found.interval.low, found.interval.high]);
        Some(MetricRecord { ratio: Some(found.ratio), interval, ..own })
    }

    /// What a result says, with the ratios that are quoted.
    pub fn answer(&self, result: &PublishedRecord) -> PublishedAnswer {
        let mut answer = result.answer.clone();
        let best = answer.leading.first().cloned().unwrap_or_default();
        let quote = |strategy: &str, number: &mut ComparedNumber| {
            let pair = [best.as_str(), strategy];
            if let Some(found) = self.quoted(&result.sessions, number.metric, pair, number.interval) {
                (number.ratio, number.interval) = (Some(found.ratio), Some([found.interval.low, found.interval.high]));
            }
        };
        for beaten in &mut answer.beaten {
            quote(&beaten.strategy, &mut beaten.by);
            beaten.also.iter_mut().for_each(|number| quote(&beaten.strategy, number));
        }
        for one in &mut answer.trade_offs {
            [&mut one.ahead, &mut one.behind].into_iter().for_each(|number| quote(&one.strategy, number));
        }
        answer
    }
}

/// The sessions of a result.
pub fn of_result(result: &PublishedRecord) -> ResultSessions<'_> {
    ResultSessions { scenario: &result.scenario.name, sessions: &result.sessions }
}

/// The answer of a result in words; `None` without a verdict.
pub fn answer_text(result: &PublishedRecord, spreads: &Spreads) -> Option<String> {
    if let Some(winners) = disagreement(&result.sessions) {
        return Some(plain(&phrase::sessions_disagree(&winners)));
    }
    let baseline = result.strategies.first().map_or("", |first| &first.name);
    let answer = spreads.answer(result);
    (!answer.leading.is_empty()).then(|| plain(&phrase::answer(&answer, baseline).concat()))
}

/// The spread as `sessions.json` has it.
pub fn record(results: &[PlacedResult]) -> String {
    format!("{}\n", serde_json::to_string(&spread(results)).unwrap_or_default())
}

/// The spread of all results.
pub fn spread(results: &[PlacedResult]) -> SessionsRecord {
    stats::spreads(&results.iter().map(|one| of_result(&one.record)).collect::<Vec<_>>())
}

/// How far another session may be from an interval of one session, in a part of a sentence; `None` where no result has two sessions.
pub fn further<'r>(results: impl Iterator<Item = &'r PublishedRecord>) -> Option<String> {
    let results: Vec<ResultSessions> = results.map(of_result).collect();
    let known = |metric: PublishedMetric| {
        let further = SessionSpread::of(&results, metric)?.further();
        further.is_finite().then_some((metric.column().label, further))
    };
    let known = [PublishedMetric::OWN_TIME, PublishedMetric::CALLS_PER_SECOND].into_iter().filter_map(known);
    phrase::other_session(&known.collect::<Vec<_>>())
}

/// The spread as a table in Markdown, for docs/method.md.
pub fn table(record: &SessionsRecord) -> String {
    if record.metrics.is_empty() {
        return "No published result has a second session yet.\n".to_owned();
    }
    let head = "| metric | standard deviation of ln ratio between sessions (95 % CI) | another session may differ by a further | results, \
                pairs | a run's 95 % CI contains another session's ratio | the stated interval does |\n|---|---|---|---|---|---|\n";
    let row = |(metric, spread): (&PublishedMetric, &SpreadRecord)| {
        let interval =
            spread.interval.map_or_else(String::new, |[low, high]| format!(" ({} to {})", three(low), three(high)));
        let coverage = spread.coverage;
        let share = |count: u64| match coverage.ratios {
            0 => "–".to_owned(),
            ratios => format!("{} ({count} of {ratios})", percent(count as f64 / ratios as f64)),
        };
        format!(
            "| {} | {}{interval} | {} | {}, {} | {} | {} |\n",
            metric.column().label,
            three(spread.tau),
            percent(SessionSpread::from(*spread).further()),
            counted(spread.results, "result"),
            counted(spread.pairs, "pair"),
            share(coverage.run),
            coverage.stated.map_or_else(|| "–".to_owned(), share),
        )
    };
    std::iter::once(head.to_owned()).chain(record.metrics.iter().map(row)).collect()
}
