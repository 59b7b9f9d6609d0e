//! The steps of an operation as JavaScript statements.

mod attempt;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::plan::Implicit;
use crate::scenario::{Caught, Spanned, Step, StepKind};

use super::code::Code;
use super::command;
use super::helper::named;
use super::literal::{each, expression, result};
use super::names::{add_given, add_words, keeps_reply};
use super::scope::{Kind, Scope};

const INDENT: usize = 2;

/// `function name(arguments) { ... }` for the steps; `implicit` says what they give without a `return`.
pub fn function(name: &str, arguments: &[&str], steps: &[Step], implicit: Implicit, scope: Scope) -> String {
    let arguments: Vec<String> = arguments.iter().map(|argument| named(argument)).collect();
    let head = format!("function {}({}) {{\n", named(name), arguments.join(", "));
    let mut printer = Printer { text: head, indent: INDENT, scope, around: Vec::new() };
    let says_result = matches!(
        steps.last().map(|step| &step.kind),
        Some(
            StepKind::Command { alias: None, .. }
                | StepKind::BulkWrite { alias: None, .. }
                | StepKind::Raw { alias: None, .. }
                | StepKind::Return(_)
        )
    );
    let mut given = BTreeSet::new();
    steps.iter().for_each(|step| add_given(step, &mut given));
    let returns = implicit != Implicit::Done;
    // Without a `return` the last reply is the result, wherever it came from.
    let falls_through = returns && !says_result && given.contains("reply");
    let used_after: BTreeSet<String> = falls_through.then(|| "reply".to_owned()).into_iter().collect();
    printer.body(steps, &Body { used_after, returns }, &mut BTreeSet::new());
    if falls_through {
        printer.line("return reply");
    }
    printer.text + "}\n"
}

/// What comes after a list of steps.
struct Body {
    /// The names that are used after the last of them.
    used_after: BTreeSet<String>,
    /// The last command's reply is the operation's result.
    returns: bool,
}

/// A block that a step may have to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    Retry,
    Transaction,
}

struct Printer<'c, 'p> {
    text: String,
    indent: usize,
    scope: Scope<'c, 'p>,
    around: Vec<Around>,
}

impl Printer<'_, '_> {
    fn line(&mut self, code: &str) {
        let _ = writeln!(self.text, "{:1$}{code}", "", self.indent);
    }

    /// Lines that stand deeper.
    fn deeper(&mut self, lines: impl FnOnce(&mut Self)) {
        self.indent += INDENT;
        lines(self);
        self.indent -= INDENT;
    }

    /// `before`, the code laid out, `after`.
    fn statement(&mut self, before: &str, code: &Code, after: &str) {
        let width = before.chars().count();
        let laid_out = code.layout(self.indent, self.indent + width, after.chars().count());
        self.line(&format!("{before}{laid_out}{after}"));
    }

    /// What stands for `db`.
    fn database(&self) -> &'static str {
        if self.around.contains(&Around::Transaction) { "inside" } else { "db" }
    }

    /// The label of the loop of attempts that is `depth` loops inside.
    fn label(depth: usize) -> String {
        if depth == 0 { "again".to_owned() } else { format!("again{}", depth + 1) }
    }

    fn retries(&self) -> usize {
        self.around.iter().filter(|around| **around == Around::Retry).count()
    }

    /// Statements for `steps`; `declared` are the names that need no `let` any more.
    fn body(&mut self, steps: &[Step], body: &Body, declared: &mut BTreeSet<String>) {
        for (position, step) in steps.iter().enumerate() {
            let later = &steps[position + 1..];
            let mut used = body.used_after.clone();
            later.iter().for_each(|step| add_words(step, &mut used));
            let place = (later.is_empty() && body.returns, keeps_reply(later, &body.used_after));
            match &step.kind {
                StepKind::Command { word, collection, options, alias } => {
                    let handle = (self.database(), collection.value.as_str());
                    let code = command::call(word.value, handle, options, &self.scope);
                    self.command((&code, reply_of(word.value)), alias.as_ref(), place, declared);
                }
                StepKind::BulkWrite { collection, requests, ordered, errors, alias } => {
                    let handle = (self.database(), collection.value.as_str());
                    let code = command::bulk(handle, requests, (*ordered, errors), &self.scope);
                    self.command((&code, Kind::Written(None)), alias.as_ref(), place, declared);
                }
                StepKind::Raw { command, alias } => {
                    let code = command::raw(self.database(), command, &self.scope);
                    self.command((&code, Kind::Document), alias.as_ref(), place, declared);
                }
                StepKind::Let(assignments) => {
                    for (name, value) in assignments {
                        let (code, kind) = expression(value, &self.scope);
                        let keyword = keyword(&name.value, declared);
                        self.statement(&format!("{keyword}{} = ", named(&name.value)), &code, "");
                        self.scope.set(&name.value, kind);
                    }
                }
                StepKind::Return(value) => {
                    if self.around.contains(&Around::Transaction) {
                        let call = self.scope.context.call("commit");
                        self.line(&format!("{call}(session)"));
                    }
                    let code = match expression(value, &self.scope) {
                        (code, kind) if self.scope.gives_records(&kind) => code,
                        _ => result(value, &self.scope),
                    };
                    self.statement("return ", &code, "");
                }
                StepKind::Abort(value) => {
                    self.line("session.abortTransaction()");
                    self.statement("return ", &result(value, &self.scope), "");
                }
                StepKind::Again(condition) => self.again(&expression(condition, &self.scope).0),
                StepKind::If { .. }
                | StepKind::ForEach { .. }
                | StepKind::While { .. }
                | StepKind::Retry { .. }
                | StepKind::Try { .. }
                | StepKind::Transaction { .. } => {
                    if let StepKind::Try { catches, .. } = &step.kind {
                        // What was given before the failure may be used after it.
                        catches.iter().flat_map(|(_, steps)| steps).for_each(|step| add_words(step, &mut used));
                    }
                    let before = declared.clone();
                    self.hoist(step, &used, declared);
                    self.block(step, &used, (&before, declared));
                }
            }
        }
    }

    fn command(
        &mut self,
        (code, kind): (&Code, Kind),
        alias: Option<&Spanned<String>>,
        (is_result, keeps_reply): (bool, bool),
        declared: &mut BTreeSet<String>,
    ) {
        let before = match alias {
            Some(alias) => format!("{}{} = ", keyword(&alias.value, declared), named(&alias.value)),
            None if is_result => "return ".to_owned(),
            None if keeps_reply => format!("{}reply = ", keyword("reply", declared)),
            None => String::new(),
        };
        self.statement(&before, code, "");
        if let Some(alias) = alias {
            self.scope.set(&alias.value, kind.clone());
            if keeps_reply {
                self.line(&format!("{}reply = {}", keyword("reply", declared), named(&alias.value)));
            }
        }
        self.scope.set("reply", kind);
    }

    /// Names given inside a block and used after it are declared before it.
    fn hoist(&mut self, block: &Step, used: &BTreeSet<String>, declared: &mut BTreeSet<String>) {
        let mut given = BTreeSet::new();
        add_given(block, &mut given);
        let hoisted: Vec<String> =
            given.into_iter().filter(|name| used.contains(name) && !declared.contains(name)).collect();
        if !hoisted.is_empty() {
            let names: Vec<String> = hoisted.iter().map(|name| named(name)).collect();
            self.line(&format!("let {}", names.join(", ")));
            declared.extend(hoisted);
        }
    }

    /// `before` are the names declared before those that the block gives to what follows.
    fn block(
        &mut self,
        step: &Step,
        used: &BTreeSet<String>,
        (before, declared): (&BTreeSet<String>, &BTreeSet<String>),
    ) {
        match &step.kind {
            StepKind::If { condition, then, otherwise } => {
                self.statement("if (", &expression(condition, &self.scope).0, ") {");
                let unchanged = self.scope.clone();
                self.nested(then, used, declared);
                let after_then = std::mem::replace(&mut self.scope, unchanged);
                if !otherwise.is_empty() {
                    self.line("} else {");
                    self.nested(otherwise, used, declared);
                }
                self.scope.join(&after_then);
                self.line("}");
            }
            StepKind::ForEach { name, list, body } => {
                let (code, inner) = each(&name.value, list, &self.scope);
                self.line(&format!("for (const {} of {code}) {{", named(&name.value)));
                self.scope = inner;
                self.turns(step, body, used, declared);
            }
            StepKind::While { condition, turns, body } => {
                // Printed for trial first: what a turn leaves may change what the condition reads.
                let (length, unchanged) = (self.text.len(), self.scope.clone());
                self.nested(body, used, declared);
                self.text.truncate(length);
                let after = std::mem::replace(&mut self.scope, unchanged);
                self.scope.join(&after);
                self.line(&format!("// At most {turns} turns."));
                self.statement("while (", &expression(condition, &self.scope).0, ") {");
                self.turns(step, body, used, declared);
            }
            StepKind::Retry { errors, attempts, body } => {
                self.retry(step, (errors, *attempts, body), used, (before, declared))
            }
            StepKind::Transaction { attempts, body } => {
                self.transaction(step, (*attempts, body), used, (before, declared));
            }
            StepKind::Try { body, catches } => {
                self.line("try {");
                let mut after = self.scope.clone();
                self.nested(body, used, declared);
                after.join(&self.scope);
                self.line("} catch (error) {");
                for (position, (caught, steps)) in catches.iter().enumerate() {
                    self.scope = after.clone();
                    self.deeper(|this| {
                        let chained = if position == 0 { "" } else { "} else " };
                        let condition = match caught {
                            Caught::Code(code) => format!("error.code == {code}"),
                            Caught::Size => format!("{}(error)", this.scope.context.call("isTooLarge")),
                        };
                        this.line(&format!("{chained}if ({condition}) {{"));
                        this.nested(steps, used, declared);
                    });
                    after.join(&self.scope);
                }
                self.scope = after;
                self.deeper(|this| {
                    this.line("} else {");
                    this.deeper(|this| this.line("throw error"));
                    this.line("}");
                });
                self.line("}");
            }
            _ => {}
        }
    }

    /// The body of a loop, to its closing brace.
    fn turns(&mut self, step: &Step, body: &[Step], used: &BTreeSet<String>, declared: &BTreeSet<String>) {
        // What a turn leaves may be used by the next.
        let mut again = used.clone();
        add_words(step, &mut again);
        let (length, before) = (self.text.len(), self.scope.clone());
        self.nested(body, &again, declared);
        // The first time was for trial: what the turns before may have left is known now.
        self.text.truncate(length);
        let after = std::mem::replace(&mut self.scope, before);
        self.scope.join(&after);
        let begun = self.scope.clone();
        self.nested(body, &again, declared);
        self.scope.join(&begun);
        self.line("}");
    }

    fn nested(&mut self, steps: &[Step], used: &BTreeSet<String>, declared: &BTreeSet<String>) {
        self.indent += INDENT;
        self.body(steps, &Body { used_after: used.clone(), returns: false }, &mut declared.clone());
        self.indent -= INDENT;
    }
}

/// Whether nothing comes after the steps.
fn ends(steps: &[Step]) -> bool {
    matches!(steps.last().map(|step| &step.kind), Some(StepKind::Return(_) | StepKind::Abort(_)))
}

/// What mongosh gives for a command.
fn reply_of(word: crate::scenario::CommandWord) -> Kind {
    use crate::scenario::CommandWord::{
        Aggregate, CountDocuments, Distinct, Find, FindOne, FindOneAndDelete, FindOneAndReplace, FindOneAndUpdate,
    };
    match word {
        Find | Aggregate => Kind::list(Kind::Document),
        Distinct => Kind::list(Kind::Unknown),
        CountDocuments => Kind::Int,
        FindOne | FindOneAndDelete | FindOneAndReplace | FindOneAndUpdate => Kind::Found,
        write => Kind::Written(Some(write)),
    }
}

/// `let ` the first time.
fn keyword(name: &str, declared: &mut BTreeSet<String>) -> &'static str {
    if declared.insert(name.to_owned()) { "let " } else { "" }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::plan::Value;
    use crate::scenario::{Diagnostics, Source, read};

    use super::super::scope::Context;
    use super::super::scope::tests::plan;
    use super::*;

    /// The steps of the only operation of a scenario.
    fn shown(arguments: &[&str], returns: bool, steps: &str) -> String {
        let mut text = String::from(
            "format: 1\nname: x\ntitle: x\nabout: x\nentities: { a: { count: 1, fields: { _id: index } } }\n\
             operations: { o: {} }\nmixes: { default: { o: 1 } }\nstrategies:\n  s:\n    about: x\n    \
             collections: { c: { each: a } }\n    operations:\n      o:\n",
        );
        steps.lines().for_each(|line| text.push_str(&format!("        {line}\n")));
        let mut diagnostics = Diagnostics::new();
        let source = Source::new("x", text);
        let scenario = read(&source, &mut diagnostics).unwrap();
        assert!(!diagnostics.has_errors(), "{}", diagnostics.render(&source, false));
        let plan = plan();
        let context = Context::new(&plan);
        let given: Vec<(String, Value)> =
            arguments.iter().map(|name| ((*name).to_owned(), Value::Map(Arc::from([])))).collect();
        let implicit = if returns { Implicit::Reply } else { Implicit::Done };
        function("o", arguments, &scenario.strategies[0].operations[0].steps, implicit, Scope::new(&context, &given))
    }

    #[test]
    fn branches_loops_and_attempts_read_as_javascript() {
        let steps = "\
- retry: { errors: [11000], attempts: 5 }
  do:
    - { findOne: c, filter: { _id: <a> } }
    - again: reply == null
    - if: reply.n > 3
      then: [{ let: { page: 1 } }]
      else: [{ let: { page: reply.n } }, { deleteOne: c, filter: { _id: <a> } }]
    - { updateOne: c, filter: { _id: <a> }, update: { $set: { page: <page> } }, as: done }
- forEach: { item: done.list }
  do:
    - { command: { ping: 1, item: <item> } }
- return: { page: page, list: [done, null] }";
        insta::assert_snapshot!(shown(&["a"], true, steps));
    }

    #[test]
    fn what_a_turn_leaves_is_declared_before_the_loop() {
        let steps = "\
- let: { up: a }
- while: up != null
  do:
    - { findOne: c, filter: { _id: <up> } }
    - let: { up: reply.parent }
- { countDocuments: c }";
        insta::assert_snapshot!(shown(&["a"], true, steps));
    }

    #[test]
    fn what_may_fail_and_what_belongs_together_reads_as_javascript() {
        let steps = "\
- transaction:
    - { updateOne: c, filter: { _id: <a> }, update: { $inc: { n: 1 } }, as: done }
    - if: done.matched == 0
      then: [{ abort: not_found() }]
- try:
    - let: { n: 1 }
    - { insertOne: c, document: { _id: <a> } }
  catch:
    11000: [{ return: n }]
    size: { deleteOne: c, filter: {} }
- bulkWrite: c
  ordered: false
  requests: [{ insertOne: { document: { _id: 1 } } }, { forEach: { x: a.list }, item: { deleteOne: { filter: { _id: <x> } } } }]
  errors: [11000]";
        insta::assert_snapshot!(shown(&["a"], true, steps));
    }

    #[test]
    fn the_last_reply_is_the_result_where_none_is_named() {
        assert_eq!(
            shown(&[], true, "{ find: c, limit: 3 }"),
            "function o() {\n  return db.c.find().limit(3).toArray()\n}\n"
        );
        assert_eq!(
            shown(&[], false, "{ insertOne: c, document: { _id: 1 } }"),
            "function o() {\n  db.c.insertOne({ _id: 1 })\n}\n"
        );
        insta::assert_snapshot!(shown(
            &["a"],
            true,
            "\
- { findOne: c, filter: { _id: <a> }, as: found }
- let: { found: null }"
        ));
        insta::assert_snapshot!(shown(
            &["a"],
            true,
            "\
- if: a > 1
  then: [{ findOne: c, sort: { a: 1 } }]
  else: [{ countDocuments: c }]"
        ));
    }

    #[test]
    fn options_stand_where_mongosh_wants_them() {
        insta::assert_snapshot!(shown(
            &["a"],
            false,
            "\
- { findOne: c, sort: { a: 1 } }
- { findOneAndUpdate: c, filter: {}, update: [{ $set: { a: 1 } }], returnDocument: after }
- { distinct: c, key: a.b }
- { distinct: c, key: a, filter: { b: <a> } }
- { countDocuments: c, hint: a_1 }
- { deleteMany: c, filter: {} }
- { insertMany: 'c_<a>', documents: <a>, ordered: false }
- { find: c, projection: { a: 1 }, hint: { a: 1 } }
- { aggregate: c, pipeline: [], batchSize: 5 }"
        ));
    }
}
