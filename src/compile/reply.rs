//! Checks of what expressions read from a command's reply.

use crate::plan::{Expression, ReplyShape};
use crate::scenario::{Diagnostics, Span, list_of, suggest};

use super::scope::{Scope, Variable};

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

/// Reports a field of a variable that holds the reply to a write, which never has that field; `None` when it is so.
pub fn check_field(variable: &Variable, field: &str, span: Span, diagnostics: &Diagnostics) -> Option<()> {
    let Some(help) = variable.reply.and_then(|reply| reply.lacks(field)) else { return Some(()) };
    let message = format!("unknown field `{field}` of `{}`, the reply to a write", variable.name);
    diagnostics.reject(span, message, help)
}

/// Reports a condition that is certainly no bool: a reply, or a number in one. `word` is the step's.
pub fn check_condition(condition: &Expression, word: &str, span: Span, scope: &Scope) {
    use ReplyShape::*;
    let (slot, field) = match condition {
        Expression::Slot(slot) => (*slot, None),
        Expression::Field(operand, field) => match **operand {
            Expression::Slot(slot) => (slot, Some(&**field)),
            _ => return,
        },
        _ => return,
    };
    let Some(variable) = scope.in_slot(slot) else { return };
    let Some(reply) = variable.reply.filter(|reply| field.is_none() || reply.is_write()) else { return };
    let (kind, comparison) = match (field, reply) {
        (Some("upserted_id"), _) => ("an id or null", " != null"),
        (Some("errors"), _) => ("a list", ".size > 0"),
        (Some(_), _) | (None, Count) => ("an int", " > 0"),
        (None, Documents | Values) => ("a list", ".size > 0"),
        (None, First | Value) => ("a document or null", " != null"),
        (None, Insert | Update | Delete | Bulk) => ("a write's reply", ".modified > 0"),
        (None, Whole) => return,
    };
    let written = field.map_or_else(|| variable.name.clone(), |field| format!("{}.{field}", variable.name));
    let message = format!("`{word}` needs a bool, but `{written}` is {kind}");
    scope.diagnostics.error(span, message, format!("try `{written}{comparison}`"));
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
        let diagnostics = Diagnostics::new();
        let scenario = read(&Source::new("test.yaml", text), &diagnostics).unwrap();
        compile(&scenario, &Choice::default(), &diagnostics).unwrap();
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
