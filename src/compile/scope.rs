//! The names that an expression or template may use at its place in a scenario.

use std::sync::Arc;

use crate::plan::operation::EarlierCalls;
use crate::plan::{ReplyShape, RowField, Value};
use crate::scenario::{Diagnostics, SourceLines};

/// What the whole scenario names: the same everywhere in it.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// The lines of the scenario's text.
    pub lines: SourceLines,
    pub entities: Vec<EntityNames>,
    pub parameters: Vec<(Arc<str>, Value)>,
    /// Parameters without a value, because of a problem that is reported already.
    pub broken: Vec<String>,
    pub operations: Vec<String>,
    /// The calls of the operations defined above.
    pub earlier: Vec<Arc<EarlierCalls>>,
    /// Operations above without calls, because of a problem that is reported already.
    pub broken_operations: Vec<String>,
}

/// What an entity's records can be asked for.
#[derive(Debug, Clone)]
pub struct EntityNames {
    pub name: String,
    /// Its fields, and the entity whose records a field points at where that is known.
    pub fields: Vec<(String, Option<usize>)>,
    /// What its rows are compared by.
    pub row: Vec<RowField>,
    pub parent: Option<usize>,
    /// The lists of children, and their entities.
    pub children: Vec<(String, usize)>,
}

impl Names {
    /// The names of all entities.
    pub fn entity_names(&self) -> impl Iterator<Item = &str> {
        self.entities.iter().map(|entity| entity.name.as_str())
    }

    /// The names of all operations.
    pub fn operation_names(&self) -> impl Iterator<Item = &str> {
        self.operations.iter().map(String::as_str)
    }

    /// The names of all parameters, those without a value included.
    pub fn parameter_names(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(|(name, _)| &**name).chain(self.broken.iter().map(String::as_str))
    }

    /// Gives a parameter a value, in place of an older one of its name.
    pub fn set_parameter(&mut self, name: &str, value: Value) {
        self.parameters.retain(|(other, _)| **other != *name);
        self.parameters.push((Arc::from(name), value));
    }

    /// The entity of this name.
    pub fn entity(&self, name: &str) -> Option<usize> {
        self.entities.iter().position(|entity| entity.name == name)
    }

    /// What `name` is on a record of `entity`: `None` when there is no such name, else the entity it leads to.
    pub fn member(&self, entity: usize, name: &str) -> Option<Option<usize>> {
        let names = &self.entities[entity];
        if let Some((_, target)) = names.fields.iter().find(|(field, _)| field == name) {
            return Some(*target);
        }
        if let Some((_, child)) = names.children.iter().find(|(list, _)| list == name) {
            return Some(Some(*child));
        }
        match names.parent {
            Some(parent) if self.entities[parent].name == name => Some(Some(parent)),
            _ => matches!(name, "index" | "number" | "size").then_some(None),
        }
    }

    /// All names that [`Names::member`] knows on a record of `entity`.
    pub fn members(&self, entity: usize) -> Vec<&str> {
        let names = &self.entities[entity];
        let mut members: Vec<&str> = names.fields.iter().map(|(field, _)| field.as_str()).collect();
        members.extend(names.children.iter().map(|(list, _)| list.as_str()));
        members.extend(names.parent.map(|parent| self.entities[parent].name.as_str()));
        members
    }
}

/// Where a variable comes from, which decides what a null in a template means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// An argument of the operation, or a name of `each`.
    Argument,
    /// `let` or a loop name: null is meant.
    Let,
    /// `as` or `reply`: null means that nothing was found.
    Reply,
}

/// A name with a slot.
#[derive(Debug, Clone)]
pub struct Variable {
    pub name: String,
    /// Where its value is kept.
    pub slot: usize,
    /// Where it comes from.
    pub origin: Origin,
    /// The entity, when it holds a record (or a list of records) for certain.
    pub entity: Option<usize>,
    /// Whether it holds a record that this call creates, which is written whole.
    pub is_new: bool,
    /// What it holds, when it is a command's reply for certain.
    pub reply: Option<ReplyShape>,
}

/// The names at one place, and the numbering of slots and generators.
#[derive(Debug)]
pub struct Scope<'a> {
    pub names: &'a Names,
    /// Where problems of this place go.
    pub diagnostics: &'a Diagnostics,
    /// Each in the slot of its position.
    variables: Vec<Variable>,
    /// The most slots that were ever taken at once.
    pub slots: usize,
    /// Whether names are missing, because of a problem that is reported already.
    pub is_broken: bool,
    label: String,
    sites: usize,
}

impl<'a> Scope<'a> {
    /// Creates an empty scope; `label` sets the generators of this place apart from all others.
    pub fn new(names: &'a Names, diagnostics: &'a Diagnostics, label: impl Into<String>) -> Scope<'a> {
        Scope { names, diagnostics, variables: Vec::new(), slots: 0, is_broken: false, label: label.into(), sites: 0 }
    }

    /// The same variables at another place.
    pub fn moved<'b>(self, names: &'b Names, diagnostics: &'b Diagnostics, label: String) -> Scope<'b> {
        let Scope { variables, slots, is_broken, .. } = self;
        Scope { variables, slots, is_broken, ..Scope::new(names, diagnostics, label) }
    }

    /// Begins a new place for generators; variables stay.
    pub fn relabel(&mut self, label: impl Into<String>) {
        self.label = label.into();
        self.sites = 0;
    }

    /// The label text of the next generator.
    pub fn next_site(&mut self) -> String {
        self.sites += 1;
        format!("{}#{}", self.label, self.sites)
    }

    /// Gives a name a slot: its old one when it has one already in this scope.
    pub fn assign(&mut self, name: &str, origin: Origin, entity: Option<usize>) -> usize {
        if let Some(variable) = self.variables.iter_mut().find(|variable| variable.name == name) {
            variable.origin = origin;
            variable.reply = None;
            variable.is_new = false;
            // Two assignments of different kinds leave the kind open.
            variable.entity = if variable.entity == entity { entity } else { None };
            return variable.slot;
        }
        self.push(name, origin, entity)
    }

    /// Gives a name a new slot that hides an older one until [`Scope::pop`].
    pub fn push(&mut self, name: &str, origin: Origin, entity: Option<usize>) -> usize {
        let slot = self.variables.len();
        self.variables.push(Variable { name: name.to_owned(), slot, origin, entity, is_new: false, reply: None });
        self.slots = self.slots.max(self.variables.len());
        slot
    }

    /// Takes the newest name away again, and frees its slot.
    pub fn pop(&mut self) {
        self.variables.pop();
    }

    /// The variable of this name.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().rev().find(|variable| variable.name == name)
    }

    /// The variable in this slot.
    pub fn in_slot(&self, slot: usize) -> Option<&Variable> {
        self.variables.get(slot)
    }

    /// The variable in a taken slot, to note what it holds.
    pub fn slot_mut(&mut self, slot: usize) -> &mut Variable {
        &mut self.variables[slot]
    }

    /// The replies that variables certainly hold, to be [met](Scope::meet_replies) where two branches of a program join.
    pub fn replies(&self) -> Vec<(usize, ReplyShape)> {
        self.variables.iter().filter_map(|variable| Some((variable.slot, variable.reply?))).collect()
    }

    /// Sets the replies that the variables hold.
    pub fn set_replies(&mut self, replies: &[(usize, ReplyShape)]) {
        for variable in &mut self.variables {
            variable.reply = replies.iter().find(|(slot, _)| *slot == variable.slot).map(|(_, reply)| *reply);
        }
    }

    /// Keeps only the replies that are the same in the other branch.
    pub fn meet_replies(&mut self, other: &[(usize, ReplyShape)]) {
        for variable in &mut self.variables {
            variable.reply = variable.reply.filter(|reply| other.contains(&(variable.slot, *reply)));
        }
    }

    /// The value of a parameter.
    pub fn parameter(&self, name: &str) -> Option<&Value> {
        self.names.parameters.iter().find(|(parameter, _)| **parameter == *name).map(|(_, value)| value)
    }

    /// Whether a name may be one that is missing because of a problem that is reported already.
    pub fn is_broken(&self, name: &str) -> bool {
        self.is_broken || self.names.broken.iter().any(|broken| broken == name)
    }

    /// `item.cart` for `cart`: the name as a member of the one variable whose records have it.
    pub fn member_named(&self, name: &str) -> Option<String> {
        let has = |variable: &&Variable| {
            let names = variable.entity.map(|entity| &self.names.entities[entity]);
            names.is_some_and(|names| {
                let parent = names.parent.map(|parent| self.names.entities[parent].name.as_str());
                parent == Some(name) || names.fields.iter().any(|(field, _)| field == name)
            })
        };
        let mut found = self.variables.iter().filter(has);
        let variable = found.next()?;
        found.next().is_none().then(|| format!("{}.{name}", variable.name))
    }

    /// Returns every name of a value here, for suggestions.
    pub fn known(&self) -> Vec<&str> {
        let variables = self.variables.iter().map(|variable| variable.name.as_str());
        variables.chain(self.names.parameters.iter().map(|(name, _)| &**name)).collect()
    }
}
