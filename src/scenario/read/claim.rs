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
pub(super) fn claims(fields: &Fields) -> Vec<ClaimDefinition> {
    let Some(entry) = fields.entry("claims") else { return Vec::new() };
    let mut claims: Vec<ClaimDefinition> = Vec::new();
    for item in fields.items("claims") {
        let Some(claim) = claim(item, entry.0.span, fields.diagnostics) else { continue };
        match claims.iter().find(|other| other.id.value == claim.id.value) {
            None => claims.push(claim),
            Some(other) => Diagnostic::error(claim.id.span, format!("duplicate claim {}", quote(&claim.id.value)))
                .label("second claim of this id")
                .also(other.id.span, "first claim")
                .help(format!("give each claim its own id, for example `{}b`", claim.id.value))
                .add_to(fields.diagnostics),
        }
    }
    claims
}

fn claim(item: &Node, list: Span, diagnostics: &Diagnostics) -> Option<ClaimDefinition> {
    let span = item.span_or(list);
    let Some(entries) = item.as_mapping() else {
        let help = "for example: `{ id: C1, says: One read is enough., expect: ... }`";
        diagnostics.labelled(span, format!("expected a mapping, found {}", item.describe()), "not a claim", help);
        return None;
    };
    let id = item.get("id").and_then(Node::as_text);
    let what = id.map_or_else(|| "a claim".to_owned(), |id| format!("claim {}", quote(id)));
    let fields = Fields::read(entries, &what, span, keys::CLAIM, diagnostics);
    let expectation = Expectation::read(fields.entry("expect")?, format!("`expect` of {what}"), diagnostics)?;
    let (subject, compared) = (expectation.subject(), expectation.compared());
    let about = expectation.about(subject?)?;
    let (entry, relation) = compared?;
    let than = about.than(entry, relation, diagnostics)?;
    let About { subject, operation, strategy } = about;
    if operation.is_none() && !subject.value.is_of_strategy() {
        return None;
    }
    let strategy = strategy?;
    let by_design = fields.boolean("by_design").filter(|by_design| by_design.value);
    if let (Some(by_design), true) = (&by_design, subject.value.is_measured()) {
        let message = format!("`by_design` with `{}`, which only a run can decide", subject.value.name());
        let help = "leave out `by_design`, or compare a count such as `round_trips`";
        return diagnostics.reject(by_design.span, message, help);
    }
    Some(ClaimDefinition {
        id: fields.text("id")?,
        says: fields.text("says")?.value,
        source: fields.text("source").map(|source| source.value),
        is_by_design: by_design.is_some(),
        needs_cluster: fields.text("needs").is_some(),
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
struct Expectation<'n> {
    entry: &'n Entry,
    fields: Fields<'n>,
    /// What it is, for messages.
    what: String,
    diagnostics: &'n Diagnostics,
}

impl<'n> Expectation<'n> {
    fn read(entry: &'n Entry, what: String, diagnostics: &'n Diagnostics) -> Option<Expectation<'n>> {
        let fields = Fields::read(entry.1.as_mapping()?, &what, entry.0.span, keys::EXPECTATION, diagnostics);
        Some(Expectation { entry, fields, what, diagnostics })
    }

    /// The one number.
    fn subject(&self) -> Option<Spanned<ClaimSubject>> {
        let two = |span: Span, found: &str| {
            let message = format!("expected one number in {}, found {found}", self.what);
            self.diagnostics.reject(span, message, "keep one of them; two numbers are two claims")
        };
        let outcome = self.fields.text("outcome");
        let outcome = outcome.and_then(|name| Some(Spanned::new(OutcomeKind::named(&name.value)?, name.span)));
        match (self.fields.entry("metric"), self.fields.entry("audit"), outcome) {
            (Some(_), Some(audit), _) => two(audit.0.span, "`metric` and `audit`"),
            (None, Some(_), Some(outcome)) => two(outcome.span, "`audit` and `outcome`"),
            (Some(_), None, outcome) => self.metric(outcome),
            (None, Some(_), None) => {
                self.fields.text("audit").map(|name| Spanned::new(ClaimSubject::Audit(name.value), name.span))
            }
            (None, None, Some(outcome)) => Some(Spanned::new(ClaimSubject::Outcome(outcome.value), outcome.span)),
            (None, None, None) if self.diagnostics.has_error_within(self.entry.1.span) => None,
            (None, None, None) => {
                let help = "try `metric: round_trips`, `audit: NAME` or `outcome: rejected`";
                self.diagnostics.reject(self.entry.0.span, format!("missing number in {}", self.what), help)
            }
        }
    }

    /// The metric, with the outcome of the calls that count.
    fn metric(&self, outcome: Option<Spanned<OutcomeKind>>) -> Option<Spanned<ClaimSubject>> {
        let name = self.fields.text("metric")?;
        let Some(metric) = Metric::named(&name.value, MetricUse::Claim) else {
            let known: Vec<&str> = Metric::names(MetricUse::Claim).collect();
            let message = format!("unknown metric {}", quote(&name.value));
            let help = nearest(&name.value, &known);
            self.diagnostics.labelled(name.span, message, "unknown metric", help);
            return None;
        };
        if let (Some(outcome), false) = (&outcome, matches!(metric, Metric::Time(_))) {
            let message = format!("`outcome` with `{metric}`, which is not recorded by outcome");
            let help = "leave out `metric` to compare the share of the outcome; only `mean` and quantiles such as `p50` have an `outcome`";
            return self.diagnostics.reject(outcome.span, message, help);
        }
        let outcome = outcome.map(|outcome| outcome.value);
        Some(Spanned::new(ClaimSubject::Metric { metric, outcome }, name.span))
    }

    /// The one comparison.
    fn compared(&self) -> Option<(&'n Entry, Relation)> {
        let relation = |(key, relation): &(&str, Relation)| Some((self.fields.entry(key)?, *relation));
        let found: Vec<(&Entry, Relation)> = RELATIONS.iter().filter_map(relation).collect();
        match found.as_slice() {
            [one] => Some(*one),
            [] if self.diagnostics.has_error_within(self.entry.1.span) => None,
            [] => {
                let help = "try `below`, `above` or `equals` with a strategy or a number";
                self.diagnostics.reject(self.entry.0.span, format!("missing comparison in {}", self.what), help)
            }
            [(first, _), (second, _), ..] => {
                let keys = format!("{} and {}", quote(&first.0.value), quote(&second.0.value));
                let message = format!("expected one comparison in {}, found {keys}", self.what);
                let help = "keep one of them; two comparisons are two claims";
                self.diagnostics.reject(second.0.span, message, help)
            }
        }
    }

    /// The number with its operation, which only numbers of whole strategies lack.
    fn about(&self, subject: Spanned<ClaimSubject>) -> Option<About> {
        let about = About { subject, operation: self.fields.text("operation"), strategy: self.fields.text("strategy") };
        about.check_operation(about.operation.as_ref(), self.diagnostics)?;
        if !about.subject.value.is_of_strategy() && self.fields.entry("operation").is_none() {
            let key = keys::EXPECTATION.iter().find(|key| key.name == "operation")?;
            missing(key, &self.what, self.entry.0.span, self.diagnostics);
        }
        Some(about)
    }
}

/// What an expectation is about.
struct About {
    subject: Spanned<ClaimSubject>,
    operation: Option<Spanned<String>>,
    strategy: Option<Spanned<String>>,
}

impl About {
    /// Reports an operation of a number that belongs to a strategy.
    fn check_operation(&self, operation: Option<&Spanned<String>>, diagnostics: &Diagnostics) -> Option<()> {
        let subject = &self.subject.value;
        let Some(operation) = operation.filter(|_| subject.is_of_strategy()) else { return Some(()) };
        let message = format!("`{}` belongs to a strategy, not to an operation", subject.name());
        let help = match subject {
            ClaimSubject::Metric { metric: Metric::Counter(_), .. } => "leave out `operation`, or try `retries`",
            ClaimSubject::Metric { .. } | ClaimSubject::Audit(_) | ClaimSubject::Outcome(_) => "leave out `operation`",
        };
        diagnostics.reject(operation.span, message, help)
    }

    /// What the number is compared with: times only with other times, as they depend on the machine.
    fn than(&self, entry: &Entry, relation: Relation, diagnostics: &Diagnostics) -> Option<ClaimBound> {
        let is_time = self.subject.value.is_measured();
        let subject = quote(&self.subject.value.name());
        if is_time && relation == Relation::Equals {
            let message = format!("`equals` with {subject}, which is measured and never exactly equal");
            return diagnostics.reject(entry.0.span, message, "try `below` or `above`");
        }
        let wrong = |message: String, help: &str| diagnostics.reject(place(entry), message, help);
        let number = match entry.1.tree {
            Tree::Scalar(Scalar::Int(number)) => Some(number as f64),
            Tree::Scalar(Scalar::Float(number)) => Some(number),
            Tree::Scalar(Scalar::Null | Scalar::Bool(_) | Scalar::Text(_)) | Tree::List(_) | Tree::Mapping(_) => None,
        };
        match (number, entry.1.as_text()) {
            (Some(_), _) if is_time => {
                let message = format!("{subject} depends on the machine and cannot be compared with a number");
                wrong(message, "try the name of another strategy")
            }
            (Some(number), _) if number.is_finite() && number >= 0.0 => Some(ClaimBound::Number(number)),
            (Some(_), _) => wrong(format!("{subject} is never below 0"), "for example: `1`"),
            (None, Some(name)) if self.strategy.as_ref().is_some_and(|strategy| strategy.value == name) => {
                wrong(format!("{} compared with itself", quote(name)), "try the name of another strategy")
            }
            (None, Some(text)) if !text.trim().is_empty() => Some(ClaimBound::Text(entry.1.clone())),
            (None, None) if entry.1.as_mapping().is_some() => self.other(entry, diagnostics),
            (None, _) => {
                let expected = if is_time { "the name of a strategy" } else { "a number or the name of a strategy" };
                wrong_type(entry, expected, &format!("{}: embedded", entry.0.value), diagnostics);
                None
            }
        }
    }

    /// The number of another strategy or operation.
    fn other(&self, entry: &Entry, diagnostics: &Diagnostics) -> Option<ClaimBound> {
        let what = format!("`{}`", entry.0.value);
        let fields = Fields::read(entry.1.as_mapping()?, &what, entry.0.span, keys::COMPARED, diagnostics);
        let (strategy, operation, times) = (fields.text("strategy"), fields.text("operation"), fields.node("times"));
        if diagnostics.has_error_within(entry.1.span) {
            return None;
        }
        self.check_operation(operation.as_ref(), diagnostics)?;
        let is_same = |name: &Option<Spanned<String>>, own: &Option<Spanned<String>>| {
            name.as_ref().is_none_or(|name| own.as_ref().is_some_and(|own| own.value == name.value))
        };
        if is_same(&strategy, &self.strategy) && is_same(&operation, &self.operation) {
            let name = self.strategy.as_ref().map_or("the strategy", |strategy| strategy.value.as_str());
            let help = "try the name of another strategy, or of another operation";
            return diagnostics.reject(place(entry), format!("{} compared with itself", quote(name)), help);
        }
        Some(ClaimBound::Other { strategy, operation, times })
    }
}
