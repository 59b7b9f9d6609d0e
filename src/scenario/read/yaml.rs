//! YAML text to the node tree.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, StrInput, StructureStyle};

use super::{scalar, syntax};
use crate::scenario::node::quote;
use crate::scenario::{Diagnostic, Diagnostics, Node, Scalar, Span, Spanned, Tree};

/// How deep lists and mappings may stand in each other. Pipelines of the catalogue reach 12; each level costs stack.
const MAX_DEPTH: usize = 64;

/// The one document in `text` as a tree; `None` when there is none to go on with. Problems go to `diagnostics`.
pub(super) fn compose(text: &str, diagnostics: &mut Diagnostics) -> Option<Node> {
    let options = granit_parser::options! { emit_unresolved_aliases: true, emit_anchor_events: true };
    let parser = Parser::new_from_str_with_options(text, options);
    let mut composer = Composer { text, parser, diagnostics };
    composer.document().ok()
}

/// The problem is already among the diagnostics, and nothing after it can be understood.
struct Stop;

struct Composer<'a, 'd> {
    text: &'a str,
    parser: Parser<'a, StrInput<'a>>,
    diagnostics: &'d mut Diagnostics,
}

impl<'a> Composer<'a, '_> {
    fn document(&mut self) -> Result<Node, Stop> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::DocumentStart(..) if root.is_some() => {
                    self.diagnostics.push(
                        Diagnostic::error(span, "a second YAML document begins here").label("second document").help(
                            "a file holds one scenario: remove the `---`, or move what follows to a file of its own",
                        ),
                    );
                    return Err(Stop);
                }
                Event::StreamEnd => break,
                Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
                event => root = Some(self.node(event, span, 0)?),
            }
        }
        match root {
            Some(root) if !root.is_null() => Ok(root),
            _ => {
                self.diagnostics.push(
                    Diagnostic::error(Span::default(), "the file is empty")
                        .help("a scenario begins with `format: 1`; `docshape list` names scenarios to start from"),
                );
                Err(Stop)
            }
        }
    }

    /// The next event that is part of the tree, with its place in bytes.
    fn next(&mut self) -> Result<(Event<'a>, Span), Stop> {
        loop {
            match self.parser.next_event() {
                Some(Ok((Event::Anchor(..), span))) => self.refuse_anchor(bytes(span)),
                Some(Ok((event, span))) => {
                    if let Some(tag) = span.tag_span() {
                        self.refuse_tag(bytes(tag));
                    }
                    return Ok((event, bytes(span)));
                }
                Some(Err(error)) => {
                    self.diagnostics.push(syntax::diagnostic(&error, self.text));
                    return Err(Stop);
                }
                None => return Ok((Event::StreamEnd, Span::new(self.text.len(), self.text.len()))),
            }
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, Stop> {
        match event {
            Event::Scalar(text, style, _, tag) => {
                if tag.is_some() {
                    return Ok(Node::scalar(Scalar::Text(text.into_owned()), span));
                }
                Ok(Node::scalar(self.scalar(&text, style, span), span))
            }
            Event::SequenceStart(style, ..) => {
                self.check_depth(span, depth)?;
                self.list(style, span, depth)
            }
            Event::MappingStart(style, ..) => {
                self.check_depth(span, depth)?;
                self.mapping(style, span, depth)
            }
            _ => {
                // An alias. Text stands in for it, so that nothing is said to be missing here.
                self.refuse_alias(span);
                Ok(Node::scalar(Scalar::Text(String::new()), span))
            }
        }
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, span: Span) -> Scalar {
        if style != ScalarStyle::Plain {
            return Scalar::Text(text.to_owned());
        }
        if let Some(warning) = scalar::ambiguous_word(text, span) {
            self.diagnostics.push(warning);
        }
        scalar::resolve(text).unwrap_or_else(|| {
            self.diagnostics.push(
                Diagnostic::error(span, "this integer does not fit into 64 bits")
                    .label("too large")
                    .help("use a number of at most 9223372036854775807 either way, or quote it to make it text"),
            );
            Scalar::Int(0)
        })
    }

    fn list(&mut self, style: StructureStyle, start: Span, depth: usize) -> Result<Node, Stop> {
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

    fn mapping(&mut self, style: StructureStyle, start: Span, depth: usize) -> Result<Node, Stop> {
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
            if is_flow && value.is_absent() {
                self.check_colon(&key);
            }
            match places.get(&key.value) {
                Some(first) => self.refuse_duplicate(&key, *first),
                None => {
                    places.insert(key.value.clone(), key.span);
                    entries.push((key, value));
                }
            }
        }
    }

    /// A mapping's key; `None` when it is none that a scenario can have.
    fn key(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Option<Spanned<String>>, Stop> {
        if let Event::Scalar(text, style, ..) = event {
            let is_plain = style == ScalarStyle::Plain;
            if is_plain && text.is_empty() {
                self.refuse_key(span, "a key is empty");
                return Ok(None);
            }
            if is_plain && let Some(warning) = scalar::ambiguous_key(&text, span) {
                self.diagnostics.push(warning);
            }
            return Ok(Some(Spanned::new(text.into_owned(), span)));
        }
        let node = self.node(event, span, depth + 1)?;
        if node.as_text().is_none() {
            self.refuse_key(node.span, &format!("a key must be text, found {}", node.describe()));
        }
        Ok(None)
    }

    fn refuse_key(&mut self, span: Span, message: &str) {
        let help = "write `key: value`; quote text that begins with `{`, `[`, `?` or `:`";
        self.diagnostics.push(Diagnostic::error(span, message).label("not a key").help(help));
    }

    fn refuse_duplicate(&mut self, key: &Spanned<String>, first: Span) {
        let help = if key.value == "..." {
            "spread one document here; join two before with `let` and `merge(a, b)`"
        } else {
            "keep one of the two"
        };
        self.diagnostics.push(
            Diagnostic::error(key.span, format!("the key {} stands twice in one mapping", quote(&key.value)))
                .label("again here")
                .also(first, "first here")
                .help(help),
        );
    }

    fn refuse_anchor(&mut self, span: Span) {
        self.diagnostics.push(
            Diagnostic::error(span, "anchors are not part of the scenario format")
                .label("an anchor")
                .help("quote text that begins with `&`; to share steps between strategies use `like`"),
        );
    }

    fn refuse_alias(&mut self, span: Span) {
        self.diagnostics.push(
            Diagnostic::error(span, "aliases are not part of the scenario format")
                .label("an alias")
                .help("quote text that begins with `*`; to share steps between strategies use `like`"),
        );
    }

    fn refuse_tag(&mut self, span: Span) {
        self.diagnostics.push(
            Diagnostic::error(span, "YAML tags are not part of the scenario format")
                .label("read as a tag")
                .help("quote an expression that begins with `!`: \"!found\"; other BSON types are written as Extended JSON: { $oid: ... }"),
        );
    }

    fn check_depth(&mut self, span: Span, depth: usize) -> Result<(), Stop> {
        if depth < MAX_DEPTH {
            return Ok(());
        }
        self.diagnostics.push(
            Diagnostic::error(span, format!("more than {MAX_DEPTH} lists and mappings stand in each other"))
                .label("too deep")
                .help("check for brackets that are never closed, or flatten this part"),
        );
        Err(Stop)
    }

    /// `{ path: <a><b>, }` would silently lose the comma that the author meant as text.
    fn check_trailing_comma(&mut self, last_end: usize, closing: Span) {
        if self.text.get(closing.start..closing.end) != Some("}") {
            return; // A pair without braces, as in `[a: 1]`.
        }
        let mut at = skip_blank(self.text, last_end);
        if self.text[at..].starts_with(':') {
            at = skip_blank(self.text, at + 1);
        }
        if self.text[at..].starts_with(',') && skip_blank(self.text, at + 1) == closing.start {
            self.diagnostics.push(
                Diagnostic::error(Span::new(at, at + 1), "a comma before `}` would be lost")
                    .label("trailing comma")
                    .help("remove it; if it belongs to the text, quote the text: { path: \"<a>,<b>,\" }"),
            );
        }
    }

    /// `{ page: uniform(1, 3) }` is two entries in YAML, the second `3)` without a value.
    fn check_colon(&mut self, key: &Spanned<String>) {
        if !self.text[skip_blank(self.text, key.span.end)..].starts_with(':') {
            self.diagnostics.push(
                Diagnostic::error(key.span, format!("{} has no value: a comma inside {{ }} begins a new entry", quote(&key.value)))
                    .label("read as a key")
                    .help("quote text with a comma in it: { page: \"uniform(1, 3)\" }; write `key: value` with a space after the colon"),
            );
        }
    }
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
