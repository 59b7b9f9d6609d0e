//! Reads as logical steps.

use bson::Document;

use crate::infer::layout::{EntityPlace, Layout};

use super::access::{KEY, Named, entity, named, parent};
use super::argument::DrawnArguments;
use super::condition::{Access, By, FilterComparison, Operand, access};
use super::pipeline::{Pipeline, Returns, read_pipeline};
use super::shape::{StatementShape, Verb};
use super::text::{mapping, name, names};
use super::with::{
    self, KeptFields, Lookup, With, innermost, relation_name, relation_to_parent, relations_to, selection,
};

/// A logical step that reads.
#[derive(Debug, Clone)]
pub(super) struct ReadStep<'l> {
    /// `get`, `list`, `count` or `sum`.
    pub(super) verb: &'static str,
    pub(super) subject: String,
    pub(super) entity: &'l EntityPlace,
    /// All entries but `fields` and `with`.
    pub(super) entries: Vec<(String, String)>,
    pub(super) fields: Option<Vec<String>>,
    pub(super) with: Vec<With>,
    /// How the records are found.
    pub(super) by: By<'l>,
    pub(super) comments: Vec<String>,
}

impl ReadStep<'_> {
    /// Names the fields of the records that are read with each of several rows, which the model asks for.
    fn name_fields(&mut self, layout: &Layout) {
        with::name_fields(layout, self.entity, self.verb == "list", &mut self.with);
    }

    /// The step as YAML.
    pub(super) fn text(&self) -> String {
        let fields = self.fields.iter().map(|fields| ("fields".to_owned(), names(fields)));
        let with = (!self.with.is_empty()).then(|| ("with".to_owned(), with::text(&self.with)));
        let subject = [(self.verb.to_owned(), self.subject.clone())].into_iter();
        mapping(subject.chain(self.entries.clone()).chain(fields).chain(with))
    }
}

/// The translation of one part of a group.
pub(super) struct StepTranslation<'a, 'l> {
    pub(super) layout: &'l Layout,
    /// The number of the part.
    pub(super) part: usize,
    pub(super) arguments: &'a mut DrawnArguments,
}

/// The logical step of a read.
///
/// # Errors
/// What of it no logical step can say.
pub(super) fn read<'l>(
    translation: &mut StepTranslation<'_, 'l>,
    shape: &StatementShape,
) -> Result<ReadStep<'l>, String> {
    let Pipeline { shape, lookups, result } = match shape.verb {
        Verb::Distinct => return Err("all distinct values".to_owned()),
        Verb::Aggregate => read_pipeline(translation.layout, shape)?,
        Verb::Count => Pipeline { shape: shape.clone(), lookups: Vec::new(), result: Returns::Count },
        _ => Pipeline { shape: shape.clone(), lookups: Vec::new(), result: Returns::Records },
    };
    let found = access(translation.layout, &shape.collection, &shape.filter)?;
    match result {
        Returns::Records => {}
        Returns::Count => return translation.total("count", None, found),
        Returns::Sum(field) => return translation.total("sum", Some(&field), found),
    }
    let mut step = translation.records(&shape, found)?;
    for Lookup { result, target, mut with } in lookups {
        let prefix = format!("{result}.");
        let kept = |path: &String| {
            let named = named(translation.layout, &target.collection, path.strip_prefix(&prefix)?)?;
            if let Named::Field { field, .. } = named { Some(field.field.clone()) } else { None }
        };
        let fields: Vec<String> = shape.projection.keys().filter_map(kept).collect();
        if !fields.is_empty() {
            innermost(&mut with).fields = Some(fields);
        }
        with::add(&mut step.with, with);
    }
    step.name_fields(translation.layout);
    Ok(step)
}

impl<'l> StepTranslation<'_, 'l> {
    fn records(&mut self, shape: &StatementShape, found: Access<'l>) -> Result<ReadStep<'l>, String> {
        let Access { entity, by, rest } = found;
        let KeptFields { fields, with } = selection(self.layout, entity, &shape.projection);
        let mut step = ReadStep {
            verb: "get",
            subject: String::new(),
            entity,
            entries: Vec::new(),
            fields,
            with,
            by,
            comments: Vec::new(),
        };
        match step.by.clone() {
            By::Key(operand) => step.subject = self.record(entity, &operand),
            By::Unique(field, operand) => {
                step.subject = self.record(entity, &operand);
                step.entries.push(("by".to_owned(), names(std::slice::from_ref(&field.field))));
            }
            By::ListedChild(child, operand) => {
                step.subject = format!("{}.{}", self.record(child, &operand), entity.entity);
            }
            By::Keys(_) | By::Parent(_) | By::Conditions => return self.list(shape, step, &rest),
        }
        if entity.array.is_some() {
            // The statement returned the document around it.
            let owner = parent(self.layout, entity).ok_or("records inside of others without a parent")?;
            step.subject = format!("{}.{}", step.subject, owner.entity);
            let kept = selection(self.layout, owner, &shape.projection);
            (step.entity, step.fields, step.with) = (owner, kept.fields, kept.with);
        }
        if !rest.is_empty() {
            step.comments.push(format!("the filter also names {}, which get cannot", fields_of(&rest)));
        }
        Ok(step)
    }

    fn list(
        &mut self,
        shape: &StatementShape,
        mut step: ReadStep<'l>,
        rest: &[FilterComparison<'l>],
    ) -> Result<ReadStep<'l>, String> {
        step.verb = "list";
        step.subject = match &step.by {
            By::Parent(operand) => self.of_parent(step.entity, operand)?,
            _ => name(&step.entity.entity),
        };
        let mut conditions = self.conditions(step.entity, rest)?;
        if let By::Keys(slot) = step.by {
            let list = self.arguments.sample("records", &step.entity.entity, None, (self.part, slot));
            conditions.push((KEY.to_owned(), format!("{{ $in: <{list}> }}")));
        }
        if !conditions.is_empty() {
            step.entries.push(("where".to_owned(), mapping(conditions)));
        }
        self.order(shape, &mut step)?;
        if step.entity.array.is_some() {
            if !shape.sort.is_empty() {
                return Err("a sort of documents by conditions on records inside".to_owned());
            }
            // The statement returned the documents around them.
            let owner = parent(self.layout, step.entity).map(|owner| owner.entity.clone()).unwrap_or_default();
            (step.fields, step.with) = (None, vec![With::all(&owner)]);
        }
        Ok(step)
    }

    fn order(&mut self, shape: &StatementShape, step: &mut ReadStep<'l>) -> Result<(), String> {
        let entries = order_entries(self.layout, step.entity, &shape.sort)?;
        step.entries.extend(entries);
        let limit = shape.limit;
        if shape.sort.is_empty() && limit == 0 {
            step.entries.push(("unordered".to_owned(), "true".to_owned()));
        }
        if shape.from_counters {
            step.comments.push("a guess from the use of an index: its projection and limit are not known".to_owned());
        }
        if shape.sort.is_empty() && limit > 1 {
            step.comments.push("the statement has a limit and no sort: read in the order of the list".to_owned());
        }
        match shape.skip {
            Some(slot) if limit > 0 => {
                let page = self.arguments.page(limit, (self.part, slot));
                step.entries.push(("page".to_owned(), page));
                step.entries.push(("size".to_owned(), limit.to_string()));
            }
            Some(_) => return Err("skip without a limit".to_owned()),
            None if limit > 0 => step.entries.push(("limit".to_owned(), limit.to_string())),
            None => {}
        }
        Ok(())
    }

    fn total(&mut self, verb: &'static str, summed: Option<&str>, found: Access<'l>) -> Result<ReadStep<'l>, String> {
        let Access { entity, by, rest } = found;
        let subject = match &by {
            By::Parent(operand) => self.of_parent(entity, operand)?,
            By::Conditions => name(&entity.entity),
            _ => return Err(format!("a {verb} of records by their key")),
        };
        let field = match summed {
            Some(path) => match named(self.layout, &entity.collection, path) {
                Some(Named::Field { entity: of, field, below: false }) if of == entity => format!(".{}", field.field),
                _ => return Err("a sum of something else than a field of these records".to_owned()),
            },
            None => String::new(),
        };
        let conditions = self.conditions(entity, &rest)?;
        let entries = if conditions.is_empty() { Vec::new() } else { vec![("where".to_owned(), mapping(conditions))] };
        let subject = format!("{subject}{field}");
        Ok(ReadStep { verb, subject, entity, entries, fields: None, with: Vec::new(), by, comments: Vec::new() })
    }

    fn of_parent(&mut self, child: &'l EntityPlace, operand: &Operand) -> Result<String, String> {
        let owner = parent(self.layout, child).ok_or("a parent that is not in the model")?;
        Ok(format!("{}.{}", self.record(owner, operand), relation_name(child)))
    }

    /// The argument with the record that an operand names.
    pub(super) fn record(&mut self, entity: &EntityPlace, operand: &Operand) -> String {
        let draw = if let Operand::Slot(slot) = operand { Some((self.part, *slot)) } else { None };
        self.arguments.record(entity, draw)
    }

    /// The entries of a `where`.
    ///
    /// # Errors
    /// When one of the conditions cannot be said.
    pub(super) fn conditions(
        &mut self,
        of: &'l EntityPlace,
        conditions: &[FilterComparison<'l>],
    ) -> Result<Vec<(String, String)>, String> {
        let mut fields: Vec<(String, Vec<(String, String)>)> = Vec::new();
        for condition in conditions {
            let (field, value) = self.condition(of, condition)?;
            let entry = (condition.operator.clone(), value);
            match fields.iter_mut().find(|(known, _)| *known == field) {
                Some((_, entries)) => entries.push(entry),
                None => fields.push((field, vec![entry])),
            }
        }
        let text = |(field, entries): (String, Vec<(String, String)>)| match entries.as_slice() {
            [(operator, value)] if operator == "$eq" => (name(&field), value.clone()),
            _ => (name(&field), mapping(entries)),
        };
        Ok(fields.into_iter().map(text).collect())
    }

    /// The field of a condition and the value that it is compared with.
    fn condition(&mut self, of: &'l EntityPlace, condition: &FilterComparison<'l>) -> Result<(String, String), String> {
        let (field, target) = match condition.named {
            Named::Field { field, .. } if field.copy_of.is_some() => return Err("a condition on a copy".to_owned()),
            Named::Field { field, .. } if field.is_list => return Err("a condition on a field with a list".to_owned()),
            Named::Field { field, .. } => (field.field.clone(), field.refers.clone()),
            Named::Parent { entity } => (relation_to_parent(entity), entity.parent.as_ref().map(|p| p.entity.clone())),
            Named::Children { .. } | Named::Array { .. } => return Err("a condition on whole records".to_owned()),
        };
        let target = target.and_then(|target| entity(self.layout, &target));
        let value = match (&condition.operand, target) {
            (Operand::Literal(literal), _) => return Ok((field, literal.clone())),
            (Operand::Slot(slot), Some(target)) => self.arguments.record(target, Some((self.part, *slot))),
            (Operand::Document, Some(target)) => self.arguments.record(target, None),
            (Operand::List(slot), target) => {
                let (from, part) = target.map_or((of, Some(field.as_str())), |target| (target, None));
                self.arguments.sample(&format!("{field}_list"), &from.entity, part, (self.part, *slot))
            }
            // Values come as often as in the records.
            (Operand::Slot(_) | Operand::Document, None) if field == KEY => self.arguments.record(of, None),
            (Operand::Slot(_) | Operand::Document, None) => {
                self.arguments.expression(&field, format!("uniform({}).{field}", of.entity))
            }
        };
        Ok((field, format!("<{value}>")))
    }
}

/// The names of the fields of conditions, for a comment.
pub(super) fn fields_of(conditions: &[FilterComparison<'_>]) -> String {
    let field = |condition: &FilterComparison<'_>| match condition.named {
        Named::Field { field, .. } => field.field.clone(),
        Named::Parent { entity } => relation_to_parent(entity),
        Named::Children { child } | Named::Array { child } => relation_name(child).to_owned(),
    };
    conditions.iter().map(field).collect::<Vec<_>>().join(", ")
}

/// `sort` or `reverse` where the order is not that of the entity.
fn order_entries(layout: &Layout, of: &EntityPlace, sort: &Document) -> Result<Vec<(String, String)>, String> {
    let mut keys: Vec<(String, i32)> = Vec::new();
    for (path, direction) in sort {
        let direction = super::statement::number(Some(direction));
        match named(layout, &of.collection, path) {
            Some(Named::Field { entity, field, below: false })
                if entity == of && direction != 0 && field.copy_of.is_none() =>
            {
                keys.push((field.field.clone(), if direction < 0 { -1 } else { 1 }));
            }
            _ => return Err("a sort by something else than fields of these records".to_owned()),
        }
    }
    let is_order = |sign: i32| {
        let fits = |((field, direction), (known, of)): (&(String, i32), &(String, i32))| {
            field == known && *direction == sign * of
        };
        keys.len() <= of.sort.len() && keys.iter().zip(&of.sort).all(fits)
    };
    let entry = |key: &str, value: String| vec![(key.to_owned(), value)];
    if keys.is_empty() || is_order(1) {
        return Ok(Vec::new());
    }
    if is_order(-1) {
        return Ok(entry("reverse", "true".to_owned()));
    }
    // The order of a model is total.
    if !keys.iter().any(|(field, _)| field == KEY) {
        let last = keys.last().map_or(1, |(_, direction)| *direction);
        keys.push((KEY.to_owned(), last));
    }
    Ok(entry("sort", mapping(keys.iter().map(|(field, direction)| (name(field), direction.to_string())))))
}

/// Adds a second read to a first one, as records that are read with it; none if they are not related.
pub(super) fn joined<'l>(layout: &'l Layout, first: &ReadStep<'l>, second: &ReadStep<'l>) -> Option<ReadStep<'l>> {
    let reads = |step: &ReadStep<'_>| step.verb == "get" || step.verb == "list";
    if !reads(first) || !reads(second) {
        return None;
    }
    let mut joined = first.clone();
    let keys = matches!(second.by, By::Keys(_)) || (first.verb == "get" && matches!(second.by, By::Key(_)));
    if keys {
        let mut with = relations_to(layout, first.entity, second.entity).into_iter().next()?;
        let target = innermost(&mut with);
        target.fields.clone_from(&second.fields);
        target.with.clone_from(&second.with);
        with::add(&mut joined.with, with);
        joined.name_fields(layout);
        return Some(joined);
    }
    let is_child = matches!(second.by, By::Parent(_)) && parent(layout, second.entity) == Some(first.entity);
    let has_page = second.entries.iter().any(|(key, _)| key == "page");
    if is_child && first.verb == "get" && !has_page {
        let mut with = With::all(relation_name(second.entity));
        (with.fields, with.entries, with.with) = (second.fields.clone(), second.entries.clone(), second.with.clone());
        with::add(&mut joined.with, with);
        joined.name_fields(layout);
        return Some(joined);
    }
    None
}
