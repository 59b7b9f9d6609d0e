//! A mapping whose keys are known: what is missing, and what does not belong.

use crate::scenario::quote;
use crate::scenario::{Diagnostic, Diagnostics, Node, Span, Spanned, suggest};

/// A key and its value.
pub(super) type Entry = (Spanned<String>, Node);

/// Where an entry's value stands, or its key when no value was written.
pub(super) fn place((key, node): &Entry) -> Span {
    if node.span.is_empty() { key.span } else { node.span }
}

/// A cursor over a mapping: asks for its keys by name and tells at the end which it did not know.
pub(super) struct Fields<'n> {
    /// What the mapping is, for messages: `` strategy `linked` ``.
    what: String,
    /// Where to point when a key is missing.
    place: Span,
    entries: &'n [Entry],
    known: Vec<&'static str>,
    /// Required keys that are not there, each with an example.
    missing: Vec<(&'static str, String)>,
}

impl<'n> Fields<'n> {
    /// A cursor over `entries`, which are those of `what` at `place`.
    pub(super) fn new(entries: &'n [Entry], what: impl Into<String>, place: Span) -> Fields<'n> {
        Fields { what: what.into(), place, entries, known: Vec::new(), missing: Vec::new() }
    }

    /// A cursor over the value of `entry`, which is to be a mapping such as `example`.
    pub(super) fn of(
        entry: &'n Entry,
        what: impl Into<String>,
        example: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<Fields<'n>> {
        let entries = super::value::mapping(entry, example, diagnostics)?;
        Some(Fields::new(entries, what, entry.0.span))
    }

    /// As [`Fields::of`], where nothing written stands for a mapping without entries.
    pub(super) fn of_optional(
        entry: &'n Entry,
        what: impl Into<String>,
        example: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<Fields<'n>> {
        if entry.1.is_null() {
            return Some(Fields::new(&[], what, entry.0.span));
        }
        Fields::of(entry, what, example, diagnostics)
    }

    /// The entry of a key that may be left out.
    pub(super) fn optional(&mut self, key: &'static str) -> Option<&'n Entry> {
        self.known.push(key);
        self.entries.iter().find(|entry| entry.0.value == key)
    }

    /// The entry of a key that must be there; [`Fields::finish`] reports its absence and shows `example`.
    pub(super) fn required(&mut self, key: &'static str, example: &str) -> Option<&'n Entry> {
        let found = self.optional(key);
        if found.is_none() {
            self.missing.push((key, example.to_owned()));
        }
        found
    }

    /// As [`Fields::required`], but an entry that is none of `all` keys and was probably meant to be this one stands for
    /// it, so that what uses its names is not told too. [`Fields::finish`] tells the key itself.
    pub(super) fn required_or_misspelt(&mut self, key: &'static str, all: &[&str], example: &str) -> Option<&'n Entry> {
        self.required(key, example).or_else(|| {
            let foreign = |entry: &&Entry| !all.contains(&entry.0.value.as_str());
            let mut entries = self.entries.iter().filter(foreign);
            entries.find(|entry| suggest(&entry.0.value, all.iter().copied()) == Some(key))
        })
    }

    /// Whether there is a key that was not asked for and was probably meant to be one of `wanted`.
    pub(super) fn misses_any<const N: usize>(&self, wanted: [&'static str; N]) -> bool {
        let mut foreign = self.entries.iter().filter(|(key, _)| !self.known.contains(&key.value.as_str()));
        foreign.any(|(key, _)| suggest(&key.value, wanted).is_some())
    }

    /// Reports every key that was not asked for, and every one that had to be there and is not.
    ///
    /// A missing key that an unknown one was probably meant to be is not told a second time.
    pub(super) fn finish(mut self, diagnostics: &mut Diagnostics) {
        for (key, _) in self.entries {
            if self.known.contains(&key.value.as_str()) {
                continue;
            }
            let allowed: Vec<String> = self.known.iter().map(|word| quote(word)).collect();
            let mut help = format!("allowed here: {}", allowed.join(", "));
            if let Some(word) = suggest(&key.value, self.known.iter().copied()) {
                help = format!("did you mean {}? {help}", quote(word));
                self.missing.retain(|(missing, _)| *missing != word);
            }
            diagnostics.push(
                Diagnostic::error(key.span, format!("{} has no key {}", self.what, quote(&key.value)))
                    .label("unknown key")
                    .help(help),
            );
        }
        for (key, example) in self.missing {
            diagnostics.push(
                Diagnostic::error(self.place, format!("{} lacks the key {}", self.what, quote(key)))
                    .label(format!("{} is missing", quote(key)))
                    .help(format!("add `{example}`")),
            );
        }
    }
}
