//! The expression of a scalar field: values of the same type and size, none of which is one of the database.

use std::collections::{HashMap, HashSet};

use bson::Bson;

use super::numbers;
use super::tree::{SeenNode, ValueKind};

/// At most so many texts are tokens, each of which occurs this often on average.
const TOKENS: (usize, usize) = (40, 3);
/// Bytes of the longest text: rounding to two digits must not exceed the 16 MiB of a document.
const LONGEST: f64 = 16e6;
/// Hexadecimal digits of a hash.
const HASH: f64 = 64.0;

/// The expression of the values of one type. `place` names the field in random texts; `notes` gets what is not kept.
pub fn scalar(node: &SeenNode, kind: ValueKind, place: &str, notes: &mut Vec<String>) -> String {
    let values = node.values_of(kind);
    let ints = || values.iter().filter_map(as_number);
    match kind {
        ValueKind::Bool => {
            let yes = values.iter().filter(|value| **value == Bson::Boolean(true)).count();
            chance(yes as f64 / values.len().max(1) as f64)
        }
        ValueKind::Int => numbers::ints(ints()),
        ValueKind::Long => {
            let made = numbers::ints(ints());
            let is_small = ints().all(|n| n.abs() < f64::from(i32::MAX));
            if is_small { format!("long({made})") } else { made }
        }
        ValueKind::Double => {
            if values.iter().any(|value| as_number(value).is_some_and(|x| !x.is_finite())) {
                notes.push(format!("{place}: NaN and infinite values are left out"));
            }
            numbers::doubles(ints())
        }
        ValueKind::Decimal => {
            let texts = values.iter().map(ToString::to_string);
            let digits = texts.clone().map(|text| text.split_once('.').map_or(0, |(_, digits)| digits.len())).max();
            let made = numbers::doubles(texts.filter_map(|text| text.parse().ok()));
            format!("decimal({made}, {})", digits.unwrap_or(0).min(6))
        }
        ValueKind::Date => numbers::dates(values.iter().filter_map(|value| match value {
            Bson::DateTime(date) => Some(date.timestamp_millis()),
            _ => None,
        })),
        ValueKind::ObjectId => "oid()".to_owned(),
        ValueKind::Uuid => "uuid()".to_owned(),
        ValueKind::Binary => format!("bytes({})", lengths(node, kind)),
        ValueKind::Text => text(node, place),
        ValueKind::Null | ValueKind::Object | ValueKind::Array => "null".to_owned(),
        ValueKind::Other => {
            notes.push(format!(
                "{place}: a type that no generator makes (a regular expression, a timestamp, code...) is null"
            ));
            "null".to_owned()
        }
    }
}

/// A key of its own for each record.
pub fn unique(node: &SeenNode, place: &str, records: u64) -> String {
    match node.main_kind() {
        Some((ValueKind::ObjectId, _)) => "oid()".to_owned(),
        Some((ValueKind::Uuid, _)) => "uuid()".to_owned(),
        Some((ValueKind::Text, _)) => {
            // The number makes it unique, the hash as long as it was.
            let all = numbers::sorted(
                node.bytes.get(&ValueKind::Text).into_iter().flatten().map(|length| f64::from(*length)),
            );
            let digits = records.max(1).to_string().len() + 1;
            let length = (numbers::quantile(&all, 50.0) as usize).saturating_sub(digits).min(HASH as usize);
            match length {
                0 => "string(index)".to_owned(),
                _ => format!("string(index) + '-' + slice(sha256({} + string(index)), 0, {length})", quoted(place)),
            }
        }
        _ => "index".to_owned(),
    }
}

fn as_number(value: &Bson) -> Option<f64> {
    match value {
        Bson::Int32(n) => Some(f64::from(*n)),
        Bson::Int64(n) => Some(*n as f64),
        Bson::Double(x) => Some(*x),
        _ => None,
    }
}

/// `true` with this probability.
pub fn chance(share: f64) -> String {
    match (share * 1_000.0).round() / 1_000.0 {
        share if share <= 0.0 => "false".to_owned(),
        share if share >= 1.0 => "true".to_owned(),
        share => format!("chance({share})"),
    }
}

fn lengths(node: &SeenNode, kind: ValueKind) -> String {
    let bytes = node.bytes.get(&kind).into_iter().flatten();
    numbers::ints(bytes.map(|length| f64::from(*length).min(LONGEST)))
}

fn text(node: &SeenNode, place: &str) -> String {
    let lengths = lengths(node, ValueKind::Text);
    let longest = node.bytes.get(&ValueKind::Text).and_then(|all| all.iter().max()).copied().unwrap_or(0);
    let mut counts: HashMap<&str, u64> = HashMap::new();
    let texts = node.values_of(ValueKind::Text);
    texts.iter().filter_map(Bson::as_str).for_each(|text| *counts.entry(text).or_default() += 1);
    let is_complete = node.bytes.get(&ValueKind::Text).is_some_and(|all| all.len() == texts.len());
    if is_complete && !counts.is_empty() && counts.len() <= TOKENS.0 && texts.len() >= TOKENS.1 * counts.len() {
        return tokens(counts);
    }
    let few = is_complete && counts.len() * 2 < texts.len();
    if few && f64::from(longest) <= HASH && longest >= 4 {
        let pool = estimated(&counts);
        return format!("slice(sha256({} + string(uniform(1, {pool}))), 0, {lengths})", quoted(place));
    }
    format!("text({lengths})")
}

/// Made-up texts of the same lengths, as often as the real ones.
fn tokens(counts: HashMap<&str, u64>) -> String {
    let mut counts: Vec<(usize, u64)> = counts.into_iter().map(|(text, count)| (text.len(), count)).collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut taken = HashSet::new();
    let made: Vec<String> =
        counts.iter().enumerate().map(|(place, (length, _))| token(place, *length, &mut taken)).collect();
    let weights: Vec<String> = counts.iter().map(|(_, count)| count.to_string()).collect();
    match made.as_slice() {
        [only] => quoted(only),
        _ => format!(
            "one_of([{}], [{}])",
            made.iter().map(|token| quoted(token)).collect::<Vec<_>>().join(", "),
            weights.join(", ")
        ),
    }
}

/// A word of this length that is not taken; a longer one where there is none.
fn token(place: usize, length: usize, taken: &mut HashSet<String>) -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
    let word = |number: usize, length: usize| -> String {
        let letter = |at: usize| LETTERS[(number / 26_usize.pow(at.min(10) as u32) + at * 7) % 26] as char;
        (0..length).map(letter).collect()
    };
    let candidates = (0..40).flat_map(|more| (0..26).map(move |number| word(place + number, length + more)));
    let free = candidates.into_iter().find(|word| !taken.contains(word)).unwrap_or_default();
    taken.insert(free.clone());
    free
}

/// How many different values there are, by Chao's estimate from those that were seen once and twice.
fn estimated(counts: &HashMap<&str, u64>) -> u64 {
    let times = |n: u64| counts.values().filter(|count| **count == n).count() as f64;
    let unseen = times(1).powi(2) / (2.0 * times(2)).max(1.0);
    numbers::two_digits(counts.len() as f64 + unseen).max(1.0) as u64
}

/// A text of an expression.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n").replace('\r', "\\r"))
}

#[cfg(test)]
mod tests {
    use bson::{Bson, doc};

    use super::super::tree::SeenTree;
    use super::*;

    fn made(values: impl IntoIterator<Item = Bson>) -> (String, Vec<String>) {
        let mut tree = SeenTree::default();
        values.into_iter().for_each(|v| tree.add(&bson::RawDocumentBuf::try_from(&doc! { "v": v }).unwrap()));
        let node = tree.root.field("v").unwrap();
        let mut notes = Vec::new();
        (scalar(node, node.main_kind().unwrap().0, "v", &mut notes), notes)
    }

    #[test]
    fn few_texts_become_tokens_of_their_lengths() {
        let values = (0..100).map(|n| Bson::from(["secret", "open", "x", "y"][usize::min(n % 10, 3)]));
        let (text, _) = made(values);
        assert_eq!(text, "one_of(['a', 'b', 'chov', 'dhovcj'], [70, 10, 10, 10])");
    }

    #[test]
    fn texts_of_a_pool_come_again_and_others_do_not() {
        let (pool, _) = made((0..900).map(|n| Bson::from(format!("name-{:03}", n % 100))));
        assert_eq!(pool, "slice(sha256('v' + string(uniform(1, 100))), 0, 8)");
        let (unique, _) = made((0..900).map(|n| Bson::from(format!("text {n:05}"))));
        assert_eq!(unique, "text(10)");
        assert_eq!(made([Bson::from("x".repeat(500))]).0, "text(500)");
    }

    #[test]
    fn types_are_kept() {
        for (value, expected) in [
            (Bson::Int64(5), "long(5)"),
            (Bson::Int64(5_000_000_000), "5000000000"),
            (Bson::Decimal128("1.250".parse().unwrap()), "decimal(1.3, 3)"),
            (Bson::Boolean(true), "true"),
            (Bson::Double(2.0), "2.0"),
            (Bson::from(bson::Uuid::new()), "uuid()"),
        ] {
            assert_eq!(made([value]).0, expected);
        }
        let (double, notes) = made([Bson::Double(f64::NAN), Bson::Double(1.5)]);
        assert!(double == "1.5" && notes[0].contains("NaN"), "{double} {notes:?}");
        let (_, notes) = made([Bson::Timestamp(bson::Timestamp { time: 1, increment: 1 })]);
        assert!(notes[0].contains("no generator"), "{notes:?}");
    }
}
