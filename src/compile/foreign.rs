//! What a scenario must not do: write outside of the databases that docshape makes, or change the server.
//!
//! Scenarios are files that people share. The names of stages and commands, and what `$out` and `$merge` write, must therefore
//! stand in the file: a value that is known only while it runs could be anything.

use crate::scenario::{Diagnostics, Node, Scalar, Span, Spanned, Tree};

use super::known_names::check_names_in;

/// The commands that a step `command:` may send. They concern the database that they are sent to, and only read and write
/// collections and indexes.
const COMMANDS: &str = "aggregate collMod collStats count create createIndexes dbStats delete distinct drop \
                       dropIndexes find findAndModify getMore hello insert listCollections listIndexes ping update";

/// What the names of docshape's own collections begin with: without its mark, a database is not docshape's to drop.
const OWN: &str = "docshape.";

/// Reports a collection that is docshape's own.
pub fn check_collection(name: &str, span: Span, diagnostics: &Diagnostics) {
    if name.starts_with(OWN) {
        let message = format!("`{name}` is a collection of docshape itself");
        diagnostics.error(span, message, format!("choose a name that does not begin with `{OWN}`"));
    }
}

/// Reports stages that write into other databases, or could.
pub fn check_pipeline(pipeline: &Node, diagnostics: &Diagnostics) {
    check_sources(pipeline, diagnostics);
    match &pipeline.tree {
        Tree::List(stages) => stages.iter().for_each(|stage| check_stage(stage, diagnostics)),
        Tree::Scalar(_) | Tree::Mapping(_) => hidden(pipeline, "stages of a pipeline", diagnostics),
    }
}

/// Reports stages that read a collection which is no text, such as `{ db, coll }`: one of another database.
fn check_sources(pipeline: &Node, diagnostics: &Diagnostics) {
    pipeline.walk(None, &mut |key, node| {
        let source = match key {
            Some("$lookup" | "$graphLookup") => node.get("from"),
            Some("$unionWith") => node.get("coll"),
            _ => None,
        };
        if let (Some(stage), Some(source)) = (key, source.filter(|source| source.as_text().is_none())) {
            let message = format!("`{stage}` reads only collections of the strategy's own database");
            diagnostics.error(source.span, message, "name a collection of the strategy, as in `from: posts`");
        }
        key != Some("$literal")
    });
}

/// Reports commands that a scenario may not send.
pub fn check_command(command: &Node, diagnostics: &Diagnostics) {
    let Tree::Mapping(fields) = &command.tree else {
        return hidden(command, "command", diagnostics);
    };
    if let Some((key, _)) = fields.iter().find(|(key, _)| is_open(key) || key.value.starts_with('$')) {
        let help = "write the fields of the command out; slots may be in their values";
        return diagnostics.error(key.span, format!("`{}` cannot be a field of a command here", key.value), help);
    }
    match fields.first() {
        Some((name, _)) if COMMANDS.split(' ').all(|command| command != name.value) => {
            let help = "a scenario may only read and write its own database; docs/format.md lists the commands";
            diagnostics.error(name.span, format!("`{}` is not a command that a scenario may send", name.value), help);
        }
        Some((_, Node { tree: Tree::Scalar(Scalar::Text(collection)), span })) => {
            check_collection(collection, *span, diagnostics);
        }
        Some(_) | None => {}
    }
    fields.iter().for_each(|(option, value)| check_names_in(&option.value, value, diagnostics));
    if let Some(pipeline) = command.get("pipeline").filter(|_| fields[0].0.value == "aggregate") {
        check_pipeline(pipeline, diagnostics);
    }
}

fn check_stage(stage: &Node, diagnostics: &Diagnostics) {
    let Tree::Mapping(fields) = &stage.tree else {
        return hidden(stage, "stage", diagnostics);
    };
    if let Some(item) = stage.get("forEach").and(stage.get("item")) {
        return check_stage(item, diagnostics);
    }
    for (name, value) in fields {
        match name.value.as_str() {
            _ if is_open(name) => {
                let help = "write the name of the stage out; slots may be in its value";
                diagnostics.error(name.span, format!("`{}` cannot be the name of a stage", name.value), help);
            }
            "$out" => check_target(value, "$out", diagnostics),
            "$merge" => match &value.tree {
                Tree::Mapping(fields) if fields.iter().any(|(key, _)| is_open(key)) => {
                    hidden(value, "fields of `$merge`", diagnostics);
                }
                Tree::Mapping(_) => {
                    value.get("into").into_iter().for_each(|into| check_target(into, "$merge", diagnostics))
                }
                Tree::Scalar(_) | Tree::List(_) => check_target(value, "$merge", diagnostics),
            },
            _ => value.walk(None, &mut |key, inner| {
                if let Some(word) = key.filter(|key| ["$out", "$merge"].contains(key)) {
                    let help = "the server allows it as the last stage of a pipeline only";
                    diagnostics.error(inner.span, format!("`{word}` inside of `{}`", name.value), help);
                }
                true
            }),
        }
    }
}

/// A collection of the strategy's own database has no other name than a text.
fn check_target(target: &Node, stage: &str, diagnostics: &Diagnostics) {
    // The whole value of a slot could be a document with a database.
    let is_slot = |text: &str| text.starts_with('<') && super::path_length(text) == Some(text.len());
    if target.as_text().is_none_or(is_slot) {
        let help = "name a collection of the strategy; slots may be a part of the name, as in \"rows_<n>\"";
        let message = format!("`{stage}` writes only collections of the strategy's own database");
        diagnostics.error(target.span, message, help);
    } else if let Some(name) = target.as_text() {
        check_collection(name, target.span, diagnostics);
    }
}

/// Whether the name of a field is known only while the scenario runs.
fn is_open(key: &Spanned<String>) -> bool {
    key.value == "..." || key.value.contains('<')
}

fn hidden(node: &Node, what: &str, diagnostics: &Diagnostics) {
    diagnostics.error(node.span, format!("the {what} must be written out"), "slots may be in the values");
}

#[cfg(test)]
mod tests {
    use super::super::fixture;

    /// The errors about a step.
    fn errors(step: &str) -> Vec<String> {
        let messages = fixture::messages("{ ...: <cart> }", step).into_iter();
        messages.filter_map(|message| Some(message.strip_prefix("error: ")?.to_owned())).collect()
    }

    #[test]
    fn own_collections_may_be_written() {
        for step in [
            "{ aggregate: carts, pipeline: [{ $match: { _id: <cart> } }, { $out: copies }] }",
            "{ aggregate: carts, pipeline: [{ $out: \"copies_<n>\" }] }",
            "{ aggregate: carts, pipeline: [{ $merge: copies }] }",
            "{ aggregate: carts, pipeline: [{ $merge: { into: copies, whenMatched: replace } }] }",
            "{ aggregate: carts, pipeline: [{ forEach: { x: '[1]' }, item: { $match: { n: <x> } } }] }",
            "{ command: { count: carts } }",
            "{ command: { aggregate: carts, pipeline: [{ $out: copies }], cursor: {} } }",
            "{ command: { createIndexes: carts, indexes: [{ key: { n: 1 }, name: n }] } }",
        ] {
            assert_eq!(errors(step), Vec::<String>::new(), "{step}");
        }
    }

    #[test]
    fn other_databases_and_the_server_are_refused() {
        for (step, words) in [
            ("{ aggregate: carts, pipeline: [{ $out: { db: victim, coll: taken } }] }", "`$out` writes only"),
            ("{ aggregate: carts, pipeline: [{ $out: <n> }] }", "`$out` writes only"),
            ("{ aggregate: carts, pipeline: [{ $merge: { into: { db: victim, coll: x } } }] }", "`$merge` writes only"),
            ("{ aggregate: carts, pipeline: [{ $merge: { into: <n> } }] }", "`$merge` writes only"),
            ("{ aggregate: carts, pipeline: [{ $merge: { ...: <cart> } }] }", "the fields of `$merge` must be"),
            ("{ aggregate: carts, pipeline: [{ \"<n>\": x }] }", "`<n>` cannot be the name of a stage"),
            ("{ aggregate: carts, pipeline: [{ ...: <cart> }] }", "`...` cannot be the name of a stage"),
            ("{ aggregate: carts, pipeline: [<cart>] }", "the stage must be written out"),
            (
                "{ aggregate: carts, pipeline: [{ forEach: { x: '[1]' }, item: { $out: { db: a, coll: b } } }] }",
                "`$out` writes only",
            ),
            (
                "{ aggregate: carts, pipeline: [{ $out: docshape.marker }] }",
                "`docshape.marker` is a collection of docshape",
            ),
            ("{ command: { delete: docshape.marker, deletes: [] } }", "`docshape.marker` is a collection of docshape"),
            (
                "{ aggregate: carts, pipeline: [{ $lookup: { from: { db: a, coll: b }, as: x, pipeline: [] } }] }",
                "`$lookup` reads only",
            ),
            (
                "{ aggregate: carts, pipeline: [{ $facet: { x: [{ $graphLookup: { from: { db: a, coll: b } } }] } }] }",
                "`$graphLookup` reads only",
            ),
            (
                "{ aggregate: carts, pipeline: [{ $unionWith: { coll: { db: a, coll: b } } }] }",
                "`$unionWith` reads only",
            ),
            ("{ aggregate: carts, pipeline: [{ $facet: { a: [{ $out: carts }] } }] }", "`$out` inside of `$facet`"),
            ("{ command: { createUser: eve, pwd: x, roles: [root] } }", "`createUser` is not a command"),
            ("{ command: { killAllSessions: [] } }", "`killAllSessions` is not a command"),
            ("{ command: { dropDatabase: 1 } }", "`dropDatabase` is not a command"),
            ("{ command: { count: carts, $db: victim } }", "`$db` cannot be a field"),
            ("{ command: { count: carts, \"<n>\": victim } }", "`<n>` cannot be a field"),
            ("{ command: { ...: <cart> } }", "`...` cannot be a field"),
            (
                "{ command: { aggregate: carts, pipeline: [{ $out: { db: a, coll: b } }], cursor: {} } }",
                "`$out` writes",
            ),
            ("{ command: { aggregate: carts, pipeline: <cart>, cursor: {} } }", "the stages of a pipeline must be"),
        ] {
            let found = errors(step);
            assert!(found.iter().any(|error| error.starts_with(words)), "{step}: {found:?}");
        }
    }
}
