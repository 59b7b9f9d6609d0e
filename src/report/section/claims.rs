//! The claims of the scenario and their results.

use crate::record::{Metric, MetricUse};
use crate::report::cell::{Cell, Link, Tone};
use crate::report::evaluation::OperationResults;
use crate::report::format::{bytes, count, interval, listed, percent, plain, three, time};
use crate::report::parts::PartEvaluations;
use crate::report::section::{Section, cost_id, sizes_id, strategy_id, times_id};
use crate::report::table::{Column, Forms, Measure, Row, Table};
use crate::report::verdict_text::VerdictText;
use crate::results::{ClaimRecord, Part, Relation, RunRecord, Than};
use crate::stats::{self, ClaimOutcome, ClaimResult, DEAD_ZONE, UndecidedReason};

type ClaimMeasure<'r> = Measure<&'r ClaimView<'r>>;

/// How claims are decided, for below the table.
const HOW: &str = "×: the first divided by the second, with a 95 % CI that covers all claims of the scenario at once. They \
                   are a family of their own and are tested like the differences above, so that a claim's interval can be \
                   narrower than the report's. Counts are per call, from the measurement of own costs; they are below or \
                   above when they differ by more than 2 %.";

/// A claim and its result.
#[derive(Debug)]
pub(in crate::report) struct ClaimView<'r> {
    claim: &'r ClaimRecord,
    /// What is true in this run.
    pub(in crate::report) outcome: ClaimOutcome,
    /// The numbers; if undecided, also the reason.
    found: String,
    /// The row with the number that decides it.
    link: Option<Link>,
}

/// The result of each claim.
pub(in crate::report) fn claims<'r>(record: &'r RunRecord, parts: &PartEvaluations) -> Vec<ClaimView<'r>> {
    let text = &VerdictText { strategies: &parts.main().strategies };
    let results = stats::claim_results(record, parts.all_records());
    let view = |(claim, result): (&'r ClaimRecord, ClaimResult)| ClaimView {
        claim,
        found: found(record, claim, &result, text),
        outcome: result.outcome,
        link: row_of(parts, claim).map(Link::Row),
    };
    record.claims.iter().zip(results).map(view).collect()
}

/// The result of each claim; `None` without claims.
pub(super) fn section(claims: &[ClaimView]) -> Option<Section> {
    let mut measures = measures();
    measures.extend([
        ClaimMeasure::text("measure", "decided by", "What decides it.", |one| {
            Cell::text(measure(one.claim)).link(one.link.clone()).remark(format!(": {}", expected(one.claim)))
        })
        .only(Forms::DETAILED),
        data("expected", "What the claim expects of it.", |one| Cell::text(expected(one.claim))),
        data("source", "Where the claim comes from.", |one| optional(&one.claim.source)),
        data("metric", "The metric that decides it, as the scenario names it.", |one| {
            Cell::text(plain(&one.claim.metric))
        }),
        data("operation", "The operation; `null` for a number of the whole run.", |one| optional(&one.claim.operation)),
        data("strategy", "The strategy.", |one| Cell::text(plain(&one.claim.strategy))),
    ]);
    let rows = claims.iter().map(|claim| (Row::new(plain(&claim.claim.id)), claim));
    let name = Column::text("id", "id", "Its id.");
    let table = Table::new("claims", "Claims of the scenario", name, &measures, rows).list();
    Section::new("claims", "Claims of the scenario").table(table).note(HOW).with_rows()
}

/// The columns of claims that every report has.
pub(in crate::report) fn measures<'r>() -> Vec<ClaimMeasure<'r>> {
    vec![
        ClaimMeasure::text("verdict", "verdict", "`confirmed`, `refuted` or `undecided`.", |one| verdict(&one.outcome)),
        ClaimMeasure::text("says", "claim", "The claim in a sentence.", |one| {
            let source = one.claim.source.as_ref().map_or_else(String::new, |source| format!("({})", plain(source)));
            let says = plain(&one.claim.says);
            Cell::text(says.clone()).remark(source).with_value(says).tone(Tone::Strong)
        }),
        ClaimMeasure::text("found", "found", "The numbers; if undecided, also the reason.", |one| {
            Cell::text(&one.found)
        }),
    ]
}

fn data<'r>(key: &'static str, about: &'static str, cell: fn(&&'r ClaimView<'r>) -> Cell) -> ClaimMeasure<'r> {
    ClaimMeasure::text(key, "", about, cell).only(Forms::JSON)
}

fn optional(text: &Option<String>) -> Cell {
    Cell::value(text.as_deref().map(plain))
}

impl ClaimView<'_> {
    /// The id.
    pub(in crate::report) fn id(&self) -> String {
        plain(&self.claim.id)
    }
}

/// A result in a word.
pub(in crate::report) fn word(outcome: &ClaimOutcome) -> &'static str {
    match outcome {
        ClaimOutcome::Confirmed => "confirmed",
        ClaimOutcome::Refuted => "refuted",
        ClaimOutcome::Undecided(_) => "undecided",
    }
}

fn verdict(outcome: &ClaimOutcome) -> Cell {
    let (mark, tone) = match outcome {
        ClaimOutcome::Confirmed => ("✓", Tone::Good),
        ClaimOutcome::Refuted => ("✗", Tone::Bad),
        ClaimOutcome::Undecided(_) => ("?", Tone::Faint),
    };
    Cell::text(format!("{mark} {}", word(outcome))).tone(tone).with_value(word(outcome))
}

/// The row with the number that decides a claim; `None` where there is no such row.
fn row_of(parts: &PartEvaluations, claim: &ClaimRecord) -> Option<String> {
    let run = parts.main();
    let (name, called) = (plain(&claim.strategy), claim.operation.as_deref().map(plain));
    let strategy = run.strategies.iter().position(|strategy| strategy.name == name)?;
    if run.rounds == 0 {
        return None;
    }
    match claim.metric.as_str() {
        "throughput" => Some(strategy_id(strategy)),
        "storage_bytes" => (!run.strategies[strategy].collections.is_empty()).then(|| sizes_id(strategy)),
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
    let metric = Metric::named(&claim.metric, MetricUse::Claim);
    format!("{}{operation}", metric.map_or_else(|| plain(&claim.metric), Metric::label))
}

fn expected(claim: &ClaimRecord) -> String {
    let relation = match claim.relation {
        Relation::Below => "below",
        Relation::Above => "above",
        Relation::Equals => "equals",
    };
    let than = match &claim.than {
        Than::Number(number) => value(&claim.metric, *number),
        Than::Strategy(name) => plain(name),
    };
    format!("{} {relation} {than}", plain(&claim.strategy))
}

/// A number of a metric.
fn value(metric: &str, value: f64) -> String {
    match Metric::named(metric, MetricUse::Claim) {
        Some(Metric::Time(_) | Metric::Max) => time(value),
        Some(Metric::StorageBytes) => bytes(value),
        Some(Metric::Counter(counter)) => counter.text(value),
        Some(Metric::Throughput | Metric::Failed | Metric::RoundTrips) | None => {
            if value.fract() == 0.0 && value >= 0.0 { count(value as u64) } else { three(value) }
        }
    }
}

fn found(record: &RunRecord, claim: &ClaimRecord, result: &ClaimResult, text: &VerdictText) -> String {
    let doubt = match &result.outcome {
        ClaimOutcome::Undecided(doubt) => Some(why(record, doubt, text)),
        ClaimOutcome::Confirmed | ClaimOutcome::Refuted => None,
    };
    let of = |strategy: &str, number: f64| format!("{} {}", plain(strategy), value(&claim.metric, number));
    let mut numbers: Vec<String> = result.value.map(|value| of(&claim.strategy, value)).into_iter().collect();
    if let (Some(against), Than::Strategy(name)) = (result.against, &claim.than) {
        numbers.push(of(name, against));
    }
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
        claims(&run, &PartEvaluations::new(&run)).into_iter().map(|claim| (word(&claim.outcome), claim.found)).collect()
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
