//! Reads as logical steps.

use std::collections::BTreeMap;

use crate::infer::layout::{EntityPlace, Layout};

use super::access::{KEY, Named, named, parent, relation_name, relation_to_parent, root};
use super::argument::StepTranslation;
use super::condition::{Access, By, NamedComparison, UNKNOWN_COLLECTION, access, names_of};
use super::shape::{Operand, Returns, StatementShape};
use super::text::{compared, mapping, name, names};
use super::with::{self, StepEntry, With, innermost, lookup, relation_to, selection};

/// A logical step that reads.
#[derive(Debug)]
pub(super) struct ReadStep<'l> {
    /// `get`, `list`, `count` or `sum`.
    verb: &'static str,
    entity: &'l EntityPlace,
    /// How the records are found.
    by: By<'l>,
    records: With,
}

impl<'l> ReadStep<'l> {
    /// The step as YAML.
    pub(super) fn text(&self) -> String {
        mapping([(self.verb, self.records.name.clone())].into_iter().chain(self.records.entries()))
    }

    /// Adds a second read as records that are read with these; none if they are not related.
    pub(super) fn joined(mut self, layout: &'l Layout, second: ReadStep<'l>) -> Option<ReadStep<'l>> {
        let is_get = self.verb == "get";
        let is_child = parent(layout, second.entity) == Some(self.entity);
        let has_page = second.records.entries.iter().any(|(key, _)| *key == "page");
        let with = match (self.verb, second.verb, &second.by) {
            ("get", "get", By::Key(_)) | ("get" | "list", "list", By::Keys) => {
                let mut with = relation_to(layout, self.entity, second.entity)?;
                let target = innermost(&mut with);
                (target.fields, target.with) = (second.records.fields, second.records.with);
                with
            }
            ("get", "list", By::Parent(_)) if is_child && !has_page => {
                With { name: relation_name(second.entity).to_owned(), ..second.records }
            }
            _ => return None,
        };
        with::add(&mut self.records.with, with);
        with::name_fields(layout, self.entity, !is_get, &mut self.records.with);
        Some(self)
    }
}

impl<'l> StepTranslation<'_, 'l> {
    /// The logical step of a read, or what of it no logical step can say.
    pub(super) fn read(&mut self) -> Result<ReadStep<'l>, String> {
        let shape = self.shape();
        let found = access(self.layout, shape)?;
        match &shape.returns {
            Returns::Records => {}
            Returns::Count => return self.total("count", None, found),
            Returns::Sum(path) => return self.total("sum", Some(path), found),
        }
        let mut step = self.records(shape, found)?;
        for stage in &shape.lookups {
            let from = root(self.layout, &shape.collection).ok_or(UNKNOWN_COLLECTION)?;
            with::add(&mut step.records.with, lookup(self.layout, from, stage, shape)?);
        }
        with::name_fields(self.layout, step.entity, step.verb == "list", &mut step.records.with);
        Ok(step)
    }

    fn records(&mut self, shape: &StatementShape, found: Access<'l>) -> Result<ReadStep<'l>, String> {
        let Access { entity, by, rest } = found;
        let mut step = ReadStep { verb: "get", entity, by, records: selection(self.layout, entity, shape) };
        step.records.name = match &step.by {
            By::Key(operand) => self.record(entity, operand.slot()),
            By::Unique(field, operand) => {
                step.records.entries.push(("by", names(&[&field.field])));
                self.record(entity, operand.slot())
            }
            By::ListedChild(child, operand) => format!("{}.{}", self.record(child, operand.slot()), entity.entity),
            By::Keys | By::Parent(_) | By::Conditions => return self.list(shape, step, &rest),
        };
        if entity.array.is_some() {
            // The statement returned the document around it.
            let owner = parent(self.layout, entity).ok_or("records inside of others without a parent")?;
            let name = format!("{}.{}", step.records.name, owner.entity);
            let entries = step.records.entries;
            (step.entity, step.records) = (owner, With { name, entries, ..selection(self.layout, owner, shape) });
        }
        if !rest.is_empty() {
            self.comment(format!("the filter also names {}, which get cannot", names_of(&rest)));
        }
        Ok(step)
    }

    fn list(
        &mut self,
        shape: &StatementShape,
        mut step: ReadStep<'l>,
        rest: &[NamedComparison<'l>],
    ) -> Result<ReadStep<'l>, String> {
        let of = step.entity;
        step.verb = "list";
        step.records.name = self.subject(of, &step.by)?;
        step.records.entries.extend(self.conditions(of, rest)?);
        self.order(shape, &mut step)?;
        if of.array.is_some() {
            if !shape.sort.is_empty() {
                return Err("a sort of documents by conditions on records inside".to_owned());
            }
            // The statement returned the documents around them.
            (step.records.fields, step.records.with) = (None, vec![With::all(relation_to_parent(of))]);
        }
        Ok(step)
    }

    fn order(&mut self, shape: &StatementShape, step: &mut ReadStep<'l>) -> Result<(), String> {
        let entries = &mut step.records.entries;
        entries.extend(order_entry(self.layout, step.entity, &shape.sort)?);
        let limit = shape.limit;
        if shape.sort.is_empty() && limit == 0 {
            entries.push(("unordered", "true".to_owned()));
        }
        if shape.from_counters {
            self.comment("a guess from the use of an index: its projection and limit are not known");
        }
        if shape.sort.is_empty() && limit > 1 {
            self.comment("the statement has a limit and no sort: read in the order of the list");
        }
        match shape.skip {
            Some(_) if limit == 0 => return Err("skip without a limit".to_owned()),
            Some(slot) => entries.extend([("page", self.page(limit, slot)), ("size", limit.to_string())]),
            None if limit > 0 => entries.push(("limit", limit.to_string())),
            None => {}
        }
        Ok(())
    }

    fn total(&mut self, verb: &'static str, summed: Option<&str>, found: Access<'l>) -> Result<ReadStep<'l>, String> {
        let Access { entity, by, rest } = found;
        if !matches!(by, By::Parent(_) | By::Conditions) {
            return Err(format!("a {verb} of records by their key"));
        }
        let mut records = With::all(&self.subject(entity, &by)?);
        if let Some(path) = summed {
            match named(self.layout, &entity.collection, path) {
                Some(Named::Field { entity: of, field, below: false }) if of == entity => {
                    records.name = format!("{}.{}", records.name, field.field);
                }
                _ => return Err("a sum of something else than a field of these records".to_owned()),
            }
        }
        records.entries.extend(self.conditions(entity, &rest)?);
        Ok(ReadStep { verb, entity, by, records })
    }

    /// What is listed: all records, or those of a parent.
    fn subject(&mut self, of: &'l EntityPlace, by: &By<'l>) -> Result<String, String> {
        let By::Parent(operand) = by else { return Ok(name(&of.entity)) };
        let owner = parent(self.layout, of).ok_or("a parent that is not in the model")?;
        Ok(format!("{}.{}", self.record(owner, operand.slot()), relation_name(of)))
    }

    /// `where`, if there are conditions.
    fn conditions(&mut self, of: &'l EntityPlace, all: &[NamedComparison<'l>]) -> Result<Option<StepEntry>, String> {
        let mut fields: BTreeMap<&str, Vec<(&str, String)>> = BTreeMap::new();
        for condition in all {
            let entry = (condition.operator.as_str(), self.compared_with(of, condition)?);
            fields.entry(condition.named.name()).or_default().push(entry);
        }
        let text = |(field, mut entries): (&str, Vec<(&str, String)>)| match entries.pop() {
            Some((operator, value)) if entries.is_empty() => (name(field), compared(operator, value)),
            last => (name(field), mapping(entries.into_iter().chain(last))),
        };
        Ok((!all.is_empty()).then(|| ("where", mapping(fields.into_iter().map(text)))))
    }

    /// The value that a condition compares with.
    fn compared_with(&mut self, of: &'l EntityPlace, condition: &NamedComparison<'l>) -> Result<String, String> {
        match condition.named {
            Named::Field { field, .. } if field.copy_of.is_some() => return Err("a condition on a copy".to_owned()),
            Named::Field { field, .. } if field.is_list => return Err("a condition on a field with a list".to_owned()),
            Named::Field { .. } | Named::Parent { .. } => {}
            Named::Children { .. } | Named::Array { .. } => return Err("a condition on whole records".to_owned()),
        }
        let (field, target) = (condition.named.name(), condition.named.target(self.layout));
        let value = match (&condition.operand, target) {
            (Operand::Literal(literal), _) => return Ok(literal.clone()),
            (Operand::List(slot), None) if field == KEY => self.sample("records", &of.entity, None, *slot),
            (Operand::List(slot), target) => {
                let (from, part) = target.map_or((of, Some(field)), |target| (target, None));
                self.sample(&format!("{field}_list"), &from.entity, part, *slot)
            }
            (operand, Some(target)) => self.record(target, operand.slot()),
            (_, None) if field == KEY => self.record(of, None),
            // Values come as often as in the records.
            (_, None) => self.expression(field, format!("uniform({}).{field}", of.entity)),
        };
        Ok(format!("<{value}>"))
    }
}

/// `sort` or `reverse` where the order is not that of the entity.
fn order_entry(layout: &Layout, of: &EntityPlace, sort: &[(String, i64)]) -> Result<Option<StepEntry>, String> {
    let key = |(path, direction): &(String, i64)| match named(layout, &of.collection, path) {
        Some(Named::Field { entity, field, below: false })
            if entity == of && *direction != 0 && field.copy_of.is_none() =>
        {
            Ok((field.field.as_str(), *direction))
        }
        _ => Err("a sort by something else than fields of these records".to_owned()),
    };
    let mut keys = sort.iter().map(key).collect::<Result<Vec<_>, String>>()?;
    let is_order = |sign: i64| {
        let own = of.sort.iter().map(|(field, direction)| (field.as_str(), sign * i64::from(*direction)));
        keys.len() <= of.sort.len() && keys.iter().copied().zip(own).all(|(key, own)| key == own)
    };
    if is_order(1) {
        return Ok(None);
    }
    if is_order(-1) {
        return Ok(Some(("reverse", "true".to_owned())));
    }
    // The order of a model is total.
    if !keys.iter().any(|(field, _)| *field == KEY) {
        let last = keys.last().map_or(1, |(_, direction)| *direction);
        keys.push((KEY, last));
    }
    Ok(Some(("sort", mapping(keys.iter().map(|(field, direction)| (name(field), direction.to_string()))))))
}
