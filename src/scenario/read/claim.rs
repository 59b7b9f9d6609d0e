//! `claims`.

use super::fields::{Entry, Fields, place};
use super::value;
use crate::scenario::claim::{COUNT_METRICS, Claim, Relation, TIME_METRICS, Than, WHOLE_METRICS};
use crate::scenario::quote;
use crate::scenario::{Diagnostic, Diagnostics, Node, Scalar, Span, Spanned, Tree, suggest};

const EXAMPLE: &str = "{ id: C1, says: One read is enough., expect: { metric: round_trips, operation: read, strategy: \
                       embedded, equals: 1 } }";

const EXPECT: &str = "expect: { metric: round_trips, operation: read, strategy: embedded, equals: 1 }";

const RELATIONS: [(&str, Relation); 3] =
    [("below", Relation::Below), ("above", Relation::Above), ("equals", Relation::Equals)];

/// The claims; those that cannot be understood are left out.
pub(super) fn claims(entry: &Entry, diagnostics: &mut Diagnostics) -> Vec<Claim> {
    let example = format!("claims: [{EXAMPLE}]");
    let mut claims: Vec<Claim> = Vec::new();
    for item in value::list(entry, &example, diagnostics).unwrap_or(&[]) {
        let Some(claim) = claim(item, entry.0.span, diagnostics) else { continue };
        match claims.iter().find(|other| other.id.value == claim.id.value) {
            None => claims.push(claim),
            Some(other) => diagnostics.push(
                Diagnostic::error(claim.id.span, format!("there is another claim {}", quote(&claim.id.value)))
                    .label("the same id again")
                    .also(other.id.span, "here first")
                    .help(format!("give each claim an id of its own, such as `{}b`", claim.id.value)),
            ),
        }
    }
    claims
}

fn claim(item: &Node, list: Span, diagnostics: &mut Diagnostics) -> Option<Claim> {
    let span = if item.span.is_empty() { list } else { item.span };
    let Some(entries) = item.as_mapping() else {
        diagnostics.push(
            Diagnostic::error(span, format!("a claim is a mapping, found {}", item.describe()))
                .label("wants a mapping")
                .help(format!("write for example `{EXAMPLE}`")),
        );
        return None;
    };
    let text = |entry: Option<&Entry>, example: &str, diagnostics: &mut Diagnostics| {
        entry.and_then(|entry| value::text(entry, example, diagnostics))
    };
    let id = entries.iter().find(|(key, _)| key.value == "id").and_then(|(_, id)| id.as_text());
    let what = id.map_or_else(|| "a claim".to_owned(), |id| format!("claim {}", quote(id)));
    let mut fields = Fields::new(entries, what.as_str(), span);
    let id = text(fields.required("id", "id: C1"), "id: C1", diagnostics);
    let says = "says: One read is enough.";
    let says = text(fields.required("says", says), says, diagnostics);
    let source = text(fields.optional("source"), "source: MongoDB manual, Data Modeling", diagnostics);
    let expect = fields.required("expect", EXPECT).and_then(|entry| expect(entry, &what, diagnostics));
    fields.finish(diagnostics);
    let Expect { metric, operation, strategy, relation, than } = expect?;
    let (says, source) = (says?.value, source.map(|source| source.value));
    Some(Claim { id: id?, says, source, metric, operation, strategy, relation, than })
}

/// The value of `expect`.
struct Expect {
    metric: Spanned<String>,
    operation: Option<Spanned<String>>,
    strategy: Spanned<String>,
    relation: Relation,
    than: Than,
}

fn expect(entry: &Entry, what: &str, diagnostics: &mut Diagnostics) -> Option<Expect> {
    let mut fields = Fields::of(entry, format!("`expect` of {what}"), EXPECT, diagnostics)?;
    let text = |entry: Option<&Entry>, example: &str, diagnostics: &mut Diagnostics| {
        entry.and_then(|entry| value::text(entry, example, diagnostics))
    };
    let metric = text(fields.required("metric", "metric: round_trips"), "metric: round_trips", diagnostics);
    let metric = metric.filter(|metric| is_metric(metric, diagnostics));
    let is_whole = metric.as_ref().is_some_and(|metric| WHOLE_METRICS.contains(&metric.value.as_str()));
    let operation = match (is_whole, metric.is_some()) {
        (true, _) | (_, false) => fields.optional("operation"),
        _ => fields.required("operation", "operation: read"),
    };
    let operation = text(operation, "operation: read", diagnostics);
    let strategy = text(fields.required("strategy", "strategy: embedded"), "strategy: embedded", diagnostics);
    let relations: Vec<(&Entry, Relation)> =
        RELATIONS.iter().filter_map(|(key, relation)| Some((fields.optional(key)?, *relation))).collect();
    let has_misspelt = fields.misses_any(RELATIONS.map(|(key, _)| key));
    fields.finish(diagnostics);
    let mut wrong = |span: Span, message: String, help: String| {
        diagnostics.push(Diagnostic::error(span, message).help(help));
    };
    let relation = match relations.as_slice() {
        [one] => Some(*one),
        // A misspelt key has been told.
        [] if has_misspelt => None,
        [] => {
            let message = format!("`expect` of {what} compares with nothing");
            wrong(entry.0.span, message, "add `below`, `above` or `equals` with a strategy or a number".to_owned());
            None
        }
        [(first, _), (second, _), ..] => {
            let (first, second) = (quote(&first.0.value), &second.0);
            let message = format!("`expect` of {what} has {first} and {}", quote(&second.value));
            wrong(second.span, message, "keep one of them; two comparisons are two claims".to_owned());
            None
        }
    };
    let (metric, (compared, relation)) = (metric?, relation?);
    if let (true, Some(operation)) = (is_whole, &operation) {
        let metric = quote(&metric.value);
        let message = format!("{metric} is of a whole strategy, not of an operation");
        wrong(operation.span, message, "leave out `operation`".to_owned());
        return None;
    }
    let than = than((compared, relation), &metric, strategy.as_ref(), diagnostics)?;
    (is_whole || operation.is_some()).then_some(())?;
    Some(Expect { metric, operation, strategy: strategy?, relation, than })
}

fn is_metric(metric: &Spanned<String>, diagnostics: &mut Diagnostics) -> bool {
    let known = || TIME_METRICS.into_iter().chain(COUNT_METRICS);
    if known().any(|name| name == metric.value) {
        return true;
    }
    let all: Vec<String> = known().map(quote).collect();
    let mut help = format!("there are {}", all.join(", "));
    if let Some(name) = suggest(&metric.value, known()) {
        help = format!("did you mean {}? {help}", quote(name));
    }
    let message = format!("there is no metric {}", quote(&metric.value));
    diagnostics.push(Diagnostic::error(metric.span, message).label("unknown metric").help(help));
    false
}

/// What the metric is compared with: times with another strategy's, as they depend on the machine.
fn than(
    (entry, relation): (&Entry, Relation),
    metric: &Spanned<String>,
    strategy: Option<&Spanned<String>>,
    diagnostics: &mut Diagnostics,
) -> Option<Than> {
    let is_time = TIME_METRICS.contains(&metric.value.as_str());
    let key = &entry.0;
    let mut wrong = |span: Span, message: String, help: &str| {
        diagnostics.push(Diagnostic::error(span, message).help(help));
        None
    };
    if is_time && relation == Relation::Equals {
        let message = format!("no measurement shows that two of {} are equal", quote(&metric.value));
        return wrong(key.span, message, "write `below` or `above`: `equals` is for what is counted");
    }
    let number = match entry.1.tree {
        Tree::Scalar(Scalar::Int(number)) => Some(number as f64),
        Tree::Scalar(Scalar::Float(number)) => Some(number),
        _ => None,
    };
    match (number, entry.1.as_text()) {
        (Some(_), _) if is_time => {
            let message = format!("{} depends on the machine, so a number says nothing of it", quote(&metric.value));
            wrong(place(entry), message, "name another strategy")
        }
        (Some(number), _) if number.is_finite() && number >= 0.0 => Some(Than::Number(number)),
        (Some(_), _) => {
            wrong(place(entry), format!("{} is never below 0", quote(&metric.value)), "write for example `1`")
        }
        (None, Some(name)) if strategy.is_some_and(|strategy| strategy.value == name) => {
            wrong(place(entry), format!("{} is compared with itself", quote(name)), "name another strategy")
        }
        (None, Some(name)) if !name.trim().is_empty() => {
            Some(Than::Strategy(Spanned::new(name.to_owned(), entry.1.span)))
        }
        _ => {
            let wanted = if is_time { "the name of a strategy" } else { "a number or the name of a strategy" };
            value::wrong_type(entry, wanted, &format!("{}: embedded", key.value), diagnostics);
            None
        }
    }
}
