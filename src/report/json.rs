//! The report as data: the same conclusions, in the same order, for programs. docs/report.schema.json describes it.
//!
//! The view has types of its own, so that what is published changes only when it is meant to. It is made from [`Report`]
//! alone, like the page.

mod operation;
mod strategy;

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::facts::{Facts, finite};
use super::{Inconsistent, Renderer, Report};
use operation::OperationView;
use strategy::StrategyView;

/// The version of the view. It grows when a field goes or changes its meaning; fields may be added without.
pub const JSON_FORMAT: u32 = 1;

/// Writes JSON, indented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json;

impl Renderer for Json {
    fn render(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        let text = serde_json::to_string_pretty(&View::of(report)).map_err(|_| fmt::Error)?;
        writeln!(out, "{text}")
    }
}

/// The report of one run of docshape. Times are in nanoseconds, sizes in bytes; `null` is a number that there is not, such
/// as a percentile with fewer than 10 calls beyond it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(title = "docshape report", rename = "Report"))]
struct View<'r> {
    /// The version of this form: 1.
    format: u32,
    /// The scenario's name.
    scenario: &'r str,
    /// Its question.
    title: &'r str,
    /// What the application does.
    about: &'r str,
    /// The mix of operations.
    mix: &'r str,
    /// Which times strategies are judged by: `service`, or `response` where calls had intended times.
    times: &'static str,
    /// Whether anything here may be believed.
    valid: bool,
    /// Why not.
    void: &'r [String],
    /// What to know first of a run that did not come to its end.
    incomplete: Option<&'r str>,
    /// The verdict.
    verdict: Verdict<'r>,
    /// The bounds that were asked for.
    thresholds: Vec<Threshold<'r>>,
    /// The claims of the scenario.
    claims: Vec<Claim<'r>>,
    /// The mix: means weighed by shares, percentiles and counts of the calls as they were drawn.
    whole_mix: Option<OperationView<'r>>,
    /// The operations that were called.
    operations: Vec<OperationView<'r>>,
    /// The strategies, the reference first.
    strategies: Vec<StrategyView<'r>>,
    /// What calls cost the server.
    costs: Costs<'r>,
    /// What a reader should know.
    warnings: &'r [String],
    /// The run: its settings, server, machine, and the check before it.
    run: &'r Facts,
    /// How it was measured, in words.
    measured: Vec<Measured<'r>>,
    /// The command line that measures it again.
    command: &'r str,
}

/// Who is fastest, in words; the numbers are in `whole_mix` and `operations`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Verdict<'r> {
    /// Of the mix, in sentences.
    sentences: &'r [String],
    /// Of the operations.
    operations: Vec<Finding<'r>>,
    /// How sure that is.
    notes: &'r [String],
}

/// What was found of an operation.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Finding<'r> {
    /// Which.
    operation: &'r str,
    /// Whether a difference is claimed.
    claimed: bool,
    /// In words.
    words: &'r str,
}

/// A bound on a number of the run.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Threshold<'r> {
    /// As it was written.
    text: &'r str,
    /// Whether it was kept.
    passed: bool,
    /// The number, or why there is none.
    found: &'r str,
}

/// A claim of the scenario.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Claim<'r> {
    /// What it is called by.
    id: &'r str,
    /// It in a sentence.
    says: &'r str,
    /// Where it comes from.
    source: Option<&'r str>,
    /// What decides it.
    measure: &'r str,
    /// How the strategy's is said to compare.
    expected: &'r str,
    /// `confirmed`, `refuted` or `undecided`.
    verdict: &'static str,
    /// The numbers, and why nothing is decided.
    found: &'r str,
    /// The metric that decides it, as the scenario names it.
    metric: &'r str,
    /// Of which operation; null for what is of the whole run.
    operation: Option<&'r str>,
    /// Of which strategy.
    strategy: &'r str,
}

/// What calls cost the server: growth of its counters. Names that end in `_us` are microseconds, those with `bytes` bytes, the
/// others counts.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Costs<'r> {
    /// Per call of the mix, while it was measured.
    mix: Vec<MixCost>,
    /// Counters that the server did not tell, in words.
    missing: &'r [&'static str],
    /// Per call of one operation at a time, alone on the server.
    operations: Vec<OperationCost<'r>>,
    /// For how long others can see a state between the writes of one call.
    inconsistent: Vec<Between<'r>>,
}

/// A counter per call of the mix.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct MixCost {
    /// Which.
    counter: &'static str,
    /// Per strategy, in their order; `null` where the server did not tell.
    strategies: Vec<Option<PerCall>>,
}

/// Growth per call.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PerCall {
    /// The mean over rounds.
    per_call: Option<f64>,
    /// How far the mean may be off by the rounds' spread (95 %); `null` with a single round.
    reach: Option<f64>,
    /// In relation to the reference's.
    ratio: Option<f64>,
}

/// An operation in the cost pass.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OperationCost<'r> {
    /// Its name.
    operation: &'r str,
    /// What a call costs.
    strategies: Vec<StrategyCost<'r>>,
}

/// What a call of one operation costs with one strategy.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct StrategyCost<'r> {
    /// The strategy.
    strategy: &'r str,
    /// By counter; `round_trips` is docshape's own count.
    per_call: BTreeMap<&'static str, Option<f64>>,
}

/// From the first write of a call to its last.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Between<'r> {
    /// The operation.
    operation: &'r str,
    /// The strategy.
    strategy: &'r str,
    /// Calls that wrote more than once.
    calls: u64,
    /// The median.
    p50_ns: Option<u64>,
    /// The 99th percentile.
    p99_ns: Option<u64>,
    /// The longest.
    max_ns: Option<u64>,
}

/// Something that was set or found, for people.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Measured<'r> {
    /// What.
    name: &'r str,
    /// Its value.
    value: &'r str,
}

impl<'r> View<'r> {
    fn of(report: &'r Report) -> View<'r> {
        // All fields are named, so that a new one of the report is not forgotten here.
        let Report {
            scenario,
            title,
            about,
            mix,
            rounds: _,
            calls: _,
            is_open: _,
            void,
            status,
            verdict,
            claims,
            unclaimed,
            scenario_claims,
            thresholds,
            notes,
            strategies,
            rows,
            costs: _,
            measured,
            command,
            warnings,
            folder: _,
            has_files: _,
            noise: _,
            text: _,
            facts,
        } = report;
        let finding =
            |claimed: bool| move |(operation, words): &'r (String, String)| Finding { operation, claimed, words };
        let found = claims.iter().map(finding(true)).chain(unclaimed.iter().map(finding(false)));
        let view = |row| OperationView::of(report, row);
        View {
            format: JSON_FORMAT,
            scenario,
            title,
            about,
            mix,
            times: report.times(),
            valid: !report.is_void(),
            void,
            incomplete: status.as_deref(),
            verdict: Verdict { sentences: verdict, operations: found.collect(), notes },
            thresholds: thresholds
                .iter()
                .map(|one| Threshold { text: &one.text, passed: one.has_passed, found: &one.found })
                .collect(),
            claims: scenario_claims.iter().map(claim).collect(),
            whole_mix: rows.iter().find(|row| row.is_mix).map(view),
            operations: rows.iter().filter(|row| !row.is_mix).map(view).collect(),
            strategies: strategies.iter().enumerate().map(|(place, one)| StrategyView::of(place, one)).collect(),
            costs: costs(report),
            warnings,
            run: facts,
            measured: measured.iter().map(|(name, value)| Measured { name, value }).collect(),
            command,
        }
    }
}

fn claim(claim: &super::ClaimView) -> Claim<'_> {
    let super::ClaimView { id, says, source, measure, expected, verdict, found, cell } = claim;
    let super::claims::ClaimCell { metric, operation, strategy } = cell;
    Claim {
        id,
        says,
        source: source.as_deref(),
        measure,
        expected,
        verdict: verdict.word(),
        found,
        metric,
        operation: operation.as_deref(),
        strategy,
    }
}

fn costs<'r>(report: &'r Report) -> Costs<'r> {
    let super::Costs { mix, missing, operations, inconsistent } = &report.costs;
    let per_call = |cost: crate::stats::Cost| PerCall {
        per_call: finite(cost.per_call),
        reach: cost.reach.and_then(finite),
        ratio: cost.ratio.and_then(finite),
    };
    let strategy = |(strategy, values): &'r (String, Vec<Option<f64>>)| {
        let columns = super::COLUMNS.iter().map(|column| column.counter());
        let per_call = columns.zip(values.iter().map(|value| value.and_then(finite))).collect();
        StrategyCost { strategy, per_call }
    };
    let between = |one: &'r Inconsistent| {
        let Inconsistent { operation, strategy, calls, times: [p50_ns, p99_ns, max_ns] } = one;
        Between { operation, strategy, calls: *calls, p50_ns: *p50_ns, p99_ns: *p99_ns, max_ns: *max_ns }
    };
    Costs {
        mix: mix
            .iter()
            .map(|row| MixCost {
                counter: row.metric.counter(),
                strategies: row.costs.iter().map(|cost| cost.map(per_call)).collect(),
            })
            .collect(),
        missing,
        operations: operations
            .iter()
            .map(|one| OperationCost {
                operation: &one.operation,
                strategies: one.strategies.iter().map(strategy).collect(),
            })
            .collect(),
        inconsistent: inconsistent.iter().map(between).collect(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::PathBuf;
    use std::sync::LazyLock;

    use schemars::generate::SchemaSettings;
    use schemars::transform::{RecursiveTransform, Transform};
    use serde_json::{Value, json};

    use super::*;
    use crate::stats::sample;

    /// The published schema.
    fn file() -> PathBuf {
        [env!("CARGO_MANIFEST_DIR"), "docs", "report.schema.json"].iter().collect()
    }

    static VALIDATOR: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
        let schema: Value = serde_json::from_slice(&std::fs::read(file()).unwrap()).unwrap();
        jsonschema::validator_for(&schema).unwrap()
    });

    /// Where a text is not what the published schema describes.
    pub(in crate::report) fn faults(text: &str) -> Vec<String> {
        let view: Value = serde_json::from_str(text).unwrap();
        VALIDATOR.iter_errors(&view).map(|error| format!("{}: {error}", error.instance_path())).collect()
    }

    fn rendered(record: &crate::results::RunRecord) -> String {
        let mut text = String::new();
        Json.render(&Report::new(record), &mut text).unwrap();
        text
    }

    /// The schema of the types above. Objects have the fields named and no others.
    fn schema() -> String {
        let mut made = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<View>();
        let mut close = RecursiveTransform(|schema: &mut schemars::Schema| {
            if schema.get("properties").is_some() {
                schema.insert("additionalProperties".into(), false.into());
            }
        });
        close.transform(&mut made);
        format!("{:#}\n", made.to_value())
    }

    /// Beside the file, what it would have to be is written below `target` when they differ.
    #[test]
    fn the_published_schema_is_that_of_the_view() {
        let (made, published) = (schema(), std::fs::read_to_string(file()).unwrap_or_default());
        let beside = [env!("CARGO_MANIFEST_DIR"), "target", "report.schema.json"].iter().collect::<PathBuf>();
        if made != published {
            std::fs::write(&beside, &made).unwrap();
        }
        assert!(made == published, "the view has changed: copy {} to docs, and see JSON_FORMAT", beside.display());
    }

    #[test]
    fn every_report_is_what_the_schema_describes() {
        for rounds in [8, 2, 1, 0] {
            assert_eq!(faults(&rendered(&sample::run(rounds))), [""; 0]);
        }
    }

    #[test]
    fn the_schema_knows_every_field_and_its_kind() {
        let view: Value = serde_json::from_str(&rendered(&sample::run(8))).unwrap();
        let places = ["", "/verdict", "/operations/0", "/operations/0/strategies/1/against_reference", "/run/server"];
        for place in places {
            let mut more = view.clone();
            more.pointer_mut(place).unwrap()["forgotten"] = json!(1);
            assert!(!VALIDATOR.is_valid(&more), "{place}");
            for name in view.pointer(place).unwrap().as_object().unwrap().keys() {
                let mut less = view.clone();
                less.pointer_mut(place).unwrap().as_object_mut().unwrap().remove(name);
                assert!(!VALIDATOR.is_valid(&less) || view.pointer(place).unwrap()[name].is_null(), "{place}/{name}");
                let mut other = view.clone();
                other.pointer_mut(place).unwrap()[name] = json!([{ "never": 1 }]);
                assert!(!VALIDATOR.is_valid(&other), "{place}/{name}");
            }
        }
    }

    #[test]
    fn the_view_says_what_the_report_says() {
        let run = sample::run(8);
        let (view, report) = (rendered(&run), Report::new(&run));
        let names =
            ["format", "scenario", "verdict", "whole_mix", "operations", "strategies", "costs", "warnings", "command"];
        let places = names.map(|name| view.find(&format!("\n  \"{name}\":")).unwrap());
        assert!(places.is_sorted(), "{places:?}");
        let view: Value = serde_json::from_str(&view).unwrap();
        assert_eq!(
            (&view["format"], &view["valid"], &view["scenario"]),
            (&json!(1), &json!(true), &json!("blog-comments"))
        );
        assert_eq!(view["verdict"]["sentences"], json!(report.verdict));
        let linked = &view["operations"][0]["strategies"][1];
        let cell = &report.rows[0].cells[1];
        let ratio = cell.comparison.as_ref().unwrap().ratio.unwrap();
        assert_eq!((&linked["strategy"], &linked["mean_ns"]), (&json!("linked"), &json!(cell.mean)));
        let against = &linked["against_reference"];
        assert_eq!((&against["ratio"], &against["rounds"]), (&json!(ratio.mean), &json!(8)));
        assert_eq!((&against["low"], &against["claim"]), (&json!(ratio.interval.unwrap().low), &json!("faster")));
        assert_eq!(linked["times"]["p90_ns"], json!(cell.distribution.quantile(0.9)));
        assert_eq!((&linked["counts"]["calls"], &linked["counts"]["outcomes"]["failed"]), (&json!(4_800), &json!(16)));
        let unsafe_one = &view["operations"][0]["strategies"][2]["against_reference"];
        assert_eq!((&unsafe_one["claim"], &unsafe_one["reason"]), (&json!(null), &json!("not_judged")));
        assert_eq!(view["whole_mix"]["operation"], json!("mix"));
        assert_eq!(view["costs"]["mix"][0]["counter"], json!("cpu_us"));
        assert_eq!(view["costs"]["operations"][1]["strategies"][1]["per_call"]["round_trips"], json!(2.0));
        assert_eq!(view["strategies"][0]["followed"][0]["points"][16], json!({ "share": 1.0, "bytes": 56_000.0 }));
        assert_eq!(view["run"]["verification"]["clean"], json!(true));
        assert_eq!(view["run"]["parameters"][1], json!({ "name": "word", "value": "it's" }));
        assert_eq!(view["command"], json!(report.command));
    }
}
