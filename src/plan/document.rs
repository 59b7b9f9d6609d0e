//! Documents as written to [`Template`]s.

use std::sync::Arc;

use crate::scenario::{Diagnostic, Diagnostics, Node, Scalar, Span, Tree};

use super::extended;
use super::raw::Raw;
use super::reply::check_field;
use super::resolve::{entity_of, nearest, resolve};
use super::scope::{Origin, Scope};
use super::slip::check_slot;
use super::template::{Base, Entry, Item, Key, Path, Piece, Template};
use super::value::Value;
use super::writer::Writer;

/// Compiles a node of the scenario; `guarded` when it is (part of) a pipeline.
///
/// Problems go to `diagnostics`; `None` when there were any.
pub fn compile(node: &Node, guarded: bool, scope: &mut Scope, diagnostics: &mut Diagnostics) -> Option<Template> {
    match &node.tree {
        Tree::Scalar(Scalar::Text(text)) => compile_text(text, node.span, guarded, scope, diagnostics),
        Tree::Scalar(scalar) => Some(Template::Constant(constant(scalar))),
        Tree::List(items) => compile_list(items, guarded, scope, diagnostics),
        Tree::Mapping(entries) => match extended::constant(entries) {
            Some(Ok(value)) => Some(Template::Constant(value)),
            Some(Err(words)) => {
                diagnostics.push(Diagnostic::error(node.span, words).help(extended::help(&entries[0].0.value)));
                None
            }
            None => compile_document(entries, guarded, scope, diagnostics),
        },
    }
}

fn constant(scalar: &Scalar) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Bool(b) => Value::Bool(*b),
        Scalar::Int(i) => Value::Int(*i),
        Scalar::Float(d) => Value::Double(*d),
        Scalar::Text(text) => Value::text(text),
    }
}

/// Compiles text in which `<path>` may stand.
pub fn compile_text(
    text: &str,
    span: Span,
    guarded: bool,
    scope: &mut Scope,
    diagnostics: &mut Diagnostics,
) -> Option<Template> {
    let mut pieces = pieces(text, span, guarded, scope, diagnostics)?;
    Some(match pieces.len() {
        0 => Template::Constant(Value::text("")),
        1 => match pieces.remove(0) {
            Piece::Literal(literal) => Template::Constant(Value::text(&literal)),
            Piece::Slot(path) => Template::Slot(path),
        },
        _ => Template::Text(pieces),
    })
}

fn pieces(text: &str, span: Span, guarded: bool, scope: &Scope, diagnostics: &mut Diagnostics) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut good = true;
    let mut rest = text;
    let mut literal = String::new();
    while let Some(start) = rest.find('<') {
        let Some(length) = path_length(&rest[start..]) else {
            check_slot(&rest[start..], span, scope, diagnostics);
            literal.push_str(&rest[..=start]);
            rest = &rest[start + 1..];
            continue;
        };
        literal.push_str(&rest[..start]);
        if !literal.is_empty() {
            pieces.push(Piece::Literal(std::mem::take(&mut literal).into()));
        }
        match path(&rest[start + 1..start + length - 1], span, scope, diagnostics) {
            Some(mut path) => {
                // A slot inside a longer text cannot turn that text into a field unless it comes first.
                path.guarded = guarded && pieces.is_empty();
                pieces.push(Piece::Slot(path));
            }
            None => good = false,
        }
        rest = &rest[start + length..];
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal.into()));
    }
    good.then_some(pieces)
}

/// The length of `<identifier.identifier...>` at the start of `text`; `None` when it is another `<`.
pub(crate) fn path_length(text: &str) -> Option<usize> {
    let end = text.find('>')?;
    let inside = &text[1..end];
    let identifier = |part: &str| {
        let mut characters = part.chars();
        characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
            && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    inside.split('.').all(identifier).then_some(end + 1)
}

fn path(written: &str, span: Span, scope: &Scope, diagnostics: &mut Diagnostics) -> Option<Path> {
    let mut parts = written.split('.');
    let first = parts.next()?;
    let fields: Vec<Arc<str>> = parts.map(Arc::from).collect();
    let (base, found, mut entity) = match (scope.variable(first), scope.parameter(first)) {
        (Some(variable), _) => (Base::Slot(variable.slot), variable.origin == Origin::Reply, variable.entity),
        (None, Some(value)) => (Base::Constant(value.clone()), false, None),
        (None, None) if scope.is_broken(first) => return None,
        (None, None) => {
            let known = scope.known();
            let help = match scope.member_named(first) {
                Some(member) => format!("did you mean `<{member}>`?"),
                None => nearest(first, &known),
            };
            diagnostics.push(Diagnostic::error(span, format!("unknown name `<{written}>`")).help(help));
            return None;
        }
    };
    if let (Some(variable), Some(field)) = (scope.variable(first), fields.first()) {
        check_field(variable.reply, (first, field), span, diagnostics)?;
    }
    for field in &fields {
        let Some(of) = entity else { break };
        let Some(member) = scope.names.member(of, field) else {
            let members = scope.names.members(of);
            let help = nearest(field, &members);
            let message = format!("`<{written}>`: a record of `{}` has no `{field}`", scope.names.entities[of].name);
            diagnostics.push(Diagnostic::error(span, message).help(help));
            return None;
        };
        entity = member;
    }
    Some(Path { base, fields, written: Arc::from(written), found, guarded: false })
}

fn compile_list(items: &[Node], guarded: bool, scope: &mut Scope, diagnostics: &mut Diagnostics) -> Option<Template> {
    let mut made = Vec::new();
    for item in items {
        made.push(match for_each(item) {
            Some((name, list, body)) => compile_each(name, (list, body), guarded, scope, diagnostics),
            None if has_key(item, "forEach") => {
                let message = "`forEach` in a list wants one name with its list, and an `item`";
                let help = "write for example `{ forEach: { part: product.parts }, item: { part: <part> } }`";
                diagnostics.push(Diagnostic::error(item.span, message).help(help));
                None
            }
            None => compile(item, guarded, scope, diagnostics).map(Item::One),
        });
    }
    let made = made.into_iter().collect::<Option<Vec<_>>>()?;
    let all_constant = made.iter().all(|item| matches!(item, Item::One(Template::Constant(_))));
    if !all_constant {
        return Some(Template::Array(made));
    }
    let values = made.into_iter().filter_map(|item| match item {
        Item::One(Template::Constant(value)) => Some(value),
        _ => None,
    });
    Some(Template::Constant(encoded(&Value::list(values.collect()))))
}

fn has_key(node: &Node, name: &str) -> bool {
    matches!(&node.tree, Tree::Mapping(entries) if entries.iter().any(|(key, _)| key.value == name))
}

/// The parts of `{ forEach: { x: list }, item: ... }`.
fn for_each(node: &Node) -> Option<(&str, &Node, &Node)> {
    let Tree::Mapping(entries) = &node.tree else { return None };
    let find = |name: &str| entries.iter().find(|(key, _)| key.value == name).map(|(_, value)| value);
    match (entries.len(), find("forEach").map(|each| &each.tree), find("item")) {
        (2, Some(Tree::Mapping(each)), Some(item)) if each.len() == 1 => Some((&each[0].0.value, &each[0].1, item)),
        _ => None,
    }
}

fn compile_each(
    name: &str,
    (list, body): (&Node, &Node),
    guarded: bool,
    scope: &mut Scope,
    diagnostics: &mut Diagnostics,
) -> Option<Item> {
    let list = resolve(list, scope, diagnostics);
    let entity = list.as_ref().and_then(|list| entity_of(list, scope));
    let slot = scope.push(name, Origin::Let, entity);
    let item = compile(body, guarded, scope, diagnostics);
    scope.pop();
    Some(Item::Each { slot, list: list?, item: item? })
}

type Entries = [(crate::scenario::Spanned<String>, Node)];

fn compile_document(
    entries: &Entries,
    guarded: bool,
    scope: &mut Scope,
    diagnostics: &mut Diagnostics,
) -> Option<Template> {
    let mut made = Vec::new();
    for (position, (key, value)) in entries.iter().enumerate() {
        made.push(if key.value == "..." {
            let later = entries[position + 1..].iter().map(|(key, _)| key.value.as_str().into()).collect();
            compile_spread(value, later, scope, diagnostics)
        } else {
            let guarded = (guarded || key.value == "$expr") && key.value != "$literal";
            let value = compile(value, guarded, scope, diagnostics);
            let key = compile_key(&key.value, key.span, scope, diagnostics);
            key.zip(value).map(|(key, value)| Entry::Field(key, value))
        });
    }
    let made = later_keys_win(made.into_iter().collect::<Option<Vec<_>>>()?);
    let mut constants = Vec::new();
    for entry in &made {
        match entry {
            Entry::Field(Key::Fixed(key), Template::Constant(value)) => {
                constants.push((Arc::from(&**key), value.clone()))
            }
            _ => return Some(Template::Document(made)),
        }
    }
    Some(Template::Constant(encoded(&Value::Map(constants.into()))))
}

/// Fields that stand before a `...` give way to what it brings.
fn later_keys_win(entries: Vec<Entry>) -> Vec<Entry> {
    let Some(at) = entries.iter().position(|entry| matches!(entry, Entry::Spread(..))) else { return entries };
    let Entry::Spread(path, _) = &entries[at] else { return entries };
    let path = path.clone();
    let weak = |(position, entry)| match entry {
        Entry::Field(key, value) if position < at => Entry::Unless(key, value, path.clone()),
        other => other,
    };
    entries.into_iter().enumerate().map(weak).collect()
}

fn compile_spread(
    value: &Node,
    later: Vec<Box<str>>,
    scope: &mut Scope,
    diagnostics: &mut Diagnostics,
) -> Option<Entry> {
    let template = match &value.tree {
        Tree::Scalar(Scalar::Text(text)) => compile_text(text, value.span, false, scope, diagnostics)?,
        _ => Template::Constant(Value::Null),
    };
    match template {
        Template::Slot(path) => Some(Entry::Spread(path, later)),
        _ => {
            diagnostics.push(
                Diagnostic::error(value.span, "`...` spreads one document")
                    .help("write it as `...: <name>`, the name of a record or document"),
            );
            None
        }
    }
}

fn compile_key(key: &str, span: Span, scope: &mut Scope, diagnostics: &mut Diagnostics) -> Option<Key> {
    let mut pieces = pieces(key, span, false, scope, diagnostics)?;
    Some(match pieces.as_mut_slice() {
        [Piece::Literal(literal)] => Key::Fixed(std::mem::take(literal)),
        [] => Key::Fixed("".into()),
        _ => Key::Text(pieces),
    })
}

/// A constant list or map as raw BSON, so that binding only copies it.
fn encoded(value: &Value) -> Value {
    let (mut writer, open) = Writer::new();
    writer.value("value", value);
    Raw::new(writer.finish(open)).get("value").unwrap_or(Value::Null)
}
