//! `docshape explore`: tries the shapes of a model, ranks them, and compares the first ones by a run.

pub mod argument;
mod attempt;
mod exploring;
mod proof;
mod write;

use std::path::Path;

use crate::cli::next::NextCommand;
use crate::cli::run::record::{mix_record, scenario_record};
use crate::cli::run::{Invocation, resume};
use crate::cli::scenario::prepare_source;
use crate::cli::{CliError, Exit, catalogue};
use crate::compile::{self, Choice, compile};
use crate::report::Report;
use crate::results::{self, MixRecord};
use crate::scenario::{Diagnostics, MixDefinition, Scenario, Source, nearest};

use super::ranking::ranked;
use super::record::{EXPLORE_FORMAT, ExploreOptions, ExploreRecord, RelationRecord, TriedRecord};
use super::report::{FINAL_FOLDER, first_of_run};
use super::shapes;
pub use argument::ExploreArguments;
use attempt::Attempts;
use exploring::Exploring;

/// Tries the shapes of a model, writes a folder with what was measured, prints the list and the verdict.
///
/// # Errors
/// When the model or the server cannot be used, or something ends it early.
pub fn explore(arguments: &ExploreArguments) -> Result<Exit, CliError> {
    if let Some(folder) = &arguments.resume {
        return resume(arguments, folder);
    }
    let source = shapes::with_a_strategy(catalogue::open(arguments.study.scenario())?);
    let settings = arguments.settings();
    let choice = arguments.study.subject.choice(settings.seed, true);
    let ready = prepare_source(source.clone(), &choice)?;
    let relations = relations(arguments, &compile_choices(&ready.scenario, &choice)?)?;
    let (invocation, plan) = (Invocation::now(), &ready.plan);
    let folder = invocation.folder(arguments.out.as_deref(), &format!("{}/explore", plan.name));
    let own =
        ready.scenario.strategies.iter().filter(|strategy| !strategy.is_unsafe && strategy.unsafe_with.is_empty());
    let record = ExploreRecord {
        format: EXPLORE_FORMAT,
        version: env!("CARGO_PKG_VERSION").into(),
        scenario: scenario_record(plan, &source),
        mix: plan.mix.name.clone(),
        weights: mix_record(plan).weights,
        also: arguments.also.iter().map(|mix| also(&ready.scenario, &choice, mix)).collect::<Result<_, _>>()?,
        started: invocation.started_text(),
        settings,
        options: ExploreOptions {
            keep: arguments.keep,
            only: arguments.only.clone(),
            never: arguments.never.clone(),
            budget: arguments.budget.as_secs_f64(),
            has_finals: !arguments.no_finals,
        },
        combinations: shapes::count(&relations),
        relations,
        tried: own
            .map(|strategy| TriedRecord { name: strategy.name.value.clone(), ..TriedRecord::default() })
            .collect(),
        ..ExploreRecord::default()
    };
    let _locked = results::create_folder(&folder)?;
    Exploring::new(arguments, record, ready.scenario, source, choice, &folder)?.run()
}

/// Another mix by which shapes are ranked.
fn also(scenario: &Scenario, choice: &Choice, mix: &str) -> Result<MixRecord, CliError> {
    let has_parameters = |one: &MixDefinition| one.name.value == mix && !one.parameters.is_empty();
    if scenario.mixes.iter().any(has_parameters) {
        let message = format!(
            "--also {mix}: the mix has parameters of its own, and all shapes are measured with one set of data: explore it with --mix {mix}"
        );
        return Err(CliError::usage(message));
    }
    let choice = Choice { mix: Some(mix.to_owned()), shares: Vec::new(), ..choice.clone() };
    let plan = compile(scenario, &choice, &Diagnostics::new()).map_err(|error| CliError::usage(error.to_string()))?;
    let plan = plan.ok_or_else(|| {
        CliError::usage(format!("--also {mix}: the scenario cannot be compiled with it: try `docshape check`"))
    })?;
    Ok(mix_record(&plan))
}

/// Goes on with what is in a folder, prints it, or writes shapes of it down.
fn resume(arguments: &ExploreArguments, folder: &Path) -> Result<Exit, CliError> {
    let (kind, _lock) = resume::open(folder, "explore")?;
    let record = results::load_as::<ExploreRecord>(folder)?;
    if !arguments.write.is_empty() {
        return write::write(&record, &arguments.write, folder);
    }
    let theirs = record.version.as_str();
    if theirs != env!("CARGO_PKG_VERSION") {
        return Err(CliError::usage(format!(
            "{} was begun by docshape {theirs}: use that, or explore anew",
            folder.display()
        )));
    }
    if record.complete {
        resume::complete(kind, folder);
        return exploring::conclude(arguments, &record, folder);
    }
    let source = Source::new(record.scenario.opened().to_owned(), record.scenario.text.as_str());
    let choice = Choice {
        set: record.settings.set.clone(),
        shares: record.settings.shares.clone(),
        mix: Some(record.mix.clone()),
        seed: record.settings.seed,
        repeat: true,
        ..Choice::default()
    };
    let ready = prepare_source(source.clone(), &choice)?;
    resume::check_data(&record.scenario, &ready.plan)?;
    Exploring::new(arguments, record, ready.scenario, source, choice, folder)?.run()
}

/// The report of what is in a folder, and what to do next.
///
/// # Errors
/// When it, or its final run, cannot be read.
pub fn report(path: &Path) -> Result<(Report, NextCommand), CliError> {
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    let record = results::load_as::<ExploreRecord>(folder)?;
    let finals = final_run(&record, folder)?;
    Ok((Report::of_explored(&record, finals.as_ref()), next(&record, finals.as_ref(), folder)))
}

/// The final run; `None` without one.
fn final_run(record: &ExploreRecord, folder: &Path) -> Result<Option<results::RunRecord>, CliError> {
    let has_one = !record.finalists.is_empty() && results::is_run_folder(&folder.join(FINAL_FOLDER));
    Ok(has_one.then(|| results::load_part::<ExploreRecord>(folder, FINAL_FOLDER)).transpose()?)
}

/// The command after it: write down the shape that was first in the run, or by its estimate without one, as far as the scenario is
/// a file of the user's.
fn next(record: &ExploreRecord, finals: Option<&results::RunRecord>, folder: &Path) -> NextCommand {
    let (shown, ranked) = (folder.display().to_string(), ranked(record));
    let first = finals.and_then(first_of_run);
    let place = first.and_then(|first| ranked.iter().position(|(tried, _)| tried.name == first)).unwrap_or(0);
    match ranked.get(place) {
        Some((first, _)) if !first.is_of_scenario() => {
            NextCommand::new(["explore"]).option("resume", &shown).option("write", &(place + 1).to_string())
        }
        _ if record.options.has_finals => NextCommand::new(["verify", record.scenario.opened()]),
        _ => NextCommand::new(["run", record.scenario.opened()]),
    }
}

/// The relations of a model with the choices that the user allows.
fn relations(arguments: &ExploreArguments, all: &[RelationRecord]) -> Result<Vec<RelationRecord>, CliError> {
    let keys: Vec<&str> = all.iter().map(|relation| relation.key.as_str()).collect();
    if let Some((key, _)) = arguments.only.iter().find(|(key, _)| !keys.contains(&key.as_str())) {
        return Err(CliError::usage(format!("--only {key}: the model has no such relation; {}", nearest(key, &keys))));
    }
    let name = |word: &String| word.split('(').next().unwrap_or_default().trim().to_owned();
    let known: Vec<&str> = compile::relation_words().collect();
    let of_only = arguments.only.iter().flat_map(|(_, words)| words).map(|word| ("--only", name(word)));
    let of_never = arguments.never.iter().map(|word| ("--never", word.clone()));
    if let Some((option, word)) = of_only.chain(of_never).find(|(_, word)| !known.contains(&word.as_str())) {
        return Err(CliError::usage(format!("{option} {word}: no word of shapes; {}", nearest(&word, &known))));
    }
    let is_allowed = |words: &Vec<String>| !words.iter().any(|word| arguments.never.contains(&name(word)));
    let allowed = |relation: &RelationRecord| {
        let only: Vec<Vec<String>> =
            arguments.only.iter().filter(|(key, _)| *key == relation.key).map(|(_, words)| words.clone()).collect();
        let choices = if only.is_empty() { relation.choices.clone() } else { only };
        RelationRecord { choices: choices.into_iter().filter(is_allowed).collect(), ..relation.clone() }
    };
    let allowed: Vec<RelationRecord> = all.iter().map(allowed).collect();
    match allowed.iter().find(|relation| relation.choices.is_empty()) {
        Some(relation) => Err(CliError::usage(format!("--never leaves no word for {}: allow one", relation.key))),
        None => Ok(allowed),
    }
}

fn compile_choices(scenario: &Scenario, choice: &Choice) -> Result<Vec<RelationRecord>, CliError> {
    let found = compile::relation_choices(scenario, choice);
    if found.iter().all(|relation| relation.choices.len() < 2) {
        return Err(CliError::usage(format!(
            "{} has no relation whose shape could vary: explore needs a model, whose operations have `does` and whose entities have \
             relations (docs/models.md)",
            scenario.name.value
        )));
    }
    Ok(found
        .into_iter()
        .map(|one| RelationRecord { key: one.key, plain: one.choices[0].clone(), choices: one.choices })
        .collect())
}
