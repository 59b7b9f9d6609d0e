//! The estimator on simulated sessions, whose truth is known.

use super::super::simulation::normal;
use super::*;
use crate::results::Preset;

const METRIC: PublishedMetric = PublishedMetric::CALLS_PER_SECOND;

/// Simulated results of three strategies.
#[derive(Clone, Copy)]
struct Simulation {
    /// Results, each of a scenario of its own.
    results: u64,
    sessions: u64,
    /// The standard deviation of the ln ratio of two strategies between sessions.
    tau: f64,
    /// That of the logarithm of a round's number.
    noise: f64,
}

const USUAL: Simulation = Simulation { results: 20, sessions: 2, tau: 0.1, noise: 0.05 };

impl Simulation {
    fn draw(&self, run: u64) -> Vec<(String, Vec<SessionRecord>)> {
        let mut stream = Stream::new(Seed::new(7), Label::new("simulated sessions"), run);
        let results = (0..self.results).map(|result| {
            let sessions = (0..self.sessions).map(|session| self.session(session, &mut stream)).collect();
            (format!("scenario {result}"), sessions)
        });
        results.collect()
    }

    /// Each strategy has an effect of its own, so that a ratio has those of two.
    fn session(&self, number: u64, stream: &mut Stream) -> SessionRecord {
        let strategies = ["a", "b", "c"].into_iter().enumerate().map(|(place, name)| {
            let effect = place as f64 * 0.4 + self.tau / 2_f64.sqrt() * normal(stream);
            let rounds = (0..8).map(|_| Some(digits((effect + self.noise * normal(stream)).exp() * 1_000.0)));
            (name.to_owned(), rounds.collect())
        });
        session(number, BTreeMap::from([(METRIC, strategies.collect())]))
    }
}

fn session(number: u64, numbers: BTreeMap<PublishedMetric, BTreeMap<String, Vec<Option<f64>>>>) -> SessionRecord {
    SessionRecord {
        started: format!("2026-01-0{}T00:00:00Z", number + 1),
        version: "0.1.0".into(),
        commit: None,
        seed: number,
        preset: Preset::Quick,
        rounds: 8,
        rate: Some(100.0 + number as f64),
        clients: 8,
        winner: Some("a".into()),
        numbers,
    }
}

fn views(results: &[(String, Vec<SessionRecord>)]) -> Vec<ResultSessions<'_>> {
    results.iter().map(|(scenario, sessions)| ResultSessions { scenario, sessions }).collect()
}

#[test]
fn the_spread_of_simulated_sessions_is_found() {
    let (mut contained, mut sum) = (0, 0.0);
    const RUNS: u64 = 40;
    for run in 0..RUNS {
        let drawn = USUAL.draw(run);
        let found = spread(&views(&drawn), METRIC).unwrap();
        assert_eq!((found.results, found.pairs, found.freedom, found.scenarios), (20, 60, 40, 20));
        let [low, high] = found.interval.unwrap();
        contained += u64::from(low <= USUAL.tau && USUAL.tau <= high);
        sum += found.tau / RUNS as f64;
    }
    assert!((sum - USUAL.tau).abs() < 0.01, "{sum}");
    assert!(contained >= 34, "{contained} of {RUNS} intervals contain it");
}

#[test]
fn sessions_that_do_not_differ_have_no_spread() {
    let alike = Simulation { tau: 0.0, ..USUAL };
    let taus: Vec<f64> = (0..20).map(|run| SessionSpread::of(&views(&alike.draw(run)), METRIC).unwrap().tau).collect();
    assert!(taus.contains(&0.0) && taus.iter().all(|tau| *tau < 0.02), "{taus:?}");
}

#[test]
fn stated_intervals_contain_another_session() {
    for simulation in [USUAL, Simulation { tau: 0.02, ..USUAL }, Simulation { sessions: 3, ..USUAL }] {
        let (mut run, mut stated, mut ratios) = (0, 0, 0);
        for draw in 0..5 {
            let drawn = simulation.draw(draw);
            let found = coverage(&views(&drawn), METRIC);
            (run, stated, ratios) = (run + found.run, stated + found.stated.unwrap(), ratios + found.ratios);
        }
        assert!(stated * 100 >= ratios * 90, "{stated} of {ratios}");
        assert!(simulation.tau < 0.05 || run * 100 < ratios * 70, "those of a run are too narrow: {run} of {ratios}");
    }
}

#[test]
fn quoted_intervals_contain_another_session() {
    let (mut contained, mut all) = (0, 0);
    for draw in 0..20 {
        let mut drawn = Simulation { sessions: 3, ..USUAL }.draw(draw);
        let last: Vec<SessionRecord> = drawn.iter_mut().filter_map(|(_, sessions)| sessions.pop()).collect();
        let spread = SessionSpread::of(&views(&drawn), METRIC).unwrap();
        for ((_, sessions), last) in drawn.iter().zip(&last) {
            let found = quoted(&session_ratios(sessions, METRIC, "b", "a"), spread, None).unwrap();
            let other = session_ratios(std::slice::from_ref(last), METRIC, "b", "a")[0].ratio();
            assert_eq!(found.sessions, 2);
            assert!(found.interval.low < found.ratio && found.ratio < found.interval.high);
            contained += u64::from(found.interval.low <= other && other <= found.interval.high);
            all += 1;
        }
    }
    assert!(contained * 100 >= all * 90, "{contained} of {all}");
    assert!(contained < all, "as wide as that is no statement");
}

#[test]
fn an_example_by_hand() {
    let rounds = |values: [f64; 3]| values.map(|value: f64| Some(value.exp())).to_vec();
    let of = |number, other: [f64; 3]| {
        let strategies = [("a".to_owned(), rounds([0.0; 3])), ("b".to_owned(), rounds(other))];
        session(number, BTreeMap::from([(METRIC, BTreeMap::from(strategies))]))
    };
    // Means 0.2 and 0.4 with squared standard errors 0.01 / 3: s² = 0.02, tau² = 0.02 - 0.01 / 3.
    let sessions = [of(0, [0.1, 0.2, 0.3]), of(1, [0.3, 0.4, 0.5])];
    let result = ResultSessions { scenario: "x", sessions: &sessions };
    let spread = SessionSpread::of(&[result], METRIC).unwrap();
    assert!((spread.tau - (0.02_f64 - 0.01 / 3.0).sqrt()).abs() < 1e-9 && spread.freedom == 1);
    // t(0.975, 1) = 12.706.
    assert!((spread.further() - (12.706 * 2_f64.sqrt() * spread.tau).exp_m1()).abs() < 0.01 * spread.further());
    let ratios = session_ratios(&sessions, METRIC, "b", "a");
    let known = SessionSpread { tau: 0.1, freedom: 100 };
    let found = quoted(&ratios, known, None).unwrap();
    // t(0.975, 2) = 4.303, and the variance (0.01 + 0.01 / 3) * 1.5.
    let half_width = 4.3027 * 0.02_f64.sqrt();
    assert!((found.ratio.ln() - 0.3).abs() < 1e-9 && (found.interval.high.ln() - 0.3 - half_width).abs() < 1e-3);
    let wide = ConfidenceInterval { low: 0.1, high: 10.0 };
    let found = quoted(&ratios, known, Some(wide)).unwrap();
    assert!((found.interval.low.ln() - 0.3 + 10_f64.ln()).abs() < 1e-9, "the wider one is quoted");
    assert!(quoted(&ratios[..1], known, None).is_none(), "a single session has the interval of its run");
    // (0.4 - 0.2) / sqrt(2 * 0.01 + 2 * 0.01 / 3).
    assert!((known.distance(&ratios[0], &ratios[1]).unwrap() - 0.2 / (0.08_f64 / 3.0).sqrt()).abs() < 1e-9);
    // A single result is nothing to hold it against, and has no interval.
    let found = super::spread(&[result], METRIC).unwrap();
    assert_eq!((found.interval, found.coverage.stated, found.coverage.ratios), (None, None, 2));
    assert!(SessionSpread::of(&[ResultSessions { sessions: &sessions[..1], ..result }], METRIC).is_none());
}

#[test]
fn response_times_are_compared_at_one_rate() {
    let rounds = BTreeMap::from([("a".to_owned(), vec![Some(1.0); 6]), ("b".to_owned(), vec![Some(2.0); 6])]);
    let both = BTreeMap::from([(METRIC, rounds.clone()), (PublishedMetric::RESPONSE_MEAN, rounds)]);
    let mut sessions = [session(0, both.clone()), session(1, both)];
    let count = |sessions: &[SessionRecord], metric| session_ratios(sessions, metric, "b", "a").len();
    assert_eq!([METRIC, PublishedMetric::RESPONSE_MEAN].map(|metric| count(&sessions, metric)), [2, 1]);
    sessions[0].rate = sessions[1].rate;
    assert_eq!(count(&sessions, PublishedMetric::RESPONSE_MEAN), 2);
}

#[test]
fn files_keep_five_digits() {
    let kept = [1_234_567.8, 0.000_123_456_7, -12.345_678, 0.0].map(digits);
    assert_eq!(kept, [1_234_600.0, 0.000_123_46, -12.346, 0.0]);
    assert!(digits(f64::NAN).is_nan());
}
