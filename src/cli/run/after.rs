//! What to run after a run.

use std::path::Path;

use crate::cli::next::NextCommand;
use crate::report::Report;
use crate::report::run::decision::NextStep;
use crate::results::{Preset, RunRecord, RunSettings};

use super::RunArguments;

/// Options of the length of a run, which a longer preset sets.
const LENGTH: [&str; 5] = ["preset", "rounds", "slices", "duration", "calls"];

/// Options that choose a part of the scenario.
const SUBJECT: [&str; 2] = ["share", "write-concern"];

/// The command after a run, with the options of the command that ran it; `None` for a run that is reported again, whose record
/// has them.
pub fn after_run(arguments: Option<&RunArguments>, record: &RunRecord, report: &Report, folder: &Path) -> NextCommand {
    let again = |preset| match arguments {
        Some(arguments) => again(arguments, preset),
        None => NextCommand::like("run", record).preset(preset),
    };
    let whole = || NextCommand::about(&["report"], folder).option("full", "");
    let Some(run) = &report.run else { return whole() };
    match NextStep::of(&run.parts, report.is_invalid()) {
        NextStep::SelfTest => {
            let selftest = |given: &RunArguments| NextCommand::new(["selftest"]).server(&given.study.server);
            arguments.map_or_else(|| again(record.settings.preset), selftest)
        }
        NextStep::Preset(preset) => again(preset),
        NextStep::Option(name, value) => again(record.settings.preset).option(name, &value),
        NextStep::Sweep { vary, .. } => {
            let study = arguments.map(|arguments| &arguments.study);
            let sweep = match study.and_then(|study| Some((study, study.scenario.as_ref()?))) {
                Some((study, scenario)) => {
                    NextCommand::new(["sweep", scenario]).subject(&study.subject).server(&study.server)
                }
                None => NextCommand::like("sweep", record),
            };
            sweep.option("vary", &vary)
        }
        NextStep::Explain => NextCommand::about(&["explain"], folder),
        NextStep::Report => whole(),
    }
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
    use clap::Parser;

    use super::*;
    use crate::command_line::{Arguments, CliCommand};
    use crate::stats::sample;

    fn arguments(line: &[&str]) -> RunArguments {
        match Arguments::try_parse_from([&["docshape", "run"], line].concat()).unwrap().command {
            CliCommand::Run(arguments) => *arguments,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_report_goes_on_as_its_run_did() {
        let of = |rounds, preset| {
            let mut record = sample::whole(&sample::run(rounds));
            record.settings.preset = preset;
            after_run(None, &record, &Report::new(&record), Path::new("results/x")).line()
        };
        let name = sample::run(1).scenario.name;
        assert_eq!(of(1, Preset::Smoke), format!("Next: docshape run {name}\n"));
        assert_eq!(of(1, Preset::Quick), format!("Next: docshape run {name} --rounds 6\n"));
        let decided = of(8, Preset::Quick);
        assert!(decided.contains("explain results/x") || decided.contains("--vary share:"), "{decided}");
    }

    #[test]
    fn next_command_has_the_subject_and_not_the_length() {
        let of = |line: &[&str]| {
            again(&arguments(line), Preset::Quick).line().trim_start_matches("Next: ").trim_end().to_owned()
        };
        let smoke =
            ["blog-comments", "--preset", "smoke", "--rounds", "3", "--calls", "70", "--no-verify", "--out", "x"];
        assert_eq!(of(&smoke), "docshape run blog-comments");
        let line = ["./a.yaml", "--preset=smoke", "--mix", "m", "--set", "n=3", "--clients", "5", "--only", "own,rate"];
        assert_eq!(of(&line), "docshape run ./a.yaml --mix m --set n=3 --only own,rate --clients 5");
        let line = of(&["x", "--strategies", "a,b", "--isolate", "--uri", "mongodb://me:s3cret@db1/"]);
        assert_eq!(line, "docshape run x --strategies a,b --isolate --uri URI");
    }
}
