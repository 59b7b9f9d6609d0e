//! `claims`.

use super::entry::{Entry, place, wrong_type};
use super::fields::{Fields, missing};
use crate::record::{Metric, MetricUse, Relation};
use crate::scenario::{
    Diagnostic, Diagnostics, Node, Scalar, Span, Spanned, Tree,
    claim::{ClaimBound, ClaimDefinition},
    keys, nearest, quote,
};

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
    let Expectation { metric, operation, strategy, relation, than } = expectation?;
    let (says, source) = (fields.text("says")?.value, fields.text("source").map(|source| source.value));
    Some(ClaimDefinition { id: fields.text("id")?, says, source, metric, operation, strategy, relation, than })
}

/// The value of `expect`.
struct Expectation {
    metric: Spanned<Metric>,
    operation: Option<Spanned<String>>,
    strategy: Spanned<String>,
    relation: Relation,
    than: ClaimBound,
}

fn expectation(entry: &Entry, claim: &str, diagnostics: &mut Diagnostics) -> Option<Expectation> {
    let what = format!("`expect` of {claim}");
    let fields = Fields::read(entry.1.as_mapping()?, &what, entry.0.span, keys::EXPECTATION, diagnostics);
    let metric = fields.text("metric").and_then(|name| known_metric(&name, diagnostics));
    let is_whole = metric.as_ref().is_some_and(|metric| metric.value.is_of_strategy());
    let operation = fields.text("operation");
    let compared = compared(&fields, entry, &what, diagnostics);
    let metric = metric?;
    if let (true, Some(operation)) = (is_whole, &operation) {
        let message = format!("`{}` belongs to a strategy, not to an operation", metric.value);
        diagnostics.push(Diagnostic::error(operation.span, message).help("leave out `operation`"));
        return None;
    }
    if !is_whole && fields.entry("operation").is_none() {
        let key = keys::EXPECTATION.iter().find(|key| key.name == "operation");
        key.into_iter().for_each(|key| missing(key, &what, entry.0.span, diagnostics));
    }
    let (relation, compared) = compared?;
    let strategy = fields.text("strategy");
    let than = than(compared, relation, &metric, strategy.as_ref(), diagnostics)?;
    (is_whole || operation.is_some()).then_some(())?;
    Some(Expectation { metric, operation, strategy: strategy?, relation, than })
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

/// What the metric is compared with: times only with another strategy's, as they depend on the machine.
fn than(
    entry: &Entry,
    relation: Relation,
    metric: &Spanned<Metric>,
    strategy: Option<&Spanned<String>>,
    diagnostics: &mut Diagnostics,
) -> Option<ClaimBound> {
    let is_time = metric.value.is_measured();
    let metric = quote(&metric.value.to_string());
    let mut wrong = |span: Span, message: String, help: &str| {
        diagnostics.push(Diagnostic::error(span, message).help(help));
        None
    };
    if is_time && relation == Relation::Equals {
        let message = format!("`equals` with {metric}, which is measured and never exactly equal");
        return wrong(entry.0.span, message, "try `below` or `above`");
    }
    let number = match entry.1.tree {
        Tree::Scalar(Scalar::Int(number)) => Some(number as f64),
        Tree::Scalar(Scalar::Float(number)) => Some(number),
        Tree::Scalar(Scalar::Null | Scalar::Bool(_) | Scalar::Text(_)) | Tree::List(_) | Tree::Mapping(_) => None,
    };
    match (number, entry.1.as_text()) {
        (Some(_), _) if is_time => {
            let message = format!("{metric} depends on the machine and cannot be compared with a number");
            wrong(place(entry), message, "try the name of another strategy")
        }
        (Some(number), _) if number.is_finite() && number >= 0.0 => Some(ClaimBound::Number(number)),
        (Some(_), _) => wrong(place(entry), format!("{metric} is never below 0"), "for example: `1`"),
        (None, Some(name)) if strategy.is_some_and(|strategy| strategy.value == name) => {
            wrong(place(entry), format!("{} compared with itself", quote(name)), "try the name of another strategy")
        }
        (None, Some(name)) if !name.trim().is_empty() => {
            Some(ClaimBound::Strategy(Spanned::new(name.to_owned(), entry.1.span)))
        }
        (None, _) => {
            let expected = if is_time { "the name of a strategy" } else { "a number or the name of a strategy" };
            wrong_type(entry, expected, &format!("{}: embedded", entry.0.value), diagnostics);
            None
        }
    }
}
