//! Where two results differ that should be equal.

use crate::plan::{Value, written};

use super::call::CallResult;

/// The longest text of one value in a difference, in characters.
const LONGEST: usize = 300;

/// What is shown of longer texts before their difference, in characters.
const BEFORE: usize = 40;

/// Describes a difference in a few lines: where it is, the expected and the actual value, and how they differ.
pub fn differences(expected: &CallResult, actual: &CallResult) -> Vec<String> {
    let (CallResult::Value(expected), CallResult::Value(actual)) = (expected, actual) else {
        return vec![format!("expected  {}", shown(expected)), format!("actual    {}", shown(actual))];
    };
    values(expected, actual)
}

fn shown(answer: &CallResult) -> String {
    match answer {
        CallResult::Value(value) => around(&written(value), 0),
        CallResult::Failed(message) => format!("an error: {message}"),
        CallResult::Unknown(message) => format!("unknown: {message}"),
    }
}

/// The same for two values.
pub fn values(expected: &Value, actual: &Value) -> Vec<String> {
    let (mut path, mut hints) = (String::new(), Vec::new());
    let pair = narrow(&mut path, [Some(expected.clone()), Some(actual.clone())], &mut hints);
    let mut lines = Vec::new();
    if !path.is_empty() {
        lines.push(format!("at        {}", path.trim_start_matches('.')));
    }
    let nothing = || "nothing".to_owned();
    let [expected, actual] = pair.map(|value| value.map_or_else(nothing, |value| written(&value)));
    let common = expected.chars().zip(actual.chars()).take_while(|(one, other)| one == other).count();
    lines.push(format!("expected  {}", around(&expected, common)));
    lines.push(format!("actual    {}", around(&actual, common)));
    lines.extend(hints);
    lines
}

/// Returns a text, or the part of a long one around the character at `difference`.
fn around(text: &str, difference: usize) -> String {
    let length = text.chars().count();
    if length <= LONGEST {
        return text.to_owned();
    }
    let start = difference.saturating_sub(BEFORE).min(length - LONGEST);
    let part: String = text.chars().skip(start).take(LONGEST).collect();
    let dots = |is_cut| if is_cut { "..." } else { "" };
    format!("{}{part}{}", dots(start > 0), dots(start + LONGEST < length))
}

/// The first place where two values differ, of which one may be missing there; adds it to the path.
fn narrow(path: &mut String, pair: [Option<Value>; 2], hints: &mut Vec<String>) -> [Option<Value>; 2] {
    let parts: Vec<(String, [Option<Value>; 2])> = match &pair {
        [Some(Value::Map(ours)), Some(theirs @ Value::Map(_))] => {
            let other = |key: &str| Some(theirs.plain_field(key).unwrap_or(Value::Null));
            ours.iter().map(|(key, value)| (format!(".{key}"), [Some(value.clone()), other(key)])).collect()
        }
        // Null is no list: where it means an empty one it was replaced before.
        [Some(ours @ (Value::List(_) | Value::Array(_))), Some(theirs @ (Value::List(_) | Value::Array(_)))] => {
            let [ours, theirs] = [ours, theirs].map(|list| list.items().into_iter().flatten().collect::<Vec<_>>());
            hints.push(of_lists(&ours, &theirs));
            let part = |at| (format!("[{at}]"), [ours.get(at).cloned(), theirs.get(at).cloned()]);
            (0..ours.len().max(theirs.len())).map(part).collect()
        }
        _ => Vec::new(),
    };
    let text = |value: &Option<Value>| value.as_ref().map(written);
    let Some((part, pair)) = parts.into_iter().find(|(_, [one, other])| text(one) != text(other)) else { return pair };
    path.push_str(&part);
    narrow(path, pair, hints)
}

/// Describes how two lists differ, which often shows the mistake.
fn of_lists(expected: &[Value], actual: &[Value]) -> String {
    let (ours, theirs): (Vec<String>, Vec<String>) =
        (expected.iter().map(written).collect(), actual.iter().map(written).collect());
    if sorted(&ours) == sorted(&theirs) {
        return format!("the same {} elements in another order", ours.len());
    }
    let lengths = if ours.len() == theirs.len() {
        format!("{} elements on both sides", ours.len())
    } else {
        format!("expected {} elements, found {}", ours.len(), theirs.len())
    };
    match shift(&ours, &theirs) {
        Some(by) if by > 0 => format!("{lengths}; the actual list starts {by} later in the same order"),
        Some(by) => format!("{lengths}; the actual list starts {} earlier in the same order", -by),
        None => {
            let missing = ours.iter().filter(|one| !theirs.contains(one)).count();
            let extra = theirs.iter().filter(|other| !ours.contains(other)).count();
            format!("{lengths}; {missing} missing, {extra} unexpected")
        }
    }
}

fn sorted(texts: &[String]) -> Vec<&String> {
    let mut sorted: Vec<&String> = texts.iter().collect();
    sorted.sort();
    sorted
}

/// By how many places the second list is the first one moved on, when at least half of it shows that.
fn shift(ours: &[String], theirs: &[String]) -> Option<i64> {
    let overlaps = |front: &[String], back: &[String], by: usize| {
        let common = (front.len() - by).min(back.len());
        common * 2 >= back.len().max(1) && common > 0 && front[by..by + common] == back[..common]
    };
    let later = (1..ours.len()).find(|by| overlaps(ours, theirs, *by)).map(|by| by as i64);
    later.or_else(|| (1..theirs.len()).find(|by| overlaps(theirs, ours, *by)).map(|by| -(by as i64)))
}

/// Whether two values are equal but for the order of lists.
pub fn is_reordered(expected: &Value, actual: &Value) -> bool {
    unordered(expected) == unordered(actual)
}

/// Formats a value so that the order of lists does not matter.
fn unordered(value: &Value) -> String {
    match value {
        Value::List(_) | Value::Array(_) => {
            let mut parts: Vec<String> = value.items().into_iter().flatten().map(|item| unordered(&item)).collect();
            parts.sort();
            format!("[{}]", parts.join(","))
        }
        Value::Map(entries) => {
            let parts: Vec<String> = entries.iter().map(|(key, value)| format!("{key}:{}", unordered(value))).collect();
            format!("{{{}}}", parts.join(","))
        }
        other => written(other),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn numbers(numbers: impl IntoIterator<Item = i64>) -> Value {
        Value::list(numbers.into_iter().map(|n| Value::Map(Arc::new([(Arc::from("_id"), Value::Int(n))]))).collect())
    }

    fn described(expected: &Value, actual: &Value) -> String {
        values(expected, actual).join(" | ")
    }

    #[test]
    fn a_page_off_by_one_is_seen_as_such() {
        let page = described(&numbers(50..60), &numbers(51..61));
        assert_eq!(
            page,
            "at        [0]._id | expected  50 | actual    51 | 10 elements on both sides; the actual list starts 1 later \
             in the same order"
        );
        let whole = described(&numbers(50..60), &numbers(60..70));
        assert!(whole.ends_with("10 elements on both sides; 10 missing, 10 unexpected"), "{whole}");
        let early = described(&numbers(50..60), &numbers(49..59));
        assert!(early.ends_with("starts 1 earlier in the same order"), "{early}");
    }

    #[test]
    fn a_missing_sort_is_seen_as_such() {
        let text = described(&numbers([1, 2, 3]), &numbers([2, 1, 3]));
        assert_eq!(text, "at        [0]._id | expected  1 | actual    2 | the same 3 elements in another order");
        assert!(is_reordered(&numbers([1, 2, 3]), &numbers([2, 1, 3])));
        assert!(!is_reordered(&numbers([1, 2, 3]), &numbers([2, 1, 1])));
    }

    #[test]
    fn what_is_missing_is_nothing() {
        let text = described(&numbers([1, 2]), &numbers([1]));
        assert!(text.starts_with("at        [1] | expected  {_id: 2} | actual    nothing"), "{text}");
        assert_eq!(described(&Value::Int(1), &Value::Null), "expected  1 | actual    null");
    }

    #[test]
    fn long_texts_are_shown_where_they_differ() {
        let long = |end: &str| Value::text(&format!("{}{end}", "x".repeat(1_000)));
        let text = described(&long("one"), &long("two"));
        let dots = "x".repeat(296);
        assert_eq!(text, format!("expected  ...{dots}one\" | actual    ...{dots}two\""));
    }

    #[test]
    fn a_list_inside_a_field_is_found() {
        let wrap = |list| Value::Map(Arc::new([(Arc::from("comments"), list)]));
        let text = described(&wrap(numbers([1, 2])), &wrap(numbers([2, 1])));
        assert!(text.starts_with("at        comments[0]._id"), "{text}");
    }
}
