//! Checks of what expressions read from a command's reply.

use crate::scenario::{Diagnostic, Diagnostics, Span, list_of, suggest};

use super::scope::Scope;
use crate::plan::{Expression, ReplyShape};

/// The fields of a write's reply.
const WRITE_FIELDS: [&str; 5] = ["matched", "modified", "upserted_id", "inserted", "deleted"];

impl ReplyShape {
    /// What to do about a field that this reply never has; `None` when it may have it.
    pub fn lacks(self, field: &str) -> Option<String> {
        if !self.is_write() || WRITE_FIELDS.contains(&field) || (self == ReplyShape::Bulk && field == "errors") {
            return None;
        }
        // The driver's names: `matchedCount`, `nModified`.
        let plain = field.trim_end_matches("Count").trim_end_matches("_count");
        let plain = plain.strip_prefix('n').filter(|rest| rest.starts_with(char::is_uppercase)).unwrap_or(plain);
        let all = list_of(&WRITE_FIELDS);
        Some(match suggest(plain, WRITE_FIELDS) {
            Some(near) => format!("did you mean `{near}`? a write's reply has {all}"),
            None => format!("a write's reply has {all}"),
        })
    }
}

/// Reports `name.field` where `name` is a write's reply, which never has that field; `None` when it is so.
pub fn check_field(
    reply: Option<ReplyShape>,
    (name, field): (&str, &str),
    span: Span,
    diagnostics: &mut Diagnostics,
) -> Option<()> {
    let Some(help) = reply.and_then(|reply| reply.lacks(field)) else { return Some(()) };
    let message = format!("unknown field `{field}` of `{name}`, the reply to a write");
    diagnostics.push(Diagnostic::error(span, message).help(help));
    None
}

/// Reports a condition that is certainly no bool: a reply, or a number in one. `word` is the step's.
pub fn check_condition(condition: &Expression, word: &str, span: Span, scope: &Scope, diagnostics: &mut Diagnostics) {
    use ReplyShape::*;
    let (written, kind, comparison) = match condition {
        Expression::Slot(slot) => {
            let (Some(reply), Some(name)) = (scope.slot_reply(*slot), scope.slot_name(*slot)) else { return };
            match reply {
                Count => (name.to_owned(), "an int", "> 0"),
                Documents | Values => (name.to_owned(), "a list", ".size > 0"),
                First | Value => (name.to_owned(), "a document or null", "!= null"),
                Insert | Update | Delete | Bulk => (name.to_owned(), "a write's reply", ".modified > 0"),
                Whole => return,
            }
        }
        Expression::Field(operand, field) => {
            let Expression::Slot(slot) = &**operand else { return };
            let (Some(reply), Some(name)) = (scope.slot_reply(*slot), scope.slot_name(*slot)) else { return };
            if !reply.is_write() {
                return;
            }
            let (kind, comparison) = match &**field {
                "upserted_id" => ("an id or null", "!= null"),
                "errors" => ("a list", ".size > 0"),
                _ => ("an int", "> 0"),
            };
            (format!("{name}.{field}"), kind, comparison)
        }
        _ => return,
    };
    let space = if comparison.starts_with('.') { "" } else { " " };
    let message = format!("`{word}` needs a bool, but `{written}` is {kind}");
    diagnostics.push(Diagnostic::error(span, message).help(format!("try `{written}{space}{comparison}`")));
}

#[cfg(test)]
mod tests {
    use crate::scenario::{Diagnostics, Source, read};

    use super::super::{Choice, compile};

    /// Returns the errors of an operation with these steps.
    fn messages(steps: &str) -> Vec<String> {
        let text = format!(
            "format: 1\nname: test\ntitle: Test\nentities: {{ post: {{ count: 2, fields: {{ _id: index }} }} }}\n\
             operations: {{ act: {{ arguments: {{ post: zipf(post) }} }} }}\nmixes: {{ default: {{ act: 1 }} }}\n\
             strategies: {{ s: {{ collections: {{ posts: {{ each: post }} }}, operations: {{ act: {steps} }} }} }}\n"
        );
        let mut diagnostics = Diagnostics::new();
        let scenario = read(&Source::new("test.yaml", text), &mut diagnostics).unwrap();
        compile(&scenario, &Choice::default(), &mut diagnostics).unwrap();
        diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).collect()
    }

    const WRITE: &str = "{ deleteOne: posts, filter: { _id: <post> } }";
    const READ: &str = "{ findOne: posts, filter: { _id: <post> } }";

    #[test]
    fn a_reply_that_may_be_another_is_asked_for_anything() {
        for steps in [
            format!("[{WRITE}, {{ if: post._id == 1, then: {READ} }}, {{ return: reply.title }}]"),
            format!(
                "[{WRITE}, {{ if: post._id == 1, then: {{ let: {{ a: 1 }} }}, else: {READ} }}, {{ return: reply.title }}]"
            ),
            format!("[{WRITE}, {{ forEach: {{ n: [1] }}, do: [{{ let: {{ t: reply.title }} }}, {READ}] }}]"),
            format!("[{WRITE}, {READ}, {{ return: reply.title }}]"),
            "[{ command: { ping: 1 } }, { return: reply.title }]".to_owned(),
        ] {
            assert_eq!(messages(&steps), Vec::<String>::new(), "{steps}");
        }
    }

    #[test]
    fn a_reply_that_is_certain_is_not() {
        for steps in [
            format!("[{WRITE}, {{ if: post._id == 1, then: {WRITE} }}, {{ return: reply.title }}]"),
            format!("[{WRITE}, {{ if: post._id == 1, then: {{ return: 1 }} }}, {{ return: reply.title }}]"),
            format!(
                "[{READ}, {{ if: reply == null, then: {WRITE}, else: {{ return: 1 }} }}, {{ return: reply.title }}]"
            ),
        ] {
            assert_eq!(messages(&steps), ["unknown field `title` of `reply`, the reply to a write"], "{steps}");
        }
    }
}
