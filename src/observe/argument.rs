//! The arguments of an operation: which records and values its calls draw.

use std::collections::BTreeMap;

use crate::infer::layout::{EntityPlace, Layout};

use super::calls::Group;
use super::shape::StatementShape;
use super::skew::{FEW, estimate};
use super::text::{argument, free};

/// More pages than this are drawn evenly.
const MOST_PAGES: u64 = 10;

/// The translation of a group of statements into logical steps: what these need besides their own text.
#[derive(Debug)]
pub(super) struct StepTranslation<'a, 'l> {
    pub(super) layout: &'l Layout,
    group: &'a Group<'a>,
    /// The part of the group that is translated.
    pub(super) part: usize,
    /// In the order in which they were needed.
    arguments: Vec<DrawnArgument>,
    comments: Vec<String>,
}

#[derive(Debug)]
struct DrawnArgument {
    name: String,
    generator: String,
    /// How unevenly it is drawn.
    comment: Option<String>,
    /// The entity of a record.
    record_of: Option<String>,
}

impl<'a, 'l> StepTranslation<'a, 'l> {
    pub(super) fn new(layout: &'l Layout, group: &'a Group<'a>, part: usize) -> Self {
        StepTranslation { layout, group, part, arguments: Vec::new(), comments: Vec::new() }
    }

    pub(super) fn shape(&self) -> &'a StatementShape {
        self.group.parts[self.part].shape
    }

    /// Adds a comment on the operation, once.
    pub(super) fn comment(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.comments.contains(&text) {
            self.comments.push(text);
        }
    }

    /// The argument with a record of an entity, which the value of a slot named.
    pub(super) fn record(&mut self, entity: &EntityPlace, slot: Option<usize>) -> String {
        let skew = slot.and_then(|slot| estimate(&self.values(slot), entity.count));
        let of = &entity.entity;
        let (generator, comment) = match skew {
            None => (format!("uniform({of})"), None),
            Some(skew) => {
                let few = match skew.calls {
                    FEW.. => String::new(),
                    calls => format!(", not better than +-0.4 from {calls} calls"),
                };
                let interval = format!("{:.2} (95 % CI {:.2}-{:.2}{few})", skew.exponent, skew.low, skew.high);
                // Rounding must not turn a skew into none, nor the other way round.
                if skew.low <= 0.0 || skew.exponent < 0.01 {
                    (format!("uniform({of})"), Some(format!("uniform, its exponent is {interval}")))
                } else {
                    (format!("zipf({of}, {:.2})", skew.exponent), Some(format!("exponent {interval}")))
                }
            }
        };
        self.add(of, generator, comment, Some(of.clone()))
    }

    /// The argument with a record of this entity, if there is one.
    pub(super) fn record_of(&self, entity: &str) -> Option<String> {
        let found = self.arguments.iter().find(|argument| argument.record_of.as_deref() == Some(entity));
        found.map(|argument| argument.name.clone())
    }

    /// The argument with a value that an expression draws.
    pub(super) fn expression(&mut self, name: &str, expression: String) -> String {
        self.add(&argument(name), expression, None, None)
    }

    /// The argument with a list of records, or of the values of one of their fields: as many as the median of the lists.
    pub(super) fn sample(&mut self, name: &str, entity: &str, field: Option<&str>, slot: usize) -> String {
        let mut sizes = self.values(slot);
        sizes.sort_unstable();
        let median = sizes.get(sizes.len() / 2).copied().unwrap_or_default().max(1);
        let map = field.map(|field| format!(".map(x, x.{field})")).unwrap_or_default();
        self.expression(name, format!("sample({entity}, {median}){map}"))
    }

    /// The argument with the number of a page, from the documents that were skipped.
    pub(super) fn page(&mut self, size: i64, slot: usize) -> String {
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for skipped in self.values(slot) {
            *counts.entry(skipped / size.unsigned_abs().max(1) + 1).or_default() += 1;
        }
        let last = counts.keys().next_back().copied().unwrap_or(1);
        let list = |numbers: Vec<&u64>| numbers.into_iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let (pages, weights) = (list(counts.keys().collect()), list(counts.values().collect()));
        let few = format!("one_of([{pages}], [{weights}])");
        self.expression("page", if last > MOST_PAGES { format!("uniform(1, {last})") } else { few })
    }

    fn values(&self, slot: usize) -> Vec<u64> {
        self.group.parts[self.part].values(slot)
    }

    fn add(&mut self, name: &str, generator: String, comment: Option<String>, record_of: Option<String>) -> String {
        let name = free(name, |name| self.arguments.iter().any(|argument| argument.name == name));
        let comment = comment.map(|comment| format!("{name}: {comment}"));
        self.arguments.push(DrawnArgument { name: name.clone(), generator, comment, record_of });
        name
    }

    /// The arguments that the steps or other arguments name, with their generators; and all comments.
    pub(super) fn finish(self, does: &str) -> (Vec<(String, String)>, Vec<String>) {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let is_used = |name: &str| {
            does.split(|c| !is_part(c)).any(|word| word == name)
                || self.arguments.iter().any(|other| other.generator.starts_with(&format!("{name}.")))
        };
        let (mut used, mut comments) = (Vec::new(), self.comments);
        for argument in self.arguments.iter().filter(|argument| is_used(&argument.name)) {
            used.push((argument.name.clone(), argument.generator.clone()));
            comments.extend(argument.comment.clone());
        }
        (used, comments)
    }
}
