//! Whether two runs can be compared: whether they measured the same thing.

use std::collections::BTreeSet;

use crate::report::counted;
use crate::results::{LoadModel, Part, RunRecord, Status};
use crate::scenario::Outline;
use crate::stats::run_comparison::{ComparedParts, measured_parts};
use crate::stats::{MINIMUM_ROUNDS, invalid_reasons};

/// Why a run cannot be compared, and what to do; `None` when it can.
pub fn unusable(record: &RunRecord) -> Option<String> {
    let parts = record.all_parts();
    let rounds = parts.values().map(|part| part.rounds.len()).max().unwrap_or(0);
    let again = "run it again";
    let resume = "resume it with `docshape run --resume`, or run it again";
    match &record.status {
        Status::Complete => {}
        Status::Unfinished => return Some(format!("it is still running, or was killed: {resume}")),
        Status::Interrupted => return Some(format!("it was interrupted: {resume}")),
        Status::Failed(_) => return Some(format!("it failed: {resume}")),
    }
    if parts.values().any(|part| !invalid_reasons(part).is_empty()) {
        return Some(format!("it is invalid (see `docshape report`): {again}"));
    }
    (rounds < MINIMUM_ROUNDS).then(|| {
        let has = counted(rounds as u64, "round");
        format!("it has {has}, and a comparison needs {MINIMUM_ROUNDS}: {again} with --preset quick or --rounds 8")
    })
}

/// The strategies that all runs have, in the order of the first. The repeat is the baseline again, and left out.
pub fn common<'r>(runs: impl IntoIterator<Item = &'r RunRecord>) -> Vec<String> {
    let names = |run: &RunRecord| -> Vec<String> {
        run.strategies.iter().filter(|one| !one.is_repeat).map(|one| one.name.clone()).collect()
    };
    let in_both = |known: Vec<String>, run: Vec<String>| known.into_iter().filter(|name| run.contains(name)).collect();
    runs.into_iter().map(names).reduce(in_both).unwrap_or_default()
}

/// Why two runs did not measure the same thing, each with what to do; empty when they did.
pub fn differences(before: &RunRecord, after: &RunRecord) -> Vec<String> {
    if before.scenario.name != after.scenario.name {
        let (old, new) = (&before.scenario.name, &after.scenario.name);
        return vec![format!("they ran different scenarios, {old} and {new}")];
    }
    let mut found = sections(before, after);
    if before.scenario.data != after.scenario.data {
        found.push("the files of `from` differ: run both again with the same data".to_owned());
    }
    found.extend(parameters(before, after));
    if before.mix.name != after.mix.name {
        let (old, new) = (&before.mix.name, &after.mix.name);
        found.push(format!("they ran different mixes, {old} and {new}: use the same --mix"));
    } else if before.mix.weights != after.mix.weights {
        found.push(format!("the weights of mix {} differ: restore them", before.mix.name));
    }
    found.extend(settings(before, after));
    if common([before, after]).is_empty() {
        found.push("they have no strategy in common: run one of them with --strategies".to_owned());
    }
    found
}

/// What the scenario says outside of strategies, as far as it decides what is measured. Values of parameters are
/// compared as they were set.
fn sections(before: &RunRecord, after: &RunRecord) -> Vec<String> {
    if before.scenario.sha256 == after.scenario.sha256 {
        return Vec::new();
    }
    let mut found = Vec::new();
    match (Outline::of(&before.scenario.text), Outline::of(&after.scenario.text)) {
        (Some(old), Some(new)) => {
            let changed = ["entities", "operations"].into_iter().filter(|section| !old.has_same(section, &new));
            found.extend(changed.map(|section| {
                format!("the {section} of the scenario changed: only strategies may differ; run both again with one scenario")
            }));
            if before.mix.name == after.mix.name && !old.has_same_entry("mixes", &before.mix.name, &new) {
                found
                    .push(format!("mix {} of the scenario changed: run both again with one scenario", before.mix.name));
            }
        }
        _ => found.push("the scenario of one run cannot be read: run it again".to_owned()),
    }
    if found.is_empty() && before.operations != after.operations {
        found.push("their operations differ: run both again with one scenario".to_owned());
    }
    found
}

fn parameters(before: &RunRecord, after: &RunRecord) -> Option<String> {
    let value = |record: &RunRecord, name: &str| {
        let found = record.parameters.iter().find(|(other, _)| other == name);
        found.map_or_else(|| "nothing".to_owned(), |(_, value)| value.to_string())
    };
    let names: BTreeSet<&String> = before.parameters.iter().chain(&after.parameters).map(|(name, _)| name).collect();
    let changed = names.into_iter().filter(|name| value(before, name) != value(after, name));
    let differing: Vec<String> =
        changed.map(|name| format!("{name} ({} and {})", value(before, name), value(after, name))).collect();
    (!differing.is_empty()).then(|| format!("their parameters differ: {}; use the same --set", differing.join(", ")))
}

fn settings(before: &RunRecord, after: &RunRecord) -> Vec<String> {
    let (old, new) = (&before.settings, &after.settings);
    let mut found = Vec::new();
    if ComparedParts::of(&[before, after]).is_none() {
        found.extend(loads(before, after));
    }
    if old.clients != new.clients {
        let (old, new) = (old.clients, new.clients);
        found.push(format!("their numbers of clients differ, {old} and {new}: use --clients {old}"));
    }
    if old.members != new.members {
        let [old, new] = [old, new].map(|settings| settings.members.unwrap_or(1));
        found.push(format!("their replica sets have {old} and {new} members: use --members {old}"));
    }
    if old.duration != new.duration {
        found.push("their windows have different lengths: use the same --duration, or none".to_owned());
    } else if old.preset != new.preset && old.calls != new.calls {
        let (old, new) = (&old.preset, &new.preset);
        found.push(format!("their windows have different lengths (presets {old} and {new}): use the same --preset"));
    }
    found
}

/// Why two runs have no part in common: they left out different ones, or their rates differ.
fn loads(before: &RunRecord, after: &RunRecord) -> Vec<String> {
    let [old, new] = [before, after].map(measured_parts);
    if !(old.contains(&Part::Rate) && new.contains(&Part::Rate)) {
        let names = |parts: &[Part]| {
            let named = parts.iter().filter(|part| !part.is_end_of_curve());
            named.map(|part| part.name()).collect::<Vec<_>>().join(",")
        };
        let (old, new) = (names(&old), names(&new));
        return vec![format!("they measured different parts, {old} and {new}: use the same --only, or none")];
    }
    let mut found = Vec::new();
    let [(rate, arrivals), (other, others)] = [before, after].map(|record| match record.settings.load {
        LoadModel::Open { rate, arrivals } => (rate, Some(arrivals)),
        LoadModel::Closed => (0.0, None),
    });
    if rate != other {
        found.push(format!("their rates differ, {rate} and {other} calls per second: use --rate {rate}"));
    }
    if arrivals != others {
        found.push("their arrivals differ: use the same --arrivals".to_owned());
    }
    found
}

/// Common strategies whose definition changed, with what they inherit.
pub fn changed(before: &RunRecord, after: &RunRecord) -> Vec<String> {
    if before.scenario.sha256 == after.scenario.sha256 {
        return Vec::new();
    }
    let outlines = Outline::of(&before.scenario.text).zip(Outline::of(&after.scenario.text));
    let is_changed =
        |name: &str| outlines.as_ref().is_some_and(|(old, new)| !old.has_same_entry("strategies", name, new));
    common([before, after]).into_iter().filter(|name| is_changed(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Arrivals, Preset};
    use crate::stats::sample;

    const TEXT: &str = "format: 1\nname: blog-comments\nentities: { post: { count: 5 } }\noperations: { add_comment: {} }\n\
                        mixes: { default: { add_comment: 1 }, other: { add_comment: 2 } }\nstrategies:\n  embedded: { load: [1] }\n  \
                        linked: { like: embedded }\n  bucket_rmw: { load: [2] }\n";

    fn with_text(text: &str) -> RunRecord {
        let mut run = sample::run(8);
        (run.scenario.sha256, run.scenario.text) = (text.len().to_string() + text, text.to_owned());
        run
    }

    /// What a change of the later run brings up.
    fn messages(change: impl FnOnce(&mut RunRecord)) -> Vec<String> {
        let mut run = with_text(TEXT);
        change(&mut run);
        differences(&with_text(TEXT), &run)
    }

    fn one(change: impl FnOnce(&mut RunRecord), words: &[&str]) {
        let messages = messages(change);
        assert_eq!(messages.len(), 1, "{messages:?}");
        words.iter().for_each(|word| assert!(messages[0].contains(word), "{word} is not in {}", messages[0]));
    }

    fn rewritten(from: &str, to: &str) -> impl Fn(&mut RunRecord) {
        let text = TEXT.replace(from, to);
        assert_ne!(text, TEXT);
        move |run: &mut RunRecord| run.scenario = with_text(&text).scenario
    }

    #[test]
    fn settings_that_decide_the_measurement_must_agree() {
        assert_eq!(messages(|_| {}), Vec::<String>::new());
        one(|run| run.scenario.name = "tasks".into(), &["different scenarios, blog-comments and tasks"]);
        one(rewritten("count: 5", "count: 6"), &["the entities of the scenario changed", "only strategies may differ"]);
        one(rewritten("add_comment: {}", "add_comment: { returns: x }"), &["the operations of the scenario changed"]);
        one(
            rewritten("default: { add_comment: 1 }", "default: { add_comment: 3 }"),
            &["mix default of the scenario changed"],
        );
        one(rewritten(TEXT, "{"), &["cannot be read"]);
        one(|run| drop(run.scenario.data.insert("x.ndjson".into(), "0".into())), &["the files of `from` differ"]);
        one(|run| run.mix.name = "other".into(), &["different mixes, default and other", "--mix"]);
        one(|run| run.mix.weights[0].1 = 61.0, &["weights of mix default"]);
        one(|run| run.parameters[0].1 = 300.into(), &["posts (200 and 300)", "--set"]);
        one(|run| run.parameters.truncate(1), &["word (\"it's\" and nothing)"]);
        one(|run| run.settings.clients = 9, &["7 and 9", "--clients 7"]);
        one(|run| run.settings.members = Some(3), &["1 and 3 members", "--members 1"]);
        one(|run| run.settings.duration = Some(3.0), &["--duration"]);
        let longer = |run: &mut RunRecord| (run.settings.preset, run.settings.calls) = (Preset::Full, Some(3_000));
        one(longer, &["presets quick and full", "--preset"]);
        one(|run| run.strategies.iter_mut().for_each(|strategy| strategy.name.push('2')), &["no strategy in common"]);
        assert_eq!(messages(|run| (run.mix.name, run.settings.clients) = ("other".into(), 9)).len(), 2, "all at once");
    }

    #[test]
    fn a_part_must_be_alike() {
        let of_parts = |parts: &[Part], rate: f64, arrivals| {
            let mut run = sample::whole(&with_text(TEXT));
            (run.settings.parts, run.settings.load) = (parts.to_vec(), LoadModel::Open { rate, arrivals });
            run
        };
        let [at_500, at_510] = [(500.0, Arrivals::Poisson), (510.0, Arrivals::Uniform)]
            .map(|(rate, arrivals)| of_parts(&[Part::Rate], rate, arrivals));
        assert!(differences(&at_500, &at_500).is_empty());
        let messages = differences(&at_500, &at_510);
        assert!(
            messages[0].contains("500 and 510 calls per second: use --rate 500") && messages[1].contains("--arrivals"),
            "{messages:?}"
        );
        let saturated = of_parts(&[Part::Own, Part::Saturation], 510.0, Arrivals::Uniform);
        let messages = differences(&at_500, &saturated);
        assert_eq!(messages, ["they measured different parts, rate and own,saturation: use the same --only, or none"]);
        let all = |rate: f64| of_parts(&Part::ALL, rate, Arrivals::Poisson);
        assert!(differences(&all(500.0), &all(510.0)).is_empty(), "saturation is alike");
    }

    #[test]
    fn irrelevant_settings_may_differ() {
        let allowed = messages(|run| {
            rewritten("load: [1]", "load: [3]")(run);
            rewritten("format: 1", "format: 1\ntitle: other")(run);
            run.server.version = "7.0.1".into();
            run.settings.seed = 1;
            run.settings.cache_gb = Some(0.5);
            run.settings.calls = Some(900);
            run.settings.rounds = 12;
            run.version = "0.2.0".into();
            run.strategies.remove(0);
        });
        assert_eq!(allowed, Vec::<String>::new());
    }

    #[test]
    fn changed_strategies_include_those_like_it() {
        let mut after = with_text(TEXT);
        rewritten("load: [1]", "load: [3]")(&mut after);
        assert_eq!(changed(&with_text(TEXT), &after), ["embedded", "linked"]);
        assert_eq!(changed(&after, &after), Vec::<String>::new());
    }

    #[test]
    fn strategies_match_by_name_without_the_repeat() {
        let (mut before, mut after) = (sample::run(6), sample::run(6));
        after.strategies.reverse();
        assert_eq!(common([&before, &after]), ["embedded", "linked", "bucket_rmw"]);
        before.strategies[1].is_repeat = true;
        assert_eq!(common([&before, &after]), ["embedded", "bucket_rmw"]);
        assert_eq!(common([&after, &before]), ["bucket_rmw", "embedded"]);
    }

    #[test]
    fn incomplete_runs_cannot_be_compared() {
        let messages = |change: &dyn Fn(&mut RunRecord)| {
            let mut run = sample::run(8);
            change(&mut run);
            unusable(&run).unwrap_or_default()
        };
        assert_eq!(messages(&|_| {}), "");
        assert!(messages(&|run| run.status = Status::Unfinished).contains("--resume"));
        assert!(messages(&|run| run.status = Status::Interrupted).contains("it was interrupted"));
        assert!(messages(&|run| run.status = Status::Failed("x".into())).contains("it failed"));
        assert!(messages(&|run| run.rounds[0].cells[0].connections_created = 1).contains("invalid"));
        assert!(messages(&|run| run.rounds.truncate(1)).contains("it has 1 round, and a comparison needs 6"));
        assert!(messages(&|run| run.rounds.truncate(5)).contains("it has 5 rounds"));
        assert_eq!(messages(&|run| run.rounds.truncate(6)), "");
    }
}
