//! `docshape run --claims`: the runs that decide a scenario's claims.
//!
//! Claims that need the same mix, clients and parameters share a run, of the strategies that they name and the parts that
//! decide them.

use std::path::{Path, PathBuf};

use crate::campaign::{Interleaving, Point, Rounds, carry_out};
use crate::cli::argument::SubjectArguments;
use crate::cli::next::NextCommand;
use crate::cli::report::terminal;
use crate::cli::scenario::{Ready, prepare};
use crate::cli::server::ServerChoice;
use crate::cli::{CliError, Exit, output};
use crate::compile::{ClaimTerm, claim_term};
use crate::record::Part;
use crate::report::Report;
use crate::results::{
    self, CLAIMS_FORMAT, ClaimOutcome, ClaimsRecord, ClaimsRunRecord, DecidedClaimRecord, Preset, RunRecord, Status,
    StudyKind,
};
use crate::scenario::{ClaimDefinition, ClaimSubject, Scenario, StrategyDefinition, nearest};
use crate::server::client::MongoTarget;
use crate::stats::claim_results;

use super::conclude::conclude;
use super::job::{JobServers, PointSetup, ServerJob};
use super::record::sha256;
use super::resume::{complete, end, server};
use super::{Invocation, RunArguments, StudyArguments, check_threads};

/// Measures what the claims with these ids need, by default all; prints their verdicts and writes them to `claims.json`.
///
/// # Errors
/// When the scenario or server cannot be used, or a run fails.
pub fn run(arguments: &RunArguments, ids: &[String]) -> Result<Exit, CliError> {
    arguments.measurement.check_parts()?;
    let study = &arguments.study;
    let ready = prepare(study.scenario(), &study.subject.choice(arguments.measurement.seed, false))?;
    let claims = chosen(&ready.scenario, ids)?;
    let groups = ClaimGroup::all(&ready, &claims, arguments);
    let runs: Vec<RunArguments> = groups.iter().map(|group| group.arguments(arguments)).collect();
    runs.iter().try_for_each(|run| check_threads(&run.settings()))?;
    let choice = study.server.choice()?;
    let invocation = Invocation::now();
    let folder = invocation.folder(arguments.measurement.out.as_deref(), &ready.plan.name);
    let _locked = results::create_folder(&folder)?;
    let mut record = ClaimsRecord {
        format: CLAIMS_FORMAT,
        version: env!("CARGO_PKG_VERSION").into(),
        scenario: ready.plan.name.clone(),
        title: ready.plan.title.clone(),
        scenario_sha256: sha256(&ready.source),
        started: invocation.started_text(),
        preset: arguments.measurement.preset,
        ..ClaimsRecord::default()
    };
    let mut points = Vec::new();
    for (group, run) in groups.iter().zip(runs) {
        output::line(&group.describe());
        let chosen = run.study.subject.choice(arguments.measurement.seed, true);
        let ready = prepare(study.scenario(), &chosen)?;
        let point = PointSetup::new(ready, chosen, run.settings().without_curve(), folder.join(&group.record.folder));
        points.push(PointSetup { claims: Some(group.ids()), ..point });
        record.runs.push(group.record.clone());
    }
    let order = claims.iter().map(|claim| claim.id.value.clone()).collect();
    Claims { record, folder, order, failed: None }.on_servers(points, choice, study, invocation)
}

/// Goes on with the runs in a folder.
///
/// # Errors
/// When this build cannot continue them, and as those of [`run`].
pub fn resume(arguments: &RunArguments, folder: &Path) -> Result<Exit, CliError> {
    let mut record = results::load_as::<ClaimsRecord>(folder)?;
    if record.complete {
        complete(StudyKind::Claims, folder);
        return Ok(Exit::Success);
    }
    let mut points = Vec::new();
    // One that could not be measured at all has no record.
    for run in
        record.runs.iter_mut().filter(|run| run.error.is_none() || results::is_run_folder(&folder.join(&run.folder)))
    {
        run.error = None;
        let own = folder.join(&run.folder);
        points.push(PointSetup::resumed(results::load_part::<ClaimsRecord>(folder, &run.folder)?, own)?);
    }
    let Some((first, run)) = points.first().and_then(|point| Some((point, point.resumed.as_ref()?))) else {
        return Err(CliError::usage(format!("{} names no run that can be resumed: measure again", folder.display())));
    };
    let order = first.ready.scenario.claims.iter().map(|claim| claim.id.value.clone()).collect();
    let choice = server(&arguments.study.server, run)?;
    let claims = Claims { record, folder: folder.to_owned(), order, failed: None };
    claims.on_servers(points, choice, &arguments.study, Invocation::now())
}

/// The runs for some claims.
struct Claims {
    record: ClaimsRecord,
    folder: PathBuf,
    /// The ids of the claims in the order of the scenario.
    order: Vec<String>,
    /// Why the first run that failed did so.
    failed: Option<CliError>,
}

impl Claims {
    fn on_servers(
        mut self,
        points: Vec<PointSetup>,
        choice: ServerChoice,
        study: &StudyArguments,
        invocation: Invocation,
    ) -> Result<Exit, CliError> {
        let folder = self.folder.clone();
        let job = ServerJob { are_apart: true, ..ServerJob::new(points, invocation, study) };
        let measure = async |points: Vec<PointSetup>, servers: JobServers<'_>| self.measure(points, &servers).await;
        job.run(choice, ("rounds", &folder), measure)
    }

    async fn measure(&mut self, setups: Vec<PointSetup>, servers: &JobServers<'_>) -> Result<Exit, CliError> {
        let (failed, setups): (Vec<_>, Vec<_>) = setups.into_iter().partition(|setup| setup.error.is_some());
        for PointSetup { error, folder, .. } in failed {
            self.fail(&folder, error.unwrap_or_else(|| CliError::failure("")));
        }
        let all = servers.begin_all(setups)?;
        let points = all.iter().map(|begun| servers.point(begun, &begun.log, false)).collect();
        let (begun, folder) = (self.record.clone(), self.folder.clone());
        // How many rounds are complete.
        let save = |points: &[Point<'_, MongoTarget, MongoTarget>]| {
            let mut record = begun.clone();
            for run in &mut record.runs {
                let point = points.iter().find(|point| point.folder.ends_with(&run.folder));
                run.rounds = point.map_or(run.rounds, |point| point.saved as u64);
            }
            results::save_document(&record, &folder)
        };
        let mut rounds = Rounds { points, at: 0, interleaving: Interleaving::Apart, save_together: &save };
        let result = carry_out(&mut rounds, servers.servers.ended(), &output::line).await;
        let (points, folder) = (rounds.points, self.folder.clone());
        let rounds = points.iter().map(|point| point.saved).sum();
        end(result, (StudyKind::Claims, &folder), (rounds, "round"), |status| self.conclude(points, &status))
    }

    /// Notes why a run failed.
    fn fail(&mut self, folder: &Path, error: CliError) {
        for run in self.record.runs.iter_mut().filter(|run| folder.ends_with(&run.folder)) {
            run.error = Some(error.message.clone());
        }
        self.failed.get_or_insert(error);
    }

    /// Writes the reports of the runs that have ended, decides the claims of all, and prints what was found.
    fn conclude(
        &mut self,
        points: Vec<Point<'_, MongoTarget, MongoTarget>>,
        status: &Status,
    ) -> Result<Exit, CliError> {
        let (mut exit, mut runs) = (Exit::Success, Vec::new());
        for mut point in points {
            let folder = point.folder.clone();
            let (is_whole, error) = (point.is_whole(), point.error.take());
            if is_whole || error.is_some() {
                match conclude(&mut point, error.map_or(Ok(()), Err), &folder, None) {
                    Ok((of_run, _)) if exit == Exit::Success => exit = of_run,
                    Ok(_) => {}
                    Err(error) => self.fail(&folder, error),
                }
            } else {
                point.end(status.clone())?;
            }
            runs.push((folder, point.record, is_whole));
        }
        self.decide(&runs);
        results::save_document(&self.record, &self.folder)?;
        let report = Report::of_claims(&self.record).in_folder(&self.folder.display().to_string());
        output::print(&terminal(&report))?;
        after_claims(&self.record, &self.folder).print();
        self.failed.take().map_or(Ok(exit), Err)
    }

    /// Decides the claims of all runs; each is their folder, their record, and whether all of it is there.
    fn decide(&mut self, runs: &[(PathBuf, RunRecord, bool)]) {
        self.record.complete = runs.len() == self.record.runs.len() && runs.iter().all(|(.., is_whole)| *is_whole);
        self.record.claims.clear();
        for run in &mut self.record.runs {
            let Some((_, record, _)) = runs.iter().find(|(folder, ..)| folder.ends_with(&run.folder)) else { continue };
            run.rounds = record.complete_rounds() as u64;
            run.rate = record.settings.planned_rate().filter(|_| record.parts.contains_key(&Part::Rate));
            let members = results::members(&record.server.topology).map(|members| format!(", {members} members"));
            self.record.server = Some(record.server.version.clone() + &members.unwrap_or_default());
            run.parameters.clone_from(&record.parameters);
            let decided = |(claim, result): (&results::ClaimRecord, _)| DecidedClaimRecord {
                claim: claim.clone(),
                result,
                run: run.folder.clone(),
            };
            let results = claim_results(record, &record.all_parts());
            self.record.claims.extend(record.claims.iter().zip(results).map(decided));
        }
        let order = &self.order;
        self.record.claims.sort_by_key(|claim| order.iter().position(|id| *id == claim.claim.id));
    }
}

/// The command after the runs for claims: longer ones for what is undecided, else the run that refutes one.
pub fn after_claims(record: &ClaimsRecord, folder: &Path) -> NextCommand {
    let longer = match record.preset {
        Preset::Smoke => Preset::Quick,
        Preset::Quick => Preset::Full,
        long => long,
    };
    let with = |outcome| record.claims.iter().filter(move |claim| claim.outcome() == outcome);
    let undecided: Vec<&str> = with(ClaimOutcome::Undecided).map(|one| one.claim.id.as_str()).collect();
    let decisive =
        with(ClaimOutcome::Refuted).next().map(|one| &one.run).or(record.runs.first().map(|run| &run.folder));
    let measured = record.runs.iter().find_map(|run| Some((run, results::load(&folder.join(&run.folder)).ok()?)));
    match (measured, decisive) {
        (Some((of, run)), _) if !undecided.is_empty() && longer != record.preset => {
            // What claims need is no option of the user's.
            let set: Vec<String> = of.set.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let mut subject = run.subject();
            subject.retain(|(option, value)| *option != "mix" && !(*option == "set" && set.contains(value)));
            let next = NextCommand::on("run", &run, subject).preset(longer);
            next.word(&format!("--claims={}", undecided.join(",")))
        }
        (_, Some(decisive)) => NextCommand::about(&["report"], &folder.join(decisive)),
        (_, None) => NextCommand::new(["list"]),
    }
}

/// The claims with these ids, by default all.
fn chosen<'s>(scenario: &'s Scenario, ids: &[String]) -> Result<Vec<&'s ClaimDefinition>, CliError> {
    let known: Vec<&str> = scenario.claims.iter().map(|claim| claim.id.value.as_str()).collect();
    if known.is_empty() {
        return Err(CliError::usage(format!(
            "scenario {} has no claims: omit --claims, or add `claims` to it",
            scenario.name.value
        )));
    }
    if let Some(unknown) = ids.iter().find(|id| !known.contains(&id.as_str())) {
        let help = nearest(unknown, &known);
        return Err(CliError::usage(format!("--claims={unknown}: the scenario has no such claim: {help}")));
    }
    let is_chosen = |claim: &&ClaimDefinition| ids.is_empty() || ids.contains(&claim.id.value);
    let chosen = scenario.claims.iter().filter(is_chosen);
    let (elsewhere, chosen): (Vec<_>, Vec<_>) = chosen.partition(|claim| claim.subject.value.is_of_shards());
    if chosen.is_empty() {
        let name = &scenario.name.value;
        return Err(CliError::usage(format!("no run decides these claims: use `docshape shardkey {name}`")));
    }
    if !elsewhere.is_empty() {
        let ids: Vec<&str> = elsewhere.iter().map(|claim| claim.id.value.as_str()).collect();
        output::line(&format!("left out, as `docshape shardkey` decides them: {}", ids.join(", ")));
    }
    Ok(chosen)
}

/// Claims that one run decides.
struct ClaimGroup<'s> {
    /// What `claims.json` says of its run before the first round.
    record: ClaimsRunRecord,
    claims: Vec<&'s ClaimDefinition>,
    parts: Vec<Part>,
}

impl<'s> ClaimGroup<'s> {
    /// The groups, in the order of their first claims.
    fn all(ready: &Ready, claims: &[&'s ClaimDefinition], arguments: &RunArguments) -> Vec<ClaimGroup<'s>> {
        let usual = arguments.settings().clients as u64;
        let mut groups: Vec<ClaimGroup> = Vec::new();
        for &claim in claims {
            let SubjectArguments { mut set, mix, .. } = SubjectArguments::defined(&claim.run);
            set.sort();
            let mix = mix.unwrap_or_else(|| ready.plan.mix.name.clone());
            let clients = claim.clients.map_or(usual, u64::from);
            let is_like = |run: &ClaimsRunRecord| run.mix == mix && run.clients == clients && run.set == set;
            match groups.iter_mut().find(|group| is_like(&group.record)) {
                Some(group) => group.claims.push(claim),
                None => groups.push(ClaimGroup {
                    record: ClaimsRunRecord {
                        folder: format!("{}-{mix}", groups.len() + 1),
                        mix,
                        clients,
                        set,
                        ..ClaimsRunRecord::default()
                    },
                    claims: vec![claim],
                    parts: Vec::new(),
                }),
            }
        }
        groups.iter_mut().for_each(|group| group.complete(ready));
        groups
    }

    /// Says which strategies and parts its claims need.
    fn complete(&mut self, ready: &Ready) {
        let named: Vec<String> = self.claims.iter().flat_map(|claim| strategies_of(ready, claim)).collect();
        let is_needed = |part: &Part| self.claims.iter().any(|claim| needed(claim) == *part);
        self.parts = Part::ALL.into_iter().filter(is_needed).collect();
        self.record.parts = self.parts.iter().map(|part| part.name().to_owned()).collect();
        self.record.strategies = with_baseline(&ready.scenario, &named);
    }

    fn ids(&self) -> Vec<String> {
        self.claims.iter().map(|claim| claim.id.value.clone()).collect()
    }

    fn describe(&self) -> String {
        let ClaimsRunRecord { folder, mix, clients, set, strategies, parts, .. } = &self.record;
        let set: String = set.iter().map(|(name, value)| format!(", {name}={value}")).collect();
        format!(
            "{folder}: claims {} in mix {mix}, {clients} clients{set}; strategies {}; parts {}",
            self.ids().join(", "),
            strategies.join(", "),
            parts.join(", ")
        )
    }

    /// The arguments of its run.
    fn arguments(&self, given: &RunArguments) -> RunArguments {
        let mut run = RunArguments { claims: None, ..given.clone() };
        let ClaimsRunRecord { mix, set, strategies, .. } = self.record.clone();
        let needed = SubjectArguments { mix: Some(mix), set, strategies, ..Default::default() };
        run.study.subject = needed.over(run.study.subject);
        run.measurement.only.clone_from(&self.parts);
        run.measurement.clients = Some(self.record.clients);
        run
    }
}

/// The strategies of a claim.
fn strategies_of(ready: &Ready, claim: &ClaimDefinition) -> Vec<String> {
    let other = match claim_term(&ready.scenario, claim, &ready.plan.parameters) {
        Some(ClaimTerm::Other { strategy, .. }) => Some(strategy),
        Some(ClaimTerm::Number { .. }) | None => None,
    };
    [Some(claim.strategy.value.clone()), other].into_iter().flatten().collect()
}

/// The strategies of a run: those named, safe ones first; the scenario's first default one as the baseline if it is named,
/// if no other one is, or if all are unsafe.
fn with_baseline(scenario: &Scenario, named: &[String]) -> Vec<String> {
    let is_default = |strategy: &StrategyDefinition| !strategy.is_unsafe && strategy.is_compared();
    let all = || scenario.strategies.iter();
    let usual = all().find(|one| is_default(one)).or_else(|| all().find(|one| !one.is_unsafe));
    let mut strategies: Vec<_> = all().filter(|one| named.contains(&one.name.value)).collect();
    let is_enough = strategies.len() > 1 && strategies.iter().any(|one| !one.is_unsafe);
    strategies.extend(usual.filter(|usual| !is_enough && !named.contains(&usual.name.value)));
    strategies.sort_by_key(|one| (one.is_unsafe, usual.is_none_or(|usual| usual.name.value != one.name.value)));
    strategies.into_iter().map(|one| one.name.value.clone()).collect()
}

/// The shortest part that decides a claim. Most anomalies need calls that are made at the same time, and so do the outcomes of a
/// claim that says how many clients there are.
fn needed(claim: &ClaimDefinition) -> Part {
    match &claim.subject.value {
        ClaimSubject::Metric { metric, .. } => {
            let parts = metric.parts();
            parts.iter().copied().find(|part| *part == Part::Own).or(parts.first().copied()).unwrap_or(Part::Own)
        }
        ClaimSubject::Audit(_) => Part::Saturation,
        ClaimSubject::Outcome(_) if claim.clients.is_some() => Part::Saturation,
        ClaimSubject::Outcome(_) => Part::Own,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::argument::tests::parse;
    use super::*;
    use crate::cli::scenario::prepare_source;
    use crate::command_line::Arguments;
    use crate::compile::Choice;
    use crate::scenario::Source;

    fn arguments(line: &[&str]) -> RunArguments {
        parse(&[&["x"], line].concat()).unwrap()
    }

    const COUNTER: &str = include_str!("../../../tests/claims/counter.yaml");

    fn ready() -> Ready {
        prepare_source(Source::new("counter.yaml", COUNTER), &Choice::default()).unwrap()
    }

    /// The groups of these claims: ids, strategies, parts, and the arguments of their runs.
    fn groups(line: &[&str]) -> Vec<(String, RunArguments)> {
        let (ready, arguments) = (ready(), arguments(line));
        let claims = chosen(&ready.scenario, arguments.claims.as_deref().unwrap()).unwrap();
        let groups = ClaimGroup::all(&ready, &claims, &arguments);
        groups.iter().map(|group| (group.describe(), group.arguments(&arguments))).collect()
    }

    #[test]
    fn claims_with_the_same_settings_share_a_run() {
        let groups = groups(&["--claims", "--set", "padding=7", "--set", "counters=9", "--preset", "full"]);
        let texts: Vec<&str> = groups.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "1-default: claims one-trip, twice, lost, kept, sold-out in mix default, 8 clients; strategies increment, \
                 read_first, overwrite; parts own, saturation",
                "2-reading: claims large in mix reading, 8 clients, padding=500; strategies increment; parts own",
            ]
        );
        let run = &groups[1].1;
        let set: Vec<&str> = run.study.subject.set.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!((set, run.measurement.only.as_slice()), (vec!["7", "9", "500"], &[Part::Own][..]));
        assert_eq!((run.measurement.preset, run.claims.as_ref()), (results::Preset::Full, None));
    }

    #[test]
    fn an_outcome_that_depends_on_the_clients_is_counted_in_concurrent_calls() {
        let part = |text: &str| {
            let ready = prepare_source(Source::new("counter.yaml", text), &Choice::default()).unwrap();
            let claim = ready.scenario.claims.iter().find(|claim| claim.id.value == "sold-out").unwrap();
            needed(claim)
        };
        let with_clients =
            COUNTER.replace("says: No purchase succeeds.", "says: No purchase succeeds.\n    clients: 16");
        assert_eq!((part(COUNTER), part(&with_clients)), (Part::Own, Part::Saturation));
    }

    #[test]
    fn unsafe_strategies_run_with_a_baseline() {
        let strategies = |line: &str| groups(&[line])[0].1.study.subject.strategies.join(" ");
        assert_eq!(strategies("--claims=lost"), "increment overwrite");
        assert_eq!(strategies("--claims=twice"), "increment read_first");
        assert_eq!(strategies("--claims=one-trip"), "increment");
        assert_eq!(strategies("--claims=lost,twice"), "read_first overwrite");
    }

    #[test]
    fn unknown_claims_and_options_without_sense_are_refused() {
        let error = chosen(&ready().scenario, &["kep".to_owned()]).unwrap_err();
        assert_eq!(error.message, "--claims=kep: the scenario has no such claim: did you mean `kept`?");
        for option in
            [&["--mix", "x"][..], &["--strategies", "x"], &["--only", "own"], &["--clients", "3"], &["--keep"]]
        {
            let line = [&["docshape", "run", "x", "--claims"], option].concat();
            let error = Arguments::try_parse_from(line).unwrap_err().to_string();
            assert!(error.contains("cannot be used with") && error.contains(option[0]), "{error}");
        }
    }
}
