//! The plan of a scenario that a benchmark runs.

use docshape::compile::{Choice, compile};
use docshape::plan::Plan;
use docshape::scenario::{Diagnostics, Source, read};

/// Compiles a scenario of this repository; panics with its diagnostics if it has errors.
pub fn plan(name: &str, text: &str, choice: &Choice) -> Plan {
    let source = Source::new(name, text);
    let diagnostics = Diagnostics::new();
    let scenario = read(&source, &diagnostics);
    let plan = scenario.map(|scenario| compile(&scenario, choice, &diagnostics));
    match plan {
        Some(Ok(Some(plan))) => plan,
        Some(Err(error)) => panic!("{name}: {error}"),
        _ => panic!("{}", diagnostics.render(&source, false)),
    }
}

/// The choice of a mix, with defaults for everything else.
pub fn mix(name: &str) -> Choice {
    Choice { mix: Some(name.to_owned()), ..Choice::default() }
}
