//! What a strategy does with the arguments and the result of an operation, as written.

use crate::scenario::{
    Diagnostics, EntityDefinition, Node, OperationDefinition, Scenario, Span, Spanned, StepDefinition, StepKind,
    StrategyDefinition, nearest, suggest,
};

use super::shape::was;

/// Reports results with other keys than the operation's.
pub fn check_results(scenario: &Scenario, strategies: &[StrategyDefinition], diagnostics: &Diagnostics) {
    for operation in &scenario.operations {
        for (.., steps) in programs(operation, strategies) {
            check_result(operation, steps, diagnostics);
        }
    }
}

/// The strategies' own steps of an operation, with the strategy and the place; inherited ones are those of another strategy.
fn programs<'s>(
    operation: &OperationDefinition,
    strategies: &'s [StrategyDefinition],
) -> Vec<(&'s StrategyDefinition, Span, &'s [StepDefinition])> {
    let mut found: Vec<(&StrategyDefinition, Span, &[StepDefinition])> = Vec::new();
    for strategy in strategies {
        let program = strategy.operations.iter().find(|(name, _)| name.value == operation.name.value);
        if let Some((place, steps)) =
            program.filter(|(place, _)| found.iter().all(|(_, known, _)| *known != place.span))
        {
            found.push((strategy, place.span, steps));
        }
    }
    found
}

/// Warns of strategies that do without the arguments.
pub fn check_arguments(scenario: &Scenario, strategies: &[StrategyDefinition], diagnostics: &Diagnostics) {
    for operation in &scenario.operations {
        let programs = programs(operation, strategies);
        let is_needed = |argument: &&str| programs.iter().any(|(.., steps)| is_used(argument, steps));
        let arguments = operation.arguments.iter().map(|(argument, _)| argument.value.as_str());
        let needed: Vec<&str> = arguments.filter(is_needed).collect();
        for (strategy, place, steps) in &programs {
            let parameters = scenario.parameters.iter().chain(&strategy.parameters);
            let parameters = parameters.map(|(parameter, _)| parameter.value.as_str());
            let used: Vec<&str> = parameters.filter(|parameter| is_used(parameter, steps)).collect();
            let strategy = Spanned::new(strategy.name.value.clone(), *place);
            check_program(operation, &strategy, steps, &used, &needed, &scenario.entities, diagnostics);
        }
    }
}

/// Warns of arguments of logical steps that nothing names: neither a strategy, nor another argument, nor `serial`. They look as if they
/// mattered.
pub fn check_unused(scenario: &Scenario, strategies: &[StrategyDefinition], diagnostics: &Diagnostics) {
    for operation in scenario.operations.iter().filter(|operation| !operation.does.is_empty()) {
        let programs = programs(operation, strategies);
        let text = |node: &Node| node.on_one_line(str::to_owned);
        for (argument, _) in &operation.arguments {
            let (name, of) = (&argument.value, &operation.name.value);
            let others = operation.arguments.iter().filter(|(other, _)| other.value != *name).map(|(_, value)| value);
            let is_named = others.chain(&operation.serial).any(|node| has_word(&text(node), name));
            if !is_named && !programs.iter().any(|(.., steps)| is_used(name, steps)) {
                let help = format!(
                    "remove it, or name it in `does`; fields of a new record are drawn with it, and `{name}: made.{name}` names one"
                );
                diagnostics.warn(argument.span, format!("nothing uses the argument `{name}` of `{of}`"), help);
            }
        }
    }
}

/// Warns of a strategy that takes a parameter of a similar name for an argument, or that answers without any argument, of which one is a record. Many use
/// only some, as their shape needs them. `parameters` are those that its steps use, `needed` the arguments that
/// some strategy uses.
fn check_program(
    operation: &OperationDefinition,
    strategy: &Spanned<String>,
    steps: &[StepDefinition],
    parameters: &[&str],
    needed: &[&str],
    entities: &[EntityDefinition],
    diagnostics: &Diagnostics,
) {
    let arguments = || operation.arguments.iter().map(|(argument, _)| argument.value.as_str());
    let is_blind = operation.returns.is_some() && !arguments().any(|argument| is_used(argument, steps));
    let draws = |argument: &str| {
        let value =
            operation.arguments.iter().find(|(name, _)| name.value == argument).and_then(|(_, value)| value.as_text());
        value.is_some_and(|value| entities.iter().any(|entity| has_word(value, &entity.name.value)))
    };
    for argument in arguments().filter(|argument| needed.contains(argument) && !is_used(argument, steps)) {
        let near = parameters.iter().find(|parameter| suggest(parameter, [argument]).is_some());
        let help = match near {
            Some(near) => format!("did you mean `{argument}` where it uses parameter `{near}`?"),
            None if is_blind && draws(argument) => "its result cannot depend on any argument".to_owned(),
            None => continue,
        };
        let message =
            format!("strategy `{}` never uses argument `{argument}` of `{}`", strategy.value, operation.name.value);
        diagnostics.warn(strategy.span, message, help);
    }
}

/// Reports keys of a `return` that `returns` does not have, and keys of `returns` that are missing.
fn check_result(operation: &OperationDefinition, steps: &[StepDefinition], diagnostics: &Diagnostics) {
    let Some(declared) = operation.returns.as_ref().and_then(Node::as_mapping) else { return };
    // `{ set: T }` and `{ was: T, within: N }` are types of the whole result.
    let known: Vec<&str> = declared.iter().map(|(key, _)| key.value.as_str()).collect();
    if known == ["set"] || was(declared).is_some() {
        return;
    }
    StepDefinition::walk(steps, &mut |kind| {
        let StepKind::Return(value) = kind else { return };
        let Some(entries) = value.as_mapping() else { return };
        let unknown = entries.iter().find(|(key, _)| !known.contains(&key.value.as_str()));
        let name = &operation.name.value;
        if let Some((key, _)) = unknown {
            let message = format!("`returns` of `{name}` has no key `{}`", key.value);
            return diagnostics.error(key.span, message, nearest(&key.value, &known));
        }
        if let Some(missing) = known.iter().find(|known| entries.iter().all(|(key, _)| key.value != **known)) {
            let message = format!("missing key `{missing}` of the result of `{name}`");
            diagnostics.error(value.span, message, format!("`returns` has it: add `{missing}: null` if there is none"));
        }
    });
}

/// Whether steps name a variable: in an expression, or in a slot of a template.
fn is_used(name: &str, steps: &[StepDefinition]) -> bool {
    let mut found = false;
    let mut expression = |node: &Node| {
        node.walk(None, &mut |_, inner| {
            found |= inner.as_text().is_some_and(|text| has_word(text, name));
            true
        });
    };
    StepDefinition::walk(steps, &mut |kind| match kind {
        StepKind::Let(assignments) => assignments.iter().for_each(|(_, value)| expression(value)),
        StepKind::If { condition: node, .. }
        | StepKind::While { condition: node, .. }
        | StepKind::ForEach { list: node, .. }
        | StepKind::RetryIf(node)
        | StepKind::Abort(node)
        | StepKind::Return(node) => expression(node),
        _ => {}
    });
    let mut template = |node: &Node| {
        node.walk(None, &mut |key, inner| {
            let is_expression = key == Some("forEach");
            if is_expression {
                inner.walk(None, &mut |_, list| {
                    found |= list.as_text().is_some_and(|text| has_word(text, name));
                    true
                });
            }
            let texts = key.into_iter().chain(inner.as_text());
            found |= texts.filter(|text| text.contains('<')).any(|text| has_word(text, name));
            true
        });
    };
    let mut options = |options: &[(Spanned<String>, Node)]| options.iter().for_each(|(_, node)| template(node));
    let mut names = Vec::new();
    let mut lists = Vec::new();
    StepDefinition::walk(steps, &mut |kind| match kind {
        StepKind::Command { collection, options: given, .. } => {
            names.push(collection);
            options(given);
        }
        StepKind::BulkWrite(bulk) => {
            names.push(&bulk.collection);
            for request in &bulk.requests {
                lists.extend(request.lists());
                options(request.command().1);
            }
        }
        StepKind::Raw { command, .. } => command.as_mapping().into_iter().for_each(&mut options),
        _ => {}
    });
    found
        || names.iter().any(|collection| collection.value.contains('<') && has_word(&collection.value, name))
        || lists.iter().any(|list| list.as_text().is_some_and(|text| has_word(text, name)))
}

/// Whether a word is in a text, not as a part of another one.
fn has_word(text: &str, word: &str) -> bool {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|part| part == word)
}

#[cfg(test)]
mod tests {
    use super::super::{Choice, compile};
    use crate::scenario::{Diagnostics, Source, read};

    /// The problems of an operation with these steps in strategy `b`.
    fn messages(steps: &str) -> Vec<String> {
        let text = format!(
            "format: 1\nname: test\ntitle: Test\nparameters: {{ posts: 9, size: 2 }}\nentities:\n  \
             post: {{ count: posts, fields: {{ _id: index, title: words(2), at: clock() }} }}\noperations:\n  read:\n    \
             arguments: {{ post: zipf(post), from: '3' }}\n    returns: {{ title: value, at: value }}\n\
             mixes: {{ default: {{ read: 1 }} }}\nstrategies:\n  a: &a\n    collections: {{ posts: {{ each: post }} }}\n    \
             operations: {{ read: [{{ findOne: posts, filter: {{ _id: <post>, at: {{ $gt: <from> }} }} }}, \
             {{ return: {{ title: reply.title, at: reply.at }} }}] }}\n  b:\n    collections: {{ posts: {{ each: post }} }}\n    \
             operations: {{ read: {steps} }}\n"
        )
        .replace(" &a", "");
        let diagnostics = Diagnostics::new();
        let scenario = read(&Source::new("test.yaml", text), &diagnostics).unwrap();
        compile(&scenario, &Choice::default(), &diagnostics).unwrap();
        diagnostics.iter().map(|one| one.message.clone()).collect()
    }

    fn by(filter: &str, result: &str) -> Vec<String> {
        messages(&format!("[{{ findOne: posts, filter: {{ {filter} }} }}, {{ return: {result} }}]"))
    }

    const RESULT: &str = "{ title: reply.title, at: reply.at }";

    #[test]
    fn keys_of_results_are_those_of_returns() {
        for (result, message) in [
            ("{ titel: reply.title, at: reply.at }", "`returns` of `read` has no key `titel`"),
            ("{ title: reply.title, at: reply.at, n: 1 }", "`returns` of `read` has no key `n`"),
            ("{ title: reply.title }", "missing key `at` of the result of `read`"),
        ] {
            assert_eq!(by("_id: <post>", result), [message], "{result}");
        }
        for result in [RESULT, "reply", "null", "\"{'title': 1, 'at': 2}\""] {
            assert_eq!(by("_id: <post>", result), [""; 0], "{result}");
        }
    }

    #[test]
    fn strategies_without_the_arguments_are_reported() {
        let unused = |argument: &str| format!("strategy `b` never uses argument `{argument}` of `read`");
        assert_eq!(by("_id: <posts>", RESULT), [unused("post")]);
        assert_eq!(by("_id: 3", RESULT), [unused("post")]);
        assert_eq!(by("_id: <posts>, at: <from>", RESULT), [unused("post")], "a parameter instead");
        for filter in ["_id: <post>", "_id: { $lt: <from> }", "_id: <post._id>, title: <size>"] {
            assert_eq!(by(filter, RESULT), [""; 0], "{filter}");
        }
        let computed = format!(
            "[{{ let: {{ p: post._id }} }}, {{ findOne: posts, filter: {{ _id: <p> }} }}, {{ return: {RESULT} }}]"
        );
        assert_eq!(messages(&computed), [""; 0]);
    }

    #[test]
    fn filters_on_fields_that_nothing_writes_are_reported() {
        let nothing = |field: &str| format!("nothing writes `{field}`, which a filter compares");
        for (filter, field) in [
            ("id: <post>", "id"),
            ("_id: <post>, tilte: x", "tilte"),
            ("$or: [{ _id: <post> }, { titel: x }]", "titel"),
            ("_id: <post>, title.fisrt: x", "fisrt"),
        ] {
            assert_eq!(by(filter, RESULT), [nothing(field)], "{filter}");
        }
        let first = "[{ aggregate: posts, pipeline: [{ $match: { id: <post> } }] }, { return: null }]";
        assert_eq!(messages(first), [nothing("id")]);
        let bulk = "[{ bulkWrite: posts, requests: [{ deleteOne: { filter: { id: <post> } } }] }, { return: null }]";
        assert_eq!(messages(bulk), [nothing("id")]);
        for steps in [
            "[{ aggregate: posts, pipeline: [{ $set: { t: 1 } }, { $match: { t: <post> } }] }, { return: null }]",
            "[{ updateOne: posts, filter: { _id: <post> }, update: { $set: { t: 1 } } }, { find: posts, filter: { t: 1 } }, { return: null }]",
        ] {
            assert_eq!(messages(steps), [""; 0], "{steps}");
        }
    }

    #[test]
    fn arguments_of_logical_steps_are_for_something() {
        let text = "format: 1\nname: test\ntitle: Test\nentities:\n  patient: { count: 2, fields: { _id: index } }\n  visit: { count: 2, fields: { _id: \
                    oid(), patient: uniform(patient) } }\noperations:\n  book: { arguments: { made: new(visit), patient: uniform(patient) }, does: \
                    { create: made } }\n  see: { arguments: { patient: uniform(patient) }, does: { get: patient } }\n\
                    mixes: { default: { book: 1, see: 1 } }\nstrategies: { a: { shape: {} } }\n";
        let diagnostics = Diagnostics::new();
        let scenario = read(&Source::new("test.yaml", text), &diagnostics).unwrap();
        compile(&scenario, &Choice::default(), &diagnostics).unwrap();
        let messages: Vec<String> = diagnostics.iter().map(|one| one.message).collect();
        assert_eq!(messages, ["nothing uses the argument `patient` of `book`"]);
    }
}
