//! Steps that are tried again, as JavaScript.

use std::collections::BTreeSet;

use crate::scenario::Step;

use super::super::code::Code;
use super::super::helper::named;
use super::super::names::add_given;
use super::{Around, INDENT, Printer, ends};

impl Printer<'_, '_> {
    /// Attempts as a loop. It is left by `break`, `return` or an error.
    pub(super) fn retry(
        &mut self,
        step: &Step,
        (errors, attempts, body): (&[i32], u32, &[Step]),
        used: &BTreeSet<String>,
        (before, declared): (&BTreeSet<String>, &BTreeSet<String>),
    ) {
        let saved = self.save(step, before);
        let label = Self::label(self.retries());
        self.line(&format!("{label}: for (let attempt = 1; ; attempt++) {{"));
        self.around.push(Around::Retry);
        self.deeper(|this| {
            this.line(&format!("if (attempt > {attempts}) throw new Error('{attempts} attempts were not enough')"));
            this.restore(&saved);
            if errors.is_empty() {
                this.indent -= INDENT;
                this.nested(body, used, declared);
                this.indent += INDENT;
                this.leave(body);
                return;
            }
            this.line("try {");
            this.nested(body, used, declared);
            this.deeper(|this| this.leave(body));
            this.line("} catch (error) {");
            let codes: Vec<String> = errors.iter().map(i32::to_string).collect();
            this.deeper(|this| this.line(&format!("if (![{}].includes(error.code)) throw error", codes.join(", "))));
            this.line("}");
        });
        self.around.pop();
        self.line("}");
    }

    /// A transaction as a loop of attempts in a session.
    pub(super) fn transaction(
        &mut self,
        step: &Step,
        (attempts, body): (u32, &[Step]),
        used: &BTreeSet<String>,
        (before, declared): (&BTreeSet<String>, &BTreeSet<String>),
    ) {
        let saved = self.save(step, before);
        let commit = self.scope.context.call("commit");
        self.line("const session = db.getMongo().startSession()");
        self.line("const inside = session.getDatabase(db.getName())");
        self.line("try {");
        self.around.push(Around::Transaction);
        self.deeper(|this| {
            this.line("for (let attempt = 1; ; attempt++) {");
            this.deeper(|this| {
                this.restore(&saved);
                this.line("session.startTransaction({");
                this.deeper(|this| {
                    this.line("readConcern: { level: 'snapshot' },");
                    this.line("writeConcern: { w: 'majority' },");
                });
                this.line("})");
                this.line("try {");
                this.nested(body, used, declared);
                this.deeper(|this| {
                    if !ends(body) {
                        this.line(&format!("{commit}(session)"));
                        this.line("break");
                    }
                });
                this.line("} catch (error) {");
                this.deeper(|this| {
                    this.line("try { session.abortTransaction() } catch (_) { /* the server did it */ }");
                    this.line(&format!(
                        "if (!error.hasErrorLabel?.('TransientTransactionError') || attempt == {attempts}) throw error"
                    ));
                });
                this.line("}");
            });
            this.line("}");
        });
        self.around.pop();
        self.line("} finally {");
        self.deeper(|this| this.line("session.endSession()"));
        self.line("}");
    }

    pub(super) fn again(&mut self, condition: &Code) {
        let label = Self::label(self.retries().saturating_sub(1));
        // A transaction inside of the attempt is taken back first.
        if self.around.last() == Some(&Around::Transaction) {
            self.statement("if (", condition, ") {");
            self.deeper(|this| {
                this.line("session.abortTransaction()");
                this.line(&format!("continue {label}"));
            });
            self.line("}");
        } else {
            self.statement("if (", condition, &format!(") continue {label}"));
        }
    }

    /// Each attempt begins with the variables of the first: keeps those that an attempt changes.
    fn save(&mut self, step: &Step, before: &BTreeSet<String>) -> Vec<String> {
        let mut given = BTreeSet::new();
        add_given(step, &mut given);
        let changed: Vec<String> = given.intersection(before).map(|name| named(name)).collect();
        if !changed.is_empty() {
            self.line(&format!("const saved = {{ {} }}", changed.join(", ")));
        }
        changed
    }

    fn restore(&mut self, saved: &[String]) {
        for name in saved {
            self.line(&format!("{name} = saved.{name}"));
        }
    }

    /// The end of an attempt that was enough.
    fn leave(&mut self, body: &[Step]) {
        if !ends(body) {
            self.line("break");
        }
    }
}
