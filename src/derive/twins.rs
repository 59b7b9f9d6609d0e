//! Strategies of the catalogue that are written by hand, against those that are derived from a shape.
//!
//! A twin gives a strategy's shape; its commands are compared with those by hand. What only the client computes is not:
//! whether both give the same answers is what `docshape verify` finds out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::compile::{self, Choice};
use crate::scenario::{
    CollectionDefinition, Diagnostics, Node, RequestDefinition, Scalar, Scenario, Source, Spanned, StepDefinition,
    StepKind, StrategyDefinition, Tree, compose, read,
};

use super::build::{map, mapping, with};

/// What commands of two strategies may differ in without being others.
const LEFT_OUT: [&str; 3] = ["batchSize", "hint", "ordered"];

/// Stands for a reason that is missing.
const NO_REASON: &str = "(no reason)";

/// A scenario with what puts the twins into it.
struct Twins {
    scenario: Scenario,
    /// The strategies that have a twin.
    names: Vec<String>,
    /// Names by hand and the derived ones that take their place.
    renamed: Vec<(String, String)>,
    /// Why an operation differs, by `strategy.operation`, or by operation for all strategies.
    reasons: BTreeMap<String, String>,
}

impl Twins {
    fn new(written: &str, model: &str) -> Twins {
        let compose = |text| compose(text, &Diagnostics::new()).unwrap();
        let (mut whole, model) = (compose(written), compose(model));
        let part = |key: &str| model.get(key).and_then(Node::as_mapping).unwrap_or_default();
        let derived = part("twins").iter().map(|(name, twin)| (format!("{}_derived", name.value), twin.clone()));
        let put_over =
            ["entities", "operations"].iter().filter_map(|key| Some((key.to_string(), model.get(key)?.clone())));
        put(&mut whole, &mapping(put_over.collect()));
        put(&mut whole, &map! { "strategies" => mapping(derived.collect()) });
        let mut text = String::new();
        whole.as_mapping().unwrap().iter().for_each(|(key, node)| super::text::write(&mut text, &key.value, node, 0));
        let diagnostics = Diagnostics::new();
        let scenario = read(&Source::new("twins.yaml", text), &diagnostics).unwrap();
        compile::compile(&scenario, &Choice::default(), &diagnostics).unwrap();
        assert!(
            !diagnostics.has_errors(),
            "{:#?}",
            diagnostics.iter().map(|problem| problem.message).collect::<Vec<_>>()
        );
        let reason = |(reason, operations): &(Spanned<String>, Node)| {
            let operations = operations.as_list().unwrap().to_vec();
            let reason = reason.value.clone();
            operations.into_iter().map(move |name| (name.as_text().unwrap().to_owned(), reason.clone()))
        };
        Twins {
            scenario: compile::derived(&scenario, &Choice::default()).unwrap().scenario,
            names: part("twins").iter().map(|(name, _)| name.value.clone()).collect(),
            renamed: part("names")
                .iter()
                .map(|(from, to)| (from.value.clone(), to.as_text().unwrap().to_owned()))
                .collect(),
            reasons: part("differs").iter().flat_map(reason).collect(),
        }
    }

    /// The table: what is equal, what has other names only, and both texts of what differs, with the reason.
    fn table(&self) -> String {
        let strategies = compile::inherit(&self.scenario.strategies, &Diagnostics::new());
        let find = |name: &str| strategies.iter().find(|one| one.name.value == name).unwrap();
        let (mut table, mut sums) = (String::new(), BTreeMap::<String, usize>::new());
        let mut used = BTreeSet::new();
        for name in &self.names {
            let _ = writeln!(table, "{name}");
            let (written, derived) = (find(name), find(&format!("{name}_derived")));
            let operations = self
                .scenario
                .operations
                .iter()
                .filter(|operation| !operation.does.is_empty())
                .map(|operation| operation.name.value.as_str());
            for operation in operations.chain(["indexes"]) {
                let of = |strategy, renamed| self.commands(strategy, operation, renamed);
                let [ours, same, other] = [of(derived, false), of(written, false), of(written, true)];
                let found = [(same.text == ours.text, "equal"), (other.text == ours.text, "other names")];
                let verdict = found.iter().find(|(holds, _)| *holds).map_or("different", |(_, verdict)| *verdict);
                let numbers = format!("{:>5} | {}", ours.number(), other.number());
                let numbers = if operation == "indexes" { "" } else { &numbers };
                let _ = write!(table, "{}", format!("  {operation:16} {verdict:12}{numbers}").trim_end());
                if verdict == "different" {
                    let (key, reason) = self.reason(name, operation);
                    used.insert(key);
                    let _ = write!(
                        table,
                        "  {reason}\n    derived {}\n    by hand {}",
                        ours.text.join("\n            "),
                        other.text.join("\n            ")
                    );
                    *sums.entry(format!("different: {reason}")).or_default() += 1;
                } else {
                    *sums.entry(verdict.to_owned()).or_default() += 1;
                }
                table.push('\n');
            }
        }
        let unused: Vec<_> = self.reasons.keys().filter(|key| !used.contains(*key)).collect();
        for (kind, number) in sums {
            let _ = writeln!(table, "{number:3} {kind}");
        }
        for name in unused {
            let _ = writeln!(table, "{name} does not differ {NO_REASON}");
        }
        table
    }

    /// Why an operation of a strategy differs, with the key of the reason.
    fn reason(&self, strategy: &str, operation: &str) -> (String, &str) {
        let keys = [format!("{strategy}.{operation}"), operation.to_owned()];
        let found = keys.into_iter().find_map(|key| self.reasons.get(&key).map(|reason| (key, reason.as_str())));
        found.unwrap_or((String::new(), NO_REASON))
    }

    /// The commands of an operation, or the indexes.
    fn commands(&self, strategy: &StrategyDefinition, operation: &str, renames: bool) -> Commands<'_> {
        let arguments = self.scenario.operations.iter().filter(|one| one.name.value == operation);
        let mut known: Vec<&str> =
            arguments.flat_map(|one| &one.arguments).map(|(name, _)| name.value.as_str()).collect();
        known.extend(self.scenario.parameters.iter().map(|(name, _)| name.value.as_str()));
        let mut commands =
            Commands { renamed: if renames { &self.renamed } else { &[] }, known, text: vec![], certain: 0 };
        if operation == "indexes" {
            strategy.collections.iter().for_each(|collection| commands.index(collection));
            commands.text.sort();
        } else {
            let steps = strategy.operations.iter().find(|(name, _)| name.value == operation);
            commands.add(&steps.unwrap().1, "", true);
        }
        commands
    }
}

/// Mappings are put over mappings key by key; everything else takes the place of what is there.
fn put(base: &mut Node, over: &Node) {
    let (Tree::Mapping(entries), Tree::Mapping(new)) = (&mut base.tree, &over.tree) else {
        *base = over.clone();
        return;
    };
    for (key, value) in new {
        match entries.iter_mut().find(|(name, _)| name.value == key.value) {
            Some((_, node)) => put(node, value),
            None => entries.push((key.clone(), value.clone())),
        }
    }
}

/// Commands as lines of text that are compared.
#[derive(Debug)]
struct Commands<'t> {
    renamed: &'t [(String, String)],
    /// Slots that are compared by name; others have a value of a reply or a variable, which has any name.
    known: Vec<&'t str>,
    text: Vec<String>,
    /// How many are outside of conditions.
    certain: usize,
}

impl Commands<'_> {
    /// How many commands are sent, and how many more where a condition holds.
    fn number(&self) -> String {
        let rest = self.text.len() - self.certain;
        if rest == 0 { self.certain.to_string() } else { format!("{}+{rest}", self.certain) }
    }

    fn add(&mut self, steps: &[StepDefinition], around: &str, is_certain: bool) {
        for step in steps {
            match &step.kind {
                StepKind::Command { word, collection, options, .. } => {
                    let text = self.line(word.value.name(), &collection.value, options);
                    self.push(format!("{around}{text}"), is_certain);
                }
                StepKind::BulkWrite(bulk) => {
                    let request = |request: &RequestDefinition| {
                        let (word, options) = request.command();
                        self.line(word.name(), "", options)
                    };
                    let requests: Vec<String> = bulk.requests.iter().map(request).collect();
                    let collection = self.name(&bulk.collection.value);
                    self.push(format!("{around}bulkWrite {collection} [{}]", requests.join(", ")), is_certain);
                }
                StepKind::Raw { command, .. } => {
                    let text = self.plain(command, false).on_one_line(str::to_owned);
                    self.push(format!("{around}command {text}"), is_certain);
                }
                StepKind::If { then, otherwise, .. } => {
                    self.add(then, around, false);
                    self.add(otherwise, around, false);
                }
                StepKind::Transaction { body, .. } => self.add(body, "transaction: ", is_certain),
                StepKind::Retry { body, .. } => self.add(body, "retry: ", is_certain),
                StepKind::While { body, .. } | StepKind::ForEach { body, .. } => self.add(body, "repeat: ", false),
                StepKind::Try { body, .. } => self.add(body, "try: ", is_certain),
                StepKind::Let(_) | StepKind::RetryIf(_) | StepKind::Abort(_) | StepKind::Return(_) => {}
            }
        }
    }

    fn push(&mut self, text: String, is_certain: bool) {
        self.certain += usize::from(is_certain);
        self.text.push(text);
    }

    fn line(&self, word: &str, collection: &str, options: &[(Spanned<String>, Node)]) -> String {
        let kept = options.iter().filter(|(key, _)| !LEFT_OUT.contains(&key.value.as_str()));
        let options = mapping(kept.map(|(key, value)| (key.value.clone(), value.clone())).collect());
        format!("{word} {} {}", self.name(collection), self.plain(&options, false).on_one_line(str::to_owned))
    }

    /// Each index as a line.
    fn index(&mut self, collection: &CollectionDefinition) {
        let name = self.name(&collection.name.value);
        for index in collection.indexes.iter().filter_map(Node::as_list).flatten() {
            let (key, unique) = index.get("key").map_or((index, false), |key| (key, index.get("unique").is_some()));
            let key = self.plain(key, true).on_one_line(str::to_owned);
            self.text.push(format!("{name} {key}{}", if unique { " unique" } else { "" }));
        }
    }

    /// The value with derived names, and with sorted keys unless their order matters.
    fn plain(&self, node: &Node, is_ordered: bool) -> Node {
        match &node.tree {
            Tree::Scalar(Scalar::Text(text)) if node.is_slot() => self.slot(&text[1..text.len() - 1]).into(),
            Tree::Scalar(Scalar::Text(text)) => self.name(text).into(),
            Tree::Scalar(_) => node.clone(),
            Tree::List(items) => items.iter().map(|item| self.plain(item, false)).collect::<Vec<_>>().into(),
            Tree::Mapping(entries) => {
                let mut entries: Vec<_> = entries
                    .iter()
                    .map(|(key, value)| (self.name(&key.value), self.option(&key.value, value)))
                    .collect();
                if !is_ordered {
                    entries.sort_by(|one, other| one.0.cmp(&other.0));
                }
                entries.into_iter().fold(map! {}, |made, (key, value)| with(made, &key, value))
            }
        }
    }

    /// The value of a key. Projections have the `_id` without saying so.
    fn option(&self, key: &str, value: &Node) -> Node {
        let mut made = self.plain(value, key.ends_with("sort"));
        if let ("projection", Tree::Mapping(fields)) = (key, &mut made.tree) {
            let id = Tree::Scalar(Scalar::Int(1));
            if fields.len() > 1 {
                fields.retain(|(field, value)| field.value != "_id" || value.tree != id);
            }
        }
        made
    }

    /// A record is written as its `_id`.
    fn slot(&self, path: &str) -> String {
        let root = path.split('.').next().unwrap_or_default();
        if !self.known.contains(&root) {
            return "<value>".to_owned();
        }
        format!("<{}>", path.strip_suffix("._id").unwrap_or(path))
    }

    /// The text with the derived names.
    fn name(&self, text: &str) -> String {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        self.renamed.iter().fold(text.to_owned(), |text, (from, to)| {
            let mut made = String::new();
            let mut rest = text.as_str();
            while let Some(at) = rest.find(from.as_str()) {
                let after = &rest[at + from.len()..];
                let is_whole = !rest[..at].ends_with(is_part)
                    && !after.starts_with(is_part)
                    && (at > 0 || !made.ends_with(is_part));
                made.push_str(&rest[..at]);
                made.push_str(if is_whole { to } else { from });
                rest = after;
            }
            made + rest
        })
    }
}

/// The table of a scenario, whose model is in tests/models/twins.
fn check(written: &str, model: &str) {
    let twins = Twins::new(written, model);
    let table = twins.table();
    insta::assert_snapshot!(format!("twins.{}", twins.scenario.name.value), table);
    let faults: Vec<&str> = table.lines().filter(|line| line.ends_with(NO_REASON)).collect();
    assert_eq!(faults, [""; 0]);
}

/// Checks a scenario of the catalogue.
macro_rules! twins {
    ($test:ident, $name:literal) => {
        #[test]
        fn $test() {
            check(
                include_str!(concat!("../../scenarios/", $name, ".yaml")),
                include_str!(concat!("../../tests/models/twins/", $name, ".yaml")),
            );
        }
    };
}

twins!(parts_products, "parts-products");
