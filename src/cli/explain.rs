//! `docshape explain`: why one strategy is slower than another in one operation.

use std::path::PathBuf;

use clap::Args;

use crate::compile::compile;
use crate::plan::{Plan, Step};
use crate::report::run::explain::ExplainedPair;
use crate::report::{Report, plain};
use crate::results::{self, RunRecord, StudyKind};
use crate::scenario::{self, Diagnostics, Source, suggest};

use super::argument::{ReportFormat, one_of};
use super::exit::{CliError, Exit};
use super::output;
use super::report::in_format;
use super::run::resume;

/// `explain`.
#[derive(Debug, Clone, Args)]
pub struct ExplainArguments {
    /// A run folder, or its run.json
    pub run: PathBuf,
    /// The operation [default: the one that makes most of the difference]
    pub operation: Option<String>,
    /// Two strategies [default: the winner, and the slowest that the verdict names]
    #[arg(long, value_name = "A,B", value_delimiter = ',', num_args = 1)]
    pub strategies: Vec<String>,
    /// Output format
    #[arg(long, value_name = "NAME", default_value = "terminal", value_parser = one_of([ReportFormat::Terminal, ReportFormat::Markdown, ReportFormat::Json]))]
    pub format: ReportFormat,
}

/// Sets a step in by two spaces that no form of a report drops.
const INDENT: &str = "\u{a0}\u{a0}";

/// Prints the commands, query plans and own costs of one operation with two strategies.
///
/// # Errors
/// When there is no such run, operation or strategy, or the run has no own costs.
pub fn explain(arguments: &ExplainArguments) -> Result<Exit, CliError> {
    if let Some(other) = StudyKind::of(&arguments.run).ok().filter(|kind| *kind != StudyKind::Run) {
        return Err(CliError::usage(format!("{other} has no operations to explain; name the folder of a run")));
    }
    let record = results::load(&arguments.run)?;
    let operations: Vec<&str> = record.operations.iter().map(String::as_str).collect();
    let names: Vec<&str> = record.strategies.iter().map(|one| one.name.as_str()).collect();
    let operation = arguments.operation.as_deref().map(|name| find("operation", name, &operations)).transpose()?;
    let chosen = arguments.strategies.iter().map(|name| find("strategy", name, &names));
    let pair = match chosen.collect::<Result<Vec<usize>, _>>()?[..] {
        [] => None,
        [one, other] if one != other => Some([one, other]),
        _ => return Err(CliError::usage("--strategies needs two different strategies, such as --strategies a,b")),
    };
    let subject = ExplainedPair::new(&record, pair, operation)
        .map_err(|reason| CliError::usage(format!("{}: {reason}", arguments.run.display())))?;
    let report = Report::of_explanation(&record, subject, commands(&record, subject));
    let text = in_format(&report, arguments.format, true).unwrap_or_default();
    output::print(&text).map(|()| Exit::Success)
}

/// The position of a name.
fn find(what: &str, name: &str, known: &[&str]) -> Result<usize, CliError> {
    known.iter().position(|one| *one == name).ok_or_else(|| {
        let guess = suggest(name, known.iter().copied()).map(|near| format!("did you mean `{near}`? "));
        let (guess, all) = (guess.unwrap_or_default(), known.join(", "));
        CliError::usage(plain(&format!("unknown {what} `{name}`: {guess}this run has {all}")))
    })
}

/// The commands of the operation, from the scenario's text; none for a strategy that today's docshape does not compile.
fn commands(record: &RunRecord, subject: ExplainedPair) -> [Vec<String>; 2] {
    let names = subject.pair.map(|strategy| record.strategies[strategy].name.clone());
    let plan = plan(record);
    names.map(|name| {
        let of = |plan: &Plan| {
            let arm = plan.arms.iter().find(|arm| arm.name == name)?;
            let operation = &record.operations[subject.operation];
            let place = plan.operations.iter().position(|one| *one.name == **operation)?;
            let mut lines = Vec::new();
            outline(&arm.operations[place].steps, 0, &mut lines);
            Some(lines)
        };
        plan.as_ref().and_then(of).unwrap_or_default()
    })
}

fn plan(record: &RunRecord) -> Option<Plan> {
    let source = Source::new(record.scenario.name.as_str(), record.scenario.text.as_str());
    let scenario = scenario::read(&source, &Diagnostics::new())?;
    compile(&scenario, &resume::choice(record), &Diagnostics::new()).ok().flatten()
}

/// Writes the commands of steps, those inside of others set in.
fn outline(steps: &[Step], depth: usize, lines: &mut Vec<String>) {
    for step in steps {
        let label = match step {
            Step::Command(command) => Some(command.label.clone()),
            Step::Bulk(bulk) => Some(bulk.label.clone()),
            Step::If { .. } => Some("if".to_owned()),
            Step::ForEach { .. } => Some("for each".to_owned()),
            Step::While(step) => Some(step.label.clone()),
            Step::Retry(_) => Some("retry".to_owned()),
            Step::Transaction { .. } => Some("transaction".to_owned()),
            Step::Try { .. } => Some("try".to_owned()),
            _ => None,
        };
        let before = lines.len();
        lines.extend(label.map(|label| format!("{}{}", INDENT.repeat(depth), plain(&label))));
        step.bodies().into_iter().for_each(|body| outline(body, depth + 1, lines));
        // A branch without commands is of no interest.
        if lines.len() == before + 1 && !matches!(step, Step::Command(_) | Step::Bulk(_)) {
            lines.pop();
        }
    }
}
