//! What generators draw, where that takes more than a line of their [table](super::generator).

use std::collections::HashSet;
use std::sync::Arc;

use crate::generate::{self, Label, Permutation, Stream, Zipf};

use super::call_id::{FIRST_NEW_RECORD, MOST_NEW_CHILDREN, never};
use super::data::{NUMBER_SLOT, PARENT_SLOT, Relatives};
use super::function::as_int;
use super::generator::{CHOSEN, GeneratorArgument, GeneratorCall};
use super::{EvalError, Frame, Value};

/// The value at a path of the line that belongs to the record whose field is drawn.
pub(super) fn line(path: &str, frame: &Frame) -> Result<Option<Value>, EvalError> {
    let entity = frame.entity.map(|entity| &frame.data.entities[entity]);
    let file = entity.and_then(|entity| entity.lines.as_ref());
    let file =
        file.ok_or_else(|| EvalError::new("line: only a field of an entity with `from` has a line of that file"))?;
    Ok(file.value(frame.ordinal, path))
}

/// Both ends included.
pub(super) fn uniform(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    let (a, b) = (call.value(0, frame)?, call.value(1, frame)?);
    let stream = &mut call.stream(frame);
    match (&a, &b) {
        (Value::Int(a), Value::Int(b)) => generate::uniform_int(stream, *a, *b).map(Value::Int).map_err(EvalError::new),
        (Value::Double(a), Value::Double(b)) => {
            generate::uniform_float(stream, *a, *b).map(Value::Double).map_err(EvalError::new)
        }
        _ => {
            let (a, b) = (a.kind(), b.kind());
            Err(EvalError::new(format!("uniform: expected two ints or two doubles, found {a} and {b}")))
        }
    }
}

/// Both ends included.
pub(super) fn uniform_record(call: &GeneratorCall, from: i64, to: i64, frame: &mut Frame) -> Result<Value, EvalError> {
    let entity = call.records()?;
    let loaded = frame.data.len(entity) as i64;
    if from < 0 || to >= loaded || from > to {
        let name = &frame.data.entities[entity].name;
        let expected = format!("a range within the {loaded} records of `{name}`");
        return Err(EvalError::new(format!("uniform: expected {expected}, found {from} to {to}")));
    }
    let ordinal = generate::uniform_int(&mut call.stream(frame), from, to).map_err(EvalError::new)?;
    Ok(frame.data.reference(entity, ordinal as u64))
}

/// Record 0 is the most popular; with a name, the first record of the order that the name selects.
pub(super) fn zipf(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    let entity = call.records()?;
    let exponent = if call.arguments.len() == 1 { generate::DEFAULT_EXPONENT } else { call.number(1, frame)? };
    let rank = frame.data.popularity(entity, exponent)?.sample(&mut call.stream(frame));
    let ordinal = if call.arguments.len() == 3 { permutation(call, 2, frame)?.place(rank) } else { rank };
    Ok(frame.data.reference(entity, ordinal))
}

/// The order of popularity that a name gives to the entity's records: the same for equal names.
fn permutation(call: &GeneratorCall, position: usize, frame: &Frame) -> Result<Permutation, EvalError> {
    let GeneratorArgument::Field(name) = &call.arguments[position] else { return Err(call.unfit()) };
    Ok(Permutation::new(frame.data.len(call.records()?), frame.data.seed, Label::new(name)))
}

/// Zipf, counted back from the newest loaded record.
pub(super) fn latest(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    let entity = call.records()?;
    let rank = frame.data.popularity(entity, generate::DEFAULT_EXPONENT)?.sample(&mut call.stream(frame));
    Ok(frame.data.reference(entity, frame.data.len(entity) - 1 - rank))
}

/// Each loaded record and each recent call is as probable as any other.
pub(super) fn known(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    let entity = call.records()?;
    let [_, GeneratorArgument::Operation(calls)] = call.arguments.as_slice() else { return Err(call.unfit()) };
    let (mut stream, loaded) = (call.stream(frame), frame.data.len(entity));
    let place = stream.below((loaded + calls.recent(frame)).max(1));
    if place < loaded {
        return Ok(frame.data.reference(entity, place));
    }
    let ordinal = match calls.before(frame, &mut stream) {
        Some(earlier) => return calls.made(frame, earlier, entity),
        None if loaded > 0 => place % loaded,
        None => FIRST_NEW_RECORD + never(frame.ordinal),
    };
    Ok(frame.data.reference(entity, ordinal))
}

/// A percentage of the draws picks one of the first records, the others pick any.
pub(super) fn hotspot(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    let (entity, records, percent) = (call.records()?, call.int(1, frame)?, call.number(2, frame)?);
    let loaded = frame.data.len(entity);
    if loaded == 0 || records < 1 || records as u64 > loaded || !(0.0..=100.0).contains(&percent) {
        let name = &frame.data.entities[entity].name;
        let message = format!("cannot give {percent} % of the draws to {records} of {loaded} records of `{name}`");
        return Err(EvalError::new(format!("hotspot: {message}")));
    }
    let mut stream = call.stream(frame);
    let bound = if stream.unit() * 100.0 < percent { records as u64 } else { loaded };
    Ok(frame.data.reference(entity, stream.below(bound)))
}

pub(super) fn date_between(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    match (call.value(0, frame)?, call.value(1, frame)?) {
        (Value::Date(a), Value::Date(b)) => {
            generate::uniform_int(&mut call.stream(frame), a, b).map(Value::Date).map_err(EvalError::new)
        }
        (a, b) => Err(EvalError::new(format!("date_between: expected two dates, found {} and {}", a.kind(), b.kind()))),
    }
}

pub(super) fn one_of(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    let list = call.list(0, frame)?;
    if list.is_empty() {
        return Err(EvalError::new("one_of: the list is empty"));
    }
    Ok(list[call.stream(frame).below(list.len() as u64) as usize].clone())
}

/// An element, in proportion to its weight.
pub(super) fn weighted(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    let (list, weights) = (call.list(0, frame)?, call.numbers(1, frame)?);
    let total: f64 = weights.iter().sum();
    if list.len() != weights.len() {
        return Err(EvalError::new(format!("one_of: {} elements have {} weights", list.len(), weights.len())));
    }
    if weights.iter().any(|weight| *weight < 0.0) || !total.is_finite() || total <= 0.0 {
        return Err(EvalError::new("one_of: expected weights >= 0, of which one is above 0"));
    }
    let mut left = call.stream(frame).unit() * total;
    let chosen = weights.iter().position(|weight| {
        left -= weight;
        left < 0.0
    });
    // Rounding may lead past the last weight.
    let last = || weights.iter().rposition(|weight| *weight > 0.0);
    Ok(list[chosen.or_else(last).unwrap_or_default()].clone())
}

/// A value between the given ones, linear between neighbours; without percents each gap is equally probable. Ints and dates
/// stay what they are.
pub(super) fn quantiles(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    let values = call.list(0, frame)?;
    let gaps = values.len().saturating_sub(1);
    let percents = match call.arguments.len() {
        1 => (0..=gaps).map(|gap| 100.0 * gap as f64 / gaps.max(1) as f64).collect(),
        _ => call.numbers(1, frame)?,
    };
    let ascends = percents.windows(2).all(|pair| pair[0] <= pair[1]);
    let spans_all = percents.first() == Some(&0.0) && percents.last() == Some(&100.0);
    if gaps == 0 || percents.len() != values.len() || !ascends || !spans_all {
        let expected = "two or more values and as many percents, which ascend from 0 to 100";
        return Err(EvalError::new(format!("quantiles: expected {expected}")));
    }
    let drawn = call.stream(frame).unit() * 100.0;
    let gap = percents.partition_point(|percent| *percent <= drawn).clamp(1, gaps) - 1;
    let within = (drawn - percents[gap]) / (percents[gap + 1] - percents[gap]);
    let between = |a: f64, b: f64| a + (b - a) * within;
    match (&values[gap], &values[gap + 1]) {
        (Value::Int(a), Value::Int(b)) => Ok(Value::Int(between(*a as f64, *b as f64).round() as i64)),
        (Value::Date(a), Value::Date(b)) => Ok(Value::Date(between(*a as f64, *b as f64).round() as i64)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(between(*a, *b))),
        (a, b) => {
            let (a, b) = (a.kind(), b.kind());
            Err(EvalError::new(format!("quantiles: expected only ints, only doubles or only dates, found {a} and {b}")))
        }
    }
}

pub(super) fn record(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    let (entity, position) = (call.records()?, call.int(1, frame)?);
    match u64::try_from(position).ok().filter(|ordinal| *ordinal < frame.data.len(entity).max(frame.ordinal)) {
        Some(ordinal) => Ok(frame.data.reference(entity, ordinal)),
        None => {
            let name = &frame.data.entities[entity].name;
            Err(EvalError::new(format!("record: `{name}` has no record {position}")))
        }
    }
}

/// What the second argument of `new` says.
pub(super) fn relatives(call: &GeneratorCall, frame: &mut Frame) -> Result<Relatives, EvalError> {
    let entity = call.records()?;
    let given = call.value(1, frame)?;
    let this = &frame.data.entities[entity];
    if let Value::Record(parent) = &given
        && this.parent == Some(parent.entity())
    {
        return Ok(Relatives {
            parent: Some((parent.ordinal(), FIRST_NEW_RECORD + frame.ordinal)),
            children: Vec::new(),
        });
    }
    let Value::Map(lists) = &given else {
        let parent = this.parent.map(|parent| format!("a record of `{}`, or ", frame.data.entities[parent].name));
        let expected = format!("{}a map such as {{'children': 2}}", parent.unwrap_or_default());
        return Err(EvalError::new(format!("new: expected {expected}, found {}", given.kind())));
    };
    let child = |(name, count): &(Arc<str>, Value)| {
        let (name, count) = (&**name, as_int(count).map_err(|error| call.named(error))?);
        let child = this.children.iter().find(|(list, _)| **list == *name);
        let (_, child) =
            child.ok_or_else(|| EvalError::new(format!("new: `{}` has no children `{name}`", this.name)))?;
        let count = u64::try_from(count).ok().filter(|count| *count <= MOST_NEW_CHILDREN);
        let wrong = || EvalError::new(format!("new: expected 0 to {MOST_NEW_CHILDREN} `{name}`"));
        Ok((*child, count.ok_or_else(wrong)?))
    };
    Ok(Relatives { parent: None, children: lists.iter().map(child).collect::<Result<_, _>>()? })
}

/// A record that no other loaded child of the same parent gets. New children do not know the others: they draw any.
pub(super) fn distinct_child(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    let entity = call.records()?;
    let exponent = if call.arguments.len() == 1 { 0.0 } else { call.number(1, frame)? };
    let ranks = frame.data.popularity(entity, exponent)?;
    let (Some(child), Value::Record(parent), Value::Int(number)) =
        (frame.entity, frame.slot(PARENT_SLOT), frame.slot(NUMBER_SLOT))
    else {
        if frame.entity.is_some_and(|child| frame.data.entities[child].parent.is_some()) {
            let rank = ranks.sample(&mut call.stream(frame));
            return Ok(frame.data.reference(entity, rank));
        }
        return Err(EvalError::new("distinct: expected a field of an entity with `of`: children of one parent differ"));
    };
    let siblings = frame.data.children_of(child, parent.ordinal());
    let mut stream = Stream::new(frame.loop_seed(call.label), call.label, parent.ordinal());
    let chosen = popular(ranks, frame.data.len(entity), (siblings.end - siblings.start) as usize, &mut stream)?;
    let rank = match chosen.get(*number as usize) {
        Some(rank) => *rank,
        None => ranks.sample(&mut call.stream(frame)),
    };
    Ok(frame.data.reference(entity, rank))
}

/// Different records, popular ones more often.
pub(super) fn popular_sample(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    let (entity, n, exponent) = (call.records()?, call.length(1, CHOSEN, frame)?, call.number(2, frame)?);
    let ranks = frame.data.popularity(entity, exponent)?;
    let mut chosen = popular(ranks, frame.data.len(entity), n, &mut call.stream(frame))?;
    if call.arguments.len() == 4 {
        let permutation = permutation(call, 3, frame)?;
        chosen.iter_mut().for_each(|rank| *rank = permutation.place(*rank));
    }
    Ok(Value::list(chosen.into_iter().map(|ordinal| frame.data.reference(entity, ordinal)).collect()))
}

/// `n` different ranks below `bound`, in the order drawn. Where draws repeat too often, the most popular ranks that are left
/// fill the rest.
fn popular(ranks: &Zipf, bound: u64, n: usize, stream: &mut Stream) -> Result<Vec<u64>, EvalError> {
    /// Draws per rank.
    const MOST_DRAWS: usize = 20;
    check_sample(bound, n)?;
    let (mut seen, mut chosen) = (HashSet::with_capacity(n), Vec::with_capacity(n));
    for _ in 0..n * MOST_DRAWS {
        if chosen.len() == n {
            return Ok(chosen);
        }
        let rank = ranks.sample(stream);
        if seen.insert(rank) {
            chosen.push(rank);
        }
    }
    let left = (0..bound).filter(|rank| !seen.contains(rank));
    chosen.extend(left.take(n - chosen.len()));
    Ok(chosen)
}

fn check_sample(bound: u64, n: usize) -> Result<(), EvalError> {
    let wrong = || EvalError::new(format!("sample: cannot draw {n} different elements of {bound}"));
    if n as u64 > bound { Err(wrong()) } else { Ok(()) }
}

/// `n` different numbers below `bound`, in the order drawn.
pub(super) fn distinct(bound: u64, n: usize, stream: &mut Stream) -> Result<Vec<u64>, EvalError> {
    check_sample(bound, n)?;
    let mut seen = HashSet::with_capacity(n);
    let mut chosen = Vec::with_capacity(n);
    // Floyd's algorithm draws each subset with equal probability, without rejection.
    for top in bound - n as u64..bound {
        let drawn = stream.below(top + 1);
        let number = if seen.contains(&drawn) { top } else { drawn };
        seen.insert(number);
        chosen.push(number);
    }
    Ok(chosen)
}

pub(super) fn chain(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    /// No tree is that deep; a record that leads back to itself would never end.
    const DEEPEST: usize = 10_000;
    let [_, GeneratorArgument::Field(field)] = call.arguments.as_slice() else { return Err(call.unfit()) };
    let mut links = Vec::new();
    let mut next = Some(call.value(0, frame)?);
    while let Some(Value::Record(record)) = next {
        if links.len() == DEEPEST {
            let message = format!("chain: `{field}` does not end after {DEEPEST} records; is it cyclic?");
            return Err(EvalError::new(message));
        }
        next = record.get(field)?;
        links.push(Value::Record(record));
    }
    Ok(Value::list(links))
}

pub(super) fn referrers(call: &GeneratorCall, frame: &mut Frame) -> Result<Value, EvalError> {
    let [GeneratorArgument::EntityField(entity, field), _] = call.arguments.as_slice() else {
        return Err(call.unfit());
    };
    let Value::Record(record) = call.value(1, frame)? else {
        return Err(EvalError::new("referrers: expected a record"));
    };
    let index = frame.data.referrers(*entity, field)?;
    let found = index.get(&record.ordinal()).map_or(&[][..], Vec::as_slice);
    Ok(Value::list(found.iter().map(|ordinal| frame.data.reference(*entity, *ordinal)).collect()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::compile::Choice;
    use crate::compile::fixture::{chosen, plan};
    use crate::generate::Seed;

    #[test]
    fn skewed_samples_are_different_records_and_prefer_popular_ones() {
        let ranks = Zipf::new(1_000, 1.2).unwrap();
        let mut firsts = 0;
        for seed in 0..200 {
            let chosen =
                popular(&ranks, 1_000, 20, &mut Stream::new(Seed::new(seed), Label::new("sample"), 0)).unwrap();
            assert_eq!(chosen.iter().collect::<HashSet<_>>().len(), 20);
            firsts += usize::from(chosen.contains(&0));
        }
        // Of 20 draws of the most popular of 1,000 records nearly all samples have one, of 20 equal draws 2 %.
        assert!(firsts > 180, "{firsts}");
        let steep = Zipf::new(5, 60.0).unwrap();
        let mut all = popular(&steep, 5, 5, &mut Stream::new(Seed::new(1), Label::new("sample"), 0)).unwrap();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_name_stands_for_an_order_of_popularity() {
        let plan = plan("{ a: \"zipf(thing, 3, 'a')\", b: \"zipf(thing, 3, 'b')\" }", "{ find: things }");
        let favourite = |slot: usize| {
            let mut drawn = [0; 10];
            for call in 0..300 {
                let Value::Record(record) = plan.arguments(0, Seed::new(5), call, 2).unwrap().slot(slot).clone() else {
                    unreachable!()
                };
                drawn[record.ordinal() as usize] += 1;
            }
            (0..10).max_by_key(|record| drawn[*record]).unwrap()
        };
        let expected = |name| Permutation::new(10, plan.data.seed, Label::new(name)).place(0) as usize;
        assert_eq!([favourite(0), favourite(1)], [expected("a"), expected("b")]);
        assert_ne!(favourite(0), favourite(1));
    }

    #[test]
    fn new_records_know_their_relatives_and_loaded_siblings_differ() {
        let text = "
format: 1
name: test
title: Test
entities:
  user: { count: 12, fields: { _id: index } }
  follow: { of: user, as: follows, count: 7, fields: { _id: oid(), target: \"distinct(user, 1.2)\" } }
operations:
  follow: { arguments: { user: uniform(user), follow: \"new(follow, user)\" } }
  join: { arguments: { user: \"new(user, {'follows': 3})\" } }
  again: { arguments: { follow: \"known(follow, follow)\" } }
mixes: { default: { follow: 1, join: 1, again: 8 } }
strategies:
  plain:
    collections: { users: { each: user }, follows: { each: follow } }
    operations:
      follow: { insertOne: follows, document: <follow> }
      join: { insertOne: users, document: <user> }
      again: { findOne: follows, filter: { _id: <follow> } }
";
        let plan = chosen(text, &Choice::default());
        let drawn = |operation: usize, call: u64| plan.arguments(operation, plan.round_seed(0), call, 2).unwrap();
        for user in 0..12 {
            let targets = plan.data.reference(0, user).field("follows").unwrap().field("target").unwrap();
            let ids: HashSet<String> = targets.elements().unwrap().map(|id| super::super::written(&id)).collect();
            assert_eq!(ids.len(), 7, "{ids:?}");
        }
        let made = drawn(0, 5);
        assert_eq!(made.slot(1).field("user"), Ok(made.slot(0).clone()));
        let children = drawn(1, 6).slot(0).field("follows").unwrap();
        let owners: Vec<Value> = children.elements().unwrap().map(|child| child.field("user").unwrap()).collect();
        assert_eq!(owners, vec![Value::Int(FIRST_NEW_RECORD as i64 + 6); 3]);
        // A record that an earlier call has made has the parent that it had there.
        let again = (2_000..2_100).map(|call| drawn(2, call).slot(0).clone());
        let made: Vec<Value> =
            again.filter(|record| record.as_record().unwrap().ordinal() >= FIRST_NEW_RECORD).collect();
        assert!(made.len() > 20, "{}", made.len());
        assert!(made.iter().all(|record| !record.field("user").unwrap().is_null()));
    }

    proptest! {
        #[test]
        fn a_sample_is_of_different_numbers_below_its_bound(bound in 0_u64..200, n in 0_usize..200, seed in any::<u64>()) {
            prop_assume!(n as u64 <= bound);
            let drawn = distinct(bound, n, &mut Stream::new(Seed::new(seed), Label::new("sample"), 0)).unwrap();
            let different: HashSet<u64> = drawn.iter().copied().collect();
            prop_assert_eq!((drawn.len(), different.len()), (n, n));
            prop_assert!(drawn.iter().all(|number| *number < bound));
        }
    }
}
