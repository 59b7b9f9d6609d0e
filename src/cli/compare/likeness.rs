//! Whether two runs measured the same thing.

use crate::results::{LoadModel, RunRecord, Status};
use crate::scenario::Outline;
use crate::stats::{MINIMUM_ROUNDS, void};

/// Why a run says nothing to compare, and what to do; `None` when it does.
pub fn unusable(record: &RunRecord) -> Option<String> {
    let rounds = record.rounds.len();
    let how = "measure it again, with `docshape run`";
    let resume = "go on with `docshape run --resume`, or measure it again";
    match &record.status {
        Status::Complete => {}
        Status::Unfinished => return Some(format!("it is still going on, or was ended from outside: {resume}")),
        Status::Interrupted => return Some(format!("it was interrupted: {resume}")),
        Status::Failed(_) => return Some(format!("it failed: {resume}")),
    }
    if !void(record).is_empty() {
        return Some(format!("it is not valid, as `docshape report` tells: {how}"));
    }
    (rounds < MINIMUM_ROUNDS).then(|| {
        let has = if rounds == 1 { "1 round".to_owned() } else { format!("{rounds} rounds") };
        format!("it has {has}, and a comparison takes {MINIMUM_ROUNDS}: {how} and --preset quick or --rounds 8")
    })
}

/// Strategies of both runs: name, and the positions in both. The control is the reference again, and left out.
pub fn common(before: &RunRecord, after: &RunRecord) -> Vec<(usize, usize)> {
    let strategies = before.strategies.iter().enumerate().filter(|(_, strategy)| !strategy.control);
    let other = |name: &str| after.strategies.iter().position(|other| other.name == name && !other.control);
    strategies.filter_map(|(place, strategy)| Some((place, other(&strategy.name)?))).collect()
}

/// Why two runs did not measure the same thing, each with what to do; empty when they did.
pub fn differences(before: &RunRecord, after: &RunRecord) -> Vec<String> {
    if before.scenario.name != after.scenario.name {
        let (old, new) = (&before.scenario.name, &after.scenario.name);
        return vec![format!("they are of different scenarios, {old} and {new}: compare runs of one scenario")];
    }
    let mut found = sections(before, after);
    found.extend(parameters(before, after));
    if before.mix.name != after.mix.name {
        let (old, new) = (&before.mix.name, &after.mix.name);
        found.push(format!("they ran different mixes, {old} and {new}: give both the same --mix"));
    } else if before.mix.weights != after.mix.weights {
        found.push(format!("the weights of mix {} differ: restore them", before.mix.name));
    }
    found.extend(settings(before, after));
    if common(before, after).is_empty() {
        found.push("they have no strategy in common: name one with --strategies when measuring".to_owned());
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
                format!("the {section} of the scenario changed: measure again with one text, in which only strategies differ")
            }));
            if before.mix.name == after.mix.name && !old.has_same_entry("mixes", &before.mix.name, &new) {
                found.push(format!("mix {} of the scenario changed: measure again with one text", before.mix.name));
            }
        }
        _ => found.push("one holds a text that is no scenario: measure it again".to_owned()),
    }
    if found.is_empty() && before.operations != after.operations {
        found.push("their operations differ: measure again with one text".to_owned());
    }
    found
}

fn parameters(before: &RunRecord, after: &RunRecord) -> Option<String> {
    let value = |record: &RunRecord, name: &str| {
        let found = record.parameters.iter().find(|(other, _)| other == name);
        found.map_or_else(|| "nothing".to_owned(), |(_, value)| value.to_string())
    };
    let mut names: Vec<&String> = before.parameters.iter().chain(&after.parameters).map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    let changed = names.into_iter().filter(|name| value(before, name) != value(after, name));
    let told: Vec<String> =
        changed.map(|name| format!("{name} ({} and {})", value(before, name), value(after, name))).collect();
    (!told.is_empty()).then(|| format!("parameters differ: {}; give both the same --set", told.join(", ")))
}

fn settings(before: &RunRecord, after: &RunRecord) -> Vec<String> {
    let (old, new) = (&before.settings, &after.settings);
    let mut found = Vec::new();
    if old.seed != new.seed {
        found.push(format!("their data differ, by seeds {} and {}: give both the same --seed", old.seed, new.seed));
    }
    match (old.load, new.load) {
        (LoadModel::Closed, LoadModel::Closed) => {}
        (LoadModel::Open { rate, arrivals }, LoadModel::Open { rate: other, arrivals: others }) => {
            if rate != other {
                found.push(format!(
                    "calls fell due at different rates, {rate} and {other} per second: use --rate {rate}"
                ));
            }
            if arrivals != others {
                found.push("calls fell due by different laws: give both the same --arrivals".to_owned());
            }
        }
        _ => found
            .push("one had calls at a rate and the other one after the other: use --rate for both, or none".to_owned()),
    }
    if old.workers != new.workers {
        let (old, new) = (old.workers, new.workers);
        found.push(format!("they had different numbers of workers, {old} and {new}: use --workers {old} for both"));
    }
    if old.duration != new.duration {
        found.push("their windows are of different lengths: give both the same --duration, or none".to_owned());
    } else if old.preset != new.preset && old.calls != new.calls {
        let (old, new) = (&old.preset, &new.preset);
        found.push(format!("their windows are of different lengths, by presets {old} and {new}: use one --preset"));
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
    let names = common(before, after).into_iter().map(|(place, _)| before.strategies[place].name.clone());
    names.filter(|name| is_changed(name)).collect()
}
