//! YAML text to the node tree.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, StrInput, StructureStyle};

use crate::scenario::{Diagnostic, Diagnostics, Node, Scalar, Span, Spanned, Tree};

use super::{fault, scalar};

/// The deepest nesting of lists and mappings. Pipelines of the catalogue reach 12; each level costs stack.
pub(super) const MAX_DEPTH: usize = 64;

/// The most entries of one mapping.
const MAX_ENTRIES: usize = 1_000;

/// Parses the one document in `text`; `None` when nothing useful is left. Problems go to `diagnostics`.
pub(crate) fn compose(text: &str, diagnostics: &Diagnostics) -> Option<Node> {
    let options = granit_parser::options! { emit_unresolved_aliases: true, emit_anchor_events: true };
    let parser = Parser::new_from_str_with_options(text, options);
    let mut composer = Composer { text, parser, diagnostics, ambiguous: Vec::new() };
    let document = composer.document().ok();
    composer.warn_of_words();
    document
}

/// A reported problem after which nothing can be understood.
struct Unreadable;

struct Composer<'a, 'd> {
    text: &'a str,
    parser: Parser<'a, StrInput<'a>>,
    diagnostics: &'d Diagnostics,
    /// The first warning of each ambiguous word, and how often the word occurs.
    ambiguous: Vec<(Diagnostic, usize)>,
}

impl<'a> Composer<'a, '_> {
    fn document(&mut self) -> Result<Node, Unreadable> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::DocumentStart(..) if root.is_some() => return self.unreadable(fault::second_document(span)),
                Event::StreamEnd => break,
                Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
                event => root = Some(self.node(event, span, 0)?),
            }
        }
        root.filter(|root: &Node| !root.is_null()).map_or_else(|| self.unreadable(fault::nothing()), Ok)
    }

    fn unreadable<T>(&self, problem: Diagnostic) -> Result<T, Unreadable> {
        self.diagnostics.push(problem);
        Err(Unreadable)
    }

    /// The next event that is part of the tree, with its place in bytes.
    fn next(&mut self) -> Result<(Event<'a>, Span), Unreadable> {
        loop {
            match self.parser.next_event() {
                Some(Ok((Event::Anchor(..), span))) => {
                    self.diagnostics.push(fault::reference("anchor", '&', bytes(span)))
                }
                Some(Ok((event, span))) => {
                    if let Some(tag) = span.tag_span() {
                        self.diagnostics.push(fault::tag(bytes(tag)));
                    }
                    return Ok((event, bytes(span)));
                }
                Some(Err(error)) => return self.unreadable(fault::syntax(&error, self.text)),
                None => return Ok((Event::StreamEnd, Span::new(self.text.len(), self.text.len()))),
            }
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, Unreadable> {
        match event {
            Event::Scalar(_, _, _, Some(_)) => Ok(self.as_written(span)),
            Event::Scalar(text, style, ..) => Ok(Node::scalar(self.scalar(&text, style, span), span)),
            Event::SequenceStart(..) | Event::MappingStart(..) if depth >= MAX_DEPTH => {
                self.unreadable(fault::depth(span, MAX_DEPTH))
            }
            Event::SequenceStart(style, ..) => self.list(style, span, depth),
            Event::MappingStart(style, ..) => self.mapping(style, span, depth),
            // Nothing but an alias is left.
            _ => {
                self.diagnostics.push(fault::reference("alias", '*', span));
                Ok(self.as_written(span))
            }
        }
    }

    /// Replaces a reported value by its text, so that nothing is reported missing there.
    fn as_written(&self, span: Span) -> Node {
        let text = self.text.get(span.start..span.end).unwrap_or_default();
        Node::scalar(Scalar::Text(if text.is_empty() { "?" } else { text }.to_owned()), span)
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, span: Span) -> Scalar {
        if style != ScalarStyle::Plain {
            return Scalar::Text(text.to_owned());
        }
        self.note_word(scalar::ambiguous_word(text, span));
        scalar::resolve(text).unwrap_or_else(|| {
            self.diagnostics.push(fault::integer(span));
            Scalar::Int(0)
        })
    }

    fn list(&mut self, style: StructureStyle, start: Span, depth: usize) -> Result<Node, Unreadable> {
        let mut items = Vec::new();
        let mut whole = Span::new(start.start, start.start);
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::SequenceEnd) {
                let end = if style == StructureStyle::Flow { span.end } else { whole.end };
                return Ok(Node { span: Span::new(whole.start, end), tree: Tree::List(items) });
            }
            let item = self.node(event, span, depth + 1)?;
            whole.end = whole.end.max(item.span.end);
            items.push(item);
        }
    }

    fn mapping(&mut self, style: StructureStyle, start: Span, depth: usize) -> Result<Node, Unreadable> {
        let is_flow = style == StructureStyle::Flow;
        let mut entries: Vec<(Spanned<String>, Node)> = Vec::new();
        let mut places: HashMap<String, Span> = HashMap::new();
        let mut whole = Span::new(start.start, start.start);
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                if is_flow {
                    self.check_trailing_comma(whole.end, span);
                    whole.end = whole.end.max(span.end);
                }
                return Ok(Node { span: whole, tree: Tree::Mapping(entries) });
            }
            let key = self.key(event, span, depth)?;
            let (event, span) = self.next()?;
            let mut value = self.node(event, span, depth + 1)?;
            let key_end = key.as_ref().map_or(span.start, |key| key.span.end);
            if value.is_absent() {
                value.span = Span::new(key_end, key_end);
            }
            whole.end = whole.end.max(key_end).max(value.span.end);
            let Some(key) = key else { continue };
            if is_flow
                && let Some((_, last)) = entries.last_mut()
                && self.belongs_to(last, key.span.start)
            {
                continue;
            }
            if is_flow && value.is_absent() && self.lacks_colon(&key)? {
                continue;
            }
            if places.len() == MAX_ENTRIES {
                return self.unreadable(fault::too_many_entries(key.span, MAX_ENTRIES));
            }
            match places.get(&key.value) {
                Some(first) => self.diagnostics.push(fault::duplicate(&key, *first)),
                None => {
                    places.insert(key.value.clone(), key.span);
                    entries.push((key, value));
                }
            }
        }
    }

    /// Keeps the first warning of a word: its other places have the same cause.
    fn note_word(&mut self, warning: Option<Diagnostic>) {
        let Some(warning) = warning else { return };
        match self
            .ambiguous
            .iter_mut()
            .find(|(first, _)| first.message == warning.message && first.help == warning.help)
        {
            Some((_, count)) => *count += 1,
            None => self.ambiguous.push((warning, 1)),
        }
    }

    fn warn_of_words(&mut self) {
        for (warning, count) in self.ambiguous.drain(..) {
            let more = match count {
                1 => String::new(),
                2 => " (and in one more place)".to_owned(),
                count => format!(" (and in {} more places)", count - 1),
            };
            let help = format!("{}{more}", warning.help.as_deref().unwrap_or_default());
            self.diagnostics.push(warning.help(help));
        }
    }

    /// The key of a mapping; `None` when scenarios have no such keys.
    fn key(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Option<Spanned<String>>, Unreadable> {
        if let Event::Scalar(text, style, ..) = event {
            let is_plain = style == ScalarStyle::Plain;
            if is_plain && span.is_empty() {
                self.diagnostics.push(fault::key(span, "empty key"));
                return Ok(None);
            }
            if is_plain {
                self.note_word(scalar::ambiguous_key(&text, span));
            }
            if text.contains('\0') {
                self.diagnostics.push(fault::key(span, "key with a zero byte"));
                return Ok(None);
            }
            return Ok(Some(Spanned::new(text.into_owned(), span)));
        }
        let node = self.node(event, span, depth + 1)?;
        if node.as_text().is_none() {
            let message = format!("expected a text key, found {}", node.describe());
            self.diagnostics.push(fault::key(node.span, message));
        }
        Ok(None)
    }

    /// Whether the text at `at` belongs to `last`, a call that a comma splits: `uniform(1, 3)`. The first time it is
    /// reported, and `last` becomes the whole call, so that nothing is reported about the pieces.
    fn belongs_to(&mut self, last: &mut Node, at: usize) -> bool {
        if at < last.span.end {
            return true;
        }
        let part = &self.text[last.span.start..last.span.end];
        let is_open = part.matches('(').count() > part.matches(')').count();
        if !is_open || last.as_text() != Some(part) {
            return false; // Nothing is split, or it is quoted.
        }
        let Some(length) = call_length(&self.text[last.span.start..]) else { return false };
        let end = last.span.start + length;
        if at >= end {
            return false;
        }
        last.span.end = end;
        let whole = &self.text[last.span.start..end];
        last.tree = Tree::Scalar(Scalar::Text(whole.to_owned()));
        self.diagnostics.push(fault::cut_by_comma(whole, last.span));
        true
    }

    /// Reports a comma that YAML would silently drop, as in `{ path: <a><b>, }`.
    fn check_trailing_comma(&mut self, last_end: usize, closing: Span) {
        if self.text.get(closing.start..closing.end) != Some("}") {
            return; // A pair without braces, as in `[a: 1]`.
        }
        let mut at = skip_blank(self.text, last_end);
        if self.text[at..].starts_with(':') {
            at = skip_blank(self.text, at + 1);
        }
        if self.text[at..].starts_with(',') && skip_blank(self.text, at + 1) == closing.start {
            self.diagnostics.push(fault::trailing_comma(Span::new(at, at + 1)));
        }
    }

    /// Reports a key in braces without a colon: `{ page: uniform(1, 3) }` is two entries in YAML, the second `3)` without
    /// a value; `{ page:1 }` is one key.
    fn lacks_colon(&mut self, key: &Spanned<String>) -> Result<bool, Unreadable> {
        if self.text[skip_blank(self.text, key.span.end)..].starts_with(':') {
            return Ok(false);
        }
        if self.text[key.span.end..].starts_with('[') {
            let rest = &self.text[key.span.start..];
            let end = rest.find([':', ',', '}', '\n']).unwrap_or(rest.len());
            let span = Span::new(key.span.start, key.span.start + rest[..end].trim_end().len());
            return self.unreadable(fault::key_with_bracket(&self.text[span.start..span.end], span));
        }
        if self.text[skip_blank(self.text, key.span.end)..].starts_with(['{', '[']) {
            return self.unreadable(fault::missing_colon(self.text, key.span));
        }
        let word = key.value.split([' ', ':']).next().unwrap_or_default();
        self.diagnostics.set_broken(word);
        self.diagnostics.push(fault::key_without_colon(key));
        Ok(true)
    }
}

/// The length of the text up to the `)` that closes its first `(`; `None` when its line has none.
fn call_length(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    for (at, character) in text.char_indices().take_while(|(_, character)| *character != '\n') {
        match character {
            '(' => open += 1,
            ')' if open <= 1 => return (open == 1).then_some(at + 1),
            ')' => open -= 1,
            _ => {}
        }
    }
    None
}

/// The offset of the first character from `from` on that is neither white space nor in a comment.
fn skip_blank(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start().len();
        if !text[at..].starts_with('#') {
            return at;
        }
        at += text[at..].find('\n').unwrap_or(text.len() - at);
    }
}

/// The parser gives byte offsets for every text that is in memory.
fn bytes(span: granit_parser::Span) -> Span {
    let range = span.byte_range().unwrap_or(0..0);
    Span::new(range.start, range.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Node {
        let diagnostics = Diagnostics::new();
        let node = compose(text, &diagnostics);
        assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
        node.unwrap()
    }

    fn messages(text: &str) -> Vec<String> {
        let diagnostics = Diagnostics::new();
        compose(text, &diagnostics);
        diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).collect()
    }

    /// The source text under every node, outermost first.
    fn places<'t>(node: &Node, text: &'t str, found: &mut Vec<&'t str>) {
        found.push(&text[node.span.start..node.span.end]);
        for (key, value) in node.as_mapping().unwrap_or(&[]) {
            found.push(&text[key.span.start..key.span.end]);
            places(value, text, found);
        }
        for item in node.as_list().unwrap_or(&[]) {
            places(item, text, found);
        }
    }

    #[test]
    fn spans_cover_exactly_what_was_written() {
        let text = "ä: { b: 'c d', e: [1, x y ] } # note\nf:\n  - g\n  -\n  - h: |\n      i\nlast: \"ö\"\n";
        let mut found = Vec::new();
        places(&tree(text), text, &mut found);
        let whole = text.trim_end();
        let list = &text[text.find("- g").unwrap()..text.find("last").unwrap()];
        assert_eq!(found[0], whole);
        assert_eq!(found[1..9], ["ä", "{ b: 'c d', e: [1, x y ] }", "b", "'c d'", "e", "[1, x y ]", "1", "x y"]);
        assert_eq!(found[9], "f");
        assert!(list.starts_with(found[10]), "{}", found[10]);
        assert_eq!(found[11..13], ["g", ""]);
        assert_eq!(found[14], "h");
        assert_eq!(found[16..], ["last", "\"ö\""]);
    }

    #[test]
    fn keeps_order_and_reads_quoted_scalars_as_text() {
        let node = tree("z: 1\na: '1'\nm: \"true\"\nk: null\n1: ''\n");
        let entries: Vec<(&str, &Tree)> =
            node.as_mapping().unwrap().iter().map(|(key, node)| (key.value.as_str(), &node.tree)).collect();
        let text = |text: &str| Tree::Scalar(Scalar::Text(text.to_owned()));
        assert_eq!(
            entries,
            [
                ("z", &Tree::Scalar(Scalar::Int(1))),
                ("a", &text("1")),
                ("m", &text("true")),
                ("k", &Tree::Scalar(Scalar::Null)),
                ("1", &text("")),
            ]
        );
    }

    #[test]
    fn written_null_differs_from_nothing() {
        let node = tree("a: null\nb: ~\nc:\nd: { e: , f: }\n");
        let entries = node.as_mapping().unwrap();
        assert!(entries[..3].iter().all(|(_, node)| node.is_null()));
        let absent: Vec<bool> = entries[..3].iter().map(|(_, node)| node.is_absent()).collect();
        assert_eq!(absent, [false, false, true]);
        assert!(entries[3].1.as_mapping().unwrap().iter().all(|(_, node)| node.is_absent()));
    }

    #[test]
    fn reports_trailing_commas_before_braces() {
        for text in ["a: { b: 'x,' }", "a: [b, c, ]", "a: [b: 1, ]", "a: { b: [1,] }", "a: { b: 1 # , }\n }", "a: {}"] {
            assert_eq!(messages(text), Vec::<String>::new(), "{text}");
        }
        for text in [
            "a: { b: 1, }", "a: { b: 1 , # no\n }", "a: { b: , }", "a: { b: {c: 1}, }", "a: { b: 'x',}",
            "{ a: <b><c>,}",
        ] {
            assert_eq!(messages(text), ["trailing comma before `}`"], "{text}");
        }
    }

    #[test]
    fn reports_keys_without_colon() {
        for text in ["a: { b: , c: 1 }", "a: { \"b\":1 }", "a: { ? b : 1 }", "a: { b # note\n : }", "a: { b : }"] {
            assert_eq!(messages(text), Vec::<String>::new(), "{text}");
        }
        assert_eq!(messages("a: { b, c: 1 }").len(), 1);
        let cut = ["a comma inside of { } ends the entry"];
        for text in ["a: { b: f(1, 2), c: 1 }", "a: { b: f(g(1, 2), 3, 4) + 1, c: h(1) }", "a: { b: f(1, 2) ? 1 : 2 }"]
        {
            assert_eq!(messages(text), cut, "{text}");
        }
        assert_eq!(messages("a: { items.$[i].n: 1 }"), ["a bracket inside of { } starts a list"]);
    }

    #[test]
    fn accepts_windows_line_ends_and_a_byte_order_mark() {
        let text = "\u{feff}a: 1\r\nb:\r\n  - x y\r\n";
        let node = tree(text);
        let entries = node.as_mapping().unwrap();
        assert_eq!(entries[0].0.value, "a");
        let item = &entries[1].1.as_list().unwrap()[0];
        assert_eq!((item.as_text(), &text[item.span.start..item.span.end]), (Some("x y"), "x y"));
    }

    #[test]
    fn depth_is_bounded_for_both_kinds_of_collection() {
        let deep = |open: &str, close: &str, levels: usize| format!("{}1{}", open.repeat(levels), close.repeat(levels));
        assert_eq!(messages(&deep("[", "]", MAX_DEPTH)), Vec::<String>::new());
        for text in [deep("[", "]", MAX_DEPTH + 1), deep("{ a: ", "}", MAX_DEPTH + 1), deep("[", "]", 100_000)] {
            assert_eq!(messages(&text).len(), 1);
        }
    }
}
