//! The claims of the scenario and their results.

use crate::record::{Metric, MetricUse};
use crate::results::{ClaimRecord, Relation, RunRecord, Than};
use crate::stats::{self, ClaimOutcome, ClaimResult, DEAD_ZONE, UndecidedReason};

use super::evaluation::Evaluation;
use super::format::{bytes, count, interval, listed, percent, plain, three, time};
use super::verdict_text::VerdictText;

/// A claim and its result.
#[derive(Debug, Clone)]
pub struct ClaimView {
    /// Its id.
    pub id: String,
    /// The claim in a sentence.
    pub says: String,
    /// Where it comes from.
    pub source: Option<String>,
    /// The metric and the operation that decide it.
    pub measure: String,
    /// The expected comparison.
    pub expected: String,
    /// The result.
    pub verdict: ClaimVerdict,
    /// The numbers; if undecided, also the reason.
    pub found: String,
    /// The number that decides it, for links.
    pub cell: ClaimCell,
}

/// Which number of a run decides a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimCell {
    /// The metric, as the scenario names it.
    pub metric: String,
    /// The operation; `None` for a number of the whole run.
    pub operation: Option<String>,
    /// The strategy.
    pub strategy: String,
}

/// The result of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimVerdict {
    /// It is true in this run.
    Confirmed,
    /// The opposite is true.
    Refuted,
    /// The run does not decide it.
    Undecided,
}

impl ClaimVerdict {
    /// The result in a word.
    pub fn word(self) -> &'static str {
        match self {
            ClaimVerdict::Confirmed => "confirmed",
            ClaimVerdict::Refuted => "refuted",
            ClaimVerdict::Undecided => "undecided",
        }
    }

    /// The result as a character.
    pub fn mark(self) -> &'static str {
        match self {
            ClaimVerdict::Confirmed => "✓",
            ClaimVerdict::Refuted => "✗",
            ClaimVerdict::Undecided => "?",
        }
    }
}

/// How claims are decided, for below the table.
pub(super) const HOW: &str = "×: the first divided by the second. A 95 % CI that excludes 1 decides: the report's own for a mean \
                              against the baseline, else a t interval over the rounds' ratios, for this pair alone. Counts are \
                              per call, from the measurement of own costs; they are below or above when they differ by more than 2 %.";

/// The result of each claim.
pub(super) fn claims(record: &RunRecord, run: &Evaluation) -> Vec<ClaimView> {
    let text = &VerdictText { strategies: &run.strategies };
    let comparison = |operation: usize, strategy: usize| {
        let compared = run.comparisons.iter().find(|one| one.operation == Some(operation))?;
        compared.with_baseline(strategy).cloned()
    };
    let results = stats::claim_results(record, &comparison);
    let view = |(claim, result): (&ClaimRecord, ClaimResult)| ClaimView {
        id: plain(&claim.id),
        says: plain(&claim.says),
        source: claim.source.as_deref().map(plain),
        measure: measure(claim),
        expected: expected(claim),
        verdict: match result.outcome {
            ClaimOutcome::Confirmed => ClaimVerdict::Confirmed,
            ClaimOutcome::Refuted => ClaimVerdict::Refuted,
            ClaimOutcome::Undecided(_) => ClaimVerdict::Undecided,
        },
        found: found(record, claim, &result, text),
        cell: ClaimCell {
            metric: plain(&claim.metric),
            operation: claim.operation.as_deref().map(plain),
            strategy: plain(&claim.strategy),
        },
    };
    record.claims.iter().zip(results).map(view).collect()
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
        _ => None,
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
        UndecidedReason::OpenLoad => "with open load the rate is the throughput of every strategy".into(),
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
    use crate::report::Report;
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

    #[test]
    fn claims_have_a_result_and_numbers() {
        let report = Report::new(&claimed(8));
        let said = |claim: &ClaimView| format!("{} {}: {}", claim.id, claim.verdict.word(), claim.found);
        insta::assert_snapshot!(report.claims.iter().map(said).collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn few_rounds_decide_counts_and_invalid_runs_nothing() {
        let verdicts = |run: &RunRecord| -> Vec<ClaimVerdict> {
            Report::new(run).claims.iter().map(|claim| claim.verdict).collect()
        };
        use ClaimVerdict::{Refuted, Undecided};
        let mut run = claimed(2);
        assert_eq!(verdicts(&run), [Undecided, Refuted, Undecided, Undecided, Undecided, Refuted]);
        run.rounds[0].cells[0].connections_created = 1;
        assert_eq!(verdicts(&run), [Undecided; 6]);
        assert_eq!(verdicts(&claimed(0))[1], Refuted, "own costs are measured before the first round");
    }
}
