//! `does` to a [`LogicalModel`].

use std::sync::Arc;

use crate::plan::model::{Gives, Included, ListPart, LogicalRead, LogicalWrite, ModelStep, ReadStart, RelationWay};
use crate::plan::{Concerns, Data, Expression, LogicalModel, LogicalOperation, Template};
use crate::scenario::{
    Diagnostics, LogicalStep, Node, OperationDefinition, Scalar, Scenario, Severity, Spanned, StepDefinition, StepKind,
    Tree, nearest, read_steps,
};

use super::logical_fields::LogicalFields;
use super::model::references;
use super::operation::step_scope;
use super::parts::{all, optional};
use super::resolve::{resolve, resolve_text};
use super::scope::Names;
use super::steps::StepCompiler;

/// The operators of conditions that the model executes.
const OPERATORS: [&str; 8] = ["$eq", "$gt", "$gte", "$in", "$lt", "$lte", "$ne", "$nin"];

/// The options of a logical step.
type Options = [(Spanned<String>, Node)];

/// The model of a scenario without problems; `None` where no operation has `does`.
pub fn compile_model(
    scenario: &Scenario,
    names: &Names,
    data: &Arc<Data>,
    diagnostics: &Diagnostics,
) -> Option<LogicalModel> {
    if !scenario.has_model() {
        return None;
    }
    let references = references(scenario, names, Some(data));
    let concerns = Concerns::default();
    let compiled = scenario.operations.iter().map(|operation| {
        // What every strategy reports as well is reported once.
        let unheard = Diagnostics::new();
        let steps = StepCompiler::new(step_scope(operation, names, &unheard), &[], &concerns);
        let compiler = DoesCompiler { scenario, references: &references, operation, steps, data };
        let compiled = compiler.compile();
        let problems: Vec<_> = unheard.iter().filter(|problem| problem.severity == Severity::Error).collect();
        let reason = problems.first().map(|problem| problem.message.clone()).unwrap_or_default();
        problems.into_iter().for_each(|problem| diagnostics.push(problem));
        compiled.unwrap_or(Err(reason))
    });
    Some(LogicalModel { operations: compiled.collect() })
}

/// Compiles the steps of one operation. `None` means a problem, which is reported.
struct DoesCompiler<'r, 'a> {
    scenario: &'a Scenario,
    /// By entity, the fields that refer to records of another one, and whether they are lists.
    references: &'r [Vec<(String, usize, bool)>],
    operation: &'a OperationDefinition,
    steps: StepCompiler<'r, 'a>,
    data: &'a Arc<Data>,
}

impl DoesCompiler<'_, '_> {
    fn compile(mut self) -> Option<Result<LogicalOperation, String>> {
        if let Some(reason) = not_executable(&self.operation.does) {
            return Some(Err(reason));
        }
        let steps = all(self.operation.does.iter().map(|step| self.step(step)))?;
        Some(Ok(LogicalOperation { steps, slots: self.steps.scope.slots, reply: self.steps.reply }))
    }

    fn step(&mut self, step: &LogicalStep) -> Option<ModelStep> {
        let LogicalStep::Logical { word, target, options, .. } = step else {
            let LogicalStep::Other(node) = step else { return None };
            return self.steps.steps(&other(node)).map(ModelStep::Other);
        };
        if matches!(word.value.as_str(), "get" | "list" | "count" | "sum") {
            let read = self.read(&word.value, target, options)?;
            let alias =
                find(options, "as").and_then(Node::as_text).map(|name| Spanned::new(name.to_owned(), word.span));
            return Some(ModelStep::Read(Box::new(read), optional(alias.map(|name| self.steps.reply_name(&name)))?));
        }
        all(step.parts().iter().map(|write| self.write(write))).map(ModelStep::Write)
    }

    fn read(&mut self, word: &str, target: &Spanned<String>, options: &Options) -> Option<LogicalRead> {
        let (path, gives) = match (word, target.value.rsplit_once('.')) {
            ("sum", Some((path, field))) => (path, Gives::Sum(Arc::from(field))),
            ("get", _) => (target.value.as_str(), Gives::Record),
            ("list", _) => (target.value.as_str(), Gives::List),
            _ => (target.value.as_str(), Gives::Count),
        };
        let path = &Spanned::new(path.to_owned(), target.span);
        let (subject, entity) = match path.value.contains('.') {
            true => {
                let (start, from, relation) = self.related(path)?;
                let entity = relation.entity;
                (ReadStart::Related(start, from, relation), entity)
            }
            false if word == "get" => {
                let (record, entity) = self.record(path)?;
                let by = names(find(options, "by"));
                (ReadStart::Record(record, if by.is_empty() { vec![Arc::from("_id")] } else { by }), entity)
            }
            false => (ReadStart::All, self.entity(path)?),
        };
        if let Gives::Sum(field) = &gives {
            self.fields(entity).check_number("sum", field, target.span);
        }
        let has_own_order =
            matches!(&subject, ReadStart::Related(_, from, relation) if self.has_order(*from, relation));
        let with = self.with(entity, options)?;
        Some(LogicalRead { subject, entity, part: self.part(entity, options, has_own_order)?, with, gives })
    }

    /// Whether records have an order of their own in the list of another one.
    fn has_order(&self, from: usize, relation: &RelationWay) -> bool {
        !relation.is_inverse && !self.scenario.entities[from].is_set(&relation.field)
    }

    /// The related records that `with` names, and inside of it.
    fn with(&mut self, entity: usize, options: &Options) -> Option<Vec<Included>> {
        let with = find(options, "with").and_then(Node::as_mapping).unwrap_or_default();
        all(with.iter().map(|(name, node)| {
            let relation = self.relation(entity, name)?;
            let whole: Vec<_> = vec![(Spanned::new("fields".to_owned(), name.span), node.clone())];
            let options = node.as_mapping().unwrap_or(if node.as_list().is_some() { &whole } else { &[] });
            let has_own_order = relation.is_one || self.has_order(entity, &relation);
            let part = self.part(relation.entity, options, has_own_order)?;
            let with = self.with(relation.entity, options)?;
            Some(Included { name: Arc::from(name.value.as_str()), relation, part, with })
        }))
    }

    fn part(&mut self, entity: usize, options: &Options, has_own_order: bool) -> Option<ListPart> {
        let flag = |key: &str| find(options, key).is_some_and(|node| node.tree == Tree::Scalar(Scalar::Bool(true)));
        let natural = self.scenario.entities[entity].sort.as_ref().filter(|_| !has_own_order && !flag("unordered"));
        let sort = find(options, "sort").or(natural).and_then(Node::as_mapping).unwrap_or_default();
        let descends = |node: &Node| (node.tree == Tree::Scalar(Scalar::Int(-1))) != flag("reverse");
        let fields = self.fields(entity);
        ["where", "sort", "fields"].into_iter().for_each(|key| fields.check_paths(key, find(options, key)));
        fields.check_values(find(options, "where"), &self.steps.scope);
        let mut expression = |key: &str| optional(find(options, key).map(|node| resolve(node, &mut self.steps.scope)));
        Some(ListPart {
            sort: sort.iter().map(|(field, node)| (Arc::from(field.value.as_str()), descends(node))).collect(),
            after: expression("after")?,
            page: expression("page")?,
            limit: expression("limit")?.or(expression("size")?),
            fields: names(find(options, "fields")),
            condition: self.template(options, "where")?,
        })
    }

    fn write(&mut self, step: &LogicalStep) -> Option<LogicalWrite> {
        let LogicalStep::Logical { word, target, options, .. } = step else { return None };
        let (record, entity) = self.record(target)?;
        let named = |key: &str| {
            let (key, node) = options.iter().find(|(name, _)| name.value == key)?;
            Some(Spanned::new(node.as_text()?.to_owned(), key.span))
        };
        Some(match word.value.as_str() {
            "create" => {
                let parent = optional(named("in").map(|parent| self.record(&parent)))?.map(|(parent, _)| parent);
                let with = names(find(options, "with")).into_iter().map(|list| {
                    let relation = self.relation(entity, &Spanned::new(list.to_string(), target.span))?;
                    Some((list, relation.entity))
                });
                LogicalWrite::Create { entity, record, parent, with: all(with)? }
            }
            "update" => {
                let set = find(options, "set").and_then(Node::as_mapping).unwrap_or_default();
                let parent = self.steps.scope.names.entities[entity].parent;
                let is_set =
                    |parent: &usize| set.iter().any(|(key, _)| key.value == self.scenario.entities[*parent].name.value);
                let moves_to = parent.filter(is_set);
                let (fields, scope) = (self.fields(entity), &self.steps.scope);
                ["set", "inc", "if"].into_iter().for_each(|key| fields.check_paths(key, find(options, key)));
                fields.check_added(find(options, "inc"), scope);
                ["set", "if"].into_iter().for_each(|key| fields.check_values(find(options, key), scope));
                let otherwise = optional(find(options, "else").map(|node| resolve(node, &mut self.steps.scope)))?;
                let condition = self.template(options, "if")?.zip(otherwise);
                let (set, inc) = (self.template(options, "set")?, self.template(options, "inc")?);
                let returning = named("returning").map(|field| Arc::from(field.value));
                LogicalWrite::Update { entity, record, set, inc, moves_to, condition, returning }
            }
            "delete" => LogicalWrite::Delete { entity, record },
            adds => {
                let list = named("to").or(named("from"))?;
                let (owner, of, relation) = self.related(&list)?;
                LogicalWrite::Link { adds: adds == "add", record, owner: (owner, of), field: relation.field }
            }
        })
    }

    fn fields(&self, position: usize) -> LogicalFields<'_> {
        let (entity, diagnostics) = (&self.scenario.entities[position], self.steps.scope.diagnostics);
        LogicalFields { entity, position, data: self.data, diagnostics }
    }

    fn template(&mut self, options: &Options, key: &str) -> Option<Option<Template>> {
        optional(find(options, key).map(|node| self.steps.scope.template(node, false)))
    }

    /// The record of a path, and its entity.
    fn record(&mut self, path: &Spanned<String>) -> Option<(Expression, usize)> {
        let mut parts = path.value.split('.').map(|part| Spanned::new(part.to_owned(), path.span));
        let first = parts.next()?;
        let scope = &mut self.steps.scope;
        let record = resolve_text(&path.value, path.span, false, scope)?;
        let entity = scope.variable(&first.value).and_then(|variable| variable.entity);
        let Some(mut entity) = entity.or_else(|| scope.names.entity(&first.value)) else {
            let help = "draw it with `uniform`, `zipf`..., or name it after its entity";
            let message = format!("the argument `{}` is not certainly a record", first.value);
            return scope.diagnostics.reject(path.span, message, help);
        };
        for part in parts {
            entity = self.relation(entity, &part)?.entity;
        }
        Some((record, entity))
    }

    /// The record with which a path begins, its entity, and the relation with which it ends.
    fn related(&mut self, path: &Spanned<String>) -> Option<(Expression, usize, RelationWay)> {
        let (start, last) = path.value.rsplit_once('.')?;
        let (record, entity) = self.record(&Spanned::new(start.to_owned(), path.span))?;
        let relation = self.relation(entity, &Spanned::new(last.to_owned(), path.span))?;
        Some((record, entity, relation))
    }

    fn entity(&self, name: &Spanned<String>) -> Option<usize> {
        let names = self.steps.scope.names;
        self.steps.scope.diagnostics.is_known("entity", name, "", names.entity_names());
        names.entity(&name.value)
    }

    /// The relation of this name of an entity's records.
    fn relation(&self, entity: usize, name: &Spanned<String>) -> Option<RelationWay> {
        let entities = &self.scenario.entities;
        let field = |entity: usize| Arc::from(entities[entity].name.value.as_str());
        let names = &self.steps.scope.names.entities;
        let children = names[entity].children.iter().map(|(list, child)| {
            (list.clone(), RelationWay { entity: *child, field: field(entity), is_inverse: true, is_one: false })
        });
        let parent = names[entity].parent.map(|parent| {
            let relation = RelationWay { entity: parent, field: field(parent), is_inverse: false, is_one: true };
            (entities[parent].name.value.clone(), relation)
        });
        let own = self.references[entity].iter().map(|(name, target, is_list)| {
            let field = Arc::from(name.as_str());
            (name.clone(), RelationWay { entity: *target, field, is_inverse: false, is_one: !is_list })
        });
        let inverse = self.references.iter().enumerate().flat_map(|(other, fields)| {
            let here = fields.iter().filter(|(_, target, _)| *target == entity);
            here.filter_map(move |(name, ..)| {
                let inverse = entities[other].inverse.as_ref()?.get(name)?.as_text()?;
                let field = Arc::from(name.as_str());
                Some((inverse.to_owned(), RelationWay { entity: other, field, is_inverse: true, is_one: false }))
            })
        });
        let known: Vec<(String, RelationWay)> = children.chain(parent).chain(own).chain(inverse).collect();
        if let Some((_, relation)) = known.iter().find(|(known, _)| *known == name.value) {
            return Some(relation.clone());
        }
        let message = format!("`{}` has no relation `{}`", entities[entity].name.value, name.value);
        let known: Vec<&str> = known.iter().map(|(known, _)| known.as_str()).collect();
        self.steps.scope.diagnostics.reject(name.span, message, nearest(&name.value, &known))
    }
}

/// Why an operation cannot be executed without a database; `None` if it can be.
fn not_executable(does: &[LogicalStep]) -> Option<String> {
    fn is_known(step: &StepDefinition) -> bool {
        match &step.kind {
            StepKind::Let(_) | StepKind::Return(_) => true,
            StepKind::If { then, otherwise, .. } => then.iter().chain(otherwise).all(is_known),
            StepKind::ForEach { body, .. } => body.iter().all(is_known),
            _ => false,
        }
    }
    let problem = |step: &LogicalStep| match step {
        LogicalStep::Other(node) => {
            (!other(node).iter().all(is_known)).then(|| "one of its steps needs a database".to_owned())
        }
        LogicalStep::Logical { options, .. } => {
            let conditions = options.iter().filter(|(key, _)| matches!(key.value.as_str(), "where" | "if" | "with"));
            let operator = conditions.into_iter().find_map(|(_, node)| unknown_operator(node))?;
            Some(format!("its condition has `{operator}`"))
        }
    };
    match does {
        [] => Some("it has no `does`".to_owned()),
        does => does.iter().flat_map(LogicalStep::parts).find_map(problem),
    }
}

fn unknown_operator(node: &Node) -> Option<&str> {
    let is_unknown = |key: &str| key.starts_with('$') && !OPERATORS.contains(&key);
    node.as_mapping()?.iter().find_map(|(key, value)| {
        is_unknown(&key.value).then_some(key.value.as_str()).or_else(|| unknown_operator(value))
    })
}

/// The steps of a node that is no logical step, whose problems are reported where the scenario is read.
fn other(node: &Node) -> Vec<StepDefinition> {
    read_steps(&(Spanned::new(String::new(), node.span), node.clone()), &Diagnostics::new())
}

fn find<'n>(options: &'n Options, key: &str) -> Option<&'n Node> {
    options.iter().find(|(name, _)| name.value == key).map(|(_, node)| node)
}

/// The texts of a list.
fn names(node: Option<&Node>) -> Vec<Arc<str>> {
    node.and_then(Node::as_list).unwrap_or_default().iter().filter_map(|item| item.as_text().map(Arc::from)).collect()
}
