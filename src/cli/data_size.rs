//! How much data a scenario loads, estimated from the first documents of every collection.

use crate::engine::Documents;
use crate::plan::{Arm, Collection, EvalError, LoopOver, Plan, checking};
use crate::report::{bytes, count, counted};
use crate::scenario::{Diagnostic, Diagnostics, EntityDefinition, Scenario, Span};

/// How many documents of a collection are made.
const SAMPLED: usize = 50;
/// The bytes after which no more are made.
const ENOUGH: f64 = 5e5;
/// The size limit of MongoDB's documents, in bytes.
const LARGEST: usize = 16 * 1024 * 1024;
/// Documents from this size on are worth a warning, in bytes: the server reads and writes one as a whole.
const LARGE: usize = 1_000_000;
/// The data that are worth a word, in bytes.
const WORTH_SAYING: f64 = 1e9;
/// The speed of loading, documents and bytes per second: about that of the published scenarios on two cores. Both take their time.
const SPEED: (f64, f64) = (80_000.0, 50e6);

/// The documents of one strategy.
#[derive(Default)]
struct DataSize {
    documents: f64,
    bytes: f64,
}

/// Makes documents of every collection, the largest of them too, and reports those that cannot be made or are too large. Returns a
/// line for each strategy with much data.
pub fn check_data(scenario: &Scenario, plan: &Plan, diagnostics: &Diagnostics) -> Vec<String> {
    let mut lines = Vec::new();
    for arm in plan.arms.iter() {
        let mut size = DataSize::default();
        for series in arm.series() {
            let collection = &series[0];
            let mut largest = LargestDocument::default();
            let made = checking(|| size.add(plan, series, &mut largest))
                .and_then(|()| largest.look_for(scenario, plan, collection));
            if let Err(error) = made {
                let message = format!("cannot make a document of `{}` in `{}`: {error}", collection.name, arm.name);
                let help = "documents have at most 16 MiB; see docs/format.md for the other limits";
                diagnostics.error(place(scenario, arm, collection), message, help);
            } else if !collection.skips_large {
                largest.check(scenario, plan, (arm, collection)).into_iter().for_each(|one| one.add_to(diagnostics));
            }
        }
        if size.bytes > WORTH_SAYING {
            lines.push(size.describe(&arm.name));
        }
    }
    lines
}

/// The largest document of a collection, as far as those are that were made.
#[derive(Default)]
struct LargestDocument {
    bytes: usize,
    /// The record that it belongs to, as the one with the most descendants of an entity: its entity, theirs, and their number.
    of: Option<(usize, usize, u64)>,
}

impl LargestDocument {
    /// Makes the documents of the records with the most children, which nothing that is made at random would find.
    fn look_for(&mut self, scenario: &Scenario, plan: &Plan, collection: &Collection) -> Result<(), EvalError> {
        let outermost = collection.loops.as_ref().and_then(|loops| loops.first());
        let Some(LoopOver::Entity(entity)) = outermost.map(|outermost| &outermost.over) else { return Ok(()) };
        for descendants in 0..plan.data.entities.len() {
            let Some((ordinal, number)) = plan.data.most_descendants(*entity, descendants) else { continue };
            let of = (*entity, descendants, number);
            let document = checking(|| Documents::of_record(plan, collection, ordinal).next().transpose());
            let document =
                document.map_err(|error| EvalError::new(format!("{}: {error}", whose(scenario, plan, of))))?;
            let bytes = document.map_or(0, |document| document.as_bytes().len());
            if bytes > self.bytes {
                *self = LargestDocument { bytes, of: Some(of) };
            }
        }
        Ok(())
    }

    /// What is wrong with a document of this size, at the entry of the shape that puts the descendants into it.
    fn check(&self, scenario: &Scenario, plan: &Plan, of: (&Arm, &Collection)) -> Option<Diagnostic> {
        // Those that are large by themselves are what the scenario is about.
        if self.bytes < LARGE || self.of.is_none() && self.bytes <= LARGEST {
            return None;
        }
        let (arm, collection) = of;
        let (name, size) = (&collection.name, bytes(self.bytes as f64));
        let whose = self.of.map_or_else(String::new, |of| format!(", {}", whose(scenario, plan, of)));
        let entry = self.of.and_then(|(entity, descendants, _)| entry(scenario, plan, arm, (entity, descendants)));
        let place = entry.unwrap_or_else(|| place(scenario, arm, collection));
        let help = "`bucket(n)`, `newest(n)` and `reference` keep documents small";
        Some(if self.bytes > LARGEST {
            let message = format!("a document of `{name}` would have {size}{whose}");
            Diagnostic::error(place, message)
                .label("MongoDB takes at most 16 MiB")
                .help(format!("{help}; or draw fewer records"))
        } else {
            let message = format!("a document of `{name}` has {size}{whose}");
            Diagnostic::warning(place, message).label("large: every read and every change takes all of it").help(help)
        })
    }
}

/// The entry of a strategy's shape about the relation by which an entity descends from another: the lowest that it has.
fn entry(scenario: &Scenario, plan: &Plan, arm: &Arm, line: (usize, usize)) -> Option<Span> {
    let (entity, descendants) = line;
    let strategy = scenario.strategies.iter().find(|one| one.name.value == arm.name)?;
    let entries = strategy.line(&scenario.strategies).filter_map(|one| one.shape.as_ref()).flatten();
    let parent = |one: &usize| plan.data.entities[*one].parent;
    let mut line = std::iter::successors(Some(descendants), parent).take_while(|one| *one != entity);
    line.find_map(|child| {
        let definition = definition(scenario, plan, child)?;
        let key = format!("{}.{}", definition.parent.as_ref()?.value, definition.children_name.as_ref()?.value);
        let (name, words) = entries.clone().find(|(name, _)| name.value == key)?;
        Some(Span::new(name.span.start, words.span.end.max(name.span.end)))
    })
}

/// The words for a record with so many descendants.
fn whose(scenario: &Scenario, plan: &Plan, of: (usize, usize, u64)) -> String {
    let (entity, descendants, number) = of;
    let children = definition(scenario, plan, descendants).and_then(|one| one.children_name.as_ref());
    let children = children.map_or("", |name| name.value.as_str());
    format!("that of the {} with {} {children}", plan.data.entities[entity].name, count(number))
}

/// An entity of the plan as the user wrote it.
fn definition<'s>(scenario: &'s Scenario, plan: &Plan, entity: usize) -> Option<&'s EntityDefinition> {
    scenario.entities.iter().find(|one| *one.name.value == *plan.data.entities[entity].name)
}

/// The bytes of the documents that the baseline loads, estimated; 0 where they cannot be made.
pub fn loaded_bytes(plan: &Plan) -> f64 {
    let mut size = DataSize::default();
    for series in plan.arms.iter().take(1).flat_map(Arm::series) {
        // The loader reports documents that cannot be made.
        let _ = checking(|| size.add(plan, series, &mut LargestDocument::default()));
    }
    size.bytes
}

impl DataSize {
    /// Adds the collections of one definition. All are like the first. The number of documents is known where each record makes
    /// one; otherwise it is a lower bound.
    fn add(&mut self, plan: &Plan, series: &[Collection], largest: &mut LargestDocument) -> Result<(), EvalError> {
        let (collection, copies) = (&series[0], series.len() as f64);
        let (mut made, mut size) = (0.0_f64, 0.0);
        for document in Documents::new(plan, collection, collection.load_order).take(SAMPLED) {
            let length = document?.as_bytes().len();
            largest.bytes = largest.bytes.max(length);
            (made, size) = (made + 1.0, size + length as f64);
            if size > ENOUGH {
                break;
            }
        }
        let outermost = collection.loops.as_ref().and_then(|loops| loops.first());
        let documents = outermost.map_or(0.0, |outermost| match outermost.over {
            LoopOver::Entity(entity) => made.max(plan.data.len(entity) as f64),
            LoopOver::List(_) => made,
        });
        if made > 0.0 {
            self.documents += copies * documents;
            self.bytes += copies * documents * size / made;
        }
        Ok(())
    }

    fn describe(&self, strategy: &str) -> String {
        let minutes = (self.documents / SPEED.0 + self.bytes / SPEED.1) / 60.0;
        let (documents, size) = (counted(self.documents as u64, "document"), bytes(self.bytes));
        let minutes = counted(minutes.ceil() as u64, "minute");
        format!("{strategy} loads about {documents} of {size} in every round, which takes about {minutes} on two cores")
    }
}

/// Where the scenario names the collection, or else the strategy, which may have inherited it.
fn place(scenario: &Scenario, arm: &Arm, collection: &Collection) -> Span {
    let strategy = scenario.strategies.iter().find(|strategy| strategy.name.value == arm.name);
    let named = |name: &str| strategy?.collections.iter().find(|own| own.name.value == name).map(|own| own.name.span);
    named(&collection.written).or(strategy.map(|strategy| strategy.name.span)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::compile::{Choice, compile};
    use crate::scenario::{self, Source};

    use super::*;

    /// One user of ten has the orders, and no document at random is large.
    const TEXT: &str = "
format: 1
name: test
title: Test
parameters: { orders: 5 }
entities:
  user: { count: 100, fields: { _id: index } }
  order: { of: user, as: orders, count: 'user._id == 97 ? orders : 2', fields: { _id: index, note: 'text(1000)' }, sort: { _id: 1 }, arrives_sorted: true }
operations:
  page: { arguments: { user: uniform(user) }, does: { list: user.orders } }
mixes: { default: { page: 1 } }
strategies:
  referenced: { shape: { user.orders: reference } }
  inside: { shape: { user.orders: embed } }
  joined: { like: inside, join: lookup }
";

    /// The problems with this many orders, each with the text that it is about.
    fn problems(orders: u64) -> Vec<(String, String)> {
        let (source, diagnostics) =
            (Source::new("test.yaml", TEXT.replace("orders: 5", &format!("orders: {orders}"))), Diagnostics::new());
        let scenario = scenario::read(&source, &diagnostics).unwrap();
        let plan = compile(&scenario, &Choice { all: true, ..Choice::default() }, &diagnostics).unwrap().unwrap();
        assert!(!diagnostics.has_errors(), "{}", diagnostics.render(&source, false));
        let diagnostics = Diagnostics::new();
        check_data(&scenario, &plan, &diagnostics);
        diagnostics.iter().map(|one| (one.message, source.text[one.span.start..one.span.end].to_owned())).collect()
    }

    #[test]
    fn the_record_with_the_most_children_is_looked_at() {
        assert_eq!(problems(900), []);
        let place = "user.orders: embed".to_owned();
        assert_eq!(
            problems(1_500),
            [("a document of `users` has 1.55 MB, that of the user with 1,500 orders".to_owned(), place.clone())]
        );
        assert_eq!(
            problems(17_000),
            [("a document of `users` would have 17.5 MB, that of the user with 17,000 orders".to_owned(), place)]
        );
    }
}
