//! What run a report is about, as data: the same that the section of the method has as texts.

use serde::Serialize;

use crate::report::document::format::plain;
use crate::results::{Arrivals, LoadModel, RunRecord, ServerSharing, Status};

use super::sections::method;

/// A run, what it was measured with and where.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunFacts {
    /// The run's id, as in the names of its databases; empty in records of builds that did not keep it.
    pub id: String,
    /// `complete`, `unfinished`, `interrupted` or `failed`.
    pub status: &'static str,
    /// Start of the run, RFC 3339, UTC.
    pub started: String,
    /// The version of docshape that measured it.
    pub docshape: String,
    /// The commit that docshape was built from.
    pub commit: Option<String>,
    /// SHA-256 of the scenario's text, hexadecimal.
    pub scenario_sha256: String,
    /// The scenario's parameters.
    pub parameters: Vec<ParameterValue>,
    /// The preset that the other settings started from.
    pub preset: &'static str,
    /// The seed of data and calls.
    pub seed: u64,
    /// Requested rounds.
    pub rounds_asked: u64,
    /// Complete rounds.
    pub rounds: u64,
    /// Measured calls of every strategy in every round; `null` when they differ.
    pub calls: Option<u64>,
    /// Warm-up calls, which are in no other number.
    pub warm_up_calls: Option<u64>,
    /// Seconds per window, for windows of equal time.
    pub duration_s: Option<f64>,
    /// The calls per second of the middle open load, or of the one that was named; `null` where it was not measured.
    pub rate: Option<f64>,
    /// How the intended starts with open load were drawn; `null` where it was not measured.
    pub arrivals: Option<&'static str>,
    /// Concurrent clients; with open load the most calls in flight.
    pub clients: u64,
    /// Load threads.
    pub threads: u64,
    /// Whether strategies ran one after another (`--isolate`), not slice by slice.
    pub isolated: bool,
    /// Timeout per call in seconds.
    pub timeout_s: Option<f64>,
    /// The write concern `w` of every write.
    pub write_concern: String,
    /// The read concern level of every read.
    pub read_concern: String,
    /// The noise floor (0.02 for 2 %): smaller differences are never reported.
    pub noise: Option<f64>,
    /// The greatest share (0 to 1) of failed calls with which a run is valid.
    pub error_budget: Option<f64>,
    /// The server.
    pub server: ServerFacts,
    /// The machine that generated the load.
    pub machine: MachineFacts,
    /// What the verification before the run found; `null` when it was skipped.
    pub verification: Option<VerificationFacts>,
    /// Strategies that were chosen and not measured.
    pub skipped: Vec<SkippedFacts>,
    /// The command line that repeats the run.
    pub command: String,
}

/// A parameter and its value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ParameterValue {
    /// Its name.
    pub name: String,
    /// Its value, as for `--set`.
    pub value: String,
}

/// The server of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServerFacts {
    /// Its version.
    pub version: String,
    /// The deployment, such as `a replica set of one member`.
    pub topology: String,
    /// Whether docshape started it.
    pub embedded: bool,
    /// The configured cache in bytes, if the server reports it.
    pub cache_bytes: Option<u64>,
    /// Whether every strategy had a server of its own (`per_strategy`) or all shared one (`shared`).
    #[cfg_attr(test, schemars(with = "String"))]
    pub servers: ServerSharing,
}

/// The machine that generated the load; unknown values are `null`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineFacts {
    /// Operating system and architecture.
    pub platform: String,
    /// Kernel version.
    pub kernel: Option<String>,
    /// CPU model.
    pub cpu: Option<String>,
    /// Cores that docshape could use.
    pub cores: Option<u64>,
    /// Frequency governor of the first core.
    pub governor: Option<String>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// The driver and its version.
    pub driver: Option<String>,
    /// Connections that calls used.
    pub connections: Option<u64>,
}

/// What the check before the run found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VerificationFacts {
    /// Calls per strategy.
    pub calls: u64,
    /// The baseline strategy.
    pub baseline: String,
    /// Whether no safe strategy has a finding.
    pub clean: bool,
    /// Strategies with a finding.
    pub found: Vec<String>,
    /// Operations that were never called.
    pub not_covered: Vec<String>,
}

/// A strategy that was not measured, because the server does not know a command of its.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SkippedFacts {
    /// Its name.
    pub strategy: String,
    /// The command and what the server said.
    pub reason: String,
}

/// The facts of a run with `calls` calls per cell.
pub(crate) fn facts(record: &RunRecord, calls: Option<u64>) -> RunFacts {
    let settings = &record.settings;
    let parameters = record.parameters.iter().map(|(name, value)| (plain(name), plain(&method::bare(value))));
    let skipped = record.skipped.iter().map(|one| (plain(&one.name), plain(&one.reason)));
    let (rate, arrivals) = match settings.load_at_rate() {
        LoadModel::Closed => (None, None),
        LoadModel::Open { rate, arrivals } => (Some(rate), Some(arrivals)),
    };
    RunFacts {
        id: plain(&record.id),
        status: match record.status {
            Status::Complete => "complete",
            Status::Unfinished => "unfinished",
            Status::Interrupted => "interrupted",
            Status::Failed(_) => "failed",
        },
        started: plain(&record.started),
        docshape: plain(&record.version),
        commit: record.git.as_deref().map(plain),
        scenario_sha256: plain(&record.scenario.sha256),
        parameters: parameters.map(|(name, value)| ParameterValue { name, value }).collect(),
        preset: settings.preset.name(),
        seed: settings.seed,
        rounds_asked: settings.rounds,
        rounds: record.complete_rounds() as u64,
        calls,
        warm_up_calls: settings.warmup_calls,
        duration_s: settings.duration,
        rate,
        arrivals: arrivals.map(Arrivals::name),
        clients: settings.clients as u64,
        threads: settings.threads as u64,
        isolated: settings.isolated.is_some(),
        timeout_s: Some(settings.timeout),
        write_concern: plain(&settings.write_concern),
        read_concern: plain(&settings.read_concern),
        noise: Some(settings.noise),
        error_budget: Some(settings.error_budget),
        server: ServerFacts {
            version: plain(&record.server.version),
            topology: plain(&record.server.topology),
            embedded: record.server.embedded,
            cache_bytes: record.server.cache_bytes,
            servers: record.server.servers,
        },
        machine: machine(record),
        verification: verification(record),
        skipped: skipped.map(|(strategy, reason)| SkippedFacts { strategy, reason }).collect(),
        command: method::command(record),
    }
}

fn machine(record: &RunRecord) -> MachineFacts {
    let machine = &record.environment;
    let text = |text: &Option<String>| text.as_deref().map(plain);
    MachineFacts {
        platform: plain(&machine.platform),
        kernel: text(&machine.kernel),
        cpu: text(&machine.cpu),
        cores: machine.cores,
        governor: text(&machine.governor),
        memory_bytes: machine.memory,
        driver: text(&machine.driver),
        connections: machine.connections,
    }
}

/// What the check before a run found; `None` when it was left out.
pub(crate) fn verification(record: &RunRecord) -> Option<VerificationFacts> {
    let found = record.verification.as_ref()?;
    let with_findings = || found.strategies.iter().filter(|strategy| !strategy.is_clean());
    Some(VerificationFacts {
        calls: found.calls,
        baseline: plain(&found.baseline),
        clean: with_findings().all(|strategy| strategy.is_unsafe),
        found: with_findings().map(|strategy| plain(&strategy.name)).collect(),
        not_covered: found.not_covered().into_iter().map(plain).collect(),
    })
}
