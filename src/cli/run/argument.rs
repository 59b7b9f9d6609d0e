//! The arguments of `docshape run`, and the settings that they make.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::argument::{ServerArguments, SubjectArguments};
use crate::cli::compare::SavedRunArguments;
use crate::cli::exit::CliError;
use crate::cli::value::{ConnectionString, duration, name, seed};
use crate::compile::DEFAULT_SEED;
use crate::results::{Arrivals, CLIENTS_AT_RATE, LoadModel, Part, Preset, RunSettings};
use crate::scenario::quantity::{Rate, percent, rate, round_trip_time, whole};
use crate::stats::Threshold;

use super::like::GivenOptions;

/// What is measured and where: what `run` and every study take.
#[derive(Debug, Clone, Args)]
pub struct StudyArguments {
    /// Scenario file, or name of a built-in one (see `docshape list`)
    #[arg(required_unless_present = "resume")]
    pub scenario: Option<String>,
    /// The servers to measure.
    #[command(flatten)]
    pub server: ServerArguments,
    /// The part of the scenario to measure.
    #[command(flatten)]
    pub subject: SubjectArguments,
    /// Skip the check that all strategies return the same results
    #[arg(long)]
    pub no_verify: bool,
}

impl StudyArguments {
    /// Returns the scenario; empty when a study is resumed.
    pub fn scenario(&self) -> &str {
        self.scenario.as_deref().unwrap_or_default()
    }
}

/// `run`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("scenario", |scenario| scenario.required_unless_present("like")))]
pub struct RunArguments {
    /// The options that the user wrote. First, because reading an option takes it from what was parsed.
    #[command(flatten)]
    pub given: GivenOptions,
    /// What to measure, and where.
    #[command(flatten)]
    pub study: StudyArguments,
    /// Resume the run in DIR after its last complete round [default: a new run]
    ///
    /// DIR may also be that of runs for claims. Settings come from its run.json, except --compare-with, --save-run, --junit and --db-prefix: repeat these if you need them.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["scenario", "SubjectArguments", "MeasurementArguments"])]
    pub resume: Option<PathBuf>,
    /// Measure what the run or published result in DIR measured, in another session [default: a new plan]
    ///
    /// The scenario, its mix, parameters and strategies, and how it is measured come from the record in DIR, which may also be the
    /// path of its run.json or summary.json; what it does not have is planned anew. The seed is that of --seed. Other options must
    /// not contradict the record; --strategies may leave some out.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["resume", "ab", "claims", "compare_with"])]
    pub like: Option<PathBuf>,
    /// How to measure it.
    #[command(flatten)]
    pub measurement: MeasurementArguments,
    /// Compare server B with A, measured in turns; exit with 1 if B is slower [default: one server]
    ///
    /// Both are replica sets or sharded clusters. They take turns round by round, with the same data and calls. Each has a run in
    /// the run folder, in `a` and `b`.
    #[arg(long, value_names = ["URI_A", "URI_B"], num_args = 2,
          conflicts_with_all = ["resume", "uri", "mongod", "cache_gb", "members", "shared_mongod", "junit",
                                "SavedRunArguments"])]
    pub ab: Vec<ConnectionString>,
    /// Measure what the claims of the scenario need, or those with these ids [default: an ordinary run]
    ///
    /// Claims with the same mix, clients and parameters share a run, in a folder of its own: the strategies that they name, and
    /// only the parts that decide them. The rounds of all runs are interleaved. claims.json in the run folder has the verdicts. For example --claims, or --claims=C1,C2.
    #[arg(long, value_name = "IDS", num_args = 0..=1, require_equals = true, value_delimiter = ',', value_parser = name,
          conflicts_with_all = ["resume", "ab", "strategies", "all_strategies", "mix", "only", "clients", "rate", "arrivals",
                                "threshold", "junit", "keep", "SavedRunArguments"])]
    pub claims: Option<Vec<String>>,
    /// Write the run's validity and thresholds to FILE as JUnit XML [default: no file]
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// The run to compare it with.
    #[command(flatten)]
    pub saved_run: SavedRunArguments,
    /// Print the whole report, not only its first screen
    #[arg(long)]
    pub full: bool,
    /// Open the page of the run in the browser
    #[arg(long, conflicts_with_all = ["ab", "claims"])]
    pub open: bool,
    /// Keep the databases of the last round; requires --uri
    #[arg(long)]
    pub keep: bool,
}

/// How a new run is measured. A resumed run takes all of this from its record: the whole group conflicts with `--resume`.
#[derive(Debug, Clone, Args)]
pub struct MeasurementArguments {
    /// How long to measure
    #[arg(long, value_enum, value_name = "NAME", default_value = "quick")]
    pub preset: Preset,
    /// Rounds, each on fresh databases, 1 to 1000 [default: the preset's]
    #[arg(long, value_name = "N", value_parser = whole::<1, 1000>, allow_hyphen_values = true)]
    pub rounds: Option<u64>,
    /// Slices per strategy, round and part, 1 to 1000 [default: the preset's]
    ///
    /// The calls of every load and those at saturation are divided into slices, fewer if there are few calls;
    /// strategies take turns, one slice at a time.
    #[arg(long, value_name = "N", value_parser = whole::<1, 1000>, allow_hyphen_values = true)]
    pub slices: Option<u64>,
    /// Measure the strategies one after another instead of slice by slice
    ///
    /// Use it when results depend on what is in the cache, or when a strategy slows down the one measured after it.
    #[arg(long)]
    pub isolate: bool,
    /// Measure all strategies on one mongod [default: one per strategy, all but the measured one stopped]
    ///
    /// Strategies then share its cache, dirty pages and checkpoints. Use it where memory is scarce.
    #[arg(long, conflicts_with = "uri")]
    pub shared_mongod: bool,
    /// Measure only these parts, separated by commas [default: all]
    ///
    /// `rate` is the whole curve of response times under load, or the load that --rate names.
    #[arg(long, value_enum, value_name = "PARTS", value_delimiter = ',')]
    pub only: Vec<Part>,
    /// Use the same data in all rounds [default: new data in every round]
    ///
    /// Confidence intervals then hold for these data only, not for others that the scenario could have generated.
    #[arg(long)]
    pub same_data: bool,
    /// Calls per strategy, round and part, 1 to 100000000 [default: from the preset's time]
    ///
    /// N calls at saturation, and N at half load or at --rate; at lighter and heavier load, those that fall due in the same time.
    /// Own costs take as many calls of the mix as its rarest operation requires, but no more than N.
    #[arg(long, value_name = "N", value_parser = whole::<1, 100_000_000>, allow_hyphen_values = true, conflicts_with = "duration")]
    pub calls: Option<u64>,
    /// Time per strategy, round and part, such as 3s or 2m [default: the preset's]
    ///
    /// Applies to open load, all three loads together, which may take twice as long to have enough calls for a 99th percentile,
    /// and to saturation, where all strategies make as many calls as the slowest one makes in this time, at least 8 per client;
    /// strategies that are more than five times faster make more.
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub duration: Option<Duration>,
    /// Load in calls per second at which response times decide, or `auto` [default: auto]
    ///
    /// R is from 0.001 to 1000000. `auto` measures a curve, at 0.2, 0.5 and 0.8 of the best strategy's throughput in a pilot
    /// before the first round; a strategy that cannot keep up with a load makes fewer of its calls. Each call starts when it is
    /// due, without waiting for earlier calls; once 64 calls are in flight (or --clients, if more), due calls queue.
    #[arg(long, value_name = "R", value_parser = rate, allow_hyphen_values = true)]
    pub rate: Option<Rate>,
    /// Distribution of the intended start times with open load [default: poisson]
    #[arg(long, value_enum, value_name = "NAME")]
    pub arrivals: Option<Arrivals>,
    /// Clients at saturation, 1 to 10000 [default: 8]
    ///
    /// Each client sends its next call when its previous one has ended.
    #[arg(long, alias = "workers", value_name = "N", value_parser = whole::<1, 10_000>, allow_hyphen_values = true)]
    pub clients: Option<u64>,
    /// Time added to every reply of the server, up to 10s, as a network of that round-trip time would
    ///
    /// The delay is made by docshape's client, which then waits as long for each reply of a measured call; it needs nothing on
    /// the server. It has no jitter, and bytes take no time.
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = round_trip_time, allow_hyphen_values = true)]
    pub rtt: Duration,
    /// Load threads, 1 to 256, at most one per client
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole::<1, 256>, allow_hyphen_values = true)]
    pub threads: u64,
    /// Timeout per call
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration, allow_hyphen_values = true)]
    pub timeout: Duration,
    /// Noise floor in percent, 0 to 50; smaller differences are never reported
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = percent::<50>, allow_hyphen_values = true)]
    pub noise: f64,
    /// Percentage of calls that may fail before the run is invalid, 0 to 100
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent::<100>, allow_hyphen_values = true)]
    pub error_budget: f64,
    /// Exit with 1 unless STRATEGY.OPERATION.METRIC<VALUE; may be repeated [default: none]
    ///
    /// For example 'embedded.read_post.p99<5ms'. METRIC is a time (p50, p90, p99, p999 or p99.9, mean, max; VALUE in us, ms
    /// or s), `failed` (VALUE is a number of calls, or a percentage such as 1%) or `round_trips` (VALUE per call).
    #[arg(long, value_name = "THRESHOLD", allow_hyphen_values = true)]
    pub threshold: Vec<Threshold>,
    /// Seed of the generated data and of the sequence of calls
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED, value_parser = seed, allow_hyphen_values = true)]
    pub seed: u64,
    /// Run folder, which must be new or empty [default: results/SCENARIO/TIME-ID]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

impl RunArguments {
    /// Makes the settings of a new run.
    pub fn settings(&self) -> RunSettings {
        self.measurement.settings(&self.study)
    }
}

impl MeasurementArguments {
    /// Makes the settings of a new run.
    pub fn settings(&self, study: &StudyArguments) -> RunSettings {
        let usual = RunSettings::of(self.preset);
        RunSettings {
            seed: self.seed,
            load: LoadModel::Open {
                // A rate of `auto` is 0 until the pilot has set it.
                rate: self.rate.map_or(0.0, Rate::per_second),
                arrivals: self.arrivals.unwrap_or_default(),
            },
            is_named_rate: self.rate.is_some_and(|rate| rate.per_second() > 0.0),
            parts: self.parts(),
            clients: self.clients.map_or(usual.clients, |n| n as usize),
            clients_at_rate: self.clients.map_or(CLIENTS_AT_RATE, |n| CLIENTS_AT_RATE.max(n as usize)),
            threads: self.threads as usize,
            rounds: self.rounds.unwrap_or(usual.rounds),
            slices: self.slices.unwrap_or(usual.slices),
            isolated: self.isolate.then(|| "requested with --isolate".to_owned()),
            shared_mongod: self.shared_mongod.then(|| "requested with --shared-mongod".to_owned()),
            same_data: self.same_data,
            calls: self.calls,
            rate_calls: self.calls,
            duration: self.duration.map(|duration| duration.as_secs_f64()),
            timeout: self.timeout.as_secs_f64(),
            set: study.subject.set.clone(),
            shares: study.subject.share.clone(),
            rtt: self.rtt.as_secs_f64(),
            cache_gb: Some(study.server.embedded.cache_gb()),
            members: study.server.embedded.members.filter(|members| *members > 1),
            noise: self.noise,
            error_budget: self.error_budget,
            thresholds: self.threshold.iter().map(ToString::to_string).collect(),
            ..usual
        }
    }

    /// Rejects options of a part that is not measured.
    ///
    /// # Errors
    /// When the rate is set and left out.
    pub fn check_parts(&self) -> Result<(), CliError> {
        let given = self.rate.map(|_| "rate").or(self.arrivals.map(|_| "arrivals"));
        given.filter(|_| !self.parts().contains(&Part::Rate)).map_or(Ok(()), |name| {
            Err(CliError::usage(format!("--{name} needs open load: add `rate` to --only, or omit --{name}")))
        })
    }

    /// Returns the parts to measure, in their order.
    fn parts(&self) -> Vec<Part> {
        let is_named = self.rate.is_some_and(|rate| rate.per_second() > 0.0);
        let is_measured = |part: &Part| match part {
            Part::Light | Part::Heavy => !is_named && self.only.contains(&Part::Rate),
            part => self.only.contains(part),
        };
        let is_any = |part: &Part| self.only.is_empty() && !(is_named && part.is_end_of_curve());
        Part::ALL.into_iter().filter(|part| is_any(part) || is_measured(part)).collect()
    }
}

impl ValueEnum for Part {
    fn value_variants<'a>() -> &'a [Self] {
        &[Part::Own, Part::Saturation, Part::Rate]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let help = match self {
            Part::Own => "own cost: each operation by itself, one client",
            Part::Saturation => "saturation: the mix as fast as --clients clients can send it",
            Part::Light | Part::Rate | Part::Heavy => {
                "response under load: the mix at the same calls per second for all strategies"
            }
        };
        Some(clap::builder::PossibleValue::new(self.name()).help(help))
    }
}

impl ValueEnum for Arrivals {
    fn value_variants<'a>() -> &'a [Self] {
        &[Arrivals::Poisson, Arrivals::Uniform]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let help = match self {
            Arrivals::Poisson => "independent of each other, like the calls of many users",
            Arrivals::Uniform => "at equal intervals",
        };
        Some(clap::builder::PossibleValue::new(self.name()).help(help))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use clap::{Command, CommandFactory, Parser};

    use super::*;
    use crate::command_line::{Arguments, CliCommand};

    /// The arguments of `docshape run` with these words.
    pub(in crate::cli::run) fn parse(line: &[&str]) -> Result<RunArguments, clap::Error> {
        match Arguments::try_parse_from([&["docshape", "run"], line].concat())?.command {
            CliCommand::Run(arguments) => Ok(*arguments),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn plain_arguments_make_the_usual_settings() {
        assert_eq!(parse(&["x"]).unwrap().settings(), RunSettings::of(Preset::Quick));
        let at_a_rate = parse(&["x", "--rate", "auto", "--duration", "2s"]).unwrap().settings();
        assert_eq!((at_a_rate.clients_at_rate, at_a_rate.duration), (64, Some(2.0)));
        assert_eq!(at_a_rate.load, LoadModel::Open { rate: 0.0, arrivals: Arrivals::Poisson });
    }

    /// A value for every option that takes one of a certain form.
    fn value(option: &clap::Arg) -> Option<&'static str> {
        option.get_action().takes_values().then_some(match option.get_id().as_str() {
            "preset" => "full",
            "arrivals" => "uniform",
            "only" => "rate",
            "share" => "a=5%",
            "duration" | "timeout" | "rtt" => "3s",
            "threshold" => "a.b.p99<5ms",
            _ => "5",
        })
    }

    fn options_of(group: &str) -> Vec<clap::Arg> {
        let mut all = Arguments::command();
        all.build();
        let run: &Command = all.find_subcommand("run").unwrap();
        let group = run.get_groups().find(|other| other.get_id() == group).unwrap();
        group.get_args().map(|id| run.get_arguments().find(|option| option.get_id() == id).unwrap().clone()).collect()
    }

    #[test]
    fn options_that_define_a_run_conflict_with_resume() {
        for option in [options_of("MeasurementArguments"), options_of("SubjectArguments")].concat() {
            let long = format!("--{}", option.get_long().unwrap());
            let value = if option.get_id() == "set" { Some("a=1") } else { value(&option) };
            let line: Vec<&str> = ["--resume", "folder", &long].into_iter().chain(value).collect();
            let error = parse(&line).unwrap_err().to_string();
            assert!(error.contains("cannot be used with") && error.contains(&long), "{error}");
        }
        assert!(parse(&["--resume", "folder", "--no-verify", "--junit", "x", "--mongod", "y"]).is_ok());
    }

    #[test]
    fn every_measurement_option_is_a_row_of_the_settings() {
        let rows = RunSettings::of(Preset::Quick).table();
        for option in options_of("MeasurementArguments").iter().filter(|option| option.get_id() != "out") {
            let name = option.get_long().unwrap();
            assert!(rows.iter().any(|row| row.option == name), "no row for --{name}");
        }
    }

    #[test]
    fn the_table_of_settings_makes_the_same_settings_again() {
        let lines = [
            "--preset full --calls 700 --noise 7 --error-budget 0.5 --isolate --seed 9",
            "--only rate,own --same-data --rate 12.5 --arrivals uniform --clients 5 --threads 2 --slices 3",
            "--duration 1.5s --timeout 250ms --rounds 3 --threshold a.b.max<1s --cache-gb 2",
            "--only own,saturation --calls 300",
        ];
        for line in lines.map(|line| line.split(' ').collect::<Vec<_>>()) {
            let settings = parse(&[&["x"], line.as_slice()].concat()).unwrap().settings();
            let words: Vec<String> = settings
                .table()
                .iter()
                .flat_map(|row| {
                    row.values.iter().flat_map(|value| [format!("--{}", row.option), value.clone()]).collect::<Vec<_>>()
                })
                .filter(|word| !word.is_empty())
                .collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let again = parse(&[&["x"], words.as_slice()].concat()).unwrap();
            assert_eq!(again.settings(), settings);
            assert!(again.measurement.check_parts().is_ok(), "{words:?}");
        }
    }
}
