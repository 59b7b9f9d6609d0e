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
pub fn check_runs(scenario: &Scenario, names: &Names, diagnostics: &Diagnostics) {
    let checker = |place: String| RunChecker { scenario, names, place, diagnostics };
    for claim in &scenario.claims {
        checker(format!(" in claim `{}`", claim.id.value)).check_run(&claim.run);
    }
    for sweep in &scenario.sweeps {
        checker(format!(" in sweep `{}`", sweep.name.value)).check_sweep(sweep);
    }
    if let Some(growth) = &scenario.growth {
        let checker = checker(" in `growth`".to_owned());
        checker.check_run(&growth.run);
        growth.sampled.iter().chain([&growth.operation]).for_each(|name| checker.check_operation(name));
        checker.check_repeated("operation", &growth.sampled);
    }
}

struct RunChecker<'c> {
    scenario: &'c Scenario,
    names: &'c Names,
    /// The end of messages.
    place: String,
    diagnostics: &'c Diagnostics,
}

impl RunChecker<'_> {
    fn check_run(&self, run: &RunDefinition) {
        run.mix.iter().for_each(|mix| self.check_mix(mix));
        for strategy in &run.strategies {
            self.diagnostics.is_known("strategy", strategy, &self.place, self.scenario.strategy_names());
        }
        self.check_repeated("strategy", &run.strategies);
        for (name, value) in &run.set {
            if self.diagnostics.is_known("parameter", name, &self.place, self.names.parameter_names()) {
                self.check_value(&name.value, value);
            }
        }
    }

    fn check_sweep(&self, sweep: &SweepDefinition) {
        self.check_run(&sweep.run);
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

    fn check_condition(&self, condition: &ConditionDefinition) {
        let ConditionDefinition { name, values } = condition;
        match ConditionSubject::named(&name.value) {
            ConditionSubject::Share(operation) => self.check_operation(&Spanned::new(operation, name.span)),
            ConditionSubject::Mix => values.iter().for_each(|mix| self.check_mix(mix)),
            ConditionSubject::Parameter(parameter) => {
                let known = self.names.parameter_names().chain(ConditionSubject::names());
                if self.diagnostics.is_known("condition", name, &self.place, known) {
                    values.iter().for_each(|value| self.check_value(&parameter, value));
                }
            }
            // The values of the others need nothing of the scenario.
            _ => {}
        }
    }

    /// The value of a parameter; one whose own value has problems is not checked.
    fn check_value(&self, parameter: &str, value: &Spanned<String>) {
        let found = self.names.parameters.iter().find(|(name, _)| **name == *parameter);
        let Some(Err(error)) = found.map(|(_, plain)| set_value(parameter, &value.value, plain)) else { return };
        let help = "try a value as `--set` takes it: a number, `true`, `false` or text, no expression";
        self.diagnostics.error(value.span, error.to_string(), help);
    }

    fn check_mix(&self, mix: &Spanned<String>) {
        let known = self.scenario.mixes.iter().map(|mix| mix.name.value.as_str());
        self.diagnostics.is_known("mix", mix, &self.place, known);
    }

    fn check_operation(&self, operation: &Spanned<String>) {
        self.diagnostics.is_known("operation", operation, &self.place, self.names.operation_names());
    }

    fn check_repeated(&self, kind: &str, names: &[Spanned<String>]) {
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
