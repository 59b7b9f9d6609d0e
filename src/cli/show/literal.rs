//! Parts of a scenario, and values of documents, as JavaScript.

use bson::{Bson, Document};

use crate::plan::path_length;
use crate::scenario::{Node, Scalar, Spanned, Tree};

use super::cel;
use super::code::{Code, Key};
use super::helper::named;
use super::scope::{Kind, Scope};
use super::value::{date, double, int};

/// Longer texts of documents are shortened to fewer characters than this.
const TEXT: usize = 48;
/// Longer arrays are shown by their first element.
const ITEMS: usize = 3;
/// Objects with more fields lose the others.
const FIELDS: usize = 24;

type Entries = [(Spanned<String>, Node)];

/// A template: texts are texts, `<name>` is a variable.
pub fn template(node: &Node, scope: &Scope) -> Code {
    match &node.tree {
        Tree::Scalar(Scalar::Text(text)) => Code::Atom(template_text(text, scope)),
        Tree::Scalar(scalar) => Code::Atom(plain(scalar)),
        Tree::List(items) => Code::Array(items.iter().map(|item| list_item(item, scope)).collect()),
        Tree::Mapping(entries) => extended(entries).unwrap_or_else(|| {
            Code::Object(entries.iter().map(|(key, value)| part(&key.value, value, scope)).collect())
        }),
    }
}

/// A key and its value; `...` takes all fields, of a record that is pointed at too.
fn part(key: &str, value: &Node, scope: &Scope) -> (Key, Code) {
    if key != "..." {
        return (template_key(key, scope), template(value, scope));
    }
    match value.as_text().map(pieces).as_deref() {
        Some([Piece::Variable(path)]) => {
            let (code, kind) = slot(path, scope);
            scope.reads_all(&kind);
            (Key::Spread, Code::Atom(code))
        }
        _ => (Key::Spread, template(value, scope)),
    }
}

/// What a slot's path leads to.
fn slot(path: &str, scope: &Scope) -> (String, Kind) {
    let mut names = path.split('.');
    let first = names.next().unwrap_or_default();
    let start = (named(first), scope.get(first));
    names.fold(start, |(code, kind), name| scope.field(&code, &kind, name))
}

/// `{ forEach: { x: list }, item: ... }` repeats its item.
fn list_item(node: &Node, scope: &Scope) -> Code {
    let field = |name: &str| node.as_mapping()?.iter().find(|(key, _)| key.value == name).map(|(_, value)| value);
    match (field("forEach").and_then(Node::as_mapping), field("item")) {
        (Some([(name, list)]), Some(item)) => {
            let (list, inner) = each(&name.value, list, scope);
            Code::Each { list, name: named(&name.value), item: Box::new(template(item, &inner)) }
        }
        _ => template(node, scope),
    }
}

/// The list of a loop, and what its body knows.
pub fn each<'c, 'p>(name: &str, list: &Node, scope: &Scope<'c, 'p>) -> (String, Scope<'c, 'p>) {
    let (code, kind) = expression(list, scope);
    let list = code.flat();
    let mut inner = scope.clone();
    inner.set(name, kind.element().unwrap_or(Kind::Unknown));
    match kind.element() {
        Some(_) => (list, inner),
        None => (format!("({list} ?? [])"), inner),
    }
}

/// `{ $oid: ... }` and its like; `None` when it is an ordinary document.
fn extended(entries: &Entries) -> Option<Code> {
    let [(key, node)] = entries else { return None };
    let Tree::Scalar(scalar) = &node.tree else { return None };
    let text = match scalar {
        Scalar::Text(text) if text.starts_with('<') => return None,
        Scalar::Text(text) => text.clone(),
        other => plain(other),
    };
    let constructor = match key.value.as_str() {
        "$oid" => "ObjectId",
        "$date" => "ISODate",
        "$numberDecimal" => "Decimal128",
        "$numberLong" => "Long",
        "$numberInt" => "Int32",
        "$numberDouble" => "Double",
        "$minKey" => return Some(Code::Atom("MinKey()".to_owned())),
        "$maxKey" => return Some(Code::Atom("MaxKey()".to_owned())),
        _ => return None,
    };
    Some(Code::Atom(format!("{constructor}({})", quoted(&text))))
}

/// An expression as written, for comments.
pub fn written(node: &Node) -> String {
    match &node.tree {
        Tree::Scalar(Scalar::Text(text)) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Tree::Scalar(scalar) => plain(scalar),
        Tree::List(items) => format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(", ")),
        Tree::Mapping(entries) => {
            let entry = |(key, value): &(Spanned<String>, Node)| format!("{}: {}", key.value, written(value));
            format!("{{ {} }}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

/// An expression and what it gives; a list or mapping is one of expressions.
pub fn expression(node: &Node, scope: &Scope) -> (Code, Kind) {
    match &node.tree {
        Tree::Scalar(Scalar::Text(text)) => {
            let made = cel::script(text, scope);
            (Code::Atom(made.code), made.kind)
        }
        Tree::Scalar(scalar) => {
            let kind = match scalar {
                Scalar::Int(_) => Kind::Int,
                Scalar::Float(_) => Kind::Double,
                Scalar::Bool(_) => Kind::Bool,
                _ => Kind::Unknown,
            };
            (Code::Atom(plain(scalar)), kind)
        }
        Tree::List(items) => {
            (Code::Array(items.iter().map(|item| result(item, scope)).collect()), Kind::list(Kind::Unknown))
        }
        Tree::Mapping(entries) => {
            let entry = |(key, value): &(Spanned<String>, Node)| (Key::Name(name(&key.value)), result(value, scope));
            (Code::Object(entries.iter().map(entry).collect()), Kind::Document)
        }
    }
}

/// An expression whose value leaves the steps: a reference is its id.
pub fn result(node: &Node, scope: &Scope) -> Code {
    match expression(node, scope) {
        (Code::Atom(code), kind) => Code::Atom(scope.plain(&code, &kind)),
        (code, _) => code,
    }
}

fn plain(scalar: &Scalar) -> String {
    match scalar {
        Scalar::Null => "null".to_owned(),
        Scalar::Bool(bool) => bool.to_string(),
        Scalar::Int(number) => int(*number),
        Scalar::Float(number) => double(*number),
        Scalar::Text(text) => quoted(text),
    }
}

/// `'text'`, `name` for `<name>`, or `` `text_${name}` ``.
pub fn template_text(text: &str, scope: &Scope) -> String {
    let value = |path: &str| {
        let (code, kind) = slot(path, scope);
        scope.plain(&code, &kind)
    };
    let pieces = pieces(text);
    match pieces.as_slice() {
        [Piece::Variable(path)] => value(path),
        pieces if pieces.iter().all(|piece| matches!(piece, Piece::Text(_))) => quoted(text),
        pieces => {
            let part = |piece: &Piece| match piece {
                Piece::Text(text) => text.replace('\\', "\\\\").replace('`', "\\`").replace('$', "\\$"),
                Piece::Variable(path) => format!("${{{}}}", value(path)),
            };
            format!("`{}`", pieces.iter().map(part).collect::<String>())
        }
    }
}

fn template_key(key: &str, scope: &Scope) -> Key {
    match template_text(key, scope) {
        text if text.starts_with('\'') => Key::Name(name(key)),
        computed => Key::Name(format!("[{computed}]")),
    }
}

enum Piece<'t> {
    Text(&'t str),
    Variable(&'t str),
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(open) = text[at..].find('<').map(|offset| at + offset) {
        match path_length(&text[open..]) {
            Some(length) => {
                if from < open {
                    pieces.push(Piece::Text(&text[from..open]));
                }
                pieces.push(Piece::Variable(&text[open + 1..open + length - 1]));
                (from, at) = (open + length, open + length);
            }
            None => at = open + 1,
        }
    }
    if from < text.len() {
        pieces.push(Piece::Text(&text[from..]));
    }
    pieces
}

/// A key as JavaScript wants it: quoted unless it is an identifier.
pub fn name(key: &str) -> String {
    if is_identifier(key) { key.to_owned() } else { quoted(key) }
}

/// Whether JavaScript takes it as a name without quotes.
pub fn is_identifier(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_' || first == '$')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$')
}

/// A text in single quotes.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("'");
    for character in text.chars() {
        match character {
            '\'' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            // Anything else that a terminal would act on.
            control if control.is_control() => quoted.push_str(&format!("\\u{:04x}", control as u32)),
            other => quoted.push(other),
        }
    }
    quoted + "'"
}

/// A document, with long texts and arrays shortened and what is left out counted.
pub fn document(document: &Document) -> Code {
    let mut entries: Vec<(Key, Code)> =
        document.iter().take(FIELDS).map(|(key, value)| (Key::Name(name(key)), value_of(value))).collect();
    if document.len() > FIELDS {
        entries.push((Key::None, Code::Comment(format!("{} more fields", document.len() - FIELDS))));
    }
    Code::Object(entries)
}

fn array(items: &[Bson]) -> Code {
    let shown = if items.len() > ITEMS { 1 } else { items.len() };
    let mut parts: Vec<Code> = items.iter().take(shown).map(value_of).collect();
    if items.len() > shown {
        parts.push(Code::Comment(format!("{} more", items.len() - shown)));
    }
    Code::Array(parts)
}

fn value_of(value: &Bson) -> Code {
    Code::Atom(match value {
        Bson::Document(inner) => return document(inner),
        Bson::Array(items) => return array(items),
        Bson::String(text) => shortened(text),
        Bson::Double(number) => double(*number),
        Bson::Int32(number) => int(i64::from(*number)),
        Bson::Int64(number) => format!("Long('{number}')"),
        Bson::Boolean(bool) => bool.to_string(),
        Bson::Null => "null".to_owned(),
        Bson::ObjectId(id) => format!("ObjectId('{id}')"),
        Bson::DateTime(instant) => date(instant.timestamp_millis()),
        Bson::Decimal128(number) => format!("Decimal128('{number}')"),
        Bson::Binary(binary) => match binary.to_uuid() {
            Ok(uuid) => format!("UUID('{uuid}')"),
            Err(_) => format!("BinData({}, /* {} bytes */)", u8::from(binary.subtype), binary.bytes.len()),
        },
        other => other.to_string(),
    })
}

fn shortened(text: &str) -> String {
    let length = text.chars().count();
    if length <= TEXT {
        return quoted(text);
    }
    let kept = TEXT / 2;
    let beginning: String = text.chars().take(kept).collect();
    format!("{} /* {} more characters */", quoted(&(beginning + "…")), length - kept)
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use crate::scenario::{Diagnostics, Source, StepKind, read};

    use super::super::scope::Context;
    use super::super::scope::tests::plan;
    use super::*;

    fn flat(code: &Code) -> String {
        code.layout(0, 0, 0)
    }

    #[test]
    fn texts_keys_and_variables_are_told_apart() {
        let cases = [
            ("plain", "'plain'"),
            ("it's \\ <", r"'it\'s \\ <'"),
            ("<post>", "post"),
            ("<comment.post>", "comment.post"),
            ("logs_<kind>", "`logs_${kind}`"),
            ("$a<b>", "`\\$a${b}`"),
            ("1 < 2 > 1", "'1 < 2 > 1'"),
            ("a\u{1b}[31m", "'a\\u001b[31m'"),
        ];
        let plan = plan();
        let context = Context::new(&plan);
        let mut scope = Scope::new(&context, &[]);
        scope.set("comment", Kind::Document);
        for (text, wanted) in cases {
            assert_eq!(template_text(text, &scope), wanted, "{text}");
        }
        let keys = ["$push", "comments._id", "c.<i>"]
            .map(|key| Code::Object(vec![(template_key(key, &scope), Code::Atom("x".into()))]));
        assert_eq!(
            keys.iter().map(flat).collect::<Vec<_>>(),
            ["{ $push: x }", "{ 'comments._id': x }", "{ [`c.${i}`]: x }"]
        );
    }

    /// The command of the only step of the only strategy of a scenario, as a template.
    fn command(yaml: &str) -> Code {
        let text = format!(
            "format: 1\nname: x\ntitle: x\nabout: x\nentities: {{ a: {{ count: 1, fields: {{ _id: index }} }} }}\noperations: {{ o: {{}} }}\n\
             mixes: {{ default: {{ o: 1 }} }}\nstrategies:\n  s:\n    about: x\n    collections: {{ c: {{ each: a }} }}\n    operations:\n      o:\n        command: {yaml}\n"
        );
        let mut diagnostics = Diagnostics::new();
        let source = Source::new("x", text);
        let scenario = read(&source, &mut diagnostics).unwrap();
        assert!(!diagnostics.has_errors(), "{}", diagnostics.render(&source, false));
        match &scenario.strategies[0].operations[0].steps[0].kind {
            StepKind::Raw { command, .. } => {
                let plan = plan();
                let context = Context::new(&plan);
                let mut scope = Scope::new(&context, &[]);
                scope.set("a", Kind::Document);
                template(command, &scope)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn extended_json_and_repeated_items_become_javascript() {
        let code =
            command("{ a: { $oid: '000000000000000000000001' }, b: { $numberDecimal: '1.50' }, c: [1.0, null, true] }");
        assert_eq!(
            flat(&code),
            "{ a: ObjectId('000000000000000000000001'), b: Decimal128('1.50'), c: [Double(1), null, true] }"
        );
        let code = command("{ x: [{ forEach: { p: a.parts }, item: { part: <p> } }], y: { $date: <when> } }");
        assert_eq!(flat(&code), "{ x: [...(a.parts ?? []).map(p => ({ part: p }))], y: { $date: when } }");
    }

    #[test]
    fn long_parts_of_documents_are_shortened_and_counted() {
        let long = doc! { "_id": 1_i64, "text": "ä".repeat(100), "list": vec![1; 100], "few": vec![1.0; 3], "at": bson::DateTime::from_millis(0) };
        assert_eq!(
            document(&long).layout(0, 0, 0),
            format!(
                "{{\n  _id: Long('1'),\n  text: '{}…' /* 76 more characters */,\n  list: [1, /* 99 more */],\n  few: [Double(1), Double(1), Double(1)],\n  at: ISODate('1970-01-01T00:00:00Z'),\n}}",
                "ä".repeat(24)
            )
        );
        let wide: Document = (0..30).map(|field| (format!("f{field}"), Bson::Null)).collect();
        assert!(flat(&document(&wide)).contains("  /* 6 more fields */\n"), "{}", flat(&document(&wide)));
    }
}
