//! What another session would give: the random effect of the session on the ratio of two strategies.
//!
//! A session is a measurement of a result: other data and calls, another start of the servers, another hour of the machine. The ln
//! ratio of a pair of strategies in session *s* is r_s = mu + b_s + e_s. The variance v_s of e_s is known from the rounds of the
//! session (the squared standard error of the mean); b_s is what the session does, with variance tau².
//!
//! tau² is a moment estimate, pooled over all pairs of all results. The sample variance s² of S sessions of a pair has the mean
//! tau² + v̄, with v̄ the mean of v_s, so tau² = Σ w (S-1) (s² - v̄) / Σ w (S-1), or 0 where that is negative: the estimator of the
//! analysis of variance for random-effects models (Cochran, Biometrics 10, 1954; Hedges, Psychological Bulletin 93, 1983). Unlike that
//! of DerSimonian and Laird (Control. Clin. Trials 7, 1986) it does not give the pairs with the most precise rounds the most weight:
//! what sessions do is to be estimated, not mu. Pairs of one result share strategies: K strategies have K-1 independent contrasts,
//! and K (K-1) / 2 pairs weigh w = 2/K each. Because results of a scenario are alike, too, the interval of tau resamples scenarios
//! (percentile bootstrap).
//!
//! The ratio of another session differs from the mean of S sessions with the variance (tau² + v̄) (1 + 1/S): what the session does,
//! its rounds, and the uncertainty of the mean. Student's t with the fewer degrees of freedom of tau and of the rounds makes
//! it a 95 % prediction interval (Higgins, Thompson and Spiegelhalter, J. R. Stat. Soc. A 172, 2009).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::generate::{Label, Seed, Stream};
use crate::record::{Metric, Part};
use crate::results::{
    CoverageRecord, Document, PublishedMetric, RunRecord, SessionRecord, SessionsRecord, SpreadRecord,
};

use super::estimate::{ConfidenceInterval, Estimate, log_ratios};
use super::family::Family;
use super::latency::arithmetic_mean;
use super::series::{RoundSeries, SeriesKey};
use super::student::t_quantile;
use super::view::judged;
use super::welch::Shift;

/// Resamples of the bootstrap.
const RESAMPLES: u64 = 2_000;

/// Of all intervals 95 % contain what they are for.
const TWO_SIDED: f64 = 0.975;

/// The published spread.
#[cfg(not(test))]
const PUBLISHED_TEXT: &str = include_str!("../../results/sessions.json");

/// None: snapshots of reports do not change when a session is published.
#[cfg(test)]
const PUBLISHED_TEXT: &str = "";

/// The sessions of a result.
#[derive(Debug, Clone, Copy)]
pub struct ResultSessions<'r> {
    /// Its scenario.
    pub scenario: &'r str,
    /// Its sessions, the newest last.
    pub sessions: &'r [SessionRecord],
}

/// The random effect of the session on the ln ratio of two strategies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SessionSpread {
    /// Its standard deviation.
    pub tau: f64,
    /// The degrees of freedom that it is estimated with.
    pub freedom: usize,
}

/// The ratio that is quoted of several sessions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuotedRatio {
    /// The geometric mean over sessions.
    pub ratio: f64,
    /// What another session would give, in 95 % of cases.
    pub interval: ConfidenceInterval,
    /// How many sessions.
    pub sessions: usize,
}

/// Returns the spread that was published when docshape was built; `None` where no result had a second session.
pub fn published_spread(metric: PublishedMetric) -> Option<SpreadRecord> {
    static PUBLISHED: LazyLock<SessionsRecord> = LazyLock::new(|| {
        // A test reads the file, which is part of the program.
        serde_json::from_str(PUBLISHED_TEXT).unwrap_or_default()
    });
    PUBLISHED.metrics.get(&metric).copied()
}

/// Returns by how much (0.1 for 10 %) the ratio of another session may differ beyond the interval of a run, by the published spread;
/// `None` where no result had a second session.
pub fn further_between_sessions(metric: PublishedMetric) -> Option<f64> {
    published_spread(metric).map(|spread| SessionSpread::from(spread).further()).filter(|further| further.is_finite())
}

/// Returns the pair of strategies whose calls per second are furthest apart in two runs, and how far, as
/// [`SessionSpread::distance`] by the published spread; `None` where that or a pair is unknown.
pub fn session_distance<'r>(one: &'r RunRecord, other: &'r RunRecord) -> Option<(f64, [&'r str; 2])> {
    let spread = SessionSpread::from(published_spread(PublishedMetric::CALLS_PER_SECOND)?);
    let parts = [one.part(Part::Saturation)?, other.part(Part::Saturation)?];
    let rounds = |part: &RunRecord, name: &str| {
        let strategy = judged(part).find(|place| part.strategy_name(*place) == name)?;
        Some(RoundSeries::of(part, SeriesKey::new(Metric::Throughput, strategy, None)).rounds)
    };
    let ratio =
        |part: &RunRecord, pair: [&str; 2]| Estimate::of(&log_ratios(&rounds(part, pair[0])?, &rounds(part, pair[1])?));
    let names: Vec<&str> = judged(one).map(|place| one.strategy_name(place)).collect();
    let pairs =
        names.iter().enumerate().flat_map(|(place, name)| names[..place].iter().map(|against| [*name, *against]));
    let distance = |pair| Some((spread.distance(&ratio(&parts[0], pair)?, &ratio(&parts[1], pair)?)?, pair));
    pairs.filter_map(distance).max_by(|a, b| a.0.total_cmp(&b.0))
}

/// Returns the number of one strategy divided by that of another in each session that has both, as ln ratios. Sessions at another
/// rate than the newest say nothing about its response times.
pub fn session_ratios(
    sessions: &[SessionRecord],
    metric: PublishedMetric,
    strategy: &str,
    against: &str,
) -> Vec<Estimate> {
    let rate = sessions.last().and_then(|newest| newest.rate);
    let is_meant = |session: &&SessionRecord| metric != PublishedMetric::RESPONSE_MEAN || session.rate == rate;
    let ratio = |session: &SessionRecord| {
        let numbers = session.numbers.get(&metric)?;
        Estimate::of(&log_ratios(numbers.get(strategy)?, numbers.get(against)?))
    };
    sessions.iter().filter(is_meant).filter_map(ratio).filter(|one| one.mean.is_finite()).collect()
}

/// Returns the ratio of two strategies that is quoted of these sessions; `None` where no two have it. `run` is the interval of the
/// newest session's run, which is quoted around the mean where it is the wider one.
pub fn quoted(ratios: &[Estimate], spread: SessionSpread, run: Option<ConfidenceInterval>) -> Option<QuotedRatio> {
    let (mean, sessions) = (arithmetic_mean(ratios.iter().map(|one| one.mean))?, ratios.len());
    let of_run = run.map_or(0.0, |run| (run.high / run.low).ln() / 2.0);
    let half_width = spread.half_width(ratios)?.max(of_run);
    let interval = ConfidenceInterval { low: (mean - half_width).exp(), high: (mean + half_width).exp() };
    (sessions > 1 && half_width.is_finite()).then_some(QuotedRatio { ratio: mean.exp(), interval, sessions })
}

impl From<SpreadRecord> for SessionSpread {
    fn from(record: SpreadRecord) -> SessionSpread {
        SessionSpread { tau: record.tau, freedom: record.freedom as usize }
    }
}

impl SessionSpread {
    /// Estimates it from all results with at least two sessions; `None` without any.
    pub fn of(results: &[ResultSessions], metric: PublishedMetric) -> Option<SessionSpread> {
        let moments = results.iter().map(|result| Moments::of(&pairs(result.sessions, metric)));
        moments.fold(Moments::default(), Moments::plus).spread()
    }

    /// How far the ln ratio of another session is from the mean of these, in 95 % of cases; `None` with a single round, and without
    /// sessions.
    fn half_width(&self, ratios: &[Estimate]) -> Option<f64> {
        let errors = ratios.iter().map(|one| Some(one.error()?.powi(2))).collect::<Option<Vec<f64>>>()?;
        let rounds = ratios.iter().map(|one| one.rounds).min()?;
        let variance = (self.tau.powi(2) + arithmetic_mean(errors.into_iter())?) * (1.0 + 1.0 / ratios.len() as f64);
        Some(t_quantile(TWO_SIDED, self.freedom.min(rounds.saturating_sub(1)).max(1)) * variance.sqrt())
    }

    /// By how much (0.1 for 10 %) the ratio of another session may differ beyond the interval of a run: 95 % of all pairs of
    /// sessions, whose effects differ with the variance 2 tau², are less far apart.
    pub fn further(&self) -> f64 {
        (t_quantile(TWO_SIDED, self.freedom.max(1)) * 2_f64.sqrt() * self.tau).exp_m1()
    }

    /// The difference of the means of two sessions, with what sessions do: its variance is 2 tau² more.
    pub(crate) fn widened(&self, shift: Shift) -> Shift {
        let error = (2.0 * self.tau.powi(2) + shift.error.powi(2)).sqrt();
        Shift { error, freedom: shift.freedom.min(self.freedom).max(1), ..shift }
    }

    /// How far two ratios are apart, as a multiple of the usual difference between sessions: the standard deviation of the
    /// difference of two.
    pub fn distance(&self, one: &Estimate, other: &Estimate) -> Option<f64> {
        let variance = 2.0 * self.tau.powi(2) + one.error()?.powi(2) + other.error()?.powi(2);
        Some((one.mean - other.mean).abs() / variance.sqrt()).filter(|distance| distance.is_finite())
    }
}

/// The pairs of strategies of a result with at least two sessions, each with the ln ratio of every session.
fn pairs(sessions: &[SessionRecord], metric: PublishedMetric) -> Vec<SessionPair> {
    let names = sessions.iter().filter_map(|session| session.numbers.get(&metric)).flat_map(BTreeMap::keys);
    let names: Vec<&String> = names.collect::<BTreeSet<_>>().into_iter().collect();
    let pair = |strategy: &str, against: &str| SessionPair {
        strategies: [strategy.to_owned(), against.to_owned()],
        ratios: session_ratios(sessions, metric, strategy, against),
    };
    let all = names
        .iter()
        .enumerate()
        .flat_map(|(place, strategy)| names[..place].iter().map(|against| pair(strategy, against)).collect::<Vec<_>>());
    all.filter(|pair| pair.ratios.len() > 1 && pair.ratios.iter().all(|one| one.error().is_some())).collect()
}

/// Two strategies in several sessions.
struct SessionPair {
    strategies: [String; 2],
    ratios: Vec<Estimate>,
}

/// The sums of the moment estimate.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    excess: f64,
    freedom: f64,
}

impl Moments {
    /// Of the pairs of one result.
    fn of(pairs: &[SessionPair]) -> Moments {
        let strategies: BTreeSet<&String> = pairs.iter().flat_map(|pair| &pair.strategies).collect();
        let weight = 2.0 / strategies.len().max(1) as f64;
        let of_pair = |pair: &SessionPair| {
            let ratios: Vec<Option<f64>> = pair.ratios.iter().map(|one| Some(one.mean)).collect();
            let deviation = Estimate::of(&ratios).and_then(|one| one.deviation).unwrap_or_default();
            let sampling = arithmetic_mean(pair.ratios.iter().filter_map(|one| Some(one.error()?.powi(2))));
            let freedom = weight * (pair.ratios.len() - 1) as f64;
            Moments { excess: freedom * (deviation.powi(2) - sampling.unwrap_or_default()), freedom }
        };
        pairs.iter().map(of_pair).fold(Moments::default(), Moments::plus)
    }

    fn plus(self, other: Moments) -> Moments {
        Moments { excess: self.excess + other.excess, freedom: self.freedom + other.freedom }
    }

    fn spread(self) -> Option<SessionSpread> {
        let tau = (self.excess / self.freedom).max(0.0).sqrt();
        (self.freedom > 0.0).then_some(SessionSpread { tau, freedom: (self.freedom.round() as usize).max(1) })
    }
}

/// Computes the spread of all metrics from all results.
pub fn spreads(results: &[ResultSessions]) -> SessionsRecord {
    let metrics =
        PublishedMetric::OF_SESSIONS.into_iter().filter_map(|metric| Some((metric, spread(results, metric)?)));
    SessionsRecord {
        format: SessionsRecord::FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        metrics: metrics.collect(),
    }
}

fn spread(results: &[ResultSessions], metric: PublishedMetric) -> Option<SpreadRecord> {
    let mut scenarios: BTreeMap<&str, Moments> = BTreeMap::new();
    let (mut repeated, mut all_pairs) = (0, 0);
    for result in results {
        let pairs = pairs(result.sessions, metric);
        if !pairs.is_empty() {
            let moments = scenarios.entry(result.scenario).or_default();
            *moments = moments.plus(Moments::of(&pairs));
            (repeated, all_pairs) = (repeated + 1, all_pairs + pairs.len() as u64);
        }
    }
    let scenarios: Vec<Moments> = scenarios.into_values().collect();
    let SessionSpread { tau, freedom } = scenarios.iter().copied().fold(Moments::default(), Moments::plus).spread()?;
    Some(SpreadRecord {
        tau: digits(tau),
        interval: bootstrap(&scenarios).map(|ends| ends.map(digits)),
        freedom: freedom as u64,
        scenarios: scenarios.len() as u64,
        results: repeated,
        pairs: all_pairs,
        coverage: coverage(results, metric),
    })
}

/// The 95 % CI of tau from resampled scenarios.
fn bootstrap(scenarios: &[Moments]) -> Option<[f64; 2]> {
    if scenarios.len() < 2 {
        return None;
    }
    let resampled = |ordinal: u64| {
        let mut stream = Stream::new(Seed::new(0), Label::new("sessions"), ordinal);
        let draws = scenarios.iter().map(|_| scenarios[stream.below(scenarios.len() as u64) as usize]);
        draws.fold(Moments::default(), Moments::plus).spread().map(|spread| spread.tau)
    };
    let mut taus: Vec<f64> = (0..RESAMPLES).filter_map(resampled).collect();
    taus.sort_by(f64::total_cmp);
    let at = |share: f64| taus.get((share * (taus.len() - 1) as f64).round() as usize).copied();
    Some([at(1.0 - TWO_SIDED)?, at(TWO_SIDED)?])
}

/// How often the interval of one session contains the ratio of another one of the same result.
pub fn coverage(results: &[ResultSessions], metric: PublishedMetric) -> CoverageRecord {
    let mut coverage = CoverageRecord { stated: Some(0), ..CoverageRecord::default() };
    for result in results {
        let others: Vec<ResultSessions> =
            results.iter().filter(|other| other.scenario != result.scenario).copied().collect();
        let spread = SessionSpread::of(&others, metric);
        let pairs = pairs(result.sessions, metric);
        let critical = critical_values(result.sessions, metric);
        let from = pairs.iter().flat_map(|pair| pair.ratios.iter().map(move |one| (pair, one)));
        for (pair, one) in from {
            let own = one.half_width(critical);
            let stated =
                spread.and_then(|spread| spread.half_width(std::slice::from_ref(one))).map(|stated| stated.max(own));
            for other in pair.ratios.iter().filter(|other| !std::ptr::eq(*other, one)) {
                let distance = (one.mean - other.mean).abs();
                coverage.ratios += 1;
                coverage.run += u64::from(distance <= own);
                coverage.stated =
                    coverage.stated.zip(stated).map(|(count, stated)| count + u64::from(distance <= stated));
            }
        }
    }
    coverage
}

/// How many standard errors the ends of a run's intervals are from the mean: the widest of the sessions' families.
fn critical_values(sessions: &[SessionRecord], metric: PublishedMetric) -> f64 {
    let critical = |session: &SessionRecord| {
        let rounds: Vec<&Vec<Option<f64>>> = session.numbers.get(&metric)?.values().collect();
        let pair = |(place, one): (usize, &&Vec<Option<f64>>)| {
            rounds[..place].iter().map(|other| log_ratios(one, other)).collect::<Vec<_>>()
        };
        let members: Vec<_> = rounds.iter().enumerate().flat_map(pair).collect();
        (!members.is_empty()).then(|| Family::new(&members).critical)
    };
    sessions.iter().filter_map(critical).fold(0.0, f64::max)
}

/// A number in five digits: what files keep.
pub fn digits(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let places = 4 - value.abs().log10().floor() as i32;
    // The division by a power of ten is exact in decimal where the multiplication by its inverse is not.
    let (scale, is_small) = (10_f64.powi(places.abs()), places >= 0);
    if is_small { (value * scale).round() / scale } else { (value / scale).round() * scale }
}

#[cfg(test)]
mod tests;
