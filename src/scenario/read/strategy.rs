//! `strategies`.

use super::fields::{Entry, Fields};
use super::{step, value};
use crate::scenario::quote;
use crate::scenario::{Collection, Diagnostic, Diagnostics, Implementation, Node, Spanned, Strategy, Tree};

/// More than three strategies side by side make a plain run long and its table wide.
const MAX_DEFAULTS: usize = 3;

const EXAMPLE: &str = "embedded: { collections: { posts: { each: post } }, operations: { ... } }";
const STEPS: &str = "read_post: { findOne: posts, filter: { _id: <post> } }";

/// The strategies, each kept by its name even when something in it is wrong.
pub(super) fn strategies(entries: &[Entry], diagnostics: &mut Diagnostics) -> Vec<Strategy> {
    let strategies: Vec<Strategy> = entries.iter().map(|entry| strategy(entry, diagnostics)).collect();
    let defaults = strategies.iter().filter_map(|strategy| strategy.is_default.as_ref()).filter(|flag| flag.value);
    if let Some(flag) = defaults.clone().nth(MAX_DEFAULTS) {
        let count = defaults.count();
        diagnostics.push(
            Diagnostic::error(flag.span, format!("{count} strategies are marked `default: true`"))
                .label("one too many")
                .help(
                    "a plain run compares at most three: keep the mark on the reference and the two that matter most",
                ),
        );
    }
    strategies
}

fn strategy(entry: &Entry, diagnostics: &mut Diagnostics) -> Strategy {
    let name = entry.0.clone();
    value::check_label(&name, "a strategy", diagnostics);
    let what = format!("strategy {}", quote(&name.value));
    let mut fields = Fields::of(entry, what, EXAMPLE, diagnostics).unwrap_or_else(|| Fields::new(&[], "", name.span));
    let strategy = Strategy {
        about: fields
            .optional("about")
            .and_then(|entry| value::text(entry, "about: Comments inside the post.", diagnostics))
            .map(|about| about.value),
        like: fields.optional("like").and_then(|entry| value::text(entry, "like: embedded", diagnostics)),
        is_unsafe: fields
            .optional("unsafe")
            .and_then(|entry| value::boolean(entry, "unsafe: true", diagnostics))
            .is_some_and(|flag| flag.value),
        is_default: fields.optional("default").and_then(|entry| value::boolean(entry, "default: true", diagnostics)),
        parameters: fields.optional("parameters").map_or_else(Vec::new, |entry| {
            value::named_expressions(entry, "a parameter", "parameters: { bucket_size: 50 }", diagnostics)
        }),
        collections: fields.optional("collections").map_or_else(Vec::new, |entry| collections(entry, diagnostics)),
        load: fields.optional("load").map(|entry| step::steps(entry, diagnostics)),
        operations: fields.optional("operations").map_or_else(Vec::new, |entry| implementations(entry, diagnostics)),
        state: fields.optional("state").map_or_else(Vec::new, |entry| implementations(entry, diagnostics)),
        name,
    };
    fields.finish(diagnostics);
    strategy
}

fn collections(entry: &Entry, diagnostics: &mut Diagnostics) -> Vec<Collection> {
    let entries = value::mapping(entry, "collections: { posts: { each: post } }", diagnostics).unwrap_or(&[]);
    entries.iter().map(|entry| collection(entry, diagnostics)).collect()
}

fn collection(entry: &Entry, diagnostics: &mut Diagnostics) -> Collection {
    let name = entry.0.clone();
    let what = format!("collection {}", quote(&name.value));
    let example = format!("{}: {{ each: post }}", name.value);
    let mut fields =
        Fields::of_optional(entry, what, &example, diagnostics).unwrap_or_else(|| Fields::new(&[], "", name.span));
    let collection = Collection {
        each: fields.optional("each").and_then(|entry| each(entry, diagnostics)),
        document: fields.optional("document").and_then(|entry| document(entry, diagnostics)),
        indexes: fields.optional("indexes").and_then(|entry| indexes(entry, diagnostics)),
        name,
    };
    fields.finish(diagnostics);
    collection
}

fn each(entry: &Entry, diagnostics: &mut Diagnostics) -> Option<Node> {
    let example = "each: post";
    let Some(loops) = entry.1.as_mapping() else {
        if entry.1.as_text().is_none() {
            value::wrong_type(entry, "an entity or a mapping of loops", example, diagnostics);
            return None;
        }
        return Some(entry.1.clone());
    };
    for (name, _) in loops {
        value::check_name(name, "a loop", diagnostics);
    }
    let values = value::filled_mapping(entry, "each: { post: all(post) }", diagnostics)?;
    let all_there = values
        .iter()
        .all(|entry| value::expression(entry, &format!("{}: all(post)", entry.0.value), diagnostics).is_some());
    all_there.then(|| entry.1.clone())
}

fn document(entry: &Entry, diagnostics: &mut Diagnostics) -> Option<Node> {
    if entry.1.as_mapping().is_some() || is_slot(&entry.1) {
        return Some(entry.1.clone());
    }
    value::wrong_type(entry, "a document", "document: { ...: <post>, comments: [] }", diagnostics);
    None
}

fn indexes(entry: &Entry, diagnostics: &mut Diagnostics) -> Option<Node> {
    let example = "indexes: [{ post: 1, created_on: -1 }]";
    let items = value::list(entry, example, diagnostics)?;
    let mut kept = Vec::with_capacity(items.len());
    for item in items {
        let item = (Spanned::new("indexes".to_owned(), entry.0.span), item.clone());
        match item.1.as_mapping() {
            Some(keys) if !keys.is_empty() => kept.push(item.1),
            _ => value::wrong_type(&item, "a list of key documents", example, diagnostics),
        }
    }
    Some(Node { span: entry.1.span, tree: Tree::List(kept) })
}

/// Whether a node is text that one slot fills, as `<post>` does.
pub(super) fn is_slot(node: &Node) -> bool {
    node.as_text().is_some_and(|text| text.len() > 2 && text.starts_with('<') && text.ends_with('>'))
}

fn implementations(entry: &Entry, diagnostics: &mut Diagnostics) -> Vec<Implementation> {
    let example = format!("{}: {{ {STEPS} }}", entry.0.value);
    let entries = value::mapping(entry, &example, diagnostics).unwrap_or(&[]);
    let implementation =
        |entry: &Entry| Implementation { name: entry.0.clone(), steps: step::steps(entry, diagnostics) };
    entries.iter().map(implementation).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Scalar, Span};

    #[test]
    fn a_slot_is_the_whole_text() {
        let is = |text: &str| is_slot(&Node::scalar(Scalar::Text(text.to_owned()), Span::default()));
        assert!(is("<post>") && is("<post.comments>"));
        assert!(!is("<>") && !is("post") && !is("x<post>"));
    }
}
