//! What to run after a smoke run.

use crate::results::{Preset, RunSettings};

use super::RunArguments;

/// The preset after a smoke run: the default.
const NEXT: Preset = Preset::Quick;

/// Options of the length of a run, which a longer preset sets.
const LENGTH: [&str; 5] = ["preset", "rounds", "slices", "duration", "calls"];

/// The words of the same command with the next preset: without the options of a smoke run.
pub fn next_command(arguments: &RunArguments) -> Vec<String> {
    let subject = &arguments.study.subject;
    let mut words = vec!["docshape".to_owned(), "run".to_owned()];
    words.extend(arguments.study.scenario.clone());
    let mut option = |name: &str, value: &str| {
        words.push(format!("--{name}"));
        words.extend((!value.is_empty()).then(|| value.to_owned()));
    };
    if !subject.strategies.is_empty() {
        option("strategies", &subject.strategies.join(","));
    }
    if subject.all_strategies {
        option("all-strategies", "");
    }
    subject.mix.iter().for_each(|mix| option("mix", mix));
    subject.set.iter().for_each(|(name, value)| option("set", &format!("{name}={value}")));
    subject.write_concern.iter().for_each(|members| option("write-concern", members));
    let usual = RunSettings::of(NEXT).table();
    let given = arguments.settings().table().into_iter().filter(|setting| !LENGTH.contains(&setting.option));
    for setting in given.filter(|setting| !usual.contains(setting)) {
        setting.values.iter().for_each(|value| option(setting.option, value));
    }
    // The string may contain a password.
    if arguments.study.server.uri.is_some() {
        option("uri", "URI");
    }
    words
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::command_line::{Arguments, CliCommand};

    fn arguments(line: &[&str]) -> RunArguments {
        match Arguments::try_parse_from([&["docshape", "run"], line].concat()).unwrap().command {
            CliCommand::Run(arguments) => *arguments,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn next_command_has_the_subject_and_not_the_length() {
        let of = |line: &[&str]| next_command(&arguments(line)).join(" ");
        let smoke =
            ["blog-comments", "--preset", "smoke", "--rounds", "3", "--calls", "70", "--no-verify", "--out", "x"];
        assert_eq!(of(&smoke), "docshape run blog-comments");
        let line = ["./a.yaml", "--preset=smoke", "--mix", "m", "--set", "n=3", "--clients", "5", "--only", "own,rate"];
        assert_eq!(of(&line), "docshape run ./a.yaml --mix m --set n=3 --only own,rate --clients 5");
        let line = of(&["x", "--strategies", "a,b", "--isolate", "--uri", "mongodb://me:s3cret@db1/"]);
        assert_eq!(line, "docshape run x --strategies a,b --isolate --uri URI");
    }
}
