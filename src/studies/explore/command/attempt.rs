//! Whether a shape can be derived, and whether it is another one than those before.

use std::collections::BTreeMap;

use crate::cli::data_size::check_data;
use crate::compile::{self, Choice, compile, is_in_vain};
use crate::scenario::{Diagnostics, Node, Scenario, Severity, Tree};
use crate::studies::explore::record::{TriedOutcome, TriedRecord};

/// The entries of a derived strategy that change no command.
const TEXTS: [&str; 2] = ["about", "label"];

/// Shapes are derived one at a time, each in a scenario without other strategies.
pub struct Attempts {
    scenario: Scenario,
    choice: Choice,
    /// What was derived, with the name of its first strategy.
    derived: BTreeMap<String, String>,
}

impl Attempts {
    /// Of a scenario without errors. Those of its strategies that take part are derived first, so that shapes like theirs have their
    /// names.
    pub fn new(scenario: &Scenario, choice: &Choice, tried: &[TriedRecord]) -> Attempts {
        // Claims, sweeps and growth are about strategies that are left out here.
        let bare = Scenario {
            claims: Vec::new(),
            sweeps: Vec::new(),
            growth: None,
            audits: Vec::new(),
            strategies: Vec::new(),
            ..scenario.clone()
        };
        let choice = Choice { strategies: Vec::new(), repeat: false, ..choice.clone() };
        let mut derived = BTreeMap::new();
        for (name, node) in compile::derived(scenario, &choice).into_iter().flat_map(|found| found.strategies) {
            let takes_part = tried.iter().any(|one| one.is_of_scenario() && one.name == name);
            let mut named = scenario.strategies.iter().filter(|strategy| strategy.name.value == name);
            if takes_part && named.all(|strategy| strategy.operations.is_empty()) {
                derived.entry(commands(&node)).or_insert(name);
            }
        }
        Attempts { scenario: bare, choice, derived }
    }

    /// What becomes of a shape before it is verified.
    pub fn outcome(&mut self, tried: &TriedRecord) -> TriedOutcome {
        let (scenario, diagnostics) = (self.with(tried), Diagnostics::new());
        let compiled = compile(&scenario, &self.choice, &diagnostics);
        if let Ok(Some(plan)) = &compiled {
            check_data(&scenario, plan, &diagnostics);
        }
        if let Some(error) = diagnostics.iter().find(|one| one.severity == Severity::Error) {
            return TriedOutcome::Refused(error.message);
        }
        let Ok(Some(_)) = compiled else { return TriedOutcome::Refused("nothing can be derived".to_owned()) };
        if let Some(warning) = diagnostics.iter().find(is_in_vain) {
            return TriedOutcome::Unread(warning.message);
        }
        match self.first_like(&scenario) {
            Some(first) if first != tried.name => TriedOutcome::Same(first),
            Some(_) => TriedOutcome::Derived,
            None => TriedOutcome::Refused("nothing is derived".to_owned()),
        }
    }

    /// Takes note of a shape that an earlier process has derived.
    pub fn remember(&mut self, tried: &TriedRecord) {
        self.first_like(&self.with(tried));
    }

    /// The scenario with a shape as its only strategy.
    fn with(&self, tried: &TriedRecord) -> Scenario {
        Scenario { strategies: vec![tried.definition()], ..self.scenario.clone() }
    }

    /// The first strategy with the commands of the only one of a scenario, which may be that one; `None` if nothing is derived.
    fn first_like(&mut self, scenario: &Scenario) -> Option<String> {
        let derived = compile::derived(scenario, &self.choice)?;
        let (name, node) = derived.strategies.into_iter().next()?;
        Some(self.derived.entry(commands(&node)).or_insert(name).clone())
    }
}

/// What a derived strategy does, as text.
fn commands(node: &Node) -> String {
    let entries = node.as_mapping().unwrap_or_default();
    let kept = entries.iter().filter(|(key, _)| !TEXTS.contains(&key.value.as_str())).cloned();
    let made = Node { span: node.span, tree: Tree::Mapping(kept.collect()) };
    made.on_one_line(|text| format!("{text:?}"))
}
