//! The order in which an index has values: that of MongoDB, with the simple collation.

use std::cmp::Ordering;

use bson::Bson;

/// Compares two values as an index does.
pub fn compare(a: &Bson, b: &Bson) -> Ordering {
    rank(a).cmp(&rank(b)).then_with(|| match (a, b) {
        (Bson::Document(a), Bson::Document(b)) => {
            let mut fields = a.iter().zip(b.iter()).map(|((one, a), (other, b))| {
                rank(a).cmp(&rank(b)).then_with(|| one.cmp(other)).then_with(|| compare(a, b))
            });
            fields.find(|order| order.is_ne()).unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Bson::Array(a), Bson::Array(b)) => compare_tuples(a, b),
        (Bson::String(a) | Bson::Symbol(a), Bson::String(b) | Bson::Symbol(b)) => a.cmp(b),
        (Bson::ObjectId(a), Bson::ObjectId(b)) => a.cmp(b),
        (Bson::Boolean(a), Bson::Boolean(b)) => a.cmp(b),
        (Bson::DateTime(a), Bson::DateTime(b)) => a.cmp(b),
        (Bson::Timestamp(a), Bson::Timestamp(b)) => (a.time, a.increment).cmp(&(b.time, b.increment)),
        (Bson::RegularExpression(a), Bson::RegularExpression(b)) => a.pattern.as_str().cmp(b.pattern.as_str()),
        (Bson::Binary(a), Bson::Binary(b)) => {
            let key = |value: &bson::Binary| (value.bytes.len(), u8::from(value.subtype));
            key(a).cmp(&key(b)).then_with(|| a.bytes.cmp(&b.bytes))
        }
        _ => numbers(a, b),
    })
}

/// Compares two lists of values, the first ones first.
pub fn compare_tuples(a: &[Bson], b: &[Bson]) -> Ordering {
    let mut items = a.iter().zip(b).map(|(a, b)| compare(a, b));
    items.find(|order| order.is_ne()).unwrap_or_else(|| a.len().cmp(&b.len()))
}

fn numbers(a: &Bson, b: &Bson) -> Ordering {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => double(a).total_cmp(&double(b)),
    }
}

fn integer(value: &Bson) -> Option<i64> {
    value.as_i64().or_else(|| value.as_i32().map(i64::from))
}

fn double(value: &Bson) -> f64 {
    match value {
        Bson::Double(value) => *value,
        // Exact decimals have no order here; as doubles they are near enough for a quantile.
        Bson::Decimal128(value) => value.to_string().parse().unwrap_or(0.0),
        other => integer(other).unwrap_or(0) as f64,
    }
}

/// The place of a value's type among the others.
fn rank(value: &Bson) -> u8 {
    match value {
        Bson::MinKey => 0,
        Bson::Undefined => 1,
        Bson::Null => 2,
        Bson::Double(_) | Bson::Int32(_) | Bson::Int64(_) | Bson::Decimal128(_) => 3,
        Bson::String(_) | Bson::Symbol(_) => 4,
        Bson::Document(_) => 5,
        Bson::Array(_) => 6,
        Bson::Binary(_) => 7,
        Bson::ObjectId(_) => 8,
        Bson::Boolean(_) => 9,
        Bson::DateTime(_) => 10,
        Bson::Timestamp(_) => 11,
        Bson::RegularExpression(_) => 12,
        Bson::DbPointer(_) => 13,
        Bson::JavaScriptCode(_) | Bson::JavaScriptCodeWithScope(_) => 14,
        Bson::MaxKey => 15,
    }
}

#[cfg(test)]
mod tests {
    use bson::{bson, oid::ObjectId};

    use super::*;

    #[test]
    fn values_are_ordered_by_type_and_then_by_value() {
        let ordered = [
            Bson::MinKey,
            Bson::Null,
            bson!(-1),
            bson!(0.5),
            bson!(7_i64),
            bson!("a"),
            bson!("b"),
            bson!({ "a": 1 }),
            bson!({ "a": 1, "b": 0 }),
            bson!({ "a": 2 }),
            bson!([1, 2]),
            Bson::ObjectId(ObjectId::from_bytes([1; 12])),
            bson!(false),
            bson!(true),
            Bson::DateTime(bson::DateTime::from_millis(0)),
            Bson::MaxKey,
        ];
        for (place, value) in ordered.iter().enumerate() {
            for (other, against) in ordered.iter().enumerate() {
                assert_eq!(compare(value, against), place.cmp(&other), "{value} and {against}");
            }
        }
        assert_eq!(compare(&bson!(1), &bson!(1.0)), Ordering::Equal);
        assert_eq!(compare_tuples(&[bson!(1)], &[bson!(1), bson!(2)]), Ordering::Less);
    }
}
