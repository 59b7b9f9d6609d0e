//! Calls of generators, as written, to [`Generator`]s.

use std::sync::{Arc, OnceLock};

use cel::common::ast::{Expr, LiteralValue};
use cel::parser::Expression as Parsed;

use crate::generate::{DEFAULT_EXPONENT, Label};

use super::expression::Expression;
use super::generator::{Generator, GeneratorKind};
use super::past::PastCalls;
use super::resolve::{Resolver, nearest};
use super::value::Value;

/// Generators and how they are called, for messages and suggestions.
pub const GENERATORS: &[(&str, &str)] = &[
    ("uniform", "uniform(a, b), uniform(entity) or uniform(entity, from, to)"),
    ("zipf", "zipf(entity) or zipf(entity, exponent)"),
    ("latest", "latest(entity)"),
    ("hotspot", "hotspot(entity, records, percent)"),
    ("normal", "normal(mean, deviation)"),
    ("zipf_count", "zipf_count(mean)"),
    ("poisson_count", "poisson_count(mean)"),
    ("oid", "oid()"),
    ("uuid", "uuid()"),
    ("words", "words(n)"),
    ("text", "text(bytes)"),
    ("bytes", "bytes(n)"),
    ("full_name", "full_name() or full_name(n)"),
    ("city", "city()"),
    ("ip", "ip()"),
    ("date_between", "date_between(a, b)"),
    ("one_of", "one_of(list)"),
    ("new", "new(entity)"),
    ("sample", "sample(entity, n) or sample(list, n)"),
    ("record", "record(entity, i)"),
    ("all", "all(entity)"),
    ("chain", "chain(record, field)"),
    ("referrers", "referrers(entity.field, record)"),
    ("clock", "clock()"),
    ("earlier", "earlier(operation)"),
];

impl Resolver<'_, '_> {
    pub(super) fn generator(&mut self, name: &str, arguments: &[Parsed], parsed: &Parsed) -> Option<Expression> {
        let label = Label::new(&self.scope.next_site());
        let kind = match self.generator_kind(name, arguments) {
            Ok(kind) => kind?,
            Err(()) => {
                let usage = GENERATORS.iter().find(|(word, _)| *word == name).map_or("", |(_, usage)| usage);
                let span = self.span_of_word(parsed, name);
                return self.problem(span, format!("`{name}` is not called like this"), format!("write {usage}"));
            }
        };
        Some(Expression::Generate(Box::new(Generator { label, kind })))
    }

    /// `Err` when the arguments do not fit the generator at all; `Ok(None)` when one of them had a problem of its own.
    fn generator_kind(&mut self, name: &str, arguments: &[Parsed]) -> Result<Option<GeneratorKind>, ()> {
        use GeneratorKind::*;
        Ok(match (name, arguments) {
            ("uniform", [entity]) => self.entity(entity).map(|entity| UniformRecord(entity, None)),
            ("uniform", [a, b]) => both(self.expression(a), self.expression(b)).map(|(a, b)| Uniform(a, b)),
            ("uniform", [entity, a, b]) => {
                let entity = self.entity(entity);
                let range = both(self.expression(a), self.expression(b));
                both(entity, range).map(|(entity, range)| UniformRecord(entity, Some(range)))
            }
            ("zipf", [entity]) => self.entity(entity).map(|entity| Zipf(entity, DEFAULT_EXPONENT, OnceLock::new())),
            ("zipf", [entity, exponent]) => both(self.entity(entity), self.constant_number(exponent))
                .map(|(entity, exponent)| Zipf(entity, exponent, OnceLock::new())),
            ("latest", [entity]) => self.entity(entity).map(|entity| Latest(entity, OnceLock::new())),
            ("hotspot", [entity, records, percent]) => {
                let entity = self.entity(entity);
                let hot = both(self.expression(records), self.expression(percent));
                both(entity, hot).map(|(entity, (records, percent))| Hotspot(entity, records, percent))
            }
            ("normal", [a, b]) => both(self.expression(a), self.expression(b)).map(|(a, b)| Normal(a, b)),
            ("zipf_count", [mean]) => self.constant_number(mean).map(|mean| ZipfCount(mean, OnceLock::new())),
            ("poisson_count", [mean]) => self.expression(mean).map(PoissonCount),
            ("oid", []) => Some(ObjectId),
            ("uuid", []) => Some(Uuid),
            ("words", [n]) => self.expression(n).map(Words),
            ("text", [n]) => self.expression(n).map(Text),
            ("bytes", [n]) => self.expression(n).map(Bytes),
            ("full_name", []) => Some(FullName(None)),
            ("full_name", [n]) => self.expression(n).map(|n| FullName(Some(n))),
            ("city", []) => Some(City),
            ("ip", []) => Some(Ip),
            ("date_between", [a, b]) => both(self.expression(a), self.expression(b)).map(|(a, b)| DateBetween(a, b)),
            ("one_of", [list]) => self.expression(list).map(OneOf),
            ("new", [entity]) => self.entity(entity).map(New),
            ("sample", [from, n]) if self.names_entity(from) => {
                both(self.entity(from), self.expression(n)).map(|(entity, n)| SampleRecords(entity, n))
            }
            ("sample", [from, n]) => {
                both(self.expression(from), self.expression(n)).map(|(list, n)| SampleList(list, n))
            }
            ("record", [entity, i]) => {
                both(self.entity(entity), self.expression(i)).map(|(entity, i)| Record(entity, i))
            }
            ("all", [entity]) => self.entity(entity).map(All),
            ("chain", [record, field]) => {
                let Expr::Literal(LiteralValue::String(field)) = &field.expr else { return Err(()) };
                self.expression(record).map(|record| Chain(record, Arc::from(field.inner())))
            }
            ("referrers", [path, record]) => {
                let Expr::Select(select) = &path.expr else { return Err(()) };
                both(self.entity(&select.operand), self.expression(record)).map(|(entity, record)| {
                    Referrers(entity, Arc::from(select.field.as_str()), record, OnceLock::new())
                })
            }
            ("clock", []) => Some(Clock),
            ("earlier", [operation]) => self.past(operation).map(Earlier),
            _ => return Err(()),
        })
    }

    /// An entity comes before a variable of its name, as it does in the other generators.
    fn names_entity(&self, parsed: &Parsed) -> bool {
        matches!(&parsed.expr, Expr::Ident(name) if self.scope.names.entity(name).is_some())
    }

    fn entity(&mut self, parsed: &Parsed) -> Option<usize> {
        if let Expr::Ident(name) = &parsed.expr
            && let Some(entity) = self.scope.names.entity(name)
        {
            return Some(entity);
        }
        let entities: Vec<&str> = self.scope.names.entities.iter().map(|entity| entity.name.as_str()).collect();
        let name = match &parsed.expr {
            Expr::Ident(name) => name.as_str(),
            _ => "",
        };
        let help = nearest(name, &entities);
        let span = self.span_of(parsed);
        let message = match &parsed.expr {
            Expr::Ident(name) => format!("`{name}` is not an entity"),
            _ => "an entity's name is wanted here".to_owned(),
        };
        self.problem(span, message, help);
        None
    }

    /// The calls of an operation that stands above.
    fn past(&mut self, parsed: &Parsed) -> Option<Arc<PastCalls>> {
        let name = match &parsed.expr {
            Expr::Ident(name) => name.as_str(),
            _ => "",
        };
        let names = self.scope.names;
        if let Some(calls) = names.past.iter().find(|calls| *calls.name == *name) {
            return Some(Arc::clone(calls));
        }
        let above: Vec<&str> = names.past.iter().map(|calls| &*calls.name).collect();
        let (message, help) = match names.operations.iter().any(|operation| operation == name) {
            true => (format!("`{name}` does not stand above"), "`earlier` names an operation above its own".to_owned()),
            false if name.is_empty() => ("an operation's name is wanted here".to_owned(), nearest(name, &above)),
            false => (format!("`{name}` is not an operation"), nearest(name, &above)),
        };
        let span = self.span_of(parsed);
        self.problem(span, message, help);
        None
    }

    /// A number that is known before the run: a literal or a parameter.
    fn constant_number(&mut self, parsed: &Parsed) -> Option<f64> {
        let expression = self.expression(parsed)?;
        match expression.constant() {
            Some(Value::Int(i)) => Some(*i as f64),
            Some(Value::Double(d)) => Some(*d),
            _ => {
                let span = self.span_of(parsed);
                self.problem(
                    span,
                    "a number or a numeric parameter is wanted here",
                    "such as 0.99, or the name of a parameter",
                );
                None
            }
        }
    }
}

fn both<A, B>(a: Option<A>, b: Option<B>) -> Option<(A, B)> {
    a.zip(b)
}
