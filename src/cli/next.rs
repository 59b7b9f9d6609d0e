//! The command worth running after a command: the last line that it prints.
//!
//! It is a message, so that a result that is piped has only the result.

use std::path::Path;

use crate::report::run::decision::NextStep;
use crate::report::run::sections::method::quoted;
use crate::report::{Report, plain};
use crate::results::{Preset, RunRecord, in_percent};
use crate::server::database_names::DEFAULT_PREFIX;

use super::argument::{ServerArguments, SubjectArguments};
use super::output;

/// A command with the options that it needs here: those of the subject and of the server, as the user gave them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextCommand {
    words: Vec<String>,
}

impl NextCommand {
    /// A subcommand with its arguments.
    pub fn new<W: Into<String>>(words: impl IntoIterator<Item = W>) -> NextCommand {
        let words = words.into_iter().map(Into::into);
        NextCommand { words: std::iter::once("docshape".to_owned()).chain(words).collect() }
    }

    /// A subcommand about a folder.
    pub fn about(words: &[&str], folder: &Path) -> NextCommand {
        NextCommand::new(words.iter().copied()).word(&folder.display().to_string())
    }

    /// A subcommand that measures what a run measured.
    pub fn like(command: &str, record: &RunRecord) -> NextCommand {
        NextCommand::on(command, record, record.subject())
    }

    /// A subcommand that measures another part of the scenario of a run, see [`RunRecord::subject`].
    pub fn on(command: &str, record: &RunRecord, subject: Vec<(&str, String)>) -> NextCommand {
        let next = NextCommand::new([command, record.scenario.opened()]);
        let next = subject.into_iter().fold(next, |next, (name, value)| next.option(name, &value));
        if record.server.embedded { next } else { next.option("uri", "URI").option("yes", "") }
    }

    /// Adds an argument.
    #[must_use]
    pub fn word(mut self, word: &str) -> NextCommand {
        self.words.push(word.to_owned());
        self
    }

    /// Adds an option; a flag has an empty value.
    #[must_use]
    pub fn option(mut self, name: &str, value: &str) -> NextCommand {
        self.words.push(format!("--{name}"));
        self.words.extend((!value.is_empty()).then(|| value.to_owned()));
        self
    }

    /// Adds how long to measure, unless it is the usual time.
    #[must_use]
    pub fn preset(self, preset: Preset) -> NextCommand {
        if preset == Preset::Quick { self } else { self.option("preset", &preset.to_string()) }
    }

    /// Adds the part of a scenario that the user chose.
    #[must_use]
    pub fn subject(self, subject: &SubjectArguments) -> NextCommand {
        let SubjectArguments { strategies, all_strategies, mix, share, set, write_concern } = subject;
        let strategies = (!strategies.is_empty()).then(|| ("strategies", strategies.join(",")));
        let all = all_strategies.then(|| ("all-strategies", String::new()));
        let mix = mix.clone().map(|mix| ("mix", mix));
        let shares = share.iter().map(|(name, share)| ("share", format!("{name}={}%", in_percent(*share))));
        let set = set.iter().map(|(name, value)| ("set", format!("{name}={value}")));
        let concern = write_concern.clone().map(|members| ("write-concern", members));
        let options = strategies.into_iter().chain(all).chain(mix).chain(shares).chain(set).chain(concern);
        options.fold(self, |next, (name, value)| next.option(name, &value))
    }

    /// Adds the server that the user named. A string with a password is not repeated.
    #[must_use]
    pub fn server(self, server: &ServerArguments) -> NextCommand {
        let uri = server.uri.as_ref().map(|_| ("uri", "URI".to_owned()));
        let yes = server.yes.then(|| ("yes", String::new()));
        let prefix = &server.databases.db_prefix;
        let prefix = (prefix != DEFAULT_PREFIX).then(|| ("db-prefix", prefix.clone()));
        let mongod = server.embedded.mongod.as_ref().map(|path| ("mongod", path.display().to_string()));
        let members = server.embedded.members.map(|members| ("members", members.to_string()));
        let options = uri.into_iter().chain(yes).chain(prefix).chain(mongod).chain(members);
        options.fold(self, |next, (name, value)| next.option(name, &value))
    }

    /// Prints the line.
    pub fn print(&self) {
        output::message(&self.line());
    }

    /// The line.
    pub(crate) fn line(&self) -> String {
        format!("Next: {}\n", self.command())
    }

    /// The command, as a shell takes it.
    pub(crate) fn command(&self) -> String {
        self.words.iter().map(|word| quoted(&plain(word))).collect::<Vec<_>>().join(" ")
    }
}

/// The command after a report of a run in a folder, with the options of its record.
pub fn after_report(record: &RunRecord, report: &Report, folder: &Path) -> NextCommand {
    let again = |preset| NextCommand::like("run", record).preset(preset);
    let (sweep, invalid) = (NextCommand::like("sweep", record), again(record.settings.preset));
    after(record, report, folder, &again, sweep, invalid)
}

/// The command after a run: the one that measures it again with another preset, a sweep, the one after an invalid run, or one that
/// says more.
pub fn after(
    record: &RunRecord,
    report: &Report,
    folder: &Path,
    again: &dyn Fn(Preset) -> NextCommand,
    sweep: NextCommand,
    invalid: NextCommand,
) -> NextCommand {
    let whole = || NextCommand::about(&["report"], folder).option("full", "");
    let Some(run) = &report.run else { return whole() };
    match &run.next {
        NextStep::SelfTest => invalid,
        NextStep::Preset(preset) => again(*preset),
        NextStep::Option(name, value) => again(record.settings.preset).option(name, value),
        NextStep::Sweep { vary, .. } => sweep.option("vary", vary),
        NextStep::Explain => NextCommand::about(&["explain"], folder),
        NextStep::Report => whole(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::sample;

    #[test]
    fn a_command_has_the_options_of_the_run() {
        let mut run = sample::run(6);
        run.scenario.argument = "./my scenario.yaml".into();
        run.mix.name = "writing".into();
        run.settings.set = vec![("posts".into(), "5".into())];
        run.settings.shares = vec![("read_post".into(), 0.07)];
        run.server.embedded = false;
        let line = NextCommand::like("run", &run).option("preset", "full").line();
        let expected = "Next: docshape run './my scenario.yaml' --mix writing --share read_post=7% --set posts=5 --uri URI --yes \
                        --preset full\n";
        assert_eq!(line, expected);
    }

    #[test]
    fn a_report_goes_on_as_its_run_did() {
        let of = |rounds, preset| {
            let mut record = sample::whole(&sample::run(rounds));
            record.settings.preset = preset;
            after_report(&record, &Report::new(&record), Path::new("results/x")).line()
        };
        let name = sample::run(1).scenario.name;
        assert_eq!(of(1, Preset::Smoke), format!("Next: docshape run {name}\n"));
        assert_eq!(of(1, Preset::Quick), format!("Next: docshape run {name} --rounds 6\n"));
        let decided = of(8, Preset::Quick);
        assert!(decided.contains("explain results/x") || decided.contains("--vary share:"), "{decided}");
    }
}
