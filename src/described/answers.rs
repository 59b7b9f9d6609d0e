//! The answers about data: records, what belongs to what, and fields.

use super::clause::{numbered, parts, whole};
use super::model::{Children, DescribedModel, named, plural};
use super::values::{FieldValue, TYPES};
use crate::infer::layout::EntityPlace;
use crate::infer::names::singular;
use crate::scenario::suggest;

/// The most records of an entity, and children of a record: what a scenario loads is made anew in every round.
const MOST: (u64, u64) = (10_000_000, 100_000);
/// Children of a record where the answer has no number.
const CHILDREN: Children = Children::About(5);

/// The records of `user 1000, order, line`.
///
/// # Errors
/// What is not understood.
pub fn records(answer: &str) -> Result<DescribedModel, String> {
    let mut made = DescribedModel::default();
    for part in parts(answer, ',') {
        let (words, number) = numbered(part);
        let [word] = words.as_slice() else {
            return Err(format!("`{part}`: expected a name and a number, for example `user 1000`"));
        };
        let (first, rest) = named(word)?.split_at(1);
        let name = singular(&(first.to_lowercase() + rest));
        if made.model.layout.entities.iter().any(|place| place.entity == name) {
            return Err(format!("`{name}` is there twice"));
        }
        made.add_entity(named(&name)?, number.map(|number| whole(number, 1, MOST.0)).transpose()?);
    }
    match made.model.layout.entities.len() {
        0 => Err("expected at least one kind of records, for example `user 1000`".to_owned()),
        1..=40 => Ok(made),
        _ => Err("expected at most 40 kinds of records".to_owned()),
    }
}

/// Adds what `order of user 5, line of order 1-4` says.
///
/// # Errors
/// What is not understood.
pub fn belongings(answer: &str, known: &DescribedModel) -> Result<DescribedModel, String> {
    let mut made = known.clone();
    let mut all: Vec<(usize, usize, Option<Children>)> = Vec::new();
    for part in parts(answer, ',').filter(|part| *part != "none") {
        let (words, number) = numbered(part);
        let [child, "of", parent] = words.as_slice() else {
            return Err(format!("`{part}`: expected `order of user 5`, where a user has about 5 orders"));
        };
        let (child, parent) = (made.find(child)?, made.find(parent)?);
        let (of, name) = (made.name(parent).to_owned(), made.name(child).to_owned());
        if child == parent {
            return Err(format!("{name} cannot belong to {of}: trees are written by hand, see `docshape show trees`"));
        }
        if let Some((_, other, _)) = all.iter().find(|(one, ..)| *one == child) {
            let other = made.name(*other);
            return Err(format!(
                "each {name} belongs to one {other} already; name {of} among its fields in the next answer: `{name}: {of}`"
            ));
        }
        if number.is_some() && made.is_counted[child] {
            return Err(format!("`{part}`: the first answer has the number of {name}; leave it out here"));
        }
        all.push((child, parent, number.map(children).transpose()?));
    }
    let parent_of = |child: usize| all.iter().find(|(one, ..)| *one == child).map(|(_, parent, _)| *parent);
    let mut depths: Vec<(usize, usize)> = Vec::new();
    for (number, (child, ..)) in all.iter().enumerate() {
        let above = std::iter::successors(Some(*child), |one| parent_of(*one)).take(all.len() + 2).count();
        if above > all.len() + 1 {
            return Err(format!("{} belongs to itself in the end; leave one of these out", made.name(*child)));
        }
        depths.push((above, number));
    }
    // Parents first: the number of records follows from theirs.
    depths.sort_unstable();
    for (_, number) in depths {
        let (child, parent, children) = all[number];
        let [records, parents] = [child, parent].map(|entity| made.model.layout.entities[entity].count);
        let counted = made.is_counted[child].then(|| Children::About((records / parents.max(1)).max(1)));
        made.set_parent(child, parent, children.or(counted).unwrap_or(CHILDREN));
        let records = made.model.layout.entities[child].count;
        if records > MOST.0 {
            return Err(format!("{records} records of {} are too many; expected at most {}", made.name(child), MOST.0));
        }
    }
    Ok(made)
}

/// How many children `5` or `1-4` are.
fn children(text: &str) -> Result<Children, String> {
    let Some((fewest, most)) = text.split_once('-') else { return whole(text, 1, MOST.1).map(Children::About) };
    let (fewest, most) = (whole(fewest, 0, MOST.1)?, whole(most, 1, MOST.1)?);
    if fewest > most {
        return Err(format!("`{text}`: expected the smaller number first"));
    }
    Ok(Children::Between(fewest, most))
}

/// Adds what `user: name, email; order: status, total number` says.
///
/// # Errors
/// What is not understood.
pub fn fields(answer: &str, known: &DescribedModel) -> Result<DescribedModel, String> {
    let mut made = known.clone();
    for part in parts(answer, ';').filter(|part| *part != "none") {
        let Some((entity, fields)) = part.split_once(':') else {
            return Err(format!("`{part}`: expected a record, a colon and its fields: `user: name, email`"));
        };
        let entity = made.find(entity.trim())?;
        for field in parts(fields, ',') {
            if field.contains(':') {
                return Err(format!("`{field}`: expected a semicolon before the next record"));
            }
            add_field(&mut made, entity, &field.split_whitespace().collect::<Vec<_>>())?;
        }
    }
    Ok(made.finished())
}

fn add_field(made: &mut DescribedModel, entity: usize, words: &[&str]) -> Result<(), String> {
    let (name, kind) = match words {
        [name] => (*name, None),
        [name, kind] => (*name, Some(*kind)),
        _ => return Err(format!("`{}`: expected a name, or a name and a type", words.join(" "))),
    };
    if name == "_id" {
        return Err("`_id`: every record has one; leave it out".to_owned());
    }
    let name = named(name)?;
    let place = &made.model.layout.entities[entity];
    let own = place.entity.clone();
    if place.fields.iter().any(|field| field.field == name) {
        return Err(format!("`{name}` is twice in {own}"));
    }
    if place.parent.as_ref().is_some_and(|parent| parent.entity == name) {
        return Err(format!("`{name}`: each {own} belongs to one {name} already; leave it out"));
    }
    let is_of_children = |other: &&EntityPlace| {
        other.parent.as_ref().is_some_and(|parent| parent.entity == own && parent.relation == name)
    };
    if let Some(child) = made.model.layout.entities.iter().find(is_of_children) {
        return Err(format!("`{name}`: each {} belongs to one {own} already; leave it out", child.entity));
    }
    match (kind, made.find(name)) {
        (Some(kind), _) => {
            let value = FieldValue::of_type(kind).ok_or_else(|| unknown_type(kind))?;
            made.add_value(entity, name, &value.generator, false);
        }
        (None, Ok(target)) if target == entity => {
            return Err(format!(
                "`{name}`: records of one kind in each other are written by hand, see `docshape show trees`"
            ));
        }
        (None, Ok(target)) if made.name(target) == name => made.add_record(entity, name, target),
        (None, Ok(target)) => {
            let inverse = plural(&own);
            if made.model.layout.entities[target].fields.iter().any(|field| field.field == inverse) {
                return Err(format!(
                    "`{name}`: each {} has {inverse} already; leave one of the two out",
                    made.name(target)
                ));
            }
            made.add_records(entity, name, target, &inverse);
        }
        (None, _) => {
            let value = FieldValue::of_name(name).unwrap_or_else(FieldValue::text);
            made.add_value(entity, name, &value.generator, value.unique);
        }
    }
    Ok(())
}

fn unknown_type(kind: &str) -> String {
    let names = TYPES.map(|(name, _)| name);
    let guess = suggest(kind, names).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    format!("`{kind}` is no type ({}, or the length of a text){guess}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(first: &str, second: &str, third: &str) -> Result<DescribedModel, String> {
        records(first).and_then(|made| belongings(second, &made)).and_then(|made| fields(third, &made))
    }

    #[test]
    fn answers_become_entities() {
        let made = model(
            "Users 1_000, product 30, categories 5, order, line",
            "order of user 5, lines of orders 1-4",
            "product: name, categories, weight decimal; user: email; line: product, note 500; order: placed, status",
        )
        .unwrap();
        let entities: Vec<String> = made
            .model
            .layout
            .entities
            .iter()
            .map(|place| {
                let fields = place.fields.iter().map(|field| format!("{}={}", field.field, field.generator));
                format!("{} {} {}", place.entity, place.count, fields.skip(1).collect::<Vec<_>>().join(" "))
            })
            .collect();
        assert_eq!(
            entities,
            [
                "user 1000 email=\"'u' + string(index) + '@example.com'\"",
                "category 5 ",
                "product 30 name=words(2) categories={ set: \"sample(category, uniform(0, 3))\" } weight=\"uniform(0.0, 1000.0)\"",
                "order 5000 placed=clock() status=\"one_of(['open', 'active', 'done'], [2, 3, 5])\"",
                "line 10000 product=zipf(product) note=text(500)",
            ]
        );
        let order = &made.model.layout.entities[3];
        assert_eq!(order.sort, [("placed".to_owned(), 1), ("_id".to_owned(), 1)]);
        assert!(made.model.drafts[3].arrives_sorted);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let default = ("user 10, order, line", "order of user, line of order", "none");
        for (first, second, third, expected) in [
            ("", default.1, default.2, "expected at least one kind"),
            ("user ten", default.1, default.2, "`user ten`: expected a name and a number"),
            ("user 10k", default.1, default.2, "`10k`: expected a whole number"),
            ("user 0", default.1, default.2, "`0`: expected a whole number from 1"),
            ("user, users", default.1, default.2, "`user` is there twice"),
            ("in 5", default.1, default.2, "`in` cannot be a name"),
            (default.0, "order in user", default.2, "`order in user`: expected `order of user 5`"),
            (default.0, "ordr of user", default.2, "did you mean `order`?"),
            (default.0, "user of user", default.2, "docshape show trees"),
            ("user, order 50", "order of user 5", default.2, "leave it out here"),
            (default.0, default.1, "user: user", "docshape show trees"),
            (default.0, "order of user 9-3", default.2, "smaller number first"),
            (default.0, "order of user, user of line, line of order", default.2, "belongs to itself in the end"),
            (default.0, "line of order, line of user 5", default.2, "`line: user`"),
            (default.0, default.1, "user name", "`user name`: expected a record, a colon"),
            (default.0, default.1, "user: name, order: status", "expected a semicolon"),
            (default.0, default.1, "user: name texts", "did you mean `text`?"),
            (default.0, default.1, "user: name, name", "`name` is twice in user"),
            (default.0, default.1, "order: user", "each order belongs to one user already"),
            (default.0, default.1, "user: orders", "each order belongs to one user already"),
            (default.0, default.1, "user: $x", "`$x` cannot be a name"),
        ] {
            let why = model(first, second, third).map(|_| ()).unwrap_err();
            assert!(why.contains(expected), "{why} instead of {expected}");
        }
    }
}
