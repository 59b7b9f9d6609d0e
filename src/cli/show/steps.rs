//! The steps of an operation as JavaScript statements.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::scenario::{Node, Scalar, Spanned, Step, StepKind, Tree};

use super::code::Code;
use super::command;
use super::literal::{expression, is_identifier};

const INDENT: usize = 2;

/// `function name(arguments) { ... }` for the steps; `returns` says whether a result is declared.
pub fn function(name: &str, arguments: &[&str], steps: &[Step], returns: bool) -> String {
    let mut printer = Printer { text: format!("function {name}({}) {{\n", arguments.join(", ")), indent: INDENT };
    let last_is_command =
        matches!(steps.last().map(|step| &step.kind), Some(StepKind::Command { .. } | StepKind::Raw { .. }));
    let ends_with_return = matches!(steps.last().map(|step| &step.kind), Some(StepKind::Return(_)));
    let body = Body { rest: Rest { words: words_at_end(returns && !last_is_command && !ends_with_return) }, returns };
    printer.body(steps, &body, &mut BTreeSet::new());
    if returns && !last_is_command && !ends_with_return {
        printer.line("return reply");
    }
    printer.text + "}\n"
}

fn words_at_end(reply: bool) -> BTreeSet<String> {
    reply.then(|| "reply".to_owned()).into_iter().collect()
}

/// What comes after a list of steps.
struct Body {
    rest: Rest,
    /// The last command's reply is the operation's result.
    returns: bool,
}

/// The names that are used later.
#[derive(Clone)]
struct Rest {
    words: BTreeSet<String>,
}

struct Printer {
    text: String,
    indent: usize,
}

impl Printer {
    fn line(&mut self, code: &str) {
        let _ = writeln!(self.text, "{:1$}{code}", "", self.indent);
    }

    /// `before`, the code laid out, `after`.
    fn statement(&mut self, before: &str, code: &Code, after: &str) {
        let width = before.chars().count();
        let laid_out = code.layout(self.indent, self.indent + width, after.chars().count());
        self.line(&format!("{before}{laid_out}{after}"));
    }

    /// Statements for `steps`; `declared` are the names that need no `let` any more.
    fn body(&mut self, steps: &[Step], body: &Body, declared: &mut BTreeSet<String>) {
        for (position, step) in steps.iter().enumerate() {
            let later = &steps[position + 1..];
            let mut used = body.rest.words.clone();
            later.iter().for_each(|step| add_words(step, &mut used));
            let is_last = later.is_empty();
            match &step.kind {
                StepKind::Command { word, collection, options, alias } => {
                    let code = command::call(word.value, &collection.value, options);
                    self.command(
                        &code,
                        alias.as_ref(),
                        (is_last && body.returns, keeps_reply(later, &body.rest)),
                        declared,
                    );
                }
                StepKind::Raw { command, alias } => {
                    let code = command::raw(command);
                    self.command(
                        &code,
                        alias.as_ref(),
                        (is_last && body.returns, keeps_reply(later, &body.rest)),
                        declared,
                    );
                }
                StepKind::Let(assignments) => {
                    for (name, value) in assignments {
                        let keyword = keyword(&name.value, declared);
                        self.statement(&format!("{keyword}{} = ", name.value), &expression(value), "");
                    }
                }
                StepKind::Return(value) => self.statement("return ", &expression(value), ""),
                StepKind::Again(condition) => self.statement("if (", &expression(condition), ") again()"),
                StepKind::Later(word) => self.line(&format!("// {}: not in this version", word.value)),
                StepKind::If { .. } | StepKind::ForEach { .. } | StepKind::Retry { .. } => {
                    self.hoist(step, &used, declared);
                    self.block(step, is_last, &Rest { words: used }, declared);
                }
            }
        }
    }

    fn command(
        &mut self,
        code: &Code,
        alias: Option<&Spanned<String>>,
        (is_result, keeps_reply): (bool, bool),
        declared: &mut BTreeSet<String>,
    ) {
        let before = match alias {
            Some(alias) if keeps_reply => {
                let alias_keyword = keyword(&alias.value, declared);
                format!("{}reply = {alias_keyword}{} = ", keyword("reply", declared), alias.value)
            }
            Some(alias) => format!("{}{} = ", keyword(&alias.value, declared), alias.value),
            None if is_result => "return ".to_owned(),
            None if keeps_reply => format!("{}reply = ", keyword("reply", declared)),
            None => String::new(),
        };
        self.statement(&before, code, "");
    }

    /// Names given inside a block and used after it are declared before it.
    fn hoist(&mut self, block: &Step, used: &BTreeSet<String>, declared: &mut BTreeSet<String>) {
        let mut given = BTreeSet::new();
        add_given(block, &mut given);
        let hoisted: Vec<String> =
            given.into_iter().filter(|name| used.contains(name) && !declared.contains(name)).collect();
        if !hoisted.is_empty() {
            self.line(&format!("let {}", hoisted.join(", ")));
            declared.extend(hoisted);
        }
    }

    fn block(&mut self, step: &Step, is_last: bool, rest: &Rest, declared: &BTreeSet<String>) {
        match &step.kind {
            StepKind::If { condition, then, otherwise } => {
                self.statement("if (", &expression(condition), ") {");
                self.nested(then, rest, declared);
                if !otherwise.is_empty() {
                    self.line("} else {");
                    self.nested(otherwise, rest, declared);
                }
                self.line("}");
            }
            StepKind::ForEach { name, list, body } => {
                self.statement(&format!("for (const {} of ", name.value), &expression(list), ") {");
                // What a turn leaves may be used by the next.
                let mut again = rest.clone();
                body.iter().for_each(|step| add_words(step, &mut again.words));
                self.nested(body, &again, declared);
                self.line("}");
            }
            StepKind::Retry { errors, attempts, body } => {
                let codes: Vec<String> = errors.iter().map(i32::to_string).collect();
                let result = if is_last && returns_a_value(body) { "return " } else { "" };
                self.line(&format!(
                    "{result}retry({{ errors: [{}], attempts: {attempts} }}, () => {{",
                    codes.join(", ")
                ));
                self.nested(body, rest, declared);
                self.line("})");
            }
            _ => {}
        }
    }

    fn nested(&mut self, steps: &[Step], rest: &Rest, declared: &BTreeSet<String>) {
        self.indent += INDENT;
        self.body(steps, &Body { rest: rest.clone(), returns: false }, &mut declared.clone());
        self.indent -= INDENT;
    }
}

/// `let ` the first time.
fn keyword(name: &str, declared: &mut BTreeSet<String>) -> &'static str {
    if declared.insert(name.to_owned()) { "let " } else { "" }
}

/// Whether the reply of the command before `later` is used: `reply` is named before another command replaces it.
fn keeps_reply(later: &[Step], rest: &Rest) -> bool {
    for step in later {
        let mut used = BTreeSet::new();
        add_words(step, &mut used);
        if used.contains("reply") {
            return true;
        }
        if matches!(step.kind, StepKind::Command { .. } | StepKind::Raw { .. }) {
            return false;
        }
    }
    rest.words.contains("reply")
}

fn returns_a_value(steps: &[Step]) -> bool {
    steps.iter().any(|step| match &step.kind {
        StepKind::Return(_) => true,
        _ => inner(step).into_iter().any(returns_a_value),
    })
}

/// The lists of steps inside a step.
fn inner(step: &Step) -> Vec<&[Step]> {
    match &step.kind {
        StepKind::If { then, otherwise, .. } => vec![then, otherwise],
        StepKind::ForEach { body, .. } | StepKind::Retry { body, .. } => vec![body],
        _ => Vec::new(),
    }
}

/// Adds the names that a step, or those inside it, gives to values.
fn add_given(step: &Step, given: &mut BTreeSet<String>) {
    match &step.kind {
        StepKind::Command { alias, .. } | StepKind::Raw { alias, .. } => {
            given.extend(alias.iter().map(|alias| alias.value.clone()));
            given.insert("reply".to_owned());
        }
        StepKind::Let(assignments) => given.extend(assignments.iter().map(|(name, _)| name.value.clone())),
        _ => inner(step).into_iter().flatten().for_each(|step| add_given(step, given)),
    }
}

/// Adds every word of a step's expressions and templates. More than its names: texts count too, which does no harm.
fn add_words(step: &Step, words: &mut BTreeSet<String>) {
    match &step.kind {
        StepKind::Command { collection, options, .. } => {
            add_text(&collection.value, words);
            options.iter().for_each(|(_, value)| add_node(value, words));
        }
        StepKind::Raw { command, .. } => add_node(command, words),
        StepKind::Let(assignments) => assignments.iter().for_each(|(_, value)| add_node(value, words)),
        StepKind::Again(value) | StepKind::Return(value) => add_node(value, words),
        StepKind::If { condition: value, .. } | StepKind::ForEach { list: value, .. } => add_node(value, words),
        StepKind::Retry { .. } | StepKind::Later(_) => {}
    }
    inner(step).into_iter().flatten().for_each(|step| add_words(step, words));
}

fn add_node(node: &Node, words: &mut BTreeSet<String>) {
    match &node.tree {
        Tree::Scalar(Scalar::Text(text)) => add_text(text, words),
        Tree::Scalar(_) => {}
        Tree::List(items) => items.iter().for_each(|item| add_node(item, words)),
        Tree::Mapping(entries) => entries.iter().for_each(|(key, value)| {
            add_text(&key.value, words);
            add_node(value, words);
        }),
    }
}

fn add_text(text: &str, words: &mut BTreeSet<String>) {
    let split = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.extend(split.filter(|word| is_identifier(word)).map(str::to_owned));
}
