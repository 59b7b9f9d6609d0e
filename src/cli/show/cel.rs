//! Expressions of a scenario as JavaScript.

mod function;

use cel::Env;
use cel::common::ast::{CallExpr, EntryExpr, Expr, LiteralValue, operators};
use cel::parser::Expression as Parsed;

use super::helper::named;
use super::literal::{name, quoted};
use super::scope::{Kind, Scope};

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
