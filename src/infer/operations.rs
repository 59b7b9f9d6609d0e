//! Operations that keys, references and indexes suggest, for databases whose operations nobody has observed.

use super::entities::{EntityDraft, InferredModel};
use super::layout::{EntityPlace, FieldPlace, InferredOperation};
use super::names::{UniqueNames, is_plain};
use super::sample::CollectionSample;

/// More operations are too many to read.
const MOST: usize = 40;
/// Records of a list.
pub const PAGE: u64 = 10;
/// Weights of reads by key, lists, new records and updates: no observation, but the order of most applications.
const WEIGHTS: [f64; 4] = [10.0, 5.0, 2.0, 2.0];

/// Guesses the operations of a model: each entity is read by its keys, listed by its references, created, and changed.
pub fn guessed(model: &InferredModel, samples: &[CollectionSample]) -> Vec<InferredOperation> {
    let mut guesses = Guesses { model, samples, names: UniqueNames::default(), made: Vec::new() };
    let places = model.layout.entities.iter().zip(&model.drafts);
    for (place, draft) in places.clone() {
        if place.array.is_none() {
            guesses.reads(place);
        }
        guesses.lists(place, draft);
    }
    for (place, draft) in places {
        guesses.writes(place, draft);
    }
    let mut made = guesses.made;
    made.truncate(MOST);
    let total: f64 = made.iter().map(|one| one.weight).sum();
    made.iter_mut().for_each(|one| one.weight = (one.weight / total * 1_000.0).round() / 10.0);
    made
}

struct Guesses<'m> {
    model: &'m InferredModel,
    samples: &'m [CollectionSample],
    names: UniqueNames,
    made: Vec<InferredOperation>,
}

impl Guesses<'_> {
    fn reads(&mut self, place: &EntityPlace) {
        let entity = &place.entity;
        let options = with_text(&self.with(place, true));
        self.add(
            &format!("get_{entity}"),
            "its key",
            [(entity, format!("zipf({entity})"))],
            format!("{{ get: {entity}{options} }}"),
            0,
        );
        for field in place.fields.iter().filter(|field| field.unique && field.field != "_id") {
            let name = format!("get_{entity}_by_{}", field.field);
            let does = format!("{{ get: {entity}, by: [{}]{options} }}", field.field);
            self.add(&name, &format!("its key {}", field.field), [(entity, format!("zipf({entity})"))], does, 0);
        }
    }

    fn lists(&mut self, place: &EntityPlace, draft: &EntityDraft) {
        let parts = self.with_parts(place, false);
        let options = with_text(&parts.join(", "));
        let newest = if draft.arrives_sorted { ", reverse: true" } else { "" };
        let is_apart = place.array.is_none() || self.is_bucket(place);
        if let Some(parent) = place.parent.as_ref().filter(|_| is_apart) {
            let name = format!("list_{}_of_{}", parent.relation, parent.entity);
            // Whoever lists the records of a parent knows that one.
            let is_other = |part: &String| !part.starts_with(&format!("{}: [", parent.entity));
            let own = with_text(&parts.iter().filter(|part| is_other(part)).cloned().collect::<Vec<_>>().join(", "));
            let does = format!("{{ list: {}.{}{newest}, limit: {PAGE}{own} }}", parent.entity, parent.relation);
            let why = format!("the relation of a {} to its {}", parent.entity, parent.relation);
            self.add(&name, &why, [(&parent.entity, format!("zipf({})", parent.entity))], does, 1);
        }
        self.lists_by_reference(place, draft, newest, &options);
        if place.array.is_none() {
            self.lists_by_index(place, draft, newest, &options);
        }
    }

    fn lists_by_reference(&mut self, place: &EntityPlace, draft: &EntityDraft, newest: &str, options: &str) {
        let (entity, sample) = (&place.entity, &self.samples[draft.collection]);
        for field in &place.fields {
            let Some(target) = &field.refers else { continue };
            if field.is_list {
                let does = format!("{{ list: {entity}.{}, fields: [_id], unordered: true }}", field.field);
                let name = format!("list_{}_of_{entity}", field.field);
                self.add(&name, "its list of keys", [(entity, format!("zipf({entity})"))], does, 1);
                if let Some((_, inverse)) = draft.inverse.as_ref().filter(|(own, _)| *own == field.field) {
                    let does = format!("{{ list: {target}.{inverse}, fields: [_id], unordered: true }}");
                    let name = format!("list_{inverse}_of_{target}");
                    self.add(&name, "its list of keys", [(target, format!("zipf({target})"))], does, 1);
                }
                continue;
            }
            let path: Vec<String> =
                place.array.iter().flatten().chain(&field.path).filter(|part| *part != "[]").cloned().collect();
            // Records of one entity that refer to each other would have one name for two arguments.
            if sample.is_indexed(&path.join(".")) && target != entity {
                let does = format!(
                    "{{ list: {entity}, where: {{ {}: <{target}> }}{newest}, limit: {PAGE}{options} }}",
                    field.field
                );
                let name = format!("list_{entity}_by_{}", field.field);
                self.add(
                    &name,
                    &format!("the index of {}", path.join(".")),
                    [(target, format!("zipf({target})"))],
                    does,
                    1,
                );
            }
        }
    }

    /// Lists by the first fields of indexes that are no references.
    fn lists_by_index(&mut self, place: &EntityPlace, draft: &EntityDraft, newest: &str, options: &str) {
        let entity = &place.entity;
        for index in &self.samples[draft.collection].indexes {
            let is_first = |field: &&FieldPlace| {
                index.first_field() == field.path.first().map(String::as_str) && field.path.len() == 1
            };
            let Some(field) =
                place.fields.iter().find(is_first).filter(|field| is_drawn(field, draft) && field.refers.is_none())
            else {
                continue;
            };
            let name = format!("list_{entity}_by_{}", field.field);
            if index.is_unique || self.made.iter().any(|one| one.name == name) {
                continue;
            }
            let does =
                format!("{{ list: {entity}, where: {{ {}: <value> }}{newest}, limit: {PAGE}{options} }}", field.field);
            let value = [(&"value".to_owned(), self.value(entity, field))];
            self.add(&name, &format!("the index of {}", field.field), value, does, 1);
        }
    }

    fn writes(&mut self, place: &EntityPlace, draft: &EntityDraft) {
        let entity = &place.entity;
        let parent = place.parent.as_ref();
        let children = |place: &EntityPlace| -> Vec<(String, String)> {
            let inside = self.model.layout.entities.iter().zip(&self.model.drafts);
            let own = inside.filter(|(one, _)| {
                !self.is_bucket(one)
                    && one.array.is_some()
                    && one.parent.as_ref().is_some_and(|of| of.entity == place.entity)
            });
            own.filter_map(|(one, draft)| Some((one.parent.as_ref()?.relation.clone(), draft.count.clone()))).collect()
        };
        let inside = children(place);
        let mut arguments: Vec<(&String, String)> =
            parent.map(|of| (&of.entity, format!("zipf({})", of.entity))).into_iter().collect();
        let made = if inside.is_empty() {
            format!("new({entity})")
        } else {
            let counts: Vec<String> = inside.iter().map(|(relation, count)| format!("'{relation}': {count}")).collect();
            format!("new({entity}, {{{}}})", counts.join(", "))
        };
        arguments.push((entity, made));
        let within = parent.map_or(String::new(), |of| format!(", in: {}", of.entity));
        let names: Vec<&str> = inside.iter().map(|(relation, _)| relation.as_str()).collect();
        let with = if names.is_empty() { String::new() } else { format!(", with: [{}]", names.join(", ")) };
        self.add(
            &format!("create_{entity}"),
            "its existence",
            arguments,
            format!("{{ create: {entity}{within}{with} }}"),
            2,
        );
        if let Some(field) = self.settable(place, draft) {
            let name = format!("set_{}_of_{entity}", field.field);
            let arguments = [(entity, format!("zipf({entity})")), (&"value".to_owned(), self.value(entity, field))];
            let does = format!("{{ update: {entity}, set: {{ {}: <value> }} }}", field.field);
            self.add(&name, "a field that could change", arguments, does, 3);
        }
    }

    /// The field that an update is most likely about: one of few values, else a number or text.
    fn settable<'p>(&self, place: &'p EntityPlace, draft: &EntityDraft) -> Option<&'p FieldPlace> {
        let sorted: Vec<&str> = place.sort.iter().map(|(field, _)| field.as_str()).collect();
        let is_open = |field: &&FieldPlace| {
            field.refers.is_none() && !field.unique && !sorted.contains(&field.field.as_str()) && is_drawn(field, draft)
        };
        let open: Vec<&FieldPlace> = place.fields.iter().filter(is_open).collect();
        let is_few = |field: &&&FieldPlace| plain(&field.generator).starts_with("one_of([");
        let varies = |field: &&&FieldPlace| field.generator.contains('(');
        open.iter().find(is_few).or_else(|| open.iter().find(varies)).copied()
    }

    /// The expression of a value of a field: one that a record has, where records have real ones.
    fn value(&self, entity: &str, field: &FieldPlace) -> String {
        match &self.model.data {
            Some(_) if field.is_value => format!("uniform({entity}).{}", field.field),
            _ => plain(&field.generator),
        }
    }

    /// What is read beside a record: its arrays, and the records that it has copies of.
    fn with(&self, place: &EntityPlace, has_arrays: bool) -> String {
        self.with_parts(place, has_arrays).join(", ")
    }

    fn with_parts(&self, place: &EntityPlace, has_arrays: bool) -> Vec<String> {
        let mut parts = Vec::new();
        for (key, words) in &self.model.shape {
            let Some((entity, relation)) = key.split_once('.') else { continue };
            let child = self.child(entity, relation);
            let copied =
                |word: &str| words.iter().find_map(|one| one.strip_prefix(word)?.strip_prefix('(')?.strip_suffix(')'));
            if let Some(fields) = copied("reference") {
                let is_list = self.is_list(entity, relation);
                let up = match child {
                    Some(child) if child.entity == place.entity => Some(entity),
                    None if entity == place.entity && !is_list => Some(relation),
                    _ => None,
                };
                parts.extend(up.map(|up| format!("{up}: [{fields}]")));
            }
            if entity == place.entity && has_arrays {
                if let Some(child) =
                    child.filter(|child| child.array.is_some() && place.array.is_none() && !self.is_bucket(child))
                {
                    let inner = self.with(child, false);
                    parts.push(if inner.is_empty() {
                        format!("{relation}:")
                    } else {
                        format!("{relation}: {{ with: {{ {inner} }} }}")
                    });
                }
                let of_list = copied("list").filter(|_| child.is_none_or(|child| child.array.is_none()));
                parts.extend(of_list.map(|fields| format!("{relation}: [_id, {fields}]")));
            }
        }
        parts
    }

    fn is_bucket(&self, place: &EntityPlace) -> bool {
        let key = place.parent.as_ref().map(|parent| format!("{}.{}", parent.entity, parent.relation));
        let is_word = |word: &String| word.starts_with("bucket(");
        self.model.shape.iter().any(|(other, words)| Some(other) == key.as_ref() && words.iter().any(is_word))
    }

    fn is_list(&self, entity: &str, relation: &str) -> bool {
        let place = self.model.layout.entities.iter().find(|one| one.entity == entity);
        place.is_some_and(|one| one.fields.iter().any(|field| field.field == relation && field.is_list))
    }

    fn child(&self, entity: &str, relation: &str) -> Option<&EntityPlace> {
        let is_it = |one: &&EntityPlace| {
            one.parent.as_ref().is_some_and(|parent| parent.entity == entity && parent.relation == relation)
        };
        self.model.layout.entities.iter().find(is_it)
    }

    fn add<'n>(
        &mut self,
        name: &str,
        why: &str,
        arguments: impl IntoIterator<Item = (&'n String, String)>,
        does: String,
        weight: usize,
    ) {
        self.made.push(InferredOperation {
            name: self.names.take(name),
            comments: vec![format!("a guess from {why}")],
            arguments: arguments.into_iter().map(|(name, value)| (name.clone(), value)).collect(),
            does,
            weight: WEIGHTS[weight],
        });
    }
}

/// The option `with` of a step, if there is anything to add.
fn with_text(parts: &str) -> String {
    if parts.is_empty() { String::new() } else { format!(", with: {{ {parts} }}") }
}

/// Whether a call can draw a value of a field, as a record does.
pub fn is_drawn(field: &FieldPlace, draft: &EntityDraft) -> bool {
    const OF_RECORDS: [&str; 7] = ["missing", "index", "number", "clock()", "range(", "object(", "zipf("];
    let value = plain(&field.generator);
    let has_helper = draft.helpers.iter().any(|(helper, _)| value.contains(helper.as_str()));
    is_plain(&field.field)
        && !field.generator.starts_with('{')
        && !has_helper
        && !OF_RECORDS.iter().any(|word| value.contains(word))
}

/// An expression as it is in a field of YAML, without the quotes of that.
pub fn plain(generator: &str) -> String {
    serde_json::from_str(generator).unwrap_or_else(|_| generator.to_owned())
}
