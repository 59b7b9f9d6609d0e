//! The catalogue in Markdown: an index of the scenarios, and the page of one with its strategies and claims.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::cli::exit::CliError;
use crate::report::{capitalised, claim_text};
use crate::results::{self, ClaimsRecord, DecidedClaimRecord};
use crate::scenario::{Scenario, StrategyDefinition};

/// Returns the index: a line per scenario, by the decision that it is about.
pub fn index(groups: &[(&str, Vec<Scenario>)]) -> String {
    let mut text = HEAD.to_owned();
    for (group, scenarios) in groups {
        let _ = write!(text, "\n## {}\n\n", capitalised(group));
        for scenario in scenarios {
            let name = &scenario.name.value;
            let _ = writeln!(text, "* [{name}](../scenarios/{name}.yaml): {}", scenario.title);
        }
    }
    text
}

/// Returns the page of a scenario. `folder` has the verdicts of each scenario in a file of its name; one without a file has none.
///
/// # Errors
/// When the file of verdicts cannot be read.
pub fn page(scenario: &Scenario, folder: Option<&Path>) -> Result<String, CliError> {
    let name = &scenario.name.value;
    let file = folder.map(|folder| folder.join(format!("{name}.json"))).filter(|path| path.is_file());
    let verdicts = file.map(|path| results::load_as::<ClaimsRecord>(&path)).transpose()?;
    let mut text = format!("# {name}\n\n**{}** {}\n", scenario.title, scenario.about);
    if !scenario.sources.is_empty() {
        let _ = write!(text, "\nSources: {}.\n", scenario.sources.join("; "));
    }
    let _ = write!(text, "\n| strategy | | schema | |\n|---|---|---|---|\n");
    for strategy in &scenario.strategies {
        let label = strategy.label.as_deref().unwrap_or_default();
        let about = strategy.about.as_deref().unwrap_or_default();
        let _ = writeln!(text, "| `{}` | {label} | {} | {} |", strategy.name.value, cell(about), role(strategy));
    }
    if scenario.claims.is_empty() {
        return Ok(text);
    }
    let decided = verdicts.iter().flat_map(|verdicts| &verdicts.claims);
    let found: BTreeMap<&str, &DecidedClaimRecord> = decided.map(|one| (one.claim.id.as_str(), one)).collect();
    if let Some(verdicts) = &verdicts {
        let (preset, server) = (verdicts.preset.name(), verdicts.server.as_deref().unwrap_or("unknown"));
        let _ = write!(text, "\nVerdicts: preset {preset}, MongoDB {server}, {}.\n", verdicts.started);
    }
    let _ = write!(text, "\n| source | claim | id | verdict | number |\n|---|---|---|---|---|\n");
    for claim in &scenario.claims {
        let decided = verdicts.as_ref().zip(found.get(claim.id.value.as_str()));
        let (verdict, number) = decided.map_or_else(
            || ("not measured", String::new()),
            |(record, one)| (one.outcome().name(), claim_text(record, one)),
        );
        let design = if claim.is_by_design { ", by design" } else { "" };
        let source = claim.source.as_deref().unwrap_or_default();
        let (says, source, id) = (cell(&claim.says), cell(source), &claim.id.value);
        let _ = writeln!(text, "| {source} | {says} | {id} | {verdict}{design} | {} |", cell(&number));
    }
    Ok(text)
}

const HEAD: &str = "# Scenarios

Every built-in scenario, by the decision that it is about. `docshape list NAME` prints the strategies and claims of one, with
`--verdicts results/claims` also what was measured of the claims; `docshape run NAME --claims` measures them again.
[patterns.md](patterns.md) says which scenario is about which page of MongoDB's manual.
";

/// How a strategy takes part in a run.
fn role(strategy: &StrategyDefinition) -> String {
    let operations: Vec<&str> = strategy.unsafe_with.iter().map(|operation| operation.value.as_str()).collect();
    match (strategy.is_unsafe, operations.is_empty(), strategy.is_compared()) {
        (true, ..) => "negative control".to_owned(),
        (false, false, _) => format!("unsafe with {}", operations.join(", ")),
        (false, true, true) => "compared by default".to_owned(),
        (false, true, false) => String::new(),
    }
}

/// Text in a cell of a table: a bar would end it, and `<` could begin a tag.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "\\<").split_whitespace().collect::<Vec<_>>().join(" ")
}
