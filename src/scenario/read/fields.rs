//! A mapping with a table of keys: reports unknown and missing keys and values of another kind.

use crate::scenario::keys::{KeyDefinition, Keys};
use crate::scenario::{Diagnostics, Node, Scalar, Span, Spanned, Tree, nearest, quote, suggest};

use super::entry::{Entry, wrong_type};
use super::value;

/// The valid entries of a mapping.
pub(in crate::scenario) struct Fields<'n> {
    found: Vec<(&'static str, &'n Entry)>,
    pub(super) diagnostics: &'n Diagnostics,
}

impl<'n> Fields<'n> {
    /// Reads the entries of `what` at `span` by a table of keys, and reports every problem.
    ///
    /// An unknown key replaces the missing key that it is similar to, so that a misspelling is one problem.
    pub(super) fn read(entries: &'n [Entry], what: &str, span: Span, keys: Keys, diagnostics: &'n Diagnostics) -> Self {
        let mut found = Vec::with_capacity(entries.len());
        for entry in entries {
            let name = entry.0.value.as_str();
            let key = keys.iter().find(|key| key.name == name).or_else(|| {
                let meant = unknown(entry, what, keys, diagnostics)?;
                let is_written = entries.iter().any(|(name, _)| name.value == meant);
                keys.iter().find(|key| key.name == meant && !is_written)
            });
            found.extend(key.map(|key| (key, entry)));
        }
        for key in keys.iter().filter(|key| key.is_required && !found.iter().any(|(other, _)| other.name == key.name)) {
            missing(key, what, span, diagnostics);
        }
        found.retain(|(key, entry)| value::check(key, entry, diagnostics));
        Fields { found: found.into_iter().map(|(key, entry)| (key.name, entry)).collect(), diagnostics }
    }

    /// Reads the value of `entry`, a thing of a `kind`, which must be a mapping such as `example`; another value has no
    /// fields.
    pub(super) fn of(entry: &'n Entry, kind: &str, example: &str, keys: Keys, diagnostics: &'n Diagnostics) -> Self {
        if let Some(entries) = entry.1.as_mapping() {
            let what = format!("{kind} {}", quote(&entry.0.value));
            return Fields::read(entries, &what, entry.0.span, keys, diagnostics);
        }
        wrong_type(entry, "a mapping", example, diagnostics);
        Fields { found: Vec::new(), diagnostics }
    }

    /// As [`Fields::of`], where null is an empty mapping; no key is required.
    pub(super) fn of_optional(
        entry: &'n Entry,
        kind: &str,
        example: &str,
        keys: Keys,
        diagnostics: &'n Diagnostics,
    ) -> Self {
        if entry.1.is_null() {
            return Fields { found: Vec::new(), diagnostics };
        }
        Fields::of(entry, kind, example, keys, diagnostics)
    }

    /// The entry of a key.
    pub(super) fn entry(&self, key: &str) -> Option<&'n Entry> {
        self.found.iter().find(|(name, _)| *name == key).map(|(_, entry)| *entry)
    }

    /// The value of a key.
    pub(in crate::scenario) fn node(&self, key: &str) -> Option<Node> {
        self.entry(key).map(|(_, node)| node.clone())
    }

    /// The entries in the order written, without the keys in `others`.
    pub(super) fn entries_except(&self, others: &[&str]) -> Vec<Entry> {
        let rest = self.found.iter().filter(|(name, _)| !others.contains(name));
        rest.map(|(name, (key, node))| (Spanned::new((*name).to_owned(), key.span), node.clone())).collect()
    }

    /// The value of a key that takes text.
    pub(in crate::scenario) fn text(&self, key: &str) -> Option<Spanned<String>> {
        let (_, node) = self.entry(key)?;
        Some(Spanned::new(node.as_text()?.to_owned(), node.span))
    }

    /// The value of a key that takes a boolean.
    pub(in crate::scenario) fn boolean(&self, key: &str) -> Option<Spanned<bool>> {
        let (_, node) = self.entry(key)?;
        let Tree::Scalar(Scalar::Bool(value)) = node.tree else { return None };
        Some(Spanned::new(value, node.span))
    }

    /// The value of a key that takes an integer.
    pub(in crate::scenario) fn integer(&self, key: &str) -> Option<u32> {
        let Tree::Scalar(Scalar::Int(value)) = self.entry(key)?.1.tree else { return None };
        u32::try_from(value).ok()
    }

    /// The entries of a key that takes a mapping.
    pub(super) fn entries(&self, key: &str) -> &'n [Entry] {
        self.entry(key).and_then(|(_, node)| node.as_mapping()).unwrap_or_default()
    }

    /// The items of a key that takes a list.
    pub(super) fn items(&self, key: &str) -> &'n [Node] {
        self.entry(key).and_then(|(_, node)| node.as_list()).unwrap_or_default()
    }

    /// The texts of a key that takes a list of them.
    pub(super) fn texts(&self, key: &str) -> Vec<Spanned<String>> {
        let text = |item: &Node| Some(Spanned::new(item.as_text()?.to_owned(), item.span));
        self.items(key).iter().filter_map(text).collect()
    }

    /// The names and expressions of a key that takes them.
    pub(in crate::scenario) fn expressions(&self, key: &str) -> Vec<Entry> {
        let (absent, there): (Vec<_>, Vec<_>) =
            self.entries(key).iter().cloned().partition(|(_, node)| node.is_absent());
        absent.iter().for_each(|(name, _)| self.diagnostics.set_broken(&name.value));
        there
    }
}

/// Reports an unknown key, and returns a similar known one.
fn unknown(entry: &Entry, what: &str, keys: Keys, diagnostics: &Diagnostics) -> Option<&'static str> {
    let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
    let help = nearest(&entry.0.value, &names);
    diagnostics.labelled(entry.0.span, format!("unknown key {} in {what}", quote(&entry.0.value)), "unknown key", help);
    suggest(&entry.0.value, names)
}

/// Reports a missing key.
pub(super) fn missing(key: &KeyDefinition, what: &str, place: Span, diagnostics: &Diagnostics) {
    let message = format!("missing key {} in {what}", quote(key.name));
    let help = format!("for example: `{}`", key.entry());
    diagnostics.labelled(place, message, format!("{}: {}", quote(key.name), key.about), help);
}
