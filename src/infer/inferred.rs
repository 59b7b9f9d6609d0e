//! From samples to the text of a scenario.

use super::compare::{self, DataComparison};
use super::copies;
use super::entities::{Entities, InferredModel};
use super::layout::InferredOperation;
use super::operations::guessed;
use super::references;
use super::relations::{FoundReference, Relations};
use super::sample::{CollectionSample, Probe};
use super::tree::SeenTree;
use super::write::{ModelOrigin, ScenarioText};

/// What was inferred of a database.
#[derive(Debug)]
pub struct Inferred {
    /// The collections that were read.
    pub samples: Vec<CollectionSample>,
    /// What their documents look like.
    pub trees: Vec<SeenTree>,
    /// References, with copies.
    pub relations: Relations,
    /// The model.
    pub model: InferredModel,
    /// The operations.
    pub operations: Vec<InferredOperation>,
    /// Whether they were observed.
    pub is_observed: bool,
    /// Observed operations that cannot be derived.
    pub refused: Vec<InferredOperation>,
}

impl Inferred {
    /// Infers a model with guessed operations.
    pub fn of(samples: Vec<CollectionSample>, probe: &mut impl Probe) -> Inferred {
        let tree = |sample: &CollectionSample| {
            let mut tree = SeenTree::default();
            sample.documents.iter().for_each(|document| tree.add(document));
            tree.finish();
            tree
        };
        let trees: Vec<SeenTree> = samples.iter().map(tree).collect();
        let references = references::find(&samples, &trees, probe);
        let mut found = Vec::new();
        for reference in references.found {
            let copies = copies::find(&samples, &reference, probe);
            found.push(FoundReference::new(&trees, reference, copies));
        }
        // A copy of a natural key is no second reference.
        let copied: Vec<(usize, Vec<String>)> = found.iter().flat_map(FoundReference::copied_paths).collect();
        found.retain(|one| !copied.contains(&(one.reference.collection, one.reference.path.clone())));
        let mut relations = Relations::of(&samples, &trees, found);
        let mut made = Inferred::concluded(samples, trees, relations.clone(), &references.questions);
        while !made.compiles() && relations != relations.clone().simpler() {
            relations = relations.simpler();
            made = Inferred::concluded(made.samples, made.trees, relations.clone(), &references.questions);
        }
        made
    }

    fn concluded(
        samples: Vec<CollectionSample>,
        trees: Vec<SeenTree>,
        relations: Relations,
        questions: &[String],
    ) -> Inferred {
        let model = Entities::model(&samples, &trees, &relations, questions.to_vec());
        let operations = guessed(&model, &samples);
        Inferred { samples, trees, relations, model, operations, is_observed: false, refused: Vec::new() }
    }

    fn compiles(&self) -> bool {
        compare::plan(&self.text("model", &[], &[])).is_ok()
    }

    fn text(&self, name: &str, other_indexes: &[String], left_out: &[String]) -> String {
        let origin = if self.is_observed { &ModelOrigin::OBSERVED } else { &ModelOrigin::SAMPLE };
        ScenarioText { name, model: &self.model, operations: &self.operations, origin, other_indexes, left_out }.text()
    }

    /// Lets observed operations take the place of guessed ones; those that cannot be derived are left out, and named.
    #[must_use]
    pub fn with_observed(mut self, observed: &[InferredOperation]) -> Inferred {
        let guessed = std::mem::replace(&mut self.operations, observed.to_vec());
        if !self.compiles() {
            let all = std::mem::take(&mut self.operations);
            let (derived, refused) = all.into_iter().partition(|one| {
                self.operations = vec![one.clone()];
                self.compiles()
            });
            (self.operations, self.refused) = (derived, refused);
        }
        self.is_observed = !self.operations.is_empty();
        if !self.is_observed {
            self.operations = guessed;
        }
        self
    }

    /// The scenario, and how its data compare with the sample.
    ///
    /// # Errors
    /// The problems of the text, if it does not compile.
    pub fn scenario(&self, name: &str, left_out: &[String]) -> Result<(String, DataComparison), String> {
        let plan = compare::plan(&self.text(name, &[], left_out))?;
        let written = self.text(name, &compare::other_indexes(&plan, &self.model, &self.samples), left_out);
        Ok((written, compare::compare(&plan, &self.model, &self.trees)))
    }
}
