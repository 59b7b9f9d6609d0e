//! YAML text to a [`Scenario`]: the top level.

mod attempt;
mod audit;
mod bulk;
mod claim;
mod command;
mod entity;
mod fields;
mod operation;
mod outline;
mod refusal;
mod scalar;
mod step;
mod strategy;
mod value;
mod yaml;

use fields::{Entry, Fields, place};
pub use outline::Outline;

use super::quote;
use super::{Diagnostic, Diagnostics, FORMAT, Node, Scalar, Scenario, Source, Span, Spanned, Tree};

/// The keys of a scenario.
const KEYS: [&str; 12] = [
    "format",
    "name",
    "title",
    "about",
    "sources",
    "parameters",
    "entities",
    "operations",
    "mixes",
    "strategies",
    "audits",
    "claims",
];

/// Reads a scenario and adds every problem found to `diagnostics`.
///
/// Returns what could be understood, with the broken pieces left out, so that later checks can still find more to
/// report; `None` when the text is no scenario at all. A scenario returned beside errors must not be run.
pub fn read(source: &Source, diagnostics: &mut Diagnostics) -> Option<Scenario> {
    let root = yaml::compose(&source.text, diagnostics)?;
    let Some(entries) = root.as_mapping() else {
        diagnostics.push(
            Diagnostic::error(root.span, format!("a scenario is a mapping, found {}", root.describe()))
                .help("begin with `format: 1` and `name: my-scenario`"),
        );
        return None;
    };
    let place = entries.first().map_or(root.span, |(key, _)| key.span);
    let mut fields = Fields::new(entries, "the scenario", place);
    if !is_our_format(&mut fields, diagnostics) {
        return None;
    }
    let scenario = scenario(&mut fields, diagnostics);
    fields.finish(diagnostics);
    Some(scenario)
}

/// Another version may mean anything by its keys, so nothing more is said about it.
fn is_our_format(fields: &mut Fields, diagnostics: &mut Diagnostics) -> bool {
    let Some(entry) = fields.required("format", "format: 1") else { return true };
    if entry.1.tree == Tree::Scalar(Scalar::Int(FORMAT)) {
        return true;
    }
    let found = entry.1.describe();
    diagnostics.push(
        Diagnostic::error(place(entry), format!("this build of docshape reads format {FORMAT}, found {found}"))
            .label("not a format it knows")
            .help(format!("write `format: {FORMAT}`, or use the version of docshape that the scenario was made for")),
    );
    false
}

/// The keys in the order that an author writes them, which is also the order in which missing ones are named.
fn scenario(fields: &mut Fields, diagnostics: &mut Diagnostics) -> Scenario {
    let name = fields.required("name", "name: my-scenario").and_then(|entry| name(entry, diagnostics));
    let title = fields
        .required("title", "title: \"Embed or link?\"")
        .and_then(|entry| value::text(entry, "title: \"Embed or link?\"", diagnostics));
    let about =
        fields.optional("about").and_then(|entry| value::text(entry, "about: A post collects comments.", diagnostics));
    let sources = fields.optional("sources").map_or_else(Vec::new, |entry| sources(entry, diagnostics));
    let parameters = fields.optional("parameters").map_or_else(Vec::new, |entry| {
        value::named_expressions(entry, "a parameter", "parameters: { posts: 200 }", diagnostics)
    });
    let entities =
        section(fields, "entities", "entities: { post: { count: 200, fields: { _id: index } } }", diagnostics);
    let operations =
        section(fields, "operations", "operations: { read_post: { arguments: { post: zipf(post) } } }", diagnostics);
    let mixes = section(fields, "mixes", "mixes: { default: { read_post: 1 } }", diagnostics);
    let strategies =
        section(fields, "strategies", "strategies: { embedded: { collections: ..., operations: ... } }", diagnostics);
    let audits = fields
        .optional("audits")
        .and_then(|entry| {
            value::mapping(entry, "audits: { wrong_counts: { find: posts, filter: { n: -1 } } }", diagnostics)
        })
        .unwrap_or(&[]);
    let claims = fields.optional("claims").map_or_else(Vec::new, |entry| claim::claims(entry, diagnostics));
    Scenario {
        name: name.unwrap_or_else(|| Spanned::new("scenario".to_owned(), Span::default())),
        title: title.map(|title| title.value).unwrap_or_default(),
        about: about.map(|about| about.value).unwrap_or_default(),
        sources,
        parameters,
        entities: entity::entities(entities, diagnostics),
        operations: operation::operations(operations, diagnostics),
        mixes: operation::mixes(mixes, diagnostics),
        strategies: strategy::strategies(strategies, diagnostics),
        audits: audit::audits(audits, diagnostics),
        claims,
    }
}

/// The entries of a top-level mapping that must be there and have at least one entry.
fn section<'n>(
    fields: &mut Fields<'n>,
    key: &'static str,
    example: &str,
    diagnostics: &mut Diagnostics,
) -> &'n [Entry] {
    let entry = fields.required_or_misspelt(key, &KEYS, example);
    entry.and_then(|entry| value::filled_mapping(entry, example, diagnostics)).unwrap_or(&[])
}

fn name(entry: &Entry, diagnostics: &mut Diagnostics) -> Option<Spanned<String>> {
    let name = value::text(entry, "name: blog-comments", diagnostics)?;
    if !name.value.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-') {
        diagnostics.push(
            Diagnostic::error(name.span, format!("{} cannot be the name of a scenario", quote(&name.value)))
                .label("not a name")
                .help("use lower-case letters, digits and `-`: the name becomes part of database and folder names"),
        );
    }
    Some(name)
}

fn sources(entry: &Entry, diagnostics: &mut Diagnostics) -> Vec<String> {
    let example = "sources: [\"MongoDB manual, Data Modeling\"]";
    let items: &[Node] = value::list(entry, example, diagnostics).unwrap_or(&[]);
    let mut texts = Vec::with_capacity(items.len());
    for item in items {
        let item = (entry.0.clone(), item.clone());
        texts.extend(value::text(&item, example, diagnostics).map(|text| text.value));
    }
    texts
}
