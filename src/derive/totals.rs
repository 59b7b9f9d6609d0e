//! Counters, sums and the newest records that the one side of a relation has of the many.

use crate::scenario::{Node, Spanned};

use super::build::{all, is_empty, keep, map, slot, update_one, with, with_all};
use super::located::Located;
use super::model::PathEnd;
use super::number::grouped;
use super::refusal::{Derived, refuse_shape};
use super::reply::LogicalReply;
use super::rows::Rows;
use super::selection::Selection;
use super::shape::Word;
use super::summary::sum_of;
use super::translate::{Changes, Translation};
use super::write::FAIL;

/// Changes of one document together.
pub(super) fn together(one: Node, other: &Node) -> Node {
    other.as_mapping().unwrap_or_default().iter().fold(one, |made, (operator, fields)| {
        let both = made.get(&operator.value).map_or_else(|| fields.clone(), |own| with_all(own.clone(), fields));
        with(made, &operator.value, both)
    })
}

/// Steps that are right together, in which a document that is updated twice is updated once, where the first update finds it
/// by all that the second one asks for.
pub(super) fn merged(steps: Vec<Node>) -> Vec<Node> {
    let mut made: Vec<Node> = Vec::new();
    let mut rest = steps.into_iter().peekable();
    while let Some(step) = rest.next() {
        let Some(at) = (0..made.len()).rfind(|at| is_same_document(&made[*at], &step)) else {
            made.push(step);
            continue;
        };
        let both = made[at].get("update").zip(step.get("update"));
        let is_next = made[at + 1..]
            .iter()
            .all(|between| between.get("if").is_some() && between.on_one_line(str::to_owned).contains(FAIL));
        match both.filter(|(first, second)| is_next && !overlap(first, second)) {
            Some((first, second)) => {
                made[at] = with(made[at].clone(), "update", together(first.clone(), second));
                // Without the document the operation has ended.
                rest.next_if(|next| next.get("if").and_then(Node::as_text) == Some("reply.matched == 0"));
            }
            None => made.push(step),
        }
    }
    made
}

/// Whether an update, whose reply nobody needs, is of the document that another one has found.
fn is_same_document(first: &Node, second: &Node) -> bool {
    let named = second.as_mapping().unwrap_or_default().iter().map(|(key, _)| key.value.as_str());
    let conditions = second.get("filter").and_then(Node::as_mapping).unwrap_or_default();
    named.eq(["updateOne", "filter", "update"])
        && first.get("updateOne") == second.get("updateOne")
        && first.get("arrayFilters").is_none()
        && first
            .get("filter")
            .is_some_and(|found| conditions.iter().all(|(key, value)| found.get(&key.value) == Some(value)))
}

/// Whether two updates change the same field, or an element that a filter has found.
fn overlap(first: &Node, second: &Node) -> bool {
    let paths = |update: &Node| -> Vec<String> {
        let operators = update.as_mapping().unwrap_or_default().iter();
        operators
            .flat_map(|(_, fields)| fields.as_mapping().unwrap_or_default())
            .map(|(path, _)| format!("{}.", path.value))
            .collect()
    };
    let (first, second) = (paths(first), paths(second));
    first.iter().chain(&second).any(|path| path.contains(".$"))
        || first.iter().any(|one| second.iter().any(|other| one.starts_with(other) || other.starts_with(one)))
}

/// How sums follow an update of the fields that they add up.
pub(super) struct FollowedSums {
    /// The variable with the document before the update.
    pub old: String,
    /// What of it is needed.
    pub projection: Node,
    /// Whether the update changes nothing else.
    pub is_all: bool,
    /// The conditions under which the update changes something, where it changes nothing else; none: always.
    pub differs: Vec<String>,
    /// The steps that change the sums.
    pub after: Vec<Node>,
}

impl Translation<'_, '_> {
    /// The change of the one side for a record that comes to the many side, or goes; `values` is the expression of a document
    /// with the fields that are added up.
    pub fn totals(&mut self, relation: usize, values: &str, comes: bool, steps: &mut Vec<Node>) -> Node {
        let (model, shape) = (self.model(), self.documents.shape);
        let down = model.relations[relation].down();
        let mut added = map! {};
        if let Some(counter) = shape.counter(model, relation) {
            added = with(added, &counter, if comes { 1 } else { -1 });
        }
        for field in shape.sums(relation) {
            let mut value = format!("{values}.{field}");
            if !comes {
                let less = self.fresh("less");
                steps.push(keep(&less, format!("-{value}")));
                value = less;
            }
            added = with(added, &sum_of(down, field), slot(&value));
        }
        let mut change = if is_empty(&added) {
            map! {}
        } else {
            map! { "$inc" => added }
        };
        if let Some((most, field)) = shape.newest(model, relation).filter(|_| comes) {
            let sort = model.entity(model.relations[relation].many).sort.clone().unwrap_or_else(|| map! {});
            let each: Vec<Node> = vec![slot(values)];
            let least = self.negative(most, steps);
            let push = map! { "$each" => each, "$sort" => sort, "$slice" => least };
            change = with(change, "$push", map! { field => push });
        }
        change
    }

    /// The template of a number of a shape times -1.
    fn negative(&mut self, number: &str, steps: &mut Vec<Node>) -> Node {
        if let Ok(number) = number.parse::<i64>() {
            return (-number).into();
        }
        let name = self.fresh("least");
        steps.push(keep(&name, format!("-{number}")));
        slot(&name)
    }

    /// What an update of added up fields does to the sums of other documents; `None` where it changes none.
    pub fn follow_sums(&mut self, argument: &str, entity: usize, changes: Changes) -> Derived<Option<FollowedSums>> {
        let (model, shape) = (self.model(), self.documents.shape);
        let Some(relation) = self.changed_sums(entity, changes).filter(|it| shape.word(*it) != Word::Embed) else {
            return Ok(None);
        };
        let this = &model.relations[relation];
        let old = self.fresh("old");
        let (mut after, mut added, mut differs, mut is_all) = (Vec::new(), map! {}, Vec::new(), true);
        let mut always = false;
        for (operator, fields) in changes {
            for (key, value) in fields {
                if !shape.sums(relation).contains(&key.value) {
                    is_all = false;
                    continue;
                }
                let Some(Spanned { value: text, .. }) = value.as_literal() else {
                    let message =
                        format!("`{}` has a sum, and `{}` is set to no value", model.key(relation), key.value);
                    return refuse_shape(relation, message, "by how much does it change?", "set it to an argument");
                };
                let text = text.strip_prefix('<').and_then(|text| text.strip_suffix('>')).unwrap_or(&text);
                let mut amount = value.clone();
                if operator == "$set" {
                    let more = self.fresh("more");
                    after.push(keep(&more, format!("{text} - {old}.{}", key.value)));
                    amount = slot(&more);
                    differs.push(format!("{old}.{} != {text}", key.value));
                } else {
                    always |= text.parse::<i64>().is_ok_and(|number| number != 0);
                    differs.push(format!("{text} != 0"));
                }
                added = with(added, &sum_of(this.down(), &key.value), amount);
            }
        }
        let filter = self.owner_filter(relation, argument, &old);
        after.push(update_one(&model.collection(this.one), filter, map! { "$inc" => added }));
        if always {
            differs.clear();
        }
        let fields = shape.sums(relation).iter().map(String::as_str).chain([this.up()]).collect::<Vec<_>>();
        Ok(Some(FollowedSums {
            projection: with_all(map! { "_id" => 0 }, &all(&fields, 1)),
            old,
            is_all,
            differs,
            after,
        }))
    }

    /// The relation with sums of fields that an update changes.
    fn changed_sums(&self, entity: usize, changes: Changes) -> Option<usize> {
        let relation = self.model().parent_of(entity)?;
        let sums = self.documents.shape.sums(relation);
        let is_added = |(key, _): &(Spanned<String>, Node)| sums.contains(&key.value);
        changes.iter().any(|(_, fields)| fields.iter().any(is_added)).then_some(relation)
    }

    /// The update of a record in an array whose owner has sums of its fields: they are added up again, from the new array.
    pub fn added_up(
        &self,
        entity: usize,
        place: &Located,
        changes: Changes,
        is_guarded: bool,
    ) -> Derived<Option<Node>> {
        let (model, shape) = (self.model(), self.documents.shape);
        let Some(relation) = self.changed_sums(entity, changes).filter(|it| shape.word(*it) == Word::Embed) else {
            return Ok(None);
        };
        let (key, down) = (model.key(relation), model.relations[relation].down());
        let has_parts = changes.iter().any(|(_, fields)| fields.iter().any(|(field, _)| field.value.contains('.')));
        if is_guarded || has_parts {
            let message = format!(
                "`{key}` has a sum inside of its record, and an update changes it on a condition, with others, or with parts of fields"
            );
            return refuse_shape(
                relation,
                message,
                "not derived",
                "make it an operation of its own, or try `reference`",
            );
        }
        let mut values = map! {};
        for (operator, fields) in changes {
            for (field, value) in fields {
                let added: Vec<Node> = vec![format!("$$this.{}", field.value).into(), value.clone()];
                let new = if operator == "$inc" {
                    map! { "$add" => added }
                } else {
                    map! { "$literal" => value.clone() }
                };
                values = with(values, &field.value, new);
            }
        }
        let [is_it, both]: [Vec<Node>; 2] =
            [vec!["$$this._id".into(), place.id.clone()], vec!["$$this".into(), values]];
        let chosen: Vec<Node> = vec![map! { "$eq" => is_it }, map! { "$mergeObjects" => both }, "$$this".into()];
        let array = map! { "$map" => map! { "input" => format!("${down}"), "in" => map! { "$cond" => chosen } } };
        let sum =
            |made, field: &String| with(made, &sum_of(down, field), map! { "$sum" => format!("${down}.{field}") });
        let sums = shape.sums(relation).iter().fold(map! {}, sum);
        Ok(Some(vec![map! { "$set" => map! { down => array } }, map! { "$set" => sums }].into()))
    }

    /// The filter of the one side of a record whose document is in a variable.
    pub fn owner_filter(&mut self, relation: usize, argument: &str, old: &str) -> Node {
        let model = self.model();
        if !old.is_empty() && self.documents.shape.up_word(relation) == Word::Reference {
            return map! { "_id" => slot(&format!("{old}.{}", model.relations[relation].up())) };
        }
        let field = self.documents.shape.list_id(model, relation);
        self.documents.index(&model.collection(model.relations[relation].one), &[(field.clone(), 1)], false);
        map! { field => slot(&format!("{argument}._id")) }
    }

    /// The number of records of a path, or the sum of a field of them, where other documents have it.
    pub fn stored_total(&mut self, subject: &PathEnd, filter: &Node, field: Option<&str>) -> Option<LogicalReply> {
        match subject {
            _ if !is_empty(filter) => None,
            PathEnd::All(entity) => self.total_of_all(*entity, field),
            PathEnd::Many(from, relation, true) => {
                let is_bucket = field.is_none() && self.documents.shape.word(*relation) == Word::Bucket;
                if is_bucket { Some(self.count_pages(from, *relation)) } else { self.total(from, *relation, field) }
            }
            _ => None,
        }
    }

    /// The counter or sum of a path, where the one side has it.
    fn total(&mut self, from: &str, relation: usize, field: Option<&str>) -> Option<LogicalReply> {
        let name = self.total_field(relation, field)?;
        let place = self.locate(from, self.model().relations[relation].one);
        let step = place.find(Some(map! { "_id" => 0, name.as_str() => 1 }));
        Some(LogicalReply { steps: vec![step], value: format!("reply == null ? 0 : reply.{name}") })
    }

    /// The same of all records of an entity, whose parents or buckets have them.
    fn total_of_all(&self, entity: usize, field: Option<&str>) -> Option<LogicalReply> {
        let (model, shape) = (self.model(), self.documents.shape);
        let relation = model.parent_of(entity)?;
        let is_bucket = shape.word(relation) == Word::Bucket && field.is_none();
        let collection =
            if is_bucket { shape.home(model, entity).0 } else { model.collection(model.relations[relation].one) };
        let name = if is_bucket { "count".to_owned() } else { self.total_field(relation, field)? };
        let rows = Rows { collection, stages: Vec::new(), path: Vec::new() };
        Some(grouped(rows, &map! {}, map! { "$sum" => format!("${name}") }))
    }

    /// The field with the counter or sum of a relation, where the one side has it.
    fn total_field(&self, relation: usize, field: Option<&str>) -> Option<String> {
        let (model, shape) = (self.model(), self.documents.shape);
        let Some(field) = field else { return shape.counter(model, relation) };
        let sum = shape.sums(relation).iter().find(|sum| *sum == field)?;
        Some(sum_of(model.relations[relation].down(), sum))
    }

    /// Refuses to take a record out of an array whose owner has sums of its fields.
    pub fn check_inner_sums(&self, entity: usize, what: &str) -> Derived<()> {
        let (model, shape) = (self.model(), self.documents.shape);
        let is_inside = |relation: &usize| shape.word(*relation) == Word::Embed && !shape.sums(*relation).is_empty();
        let Some(relation) = model.parent_of(entity).filter(is_inside) else { return Ok(()) };
        let message = format!("`{}: [embed, sum]` of records that an operation {what}", model.key(relation));
        refuse_shape(relation, message, "not derived", "try `reference` or `list`, or write this operation by hand")
    }

    /// Refuses a change after which an older record would have to take its place among the newest.
    pub fn check_newest(&self, entity: usize, what: &str, changed: &[String]) -> Derived<()> {
        let (model, shape) = (self.model(), self.documents.shape);
        let Some(relation) = model.parent_of(entity).filter(|it| shape.newest(model, *it).is_some()) else {
            return Ok(());
        };
        let sort = model.entity(entity).sort.as_ref();
        if !changed.is_empty() && !changed.iter().any(|field| sort.is_some_and(|sort| sort.get(field).is_some())) {
            return Ok(());
        }
        let message = format!("`{}: newest` of records that an operation {what}", model.key(relation));
        let help = "try `reference` or `list`, mark such records by a field, or write this operation by hand";
        refuse_shape(relation, message, "an older one would have to take its place", help)
    }

    /// The newest records, from the array `holder` of the one side, if they are all that is asked for.
    pub fn newest_part(&self, relation: usize, selection: &Selection, holder: &str) -> Option<(String, String)> {
        let (most, field) = self.documents.shape.newest(self.model(), relation)?;
        let many = self.model().relations[relation].many;
        // They have the fields of the records, and nothing by which these are found from others.
        let is_own = |field: &String| self.model().has_field(many, field.split('.').next().unwrap_or_default());
        let limit = selection.newest_limit().filter(|_| selection.fields.iter().all(is_own))?;
        let limit = limit.as_literal()?.value;
        let limit = limit.trim_matches(['<', '>']);
        let newest = format!("reverse({holder}.{field})");
        match (limit.parse::<i64>(), most.parse::<i64>()) {
            _ if limit == most => Some((field, newest)),
            (Ok(limit), Ok(most)) if limit < most => Some((field, format!("slice({newest}, 0, {limit})"))),
            _ => None,
        }
    }
}
