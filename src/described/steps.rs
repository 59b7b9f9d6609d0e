//! The answer about what the application does: logical steps in a few words.

use super::clause::{numbered, parts};
use super::model::DescribedModel;
use crate::infer::entities::{EntityDraft, InferredModel};
use crate::infer::layout::{EntityPlace, FieldPlace, InferredOperation};
use crate::infer::names::UniqueNames;
use crate::infer::operations::{PAGE, is_drawn, plain};
use crate::scenario::suggest;

/// The weight of the first operation where it has none; each further one has half of that before it.
const FIRST_WEIGHT: f64 = 50.0;
/// More operations are too many to read.
const MOST: usize = 40;

/// The first words of steps, each with an example.
const VERBS: [(&str, &str); 6] = [
    ("read", "read order with line"),
    ("list", "list order of user"),
    ("count", "count order of user"),
    ("add", "add order with line"),
    ("set", "set order.status"),
    ("delete", "delete order"),
];

/// The operations of `read order with line 50, list order of user 30`, most frequent first.
///
/// # Errors
/// What is not understood.
pub fn operations(answer: &str, known: &DescribedModel) -> Result<Vec<InferredOperation>, String> {
    let mut steps = Steps { known, names: UniqueNames::default(), made: Vec::new() };
    for part in parts(answer, ',') {
        let (words, number) = numbered(part);
        let weight = match number.map(|number| (number, number.parse::<f64>())) {
            None => steps.made.last().map_or(FIRST_WEIGHT, |one| (one.weight / 2.0).max(1.0).round()),
            Some((_, Ok(weight))) if weight > 0.0 && weight <= 1e6 => weight,
            Some((number, _)) => {
                return Err(format!("`{number}`: expected a weight, for example 50 for half of the calls"));
            }
        };
        let mut operation = steps.operation(&words).map_err(|why| format!("`{}`: {why}", words.join(" ")))?;
        operation.weight = weight;
        operation.comments = vec![words.join(" ")];
        steps.made.push(operation);
    }
    match steps.made.len() {
        0 => Err(format!("expected at least one step, for example `{}`", VERBS[0].1)),
        1..=MOST => Ok(steps.made),
        _ => Err(format!("expected at most {MOST} steps")),
    }
}

/// What follows the record of a step: `of user`, `by email`, `with line and product`.
#[derive(Debug, Default)]
struct Clauses<'w> {
    of: Option<&'w str>,
    by: Option<&'w str>,
    with: Vec<&'w str>,
}

impl<'w> Clauses<'w> {
    fn read(words: &[&'w str], allowed: &[&str]) -> Result<Clauses<'w>, String> {
        let mut made = Clauses::default();
        for pair in words.chunks(2) {
            let (key, value) = match *pair {
                [key, value] => (key, value),
                _ => return Err(format!("expected a word after `{}`", pair[0])),
            };
            match key {
                "of" if allowed.contains(&key) => made.of = Some(value),
                "by" if allowed.contains(&key) => made.by = Some(value),
                "with" if allowed.contains(&key) => made.with.push(value),
                "and" if !made.with.is_empty() => made.with.push(value),
                _ => return Err(format!("expected {} in place of `{key}`", allowed.join(" or "))),
            }
        }
        Ok(made)
    }
}

struct Steps<'m> {
    known: &'m DescribedModel,
    names: UniqueNames,
    made: Vec<InferredOperation>,
}

impl<'m> Steps<'m> {
    fn operation(&mut self, words: &[&str]) -> Result<InferredOperation, String> {
        let [verb, subject, rest @ ..] = words else {
            return Err(format!("expected a step and a record, for example `{}`", VERBS[0].1));
        };
        match *verb {
            "read" | "get" => self.read(subject, &Clauses::read(rest, &["with", "by"])?),
            "list" => self.list(subject, &Clauses::read(rest, &["of", "by", "with"])?),
            "count" => self.count(subject, &Clauses::read(rest, &["of"])?),
            "add" | "create" | "insert" => self.add(subject, &Clauses::read(rest, &["with"])?),
            "set" | "update" | "change" => self.set(subject, rest),
            "delete" | "remove" if rest.is_empty() => self.delete(subject),
            "delete" | "remove" => Err(format!("expected nothing after `{subject}`")),
            other => {
                let verbs = VERBS.map(|(verb, _)| verb);
                let guess = suggest(other, verbs).map(|verb| format!("; did you mean `{verb}`?")).unwrap_or_default();
                Err(format!("a step begins with {}{guess}", verbs.join(", ")))
            }
        }
    }

    fn read(&mut self, subject: &str, clauses: &Clauses) -> Result<InferredOperation, String> {
        let place = self.place(subject)?;
        let entity = &place.entity;
        let (by, suffix) = match clauses.by {
            None => (String::new(), String::new()),
            Some(name) if field(place, name)?.unique => (format!(", by: [{name}]"), format!("_by_{name}")),
            Some(name) => {
                return Err(format!(
                    "several {} may have the same {name}; write `list {entity} by {name}`",
                    place.collection
                ));
            }
        };
        let with = self.with(place, &clauses.with)?;
        let arguments = vec![drawn(entity)];
        Ok(self.named(format!("read_{entity}{suffix}"), arguments, format!("{{ get: {entity}{by}{with} }}")))
    }

    fn list(&mut self, subject: &str, clauses: &Clauses) -> Result<InferredOperation, String> {
        let place = self.place(subject)?;
        let (entity, plural) = (&place.entity, &place.collection);
        let with = self.with(place, &clauses.with)?;
        let newest = if self.draft(place).arrives_sorted { ", reverse: true" } else { "" };
        let options = format!("{newest}, limit: {PAGE}{with}");
        match (clauses.of, clauses.by) {
            (Some(_), Some(_)) => Err("expected either `of` or `by`".to_owned()),
            (Some(of), None) => {
                let of = self.place(of)?;
                let source = self.source(place, of)?;
                let name = format!("list_{plural}_of_{}", of.entity);
                Ok(self.named(name, vec![drawn(&of.entity)], format!("{{ list: {source}{options} }}")))
            }
            (None, Some(name)) => {
                let by = field(place, name)?;
                let (arguments, value) = self.value(place, by)?;
                let does = format!("{{ list: {entity}, where: {{ {name}: <{value}> }}{options} }}");
                Ok(self.named(format!("list_{plural}_by_{name}"), vec![arguments], does))
            }
            (None, None) => {
                Ok(self.named(format!("list_{plural}"), Vec::new(), format!("{{ list: {entity}{options} }}")))
            }
        }
    }

    fn count(&mut self, subject: &str, clauses: &Clauses) -> Result<InferredOperation, String> {
        let place = self.place(subject)?;
        let Some(of) = clauses.of else { return Err(format!("expected `of`, for example `{}`", VERBS[2].1)) };
        let of = self.place(of)?;
        let does = format!("{{ count: {} }}", self.source(place, of)?);
        Ok(self.named(format!("count_{}_of_{}", place.collection, of.entity), vec![drawn(&of.entity)], does))
    }

    fn add(&mut self, subject: &str, clauses: &Clauses) -> Result<InferredOperation, String> {
        let place = self.place(subject)?;
        let (entity, mut relations, mut counts) = (&place.entity, Vec::new(), Vec::new());
        for word in &clauses.with {
            let child = self.place(word)?;
            let Some(parent) = child.parent.as_ref().filter(|parent| parent.entity == *entity) else {
                return Err(format!("a new {entity} has no {} of its own, only what belongs to it", child.entity));
            };
            relations.push(parent.relation.as_str());
            counts.push(format!("'{}': {}", parent.relation, self.draft(child).count));
        }
        let parent = place.parent.as_ref().map(|parent| &parent.entity);
        let made = if counts.is_empty() { String::new() } else { format!(", {{{}}}", counts.join(", ")) };
        let arguments = parent.map(|parent| drawn(parent)).into_iter();
        let arguments = arguments.chain([(entity.clone(), format!("new({entity}{made})"))]).collect();
        let within = parent.map_or(String::new(), |parent| format!(", in: {parent}"));
        let with = if relations.is_empty() { String::new() } else { format!(", with: [{}]", relations.join(", ")) };
        Ok(self.named(format!("add_{entity}"), arguments, format!("{{ create: {entity}{within}{with} }}")))
    }

    fn set(&mut self, subject: &str, rest: &[&str]) -> Result<InferredOperation, String> {
        let Some((subject, name)) = subject.split_once('.').filter(|_| rest.is_empty()) else {
            return Err(format!("expected a record, a point and a field, for example `{}`", VERBS[4].1));
        };
        let place = self.place(subject)?;
        let entity = &place.entity;
        let (value, argument) = match &place.parent {
            Some(parent) if parent.entity == name => (("to".to_owned(), format!("zipf({name})")), "to".to_owned()),
            _ => self.value(place, field(place, name)?)?,
        };
        let does = format!("{{ update: {entity}, set: {{ {name}: <{argument}> }} }}");
        Ok(self.named(format!("set_{entity}_{name}"), vec![drawn(entity), value], does))
    }

    fn delete(&mut self, subject: &str) -> Result<InferredOperation, String> {
        let entity = &self.place(subject)?.entity;
        let create = format!("{{ create: {entity}");
        let is_made = |one: &&InferredOperation| one.does.split([',', '}']).next().map(str::trim_end) == Some(&create);
        let Some(made) = self.made.iter().find(is_made) else {
            return Err(format!("write `add {entity}` before it, which makes the records that are deleted"));
        };
        let arguments = [("made", format!("earlier({})", made.name)), (entity.as_str(), format!("made.{entity}"))];
        let arguments = arguments.map(|(name, value)| (name.to_owned(), value)).into();
        Ok(self.named(format!("delete_{entity}"), arguments, format!("{{ delete: {entity} }}")))
    }

    /// The option `with`: each record hangs below the first one before it that is related to it.
    fn with(&self, place: &'m EntityPlace, words: &[&str]) -> Result<String, String> {
        let mut nodes = vec![WithNode { place, relation: String::new(), is_many: true, above: 0 }];
        for word in words {
            let other = self.place(word)?;
            let found = nodes.iter().enumerate().find_map(|(above, node)| {
                let (relation, is_many) = self.relation(node.place, other)?;
                Some(WithNode { place: other, relation, is_many, above })
            });
            nodes.push(found.ok_or_else(|| {
                let names: Vec<&str> = nodes.iter().map(|node| node.place.entity.as_str()).collect();
                format!("{} has nothing to do with {}", other.entity, names.join(" or "))
            })?);
        }
        let inner = inside(&nodes, 0);
        Ok(if inner.is_empty() { inner } else { format!(", with: {{ {inner} }}") })
    }

    /// The relation from one record to another, and whether it leads to many.
    fn relation(&self, from: &EntityPlace, to: &EntityPlace) -> Option<(String, bool)> {
        let child = to.parent.as_ref().filter(|parent| parent.entity == from.entity);
        let up = from.parent.as_ref().filter(|parent| parent.entity == to.entity);
        let refers = |field: &&FieldPlace| field.refers.as_ref() == Some(&to.entity);
        let field = from.fields.iter().find(refers);
        let back = self.draft(to).inverse.as_ref().filter(|(list, _)| {
            to.fields.iter().any(|field| field.field == *list && field.refers.as_ref() == Some(&from.entity))
        });
        let child = child.map(|parent| (parent.relation.clone(), true));
        child
            .or(up.map(|parent| (parent.entity.clone(), false)))
            .or(field.map(|field| (field.field.clone(), field.is_list)))
            .or(back.map(|(_, inverse)| (inverse.clone(), true)))
    }

    /// The records of one entity that are related to a record of another one, as `list` and `count` take them.
    fn source(&self, place: &EntityPlace, of: &EntityPlace) -> Result<String, String> {
        if let Some((relation, true)) = self.relation(of, place) {
            return Ok(format!("{}.{relation}", of.entity));
        }
        let refers = |field: &&FieldPlace| field.refers.as_ref() == Some(&of.entity) && !field.is_list;
        let field = place.fields.iter().find(refers);
        let field = field.ok_or_else(|| format!("{} has nothing to do with {}", place.entity, of.entity))?;
        Ok(format!("{}, where: {{ {}: <{}> }}", place.entity, field.field, of.entity))
    }

    /// An argument with a new value of a field, and its name.
    fn value(&self, place: &EntityPlace, field: &FieldPlace) -> Result<((String, String), String), String> {
        let name = &field.field;
        if field.is_list || field.generator.starts_with('{') || name == "_id" {
            return Err(format!("expected a field with one value that can change, `{name}` is none"));
        }
        let (argument, value) = match &field.refers {
            Some(target) => ("to", format!("zipf({target})")),
            None if field.generator == "clock()" => ("value", "clock()".to_owned()),
            None if is_drawn(field, self.draft(place)) => ("value", plain(&field.generator)),
            None => ("value", "text(20)".to_owned()),
        };
        Ok(((argument.to_owned(), value), argument.to_owned()))
    }

    fn place(&self, word: &str) -> Result<&'m EntityPlace, String> {
        self.known.find(word).map(|entity| &self.known.model.layout.entities[entity])
    }

    fn draft(&self, place: &EntityPlace) -> &'m EntityDraft {
        let InferredModel { layout, drafts, .. } = &self.known.model;
        let number = layout.entities.iter().position(|one| one.entity == place.entity);
        &drafts[number.unwrap_or_default()]
    }

    fn named(&mut self, name: String, arguments: Vec<(String, String)>, does: String) -> InferredOperation {
        InferredOperation { name: self.names.take(&name), arguments, does, ..InferredOperation::default() }
    }
}

/// A record of `with`.
struct WithNode<'m> {
    place: &'m EntityPlace,
    relation: String,
    is_many: bool,
    /// The number of the record that it hangs below.
    above: usize,
}

/// The relations below a record, as YAML. Of single records one field is read: which ones is for the user to say.
fn inside(nodes: &[WithNode], above: usize) -> String {
    let one = |(number, node): (usize, &WithNode)| {
        let below = inside(nodes, number);
        let first = node.place.fields.iter().find(|field| field.refers.is_none() && field.field != "_id");
        let first = first.map_or("_id", |field| field.field.as_str());
        match (node.is_many, below.is_empty()) {
            (true, true) => format!("{}:", node.relation),
            (true, false) => format!("{}: {{ with: {{ {below} }} }}", node.relation),
            (false, true) => format!("{}: [{first}]", node.relation),
            (false, false) => format!("{}: {{ fields: [{first}], with: {{ {below} }} }}", node.relation),
        }
    };
    let own = nodes.iter().enumerate().skip(1).filter(|(_, node)| node.above == above);
    own.map(one).collect::<Vec<_>>().join(", ")
}

/// An argument with a record, the popular ones more often.
fn drawn(entity: &str) -> (String, String) {
    (entity.to_owned(), format!("zipf({entity})"))
}

fn field<'p>(place: &'p EntityPlace, name: &str) -> Result<&'p FieldPlace, String> {
    let names = || place.fields.iter().map(|field| field.field.as_str());
    place.fields.iter().find(|field| field.field == name).ok_or_else(|| {
        let guess = suggest(name, names()).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        format!("{} has no field `{name}` ({}){guess}", place.entity, names().collect::<Vec<_>>().join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::super::answers::{belongings, fields, records};
    use super::*;

    fn shop() -> DescribedModel {
        let made = records("user 50, product 20, category 5, order, line").unwrap();
        let made = belongings("order of user 5, line of order 1-4", &made).unwrap();
        fields("user: name, email; product: name, categories; order: placed, status; line: product, price", &made)
            .unwrap()
    }

    #[test]
    fn few_words_become_logical_steps_that_are_derived() {
        let shop = shop();
        for (words, arguments, does) in [
            (
                "read order with user and line and product",
                "order: zipf(order)",
                "{ get: order, with: { user: [name], lines: { with: { product: [name] } } } }",
            ),
            ("read user by email", "user: zipf(user)", "{ get: user, by: [email] }"),
            ("list orders of user", "user: zipf(user)", "{ list: user.orders, reverse: true, limit: 10 }"),
            (
                "list line of product",
                "product: zipf(product)",
                "{ list: line, where: { product: <product> }, limit: 10 }",
            ),
            ("list category of product", "product: zipf(product)", "{ list: product.categories, limit: 10 }"),
            ("list product of category", "category: zipf(category)", "{ list: category.products, limit: 10 }"),
            (
                "list order by status",
                "value: one_of(['open', 'active', 'done'], [2, 3, 5])",
                "{ list: order, where: { status: <value> }, reverse: true, limit: 10 }",
            ),
            ("list order with user", "", "{ list: order, reverse: true, limit: 10, with: { user: [name] } }"),
            ("count line of order", "order: zipf(order)", "{ count: order.lines }"),
            (
                "add order with line",
                "user: zipf(user), order: new(order, {'lines': uniform(1, lines_per_order)})",
                "{ create: order, in: user, with: [lines] }",
            ),
            ("add user", "user: new(user)", "{ create: user }"),
            ("set order.user", "order: zipf(order), to: zipf(user)", "{ update: order, set: { user: <to> } }"),
            ("set user.email", "user: zipf(user), value: text(20)", "{ update: user, set: { email: <value> } }"),
        ] {
            let made = operations(words, &shop).unwrap();
            let all: Vec<String> = made[0].arguments.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            assert_eq!((all.join(", ").as_str(), made[0].does.as_str()), (arguments, does), "{words}");
            shop.check(&made).unwrap();
        }
        let deleting = operations("add order, delete order", &shop).unwrap();
        assert_eq!(deleting[1].arguments[0].1, "earlier(add_order)");
        shop.check(&deleting).unwrap();
    }

    #[test]
    fn weights_without_a_number_are_halved() {
        let weights =
            |words: &str| -> Vec<f64> { operations(words, &shop()).unwrap().iter().map(|one| one.weight).collect() };
        assert_eq!(weights("read user, list order of user, add user 5 %, add order"), [50.0, 25.0, 5.0, 3.0]);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (words, expected) in [
            ("", "expected at least one step"),
            ("raed user", "did you mean `read`?"),
            ("read", "expected a step and a record"),
            ("read usr", "did you mean `user`?"),
            ("read user 0", "`0`: expected a weight"),
            ("read user of order", "expected with or by in place of `of`"),
            ("read order with", "expected a word after `with`"),
            ("read user by name", "write `list user by name`"),
            ("read user with product", "product has nothing to do with user"),
            ("list user of order", "user has nothing to do with order"),
            ("add user with product", "a new user has no product of its own"),
            ("set user", "a record, a point and a field"),
            ("set user name", "a record, a point and a field"),
            ("delete user now", "expected nothing after `user`"),
            ("set user.nme", "did you mean `name`?"),
            ("set product.categories", "`categories` is none"),
            ("delete user", "write `add user` before it"),
        ] {
            let why = operations(words, &shop()).unwrap_err();
            assert!(why.contains(expected), "{why} instead of {expected}");
        }
    }

    #[test]
    fn what_cannot_be_derived_is_named_in_the_words_of_the_answer() {
        let shop = shop();
        let made = operations("read user, add product, delete product", &shop).unwrap();
        let why = shop.check(&made).unwrap_err();
        assert!(why.starts_with("`delete product` cannot be derived: "), "{why}");
    }
}
