//! Documents as written to [`Template`]s.

use std::sync::Arc;

use crate::plan::template::{Base, DocumentPart, Item, Key, Path, Piece};
use crate::plan::{Raw, Template, Value, Writer};
use crate::scenario::{Node, Scalar, Span, Spanned, Tree, nearest};

use super::extended_json;
use super::lint::check_slot;
use super::parts::{all, optional};
use super::reply::check_field;
use super::resolve::{resolve_records, value_of};
use super::scope::{Origin, Scope};

/// Compiles documents and texts with `<path>` slots. Problems go to the diagnostics; the result is `None` when there were
/// any.
impl Scope<'_> {
    /// Compiles a node of the scenario; `guarded` when it is (part of) a pipeline.
    pub fn template(&mut self, node: &Node, guarded: bool) -> Option<Template> {
        match &node.tree {
            Tree::Scalar(Scalar::Text(text)) => self.text(text, node.span, guarded),
            Tree::Scalar(scalar) => Some(Template::Constant(value_of(scalar))),
            Tree::List(items) => self.list(items, guarded),
            Tree::Mapping(entries) => match extended_json::constant(entries) {
                Some(Ok(value)) => Some(Template::Constant(value)),
                Some(Err((message, help))) => self.diagnostics.reject(node.span, message, help),
                None => self.document(entries, guarded),
            },
        }
    }

    /// Compiles text that may contain `<path>`.
    pub fn text(&mut self, text: &str, span: Span, guarded: bool) -> Option<Template> {
        let mut pieces = self.pieces(text, span, guarded)?;
        Some(match pieces.len() {
            0 => Template::Constant(Value::text("")),
            1 => match pieces.remove(0) {
                Piece::Literal(literal) => Template::Constant(Value::text(&literal)),
                Piece::Slot(path) => Template::Slot(path),
            },
            _ => Template::Text(pieces),
        })
    }

    fn pieces(&mut self, text: &str, span: Span, guarded: bool) -> Option<Vec<Piece>> {
        let mut pieces = Vec::new();
        let mut good = true;
        let mut rest = text;
        let mut literal = String::new();
        while let Some(start) = rest.find('<') {
            let Some(length) = path_length(&rest[start..]) else {
                check_slot(&rest[start..], span, self);
                literal.push_str(&rest[..=start]);
                rest = &rest[start + 1..];
                continue;
            };
            literal.push_str(&rest[..start]);
            if !literal.is_empty() {
                pieces.push(Piece::Literal(std::mem::take(&mut literal).into()));
            }
            match self.path(&rest[start + 1..start + length - 1], span) {
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

    fn path(&mut self, written: &str, span: Span) -> Option<Path> {
        let mut parts = written.split('.');
        let first = parts.next()?;
        let fields: Vec<Arc<str>> = parts.map(Arc::from).collect();
        let variable = self.variable(first);
        let (base, found, mut entity) = match (variable, self.parameter(first)) {
            (Some(variable), _) => (Base::Slot(variable.slot), variable.origin == Origin::Reply, variable.entity),
            (None, Some(value)) => (Base::Constant(value.clone()), false, None),
            (None, None) if self.is_broken(first) => return None,
            (None, None) => {
                let help = match self.member_named(first) {
                    Some(member) => format!("did you mean `<{member}>`?"),
                    None => nearest(first, &self.known()),
                };
                return self.diagnostics.reject(span, format!("unknown name `<{written}>`"), help);
            }
        };
        if let (Some(variable), Some(field)) = (variable, fields.first()) {
            check_field(variable, field, span, self.diagnostics)?;
        }
        for field in &fields {
            let Some(of) = entity else { break };
            let Some(member) = self.names.member(of, field) else {
                let name = &self.names.entities[of].name;
                let message = format!("unknown field `{field}` of entity `{name}` in `<{written}>`");
                return self.diagnostics.reject(span, message, nearest(field, &self.names.members(of)));
            };
            entity = member;
        }
        Some(Path { base, fields, written: Arc::from(written), found, guarded: false })
    }

    fn list(&mut self, items: &[Node], guarded: bool) -> Option<Template> {
        let made: Vec<Item> = all(items.iter().map(|item| self.item(item, guarded)))?;
        let constants = made.iter().map(|item| match item {
            Item::One(Template::Constant(value)) => Some(value.clone()),
            _ => None,
        });
        match constants.collect::<Option<Vec<_>>>() {
            Some(values) => Some(Template::Constant(encoded(&Value::list(values)))),
            None => Some(Template::Array(made)),
        }
    }

    fn item(&mut self, item: &Node, guarded: bool) -> Option<Item> {
        let Some((name, list, body)) = for_each(item) else {
            if item.get("forEach").is_some() {
                let message = "`forEach` in a list needs one name with its list, and an `item`";
                let help = "for example `{ forEach: { part: product.parts }, item: { part: <part> } }`";
                return self.diagnostics.reject(item.span, message, help);
            }
            return self.template(item, guarded).map(Item::One);
        };
        let (list, entity) = resolve_records(list, self);
        let slot = self.push(name, Origin::Let, entity);
        let item = self.template(body, guarded);
        self.pop();
        Some(Item::Each { slot, list: list?, item: item? })
    }

    fn document(&mut self, entries: &[(Spanned<String>, Node)], guarded: bool) -> Option<Template> {
        let made = all(entries.iter().enumerate().map(|(position, (key, value))| {
            if key.value == "..." {
                let later = entries[position + 1..].iter().map(|(key, _)| key.value.as_str().into()).collect();
                return self.spread(value, later);
            }
            let guarded = (guarded || key.value == "$expr") && key.value != "$literal";
            let value = self.template(value, guarded);
            self.key(key).zip(value).map(|(key, value)| DocumentPart::Field(key, value))
        }));
        let made = later_keys_win(made?);
        let constants = made.iter().map(|entry| match entry {
            DocumentPart::Field(Key::Fixed(key), Template::Constant(value)) => Some((Arc::from(&**key), value.clone())),
            _ => None,
        });
        match constants.collect::<Option<Arc<[_]>>>() {
            Some(constants) => Some(Template::Constant(encoded(&Value::Map(constants)))),
            None => Some(Template::Document(made)),
        }
    }

    fn spread(&mut self, value: &Node, later: Vec<Box<str>>) -> Option<DocumentPart> {
        let template = optional(value.as_text().map(|text| self.text(text, value.span, false)))?;
        if let Some(Template::Slot(path)) = template {
            return Some(DocumentPart::Spread(path, later));
        }
        let help = "for example `...: <name>`, the name of a record or document";
        self.diagnostics.reject(value.span, "expected the name of a document after `...`", help)
    }

    fn key(&mut self, key: &Spanned<String>) -> Option<Key> {
        let mut pieces = self.pieces(&key.value, key.span, false)?;
        Some(match pieces.as_mut_slice() {
            [Piece::Literal(literal)] => Key::Fixed(std::mem::take(literal)),
            [] => Key::Fixed("".into()),
            _ => Key::Text(pieces),
        })
    }
}

/// The length of `<identifier.identifier...>` at the start of `text`; `None` when it is another `<`.
pub(crate) fn path_length(text: &str) -> Option<usize> {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    // Ends at the first other character: a search for `>` would go through the text once per `<`.
    let end = 1 + text.get(1..)?.find(|c| !is_inside(c))?;
    if !text[end..].starts_with('>') {
        return None;
    }
    let inside = &text[1..end];
    let is_identifier = |part: &str| part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    inside.split('.').all(is_identifier).then_some(end + 1)
}

/// The parts of `{ forEach: { x: list }, item: ... }`.
fn for_each(node: &Node) -> Option<(&str, &Node, &Node)> {
    let ([_, _], [(name, list)]) = (node.as_mapping()?, node.get("forEach")?.as_mapping()?) else { return None };
    Some((&name.value, list, node.get("item")?))
}

/// Fields before a `...` are written only when it has no such key.
fn later_keys_win(entries: Vec<DocumentPart>) -> Vec<DocumentPart> {
    let Some(at) = entries.iter().position(|entry| matches!(entry, DocumentPart::Spread(..))) else { return entries };
    let DocumentPart::Spread(path, _) = &entries[at] else { return entries };
    let path = path.clone();
    let weak = |(position, entry)| match entry {
        DocumentPart::Field(key, value) if position < at => DocumentPart::Unless(key, value, path.clone()),
        other => other,
    };
    entries.into_iter().enumerate().map(weak).collect()
}

/// A constant list or map as raw BSON, so that binding only copies it.
fn encoded(value: &Value) -> Value {
    let written = Writer::document(|writer| writer.value("value", value));
    written.map_or_else(|_| value.clone(), |raw| Raw::new(raw).get("value").unwrap_or(Value::Null))
}
