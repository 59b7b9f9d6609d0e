//! Whether the server knows the commands of a strategy, asked before anything is loaded.

use bson::{RawArrayBuf, RawDocumentBuf, rawdoc};

use crate::plan::feature::later_release;
use crate::plan::{Arm, Frame, Plan, Program, Step, call_id};
use crate::results::SkippedStrategy;
use crate::server::{FailureKind, ReplyKind, Target};

use super::explain::{explainable, stripped};

/// Codes of errors about commands, stages, operators and fields that a server does not know: `CommandNotFound`,
/// `InvalidPipelineOperator`, an unknown accumulator, expression, stage, and field.
const UNKNOWN: [i32; 6] = [59, 168, 15_952, 31_325, 40_324, 40_415];

/// What the server refuses of the strategies, whatever the values.
#[derive(Debug, Default)]
pub struct Refusals {
    /// The strategies with a name that only a later release knows, each with the first one.
    pub skipped: Vec<SkippedStrategy>,
    /// What no release knows, with its place: mistakes of the scenario.
    pub mistakes: Vec<String>,
}

/// Returns what a server of this version does not know of the commands of the strategies.
///
/// Has the server explain every command of theirs, on a database without collections, with the arguments of a sample call;
/// what earlier replies would give is null. A command without a value then is not asked about.
pub async fn refusals(target: &impl Target, plan: &Plan, database: &str, version: &str) -> Refusals {
    let mut found = Refusals::default();
    for arm in plan.arms.iter().filter(|arm| !arm.is_repeat) {
        for sample in sample_commands(plan, arm) {
            let Some(message) = refusal(target, database, &sample.command).await else { continue };
            let message = message.trim_end_matches('.');
            let Some(since) = later_release(message, version) else {
                found.mistakes.push(format!("{}: {} of strategy {}: {message}", sample.line, sample.place, arm.name));
                continue;
            };
            if found.skipped.iter().all(|one| one.name != arm.name) {
                let reason = format!("{}: {message} (available since MongoDB {since})", sample.place);
                found.skipped.push(SkippedStrategy { name: arm.name.clone(), reason });
            }
        }
    }
    // One mistake may be in several strategies, by `like`.
    found.mistakes.dedup();
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
    let says_so = || ["nknown ", "nrecognized "].iter().any(|word| failure.message.contains(word));
    (UNKNOWN.contains(&code) || says_so()).then_some(failure.message)
}

/// A command with the values of a sample call.
struct SampleCommand {
    /// The command and what has it, such as `` `find posts` in read ``.
    place: String,
    /// The file and line of its step.
    line: String,
    command: RawDocumentBuf,
}

/// Binds the commands of a strategy.
fn sample_commands(plan: &Plan, arm: &Arm) -> Vec<SampleCommand> {
    let mut commands = Vec::new();
    let mut add = |place: &str, program: &Program, mut frame: Frame| {
        bind(&program.steps, &mut frame, &mut |step, label, command| {
            let line = program.places.0.get(step).cloned().unwrap_or_default();
            commands.push(SampleCommand { place: format!("`{label}` in {place}"), line, command });
        });
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

/// Binds commands, nested ones included, each with the position of its place and its label. Names get their values as far as these
/// do not depend on replies.
fn bind(steps: &[Step], frame: &mut Frame, add: &mut dyn FnMut(usize, &str, RawDocumentBuf)) {
    let mut place = 0;
    Step::walk(steps, &mut |step| {
        if let Step::At(at) = step {
            place = *at;
        } else if let Step::Command(command) = step {
            command.document.bind(frame).into_iter().for_each(|bound| add(place, &command.label, bound));
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
