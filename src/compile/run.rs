//! What claims, sweeps and growth say about their runs: the names and values in it.

use std::sync::Arc;

use crate::plan::Value;
use crate::scenario::{
    ConditionDefinition, ConditionSubject, Diagnostic, Diagnostics, RunDefinition, Scenario, Spanned, SweepDefinition,
};

use super::parameter::set_value;
use super::scope::Names;

/// Returns the parameters that runs of a claim, a sweep or growth set, with their values.
pub fn run_parameters(run: &RunDefinition, parameters: &[(Arc<str>, Value)]) -> Vec<(String, Value)> {
    let setting = |(name, text): &(Spanned<String>, Spanned<String>)| {
        let (_, plain) = parameters.iter().find(|(other, _)| **other == *name.value)?;
        Some((name.value.clone(), set_value(&name.value, &text.value, plain).ok()?))
    };
    run.set.iter().filter_map(setting).collect()
}

/// Reports what claims, sweeps and growth say about their runs and the scenario does not have.
pub fn check_runs(scenario: &Scenario, names: &Names, diagnostics: &mut Diagnostics) {
    let mixes: Vec<&str> = scenario.mixes.iter().map(|mix| mix.name.value.as_str()).collect();
    let strategies: Vec<&str> = scenario.strategies.iter().map(|one| one.name.value.as_str()).collect();
    let operations: Vec<&str> = names.operations.iter().map(String::as_str).collect();
    let broken = names.broken.iter().map(String::as_str);
    let parameters: Vec<&str> = names.parameters.iter().map(|(name, _)| &**name).chain(broken).collect();
    let place = String::new();
    let mut checker = RunChecker { names, mixes, strategies, operations, parameters, place, diagnostics };
    for claim in &scenario.claims {
        checker.place = format!(" in claim `{}`", claim.id.value);
        checker.check_run(&claim.run);
    }
    for sweep in &scenario.sweeps {
        checker.place = format!(" in sweep `{}`", sweep.name.value);
        checker.check_run(&sweep.run);
        checker.check_vary(sweep);
    }
    if let Some(growth) = &scenario.growth {
        checker.place = " in `growth`".to_owned();
        checker.check_run(&growth.run);
        growth.sampled.iter().chain([&growth.operation]).for_each(|name| checker.check_operation(name));
        checker.check_repeated("operation", &growth.sampled);
    }
}

struct RunChecker<'c> {
    names: &'c Names,
    mixes: Vec<&'c str>,
    strategies: Vec<&'c str>,
    operations: Vec<&'c str>,
    parameters: Vec<&'c str>,
    /// The end of messages.
    place: String,
    diagnostics: &'c mut Diagnostics,
}

impl RunChecker<'_> {
    fn check_run(&mut self, run: &RunDefinition) {
        run.mix.iter().for_each(|mix| self.check_mix(mix));
        for strategy in &run.strategies {
            self.diagnostics.is_known("strategy", strategy, &self.place, &self.strategies);
        }
        self.check_repeated("strategy", &run.strategies);
        for (name, value) in &run.set {
            if self.diagnostics.is_known("parameter", name, &self.place, &self.parameters) {
                self.check_value(&name.value, value);
            }
        }
    }

    fn check_vary(&mut self, sweep: &SweepDefinition) {
        for condition in &sweep.vary {
            self.check_condition(condition);
            let name = &condition.name;
            if let Some((set, _)) = sweep.run.set.iter().find(|(set, _)| set.value == name.value) {
                Diagnostic::error(name.span, format!("parameter `{}` is set and varied{}", name.value, self.place))
                    .label("varied")
                    .also(set.span, "set")
                    .help("try leaving it out of `set`")
                    .add_to(self.diagnostics);
            }
        }
    }

    fn check_condition(&mut self, condition: &ConditionDefinition) {
        let ConditionDefinition { name, values } = condition;
        match ConditionSubject::named(&name.value) {
            ConditionSubject::Share(operation) => self.check_operation(&Spanned::new(operation, name.span)),
            ConditionSubject::Mix => values.iter().for_each(|mix| self.check_mix(mix)),
            ConditionSubject::Parameter(parameter) => {
                let parameters = self.parameters.iter().copied();
                let known: Vec<&str> = parameters.chain(ConditionSubject::names()).collect();
                if self.diagnostics.is_known("condition", name, &self.place, &known) {
                    values.iter().for_each(|value| self.check_value(&parameter, value));
                }
            }
            ConditionSubject::Clients
            | ConditionSubject::Rate
            | ConditionSubject::Rtt
            | ConditionSubject::Cache
            | ConditionSubject::WriteConcern => {}
        }
    }

    /// The value of a parameter; one whose own value has problems is not checked.
    fn check_value(&mut self, parameter: &str, value: &Spanned<String>) {
        let found = self.names.parameters.iter().find(|(name, _)| **name == *parameter);
        let Some(Err(error)) = found.map(|(_, plain)| set_value(parameter, &value.value, plain)) else { return };
        let help = "try a value as `--set` takes it: a number, `true`, `false` or text, no expression";
        self.diagnostics.error(value.span, error.to_string(), help);
    }

    fn check_mix(&mut self, mix: &Spanned<String>) {
        self.diagnostics.is_known("mix", mix, &self.place, &self.mixes);
    }

    fn check_operation(&mut self, operation: &Spanned<String>) {
        self.diagnostics.is_known("operation", operation, &self.place, &self.operations);
    }

    fn check_repeated(&mut self, kind: &str, names: &[Spanned<String>]) {
        for (place, name) in names.iter().enumerate() {
            if let Some(first) = names[..place].iter().find(|other| other.value == name.value) {
                Diagnostic::error(name.span, format!("duplicate {kind} `{}`{}", name.value, self.place))
                    .label("again")
                    .also(first.span, "first")
                    .help("keep one of them")
                    .add_to(self.diagnostics);
            }
        }
    }
}
