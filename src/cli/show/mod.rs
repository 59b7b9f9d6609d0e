//! `docshape show`: the shapes and the commands of each strategy, as mongosh code.

mod code;
mod command;
mod literal;
mod names;
mod steps;

use std::fmt::Write as _;

use bson::Document;

use crate::engine::Documents;
use crate::plan::{self, Choice, Plan};
use crate::scenario::{Collection, Diagnostics, Node, Operation, Scenario, Spanned, Strategy};

use super::argument::ShowArguments;
use super::exit::{CliError, Exit};
use super::output;
use super::scenario::{Ready, prepare};

use code::Code;

/// How many documents are looked at for one whose arrays are not empty.
const LOOKED_AT: usize = 100;

/// Prints the shapes and the operations of the strategies.
///
/// # Errors
/// When the scenario cannot be used, or the text cannot be written.
pub fn show(arguments: &ShowArguments) -> Result<Exit, CliError> {
    let choice = |strategies| Choice { set: arguments.set.clone(), strategies, seed: 1, ..Choice::default() };
    let mut ready = prepare(&arguments.scenario, &choice(arguments.strategies.clone()))?;
    if arguments.strategies.is_empty() {
        // A plain choice leaves out those that are not compared by default; here all are of interest.
        let all = ready.scenario.strategies.iter().map(|strategy| strategy.name.value.clone()).collect();
        let compiled = plan::compile(&ready.scenario, &choice(all), &mut Diagnostics::new());
        ready.plan = compiled.ok().flatten().unwrap_or(ready.plan);
    }
    output::print(&text(&ready)?)?;
    Ok(Exit::Fine)
}

fn text(ready: &Ready) -> Result<String, CliError> {
    let Ready { scenario, plan, .. } = ready;
    let mut text = heading(scenario, plan);
    // The scenario has compiled, so that this finds no problems.
    let strategies = plan::inherit(&scenario.strategies, &mut Diagnostics::new());
    for arm in &plan.arms {
        if let Some(strategy) = strategies.iter().find(|strategy| strategy.name.value == arm.name) {
            text.push_str(&section(strategy, scenario, plan)?);
        }
    }
    Ok(text)
}

fn heading(scenario: &Scenario, plan: &Plan) -> String {
    let mut text = format!("// {}: {}\n", plan.name, plan.title);
    comment(&mut text, "", &plan.about);
    if !plan.parameters.is_empty() {
        text.push_str("//\n// Parameters\n");
        for (name, value) in &plan.parameters {
            comment(&mut text, "  ", &format!("{name} = {}", plan::written(value)));
        }
    }
    text.push_str("//\n// Operations, and how their arguments are drawn\n");
    for operation in &scenario.operations {
        let arguments = operation.arguments.iter();
        let drawn =
            arguments.map(|(name, value)| format!("{} = {}", name.value, literal::expression(value).layout(0, 0, 0)));
        comment(&mut text, "  ", &format!("{}({})", operation.name.value, drawn.collect::<Vec<_>>().join(", ")));
    }
    text
}

fn section(strategy: &Strategy, scenario: &Scenario, plan: &Plan) -> Result<String, CliError> {
    let control = if strategy.is_unsafe { " (a negative control: known to be wrong)" } else { "" };
    let mut text = format!("\n// ---- {}{control} ----\n", strategy.name.value);
    comment(&mut text, "", strategy.about.as_deref().unwrap_or_default());
    for collection in &strategy.collections {
        text.push('\n');
        text.push_str(&shape(collection, &strategy.name.value, plan)?);
    }
    if let Some(load) = &strategy.load {
        let _ =
            write!(text, "\n// Once, after the collections are filled\n{}", steps::function("load", &[], load, false));
    }
    for operation in &scenario.operations {
        text.push('\n');
        text.push_str(&function(operation, strategy));
    }
    Ok(text)
}

fn function(operation: &Operation, strategy: &Strategy) -> String {
    let name = &operation.name.value;
    let arguments: Vec<&str> = operation.arguments.iter().map(|(name, _)| name.value.as_str()).collect();
    match strategy.operations.iter().find(|implementation| implementation.name.value == *name) {
        Some(implementation) => steps::function(name, &arguments, &implementation.steps, operation.returns.is_some()),
        None => String::new(),
    }
}

/// One document of a collection, and its indexes.
fn shape(collection: &Collection, strategy: &str, plan: &Plan) -> Result<String, CliError> {
    let name = &collection.name.value;
    let mut text = String::new();
    match example(name, strategy, plan)? {
        Some((document, bytes)) => {
            comment(&mut text, "", &format!("{name}: {}; this one has {bytes} bytes", filling(collection)));
            let _ = writeln!(text, "{}", literal::document(&document).layout(0, 0, 0));
        }
        None => comment(&mut text, "", &format!("{name}: {}", filling(collection))),
    }
    for index in collection.indexes.iter().filter_map(Node::as_list).flatten() {
        let call = (format!("{}.createIndex", command::handle(name)), index_arguments(index));
        text.push_str(&Code::Chain(vec![call]).layout(0, 0, 0));
        text.push('\n');
    }
    Ok(text)
}

/// How many documents there are, in words.
fn filling(collection: &Collection) -> String {
    let Some(each) = &collection.each else { return "empty at first".to_owned() };
    match each.as_mapping() {
        None => format!("one document per {}", each.as_text().unwrap_or_default()),
        Some(loops) => {
            let one = |(name, list): &(Spanned<String>, Node)| {
                format!("{} of {}", name.value, literal::expression(list).layout(0, 0, 0))
            };
            format!("one document per {}", loops.iter().map(one).collect::<Vec<_>>().join(", "))
        }
    }
}

/// The first document without an empty array, or else the first one, and its size.
fn example(collection: &str, strategy: &str, plan: &Plan) -> Result<Option<(Document, usize)>, CliError> {
    let arm = plan.arms.iter().find(|arm| arm.name == strategy);
    let Some(filled) = arm.and_then(|arm| arm.collections.iter().find(|other| other.name == collection)) else {
        return Ok(None);
    };
    let failed = |error: &dyn std::fmt::Display| {
        CliError::usage(format!("no document of {collection} in strategy {strategy} can be made: {error}"))
    };
    let mut first = None;
    for raw in Documents::new(plan, filled).take(LOOKED_AT) {
        let raw = raw.map_err(|error| failed(&error))?;
        let document = Document::try_from(raw.as_ref()).map_err(|error| failed(&error))?;
        let has_empty = document.values().any(|value| value.as_array().is_some_and(Vec::is_empty));
        let made = (document, raw.as_bytes().len());
        if !has_empty {
            return Ok(Some(made));
        }
        first.get_or_insert(made);
    }
    Ok(first)
}

/// A key document alone, or `{ key, unique, ... }`.
fn index_arguments(index: &Node) -> Vec<Code> {
    let entries = index.as_mapping().unwrap_or_default();
    let key = entries.iter().find(|(name, value)| name.value == "key" && value.as_mapping().is_some());
    let Some((_, key)) = key else { return vec![literal::template(index)] };
    let options = entries.iter().filter(|(name, _)| name.value != "key");
    let options: Vec<_> =
        options.map(|(name, value)| (code::Key::Name(literal::name(&name.value)), literal::template(value))).collect();
    let mut arguments = vec![literal::template(key)];
    if !options.is_empty() {
        arguments.push(Code::Object(options));
    }
    arguments
}

/// Adds words as comment lines of at most the usual width, indented, and more so from the second line on.
fn comment(text: &mut String, indent: &str, words: &str) {
    let mut line = format!("//{indent}");
    for word in words.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > code::WIDTH {
            let _ = writeln!(text, "{line}");
            line = format!("//{indent}{indent}");
        }
        line.push(' ');
        line.push_str(word);
    }
    if !words.trim().is_empty() {
        let _ = writeln!(text, "{line}");
    }
}
