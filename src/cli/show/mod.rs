//! `docshape show`: the shapes and the commands of each strategy, as mongosh code.

mod cel;
mod code;
mod command;
mod helper;
mod literal;
mod names;
mod scope;
mod steps;
mod value;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use bson::Document;

use crate::engine::Documents;
use crate::plan::{self, Arm, Choice, EvalError, Implicit, Plan, Shape, Value};
use crate::scenario::{Collection, Diagnostics, Node, Operation, Scenario, Spanned, Strategy};

use super::argument::ShowArguments;
use super::exit::{CliError, Exit};
use super::output;
use super::scenario::{Ready, prepare};

use code::Code;
use scope::{Context, Scope};

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
    output::print(&text(&ready, arguments.call)?)?;
    Ok(Exit::Fine)
}

fn text(ready: &Ready, call: u64) -> Result<String, CliError> {
    let Ready { scenario, plan, .. } = ready;
    let mut text = heading(scenario, plan);
    // The scenario has compiled, so that this finds no problems.
    let strategies = plan::inherit(&scenario.strategies, &mut Diagnostics::new());
    for arm in &plan.arms {
        if let Some(strategy) = strategies.iter().find(|strategy| strategy.name.value == arm.name) {
            text.push_str(&section((strategy, arm), scenario, plan, call)?);
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
    text.push_str("//\n");
    comment(
        &mut text,
        "",
        "Each strategy can be pasted into mongosh, in a database of its own. Where docshape makes an outcome of the reply \
         of a write, mongosh gives the reply.",
    );
    text.push_str("//\n// Operations, and how their arguments are drawn\n");
    for operation in &scenario.operations {
        let arguments = operation.arguments.iter();
        let drawn = arguments.map(|(name, value)| format!("{} = {}", name.value, literal::written(value)));
        comment(&mut text, "  ", &format!("{}({})", operation.name.value, drawn.collect::<Vec<_>>().join(", ")));
    }
    text
}

fn section(
    (strategy, arm): (&Strategy, &Arm),
    scenario: &Scenario,
    plan: &Plan,
    call: u64,
) -> Result<String, CliError> {
    let control = if strategy.is_unsafe { " (a negative control: known to be wrong)" } else { "" };
    let mut text = format!("\n// ---- {}{control} ----\n", strategy.name.value);
    comment(&mut text, "", strategy.about.as_deref().unwrap_or_default());
    let (mut helpers, mut parameters) = (BTreeSet::new(), BTreeSet::new());
    let mut code = String::new();
    if let (Some(load), Some(program)) = (&strategy.load, &arm.load) {
        let context = Context::new(plan);
        let function = |context| steps::function("load", &[], load, program.implicit, Scope::new(context, &[]));
        let _ = write!(code, "\n// Once, after the collections are filled\n{}", function(&context));
        helpers.extend(context.helpers());
        parameters.extend(context.parameters());
    }
    let mut calls = String::new();
    for (position, operation) in scenario.operations.iter().enumerate() {
        let shown = example_call(plan, (position, &arm.operations[position]), call)
            .map_err(|error| CliError::usage(format!("call {call} cannot be drawn: {error}")))?;
        let context = Context::new(plan);
        // The first time tells which records are read further than their ids.
        function((operation, strategy), arm.operations[position].implicit, &shown, &context);
        let context = context.again();
        let made = function((operation, strategy), arm.operations[position].implicit, &shown, &context);
        let _ = write!(code, "\n{made}");
        let arguments = shown.iter().map(|(name, value)| value::argument(value, name, &context)).collect();
        let call = Code::Chain(vec![(helper::named(&operation.name.value), arguments)]);
        let _ = writeln!(calls, "{}", call.layout(0, 0, 0));
        helpers.extend(context.helpers());
        parameters.extend(context.parameters());
    }
    let constants = constants(strategy, plan, &parameters);
    if !constants.is_empty() {
        let _ = write!(text, "\n{constants}");
    }
    text.push_str(&helper::code(&helpers));
    for collection in &strategy.collections {
        text.push('\n');
        text.push_str(&shape(collection, (&strategy.name.value, plan))?);
    }
    text.push_str(&code);
    let _ = write!(text, "\n// Every operation once, with arguments as docshape draws them\n{calls}");
    Ok(text)
}

/// The parameters that the steps of a strategy name, with its own values.
fn constants(strategy: &Strategy, plan: &Plan, named: &BTreeSet<String>) -> String {
    let context = Context::new(plan);
    let scope = Scope::new(&context, &[]);
    let mut own = String::new();
    for (name, value) in &strategy.parameters {
        let _ = writeln!(own, "const {} = {}", helper::named(&name.value), literal::result(value, &scope).flat());
    }
    let is_own = |name: &str| strategy.parameters.iter().any(|(own, _)| own.value == *name);
    // A strategy's own values may be made of others.
    let used = |name: &str| named.contains(name) || context.parameters().contains(name);
    let mut text = String::new();
    for (name, value) in plan.parameters.iter().filter(|(name, _)| used(name) && !is_own(name)) {
        let _ = writeln!(text, "const {} = {}", helper::named(name), value::exact(value).flat());
    }
    text + &own
}

/// The arguments of a call of an operation.
fn example_call(
    plan: &Plan,
    (operation, program): (usize, &plan::Program),
    call: u64,
) -> Result<Vec<(String, Value)>, EvalError> {
    // Numbers of their own, so that two operations that make a new record do not make the same one.
    let frame = plan.arguments(operation, plan.round_seed(0), plan::alone(operation, call), program.slots)?;
    let arguments = plan.operations[operation].arguments.iter();
    Ok(arguments.map(|argument| (argument.name.to_string(), frame.slot(argument.slot).clone())).collect())
}

fn function(
    (operation, strategy): (&Operation, &Strategy),
    implicit: Implicit,
    arguments: &[(String, Value)],
    context: &Context,
) -> String {
    let name = &operation.name.value;
    let names: Vec<&str> = arguments.iter().map(|(name, _)| name.as_str()).collect();
    let mut scope = Scope::new(context, arguments);
    let returns =
        context.plan.operations.iter().find(|known| *known.name == **name).and_then(|known| known.returns.as_ref());
    scope.returns_records = match returns {
        Some(Shape::List(inner) | Shape::Set(inner)) => matches!(**inner, Shape::Entity(_)),
        other => matches!(other, Some(Shape::Entity(_))),
    };
    match strategy.operations.iter().find(|implementation| implementation.name.value == *name) {
        Some(found) => steps::function(name, &names, &found.steps, implicit, scope),
        None => String::new(),
    }
}

/// One document of a collection, and its indexes.
fn shape(collection: &Collection, (strategy, plan): (&str, &Plan)) -> Result<String, CliError> {
    let name = &collection.name.value;
    let mut text = String::new();
    match example(name, strategy, plan)? {
        Some((document, bytes)) => {
            comment(&mut text, "", &format!("{name}: {}; this one has {bytes} bytes", filling(collection)));
            // As a comment: what is shortened is no document to store, and alone it would be no statement.
            for line in literal::document(&document).layout(0, 3, 0).lines() {
                let _ = writeln!(text, "// {line}");
            }
        }
        None => comment(&mut text, "", &format!("{name}: {}", filling(collection))),
    }
    let context = Context::new(plan);
    let scope = Scope::new(&context, &[]);
    for index in collection.indexes.iter().filter_map(Node::as_list).flatten() {
        let handle = command::handle("db", name, &scope);
        let call = (format!("{handle}.createIndex"), index_arguments(index, &scope));
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
            let one = |(name, list): &(Spanned<String>, Node)| format!("{} of {}", name.value, literal::written(list));
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
fn index_arguments(index: &Node, scope: &Scope) -> Vec<Code> {
    let entries = index.as_mapping().unwrap_or_default();
    let key = entries.iter().find(|(name, value)| name.value == "key" && value.as_mapping().is_some());
    let Some((_, key)) = key else { return vec![literal::template(index, scope)] };
    let options = entries.iter().filter(|(name, _)| name.value != "key");
    let options: Vec<_> = options
        .map(|(name, value)| (code::Key::Name(literal::name(&name.value)), literal::template(value, scope)))
        .collect();
    let mut arguments = vec![literal::template(key, scope)];
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
