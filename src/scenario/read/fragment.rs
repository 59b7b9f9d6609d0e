//! `fragments`: named values that `{ use: NAME }` inserts into strategies and audits, before these are read.

use std::collections::HashMap;

use crate::scenario::{Diagnostic, Diagnostics, Node, Scalar, Span, Spanned, Tree, list_of, quote, suggest};

use super::entry::Entry;
use super::fault;
use super::yaml::MAX_DEPTH;

/// The sections whose values may come from fragments.
const SECTIONS: [&str; 2] = ["strategies", "audits"];

/// The most values that all uses of fragments add: a fragment that uses another one twice is twice as large.
const MAX_ADDED: usize = 100_000;

/// Replaces every `{ use: NAME }` in the scenario at `root`, and returns whether that was possible for all of them.
pub(super) fn expand(root: Node, diagnostics: &Diagnostics) -> (Node, bool) {
    let Node { span, tree: Tree::Mapping(mut entries) } = root else { return (root, true) };
    let section = entries.iter().find(|(key, _)| key.value == "fragments");
    let fragments = section.and_then(|(_, node)| node.as_mapping()).unwrap_or_default().to_vec();
    let positions = fragments.iter().enumerate().map(|(position, (name, _))| (name.value.as_str(), position)).collect();
    let states = fragments.iter().map(|_| FragmentState::Unread).collect();
    let mut expander = Expander {
        fragments: &fragments,
        positions,
        states,
        open: Vec::new(),
        added: 0,
        has_failed: false,
        diagnostics,
    };
    (0..fragments.len()).for_each(|position| expander.read(position, 0));
    for (_, section) in entries.iter_mut().filter(|(key, _)| SECTIONS.contains(&key.value.as_str())) {
        *section = expander.expand(section, 1);
    }
    let is_complete = !expander.has_failed;
    if is_complete {
        expander.report_unused();
    }
    (Node { span, tree: Tree::Mapping(entries) }, is_complete)
}

/// What is known of a fragment.
enum FragmentState {
    Unread,
    /// Its value is being read.
    Open,
    /// Its value cannot be used, which is reported.
    Broken,
    Read(FragmentValue),
}

/// The value of a fragment; the fragments in it are inserted.
struct FragmentValue {
    node: Node,
    /// The number of its nodes.
    size: usize,
    /// How deep its lists and mappings are nested.
    height: usize,
    is_used: bool,
}

/// `{ use: NAME }`.
struct Use<'n> {
    name: Spanned<&'n str>,
    /// The whole mapping.
    span: Span,
    /// Another key of it, which is a mistake.
    other: Option<&'n Spanned<String>>,
}

struct Expander<'n, 'd> {
    fragments: &'n [Entry],
    positions: HashMap<&'n str, usize>,
    states: Vec<FragmentState>,
    /// The fragments that are being read, outermost first.
    open: Vec<usize>,
    /// The number of nodes that uses have added.
    added: usize,
    has_failed: bool,
    diagnostics: &'d Diagnostics,
}

impl Expander<'_, '_> {
    /// Reads a fragment, in a place that is nested `depth` deep, if that has not been done yet.
    fn read(&mut self, position: usize, depth: usize) {
        if !matches!(self.states[position], FragmentState::Unread) {
            return;
        }
        let (name, node) = &self.fragments[position];
        self.states[position] = FragmentState::Open;
        self.open.push(position);
        self.states[position] = if is_empty(node) {
            let message = format!("fragment {} is empty", quote(&name.value));
            let help = format!("for example: `{}: {{ $match: {{ post: <post> }} }}`", name.value);
            self.diagnostics.labelled(name.span, message, "expected a value", help);
            self.has_failed = true;
            FragmentState::Broken
        } else {
            let node = self.expand(node, depth);
            let (size, height) = measure(&node);
            FragmentState::Read(FragmentValue { node, size, height, is_used: false })
        };
        self.open.pop();
    }

    /// `node`, which is nested `depth` deep, with the fragments that it uses.
    fn expand(&mut self, node: &Node, depth: usize) -> Node {
        if let Some(used) = self.use_at(node) {
            return self.inserted(&used, depth).unwrap_or_else(|| {
                // What follows from the missing value is no second problem.
                self.has_failed = true;
                self.diagnostics.close(node.span);
                node.clone()
            });
        }
        let tree = match &node.tree {
            Tree::Scalar(scalar) => Tree::Scalar(scalar.clone()),
            Tree::List(items) => Tree::List(items.iter().flat_map(|item| self.expand_item(item, depth + 1)).collect()),
            Tree::Mapping(entries) => {
                let entry = |(key, value): &Entry| (key.clone(), self.expand(value, depth + 1));
                Tree::Mapping(entries.iter().map(entry).collect())
            }
        };
        Node { span: node.span, tree }
    }

    /// What an item of a list becomes: the items of a fragment that is a list, otherwise one node.
    fn expand_item(&mut self, item: &Node, depth: usize) -> Vec<Node> {
        match self.expand(item, depth) {
            Node { tree: Tree::List(items), .. } if item.as_mapping().is_some() => items,
            node => vec![node],
        }
    }

    /// The use of a fragment at `node`. Quoted text, a slot or an expression is the value of a field called `use`, and so
    /// is the text of a mapping with other keys, unless it names a fragment.
    fn use_at<'u>(&self, node: &'u Node) -> Option<Use<'u>> {
        let entries = node.as_mapping()?;
        let (_, value) = entries.iter().find(|(key, _)| key.value == "use")?;
        let name = value.as_text()?;
        let is_quoted = value.span.end - value.span.start != name.len();
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        let other = entries.iter().map(|(key, _)| key).find(|key| key.value != "use");
        let is_use = is_name && !is_quoted && (other.is_none() || self.positions.contains_key(name));
        is_use.then(|| Use { name: Spanned::new(name, value.span), span: node.span, other })
    }

    /// The value for a use that is nested `depth` deep; `None` if there is none, which is reported.
    fn inserted(&mut self, used: &Use, depth: usize) -> Option<Node> {
        let Some(position) = self.positions.get(used.name.value).copied() else {
            self.report_unknown(used);
            return None;
        };
        if let Some(other) = used.other {
            self.report_other_key(used, other);
            return None;
        }
        if depth < MAX_DEPTH {
            self.read(position, depth + 1);
        }
        match &mut self.states[position] {
            FragmentState::Open => self.report_circle(used, position),
            FragmentState::Broken => {}
            FragmentState::Read(value) if depth + value.height <= MAX_DEPTH => {
                value.is_used = true;
                let was_full = self.added > MAX_ADDED;
                self.added += value.size;
                if self.added <= MAX_ADDED {
                    return Some(in_use(&value.node, used.span));
                }
                if !was_full {
                    let message = format!("fragments add more than {MAX_ADDED} values");
                    let help = "use fewer fragments inside of fragments";
                    self.diagnostics.labelled(used.span, message, "too many with this use", help);
                }
            }
            FragmentState::Unread | FragmentState::Read(_) => self.diagnostics.push(fault::depth(used.span, MAX_DEPTH)),
        }
        None
    }

    fn report_unknown(&self, used: &Use) {
        let name = used.name.value;
        let known: Vec<&str> = self.fragments.iter().map(|(name, _)| name.value.as_str()).collect();
        let add = format!("add `{name}:` under `fragments`, or write `use: \"{name}\"` for a field named `use`");
        let help = match suggest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => add,
            None => format!("expected one of {}; {add}", list_of(&known)),
        };
        let message = format!("unknown fragment {}", quote(name));
        self.diagnostics.labelled(used.name.span, message, "not defined under `fragments`", help);
    }

    fn report_other_key(&self, used: &Use, other: &Spanned<String>) {
        let name = used.name.value;
        Diagnostic::error(used.name.span, format!("other keys next to `use: {name}`"))
            .label("a fragment is the whole value")
            .also(other.span, "other key")
            .help(format!("move the other keys into the fragment, or write `use: \"{name}\"` for a field named `use`"))
            .add_to(self.diagnostics);
    }

    /// Reports the use that closes a circle at the fragment at `position`, which is being read.
    fn report_circle(&self, used: &Use, position: usize) {
        let first = self.open.iter().position(|open| *open == position).unwrap_or_default();
        let circle = self.open[first..].iter().chain([&position]);
        let names: Vec<String> = circle.map(|open| quote(&self.fragments[*open].0.value)).collect();
        let message = format!("cyclic fragments: {}", names.join(" uses "));
        let help = "remove one of these uses, or write its value out";
        self.diagnostics.labelled(used.name.span, message, "closes the circle", help);
    }

    fn report_unused(&self) {
        for ((name, _), state) in self.fragments.iter().zip(&self.states) {
            if matches!(state, FragmentState::Read(value) if !value.is_used) {
                Diagnostic::warning(name.span, format!("unused fragment {}", quote(&name.value)))
                    .help(format!("remove it, or write `{{ use: {} }}` where its value is meant", name.value))
                    .add_to(self.diagnostics);
            }
        }
    }
}

/// Whether nothing, or nothing in it, was written.
fn is_empty(node: &Node) -> bool {
    match &node.tree {
        Tree::Scalar(Scalar::Text(text)) => text.trim().is_empty(),
        Tree::Scalar(scalar) => *scalar == Scalar::Null,
        Tree::List(items) => items.is_empty(),
        Tree::Mapping(entries) => entries.is_empty(),
    }
}

/// The number of nodes, and how deep lists and mappings are nested.
fn measure(node: &Node) -> (usize, usize) {
    let with = |(size, height): (usize, usize), inner: &Node| {
        let (more, below) = measure(inner);
        (size + more, height.max(below + 1))
    };
    match &node.tree {
        Tree::Scalar(_) => (1, 0),
        Tree::List(items) => items.iter().fold((1, 1), with),
        Tree::Mapping(entries) => entries.iter().map(|(_, value)| value).fold((1, 1), with),
    }
}

/// A copy whose spans remember that the fragment is used at `place`.
fn in_use(node: &Node, place: Span) -> Node {
    let tree = match &node.tree {
        Tree::Scalar(scalar) => Tree::Scalar(scalar.clone()),
        Tree::List(items) => Tree::List(items.iter().map(|item| in_use(item, place)).collect()),
        Tree::Mapping(entries) => {
            let key = |key: &Spanned<String>| Spanned::new(key.value.clone(), key.span.used_at(place));
            Tree::Mapping(entries.iter().map(|(name, value)| (key(name), in_use(value, place))).collect())
        }
    };
    Node { span: node.span.used_at(place), tree }
}

#[cfg(test)]
mod tests {
    use super::super::yaml::compose;
    use super::*;

    /// The strategies of a scenario on one line, and the problems.
    fn expanded(text: &str) -> (String, Vec<String>) {
        let diagnostics = Diagnostics::new();
        let root = compose(text, &diagnostics).unwrap();
        let (root, _) = expand(root, &diagnostics);
        let messages = diagnostics.iter().map(|one| one.message.clone()).collect();
        (root.get("strategies").unwrap().on_one_line(str::to_owned), messages)
    }

    fn check(fragments: &str, strategies: &str, expected: &str) {
        let found = expanded(&format!("fragments: {fragments}\nstrategies: {strategies}"));
        assert_eq!(found, (expected.to_owned(), Vec::new()), "{strategies}");
    }

    #[test]
    fn a_value_takes_the_place_of_its_use() {
        check("{ f: { a: 1 } }", "{ x: { use: f }, y: [{ use: f }] }", "{ x: { a: 1 }, y: [{ a: 1 }] }");
        check("{ f: 7 }", "{ x: { limit: { use: f } } }", "{ x: { limit: 7 } }");
        check("{ f: { use: g }, g: [{ use: h }], h: x }", "{ x: { use: f } }", "{ x: [x] }");
    }

    #[test]
    fn a_list_is_spliced_into_a_list() {
        let fragments = "{ f: [a, b] }";
        check(fragments, "[{ use: f }, c, { use: f }]", "[a, b, c, a, b]");
        check(fragments, "[[{ use: f }], { x: { use: f } }]", "[[a, b], { x: [a, b] }]");
        check("{ f: [a, b], g: [{ use: f }, c] }", "[{ use: g }]", "[a, b, c]");
    }

    #[test]
    fn a_field_may_be_called_use() {
        let same = "{ a: { use: x y }, b: { use: <f> }, c: { use: 1 }, d: { use: other, e: 1 }, g: { use: { f: f } } }";
        check("{ f: 1 }", &same.replace("{ a", "{ z: { use: f }, a"), &same.replace("{ a", "{ z: 1, a"));
        check("{ f: 1 }", "[{ use: 'f' }, { use: f }]", "[{ use: f }, 1]");
    }

    #[test]
    fn the_spans_remember_the_outermost_use() {
        let text = "fragments: { f: [x], g: { use: f } }\nstrategies: { a: { use: g } }";
        let (root, _) = expand(compose(text, &Diagnostics::new()).unwrap(), &Diagnostics::new());
        let list = root.get("strategies").and_then(|node| node.get("a")).unwrap();
        for (node, written) in [(list, "[x]"), (&list.as_list().unwrap()[0], "x")] {
            assert_eq!(&text[node.span.start..node.span.end], written);
            let place = node.span.use_place().unwrap();
            assert_eq!(&text[place.start..place.end], "{ use: g }");
        }
    }

    #[test]
    fn uses_are_bounded_in_depth_and_number() {
        let deep = |open: &str, close: &str, levels: usize| format!("{}x{}", open.repeat(levels), close.repeat(levels));
        let nested = |first: usize, second: usize| {
            let fragment = deep("[", "]", first);
            expanded(&format!(
                "fragments: {{ f: {fragment} }}\nstrategies: {}",
                deep("[", "]", second).replace('x', "[{ use: f }]")
            ))
            .1
        };
        assert_eq!(nested(31, 31), Vec::<String>::new());
        assert_eq!(nested(40, 40), ["lists and mappings are nested deeper than 64"]);
        let line = |length: usize| {
            let fragments = (0..length).map(|n| format!("  f{n}: {{ use: f{} }}\n", n + 1)).collect::<String>();
            expanded(&format!("fragments:\n{fragments}  f{length}: 1\nstrategies: {{ use: f0 }}")).1
        };
        assert_eq!(line(60), Vec::<String>::new());
        let messages = line(900);
        assert!(
            !messages.is_empty() && messages.iter().all(|one| one == "lists and mappings are nested deeper than 64")
        );
    }
}
