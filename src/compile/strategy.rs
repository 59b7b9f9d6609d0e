//! Strategies as written to [`Arm`]s.

use crate::scenario::{
    self, Diagnostics, Implementation, Node, Scalar, Scenario, Spanned, StepDefinition, StepKind, Tree, nearest,
};

use super::audit::AuditCompiler;
use super::document::DocumentCompiler;
use super::lint::{check_texts, check_wholes};
use super::operation::argument_scope;
use super::resolve::{entity_of, resolve};
use super::scope::{Names, Origin, Scope};
use super::steps::StepCompiler;
use crate::plan::{Arm, Audit, Collection, Concerns, Expression, Loop, LoopOver, Program, Template};

/// Compiles one strategy, inherited parts included.
pub struct StrategyCompiler<'r> {
    pub scenario: &'r Scenario,
    pub strategy: &'r scenario::StrategyDefinition,
    pub names: &'r Names,
    pub concerns: &'r Concerns,
    pub diagnostics: &'r mut Diagnostics,
}

impl StrategyCompiler<'_> {
    /// The strategy, resolved; `None` when there were problems.
    pub fn compile(mut self) -> Option<Arm> {
        let declared: Vec<String> = self.strategy.collections.iter().map(|c| c.name.value.clone()).collect();
        let collections: Vec<_> =
            self.strategy.collections.iter().map(|collection| self.collection(collection)).collect();
        let load = match &self.strategy.load {
            Some(steps) => Some(self.program(Scope::new(self.names, "load"), &declared, steps, false)),
            None => None,
        };
        let operations = self.operations(&declared);
        let state = self.states(&declared);
        let audits = self.audits(&declared);
        Some(Arm {
            name: self.strategy.name.value.clone(),
            about: self.strategy.about.clone().unwrap_or_default(),
            is_unsafe: self.strategy.is_unsafe,
            is_control: false,
            collections: collections.into_iter().collect::<Option<_>>()?,
            load: match load {
                Some(program) => Some(program?),
                None => None,
            },
            operations: operations?,
            state: state?,
            audits: audits?,
        })
    }

    fn program(
        &mut self,
        scope: Scope,
        declared: &[String],
        steps: &[StepDefinition],
        returns: bool,
    ) -> Option<Program> {
        StepCompiler::new(scope, declared, self.concerns, self.diagnostics).compile(steps, returns)
    }

    fn operations(&mut self, declared: &[String]) -> Option<Vec<Program>> {
        let known: Vec<&str> = self.names.operations.iter().map(String::as_str).collect();
        for implementation in &self.strategy.operations {
            let name = &implementation.name;
            if !known.contains(&name.value.as_str()) {
                let message = format!("unknown operation `{}`", name.value);
                self.diagnostics.error(name.span, message, nearest(&name.value, &known));
            }
        }
        let mut made = Vec::new();
        for operation in &self.scenario.operations {
            let Some(implementation) = find(&self.strategy.operations, &operation.name.value) else {
                let strategy = &self.strategy.name;
                let message = format!("missing operation `{}` in strategy `{}`", operation.name.value, strategy.value);
                let help = format!("add `{}:` with its steps under `operations`", operation.name.value);
                self.diagnostics.error(strategy.span, message, help);
                made.push(None);
                continue;
            };
            let mut scope = argument_scope(operation, self.names);
            scope.relabel(format!("{}.steps", operation.name.value));
            made.push(self.program(scope, declared, &implementation.steps, operation.returns.is_some()));
        }
        made.into_iter().collect()
    }

    fn audits(&mut self, declared: &[String]) -> Option<Vec<Audit>> {
        let mut compiler = AuditCompiler {
            names: self.names,
            collections: declared,
            concerns: self.concerns,
            diagnostics: self.diagnostics,
        };
        let strategy = &self.strategy.name.value;
        let audits = self.scenario.audits.iter().filter_map(|audit| Some((audit, audit.steps(strategy)?)));
        let made: Vec<_> = audits.map(|(audit, steps)| compiler.compile(audit, steps)).collect();
        made.into_iter().collect()
    }

    fn states(&mut self, declared: &[String]) -> Option<Vec<Program>> {
        for implementation in &self.strategy.state {
            let name = &implementation.name;
            if self.names.entity(&name.value).is_none() {
                let known: Vec<&str> = self.names.entities.iter().map(|entity| entity.name.as_str()).collect();
                let message = format!("unknown entity `{}`", name.value);
                self.diagnostics.error(name.span, message, nearest(&name.value, &known));
            }
        }
        let mut made = Vec::new();
        for entity in &self.scenario.entities {
            let steps = match find(&self.strategy.state, &entity.name.value) {
                Some(implementation) => Some(implementation.steps.clone()),
                None => self.default_state(&entity.name.value),
            };
            let Some(steps) = steps else {
                made.push(None);
                // An unknown entity is reported already.
                if self.has_unknown_each() {
                    continue;
                }
                let strategy = &self.strategy.name;
                let message = format!("missing state of `{}` in strategy `{}`", entity.name.value, strategy.value);
                let help = format!(
                    "no collection has `each: {0}`: add the steps that read its records back under `state: {{ {0}: ... }}`",
                    entity.name.value
                );
                self.diagnostics.error(strategy.span, message, help);
                continue;
            };
            let scope = Scope::new(self.names, "state");
            made.push(self.program(scope, declared, &steps, true));
        }
        made.into_iter().collect()
    }

    fn has_unknown_each(&self) -> bool {
        let mut each = self.strategy.collections.iter().filter_map(|collection| collection.each.as_ref());
        each.any(|each| matches!(&each.tree, Tree::Scalar(Scalar::Text(name)) if self.names.entity(name).is_none()))
    }

    /// `find` of the collection whose `each` is the entity.
    fn default_state(&self, entity: &str) -> Option<Vec<StepDefinition>> {
        let collection = self.strategy.collections.iter().find(|collection| {
            matches!(collection.each.as_ref().map(|each| &each.tree), Some(Tree::Scalar(Scalar::Text(name))) if name == entity)
        })?;
        let span = collection.name.span;
        let kind = StepKind::Command {
            word: Spanned { value: scenario::CommandWord::Find, span },
            collection: collection.name.clone(),
            options: Vec::new(),
            alias: None,
        };
        Some(vec![StepDefinition { span, kind }])
    }

    fn collection(&mut self, collection: &scenario::CollectionDefinition) -> Option<Collection> {
        let mut scope = Scope::new(self.names, format!("{}.each", collection.name.value));
        let loops = collection.each.as_ref().map(|each| self.loops(each, &mut scope));
        if let Some(document) = &collection.document {
            check_texts(document, &scope, self.diagnostics);
            let loops = loops.iter().flatten().flatten();
            let wholes: Vec<&str> = loops
                .filter(|each| matches!(each.over, LoopOver::Entity(_)))
                .filter_map(|each| scope.slot_name(each.slot))
                .collect();
            check_wholes(document, &wholes, &scope, self.diagnostics);
        }
        let document = match (&collection.document, &collection.each) {
            (Some(document), _) => {
                DocumentCompiler { scope: &mut scope, diagnostics: self.diagnostics }.compile(document, false)
            }
            (None, Some(Node { tree: Tree::Scalar(Scalar::Text(name)), span })) => {
                DocumentCompiler { scope: &mut scope, diagnostics: &mut Diagnostics::new() }.text(
                    &format!("<{name}>"),
                    *span,
                    false,
                )
            }
            (None, Some(each)) => {
                let help = "add a `document` that uses the names of `each`";
                self.diagnostics.error(each.span, "missing key `document`: `each` has several names", help);
                None
            }
            (None, None) => Some(Template::Document(Vec::new())),
        };
        let indexes = match &collection.indexes {
            None => Some(Template::Array(Vec::new())),
            Some(indexes) => {
                let mut scope = Scope::new(self.names, "indexes");
                DocumentCompiler { scope: &mut scope, diagnostics: self.diagnostics }.compile(indexes, false)
            }
        };
        let loops = match loops {
            Some(loops) => Some(loops?),
            None => None,
        };
        let name = collection.name.value.clone();
        Some(Collection { name, loops, document: document?, slots: scope.slots(), indexes: indexes? })
    }

    fn loops(&mut self, each: &Node, scope: &mut Scope) -> Option<Vec<Loop>> {
        match &each.tree {
            Tree::Scalar(Scalar::Text(name)) => {
                let Some(entity) = self.names.entity(name) else {
                    let known: Vec<&str> = self.names.entities.iter().map(|entity| entity.name.as_str()).collect();
                    self.diagnostics.error(each.span, format!("unknown entity `{name}`"), nearest(name, &known));
                    return None;
                };
                let slot = scope.assign(name, Origin::Argument, Some(entity));
                Some(vec![Loop { slot, over: LoopOver::Entity(entity) }])
            }
            Tree::Mapping(entries) => {
                let made: Vec<_> = entries.iter().map(|(name, list)| self.one_loop(name, list, scope)).collect();
                made.into_iter().collect()
            }
            _ => {
                let help = "for example `each: post` or `each: { post: all(post), part: chunks(post.parts, 10) }`";
                self.diagnostics.error(
                    each.span,
                    format!("expected an entity or names with lists, found {}", each.describe()),
                    help,
                );
                None
            }
        }
    }

    fn one_loop(&mut self, name: &Spanned<String>, list: &Node, scope: &mut Scope) -> Option<Loop> {
        let list = resolve(list, scope, self.diagnostics);
        let entity = list.as_ref().and_then(|list| entity_of(list, scope));
        let slot = scope.assign(&name.value, Origin::Argument, entity);
        let over = match list? {
            Expression::Generate(call) if call.generator.name == "all" => LoopOver::Entity(call.entity()?),
            list => LoopOver::List(list),
        };
        Some(Loop { slot, over })
    }
}

fn find<'s>(implementations: &'s [Implementation], name: &str) -> Option<&'s Implementation> {
    implementations.iter().find(|implementation| implementation.name.value == name)
}
