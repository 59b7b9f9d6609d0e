//! What follows from logical steps alone: `returns` and `serial`.

use std::collections::HashSet;

use crate::scenario::{LogicalStep, Node, Span};

use super::build::{map, mapping, place, with};
use super::model::{Model, RelationKind, flag, option, text_option, texts};
use super::refusal::{Derived, Refusal, refuse};
use super::translate::Options;

/// Refuses a step after a write, with its place: what would the call return?
pub(super) fn check_end(does: &[LogicalStep]) -> Result<(), (Span, Box<Refusal>)> {
    let write = does.iter().position(LogicalStep::is_write);
    let Some(after) = write.and_then(|write| does.get(write + 1)) else { return Ok(()) };
    let label = "the write before it gives the outcome of the call";
    let help = "a write is the last step; put writes that belong together into `atomically`";
    refuse("a step after a write", label, help).map_err(|refusal| (after.span(), refusal))
}

/// The type of the result of an operation; `None` if it has an outcome alone.
pub(super) fn returns(model: &Model, operation: usize) -> Derived<Option<Node>> {
    let does = &model.scenario.operations[operation].does;
    if let [LogicalStep::Other(node)] = &does[..]
        && node.get("return").and_then(Node::as_text) == Some("ok()")
    {
        // It changes no record.
        return Ok(None);
    }
    let Some(LogicalStep::Logical { word, target, options, .. }) = does.last() else {
        let message =
            format!("operation `{}` ends with a step of its own", model.scenario.operations[operation].name.value);
        return refuse(
            message,
            "what does it return?",
            "add `returns`, for example `returns: { task: task, owner: value }`",
        );
    };
    let span = target.span;
    let mut made = match word.value.as_str() {
        "get" | "list" => {
            let subject = model.subject(operation, &target.value, word.value == "list")?;
            let entity = model.entity_of(&subject);
            let row = with_others(model, entity, &texts(option(options, "fields")), options)?;
            if word.value == "list" { many(model, entity, row, options, model.is_listing(&subject)) } else { row }
        }
        "count" | "sum" => "value".into(),
        "update" if option(options, "returning").is_some() => "value".into(),
        _ => return Ok(None),
    };
    place(&mut made, span);
    Ok(Some(made))
}

fn record(model: &Model, entity: usize, fields: &[String]) -> Node {
    if fields.is_empty() {
        return model.name(entity).into();
    }
    mapping(fields.iter().map(|field| (field.clone(), "value".into())).collect())
}

/// A record, or what `with` makes of it.
fn with_others(model: &Model, entity: usize, fields: &[String], options: &Options) -> Derived<Node> {
    let row = record(model, entity, fields);
    let includes = option(options, "with").and_then(Node::as_mapping).unwrap_or_default();
    if includes.is_empty() {
        return Ok(row);
    }
    includes.iter().try_fold(map! { model.name(entity) => row }, |made, (name, node)| {
        Ok(with(made, &name.value, included(model, entity, &name.value, node)?))
    })
}

/// A list of rows: in order, where there is one.
fn many(model: &Model, entity: usize, row: Node, options: &Options, is_listing: bool) -> Node {
    let has_order = option(options, "sort").is_some() || is_listing || model.entity(entity).sort.is_some();
    if has_order && !flag(options, "unordered") {
        vec![row].into()
    } else {
        map! { "set" => row }
    }
}

/// The type of the records of a relation in a reply.
fn included(model: &Model, entity: usize, name: &str, node: &Node) -> Derived<Node> {
    let (relation, is_down) = model.relation(entity, name)?;
    let this = &model.relations[relation];
    let other = if is_down { this.many } else { this.one };
    let options = node.as_mapping().unwrap_or_default();
    let fields = texts(node.as_mapping().map_or(Some(node), |_| option(options, "fields")));
    let row = with_others(model, other, &fields, options)?;
    if !is_down && this.kind != RelationKind::Listing {
        return Ok(row);
    }
    Ok(many(model, other, row, options, is_down && this.has_order))
}

/// The records that the writes of an operation change, make or need.
pub(super) fn serial(model: &Model, operation: usize) -> Derived<Option<Node>> {
    let does = &model.scenario.operations[operation].does;
    let unknown = unknown_owners(model);
    let mut ids: Vec<String> = Vec::new();
    let mut add = |id: String| {
        if !ids.contains(&id) {
            ids.push(id);
        }
    };
    for step in does.iter().flat_map(LogicalStep::parts).filter(|step| step.is_write()) {
        let LogicalStep::Logical { word, target, options, .. } = step else { continue };
        let entity = model.record(operation, &target.value)?;
        add(format!("{}._id", target.value));
        match word.value.as_str() {
            "create" => text_option(options, "in").into_iter().for_each(|into| add(format!("{into}._id"))),
            "add" | "remove" => {
                let list = text_option(options, "to").or(text_option(options, "from")).unwrap_or_default();
                list.rsplit_once('.').into_iter().for_each(|(owner, _)| add(format!("{owner}._id")));
            }
            _ => {}
        }
        // A record is gone when one that it belongs to is.
        for (path, owner, is_known) in owners(model, operation, &target.value, entity, options) {
            if is_known && model.is_deleted(owner) {
                add(format!("{path}._id"));
            }
            if unknown.contains(&owner) {
                add(format!("'{}'", model.name(owner)));
            }
        }
        if unknown.contains(&entity) {
            add(format!("'{}'", model.name(entity)));
        }
        if let Some(to) = option(options, "set").and_then(Node::as_mapping) {
            let targets = to.iter().filter_map(|(_, node)| node.as_text()?.strip_prefix('<')?.strip_suffix('>'));
            targets.filter(|to| model.argument(operation, to).is_some_and(|one| one.entity.is_some())).for_each(|to| {
                add(format!("{to}._id"));
            });
        }
    }
    let span = does.first().map(LogicalStep::span).unwrap_or_default();
    Ok((!ids.is_empty()).then(|| {
        let mut node = Node::from(format!("[{}]", ids.join(", ")));
        place(&mut node, span);
        node
    }))
}

/// The records that a record of a step belongs to, each with its path and entity, and whether it is known before the call.
fn owners(
    model: &Model,
    operation: usize,
    target: &str,
    entity: usize,
    options: &Options,
) -> Vec<(String, usize, bool)> {
    let into = text_option(options, "in");
    let start = into.and_then(|into| Some((into, model.argument(operation, into)?.entity?)));
    let mut made: Vec<_> = start.iter().map(|(path, entity)| ((*path).to_owned(), *entity, true)).collect();
    let (first, mut entity) = start.unwrap_or((target, entity));
    let mut path = first.to_owned();
    let mut is_known = model.argument(operation, first).is_some_and(|argument| argument.is_loaded);
    while let Some(relation) = model.parent_of(entity) {
        is_known &= !model.is_moved(entity);
        path = format!("{path}.{}", model.relations[relation].up());
        entity = model.relations[relation].one;
        made.push((path.clone(), entity, is_known));
    }
    made
}

/// Entities of which a deleted record may take along others whose calls do not tell that they belong to it: such calls keep
/// their order whatever their records are.
fn unknown_owners(model: &Model) -> HashSet<usize> {
    let mut unknown = HashSet::new();
    for (position, operation) in model.scenario.operations.iter().enumerate() {
        for step in operation.does.iter().flat_map(LogicalStep::parts).filter(|step| step.is_write()) {
            let LogicalStep::Logical { target, options, .. } = step else { continue };
            let Ok(entity) = model.record(position, &target.value) else { continue };
            let owners = owners(model, position, &target.value, entity, options).into_iter();
            let hidden = owners.filter(|(_, owner, is_known)| !is_known && model.is_deleted(*owner));
            unknown.extend(hidden.map(|(_, owner, _)| owner));
        }
    }
    unknown
}
