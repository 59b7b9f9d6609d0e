//! CEL text to an [`Expression`]: every name becomes a slot, a constant, a function or a generator, or a diagnostic.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use cel::Env;
use cel::common::ast::{CallExpr, EntryExpr, Expr, LiteralValue, SourceInfo, operators};
use cel::parser::{Expression as Parsed, ParseErrors};

use crate::plan::expression::{Each, EachKind};
use crate::plan::generator::GENERATORS;
use crate::plan::operator::OPERATORS;
use crate::plan::{Expression, Value, function};
use crate::scenario::{Diagnostic, Node, Scalar, Span, Spanned, Tree, nearest, suggest};

use super::parts::all;
use super::reply::check_field;
use super::scope::{Origin, Scope};
use super::syntax::{syntax_error, syntax_help};

const LOOPS: &[(&str, EachKind)] =
    &[("map", EachKind::Map), ("filter", EachKind::Filter), ("all", EachKind::All), ("exists", EachKind::Exists)];

/// Turns a node of the scenario into an expression: text is CEL, a list or mapping is one of expressions.
///
/// Problems go to the diagnostics of the scope; `None` when there were any.
pub fn resolve(node: &Node, scope: &mut Scope) -> Option<Expression> {
    match &node.tree {
        Tree::Scalar(Scalar::Text(text)) => resolve_text(text, node.span, false, scope),
        Tree::Scalar(scalar) => Some(Expression::Constant(value_of(scalar))),
        Tree::List(items) => all(items.iter().map(|item| resolve(item, scope))).map(Expression::List),
        Tree::Mapping(entries) => fields(entries, scope),
    }
}

/// As [`resolve`], for the value of a field of a document: it may be `missing`, and a mapping of `list` and `of` is a list of
/// documents.
pub fn resolve_field(node: &Node, scope: &mut Scope) -> Option<Expression> {
    match &node.tree {
        Tree::Scalar(Scalar::Text(text)) => resolve_text(text, node.span, true, scope),
        Tree::Mapping(entries) => match entries.as_slice() {
            [(list, count), (of, item)] if list.value == "list" && of.value == "of" => documents(count, item, scope),
            entries => fields(entries, scope),
        },
        _ => resolve(node, scope),
    }
}

fn fields(entries: &[(Spanned<String>, Node)], scope: &mut Scope) -> Option<Expression> {
    let key = |key: &Spanned<String>| Expression::Constant(Value::text(&key.value));
    all(entries.iter().map(|(name, value)| Some((key(name), resolve_field(value, scope)?)))).map(Expression::Map)
}

/// A list of `count` items, in which `number` is the position.
fn documents(count: &Node, item: &Node, scope: &mut Scope) -> Option<Expression> {
    let range = function::find("range").expect("a function of the table");
    let list = Expression::Call(range, vec![Expression::Constant(Value::Int(0)), resolve(count, scope)?]);
    let slot = scope.push("number", Origin::Let, None);
    let body = resolve_field(item, scope);
    scope.pop();
    Some(Expression::Each(Box::new(Each { kind: EachKind::Map, list, slot, body: body? })))
}

/// The value of a scalar that is no expression.
pub fn value_of(scalar: &Scalar) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Bool(b) => Value::Bool(*b),
        Scalar::Int(i) => Value::Int(*i),
        Scalar::Float(d) => Value::Double(*d),
        Scalar::Text(text) => Value::text(text),
    }
}

/// As [`resolve`], with the entity whose records the expression gives, where that is certain.
pub fn resolve_records(node: &Node, scope: &mut Scope) -> (Option<Expression>, Option<usize>) {
    let expression = resolve(node, scope);
    let entity = expression.as_ref().and_then(|expression| entity_of(expression, scope));
    (expression, entity)
}

/// The longest expression in bytes. Each of its terms may lie one call deeper, and load threads have small stacks.
const LONGEST: usize = 4_096;

/// Turns CEL text at `span` into an expression; `is_field`: the value of a field, which may be missing.
pub fn resolve_text(text: &str, span: Span, is_field: bool, scope: &mut Scope) -> Option<Expression> {
    if text.len() > LONGEST {
        let message = format!("the expression has {} bytes, and an expression may have {LONGEST}", text.len());
        return scope.diagnostics.reject(span, message, "divide it with `let`, or compute with `map` and `sum`");
    }
    match parse(text) {
        Ok(parsed) => Resolver { source: &parsed.1, text, span, scope }.value(&parsed.0, is_field),
        Err(errors) => {
            let label = errors.errors.first().map(|error| syntax_error(&error.msg)).unwrap_or_default();
            let problem = Diagnostic::error(span, format!("invalid expression `{text}`"));
            scope.diagnostics.push(problem.label(label).help(syntax_help(text)));
            None
        }
    }
}

/// Whether a text is an expression of more than a name or a literal.
pub fn is_computed(text: &str) -> bool {
    text.len() <= LONGEST && parse(text).is_ok_and(|parsed| matches!(parsed.0.expr, Expr::Call(_) | Expr::Select(_)))
}

/// The most texts that [`parse`] keeps.
const KEPT: usize = 10_000;

/// Parses CEL text, once: every mix and every shape compiles the same texts, and half of the time would be spent here.
fn parse(text: &str) -> Result<Rc<(Parsed, SourceInfo)>, ParseErrors> {
    thread_local! {
        static PARSED: RefCell<HashMap<String, Rc<(Parsed, SourceInfo)>>> = RefCell::default();
    }
    if let Some(parsed) = PARSED.with_borrow(|parsed| parsed.get(text).cloned()) {
        return Ok(parsed);
    }
    // Without the macros of the standard library, which would turn loops into forms that hide what was written.
    let parser = Env::default().with_optional_support(false).parser();
    let parsed = Rc::new(parser.parse_with_source_info(text)?);
    PARSED.with_borrow_mut(|kept| {
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(text.to_owned(), Rc::clone(&parsed));
    });
    Ok(parsed)
}

/// Functions that give elements of their first argument.
pub const REARRANGING: [&str; 3] = ["reverse", "slice", "sort_by"];

/// The entity whose records an expression gives (alone or in a list), when that is certain.
pub fn entity_of(expression: &Expression, scope: &Scope) -> Option<usize> {
    match expression {
        Expression::Field(operand, name) => scope.names.member(entity_of(operand, scope)?, name)?,
        Expression::Binary(operator, operands) if operator.name == operators::INDEX => entity_of(&operands[0], scope),
        Expression::Slot(slot) => scope.in_slot(*slot)?.entity,
        Expression::Conditional(parts) => {
            entity_of(&parts[1], scope).filter(|entity| Some(*entity) == entity_of(&parts[2], scope))
        }
        Expression::Generate(call) => call.entity(),
        Expression::Each(each) if each.kind == EachKind::Map => entity_of(&each.body, scope),
        Expression::Call(function, arguments) if REARRANGING.contains(&function.name) => {
            entity_of(arguments.first()?, scope)
        }
        _ => None,
    }
}

/// Resolves one expression.
pub(super) struct Resolver<'r, 'a> {
    source: &'r SourceInfo,
    text: &'r str,
    span: Span,
    pub(super) scope: &'r mut Scope<'a>,
}

impl Resolver<'_, '_> {
    /// Returns where a part of the expression is in the file, as far as quoting allows.
    pub(super) fn span_of(&self, parsed: &Parsed) -> Span {
        match (self.source.offset_for(parsed.id), self.start_of_text()) {
            (Some((start, end)), Some(base)) if start <= end && (end as usize) < self.text.len() => {
                self.span.with_ends(base + start as usize, base + end as usize + 1)
            }
            _ => self.span,
        }
    }

    /// Where the text starts in the file; `None` when it is not written there as it is, because of escapes.
    fn start_of_text(&self) -> Option<usize> {
        let around = (self.span.end - self.span.start).checked_sub(self.text.len())?;
        let quote = usize::from(around == 2);
        (self.text.is_ascii() && around == 2 * quote).then_some(self.span.start + quote)
    }

    /// Returns where the word of a call or field is: the parser knows only its bracket or dot.
    pub(super) fn span_of_word(&self, parsed: &Parsed, word: &str) -> Span {
        let (Some((place, _)), Some(base)) = (self.source.offset_for(parsed.id), self.start_of_text()) else {
            return self.span;
        };
        let place = (place as usize).min(self.text.len());
        // A field's name comes after its dot, a call's before its bracket.
        let before = self.text[..place].rfind(word).filter(|_| !self.text[place..].starts_with('.'));
        let found = before.or_else(|| Some(place + self.text[place..].find(word)?));
        found.map_or(self.span, |at| self.span.with_ends(base + at, base + at + word.len()))
    }

    pub(super) fn problem<T>(&self, span: Span, message: impl Into<String>, help: impl Into<String>) -> Option<T> {
        self.scope.diagnostics.reject(span, message, help)
    }

    /// A value, which may be missing where it is that of a field.
    fn value(&mut self, parsed: &Parsed, is_field: bool) -> Option<Expression> {
        match &parsed.expr {
            Expr::Ident(name) if is_field && self.is_missing(name) => Some(Expression::Missing),
            Expr::Call(call) if is_field && call.func_name == operators::CONDITIONAL => {
                let [test, then, otherwise] = call.args.as_slice() else { return None };
                let parts = [self.expression(test)?, self.value(then, true)?, self.value(otherwise, true)?];
                Some(Expression::Conditional(Box::new(parts)))
            }
            _ => self.expression(parsed),
        }
    }

    /// Whether a name is the word for no value, rather than a variable or parameter.
    fn is_missing(&self, name: &str) -> bool {
        name == "missing" && self.scope.variable(name).is_none() && self.scope.parameter(name).is_none()
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
            Expr::List(list) => all(list.elements.iter().map(|part| self.expression(part))).map(Expression::List),
            Expr::Map(map) => {
                let mut entries = Vec::new();
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        entries.push((self.expression(&entry.key)?, self.value(&entry.value, true)?));
                    }
                }
                Some(Expression::Map(entries))
            }
            Expr::Call(call) => self.call(call, parsed),
            Expr::Struct(_) => {
                let help = "write a map such as {'title': 1}; docs/format.md lists what expressions can contain";
                self.problem(self.span_of(parsed), "expressions cannot contain `Type{...}`", help)
            }
            Expr::Comprehension(_) | Expr::Unspecified => {
                let help = "docs/format.md lists what expressions can contain";
                self.problem(self.span_of(parsed), "unsupported CEL syntax", help)
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
        let names = self.scope.names;
        let message = format!("unknown field `{name}` of entity `{}`", names.entities[entity].name);
        self.problem(self.span_of_word(parsed, name), message, nearest(name, &names.members(entity)))
    }

    fn check_reply(&mut self, operand: &Expression, name: &str, parsed: &Parsed) -> Option<()> {
        if let Expression::Generate(generator) = operand
            && let Some(calls) = generator.earlier_calls()
            && !calls.names().contains(&name)
        {
            let message = format!("unknown argument `{name}` of operation `{}`", calls.name);
            return self.problem(self.span_of_word(parsed, name), message, nearest(name, &calls.names()));
        }
        let Expression::Slot(slot) = operand else { return Some(()) };
        let Some(variable) = self.scope.in_slot(*slot) else { return Some(()) };
        check_field(variable, name, self.span_of_word(parsed, name), self.scope.diagnostics)
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
        if self.is_missing(name) {
            let help =
                "write it as the value of a field, or of a key of a map, for example `chance(0.3) ? 1 : missing`";
            return self.problem(span, "`missing` is no value here", help);
        }
        if let Some(member) = self.scope.member_named(name) {
            return self.problem(span, format!("unknown name `{name}`"), format!("did you mean `{member}`?"));
        }
        if self.scope.names.entity(name).is_some() {
            let calls = ["uniform({})", "zipf({})", "new({})", "record({}, i)"].map(|call| call.replace("{}", name));
            let help = format!("draw a record with a generator: {}", calls.join(", "));
            return self.problem(span, format!("expected a value, found the entity `{name}`"), help);
        }
        let known = self.scope.known();
        let call = GENERATORS.iter().find(|generator| generator.name == name);
        let is_near = suggest(name, known.iter().copied()).is_some();
        let text =
            if is_near { String::new() } else { format!("; a text needs quotes inside of the expression: `'{name}'`") };
        let help = call.map_or_else(
            || format!("{}{text}", nearest(name, &known)),
            |call| format!("call the generator: `{}`", call.usage()),
        );
        self.problem(span, format!("unknown name `{name}`"), help)
    }

    fn call(&mut self, call: &CallExpr, parsed: &Parsed) -> Option<Expression> {
        let name = call.func_name.as_str();
        match (name, call.args.as_slice()) {
            (operators::LOGICAL_NOT, [x]) => return Some(Expression::Not(Box::new(self.expression(x)?))),
            (operators::NEGATE, [x]) => return Some(Expression::Negate(Box::new(self.expression(x)?))),
            (operators::CONDITIONAL, parts) => return self.operands(parts).map(Expression::Conditional),
            (operators::LOGICAL_AND, parts) => return self.operands(parts).map(Expression::And),
            (operators::LOGICAL_OR, parts) => return self.operands(parts).map(Expression::Or),
            _ => {}
        }
        if let Some(operator) = OPERATORS.iter().find(|operator| operator.name == name) {
            return self.operands(&call.args).map(|operands| Expression::Binary(operator, operands));
        }
        if let (Some(list), Some((_, kind))) = (&call.target, LOOPS.iter().find(|(word, _)| *word == name)) {
            if let [element, body] = call.args.as_slice() {
                return self.each(*kind, list, element, body);
            }
            let message = format!("`{name}` takes 2 arguments, found {}", call.args.len());
            let help = format!(
                "write `list.{name}(x, ...)`, where x names the element; to filter, call `list.filter(x, ...)` first"
            );
            return self.problem(self.span_of_word(parsed, name), message, help);
        }
        if call.target.is_none() && GENERATORS.iter().any(|generator| generator.name == name) {
            return self.generator(name, &call.args, parsed);
        }
        self.function(call, parsed)
    }

    fn operands<const N: usize>(&mut self, parts: &[Parsed]) -> Option<Box<[Expression; N]>> {
        let operands: Vec<Expression> = all(parts.iter().map(|part| self.expression(part)))?;
        operands.try_into().ok()
    }

    fn each(&mut self, kind: EachKind, list: &Parsed, element: &Parsed, body: &Parsed) -> Option<Expression> {
        let Expr::Ident(name) = &element.expr else {
            let help = "for example `list.map(x, x.field)`";
            return self.problem(self.span_of(element), "expected a name for the element as the first argument", help);
        };
        let list = self.expression(list)?;
        let entity = entity_of(&list, self.scope);
        let slot = self.scope.push(name, Origin::Let, entity);
        let body = self.expression(body);
        self.scope.pop();
        Some(Expression::Each(Box::new(Each { kind, list, slot, body: body? })))
    }

    fn function(&mut self, call: &CallExpr, parsed: &Parsed) -> Option<Expression> {
        let name = call.func_name.as_str();
        let Some(function) = function::find(name) else {
            return self.unknown_function(name, parsed);
        };
        // `x.f(y)` and `f(x, y)` are the same call.
        let arguments = call.target.iter().map(|target| &**target).chain(&call.args);
        let arguments: Vec<_> = arguments.map(|argument| self.expression(argument)).collect();
        let (least, most) = function.arity;
        if !(least..=most).contains(&arguments.len()) {
            let takes = if least == most { least.to_string() } else { format!("{least} or {most}") };
            let plural = if most == 1 { "" } else { "s" };
            let message = format!("`{name}` takes {takes} argument{plural}, found {}", arguments.len());
            let help = "see docs/format.md for the arguments of each function";
            return self.problem(self.span_of_word(parsed, name), message, help);
        }
        Some(Expression::Call(function, arguments.into_iter().collect::<Option<_>>()?))
    }

    fn unknown_function(&mut self, name: &str, parsed: &Parsed) -> Option<Expression> {
        let span = self.span_of_word(parsed, name);
        if name == "has" {
            let help = "a missing field is null: write `x.field != null`";
            return self.problem(span, "unsupported function `has`", help);
        }
        let mut known: Vec<&str> = function::FUNCTIONS.iter().map(|function| function.name).collect();
        known.extend(GENERATORS.iter().map(|generator| generator.name));
        known.extend(LOOPS.iter().map(|(word, _)| *word));
        known.sort_unstable();
        known.dedup();
        self.problem(span, format!("unknown function `{name}`"), nearest(name, &known))
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
