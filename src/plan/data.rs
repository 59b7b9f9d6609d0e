//! Logical records as pure functions of (seed, entity, ordinal).

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::generate::{Seed, Zipf, ZipfCount};

use super::call_id::{self, FIRST_NEW_RECORD};
use super::data_file::DataFile;
use super::memo::Memo;
use super::shape::{RowField, projected, sorted};
use super::{EvalError, Expression, Frame, LogicalRecord, Raw, Value, Writer, budget, written};

/// The instants of records and calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataClock {
    /// The instant of the first call, in milliseconds since the epoch; `None`: records begin with 2024.
    pub first_call: Option<i64>,
    /// Milliseconds between the instants of consecutive records, and of consecutive calls.
    pub step: i64,
}

impl Default for DataClock {
    fn default() -> DataClock {
        DataClock { first_call: None, step: 1_000 }
    }
}

impl DataClock {
    /// 2024-01-01T00:00:00Z, in milliseconds.
    const EPOCH: i64 = 1_704_067_200_000;

    /// The instant of record `index`, or of what comes after `index` records and calls.
    fn instant(self, index: u64, loaded: u64) -> i64 {
        match self.first_call {
            Some(first) => first + (index as i64 - loaded as i64) * self.step,
            None => DataClock::EPOCH + index as i64 * self.step,
        }
    }
}

/// Slots of a frame that evaluates an entity's fields: `index`, `number`, the parent, then the fields in order.
pub const INDEX_SLOT: usize = 0;
/// See [`INDEX_SLOT`].
pub const NUMBER_SLOT: usize = 1;
/// See [`INDEX_SLOT`].
pub const PARENT_SLOT: usize = 2;
/// See [`INDEX_SLOT`].
pub const FIELD_SLOTS: usize = 3;

/// The bytes of a handle to a record, with its counts of references.
pub const RECORD_BYTES: u64 = size_of::<Record>() as u64 + 16;

/// All logical data of a plan. No record is stored: any can be made at any time.
#[derive(Debug)]
pub struct Data {
    /// The seed of the data (calls have seeds of their own, one per round).
    pub seed: Seed,
    /// The entities, in the scenario's order.
    pub entities: Arc<[Entity]>,
    /// What `clock()` gives.
    pub clock: DataClock,
    /// An extent per entity.
    extents: Box<[OnceLock<Extent>]>,
    /// By entity, and the bits of an exponent.
    popularities: Memo<(usize, u64), Zipf>,
    /// By the bits of a mean.
    zipf_counts: Memo<u64, ZipfCount>,
    /// By entity and field.
    referrers: Memo<(usize, Arc<str>), Referrers>,
}

/// Records that refer to a record, by its ordinal.
pub type Referrers = HashMap<u64, Vec<u64>>;

/// One entity, resolved.
#[derive(Debug)]
pub struct Entity {
    /// Its name.
    pub name: Arc<str>,
    /// The entity whose records own these.
    pub parent: Option<usize>,
    /// The entities whose records these own, each with the name that lists them.
    pub children: Vec<(Arc<str>, usize)>,
    /// Records in all, or per parent.
    pub count: Expression,
    /// The helpers, then the fields in document order.
    pub fields: Vec<Field>,
    /// How many of the first fields are helpers: they are in no document.
    pub helpers: usize,
    /// What its rows are compared by.
    pub row: Vec<RowField>,
    /// The file whose lines `line` takes values of.
    pub lines: Option<Arc<DataFile>>,
}

/// One field of an entity, resolved.
#[derive(Debug)]
pub struct Field {
    /// Its key.
    pub name: Arc<str>,
    /// How it is computed.
    pub value: Expression,
    /// Whether it needs no other field, so that it can be made alone.
    pub alone: bool,
}

/// How many records there are, and for children where those of each parent begin.
#[derive(Debug)]
struct Extent {
    count: u64,
    offsets: Vec<u64>,
}

impl Data {
    /// Data whose extents are not counted yet.
    pub fn new(seed: Seed, clock: DataClock, entities: Arc<[Entity]>) -> Data {
        let extents = entities.iter().map(|_| OnceLock::new()).collect();
        let (popularities, zipf_counts, referrers) = Default::default();
        Data { seed, entities, clock, extents, popularities, zipf_counts, referrers }
    }

    /// Data of the same entities from another seed.
    ///
    /// # Errors
    /// When the records of an entity cannot be counted.
    pub fn of_seed(&self, seed: Seed) -> Result<Arc<Data>, EvalError> {
        let data = Arc::new(Data::new(seed, self.clock, Arc::clone(&self.entities)));
        (0..data.entities.len()).try_for_each(|entity| data.measure(entity))?;
        Ok(data)
    }

    /// The files of which entities take values.
    pub fn files(&self) -> impl Iterator<Item = &DataFile> {
        self.entities.iter().filter_map(|entity| entity.lines.as_deref())
    }

    /// Loaded records of an entity; 0 until [`Data::measure`] has counted them.
    pub fn len(&self, entity: usize) -> u64 {
        self.extents[entity].get().map_or(0, |extent| extent.count)
    }

    /// The law by which `zipf` and `latest` draw records of an entity.
    ///
    /// # Errors
    /// When it has no records, or the exponent is negative or not finite.
    pub(super) fn popularity(&self, entity: usize, exponent: f64) -> Result<&Zipf, EvalError> {
        let failed = |error| EvalError::new(format!("drawing from `{}`: {error}", self.entities[entity].name));
        self.popularities.get(&(entity, exponent.to_bits()), || Zipf::new(self.len(entity), exponent).map_err(failed))
    }

    /// The law of the counts of `zipf_count`.
    ///
    /// # Errors
    /// When it has no such mean.
    pub(super) fn zipf_count(&self, mean: f64) -> Result<&ZipfCount, EvalError> {
        self.zipf_counts.get(&mean.to_bits(), || ZipfCount::new(mean).map_err(EvalError::new))
    }

    /// The loaded records of an entity by the record that their field points at.
    ///
    /// # Errors
    /// When a field cannot be drawn.
    pub(super) fn referrers(self: &Arc<Data>, entity: usize, field: &Arc<str>) -> Result<&Referrers, EvalError> {
        self.referrers.get(&(entity, Arc::clone(field)), || budget::apart(|| self.index_references(entity, field)))
    }

    fn index_references(self: &Arc<Data>, entity: usize, field: &str) -> Result<Referrers, EvalError> {
        let mut index = Referrers::new();
        for ordinal in 0..self.len(entity) {
            budget::take_record(100)?;
            let value = self.reference(entity, ordinal).field(field)?;
            let targets: Vec<Value> = match value.items() {
                Some(items) => items.collect(),
                None => vec![value.clone()],
            };
            for target in targets {
                if let Value::Record(target) = target {
                    index.entry(target.ordinal()).or_default().push(ordinal);
                }
            }
        }
        Ok(index)
    }

    /// Counts the records of one entity; its parent and the entities that its count names must be counted before.
    ///
    /// # Errors
    /// When the count is no whole number >= 0.
    pub fn measure(self: &Arc<Data>, entity: usize) -> Result<(), EvalError> {
        let this = &self.entities[entity];
        let extent = match this.parent {
            None => Extent { count: self.count(entity, 0, Value::Null)?, offsets: Vec::new() },
            Some(parent) => {
                let mut offsets = vec![0];
                let mut total = 0;
                for ordinal in 0..self.len(parent) {
                    budget::take_record(8)?;
                    total += self.count(entity, ordinal, self.reference(parent, ordinal))?;
                    if total >= FIRST_NEW_RECORD {
                        break;
                    }
                    offsets.push(total);
                }
                Extent { count: total, offsets }
            }
        };
        if extent.count >= FIRST_NEW_RECORD {
            let (name, count, limit) = (&this.name, extent.count, FIRST_NEW_RECORD - 1);
            let message = format!("`{name}` would have at least {count} records in all; the limit is {limit}");
            return Err(EvalError::new(message));
        }
        let _ = self.extents[entity].set(extent);
        Ok(())
    }

    fn count(self: &Arc<Data>, entity: usize, ordinal: u64, parent: Value) -> Result<u64, EvalError> {
        let this = &self.entities[entity];
        let mut frame = Frame::new(self, self.seed, ordinal, FIELD_SLOTS);
        frame.set(INDEX_SLOT, Value::Int(ordinal as i64));
        frame.set(PARENT_SLOT, parent);
        match this.count.evaluate(&mut frame)? {
            Value::Int(count) if count >= 0 => Ok(count as u64),
            other => {
                let (name, value) = (&this.name, written(&other));
                Err(EvalError::new(format!("the count of `{name}` must be an int >= 0; its value is {value}")))
            }
        }
    }

    /// A reference to record `ordinal`: written and compared as its `_id`.
    pub fn reference(self: &Arc<Data>, entity: usize, ordinal: u64) -> Value {
        Value::Record(Arc::new(Record::new(self, entity, ordinal, false)))
    }

    /// Record `ordinal` whole: written and compared as its document.
    pub fn whole(self: &Arc<Data>, entity: usize, ordinal: u64) -> Value {
        Value::Record(Arc::new(Record::new(self, entity, ordinal, true)))
    }

    /// The record that a call makes, whole, with what it belongs to and what belongs to it.
    pub(super) fn made(self: &Arc<Data>, entity: usize, call: u64, relatives: Relatives) -> Value {
        Value::Record(Arc::new(Record { relatives, ..Record::new(self, entity, FIRST_NEW_RECORD + call, true) }))
    }

    /// The instant of call `call`, after all loaded instants.
    pub fn call_instant(&self, call: u64) -> i64 {
        let loaded = self.loaded();
        self.clock.instant(loaded + call_id::instant(call), loaded)
    }

    /// The records of the entity that has the most.
    fn loaded(&self) -> u64 {
        (0..self.entities.len()).map(|entity| self.len(entity)).max().unwrap_or(0)
    }

    fn record_instant(&self, ordinal: u64) -> i64 {
        match call_id::creator(ordinal) {
            Some(call) => self.call_instant(call),
            None => self.clock.instant(ordinal, self.loaded()),
        }
    }

    /// The ordinals of the children of `entity` that belong to parent `ordinal`.
    pub fn children_of(&self, entity: usize, ordinal: u64) -> std::ops::Range<u64> {
        let offsets = self.extents[entity].get().and_then(|extent| extent.offsets.get(ordinal as usize..));
        offsets.and_then(<[u64]>::first_chunk).map_or(0..0, |[start, end]| *start..*end)
    }

    /// The record of an entity with the most descendants of another one, children or theirs, and their number; `None` where
    /// the other one does not descend from it, or has no records.
    pub fn most_descendants(&self, entity: usize, descendants: usize) -> Option<(u64, u64)> {
        let parent = |one: &usize| self.entities[*one].parent;
        let mut line: Vec<usize> =
            std::iter::successors(Some(descendants), parent).take_while(|one| *one != entity).collect();
        line.last().and_then(parent)?;
        line.reverse();
        // The records of one parent follow one another.
        let descend = |range: std::ops::Range<u64>, child: &usize| {
            if range.is_empty() {
                return range;
            }
            self.children_of(*child, range.start).start..self.children_of(*child, range.end - 1).end
        };
        let number = |ordinal| line.iter().fold(ordinal..ordinal + 1, descend).count() as u64;
        (0..self.len(entity)).map(|ordinal| (ordinal, number(ordinal))).max_by_key(|one| one.1).filter(|one| one.1 > 0)
    }

    /// Returns the rows that an entity has right after loading, as [`Data::canonical_rows`] does.
    ///
    /// # Errors
    /// When a record cannot be drawn.
    pub fn generated_rows(self: &Arc<Data>, entity: usize) -> Result<Vec<Value>, EvalError> {
        let records = (0..self.len(entity)).map(|ordinal| self.whole(entity, ordinal)).collect();
        self.canonical_rows(entity, &Value::list(records))
    }

    /// Returns the logical rows of an entity, sorted: the fields of the entity, and the parent's `_id` under the
    /// parent's name.
    ///
    /// # Errors
    /// When a record cannot be drawn.
    pub fn canonical_rows(&self, entity: usize, rows: &Value) -> Result<Vec<Value>, EvalError> {
        let this = &self.entities[entity];
        let parent =
            this.parent.map(|parent| RowField { name: Arc::clone(&self.entities[parent].name), is_set: false });
        let rows = rows.items().into_iter().flatten();
        let rows = rows.map(|row| projected(&row, this.row.iter().chain(&parent)));
        rows.collect::<Result<_, _>>().map(sorted)
    }
}

/// The parent and the children of a record that a call makes; those of loaded records follow from their ordinals.
#[derive(Debug, Clone, Default)]
pub(super) struct Relatives {
    /// The parent's ordinal, and the record's number within it.
    pub parent: Option<(u64, u64)>,
    /// The entities of children, with their numbers.
    pub children: Vec<(usize, u64)>,
}

/// A handle to one logical record.
#[derive(Debug)]
pub struct Record {
    data: Arc<Data>,
    entity: usize,
    ordinal: u64,
    whole: bool,
    relatives: Relatives,
    drawn: OnceLock<DrawnFields>,
    document: OnceLock<Raw>,
}

/// The fields of a record, evaluated.
#[derive(Debug)]
struct DrawnFields {
    /// The slots of the frame that has evaluated them.
    slots: Vec<Value>,
    /// The positions of fields whose keys are left out; null in `slots`.
    left_out: Vec<usize>,
}

impl Record {
    fn new(data: &Arc<Data>, entity: usize, ordinal: u64, whole: bool) -> Record {
        let (relatives, drawn, document) = Default::default();
        Record { data: Arc::clone(data), entity, ordinal, whole, relatives, drawn, document }
    }

    /// A field as it was generated: references stay references.
    fn field(&self, position: usize) -> Result<Value, EvalError> {
        if let Some(drawn) = self.drawn.get() {
            return Ok(drawn.slots[FIELD_SLOTS + position].clone());
        }
        let fields = &self.data.entities[self.entity].fields;
        // Most ids, and no frame is needed for them.
        if let Expression::Slot(INDEX_SLOT) = fields[position].value {
            return Ok(Value::Int(self.ordinal as i64));
        }
        let needed = if fields[position].alone { 0 } else { position };
        fields[position].value.evaluate(&mut self.draw_fields(needed)?.0)
    }

    /// The parent's ordinal, and the record's number within that parent; `None` unless it is a child with a parent.
    fn place(&self) -> Option<(u64, u64)> {
        if self.relatives.parent.is_some() {
            return self.relatives.parent;
        }
        let offsets = &self.data.extents[self.entity].get()?.offsets;
        if self.ordinal >= *offsets.last()? {
            return None;
        }
        let parent = offsets.partition_point(|offset| *offset <= self.ordinal) - 1;
        Some((parent as u64, self.ordinal - offsets[parent]))
    }

    fn parent(&self, place: Option<(u64, u64)>) -> Value {
        let parent = self.data.entities[self.entity].parent.zip(place);
        parent.map_or(Value::Null, |(parent, (ordinal, _))| self.data.reference(parent, ordinal))
    }

    fn number(&self, place: Option<(u64, u64)>) -> Value {
        Value::Int(place.map_or(self.ordinal, |(_, number)| number) as i64)
    }

    fn children(&self, child: usize) -> Result<Value, EvalError> {
        let made = self.relatives.children.iter().find(|(entity, _)| *entity == child);
        if let (Some((_, count)), Some(call)) = (made, call_id::creator(self.ordinal)) {
            budget::take_bytes(count.saturating_mul(RECORD_BYTES))?;
            let child = |number| {
                let relatives = Relatives { parent: Some((self.ordinal, number)), children: Vec::new() };
                let ordinal = call_id::new_child(call, number);
                Value::Record(Arc::new(Record { relatives, ..Record::new(&self.data, child, ordinal, true) }))
            };
            return Ok(Value::list((0..*count).map(child).collect()));
        }
        let range = self.data.children_of(child, self.ordinal);
        budget::take_bytes((range.end - range.start).saturating_mul(RECORD_BYTES))?;
        Ok(Value::list(range.map(|ordinal| self.data.whole(child, ordinal)).collect()))
    }

    /// A frame that has evaluated the first `fields` fields, and the positions of those that are left out.
    fn draw_fields(&self, fields: usize) -> Result<(Frame, Vec<usize>), EvalError> {
        let entity = &self.data.entities[self.entity];
        let mut frame = Frame::new(&self.data, self.data.seed, self.ordinal, FIELD_SLOTS + entity.fields.len());
        frame.now = self.data.record_instant(self.ordinal);
        frame.entity = Some(self.entity);
        frame.set(INDEX_SLOT, Value::Int(self.ordinal as i64));
        let place = self.place();
        frame.set(NUMBER_SLOT, self.number(place));
        frame.set(PARENT_SLOT, self.parent(place));
        let mut left_out = Vec::new();
        for (position, field) in entity.fields[..fields].iter().enumerate() {
            match field.value.field_value(&mut frame)? {
                Some(value) => frame.set(FIELD_SLOTS + position, value),
                None => left_out.push(position),
            }
        }
        Ok((frame, left_out))
    }

    fn drawn(&self) -> Result<&DrawnFields, EvalError> {
        if let Some(drawn) = self.drawn.get() {
            return Ok(drawn);
        }
        let (frame, left_out) = self.draw_fields(self.data.entities[self.entity].fields.len())?;
        Ok(self.drawn.get_or_init(|| DrawnFields { slots: frame.slots, left_out }))
    }
}

impl LogicalRecord for Record {
    fn is_whole(&self) -> bool {
        self.whole
    }

    fn entity(&self) -> usize {
        self.entity
    }

    fn ordinal(&self) -> u64 {
        self.ordinal
    }

    fn get(&self, name: &str) -> Result<Option<Value>, EvalError> {
        let entity = &self.data.entities[self.entity];
        if let Some(position) = entity.fields.iter().position(|field| *field.name == *name) {
            return self.field(position).map(Some);
        }
        if let Some((_, child)) = entity.children.iter().find(|(children, _)| **children == *name) {
            return self.children(*child).map(Some);
        }
        Ok(match (entity.parent, name) {
            (Some(parent), _) if *self.data.entities[parent].name == *name => Some(self.parent(self.place())),
            (_, "index") => Some(Value::Int(self.ordinal as i64)),
            (_, "number") => Some(self.number(self.place())),
            _ => None,
        })
    }

    fn reference(&self) -> Value {
        let relatives = self.relatives.clone();
        Value::Record(Arc::new(Record { relatives, ..Record::new(&self.data, self.entity, self.ordinal, false) }))
    }

    fn draw(&self) -> Result<(), EvalError> {
        self.drawn().map(|_| ())
    }

    fn write(&self, writer: &mut Writer) -> Result<(), EvalError> {
        let entity = &self.data.entities[self.entity];
        let drawn = self.drawn()?;
        let values = entity.fields.iter().zip(&drawn.slots[FIELD_SLOTS..]).enumerate().skip(entity.helpers);
        let mut kept = values.filter(|(position, _)| !drawn.left_out.contains(position));
        kept.try_for_each(|(_, (field, value))| writer.value(&field.name, value))
    }

    fn document(&self) -> Result<Raw, EvalError> {
        if let Some(document) = self.document.get() {
            return Ok(document.clone());
        }
        let written = Raw::new(Writer::document(|writer| self.write(writer))?);
        Ok(self.document.get_or_init(|| written).clone())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::compile::fixture::plan;

    fn bytes(data: &Arc<Data>, entity: usize, ordinal: u64) -> Vec<u8> {
        let Value::Record(record) = data.whole(entity, ordinal) else { unreachable!() };
        record.document().unwrap().bytes().to_vec()
    }

    #[test]
    fn children_know_their_parent_and_parents_their_children() {
        let plan = plan("{}", "{ find: things }");
        let data = &plan.data;
        let mut seen = 0;
        for ordinal in 0..data.len(0) {
            let parts: Vec<Value> = data.reference(0, ordinal).field("parts").unwrap().items().unwrap().collect();
            for (number, part) in parts.iter().enumerate() {
                assert_eq!(part.field("n"), Ok(Value::Int(number as i64)));
                assert_eq!(part.field("of"), Ok(Value::Int(ordinal as i64)));
                assert_eq!(part.field("thing"), Ok(data.reference(0, ordinal)));
                assert_eq!(part.field("index"), Ok(Value::Int(seen)));
                seen += 1;
            }
        }
        assert_eq!(seen as u64, data.len(1));
        assert!(seen > 5, "ten things with two parts on average had {seen}");
    }

    #[test]
    fn a_reference_is_its_id_and_a_whole_record_its_document() {
        let plan = plan("{}", "{ find: things }");
        let (reference, whole) = (plan.data.reference(0, 4), plan.data.whole(0, 4));
        assert_eq!(reference, Value::Int(4));
        assert_ne!(whole, Value::Int(4));
        assert_eq!(whole.referenced().unwrap().field("_id"), Ok(Value::Int(4)));
        assert_eq!(whole.field("next"), Ok(Value::Int(0)));
        assert_eq!(whole.field("at"), Ok(Value::Date(DataClock::EPOCH + 4_000)));
        assert_eq!(whole.referenced().unwrap().get("parts"), Ok(None));
    }

    #[test]
    fn the_new_record_of_a_call_is_drawn_with_its_arguments() {
        let plan = plan("{ made: new(thing), other: \"record(thing, 3)\" }", "{ find: things }");
        let frame = crate::compile::fixture::frame(&plan);
        let is_drawn = |slot| match frame.slot(slot) {
            Value::Record(record) => {
                !format!("{record:?}").ends_with("drawn: OnceLock(<uninit>), document: OnceLock(<uninit>) }")
            }
            other => panic!("{other:?}"),
        };
        assert_eq!((is_drawn(0), is_drawn(1)), (true, false));
    }

    #[test]
    fn new_records_have_numbers_of_their_own_and_later_instants() {
        let plan = plan("{ made: new(thing) }", "{ find: things }");
        let made = crate::compile::fixture::frame(&plan).slot(0).clone();
        assert_eq!(made.field("_id"), Ok(Value::Int(FIRST_NEW_RECORD as i64 + 3)));
        let loaded = plan.data.len(0).max(plan.data.len(1)) as i64;
        assert_eq!(made.field("at"), Ok(Value::Date(DataClock::EPOCH + (loaded + 3) * 1_000)));
    }

    #[test]
    fn a_chain_ends_at_the_root_and_a_circle_is_an_error() {
        let plan = plan("{}", "{ return: \"chain(record(thing, 3), 'next')\" }");
        let program = &plan.arms[0].operations[0];
        let super::super::Step::Return(value) = &program.steps[1] else { unreachable!() };
        let error = value.evaluate(&mut crate::compile::fixture::frame(&plan)).unwrap_err();
        assert!(error.to_string().starts_with("chain: `next` does not end after"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

        #[test]
        fn records_are_the_same_in_any_order(order in Just((0..10_u64).collect::<Vec<_>>()).prop_shuffle()) {
            let (one, two) = (plan("{}", "{ find: things }"), plan("{}", "{ find: things }"));
            let forward: Vec<Vec<u8>> = (0..10).map(|ordinal| bytes(&one.data, 0, ordinal)).collect();
            for ordinal in order {
                prop_assert_eq!(&bytes(&two.data, 0, ordinal), &forward[ordinal as usize]);
                let children = two.data.children_of(1, ordinal);
                prop_assert_eq!(children.clone(), one.data.children_of(1, ordinal));
                for child in children.rev() {
                    prop_assert_eq!(bytes(&two.data, 1, child), bytes(&one.data, 1, child));
                }
            }
        }

        #[test]
        fn a_field_taken_alone_is_the_field_of_the_document(ordinal in 0..10_u64) {
            let plan = plan("{}", "{ find: things }");
            let drawn = Record::new(&plan.data, 0, ordinal, true);
            drawn.draw().unwrap();
            for field in ["_id", "name", "next", "at"] {
                let alone = Record::new(&plan.data, 0, ordinal, true);
                prop_assert_eq!(alone.get(field).unwrap(), drawn.document().unwrap().get(field));
                prop_assert!(alone.drawn.get().is_none());
                prop_assert_eq!(alone.get(field), drawn.get(field));
            }
        }
    }
}
