//! CEL text to an [`Expression`]: every name becomes a slot, a constant, a function or a generator, or a diagnostic.

use std::cmp::Ordering;
use std::sync::Arc;

use cel::Env;
use cel::common::ast::{CallExpr, EntryExpr, Expr, LiteralValue, SourceInfo, operators};
use cel::parser::Expression as Parsed;

use crate::scenario::{Diagnostic, Diagnostics, Node, Scalar, Span, Tree, nearest};

use super::reply::check_field;
use super::scope::{Origin, Scope};
use super::syntax::{syntax_error, syntax_help};
use crate::plan::{
    Expression, Value,
    expression::{Each, EachKind, Operator},
    function,
    generator::GENERATORS,
};

const LOOPS: &[(&str, EachKind)] =
    &[("map", EachKind::Map), ("filter", EachKind::Filter), ("all", EachKind::All), ("exists", EachKind::Exists)];

/// Turns a node of the scenario into an expression: text is CEL, a list or mapping is one of expressions.
///
/// Problems go to `diagnostics`; `None` when there were any.
pub fn resolve(node: &Node, scope: &mut Scope, diagnostics: &mut Diagnostics) -> Option<Expression> {
    match &node.tree {
        Tree::Scalar(Scalar::Null) => Some(Expression::Constant(Value::Null)),
        Tree::Scalar(Scalar::Bool(b)) => Some(Expression::Constant(Value::Bool(*b))),
        Tree::Scalar(Scalar::Int(i)) => Some(Expression::Constant(Value::Int(*i))),
        Tree::Scalar(Scalar::Float(d)) => Some(Expression::Constant(Value::Double(*d))),
        Tree::Scalar(Scalar::Text(text)) => resolve_text(text, node.span, scope, diagnostics),
        Tree::List(items) => {
            let made: Vec<_> = items.iter().map(|item| resolve(item, scope, diagnostics)).collect();
            made.into_iter().collect::<Option<Vec<_>>>().map(Expression::List)
        }
        Tree::Mapping(entries) => {
            let mut made = Vec::new();
            for (key, value) in entries {
                let key = Expression::Constant(Value::text(&key.value));
                made.push(resolve(value, scope, diagnostics).map(|value| (key, value)));
            }
            made.into_iter().collect::<Option<Vec<_>>>().map(Expression::Map)
        }
    }
}

/// Turns CEL text at `span` into an expression.
pub fn resolve_text(text: &str, span: Span, scope: &mut Scope, diagnostics: &mut Diagnostics) -> Option<Expression> {
    // Without the macros of the standard library, which would turn loops into forms that hide what was written.
    let parser = Env::default().with_optional_support(false).parser();
    match parser.parse_with_source_info(text) {
        Ok((parsed, source)) => Resolver { source: &source, text, span, scope, diagnostics }.expression(&parsed),
        Err(errors) => {
            for error in errors.errors.iter().take(1) {
                let label = syntax_error(&error.msg);
                let problem = Diagnostic::error(span, format!("invalid expression `{text}`"));
                diagnostics.push(problem.label(label).help(syntax_help(text)));
            }
            None
        }
    }
}

/// The entity whose records an expression gives (alone or in a list), when that is certain.
pub fn entity_of(expression: &Expression, scope: &Scope) -> Option<usize> {
    match expression {
        Expression::Field(operand, name) => scope.names.member(entity_of(operand, scope)?, name)?,
        Expression::Index(operand, _) => entity_of(operand, scope),
        Expression::Slot(slot) => scope.slot_entity(*slot),
        Expression::Conditional(parts) => {
            entity_of(&parts[1], scope).filter(|entity| Some(*entity) == entity_of(&parts[2], scope))
        }
        Expression::Generate(call) => call.entity(),
        _ => None,
    }
}

/// Resolves one expression.
pub(super) struct Resolver<'r, 'a> {
    source: &'r SourceInfo,
    text: &'r str,
    span: Span,
    pub(super) scope: &'r mut Scope<'a>,
    diagnostics: &'r mut Diagnostics,
}

impl Resolver<'_, '_> {
    /// Returns where a part of the expression is in the file, as far as quoting allows.
    pub(super) fn span_of(&self, parsed: &Parsed) -> Span {
        let whole = self.span.end - self.span.start;
        let quote = usize::from(whole == self.text.len() + 2);
        match self.source.offset_for(parsed.id) {
            Some((start, end))
                if self.text.is_ascii()
                    && (whole == self.text.len() + 2 * quote)
                    && start <= end
                    && (end as usize) < self.text.len() =>
            {
                let base = self.span.start + quote;
                Span { start: base + start as usize, end: base + end as usize + 1 }
            }
            _ => self.span,
        }
    }

    /// Returns where the word of a call or field is: the parser knows only its bracket or dot.
    pub(super) fn span_of_word(&self, parsed: &Parsed, word: &str) -> Span {
        let whole = self.span.end - self.span.start;
        let quote = usize::from(whole == self.text.len() + 2);
        let place = self.source.offset_for(parsed.id).map(|(start, _)| start as usize);
        let (Some(place), true) = (place, self.text.is_ascii() && whole == self.text.len() + 2 * quote) else {
            return self.span;
        };
        let place = place.min(self.text.len());
        let after = |place: usize| self.text[place..].find(word).map(|at| place + at);
        let found = match self.text[place..].starts_with('.') {
            true => after(place),
            false => self.text[..place].rfind(word).or_else(|| after(place)),
        };
        let Some(found) = found else { return self.span };
        let start = self.span.start + quote + found;
        Span { start, end: start + word.len() }
    }

    pub(super) fn problem(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Option<Expression> {
        self.diagnostics.push(Diagnostic::error(span, message).help(help));
        None
    }

    fn boxed(&mut self, parsed: &Parsed) -> Option<Box<Expression>> {
        self.expression(parsed).map(Box::new)
    }

    fn all(&mut self, parsed: &[Parsed]) -> Option<Vec<Expression>> {
        let made: Vec<_> = parsed.iter().map(|part| self.expression(part)).collect();
        made.into_iter().collect()
    }

    pub(super) fn expression(&mut self, parsed: &Parsed) -> Option<Expression> {
        match &parsed.expr {
            Expr::Literal(literal) => Some(Expression::Constant(constant(literal))),
            Expr::Ident(name) => self.name(name, parsed),
            Expr::Select(select) => {
                let operand = self.expression(&select.operand)?;
                self.check_member(&operand, &select.field, parsed)?;
                Some(Expression::Field(Box::new(operand), Arc::from(select.field.as_str())))
            }
            Expr::List(list) => self.all(&list.elements).map(Expression::List),
            Expr::Map(map) => {
                let mut entries = Vec::new();
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        entries.push((self.expression(&entry.key)?, self.expression(&entry.value)?));
                    }
                }
                Some(Expression::Map(entries))
            }
            Expr::Call(call) => self.call(call, parsed),
            Expr::Struct(_) | Expr::Comprehension(_) | Expr::Unspecified => {
                let span = self.span_of(parsed);
                self.problem(span, "unsupported CEL syntax", "see docs/format.md for what expressions can do")
            }
        }
    }

    fn check_member(&mut self, operand: &Expression, name: &str, parsed: &Parsed) -> Option<()> {
        let Some(entity) = entity_of(operand, self.scope) else {
            return self.check_reply(operand, name, parsed);
        };
        if self.scope.names.member(entity, name).is_some() {
            return Some(());
        }
        let members = self.scope.names.members(entity);
        let help = nearest(name, &members);
        let message = format!("unknown field `{name}` of entity `{}`", self.scope.names.entities[entity].name);
        let span = self.span_of_word(parsed, name);
        self.problem(span, message, help);
        None
    }

    fn check_reply(&mut self, operand: &Expression, name: &str, parsed: &Parsed) -> Option<()> {
        if let Expression::Generate(generator) = operand
            && let Some(calls) = generator.earlier_calls()
            && !calls.has(name)
        {
            let span = self.span_of_word(parsed, name);
            self.problem(
                span,
                format!("unknown argument `{name}` of operation `{}`", calls.name),
                nearest(name, &calls.names()),
            );
            return None;
        }
        let Expression::Slot(slot) = operand else { return Some(()) };
        let Some(variable) = self.scope.slot_name(*slot) else { return Some(()) };
        let span = self.span_of_word(parsed, name);
        check_field(self.scope.slot_reply(*slot), (variable, name), span, self.diagnostics)
    }

    fn name(&mut self, name: &str, parsed: &Parsed) -> Option<Expression> {
        if let Some(variable) = self.scope.variable(name) {
            return Some(Expression::Slot(variable.slot));
        }
        if let Some(value) = self.scope.parameter(name) {
            return Some(Expression::Constant(value.clone()));
        }
        if self.scope.is_broken(name) {
            return None;
        }
        let span = self.span_of(parsed);
        if let Some(member) = self.scope.member_named(name) {
            return self.problem(span, format!("unknown name `{name}`"), format!("did you mean `{member}`?"));
        }
        if self.scope.names.entity(name).is_some() {
            return self.problem(
                span,
                format!("expected a value, found the entity `{name}`"),
                format!(
                    "draw a record with a generator: uniform({name}), zipf({name}), new({name}), record({name}, i)"
                ),
            );
        }
        let known = self.scope.known();
        let help = nearest(name, &known);
        self.problem(span, format!("unknown name `{name}`"), help)
    }

    fn call(&mut self, call: &CallExpr, parsed: &Parsed) -> Option<Expression> {
        if let Some(operator) = self.operator(call) {
            return operator;
        }
        let name = call.func_name.as_str();
        if let (Some(list), Some((_, kind))) = (&call.target, LOOPS.iter().find(|(word, _)| *word == name))
            && call.args.len() == 2
        {
            return self.each(*kind, list, &call.args);
        }
        if LOOPS.iter().any(|(word, _)| *word == name) && call.target.is_some() {
            let span = self.span_of_word(parsed, name);
            return self.problem(
                span,
                format!("`{name}` takes 2 arguments, found {}", call.args.len()),
                format!(
                    "write `list.{name}(x, ...)`, where x names the element; filter first with `list.filter(x, ...)`"
                ),
            );
        }
        if call.target.is_none() && GENERATORS.iter().any(|generator| generator.name == name) {
            return self.generator(name, &call.args, parsed);
        }
        self.function(call, parsed)
    }

    /// `None` when the call is no operator.
    fn operator(&mut self, call: &CallExpr) -> Option<Option<Expression>> {
        use Ordering::{Equal, Greater, Less};
        let arguments = &call.args;
        let arithmetic = |this: &mut Self, operator| {
            let (a, b) = (this.boxed(&arguments[0]), this.boxed(&arguments[1]));
            Some(Expression::Arithmetic(operator, a?, b?))
        };
        let compare = |this: &mut Self, orders: &'static [Ordering]| {
            let (a, b) = (this.boxed(&arguments[0]), this.boxed(&arguments[1]));
            Some(Expression::Compare(orders, a?, b?))
        };
        let pair = |this: &mut Self, make: fn(Box<Expression>, Box<Expression>) -> Expression| {
            let (a, b) = (this.boxed(&arguments[0]), this.boxed(&arguments[1]));
            Some(make(a?, b?))
        };
        Some(match call.func_name.as_str() {
            operators::CONDITIONAL => {
                let made = self.all(arguments);
                made.and_then(|parts| <[Expression; 3]>::try_from(parts).ok())
                    .map(|parts| Expression::Conditional(Box::new(parts)))
            }
            operators::LOGICAL_NOT => self.boxed(&arguments[0]).map(Expression::Not),
            operators::NEGATE => self.boxed(&arguments[0]).map(Expression::Negate),
            operators::LOGICAL_AND => pair(self, Expression::And),
            operators::LOGICAL_OR => pair(self, Expression::Or),
            operators::INDEX => pair(self, Expression::Index),
            operators::IN => pair(self, Expression::In),
            operators::EQUALS => pair(self, |a, b| Expression::Equal(true, a, b)),
            operators::NOT_EQUALS => pair(self, |a, b| Expression::Equal(false, a, b)),
            operators::ADD => arithmetic(self, Operator::Add),
            operators::SUBSTRACT => arithmetic(self, Operator::Subtract),
            operators::MULTIPLY => arithmetic(self, Operator::Multiply),
            operators::DIVIDE => arithmetic(self, Operator::Divide),
            operators::MODULO => arithmetic(self, Operator::Remainder),
            operators::LESS => compare(self, &[Less]),
            operators::LESS_EQUALS => compare(self, &[Less, Equal]),
            operators::GREATER => compare(self, &[Greater]),
            operators::GREATER_EQUALS => compare(self, &[Greater, Equal]),
            _ => return None,
        })
    }

    fn each(&mut self, kind: EachKind, list: &Parsed, arguments: &[Parsed]) -> Option<Expression> {
        let Expr::Ident(name) = &arguments[0].expr else {
            let span = self.span_of(&arguments[0]);
            return self.problem(
                span,
                "expected a name for the element as the first argument",
                "for example `list.map(x, x.field)`",
            );
        };
        let list = self.expression(list)?;
        let entity = entity_of(&list, self.scope);
        let slot = self.scope.push(name, Origin::Let, entity);
        let body = self.expression(&arguments[1]);
        self.scope.pop();
        Some(Expression::Each(Box::new(Each { kind, list, slot, body: body? })))
    }

    fn function(&mut self, call: &CallExpr, parsed: &Parsed) -> Option<Expression> {
        let name = call.func_name.as_str();
        let Some(function) = function::find(name) else {
            return self.unknown_function(name, parsed);
        };
        // `x.f(y)` and `f(x, y)` are the same call.
        let mut arguments = Vec::new();
        if let Some(target) = &call.target {
            arguments.push(self.expression(target));
        }
        for argument in &call.args {
            arguments.push(self.expression(argument));
        }
        let (least, most) = function.arity;
        if !(least..=most).contains(&arguments.len()) {
            let takes = if least == most { least.to_string() } else { format!("{least} or {most}") };
            let plural = if most == 1 { "" } else { "s" };
            let span = self.span_of_word(parsed, name);
            let message = format!("`{name}` takes {takes} argument{plural}, found {}", arguments.len());
            return self.problem(span, message, "see docs/format.md for the arguments of each function");
        }
        let arguments = arguments.into_iter().collect::<Option<Vec<_>>>()?;
        Some(Expression::Call(function, arguments))
    }

    fn unknown_function(&mut self, name: &str, parsed: &Parsed) -> Option<Expression> {
        let span = self.span_of_word(parsed, name);
        if name == "has" {
            return self.problem(
                span,
                "unsupported function `has`",
                "a missing field is null: write `x.field != null`",
            );
        }
        let mut known: Vec<&str> = function::FUNCTIONS.iter().map(|function| function.name).collect();
        known.extend(GENERATORS.iter().map(|generator| generator.name));
        known.extend(LOOPS.iter().map(|(word, _)| *word));
        known.sort_unstable();
        known.dedup();
        let help = nearest(name, &known);
        self.problem(span, format!("unknown function `{name}`"), help)
    }
}

fn constant(literal: &LiteralValue) -> Value {
    match literal {
        LiteralValue::Boolean(b) => Value::Bool(*b.inner()),
        LiteralValue::Int(i) => Value::Int(*i.inner()),
        LiteralValue::UInt(u) => Value::Int(i64::try_from(*u.inner()).unwrap_or(i64::MAX)),
        LiteralValue::Double(d) => Value::Double(*d.inner()),
        LiteralValue::String(text) => Value::text(text.inner()),
        LiteralValue::Bytes(bytes) => Value::Binary(0, Arc::from(bytes.inner())),
        LiteralValue::Null => Value::Null,
    }
}
