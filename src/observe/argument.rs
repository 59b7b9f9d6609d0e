//! The arguments of an operation: which records and values its calls draw.

use std::collections::BTreeMap;

use crate::infer::layout::EntityPlace;

use super::calls::Group;
use super::observations::Observations;
use super::skew::{FEW, estimate};
use super::text::argument;

/// More pages than this are drawn evenly.
const MOST_PAGES: u64 = 10;

/// A value of a statement: the number of the part of the group, and the slot.
pub(super) type Draw = (usize, usize);

/// The arguments, in the order in which they were needed.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct DrawnArguments {
    items: Vec<DrawnArgument>,
}

#[derive(Debug, Clone, PartialEq)]
struct DrawnArgument {
    name: String,
    source: ArgumentSource,
}

#[derive(Debug, Clone, PartialEq)]
enum ArgumentSource {
    /// A record, with the values that named it.
    Record {
        entity: String,
        records: u64,
        draw: Option<Draw>,
    },
    Expression(String),
    /// Records, as many as the list had values.
    Sample {
        entity: String,
        field: Option<String>,
        draw: Draw,
    },
    /// The number of a page, from the documents that were skipped.
    Page {
        draw: Draw,
        size: i64,
    },
}

impl DrawnArguments {
    /// A record of an entity, and the name of its argument.
    pub(super) fn record(&mut self, entity: &EntityPlace, draw: Option<Draw>) -> String {
        let (name, records) = (entity.entity.clone(), entity.count);
        self.add(&entity.entity, ArgumentSource::Record { entity: name, records, draw })
    }

    /// The argument with a record of this entity, if there is one.
    pub(super) fn record_of(&self, entity: &str) -> Option<&str> {
        let is_record =
            |source: &ArgumentSource| matches!(source, ArgumentSource::Record { entity: of, .. } if of == entity);
        self.items.iter().find(|item| is_record(&item.source)).map(|item| item.name.as_str())
    }

    /// A value that an expression draws.
    pub(super) fn expression(&mut self, name: &str, expression: String) -> String {
        self.add(&argument(name), ArgumentSource::Expression(expression))
    }

    /// A list of records, or of the values of one of their fields.
    pub(super) fn sample(&mut self, name: &str, entity: &str, field: Option<&str>, draw: Draw) -> String {
        let (entity, field) = (entity.to_owned(), field.map(str::to_owned));
        self.add(&argument(name), ArgumentSource::Sample { entity, field, draw })
    }

    /// The number of a page.
    pub(super) fn page(&mut self, size: i64, draw: Draw) -> String {
        self.add("page", ArgumentSource::Page { draw, size })
    }

    fn add(&mut self, name: &str, source: ArgumentSource) -> String {
        let is_taken = |name: &str| self.items.iter().any(|item| item.name == name);
        let name = if is_taken(name) {
            let numbered = (2..).map(|n| format!("{name}_{n}")).find(|name| !is_taken(name));
            numbered.unwrap_or_default()
        } else {
            name.to_owned()
        };
        self.items.push(DrawnArgument { name: name.clone(), source });
        name
    }

    /// Leaves out what neither the step nor another argument names.
    pub(super) fn keep_used(&mut self, does: &str) {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let names = |text: &str, name: &str| text.split(|c| !is_part(c)).any(|word| word == name);
        let all = self.items.clone();
        self.items.retain(|item| {
            let draws = |other: &DrawnArgument| {
                matches!(&other.source, ArgumentSource::Expression(text) if text.starts_with(&format!("{}.", item.name)))
            };
            names(does, &item.name) || all.iter().any(draws)
        });
    }

    /// The arguments with their generators, and comments on how unevenly they are drawn.
    pub(super) fn written(&self, observations: &Observations, group: &Group) -> (Vec<(String, String)>, Vec<String>) {
        let mut comments = Vec::new();
        let write = |item: &DrawnArgument| {
            let generator = match &item.source {
                ArgumentSource::Expression(expression) => expression.clone(),
                ArgumentSource::Record { entity, records, draw } => {
                    let values = draw.map(|draw| values(observations, group, draw)).unwrap_or_default();
                    record(&item.name, entity, &values, *records, &mut comments)
                }
                ArgumentSource::Sample { entity, field, draw } => {
                    let size = median(values(observations, group, *draw)).max(1);
                    let map = field.as_ref().map(|field| format!(".map(x, x.{field})")).unwrap_or_default();
                    format!("sample({entity}, {size}){map}")
                }
                ArgumentSource::Page { draw, size } => pages(&values(observations, group, *draw), *size),
            };
            (item.name.clone(), generator)
        };
        let written = self.items.iter().map(write).collect();
        (written, comments)
    }
}

fn values(observations: &Observations, group: &Group, (part, slot): Draw) -> Vec<u64> {
    let statements = group.parts.get(part).map(|part| part.statements.as_slice()).unwrap_or_default();
    statements.iter().filter_map(|statement| observations.statements[*statement].values.get(slot).copied()).collect()
}

fn record(name: &str, entity: &str, values: &[u64], records: u64, comments: &mut Vec<String>) -> String {
    let Some(skew) = estimate(values, records) else {
        return format!("uniform({entity})");
    };
    let few =
        if skew.calls < FEW { format!(", not better than +-0.4 from {} calls", skew.calls) } else { String::new() };
    let interval = format!("{:.2} (95 % CI {:.2}-{:.2}{few})", skew.exponent, skew.low, skew.high);
    // Rounding must not turn a skew into none, nor the other way round.
    if skew.low <= 0.0 || skew.exponent < 0.01 {
        comments.push(format!("{name}: uniform, its exponent is {interval}"));
        return format!("uniform({entity})");
    }
    comments.push(format!("{name}: exponent {interval}"));
    format!("zipf({entity}, {:.2})", skew.exponent)
}

fn median(mut sizes: Vec<u64>) -> u64 {
    sizes.sort_unstable();
    sizes.get(sizes.len() / 2).copied().unwrap_or_default()
}

fn pages(skipped: &[u64], size: i64) -> String {
    let size = size.unsigned_abs().max(1);
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for skipped in skipped {
        *counts.entry(skipped / size + 1).or_default() += 1;
    }
    let last = counts.keys().next_back().copied().unwrap_or(1);
    if last > MOST_PAGES {
        return format!("uniform(1, {last})");
    }
    let list = |items: Vec<String>| items.join(", ");
    let pages = list(counts.keys().map(u64::to_string).collect());
    format!("one_of([{pages}], [{}])", list(counts.values().map(u64::to_string).collect()))
}
