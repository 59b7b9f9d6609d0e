//! The claims of the scenario and their results.

use crate::record::{Metric, MetricUse};
use crate::report::document::cell::{Cell, Link, Tone};
use crate::report::document::format::{bytes, count, counted, interval, listed, percent, plain, three, time};
use crate::report::document::section::Section;
use crate::report::document::table::{Column, Forms, Measure, Row, Table};
use crate::report::run::claims::ClaimStatement;
use crate::report::run::evaluation::OperationResults;
use crate::report::run::parts::PartEvaluations;
use crate::report::run::verdict_text::VerdictText;
use crate::results::{ClaimRecord, DecidedClaimRecord, Part, Relation, RunRecord, Than};
use crate::stats::{self, ClaimOutcome, ClaimResult, DEAD_ZONE, UndecidedReason};

use super::{cost_id, sizes_id, strategy_id, times_id};

/// How claims are decided, for below the table.
const HOW: &str = "×: the first divided by the second, with a 95 % CI that covers all claims of the scenario at once. They \
                   are a family of their own and are tested like the differences above, so that a claim's interval can be \
                   narrower than the report's. Counts are per call, from the measurement of own costs; they are below or \
                   above when they differ by more than 2 %. Those that vary (journal, cache, retries, write conflicts) also \
                   need rounds that agree.";

/// The heading of the claims that no run could refute.
pub(crate) const BY_DESIGN: &str = "By design";

/// What by design means, for below the table.
const WHY_BY_DESIGN: &str = "These claims follow from the scenario itself, so that no server could refute them. They are not \
                             counted among the results.";

/// A claim and its result.
#[derive(Debug)]
pub(crate) struct ClaimView<'r> {
    claim: &'r ClaimRecord,
    /// The numbers; if undecided, also the reason.
    found: String,
    /// The numbers as such.
    result: ClaimResult,
    /// The row with the number that decides it.
    link: Option<Link>,
}

/// The result of each claim.
pub(crate) fn claims<'r>(record: &'r RunRecord, parts: &PartEvaluations) -> Vec<ClaimView<'r>> {
    let text = &VerdictText { strategies: &parts.main().strategies };
    let results = stats::claim_results(record, parts.all_records());
    let view = |(claim, result): (&'r ClaimRecord, ClaimResult)| ClaimView {
        claim,
        found: found(record, claim, &result, text),
        result,
        link: row_of(parts, claim).map(Link::Row),
    };
    record.claims.iter().zip(results).map(view).collect()
}

/// The result of each claim: those that a run can refute, and those by design.
pub(crate) fn sections(claims: &[ClaimView]) -> [Option<Section>; 2] {
    let mut measures = measures();
    measures.extend([
        Measure::text("measure", "decided by", "What decides it.", |one: &&ClaimView| {
            Cell::text(measure(one.claim)).link(one.link.clone()).remark(format!(": {}", expected(one.claim)))
        })
        .only(Forms::DETAILED),
        data("expected", "What the claim expects of it.", |one| expected(one.claim)),
        data("source", "Where the claim comes from.", |one| optional(&one.claim.source)),
        data(
            "metric",
            "The metric that decides it, as the scenario names it; `null` for an audit or outcome.",
            |one| Cell::value(Some(plain(&one.claim.metric)).filter(|name| !name.is_empty())),
        ),
        data("audit", "The audit whose anomalies decide it, or `null`.", |one| optional(&one.claim.audit)),
        data("outcome", "The outcome of the calls that count, or `null` for all.", |one| optional(&one.claim.outcome)),
        data("operation", "The operation; `null` for a number of the whole run.", |one| optional(&one.claim.operation)),
        data("strategy", "The strategy.", |one| plain(&one.claim.strategy)),
    ]);
    let section = |id, title, is_by_design| {
        let rows = claims.iter().filter(|one| one.claim.by_design == is_by_design);
        let rows = rows.map(|claim| (Row::new(plain(&claim.claim.id)), claim));
        let table = Table::new(id, title, Column::text("id", "id", "Its id."), &measures, rows).list();
        Section::new(id, title).table(table)
    };
    let measured = section("claims", "Claims of the scenario", false).note(HOW).with_rows();
    let by_design = section("claims_by_design", BY_DESIGN, true).note(WHY_BY_DESIGN).with_rows();
    [measured, by_design]
}

/// The columns of claims that every report has.
pub(crate) fn measures<'r>() -> Vec<Measure<'r, &'r ClaimView<'r>>> {
    vec![
        Measure::text("verdict", "verdict", "`confirmed`, `refuted` or `undecided`.", |one| {
            verdict_cell(word(&one.result.outcome))
        }),
        Measure::text("says", "claim", "The claim in a sentence.", |one| {
            let source = one.claim.source.as_ref().map_or_else(String::new, |source| format!("({})", plain(source)));
            let says = plain(&one.claim.says);
            Cell::text(says.clone()).remark(source).with_value(says).tone(Tone::Strong)
        }),
        Measure::text("found", "found", "The numbers; if undecided, also the reason.", |one| {
            Cell::text(one.found.as_str())
        }),
    ]
}

fn data<'r, C: Into<Cell> + 'r>(
    key: &'static str,
    about: &'static str,
    text: fn(&&'r ClaimView<'r>) -> C,
) -> Measure<'r, &'r ClaimView<'r>> {
    Measure::text(key, "", about, text).only(Forms::JSON)
}

fn optional(text: &Option<String>) -> Cell {
    Cell::value(text.as_deref().map(plain))
}

impl<'r> ClaimView<'r> {
    /// The claim, and the result in texts.
    pub(crate) fn statement(self) -> (&'r ClaimRecord, ClaimStatement) {
        let statement = ClaimStatement {
            verdict: word(&self.result.outcome),
            measure: measure(self.claim),
            expected: expected(self.claim),
            found: self.found,
            result: self.result,
        };
        (self.claim, statement)
    }

    /// Whether it follows from the scenario itself.
    pub(crate) fn is_by_design(&self) -> bool {
        self.claim.by_design
    }

    /// The claim as it is counted.
    pub(crate) fn counted(&self) -> CountedClaim {
        match &self.result.outcome {
            _ if self.is_by_design() => CountedClaim::ByDesign,
            ClaimOutcome::Undecided(UndecidedReason::NotMeasured(_) | UndecidedReason::NotInRun(_)) => {
                CountedClaim::NotMeasured
            }
            outcome => CountedClaim::Measured(word(outcome).to_owned()),
        }
    }

    /// The id.
    pub(crate) fn id(&self) -> String {
        plain(&self.claim.id)
    }
}

/// A claim as it is counted.
pub(crate) enum CountedClaim {
    /// It follows from the scenario itself.
    ByDesign,
    /// No run has measured what it is about.
    NotMeasured,
    /// It has this result.
    Measured(String),
}

impl CountedClaim {
    /// A claim after a run for it.
    pub(crate) fn of(claim: &DecidedClaimRecord) -> CountedClaim {
        if claim.by_design { CountedClaim::ByDesign } else { CountedClaim::Measured(claim.verdict.clone()) }
    }
}

/// How many claims of a run have which result; `None` where it measured none.
pub(crate) fn counts(record: &RunRecord, parts: &PartEvaluations) -> Option<String> {
    let claims: Vec<CountedClaim> = claims(record, parts).iter().map(ClaimView::counted).collect();
    let is_measured = |claim: &CountedClaim| matches!(claim, CountedClaim::Measured(_));
    claims.iter().any(is_measured).then(|| count_results(claims.into_iter()))
}

/// How many claims have which result: those by design, and those that were not measured, are counted by themselves.
pub(crate) fn count_results(claims: impl Iterator<Item = CountedClaim>) -> String {
    let (mut measured, mut not_measured, mut by_design) = (Vec::new(), 0_u64, 0_u64);
    for claim in claims {
        match claim {
            CountedClaim::ByDesign => by_design += 1,
            CountedClaim::NotMeasured => not_measured += 1,
            CountedClaim::Measured(verdict) => measured.push(verdict),
        }
    }
    let count = |name: &str| measured.iter().filter(|verdict| *verdict == name).count();
    let results = ["confirmed", "refuted", "undecided"].map(|name| format!("{} {name}", count(name))).join(", ");
    let apart = [(not_measured, "not measured"), (by_design, "by design")];
    let apart = apart.into_iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("; {count} {name}"));
    format!("{}: {results}{}", counted(measured.len() as u64, "measured claim"), apart.collect::<String>())
}

/// A result in a word.
pub(crate) fn word(outcome: &ClaimOutcome) -> &'static str {
    match outcome {
        ClaimOutcome::Confirmed => "confirmed",
        ClaimOutcome::Refuted => "refuted",
        ClaimOutcome::Undecided(_) => "undecided",
    }
}

/// A result in a word, with its mark.
pub(crate) fn verdict_cell(verdict: &str) -> Cell {
    let (mark, tone) = match verdict {
        "confirmed" => ("✓", Tone::Good),
        "refuted" => ("✗", Tone::Bad),
        _ => ("?", Tone::Faint),
    };
    let verdict = plain(verdict);
    Cell::text(format!("{mark} {verdict}")).tone(tone).with_value(verdict)
}

/// The row with the number that decides a claim; `None` where there is no such row.
fn row_of(parts: &PartEvaluations, claim: &ClaimRecord) -> Option<String> {
    let run = parts.main();
    let (name, called) = (plain(&claim.strategy), claim.operation.as_deref().map(plain));
    let strategy = run.strategies.iter().position(|strategy| strategy.name == name)?;
    if run.rounds == 0 {
        return None;
    }
    if claim.audit.is_some() {
        return None;
    }
    match claim.metric.as_str() {
        "" => None,
        "throughput" => Some(strategy_id(strategy)),
        "storage_bytes" | "index_bytes" => {
            (!run.strategies[strategy].collections.is_empty()).then(|| sizes_id(strategy))
        }
        "mean" | "p50" | "p99" => {
            let is_meant = |row: &OperationResults| match &called {
                Some(name) => !row.is_mix && row.name == *name,
                None => row.is_mix,
            };
            run.mix_first().position(is_meant).map(|operation| times_id(operation, strategy))
        }
        _ => {
            let operations = &parts.get(Part::Own)?.costs.operations;
            let operation = operations.iter().position(|cost| Some(&cost.operation) == called.as_ref())?;
            let is_measured = operations[operation].strategies.iter().any(|(other, _)| *other == name);
            is_measured.then(|| cost_id(operation, strategy))
        }
    }
}

fn measure(claim: &ClaimRecord) -> String {
    let operation = claim.operation.as_deref().map_or(String::new(), |name| format!(" of {}", plain(name)));
    if let Some(audit) = &claim.audit {
        return format!("anomalies of {} per round", plain(audit));
    }
    let outcome = claim.outcome.as_deref().map(|outcome| format!("{} calls", plain(outcome)));
    if claim.metric.is_empty() {
        return format!("share of {}{operation}", outcome.unwrap_or_default());
    }
    let metric = Metric::named(&claim.metric, MetricUse::Claim);
    let label = metric.map_or_else(|| plain(&claim.metric), Metric::label);
    match outcome {
        Some(outcome) => format!("{label} of {outcome}{operation}"),
        None => format!("{label}{operation}"),
    }
}

fn expected(claim: &ClaimRecord) -> String {
    let relation = match claim.relation {
        Relation::Below => "below",
        Relation::Above => "above",
        Relation::Equals => "equals",
    };
    let than = match &claim.than {
        Than::Number(number) => value(claim, *number),
        Than::Evaluated { expression, number } => format!("{} ({})", value(claim, *number), plain(expression)),
        Than::Strategy(_) | Than::Other { .. } => other_side(claim).unwrap_or_default(),
    };
    format!("{} {relation} {than}", own_side(claim))
}

/// Whether a claim is about two operations, so that both have to be named.
fn has_two_operations(claim: &ClaimRecord) -> bool {
    matches!(&claim.than, Than::Other { operation, .. } if *operation != claim.operation)
}

fn own_side(claim: &ClaimRecord) -> String {
    let operation = claim.operation.as_deref().filter(|_| has_two_operations(claim));
    side(&claim.strategy, operation)
}

/// What the strategy's number is compared with; `None` for a number.
fn other_side(claim: &ClaimRecord) -> Option<String> {
    match &claim.than {
        Than::Number(_) | Than::Evaluated { .. } => None,
        Than::Strategy(name) => Some(plain(name)),
        Than::Other { strategy, operation, times, expression } => {
            let side = side(strategy, operation.as_deref().filter(|_| has_two_operations(claim)));
            let factor = match expression {
                Some(expression) => format!("{} ({}) × ", three(*times), plain(expression)),
                None if *times == 1.0 => String::new(),
                None => format!("{} × ", three(*times)),
            };
            Some(format!("{factor}{side}"))
        }
    }
}

fn side(strategy: &str, operation: Option<&str>) -> String {
    let operation = operation.map_or(String::new(), |name| format!(" {}", plain(name)));
    format!("{}{operation}", plain(strategy))
}

/// A number of the kind that decides a claim.
fn value(claim: &ClaimRecord, value: f64) -> String {
    if claim.metric.is_empty() && claim.audit.is_none() {
        return percent(value);
    }
    match Metric::named(&claim.metric, MetricUse::Claim) {
        Some(Metric::Time(_) | Metric::Max | Metric::InconsistencyP99) => time(value),
        Some(Metric::Size(_)) => bytes(value),
        Some(Metric::Counter(counter)) => counter.text(value),
        Some(Metric::Throughput | Metric::Failed | Metric::RoundTrips | Metric::Retries) | None => {
            if value.fract() == 0.0 && value >= 0.0 { count(value as u64) } else { three(value) }
        }
    }
}

fn found(record: &RunRecord, claim: &ClaimRecord, result: &ClaimResult, text: &VerdictText) -> String {
    let doubt = match &result.outcome {
        ClaimOutcome::Undecided(UndecidedReason::WithinDeadZone) if result.value == result.against => {
            Some("no difference".to_owned())
        }
        ClaimOutcome::Undecided(doubt) => Some(why(record, doubt, text)),
        ClaimOutcome::Confirmed | ClaimOutcome::Refuted => None,
    };
    let of = |side: &str, number: f64| format!("{side} {}", value(claim, number));
    let mut numbers: Vec<String> = result.value.map(|value| of(&own_side(claim), value)).into_iter().collect();
    numbers.extend(result.against.zip(other_side(claim)).map(|(against, side)| of(&side, against)));
    let ratio = result.ratio.map(|ratio| match result.interval {
        Some(bounds) => format!("× {} (95 % CI {})", three(ratio), interval(bounds.low, bounds.high)),
        None => format!("× {}", three(ratio)),
    });
    numbers.extend(ratio);
    let numbers = Some(numbers.join(", ")).filter(|numbers| !numbers.is_empty());
    doubt.into_iter().chain(numbers).collect::<Vec<_>>().join(": ")
}

fn why(record: &RunRecord, doubt: &UndecidedReason, text: &VerdictText) -> String {
    match doubt {
        UndecidedReason::NotMeasured(options) => {
            let options: Vec<String> = options.iter().map(|option| plain(option)).collect();
            format!("not measured by this run; run with {}", options.join(" "))
        }
        UndecidedReason::NotInRun(names) => {
            let names: Vec<String> = names.iter().map(|name| plain(name)).collect();
            let are = if names.len() == 1 { "is" } else { "are" };
            format!("{} {are} not part of this run", listed(&names))
        }
        UndecidedReason::InvalidRun => "the run is invalid".into(),
        UndecidedReason::SmokePreset => "the preset smoke only checks that everything runs".into(),
        UndecidedReason::NotComparable(reason) => text.reason(*reason),
        UndecidedReason::FewCalls => "too few calls per round exceed the percentile".into(),
        UndecidedReason::NotReported => "this run has no such number".into(),
        UndecidedReason::NotCheckpointed => "files were read without a checkpoint and lag behind".into(),
        UndecidedReason::IncludesOne => "its 95 % CI includes 1".into(),
        UndecidedReason::WithinNoise => {
            format!("within noise ({}, or what the repeat shows)", percent(record.settings.noise))
        }
        UndecidedReason::RoundsDisagree => "lower in some rounds and higher in others".into(),
        UndecidedReason::WithinDeadZone => format!("the difference is below {}", percent(DEAD_ZONE)),
        UndecidedReason::UnknownMetric => "this version has no such metric".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::sample;

    fn claimed(rounds: u64) -> RunRecord {
        let claim = |id: &str, metric: &str, operation: Option<&str>, relation, than| ClaimRecord {
            id: id.into(),
            says: format!("{id} says <so>."),
            source: (id == "C1").then(|| "a | book".to_owned()),
            metric: metric.into(),
            operation: operation.map(str::to_owned),
            strategy: "linked".into(),
            relation,
            than,
            ..ClaimRecord::default()
        };
        let embedded = || Than::Strategy("embedded".into());
        let mut run = sample::run(rounds);
        run.claims = vec![
            claim("C1", "p50", Some("add_comment"), Relation::Below, embedded()),
            claim("C2", "round_trips", Some("read_post"), Relation::Equals, Than::Number(1.0)),
            claim("C3", "throughput", None, Relation::Above, embedded()),
            claim("C4", "mean", Some("count"), Relation::Below, embedded()),
            claim("C5", "p99", Some("gone"), Relation::Below, Than::Strategy("other".into())),
            claim("C6", "storage_bytes", None, Relation::Above, embedded()),
        ];
        run
    }

    /// The result of each claim in a word, and what was found.
    fn results(run: &RunRecord) -> Vec<(&'static str, String)> {
        let run = sample::whole(run);
        claims(&run, &PartEvaluations::new(&run))
            .into_iter()
            .map(|claim| (word(&claim.result.outcome), claim.found))
            .collect()
    }

    #[test]
    fn claims_have_a_result_and_numbers() {
        let run = claimed(8);
        let texts = results(&run).into_iter().zip(&run.claims);
        let texts: Vec<String> = texts.map(|((word, found), claim)| format!("{} {word}: {found}", claim.id)).collect();
        insta::assert_snapshot!(texts.join("\n"));
    }

    #[test]
    fn few_rounds_decide_counts_and_invalid_runs_nothing() {
        let verdicts = |run: &RunRecord| -> Vec<&str> { results(run).into_iter().map(|(word, _)| word).collect() };
        let mut run = claimed(2);
        assert_eq!(verdicts(&run), ["undecided", "refuted", "undecided", "undecided", "undecided", "refuted"]);
        run.rounds[0].cells[0].connections_created = 1;
        assert_eq!(verdicts(&run), ["undecided"; 6]);
        assert_eq!(verdicts(&claimed(0))[1], "undecided");
    }
}
