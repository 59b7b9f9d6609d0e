//! `--like`: a run that measures what an earlier one measured, in another session.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};

use crate::cli::scenario::prepare_source;
use crate::cli::server::ServerChoice;
use crate::cli::{CliError, catalogue, output};
use crate::compile::Choice;
use crate::results::{self, PUBLISHED_FILE, RunRecord, RunSettings, ServerSharing, Setting};
use crate::scenario::Source;

use super::record::sha256;
use super::{PlannedRun, RunArguments, resume};

/// Options whose values an earlier run does not decide: another session draws its own data and calls, and limits judge what was
/// measured.
const FREE: [&str; 2] = ["seed", "threshold"];

/// The options that the user wrote: a default cannot contradict anything.
#[derive(Debug, Clone, Default)]
pub struct GivenOptions(Vec<String>);

impl GivenOptions {
    /// Whether the user wrote an option, by its name without dashes.
    pub fn has(&self, option: &str) -> bool {
        let id = option.replace('-', "_");
        self.0.contains(&id)
    }
}

impl FromArgMatches for GivenOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<GivenOptions, clap::Error> {
        let is_given = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
        Ok(GivenOptions(matches.ids().map(clap::Id::as_str).filter(is_given).map(str::to_owned).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = GivenOptions::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for GivenOptions {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

/// Returns how an earlier run was measured, as far as it is recorded: what it had not planned yet is left open. `why` is the reason
/// for what it shared or measured one strategy after the other.
pub fn settings(old: &RunRecord, why: &str) -> RunSettings {
    let is_shared = old.server.embedded && old.server.servers == ServerSharing::Shared;
    RunSettings {
        isolated: old.settings.isolated.as_ref().map(|_| why.to_owned()),
        shared_mongod: is_shared.then(|| why.to_owned()),
        ..old.settings.clone()
    }
}

/// An earlier run whose session is repeated.
pub struct EarlierRun {
    /// Where the user says that it is.
    path: PathBuf,
    record: RunRecord,
}

impl EarlierRun {
    /// Reads a run from its folder, the folder of a published result, or a file of one of them.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn load(path: &Path) -> Result<EarlierRun, CliError> {
        // The numbers of a published result are next to the record that has the settings.
        let is_summary = path.file_name().is_some_and(|name| name == PUBLISHED_FILE);
        let place = if is_summary { path.parent().filter(|parent| !parent.as_os_str().is_empty()) } else { Some(path) };
        Ok(EarlierRun { path: path.to_owned(), record: results::load(place.unwrap_or(Path::new(".")))? })
    }

    /// Plans a run like it. Says what is alike that need not be.
    ///
    /// # Errors
    /// When the command line contradicts it, or its scenario is another one by now.
    pub fn plan(&self, arguments: &RunArguments) -> Result<PlannedRun, CliError> {
        self.check_settings(arguments)?;
        self.check_subject(arguments)?;
        let (subject, seed) = (&arguments.study.subject, arguments.measurement.seed);
        let recorded = resume::choice(&self.record);
        let strategies = if subject.strategies.is_empty() { recorded.strategies } else { subject.strategies.clone() };
        let chosen = Choice { strategies, seed, ..recorded };
        let settings = RunSettings {
            seed,
            thresholds: arguments.settings().thresholds,
            ..settings(&self.record, &format!("like {}", self.path.display()))
        };
        let choice = self.server(arguments)?;
        let ready = prepare_source(self.source(arguments.study.scenario.as_deref())?, &chosen)?;
        resume::check_data(&self.record.scenario, &ready.plan)?;
        self.announce(seed);
        Ok(PlannedRun { ready, chosen, settings, choice })
    }

    fn announce(&self, seed: u64) {
        let shown = self.path.display();
        let (theirs, ours) = (&self.record.version, env!("CARGO_PKG_VERSION"));
        if theirs != ours {
            output::line(&format!(
                "{shown} was measured by docshape {theirs}, and this is docshape {ours}: they cannot be published together"
            ));
        }
        if seed == self.record.settings.seed {
            output::line(&format!(
                "the seed is that of {shown} ({seed}), so that data and calls are the same, too; another --seed draws others"
            ));
        }
    }

    /// The server: of the same kind, with the same cache.
    fn server(&self, arguments: &RunArguments) -> Result<ServerChoice, CliError> {
        resume::server(&arguments.study.server, &self.record)
            .map_err(|error| error.with(&format!("--like {} takes its kind of server", self.path.display())))
    }

    /// Rejects options with another value than the run has.
    fn check_settings(&self, arguments: &RunArguments) -> Result<(), CliError> {
        contradiction(arguments, &self.record.settings, &FREE)
            .map_or(Ok(()), |[asked, had]| Err(self.contradiction(&asked, &had)))
    }

    /// Rejects another part of the scenario than the run has.
    fn check_subject(&self, arguments: &RunArguments) -> Result<(), CliError> {
        let (subject, record) = (&arguments.study.subject, &self.record);
        let names = resume::choice(record).strategies;
        if let Some(mix) = subject.mix.as_ref().filter(|mix| **mix != record.mix.name) {
            return Err(self.contradiction(&format!("--mix {mix}"), &format!("--mix {}", record.mix.name)));
        }
        // The last value of a parameter counts.
        let by_name = |set: &[(String, String)]| set.iter().cloned().collect::<BTreeMap<_, _>>();
        let (asked, had) = (by_name(&subject.set), by_name(&record.settings.set));
        if !asked.is_empty() && asked != had {
            let values = |set: BTreeMap<String, String>| {
                let values: Vec<String> = set.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
                option("set", &values)
            };
            return Err(self.contradiction(&values(asked), &values(had)));
        }
        let all = option("strategies", &[names.join(",")]);
        if subject.all_strategies {
            return Err(self.contradiction("--all-strategies", &all));
        }
        match subject.strategies.iter().find(|name| !names.contains(name)) {
            Some(unknown) => Err(self.contradiction(&format!("--strategies {unknown}"), &all)),
            None => Ok(()),
        }
    }

    fn contradiction(&self, asked: &str, had: &str) -> CliError {
        let shown = self.path.display();
        CliError::usage(format!(
            "{asked} contradicts --like {shown}, which was measured {had}: omit it, or measure without --like",
            had = if had.starts_with("--") { format!("with {had}") } else { had.to_owned() }
        ))
    }

    /// The scenario: the one that the user names, else that of the record, whose text is used if its file is gone.
    fn source(&self, scenario: Option<&str>) -> Result<Source, CliError> {
        let recorded = &self.record.scenario;
        let name = scenario.unwrap_or(recorded.opened());
        let source = match catalogue::open(name) {
            Ok(source) => source,
            Err(error) if scenario.is_some() => return Err(error),
            Err(_) => return Ok(Source::new(recorded.opened(), recorded.text.as_str())),
        };
        let (found, shown) = (sha256(&source), self.path.display());
        if found == recorded.sha256 {
            return Ok(source);
        }
        let short = |sum: &str| sum.chars().take(12).collect::<String>();
        Err(CliError::usage(format!(
            "{name} is not the scenario that {shown} measured: its SHA-256 begins with {}, that of the run with {}; restore its text, \
             which the run has in `scenario.text`, or measure without --like",
            short(&found),
            short(&recorded.sha256)
        )))
    }
}

/// The first option that the user wrote with another value than an earlier run has, as asked and as it was; none of those that
/// are `free`.
pub fn contradiction(arguments: &RunArguments, old: &RunSettings, free: &[&str]) -> Option<[String; 2]> {
    let write_concern = arguments.study.subject.write_concern.clone();
    let asked = arguments.settings();
    let asked = RunSettings { write_concern: write_concern.unwrap_or(asked.write_concern.clone()), ..asked };
    let differs = |(asked, had): &(Setting, Setting)| {
        let is_free = free.contains(&asked.option) || !arguments.given.has(asked.option);
        // A rate that a pilot found was left open, too.
        let is_open = asked.option == "rate" && !old.is_named_rate && asked.values == ["auto"];
        // Calls stay those that were asked for where much slower strategies make fewer.
        let are_calls = asked.option == "calls" && old.calls.is_some_and(|calls| asked.values == [calls.to_string()]);
        !is_free && !is_open && !are_calls && asked.values != had.values
    };
    let (asked, had) = asked.table().into_iter().zip(old.table()).find(differs)?;
    Some([asked.values, had.values].map(|values| option(had.option, &values)))
}

/// An option with its values; in words where there is none.
fn option(name: &str, values: &[String]) -> String {
    let uses: Vec<String> = values.iter().map(|value| format!("--{name} {value}").trim_end().to_owned()).collect();
    if uses.is_empty() { format!("without --{name}") } else { uses.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::super::argument::tests::parse;
    use super::*;
    use crate::results::LoadModel;

    const OLD: &str = "results/person-address/default/mongodb-6.0.5-2-cores";

    fn plan(line: &[&str]) -> Result<PlannedRun, CliError> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(OLD);
        EarlierRun { path: OLD.into(), ..EarlierRun::load(&path)? }.plan(&parse(line).unwrap())
    }

    #[test]
    fn a_published_record_decides_everything_but_the_seed() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(OLD);
        let old = EarlierRun::load(&path.join(PUBLISHED_FILE)).unwrap().record;
        assert_eq!(EarlierRun::load(&path).unwrap().record, old);
        let source = old.scenario.text.as_str();
        let EarlierRun { path, mut record } = EarlierRun { path, record: old.clone() };
        // Its own text, whatever the catalogue has by now.
        record.scenario.argument = "./gone.yaml".into();
        let planned = EarlierRun { path, record }
            .plan(&parse(&["--like", OLD, "--seed", "77", "--clients", "8"]).unwrap())
            .unwrap();
        assert_eq!(&*planned.ready.source.text, source);
        let shared = planned.settings.shared_mongod.clone();
        assert_eq!(planned.settings, RunSettings { seed: 77, shared_mongod: shared, ..old.settings.clone() });
        assert!(matches!(planned.settings.load, LoadModel::Open { rate, .. } if rate > 0.0));
        assert!(planned.settings.calls.is_some() && planned.settings.rate_calls.is_some());
        let arms: Vec<&str> = planned.ready.plan.arms.iter().map(|arm| arm.name.as_str()).collect();
        assert_eq!(arms, old.strategies.iter().map(|one| one.name.as_str()).collect::<Vec<_>>());
        assert_eq!((planned.chosen.mix.as_deref(), planned.chosen.seed), (Some(old.mix.name.as_str()), 77));
    }

    #[test]
    fn what_contradicts_the_record_names_both_values() {
        let like = |more: &[&str], words: &[&str]| {
            let error = plan(&[&["--like", OLD], more].concat()).err().expect("a contradiction").message;
            let all = [words, &["contradicts --like results/person-address", "omit it"]].concat();
            all.iter().for_each(|word| assert!(error.contains(word), "{word:?} is not in {error}"));
        };
        like(&["--clients", "4"], &["--clients 4", "with --clients 8"]);
        like(&["--threads", "1", "--rounds", "99"], &["--rounds 99", "with --rounds "]);
        like(&["--mix", "other"], &["--mix other", "with --mix default"]);
        like(&["--set", "people=9"], &["--set people=9", "without --set"]);
        like(&["--isolate"], &["--isolate contradicts", "without --isolate"]);
        like(&["--rate", "17"], &["--rate 17", "without --rate"]);
        like(&["--strategies", "embedded,elsewhere"], &["--strategies elsewhere", "with --strategies embedded,"]);
        like(&["--all-strategies"], &["--all-strategies", "with --strategies embedded,"]);
        like(&["--cache-gb", "2"], &["--cache-gb 2", "with --cache-gb 1"]);
    }

    #[test]
    fn another_scenario_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mine.yaml");
        std::fs::write(&file, "format: 1\nname: mine\n").unwrap();
        let error = plan(&[file.to_str().unwrap(), "--like", OLD]).err().unwrap().message;
        for word in ["mine.yaml is not the scenario that results/person-address", "SHA-256", "without --like"] {
            assert!(error.contains(word), "{word:?} is not in {error}");
        }
    }
}
