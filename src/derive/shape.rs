//! Where a strategy has the records of each relation, and which fields it has twice.

use crate::scenario::{Node, Span, Spanned, Tree, list_of, nearest, suggest};

use super::build::{map, slot, with};
use super::model::{Model, ModelRelation, RelationKind};
use super::refusal::{Derived, Refusal, refuse};

/// How records are found along a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// An array of whole records in the one that they belong to.
    Embed,
    /// The record has the `_id` of the one that it belongs to.
    Reference,
    /// A record has the `_id`s of those that belong to it.
    List,
    /// Arrays of up to this many whole records, in documents of their own with the `_id` of the parent.
    Bucket,
}

/// The words, with what their sentences and labels say. `{a_one}` and `{a_many}` are the entities, `{down}` and `{up}` the names,
/// `{arguments}` what a word takes; without it, these are fields that are copied.
pub(super) const WORDS: [(&str, &str, &str); 7] = [
    ("embed", "{a_one} contains its {down}", "{down} embedded"),
    ("reference", "{a_many} has the `_id` of its {up}", "{up} referenced"),
    ("list", "{a_one} has the `_id`s of its {down}", "{down} listed"),
    ("bucket", "{down} are in buckets of {arguments}", "{down} in buckets"),
    ("counted", "{a_one} has the number of its {down}", "{down} counted"),
    ("sum", "{a_one} has the sum of its {down}' {arguments}", "{arguments} of {down} added up"),
    ("newest", "{a_one} has the {arguments} newest of its {down}", "newest {down} inside"),
];

/// The words of a relation with their arguments, and where they are written.
#[derive(Debug, Clone)]
pub(super) struct RelationWords {
    pub words: Vec<(&'static str, Vec<String>)>,
    span: Option<Span>,
}

impl RelationWords {
    /// The arguments of a word; `None` if the relation does not have it.
    fn get(&self, word: &str) -> Option<&[String]> {
        self.words.iter().find(|(name, _)| *name == word).map(|(_, arguments)| arguments.as_slice())
    }
}

/// Fields of one record that other documents have, too.
#[derive(Debug)]
pub(super) struct Copies {
    pub relation: usize,
    /// The entity whose fields these are.
    pub source: usize,
    pub fields: Vec<String>,
    pub collection: String,
    /// The arrays around each set of copies.
    pub path: Vec<String>,
    /// The field beside the copies with the `_id` of the source.
    pub id: String,
    /// What the names of copies begin with.
    pub prefix: String,
}

/// The words of every relation, and how a strategy reads and writes.
#[derive(Debug, Clone)]
pub(super) struct ModelShape {
    /// By relation.
    pub placements: Vec<RelationWords>,
    /// Reads two collections with `$lookup` instead of two queries.
    pub is_joined: bool,
    /// Writes a record and the counters and sums of it one after the other, without a transaction.
    pub is_ordered: bool,
    /// Writes several documents without a transaction.
    pub is_plain: bool,
    /// Lets copies follow their source by its version, without a transaction.
    pub has_versions: bool,
}

impl ModelShape {
    /// Reads the entries of `shape`; problems have the place of their entry.
    pub fn read(
        model: &Model,
        entries: &[(Spanned<String>, Node)],
        is_joined: bool,
        is_plain: bool,
    ) -> Result<ModelShape, (Span, Box<Refusal>)> {
        let default = |relation: &ModelRelation| {
            let word = if relation.kind == RelationKind::Listing { "list" } else { "reference" };
            RelationWords { words: vec![(word, Vec::new())], span: None }
        };
        let mut placements: Vec<RelationWords> = model.relations.iter().map(default).collect();
        for (key, node) in entries {
            let relation = find(model, &key.value).map_err(|refusal| (key.span, refusal))?;
            let span = if node.span.is_empty() { key.span } else { node.span };
            let words = words(model, relation, node).map_err(|refusal| (span, refusal))?;
            placements[relation] = RelationWords { words, span: Some(node.span) };
        }
        Ok(ModelShape { placements, is_joined, is_ordered: false, is_plain, has_versions: false })
    }

    /// How the records of the many side are found.
    pub fn word(&self, relation: usize) -> Word {
        let placement = &self.placements[relation];
        let words = [("embed", Word::Embed), ("bucket", Word::Bucket), ("list", Word::List)];
        let found = words.iter().find(|(name, _)| placement.get(name).is_some());
        found.map_or(Word::Reference, |(_, word)| *word)
    }

    /// How the record of the one side is found.
    pub fn up_word(&self, relation: usize) -> Word {
        if self.placements[relation].get("reference").is_some() { Word::Reference } else { self.word(relation) }
    }

    /// The arguments of a word; `None` if the relation does not have it.
    pub fn arguments(&self, relation: usize, word: &str) -> Option<&[String]> {
        self.placements[relation].get(word)
    }

    /// The fields of the many side that documents of the one side have.
    pub fn listed(&self, relation: usize) -> &[String] {
        self.placements[relation].get("list").unwrap_or_default()
    }

    /// The fields of the one side that documents of the many side have.
    pub fn referenced(&self, relation: usize) -> &[String] {
        self.placements[relation].get("reference").unwrap_or_default()
    }

    /// Whether a record has all fields of the one that it refers to, as copies or because they are its `_id` only.
    pub fn has_of_one(&self, relation: usize, fields: &[String]) -> bool {
        let is_id = fields == ["_id"] && self.up_word(relation) == Word::Reference;
        is_id || covers(self.referenced(relation), fields)
    }

    /// Whether both records of a list of records name the other.
    pub fn is_mutual(&self, model: &Model, relation: usize) -> bool {
        model.relations[relation].kind == RelationKind::Listing && self.arguments(relation, "reference").is_some()
    }

    /// The list of records whose documents have copies where the records of an entity have `_id`s.
    pub fn copied_list(&self, model: &Model, entity: usize) -> Option<usize> {
        (0..model.relations.len()).find(|relation| {
            let this = &model.relations[*relation];
            this.one == entity && this.kind == RelationKind::Listing && !self.listed(*relation).is_empty()
        })
    }

    /// The field of the one side with the `_id`s of the many.
    pub fn list_id(&self, model: &Model, relation: usize) -> String {
        let down = model.relations[relation].down();
        if self.listed(relation).is_empty() { down.to_owned() } else { format!("{down}._id") }
    }

    /// The field of the many side of a list of records with the `_id`s of the one, where it has them.
    pub fn back_id(&self, model: &Model, relation: usize) -> String {
        let up = model.relations[relation].up();
        if self.referenced(relation).is_empty() { up.to_owned() } else { format!("{up}._id") }
    }

    /// An entry of a list of the one side, as a template; `record` is the expression of the record.
    pub fn list_entry(&self, relation: usize, record: &str) -> Node {
        entry(self.listed(relation), record, record)
    }

    /// The entry of a record of the one side in the list of one of the many; `source` is the expression of its fields.
    pub fn back_entry(&self, relation: usize, record: &str, source: &str) -> Node {
        entry(self.referenced(relation), record, source)
    }

    /// How many records a bucket has.
    pub fn bucket_size(&self, relation: usize) -> &str {
        self.arguments(relation, "bucket").and_then(<[_]>::first).map_or("", String::as_str)
    }

    /// The relation whose buckets have the records of an entity.
    pub fn bucketed(&self, model: &Model, entity: usize) -> Option<usize> {
        model.parent_of(entity).filter(|relation| self.word(*relation) == Word::Bucket)
    }

    /// Whether copies of the one side, which calls change, follow it by its version.
    pub fn is_versioned(&self, model: &Model, relation: usize) -> bool {
        self.has_versions && model.is_changed(model.relations[relation].one, self.referenced(relation))
    }

    /// All copies.
    pub fn copies(&self, model: &Model) -> Vec<Copies> {
        let mut all = Vec::new();
        for (relation, this) in model.relations.iter().enumerate() {
            let (up, down) = (self.referenced(relation), self.listed(relation));
            if !up.is_empty() {
                let (collection, mut path) = self.home(model, this.many);
                let (mut id, mut prefix) = (this.up().to_owned(), format!("{}_", this.up()));
                if this.kind == RelationKind::Listing {
                    path.push(id);
                    (id, prefix) = ("_id".to_owned(), String::new());
                }
                all.push(Copies { relation, source: this.one, fields: up.to_vec(), collection, path, id, prefix });
            }
            let newest = self.newest(model, relation).map(|(_, array)| {
                let own = model.entity(this.many).fields.iter().map(|(name, _)| name.value.clone());
                (array, own.filter(|name| name != "_id").collect())
            });
            let listed = (!down.is_empty()).then(|| (this.down().to_owned(), down.to_vec()));
            for (array, fields) in listed.into_iter().chain(newest) {
                let (collection, path) = (model.collection(this.one), vec![array]);
                let (id, prefix) = ("_id".to_owned(), String::new());
                all.push(Copies { relation, source: this.many, fields, collection, path, id, prefix });
            }
        }
        all
    }

    /// Where the words of a relation are written.
    pub fn place(&self, relation: usize) -> Option<Span> {
        self.placements[relation].span
    }

    /// Where the records of an entity are: a collection, and the fields of the arrays in its documents, outermost first.
    pub fn home(&self, model: &Model, entity: usize) -> (String, Vec<String>) {
        if let Some(relation) = self.bucketed(model, entity) {
            return (format!("{}_buckets", model.name(entity)), vec![model.relations[relation].down().to_owned()]);
        }
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
}

impl Copies {
    /// The entity whose records have the copies.
    pub fn holder(&self, model: &Model) -> usize {
        let this = &model.relations[self.relation];
        if self.source == this.one { this.many } else { this.one }
    }

    /// The name of the audit that counts those which are not what their source says.
    pub fn audit(&self, model: &Model) -> String {
        let up = model.relations[self.relation].up();
        let label = self.path.last().filter(|_| self.id == "_id").map_or(up, String::as_str);
        format!("{}_{label}_copies_differ", model.name(self.holder(model)))
    }

    /// The name of the copy of a field.
    pub fn field(&self, field: &str) -> String {
        if field == "_id" { self.id.clone() } else { format!("{}{field}", self.prefix) }
    }
}

/// A record as an entry of a list: its `_id`, or that and copies of fields of a source.
pub(super) fn entry(fields: &[String], record: &str, source: &str) -> Node {
    let id = slot(&format!("{record}._id"));
    if fields.is_empty() {
        return id;
    }
    fields.iter().fold(map! { "_id" => id }, |made, field| with(made, field, slot(&format!("{source}.{field}"))))
}

/// What takes a record out of a list: its `_id`, or an entry with it where entries have copies.
pub(super) fn pulled(copied: &[String], id: &Node) -> Node {
    if copied.is_empty() {
        return id.clone();
    }
    map! { "_id" => id.clone() }
}

/// Whether copies, and the `_id`, are all that is asked for.
pub(super) fn covers(copied: &[String], fields: &[String]) -> bool {
    !fields.is_empty() && !copied.is_empty() && fields.iter().all(|field| field == "_id" || copied.contains(field))
}

/// Whether a text is a positive number, or the name of one.
fn is_number(text: &str) -> bool {
    text != "0" && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
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

/// The words of an entry, such as `[reference, "list(name, city)"]`.
fn words(model: &Model, relation: usize, node: &Node) -> Derived<Vec<(&'static str, Vec<String>)>> {
    let (key, this) = (model.key(relation), &model.relations[relation]);
    let texts: Vec<&str> = match &node.tree {
        // A list of YAML divides the arguments of a word, too.
        Tree::List(items) => items.iter().map(|item| item.as_text().unwrap_or("?")).collect(),
        _ => node.as_text().into_iter().collect(),
    };
    let text = texts.join(",");
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
        let help = format!("expected one of {}; write any other shape by hand", list_of(&known));
        return refuse(format!("`{key}` has an unknown word: {}", node.describe()), "not a word of shapes", help);
    }
    let has = |word: &str| made.iter().any(|(name, _)| *name == word);
    let is_added_to = !has("embed") && !has("bucket") && !has("reference") && !has("list");
    if is_added_to {
        made.insert(0, ("reference", Vec::new()));
    }
    let has = |word: &str| made.iter().any(|(name, _)| *name == word);
    let is_id = |(word, _): &(&str, Vec<String>)| matches!(*word, "reference" | "list");
    let is_plain = |(word, _): &(&str, Vec<String>)| matches!(*word, "embed" | "counted" | "sum");
    let (is, only) = match this.kind {
        RelationKind::Children if has("bucket") && made.len() > 1 => {
            return refuse(format!("`{key}` has a word besides `bucket`"), "not derived", "keep one of them");
        }
        RelationKind::Children if has("embed") && !made.iter().all(is_plain) => {
            let message = format!("`{key}` has whole records, and words for what is only needed without them");
            return refuse(message, "not derived", "keep `embed`, or the others; `counted` and `sum` go with it");
        }
        RelationKind::Reference if made.len() > 1 || is_added_to || !has("reference") => {
            ("a field with a record", "reference")
        }
        RelationKind::Listing if has("list") && made.iter().all(is_id) => {
            if has("reference") && this.up.is_none() {
                let message = format!("`{key}: reference` needs a name for the list in `{}`", model.name(this.many));
                let help =
                    format!("name the other direction: `inverse: {{ {}: {}s }}`", this.down(), model.name(this.one));
                return refuse(message, "which field has it?", help);
            }
            return Ok(made);
        }
        RelationKind::Listing => ("a list of records", "list"),
        _ => return Ok(made),
    };
    let message = format!("`{key}` is {is}, which is always `{only}`");
    let help = format!("leave it out, or name fields that are copied: `{only}(name)`");
    refuse(message, "not a word for this relation", help)
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
        "list" | "sum" => this.many,
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
    let is_list = |field: &str| {
        model.relations.iter().any(|one| one.one == source && one.kind == RelationKind::Listing && one.down() == field)
    };
    let fields = model.entity(source).fields.iter().map(|(name, _)| name.value.clone());
    fields.filter(|field| field != "_id" && !is_list(field)).collect()
}
