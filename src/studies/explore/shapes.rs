//! Shapes as combinations of words, their names, and the text of their strategies.

use std::collections::BTreeSet;

use crate::scenario::{
    Diagnostics, Node, Scalar, Scenario, Source, Span, Spanned, StrategyDefinition, Tree, read_strategy,
};

use super::record::{ExploreRecord, RelationRecord, TriedOutcome, TriedRecord};

/// The characters of the longest name that is made of words.
const LONGEST_NAME: usize = 56;

/// What other names begin with.
const NUMBERED: &str = "shape_";

/// The name of the shape in which every relation is as it would be without an entry.
const PLAIN: &str = "all_referenced";

/// A choice for each relation, by position.
pub type Combination = Vec<usize>;

/// All combinations of the choices of relations, those with fewer words of their own first.
pub fn combinations(relations: &[RelationRecord]) -> Vec<Combination> {
    let mut all = relations.iter().fold(vec![Vec::new()], |made: Vec<Combination>, relation| {
        let longer = |one: &Combination| {
            (0..relation.choices.len()).map(|choice| [one.as_slice(), &[choice]].concat()).collect::<Vec<_>>()
        };
        made.iter().flat_map(longer).collect()
    });
    all.sort_by_key(|one| one.iter().filter(|choice| **choice > 0).count());
    all
}

/// The number of combinations; the greatest number where there are more.
pub fn count(relations: &[RelationRecord]) -> u64 {
    relations.iter().fold(1_u64, |all, relation| all.saturating_mul(relation.choices.len() as u64))
}

/// The strategies of a combination: with copies also one that lets them follow by their version, without transactions.
pub fn strategies(record: &ExploreRecord, combination: &Combination) -> Vec<TriedRecord> {
    let chosen = record.relations.iter().zip(combination);
    let shape: Vec<(String, Vec<String>)> =
        chosen.map(|(relation, choice)| (relation.key.clone(), relation.choices[*choice].clone())).collect();
    let plain = TriedRecord { name: name(record, combination), shape, ..TriedRecord::default() };
    let versioned = plain.has_word("reference(").then(|| plain.written("versions"));
    std::iter::once(plain).chain(versioned).collect()
}

/// Other ways to read and write a shape without copies that follow: with `$lookup`, and with counters and sums that do.
pub fn variants(plain: &TriedRecord) -> Vec<TriedRecord> {
    let joined =
        TriedRecord { name: format!("{}_lookup", plain.name), join: Some("lookup".to_owned()), ..plain.bare() };
    let has_totals = plain.has_word("counted") || plain.has_word("sum(");
    std::iter::once(joined).chain(has_totals.then(|| plain.written("ordered"))).collect()
}

/// A name made of the words of the relations that are not as without an entry. Where that is too long, relations with the same words
/// are named together, and copies without their fields; a number where that is too long as well.
fn name(record: &ExploreRecord, combination: &Combination) -> String {
    let chosen =
        record.relations.iter().zip(combination).map(|(relation, choice)| (relation, &relation.choices[*choice]));
    let chosen: Vec<(&str, &[String])> = chosen
        .filter(|(relation, own)| **own != relation.plain)
        .map(|(relation, own)| (relation.key.rsplit('.').next().unwrap_or_default(), own.as_slice()))
        .collect();
    let text = chosen.iter().map(|(name, own)| format!("{name}_{}", in_a_name(own))).collect::<Vec<_>>().join("__");
    match text.len() {
        0 => PLAIN.to_owned(),
        1..=LONGEST_NAME => text,
        _ => Some(grouped(&chosen)).filter(|text| text.len() <= LONGEST_NAME).unwrap_or_else(|| {
            format!("{NUMBERED}{}", combination.iter().map(ToString::to_string).collect::<Vec<_>>().join("_"))
        }),
    }
}

fn in_a_name(words: &[String]) -> String {
    let short = words.join("_").replace("reference", "ref").replace("(*)", "_all");
    let text: String = short.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    text.split('_').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
}

/// Relations after the words that they share, such as `copy_region_bidder__embed_comments`.
fn grouped(chosen: &[(&str, &[String])]) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for (relation, words) in chosen {
        let is_copy = |word: &String| word.starts_with("reference(");
        let without_fields: Vec<String> =
            words.iter().map(|word| if is_copy(word) { "copy".to_owned() } else { word.clone() }).collect();
        let words = in_a_name(&without_fields);
        match groups.iter_mut().find(|(own, _)| *own == words) {
            Some((_, relations)) => relations.push(relation),
            None => groups.push((words, vec![relation])),
        }
    }
    let part = |(words, relations): &(String, Vec<&str>)| format!("{words}_{}", relations.join("_"));
    groups.iter().map(part).collect::<Vec<_>>().join("__")
}

/// Gives what is tried a name that nothing else has.
pub fn with_new_name(tried: TriedRecord, taken: &BTreeSet<&str>) -> TriedRecord {
    let numbered = (2..).map(|number| format!("{}_{number}", tried.name));
    let free = std::iter::once(tried.name.clone()).chain(numbered).find(|name| !taken.contains(name.as_str()));
    TriedRecord { name: free.unwrap_or_default(), ..tried }
}

impl TriedRecord {
    /// The shape as nobody has tried it.
    fn bare(&self) -> TriedRecord {
        TriedRecord { outcome: TriedOutcome::default(), ..self.clone() }
    }

    /// Whether its name says nothing.
    pub fn is_numbered(&self) -> bool {
        self.name.starts_with(NUMBERED)
    }

    /// The shape with this word of `writes`.
    fn written(&self, writes: &str) -> TriedRecord {
        TriedRecord { name: format!("{}_{writes}", self.name), writes: Some(writes.to_owned()), ..self.bare() }
    }

    fn has_word(&self, start: &str) -> bool {
        self.shape.iter().flat_map(|(_, words)| words).any(|word| word.starts_with(start))
    }

    /// Relations with their words, without words that hold without an entry.
    fn said(&self, relations: &[RelationRecord]) -> impl Iterator<Item = &(String, Vec<String>)> {
        let is_plain =
            |(key, words): &(String, Vec<String>)| relations.iter().any(|one| one.key == *key && one.plain == *words);
        self.shape.iter().filter(move |one| !is_plain(one))
    }

    /// The value of its strategy in the text of a scenario. Words that hold without an entry are left out.
    pub fn text(&self, relations: &[RelationRecord]) -> String {
        let entry = |(key, words): &(String, Vec<String>)| {
            let quoted = |word: &String| if word.contains('(') { format!("'{word}'") } else { word.clone() };
            let words: Vec<String> = words.iter().map(quoted).collect();
            let words = if words.len() == 1 { words.concat() } else { format!("[{}]", words.join(", ")) };
            format!("{key}: {words}")
        };
        let shape: Vec<String> = self.said(relations).map(entry).collect();
        let ways: String = self.ways().map(|(key, word)| format!(", {key}: {word}")).collect();
        let shape = if shape.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", shape.join(", ")) };
        format!("{{ shape: {shape}{ways} }}")
    }

    /// Its words as people read them: those of each relation, without words that hold without an entry.
    pub fn words(&self, relations: &[RelationRecord]) -> String {
        let entry = |(key, words): &(String, Vec<String>)| format!("{key} {}", words.join(" + "));
        let ways = self.ways().map(|(key, word)| format!("{key} {word}"));
        let all: Vec<String> = self.said(relations).map(entry).chain(ways).collect();
        match (self.shape.is_empty(), all.is_empty()) {
            (true, true) => "of the scenario".to_owned(),
            (false, true) => "a document for each record".to_owned(),
            _ => all.join(" · "),
        }
    }

    /// Its strategy, for a scenario without any other.
    pub fn definition(&self) -> StrategyDefinition {
        let text = |text: &str| Node::scalar(Scalar::Text(text.to_owned()), Span::default());
        let key = |key: &str| Spanned::new(key.to_owned(), Span::default());
        let node = |tree: Tree| Node { span: Span::default(), tree };
        let entry = |(name, words): &(String, Vec<String>)| {
            (key(name), node(Tree::List(words.iter().map(|word| text(word)).collect())))
        };
        let shape = node(Tree::Mapping(self.shape.iter().map(entry).collect()));
        let ways = self.ways().map(|(name, word)| (key(name), text(word)));
        let entries = std::iter::once((key("shape"), shape)).chain(ways).collect();
        read_strategy(&(key(&self.name), node(Tree::Mapping(entries))), &Diagnostics::new())
    }
}

/// A model with a strategy to start from, where it has none.
pub fn with_a_strategy(source: Source) -> Source {
    if source.text.lines().any(|line| line.starts_with("strategies:")) {
        return source;
    }
    let text = format!("{}\nstrategies:\n  {PLAIN}: {{ shape: {{}} }}\n", source.text.trim_end());
    Source::new(source.path, text)
}

/// The text of a scenario with more strategies, before those that it has.
pub fn with_strategies(
    source: &Source,
    scenario: &Scenario,
    added: &[&TriedRecord],
    relations: &[RelationRecord],
) -> String {
    let text = &*source.text;
    let Some(first) = scenario.strategies.first() else { return text.to_owned() };
    let (before, after) = text.split_at(first.name.span.start);
    let indent = before.rsplit('\n').next().unwrap_or_default();
    let is_block = indent.chars().all(char::is_whitespace);
    let separator = if is_block { format!("\n{indent}") } else { ", ".to_owned() };
    let entries = added.iter().map(|tried| format!("{}: {}{separator}", tried.name, tried.text(relations)));
    format!("{before}{}{after}", entries.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario;

    fn relation(key: &str, choices: &[&[&str]]) -> RelationRecord {
        let words = |words: &&[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let choices: Vec<Vec<String>> = choices.iter().map(words).collect();
        RelationRecord { key: key.to_owned(), plain: choices[0].clone(), choices }
    }

    fn record() -> ExploreRecord {
        let relations = vec![
            relation("user.orders", &[&["reference"], &["reference(name)"], &["embed"]]),
            relation("order.lines", &[&["reference"], &["reference", "list(n)"]]),
        ];
        ExploreRecord { relations, ..ExploreRecord::default() }
    }

    #[test]
    fn combinations_begin_with_what_needs_no_words() {
        let record = record();
        let all = combinations(&record.relations);
        assert_eq!((all.len() as u64, count(&record.relations)), (6, 6));
        assert_eq!(all[..2], [vec![0, 0], vec![0, 1]]);
        let names: Vec<String> = all.iter().flat_map(|one| strategies(&record, one)).map(|one| one.name).collect();
        assert_eq!(
            names,
            [
                "all_referenced",
                "lines_ref_list_n",
                "orders_ref_name",
                "orders_ref_name_versions",
                "orders_embed",
                "orders_ref_name__lines_ref_list_n",
                "orders_ref_name__lines_ref_list_n_versions",
                "orders_embed__lines_ref_list_n",
            ]
        );
    }

    #[test]
    fn long_names_have_relations_with_the_same_words_together() {
        let copies = |key| relation(key, &[&["reference"], &["reference(nickname)"], &["embed"]]);
        let relations = ["user.region", "user.items_on_sale", "bid.bidder", "comment.author"].map(copies).to_vec();
        let record = ExploreRecord { relations, ..ExploreRecord::default() };
        let name = |combination: &[usize]| strategies(&record, &combination.to_vec())[0].name.clone();
        assert_eq!(name(&[1, 0, 2, 0]), "region_ref_nickname__bidder_embed");
        assert_eq!(name(&[1, 1, 1, 2]), "copy_region_items_on_sale_bidder__embed_author");
    }

    #[test]
    fn names_of_the_scenario_are_not_taken() {
        let plain = strategies(&record(), &vec![0, 0]);
        let taken = ["all_referenced", "all_referenced_2"].into();
        assert_eq!(with_new_name(plain[0].clone(), &taken).name, "all_referenced_3");
    }

    #[test]
    fn a_model_needs_no_strategies() {
        let text = |text: &str| with_a_strategy(Source::new("x.yaml", text)).text.to_string();
        assert_eq!(text("a: 1\nstrategies:\n  b: {}\n"), "a: 1\nstrategies:\n  b: {}\n");
        assert_eq!(text("a: 1\n"), "a: 1\nstrategies:\n  all_referenced: { shape: {} }\n");
    }

    #[test]
    fn strategies_stand_before_those_of_the_text() {
        let tried = &strategies(&record(), &vec![1, 1])[1];
        let entry = "orders_ref_name__lines_ref_list_n_versions: { shape: { user.orders: 'reference(name)', order.lines: [reference, 'list(n)'] }, writes: versions }";
        for (own, expected) in [
            (
                "\n    a: { shape: {} }\n    b: { shape: {} }\n",
                format!("\n    {entry}\n    a: {{ shape: {{}} }}\n    b: {{ shape: {{}} }}\n"),
            ),
            (" { a: { shape: {} } }\n", format!(" {{ {entry}, a: {{ shape: {{}} }} }}\n")),
        ] {
            let text = format!(
                "format: 1\nname: x\ntitle: X\nentities: {{ user: {{ count: 1, fields: {{ _id: index }} }} }}\noperations: {{ read: {{ arguments: {{ user: uniform(user) }}, does: {{ get: user }} }} }}\nmixes: {{ default: {{ read: 1 }} }}\nstrategies:{own}"
            );
            let source = Source::new("x.yaml", text.as_str());
            let scenario = scenario::read(&source, &Diagnostics::new()).unwrap();
            let made = with_strategies(&source, &scenario, &[tried], &[]);
            assert_eq!(made.split_once("strategies:").unwrap().1, expected);
        }
    }
}
