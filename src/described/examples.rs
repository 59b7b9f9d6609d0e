//! The answers that Enter gives: each follows from the answers before it, so that four times Enter is a whole model.

use super::clause::parts;
use super::model::DescribedModel;
use crate::infer::layout::{EntityPlace, FieldPlace};

/// The records of the first example. Those without a number belong to those before them.
pub const RECORDS: &str = "product 200, user 500, order, line";

/// Fields that records of these names usually have.
const USUAL: [(&str, &str); 7] = [
    ("user customer person author member account", "name, email, city"),
    ("product item article", "name, price, stock"),
    ("order", "placed, status, total"),
    ("line", "product, quantity, price"),
    ("post", "title, body, created"),
    ("comment message", "text, created"),
    ("review", "stars, text, created"),
];
/// Fields of any other record.
const OTHERS: &str = "name, status, created";

/// What belongs to what: records without a number of their own belong to those before them.
pub fn example_belongings(known: &DescribedModel) -> String {
    let names: Vec<&str> = known.model.layout.entities.iter().map(|place| place.entity.as_str()).collect();
    let is_counted = &known.is_counted;
    let mut made: Vec<String> = Vec::new();
    for (number, pair) in names.windows(2).enumerate().filter(|(number, _)| !is_counted[number + 1]) {
        let children = if number > 0 && !is_counted[number] { "1-4" } else { "5" };
        made.push(format!("{} of {} {children}", pair[1], pair[0]));
    }
    if made.is_empty() { "none".to_owned() } else { made.join(", ") }
}

/// The usual fields of each record.
pub fn example_fields(known: &DescribedModel) -> String {
    let one = |place: &EntityPlace| {
        let usual = USUAL.iter().find(|(names, _)| names.split(' ').any(|name| name == place.entity));
        let is_free = |field: &&str| place.parent.as_ref().is_none_or(|parent| parent.entity != *field);
        let fields: Vec<&str> = parts(usual.map_or(OTHERS, |(_, fields)| fields), ',').filter(is_free).collect();
        format!("{}: {}", place.entity, fields.join(", "))
    };
    known.model.layout.entities.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// What an application usually does with its main records: those that belong to others and have records of their own.
pub fn example_steps(known: &DescribedModel) -> String {
    let all = &known.model.layout.entities;
    let children = |of: &EntityPlace| -> Vec<&EntityPlace> {
        let is_child = |place: &&EntityPlace| place.parent.as_ref().is_some_and(|parent| parent.entity == of.entity);
        all.iter().filter(is_child).collect()
    };
    let rank = |place: &&EntityPlace| (place.parent.is_some(), !children(place).is_empty());
    // The first one of the highest rank.
    let Some(main) = all.iter().rev().max_by_key(rank) else { return String::new() };
    let name = &main.entity;
    let own: Vec<&EntityPlace> = children(main);
    let names = |with: &[&String]| {
        let names: Vec<&str> = with.iter().map(|name| name.as_str()).collect();
        if names.is_empty() { String::new() } else { format!(" with {}", names.join(" and ")) }
    };
    let mut with: Vec<&String> = own.iter().map(|place| &place.entity).collect();
    let added = names(&with);
    let refers = |field: &&FieldPlace| field.refers.as_ref().is_some_and(|name| name != &main.entity && !field.is_list);
    let referred = own.iter().chain([&main]).flat_map(|place| place.fields.iter().filter(refers));
    for target in referred.filter_map(|field| field.refers.as_ref()) {
        if !with.contains(&target) {
            with.push(target);
        }
    }
    // Where nothing belongs to the main records, they are read with what they belong to.
    let read = match &main.parent {
        Some(parent) if own.is_empty() => format!("read {} with {name} 50", parent.entity),
        _ => format!("read {name}{} 50", names(&with)),
    };
    let mut made = vec![read];
    made.extend(main.parent.as_ref().map(|parent| format!("list {name} of {} 30", parent.entity)));
    made.push(format!("add {name}{added} 15"));
    let is_set = |field: &&FieldPlace| {
        field.refers.is_none() && !field.unique && !field.generator.starts_with('{') && field.generator != "clock()"
    };
    let few = |field: &&FieldPlace| is_set(field) && field.generator.contains("one_of(");
    let field = main.fields.iter().find(few).or_else(|| main.fields.iter().find(is_set));
    made.extend(field.map(|field| format!("set {name}.{} 5", field.field)));
    made.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::answers::{belongings, fields, records};
    use super::super::steps::operations;
    use super::*;

    #[test]
    fn examples_follow_from_earlier_answers_and_are_understood() {
        for (first, expected) in [
            (
                RECORDS,
                "read order with line and product 50, list order of user 30, add order with line 15, set order.status 5",
            ),
            ("author 100, book", "read author with book 50, list book of author 30, add book 15, set book.status 5"),
            ("thing 5", "read thing 50, add thing 15, set thing.status 5"),
            (
                "post 10, comment",
                "read post with comment 50, list comment of post 30, add comment 15, set comment.text 5",
            ),
        ] {
            let made = records(first).unwrap();
            let made = belongings(&example_belongings(&made), &made).unwrap();
            let made = fields(&example_fields(&made), &made).unwrap();
            assert_eq!(example_steps(&made), expected, "{first}");
            made.check(&operations(&example_steps(&made), &made).unwrap()).unwrap();
        }
    }
}
