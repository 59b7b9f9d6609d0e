//! Sweeps and growth: the names in them.

use crate::scenario::{CONDITIONS, Diagnostics, GrowthDefinition, SHARE, Scenario, Spanned, SweepDefinition};

use super::scope::Names;

/// Reports what sweeps name and does not exist.
pub fn check_sweeps(scenario: &Scenario, names: &Names, diagnostics: &mut Diagnostics) {
    for sweep in &scenario.sweeps {
        let place = format!(" in sweep `{}`", sweep.name.value);
        check_conditions(sweep, &place, names, diagnostics);
        let chosen = Chosen { mix: sweep.mix.as_ref(), strategies: &sweep.strategies, set: &sweep.set };
        chosen.check(scenario, names, &place, diagnostics);
    }
    if let Some(growth) = &scenario.growth {
        check_growth(growth, scenario, names, diagnostics);
    }
}

fn check_growth(growth: &GrowthDefinition, scenario: &Scenario, names: &Names, diagnostics: &mut Diagnostics) {
    let place = " in `growth`";
    let operations: Vec<&str> = names.operations.iter().map(String::as_str).collect();
    for operation in growth.sampled.iter().chain([&growth.operation]) {
        diagnostics.is_known("operation", operation, place, &operations);
    }
    let chosen = Chosen { mix: growth.mix.as_ref(), strategies: &growth.strategies, set: &growth.set };
    chosen.check(scenario, names, place, diagnostics);
}

/// What a sweep, or growth, chooses as the command line would.
struct Chosen<'s> {
    mix: Option<&'s Spanned<String>>,
    strategies: &'s [Spanned<String>],
    set: &'s [Spanned<String>],
}

impl Chosen<'_> {
    fn check(&self, scenario: &Scenario, names: &Names, place: &str, diagnostics: &mut Diagnostics) {
        let mixes: Vec<&str> = scenario.mixes.iter().map(|mix| mix.name.value.as_str()).collect();
        if let Some(mix) = self.mix {
            diagnostics.is_known("mix", mix, place, &mixes);
        }
        let strategies: Vec<&str> = scenario.strategies.iter().map(|one| one.name.value.as_str()).collect();
        for strategy in self.strategies {
            diagnostics.is_known("strategy", strategy, place, &strategies);
        }
        let parameters: Vec<&str> = names.parameters.iter().map(|(name, _)| &**name).collect();
        for setting in self.set {
            let name = setting.value.split('=').next().unwrap_or_default().trim().to_owned();
            diagnostics.is_known("parameter", &Spanned::new(name, setting.span), place, &parameters);
        }
    }
}

fn check_conditions(sweep: &SweepDefinition, place: &str, names: &Names, diagnostics: &mut Diagnostics) {
    let parameters: Vec<&str> = names.parameters.iter().map(|(name, _)| &**name).collect();
    let operations: Vec<&str> = names.operations.iter().map(String::as_str).collect();
    if !(1..=2).contains(&sweep.vary.len()) {
        let message = format!("expected one or two conditions{place}, found {}", sweep.vary.len());
        diagnostics.error(sweep.name.span, message, "for example `vary: [\"posts=100,1000,10000\"]`");
    }
    for condition in &sweep.vary {
        let Some((name, values)) = condition.value.split_once('=') else {
            let message = format!("expected name=value,value,..., found `{}`{place}", condition.value);
            diagnostics.error(condition.span, message, "for example `posts=100,1000,10000`");
            continue;
        };
        if values.split(',').filter(|value| !value.trim().is_empty()).count() < 2 {
            let message = format!("`{}` has fewer than two values{place}", name.trim());
            diagnostics.error(condition.span, message, "separate values by commas, for example `posts=100,1000,10000`");
        }
        let named = |name: &str| Spanned::new(name.trim().to_owned(), condition.span);
        if let Some(operation) = name.trim().strip_prefix(SHARE) {
            diagnostics.is_known("operation", &named(operation), place, &operations);
        } else if !CONDITIONS.contains(&name.trim()) {
            diagnostics.is_known("parameter", &named(name), place, &parameters);
        }
    }
}
