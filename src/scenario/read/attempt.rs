//! Steps that deal with failures: `retry`, `again`, `try`, `transaction`, `abort`.

use super::fields::{Entry, Fields};
use super::step::StepReader;
use super::value;
use crate::scenario::quote;
use crate::scenario::{Caught, Diagnostic, Diagnostics, Scalar, Span, Spanned, Step, StepKind, Tree};

const DEFAULT_ATTEMPTS: u32 = 100;
/// Beyond this a call would hold its worker for seconds.
const MAX_ATTEMPTS: i64 = 10_000;

const CATCH: &str = "catch: { 11000: [{ return: same() }], size: [{ return: refused(\"size\") }] }";

impl StepReader<'_> {
    pub(super) fn retry(&mut self, fields: &mut Fields) -> Option<StepKind> {
        let entry = fields.optional("retry")?;
        let options = self.retry_options(entry);
        self.retries.push(false);
        let body = fields.required("do", "do: [...]").map_or_else(Vec::new, |entry| self.steps(entry));
        let has_again = self.retries.pop().unwrap_or(false);
        let (codes, attempts) = options?;
        if codes.is_some() {
            self.refuse_in_transaction(entry.0.span, "`errors` of a `retry`");
        }
        if codes.is_none() && !has_again {
            self.diagnostics.push(
                Diagnostic::error(entry.0.span, "this `retry` never begins another attempt")
                    .label("neither `errors` here nor `again` inside")
                    .help("name server error codes, `retry: { errors: [11000] }`, or put `again: <condition>` inside"),
            );
        }
        Some(StepKind::Retry { errors: codes.unwrap_or_default(), attempts, body })
    }

    /// `errors`, if given, and `attempts`.
    fn retry_options(&mut self, entry: &Entry) -> Option<(Option<Vec<i32>>, u32)> {
        let mut options = Fields::of_optional(entry, "`retry`", "retry: { errors: [11000] }", self.diagnostics)?;
        let codes = options.optional("errors").map(|entry| codes(entry, self.diagnostics));
        let attempts = self.attempts(&mut options);
        options.finish(self.diagnostics);
        Some((codes, attempts))
    }

    pub(super) fn again(&mut self, fields: &mut Fields) -> Option<StepKind> {
        let entry = fields.optional("again")?;
        match self.retries.last_mut() {
            Some(seen) => *seen = true,
            None => self.diagnostics.push(
                Diagnostic::error(entry.0.span, "`again` stands outside of every `retry`")
                    .label("nothing to attempt again")
                    .help("put it among the steps of a `retry`: { retry: { attempts: 100 }, do: [..., { again: reply.modified == 0 }] }"),
            ),
        }
        value::scalar_expression(entry, "again: reply.modified == 0", self.diagnostics).map(StepKind::Again)
    }

    pub(super) fn attempt(&mut self, fields: &mut Fields) -> Option<StepKind> {
        let entry = fields.optional("try")?;
        self.refuse_in_transaction(entry.0.span, "`try`");
        let body = self.steps(entry);
        let catch = fields.required("catch", CATCH)?;
        let entries = value::filled_mapping(catch, CATCH, self.diagnostics)?;
        let mut catches: Vec<(Caught, Vec<Step>)> = Vec::with_capacity(entries.len());
        for entry in entries {
            let steps = self.steps(entry);
            match caught(&entry.0.value) {
                Some(caught) => catches.push((caught, steps)),
                None => self.not_caught(&entry.0),
            }
        }
        Some(StepKind::Try { body, catches })
    }

    fn attempts(&mut self, fields: &mut Fields) -> u32 {
        let entry = fields.optional("attempts");
        entry
            .and_then(|entry| value::integer(entry, 1..=MAX_ATTEMPTS, "attempts: 100", self.diagnostics))
            .and_then(|attempts| u32::try_from(attempts).ok())
            .unwrap_or(DEFAULT_ATTEMPTS)
    }

    pub(super) fn transaction(&mut self, fields: &mut Fields) -> Option<StepKind> {
        let entry = fields.optional("transaction")?;
        if self.in_transaction {
            self.diagnostics.push(
                Diagnostic::error(entry.0.span, "a `transaction` stands inside of another")
                    .label("inside of a transaction already")
                    .help("put these steps into the outer one; MongoDB does not nest transactions"),
            );
        }
        let attempts = self.attempts(fields);
        let outer = std::mem::replace(&mut self.in_transaction, true);
        let body = self.steps(entry);
        self.in_transaction = outer;
        Some(StepKind::Transaction { attempts, body })
    }

    pub(super) fn abort(&mut self, fields: &mut Fields) -> Option<StepKind> {
        let entry = fields.optional("abort")?;
        if !self.in_transaction {
            self.diagnostics.push(
                Diagnostic::error(entry.0.span, "`abort` stands outside of every `transaction`")
                    .label("nothing to take back")
                    .help("end an operation with `return`, or put this among the steps of a `transaction`"),
            );
        }
        value::expression(entry, "abort: refused(\"taken\")", self.diagnostics).map(StepKind::Abort)
    }

    /// The server ends a transaction at its first error, so that no step of it can come after one.
    pub(super) fn refuse_in_transaction(&mut self, span: Span, what: &str) {
        if self.in_transaction {
            self.diagnostics.push(
                Diagnostic::error(span, format!("{what} can do nothing inside of a `transaction`"))
                    .label("the server ends a transaction at its first error")
                    .help("put the `transaction` inside of the `retry` or `try`"),
            );
        }
    }

    fn not_caught(&mut self, key: &Spanned<String>) {
        self.diagnostics.push(
            Diagnostic::error(key.span, format!("`catch` cannot take {}", quote(&key.value)))
                .label("neither a code nor `size`")
                .help(format!("name the numbers of server errors, or `size` for what is too large: {CATCH}")),
        );
    }
}

/// A key of `catch`.
fn caught(key: &str) -> Option<Caught> {
    match key {
        "size" => Some(Caught::Size),
        _ if key.bytes().all(|byte| byte.is_ascii_digit()) => key.parse().ok().map(Caught::Code),
        _ => None,
    }
}

/// Server error codes.
pub(super) fn codes(entry: &Entry, diagnostics: &mut Diagnostics) -> Vec<i32> {
    let example = "errors: [11000]";
    let Some(items) = value::list(entry, example, diagnostics) else { return Vec::new() };
    if items.is_empty() {
        value::wrong_type(entry, "at least one code", example, diagnostics);
    }
    let mut codes = Vec::with_capacity(items.len());
    for item in items {
        let code = match item.tree {
            Tree::Scalar(Scalar::Int(code)) => i32::try_from(code).ok(),
            _ => None,
        };
        match code {
            Some(code) => codes.push(code),
            None => {
                let item = (entry.0.clone(), item.clone());
                value::wrong_type(&item, "the numbers of server errors", example, diagnostics);
            }
        }
    }
    codes
}
