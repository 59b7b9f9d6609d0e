//! The words among which a relation has a choice: those whose advantage an operation could have.

use std::collections::BTreeSet;

use crate::scenario::{LogicalStep, Node, Scalar, Scenario, Spanned, Tree};

use super::model::{Facts, Model, ModelRelation, PathEnd, RelationKind, flag, option, texts};

/// A relation with the words that it may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelationChoice {
    /// Its name in a `shape`.
    pub key: String,
    /// Its choices, each as the words of an entry of `shape`; the first is what it is without one.
    pub choices: Vec<Vec<String>>,
}

/// How operations use a relation.
#[derive(Default)]
struct Uses {
    /// Fields of the one side that are read with records of the many.
    up: BTreeSet<String>,
    /// Whether all fields of the one side are.
    is_whole_up: bool,
    /// Fields of the many side that are read with a record of the one, or in lists.
    down: BTreeSet<String>,
    /// Whether records of the many side are read from one of the other.
    is_read_down: bool,
    is_counted: bool,
    sums: BTreeSet<String>,
    /// The number of records of a page.
    page: Option<String>,
    /// How many of the last records are read.
    newest: Option<String>,
}

/// The choices of every relation of a model, in the order of its entities.
pub fn choices(scenario: &Scenario, facts: Facts) -> Vec<RelationChoice> {
    let model = Model::new(scenario, facts);
    let mut uses: Vec<Uses> = model.relations.iter().map(|_| Uses::default()).collect();
    for (position, operation) in scenario.operations.iter().enumerate().filter(|(at, _)| !model.is_broken(*at)) {
        for step in operation.does.iter().flat_map(LogicalStep::parts) {
            note(&model, position, step, &mut uses);
        }
    }
    let all = model.relations.iter().zip(&uses).enumerate();
    all.map(|(at, (relation, uses))| RelationChoice { key: model.key(at), choices: of(relation, uses) }).collect()
}

/// Notes what a step reads along relations.
fn note(model: &Model, operation: usize, step: &LogicalStep, uses: &mut [Uses]) {
    let LogicalStep::Logical { word, target, options, .. } = step else { return };
    let (path, summed) = match word.value.as_str() {
        "sum" => target.value.rsplit_once('.').map_or((target.value.as_str(), None), |(path, of)| (path, Some(of))),
        _ => (target.value.as_str(), None),
    };
    let Ok(subject) = model.subject(operation, path, word.value != "get") else { return };
    let fields = texts(option(options, "fields"));
    let has_where = option(options, "where").is_some();
    match subject {
        PathEnd::Many(_, relation, true) => {
            let found = &mut uses[relation];
            found.is_read_down = true;
            found.is_counted |= word.value == "count" && !has_where;
            found.sums.extend(summed.filter(|_| !has_where).map(str::to_owned));
            if word.value == "list" {
                found.down.extend(fields);
                let (page, limit) = (number(options, "size"), number(options, "limit"));
                if flag(options, "reverse") && !has_where {
                    found.newest = found.newest.take().or_else(|| limit.clone());
                }
                found.page = found.page.take().or(page).or(limit);
            }
        }
        PathEnd::Many(_, relation, false) | PathEnd::One(_, _, relation) => {
            uses[relation].is_whole_up |= fields.is_empty() && word.value != "count";
            uses[relation].up.extend(fields);
        }
        PathEnd::All(_) | PathEnd::Record(..) => {}
    }
    note_with(model, model.entity_of(&subject), option(options, "with"), uses);
}

/// Notes what is read with records of an entity.
fn note_with(model: &Model, entity: usize, with: Option<&Node>, uses: &mut [Uses]) {
    for (name, node) in with.and_then(Node::as_mapping).unwrap_or_default() {
        let Ok((relation, is_down)) = model.relation(entity, &name.value) else { continue };
        let fields = if node.as_list().is_some() { texts(Some(node)) } else { texts(node.get("fields")) };
        let this = &model.relations[relation];
        uses[relation].is_whole_up |= !is_down && fields.is_empty();
        uses[relation].is_read_down |= is_down;
        let side = if is_down { &mut uses[relation].down } else { &mut uses[relation].up };
        side.extend(fields);
        note_with(model, if is_down { this.many } else { this.one }, node.get("with"), uses);
    }
}

/// A number of an option, or the parameter that has it.
fn number(options: &[(Spanned<String>, Node)], key: &str) -> Option<String> {
    match &option(options, key)?.tree {
        Tree::Scalar(Scalar::Int(number)) => Some(number.to_string()),
        Tree::Scalar(Scalar::Text(name)) if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
            Some(name.clone())
        }
        _ => None,
    }
}

/// A word that copies these fields; `None` without any.
fn copying(word: &str, fields: &BTreeSet<String>) -> Option<String> {
    let fields: Vec<&str> = fields.iter().map(String::as_str).filter(|field| *field != "_id").collect();
    (!fields.is_empty()).then(|| format!("{word}({})", fields.join(", ")))
}

/// The choices of a relation.
fn of(relation: &ModelRelation, uses: &Uses) -> Vec<Vec<String>> {
    let (up, down) = (copying("reference", &uses.up), copying("list", &uses.down));
    let whole = uses.is_whole_up.then(|| "reference(*)".to_owned());
    let up: Vec<String> = up.into_iter().chain(whole).collect();
    let plain = |word: &str| word.to_owned();
    let mut all: Vec<Vec<String>> = Vec::new();
    match relation.kind {
        RelationKind::Reference => {
            all.push(vec![plain("reference")]);
            all.extend(up.into_iter().map(|up| vec![up]));
        }
        RelationKind::Listing => {
            all.push(vec![plain("list")]);
            all.extend(down.iter().map(|down| vec![down.clone()]));
            if relation.up.is_some() {
                all.push(vec![plain("list"), plain("reference")]);
                all.extend(up.iter().map(|up| vec![plain("list"), up.clone()]));
            }
            if relation.up.is_some() && !relation.has_order {
                all.push(vec![plain("reference")]);
                all.extend(up.into_iter().map(|up| vec![up]));
            }
            if !relation.has_order {
                all.push(vec![plain("link")]);
                all.extend(copying("link", &uses.down).map(|link| vec![link]));
            }
        }
        RelationKind::Children => {
            all.push(vec![plain("reference")]);
            all.extend(up.into_iter().map(|up| vec![up]));
            all.push(vec![plain("embed")]);
            // A list helps nobody who does not read along it.
            if uses.is_read_down {
                all.push(vec![plain("list")]);
                all.push(vec![plain("reference"), plain("list")]);
            }
            all.extend(down.iter().map(|down| vec![down.clone()]));
            all.extend(down.map(|down| vec![plain("reference"), down]));
            all.extend(uses.page.as_ref().map(|size| vec![format!("bucket({size})")]));
            let sums: Vec<String> = uses.sums.iter().map(|field| format!("sum({field})")).collect();
            let stored: Vec<String> =
                uses.is_counted.then(|| plain("counted")).into_iter().chain(sums.clone()).collect();
            if !stored.is_empty() {
                all.push([vec![plain("reference")], stored.clone()].concat());
            }
            if uses.is_counted && sums.is_empty() {
                all.push(vec![plain("embed"), plain("counted")]);
            }
            all.extend(uses.newest.as_ref().map(|number| vec![plain("reference"), format!("newest({number})")]));
        }
    }
    all
}
