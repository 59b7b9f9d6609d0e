//! BSON types that YAML lacks, in Extended JSON v2: `{ $oid: ... }`, `{ $date: ... }`, `{ $numberDecimal: ... }`...

use std::str::FromStr;
use std::sync::Arc;

use crate::plan::value::Value;
use crate::scenario::{Node, Scalar, Spanned, Tree};

/// Returns the constant that a mapping of one key is, or what is wrong with it and its fix; `None` when it is an ordinary
/// document.
pub fn constant(entries: &[(Spanned<String>, Node)]) -> Option<Result<Value, (String, &'static str)>> {
    let [(key, node)] = entries else { return None };
    let Tree::Scalar(scalar) = &node.tree else { return None };
    let text = node.as_literal().filter(|_| !matches!(scalar, Scalar::Bool(_)))?.value;
    // `<name>` inside is a slot, not a constant.
    if text.starts_with('<') {
        return None;
    }
    let parsed = match key.value.as_str() {
        "$oid" => bson::oid::ObjectId::parse_str(&text).ok().map(Value::ObjectId),
        "$date" => date(&text),
        "$numberDecimal" => bson::Decimal128::from_str(&text)
            .ok()
            .map(|decimal| Value::Other(Arc::new(bson::Bson::Decimal128(decimal)))),
        "$numberInt" => text.parse::<i32>().ok().map(|int| Value::Int(int.into())),
        // Kept apart from other ints, which are written as int32 where they fit.
        "$numberLong" => text.parse().ok().map(|long| Value::Other(Arc::new(bson::Bson::Int64(long)))),
        "$numberDouble" => text.parse().ok().map(Value::Double),
        "$minKey" => Some(Value::Other(Arc::new(bson::Bson::MinKey))),
        "$maxKey" => Some(Value::Other(Arc::new(bson::Bson::MaxKey))),
        _ => return None,
    };
    Some(parsed.ok_or_else(|| (format!("invalid value {text:?} for `{}`", key.value), help(&key.value))))
}

/// Returns how a value of `key` is written.
fn help(key: &str) -> &'static str {
    match key {
        "$oid" => "write 24 hex digits in quotes: { $oid: \"65f000000000000000000001\" }",
        "$date" => "write an RFC 3339 time, such as { $date: 2026-01-31T12:00:00Z }, or milliseconds since 1970",
        "$numberDecimal" => "write a decimal in quotes: { $numberDecimal: \"9.95\" }",
        _ => "write a number in quotes: { $numberLong: \"5\" }",
    }
}

fn date(text: &str) -> Option<Value> {
    let millis = match text.parse() {
        Ok(millis) => millis,
        Err(_) => bson::DateTime::parse_rfc3339_str(text).ok()?.timestamp_millis(),
    };
    Some(Value::Date(millis))
}
