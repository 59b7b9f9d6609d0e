//! `claims`.

use crate::record::{Metric, MetricUse, OutcomeKind, Relation};
use crate::scenario::claim::{ClaimBound, ClaimDefinition, ClaimSubject};
use crate::scenario::{Diagnostic, Diagnostics, Node, Scalar, Span, Spanned, Tree, keys, nearest, quote};

use super::entry::{Entry, place, wrong_type};
use super::fields::{Fields, missing};
use super::run::run;

const RELATIONS: [(&str, Relation); 3] =
    [("below", Relation::Below), ("above", Relation::Above), ("equals", Relation::Equals)];

/// The claims; those that cannot be understood are left out.
pub(super) fn claims(fields: &Fields, diagnostics: &mut Diagnostics) -> Vec<ClaimDefinition> {
    let Some(entry) = fields.entry("claims") else { return Vec::new() };
    let mut claims: Vec<ClaimDefinition> = Vec::new();
    for item in fields.items("claims") {
        let Some(claim) = claim(item, entry.0.span, diagnostics) else { continue };
        match claims.iter().find(|other| other.id.value == claim.id.value) {
            None => claims.push(claim),
            Some(other) => Diagnostic::error(claim.id.span, format!("duplicate claim {}", quote(&claim.id.value)))
                .label("second claim of this id")
                .also(other.id.span, "first claim")
                .help(format!("give each claim its own id, for example `{}b`", claim.id.value))
                .add_to(diagnostics),
        }
    }
    claims
}

fn claim(item: &Node, list: Span, diagnostics: &mut Diagnostics) -> Option<ClaimDefinition> {
    let span = item.span_or(list);
    let Some(entries) = item.as_mapping() else {
        Diagnostic::error(span, format!("expected a mapping, found {}", item.describe()))
            .label("not a claim")
            .help("for example: `{ id: C1, says: One read is enough., expect: ... }`")
            .add_to(diagnostics);
        return None;
    };
    let id = item.get("id").and_then(Node::as_text);
    let what = id.map_or_else(|| "a claim".to_owned(), |id| format!("claim {}", quote(id)));
    let fields = Fields::read(entries, &what, span, keys::CLAIM, diagnostics);
    let expectation = fields.entry("expect").and_then(|entry| expectation(entry, &what, diagnostics));
    let Expectation { subject, operation, strategy, relation, than } = expectation?;
    let by_design = fields.boolean("by_design").filter(|by_design| by_design.value);
    if let (Some(by_design), true) = (&by_design, subject.value.is_measured()) {
        let message = format!("`by_design` with `{}`, which only a run can decide", subject.value.name());
        diagnostics.error(by_design.span, message, "leave out `by_design`, or compare a count such as `round_trips`");
        return None;
    }
    Some(ClaimDefinition {
        id: fields.text("id")?,
        says: fields.text("says")?.value,
        source: fields.text("source").map(|source| source.value),
        is_by_design: by_design.is_some(),
        run: run(&fields),
        clients: fields.integer("clients"),
        subject,
        operation,
        strategy,
        relation,
        than,
    })
}

/// The value of `expect`.
struct Expectation {
    subject: Spanned<ClaimSubject>,
    operation: Option<Spanned<String>>,
    strategy: Spanned<String>,
    relation: Relation,
    than: ClaimBound,
}

fn expectation(entry: &Entry, claim: &str, diagnostics: &mut Diagnostics) -> Option<Expectation> {
    let what = format!("`expect` of {claim}");
    let fields = Fields::read(entry.1.as_mapping()?, &what, entry.0.span, keys::EXPECTATION, diagnostics);
    let subject = subject(&fields, entry, &what, diagnostics);
    let operation = fields.text("operation");
    let compared = compared(&fields, entry, &what, diagnostics);
    let subject = subject?;
    let is_whole = subject.value.is_of_strategy();
    if let (true, Some(operation)) = (is_whole, &operation) {
        of_strategy(&subject.value, operation.span, diagnostics);
        return None;
    }
    if !is_whole && fields.entry("operation").is_none() {
        let key = keys::EXPECTATION.iter().find(|key| key.name == "operation");
        key.into_iter().for_each(|key| missing(key, &what, entry.0.span, diagnostics));
    }
    let (relation, compared) = compared?;
    let strategy = fields.text("strategy");
    let about = About { subject: &subject.value, operation: operation.as_ref(), strategy: strategy.as_ref() };
    let than = than(compared, relation, about, diagnostics)?;
    (is_whole || operation.is_some()).then_some(())?;
    Some(Expectation { subject, operation, strategy: strategy?, relation, than })
}

fn of_strategy(subject: &ClaimSubject, operation: Span, diagnostics: &mut Diagnostics) {
    let message = format!("`{}` belongs to a strategy, not to an operation", subject.name());
    let help = match subject {
        ClaimSubject::Metric { metric: Metric::Counter(_), .. } => "leave out `operation`, or try `retries`",
        ClaimSubject::Metric { .. } | ClaimSubject::Audit(_) | ClaimSubject::Outcome(_) => "leave out `operation`",
    };
    diagnostics.error(operation, message, help);
}

/// The one number of an expectation.
fn subject(fields: &Fields, entry: &Entry, what: &str, diagnostics: &mut Diagnostics) -> Option<Spanned<ClaimSubject>> {
    let outcome = fields.text("outcome").and_then(|name| OutcomeKind::named(&name.value).map(|kind| (kind, name.span)));
    match (fields.entry("metric"), fields.entry("audit"), outcome) {
        (Some(_), Some(audit), _) => {
            let message = format!("expected one number in {what}, found `metric` and `audit`");
            diagnostics.error(audit.0.span, message, "keep one of them; two numbers are two claims");
            None
        }
        (None, Some(_), Some((_, outcome))) => {
            let message = format!("expected one number in {what}, found `audit` and `outcome`");
            diagnostics.error(outcome, message, "keep one of them; two numbers are two claims");
            None
        }
        (Some(_), None, outcome) => metric(fields, outcome, diagnostics),
        (None, Some(_), None) => {
            fields.text("audit").map(|name| Spanned::new(ClaimSubject::Audit(name.value), name.span))
        }
        (None, None, Some((outcome, span))) => Some(Spanned::new(ClaimSubject::Outcome(outcome), span)),
        (None, None, None) if diagnostics.has_error_within(entry.1.span) => None,
        (None, None, None) => {
            Diagnostic::error(entry.0.span, format!("missing number in {what}"))
                .help("try `metric: round_trips`, `audit: NAME` or `outcome: rejected`")
                .add_to(diagnostics);
            None
        }
    }
}

/// The metric of an expectation, with the outcome of the calls that count.
fn metric(
    fields: &Fields,
    outcome: Option<(OutcomeKind, Span)>,
    diagnostics: &mut Diagnostics,
) -> Option<Spanned<ClaimSubject>> {
    let metric = known_metric(&fields.text("metric")?, diagnostics)?;
    let is_time = matches!(metric.value, Metric::Time(_));
    if let (Some((_, span)), false) = (outcome, is_time) {
        let message = format!("`outcome` with `{}`, which is not recorded by outcome", metric.value);
        let help = "leave out `metric` to compare the share of the outcome; only `mean` and quantiles such as `p50` have an `outcome`";
        diagnostics.error(span, message, help);
        return None;
    }
    let outcome = outcome.map(|(outcome, _)| outcome);
    Some(Spanned::new(ClaimSubject::Metric { metric: metric.value, outcome }, metric.span))
}

/// The one comparison of an expectation.
fn compared<'n>(
    fields: &Fields<'n>,
    entry: &Entry,
    what: &str,
    diagnostics: &mut Diagnostics,
) -> Option<(Relation, &'n Entry)> {
    let found: Vec<(Relation, &Entry)> =
        RELATIONS.iter().filter_map(|(key, relation)| Some((*relation, fields.entry(key)?))).collect();
    let (span, message, help) = match found.as_slice() {
        [one] => return Some(*one),
        [] if diagnostics.has_error_within(entry.1.span) => return None,
        [] => (
            entry.0.span,
            format!("missing comparison in {what}"),
            "try `below`, `above` or `equals` with a strategy or a number",
        ),
        [(_, first), (_, second), ..] => (
            second.0.span,
            format!(
                "expected one comparison in {what}, found {} and {}",
                quote(&first.0.value),
                quote(&second.0.value)
            ),
            "keep one of them; two comparisons are two claims",
        ),
    };
    diagnostics.push(Diagnostic::error(span, message).help(help));
    None
}

fn known_metric(name: &Spanned<String>, diagnostics: &mut Diagnostics) -> Option<Spanned<Metric>> {
    if let Some(metric) = Metric::named(&name.value, MetricUse::Claim) {
        return Some(Spanned::new(metric, name.span));
    }
    let known: Vec<&str> = Metric::names(MetricUse::Claim).collect();
    let (message, help) = (format!("unknown metric {}", quote(&name.value)), nearest(&name.value, &known));
    diagnostics.push(Diagnostic::error(name.span, message).label("unknown metric").help(help));
    None
}

/// What an expectation is about.
#[derive(Clone, Copy)]
struct About<'e> {
    subject: &'e ClaimSubject,
    operation: Option<&'e Spanned<String>>,
    strategy: Option<&'e Spanned<String>>,
}

/// What the number is compared with: times only with other times, as they depend on the machine.
fn than(entry: &Entry, relation: Relation, about: About, diagnostics: &mut Diagnostics) -> Option<ClaimBound> {
    let is_time = about.subject.is_measured();
    let subject = quote(&about.subject.name());
    let mut wrong = |span: Span, message: String, help: &str| {
        diagnostics.push(Diagnostic::error(span, message).help(help));
        None
    };
    if is_time && relation == Relation::Equals {
        let message = format!("`equals` with {subject}, which is measured and never exactly equal");
        return wrong(entry.0.span, message, "try `below` or `above`");
    }
    let number = match entry.1.tree {
        Tree::Scalar(Scalar::Int(number)) => Some(number as f64),
        Tree::Scalar(Scalar::Float(number)) => Some(number),
        Tree::Scalar(Scalar::Null | Scalar::Bool(_) | Scalar::Text(_)) | Tree::List(_) | Tree::Mapping(_) => None,
    };
    match (number, entry.1.as_text()) {
        (Some(_), _) if is_time => {
            let message = format!("{subject} depends on the machine and cannot be compared with a number");
            wrong(place(entry), message, "try the name of another strategy")
        }
        (Some(number), _) if number.is_finite() && number >= 0.0 => Some(ClaimBound::Number(number)),
        (Some(_), _) => wrong(place(entry), format!("{subject} is never below 0"), "for example: `1`"),
        (None, Some(name)) if about.strategy.is_some_and(|strategy| strategy.value == name) => {
            wrong(place(entry), format!("{} compared with itself", quote(name)), "try the name of another strategy")
        }
        (None, Some(text)) if !text.trim().is_empty() => Some(ClaimBound::Text(entry.1.clone())),
        (None, None) if entry.1.as_mapping().is_some() => other(entry, about, diagnostics),
        (None, _) => {
            let expected = if is_time { "the name of a strategy" } else { "a number or the name of a strategy" };
            wrong_type(entry, expected, &format!("{}: embedded", entry.0.value), diagnostics);
            None
        }
    }
}

/// The number of another strategy or operation.
fn other(entry: &Entry, about: About, diagnostics: &mut Diagnostics) -> Option<ClaimBound> {
    let what = format!("`{}`", entry.0.value);
    let fields = Fields::read(entry.1.as_mapping()?, &what, entry.0.span, keys::COMPARED, diagnostics);
    let (strategy, operation, times) = (fields.text("strategy"), fields.text("operation"), fields.node("times"));
    if diagnostics.has_error_within(entry.1.span) {
        return None;
    }
    if let (true, Some(operation)) = (about.subject.is_of_strategy(), &operation) {
        of_strategy(about.subject, operation.span, diagnostics);
        return None;
    }
    let is_same = |name: &Option<Spanned<String>>, own: Option<&Spanned<String>>| {
        name.as_ref().is_none_or(|name| own.is_some_and(|own| own.value == name.value))
    };
    if is_same(&strategy, about.strategy) && is_same(&operation, about.operation) {
        let name = about.strategy.map_or("the strategy", |strategy| strategy.value.as_str());
        let help = "try the name of another strategy, or of another operation";
        diagnostics.error(place(entry), format!("{} compared with itself", quote(name)), help);
        return None;
    }
    Some(ClaimBound::Other { strategy, operation, times })
}
