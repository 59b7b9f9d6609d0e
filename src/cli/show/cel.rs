//! Expressions of a scenario as JavaScript.

use cel::Env;
use cel::common::ast::{CallExpr, EntryExpr, Expr, LiteralValue, operators};
use cel::parser::Expression as Parsed;

use super::helper::named;
use super::literal::{name, quoted};
use super::scope::{Kind, Scope};
use super::value;

/// JavaScript text, how tightly it binds, and what it gives.
#[derive(Debug, Clone)]
pub struct Script {
    /// The code.
    pub code: String,
    binding: u8,
    /// What it gives.
    pub kind: Kind,
}

const CHOICE: u8 = 0;
const OR: u8 = 1;
const AND: u8 = 2;
const EQUALITY: u8 = 3;
const ORDER: u8 = 4;
const SUM: u8 = 5;
const PRODUCT: u8 = 6;
const PREFIX: u8 = 7;
const WHOLE: u8 = 8;

/// How many records stand for all of an entity.
const RECORDS: usize = 2;

/// Text of an expression as JavaScript.
pub fn script(text: &str, scope: &Scope) -> Script {
    match Env::default().with_optional_support(false).parser().parse_with_source_info(text) {
        Ok((parsed, _)) => Translator { scope: scope.clone() }.expression(&parsed),
        // The scenario has compiled, so that this does not happen.
        Err(_) => drawn(text),
    }
}

/// What mongosh cannot compute.
fn drawn(text: &str) -> Script {
    Script::whole(format!("null /* computed by docshape: {} */", text.replace("*/", "* /")), Kind::Unknown)
}

impl Script {
    fn whole(code: impl Into<String>, kind: Kind) -> Script {
        Script { code: code.into(), binding: WHOLE, kind }
    }

    /// The code as what a method is called on. mongosh loses `this` where `?.` stands before the call.
    fn receiver(&self) -> String {
        if self.code.contains("?.") && !self.code.ends_with(')') { format!("({})", self.code) } else { self.at(WHOLE) }
    }

    /// The code where something binds it at least so tightly.
    fn at(&self, binding: u8) -> String {
        if self.binding < binding { format!("({})", self.code) } else { self.code.clone() }
    }
}

struct Translator<'c, 'p> {
    scope: Scope<'c, 'p>,
}

impl Translator<'_, '_> {
    fn expression(&mut self, parsed: &Parsed) -> Script {
        match &parsed.expr {
            Expr::Literal(literal) => constant(literal),
            Expr::Ident(word) => Script::whole(named(word), self.scope.get(word)),
            Expr::Select(select) => {
                let from = self.expression(&select.operand);
                let (code, kind) = self.scope.field(&from.at(WHOLE), &from.kind, &select.field);
                Script::whole(code, kind)
            }
            Expr::List(list) => {
                let items: Vec<Script> = list.elements.iter().map(|item| self.plain(item)).collect();
                let kind = items.first().map_or(Kind::Unknown, |item| item.kind.simple());
                let codes: Vec<String> = items.into_iter().map(|item| item.code).collect();
                Script::whole(format!("[{}]", codes.join(", ")), Kind::list(kind))
            }
            Expr::Map(map) => {
                let mut entries = Vec::new();
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        let key = match &entry.key.expr {
                            Expr::Literal(LiteralValue::String(text)) => name(text.inner()),
                            _ => format!("[{}]", self.plain(&entry.key).code),
                        };
                        entries.push(format!("{key}: {}", self.plain(&entry.value).code));
                    }
                }
                Script::whole(format!("{{ {} }}", entries.join(", ")), Kind::Document)
            }
            Expr::Call(call) => self.call(call),
            _ => drawn(""),
        }
    }

    /// An expression whose value is written, compared or given back: a reference is its id.
    fn plain(&mut self, parsed: &Parsed) -> Script {
        let made = self.expression(parsed);
        let code = self.scope.plain(&made.code, &made.kind);
        let binding = if code == made.code { made.binding } else { WHOLE };
        Script { code, binding, kind: made.kind }
    }

    /// An expression that is a list, null being an empty one.
    fn list(&mut self, parsed: &Parsed) -> Script {
        let made = self.expression(parsed);
        match made.kind.element() {
            Some(_) => made,
            None => Script::whole(format!("({} ?? [])", made.at(AND)), Kind::list(Kind::Document)),
        }
    }

    fn plain_list(&mut self, parsed: &Parsed) -> Script {
        let made = self.list(parsed);
        let code = self.scope.plain(&made.code, &made.kind);
        Script { code, ..made }
    }

    fn call(&mut self, call: &CallExpr) -> Script {
        if let Some(made) = self.operator(call) {
            return made;
        }
        let word = call.func_name.as_str();
        if let (Some(list), "map" | "filter" | "all" | "exists", [variable, body]) =
            (&call.target, word, &call.args[..])
            && let Expr::Ident(variable) = &variable.expr
        {
            return self.each(word, list, variable, body);
        }
        let arguments: Vec<&Parsed> = call.target.as_deref().into_iter().chain(&call.args).collect();
        self.function(word, &arguments)
    }

    fn each(&mut self, word: &str, list: &Parsed, variable: &str, body: &Parsed) -> Script {
        let list = self.list(list);
        let before = self.scope.clone();
        self.scope.set(variable, list.kind.element().unwrap_or(Kind::Unknown));
        let body = self.plain(body);
        self.scope = before;
        let code = if body.code.starts_with('{') { format!("({})", body.code) } else { body.code };
        let (word, kind) = match word {
            "map" => ("map", Kind::list(body.kind.simple())),
            "filter" => ("filter", list.kind.clone()),
            "all" => ("every", Kind::Bool),
            _ => ("some", Kind::Bool),
        };
        Script::whole(format!("{}.{word}({} => {code})", list.at(WHOLE), named(variable)), kind)
    }

    fn operator(&mut self, call: &CallExpr) -> Option<Script> {
        let arguments = &call.args;
        let made = |code: String, binding: u8, kind: Kind| Some(Script { code, binding, kind });
        match call.func_name.as_str() {
            operators::CONDITIONAL => {
                let parts: Vec<Script> = arguments.iter().map(|part| self.plain(part)).collect();
                let kind = if parts[1].kind == parts[2].kind { parts[1].kind.simple() } else { Kind::Unknown };
                made(format!("{} ? {} : {}", parts[0].at(OR), parts[1].at(CHOICE), parts[2].at(CHOICE)), CHOICE, kind)
            }
            operators::LOGICAL_NOT => {
                made(format!("!{}", self.expression(&arguments[0]).at(PREFIX)), PREFIX, Kind::Bool)
            }
            operators::NEGATE => {
                let of = self.expression(&arguments[0]);
                made(format!("-{}", of.at(WHOLE)), PREFIX, of.kind.simple())
            }
            operators::LOGICAL_AND => self.infix("&&", arguments, AND, Kind::Bool),
            operators::LOGICAL_OR => self.infix("||", arguments, OR, Kind::Bool),
            operators::LESS => self.infix("<", arguments, ORDER, Kind::Bool),
            operators::LESS_EQUALS => self.infix("<=", arguments, ORDER, Kind::Bool),
            operators::GREATER => self.infix(">", arguments, ORDER, Kind::Bool),
            operators::GREATER_EQUALS => self.infix(">=", arguments, ORDER, Kind::Bool),
            operators::EQUALS => Some(self.equality("", arguments)),
            operators::NOT_EQUALS => Some(self.equality("!", arguments)),
            operators::ADD => Some(self.sum(arguments)),
            operators::SUBSTRACT => {
                let kinds = self.kinds(arguments);
                let difference = self.infix("-", arguments, SUM, kinds[0].clone())?;
                match (&kinds[0], &kinds[1]) {
                    (Kind::Date, Kind::Date) => Some(Script { kind: Kind::Int, ..difference }),
                    (Kind::Date, _) => Some(Script::whole(format!("new Date({})", difference.code), Kind::Date)),
                    _ => Some(difference),
                }
            }
            operators::MULTIPLY => {
                let kinds = self.kinds(arguments);
                self.infix("*", arguments, PRODUCT, kinds[0].clone())
            }
            operators::MODULO => self.infix("%", arguments, PRODUCT, Kind::Int),
            operators::DIVIDE => {
                let kinds = self.kinds(arguments);
                let quotient = self.infix("/", arguments, PRODUCT, Kind::Double)?;
                match kinds.contains(&Kind::Double) {
                    true => Some(quotient),
                    false => Some(Script::whole(format!("Math.trunc({})", quotient.code), Kind::Int)),
                }
            }
            operators::INDEX => Some(self.index(arguments)),
            operators::IN => {
                let (one, all) = (self.plain(&arguments[0]), self.expression(&arguments[1]));
                let code = self.scope.plain(&all.code, &all.kind);
                let call = self.scope.context.call("contains");
                made(format!("{call}({code}, {})", one.code), WHOLE, Kind::Bool)
            }
            _ => None,
        }
    }

    fn kinds(&mut self, arguments: &[Parsed]) -> Vec<Kind> {
        arguments.iter().map(|argument| self.expression(argument).kind.simple()).collect()
    }

    fn infix(&mut self, sign: &str, arguments: &[Parsed], binding: u8, kind: Kind) -> Option<Script> {
        let (a, b) = (self.plain(&arguments[0]), self.plain(&arguments[1]));
        Some(Script { code: format!("{} {sign} {}", a.at(binding), b.at(binding + 1)), binding, kind })
    }

    fn equality(&mut self, not: &str, arguments: &[Parsed]) -> Script {
        let (a, b) = (self.plain(&arguments[0]), self.plain(&arguments[1]));
        let is_simple = |side: &Script| {
            side.code == "null" || matches!(side.kind.simple(), Kind::Int | Kind::Double | Kind::Text | Kind::Bool)
        };
        let sign = if not.is_empty() { "==" } else { "!=" };
        match is_simple(&a) || is_simple(&b) {
            true => {
                let code = format!("{} {sign} {}", a.at(EQUALITY), b.at(ORDER));
                Script { code, binding: EQUALITY, kind: Kind::Bool }
            }
            false => {
                let call = self.scope.context.call("equal");
                Script { code: format!("{not}{call}({}, {})", a.code, b.code), binding: PREFIX, kind: Kind::Bool }
            }
        }
    }

    fn sum(&mut self, arguments: &[Parsed]) -> Script {
        let (a, b) = (self.plain(&arguments[0]), self.plain(&arguments[1]));
        let (kind, other) = (a.kind.simple(), b.kind.simple());
        let is_number = |kind: &Kind| matches!(kind, Kind::Int | Kind::Double | Kind::Text);
        match (&kind, &other) {
            (Kind::List(_), _) => Script::whole(format!("{}.concat({})", a.at(WHOLE), b.code), a.kind.clone()),
            (_, Kind::List(_)) => {
                Script::whole(format!("({} ?? []).concat({})", a.at(AND), b.code), Kind::list(Kind::Unknown))
            }
            (Kind::Date, _) => {
                Script::whole(format!("new Date({}.getTime() + {})", a.receiver(), b.at(SUM)), Kind::Date)
            }
            _ if is_number(&kind) || is_number(&other) => {
                let kind = if is_number(&kind) { kind } else { other };
                Script { code: format!("{} + {}", a.at(SUM), b.at(PRODUCT)), binding: SUM, kind }
            }
            _ => Script::whole(format!("{}({}, {})", self.scope.context.call("plus"), a.code, b.code), Kind::Unknown),
        }
    }

    fn index(&mut self, arguments: &[Parsed]) -> Script {
        let of = self.expression(&arguments[0]);
        if let Expr::Literal(LiteralValue::String(key)) = &arguments[1].expr {
            let (code, kind) = self.scope.field(&of.at(WHOLE), &of.kind, key.inner());
            return Script::whole(code, kind);
        }
        let position = self.plain(&arguments[1]);
        match of.kind.element() {
            // An element may lie outside.
            Some(Kind::Document | Kind::Unknown) => {
                Script::whole(format!("{}[{}]", of.at(WHOLE), position.code), Kind::Found)
            }
            Some(element) => Script::whole(format!("{}[{}]", of.at(WHOLE), position.code), element),
            None => Script::whole(format!("{}?.[{}]", of.at(WHOLE), position.code), Kind::Found),
        }
    }

    fn function(&mut self, word: &str, arguments: &[&Parsed]) -> Script {
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

fn constant(literal: &LiteralValue) -> Script {
    let (code, kind) = match literal {
        LiteralValue::Boolean(bool) => (bool.inner().to_string(), Kind::Bool),
        LiteralValue::Int(int) => (int.inner().to_string(), Kind::Int),
        LiteralValue::UInt(int) => (int.inner().to_string(), Kind::Int),
        LiteralValue::Double(double) => (format!("{:?}", double.inner()), Kind::Double),
        LiteralValue::String(text) => (quoted(text.inner()), Kind::Text),
        LiteralValue::Bytes(_) => return drawn("bytes"),
        LiteralValue::Null => ("null".to_owned(), Kind::Unknown),
    };
    let binding = if code.starts_with('-') { PREFIX } else { WHOLE };
    Script { code, binding, kind }
}
