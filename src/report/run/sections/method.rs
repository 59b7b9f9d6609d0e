//! How a run was measured, how to measure it again, and its warnings.

use std::fmt::Display;

use crate::report::document::format::{bytes, count, counted, enumerated, listed, plain, three, time};
use crate::report::document::{Cell, Forms, Listing, Row, Section, Table, column};
use crate::report::run::decision::phrase;
use crate::report::run::{PartEvaluations, cost, validity};
use crate::results::verification::Verification;
use crate::results::{CellRecord, LoadModel, Part, PublishedMetric, RunRecord, ServerSharing, Setting};
use crate::stats;

/// The settings and the command that measures the run again.
pub(crate) fn section(record: &RunRecord, command: &str) -> Section {
    let measures = [column("value", "value", "Its value.").text(|value: &String| Cell::text(value))];
    let mut seen = Vec::new();
    let rows = measured(record).into_iter().map(|(name, value)| {
        // A server that docshape starts is on the client machine, with the cache that the settings name.
        let is_known = ["host", "cores", "memory"].contains(&name.as_str()) || seen.contains(&name);
        let forms = if record.server.embedded && is_known { Forms::JSON } else { Forms::ALL };
        seen.push(name.clone());
        (Row::new(name).only(forms), value)
    });
    let name = column("setting", "setting", "What was set or found.");
    let table = Table::new("settings", "Settings", name, &measures, rows).list();
    let lead = "To measure it again (run.json contains the text of the scenario, if its file is gone):";
    let again = Listing { lead: lead.to_owned(), language: "sh", lines: vec![command.to_owned()] };
    let section = Section { code: vec![again], ..Section::new("method", "How it was measured") }.table(table);
    between_sessions(record).into_iter().fold(section, Section::note).only(Forms::DETAILED)
}

/// What another session may give, by the numbers that decide a run; `None` before any published result has a second session.
pub(crate) fn between_sessions(record: &RunRecord) -> Option<String> {
    let deciding: &[PublishedMetric] = if record.settings.is_named_rate {
        &[PublishedMetric::RESPONSE_MEAN]
    } else {
        &[PublishedMetric::CALLS_PER_SECOND, PublishedMetric::OWN_TIME]
    };
    let further = |metric: &PublishedMetric| Some((metric.column().label, stats::further_between_sessions(*metric)?));
    let text = phrase::other_session(&deciding.iter().filter_map(further).collect::<Vec<_>>())?;
    Some(format!("Intervals cover other data and calls in this session; {text}."))
}

/// Every setting and finding: name and value.
pub(crate) fn measured(record: &RunRecord) -> Vec<(String, String)> {
    let pairs = settings(record).chain(server(record)).chain(environment(record)).chain(indexes(record));
    pairs.map(|(name, value)| (plain(&name), plain(&value))).collect()
}

/// The pairs that have a value.
fn known<const N: usize>(pairs: [(&str, Option<String>); N]) -> impl Iterator<Item = (String, String)> {
    pairs.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)))
}

fn settings(record: &RunRecord) -> impl Iterator<Item = (String, String)> {
    let settings = &record.settings;
    let weights: Vec<String> = record.mix.weights.iter().map(|(name, weight)| format!("{name} {weight}")).collect();
    let parameters: Vec<String> =
        record.parameters.iter().map(|(name, value)| format!("{name} = {}", bare(value))).collect();
    let slices = counted(slices(record), "slice");
    let is_measured = |part: Part| settings.parts.contains(&part);
    let calls = |part: Part, what: &str| {
        settings.calls_in(part).filter(|_| is_measured(part)).map(|calls| format!("{}{what}", counted(calls, "call")))
    };
    let fewer = settings.fewer_calls.iter().map(|(name, calls)| format!("{name}: {}", count(*calls)));
    let fewer = enumerated(fewer).map_or_else(String::new, |fewer| format!(" ({fewer})"));
    let closed = [
        calls(Part::Own, " regrouped by operation for own costs"),
        calls(Part::Saturation, &format!(" at saturation{fewer}")),
    ];
    let open = Part::CURVE.into_iter().filter_map(|part| match settings.load_of(part) {
        LoadModel::Open { rate, .. } => calls(part, &format!(" at {rate} calls/s")),
        LoadModel::Closed => None,
    });
    let parts: Vec<String> = closed.into_iter().flatten().chain(open).collect();
    let is_repeat = |name: &str| record.strategies.iter().any(|one| one.is_repeat && one.name == name);
    let pilot = settings.pilot.iter().filter(|(name, _)| !is_repeat(name));
    let pilot: Vec<String> = pilot.map(|(name, rate)| format!("{name} {} calls/s", three(*rate))).collect();
    let window = match parts.as_slice() {
        [] => "unknown: the run ended before its pilot did".into(),
        parts => format!("{} per strategy and round, each in at most {slices}", listed(parts)),
    };
    let docshape = match &record.git {
        Some(commit) => format!("{}, built from commit {commit}", record.version),
        None => record.version.clone(),
    };
    let warm_up = settings.warmup_calls.map(|calls| format!("{} per strategy and round", counted(calls, "call")));
    let pairs = known([
        ("docshape", Some(docshape)),
        ("started", Some(record.started.clone())),
        ("scenario", Some(format!("{}, SHA-256 {}", record.scenario.name, record.scenario.sha256))),
        ("mix", Some(format!("{}: {}", record.mix.name, weights.join(", ")))),
        ("parameters", Some(parameters.join(", "))),
        ("rounds", Some(format!("{} of {}", record.complete_rounds(), settings.rounds))),
        ("pilot", Some(pilot.join(", ")).filter(|pilot| !pilot.is_empty())),
        ("measured", Some(window)),
        ("warm-up", warm_up),
        ("verification", Some(verification(record))),
    ]);
    pairs.chain(settings.table().into_iter().filter_map(|setting| Some((setting.label.to_owned(), setting.text?))))
}

/// The result of the verification before the run.
fn verification(record: &RunRecord) -> String {
    let Some(verification) = &record.verification else { return "skipped".into() };
    let audits = cells(record).any(|cell| !cell.audits.is_empty());
    let audits = if audits { "; audits after every round" } else { "" };
    let others = verification.strategies.iter().filter(|strategy| !strategy.is_clean());
    let others = enumerated(others.map(|strategy| strategy.name.clone()));
    let others = others.map_or_else(String::new, |others| format!(" except {others}"));
    let uncovered = match verification.not_covered().as_slice() {
        [] => String::new(),
        names => format!("; not covered: {}", names.join(", ")),
    };
    let calls = counted(verification.calls, "sequential call");
    format!("all strategies{others} returned the same results and ended in the same state ({calls}{uncovered}){audits}")
}

/// The slices of a window, which may be fewer than asked for: each has enough calls for its workers, and at a rate a least
/// length. A strategy that was too slow has fewer than the others.
fn slices(record: &RunRecord) -> u64 {
    match cells(record).map(|cell| cell.slices.len() as u64).max() {
        Some(made) if made > 0 => made,
        _ => record.settings.slices,
    }
}

/// All cells of all parts.
fn cells(record: &RunRecord) -> impl Iterator<Item = &CellRecord> {
    record.parts.values().flatten().flat_map(|round| &round.cells)
}

fn server(record: &RunRecord) -> impl Iterator<Item = (String, String)> {
    let whose = match (record.server.embedded, record.server.servers) {
        (false, _) => "external",
        (true, ServerSharing::Shared) => "started by docshape",
        (true, ServerSharing::PerStrategy) => "one per strategy, started by docshape",
    };
    let server = format!("MongoDB {}, {}, {whose}", record.server.version, record.server.topology);
    known([("server", Some(server))]).chain(record.server.facts.iter().cloned())
}

fn environment(record: &RunRecord) -> impl Iterator<Item = (String, String)> {
    let machine = &record.environment;
    let parts = [
        Some(machine.platform.clone()),
        machine.kernel.as_ref().map(|kernel| format!("kernel {kernel}")),
        machine.cpu.clone(),
        machine.cores.map(|cores| counted(cores, "core")),
        machine.governor.as_ref().map(|governor| format!("governor {governor}")),
        machine.memory.map(|memory| format!("{} of memory", bytes(memory as f64))),
    ];
    let driver = machine.driver.as_ref().zip(machine.connections);
    known([
        ("client machine", Some(parts.into_iter().flatten().collect::<Vec<_>>().join(", "))),
        ("transparent huge pages", machine.transparent_huge_pages.clone()),
        ("open files", machine.open_files.as_ref().map(|limit| format!("at most {limit}"))),
        (
            "journal flush",
            machine.journal_flush.map(|seconds| format!("{}, which writes wait for", time(seconds * 1e9))),
        ),
        ("driver", driver.map(|(driver, open)| format!("{driver}, {} open", counted(open, "connection")))),
    ])
}

/// The indexes of each strategy; the repeat has those of the baseline.
fn indexes(record: &RunRecord) -> impl Iterator<Item = (String, String)> {
    record.strategies.iter().filter(|strategy| !strategy.is_repeat).filter_map(|strategy| {
        let with = strategy.collections.iter().filter(|collection| !collection.indexes.is_empty());
        let texts: Vec<String> = with.map(|with| format!("{}: {}", with.name, with.indexes.join(", "))).collect();
        (!texts.is_empty()).then(|| (format!("indexes of {}", strategy.name), texts.join("; ")))
    })
}

/// A parameter's value as `--set` takes it.
pub(crate) fn bare(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The command line that measures it again: every value is given, because presets may change.
pub(crate) fn command(record: &RunRecord) -> String {
    let named = record.strategies.iter().filter(|strategy| !strategy.is_repeat);
    let strategies: Vec<&str> = named.map(|strategy| strategy.name.as_str()).collect();
    let mut words = vec!["docshape".to_owned(), "run".into(), record.scenario.opened().to_owned()];
    let mut option = |name: &str, value: &dyn Display| words.extend([format!("--{name}"), value.to_string()]);
    option("strategies", &strategies.join(","));
    option("mix", &record.mix.name);
    record.parameters.iter().for_each(|(name, value)| option("set", &format!("{name}={}", bare(value))));
    for Setting { option: name, values, .. } in record.settings.table() {
        for value in values {
            words.push(format!("--{name}"));
            words.extend((!value.is_empty()).then_some(value));
        }
    }
    if record.verification.is_none() {
        words.push("--no-verify".into());
    }
    let mut line = words.iter().map(|word| quoted(&plain(word))).collect::<Vec<_>>().join(" ");
    if !record.server.embedded {
        line.push_str(" --uri \"$MONGODB_URI\"");
    }
    line
}

/// A word as a shell reads it back.
pub(crate) fn quoted(word: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "_-=.,:/+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_safe) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The warning of operations that did nothing in the verification before the run; `None` for nothing.
pub(crate) fn vacuous(verification: &Verification) -> Option<String> {
    let names = enumerated(verification.vacuous().into_iter().map(plain))?;
    Some(format!(
        "No call of {names} changed or returned anything before the run, so that its times may say nothing: look at its filters \
         and arguments."
    ))
}

/// The warnings of the run and of its numbers.
pub(crate) fn warnings(record: &RunRecord, parts: &PartEvaluations) -> Vec<String> {
    let mut warnings: Vec<String> = record.warnings.iter().map(|warning| plain(warning)).collect();
    if record.verification.is_none() && record.strategies.len() > 1 {
        warnings.push("The strategies were not verified to return the same results before this run.".into());
    }
    warnings.extend(record.verification.as_ref().and_then(vacuous));
    warnings.extend(parts.distinct(cost::contradictions));
    warnings.extend(parts.distinct(validity::warnings));
    warnings.extend(validity::unsettled(parts));
    warnings.extend(validity::unknown_cache(parts.all_records()));
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
        assert!(plain.starts_with(&format!("docshape run {} ", run.scenario.name)), "{plain}");
        run.scenario.argument = "./my scenario.yaml".into();
        assert!(command(&run).starts_with("docshape run './my scenario.yaml' "), "{}", command(&run));
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
