//! `strategies`.

use crate::scenario::{
    CollectionDefinition, Diagnostic, Diagnostics, Node, ShardDefinition, Spanned, StrategyDefinition, Tree, keys,
    quote,
};

use super::entry::Entry;
use super::fields::Fields;
use super::{step, value};

/// More than three strategies make a plain run long and its table wide.
const MAX_DEFAULTS: usize = 3;

/// Reports more strategies marked `default` than a plain run compares.
pub(super) fn check_defaults(strategies: &[StrategyDefinition], diagnostics: &Diagnostics) {
    let mut marks = strategies.iter().filter_map(|strategy| strategy.is_default.as_ref()).filter(|mark| mark.value);
    let count = marks.clone().count();
    if let Some(mark) = marks.nth(MAX_DEFAULTS) {
        let message = format!("expected at most three `default: true`, found {count}");
        let help = "keep the mark on the baseline and the two strategies that matter most";
        diagnostics.labelled(mark.span, message, "one too many", help);
    }
}

/// A strategy, kept by its name even when something in it is wrong.
pub(crate) fn strategy(entry: &Entry, diagnostics: &Diagnostics) -> StrategyDefinition {
    const EXAMPLE: &str = "embedded: { collections: { posts: { each: post } }, operations: { ... } }";
    let name = entry.0.clone();
    value::check_label(&name, "a strategy", diagnostics);
    let fields = Fields::of(entry, "strategy", EXAMPLE, keys::STRATEGY, diagnostics);
    let implementation = |entry: &Entry| (entry.0.clone(), step::steps(entry, diagnostics));
    StrategyDefinition {
        name,
        about: fields.text("about").map(|about| about.value),
        label: fields.text("label").map(|label| label.value),
        like: fields.text("like"),
        is_unsafe: fields.boolean("unsafe").is_some_and(|flag| flag.value),
        unsafe_with: fields.texts("unsafe_with"),
        is_default: fields.boolean("default"),
        tolerates: fields.texts("tolerates"),
        parameters: fields.expressions("parameters"),
        shape: fields.entry("shape").map(|_| fields.entries("shape").to_vec()),
        join: fields.text("join"),
        writes: fields.text("writes"),
        collections: fields.entries("collections").iter().map(|entry| collection(entry, diagnostics)).collect(),
        load: fields.entry("load").map(|entry| step::steps(entry, diagnostics)),
        operations: fields.entries("operations").iter().map(implementation).collect(),
        state: fields.entries("state").iter().map(implementation).collect(),
    }
}

fn collection(entry: &Entry, diagnostics: &Diagnostics) -> CollectionDefinition {
    let name = entry.0.clone();
    let example = format!("{}: {{ each: post }}", name.value);
    let fields = Fields::of_optional(entry, "collection", &example, keys::COLLECTION, diagnostics);
    let series = fields.expressions("for").pop();
    check_name(&name, series.as_ref().map(|(name, _)| name), diagnostics);
    let mut indexes = fields.node("indexes");
    if let Some(Node { tree: Tree::List(items), .. }) = &mut indexes {
        items.retain(value::is_index);
    }
    CollectionDefinition {
        name,
        like: fields.text("like"),
        series,
        options: fields.node("options"),
        skips_large: fields.text("on_size").is_some_and(|action| action.value == "skip"),
        each: fields.node("each"),
        load_order: fields.text("load_order"),
        document: fields.node("document"),
        indexes,
        shard: fields.entry("shard").and_then(|entry| shard(entry, diagnostics)),
    }
}

fn shard(entry: &Entry, diagnostics: &Diagnostics) -> Option<ShardDefinition> {
    let entries = entry.1.as_mapping()?;
    let fields = Fields::read(entries, "`shard`", entry.0.span, keys::SHARD, diagnostics);
    Some(ShardDefinition { key: fields.node("key")?, chunks: fields.integer("chunks") })
}

/// Reports a name with a slot that nothing replaces, and a series of collections of one name.
fn check_name(name: &Spanned<String>, series: Option<&Spanned<String>>, diagnostics: &Diagnostics) {
    let is_slotted = name.value.contains('<') && name.value.contains('>');
    match series {
        None if is_slotted => {
            Diagnostic::error(name.span, format!("slot in the name of collection {}", quote(&name.value)))
                .label("not replaced here")
                .help("try `for: { k: \"range(0, n)\" }` in the collection, which makes one for each `<k>`")
                .add_to(diagnostics)
        }
        Some(series) if !name.value.contains(&format!("<{}>", series.value)) => {
            let message = format!("collection {} has the same name for each", quote(&name.value));
            let help = format!("for example `{}_<{}>`", name.value.replace(['<', '>'], ""), series.value);
            diagnostics.labelled(name.span, message, format!("without `<{}>`", series.value), help);
        }
        None | Some(_) => {}
    }
}
