//! How a run was measured, how to measure it again, and what its numbers warn of.

use std::fmt::Display;

use crate::results::{Arrivals, LoadModel, RunRecord, Settings};
use crate::stats;

use super::cost;
use super::format::{bytes, count, counted, listed, plain};

/// Name and value of all that was set or found.
pub(super) fn measured(record: &RunRecord) -> Vec<(String, String)> {
    let mut pairs = settings(record);
    pairs.extend(server(record));
    pairs.extend(environment(record));
    pairs.into_iter().map(|(name, value)| (plain(&name), plain(&value))).collect()
}

fn settings(record: &RunRecord) -> Vec<(String, String)> {
    let settings = &record.settings;
    let weights: Vec<String> = record.mix.weights.iter().map(|(name, weight)| format!("{name} {weight}")).collect();
    let parameters: Vec<String> =
        record.parameters.iter().map(|(name, value)| format!("{name} = {}", bare(value))).collect();
    let slices = counted(slices(record), "slice");
    let window = match (settings.duration, settings.calls) {
        (Some(seconds), _) => format!("{seconds} s per strategy and round, in {slices}"),
        (None, Some(calls)) => format!("{} per strategy and round, in {slices}", counted(calls, "call")),
        (None, None) => "not set: the run ended before its pilot did".into(),
    };
    let mut pairs = vec![
        pair("docshape", &record.version),
        pair("began", &record.started),
        ("scenario".into(), format!("{}, SHA-256 {}", record.scenario.name, record.scenario.sha256)),
        ("mix".into(), format!("{}: {}", record.mix.name, weights.join(", "))),
        ("parameters".into(), parameters.join(", ")),
        pair("preset", &settings.preset),
        pair("seed", &settings.seed),
        ("rounds".into(), format!("{} of {}", record.rounds.len(), settings.rounds)),
        ("measured".into(), window),
    ];
    pairs.extend(
        settings
            .warmup_calls
            .map(|calls| ("warm-up".into(), format!("{} per strategy and round", counted(calls, "call")))),
    );
    pairs.push(("load".into(), load(settings)));
    pairs.push(("a call fails after".into(), format!("{} s", settings.timeout)));
    pairs.push(pair("write concern", &settings.write_concern));
    pairs.push(pair("read concern", &settings.read_concern));
    pairs
}

/// The slices of a window; at a rate they have a least length, so that there may be far fewer than asked for.
fn slices(record: &RunRecord) -> u64 {
    let cell = record.rounds.first().and_then(|round| round.cells.first());
    match cell.filter(|cell| cell.open.is_some()) {
        Some(cell) => cell.slices.len() as u64,
        None => record.settings.slices,
    }
}

fn load(settings: &Settings) -> String {
    let threads = counted(settings.threads as u64, "load thread");
    let workers = counted(settings.workers as u64, "worker");
    match settings.load {
        LoadModel::Closed => format!("closed model, {workers} on {threads}"),
        LoadModel::Open { rate, arrivals } => {
            let law = arrivals_name(arrivals);
            let rate = if rate > 0.0 { format!("{rate} calls per second") } else { "a rate that was not set".into() };
            format!("open model, {rate} of each strategy, {law} arrivals, at most {workers} on {threads}")
        }
    }
}

/// As the command line names it.
fn arrivals_name(arrivals: Arrivals) -> &'static str {
    match arrivals {
        Arrivals::Poisson => "poisson",
        Arrivals::Uniform => "uniform",
    }
}

fn server(record: &RunRecord) -> Vec<(String, String)> {
    let whose = if record.server.embedded { "started by docshape" } else { "the user's" };
    let server = format!("MongoDB {}, {}, {whose}", record.server.version, record.server.topology);
    let mut pairs = vec![("server".to_owned(), server)];
    pairs.extend(record.settings.cache_gb.map(|cache| ("cache".into(), format!("{cache} GB"))));
    pairs.extend(record.server.facts.iter().cloned());
    pairs
}

fn environment(record: &RunRecord) -> Vec<(String, String)> {
    let machine = &record.environment;
    let mut parts = vec![machine.platform.clone()];
    parts.extend(machine.kernel.iter().map(|kernel| format!("kernel {kernel}")));
    parts.extend(machine.cpu.clone());
    parts.extend(machine.cores.map(|cores| counted(cores, "core")));
    parts.extend(machine.governor.iter().map(|governor| format!("governor {governor}")));
    parts.extend(machine.memory.map(|memory| format!("{} of memory", bytes(memory as f64))));
    vec![("load made on".into(), parts.join(", "))]
}

fn pair(name: &str, value: &dyn Display) -> (String, String) {
    (name.to_owned(), value.to_string())
}

/// A parameter's value as `--set` takes it.
fn bare(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The command line that measures it again: every value is given, because presets may change.
pub(super) fn command(record: &RunRecord) -> String {
    let settings = &record.settings;
    let named = record.strategies.iter().filter(|strategy| !strategy.control);
    let strategies: Vec<&str> = named.map(|strategy| strategy.name.as_str()).collect();
    let mut words = vec!["docshape".to_owned(), "run".into(), record.scenario.name.clone()];
    let mut option = |name: &str, value: &dyn Display| words.extend([format!("--{name}"), value.to_string()]);
    option("strategies", &strategies.join(","));
    option("mix", &record.mix.name);
    record.parameters.iter().for_each(|(name, value)| option("set", &format!("{name}={}", bare(value))));
    option("preset", &settings.preset);
    option("rounds", &settings.rounds);
    option("slices", &settings.slices);
    match (settings.duration, settings.calls) {
        (Some(seconds), _) => option("duration", &seconds),
        (None, Some(calls)) => option("calls", &calls),
        (None, None) => {}
    }
    if let LoadModel::Open { rate, arrivals } = settings.load {
        match rate > 0.0 {
            true => option("rate", &rate),
            false => option("rate", &"auto"),
        }
        option("arrivals", &arrivals_name(arrivals));
    }
    option("workers", &settings.workers);
    option("threads", &settings.threads);
    option("seed", &settings.seed);
    if let Some(cache) = settings.cache_gb {
        option("cache-gb", &cache);
    }
    let mut line = words.iter().map(|word| quoted(&plain(word))).collect::<Vec<_>>().join(" ");
    if !record.server.embedded {
        line.push_str(" --uri \"$MONGODB_URI\"");
    }
    line
}

/// A word that a shell takes as it stands.
fn quoted(word: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "_-=.,:/+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_safe) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The run's own warnings, and those that follow from its numbers.
pub(super) fn warnings(record: &RunRecord) -> Vec<String> {
    let mut warnings: Vec<String> = record.warnings.iter().map(|warning| plain(warning)).collect();
    let names = |holds: &dyn Fn(usize) -> bool| -> Vec<String> {
        let which = record.strategies.iter().enumerate().filter(|(strategy, _)| holds(*strategy));
        which.map(|(_, strategy)| plain(&strategy.name)).collect()
    };
    let waited = names(&|s| stats::cells(record, s).any(|cell| cell.connections_created > 0));
    if !waited.is_empty() {
        let names = listed(&waited);
        warnings
            .push(format!("Connections were made while calls of {names} were measured: some calls waited for one."));
    }
    for (strategy, entry) in record.strategies.iter().enumerate() {
        let tally = stats::tally(stats::cells(record, strategy).flat_map(|cell| &cell.operations));
        if tally.saturated > 0 {
            let (calls, name) = (count(tally.saturated), plain(&entry.name));
            warnings.push(format!(
                "{calls} calls of {name} took longer than can be recorded: its mean and maximum are too low."
            ));
        }
    }
    warnings.extend(cost::contradictions(record));
    if record.settings.duration.is_some() {
        let states = "Windows were equal in time, not in calls: a faster strategy wrote more, so the states differ.";
        warnings.push(states.into());
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_every_word_as_it_stands() {
        let read = ["posts=200", "", "a b", "it's", "$(rm -rf ~)", "[1,2]"].map(quoted);
        assert_eq!(read, ["posts=200", "''", "'a b'", r"'it'\''s'", "'$(rm -rf ~)'", "'[1,2]'"]);
    }
}
