//! A model that is put together by entities, relations and fields.

use std::path::Path;

use crate::infer::compare;
use crate::infer::entities::{EntityDraft, InferredModel};
use crate::infer::generator::text;
use crate::infer::layout::{EntityPlace, FieldPlace, InferredOperation, ParentPlace};
use crate::infer::names::{is_plain, singular};
use crate::infer::write::{ModelOrigin, ScenarioText};
use crate::scenario::suggest;

/// Records of an entity, and children of a record, in the mix `verify`.
const VERIFIED: (u64, u64) = (12, 4);
/// Records where the answer has no number.
const USUAL: u64 = 500;
/// Records in a list of records.
const LISTED: u64 = 3;

/// How many children a record has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Children {
    /// This many on average: most records have few, some have many.
    About(u64),
    /// From one number to another one, all equally often.
    Between(u64, u64),
}

/// A model without samples.
#[derive(Debug, Clone, Default)]
pub struct DescribedModel {
    /// The model.
    pub model: InferredModel,
    /// Which entities have a number of records, in the order in which they were added.
    pub is_counted: Vec<bool>,
}

impl DescribedModel {
    /// Adds an entity. Its collection has the name in the plural.
    pub fn add_entity(&mut self, name: &str, counted: Option<u64>) {
        let (collection, count) = (plural(name), counted.unwrap_or(USUAL));
        self.is_counted.push(counted.is_some());
        let draft = EntityDraft {
            parameter: Some((collection.clone(), count.to_string(), count.min(VERIFIED.0).to_string())),
            ..EntityDraft::default()
        };
        let id = FieldPlace { unique: true, ..field("_id", "oid()".to_owned()) };
        let place = EntityPlace {
            entity: name.to_owned(),
            collection,
            count,
            fields: vec![id],
            sort: vec![("_id".to_owned(), 1)],
            ..EntityPlace::default()
        };
        self.model.layout.entities.push(place);
        self.model.drafts.push(draft);
    }

    /// Lets the records of one entity belong to those of another one.
    pub fn set_parent(&mut self, child: usize, parent: usize, children: Children) {
        let of = self.name(parent).to_owned();
        let parents = self.model.layout.entities[parent].count;
        let (place, draft) = (&mut self.model.layout.entities[child], &mut self.model.drafts[child]);
        let relation = place.collection.clone();
        let parameter = format!("{relation}_per_{of}");
        let (count, most, verified, mean) = match children {
            Children::About(mean) => (format!("zipf_count({parameter})"), mean, mean.min(VERIFIED.1), mean),
            Children::Between(fewest, most) => {
                let count = format!("uniform({fewest}, {parameter})");
                (count, most, most.min(fewest.max(VERIFIED.1)), fewest.midpoint(most))
            }
        };
        draft.count = count;
        draft.parameter = Some((parameter, most.to_string(), verified.to_string()));
        place.count = parents.saturating_mul(mean);
        self.model.shape.push((format!("{of}.{relation}"), vec!["reference".to_owned()]));
        let reference = Some(vec![of.clone()]);
        place.parent = Some(ParentPlace { entity: of, relation, reference, list: None });
    }

    /// Adds a field with a value. The first time of creation orders the records.
    pub fn add_value(&mut self, entity: usize, name: &str, generator: &str, unique: bool) {
        let (place, draft) = (&mut self.model.layout.entities[entity], &mut self.model.drafts[entity]);
        if generator == "clock()" && !draft.arrives_sorted {
            place.sort.insert(0, (name.to_owned(), 1));
            draft.arrives_sorted = true;
        }
        let generator = if generator.starts_with('{') { generator.to_owned() } else { text(generator) };
        place.fields.push(FieldPlace { unique, ..field(name, generator) });
    }

    /// Adds a field with a record of another entity.
    pub fn add_record(&mut self, entity: usize, name: &str, target: usize) {
        let refers = Some(self.name(target).to_owned());
        self.model.shape.push((format!("{}.{name}", self.name(entity)), vec!["reference".to_owned()]));
        let generator = text(&format!("zipf({})", self.name(target)));
        self.model.layout.entities[entity].fields.push(FieldPlace { refers, ..field(name, generator) });
    }

    /// Adds a field with a list of records, which know of it by another name.
    pub fn add_records(&mut self, entity: usize, name: &str, target: usize, inverse: &str) {
        let of = self.name(target).to_owned();
        self.model.shape.push((format!("{}.{name}", self.name(entity)), vec!["list".to_owned()]));
        let most = self.model.layout.entities[target].count.min(LISTED);
        let generator = format!("{{ set: {} }}", text(&format!("sample({of}, uniform(0, {most}))")));
        self.model.drafts[entity].inverse = Some((name.to_owned(), inverse.to_owned()));
        let records = FieldPlace { refers: Some(of), is_list: true, ..field(name, generator) };
        self.model.layout.entities[entity].fields.push(records);
    }

    /// Puts parents before children, and records before those that refer to them, as far as they do not refer to each other.
    #[must_use]
    pub fn finished(mut self) -> DescribedModel {
        let InferredModel { layout, drafts, .. } = &mut self.model;
        let mut left: Vec<(EntityPlace, EntityDraft)> = layout.entities.drain(..).zip(drafts.drain(..)).collect();
        while !left.is_empty() {
            let is_left = |name: &String| left.iter().any(|(place, _)| place.entity == *name);
            let needs = |place: &EntityPlace| {
                let others = place.fields.iter().filter_map(|field| field.refers.as_ref());
                let has_parent = place.parent.as_ref().is_some_and(|parent| is_left(&parent.entity));
                (has_parent, others.filter(|name| **name != place.entity && is_left(name)).count())
            };
            let next = (0..left.len()).min_by_key(|number| (needs(&left[*number].0), *number)).unwrap_or_default();
            let (place, draft) = left.remove(next);
            layout.entities.push(place);
            drafts.push(draft);
        }
        self.model.name_parameters();
        self
    }

    /// The text of the scenario.
    pub fn text(&self, name: &str, operations: &[InferredOperation], notes: &[String]) -> String {
        let (model, origin) = (&self.model, &ModelOrigin::ANSWERS);
        ScenarioText { name, model, operations, origin, other_indexes: &[], left_out: notes }.text()
    }

    /// The first operation that cannot be derived, with the reason.
    ///
    /// # Errors
    /// That one.
    pub fn check(&self, operations: &[InferredOperation]) -> Result<(), String> {
        for one in operations {
            let needed = earlier(one, operations);
            let text = self.text("model", &needed, &[]);
            compare::plan(&text, Path::new("")).map_err(|problems| {
                let first = problems.lines().find_map(|line| line.strip_prefix("error: ")).unwrap_or(&problems);
                format!("`{}` cannot be derived: {first}", one.comments.first().unwrap_or(&one.name))
            })?;
        }
        Ok(())
    }

    /// The entity of this name, in singular or plural.
    ///
    /// # Errors
    /// What is not understood, with the nearest name.
    pub fn find(&self, word: &str) -> Result<usize, String> {
        let names = self.model.layout.entities.iter().map(|place| place.entity.as_str());
        let spellings = [word.to_owned(), singular(word)];
        let is_it = |name: &str| {
            plural(name).eq_ignore_ascii_case(word) || spellings.iter().any(|one| one.eq_ignore_ascii_case(name))
        };
        names.clone().position(is_it).ok_or_else(|| {
            let guess = suggest(word, names.clone()).map(|name| format!("; did you mean `{name}`?"));
            let all = names.collect::<Vec<_>>().join(", ");
            format!("`{word}` is none of the records ({all}){}", guess.unwrap_or_default())
        })
    }

    /// The name of an entity.
    pub fn name(&self, entity: usize) -> &str {
        &self.model.layout.entities[entity].entity
    }
}

/// An operation with those above it that its arguments need.
fn earlier(one: &InferredOperation, all: &[InferredOperation]) -> Vec<InferredOperation> {
    let uses =
        |other: &InferredOperation| one.arguments.iter().any(|(_, value)| *value == format!("earlier({})", other.name));
    all.iter().filter(|other| uses(other)).chain([one]).cloned().collect()
}

fn field(name: &str, generator: String) -> FieldPlace {
    crate::infer::entities::plain_field(name, vec![name.to_owned()], generator)
}

/// What several records are called.
pub fn plural(name: &str) -> String {
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    match name.strip_suffix('y') {
        Some(stem) if !ends(&["ay", "ey", "oy", "uy"]) => format!("{stem}ies"),
        _ if ends(&["s", "x", "ch", "sh"]) => format!("{name}es"),
        _ => format!("{name}s"),
    }
}

/// A name that a model takes, as it is.
///
/// # Errors
/// What a name may be.
pub fn named(word: &str) -> Result<&str, String> {
    let is_name = is_plain(word) && word != "_id";
    is_name.then_some(word).ok_or_else(|| format!("`{word}` cannot be a name: use letters, digits and `_`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_lead_back_to_their_singulars() {
        for (one, many) in [("order", "orders"), ("category", "categories"), ("box", "boxes"), ("day", "days")] {
            assert_eq!((plural(one).as_str(), singular(many).as_str()), (many, one));
        }
    }

    #[test]
    fn parents_and_targets_come_first() {
        let mut made = DescribedModel::default();
        for name in ["line", "order", "user", "product"] {
            made.add_entity(name, Some(10));
        }
        made.set_parent(0, 1, Children::Between(1, 3));
        made.set_parent(1, 2, Children::About(20));
        made.add_record(0, "product", 3);
        let made = made.finished();
        let names: Vec<&str> = (0..4).map(|entity| made.name(entity)).collect();
        assert_eq!(names, ["user", "order", "product", "line"]);
        let draft = &made.model.drafts[1];
        assert_eq!(draft.count, "zipf_count(orders_per_user)");
        assert_eq!(draft.parameter, Some(("orders_per_user".into(), "20".into(), "4".into())));
    }
}
