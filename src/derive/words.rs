//! The words of a shape: which there are, and which a relation can have together.

use std::collections::BTreeMap;

use crate::scenario::{Node, Span, Tree, list_of, nearest, suggest};

use super::model::{Model, ModelRelation, RelationKind};
use super::refusal::{Derived, refuse};

/// The words, with what their sentences and labels say. `{a_one}` and `{a_many}` are the entities, `{down}` and `{up}` the names,
/// `{arguments}` what a word takes; without it, these are fields that are copied.
pub(super) const WORDS: [(&str, &str, &str); 8] = [
    ("embed", "{a_one} contains its {down}", "{down} embedded"),
    ("reference", "{a_many} has the `_id` of its {up}", "{up} referenced"),
    ("list", "{a_one} has the `_id`s of its {down}", "{down} listed"),
    ("link", "documents of their own pair {a_one} with {a_many}", "{down} in pairs"),
    ("bucket", "{down} are in buckets of {arguments}", "{down} in buckets"),
    ("counted", "{a_one} has the number of its {down}", "{down} counted"),
    ("sum", "{a_one} has the sum of its {down}' {arguments}", "{arguments} of {down} added up"),
    ("newest", "{a_one} has the {arguments} newest of its {down}", "newest {down} inside"),
];

/// The words that a relation may have.
pub fn relation_words() -> impl Iterator<Item = &'static str> {
    WORDS.iter().map(|(name, ..)| *name)
}

/// Words that only add to others.
const ADDED: [&str; 3] = ["counted", "sum", "newest"];

/// Words that a relation has together, and those that may be added to them.
type Way = (&'static [&'static str], &'static [&'static str]);

/// All ways in which a shape can store a relation.
pub(super) fn ways(kind: RelationKind) -> &'static [Way] {
    match kind {
        RelationKind::Children => &[
            (&["embed"], &["counted", "sum"]),
            (&["bucket"], &[]),
            (&["reference"], &ADDED),
            (&["list"], &ADDED),
            (&["reference", "list"], &ADDED),
        ],
        RelationKind::Reference => &[(&["reference"], &[])],
        RelationKind::Listing => {
            &[(&["list"], &[]), (&["list", "reference"], &[]), (&["reference"], &[]), (&["link"], &[])]
        }
    }
}

/// The words of a way as they are written, without what may be added.
fn way_text((main, _): &Way) -> String {
    if let [only] = main { (*only).to_owned() } else { format!("[{}]", main.join(", ")) }
}

/// The words of a relation with their arguments, and where they are written.
#[derive(Debug, Clone)]
pub(super) struct RelationWords {
    pub words: Vec<(&'static str, Vec<String>)>,
    pub span: Option<Span>,
    /// Whether a list of records is stored by the listed records alone: its words are those of the relation turned round.
    pub is_turned: bool,
}

impl RelationWords {
    /// The arguments of a word; `None` if the relation does not have it.
    pub fn get(&self, word: &str) -> Option<&[String]> {
        self.words.iter().find(|(name, _)| *name == word).map(|(_, arguments)| arguments.as_slice())
    }

    /// Those of a relation that no entry names.
    pub fn default_of(kind: RelationKind) -> RelationWords {
        let word = if kind == RelationKind::Listing { "list" } else { "reference" };
        RelationWords { words: vec![(word, Vec::new())], span: None, is_turned: false }
    }

    /// A word as it is written in the shape.
    pub fn written(&self, word: &'static str) -> &'static str {
        if self.is_turned { "reference" } else { word }
    }
}

/// Whether a text is a positive number, or the name of one.
fn is_number(text: &str) -> bool {
    text != "0" && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The relation that an entry of a shape names.
pub(super) fn find(model: &Model, key: &str) -> Derived<usize> {
    let keys: Vec<String> = (0..model.relations.len()).map(|relation| model.key(relation)).collect();
    match keys.iter().position(|known| known == key) {
        Some(relation) => Ok(relation),
        None => {
            let names: Vec<&str> = keys.iter().map(String::as_str).collect();
            let help = match suggest(key, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if names.is_empty() => {
                    "a relation is an entity with `of` and `as`, or a field with a record".to_owned()
                }
                None => format!("expected one of {}", list_of(&names)),
            };
            refuse(format!("the model has no relation `{key}`"), "not a relation", help)
        }
    }
}

/// The words of an entry, such as `[reference, "list(name, city)"]`.
pub(super) fn words(model: &Model, relation: usize, node: &Node) -> Derived<RelationWords> {
    let (key, this) = (model.key(relation), &model.relations[relation]);
    let text = text_of(node);
    let mut made: Vec<(&'static str, Vec<String>)> = Vec::new();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let end = rest.find(['(', ',']).unwrap_or(rest.len());
        let is_open = rest[end..].starts_with('(');
        let close = if is_open { rest[end..].find(')').map_or(rest.len(), |close| end + close) } else { end };
        let name = rest[..end].trim();
        let arguments =
            rest[end..close].trim_start_matches('(').split(',').map(str::trim).filter(|part| !part.is_empty());
        let arguments: Vec<String> = arguments.map(str::to_owned).collect();
        let Some((word, ..)) = WORDS.iter().find(|(known, ..)| *known == name) else { break };
        if made.iter().any(|(other, _)| other == word) {
            return refuse(format!("`{key}` has the word `{word}` twice"), "the second one", "keep one");
        }
        made.push((word, copied(model, relation, word, arguments)?));
        rest = rest[close..].trim_start_matches([')', ' ']).trim_start_matches([',', ' ']);
    }
    if !rest.is_empty() || made.is_empty() {
        let known: Vec<&str> = WORDS.iter().map(|(name, ..)| *name).collect();
        let help = if text.starts_with("split") {
            format!("`split` is of an entity: `{}: split(...)`", model.name(this.many))
        } else {
            format!("expected one of {}; write any other shape by hand", list_of(&known))
        };
        return refuse(format!("`{key}` has an unknown word: {}", node.describe()), "not a word of shapes", help);
    }
    let has = |word: &str| made.iter().any(|(name, _)| *name == word);
    if this.kind == RelationKind::Children && made.iter().all(|(word, _)| ADDED.contains(word)) {
        made.insert(0, ("reference", Vec::new()));
    } else if has("reference") && this.kind == RelationKind::Listing && this.up.is_none() {
        let message = format!("`{key}: reference` needs a name for the list in `{}`", model.name(this.many));
        let help = format!("name the other direction: `inverse: {{ {}: {}s }}`", this.down(), model.name(this.one));
        return refuse(message, "which field has it?", help);
    }
    let fits = |(main, added): &&Way| {
        let is_in = |(word, _): &(&str, Vec<String>)| main.contains(word) || added.contains(word);
        made.iter().all(is_in) && main.iter().all(|word| made.iter().any(|(name, _)| name == word))
    };
    let Some((main, _)) = ways(this.kind).iter().find(fits) else {
        let names: Vec<&str> = made.iter().map(|(word, _)| *word).collect();
        let all: Vec<String> = ways(this.kind).iter().map(way_text).collect();
        let message = format!("`{key}: {}` is no way to store this relation", names.join(", "));
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        return refuse(message, "not derived", format!("expected one of {}", list_of(&all)));
    };
    let is_turned = main == &["reference"] && this.kind == RelationKind::Listing;
    if (is_turned || main == &["link"]) && this.has_order {
        let message = format!("`{key}: {}` keeps no order, and `{}` is a list in an order", main[0], this.down());
        let own = model.entity(this.one).fields.iter().find(|(name, _)| name.value == this.down());
        let value = own.map(|(_, value)| value.on_one_line(str::to_owned)).unwrap_or_default();
        let help =
            format!("if its order means nothing, say so: `{}: {{ set: {value} }}`; otherwise try `list`", this.down());
        return refuse(message, "no document would have the list", help);
    }
    if is_turned {
        made.iter_mut().for_each(|(word, _)| *word = "list");
    }
    Ok(RelationWords { words: made, span: Some(node.span), is_turned })
}

/// The text of the words of an entry.
fn text_of(node: &Node) -> String {
    let texts: Vec<&str> = match &node.tree {
        // A list of YAML divides the arguments of a word, too.
        Tree::List(items) => items.iter().map(|item| item.as_text().unwrap_or("?")).collect(),
        _ => node.as_text().into_iter().collect(),
    };
    texts.join(",")
}

/// The fields of an entity that are in the second document, and where the shape says so.
#[derive(Debug, Clone)]
pub(super) struct Split {
    pub fields: Vec<String>,
    pub span: Span,
}

/// By entity.
pub(super) type Splits = BTreeMap<usize, Split>;

impl Split {
    /// Reads `split(description, photo)`.
    pub fn read(model: &Model, entity: usize, node: &Node, span: Span) -> Derived<Split> {
        let (name, text) = (model.name(entity), text_of(node));
        let inner = text.trim().strip_prefix("split").and_then(|rest| rest.trim().strip_prefix('(')?.strip_suffix(')'));
        let fields: Vec<String> = inner.unwrap_or_default().split(',').map(|field| field.trim().to_owned()).collect();
        let is_record = |field: &str| {
            let is_it = |one: &ModelRelation| one.many == entity && one.up() == field;
            model.relations.iter().any(|one| one.kind == RelationKind::Reference && is_it(one))
        };
        let known: Vec<String> = copyable(model, entity).into_iter().filter(|field| !is_record(field)).collect();
        if inner.is_none_or(str::is_empty) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let help = format!("for example `{name}: split({})`", known.last().unwrap_or(&"field"));
            let message = format!("`{name}` is an entity, and {} is not `split` with its fields", node.describe());
            return refuse(message, "not a word of entities", help);
        }
        if let Some(field) = fields.iter().find(|field| !known.contains(field)) {
            let message = format!("`{name}: split` of `{field}`, which is no field of `{name}` that can be split off");
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            return refuse(message, "not such a field", nearest(field, &known));
        }
        Ok(Split { fields, span })
    }

    /// Whether a field, or the one that it is a part of, is in the second document.
    pub fn has(&self, field: &str) -> bool {
        self.fields.iter().any(|own| Some(own.as_str()) == field.split('.').next())
    }
}

/// The fields that a word copies; `*` is all.
fn copied(model: &Model, relation: usize, word: &str, arguments: Vec<String>) -> Derived<Vec<String>> {
    let (key, this) = (model.key(relation), &model.relations[relation]);
    let source = match word {
        "newest" | "bucket" if matches!(&arguments[..], [number] if is_number(number)) => return Ok(arguments),
        "newest" | "bucket" => {
            let message = format!("`{word}` of `{key}` without the number of records");
            return refuse(message, "how many?", format!("for example `{word}(10)`"));
        }
        "sum" if arguments.is_empty() => {
            return refuse(format!("`sum` of `{key}` without a field"), "which field?", "for example `sum(units)`");
        }
        _ if arguments.is_empty() => return Ok(arguments),
        "reference" => this.one,
        "list" | "link" | "sum" => this.many,
        _ => return refuse(format!("`{word}` of `{key}` has arguments"), "takes none", "remove them"),
    };
    let known = copyable(model, source);
    if arguments == ["*"] {
        return Ok(known);
    }
    match arguments.iter().find(|field| !known.contains(field)) {
        None => Ok(arguments),
        Some(field) => {
            let message =
                format!("`{key}` copies `{field}`, which is no field of `{}` that can be copied", model.name(source));
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            refuse(message, "not such a field", nearest(field, &known))
        }
    }
}

/// The fields of an entity that can be copied: all but its `_id` and lists of records.
pub(super) fn copyable(model: &Model, source: usize) -> Vec<String> {
    let is_list = |field: &str| model.relations.iter().any(|one| one.own_list() == Some((source, field)));
    let fields = model.entity(source).fields.iter().map(|(name, _)| name.value.clone());
    fields.filter(|field| field != "_id" && !is_list(field)).collect()
}
