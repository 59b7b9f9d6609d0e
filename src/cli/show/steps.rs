//! The steps of an operation as JavaScript statements.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::scenario::{Caught, Spanned, Step, StepKind};

use super::code::Code;
use super::command;
use super::literal::expression;
use super::names::{add_given, add_words, keeps_reply, returns_a_value};

const INDENT: usize = 2;

/// `function name(arguments) { ... }` for the steps; `returns` says whether a result is declared.
pub fn function(name: &str, arguments: &[&str], steps: &[Step], returns: bool) -> String {
    let mut printer = Printer { text: format!("function {name}({}) {{\n", arguments.join(", ")), indent: INDENT };
    let says_result = matches!(
        steps.last().map(|step| &step.kind),
        Some(
            StepKind::Command { alias: None, .. }
                | StepKind::BulkWrite { alias: None, .. }
                | StepKind::Raw { alias: None, .. }
                | StepKind::Return(_)
        )
    );
    // Without a `return` the last reply is the result, wherever it came from.
    let falls_through = returns && !says_result;
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
            let mut used = body.used_after.clone();
            later.iter().for_each(|step| add_words(step, &mut used));
            let is_last = later.is_empty();
            match &step.kind {
                StepKind::Command { word, collection, options, alias } => {
                    let code = command::call(word.value, &collection.value, options);
                    self.command(
                        &code,
                        alias.as_ref(),
                        (is_last && body.returns, keeps_reply(later, &body.used_after)),
                        declared,
                    );
                }
                StepKind::BulkWrite { collection, requests, ordered, errors, alias } => {
                    let code = command::bulk(&collection.value, requests, *ordered, errors);
                    self.command(
                        &code,
                        alias.as_ref(),
                        (is_last && body.returns, keeps_reply(later, &body.used_after)),
                        declared,
                    );
                }
                StepKind::Raw { command, alias } => {
                    let code = command::raw(command);
                    self.command(
                        &code,
                        alias.as_ref(),
                        (is_last && body.returns, keeps_reply(later, &body.used_after)),
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
                StepKind::Abort(value) => self.statement("return abort(", &expression(value), ")"),
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
                    self.hoist(step, &used, declared);
                    self.block(step, is_last, &used, declared);
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
            Some(alias) => format!("{}{} = ", keyword(&alias.value, declared), alias.value),
            None if is_result => "return ".to_owned(),
            None if keeps_reply => format!("{}reply = ", keyword("reply", declared)),
            None => String::new(),
        };
        self.statement(&before, code, "");
        if let Some(alias) = alias.filter(|_| keeps_reply) {
            self.line(&format!("{}reply = {}", keyword("reply", declared), alias.value));
        }
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

    fn block(&mut self, step: &Step, is_last: bool, used: &BTreeSet<String>, declared: &BTreeSet<String>) {
        match &step.kind {
            StepKind::If { condition, then, otherwise } => {
                self.statement("if (", &expression(condition), ") {");
                self.nested(then, used, declared);
                if !otherwise.is_empty() {
                    self.line("} else {");
                    self.nested(otherwise, used, declared);
                }
                self.line("}");
            }
            StepKind::ForEach { name, list, body } => {
                self.statement(&format!("for (const {} of ", name.value), &expression(list), ") {");
                self.turns(step, body, used, declared);
            }
            StepKind::While { condition, body, .. } => {
                self.statement("while (", &expression(condition), ") {");
                self.turns(step, body, used, declared);
            }
            StepKind::Retry { errors, attempts, body } => {
                let codes: Vec<String> = errors.iter().map(i32::to_string).collect();
                let result = if is_last && returns_a_value(body) { "return " } else { "" };
                self.line(&format!(
                    "{result}retry({{ errors: [{}], attempts: {attempts} }}, () => {{",
                    codes.join(", ")
                ));
                self.nested(body, used, declared);
                self.line("})");
            }
            StepKind::Transaction { body, .. } => {
                let result = if is_last && returns_a_value(body) { "return " } else { "" };
                self.line(&format!("{result}session.withTransaction(() => {{"));
                self.nested(body, used, declared);
                self.line("}, { readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } })");
            }
            StepKind::Try { body, catches } => {
                self.line("try {");
                self.nested(body, used, declared);
                self.line("} catch (error) {");
                self.catches(catches, used, declared);
                self.line("}");
            }
            _ => {}
        }
    }

    fn catches(&mut self, catches: &[(Caught, Vec<Step>)], used: &BTreeSet<String>, declared: &BTreeSet<String>) {
        self.indent += INDENT;
        for (position, (caught, steps)) in catches.iter().enumerate() {
            let before = if position == 0 { "" } else { "} else " };
            match caught {
                Caught::Code(code) => self.line(&format!("{before}if (error.code == {code}) {{")),
                Caught::Size => self.line(&format!("{before}if (isTooLarge(error)) {{")),
            }
            self.nested(steps, used, declared);
        }
        self.line("} else {");
        self.indent += INDENT;
        self.line("throw error");
        self.indent -= INDENT;
        self.line("}");
        self.indent -= INDENT;
    }

    /// The body of a loop, to its closing brace.
    fn turns(&mut self, step: &Step, body: &[Step], used: &BTreeSet<String>, declared: &BTreeSet<String>) {
        // What a turn leaves may be used by the next.
        let mut again = used.clone();
        add_words(step, &mut again);
        self.nested(body, &again, declared);
        self.line("}");
    }

    fn nested(&mut self, steps: &[Step], used: &BTreeSet<String>, declared: &BTreeSet<String>) {
        self.indent += INDENT;
        self.body(steps, &Body { used_after: used.clone(), returns: false }, &mut declared.clone());
        self.indent -= INDENT;
    }
}

/// `let ` the first time.
fn keyword(name: &str, declared: &mut BTreeSet<String>) -> &'static str {
    if declared.insert(name.to_owned()) { "let " } else { "" }
}

#[cfg(test)]
mod tests {
    use crate::scenario::{Diagnostics, Source, read};

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
        function("o", arguments, &scenario.strategies[0].operations[0].steps, returns)
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
        insta::assert_snapshot!(shown(&["a"], true, steps), @r"
        function o(a) {
          let done, page
          retry({ errors: [11000], attempts: 5 }, () => {
            let reply = db.c.findOne({ _id: a })
            if (reply == null) again()
            if (reply.n > 3) {
              page = 1
            } else {
              page = reply.n
              db.c.deleteOne({ _id: a })
            }
            done = db.c.updateOne({ _id: a }, { $set: { page: page } })
          })
          for (const item of done.list) {
            db.runCommand({ ping: 1, item: item })
          }
          return { page: page, list: [done, null] }
        }
        ");
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
        insta::assert_snapshot!(shown(&["a"], true, steps), @r"
        function o(a) {
          let up = a
          while (up != null) {
            let reply = db.c.findOne({ _id: up })
            up = reply.parent
          }
          return db.c.countDocuments()
        }
        ");
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
        insta::assert_snapshot!(shown(&["a"], true, steps), @r"
        function o(a) {
          session.withTransaction(() => {
            let done = db.c.updateOne({ _id: a }, { $inc: { n: 1 } })
            if (done.matched == 0) {
              return abort(not_found())
            }
          }, { readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } })
          let n
          try {
            n = 1
            db.c.insertOne({ _id: a })
          } catch (error) {
            if (error.code == 11000) {
              return n
            } else if (isTooLarge(error)) {
              db.c.deleteOne({})
            } else {
              throw error
            }
          }
          return db.c.bulkWrite(
            [
              { insertOne: { document: { _id: 1 } } },
              ...a.list.map(x => ({ deleteOne: { filter: { _id: x } } })),
            ],
            { ordered: false, /* errors that pass: 11000 */ },
          )
        }
        ");
    }

    #[test]
    fn the_last_reply_is_the_result_where_none_is_named() {
        assert_eq!(shown(&[], true, "{ find: c, limit: 3 }"), "function o() {\n  return db.c.find().limit(3)\n}\n");
        assert_eq!(
            shown(&[], false, "{ insertOne: c, document: { _id: 1 } }"),
            "function o() {\n  db.c.insertOne({ _id: 1 })\n}\n"
        );
        insta::assert_snapshot!(shown(&["a"], true, "\
- { findOne: c, filter: { _id: <a> }, as: found }
- let: { found: null }"), @r"
        function o(a) {
          let found = db.c.findOne({ _id: a })
          let reply = found
          found = null
          return reply
        }
        ");
        insta::assert_snapshot!(shown(&["a"], true, "\
- if: a > 1
  then: [{ findOne: c, sort: { a: 1 } }]
  else: [{ countDocuments: c }]"), @r"
        function o(a) {
          let reply
          if (a > 1) {
            reply = db.c.findOne({}, {}, { sort: { a: 1 } })
          } else {
            reply = db.c.countDocuments()
          }
          return reply
        }
        ");
    }

    #[test]
    fn options_stand_where_mongosh_wants_them() {
        insta::assert_snapshot!(shown(&["a"], false, "\
- { findOne: c, sort: { a: 1 } }
- { findOneAndUpdate: c, filter: {}, update: [{ $set: { a: 1 } }], returnDocument: after }
- { distinct: c, key: a.b }
- { distinct: c, key: a, filter: { b: <a> }, collation: { locale: de } }
- { countDocuments: c, hint: a_1 }
- { deleteMany: c, filter: {} }
- { insertMany: 'c_<a>', documents: <a>, ordered: false }
- { find: c, projection: { a: 1 }, hint: { a: 1 } }
- { aggregate: c, pipeline: [], batchSize: 5 }"), @r"
        function o(a) {
          db.c.findOne({}, {}, { sort: { a: 1 } })
          db.c.findOneAndUpdate({}, [{ $set: { a: 1 } }], { returnDocument: 'after' })
          db.c.distinct('a.b')
          db.c.distinct('a', { b: a }, { collation: { locale: 'de' } })
          db.c.countDocuments({}, { hint: 'a_1' })
          db.c.deleteMany({})
          db.getCollection(`c_${a}`).insertMany(a, { ordered: false })
          db.c.find({}, { a: 1 }).hint({ a: 1 })
          db.c.aggregate([], { batchSize: 5 })
        }
        ");
    }
}
