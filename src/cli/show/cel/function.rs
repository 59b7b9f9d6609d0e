//! Calls of functions as JavaScript.

use cel::common::ast::{Expr, LiteralValue};
use cel::parser::Expression as Parsed;

use super::super::literal::quoted;
use super::super::scope::Kind;
use super::super::value;
use super::{AND, PRODUCT, SUM, Script, Translator, WHOLE, drawn};

/// How many records stand for all of an entity.
const RECORDS: usize = 2;

impl Translator<'_, '_> {
    /// A call by its name; `x.f(y)` has x as its first argument.
    pub(super) fn function(&mut self, word: &str, arguments: &[&Parsed]) -> Script {
        let text = |this: &mut Self, at: usize| this.plain(arguments[at]).code;
        let method = |this: &mut Self, name: &str, kind: Kind| {
            let of = this.plain(arguments[0]).receiver();
            let rest: Vec<String> = arguments[1..].iter().map(|argument| this.plain(argument).code).collect();
            Script::whole(format!("{of}.{name}({})", rest.join(", ")), kind)
        };
        let texts = || Kind::list(Kind::Text);
        match word {
            "done" | "same" | "not_found" => Script::whole(quoted(word), Kind::Text),
            "refused" => match &arguments[0].expr {
                Expr::Literal(LiteralValue::String(reason)) => {
                    Script::whole(quoted(&format!("refused: {}", reason.inner())), Kind::Text)
                }
                _ => Script {
                    code: format!("'refused: ' + {}", self.plain(arguments[0]).at(PRODUCT)),
                    binding: SUM,
                    kind: Kind::Text,
                },
            },
            "outcome" => {
                let of = self.expression(arguments[0]);
                Script::whole(format!("{}({})", self.scope.context.call("outcomeOf"), of.code), Kind::Text)
            }
            "size" => {
                let of = self.expression(arguments[0]);
                match of.kind.element() {
                    Some(_) => Script::whole(format!("{}.length", of.at(WHOLE)), Kind::Int),
                    None => {
                        let code = self.scope.plain(&of.code, &of.kind);
                        Script::whole(format!("{}({code})", self.scope.context.call("sizeOf")), Kind::Int)
                    }
                }
            }
            "pluck" => {
                let list = self.list(arguments[0]);
                let Expr::Literal(LiteralValue::String(field)) = &arguments[1].expr else { return drawn(word) };
                let (code, kind) = self.scope.field(&list.at(WHOLE), &list.kind, field.inner());
                Script::whole(code, kind)
            }
            "flatten" => {
                let list = self.plain_list(arguments[0]);
                Script::whole(format!("{}.flat()", list.at(WHOLE)), Kind::list(Kind::Document))
            }
            "reverse" => {
                let list = self.list(arguments[0]);
                // `reverse` alone would turn the list itself.
                Script::whole(format!("[...{}].reverse()", list.at(WHOLE)), list.kind)
            }
            "slice" => {
                let of = self.expression(arguments[0]);
                let code = match (of.kind.element(), of.kind.simple()) {
                    (Some(_), _) | (_, Kind::Text) => of.receiver(),
                    _ => format!("({} ?? [])", of.at(AND)),
                };
                let rest: Vec<String> = arguments[1..].iter().map(|argument| self.plain(argument).code).collect();
                Script::whole(format!("{code}.slice({})", rest.join(", ")), of.kind)
            }
            "chunks" => {
                let (list, length) = (self.plain_list(arguments[0]).code, text(self, 1));
                let call = self.scope.context.call("chunksOf");
                Script::whole(format!("{call}({list}, {length})"), Kind::list(Kind::Document))
            }
            "sum" => {
                let list = self.plain_list(arguments[0]);
                Script::whole(format!("{}.reduce((a, b) => a + b, 0)", list.at(WHOLE)), Kind::Int)
            }
            "range" => {
                let (from, to) = (self.plain(arguments[0]), self.plain(arguments[1]));
                let code = match from.code.as_str() {
                    "0" => format!("[...Array(Math.max(0, {})).keys()]", to.code),
                    start => format!(
                        "[...Array(Math.max(0, {} - {})).keys()].map(i => i + {})",
                        to.code,
                        from.at(PRODUCT),
                        if from.binding < PRODUCT { format!("({start})") } else { start.to_owned() }
                    ),
                };
                Script::whole(code, Kind::list(Kind::Int))
            }
            "sort_by" => {
                let list = self.list(arguments[0]);
                let fields = text(self, 1);
                let call = self.scope.context.call("sortedBy");
                Script::whole(format!("{call}({}, {fields})", list.code), list.kind)
            }
            "reorder" => {
                let list = self.list(arguments[0]);
                let (field, keys) = (text(self, 1), self.plain_list(arguments[2]));
                let call = self.scope.context.call("equal");
                let rows = list.at(WHOLE);
                let code =
                    format!("{}.flatMap(key => {rows}.filter(row => {call}(row[{field}], key)))", keys.at(WHOLE));
                Script::whole(code, list.kind)
            }
            "index_of" => {
                let (list, one) = (self.plain_list(arguments[0]), text(self, 1));
                let call = self.scope.context.call("equal");
                Script::whole(format!("{}.findIndex(one => {call}(one, {one}))", list.at(WHOLE)), Kind::Int)
            }
            "object" => {
                let (keys, values) = (self.plain_list(arguments[0]), self.plain_list(arguments[1]));
                let code =
                    format!("Object.fromEntries({}.map((key, i) => [key, {}[i]]))", keys.at(WHOLE), values.at(WHOLE));
                Script::whole(code, Kind::Document)
            }
            "merge" => {
                let parts: Vec<Script> = arguments.iter().map(|part| self.expression(part)).collect();
                parts.iter().for_each(|part| self.scope.reads_all(&part.kind));
                Script::whole(format!("{{ ...{}, ...{} }}", parts[0].at(WHOLE), parts[1].at(WHOLE)), Kind::Document)
            }
            "split" => method(self, "split", texts()),
            "join" => {
                let list = self.plain_list(arguments[0]);
                let between = if arguments.len() > 1 { text(self, 1) } else { "''".to_owned() };
                Script::whole(format!("{}.join({between})", list.at(WHOLE)), Kind::Text)
            }
            "contains" => method(self, "includes", Kind::Bool),
            "startsWith" => method(self, "startsWith", Kind::Bool),
            "endsWith" => method(self, "endsWith", Kind::Bool),
            "string" => {
                let of = self.plain(arguments[0]);
                let code = match of.kind.simple() {
                    Kind::Date => format!("{}.toISOString()", of.receiver()),
                    _ => format!("String({})", of.code),
                };
                Script::whole(code, Kind::Text)
            }
            "int" => Script::whole(format!("Math.trunc(Number({}))", text(self, 0)), Kind::Int),
            "double" => Script::whole(format!("Number({})", text(self, 0)), Kind::Double),
            "timestamp" => Script::whole(format!("new Date({})", text(self, 0)), Kind::Date),
            "all" => self.records(arguments),
            _ => drawn(&format!("{word}(...)")),
        }
    }

    /// Some of all records of an entity.
    fn records(&self, arguments: &[&Parsed]) -> Script {
        let Some(Expr::Ident(wanted)) = arguments.first().map(|argument| &argument.expr) else { return drawn("all") };
        let data = &self.scope.context.plan.data;
        let Some(entity) = data.entities.iter().position(|entity| *entity.name == **wanted) else {
            return drawn("all");
        };
        let count = data.entities[entity].len();
        let shown: Vec<String> =
            (0..count).take(RECORDS).map(|ordinal| value::exact(&data.whole(entity, ordinal)).flat()).collect();
        let code = format!("[{}, /* and so on: all {count} records of {wanted} */]", shown.join(", "));
        Script::whole(code, Kind::list(Kind::Document))
    }
}
