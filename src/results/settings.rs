//! How a run is measured: built once from the command line, kept in `run.json`, printed by reports from one table.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Part, Preset, is_default};

/// The noise floor unless a run sets its own: differences below 2 % are hardly ever worth a change of schema.
pub const NOISE: f64 = 0.02;

/// Calls in flight at most with open load, unless saturation has more.
pub const CLIENTS_AT_RATE: usize = 64;

/// The least share (0 to 1) of a window's calls that an overloaded strategy makes. Its calls are given up when twice their time is
/// over, so that half of them never take longer than the window, and are enough to show the share that it keeps up with.
const LEAST_OVERLOADED: f64 = 0.5;

/// The error budget unless a run sets its own.
pub const ERROR_BUDGET: f64 = 0.01;

/// The settings of a run.
///
/// A new option of `docshape run` is a field here, a row of [`RunSettings::table`] and an argument of the command line.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSettings {
    /// Where the other values started from.
    pub preset: Preset,
    /// Decides data and calls.
    pub seed: u64,
    /// The parts that are measured, in their order.
    pub parts: Vec<Part>,
    /// The load of [`Part::Rate`], from which those of the other parts follow; in the record of one part, its load.
    pub load: LoadModel,
    /// Whether the user named the rate, so that response times at it are what the run is about.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_named_rate: bool,
    /// Why all strategies shared an embedded server; `None` when each had its own, and on a server of the user's.
    pub shared_mongod: Option<String>,
    /// Calls in flight at saturation.
    pub clients: usize,
    /// The most calls in flight with open load.
    pub clients_at_rate: usize,
    /// Load threads.
    pub threads: usize,
    /// Rounds to measure.
    pub rounds: u64,
    /// Slices that each window is cut into.
    pub slices: u64,
    /// Why arms ran whole windows, one after the other; `None` when they took turns slice by slice.
    pub isolated: Option<String>,
    /// Whether all rounds have the same data.
    pub same_data: bool,
    /// Measured calls per arm and round at saturation; `None` until the pilot has set them.
    pub calls: Option<u64>,
    /// The same of strategies that make fewer because they are much slower than the others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fewer_calls: BTreeMap<String, u64>,
    /// Calls per second of every arm in the pilot; empty without one. Rates, and calls of windows, come from them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pilot: BTreeMap<String, f64>,
    /// Measured calls per arm and round in [`Part::Rate`]; `None` until the pilot has set them.
    pub rate_calls: Option<u64>,
    /// Calls of the mix per arm and round of which own costs measure some; `None` until they are planned.
    pub own_calls: Option<u64>,
    /// Warm-up calls per arm and round; `None` until the pilot has set them.
    pub warmup_calls: Option<u64>,
    /// Seconds that the windows of the slowest arm should take, when the user says so.
    pub duration: Option<f64>,
    /// Seconds after which a call has failed.
    pub timeout: f64,
    /// `w` of every write.
    pub write_concern: String,
    /// `level` of every read.
    pub read_concern: String,
    /// Seconds that a window should take: an arm that takes three times as long is cut off.
    pub planned_seconds: Option<f64>,
    /// The parameters that were set on the command line, as written there.
    pub set: Vec<(String, String)>,
    /// Operations and the shares of the mix's calls (0 to 1) that the command line gave them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<(String, f64)>,
    /// Seconds that are added to every reply, as a network of that round-trip time would.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rtt: f64,
    /// Cache of the embedded server in GB; `None` with a server of the user's.
    pub cache_gb: Option<f64>,
    /// Members of every embedded set; `None` for one, and with a server of the user's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<u64>,
    /// A ratio this close to 1 (0.02 for 2 %) is never reported as a difference.
    pub noise: f64,
    /// The largest share (0 to 1) of failed calls with which a run is valid.
    pub error_budget: f64,
    /// Limits on numbers of the run, as written on the command line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<String>,
}

/// When calls begin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadModel {
    /// When the client has the reply to its last call.
    #[default]
    Closed,
    /// At intended times.
    Open {
        /// Calls per second; 0 until the pilot has set it.
        rate: f64,
        /// How the times are drawn.
        arrivals: Arrivals,
    },
}

/// How the intended times of calls are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Independently of each other: exponential gaps.
    #[default]
    Poisson,
    /// With equal gaps.
    Uniform,
}

impl Arrivals {
    /// Returns the name that `run.json` and the command line use.
    pub fn name(self) -> &'static str {
        ["poisson", "uniform"][self as usize]
    }
}

/// A setting as reports print it, and as the command line takes it to measure the same again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The name of its option on the command line, without dashes; empty where it has none.
    pub option: &'static str,
    /// What reports call it.
    pub label: &'static str,
    /// Its value for a reader; `None` where reports show what was measured instead.
    pub text: Option<String>,
    /// The option's values, one per use; a flag has an empty one.
    pub values: Vec<String>,
}

impl RunSettings {
    /// Returns the settings of a plain run with this preset.
    pub fn of(preset: Preset) -> RunSettings {
        RunSettings {
            preset,
            seed: 1,
            parts: Part::ALL.to_vec(),
            load: LoadModel::Open { rate: 0.0, arrivals: Arrivals::Poisson },
            clients: 8,
            clients_at_rate: CLIENTS_AT_RATE,
            threads: 1,
            rounds: preset.length().rounds,
            slices: preset.length().slices,
            timeout: 10.0,
            write_concern: "majority".to_owned(),
            read_concern: "majority".to_owned(),
            cache_gb: Some(1.0),
            noise: NOISE,
            error_budget: ERROR_BUDGET,
            // What is off, empty, or not planned yet.
            ..RunSettings::default()
        }
    }

    /// Returns the most calls in flight in any part that is measured.
    pub fn most_clients(&self) -> usize {
        if self.parts.contains(&Part::Rate) { self.clients.max(self.clients_at_rate) } else { self.clients }
    }

    /// Returns the same without the ends of the curve of response times: [`Part::Rate`] is its only open load.
    pub fn without_curve(mut self) -> RunSettings {
        self.parts.retain(|part| !part.is_end_of_curve());
        self
    }

    /// Returns the calls per second of [`Part::Rate`]; `None` until they are known.
    pub fn planned_rate(&self) -> Option<f64> {
        match self.load {
            LoadModel::Open { rate, .. } if rate > 0.0 => Some(rate),
            LoadModel::Open { .. } | LoadModel::Closed => None,
        }
    }

    /// Returns the load of [`Part::Rate`]; closed where that is not measured.
    pub fn load_at_rate(&self) -> LoadModel {
        if self.parts.contains(&Part::Rate) { self.load } else { LoadModel::Closed }
    }

    /// Returns the load of a part of a run with these settings.
    pub fn load_of(&self, part: Part) -> LoadModel {
        match self.load {
            LoadModel::Open { rate, arrivals } => {
                part.rate(rate).map_or(LoadModel::Closed, |rate| LoadModel::Open { rate, arrivals })
            }
            LoadModel::Closed => LoadModel::Closed,
        }
    }

    /// Returns the most calls in flight in a part.
    pub fn clients_of(&self, part: Part) -> usize {
        match part {
            Part::Own => 1,
            Part::Saturation => self.clients,
            Part::Light | Part::Rate | Part::Heavy => self.clients_at_rate,
        }
    }

    /// Returns the calls of a part per arm and round; `None` until they are planned. The windows of all open loads are equally long.
    pub fn calls_in(&self, part: Part) -> Option<u64> {
        match part {
            Part::Own => self.own_calls,
            Part::Saturation => self.calls,
            Part::Light | Part::Rate | Part::Heavy => Some((part.rate(self.rate_calls? as f64)?.round() as u64).max(1)),
        }
    }

    /// Returns how many of the calls of a part's window a strategy makes. One that is much slower than the others makes fewer at
    /// saturation, and one that was below the load in the pilot fewer of that load, so that it takes no longer than the others.
    pub fn fewer(&self, part: Part, strategy: &str, calls: u64) -> u64 {
        let most = match self.load_of(part) {
            LoadModel::Open { rate, .. } => self.pilot.get(strategy).map(|pilot| {
                let share = (pilot / rate).max(LEAST_OVERLOADED);
                (calls as f64 * share).ceil() as u64
            }),
            LoadModel::Closed => self.fewer_calls.get(strategy).copied().filter(|_| part == Part::Saturation),
        };
        most.map_or(calls, |most| most.clamp(1, calls.max(1)))
    }

    /// Returns the measured calls of a strategy in a part; `None` until they are planned.
    pub fn calls_of(&self, part: Part, strategy: &str) -> Option<u64> {
        self.calls_in(part).map(|calls| self.fewer(part, strategy, calls))
    }

    /// Returns the time after which a call has failed.
    pub fn timeout(&self) -> Duration {
        Duration::try_from_secs_f64(self.timeout).unwrap_or(Duration::MAX)
    }

    /// Returns all settings in the order of the reports. Options whose defaults a preset may change are always given.
    pub fn table(&self) -> Vec<Setting> {
        let percent = |share: f64| format!("{} %", in_percent(share));
        let unusual = |share: f64, usual: f64| (share != usual).then(|| in_percent(share).to_string());
        let (load, rate, arrivals) = match self.load_at_rate() {
            LoadModel::Closed => (None, None, None),
            LoadModel::Open { rate, arrivals } if rate > 0.0 => {
                let named = self.is_named_rate.then(|| rate.to_string());
                let measured = Part::CURVE.into_iter().filter(|part| self.parts.contains(part));
                let rates: Vec<String> = measured.filter_map(|part| Some(part.rate(rate)?.to_string())).collect();
                (Some(format!("{} calls per second and strategy", rates.join(", "))), named, Some(arrivals.name()))
            }
            LoadModel::Open { arrivals, .. } => {
                (Some("not set yet".to_owned()), Some("auto".to_owned()), Some(arrivals.name()))
            }
        };
        let shares: Vec<String> =
            self.shares.iter().map(|(operation, share)| format!("{operation}={}%", in_percent(*share))).collect();
        let parts: Vec<&str> = self.parts.iter().map(|part| part.name()).collect();
        // The ends of the curve come with the rate, unless it is named.
        let named = || self.parts.iter().filter(|part| !part.is_end_of_curve());
        let is_partial = named().count() < Part::ALL.iter().filter(|part| !part.is_end_of_curve()).count();
        let only: Vec<&str> = named().map(|part| part.name()).collect();
        let isolated = self.isolated.as_ref().map(|reason| format!("one strategy after the other: {reason}"));
        let shared = self.shared_mongod.as_ref().map(|reason| format!("one mongod for all strategies: {reason}"));
        vec![
            Setting::new("preset", "preset").given(self.preset),
            Setting::new("seed", "seed").given(self.seed),
            Setting::new("rounds", "rounds").takes(Some(self.rounds)),
            Setting::new("slices", "slices").takes(Some(self.slices)),
            Setting::new("duration", "window").takes(self.duration.map(|seconds| format!("{seconds}s"))),
            Setting::new("calls", "calls")
                .takes(self.calls.filter(|_| self.duration.is_none() && self.fewer_calls.is_empty())),
            Setting::new("only", "parts").shows(Some(parts.join(", "))).takes(is_partial.then(|| only.join(","))),
            Setting::new("rate", "open load").shows(load).takes(rate),
            Setting::new("arrivals", "arrivals").shows(arrivals).takes(arrivals),
            Setting::new("clients", "clients").given(self.clients),
            Setting::new("share", "shares of the mix")
                .shows((!self.shares.is_empty()).then(|| shares.join(", ")))
                .takes(shares.iter()),
            Setting::new("rtt", "added round-trip time")
                .shows((self.rtt > 0.0).then(|| format!("{} ms", self.rtt * 1e3)))
                .takes((self.rtt > 0.0).then(|| format!("{}ms", self.rtt * 1e3))),
            Setting::new("same-data", "data of the rounds")
                .shows(Some(if self.same_data { "the same" } else { "a set per round" }))
                .takes(self.same_data.then_some("")),
            Setting::new("threads", "load threads").given(self.threads),
            Setting::new("isolate", "isolated").takes(isolated.as_ref().map(|_| "")).shows(isolated),
            Setting::new("shared-mongod", "servers").takes(shared.as_ref().map(|_| "")).shows(shared),
            Setting::new("timeout", "timeout per call")
                .shows(Some(format!("{} s", self.timeout)))
                .takes(Some(format!("{}s", self.timeout))),
            Setting::new("noise", "noise floor").shows(Some(percent(self.noise))).takes(unusual(self.noise, NOISE)),
            Setting::new("error-budget", "error budget")
                .shows(Some(percent(self.error_budget)))
                .takes(unusual(self.error_budget, ERROR_BUDGET)),
            Setting::new("threshold", "thresholds").takes(self.thresholds.iter()),
            Setting::new("write-concern", "write concern")
                .shows(Some(&self.write_concern))
                .takes((self.write_concern != "majority").then_some(&self.write_concern)),
            Setting::new("", "read concern").shows(Some(&self.read_concern)),
            Setting::new("members", "members")
                .shows(self.members.map(|members| {
                    let cache = self.cache_gb.unwrap_or_default() * members as f64;
                    format!(
                        "{members} on one machine, with {cache} GB of cache together; CPU time is that of the primary"
                    )
                }))
                .takes(self.members),
            Setting::new("cache-gb", "cache").shows(self.cache_gb.map(|gb| format!("{gb} GB"))).takes(self.cache_gb),
        ]
    }
}

impl Setting {
    fn new(option: &'static str, label: &'static str) -> Setting {
        Setting { option, label, text: None, values: Vec::new() }
    }

    fn shows(self, text: Option<impl ToString>) -> Setting {
        Setting { text: text.map(|text| text.to_string()), ..self }
    }

    fn takes(self, values: impl IntoIterator<Item: ToString>) -> Setting {
        Setting { values: values.into_iter().map(|value| value.to_string()).collect(), ..self }
    }

    fn given(self, value: impl ToString) -> Setting {
        let value = value.to_string();
        self.shows(Some(&value)).takes(Some(value))
    }
}

/// Returns a share in percent, without the digits that a share of 0.07 has as 7.000000000000001 %.
pub fn in_percent(share: f64) -> f64 {
    (share * 1e11).round() / 1e9
}
