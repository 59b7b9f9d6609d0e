//! The scenario's claims, and what the run says of them.

use crate::results::{ClaimRecord, Relation, RunRecord, Than};
use crate::stats::{self, DEAD_ZONE, Doubt, Finding, Ruling};

use super::answers::Answer;
use super::format::{bytes, count, listed, percent, plain, three, time};
use super::words::Speaker;

/// A claim in a report.
#[derive(Debug, Clone)]
pub struct ClaimView {
    /// What it is called by.
    pub id: String,
    /// It in a sentence.
    pub says: String,
    /// Where it comes from, when the scenario tells.
    pub source: Option<String>,
    /// What of the run decides it: a metric, and of which operation.
    pub measure: String,
    /// How the strategy's is said to compare.
    pub expected: String,
    /// Whether it holds.
    pub verdict: ClaimVerdict,
    /// The numbers, and why nothing is decided where that is so.
    pub found: String,
    /// The number that decides it, so that a reader is led there.
    pub cell: ClaimCell,
}

/// Which number of a run decides a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimCell {
    /// The metric, as the scenario names it.
    pub metric: String,
    /// The operation; `None` for what is of the whole run.
    pub operation: Option<String>,
    /// The strategy.
    pub strategy: String,
}

/// Whether a claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimVerdict {
    /// It does.
    Confirmed,
    /// The opposite does.
    Refuted,
    /// The run cannot tell.
    Undecided,
}

impl ClaimVerdict {
    /// It in a word.
    pub fn word(self) -> &'static str {
        match self {
            ClaimVerdict::Confirmed => "confirmed",
            ClaimVerdict::Refuted => "refuted",
            ClaimVerdict::Undecided => "undecided",
        }
    }

    /// It in a character.
    pub fn mark(self) -> &'static str {
        match self {
            ClaimVerdict::Confirmed => "✓",
            ClaimVerdict::Refuted => "✗",
            ClaimVerdict::Undecided => "?",
        }
    }
}

/// How claims are decided, for below the table.
pub(super) const HOW: &str = "×: the first in relation to the second; the 95 % interval in brackets decides when it does not hold \
                              1. For a mean against the reference it is the report's; else it is a t interval over the rounds' \
                              ratios, for this pair alone. Counts are per call, from the cost pass; below or above are those \
                              that differ by more than 2 %.";

/// What the run says of each claim.
pub(super) fn claims(record: &RunRecord, answers: &[Answer], speaker: &Speaker) -> Vec<ClaimView> {
    let comparison = |operation: usize, strategy: usize| {
        let answer = answers.iter().find(|answer| answer.operation == Some(operation))?;
        answer.comparison(strategy).cloned()
    };
    let findings = stats::findings(record, &comparison);
    let view = |(claim, finding): (&ClaimRecord, Finding)| ClaimView {
        id: plain(&claim.id),
        says: plain(&claim.says),
        source: claim.source.as_deref().map(plain),
        measure: measure(claim),
        expected: expected(claim),
        verdict: match finding.ruling {
            Ruling::Confirmed => ClaimVerdict::Confirmed,
            Ruling::Refuted => ClaimVerdict::Refuted,
            Ruling::Undecided(_) => ClaimVerdict::Undecided,
        },
        found: found(record, claim, &finding, speaker),
        cell: ClaimCell {
            metric: plain(&claim.metric),
            operation: claim.operation.as_deref().map(plain),
            strategy: plain(&claim.strategy),
        },
    };
    record.claims.iter().zip(findings).map(view).collect()
}

/// A metric for people.
fn label(metric: &str) -> String {
    match metric {
        "mean" => "mean time".into(),
        "throughput" => "calls per second".into(),
        "docs_examined" => "documents examined".into(),
        "oplog_bytes" => "bytes in the oplog".into(),
        "storage_bytes" => "bytes of collections and indexes".into(),
        other => plain(other).replace('_', " "),
    }
}

fn measure(claim: &ClaimRecord) -> String {
    let operation = claim.operation.as_deref().map_or(String::new(), |name| format!(" of {}", plain(name)));
    format!("{}{operation}", label(&claim.metric))
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
    match metric {
        "p50" | "p99" | "mean" => time(value),
        "bytes_out" | "oplog_bytes" | "storage_bytes" => bytes(value),
        _ if value.fract() == 0.0 && value >= 0.0 => count(value as u64),
        _ => three(value),
    }
}

fn found(record: &RunRecord, claim: &ClaimRecord, finding: &Finding, speaker: &Speaker) -> String {
    let doubt = match &finding.ruling {
        Ruling::Undecided(doubt) => Some(why(record, doubt, speaker)),
        _ => None,
    };
    let of = |strategy: &str, number: f64| format!("{} {}", plain(strategy), value(&claim.metric, number));
    let mut numbers: Vec<String> = finding.value.map(|value| of(&claim.strategy, value)).into_iter().collect();
    if let (Some(against), Than::Strategy(name)) = (finding.against, &claim.than) {
        numbers.push(of(name, against));
    }
    let ratio = finding.ratio.map(|ratio| match finding.interval {
        Some(interval) => format!("× {} ({} to {})", three(ratio), three(interval.low), three(interval.high)),
        None => format!("× {}", three(ratio)),
    });
    numbers.extend(ratio);
    let numbers = Some(numbers.join(", ")).filter(|numbers| !numbers.is_empty());
    doubt.into_iter().chain(numbers).collect::<Vec<_>>().join(": ")
}

fn why(record: &RunRecord, doubt: &Doubt, speaker: &Speaker) -> String {
    match doubt {
        Doubt::Absent(names) => {
            let names: Vec<String> = names.iter().map(|name| plain(name)).collect();
            let are = if names.len() == 1 { "is" } else { "are" };
            format!("{} {are} not part of this run", listed(&names))
        }
        Doubt::Void => "the run is not valid".into(),
        Doubt::Smoke => "the preset smoke only shows that everything runs".into(),
        Doubt::Incomparable(reason) => speaker.reason(*reason),
        Doubt::FewCalls => "too few calls per round lie beyond the quantile".into(),
        Doubt::Untold => "this run has no such number".into(),
        Doubt::Unflushed => "files were read without a flush and lag behind".into(),
        Doubt::Paced => "calls fell due at a rate, which is the throughput of all".into(),
        Doubt::Unclear => "the interval holds 1".into(),
        Doubt::Noise => format!("within noise ({}, or what the control shows)", percent(record.settings.noise)),
        Doubt::Close => format!("the difference is below {}", percent(DEAD_ZONE)),
        Doubt::Unknown => "this build does not know how to decide it".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Markdown, Renderer, Report, Terminal};
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
    fn every_report_shows_claims_with_verdict_and_numbers() {
        let report = Report::new(&claimed(8));
        let said = |claim: &ClaimView| format!("{} {}: {}", claim.id, claim.verdict.word(), claim.found);
        insta::assert_snapshot!(report.scenario_claims.iter().map(said).collect::<Vec<_>>().join("\n"));
        let mut text = String::new();
        Terminal { width: 100, colour: false }.render(&report, &mut text).unwrap();
        let section = text.split("\nClaims\n").nth(1).unwrap().split("\n\n").next().unwrap();
        insta::assert_snapshot!("claims_terminal", section);
        assert!(section.lines().all(|line| line.chars().count() <= 100), "{section}");
        let mut text = String::new();
        Markdown.render(&report, &mut text).unwrap();
        let section = text.split("## Claims of the scenario\n").nth(1).unwrap().split("\n## ").next().unwrap();
        insta::assert_snapshot!("claims_markdown", section);
    }

    #[test]
    fn few_rounds_decide_counts_alone_and_void_runs_nothing() {
        let verdicts = |run: &RunRecord| -> Vec<ClaimVerdict> {
            Report::new(run).scenario_claims.iter().map(|claim| claim.verdict).collect()
        };
        use ClaimVerdict::{Refuted, Undecided};
        let mut run = claimed(2);
        assert_eq!(verdicts(&run), [Undecided, Refuted, Undecided, Undecided, Undecided, Refuted]);
        run.rounds[0].cells[0].connections_created = 1;
        assert_eq!(verdicts(&run), [Undecided; 6]);
        assert_eq!(verdicts(&claimed(0))[1], Refuted, "the cost pass comes before the first round");
    }
}
