//! Calls of generators, as written, to [`GeneratorCall`]s.

use std::sync::Arc;

use cel::common::ast::{Expr, LiteralValue};
use cel::parser::Expression as Parsed;

use crate::generate::Label;
use crate::plan::generator::{GENERATORS, Generator, GeneratorArgument, GeneratorCall, ParameterKind};
use crate::plan::operation::EarlierCalls;
use crate::plan::{Expression, Value};
use crate::scenario::{list_of, nearest};

use super::parts::all;
use super::resolve::Resolver;

impl Resolver<'_, '_> {
    pub(super) fn generator(&mut self, name: &str, arguments: &[Parsed], parsed: &Parsed) -> Option<Expression> {
        let label = Label::new(&self.scope.next_site());
        let Some(generator) = self.matching(name, arguments) else {
            let ways = GENERATORS.iter().filter(|other| other.name == name);
            let usages: Vec<String> = ways.map(|other| format!("`{}`", other.usage())).collect();
            let message = format!("wrong arguments for `{name}`: expected {}", usages.join(" or "));
            let takes_operation = GENERATORS.iter().any(|other| {
                other.name == name && other.parameters.iter().any(|one| one.kind == ParameterKind::Operation)
            });
            let help = if takes_operation {
                self.operations_for(arguments)
            } else {
                "check their number and kinds; text needs quotes, for example 'title'".to_owned()
            };
            return self.problem(self.span_of_word(parsed, name), message, help);
        };
        let arguments = arguments.iter().zip(generator.parameters);
        let arguments: Vec<GeneratorArgument> =
            all(arguments.map(|(argument, parameter)| self.argument(name, parameter.kind, argument)))?;
        if let [GeneratorArgument::Entity(entity), GeneratorArgument::Operation(calls)] = arguments.as_slice()
            && !calls.makes(*entity)
        {
            let entity = &self.scope.names.entities[*entity].name;
            let message = format!("`{}` makes no `{entity}`", calls.name);
            let help = format!("name an operation that has an argument `new({entity})`");
            return self.problem(self.span_of_word(parsed, name), message, help);
        }
        Some(Expression::Generate(Box::new(GeneratorCall { generator, label, arguments })))
    }

    /// Returns the row of the table that the arguments fit. Where an entity or a value may be given, the name of an
    /// entity is one.
    fn matching(&self, name: &str, arguments: &[Parsed]) -> Option<&'static Generator> {
        let fits = |generator: &&Generator| {
            generator.name == name
                && generator.parameters.len() == arguments.len()
                && generator.parameters.iter().zip(arguments).all(|(parameter, argument)| match parameter.kind {
                    ParameterKind::Field => matches!(&argument.expr, Expr::Literal(LiteralValue::String(_))),
                    ParameterKind::EntityField => matches!(argument.expr, Expr::Select(_)),
                    _ => true,
                })
        };
        // An entity comes before a variable of its name, as it does in the other generators.
        let names_entity = |parsed| identifier(parsed).is_some_and(|name| self.scope.names.entity(name).is_some());
        let is_entity = |generator: &&Generator| {
            generator.parameters.first().is_none_or(|first| first.kind != ParameterKind::Entity)
                || names_entity(&arguments[0])
        };
        let mut candidates = GENERATORS.iter().filter(fits);
        candidates.clone().find(is_entity).or_else(|| candidates.next())
    }

    fn argument(&mut self, generator: &str, kind: ParameterKind, parsed: &Parsed) -> Option<GeneratorArgument> {
        match (kind, &parsed.expr) {
            (ParameterKind::Constant, _) => self.constant_number(parsed).map(GeneratorArgument::Value),
            (ParameterKind::Entity, _) => self.entity(parsed).map(GeneratorArgument::Entity),
            (ParameterKind::Operation, _) => self.earlier_calls(generator, parsed).map(GeneratorArgument::Operation),
            (ParameterKind::EntityField, Expr::Select(select)) => self
                .entity(&select.operand)
                .map(|entity| GeneratorArgument::EntityField(entity, Arc::from(select.field.as_str()))),
            (ParameterKind::Field, Expr::Literal(LiteralValue::String(field))) => {
                Some(GeneratorArgument::Field(Arc::from(field.inner())))
            }
            (ParameterKind::Value | ParameterKind::EntityField | ParameterKind::Field, _) => {
                self.expression(parsed).map(GeneratorArgument::Value)
            }
        }
    }

    fn entity(&mut self, parsed: &Parsed) -> Option<usize> {
        let names = self.scope.names;
        let name = identifier(parsed);
        name.and_then(|name| names.entity(name)).or_else(|| {
            let expected = || "expected the name of an entity".to_owned();
            let message = name.map_or_else(expected, |name| format!("`{name}` is not an entity"));
            let known: Vec<&str> = names.entity_names().collect();
            self.problem(self.span_of(parsed), message, nearest(name.unwrap_or_default(), &known))
        })
    }

    /// The operations that a generator may look back on: those above that make the records of its entity.
    fn operations_for(&self, arguments: &[Parsed]) -> String {
        let names = self.scope.names;
        let entity = arguments.first().and_then(identifier).and_then(|name| names.entity(name));
        let fits = |calls: &&Arc<EarlierCalls>| entity.is_none_or(|entity| calls.makes(entity));
        let known: Vec<&str> = names.earlier.iter().filter(fits).map(|calls| &*calls.name).collect();
        match known.as_slice() {
            [] => "define an operation above its own that makes the records with `new(entity)`".to_owned(),
            known => format!("the operation is one defined above its own: {}", list_of(known)),
        }
    }

    /// The calls of an operation defined above.
    fn earlier_calls(&mut self, generator: &str, parsed: &Parsed) -> Option<Arc<EarlierCalls>> {
        let name = identifier(parsed).unwrap_or_default();
        let names = self.scope.names;
        if let Some(calls) = names.earlier.iter().find(|calls| *calls.name == *name) {
            return Some(Arc::clone(calls));
        }
        if names.broken_operations.iter().any(|broken| broken == name) {
            return None;
        }
        let above: Vec<&str> = names.earlier.iter().map(|calls| &*calls.name).collect();
        let (message, help) = if names.operation_names().any(|operation| operation == name) {
            (
                format!("`{name}` is not defined above"),
                format!("`{generator}` takes an operation defined above its own"),
            )
        } else if name.is_empty() {
            ("expected the name of an operation".to_owned(), nearest(name, &above))
        } else {
            (format!("`{name}` is not an operation"), nearest(name, &above))
        };
        self.problem(self.span_of(parsed), message, help)
    }

    /// A number that is known before the run: a literal or a parameter.
    fn constant_number(&mut self, parsed: &Parsed) -> Option<Expression> {
        match self.expression(parsed)? {
            number @ Expression::Constant(Value::Int(_) | Value::Double(_)) => Some(number),
            _ => {
                let help = "for example 0.99, or the name of a parameter";
                self.problem(self.span_of(parsed), "expected a number or a numeric parameter", help)
            }
        }
    }
}

fn identifier(parsed: &Parsed) -> Option<&str> {
    let Expr::Ident(name) = &parsed.expr else { return None };
    Some(name)
}
