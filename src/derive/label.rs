//! What a shape is called in a table, and the sentences about it.

use super::model::{Model, ModelRelation, RelationKind};
use super::shape::ModelShape;
use super::words::{RelationWords, WORDS};

/// The words of the longest label.
const MOST_WORDS: usize = 12;

impl ModelShape {
    /// The shape in a sentence for each relation, or its label in a few words.
    pub fn describe(&self, model: &Model, is_label: bool) -> String {
        let one = |(relation, placement): (&ModelRelation, &RelationWords)| {
            let [a_one, a_many] = [relation.one, relation.many].map(|entity| with_article(model.name(entity)));
            let text = |(word, arguments): &(&str, Vec<String>)| {
                let (_, about, label) = WORDS.iter().find(|(name, ..)| name == word)?;
                let text = if is_label { label } else { about };
                let text = text.replace("{a_one}", &a_one).replace("{a_many}", &a_many);
                let text = text.replace("{down}", relation.down()).replace("{up}", relation.up());
                let names = arguments.join(", ");
                let text = text.replace("{arguments}", &names);
                Some(match *word {
                    _ if arguments.is_empty() => text,
                    "reference" | "list" => format!("{text} with {names}"),
                    "link" if is_label => format!("{text} with {names}"),
                    "link" => format!("{text}, with its {names}"),
                    _ => text,
                })
            };
            let texts: Vec<String> = placement.words.iter().filter_map(text).collect();
            texts.join(" and ")
        };
        let is_said = |(relation, placement): &(&ModelRelation, &RelationWords)| {
            relation.kind == RelationKind::Children || !is_default(placement)
        };
        let all = || model.relations.iter().zip(&self.placements);
        let is_any_said = !self.splits.is_empty() || all().any(|part| is_said(&part));
        let splits = self.describe_splits(model, is_label);
        let texts = all().filter(|part| is_said(part) || !is_any_said).map(one).chain(splits);
        let texts: Vec<String> = texts.collect();
        if is_label {
            let label = texts.join(", ");
            return if word_count(&label) > MOST_WORDS { self.short_label(model) } else { label };
        }
        let join = if self.is_joined { "; read with `$lookup`" } else { "" };
        let versions = if self.has_versions { "; copies follow their source by its version" } else { "" };
        let mut text = format!("{}{join}{versions}.", texts.join("; "));
        text[..1].make_ascii_uppercase();
        text
    }

    /// The words of the relations that are not as they would be without an entry, as they are written; as many as a label may have.
    fn short_label(&self, model: &Model) -> String {
        let all = model.relations.iter().zip(&self.placements).filter(|(relation, placement)| {
            let is_plain =
                |(word, _): &(&str, Vec<String>)| *word == "reference" || relation.kind == RelationKind::Listing;
            !is_default(placement) || !placement.words.iter().all(is_plain)
        });
        let part = |(relation, placement): (&ModelRelation, &RelationWords)| {
            let name = if relation.down().is_empty() { relation.up() } else { relation.down() };
            format!(
                "{name}: {}",
                placement.words.iter().map(|(word, _)| placement.written(word)).collect::<Vec<_>>().join(", ")
            )
        };
        let splits = self.splits.keys().map(|entity| format!("{}: split", model.name(*entity)));
        let parts: Vec<String> = all.map(part).chain(splits).collect();
        let mut left = MOST_WORDS;
        let fits = |part: &&String| {
            left = left.saturating_sub(word_count(part));
            left > 0
        };
        let shown: Vec<&str> = parts.iter().take_while(fits).map(String::as_str).collect();
        match parts.len() - shown.len() {
            0 => shown.join("; "),
            more => format!("{}; {more} more", shown.join("; ")),
        }
    }
}

/// A name with its article.
pub(super) fn with_article(name: &str) -> String {
    let article = if name.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {name}")
}

fn is_default(placement: &RelationWords) -> bool {
    !placement.is_turned
        && matches!(placement.words.as_slice(), [(word, arguments)] if arguments.is_empty() && *word != "link")
}

fn word_count(text: &str) -> usize {
    text.split_whitespace().count()
}
