//! What to run after a smoke run, and how long that takes.

use std::time::Duration;

use crate::campaign::{PILOT_SECONDS, calls_at_rate, stretch};
use crate::record::Part;
use crate::report::NextRun;
use crate::results::{CellRecord, Preset, RunRecord, RunSettings};

use super::RunArguments;

/// The preset after a smoke run: the default.
const NEXT: Preset = Preset::Quick;

/// Options of the length of a run, which a longer preset sets.
const LENGTH: [&str; 5] = ["preset", "rounds", "slices", "duration", "calls"];

/// What a smoke run took.
#[derive(Debug, Clone, Copy)]
pub struct SmokeTimes {
    /// From its start, with servers and verification.
    pub whole: Duration,
    /// All rounds.
    pub rounds: Duration,
}

/// The same run with the next preset.
pub fn next_run(arguments: &RunArguments, record: &RunRecord, took: SmokeTimes) -> NextRun {
    NextRun { words: words(arguments), time: expected(record, took) }
}

/// The command, without the options of a smoke run.
fn words(arguments: &RunArguments) -> Vec<String> {
    let subject = &arguments.subject;
    let mut words = vec!["docshape".to_owned(), "run".to_owned()];
    words.extend(arguments.scenario.clone());
    let mut option = |name: &str, value: &str| {
        words.push(format!("--{name}"));
        words.extend((!value.is_empty()).then(|| value.to_owned()));
    };
    if !subject.strategies.is_empty() {
        option("strategies", &subject.strategies.join(","));
    }
    if subject.all_strategies {
        option("all-strategies", "");
    }
    subject.mix.iter().for_each(|mix| option("mix", mix));
    subject.set.iter().for_each(|(name, value)| option("set", &format!("{name}={value}")));
    subject.write_concern.iter().for_each(|members| option("write-concern", members));
    let usual = RunSettings::of(NEXT).table();
    let given = arguments.settings().table().into_iter().filter(|setting| !LENGTH.contains(&setting.option));
    for setting in given.filter(|setting| !usual.contains(setting)) {
        setting.values.iter().for_each(|value| option(setting.option, value));
    }
    // The string may contain a password.
    if arguments.server.uri.is_some() {
        option("uri", "URI");
    }
    words
}

/// The time that the run takes with the next preset: rounds as long as its windows are, with loading, flushes and inspections
/// as here; `None` where a part was not measured, or a fault has stretched the times.
fn expected(record: &RunRecord, took: SmokeTimes) -> Option<Duration> {
    let settings = &record.settings;
    let rounds = record.complete_rounds();
    if rounds == 0 || settings.fault.is_some() || Part::ALL.iter().any(|part| !settings.parts.contains(part)) {
        return None;
    }
    let arms: Vec<ArmSeconds> = (0..record.strategies.len()).map(|arm| ArmSeconds::of(record, arm)).collect();
    let (next, rate) = (NEXT.length(), settings.planned_rate()?);
    let slowest = arms.iter().map(|arm| arm.saturation).fold(0.0, f64::max);
    let longer = next.seconds / slowest;
    let at_rate = calls_at_rate(rate, next.seconds) as f64 / rate;
    let round = |arm: &ArmSeconds| {
        let calls = arm.calls * longer;
        let stretch = stretch(least_share(record), next.own_calls) as f64;
        let own = arm.own * (stretch.min(calls) / settings.own_calls? as f64);
        let warm_up = next.warmup_calls(calls as u64) as f64 / arm.calls * arm.saturation;
        Some(own + warm_up + at_rate + arm.saturation * longer)
    };
    let windows: f64 = arms.iter().map(round).sum::<Option<f64>>()?;
    let measured: f64 = arms.iter().map(|arm| arm.own + arm.warm_up + arm.rate + arm.saturation).sum();
    let others = (took.rounds.as_secs_f64() / rounds as f64 - measured).max(0.0);
    let pilot = (next.seconds.min(PILOT_SECONDS) - settings.preset.length().seconds.min(PILOT_SECONDS)).max(0.0);
    let around = took.whole.saturating_sub(took.rounds).as_secs_f64() + pilot * arms.len() as f64;
    Duration::try_from_secs_f64(around + next.rounds as f64 * (windows + others)).ok()
}

/// The share (0 to 1) of the rarest operation that is called.
fn least_share(record: &RunRecord) -> f64 {
    let weights = || record.mix.weights.iter().map(|(_, weight)| *weight).filter(|weight| *weight > 0.0);
    weights().fold(f64::INFINITY, f64::min) / weights().sum::<f64>()
}

/// The seconds of an arm in a round on average, by what they are spent on.
#[derive(Debug, Default)]
struct ArmSeconds {
    warm_up: f64,
    /// All calls of the stretch, most of which are not measured.
    own: f64,
    rate: f64,
    saturation: f64,
    /// Calls at saturation.
    calls: f64,
}

impl ArmSeconds {
    fn of(record: &RunRecord, arm: usize) -> ArmSeconds {
        let mean = |part: Part, of: &dyn Fn(&CellRecord) -> f64| {
            let rounds = record.parts.get(&part).map_or(&[][..], Vec::as_slice);
            let sum: f64 = rounds.iter().filter_map(|round| round.cells.get(arm)).map(of).sum();
            sum / rounds.len().max(1) as f64
        };
        let seconds = |part| mean(part, &|cell| cell.seconds);
        let calls = |part| mean(part, &|cell| cell.calls as f64);
        let (saturation, made) = (seconds(Part::Saturation), calls(Part::Saturation));
        let unmeasured = record.settings.own_calls.unwrap_or(0) as f64 - calls(Part::Own);
        let own = seconds(Part::Own) + unmeasured.max(0.0) * saturation / made;
        let warm_up = mean(Part::Saturation, &|cell| cell.warm_up.iter().map(|piece| piece.seconds).sum());
        ArmSeconds { warm_up, own, rate: seconds(Part::Rate), saturation, calls: made }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Arguments, CliCommand};
    use crate::stats::sample;

    fn arguments(line: &[&str]) -> RunArguments {
        match Arguments::try_parse_from([&["docshape", "run"], line].concat()).unwrap().command {
            CliCommand::Run(arguments) => *arguments,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn next_command_has_the_subject_and_not_the_length() {
        let of = |line: &[&str]| words(&arguments(line)).join(" ");
        let smoke =
            ["blog-comments", "--preset", "smoke", "--rounds", "3", "--calls", "70", "--no-verify", "--out", "x"];
        assert_eq!(of(&smoke), "docshape run blog-comments");
        let line = ["./a.yaml", "--preset=smoke", "--mix", "m", "--set", "n=3", "--clients", "5", "--only", "own,rate"];
        assert_eq!(of(&line), "docshape run ./a.yaml --mix m --set n=3 --only own,rate --clients 5");
        let line = of(&["x", "--strategies", "a,b", "--isolate", "--uri", "mongodb://me:s3cret@db1/"]);
        assert_eq!(line, "docshape run x --strategies a,b --isolate --uri URI");
    }

    /// One round of 10 s in a run of 15 s.
    fn took() -> SmokeTimes {
        SmokeTimes { whole: Duration::from_secs(15), rounds: Duration::from_secs(10) }
    }

    fn smoke() -> RunRecord {
        let mut run = sample::whole(&sample::run(1));
        run.settings.preset = Preset::Smoke;
        run.settings.own_calls = Some(60);
        run
    }

    #[test]
    fn expected_time_is_that_of_longer_windows() {
        let mut run = smoke();
        run.settings.load = crate::results::LoadModel::Open { rate: 1_000.0, arrivals: Default::default() };
        let expected = expected(&run, took()).unwrap().as_secs_f64();
        let arms: Vec<ArmSeconds> = (0..3).map(|arm| ArmSeconds::of(&run, arm)).collect();
        let saturation: Vec<f64> = arms.iter().map(|arm| arm.saturation).collect();
        assert_eq!((saturation, arms[1].calls), (vec![0.2, 0.1, 0.09], 915.0));
        let measured: f64 = arms.iter().map(|arm| arm.own + arm.warm_up + arm.rate + arm.saturation).sum();
        // 5 s around the rounds, 0.8 s more of a pilot for each arm, and 8 rounds: 7.5 times the calls at saturation, a third of
        // them as warm-up, 1.5 s at the rate, and own calls up to those at saturation.
        let stretch = stretch(least_share(&run), 60) as f64;
        let own: f64 = arms.iter().map(|arm| arm.own * stretch.min(915.0 * 7.5) / 60.0).sum();
        let round = own + 0.39 * (7.5 + 2.5) + 3.0 * 1.5 + 10.0 - measured;
        assert!((expected - (5.0 + 2.4 + 8.0 * round)).abs() < 0.1, "{expected} {round}");
    }

    #[test]
    fn nothing_is_expected_of_a_part_that_was_not_measured() {
        let mut run = smoke();
        run.settings.load = crate::results::LoadModel::Open { rate: 1_000.0, arrivals: Default::default() };
        assert!(expected(&run, took()).is_some());
        run.settings.parts = vec![Part::Own];
        assert_eq!(expected(&run, took()), None);
    }
}
