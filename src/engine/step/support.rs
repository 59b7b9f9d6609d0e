//! Whether the server knows the commands of a strategy, asked before anything is loaded.

use bson::{RawArrayBuf, RawDocumentBuf, rawdoc};

use crate::plan::{Arm, Frame, Plan, Program, Step, call_id};
use crate::results::SkippedStrategy;
use crate::server::{FailureKind, ReplyKind, Target};

use super::explain::{explainable, stripped};

/// Codes of errors about commands, stages, operators and fields that a server does not know: `CommandNotFound`,
/// `InvalidPipelineOperator`, an unknown accumulator, expression, stage, and field.
const UNKNOWN: [i32; 6] = [59, 168, 15_952, 31_325, 40_324, 40_415];
/// Codes of errors of many kinds, which only the message distinguishes: `BadValue` and `FailedToParse`.
const PERHAPS_UNKNOWN: [i32; 2] = [2, 9];
/// Releases, and what is new in them that servers of today may lack, by the name in their messages (the release notes of MongoDB's manual).
const FIRST_RELEASES: [(&str, &[&str]); 6] = [
    ("5.1", &["$densify", "$documents"]),
    ("5.2", &["$bottom", "$bottomN", "$firstN", "$lastN", "$locf", "$maxN", "$minN", "$sortArray", "$top", "$topN"]),
    ("5.3", &["$fill", "$linearFill"]),
    ("7.0", &["$median", "$percentile"]),
    ("8.0", &["$toUUID", "bulkWrite", "update.updates.sort"]),
    ("8.1", &["$rankFusion"]),
];

/// Returns the strategies with a command that the server does not know, each with the first one.
///
/// Has the server explain every command of theirs, on a database without collections, with the arguments of a sample call;
/// what earlier replies would give is null. A command without a value then is not asked about.
pub async fn unsupported(target: &impl Target, plan: &Plan, database: &str) -> Vec<SkippedStrategy> {
    let mut found = Vec::new();
    for arm in plan.arms.iter().filter(|arm| !arm.is_repeat) {
        for (place, command) in sample_commands(plan, arm) {
            if let Some(message) = refusal(target, database, &command).await {
                found.push(SkippedStrategy { name: arm.name.clone(), reason: format!("{place}: {message}") });
                break;
            }
        }
    }
    found
}

/// Returns what the server says to a command that it does not know. The stages of a pipeline are asked about one by one, because
/// one that is invalid for a null would hide those after it.
async fn refusal(target: &impl Target, database: &str, command: &RawDocumentBuf) -> Option<String> {
    explainable(command)?;
    let stripped = stripped(command);
    let Ok(pipeline) = stripped.get_array("pipeline") else { return unknown(target, database, stripped).await };
    for stage in pipeline.into_iter().flatten() {
        let mut alone = RawDocumentBuf::new();
        for (name, value) in stripped.iter().flatten() {
            match name.as_str() {
                "pipeline" => alone.append(name, RawArrayBuf::from_iter([stage])),
                _ => alone.append(name, value),
            }
        }
        if let Some(message) = unknown(target, database, alone).await {
            return Some(message);
        }
    }
    None
}

async fn unknown(target: &impl Target, database: &str, command: RawDocumentBuf) -> Option<String> {
    let explain = rawdoc! { "explain": command, "verbosity": "queryPlanner" };
    let failure = target.run(database, explain, ReplyKind::Single).await.err()?;
    let FailureKind::Server(code) = failure.kind else { return None };
    let says_so = || failure.message.contains("nknown ") || failure.message.contains("nrecognized ");
    let is_unknown = UNKNOWN.contains(&code) || (PERHAPS_UNKNOWN.contains(&code) && says_so());
    is_unknown.then(|| match first_release(&failure.message) {
        Some(release) => format!("{} (available since MongoDB {release})", failure.message.trim_end_matches('.')),
        None => failure.message,
    })
}

/// The first release with what a message names, if that is known.
fn first_release(message: &str) -> Option<&'static str> {
    let is_part_of_name = |letter: char| letter.is_alphanumeric() || letter == '$' || letter == '.';
    let mut names = message.split(|letter| !is_part_of_name(letter));
    let release = |name: &str| FIRST_RELEASES.iter().find(|(_, new)| new.contains(&name.trim_end_matches('.')));
    names.find_map(release).map(|(release, _)| *release)
}

/// Binds the commands of a strategy: each with the operation or other program that has it.
fn sample_commands(plan: &Plan, arm: &Arm) -> Vec<(String, RawDocumentBuf)> {
    let mut commands = Vec::new();
    let mut add = |place: &str, program: &Program, mut frame: Frame| {
        let mut own = Vec::new();
        bind(&program.steps, &mut frame, &mut own);
        commands.extend(own.into_iter().map(|(label, bound)| (format!("`{label}` in {place}"), bound)));
    };
    for (operation, program) in arm.operations.iter().enumerate() {
        let (seed, call) = (plan.round_seed(0), call_id::sample(operation, 0));
        if let Ok(frame) = plan.arguments(operation, seed, call, program.slots) {
            add(&plan.operations[operation].name, program, frame);
        }
    }
    let of_data = |slots| Frame::new(&plan.data, plan.data.seed, 0, slots);
    arm.load.iter().for_each(|program| add("load", program, of_data(program.slots)));
    arm.state.iter().for_each(|program| add("state", program, of_data(program.slots)));
    for audit in &arm.audits {
        add(&format!("audit {}", audit.name), &audit.program, of_data(audit.program.slots));
    }
    commands
}

/// Binds commands, nested ones included. Names get their values as far as these do not depend on replies.
fn bind<'p>(steps: &'p [Step], frame: &mut Frame, commands: &mut Vec<(&'p str, RawDocumentBuf)>) {
    Step::walk(steps, &mut |step| {
        if let Step::Command(command) = step {
            commands.extend(command.document.bind(frame).ok().map(|bound| (command.label.as_str(), bound)));
        } else if let Step::Let(assignments) = step {
            for (slot, expression) in assignments {
                if let Ok(value) = expression.evaluate(frame) {
                    frame.set(*slot, value);
                }
            }
        } else if let Step::ForEach { slot, list, .. } = step {
            let first = list.evaluate(frame).ok().and_then(|list| list.elements().ok()?.next());
            first.into_iter().for_each(|value| frame.set(*slot, value));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_release_is_found_by_the_name_in_a_message() {
        let stage = "Unrecognized pipeline stage name: '$densify'";
        let option = "BSON field 'update.updates.sort' is an unknown field.";
        assert_eq!([stage, option].map(first_release), [Some("5.1"), Some("8.0")]);
        assert_eq!(first_release("Unknown modifier: $psh. Expected a valid update modifier"), None);
    }
}
