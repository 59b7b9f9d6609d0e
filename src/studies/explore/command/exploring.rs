//! The steps: shapes are derived, verified and measured in groups, until all are or the time is over; then the first ones are compared.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::campaign::{Interleaving, Rounds, carry_out, format_duration, status};
use crate::cli::exit::write_error;
use crate::cli::progress::Progress;
use crate::cli::report::{report_of, terminal, terminal_of_run, write_study};
use crate::cli::run::{Invocation, JobServers, PointSetup, ServerJob, exit_of, resume, write_reports};
use crate::cli::scenario::Ready;
use crate::cli::server::ServerChoice;
use crate::cli::{CliError, Exit, output};
use crate::compile::{Choice, compile};
use crate::report::{HTML_FILE, Report, counted, listed};
use crate::results::{self, Arrivals, LoadModel, Part, RunRecord, RunSettings, StudyKind};
use crate::scenario::{self, Diagnostics, OperationDefinition, Scenario, Source};
use crate::server::embedded::Checkpoints;
use crate::studies::explore::ranking::{
    finalists, measured_shapes, measured_weights, share_measurements, unmeasured_operations,
};
use crate::studies::explore::record::{ExploreRecord, ScreenRecord, TriedOutcome, TriedRecord};
use crate::studies::explore::report::{self, FINAL_FOLDER};
use crate::studies::explore::{search, shapes};

use super::{Attempts, ExploreArguments, final_run, next};

/// The scenario with the finalists as strategies.
const FINALISTS_FILE: &str = "finalists.yaml";

/// Shapes that are verified and measured together.
const GROUP: usize = 8;

/// Rounds in which own costs are measured, and calls of the mix in each: few, as shapes differ by much or do not matter.
const SCREEN_ROUNDS: u64 = 2;
const SCREEN_CALLS: u64 = 1_000;

/// What a scenario with some of the shapes is for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Purpose {
    /// To be verified, with this mix instead of the user's.
    Verify(Option<String>),
    /// To know the programs of its operations.
    Identify,
    /// To measure own costs of what was not measured yet.
    Screen,
    /// To be compared in the end, by a file of its own, with which the run can be repeated.
    Finals,
}

/// What is tried, and what is finished of it.
pub struct Exploring<'e> {
    pub(super) arguments: &'e ExploreArguments,
    pub(super) record: ExploreRecord,
    pub(super) scenario: Scenario,
    pub(super) source: Source,
    choice: Choice,
    folder: &'e Path,
    attempts: Attempts,
    started: Instant,
}

impl<'e> Exploring<'e> {
    /// Goes on after what a record has.
    pub fn new(
        arguments: &'e ExploreArguments,
        record: ExploreRecord,
        scenario: Scenario,
        source: Source,
        choice: Choice,
        folder: &'e Path,
    ) -> Result<Exploring<'e>, CliError> {
        let mut attempts = Attempts::new(&scenario, &choice, &record.tried);
        let is_derived = |one: &&TriedRecord| {
            let is_left_out =
                matches!(one.outcome, TriedOutcome::Refused(_) | TriedOutcome::Unread(_) | TriedOutcome::Same(_));
            !one.is_of_scenario() && !is_left_out
        };
        record.tried.iter().filter(is_derived).for_each(|one| attempts.remember(one));
        let made = Exploring { arguments, record, scenario, source, choice, folder, attempts, started: Instant::now() };
        made.save()?;
        Ok(made)
    }

    pub(super) fn save(&self) -> Result<(), CliError> {
        Ok(results::save_document(&self.record, self.folder)?)
    }

    /// Does all steps that are not finished, and reports.
    pub fn run(mut self) -> Result<Exit, CliError> {
        output::line(&report::introduction(&self.record));
        if self.record.screens.is_empty() {
            self.derive()?;
        }
        while !self.is_over() {
            let group = self.group()?;
            if group.is_empty() {
                break;
            }
            self.verify(&group)?;
            let verified = self.with_outcome(&group, |outcome| *outcome == TriedOutcome::Verified);
            self.identify(&verified)?;
            self.screen(&self.with_outcome(&verified, |outcome| *outcome == TriedOutcome::Verified))?;
        }
        if self.record.options.has_finals {
            self.finals()?;
        }
        self.record.complete = true;
        self.save()?;
        conclude(self.arguments, &self.record, self.folder)
    }

    /// Whether the time for shapes is over, which is noted.
    fn is_over(&mut self) -> bool {
        let left = self.waiting().count() as u64;
        let is_over =
            self.started.elapsed().as_secs_f64() > self.record.options.budget && !self.record.screens.is_empty();
        if is_over && (left > 0 || !search::next(&self.record).is_empty()) {
            let budget = format_duration(Duration::from_secs_f64(self.record.options.budget));
            let shapes = if left > 0 {
                format!("{} and what would follow from them", counted(left, "shape"))
            } else {
                "more shapes".to_owned()
            };
            let untried = search::untried(&self.record);
            let untried = if untried.is_empty() {
                String::new()
            } else {
                format!(
                    " Only as without an entry so far: {}; a longer --budget, or --only, tries them.",
                    listed(untried)
                )
            };
            self.record.cut_short =
                Some(format!("The time of --budget {budget} was over before {shapes} were tried.{untried}"));
        }
        is_over
    }

    /// What is derived and not verified yet.
    fn waiting(&self) -> impl Iterator<Item = &TriedRecord> {
        self.record.tried.iter().filter(|one| matches!(one.outcome, TriedOutcome::Derived | TriedOutcome::Verified))
    }

    pub(super) fn with_outcome(&self, names: &[String], is_it: fn(&TriedOutcome) -> bool) -> Vec<String> {
        let has_it = |name: &&String| self.record.named(name).is_some_and(|one| is_it(&one.outcome));
        names.iter().filter(has_it).cloned().collect()
    }

    /// The next group of shapes to verify and measure; derives what comes next where all derived ones are done.
    fn group(&mut self) -> Result<Vec<String>, CliError> {
        loop {
            let waiting: Vec<String> = self.waiting().take(GROUP).map(|one| one.name.clone()).collect();
            if !waiting.is_empty() || !self.derive()? {
                return Ok(waiting);
            }
        }
    }

    /// Derives the shapes that come next; returns whether there are any.
    fn derive(&mut self) -> Result<bool, CliError> {
        let (new, before) = (search::next(&self.record), self.record.tried.len());
        if new.is_empty() {
            return Ok(false);
        }
        for strategy in new {
            let taken: BTreeSet<&str> = self.record.tried.iter().map(|one| one.name.as_str()).collect();
            let mut tried = shapes::with_new_name(strategy, &taken);
            tried.outcome = self.attempts.outcome(&tried);
            self.record.tried.push(tried);
        }
        self.save()?;
        let new = &self.record.tried[before..];
        output::line(&report::derived(new));
        // Where nothing is left the reasons are the result.
        if self.arguments.why || new.iter().all(|one| matches!(one.outcome, TriedOutcome::Refused(_))) {
            report::reasons(new).iter().for_each(|line| output::line(line));
        }
        Ok(true)
    }

    /// Notes the programs of shapes, and gives them what was measured of these before.
    fn identify(&mut self, names: &[String]) -> Result<(), CliError> {
        if names.is_empty() {
            return Ok(());
        }
        let plan = self.ready(names, &Purpose::Identify)?.plan;
        for arm in plan.arms.iter().filter(|arm| !arm.is_repeat) {
            let tried = self.record.tried.iter_mut().filter(|one| one.name == arm.name);
            tried.for_each(|one| one.programs = arm.fingerprints());
        }
        share_measurements(&mut self.record);
        let left = self.with_outcome(names, |outcome| *outcome == TriedOutcome::Verified);
        if left.len() < names.len() {
            output::line(&report::known(&self.record, names.len() - left.len()));
        }
        self.save()
    }

    /// The scenario with these shapes, ready for what is done with it.
    pub(super) fn ready(&self, names: &[String], purpose: &Purpose) -> Result<Ready, CliError> {
        let is_final = *purpose == Purpose::Finals;
        let tried: Vec<&TriedRecord> = names.iter().filter_map(|name| self.record.named(name)).collect();
        let added: Vec<&TriedRecord> = tried.iter().copied().filter(|one| !one.is_of_scenario()).collect();
        let text = shapes::with_strategies(&self.source, &self.scenario, &added, &self.record.relations);
        let file = self.folder.join(FINALISTS_FILE);
        if is_final {
            results::write_whole(&file, &text).map_err(|error| write_error(&file, &error))?;
        }
        let path = if is_final { file.display().to_string() } else { self.source.path.clone() };
        let source = Source::new(path, text.as_str());
        let mut choice = Choice { strategies: names.to_vec(), all: false, repeat: is_final, ..self.choice.clone() };
        match purpose {
            Purpose::Verify(Some(mix)) => choice = Choice { mix: Some(mix.clone()), shares: Vec::new(), ..choice },
            Purpose::Screen => choice.shares = self.shares(names),
            _ => (),
        }
        let diagnostics = Diagnostics::new();
        // The finalists are written into another folder than their files with data.
        let folder = || self.scenario.folder.clone();
        let scenario = scenario::read(&source, &diagnostics).map(|read| Scenario { folder: folder(), ..read });
        let plan = scenario.as_ref().and_then(|scenario| compile(scenario, &choice, &diagnostics).ok().flatten());
        let (Some(scenario), Some(plan)) = (scenario, plan) else {
            return Err(CliError::failure(format!(
                "shapes that were derived one by one cannot run together; please report this:\n{}",
                diagnostics.render(&source, false)
            )));
        };
        Ok(Ready { source, scenario, plan: Arc::new(plan), skipped: Vec::new() })
    }

    /// The shares with which operations are measured: none of those whose programs have all been measured, unless the arguments of one
    /// that has not name it, as in `earlier(place)`.
    fn shares(&self, names: &[String]) -> Vec<(String, f64)> {
        let mut needed = unmeasured_operations(&self.record, names);
        let mut weights = measured_weights(&self.record);
        let operations = &self.scenario.operations;
        // An operation can only name those before it.
        for (place, operation) in operations.iter().enumerate().rev() {
            if needed.contains(&place) {
                needed.extend(named_operations(operation, &operations[..place]));
            }
        }
        weights
            .iter_mut()
            .enumerate()
            .filter(|(place, _)| !needed.contains(place))
            .for_each(|(_, weight)| *weight = 0.0);
        let total: f64 = weights.iter().sum();
        operations.iter().zip(weights).map(|(one, weight)| (one.name.value.clone(), weight / total)).collect()
    }

    pub(super) fn server(&self, checkpoints: Checkpoints) -> Result<ServerChoice, CliError> {
        Ok(self.arguments.study.server.choice()?.with_checkpoints(checkpoints))
    }

    /// Adds how to go on to an error.
    pub(super) fn resumable(&self, error: CliError) -> CliError {
        let finished = self.record.count(|outcome| matches!(outcome, TriedOutcome::Measured(_))) as usize;
        resume::with_finished(error, StudyKind::Explore, self.folder, (finished, "shape"))
    }

    /// Measures the own costs of shapes, as far as their programs were not measured yet. Every run has the same strategy besides them,
    /// by which later ones are made comparable.
    fn screen(&mut self, names: &[String]) -> Result<(), CliError> {
        if names.is_empty() {
            return Ok(());
        }
        let started = Instant::now();
        let common = self.record.screens.first().and_then(|screen| screen.strategies.first()).cloned();
        let others: Vec<String> = names.iter().filter(|name| Some(*name) != common.as_ref()).cloned().collect();
        let strategies: Vec<String> = common.into_iter().chain(others).collect();
        let screen = ScreenRecord { folder: format!("screens/{:03}", self.record.screens.len() + 1), strategies };
        let settings = RunSettings {
            parts: vec![Part::Own],
            rounds: SCREEN_ROUNDS,
            calls: Some(SCREEN_CALLS),
            // No part has open load. A rate of 0 would be looked for by a pilot.
            load: LoadModel::Open { rate: 1.0, arrivals: Arrivals::Poisson },
            shared_mongod: Some("own costs of many shapes are measured on one server".to_owned()),
            ..self.record.settings.clone()
        };
        let measured = self.measure(&screen.strategies, &screen.folder, settings, &Purpose::Screen);
        let (run, ended) = measured.map_err(|error| self.resumable(error))?;
        if let Some(error) = ended {
            if error.exit == Exit::Interrupted || run.complete_rounds() == 0 && self.record.screens.is_empty() {
                return Err(self.resumable(error));
            }
            // What stops one of them, such as a document above 16 MB, is looked for among fewer.
            return self.screen_apart(names, &error);
        }
        let Some(own) = run.part(Part::Own) else { return Err(CliError::failure("no own costs were measured")) };
        let plain = measured_shapes(&own, 1.0);
        let scale = self.scale(&screen, &plain.first().map(|one| one.times.clone()).unwrap_or_default());
        let measured = measured_shapes(&own, scale);
        for (place, strategy) in own.strategies.iter().enumerate().filter(|(_, one)| names.contains(&one.name)) {
            let own = self.record.tried.iter_mut().filter(|one| one.name == strategy.name);
            own.for_each(|one| one.outcome = TriedOutcome::Measured(measured[place].clone()));
        }
        self.record.screens.push(screen);
        share_measurements(&mut self.record);
        self.save()?;
        output::line(&report::measured(&self.record, names, started.elapsed()));
        Ok(())
    }

    /// Measures shapes one by one after they failed together; one that fails again is left out.
    fn screen_apart(&mut self, names: &[String], error: &CliError) -> Result<(), CliError> {
        if let [name] = names {
            let outcome = TriedOutcome::Failed(error.to_string());
            self.record.tried.iter_mut().filter(|one| one.name == *name).for_each(|one| one.outcome = outcome.clone());
            return self.save();
        }
        names.iter().try_for_each(|name| self.screen(std::slice::from_ref(name)))
    }

    /// By what times of a later run are multiplied: how the common strategy was in the first run, divided by how it is in this one.
    fn scale(&self, screen: &ScreenRecord, here: &[Option<f64>]) -> f64 {
        let common = screen.strategies.first().and_then(|name| self.record.named(name)).and_then(TriedRecord::measured);
        let Some(first) = common else { return 1.0 };
        let logs = first.own.iter().zip(here).filter_map(|(first, here)| Some(((*first)? / (*here)?).ln()));
        let logs: Vec<f64> = logs.collect();
        if logs.is_empty() { 1.0 } else { (logs.iter().sum::<f64>() / logs.len() as f64).exp() }
    }

    /// Compares the first shapes by an ordinary run.
    fn finals(&mut self) -> Result<(), CliError> {
        if self.record.finalists.is_empty() {
            self.record.finalists = finalists(&self.record);
            self.save()?;
        }
        if self.record.finalists.len() < 2 {
            return Ok(());
        }
        output::line(&report::finals(&self.record));
        let finalists = self.record.finalists.clone();
        let measured = self.measure(&finalists, FINAL_FOLDER, self.record.settings.clone(), &Purpose::Finals);
        let (_, ended) = measured.map_err(|error| self.resumable(error))?;
        ended.map_or(Ok(()), |error| Err(self.resumable(error)))
    }

    /// Measures a run in a folder of the study, or goes on with it; returns it, and what ended it early.
    fn measure(
        &self,
        names: &[String],
        folder: &str,
        settings: RunSettings,
        purpose: &Purpose,
    ) -> Result<(RunRecord, Option<CliError>), CliError> {
        let folder: PathBuf = self.folder.join(folder);
        if results::is_run_folder(&folder) {
            let known = results::load(&folder)?;
            if known.complete_rounds() as u64 >= known.settings.rounds {
                return Ok((known, None));
            }
            // Rounds of own costs are short.
            if *purpose != Purpose::Finals {
                fs::remove_dir_all(&folder).map_err(|error| write_error(&folder, &error))?;
            }
        }
        let choice = self.server(Checkpoints::OnlyByFsync)?;
        let ready = self.ready(names, purpose)?;
        let setup = if results::is_run_folder(&folder) {
            PointSetup::going_on(ready, results::load(&folder)?, folder.clone())
        } else {
            let repeat = *purpose == Purpose::Finals;
            let chosen = Choice { strategies: names.to_vec(), all: false, repeat, ..self.choice.clone() };
            PointSetup::new(ready, chosen, settings, folder.clone())
        };
        let job = ServerJob::new(vec![setup], Invocation::now(), &self.arguments.study);
        // They are verified already, with more than the calls before a run.
        let job = ServerJob { is_verified: false, announce: Box::new(|_| ()), ..job };
        let mut record = None;
        let ended =
            job.run(choice, ("rounds", self.folder), async |points: Vec<PointSetup>, servers: JobServers<'_>| {
                let Some(begun) = servers.begin_all(points)?.pop() else { return Ok(Exit::Success) };
                let progress = Progress::on_terminal("pilot");
                let observer = (&begun.log, &());
                let points = vec![servers.point(&begun, &observer, false)];
                let mut rounds =
                    Rounds { points, at: 0, interleaving: Interleaving::InStep, save_together: &|_| Ok(()) };
                let result = carry_out(&mut rounds, servers.servers.ended(), &output::line).await;
                progress.iter().for_each(Progress::end);
                let Some(point) = rounds.points.first_mut() else { return Ok(Exit::Success) };
                let written = point.end(status(&result));
                record = Some(point.record.clone());
                result?;
                written?;
                Ok(Exit::Success)
            });
        match (record, ended) {
            (Some(record), ended) => Ok((record, ended.err())),
            (None, Err(error)) => Err(error),
            (None, Ok(_)) => Err(CliError::failure("nothing was measured")),
        }
    }
}

/// The operations, by position, that the arguments of another one name.
fn named_operations(operation: &OperationDefinition, others: &[OperationDefinition]) -> Vec<usize> {
    let texts: Vec<String> = operation.arguments.iter().map(|(_, value)| value.on_one_line(str::to_owned)).collect();
    let is_in = |text: &String, name: &str| {
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
    };
    let is_named = |other: &OperationDefinition| texts.iter().any(|text| is_in(text, &other.name.value));
    others.iter().enumerate().filter(|(_, other)| is_named(other)).map(|(place, _)| place).collect()
}

/// Writes the reports of the study and of its final run, and prints the list and the verdict. Returns how the command ends.
///
/// # Errors
/// When one of them cannot be written.
pub fn conclude(arguments: &ExploreArguments, record: &ExploreRecord, folder: &Path) -> Result<Exit, CliError> {
    let finals = final_run(record, folder)?;
    let _ = write_study(Report::of_explored(record, finals.as_ref()), folder)?;
    output::print(&terminal(&Report::of_shapes(record, arguments.all)))?;
    if arguments.why && arguments.resume.is_some() {
        output::print(&format!("\n{}\n", report::reasons(&record.tried).join("\n")))?;
    }
    output::print(&format!("\nReport: {}\n", folder.join(HTML_FILE).display()))?;
    let mut exit = Exit::Success;
    if let Some(finals) = &finals {
        let folder = folder.join(FINAL_FOLDER);
        let report = report_of(finals, &folder).in_folder(&folder.display().to_string()).with_files();
        write_reports(finals, &report, &folder)?;
        output::print(&format!("\n{}", terminal_of_run(&report, false)))?;
        exit = exit_of(finals);
    }
    next(record, finals.as_ref(), folder).print();
    let is_wrong = record.count(|outcome| matches!(outcome, TriedOutcome::Wrong(_))) > 0;
    Ok(if is_wrong { Exit::CheckFailed } else { exit })
}
