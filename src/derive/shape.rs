//! Where a strategy has the records of each relation.

use crate::scenario::{Node, Span, Spanned, Tree, list_of, suggest};

use super::model::{Model, ModelRelation, RelationKind};
use super::refusal::{Derived, refuse};

/// How records of one relation are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// An array of whole records in the one that they belong to.
    Embed,
    /// The record has the `_id` of the one that it belongs to.
    Reference,
    /// A record has the `_id`s of those that belong to it.
    List,
}

/// The words, with what their sentences and labels say. `{one}` and `{many}` are the entities, `{down}` and `{up}` the names.
const WORDS: [(&str, Word, &str, &str); 3] = [
    ("embed", Word::Embed, "{a_one} contains its {down}", "{down} embedded"),
    ("reference", Word::Reference, "{a_many} has the `_id` of its {up}", "{up} referenced"),
    ("list", Word::List, "{a_one} has the `_id`s of its {down}", "{down} listed"),
];

/// The words of every relation, and how a strategy reads and writes.
#[derive(Debug)]
pub(super) struct ModelShape {
    /// By relation: its word, and where that is written.
    words: Vec<(Word, Option<Span>)>,
    /// Reads two collections with `$lookup` instead of two queries.
    pub is_joined: bool,
    /// Writes several documents without a transaction.
    pub is_plain: bool,
}

impl ModelShape {
    /// Reads the entries of `shape`; problems have the place of their entry.
    pub fn read(
        model: &Model,
        entries: &[(Spanned<String>, Node)],
        is_joined: bool,
        is_plain: bool,
    ) -> Result<ModelShape, (Span, Box<super::refusal::Refusal>)> {
        let default = |relation: &ModelRelation| match relation.kind {
            RelationKind::Listing => Word::List,
            RelationKind::Children | RelationKind::Reference => Word::Reference,
        };
        let mut words: Vec<(Word, Option<Span>)> =
            model.relations.iter().map(|relation| (default(relation), None)).collect();
        for (key, node) in entries {
            let at = |span: Span| move |refusal| (span, refusal);
            let relation = find(model, &key.value).map_err(at(key.span))?;
            let word =
                word(model, relation, node).map_err(at(if node.span.is_empty() { key.span } else { node.span }))?;
            words[relation] = (word, Some(node.span));
        }
        Ok(ModelShape { words, is_joined, is_plain })
    }

    pub fn word(&self, relation: usize) -> Word {
        self.words[relation].0
    }

    /// Where the word of a relation is written.
    pub fn place(&self, relation: usize) -> Option<Span> {
        self.words[relation].1
    }

    /// Where the records of an entity are: a collection, and the fields of the arrays in its documents, outermost first.
    pub fn home(&self, model: &Model, entity: usize) -> (String, Vec<String>) {
        match model.parent_of(entity).filter(|relation| self.word(*relation) == Word::Embed) {
            Some(relation) => {
                let relation = &model.relations[relation];
                let (collection, mut path) = self.home(model, relation.one);
                path.push(relation.down().to_owned());
                (collection, path)
            }
            None => (model.collection(entity), Vec::new()),
        }
    }

    /// The shape in a sentence for each word, or its label in a few words.
    pub fn describe(&self, model: &Model, is_label: bool) -> String {
        let one = |(relation, (word, _)): (&ModelRelation, &(Word, Option<Span>))| {
            let (.., about, label) = WORDS.iter().find(|(_, other, ..)| other == word)?;
            let [a_one, a_many] = [relation.one, relation.many].map(|entity| {
                let name = model.name(entity);
                let article = if name.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
                format!("{article} {name}")
            });
            let text = if is_label { label } else { about };
            let text = text.replace("{a_one}", &a_one).replace("{a_many}", &a_many);
            Some(text.replace("{down}", relation.down()).replace("{up}", relation.up()))
        };
        let all = model.relations.iter().zip(&self.words);
        let texts: Vec<String> =
            all.filter(|(relation, _)| relation.kind == RelationKind::Children).filter_map(one).collect();
        if is_label {
            return texts.join(", ");
        }
        let join = if self.is_joined { "; read with `$lookup`" } else { "" };
        let mut text = format!("{}{join}.", texts.join("; "));
        text[..1].make_ascii_uppercase();
        text
    }
}

fn find(model: &Model, key: &str) -> Derived<usize> {
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

fn word(model: &Model, relation: usize, node: &Node) -> Derived<Word> {
    let key = model.key(relation);
    let words = || WORDS.iter().map(|(name, ..)| *name);
    let name = match &node.tree {
        Tree::List(items) if items.len() > 1 => {
            let message = format!("`{key}` has {} words, and one is derived", items.len());
            return refuse(
                message,
                "words that are not combined yet",
                "keep one, and write what else is needed by hand",
            );
        }
        Tree::List(items) => items.first().and_then(Node::as_text),
        _ => node.as_text(),
    };
    let known: Vec<&str> = words().collect();
    let Some((_, word, ..)) = WORDS.iter().find(|(known, ..)| Some(*known) == name) else {
        let found = node.describe();
        let help = format!("expected one of {}; write any other shape by hand", list_of(&known));
        return refuse(format!("`{key}` has an unknown word: {found}"), "not a word of shapes", help);
    };
    let this = &model.relations[relation];
    let fits = match this.kind {
        RelationKind::Children => true,
        RelationKind::Reference => *word == Word::Reference,
        RelationKind::Listing => *word == Word::List,
    };
    if !fits {
        let (is, only) = match this.kind {
            RelationKind::Listing => ("a list of records", "list"),
            RelationKind::Children | RelationKind::Reference => ("a field with a record", "reference"),
        };
        let message = format!("`{key}` is {is}, which is always `{only}`");
        return refuse(message, "copies of records are not derived", "leave it out, and write copies by hand");
    }
    Ok(*word)
}
