//! Steps that deal with failures: `retry`, `retry_if`, `try`, `transaction`, `abort`.

use crate::scenario::step::RETRY;
use crate::scenario::{CatchKey, Diagnostic, Span, StepDefinition, StepKind, quote};

use super::fields::Fields;
use super::step::StepReader;
use super::value;

const DEFAULT_ATTEMPTS: u32 = 100;

impl StepReader<'_> {
    pub(in crate::scenario) fn retry(&mut self, fields: &Fields) -> Option<StepKind> {
        let entry = fields.entry("retry")?;
        let options = Fields::read(fields.entries("retry"), "`retry`", entry.0.span, RETRY, self.diagnostics);
        self.retries.push(false);
        let body = self.body(fields, "do");
        let mut parts = [Some(entry), fields.entry("do")].into_iter().flatten();
        let has_error = parts.any(|(_, node)| self.diagnostics.has_error_within(node.span));
        let has_condition = self.retries.pop().unwrap_or(false);
        if options.entry("errors").is_some() {
            self.refuse_in_transaction(entry.0.span, "`errors` of a `retry`");
        } else if !has_condition && !has_error {
            let message = "`retry` without a cause";
            let help = "try `retry: { errors: [11000] }`, or a step `retry_if: <condition>` under `do`";
            self.diagnostics.labelled(entry.0.span, message, "neither `errors` here nor `retry_if` inside", help);
        }
        Some(StepKind::Retry {
            errors: codes(&options),
            attempts: attempts(&options),
            delay: options.integer("delay").unwrap_or(0),
            body,
        })
    }

    pub(in crate::scenario) fn retry_if(&mut self, fields: &Fields) -> Option<StepKind> {
        let entry = fields.entry("retry_if")?;
        match self.retries.last_mut() {
            Some(seen) => *seen = true,
            None => Diagnostic::error(entry.0.span, "`retry_if` outside of a `retry`")
                .label("nothing to retry")
                .help("for example: `{ retry: { attempts: 100 }, do: [..., { retry_if: reply.modified == 0 }] }`")
                .add_to(self.diagnostics),
        }
        Some(StepKind::RetryIf(entry.1.clone()))
    }

    pub(in crate::scenario) fn attempt(&mut self, fields: &Fields) -> Option<StepKind> {
        let entry = fields.entry("try")?;
        self.refuse_in_transaction(entry.0.span, "`try`");
        let body = self.steps(entry);
        let mut catches: Vec<(CatchKey, Vec<StepDefinition>)> = Vec::new();
        fields.entry("catch")?;
        for entry in fields.entries("catch") {
            let steps = self.steps(entry);
            match caught(&entry.0.value) {
                Some(caught) => catches.push((caught, steps)),
                None => {
                    let found = quote(&entry.0.value);
                    let message = format!("expected the code of a server error or `size`, found {found}");
                    let help =
                        "for example: `catch: { 11000: [{ return: same() }], size: [{ return: rejected(\"size\") }] }`";
                    self.diagnostics.labelled(entry.0.span, message, "key of `catch`", help);
                }
            }
        }
        Some(StepKind::Try { body, catches })
    }

    pub(in crate::scenario) fn transaction(&mut self, fields: &Fields) -> Option<StepKind> {
        let entry = fields.entry("transaction")?;
        if self.in_transaction {
            let message = "`transaction` inside of a `transaction`";
            let help = "move these steps into the outer one";
            self.diagnostics.labelled(entry.0.span, message, "MongoDB does not nest transactions", help);
        }
        let outer = std::mem::replace(&mut self.in_transaction, true);
        let body = self.steps(entry);
        self.in_transaction = outer;
        Some(StepKind::Transaction { attempts: attempts(fields), body })
    }

    pub(in crate::scenario) fn abort(&mut self, fields: &Fields) -> Option<StepKind> {
        let entry = fields.entry("abort")?;
        if !self.in_transaction {
            let help = "try `return` to end the operation, or move this step into a `transaction`";
            self.diagnostics.labelled(entry.0.span, "`abort` outside of a `transaction`", "nothing to roll back", help);
        }
        Some(StepKind::Abort(entry.1.clone()))
    }

    /// Reports a step that handles errors inside of a transaction, which the server ends at its first error.
    pub(super) fn refuse_in_transaction(&mut self, span: Span, what: &str) {
        if self.in_transaction {
            let message = format!("{what} inside of a `transaction`");
            let help = "move the `transaction` into the `retry` or `try`";
            self.diagnostics.labelled(span, message, "the server ends a transaction at its first error", help);
        }
    }
}

/// A key of `catch`.
fn caught(key: &str) -> Option<CatchKey> {
    match key {
        "size" => Some(CatchKey::Size),
        _ if key.bytes().all(|byte| byte.is_ascii_digit()) => key.parse().ok().map(CatchKey::Code),
        _ => None,
    }
}

fn attempts(fields: &Fields) -> u32 {
    fields.integer("attempts").unwrap_or(DEFAULT_ATTEMPTS)
}

/// The codes of server errors under `errors`.
pub(super) fn codes(fields: &Fields) -> Vec<i32> {
    fields.items("errors").iter().filter_map(value::code).collect()
}
