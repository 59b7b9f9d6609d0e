//! The bounds by which the server's planner scans an index, read from the reply of `explain`.
//!
//! The index has the fields of a shard key, and its collection is empty: then the bounds are those by which mongos finds the
//! shards, as no index of a cluster's shard key is multikey.

use std::cmp::Ordering;

use bson::oid::ObjectId;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, Document, RawBsonRef, RawDocument, Regex, Timestamp, Uuid};

use super::order::{compare, compare_tuples};

/// A part of the values of one field.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueInterval {
    /// The lowest value, and whether it is part of it.
    pub low: (Bson, bool),
    /// The highest value, and whether it is part of it.
    pub high: (Bson, bool),
}

/// A range of a shard key: what a query needs is nowhere outside of some of these.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyRange {
    /// A value per field. Later fields of a range are those of its end.
    pub low: Vec<Bson>,
    /// A value per field.
    pub high: Vec<Bson>,
    /// Whether the highest value itself is part of it.
    pub includes_high: bool,
}

impl ValueInterval {
    fn everything() -> ValueInterval {
        ValueInterval { low: (Bson::MinKey, true), high: (Bson::MaxKey, true) }
    }

    /// Whether it is one value.
    pub fn is_point(&self) -> bool {
        self.low.1 && self.high.1 && compare(&self.low.0, &self.high.0).is_eq()
    }

    /// Whether it has all values.
    pub fn is_everything(&self) -> bool {
        self.low.0 == Bson::MinKey && self.high.0 == Bson::MaxKey
    }

    /// Reads what `explain` prints, such as `[5, 5]` or `("a", MaxKey]`.
    fn parse(text: &str) -> Option<ValueInterval> {
        let (low_closed, rest) = (text.starts_with('['), text.strip_prefix(['[', '('])?);
        let (high_closed, body) = (rest.ends_with(']'), rest.strip_suffix([']', ')'])?);
        let split = |at: usize| {
            let (low, high) = (Literal::whole(&body[..at])?, Literal::whole(&body[at + 2..])?);
            Some(ValueInterval { low: (low, low_closed), high: (high, high_closed) })
        };
        // A comma may also be inside of a value, so that only a place between two whole values is the right one.
        body.match_indices(", ").find_map(|(at, _)| split(at))
    }
}

/// The intervals of each field of a key, united over all scans of a plan; `None` where a value cannot be read. No scan at all
/// is a plan that finds nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KeyBounds(pub Vec<Vec<ValueInterval>>);

impl KeyBounds {
    /// Reads the bounds of the fields in a reply of `explain` with verbosity `queryPlanner`.
    pub fn read(reply: &RawDocument, fields: &[&str]) -> Option<KeyBounds> {
        let planner = reply.get_document("queryPlanner").ok()?;
        let plan = planner.get_document("winningPlan").ok()?;
        let mut scans = Vec::new();
        scans_of(plan.get_document("queryPlan").unwrap_or(plan), &mut scans);
        if scans.is_empty() {
            return Some(KeyBounds::default());
        }
        let of_field = |field: &&str| {
            let mut found = Vec::new();
            for bounds in &scans {
                let intervals = bounds.get_array(field).ok()?;
                for interval in intervals {
                    found.push(ValueInterval::parse(interval.ok()?.as_str()?)?);
                }
            }
            Some(united(found))
        };
        fields.iter().map(of_field).collect::<Option<_>>().map(KeyBounds)
    }

    /// Whether nothing can be found.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Vec::is_empty)
    }

    /// The ranges of the key, as mongos makes them of the bounds: equalities first, then the first field with a range or more than one
    /// value multiplies, and fields after it only widen each range.
    pub fn ranges(&self) -> Vec<KeyRange> {
        let mut ranges = vec![KeyRange { low: Vec::new(), high: Vec::new(), includes_high: true }];
        let mut are_equal = true;
        for intervals in &self.0 {
            let all = [ValueInterval::everything()];
            let intervals: &[ValueInterval] = if intervals.is_empty() { &all } else { intervals };
            let whole =
                ValueInterval { low: intervals[0].low.clone(), high: intervals[intervals.len() - 1].high.clone() };
            let parts = if are_equal { intervals } else { std::slice::from_ref(&whole) };
            are_equal &= intervals.len() == 1 && intervals[0].is_point();
            let extended = |range: &KeyRange, part: &ValueInterval| KeyRange {
                low: [range.low.as_slice(), std::slice::from_ref(&part.low.0)].concat(),
                high: [range.high.as_slice(), std::slice::from_ref(&part.high.0)].concat(),
                includes_high: part.high.1,
            };
            ranges = ranges.iter().flat_map(|range| parts.iter().map(|part| extended(range, part))).collect();
        }
        ranges
    }
}

impl KeyRange {
    /// A single value of the key.
    pub fn point(values: Vec<Bson>) -> KeyRange {
        KeyRange { low: values.clone(), high: values, includes_high: true }
    }

    /// Whether it is one value of the key.
    pub fn is_point(&self) -> bool {
        self.includes_high && compare_tuples(&self.low, &self.high).is_eq()
    }
}

/// The index bounds of all scans in a plan.
fn scans_of<'p>(plan: &'p RawDocument, found: &mut Vec<&'p RawDocument>) {
    found.extend(plan.get_document("indexBounds").ok());
    for (name, value) in plan.iter().flatten() {
        match (name.as_str(), value) {
            ("inputStage" | "outerStage" | "innerStage", RawBsonRef::Document(inner)) => scans_of(inner, found),
            ("inputStages", RawBsonRef::Array(inner)) => {
                inner.into_iter().flatten().filter_map(|one| one.as_document()).for_each(|one| scans_of(one, found));
            }
            _ => {}
        }
    }
}

/// Sorts intervals, and joins those that meet.
fn united(mut intervals: Vec<ValueInterval>) -> Vec<ValueInterval> {
    intervals.sort_by(|a, b| compare(&a.low.0, &b.low.0).then_with(|| b.low.1.cmp(&a.low.1)));
    let mut made: Vec<ValueInterval> = Vec::new();
    for next in intervals {
        let Some(last) = made.last_mut() else {
            made.push(next);
            continue;
        };
        let meets = match compare(&next.low.0, &last.high.0) {
            Ordering::Less => true,
            Ordering::Equal => next.low.1 || last.high.1,
            Ordering::Greater => false,
        };
        if !meets {
            made.push(next);
        } else if compare(&last.high.0, &next.high.0).then_with(|| last.high.1.cmp(&next.high.1)).is_lt() {
            last.high = next.high;
        }
    }
    made
}

/// A value in the notation of `explain`.
struct Literal<'t> {
    left: &'t str,
}

impl Literal<'_> {
    /// Reads a text that is one value.
    fn whole(text: &str) -> Option<Bson> {
        // A text has no escapes and may have quotation marks, so that it ends where the whole text does.
        let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        if let Some(text) = quoted.filter(|_| text.len() > 1) {
            return Some(Bson::String(text.to_owned()));
        }
        if let Some((pattern, options)) = text.strip_prefix('/').and_then(|text| text.rsplit_once('/')) {
            let (pattern, options) = (pattern.try_into().ok()?, options.try_into().ok()?);
            return Some(Bson::RegularExpression(Regex { pattern, options }));
        }
        let mut literal = Literal { left: text };
        let value = literal.value()?;
        literal.left.is_empty().then_some(value)
    }

    fn value(&mut self) -> Option<Bson> {
        const WORDS: [(&str, Bson); 8] = [
            ("MinKey", Bson::MinKey),
            ("MaxKey", Bson::MaxKey),
            ("null", Bson::Null),
            ("undefined", Bson::Undefined),
            ("true", Bson::Boolean(true)),
            ("false", Bson::Boolean(false)),
            ("-inf", Bson::Double(f64::NEG_INFINITY)),
            ("inf", Bson::Double(f64::INFINITY)),
        ];
        if let Some((word, value)) = WORDS.into_iter().find(|(word, _)| self.left.starts_with(word)) {
            self.left = self.left[word.len()..].trim_start_matches(".0");
            return Some(value);
        }
        if let Some(id) = self.between("ObjectId('", "')") {
            return ObjectId::parse_str(id).ok().map(Bson::ObjectId);
        }
        if let Some(date) = self.between("new Date(", ")") {
            return date.parse().ok().map(|at| Bson::DateTime(bson::DateTime::from_millis(at)));
        }
        if let Some(id) = self.between("UUID(\"", "\")") {
            return Uuid::parse_str(id).ok().map(Bson::from);
        }
        if let Some((kind, digits)) = self.between("BinData(", ")").and_then(|inside| inside.split_once(", ")) {
            return hexadecimal(kind, digits).map(Bson::Binary);
        }
        if let Some((time, increment)) = self.between("Timestamp(", ")").and_then(|inside| inside.split_once(", ")) {
            let (time, increment) = (time.parse().ok()?, increment.parse().ok()?);
            return Some(Bson::Timestamp(Timestamp { time, increment }));
        }
        match self.left.chars().next()? {
            '{' => self.document().map(Bson::Document),
            '[' => self.array().map(Bson::Array),
            '"' => self.between("\"", "\"").map(|text| Bson::String(text.to_owned())),
            _ => self.number(),
        }
    }

    /// What is between a beginning and the next end.
    fn between(&mut self, start: &str, end: &str) -> Option<&str> {
        let (inside, rest) = self.left.strip_prefix(start)?.split_once(end)?;
        self.left = rest;
        Some(inside)
    }

    fn take(&mut self, text: &str) -> Option<()> {
        self.left = self.left.strip_prefix(text)?;
        Some(())
    }

    fn document(&mut self) -> Option<Document> {
        let mut document = Document::new();
        if self.take("{}").is_some() {
            return Some(document);
        }
        self.take("{ ")?;
        loop {
            let (name, rest) = self.left.split_once(": ")?;
            self.left = rest;
            document.insert(name.to_owned(), self.value()?);
            if self.take(" }").is_some() {
                return Some(document);
            }
            self.take(", ")?;
        }
    }

    fn array(&mut self) -> Option<Vec<Bson>> {
        let mut items = Vec::new();
        if self.take("[]").is_some() {
            return Some(items);
        }
        self.take("[ ")?;
        loop {
            items.push(self.value()?);
            if self.take(" ]").is_some() {
                return Some(items);
            }
            self.take(", ")?;
        }
    }

    fn number(&mut self) -> Option<Bson> {
        let end = self.left.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).unwrap_or(self.left.len());
        let (digits, rest) = self.left.split_at(end);
        self.left = rest;
        // A whole double ends with `.0`, even after an exponent.
        let double = || digits.parse().or_else(|_| digits.trim_end_matches(".0").parse()).map(Bson::Double);
        digits.parse().map(Bson::Int64).or_else(|_| double()).ok()
    }
}

/// Bytes as `explain` prints them.
fn hexadecimal(kind: &str, digits: &str) -> Option<Binary> {
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
    Some(Binary { subtype: BinarySubtype::from(kind.parse::<u8>().ok()?), bytes: bytes? })
}

#[cfg(test)]
mod tests {
    use bson::{bson, rawdoc};

    use super::*;

    fn interval(text: &str) -> (Bson, Bson) {
        let found = ValueInterval::parse(text).unwrap_or_else(|| panic!("{text}"));
        (found.low.0, found.high.0)
    }

    #[test]
    fn values_in_the_notation_of_explain_are_read() {
        let id = ObjectId::from_bytes([7; 12]);
        let cases = [
            ("[5, 5]".to_owned(), bson!(5_i64), bson!(5_i64)),
            ("[5.5, inf.0]".to_owned(), bson!(5.5), bson!(f64::INFINITY)),
            ("(-inf.0, 1e+20)".to_owned(), bson!(f64::NEG_INFINITY), bson!(1e20)),
            ("[\"a, b\", \"a, c\")".to_owned(), bson!("a, b"), bson!("a, c")),
            ("[\"say \"no\"\", \"say \"no\"\"]".to_owned(), bson!("say \"no\""), bson!("say \"no\"")),
            ("[MinKey, MaxKey]".to_owned(), Bson::MinKey, Bson::MaxKey),
            ("[null, undefined]".to_owned(), Bson::Null, Bson::Undefined),
            (format!("[ObjectId('{id}'), ObjectId('ffffffffffffffffffffffff')]"), Bson::ObjectId(id), {
                Bson::ObjectId(ObjectId::from_bytes([255; 12]))
            }),
            (
                "[new Date(-1), new Date(1704067200000)]".to_owned(),
                Bson::DateTime(bson::DateTime::from_millis(-1)),
                Bson::DateTime(bson::DateTime::from_millis(1_704_067_200_000)),
            ),
            (
                "[{ post: 7, page: MinKey }, { post: 7, page: MaxKey }]".to_owned(),
                bson!({ "post": 7_i64, "page": Bson::MinKey }),
                bson!({ "post": 7_i64, "page": Bson::MaxKey }),
            ),
            ("[[ 1, \"b\" ], [ 2 ]]".to_owned(), bson!([1_i64, "b"]), bson!([2_i64])),
        ];
        for (text, low, high) in cases {
            assert_eq!(interval(&text), (low, high), "{text}");
        }
        assert!(matches!(interval("[/^7_, /, /^7_, /]").0, Bson::RegularExpression(_)));
        assert_eq!(interval("(1e+300.0, inf.0]").0, bson!(1e300));
        assert_eq!(
            interval("[BinData(0, 616263), BinData(0, )]").0,
            Bson::Binary(Binary { subtype: BinarySubtype::Generic, bytes: b"abc".to_vec() })
        );
        let uuid = "31323334-3536-3738-3930-313233343536";
        assert!(matches!(interval(&format!("[UUID(\"{uuid}\"), UUID(\"{uuid}\")]")).1, Bson::Binary(_)));
        assert!(matches!(interval("(Timestamp(1, 2), Timestamp(3, 4)]").1, Bson::Timestamp(_)));
        assert_eq!(ValueInterval::parse("[Code(\"x\"), Code(\"x\")]"), None);
    }

    #[test]
    fn intervals_of_several_scans_are_united() {
        let read = |texts: &[&str]| united(texts.iter().map(|text| ValueInterval::parse(text).unwrap()).collect());
        assert_eq!(read(&["[7, 7]", "[5, 5]", "[5, 5]"]).len(), 2);
        assert_eq!(read(&["[MinKey, 5)", "[5, MaxKey]"]), [ValueInterval::everything()]);
        assert_eq!(read(&["[MinKey, 5)", "(5, MaxKey]"]).len(), 2);
    }

    #[test]
    fn ranges_multiply_in_the_first_field_that_is_not_equal() {
        let scan = |bounds: bson::RawDocumentBuf| {
            let scan = rawdoc! { "stage": "IXSCAN", "indexBounds": bounds };
            let plan = rawdoc! { "queryPlanner": { "winningPlan": { "stage": "FETCH", "inputStage": scan } } };
            KeyBounds::read(&plan, &["a", "b", "c"]).unwrap().ranges()
        };
        let many = scan(rawdoc! { "a": ["[1, 1]"], "b": ["[1, 1]", "[3, 3]"], "c": ["[5, 5]", "[9, 9]"] });
        assert_eq!(many.len(), 2);
        assert_eq!(
            (&many[1].low, &many[1].high),
            (&vec![bson!(1_i64), bson!(3_i64), bson!(5_i64)], &{ vec![bson!(1_i64), bson!(3_i64), bson!(9_i64)] })
        );
        assert!(scan(rawdoc! { "a": ["[1, 1]"], "b": ["[1, 1]"], "c": ["[1, 1]"] })[0].is_point());
    }
}
