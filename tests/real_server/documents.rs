//! Runs the complete scenarios of documents, which readers copy.

use std::fs;

use docshape::engine::RoundPlan;
use docshape::plan::written;

use crate::harness::{bench, choice, plan};

/// The complete scenarios among the `yaml` blocks of a document.
fn scenarios(document: &str) -> Vec<String> {
    let text = fs::read_to_string(format!("{}/{document}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let blocks = text.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned());
    blocks.filter(|block| block.starts_with("format: 1") || block.contains("\nformat: 1")).collect()
}

#[tokio::test]
async fn scenarios_in_documents_run_and_strategies_agree() {
    let bench = bench(4).await;
    for document in ["README.md", "docs/format.md", "docs/models.md"] {
        let found = scenarios(document);
        assert!(!found.is_empty(), "{document} has no complete scenario");
        for (position, text) in found.iter().enumerate() {
            let plan = plan(text, &choice(&[]));
            let id = format!("d{position}");
            let window = RoundPlan::saturation(300, 30);
            let (round, _) =
                bench.experiment(&plan, (4, 2), &id, &()).round(0, window).await.unwrap().single().unwrap();
            for cell in &round.cells {
                assert_eq!(cell.calls, 300);
                assert!(cell.operations.iter().all(|operation| operation.errors.is_empty()), "{document}");
            }
            let states = bench.states(&plan, &id).await;
            for (arm, state) in states.iter().enumerate() {
                let text = |state: &[(String, Vec<docshape::plan::Value>)]| -> Vec<String> {
                    state.iter().flat_map(|(_, rows)| rows.iter().map(written)).collect()
                };
                assert_eq!(text(state), text(&states[0]), "{document}: {}", plan.arms[arm].name);
            }
        }
    }
}
