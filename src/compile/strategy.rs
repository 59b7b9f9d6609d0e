//! Strategies as written to [`Arm`]s.

use crate::plan::{Arm, Collection, Concerns, Expression, LoadOrder, Loop, LoopOver, Program, Template};
use crate::scenario::{self, Diagnostics, Node, Scalar, Scenario, Spanned, StepDefinition, StepKind, Tree, list_of};

use super::audit::PAIRS;
use super::foreign::check_collection;
use super::inherit::line_of;
use super::known_names::check_collection_options;
use super::lint::{check_options, check_texts, check_wholes};
use super::operation::step_scope;
use super::parts::{all, optional};
use super::resolve::resolve_records;
use super::scope::{Names, Origin, Scope};
use super::series::Instance;
use super::shard::{candidates, sharding};
use super::steps::StepCompiler;

/// Compiles one strategy, inherited parts included.
pub struct StrategyCompiler<'r> {
    pub scenario: &'r Scenario,
    pub strategy: &'r scenario::StrategyDefinition,
    pub names: &'r Names,
    /// The operations that the mix calls.
    pub called: &'r [&'r str],
    /// The collections, each with its name; see [`expand`](super::series::expand).
    pub collections: &'r [Instance<'r>],
    pub concerns: &'r Concerns,
    pub diagnostics: &'r Diagnostics,
}

impl StrategyCompiler<'_> {
    /// The strategy, resolved; `None` when there were problems.
    pub fn compile(&self) -> Option<Arm> {
        let collections = all(self.collections.iter().map(|instance| self.instance(instance)));
        let load = self.strategy.load.as_ref().map(|steps| self.program(self.scope("load"), steps, false));
        let operations = self.operations();
        let state = self.states();
        let audits = self.audits();
        Some(Arm {
            name: self.strategy.name.value.clone(),
            about: self.strategy.about.clone().unwrap_or_default(),
            family: line_of(self.strategy, &self.scenario.strategies).last().copied().unwrap_or_default().to_owned(),
            is_unsafe: self.strategy.is_unsafe_with(self.called),
            is_repeat: false,
            tolerates_pairs: self.strategy.tolerates.iter().any(|name| name.value == PAIRS),
            collections: collections?,
            load: optional(load)?,
            operations: operations?,
            state: state?,
            audits: audits?,
        })
    }

    pub(super) fn scope(&self, label: impl Into<String>) -> Scope<'_> {
        Scope::new(self.names, self.diagnostics, label)
    }

    pub(super) fn program(&self, scope: Scope, steps: &[StepDefinition], returns: bool) -> Option<Program> {
        StepCompiler::new(scope, self.collections, self.concerns).compile(steps, returns)
    }

    fn operations(&self) -> Option<Vec<Program>> {
        let named = self.strategy.operations.iter().map(|(name, _)| name);
        for name in named.chain(&self.strategy.unsafe_with) {
            self.diagnostics.is_known("operation", name, "", self.names.operation_names());
        }
        let operations = self.scenario.operations.iter();
        let lacks = |name: &&str| find(&self.strategy.operations, name).is_none();
        let missing: Vec<&str> = operations.clone().map(|one| one.name.value.as_str()).filter(lacks).collect();
        // What a strategy lacks that it is like is reported there.
        if self.strategy.like.is_none() && !missing.is_empty() {
            self.report_missing_operations(&missing);
        }
        all(operations.map(|operation| {
            let steps = find(&self.strategy.operations, &operation.name.value)?;
            let scope = step_scope(operation, self.names, self.diagnostics);
            let mut compiler = StepCompiler::new(scope, self.collections, self.concerns);
            compiler.is_operation = true;
            compiler.compile(steps, operation.returns.is_some())
        }))
    }

    fn report_missing_operations(&self, missing: &[&str]) {
        let strategy = &self.strategy.name;
        let plural = if missing.len() == 1 { "" } else { "s" };
        let (message, help) = if self.is_bare() {
            let help = "`shape: {}` derives all of it from `does`, with a document for each record; or write `operations` by hand";
            (format!("strategy `{}` has neither `shape` nor `operations`", strategy.value), help.to_owned())
        } else {
            let message = format!("missing operation{plural} {} in strategy `{}`", list_of(missing), strategy.value);
            let derived = if self.scenario.has_model() { "; `shape: {}` derives those with `does`" } else { "" };
            let them =
                if missing.len() == 1 { format!("`{}:` with its", missing[0]) } else { "them with their".into() };
            (message, format!("add {them} steps under `operations`{derived}"))
        };
        self.diagnostics.error(strategy.span, message, help);
    }

    /// Whether a strategy of a model says nothing, so that what it lacks is one thing.
    fn is_bare(&self) -> bool {
        let own = self.strategy;
        let is_empty = own.operations.is_empty() && own.collections.is_empty() && own.state.is_empty();
        self.scenario.has_model() && own.shape.is_none() && own.like.is_none() && is_empty
    }

    fn states(&self) -> Option<Vec<Program>> {
        for (name, _) in &self.strategy.state {
            self.diagnostics.is_known("entity", name, "", self.names.entity_names());
        }
        all(self.scenario.entities.iter().map(|entity| {
            let name = &entity.name.value;
            let steps = find(&self.strategy.state, name).map(<[_]>::to_vec);
            let Some(steps) = steps.or_else(|| self.default_state(name)) else {
                self.report_missing_state(name);
                return None;
            };
            self.program(self.scope("state"), &steps, true)
        }))
    }

    fn report_missing_state(&self, entity: &str) {
        let mut each = self.strategy.collections.iter().filter_map(entity_of_each);
        // An unknown entity is reported already.
        if !self.is_bare() && each.all(|name| self.names.entity(name).is_some()) {
            let strategy = &self.strategy.name;
            let message = format!("missing state of `{entity}` in strategy `{}`", strategy.value);
            let help = format!(
                "no collection has `each: {entity}`: add the steps that read its records back under `state: {{ {entity}: ... }}`"
            );
            self.diagnostics.error(strategy.span, message, help);
        }
    }

    /// `find` of the collection whose `each` is the entity.
    fn default_state(&self, entity: &str) -> Option<Vec<StepDefinition>> {
        let mut collections = self.strategy.collections.iter().filter(|collection| collection.series.is_none());
        let named = collections.clone().find(|collection| entity_of_each(collection) == Some(entity));
        let collection =
            named.or_else(|| collections.find(|collection| self.has_one_per_record(collection, entity)))?;
        let span = collection.name.span;
        let kind = StepKind::Command {
            word: Spanned { value: scenario::CommandWord::Find, span },
            collection: collection.name.clone(),
            options: Vec::new(),
            alias: None,
        };
        Some(vec![StepDefinition { span, kind }])
    }

    /// Whether a collection has one document per record of the entity: its `each` takes all records, and all else in it is
    /// computed in lists of one element.
    fn has_one_per_record(&self, collection: &scenario::CollectionDefinition, entity: &str) -> bool {
        // What is wrong in `each` is reported with the collection.
        let unheard = Diagnostics::default();
        let loops = |each| self.loops(each, &mut Scope::new(self.names, &unheard, "state"));
        match collection.each.as_ref().and_then(loops).as_deref() {
            Some([Loop { over: LoopOver::Entity(all), .. }, inner @ ..]) => {
                self.names.entity(entity) == Some(*all)
                    && inner
                        .iter()
                        .all(|each| matches!(&each.over, LoopOver::List(Expression::List(items)) if items.len() == 1))
            }
            _ => false,
        }
    }

    /// Compiles a collection with the names that it may use.
    fn instance(&self, instance: &Instance<'_>) -> Option<Collection> {
        let names = instance.names.as_ref().unwrap_or(self.names);
        let collection = StrategyCompiler { names, ..*self }.collection(instance.definition)?;
        Some(Collection { name: instance.name.clone(), ..collection })
    }

    fn collection(&self, collection: &scenario::CollectionDefinition) -> Option<Collection> {
        check_collection(&collection.name.value, collection.name.span, self.diagnostics);
        let mut scope = self.scope(format!("{}.each", collection.name.value));
        let loops = collection.each.as_ref().map(|each| self.loops(each, &mut scope));
        if let Some(document) = &collection.document {
            check_texts(document, &scope);
            let loops = loops.iter().flatten().flatten();
            let wholes: Vec<&str> = loops
                .filter(|each| matches!(each.over, LoopOver::Entity(_)))
                .filter_map(|each| Some(scope.in_slot(each.slot)?.name.as_str()))
                .collect();
            check_wholes(document, &wholes, &scope);
        }
        let load_order = self.load_order(collection, loops.as_ref());
        let document = match (&collection.document, &collection.each) {
            (Some(document), _) => scope.template(document, false),
            (None, Some(each)) => match each.as_text() {
                // An unknown entity is reported already.
                Some(name) if self.names.entity(name).is_none() => None,
                Some(name) => scope.text(&format!("<{name}>"), each.span, false),
                None => {
                    let help = "add a `document` that uses the names of `each`";
                    self.diagnostics.reject(each.span, "missing key `document`: `each` has several names", help)
                }
            },
            (None, None) => Some(Template::Document(Vec::new())),
        };
        let plain = |node: &Node, place: &str| {
            let mut scope = self.scope(place);
            Some((scope.template(node, false)?, scope.slots))
        };
        let indexes = collection.indexes.as_ref().map(|indexes| plain(indexes, "indexes"));
        let options = collection.options.as_ref().map(|options| plain(options, "options"));
        check_collection_options(collection.indexes.as_ref(), collection.options.as_ref(), self.diagnostics);
        if let Some(options) = &collection.options {
            check_options(options, collection.indexes.as_ref(), self.diagnostics);
        }
        let sharding = collection.shard.as_ref().map(|shard| sharding(collection, shard, self.diagnostics));
        let (indexes, index_slots) = optional(indexes)?.unwrap_or((Template::Array(Vec::new()), 0));
        Some(Collection {
            name: collection.name.value.clone(),
            written: collection.name.value.clone(),
            loops: optional(loops)?,
            options: optional(options)?.map(|(options, _)| options),
            skips_large: collection.skips_large,
            load_order,
            document: document?,
            slots: scope.slots.max(index_slots),
            indexes,
            sharding: optional(sharding)?,
            shard_keys: candidates(self.scenario, &collection.name.value),
        })
    }

    fn loops(&self, each: &Node, scope: &mut Scope) -> Option<Vec<Loop>> {
        match &each.tree {
            Tree::Scalar(Scalar::Text(name)) => {
                let written = Spanned::new(name.clone(), each.span);
                self.diagnostics.is_known("entity", &written, "", self.names.entity_names());
                let entity = self.names.entity(name)?;
                let slot = scope.assign(name, Origin::Argument, Some(entity));
                Some(vec![Loop { slot, over: LoopOver::Entity(entity) }])
            }
            Tree::Mapping(entries) => all(entries.iter().map(|(name, list)| one_loop(name, list, scope))),
            Tree::Scalar(_) | Tree::List(_) => {
                let message = format!("expected an entity or names with lists, found {}", each.describe());
                let help = "for example `each: post` or `each: { post: all(post), part: chunks(post.parts, 10) }`";
                self.diagnostics.reject(each.span, message, help)
            }
        }
    }

    /// The order of the documents; `loops` are those of `each`, if they could be compiled.
    fn load_order(&self, collection: &scenario::CollectionDefinition, loops: Option<&Option<Vec<Loop>>>) -> LoadOrder {
        let has_children = match loops {
            Some(None) => return LoadOrder::Grouped,
            Some(Some(loops)) => self.runs_over_children(loops),
            None => false,
        };
        let order = collection.load_order.as_ref();
        if let Some(order) = order.filter(|_| !has_children) {
            let message = "`load_order` needs an `each` over the children of an entity";
            let help = "remove it: other documents are loaded in the order of their records";
            self.diagnostics.error(order.span, message, help);
        }
        let is_grouped = !has_children || order.is_some_and(|order| order.value == "grouped");
        if is_grouped { LoadOrder::Grouped } else { LoadOrder::Interleaved }
    }

    fn runs_over_children(&self, loops: &[Loop]) -> bool {
        // A list of one element is a computed value.
        let repeats = |each: &Loop| !matches!(&each.over, LoopOver::List(Expression::List(items)) if items.len() < 2);
        match loops.split_first() {
            Some((Loop { over: LoopOver::Entity(entity), .. }, inner)) => {
                self.names.entities[*entity].parent.is_some() || inner.iter().any(repeats)
            }
            _ => false,
        }
    }
}

fn one_loop(name: &Spanned<String>, list: &Node, scope: &mut Scope) -> Option<Loop> {
    let (list, entity) = resolve_records(list, scope);
    let slot = scope.assign(&name.value, Origin::Argument, entity);
    let over = match list? {
        Expression::Generate(call) if call.generator.name == "all" => LoopOver::Entity(call.entity()?),
        list => LoopOver::List(list),
    };
    Some(Loop { slot, over })
}

/// The entity that `each` names.
fn entity_of_each(collection: &scenario::CollectionDefinition) -> Option<&str> {
    collection.each.as_ref()?.as_text()
}

fn find<'s>(all: &'s [(Spanned<String>, Vec<StepDefinition>)], name: &str) -> Option<&'s [StepDefinition]> {
    all.iter().find(|(other, _)| other.value == name).map(|(_, steps)| steps.as_slice())
}
