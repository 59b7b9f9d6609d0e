//! Generators of fields, by a type or else by the end of a name.

/// What a value looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldValue {
    /// The generator.
    pub generator: String,
    /// Whether each record has another value.
    pub unique: bool,
}

/// Types that an answer may name, with their generators.
pub const TYPES: [(&str, &str); 6] = [
    ("text", "text(20)"),
    ("number", "uniform(0, 1000)"),
    ("decimal", "uniform(0.0, 1000.0)"),
    ("bool", "chance(0.5)"),
    ("date", DATE),
    ("bytes", "bytes(100)"),
];

const DATE: &str = "date_between(timestamp('2023-01-01T00:00:00Z'), timestamp('2026-01-01T00:00:00Z'))";

/// Last parts of names, with the generators of their values.
const NAMES: [(&str, &str); 17] = [
    ("created placed ordered posted sent registered timestamp", "clock()"),
    ("at on date time day due born birthday updated published shipped", DATE),
    ("email mail", "'u' + string(index) + '@example.com'"),
    ("username login sku slug isbn key uuid token iban code", KEYED),
    ("name", "words(2)"),
    ("title subject headline label caption", "words(4)"),
    ("city town", "city()"),
    ("ip", "ip()"),
    ("text body content description message note comment bio about details summary", "text(200)"),
    ("street address url link image avatar phone password", "text(30)"),
    ("price total amount cents cost balance salary fee tax sum", "uniform(100, 20000)"),
    ("quantity count number stock views likes points score size age position rank weight votes", "uniform(1, 100)"),
    ("stars rating", "uniform(1, 5)"),
    ("year", "uniform(1990, 2026)"),
    ("status state", "one_of(['open', 'active', 'done'], [2, 3, 5])"),
    ("kind type category role level color country language currency unit", "one_of(['a', 'b', 'c', 'd', 'e'])"),
    ("tags labels keywords", "{ list: \"uniform(0, 4)\", of: words(1) }"),
];

/// A text of its own for each record.
const KEYED: &str = "'k-' + string(index)";

/// Beginnings of names of flags, and such names.
const FLAGS: [&str; 2] = ["is has can", "active enabled deleted paid done visible verified public"];

impl FieldValue {
    /// The value of this generator.
    pub fn of(generator: &str) -> FieldValue {
        FieldValue { generator: generator.to_owned(), unique: generator.contains("index") }
    }

    /// The value of a type; a number is the length of a text.
    pub fn of_type(name: &str) -> Option<FieldValue> {
        if name.parse::<u32>().is_ok_and(|length| length <= 1_000_000) {
            return Some(FieldValue::of(&format!("text({name})")));
        }
        TYPES.iter().find(|(kind, _)| *kind == name).map(|(_, generator)| FieldValue::of(generator))
    }

    /// The value that the name of a field suggests; `None` where it says nothing.
    pub fn of_name(name: &str) -> Option<FieldValue> {
        let parts = parts(name);
        let is_in =
            |words: &str, part: Option<&String>| part.is_some_and(|part| words.split(' ').any(|one| one == part));
        // A time of creation may end with `at`.
        let times = parts.iter().find(|part| NAMES[0].0.split(' ').any(|one| one == *part));
        let last = times.filter(|_| is_in(NAMES[1].0, parts.last())).or(parts.last());
        if is_in(FLAGS[0], parts.first()) || parts.len() == 1 && is_in(FLAGS[1], parts.first()) {
            return Some(FieldValue::of("chance(0.5)"));
        }
        NAMES.iter().find(|(names, _)| is_in(names, last)).map(|(_, generator)| FieldValue::of(generator))
    }

    /// Text, where nothing says what it is.
    pub fn text() -> FieldValue {
        FieldValue::of("text(20)")
    }
}

/// The parts of a name in lower case: `createdAt` and `created_at` have two.
fn parts(name: &str) -> Vec<String> {
    let mut made = String::new();
    for c in name.chars() {
        if c.is_uppercase() {
            made.push('_');
        }
        made.extend(c.to_lowercase());
    }
    made.split('_').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_says_what_its_values_are() {
        for (name, expected) in [
            ("created", "clock()"),
            ("createdAt", "clock()"),
            ("shipped_at", DATE),
            ("unit_price", "uniform(100, 20000)"),
            ("isActive", "chance(0.5)"),
            ("paid", "chance(0.5)"),
            ("paid_at", DATE),
            ("postal_code", KEYED),
        ] {
            assert_eq!(FieldValue::of_name(name).unwrap().generator, expected, "{name}");
        }
        assert_eq!(FieldValue::of_name("gizmo"), None);
        assert!(FieldValue::of_name("email").unwrap().unique && !FieldValue::of_name("city").unwrap().unique);
    }

    #[test]
    fn types_and_lengths_are_known() {
        assert_eq!(FieldValue::of_type("500").unwrap().generator, "text(500)");
        assert_eq!(FieldValue::of_type("bool").unwrap().generator, "chance(0.5)");
        assert_eq!(FieldValue::of_type("whatever"), None);
    }
}
