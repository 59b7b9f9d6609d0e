//! Whether the server knows the commands of a strategy, asked before anything is loaded.

use bson::{RawArrayBuf, RawDocument, RawDocumentBuf, rawdoc};

use crate::engine::run::loader::{create_command, indexes};
use crate::plan::feature::{FeatureKind, later_option, later_release};
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
        if let Some(reason) = later_collection(plan, arm, version) {
            found.skipped.push(SkippedStrategy { name: arm.name.clone(), reason });
        }
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

/// Returns the first option of a strategy's collections and indexes that only a later release knows. The server explains no
/// `create`.
fn later_collection(plan: &Plan, arm: &Arm, version: &str) -> Option<String> {
    arm.collections.iter().find_map(|collection| {
        let later = |kind: FeatureKind, document: &RawDocument| {
            let (name, since) = later_field(kind, document, version)?;
            let kind = kind.word();
            Some(format!("{kind} `{name}` of {} (available since MongoDB {since})", collection.name))
        };
        let create = create_command(plan, collection).ok();
        create.and_then(|create| later(FeatureKind::Collection, &create)).or_else(|| {
            let indexes = indexes(plan, collection).unwrap_or_default();
            indexes.iter().find_map(|index| later(FeatureKind::Index, index))
        })
    })
}

/// The first field of a document, or of a document in it, that only a later release knows; of a key, only if it is one of several.
fn later_field(kind: FeatureKind, document: &RawDocument, version: &str) -> Option<(String, &'static str)> {
    document.iter().flatten().find_map(|(name, value)| {
        let inner = value.as_document().filter(|inner| name.as_str() != "key" || inner.iter().count() > 1);
        let inner = inner.into_iter().flat_map(RawDocument::iter).flatten();
        let mut names = std::iter::once(name.to_string()).chain(inner.map(|(inner, _)| format!("{name}.{inner}")));
        names.find_map(|name| Some((later_option(kind, &name, version)?, name))).map(|(since, name)| (name, since))
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_collections_and_indexes_have_their_release() {
        let series = rawdoc! { "create": "c", "timeseries": { "timeField": "at", "bucketMaxSpanSeconds": 60 } };
        let clustered = rawdoc! { "create": "c", "clusteredIndex": { "key": { "_id": 1 }, "unique": true } };
        let [wildcard, compound] =
            [rawdoc! { "$**": 1 }, rawdoc! { "a": 1, "$**": 1 }].map(|key| rawdoc! { "key": key, "name": "n" });
        let found = |kind, document: &RawDocumentBuf, version| later_field(kind, document, version);
        let some = |name: &str, since| Some((name.to_owned(), since));
        assert_eq!(found(FeatureKind::Collection, &series, "6.0.5"), some("timeseries.bucketMaxSpanSeconds", "6.3"));
        assert_eq!(found(FeatureKind::Collection, &clustered, "5.0.9"), some("clusteredIndex", "5.3"));
        assert_eq!(found(FeatureKind::Index, &compound, "6.0.5"), some("key.$**", "7.0"));
        for (kind, document, version) in [
            (FeatureKind::Collection, &series, "7.0.1"),
            (FeatureKind::Collection, &clustered, "6.0.5"),
            (FeatureKind::Index, &wildcard, "6.0.5"),
            (FeatureKind::Index, &compound, "7.0.0"),
        ] {
            assert_eq!(found(kind, document, version), None, "{document:?}");
        }
    }
}
