//! Problems of a scenario with their place and a fix, reported all at once.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::{Source, Span, Spanned};

/// How many problems are shown in full.
const MAX_SHOWN: usize = 100;

/// So many problems are shown whatever the length of lines.
const FEWEST_SHOWN: usize = 10;

/// Bytes of lines that are drawn at most, beyond [`FEWEST_SHOWN`] problems.
const MAX_DRAWN: usize = 4_000_000;

/// How many problems are kept. The others are only counted, so that a file of nothing but problems takes no quadratic time.
const MAX_KEPT: usize = 1_000;

/// The characters of the longest message or help.
const MAX_TEXT: usize = 2_000;

/// How many names a help lists.
const MAX_LISTED: usize = 80;

/// The characters of the longest name that is shown whole, or looked for among similar ones.
const MAX_NAME: usize = 100;

/// The severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The scenario cannot run.
    Error,
    /// The scenario can run, but probably not as intended.
    Warning,
}

/// One problem with its place and a fix.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    /// Whether it prevents a run.
    pub severity: Severity,
    /// The problem, lower case, naming its cause.
    pub message: String,
    /// The text that it is about.
    pub span: Span,
    /// The text under the span; may be empty.
    pub label: String,
    /// A second span with its label: for a duplicate key the first occurrence.
    pub also: Option<(Span, String)>,
    /// How to fix it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A problem that keeps the scenario from running.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        let (severity, message) = (Severity::Error, message.into());
        Diagnostic { severity, message, span, label: String::new(), also: None, help: None }
    }

    /// A problem that does not keep the scenario from running.
    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    /// Adds the problem to the others of its scenario.
    pub fn add_to(self, diagnostics: &Diagnostics) {
        diagnostics.push(self);
    }

    /// Sets the text under the span.
    #[must_use]
    pub fn label(self, label: impl Into<String>) -> Diagnostic {
        Diagnostic { label: label.into(), ..self }
    }

    /// Sets a second span with its label.
    #[must_use]
    pub fn also(self, span: Span, label: impl Into<String>) -> Diagnostic {
        Diagnostic { also: Some((span, label.into())), ..self }
    }

    /// Sets the fix.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Diagnostic {
        Diagnostic { help: Some(help.into()), ..self }
    }
}

/// All problems of one scenario, in the order found; shown in the order of the text. Everything that reads the scenario
/// adds to them through a shared reference.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics(RefCell<FoundDiagnostics>);

#[derive(Debug, Clone, Default)]
struct FoundDiagnostics {
    /// Each with the places that use the fragment in which it is; none outside of fragments.
    kept: Vec<(Diagnostic, BTreeSet<Span>)>,
    /// The numbers of errors and of warnings that are not kept.
    more: [usize; 2],
    /// The spans of all problems, so that only a second one at a place needs a search.
    places: HashSet<Span>,
    /// The offsets of the errors, for the same reason.
    errors_at: BTreeSet<usize>,
    /// Names whose definitions are wrong.
    broken: HashSet<String>,
    /// Starts and ends of texts that nothing more is reported about.
    closed: BTreeMap<usize, usize>,
}

impl FoundDiagnostics {
    /// Whether a problem is that a name with a wrong definition is not known.
    fn is_of_broken(&self, diagnostic: &Diagnostic) -> bool {
        let Some((what, name)) = diagnostic.message.split_once('`') else { return false };
        let name = name.trim_start_matches('<').split(['`', '.', '>']).next().unwrap_or_default();
        (what.starts_with("unknown ") || what == "missing key ") && self.broken.contains(name)
    }
}

impl Diagnostics {
    /// No problems yet.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds a problem. One mistake is reported once: an error replaces a warning about the same text, and what is found
    /// again, in another strategy, mix, or use of a fragment, only adds its use.
    pub fn push(&self, mut diagnostic: Diagnostic) {
        shorten(&mut diagnostic.message);
        diagnostic.help.iter_mut().for_each(shorten);
        let used_at = diagnostic.span.use_place();
        let span = Span::new(diagnostic.span.start, diagnostic.span.end);
        diagnostic.span = span;
        let found = &mut *self.0.borrow_mut();
        if found.closed.range(..=span.start).next_back().is_some_and(|(_, end)| span.end <= *end) {
            return;
        }
        if found.is_of_broken(&diagnostic) {
            return;
        }
        let is_first = !found.places.contains(&span);
        if !is_first && let Some((_, uses)) = found.kept.iter_mut().find(|(known, _)| *known == diagnostic) {
            return uses.extend(used_at);
        }
        if found.kept.len() == MAX_KEPT {
            found.more[diagnostic.severity as usize] += 1;
            return;
        }
        found.places.insert(span);
        let is_error = diagnostic.severity == Severity::Error;
        if is_error {
            found.errors_at.insert(span.start);
            found.kept.retain(|(other, _)| is_first || other.severity == Severity::Error || other.span != span);
        }
        let is_known = |(known, _): &(Diagnostic, _)| known.severity == Severity::Error && known.span == span;
        if is_first || is_error || !found.kept.iter().any(is_known) {
            found.kept.push((diagnostic, used_at.into_iter().collect()));
        }
    }

    /// Adds those of a part that was looked at by itself.
    pub(crate) fn add(&self, others: &Diagnostics) {
        for (diagnostic, uses) in others.sorted() {
            let span = diagnostic.span;
            let spans = uses.iter().map(|place| span.used_at(*place)).chain(uses.is_empty().then_some(span));
            spans.for_each(|span| self.push(Diagnostic { span, ..diagnostic.clone() }));
        }
    }

    /// Ignores problems of the text at `span` from now on, because they would follow from one that is reported.
    pub(super) fn close(&self, span: Span) {
        self.0.borrow_mut().closed.insert(span.start, span.end);
    }

    /// Ignores that a name is unknown or missing from now on: its definition is there, and what is wrong with it is reported.
    pub(super) fn set_broken(&self, name: &str) {
        self.0.borrow_mut().broken.insert(name.to_owned());
    }

    /// Adds an error with its fix.
    pub fn error(&self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.push(Diagnostic::error(span, message).help(help));
    }

    /// Adds an error with the text under its place and its fix.
    pub(crate) fn labelled(
        &self,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(Diagnostic::error(span, message).label(label).help(help));
    }

    /// Adds an error with its fix, in place of the part that has it.
    pub(crate) fn reject<T>(&self, span: Span, message: impl Into<String>, help: impl Into<String>) -> Option<T> {
        self.error(span, message, help);
        None
    }

    /// Adds a warning with its fix.
    pub(crate) fn warn(&self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.push(Diagnostic::warning(span, message).help(help));
    }

    /// Whether `name` is one of the `known` names of things of one `kind`; reports it otherwise. `place` ends the message.
    pub(crate) fn is_known<'k>(
        &self,
        kind: &str,
        name: &Spanned<String>,
        place: &str,
        known: impl IntoIterator<Item = &'k str>,
    ) -> bool {
        let known: Vec<&str> = known.into_iter().collect();
        let is_known = known.contains(&name.value.as_str());
        if !is_known {
            self.error(name.span, format!("unknown {kind} `{}`{place}", name.value), nearest(&name.value, &known));
        }
        is_known
    }

    /// Whether there is neither an error nor a warning.
    pub fn is_empty(&self) -> bool {
        self.0.borrow().kept.is_empty()
    }

    /// The number of errors.
    pub fn errors(&self) -> usize {
        self.count(Severity::Error)
    }

    /// The number of warnings.
    pub fn warnings(&self) -> usize {
        self.count(Severity::Warning)
    }

    fn count(&self, severity: Severity) -> usize {
        let found = self.0.borrow();
        found.kept.iter().filter(|(known, _)| known.severity == severity).count() + found.more[severity as usize]
    }

    /// Whether the scenario cannot run.
    pub fn has_errors(&self) -> bool {
        self.errors() > 0
    }

    /// Whether an error starts within `span`.
    pub(crate) fn has_error_within(&self, span: Span) -> bool {
        self.0.borrow().errors_at.range(span.start..span.end.max(span.start)).next().is_some()
    }

    /// The problems in the order of their places; at one place in the order found. At most the first 1,000 found.
    pub fn iter(&self) -> impl Iterator<Item = Diagnostic> {
        self.sorted().into_iter().map(|(diagnostic, _)| diagnostic)
    }

    fn sorted(&self) -> Vec<(Diagnostic, BTreeSet<Span>)> {
        let mut sorted = self.0.borrow().kept.clone();
        sorted.sort_by_key(|(diagnostic, _)| diagnostic.span.start);
        sorted
    }

    /// Counts them in one line: `5 problems in blog.yaml`, or `1 warning in blog.yaml` without errors.
    pub fn summary(&self, source: &Source) -> String {
        let counted = |number: usize, word: &str| format!("{number} {word}{}", if number == 1 { "" } else { "s" });
        let what = match (self.errors(), self.warnings()) {
            (0, 0) => "no problems".to_owned(),
            (0, warnings) => counted(warnings, "warning"),
            (errors, 0) => counted(errors, "problem"),
            (errors, warnings) => format!("{} and {}", counted(errors, "problem"), counted(warnings, "warning")),
        };
        format!("{what} in {}", source.path)
    }

    /// Renders all problems, each with its place, its line and the fix, then the [summary](Self::summary).
    ///
    /// Of more than 100 problems the first 100 are shown: such a file is not a scenario, and each problem costs the
    /// length of its line. Without `colour` the text is plain ASCII apart from quotations.
    pub fn render(&self, source: &Source, colour: bool) -> String {
        let renderer = if colour { Renderer::styled().hyperlink(false) } else { Renderer::plain() };
        let mut text = String::new();
        // A line is drawn whole for each problem in it.
        let longest = source.text.lines().map(str::len).max().unwrap_or_default();
        let shown = MAX_SHOWN.min((MAX_DRAWN / longest.max(1)).max(FEWEST_SHOWN));
        for (diagnostic, uses) in self.sorted().iter().take(shown) {
            text.push_str(&renderer.render(&[group(diagnostic, uses, source)]));
            text.push_str("\n\n");
        }
        let all = self.errors() + self.warnings();
        if all > shown {
            text.push_str(&format!("... and {} more\n\n", all - shown));
        }
        text + &self.summary(source) + "\n"
    }
}

/// The rendering of one problem. The snippet contains only its lines: with the whole text, many problems would take
/// quadratic time.
fn group<'a>(diagnostic: &'a Diagnostic, uses: &BTreeSet<Span>, source: &'a Source) -> Group<'a> {
    let text = &*source.text;
    let primary = within_one_line(text, diagnostic.span);
    let also = diagnostic.also.clone().or_else(|| place_of_use(uses));
    let also = also.map(|(span, label)| (within_one_line(text, span), label));
    let first = also.as_ref().map_or(primary.start, |(range, _)| range.start.min(primary.start));
    let last = also.as_ref().map_or(primary.end, |(range, _)| range.end.max(primary.end));
    let start = text[..first].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[last..].find('\n').map_or(text.len(), |newline| last + newline);
    let moved = |range: Range<usize>| range.start - start..range.end - start;

    let mut snippet = Snippet::source(&text[start..end])
        .path(&*source.path)
        .line_start(text[..start].matches('\n').count() + 1)
        .annotation(AnnotationKind::Primary.span(moved(primary)).label(&*diagnostic.label));
    if let Some((range, label)) = also {
        snippet = snippet.annotation(AnnotationKind::Context.span(moved(range)).label(label));
    }
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let help = diagnostic.help.as_ref().map(|help| Level::HELP.message(help.as_str()));
    level.primary_title(&*diagnostic.message).element(snippet).elements(help)
}

/// Where a fragment is used, with a label.
fn place_of_use(uses: &BTreeSet<Span>) -> Option<(Span, String)> {
    let label = match uses.len() {
        0 | 1 => "used here".to_owned(),
        2 => "used here, and in one more place".to_owned(),
        count => format!("used here, and in {} more places", count - 1),
    };
    Some((*uses.first()?, label))
}

/// The part of a span on its first line, at boundaries of characters: a whole mapping is too much to show.
fn within_one_line(text: &str, span: Span) -> Range<usize> {
    let boundary =
        |offset: usize| (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let start = boundary(span.start);
    let end = boundary(span.end).max(start);
    let line_end = text[start..end].find('\n').map_or(end, |newline| start + newline);
    start..start + text[start..line_end].trim_end().len()
}

/// Cuts a text that quotes too much of the scenario.
fn shorten(text: &mut String) {
    if let Some((end, _)) = text.char_indices().nth(MAX_TEXT) {
        text.truncate(end);
        text.push_str(" ...");
    }
}

/// Words of earlier drafts of the format, and commands that are written for logical steps, with what is meant.
const RENAMED: [(&str, &str); 12] = [
    ("countDocuments", "count"),
    ("deleteOne", "delete"),
    ("find", "list"),
    ("findOne", "get"),
    ("insert", "create"),
    ("insertOne", "create"),
    ("updateOne", "update"),
    ("again", "retry_if"),
    ("docs_examined", "documents_examined"),
    ("done", "ok"),
    ("refused", "rejected"),
    ("turns", "max_iterations"),
];

/// The candidate that the author probably meant by `unknown`, if one is near enough.
///
/// A word of an earlier draft means its successor.
/// Case, `_` and `-` are ignored (`find_one` is `findOne`). Otherwise one edit per three characters is allowed, or
/// `unknown` is a prefix of the candidate (`insert` for `insertOne`). Of equally near ones the first wins.
pub(crate) fn suggest<'a>(unknown: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |word: &str| -> String {
        word.chars().filter(|c| *c != '_' && *c != '-').flat_map(char::to_lowercase).take(64).collect()
    };
    let candidates: Vec<&str> = candidates.into_iter().collect();
    if let Some((_, renamed)) = RENAMED.iter().find(|(old, new)| *old == unknown && candidates.contains(new)) {
        return Some(renamed);
    }
    let plain_unknown = plain(unknown);
    if plain_unknown.len() > MAX_NAME {
        return None;
    }
    let limit = (plain_unknown.chars().count() / 3).max(1);
    let near = candidates.into_iter().filter(|candidate| candidate.len() <= MAX_NAME).filter_map(|candidate| {
        let other = plain(candidate);
        let is_prefix = plain_unknown.len() >= 3 && other.starts_with(&plain_unknown);
        let distance = strsim::osa_distance(&plain_unknown, &other).min(if is_prefix { limit } else { usize::MAX });
        (distance <= limit && distance < other.chars().count()).then_some((distance, candidate))
    });
    near.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// The help for an unknown name: the nearest known one, else all of them.
pub(crate) fn nearest(name: &str, known: &[&str]) -> String {
    // What docshape adds has no name.
    let known: &[&str] = &known.iter().copied().filter(|one| !one.is_empty()).collect::<Vec<_>>();
    match suggest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "no names are known here".to_owned(),
        None if known.len() == 1 => format!("expected {}", list_of(known)),
        None => format!("expected one of {}", list_of(known)),
    }
}

/// Names in backticks, for help texts.
pub(crate) fn list_of(names: &[&str]) -> String {
    let shown =
        names.iter().take(MAX_LISTED).map(|name| format!("`{}`", name.chars().take(MAX_NAME).collect::<String>()));
    let more = names.len().saturating_sub(MAX_LISTED);
    let more = (more > 0).then(|| format!("{more} more"));
    shown.chain(more).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, part: &str) -> Span {
        let start = text.find(part).unwrap();
        Span::new(start, start + part.len())
    }

    #[test]
    fn renders_in_the_order_of_the_text() {
        let text = "name: blog\ntitel: Comments\nabout: off\n";
        let source = Source::new("blog.yaml", text);
        let diagnostics = Diagnostics::new();
        diagnostics.push(Diagnostic::warning(place(text, "off"), "`off` is text here").help("quote it"));
        diagnostics.push(
            Diagnostic::error(place(text, "titel"), "unknown key `titel`")
                .label("not known")
                .help("did you mean `title`?"),
        );
        insta::assert_snapshot!(diagnostics.render(&source, false), @r"
        error: unknown key `titel`
         --> blog.yaml:2:1
          |
        2 | titel: Comments
          | ^^^^^ not known
          |
          = help: did you mean `title`?

        warning: `off` is text here
         --> blog.yaml:3:8
          |
        3 | about: off
          |        ^^^
          |
          = help: quote it

        1 problem and 1 warning in blog.yaml
        ");
    }

    #[test]
    fn shows_both_places_and_folds_the_lines_between() {
        let text = "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\ng: 7\nä: 8\na: 9\n";
        let source = Source::new("twice.yaml", text);
        let diagnostics = Diagnostics::new();
        let second = text.rfind('a').unwrap();
        diagnostics.push(
            Diagnostic::error(Span::new(second, second + 1), "duplicate key `a`")
                .label("again here")
                .also(Span::new(0, 1), "first here"),
        );
        insta::assert_snapshot!(diagnostics.render(&source, false), @r"
        error: duplicate key `a`
         --> twice.yaml:9:1
          |
        1 | a: 1
          | - first here
        ...
        9 | a: 9
          | ^ again here

        1 problem in twice.yaml
        ");
    }

    #[test]
    fn an_error_replaces_the_warning_about_the_same_text() {
        let diagnostics = Diagnostics::new();
        diagnostics.push(Diagnostic::warning(Span::new(2, 5), "text"));
        diagnostics.push(Diagnostic::warning(Span::new(6, 7), "other"));
        diagnostics.push(Diagnostic::error(Span::new(2, 5), "wrong"));
        let messages: Vec<String> = diagnostics.iter().map(|diagnostic| diagnostic.message).collect();
        assert_eq!(messages, ["wrong", "other"]);
        assert_eq!((diagnostics.errors(), diagnostics.warnings()), (1, 1));
    }

    #[test]
    fn spans_outside_the_text_or_inside_a_character_are_shown() {
        let source = Source::new("odd.yaml", "ä: 1");
        let diagnostics = Diagnostics::new();
        diagnostics.push(Diagnostic::error(Span::new(1, 2), "inside"));
        diagnostics.push(Diagnostic::error(Span::new(90, 99), "beyond"));
        let text = diagnostics.render(&source, false);
        assert!(
            text.contains("inside") && text.contains("beyond") && text.ends_with("2 problems in odd.yaml\n"),
            "{text}"
        );
    }

    #[test]
    fn colour_does_not_change_the_text() {
        let source = Source::new("x.yaml", "a: 1\n");
        let diagnostics = Diagnostics::new();
        diagnostics.push(Diagnostic::error(Span::new(0, 1), "wrong").help("right it"));
        let coloured = diagnostics.render(&source, true);
        assert!(coloured.contains("\u{1b}["));
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), diagnostics.render(&source, false));
    }

    #[test]
    fn counts_problems_beyond_a_hundred() {
        let source = Source::new("x.yaml", "a: 1\n");
        let diagnostics = Diagnostics::new();
        (0..103).for_each(|n| diagnostics.push(Diagnostic::error(Span::new(0, 1), format!("wrong {n}"))));
        let text = diagnostics.render(&source, false);
        assert_eq!(text.matches("error: wrong").count(), 100);
        assert!(text.ends_with("\n\n... and 3 more\n\n103 problems in x.yaml\n"), "{text}");
    }

    #[test]
    fn summary_counts_problems_and_warnings_apart() {
        let source = Source::new("x.yaml", "a: 1\n");
        let diagnostics = Diagnostics::new();
        assert_eq!(diagnostics.summary(&source), "no problems in x.yaml");
        diagnostics.push(Diagnostic::warning(Span::new(0, 1), "w"));
        assert_eq!(diagnostics.summary(&source), "1 warning in x.yaml");
        diagnostics.push(Diagnostic::error(Span::new(3, 4), "e"));
        diagnostics.push(Diagnostic::error(Span::new(3, 4), "f"));
        assert_eq!(diagnostics.summary(&source), "2 problems and 1 warning in x.yaml");
    }

    #[test]
    fn suggests_what_was_probably_meant() {
        let words = ["insertOne", "insertMany", "findOne", "find", "updateOne", "forEach", "let", "if"];
        assert_eq!(suggest("turns", ["while", "max_iterations"]), Some("max_iterations"));
        let cases = [
            ("updateone", Some("updateOne")),
            ("find_one", Some("findOne")),
            ("insert", Some("insertOne")),
            ("updteOne", Some("updateOne")),
            ("foreach", Some("forEach")),
            ("fnid", Some("find")),
            ("remove", None),
            ("x", None),
            ("", None),
        ];
        for (unknown, expected) in cases {
            assert_eq!(suggest(unknown, words), expected, "{unknown}");
        }
    }
}
