//! The logical model: entities, their relations, and what operations do to them.

use std::collections::HashSet;

use crate::scenario::{EntityDefinition, LogicalStep, Node, Scalar, Scenario, Span, Spanned, Tree, nearest, suggest};

use super::refusal::{Derived, Refusal, refuse};

/// The most relations of a model.
const MOST_RELATIONS: usize = 100;

/// What only compiled expressions tell.
#[derive(Debug, Default)]
pub struct Facts {
    /// By entity, the fields that refer to records of another entity, and whether they are lists.
    pub references: Vec<Vec<(String, usize, bool)>>,
    /// By operation; `None` where something in them is wrong, which is reported elsewhere.
    pub arguments: Vec<Option<Vec<ArgumentFacts>>>,
}

/// What is known of an argument.
#[derive(Debug, Clone)]
pub struct ArgumentFacts {
    /// Its name.
    pub name: String,
    /// The entity of its record.
    pub entity: Option<usize>,
    /// Whether its record is always a loaded one.
    pub is_loaded: bool,
    /// Whether it is a record that the call makes.
    pub is_new: bool,
}

/// How two entities are related.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RelationKind {
    /// `of` and `as`.
    Children,
    /// A field with a record.
    Reference,
    /// A field with a list of records.
    Listing,
}

/// One record of `one` has many of `many`; for [`RelationKind::Listing`], `one` has the list.
#[derive(Debug, Clone)]
pub(super) struct ModelRelation {
    pub one: usize,
    pub many: usize,
    /// Its name in records of `one`.
    pub down: Option<String>,
    /// Its name in records of `many`.
    pub up: Option<String>,
    pub kind: RelationKind,
    /// Whether it is a list of records whose order counts.
    pub has_order: bool,
    /// Whether the list of the model is that of `many`, and only the records of `one` have it.
    pub is_turned: bool,
}

impl ModelRelation {
    /// The entity of which a list of records is a field, and the name of the field.
    pub fn own_list(&self) -> Option<(usize, &str)> {
        let own = if self.is_turned { (self.many, self.up()) } else { (self.one, self.down()) };
        (self.kind == RelationKind::Listing).then_some(own)
    }

    /// The entity of the records in such a list.
    pub fn listed_entity(&self) -> usize {
        if self.is_turned { self.one } else { self.many }
    }

    /// The name in records of `one`; empty where it has none.
    pub fn down(&self) -> &str {
        self.down.as_deref().unwrap_or_default()
    }

    /// The name in records of `many`; empty where it has none.
    pub fn up(&self) -> &str {
        self.up.as_deref().unwrap_or_default()
    }
}

/// What a path of a logical step leads to.
#[derive(Debug, Clone)]
pub(super) enum PathEnd {
    /// All records of an entity.
    All(usize),
    /// The record of this path.
    Record(String, usize),
    /// From the record of a path and entity along a relation to one record.
    One(String, usize, usize),
    /// From the record of a path along a relation to many records; the last one says whether it starts at `one`.
    Many(String, usize, bool),
}

/// The model of a scenario.
#[derive(Clone)]
pub(super) struct Model<'s> {
    pub scenario: &'s Scenario,
    pub relations: Vec<ModelRelation>,
    arguments: Vec<Option<Vec<ArgumentFacts>>>,
    deleted: HashSet<usize>,
    moved: HashSet<usize>,
    /// Fields that an update changes.
    changed: HashSet<(usize, String)>,
    /// The same, each with its operation.
    pub changes: Vec<(usize, usize, String)>,
}

impl<'s> Model<'s> {
    pub fn new(scenario: &'s Scenario, facts: Facts) -> Model<'s> {
        let mut relations = Vec::new();
        for (many, entity) in scenario.entities.iter().enumerate() {
            let parent = entity.parent.as_ref();
            let owner = parent.and_then(|of| scenario.entities.iter().position(|other| other.name.value == of.value));
            if let Some(one) = owner.filter(|one| *one < many) {
                let down = entity.children_name.as_ref().map(|name| name.value.clone());
                let up = Some(scenario.entities[one].name.value.clone());
                let kind = RelationKind::Children;
                relations.push(ModelRelation { one, many, down, up, kind, has_order: false, is_turned: false });
            }
            for (field, target, is_list) in &facts.references[many] {
                let name = Some(field.clone());
                let other = entity.inverse.as_ref().and_then(|names| names.get(field)?.as_text().map(str::to_owned));
                let (kind, one, many, down, up) = if *is_list {
                    (RelationKind::Listing, many, *target, name, other)
                } else {
                    (RelationKind::Reference, *target, many, None, name)
                };
                let has_order = *is_list && !entity.is_set(field);
                relations.push(ModelRelation { one, many, down, up, kind, has_order, is_turned: false });
            }
        }
        let arguments = facts.arguments;
        let mut model = Model {
            scenario,
            relations,
            arguments,
            deleted: HashSet::new(),
            moved: HashSet::new(),
            changed: HashSet::new(),
            changes: Vec::new(),
        };
        let steps = |word: &'static str| {
            let all = scenario.operations.iter().enumerate();
            let parts = all.flat_map(|(position, operation)| {
                operation.does.iter().flat_map(LogicalStep::parts).map(move |step| (position, step))
            });
            parts.filter_map(move |(position, step)| match step {
                LogicalStep::Logical { word: found, target, options, .. } if found.value == word => {
                    Some((position, target, options))
                }
                _ => None,
            })
        };
        model.deleted =
            steps("delete").filter_map(|(at, target, _)| model.argument(at, &target.value)?.entity).collect();
        model.moved = steps("update")
            .filter_map(|(at, target, options)| {
                let entity = model.argument(at, &target.value)?.entity?;
                let parent = model.parent_of(entity)?;
                option(options, "set")?.get(model.relations[parent].up()).map(|_| entity)
            })
            .collect();
        let changes = steps("update").filter_map(|(at, target, options)| {
            let entity = model.argument(at, &target.value)?.entity?;
            let fields = ["set", "inc"].map(|key| option(options, key).and_then(Node::as_mapping).unwrap_or_default());
            let first = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
            Some(fields.concat().into_iter().map(move |(key, _)| (at, entity, first(&key.value))))
        });
        model.changes = changes.flatten().collect();
        model.changed = model.changes.iter().map(|(_, entity, field)| (*entity, field.clone())).collect();
        model
    }

    /// The model in which lists of records that only the listed records have are lists of these.
    pub fn turned(&self, is_turned: impl Fn(usize) -> bool) -> Model<'s> {
        let mut turned = self.clone();
        for (position, relation) in turned.relations.iter_mut().enumerate().filter(|(position, _)| is_turned(*position))
        {
            debug_assert!(!self.relations[position].is_turned);
            std::mem::swap(&mut relation.one, &mut relation.many);
            std::mem::swap(&mut relation.down, &mut relation.up);
            relation.is_turned = true;
        }
        turned
    }

    /// Checks what any shape needs; a problem comes with the relation that it is about.
    pub fn check(&self) -> Result<(), (Span, Box<Refusal>)> {
        if let Some(beyond) = self.relations.get(MOST_RELATIONS) {
            let message = format!("{} relations, and a model may have {MOST_RELATIONS}", self.relations.len());
            let refusal = refuse(message, "one too many", "divide the model among scenarios");
            return refusal.map_err(|refusal| (self.place(beyond), refusal));
        }
        let mut known = HashSet::new();
        for relation in &self.relations {
            for (entity, name) in [(relation.one, &relation.down), (relation.many, &relation.up)] {
                if let Some(name) = name.as_ref().filter(|name| !known.insert((entity, name.as_str()))) {
                    let message = format!("two relations of `{}` are called `{name}`", self.name(entity));
                    let help = "rename one: `as`, fields with records and `inverse` name relations";
                    return refuse(message, "the second one", help).map_err(|refusal| (self.place(relation), refusal));
                }
            }
        }
        Ok(())
    }

    /// Where a relation is written.
    fn place(&self, relation: &ModelRelation) -> Span {
        let holder = if relation.kind == RelationKind::Listing { relation.one } else { relation.many };
        let entity = self.entity(holder);
        let name = if relation.kind == RelationKind::Reference { relation.up() } else { relation.down() };
        let field = entity.fields.iter().map(|(field, _)| field).find(|field| field.value == name);
        let field = field.filter(|_| relation.kind != RelationKind::Children).or(entity.children_name.as_ref());
        field.map_or(entity.name.span, |field| field.span)
    }

    pub fn entity(&self, entity: usize) -> &'s EntityDefinition {
        &self.scenario.entities[entity]
    }

    pub fn name(&self, entity: usize) -> &'s str {
        &self.entity(entity).name.value
    }

    /// The collection of an entity's documents.
    pub fn collection(&self, entity: usize) -> String {
        let definition = self.entity(entity);
        let name = definition.collection.as_ref().or(definition.children_name.as_ref());
        name.map_or_else(|| format!("{}s", definition.name.value), |name| name.value.clone())
    }

    pub fn has_field(&self, entity: usize, field: &str) -> bool {
        self.entity(entity).fields.iter().any(|(name, _)| name.value == field)
    }

    /// The name of a relation in a `shape`.
    pub fn key(&self, relation: usize) -> String {
        let relation = &self.relations[relation];
        match (relation.own_list(), &relation.down) {
            (Some((entity, list)), _) => format!("{}.{list}", self.name(entity)),
            (None, Some(down)) => format!("{}.{down}", self.name(relation.one)),
            (None, None) => format!("{}.{}", self.name(relation.many), relation.up()),
        }
    }

    /// The relation of the children of an entity to their parents.
    pub fn parent_of(&self, entity: usize) -> Option<usize> {
        self.relations.iter().position(|relation| relation.many == entity && relation.kind == RelationKind::Children)
    }

    /// The relations to the children of an entity.
    pub fn children_of(&self, entity: usize) -> impl Iterator<Item = usize> {
        let is_child =
            move |relation: &ModelRelation| relation.one == entity && relation.kind == RelationKind::Children;
        self.relations.iter().enumerate().filter(move |(_, relation)| is_child(relation)).map(|(position, _)| position)
    }

    /// Whether an operation removes records of an entity, alone or with those that they belong to.
    pub fn is_deleted(&self, entity: usize) -> bool {
        let parent = self.parent_of(entity).map(|relation| self.relations[relation].one);
        self.deleted.contains(&entity) || parent.is_some_and(|parent| self.is_deleted(parent))
    }

    /// Whether an operation gives records of an entity another parent.
    pub fn is_moved(&self, entity: usize) -> bool {
        self.moved.contains(&entity)
    }

    /// Whether an operation changes one of these fields.
    pub fn is_changed(&self, entity: usize, fields: &[String]) -> bool {
        fields.iter().any(|field| self.changed.contains(&(entity, field.clone())))
    }

    pub fn arguments(&self, operation: usize) -> &[ArgumentFacts] {
        self.arguments[operation].as_deref().unwrap_or_default()
    }

    /// Whether an operation has a problem that is reported already, so that what it does is not known.
    pub fn is_broken(&self, operation: usize) -> bool {
        self.arguments[operation].is_none() || self.scenario.operations[operation].does_is_broken
    }

    /// An argument of an operation.
    pub fn argument(&self, operation: usize, name: &str) -> Option<&ArgumentFacts> {
        self.arguments(operation).iter().find(|argument| argument.name == name)
    }

    /// The entity of an argument that a step names.
    pub fn record(&self, operation: usize, name: &str) -> Derived<usize> {
        match self.argument(operation, name) {
            Some(ArgumentFacts { entity: Some(entity), .. }) => Ok(*entity),
            Some(_) => {
                let message = format!("the argument `{name}` is not certainly a record");
                refuse(
                    message,
                    "a record is needed here",
                    "draw it with `uniform`, `zipf`..., or name it after its entity",
                )
            }
            None => {
                let known: Vec<&str> = self.arguments(operation).iter().map(|one| one.name.as_str()).collect();
                let help = nearest(name, &known);
                refuse(format!("the operation has no argument `{name}`"), "not an argument", help)
            }
        }
    }

    /// What a path leads to; a single name is an entity if `is_all`, otherwise an argument.
    pub fn subject(&self, operation: usize, path: &str, is_all: bool) -> Derived<PathEnd> {
        let mut parts: Vec<&str> = path.split('.').collect();
        let last = parts.pop().unwrap_or_default();
        let Some((first, inner)) = parts.split_first() else {
            if !is_all {
                return Ok(PathEnd::Record(last.to_owned(), self.record(operation, last)?));
            }
            let names: Vec<&str> = self.scenario.entities.iter().map(|entity| entity.name.value.as_str()).collect();
            return match names.iter().position(|name| *name == last) {
                Some(entity) => Ok(PathEnd::All(entity)),
                None => refuse(format!("unknown entity `{last}`"), "not an entity", nearest(last, &names)),
            };
        };
        let mut entity = self.record(operation, first)?;
        let mut is_loaded = self.argument(operation, first).is_some_and(|argument| argument.is_loaded);
        for name in inner {
            let (relation, is_down) = self.relation(entity, name)?;
            let through = &self.relations[relation];
            is_loaded &= !self.is_moved(entity) && through.kind == RelationKind::Children;
            if is_down {
                let help = "records of records are not derived: begin the path with an argument, or list the entity";
                return refuse(format!("`{path}` leads through `{name}`, which has many records"), "which one?", help);
            }
            if !is_loaded {
                let message =
                    format!("`{path}` leads through `{name}`, which may be another one when the call is made");
                let help = "give the operation an argument for that record, and begin the path with it";
                return refuse(message, "not known before the call", help);
            }
            entity = through.one;
        }
        let (relation, is_down) = self.relation(entity, last)?;
        let start = parts.join(".");
        let is_many = is_down || self.relations[relation].kind == RelationKind::Listing;
        Ok(if is_many { PathEnd::Many(start, relation, is_down) } else { PathEnd::One(start, entity, relation) })
    }

    /// The entity of the records that a path leads to.
    pub fn entity_of(&self, subject: &PathEnd) -> usize {
        match subject {
            PathEnd::All(entity) | PathEnd::Record(_, entity) => *entity,
            PathEnd::Many(_, relation, true) => self.relations[*relation].many,
            PathEnd::One(_, _, relation) | PathEnd::Many(_, relation, false) => self.relations[*relation].one,
        }
    }

    /// Whether a path is the list of records of a field, which has an order of its own.
    pub fn is_listing(&self, subject: &PathEnd) -> bool {
        matches!(subject, PathEnd::Many(_, relation, true) if self.relations[*relation].has_order)
    }

    /// The relation of this name at an entity, and whether the entity is its `one`.
    pub fn relation(&self, entity: usize, name: &str) -> Derived<(usize, bool)> {
        let mut names = Vec::new();
        for (position, relation) in self.relations.iter().enumerate() {
            for (end, label, is_down) in [(relation.one, &relation.down, true), (relation.many, &relation.up, false)] {
                let Some(label) = label.as_deref().filter(|_| end == entity) else { continue };
                if label == name {
                    return Ok((position, is_down));
                }
                names.push(label);
            }
        }
        let message = format!("`{}` has no relation `{name}`", self.name(entity));
        let field = self.relations.iter().find(|one| one.one == entity && one.kind == RelationKind::Reference);
        let help = match field.filter(|_| suggest(name, names.iter().copied()).is_none()) {
            Some(field) => {
                let (own, many, up) = (self.name(entity), self.name(field.many), field.up());
                format!("`{many}.{up}` is a field, not a list: `list: {many}, where: {{ {up}: <{own}> }}`")
            }
            None => nearest(name, &names),
        };
        refuse(message, "not a relation", help)
    }
}

/// The value of an option of a logical step.
pub(super) fn option<'n>(options: &'n [(Spanned<String>, Node)], key: &str) -> Option<&'n Node> {
    options.iter().find(|(name, _)| name.value == key).map(|(_, node)| node)
}

/// The value of an option that is text.
pub(super) fn text_option<'n>(options: &'n [(Spanned<String>, Node)], key: &str) -> Option<&'n str> {
    option(options, key)?.as_text()
}

/// Whether an option is `true`.
pub(super) fn flag(options: &[(Spanned<String>, Node)], key: &str) -> bool {
    option(options, key).is_some_and(|node| node.tree == Tree::Scalar(Scalar::Bool(true)))
}

/// The texts of a list.
pub(super) fn texts(node: Option<&Node>) -> Vec<String> {
    let items = node.and_then(Node::as_list).unwrap_or_default();
    items.iter().filter_map(|item| item.as_text().map(str::to_owned)).collect()
}
