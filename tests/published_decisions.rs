//! The sentences above every published result, recomputed from its `run.json.gz` without the code that wrote them.
//!
//! Each sentence must have one of the forms below, and each of its numbers must be what the record gives, rounded as printed. A
//! result whose record is not kept in the repository is left out.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use regex::{Captures, Regex};
use serde_json::Value;

/// Outcomes of calls that got no answer.
const UNANSWERED: [&str; 2] = ["failed", "skipped"];

/// A number in these units is times this.
const UNITS: [(&str, f64); 10] = [
    ("ns", 1.0),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("B", 1.0),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("%", 0.01),
    ("x", 1.0),
];

/// A record as JSON, with what the sentences are about recomputed from it.
struct Run(Value);

impl Run {
    fn open(folder: &Path) -> Option<Run> {
        let file = File::open(folder.join("run.json.gz")).ok()?;
        Some(Run(serde_json::from_reader(GzDecoder::new(file)).unwrap()))
    }

    fn strategy(&self, name: &str) -> usize {
        let named = |one: &Value| one["name"] == name && one["is_repeat"] == false;
        list(&self.0["strategies"]).iter().position(named).unwrap_or_else(|| panic!("no strategy {name}"))
    }

    fn repeat(&self) -> usize {
        list(&self.0["strategies"]).iter().position(|one| one["is_repeat"] == true).unwrap()
    }

    fn operation(&self, name: &str) -> usize {
        list(&self.0["operations"]).iter().position(|one| one == name).unwrap_or_else(|| panic!("no operation {name}"))
    }

    /// The share of an operation in the calls of the mix.
    fn share(&self, operation: usize) -> f64 {
        let weights = list(&self.0["mix"]["weights"]);
        let of = |name: &Value| weights.iter().find(|one| one[0] == *name).map_or(0.0, |one| number(&one[1]));
        of(&self.0["operations"][operation]) / weights.iter().map(|one| number(&one[1])).sum::<f64>()
    }

    fn called(&self) -> Vec<usize> {
        (0..list(&self.0["operations"]).len()).filter(|operation| self.share(*operation) > 0.0).collect()
    }

    /// The cells of a strategy in a part.
    fn cells(&self, part: &str, strategy: usize) -> Vec<&Value> {
        list(&self.0["parts"][part]).iter().map(|round| &round["cells"][strategy]).collect()
    }

    /// The own time of an operation.
    fn own_time(&self, strategy: usize, operation: usize) -> f64 {
        let of_round = |cell: &&Value| mean(&cell["operations"][operation], |outcome| outcome);
        let means =
            self.cells("own", strategy).iter().map(of_round).filter(|mean| mean.is_finite()).collect::<Vec<_>>();
        geometric(&means)
    }

    /// The own time of an average call of the mix, or of one without an operation.
    fn estimate(&self, strategy: usize, without: Option<usize>) -> f64 {
        let places = || self.called().into_iter().filter(|place| Some(*place) != without);
        let sum: f64 = places().map(|place| self.share(place) * self.own_time(strategy, place)).sum();
        sum / places().map(|place| self.share(place)).sum::<f64>()
    }

    /// The share of an operation at which two strategies take the same time by their own times; outside 0 to 1 where there is none.
    fn flip(&self, one: usize, other: usize, operation: usize) -> f64 {
        let own = self.own_time(one, operation) - self.own_time(other, operation);
        let rest = self.estimate(one, Some(operation)) - self.estimate(other, Some(operation));
        rest / (rest - own)
    }

    /// Whether own times predict the order and the ratio of two strategies at saturation within 20 %.
    fn predicts(&self, one: usize, other: usize) -> bool {
        let estimated = self.estimate(one, None) / self.estimate(other, None);
        let measured = self.service("saturation", one) / self.service("saturation", other);
        (estimated < 1.0) == (measured < 1.0) && (estimated / measured).ln().abs() <= 1.2f64.ln()
    }

    /// The mean service time of all calls of a part.
    fn service(&self, part: &str, strategy: usize) -> f64 {
        let outcomes = |cell: &&Value| -> Vec<(f64, f64)> {
            let outcomes = list(&cell["operations"]).iter().flat_map(|one| list(&one["outcomes"]));
            let answered = outcomes.filter(|one| !UNANSWERED.iter().any(|name| one["outcome"] == *name));
            answered.map(|one| (number(&one["sum"]), number(&one["count"]))).collect()
        };
        let all: Vec<(f64, f64)> = self.cells(part, strategy).iter().flat_map(outcomes).collect();
        all.iter().map(|(sum, _)| sum).sum::<f64>() / all.iter().map(|(_, count)| count).sum::<f64>()
    }

    /// The sum of a number of operations in a part, of one operation or of all.
    fn total(&self, part: &str, strategy: usize, operation: Option<usize>, of: impl Fn(&Value) -> f64) -> f64 {
        let operations = self.cells(part, strategy).into_iter().flat_map(|cell| {
            let all = list(&cell["operations"]).iter().enumerate();
            all.filter(|(place, _)| operation.is_none_or(|operation| operation == *place)).map(|(_, one)| one)
        });
        operations.map(of).sum()
    }

    fn calls(&self, part: &str, strategy: usize, operation: Option<usize>) -> f64 {
        self.total(part, strategy, operation, |one| number(&one["calls"]))
    }

    fn round_trips(&self, part: &str, strategy: usize, operation: Option<usize>) -> f64 {
        self.total(part, strategy, operation, |one| number(&one["round_trips"])) / self.calls(part, strategy, operation)
    }

    fn retries(&self, part: &str, strategy: usize) -> f64 {
        let retries = |one: &Value| one["retries"].as_object().unwrap().values().map(number).sum();
        self.total(part, strategy, None, retries) / self.calls(part, strategy, None)
    }

    /// What a counter grew per call of an operation by itself.
    fn own_counter(&self, counter: &str, strategy: usize, operation: usize) -> f64 {
        // There is none where a round made no call of it.
        let sum = |cell: &Value| cell["own_counters"][operation][counter].as_f64().unwrap_or(0.0);
        self.cells("own", strategy).into_iter().map(sum).sum::<f64>() / self.calls("own", strategy, Some(operation))
    }

    /// What a counter grew per call of a part: the mean over rounds.
    fn counter(&self, part: &str, counter: &str, strategy: usize) -> f64 {
        let cells = self.cells(part, strategy);
        let sum: f64 = cells.iter().map(|cell| number(&cell["counters"][counter]) / number(&cell["calls"])).sum();
        sum / cells.len() as f64
    }

    /// The CPU time, or the own time, of an average call.
    fn budget(&self, strategy: usize, cost: impl Fn(usize, usize) -> f64) -> f64 {
        self.called().into_iter().map(|operation| self.share(operation) * cost(strategy, operation)).sum()
    }

    /// Bytes at the end of the run: the mean over rounds.
    fn bytes(&self, strategy: usize, of: fn(&Value) -> f64) -> f64 {
        let cells = self.cells("saturation", strategy);
        cells.iter().map(|cell| list(&cell["after"]).iter().map(of).sum::<f64>()).sum::<f64>() / cells.len() as f64
    }

    /// A quantile of the response times of every round.
    fn response_quantiles(&self, strategy: usize, share: f64) -> Vec<f64> {
        let of_cell = |cell: &&Value| {
            let outcomes = list(&cell["operations"]).iter().flat_map(|one| list(&one["outcomes"]));
            quantile(outcomes.map(|one| &one["response"]["histogram"]), share)
        };
        self.cells("rate", strategy).iter().map(of_cell).collect()
    }

    /// The value that the answer is about, of every round.
    fn judged(&self, question: Question, strategy: usize) -> Vec<f64> {
        match question {
            Question::Response => self.mix_means(strategy),
            Question::Throughput => {
                self.cells("saturation", strategy).iter().map(|cell| self.throughput(cell)).collect()
            }
        }
    }

    /// The mean response time of every round: the means of the operations, weighted as the mix asks for.
    fn mix_means(&self, strategy: usize) -> Vec<f64> {
        let of_round = |cell: &&Value| {
            let parts = self.called().into_iter().filter_map(|operation| {
                let mean = mean(&cell["operations"][operation], |outcome| &outcome["response"]);
                mean.is_finite().then(|| (self.share(operation), mean))
            });
            let (sum, shares) =
                parts.fold((0.0, 0.0), |(sum, shares), (share, mean)| (sum + share * mean, shares + share));
            sum / shares
        };
        self.cells("rate", strategy).iter().map(of_round).collect()
    }

    /// Calls per second while every client had a call; docs/method.md has the formula.
    fn throughput(&self, cell: &Value) -> f64 {
        let whole = number(&cell["calls"]) / number(&cell["seconds"]);
        let slices: Vec<&Value> =
            list(&cell["slices"]).iter().filter(|one| number(&one["saturated_calls"]) > 0.0).collect();
        let sum = |field: &str| slices.iter().map(|one| number(&one[field])).sum::<f64>();
        let seconds = sum("saturated_seconds");
        if seconds == 0.0 {
            return whole;
        }
        let outcomes = list(&cell["operations"]).iter().flat_map(|one| list(&one["outcomes"]));
        let times = merged(outcomes.map(|one| &one["service"]));
        let variation = times.stdev() / times.mean();
        let clients = number(&self.0["settings"]["clients"]) - number(&self.0["settings"]["threads"]);
        let excess = clients * slices.len() as f64 * (variation * variation - 1.0) / 2.0;
        ((sum("saturated_calls") - excess) / seconds).max(whole)
    }

    /// A value of a strategy as ratios have it: that of the baseline is the geometric mean of its two arms.
    fn pooled(&self, strategy: usize, of: impl Fn(usize) -> f64) -> f64 {
        if strategy == 0 { (of(0) * of(self.repeat())).sqrt() } else { of(strategy) }
    }

    /// How many times better one strategy is than another.
    fn factor(&self, question: Question, better: usize, worse: usize) -> f64 {
        let of = |strategy| self.pooled(strategy, |arm| geometric(&self.judged(question, arm)));
        match question {
            Question::Response => of(worse) / of(better),
            Question::Throughput => of(better) / of(worse),
        }
    }
}

/// What the answer is about.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Question {
    Response,
    Throughput,
}

impl Question {
    /// The one that a sentence of Sure is about.
    fn of(sentence: &str) -> Question {
        if sentence.starts_with("Calls/s") { Question::Throughput } else { Question::Response }
    }

    fn part(self) -> &'static str {
        match self {
            Question::Response => "rate",
            Question::Throughput => "saturation",
        }
    }
}

/// The mean time of the answered calls of an operation in nanoseconds, from these times of an outcome.
fn mean(operation: &Value, times: fn(&Value) -> &Value) -> f64 {
    let answered =
        list(&operation["outcomes"]).iter().filter(|one| !UNANSWERED.iter().any(|name| one["outcome"] == *name));
    let add = |(sum, count), one: &Value| (sum + number(&one["sum"]), count + number(&one["count"]));
    let (sum, count) = answered.map(times).fold((0.0, 0.0), add);
    sum / count
}

/// All values in some stored histograms.
fn merged<'v>(stored: impl Iterator<Item = &'v Value>) -> Histogram<u64> {
    let mut all = Histogram::<u64>::new(3).unwrap();
    for text in stored.filter_map(Value::as_str) {
        let bytes = STANDARD.decode(text).unwrap();
        all.add(Deserializer::new().deserialize::<u64, _>(&mut bytes.as_slice()).unwrap()).unwrap();
    }
    all
}

/// A quantile of all values in some stored histograms.
fn quantile<'v>(stored: impl Iterator<Item = &'v Value>, share: f64) -> f64 {
    merged(stored).value_at_quantile(share) as f64
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn geometric(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// Whether a number with its unit is what was expected, rounded as printed.
fn assert_printed(text: &str, expected: f64) {
    let Some(limit) = text.strip_prefix("< ") else {
        let (digits, unit) =
            text.split_at(text.trim_end_matches(|c: char| c.is_alphabetic() || " %".contains(c)).len());
        let size = match unit.trim() {
            "" => 1.0,
            unit => UNITS.iter().find(|(name, _)| *name == unit).unwrap_or_else(|| panic!("unit of {text}")).1,
        };
        let value: f64 = digits.replace(',', "").parse().unwrap_or_else(|_| panic!("{text} is no number"));
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        // Half of the last digit, and what floating point loses.
        let half = 0.501 * 10f64.powi(-(decimals as i32));
        assert!((value - expected / size).abs() <= half, "{text} is {} by the record", expected / size);
        return;
    };
    assert_eq!(limit, "0.1 %");
    assert!(expected < 0.001, "{text} is {expected} by the record");
}

/// A form of a sentence, and what its numbers must be.
type Form = (&'static str, fn(&Published, &Captures));

/// A published result.
struct Published {
    run: Run,
    folder: PathBuf,
    question: Question,
    /// Strategies that the answer may stand for: those behind "Choose", "between" or "is" and the one named after "with".
    best: String,
    /// The strategies that are reported to be worse than the best, by response time and by calls per second.
    worse: [Vec<String>; 2],
    has_winner: bool,
}

impl Published {
    /// The question by which a strategy is shown to be worse: the second one where the first does not tell it from the best.
    fn question(&self, worse: &str) -> Question {
        let is_by_time = self.question == Question::Response && self.worse[0].iter().any(|name| name == worse);
        if is_by_time { Question::Response } else { Question::Throughput }
    }

    /// The strategies that the best one is shown to be better than.
    fn beaten(&self) -> impl Iterator<Item = usize> {
        let is_by_time = self.question == Question::Response;
        let first = self.worse[0].iter().filter(move |_| is_by_time);
        let second = self.worse[1].iter().filter(move |_| !is_by_time || self.has_winner);
        first.chain(second).map(|name| self.run.strategy(name))
    }
}

const NAME: &str = "[a-z0-9_]+";
const FACTOR: &str = r"[\d.,]+(?:x| %)";
const VALUE: &str = r"(?:< )?[\d.,]+(?: (?:ns|µs|ms|s|B|KB|MB|%))?";

/// The forms of Why.
const WHY: [Form; 3] = [
    (
        r"^(?<names>NAME(?: and NAME)?) (?:is|are) (?<calls>VALUE) of the calls and (?<share>VALUE) of (?<slower>NAME)'s (?<unit>server CPU time|time): (?<details>.+?)\. Per call of the mix: (?<times>[\d.]+x) the (?:CPU time|time; CPU time does not explain it)\.$",
        |published, of| {
            let run = &published.run;
            let slower = run.strategy(&of["slower"]);
            let operations: Vec<usize> = of["names"].split(" and ").map(|name| run.operation(name)).collect();
            let is_cpu = &of["unit"] == "server CPU time";
            let cost = |strategy: usize, operation: usize| {
                if is_cpu {
                    run.own_counter("cpu_us", strategy, operation) * 1e3
                } else {
                    run.own_time(strategy, operation)
                }
            };
            assert_printed(&of["calls"], operations.iter().map(|operation| run.share(*operation)).sum());
            let named: f64 = operations.iter().map(|operation| run.share(*operation) * cost(slower, *operation)).sum();
            assert_printed(&of["share"], named / run.budget(slower, cost));
            let details: Vec<&str> = of["details"].split("; ").collect();
            assert_eq!(details.len(), operations.len(), "{}", &of[0]);
            let form = "^(?:NAME )?(?<slow>VALUE)(?: CPU time by itself| by itself)? against (?<fast>VALUE)(?: with (?<faster>NAME))?(?: \\((?<evidence>.+) per call\\))?$";
            let form = compiled(form);
            let mut faster = None;
            for (detail, operation) in details.into_iter().zip(operations) {
                let of = form.captures(detail).unwrap_or_else(|| panic!("unknown form: {detail}"));
                faster = of.name("faster").map(|name| run.strategy(name.as_str())).or(faster);
                let faster = faster.expect("the first detail names the faster strategy");
                assert_printed(&of["slow"], cost(slower, operation));
                assert_printed(&of["fast"], cost(faster, operation));
                let counted = |label: &str, strategy: usize| match label {
                    "round trips" => run.round_trips("own", strategy, Some(operation)),
                    label => run.own_counter(&label.replace(' ', "_"), strategy, operation),
                };
                check_evidence(of.name("evidence").map_or("", |text| text.as_str()), [slower, faster], counted);
            }
            // The kind must predict at least half of the measured difference.
            let faster = faster.expect("a detail");
            let predicted = run.budget(slower, cost) / run.budget(faster, cost);
            let measured = run.factor(published.question(&of["slower"]), faster, slower);
            assert_printed(&of["times"], predicted);
            assert!(predicted.ln() >= 0.5 * measured.ln(), "{predicted} does not explain {measured}");
        },
    ),
    (
        r"^(?:At [\d.,]+ calls/s|With [\d,]+ clients) a call of (?<slower>NAME) takes (?<slow>VALUE) times its own time, one of (?<faster>NAME) (?<fast>VALUE)(?:: the common rate is (?<load>VALUE) of its calls/s at saturation, so calls queue|: it waits for other calls|; it waits for other calls, and no counter says for what)(?: \((?<evidence>.+) per call\))?\.$",
        |published, of| {
            let (run, part) = (&published.run, published.question(&of["slower"]).part());
            let pair = [run.strategy(&of["slower"]), run.strategy(&of["faster"])];
            let stretch = |strategy: usize| run.service(part, strategy) / run.estimate(strategy, None);
            assert_printed(&of["slow"], stretch(pair[0]));
            assert_printed(&of["fast"], stretch(pair[1]));
            if let Some(load) = of.name("load") {
                let most = geometric(&run.judged(Question::Throughput, pair[0]));
                assert_printed(load.as_str(), number(&run.0["settings"]["load"]["open"]["rate"]) / most);
            }
            let counted = |label: &str, strategy: usize| match label {
                "retries" => run.retries(part, strategy),
                "read into cache" => run.counter(part, "cache_bytes_read", strategy),
                label => run.counter(part, &label.replace(' ', "_"), strategy),
            };
            check_evidence(of.name("evidence").map_or("", |text| text.as_str()), pair, counted);
        },
    ),
    (
        "^Not known: neither the own costs of the operations nor waiting in the mix predict this difference\\.$",
        |_, _| {},
    ),
];

/// The forms of Flips.
const FLIPS: [Form; 5] = [
    (
        r"^in the mix (?<mix>[a-z0-9-]+), (?<better>NAME) (?<verb>is|makes) (?<times>FACTOR) (?:faster|more calls/s) than (?<worse>NAME) \(measured\)$",
        |published, of| {
            let folder = published.folder.parent().unwrap().parent().unwrap().join(&of["mix"]);
            let place = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).next().unwrap();
            let Some(other) = Run::open(&place) else { return };
            let question = if &of["verb"] == "is" { Question::Response } else { Question::Throughput };
            assert_factor(
                &of["times"],
                other.factor(question, other.strategy(&of["better"]), other.strategy(&of["worse"])),
            );
        },
    ),
    (
        r"^(?<other>NAME) overtakes when (?<operation>NAME) is (?<side>more|less) than (?<at>VALUE) of the calls instead of (?<measured>VALUE) \((?<how>estimated|rough estimate)\)$",
        |published, of| {
            let run = &published.run;
            let (operation, best, other) =
                (run.operation(&of["operation"]), run.strategy(&published.best), run.strategy(&of["other"]));
            assert_printed(&of["measured"], run.share(operation));
            let (at, measured) = (run.flip(best, other, operation), run.share(operation));
            assert_printed(&of["at"], at);
            assert_eq!(&of["side"], if at > measured { "more" } else { "less" });
            assert_eq!(&of["how"], if (at - measured).abs() <= 0.25 { "estimated" } else { "rough estimate" });
            assert!(run.predicts(best, other));
        },
    ),
    (
        r"^(?<other>NAME) is faster when each network round trip takes (?<by>VALUE) longer \(computed\)$",
        |published, of| {
            let (run, part) = (&published.run, published.question.part());
            let (best, other) = (run.strategy(&published.best), run.strategy(&of["other"]));
            let slower = run.service(part, other) - run.service(part, best);
            let trips = run.round_trips(part, best, None) - run.round_trips(part, other, None);
            assert!(trips > 0.0, "{} makes as many round trips", &of["other"]);
            assert_printed(&of["by"], slower / trips);
        },
    ),
    (r"^at no share of a single operation \(estimated\)$", |published, _| {
        let run = &published.run;
        let best = run.strategy(&published.best);
        for other in published.beaten() {
            assert!(run.predicts(best, other), "own times do not predict the mix");
            let is_possible = |operation: &usize| {
                let at = run.flip(best, other, *operation);
                let beyond = |strategy: usize| {
                    let is_more = at > run.share(*operation);
                    if is_more { run.own_time(strategy, *operation) } else { run.estimate(strategy, Some(*operation)) }
                };
                (0.0..=1.0).contains(&at) && beyond(best) / beyond(other) > 1.02
            };
            assert_eq!(run.called().iter().find(|one| is_possible(one)), None);
        }
    }),
    ("^not estimated: own times do not predict this mix$", |published, _| {
        let run = &published.run;
        let best = run.strategy(&published.best);
        assert!(published.beaten().any(|other| !run.predicts(best, other)), "own times predict the mix");
    }),
];

/// The forms of But.
const BUT: [Form; 8] = [
    (
        r"^by itself, (?<operation>NAME) \((?<share>VALUE) of calls\) is (?<times>FACTOR) slower(?: with (?<slower>NAME))? than with (?<faster>NAME)$",
        |published, of| {
            let run = &published.run;
            let operation = run.operation(&of["operation"]);
            assert_printed(&of["share"], run.share(operation));
            let slower = run.strategy(of.name("slower").map_or(&published.best, |name| name.as_str()));
            let faster = run.strategy(&of["faster"]);
            let own = |strategy| run.pooled(strategy, |arm| run.own_time(arm, operation));
            assert_factor(&of["times"], own(slower) / own(faster));
        },
    ),
    (
        r"^by itself, (?<operation>NAME) \((?<share>VALUE) of calls\) takes (?<time>VALUE)(?: with (?<slower>NAME))?, and no command with (?<faster>NAME)$",
        |published, of| {
            let run = &published.run;
            let operation = run.operation(&of["operation"]);
            assert_printed(&of["share"], run.share(operation));
            let slower = run.strategy(of.name("slower").map_or(&published.best, |name| name.as_str()));
            assert_printed(&of["time"], run.own_time(slower, operation));
            assert_eq!(run.round_trips("own", run.strategy(&of["faster"]), Some(operation)), 0.0);
        },
    ),
    (
        r"^with (?<clients>[\d,]+) clients (?<better>NAME) makes (?<times>FACTOR) more calls/s(?: than (?<than>NAME))?$",
        |published, of| {
            let run = &published.run;
            assert_eq!(run.0["settings"]["clients"], of["clients"].parse::<u64>().unwrap());
            let than = of.name("than").map_or(published.best.as_str(), |name| name.as_str());
            let pair = [run.strategy(&of["better"]), run.strategy(than)];
            assert_factor(&of["times"], run.factor(Question::Throughput, pair[0], pair[1]));
        },
    ),
    (r"^the p99 of (?<better>NAME) at (?<rate>[\d.,]+) calls/s is (?<times>FACTOR) faster$", |published, of| {
        let run = &published.run;
        assert_printed(&of["rate"], number(&run.0["settings"]["load"]["open"]["rate"]));
        let p99 = |name: &str| run.pooled(run.strategy(name), |arm| geometric(&run.response_quantiles(arm, 0.99)));
        assert_factor(&of["times"], p99(&published.best) / p99(&of["better"]));
    }),
    (
        r"^other clients see half of a (?<operation>NAME) for (?<time>VALUE) \((?<which>p99|median)\)$",
        |published, of| {
            let run = &published.run;
            let (operation, best) = (run.operation(&of["operation"]), run.strategy(&published.best));
            let cells = run.cells("rate", best);
            let times = cells.iter().map(|cell| &cell["operations"][operation]["inconsistency"]["histogram"]);
            let share = if &of["which"] == "p99" { 0.99 } else { 0.5 };
            assert_printed(&of["time"], quantile(times, share));
        },
    ),
    (r"^the audit (?<audit>NAME) found (?<found>[\d,]+) anomal(?:y|ies)$", |published, of| {
        let run = &published.run;
        let rounds = run.cells("saturation", run.strategy(&published.best));
        let audits = rounds.iter().flat_map(|cell| list(&cell["audits"])).filter(|one| one["audit"] == of["audit"]);
        let found = audits.map(|one| match list(&one["expected"]) {
            [least, most] => (number(least) - number(&one["found"])).max(number(&one["found"]) - number(most)).max(0.0),
            _ => number(&one["found"]),
        });
        assert_printed(&of["found"], found.sum());
    }),
    (
        r"^(?<what>the data take|the indexes take|the oplog grows by) (?<most>VALUE)(?: per call)?(?: with (?<dear>NAME))? against (?<least>VALUE) with (?<cheap>NAME)$",
        |published, of| {
            let run = &published.run;
            let cost = |strategy: usize| match &of["what"] {
                "the data take" => run.bytes(strategy, |one| number(&one["size"])),
                "the indexes take" => {
                    run.bytes(strategy, |one| one["indexes"].as_object().unwrap().values().map(number).sum())
                }
                _ => run.counter(published.question.part(), "oplog_bytes", strategy),
            };
            let dear = run.strategy(of.name("dear").map_or(&published.best, |name| name.as_str()));
            assert_printed(&of["most"], cost(dear));
            assert_printed(&of["least"], cost(run.strategy(&of["cheap"])));
        },
    ),
    ("^nothing in this run favours another strategy$", |_, _| {}),
];

fn compiled(form: &str) -> Regex {
    Regex::new(&form.replace("NAME", NAME).replace("FACTOR", FACTOR).replace("VALUE", VALUE)).unwrap()
}

/// Checks the pieces of evidence, as in `keys examined 100 against 1, documents examined 51 against 1`.
fn check_evidence(text: &str, pair: [usize; 2], counted: impl Fn(&str, usize) -> f64) {
    let form = compiled("^(?<label>[a-z ]+) (?<slow>VALUE) against (?<fast>VALUE)$");
    let pieces = Regex::new(r", ([a-z])").unwrap().replace_all(text, "\n$1").into_owned();
    for piece in pieces.lines() {
        let of = form.captures(piece).unwrap_or_else(|| panic!("unknown evidence: {piece}"));
        assert_printed(&of["slow"], counted(&of["label"], pair[0]));
        assert_printed(&of["fast"], counted(&of["label"], pair[1]));
    }
}

/// `1.5x`, or `4.2 %` for 1.042.
fn assert_factor(text: &str, expected: f64) {
    assert_printed(text, if text.ends_with('%') { expected - 1.0 } else { expected });
}

fn check_form(published: &Published, forms: &[Form], sentence: &str) -> &'static str {
    let (form, check) = *forms
        .iter()
        .find(|(form, _)| compiled(form).is_match(sentence))
        .unwrap_or_else(|| panic!("unknown form: {sentence}"));
    check(published, &compiled(form).captures(sentence).unwrap());
    form
}

/// The losers of the answer, their factors, and what Sure says of them.
fn check_answer(published: &Published, answer: &str, sure: &str) {
    let (run, question) = (&published.run, published.question);
    let by_word = |word: &str| match word {
        "faster" | "slower" => Question::Response,
        _ => Question::Throughput,
    };
    let best = run.strategy(&published.best);
    for of in compiled("(?<times>FACTOR) (?<word>faster|more calls/s) than (?<worse>NAME)").captures_iter(answer) {
        assert_factor(&of["times"], run.factor(by_word(&of["word"]), best, run.strategy(&of["worse"])));
    }
    for of in
        compiled("(?:; |, )(?<worse>NAME) (?:is|makes) (?<times>FACTOR) (?<word>slower|fewer)").captures_iter(answer)
    {
        let times = run.factor(by_word(&of["word"]), best, run.strategy(&of["worse"]));
        let is_part = &of["word"] == "fewer" && of["times"].ends_with('%');
        assert_factor(&of["times"], if is_part { 2.0 - times.recip() } else { times });
    }
    let ahead_of = compiled(r"of (?<worse>NAME) in (?<ahead>\d+) of (?<rounds>\d+)");
    let of_questions =
        sure.split(". ").flat_map(|sentence| ahead_of.captures_iter(sentence).map(move |of| (sentence, of)));
    for (sentence, of) in of_questions {
        let question = Question::of(sentence);
        let pairs: Vec<(f64, f64)> = {
            let worse = run.judged(question, run.strategy(&of["worse"]));
            run.judged(question, best).into_iter().zip(worse).collect()
        };
        let is_ahead = |(best, worse): &&(f64, f64)| (best < worse) == (question == Question::Response);
        assert_eq!(pairs.len().to_string(), of["rounds"], "{sure}");
        assert_eq!(pairs.iter().filter(is_ahead).count().to_string(), of["ahead"], "{sure}");
    }
    let twice = compiled("Two measurements of (?<baseline>NAME) differed by (?<off>VALUE)");
    let of = twice.captures(sure).unwrap_or_else(|| panic!("the baseline is measured twice: {sure}"));
    assert_eq!(run.strategy(&of["baseline"]), 0, "the baseline is the first arm");
    let [first, again] = [0, run.repeat()].map(|arm| geometric(&run.judged(question, arm)));
    let ratio = first / again;
    assert_printed(&of["off"], ratio.max(ratio.recip()) - 1.0);
}

#[test]
#[expect(clippy::print_stderr, reason = "a failing test prints the result that it stopped at")]
fn sentences_of_published_results_follow_from_their_records() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut results = 0;
    for folder in results_in(&root) {
        let Some(run) = Run::open(&folder) else { continue };
        eprintln!("{}", folder.display());
        let summary: Value = serde_json::from_reader(File::open(folder.join("summary.json")).unwrap()).unwrap();
        let text = |key: &str| unmarked(&summary["answer"][key]);
        let (answer, sure) = (text("answer"), text("sure"));
        let best = compiled("^(?:Choose|No difference of VALUE or more between|Undecided between) (?<best>NAME)")
            .captures(&answer);
        let best = best.unwrap_or_else(|| panic!("unknown form: {answer}"))["best"].to_owned();
        let question = Question::of(&sure);
        let worse_by = |metric: &str| -> Vec<String> {
            let is_worse = |one: &&Value| one["metrics"][metric]["standing"] == "worse";
            list(&summary["strategies"]).iter().filter(is_worse).map(|one| unmarked(&one["name"])).collect()
        };
        let worse = [worse_by("response_mean"), worse_by("calls_per_second")];
        let has_winner = answer.starts_with("Choose");
        let published = Published { run, folder, question, best, worse, has_winner };
        check_answer(&published, &answer, &sure);
        let why = text("why");
        if !why.is_empty() {
            *seen.entry(check_form(&published, &WHY, &why)).or_default() += 1;
        }
        for (key, forms) in [("flips", &FLIPS[..]), ("but", &BUT[..])] {
            for sentence in list(&summary["answer"][key]) {
                *seen.entry(check_form(&published, forms, &unmarked(sentence))).or_default() += 1;
            }
        }
        results += 1;
    }
    assert!(results >= 10 && seen.len() >= 6, "{results} results, forms {seen:?}");
}

/// A text without the backticks around names; empty for none.
fn unmarked(text: &Value) -> String {
    text.as_str().unwrap_or("").replace('`', "")
}

/// The folders `results/SCENARIO/MIX/PLACE` with a summary.
fn results_in(root: &Path) -> Vec<PathBuf> {
    let mut folders = vec![root.to_path_buf()];
    for _ in 0..3 {
        let inner = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
        folders = inner.map(|entry| entry.unwrap().path()).collect();
    }
    folders.retain(|folder| folder.join("summary.json").is_file());
    folders.sort();
    folders
}

#[test]
fn a_number_that_was_changed_fails() {
    for (text, expected, is_right) in [
        ("1.79 ms", 1_793_000.0, true),
        ("1.79 ms", 1_796_000.0, false),
        ("95.1 %", 0.9512, true),
        ("95.1 %", 0.9524, false),
        ("2.3x", 2.33, true),
        ("2.3x", 2.36, false),
        ("1,001", 1001.3, true),
        ("< 0.1 %", 0.0004, true),
        ("< 0.1 %", 0.002, false),
    ] {
        let found = std::panic::catch_unwind(|| assert_printed(text, expected));
        assert_eq!(found.is_ok(), is_right, "{text} for {expected}");
    }
}
