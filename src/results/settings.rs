//! How a run is measured: built once from the command line, kept in `run.json`, printed by reports from one table.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Part, Preset, is_default};

/// The noise floor unless a run sets its own: differences below 2 % are hardly ever worth a change of schema.
pub const NOISE: f64 = 0.02;

/// Calls in flight at most at the common rate, unless saturation has more.
pub const CLIENTS_AT_RATE: usize = 64;

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
    /// The common rate of a run; in the record of one part, its load.
    pub load: LoadModel,
    /// Whether the user named the rate, so that response times at it are what the run is about.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_named_rate: bool,
    /// Why all strategies shared an embedded server; `None` when each had its own, and on a server of the user's.
    pub shared_mongod: Option<String>,
    /// Calls in flight at saturation.
    pub clients: usize,
    /// The most calls in flight at the common rate.
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
    /// Measured calls per arm and round at the common rate; `None` until the pilot has set them.
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

    /// Returns the calls per second of the common rate; `None` until it is known.
    pub fn planned_rate(&self) -> Option<f64> {
        match self.load {
            LoadModel::Open { rate, .. } if rate > 0.0 => Some(rate),
            LoadModel::Open { .. } | LoadModel::Closed => None,
        }
    }

    /// Returns the load at the common rate; closed where that is not measured.
    pub fn load_at_rate(&self) -> LoadModel {
        if self.parts.contains(&Part::Rate) { self.load } else { LoadModel::Closed }
    }

    /// Returns the measured calls of a strategy at saturation; `None` until they are planned.
    pub fn calls_of(&self, strategy: &str) -> Option<u64> {
        self.fewer_calls.get(strategy).copied().or(self.calls)
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
                (Some(format!("{rate} calls per second and strategy")), named, Some(arrivals.name()))
            }
            LoadModel::Open { arrivals, .. } => {
                (Some("not set yet".to_owned()), Some("auto".to_owned()), Some(arrivals.name()))
            }
        };
        let shares: Vec<String> =
            self.shares.iter().map(|(operation, share)| format!("{operation}={}%", in_percent(*share))).collect();
        let parts: Vec<&str> = self.parts.iter().map(|part| part.name()).collect();
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
            Setting::new("only", "parts")
                .shows(Some(parts.join(", ")))
                .takes((self.parts != Part::ALL).then(|| parts.join(","))),
            Setting::new("rate", "common rate").shows(load).takes(rate),
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
