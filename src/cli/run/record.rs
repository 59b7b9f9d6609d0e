//! The record of a run before its first call.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::cli::scenario::Ready;
use crate::compile::{ClaimTerm, claim_term, run_parameters};
use crate::engine::indexes;
use crate::plan::{Arm, Plan, Raw, Value, written};
use crate::results::{
    ClaimRecord, CollectionRecord, Environment, FORMAT_VERSION, IdenticalProgramRecord, MixRecord, RunRecord,
    RunSettings, ScenarioRecord, ServerRecord, StrategyRecord, Than,
};
use crate::scenario::{self, ClaimSubject, Scenario, Source};

use super::invocation::Invocation;

/// Returns the record of a run before its first round.
pub fn begin(settings: RunSettings, ready: &Ready, server: ServerRecord, invocation: &Invocation) -> RunRecord {
    let plan = &ready.plan;
    let identical = plan.identical_programs().into_iter();
    let identical = identical.map(|(strategy, operation)| IdenticalProgramRecord { strategy, operation });
    RunRecord {
        format: FORMAT_VERSION,
        version: env!("CARGO_PKG_VERSION").into(),
        id: invocation.id.clone(),
        git: option_env!("DOCSHAPE_COMMIT").map(str::to_owned),
        started: invocation.started_text(),
        scenario: scenario_record(plan, &ready.source),
        parameters: parameters(plan),
        mix: mix_record(plan),
        environment: Environment {
            driver: option_env!("DOCSHAPE_DRIVER").map(str::to_owned),
            connections: Some(settings.most_clients() as u64),
            ..Environment::read()
        },
        settings: RunSettings {
            write_concern: plan.concerns.write.clone(),
            read_concern: plan.read_concerns(),
            cache_gb: settings.cache_gb.filter(|_| server.embedded),
            ..settings
        },
        server,
        strategies: plan.arms.iter().map(|arm| strategy(plan, arm)).collect(),
        skipped: ready.skipped.clone(),
        operations: plan.operations.iter().map(|operation| operation.name.to_string()).collect(),
        claims: claims(&ready.scenario, plan),
        identical: identical.collect(),
        ..RunRecord::default()
    }
}

/// The claims of the scenario, with the numbers that they have in this run.
pub fn claims(scenario: &Scenario, plan: &Plan) -> Vec<ClaimRecord> {
    let text = |name: &scenario::Spanned<String>| name.value.clone();
    let claim = |claim: &scenario::ClaimDefinition| {
        let (metric, audit, outcome) = match &claim.subject.value {
            ClaimSubject::Metric { metric, outcome } => (metric.to_string(), None, *outcome),
            ClaimSubject::Audit(name) => (String::new(), Some(name.clone()), None),
            ClaimSubject::Outcome(outcome) => (String::new(), None, Some(*outcome)),
        };
        let set = run_parameters(&claim.run, &plan.parameters).into_iter();
        Some(ClaimRecord {
            id: text(&claim.id),
            says: claim.says.clone(),
            source: claim.source.clone(),
            by_design: claim.is_by_design,
            needs_cluster: claim.needs_cluster,
            mix: claim.run.mix.as_ref().map(text),
            clients: claim.clients.map(u64::from),
            set: set.map(|(name, value)| (name, json(&value))).collect(),
            metric,
            audit,
            outcome: outcome.map(|outcome| outcome.name().to_owned()),
            operation: claim.operation.as_ref().map(text),
            strategy: text(&claim.strategy),
            relation: claim.relation,
            // The compiler has reported a claim without a term.
            than: than(claim, claim_term(scenario, claim, &plan.parameters)?),
        })
    };
    scenario.claims.iter().filter_map(claim).collect()
}

fn than(claim: &scenario::ClaimDefinition, term: ClaimTerm) -> Than {
    match term {
        ClaimTerm::Number { number, text: None } => Than::Number(number),
        ClaimTerm::Number { number, text: Some(expression) } => Than::Evaluated { expression, number },
        ClaimTerm::Other { strategy, .. } if matches!(claim.than, scenario::ClaimBound::Text(_)) => {
            Than::Strategy(strategy)
        }
        ClaimTerm::Other { strategy, operation, times, text } => {
            Than::Other { strategy, operation, times, expression: text }
        }
    }
}

/// Returns the SHA-256 of a scenario's text, hexadecimal.
pub fn sha256(source: &Source) -> String {
    hex::encode(Sha256::digest(source.text.as_bytes()))
}

/// What a record says of its scenario.
pub fn scenario_record(plan: &Plan, source: &Source) -> ScenarioRecord {
    ScenarioRecord {
        name: plan.name.clone(),
        title: plan.title.clone(),
        about: plan.about.clone(),
        argument: source.path.clone(),
        sha256: sha256(source),
        data: data(plan),
        text: source.text.to_string(),
    }
}

/// What a record says of the files with its data.
pub fn data(plan: &Plan) -> BTreeMap<String, String> {
    plan.data.files().map(|file| (file.name.clone(), file.sha256.clone())).collect()
}

/// The parameters and their values.
pub fn parameters(plan: &Plan) -> Vec<(String, serde_json::Value)> {
    plan.parameters.iter().map(|(name, value)| (name.to_string(), json(value))).collect()
}

/// What a record says of its mix.
pub fn mix_record(plan: &Plan) -> MixRecord {
    let names = plan.operations.iter().map(|operation| operation.name.to_string());
    MixRecord { name: plan.mix.name.clone(), weights: names.zip(plan.mix.weights.iter().copied()).collect() }
}

/// Omits an index without a value: loading, which comes next, reports it.
fn collection(plan: &Plan, collection: &crate::plan::Collection) -> CollectionRecord {
    let indexes = indexes(plan, collection).unwrap_or_default();
    let text = |index| in_order(&Value::Document(Raw::new(index)));
    CollectionRecord { name: collection.written.clone(), indexes: indexes.into_iter().map(text).collect() }
}

/// Returns a document as text, its fields in their own order, which matters for indexes.
fn in_order(value: &Value) -> String {
    match value {
        Value::Document(document) => {
            let fields: Vec<String> =
                document.iter().map(|(name, value)| format!("{name}: {}", in_order(&value))).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        other => written(other),
    }
}

fn strategy(plan: &Plan, arm: &Arm) -> StrategyRecord {
    StrategyRecord {
        name: arm.name.clone(),
        about: arm.about.clone(),
        is_unsafe: arm.is_unsafe,
        is_repeat: arm.is_repeat,
        collections: arm.series().map(|series| collection(plan, &series[0])).collect(),
    }
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Bool(b) => (*b).into(),
        Value::Int(i) => (*i).into(),
        Value::Double(d) => (*d).into(),
        Value::Text(text) => (**text).into(),
        other => written(other).into(),
    }
}
