//! How much data a scenario loads, estimated from the first documents of every collection.

use crate::engine::Documents;
use crate::plan::{Arm, Collection, EvalError, LoopOver, Plan, checking};
use crate::report::{bytes, counted};
use crate::scenario::{Diagnostics, Scenario, Span};

/// How many documents of a collection are made.
const SAMPLED: usize = 50;
/// The bytes after which no more are made.
const ENOUGH: f64 = 5e5;
/// The size limit of MongoDB's documents, in bytes.
const LARGEST: usize = 16 * 1024 * 1024;
/// The data that are worth a word, in bytes.
const WORTH_SAYING: f64 = 1e9;
/// The speed of loading, documents and bytes per second: about that of the published scenarios on two cores. Both take their time.
const SPEED: (f64, f64) = (80_000.0, 50e6);

/// The documents of one strategy.
#[derive(Default)]
struct DataSize {
    documents: f64,
    bytes: f64,
}

/// Makes documents of every collection, and reports those that cannot be made or are too large. Returns a line for each
/// strategy with much data.
pub fn check_data(scenario: &Scenario, plan: &Plan, diagnostics: &Diagnostics) -> Vec<String> {
    let mut lines = Vec::new();
    for arm in plan.arms.iter() {
        let mut size = DataSize::default();
        for series in arm.series() {
            if let Err(error) = checking(|| size.add(plan, series)) {
                let collection = &series[0];
                let message = format!("cannot make a document of `{}` in `{}`: {error}", collection.name, arm.name);
                let help = "documents have at most 16 MiB; see docs/format.md for the other limits";
                diagnostics.error(place(scenario, arm, collection), message, help);
            }
        }
        if size.bytes > WORTH_SAYING {
            lines.push(size.describe(&arm.name));
        }
    }
    lines
}

/// The bytes of the documents that the baseline loads, estimated; 0 where they cannot be made.
pub fn loaded_bytes(plan: &Plan) -> f64 {
    let mut size = DataSize::default();
    for series in plan.arms.iter().take(1).flat_map(Arm::series) {
        // The loader reports documents that cannot be made.
        let _ = checking(|| size.add(plan, series));
    }
    size.bytes
}

impl DataSize {
    /// Adds the collections of one definition. All are like the first. The number of documents is known where each record makes
    /// one; otherwise it is a lower bound.
    fn add(&mut self, plan: &Plan, series: &[Collection]) -> Result<(), EvalError> {
        let (collection, copies) = (&series[0], series.len() as f64);
        let (mut made, mut size) = (0.0_f64, 0.0);
        for document in Documents::new(plan, collection, collection.load_order).take(SAMPLED) {
            let length = document?.as_bytes().len();
            if length > LARGEST && !collection.skips_large {
                return Err(EvalError::new(format!("it has {}", bytes(length as f64))));
            }
            (made, size) = (made + 1.0, size + length as f64);
            if size > ENOUGH {
                break;
            }
        }
        let outermost = collection.loops.as_ref().and_then(|loops| loops.first());
        let documents = outermost.map_or(0.0, |outermost| match outermost.over {
            LoopOver::Entity(entity) => made.max(plan.data.len(entity) as f64),
            LoopOver::List(_) => made,
        });
        if made > 0.0 {
            self.documents += copies * documents;
            self.bytes += copies * documents * size / made;
        }
        Ok(())
    }

    fn describe(&self, strategy: &str) -> String {
        let minutes = (self.documents / SPEED.0 + self.bytes / SPEED.1) / 60.0;
        let (documents, size) = (counted(self.documents as u64, "document"), bytes(self.bytes));
        let minutes = counted(minutes.ceil() as u64, "minute");
        format!("{strategy} loads about {documents} of {size} in every round, which takes about {minutes} on two cores")
    }
}

/// Where the scenario names the collection, or else the strategy, which may have inherited it.
fn place(scenario: &Scenario, arm: &Arm, collection: &Collection) -> Span {
    let strategy = scenario.strategies.iter().find(|strategy| strategy.name.value == arm.name);
    let named = |name: &str| strategy?.collections.iter().find(|own| own.name.value == name).map(|own| own.name.span);
    named(&collection.written).or(strategy.map(|strategy| strategy.name.span)).unwrap_or_default()
}
