//! A scenario and a choice to a [`Plan`]; every problem of the file goes to the diagnostics.

use std::sync::Arc;

use crate::generate::Seed;
use crate::scenario::{
    self, Diagnostic, Diagnostics, Implementation, Node, Scalar, Scenario, Span, Spanned, Step, StepKind, Tree,
};

use super::choice::{Choice, ChoiceError};
use super::command::Concerns;
use super::expression::{EvalError, Expression, Frame};
use super::generator::GeneratorKind;
use super::inherit::inherit;
use super::program::Program;
use super::record::{Data, Entity, Field, NEW};
use super::resolve::{entity_of, nearest, resolve};
use super::scope::{EntityNames, Names, Origin, Scope};
use super::shape::Shape;
use super::steps::StepCompiler;
use super::template::{self, Template};
use super::value::Value;
use super::{Argument, Arm, Collection, Loop, LoopOver, Mix, Operation, Plan};

/// Resolves a whole scenario: all its strategies and mixes are checked, those chosen become the plan.
///
/// `Ok(None)` when the diagnostics have errors.
///
/// # Errors
/// When the choice names what the scenario does not have.
pub fn compile(
    scenario: &Scenario,
    choice: &Choice,
    diagnostics: &mut Diagnostics,
) -> Result<Option<Plan>, ChoiceError> {
    let mut names = Names {
        entities: entity_names(scenario, diagnostics),
        parameters: Vec::new(),
        operations: scenario.operations.iter().map(|operation| operation.name.value.clone()).collect(),
    };
    let mix = chosen_mix(scenario, choice)?;
    names.parameters = parameters(scenario, mix, choice, &names, diagnostics)?;
    let data = compile_data(scenario, &mut names, choice.seed, diagnostics);
    let operations: Vec<_> =
        scenario.operations.iter().filter_map(|operation| compile_operation(operation, &names, diagnostics)).collect();
    let weights: Vec<_> = scenario.mixes.iter().map(|mix| compile_mix(mix, &names, diagnostics)).collect();
    let concerns = Concerns::default();
    let strategies = inherit(&scenario.strategies, diagnostics);
    let mut arms = Vec::new();
    for strategy in &strategies {
        let mut told = Diagnostics::new();
        let strategy_names = with_parameters(&names, strategy, &mut told);
        let compiler = StrategyCompiler {
            scenario,
            strategy,
            names: &strategy_names,
            concerns: &concerns,
            diagnostics: &mut told,
        };
        arms.push(compiler.compile());
        tell_new(&told, diagnostics);
    }
    let chosen = chosen_strategies(scenario, choice)?;
    let arms = arms.into_iter().flatten().collect::<Vec<_>>();
    let mix_position =
        scenario.mixes.iter().position(|other| mix.is_some_and(|mix| other.name.value == mix.name.value));
    let (Some(data), false, Some(weights)) =
        (data, diagnostics.has_errors(), mix_position.and_then(|position| weights.into_iter().nth(position).flatten()))
    else {
        return Ok(None);
    };
    let plan = Plan {
        name: scenario.name.value.clone(),
        title: scenario.title.clone(),
        about: scenario.about.clone(),
        parameters: names.parameters.clone(),
        seed: choice.seed,
        data,
        operations,
        mix: Mix { name: mix.map(|mix| mix.name.value.clone()).unwrap_or_default(), weights },
        arms: in_order(arms, &chosen),
        concerns,
    };
    try_records(scenario, &plan, diagnostics);
    try_calls(scenario, &plan, diagnostics);
    Ok((!diagnostics.has_errors()).then_some(plan))
}

/// Adds what was not told yet: a strategy that inherits a mistake is not a second mistake.
fn tell_new(found: &Diagnostics, diagnostics: &mut Diagnostics) {
    for diagnostic in found.iter() {
        if !diagnostics.iter().any(|told| told == diagnostic) {
            diagnostics.push(diagnostic.clone());
        }
    }
}

fn in_order(mut arms: Vec<Arm>, chosen: &[String]) -> Vec<Arm> {
    let mut ordered = Vec::new();
    for name in chosen {
        if let Some(position) = arms.iter().position(|arm| arm.name == *name) {
            ordered.push(arms.swap_remove(position));
        }
    }
    ordered
}

fn error(diagnostics: &mut Diagnostics, span: Span, message: impl Into<String>, help: impl Into<String>) {
    diagnostics.push(Diagnostic::error(span, message).help(help));
}

fn chosen_mix<'s>(scenario: &'s Scenario, choice: &Choice) -> Result<Option<&'s scenario::Mix>, ChoiceError> {
    let find = |name: &str| scenario.mixes.iter().find(|mix| mix.name.value == name);
    match &choice.mix {
        None => Ok(find("default").or(scenario.mixes.first())),
        Some(name) => find(name).map(Some).ok_or_else(|| {
            let known: Vec<&str> = scenario.mixes.iter().map(|mix| mix.name.value.as_str()).collect();
            ChoiceError::unknown("mix", name, &known)
        }),
    }
}

/// The names of the strategies that run, the reference first.
fn chosen_strategies(scenario: &Scenario, choice: &Choice) -> Result<Vec<String>, ChoiceError> {
    let names = |wanted: &dyn Fn(&scenario::Strategy) -> bool| -> Vec<String> {
        scenario.strategies.iter().filter(|s| wanted(s)).map(|s| s.name.value.clone()).collect()
    };
    if choice.strategies.is_empty() {
        let marked = names(&|strategy| strategy.is_default.as_ref().is_some_and(|marked| marked.value));
        return Ok(match marked.is_empty() || choice.all {
            true => names(&|strategy| !strategy.is_unsafe),
            false => marked,
        });
    }
    let known: Vec<&str> = scenario.strategies.iter().map(|strategy| strategy.name.value.as_str()).collect();
    for (position, name) in choice.strategies.iter().enumerate() {
        if !known.contains(&name.as_str()) {
            return Err(ChoiceError::unknown("strategy", name, &known));
        }
        if choice.strategies[..position].contains(name) {
            return Err(ChoiceError::Twice(name.clone()));
        }
    }
    Ok(choice.strategies.clone())
}

/// Empty data, for expressions that may only use parameters.
fn no_data() -> Arc<Data> {
    Arc::new(Data::new(Seed::new(0), Vec::new()))
}

/// Parameters in order: `--set` before the mix's value before the scenario's.
fn parameters(
    scenario: &Scenario,
    mix: Option<&scenario::Mix>,
    choice: &Choice,
    names: &Names,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<(Arc<str>, Value)>, ChoiceError> {
    let known: Vec<&str> = scenario.parameters.iter().map(|(name, _)| name.value.as_str()).collect();
    if let Some((name, _)) = choice.set.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        return Err(ChoiceError::unknown("parameter", name, &known));
    }
    for other in &scenario.mixes {
        for (name, _) in &other.parameters {
            if !known.contains(&name.value.as_str()) {
                error(
                    diagnostics,
                    name.span,
                    format!("unknown parameter `{}`", name.value),
                    nearest(&name.value, &known),
                );
            }
        }
    }
    let mut scope_names = names.clone();
    for (name, node) in &scenario.parameters {
        let of_mix = mix.and_then(|mix| mix.parameters.iter().find(|(other, _)| other.value == name.value));
        let Some(plain) = parameter_value(node, &scope_names, diagnostics) else { continue };
        let mut value = match of_mix {
            Some((_, node)) => parameter_value(node, &scope_names, diagnostics).unwrap_or(Value::Null),
            None => plain.clone(),
        };
        if let Some((_, text)) = choice.set.iter().rev().find(|(other, _)| *other == name.value) {
            value = set_value(&name.value, text, &plain)?;
        }
        scope_names.parameters.push((Arc::from(name.value.as_str()), value));
    }
    Ok(scope_names.parameters)
}

fn parameter_value(node: &Node, names: &Names, diagnostics: &mut Diagnostics) -> Option<Value> {
    let mut scope = Scope::new(names, "parameters");
    let expression = resolve(node, &mut scope, diagnostics)?;
    if expression.any(&|part| matches!(part, Expression::Generate(_))) {
        let help = "compute it from the parameters before it; what is drawn belongs into `fields` or `arguments`";
        error(diagnostics, node.span, "a generator draws anew for every record and call, but this is one value", help);
        return None;
    }
    match expression.evaluate(&mut Frame::new(&no_data(), Seed::new(0), 0, 0)) {
        Ok(value) => Some(value),
        Err(words) => {
            error(
                diagnostics,
                node.span,
                words.to_string(),
                "it is computed once, before the run, from the parameters before it",
            );
            None
        }
    }
}

/// The value of `--set name=text`, which must be of the kind that the parameter has.
fn set_value(name: &str, text: &str, plain: &Value) -> Result<Value, ChoiceError> {
    let wrong = |wanted| ChoiceError::Value {
        name: name.to_owned(),
        value: text.to_owned(),
        wanted,
        example: super::written(plain),
    };
    match plain {
        Value::Int(_) => text.parse().map(Value::Int).map_err(|_| wrong("an int")),
        Value::Double(_) => {
            text.parse().ok().filter(|d: &f64| d.is_finite()).map(Value::Double).ok_or_else(|| wrong("a number"))
        }
        Value::Bool(_) => text.parse().map(Value::Bool).map_err(|_| wrong("true or false")),
        Value::Text(_) => Ok(Value::text(text)),
        _ => Err(wrong("computed from other parameters and cannot be set")),
    }
}

/// The names that a strategy sees: its own parameters come on top.
fn with_parameters(names: &Names, strategy: &scenario::Strategy, diagnostics: &mut Diagnostics) -> Names {
    let mut own = names.clone();
    for (name, node) in &strategy.parameters {
        if let Some(value) = parameter_value(node, &own, diagnostics) {
            own.parameters.retain(|(other, _)| **other != *name.value);
            own.parameters.push((Arc::from(name.value.as_str()), value));
        }
    }
    own
}

fn entity_names(scenario: &Scenario, diagnostics: &mut Diagnostics) -> Vec<EntityNames> {
    let find = |name: &str| scenario.entities.iter().position(|entity| entity.name.value == name);
    let known: Vec<&str> = scenario.entities.iter().map(|entity| entity.name.value.as_str()).collect();
    let mut made: Vec<EntityNames> = Vec::new();
    let mut children: Vec<(usize, (String, usize))> = Vec::new();
    for (position, entity) in scenario.entities.iter().enumerate() {
        let parent = entity.parent.as_ref().and_then(|parent| match find(&parent.value) {
            Some(owner) if owner < position => Some(owner),
            Some(owner) => {
                // So that uses of the list are not told as mistakes too.
                children.extend(entity.children_name.as_ref().map(|list| (owner, (list.value.clone(), position))));
                error(
                    diagnostics,
                    parent.span,
                    format!("`{}` must stand before `{}`, which it owns", parent.value, entity.name.value),
                    "move the owner up",
                );
                None
            }
            None => {
                let message = format!("unknown entity `{}`", parent.value);
                error(diagnostics, parent.span, message, nearest(&parent.value, &known));
                None
            }
        });
        let fields = entity.fields.iter().map(|field| (field.name.value.clone(), None)).collect();
        made.push(EntityNames { name: entity.name.value.clone(), fields, parent, children: Vec::new() });
        if let (Some(parent), Some(children)) = (parent, &entity.children_name) {
            made[parent].children.push((children.value.clone(), position));
        }
    }
    for (owner, list) in children {
        made[owner].children.push(list);
    }
    made
}

/// Compiles the entities and counts their records.
fn compile_data(scenario: &Scenario, names: &mut Names, seed: u64, diagnostics: &mut Diagnostics) -> Option<Arc<Data>> {
    let mut entities = Vec::new();
    for (position, entity) in scenario.entities.iter().enumerate() {
        entities.push(compile_entity(position, entity, names, diagnostics));
    }
    let mut entities = entities.into_iter().collect::<Option<Vec<_>>>()?;
    for (entity, of) in entities.iter_mut().zip(&names.entities) {
        entity.children = of.children.iter().map(|(name, child)| (Arc::from(name.as_str()), *child)).collect();
    }
    let data = Arc::new(Data::new(Seed::new(seed), entities));
    for (position, entity) in scenario.entities.iter().enumerate() {
        if let Err(words) = data.measure(position) {
            error(diagnostics, entity.count.span, words.to_string(), "count gives an int, such as 200 or a parameter");
            return None;
        }
    }
    Some(data)
}

fn compile_entity(
    position: usize,
    entity: &scenario::Entity,
    names: &mut Names,
    diagnostics: &mut Diagnostics,
) -> Option<Entity> {
    let parent = names.entities[position].parent;
    let mut targets = Vec::new();
    let (count, fields) = {
        let mut scope = Scope::new(names, format!("{}.count", entity.name.value));
        scope.assign("index", Origin::Argument, None);
        scope.assign("number", Origin::Argument, None);
        let parent_name = parent.map_or(String::new(), |parent| names.entities[parent].name.clone());
        // Pushed, since a parent named `index` must not take that slot.
        scope.push(&parent_name, Origin::Argument, parent);
        let count = resolve(&entity.count, &mut scope, diagnostics);
        let mut fields = Vec::new();
        for field in &entity.fields {
            scope.relabel(format!("{}.{}", entity.name.value, field.name.value));
            let value = resolve(&field.value, &mut scope, diagnostics);
            let target = value.as_ref().and_then(|value| entity_of(value, &scope));
            let alone = value.as_ref().is_some_and(|value| !uses_fields(value));
            targets.push(target);
            scope.push(&field.name.value, Origin::Argument, target);
            fields.push(value.map(|value| Field { name: Arc::from(field.name.value.as_str()), value, alone }));
        }
        (count, fields.into_iter().collect::<Option<Vec<_>>>())
    };
    for (field, target) in names.entities[position].fields.iter_mut().zip(targets) {
        field.1 = target;
    }
    Some(Entity::new(Arc::from(entity.name.value.as_str()), parent, count?, fields?))
}

/// Whether an expression reads a slot of another field.
fn uses_fields(expression: &Expression) -> bool {
    expression.any(&|part| matches!(part, Expression::Slot(slot) if *slot >= super::record::FIELD_SLOTS))
}

fn compile_operation(
    operation: &scenario::Operation,
    names: &Names,
    diagnostics: &mut Diagnostics,
) -> Option<Operation> {
    let (arguments, _) = compile_arguments(operation, names, diagnostics);
    let returns = match &operation.returns {
        Some(node) => Some(Shape::compile(node, names, diagnostics)?),
        None => None,
    };
    if let Some(serial) = &operation.serial {
        let mut scope = argument_scope(operation, names);
        resolve(serial, &mut scope, diagnostics);
    }
    Some(Operation { name: Arc::from(operation.name.value.as_str()), arguments: arguments?, returns })
}

fn compile_arguments<'n>(
    operation: &scenario::Operation,
    names: &'n Names,
    diagnostics: &mut Diagnostics,
) -> (Option<Vec<Argument>>, Scope<'n>) {
    let mut scope = Scope::new(names, "");
    let mut arguments = Vec::new();
    for (name, node) in &operation.arguments {
        scope.relabel(format!("{}.{}", operation.name.value, name.value));
        let value = resolve(node, &mut scope, diagnostics);
        let entity = value.as_ref().and_then(|value| entity_of(value, &scope));
        if name.value == "reply" {
            let message = "`reply` cannot be an argument: it is the last command's reply";
            error(diagnostics, name.span, message, "choose another name");
        }
        let slot = scope.assign(&name.value, Origin::Argument, entity);
        arguments.push(value.map(|value| Argument { name: Arc::from(name.value.as_str()), slot, value }));
    }
    (arguments.into_iter().collect(), scope)
}

/// The scope that an operation's arguments leave; their problems have been told already.
fn argument_scope<'n>(operation: &scenario::Operation, names: &'n Names) -> Scope<'n> {
    compile_arguments(operation, names, &mut Diagnostics::new()).1
}

fn compile_mix(mix: &scenario::Mix, names: &Names, diagnostics: &mut Diagnostics) -> Option<Vec<f64>> {
    let mut weights = vec![0.0; names.operations.len()];
    let known: Vec<&str> = names.operations.iter().map(String::as_str).collect();
    let mut good = true;
    for weight in &mix.weights {
        let name = &weight.operation;
        let Some(position) = known.iter().position(|operation| *operation == name.value) else {
            let message = format!("mix `{}` names no operation: `{}`", mix.name.value, name.value);
            error(diagnostics, name.span, message, nearest(&name.value, &known));
            good = false;
            continue;
        };
        match parameter_value(&weight.weight, names, diagnostics) {
            Some(Value::Int(weight)) if weight >= 0 => weights[position] = weight as f64,
            Some(Value::Double(weight)) if weight >= 0.0 && weight.is_finite() => weights[position] = weight,
            Some(other) => {
                let written = super::written(&other);
                let message = format!("the weight of `{}` must be a number >= 0, not {written}", name.value);
                error(diagnostics, weight.weight.span, message, "write for example `30`");
                good = false;
            }
            None => good = false,
        }
    }
    if good && weights.iter().all(|weight| *weight == 0.0) {
        let message = format!("mix `{}` calls nothing: all its weights are zero", mix.name.value);
        error(diagnostics, mix.name.span, message, "give at least one operation a weight above 0");
        good = false;
    }
    good.then_some(weights)
}

struct StrategyCompiler<'r> {
    scenario: &'r Scenario,
    strategy: &'r scenario::Strategy,
    names: &'r Names,
    concerns: &'r Concerns,
    diagnostics: &'r mut Diagnostics,
}

impl StrategyCompiler<'_> {
    fn compile(mut self) -> Option<Arm> {
        let declared: Vec<String> = self.strategy.collections.iter().map(|c| c.name.value.clone()).collect();
        let collections: Vec<_> =
            self.strategy.collections.iter().map(|collection| self.collection(collection)).collect();
        let load = match &self.strategy.load {
            Some(steps) => Some(self.program(Scope::new(self.names, "load"), &declared, steps, false)),
            None => None,
        };
        let operations = self.operations(&declared);
        let state = self.states(&declared);
        Some(Arm {
            name: self.strategy.name.value.clone(),
            about: self.strategy.about.clone().unwrap_or_default(),
            is_unsafe: self.strategy.is_unsafe,
            collections: collections.into_iter().collect::<Option<_>>()?,
            load: match load {
                Some(program) => Some(program?),
                None => None,
            },
            operations: operations?,
            state: state?,
        })
    }

    fn program(&mut self, scope: Scope, declared: &[String], steps: &[Step], returns: bool) -> Option<Program> {
        StepCompiler::new(scope, declared, self.concerns, self.diagnostics).compile(steps, returns)
    }

    fn operations(&mut self, declared: &[String]) -> Option<Vec<Program>> {
        let known: Vec<&str> = self.names.operations.iter().map(String::as_str).collect();
        for implementation in &self.strategy.operations {
            let name = &implementation.name;
            if !known.contains(&name.value.as_str()) {
                let message = format!("unknown operation `{}`", name.value);
                error(self.diagnostics, name.span, message, nearest(&name.value, &known));
            }
        }
        let mut made = Vec::new();
        for operation in &self.scenario.operations {
            let Some(implementation) = find(&self.strategy.operations, &operation.name.value) else {
                let strategy = &self.strategy.name;
                let message = format!("strategy `{}` does not say how to `{}`", strategy.value, operation.name.value);
                let help = format!("add `{}:` with its steps under `operations`", operation.name.value);
                error(self.diagnostics, strategy.span, message, help);
                made.push(None);
                continue;
            };
            let mut scope = argument_scope(operation, self.names);
            scope.relabel(format!("{}.steps", operation.name.value));
            made.push(self.program(scope, declared, &implementation.steps, operation.returns.is_some()));
        }
        made.into_iter().collect()
    }

    fn states(&mut self, declared: &[String]) -> Option<Vec<Program>> {
        for implementation in &self.strategy.state {
            let name = &implementation.name;
            if self.names.entity(&name.value).is_none() {
                let known: Vec<&str> = self.names.entities.iter().map(|entity| entity.name.as_str()).collect();
                let message = format!("unknown entity `{}`", name.value);
                error(self.diagnostics, name.span, message, nearest(&name.value, &known));
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
                // Whose records an unknown entity was meant to be has been asked already.
                if self.has_unknown_each() {
                    continue;
                }
                let strategy = &self.strategy.name;
                let message = format!(
                    "strategy `{}` does not say how the rows of `{}` are read back",
                    strategy.value, entity.name.value
                );
                let help = format!(
                    "no collection has `each: {0}`; add steps under `state: {{ {0}: ... }}`",
                    entity.name.value
                );
                error(self.diagnostics, strategy.span, message, help);
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
    fn default_state(&self, entity: &str) -> Option<Vec<Step>> {
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
        Some(vec![Step { span, kind }])
    }

    fn collection(&mut self, collection: &scenario::Collection) -> Option<Collection> {
        let mut scope = Scope::new(self.names, format!("{}.each", collection.name.value));
        let loops = collection.each.as_ref().map(|each| self.loops(each, &mut scope));
        let document = match (&collection.document, &collection.each) {
            (Some(document), _) => template::compile(document, false, &mut scope, self.diagnostics),
            (None, Some(Node { tree: Tree::Scalar(Scalar::Text(name)), span })) => {
                template::compile_text(&format!("<{name}>"), *span, false, &mut scope, &mut Diagnostics::new())
            }
            (None, Some(each)) => {
                let help = "give `document`, which uses the names of `each`";
                error(self.diagnostics, each.span, "several names need a `document`", help);
                None
            }
            (None, None) => Some(Template::Document(Vec::new())),
        };
        let indexes = match &collection.indexes {
            None => Some(Template::Array(Vec::new())),
            Some(indexes) => {
                let mut scope = Scope::new(self.names, "indexes");
                template::compile(indexes, false, &mut scope, self.diagnostics)
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
                    error(self.diagnostics, each.span, format!("unknown entity `{name}`"), nearest(name, &known));
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
                let help = "such as `each: post` or `each: { post: all(post), part: chunks(post.parts, 10) }`";
                error(self.diagnostics, each.span, "`each` is an entity, or names with lists", help);
                None
            }
        }
    }

    fn one_loop(&mut self, name: &Spanned<String>, list: &Node, scope: &mut Scope) -> Option<Loop> {
        let list = resolve(list, scope, self.diagnostics);
        let entity = list.as_ref().and_then(|list| entity_of(list, scope));
        let slot = scope.assign(&name.value, Origin::Argument, entity);
        let over = match list? {
            Expression::Generate(generator) if generator.all().is_some() => LoopOver::Entity(generator.all()?),
            list => LoopOver::List(list),
        };
        Some(Loop { slot, over })
    }
}

fn find<'s>(implementations: &'s [Implementation], name: &str) -> Option<&'s Implementation> {
    implementations.iter().find(|implementation| implementation.name.value == name)
}

/// Makes the first, the middle and the last record of every entity, and a new one where an operation makes such, so
/// that mistakes in fields are told before the run.
fn try_records(scenario: &Scenario, plan: &Plan, diagnostics: &mut Diagnostics) {
    for (position, entity) in plan.data.entities.iter().enumerate() {
        let last = entity.len().saturating_sub(1);
        let mut ordinals = if entity.is_empty() { Vec::new() } else { vec![0, last / 2, last] };
        ordinals.extend(makes_new(plan, position).then_some(NEW));
        for ordinal in ordinals {
            let record = plan.data.whole(position, ordinal);
            for (field, written) in entity.fields.iter().zip(&scenario.entities[position].fields) {
                record.get(&field.name);
                if let Some(fault) = plan.data.fault() {
                    let which = if ordinal == NEW { "a new record" } else { "a record" };
                    let message = format!("{which} of `{}` cannot be made: `{}`: {fault}", entity.name, field.name);
                    let help = match (ordinal, entity.parent) {
                        (NEW, Some(_)) => "a new record belongs to no parent yet: what comes from the parent is null",
                        _ => "correct the expression",
                    };
                    error(diagnostics, written.value.span, message, help);
                    return;
                }
            }
        }
    }
}

fn makes_new(plan: &Plan, entity: usize) -> bool {
    let is_new = |part: &Expression| match part {
        Expression::Generate(generator) => matches!(generator.kind, GeneratorKind::New(made) if made == entity),
        _ => false,
    };
    plan.operations.iter().flat_map(|operation| &operation.arguments).any(|argument| argument.value.any(&is_new))
}

/// Draws some calls of every operation.
fn try_calls(scenario: &Scenario, plan: &Plan, diagnostics: &mut Diagnostics) {
    const TRIES: u64 = 20;
    for (operation, written) in plan.operations.iter().zip(&scenario.operations) {
        if let Some((position, words)) = (0..TRIES).find_map(|call| failing_argument(plan, operation, call)) {
            let (name, value) = &written.arguments[position];
            let message = format!("argument `{}` of `{}` cannot be drawn: {words}", name.value, operation.name);
            error(diagnostics, value.span, message, "correct the expression");
        }
    }
}

/// The first argument of a call that has no value.
fn failing_argument(plan: &Plan, operation: &Operation, call: u64) -> Option<(usize, EvalError)> {
    let mut frame = Frame::new(&plan.data, plan.round_seed(0), call, operation.arguments.len());
    frame.now = plan.data.call_instant(call);
    for (position, argument) in operation.arguments.iter().enumerate() {
        match argument.value.evaluate(&mut frame) {
            Ok(value) => frame.set(argument.slot, value),
            Err(words) => return Some((position, words)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::trial::chosen;
    use super::*;

    const TEXT: &str = "
format: 1
name: trial
title: Trial
parameters: { n: 2, twice: n * 2, size: 10 }
entities:
  thing: { count: n, fields: { _id: index } }
operations:
  read: { arguments: { thing: uniform(thing) }, returns: value }
mixes:
  default: { read: 1 }
  many: { parameters: { n: 5 }, read: twice }
strategies:
  plain:
    default: true
    parameters: { size: 3, area: size * size }
    collections: { things: { each: thing } }
    operations: { read: { return: '[n, twice, size, area]' } }
  wide: { default: true, like: plain, parameters: { size: 4, more: area + 1 }, operations: { read: { return: '[size, area, more]' } } }
  bad: { like: plain, unsafe: true }
";

    fn values(plan: &Plan, arm: usize) -> String {
        let super::super::Step::Return(value) = &plan.arms[arm].operations[0].steps[0] else { unreachable!() };
        super::super::written(&value.evaluate(&mut Frame::new(&plan.data, Seed::new(0), 0, 9)).unwrap())
    }

    #[test]
    fn parameters_come_from_strategy_command_line_mix_and_scenario_in_that_order() {
        let set = vec![("size".to_owned(), "8".to_owned()), ("n".to_owned(), "3".to_owned())];
        let many = Some("many".to_owned());
        let plan = chosen(TEXT, &Choice::default());
        assert_eq!((values(&plan, 0).as_str(), values(&plan, 1).as_str()), ("[2, 4, 3, 9]", "[4, 16, 17]"));
        let plan = chosen(TEXT, &Choice { mix: many.clone(), ..Choice::default() });
        assert_eq!((values(&plan, 0).as_str(), plan.data.entities[0].len()), ("[5, 10, 3, 9]", 5));
        assert_eq!(plan.mix.weights, [10.0]);
        let plan = chosen(TEXT, &Choice { mix: many, set, ..Choice::default() });
        assert_eq!((values(&plan, 0).as_str(), plan.data.entities[0].len()), ("[3, 6, 3, 9]", 3));
    }

    #[test]
    fn strategies_run_when_marked_or_safe_or_named() {
        let names = |choice: &Choice| chosen(TEXT, choice).arms.iter().map(|arm| arm.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&Choice::default()), ["plain", "wide"]);
        assert_eq!(names(&Choice { all: true, ..Choice::default() }), ["plain", "wide"]);
        let named = Choice { strategies: vec!["bad".to_owned(), "plain".to_owned()], ..Choice::default() };
        assert_eq!(names(&named), ["bad", "plain"]);
    }

    #[test]
    fn a_choice_that_the_scenario_does_not_offer_is_told() {
        let told = |choice: &Choice| {
            let source = scenario::Source::new("trial.yaml", TEXT);
            let read = scenario::read(&source, &mut Diagnostics::new()).unwrap();
            compile(&read, choice, &mut Diagnostics::new()).unwrap_err().to_string()
        };
        let set =
            |name: &str, value: &str| Choice { set: vec![(name.to_owned(), value.to_owned())], ..Choice::default() };
        assert_eq!(told(&set("sise", "1")), "the scenario has no parameter `sise`: did you mean `size`?");
        assert_eq!(told(&set("size", "big")), "--set size=big: `size` is an int, such as 10");
        let mix = Choice { mix: Some("mani".to_owned()), ..Choice::default() };
        assert_eq!(told(&mix), "the scenario has no mix `mani`: did you mean `many`?");
        let twice = Choice { strategies: vec!["plain".to_owned(); 2], ..Choice::default() };
        assert!(told(&twice).contains("named twice"));
    }
}
