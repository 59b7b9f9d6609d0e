//! How a run was measured, how to measure it again, and what its numbers warn of.

use std::fmt::Display;

use crate::results::{Arrivals, ERROR_BUDGET, LoadModel, NOISE, RunRecord, Settings};

use super::format::{bytes, counted, listed, plain};
use super::{cost, validity};

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
    let docshape = match &record.git {
        Some(commit) => format!("{}, built from commit {commit}", record.version),
        None => record.version.clone(),
    };
    let mut pairs = vec![
        ("docshape".into(), docshape),
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
    pairs.extend(
        settings
            .isolated
            .iter()
            .map(|reason| ("isolated".into(), format!("each strategy ran whole and alone on the server: {reason}"))),
    );
    pairs.push(("a call fails after".into(), format!("{} s", settings.timeout)));
    pairs.push(("equivalence".into(), equivalence(record)));
    let percent = |share: f64| format!("{} %", in_percent(share));
    pairs.push(("no difference below".into(), percent(settings.noise)));
    pairs.push(("error budget".into(), percent(settings.error_budget)));
    pairs.push(pair("write concern", &settings.write_concern));
    pairs.push(pair("read concern", &settings.read_concern));
    pairs
}

/// Whether the strategies were seen to do the same.
fn equivalence(record: &RunRecord) -> String {
    let Some(verification) = &record.verification else { return "not checked before this run".into() };
    let audits = record.rounds.iter().flat_map(|round| &round.cells).any(|cell| !cell.audits.is_empty());
    let audits = if audits { "; audits after every round" } else { "" };
    let others = verification.strategies.iter().filter(|strategy| !strategy.is_clean());
    let others: Vec<String> = others.map(|strategy| strategy.name.clone()).collect();
    let others = if others.is_empty() { String::new() } else { format!(", but not {}", listed(&others)) };
    let others = match verification.uncalled.as_slice() {
        [] => others,
        names => format!("{others}; never called: {}", names.join(", ")),
    };
    let calls = counted(verification.calls, "call");
    format!("{calls} one after the other gave all strategies the same answers and states{others}{audits}")
}

/// The slices of a window, which may be fewer than asked for: each has enough calls for its workers, and at a rate a least
/// length. A strategy that was too slow has fewer than the others.
fn slices(record: &RunRecord) -> u64 {
    let cells = record.rounds.iter().flat_map(|round| &round.cells);
    match cells.map(|cell| cell.slices.len() as u64).max() {
        Some(made) if made > 0 => made,
        _ => record.settings.slices,
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
    let mut pairs = vec![("load made on".into(), parts.join(", "))];
    pairs.extend(machine.transparent_huge_pages.iter().map(|pages| ("transparent huge pages".into(), pages.clone())));
    pairs.extend(machine.open_files.iter().map(|limit| ("open files".into(), format!("at most {limit}"))));
    let driver = machine.driver.iter().zip(machine.connections);
    let connections = |connections| counted(connections, "connection");
    pairs.extend(driver.map(|(driver, n)| ("driver".into(), format!("{driver}, {} held open", connections(n)))));
    pairs.extend(indexes(record));
    pairs
}

/// The indexes of each strategy but the control, whose are the reference's.
fn indexes(record: &RunRecord) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for strategy in record.strategies.iter().filter(|strategy| !strategy.control) {
        let with = strategy.collections.iter().filter(|collection| !collection.indexes.is_empty());
        let texts: Vec<String> = with.map(|with| format!("{}: {}", with.name, with.indexes.join(", "))).collect();
        pairs.extend((!texts.is_empty()).then(|| (format!("indexes of {}", strategy.name), texts.join("; "))));
    }
    pairs
}

fn pair(name: &str, value: &dyn Display) -> (String, String) {
    (name.to_owned(), value.to_string())
}

/// A parameter's value as `--set` takes it.
pub(super) fn bare(value: &serde_json::Value) -> String {
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
        (Some(seconds), _) => option("duration", &format!("{seconds}s")),
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
    option("timeout", &format!("{}s", settings.timeout));
    for (name, share, usual) in
        [("noise", settings.noise, NOISE), ("error-budget", settings.error_budget, ERROR_BUDGET)]
    {
        if share != usual {
            option(name, &in_percent(share));
        }
    }
    settings.thresholds.iter().for_each(|threshold| option("threshold", threshold));
    if let Some(cache) = settings.cache_gb {
        option("cache-gb", &cache);
    }
    if record.verification.is_none() {
        words.push("--no-verify".into());
    }
    if settings.isolated.is_some() {
        words.push("--isolate".into());
    }
    let mut line = words.iter().map(|word| quoted(&plain(word))).collect::<Vec<_>>().join(" ");
    if !record.server.embedded {
        line.push_str(" --uri \"$MONGODB_URI\"");
    }
    line
}

/// A share in percent, without the digits that a share of 0.07 has as 7.000000000000001 %.
pub(super) fn in_percent(share: f64) -> f64 {
    (share * 1e11).round() / 1e9
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
    if record.verification.is_none() && record.strategies.len() > 1 {
        warnings.push("That the strategies give the same answers was not checked before this run.".into());
    }
    warnings.extend(cost::contradictions(record));
    if record.settings.duration.is_some() {
        let states = "Windows were equal in time, not in calls: a faster strategy wrote more, so the states differ.";
        warnings.push(states.into());
    }
    warnings.extend(validity::warnings(record));
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::sample;

    #[test]
    fn every_setting_that_is_not_the_default_is_repeated() {
        let mut run = sample::run(1);
        let plain = command(&run);
        for absent in ["--noise", "--error-budget", "--isolate"] {
            assert!(!plain.contains(absent), "{plain}");
        }
        (run.settings.noise, run.settings.error_budget, run.settings.timeout) = (0.07, 0.005, 2.5);
        (run.settings.isolated, run.settings.duration) = (Some("asked for".into()), Some(0.3));
        let line = command(&run);
        for wanted in [" --noise 7 ", " --error-budget 0.5 ", " --timeout 2.5s ", " --duration 0.3s ", " --isolate"] {
            assert!(line.contains(wanted), "{wanted} is not in {line}");
        }
    }

    #[test]
    fn a_shell_takes_every_word_as_it_stands() {
        let read = ["posts=200", "", "a b", "it's", "$(rm -rf ~)", "[1,2]"].map(quoted);
        assert_eq!(read, ["posts=200", "''", "'a b'", r"'it'\''s'", "'$(rm -rf ~)'", "'[1,2]'"]);
    }
}
