//! The claims of the scenario and their results.

use crate::record::{Metric, Unit};
use crate::report::document::format::{counted, interval, percent, plain, three};
use crate::report::document::{Cell, Forms, Link, Measure, Row, Section, Table, Tone, column};
use crate::report::run::{OperationResults, PartEvaluations, decision::phrase};
use crate::results::{
    ClaimName, ClaimOutcome, ClaimRecord, ClaimResult, ClaimsRecord, DecidedClaimRecord, Part, Reason, Relation,
    RunRecord, Than,
};
use crate::stats;

use super::method::bare;
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
#[derive(Debug, Clone)]
pub(crate) struct ClaimView<'r> {
    pub(crate) claim: &'r ClaimRecord,
    result: ClaimResult,
    /// The numbers; if undecided, also the reason.
    found: String,
    /// The row with the number that decides it.
    link: Option<Link>,
}

/// The result of each claim of a run.
pub(crate) fn claims(record: &RunRecord) -> Vec<ClaimView<'_>> {
    let results = stats::claim_results(record, &record.all_parts());
    let name = |place: usize| record.strategies.get(place).map(|one| one.name.as_str());
    let rate = record.settings.planned_rate().filter(|_| record.parts.contains_key(&Part::Rate));
    record.claims.iter().zip(results).map(|(claim, result)| ClaimView::new(claim, result, &name).at(rate)).collect()
}

/// A claim after the runs for those of its scenario.
pub(crate) fn decided<'r>(record: &'r ClaimsRecord, decided: &'r DecidedClaimRecord) -> ClaimView<'r> {
    let run = record.run(decided);
    let name = |place: usize| Some(run?.strategies.get(place)?.as_str());
    ClaimView::new(&decided.claim, decided.result, &name).at(run.and_then(|run| run.rate))
}

/// The result of each claim, with links to the rows that decide them: those that a run can refute, and those by design.
pub(super) fn sections(record: &RunRecord, parts: &PartEvaluations) -> [Option<Section>; 2] {
    let all = claims(record).into_iter();
    let claims: Vec<ClaimView> =
        all.map(|view| ClaimView { link: row_of(parts, view.claim).map(Link::Row), ..view }).collect();
    let mut measures = measures();
    measures.extend([
        column("measure", "decided by", "What decides it.")
            .text(|one: &&ClaimView| {
                Cell::text(measure(one.claim)).link(one.link.clone()).remark(format!(": {}", one.expected()))
            })
            .only(Forms::DETAILED),
        Measure::word("expected", "What the claim expects of it.", |one| one.expected()),
        Measure::word("source", "Where the claim comes from.", |one| optional(&one.claim.source)),
        Measure::word(
            "metric",
            "The metric that decides it, as the scenario names it; `null` for an audit or outcome.",
            |one| Cell::value(Some(plain(&one.claim.metric)).filter(|name| !name.is_empty())),
        ),
        Measure::word("audit", "The audit whose anomalies decide it, or `null`.", |one| optional(&one.claim.audit)),
        Measure::word("outcome", "The outcome of the calls that count, or `null` for all.", |one| {
            optional(&one.claim.outcome)
        }),
        Measure::word("operation", "The operation; `null` for a number of the whole run.", |one| {
            optional(&one.claim.operation)
        }),
        Measure::word("strategy", "The strategy.", |one| plain(&one.claim.strategy)),
    ]);
    let measured = section(["claims", "Claims of the scenario"], &claims, false, &measures).note(HOW);
    let by_design = section(["claims_by_design", BY_DESIGN], &claims, true, &measures).note(WHY_BY_DESIGN);
    [measured.with_rows(), by_design.with_rows()]
}

/// A section of the claims that a run can refute, or of those by design.
pub(crate) fn section<'r>(
    [id, title]: [&'static str; 2],
    claims: &'r [ClaimView<'r>],
    is_by_design: bool,
    measures: &[Measure<'_, &'r ClaimView<'r>>],
) -> Section {
    let rows = claims.iter().filter(|one| one.claim.by_design == is_by_design).map(|one| (Row::new(one.id()), one));
    Section::new(id, title).table(Table::new(id, title, column("id", "id", "Its id."), measures, rows).list())
}

/// The columns of claims that every report has.
pub(crate) fn measures<'r>() -> Vec<Measure<'r, &'r ClaimView<'r>>> {
    vec![
        column("verdict", "verdict", "`confirmed`, `refuted` or `undecided`.").text(|one| outcome_cell(one.outcome())),
        column("says", "claim", "The claim in a sentence.").text(|one| {
            let source = one.claim.source.as_ref().map_or_else(String::new, |source| format!("({})", plain(source)));
            let says = plain(&one.claim.says);
            Cell::text(says.clone()).remark(source).with_value(says).tone(Tone::Strong)
        }),
        column("found", "found", "The numbers; if undecided, also the reason.")
            .text(|one| Cell::text(one.found.as_str())),
    ]
}

fn optional(text: &Option<String>) -> Cell {
    Cell::value(text.as_deref().map(plain))
}

impl<'r> ClaimView<'r> {
    /// `name` has the names of the strategies of the run by their position.
    pub(crate) fn new<'n>(
        claim: &'r ClaimRecord,
        result: ClaimResult,
        name: &dyn Fn(usize) -> Option<&'n str>,
    ) -> ClaimView<'r> {
        ClaimView { claim, result, found: found(claim, &result, name), link: None }
    }

    /// Names the load with what was found, where a response time at it decides.
    fn at(self, rate: Option<f64>) -> ClaimView<'r> {
        let parts = self.claim.known_metric().filter(|_| self.claim.audit.is_none()).map(Metric::parts);
        let is_at_load = parts.is_some_and(|parts| parts.first() == Some(&Part::Rate));
        let rate = rate.filter(|_| is_at_load && self.result.verdict.reason().is_none());
        let load = rate.map_or_else(String::new, |rate| format!(", at {} calls/s", three(rate)));
        ClaimView { found: self.found.clone() + &load, ..self }
    }

    pub(crate) fn outcome(&self) -> ClaimOutcome {
        self.claim.outcome(self.result.verdict)
    }

    /// The numbers; if undecided, also the reason.
    pub(crate) fn found(&self) -> &str {
        &self.found
    }

    /// What the claim expects.
    pub(crate) fn expected(&self) -> String {
        let claim = self.claim;
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

    /// Whether a run has measured what it is about.
    pub(crate) fn is_measured(&self) -> bool {
        let elsewhere = |reason| {
            use Reason::{NeedsCluster, NeedsShardKeys, NotInRun, OtherSettings};
            matches!(reason, OtherSettings | NeedsCluster | NeedsShardKeys | NotInRun(_))
        };
        !self.result.verdict.reason().is_some_and(elsewhere)
    }

    /// The id.
    pub(crate) fn id(&self) -> String {
        plain(&self.claim.id)
    }
}

/// How many claims of a run have which result; `None` where it measured none.
pub(crate) fn counts(record: &RunRecord) -> Option<String> {
    let claims = claims(record);
    let is_counted = |claim: &ClaimView| claim.is_measured() && !claim.claim.by_design;
    claims.iter().any(is_counted).then(|| count_results(claims.iter()))
}

/// How many claims have which result: those by design, and those that were not measured, are counted by themselves.
pub(crate) fn count_results<'v>(claims: impl Iterator<Item = &'v ClaimView<'v>>) -> String {
    let (by_design, others): (Vec<&ClaimView>, Vec<&ClaimView>) = claims.partition(|one| one.claim.by_design);
    let (measured, not_measured): (Vec<&ClaimView>, Vec<&ClaimView>) =
        others.into_iter().partition(|one| one.is_measured());
    let count = |outcome: ClaimOutcome| {
        let count = measured.iter().filter(|one| one.outcome() == outcome).count();
        format!("{count} {}", outcome.name())
    };
    let results = [ClaimOutcome::Confirmed, ClaimOutcome::Refuted, ClaimOutcome::Undecided].map(count).join(", ");
    let apart = [(not_measured.len(), "not measured"), (by_design.len(), "by design")];
    let apart = apart.into_iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("; {count} {name}"));
    format!("{}: {results}{}", counted(measured.len() as u64, "measured claim"), apart.collect::<String>())
}

/// A result in a word, with its mark.
fn outcome_cell(outcome: ClaimOutcome) -> Cell {
    let (mark, tone) = match outcome {
        ClaimOutcome::Confirmed => ("✓", Tone::Good),
        ClaimOutcome::Refuted => ("✗", Tone::Bad),
        ClaimOutcome::Undecided => ("?", Tone::Faint),
    };
    Cell::text(format!("{mark} {}", outcome.name())).tone(tone).with_value(outcome.name())
}

/// The row with the number that decides a claim; `None` where there is no such row.
fn row_of(parts: &PartEvaluations, claim: &ClaimRecord) -> Option<String> {
    let run = parts.main();
    let (name, called) = (plain(&claim.strategy), claim.operation.as_deref().map(plain));
    let strategy = run.strategies.iter().position(|strategy| strategy.name == name)?;
    if run.rounds == 0 || claim.audit.is_some() {
        return None;
    }
    match claim.metric.as_str() {
        "" => None,
        "throughput" => Some(strategy_id(strategy)),
        "storage_bytes" | "index_bytes" => {
            (!run.strategies[strategy].collections.is_empty()).then(|| sizes_id(strategy))
        }
        "mean" | "p50" | "p99" => {
            let is_meant =
                |row: &OperationResults| called.as_ref().map_or(row.is_mix, |name| !row.is_mix && row.name == *name);
            run.mix_first().position(is_meant).map(|operation| times_id(operation, strategy))
        }
        _ => {
            let mut costs = parts.get(Part::Own)?.costs.operations.iter();
            let cost = costs.find(|cost| cost.strategy == strategy && Some(&cost.name) == called.as_ref())?;
            Some(cost_id(cost.operation, strategy))
        }
    }
}

/// What decides a claim, such as `mean of read_post`.
pub(crate) fn measure(claim: &ClaimRecord) -> String {
    let operation = claim.operation.as_deref().map_or(String::new(), |name| format!(" of {}", plain(name)));
    if let Some(audit) = &claim.audit {
        return format!("anomalies of {} per round", plain(audit));
    }
    let outcome = claim.outcome.as_deref().map(|outcome| format!("{} calls", plain(outcome)));
    if claim.metric.is_empty() {
        return format!("share of {}{operation}", outcome.unwrap_or_default());
    }
    let label = claim.known_metric().map_or_else(|| plain(&claim.metric), Metric::label);
    let outcome = outcome.map_or_else(String::new, |outcome| format!(" of {outcome}"));
    format!("{label}{outcome}{operation}")
}

/// The strategy and the operation that a claim compares with; `None` for a number.
fn other(claim: &ClaimRecord) -> Option<(&str, Option<&str>)> {
    match &claim.than {
        Than::Number(_) | Than::Evaluated { .. } => None,
        Than::Strategy(name) => Some((name, claim.operation.as_deref())),
        Than::Other { strategy, operation, .. } => Some((strategy, operation.as_deref())),
    }
}

fn own_side(claim: &ClaimRecord) -> String {
    side(claim, &claim.strategy, claim.operation.as_deref())
}

/// What the strategy's number is compared with; `None` for a number.
fn other_side(claim: &ClaimRecord) -> Option<String> {
    let factor = match &claim.than {
        Than::Other { times, expression: Some(expression), .. } => {
            format!("{} ({}) × ", three(*times), plain(expression))
        }
        Than::Other { times, .. } if *times != 1.0 => format!("{} × ", three(*times)),
        _ => String::new(),
    };
    Some(factor + &compared_side(claim)?)
}

/// The other side itself, without its factor; `None` for a number.
fn compared_side(claim: &ClaimRecord) -> Option<String> {
    let (strategy, operation) = other(claim)?;
    Some(side(claim, strategy, operation))
}

/// One side of a claim, with its operation where the other side has another one.
fn side(claim: &ClaimRecord, strategy: &str, operation: Option<&str>) -> String {
    let has_two = other(claim).is_some_and(|(_, other)| other != claim.operation.as_deref());
    let operation = operation.filter(|_| has_two).map_or(String::new(), |name| format!(" {}", plain(name)));
    format!("{}{operation}", plain(strategy))
}

/// A number of the kind that decides a claim.
pub(crate) fn value(claim: &ClaimRecord, value: f64) -> String {
    if claim.metric.is_empty() && claim.audit.is_none() {
        return percent(value);
    }
    // The label already says what is counted per second.
    let unit = claim.known_metric().map(Metric::unit).filter(|unit| *unit != Unit::PerSecond);
    unit.unwrap_or(Unit::Count).text(value)
}

fn found<'n>(claim: &ClaimRecord, result: &ClaimResult, name: &dyn Fn(usize) -> Option<&'n str>) -> String {
    let doubt = match result.verdict.reason() {
        _ if claim.outcome(result.verdict) != ClaimOutcome::Undecided => None,
        Some(Reason::OtherSettings) => Some(format!("not measured by this run; run with {}", options(claim))),
        Some(Reason::NotInRun(absent)) => Some(format!("{} is not part of this run", plain(named(claim, absent)))),
        Some(Reason::NotSeen) => Some(phrase::undecided(result.verdict, name)),
        _ if result.value.is_some() && result.value == result.against => Some("no difference".to_owned()),
        _ => {
            let doubt = phrase::undecided(result.verdict, name);
            let limit = other_side(claim).filter(|_| claim.factor() != 1.0);
            Some(limit.map_or_else(|| doubt.clone(), |limit| format!("against {limit}: {doubt}")))
        }
    };
    let result = result.without_factor(claim);
    let of = |side: &str, number: f64| format!("{side} {}", value(claim, number));
    let mut numbers: Vec<String> = result.value.map(|value| of(&own_side(claim), value)).into_iter().collect();
    numbers.extend(result.against.zip(compared_side(claim)).map(|(against, side)| of(&side, against)));
    let ratio = result.ratio.map(|ratio| match result.interval {
        Some([low, high]) => format!("× {} (95 % CI {})", three(ratio), interval(low, high)),
        None => format!("× {}", three(ratio)),
    });
    numbers.extend(ratio);
    let numbers = Some(numbers.join(", ")).filter(|numbers| !numbers.is_empty());
    doubt.into_iter().chain(numbers).collect::<Vec<_>>().join(": ")
}

/// The options of a run that decides a claim.
fn options(claim: &ClaimRecord) -> String {
    let mix = claim.mix.iter().map(|mix| format!("--mix {mix}"));
    let clients = claim.clients.iter().map(|clients| format!("--clients {clients}"));
    let set = claim.set.iter().map(|(name, set)| format!("--set {name}={}", bare(set)));
    plain(&mix.chain(clients).chain(set).collect::<Vec<_>>().join(" "))
}

/// A name of a claim; empty where it has none.
fn named(claim: &ClaimRecord, name: ClaimName) -> &str {
    let (other_strategy, other_operation) = other(claim).unwrap_or_default();
    match name {
        ClaimName::Strategy => &claim.strategy,
        ClaimName::Operation => claim.operation.as_deref().unwrap_or_default(),
        ClaimName::OtherStrategy => other_strategy,
        ClaimName::OtherOperation => other_operation.unwrap_or_default(),
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
        claims(&run).into_iter().map(|claim| (claim.outcome().name(), claim.found)).collect()
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
