//! What to run after a run.

use std::path::Path;

use crate::cli::next::{self, NextCommand};
use crate::report::Report;
use crate::results::{Preset, RunRecord, RunSettings};

use super::RunArguments;

/// Options of the length of a run, which a longer preset sets.
const LENGTH: [&str; 5] = ["preset", "rounds", "slices", "duration", "calls"];

/// Options that choose a part of the scenario, or a server.
const SUBJECT: [&str; 3] = ["share", "write-concern", "members"];

/// The command after a run, with the options of this one.
pub fn after_run(arguments: &RunArguments, record: &RunRecord, report: &Report, folder: &Path) -> NextCommand {
    let study = &arguments.study;
    let sweep = match &study.scenario {
        Some(scenario) => NextCommand::new(["sweep", scenario]).subject(&study.subject).server(&study.server),
        None => NextCommand::like("sweep", record),
    };
    let selftest = NextCommand::new(["selftest"]).server(&study.server);
    next::after(record, report, folder, &|preset| again(arguments, preset), sweep, selftest)
}

/// The same command with another preset: without the options of the length of this run.
pub fn again(arguments: &RunArguments, preset: Preset) -> NextCommand {
    let study = &arguments.study;
    let words = ["run".to_owned()].into_iter().chain(study.scenario.clone());
    let mut next = NextCommand::new(words).subject(&study.subject).preset(preset);
    let usual = RunSettings::of(preset).table();
    let given = arguments.settings().table().into_iter();
    let given = given.filter(|setting| !LENGTH.contains(&setting.option) && !SUBJECT.contains(&setting.option));
    for setting in given.filter(|setting| !usual.contains(setting)) {
        next = setting.values.iter().fold(next, |next, value| next.option(setting.option, value));
    }
    next.server(&study.server)
}

#[cfg(test)]
mod tests {
    use super::super::argument::tests::parse;
    use super::*;

    #[test]
    fn next_command_has_the_subject_and_not_the_length() {
        let of = |line: &[&str]| {
            again(&parse(line).unwrap(), Preset::Quick).line().trim_start_matches("Next: ").trim_end().to_owned()
        };
        let smoke =
            ["blog-comments", "--preset", "smoke", "--rounds", "3", "--calls", "70", "--no-verify", "--out", "x"];
        assert_eq!(of(&smoke), "docshape run blog-comments");
        let line = ["./a.yaml", "--preset=smoke", "--mix", "m", "--set", "n=3", "--clients", "5", "--only", "own,rate"];
        assert_eq!(of(&line), "docshape run ./a.yaml --mix m --set n=3 --only own,rate --clients 5");
        let line = of(&["x", "--members", "3", "--preset", "smoke"]);
        assert_eq!(line, "docshape run x --members 3");
        let line = of(&["x", "--strategies", "a,b", "--isolate", "--uri", "mongodb://me:s3cret@db1/"]);
        assert_eq!(line, "docshape run x --strategies a,b --isolate --uri URI");
    }
}
