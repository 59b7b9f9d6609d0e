//! From samples to the text of a scenario.

use std::path::{Path, PathBuf};

use super::compare::{self, DataComparison};
use super::copies;
use super::entities::{Entities, InferredModel};
use super::generator::text;
use super::layout::InferredOperation;
use super::operations::guessed;
use super::references;
use super::relations::{FoundReference, Relations};
use super::sample::{CollectionSample, Probe};
use super::scalar::quoted;
use super::tree::SeenTree;
use super::values::RealValues;
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
    /// The folder from which the scenario reads real values while it is made.
    data: PathBuf,
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
        Inferred {
            samples,
            trees,
            relations,
            model,
            operations,
            is_observed: false,
            refused: Vec::new(),
            data: PathBuf::new(),
        }
    }

    fn compiles(&self) -> bool {
        compare::plan(&self.text("model", &[], &[]), &self.data).is_ok()
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

    /// Lets fields have real values, from files in this folder, which is inside of `parent` for now.
    #[must_use]
    pub fn with_data(mut self, folder: &str, parent: &Path) -> Inferred {
        (self.model.data, self.data) = (Some(folder.to_owned()), parent.to_owned());
        self.operations = guessed(&self.model, &self.samples);
        let fields = self.model.layout.entities.iter_mut().flat_map(|place| &mut place.fields);
        for field in fields.filter(|field| field.is_value) {
            field.generator = text(&format!("line({})", quoted(&field.field)));
        }
        self
    }

    /// The real values of the entities that have some.
    pub fn real_values(&self) -> Vec<RealValues> {
        let places = self.model.layout.entities.iter().zip(&self.model.drafts);
        places.filter_map(|(place, draft)| RealValues::of(place, &self.samples[draft.collection])).collect()
    }

    /// The scenario, and how its data compare with the sample.
    ///
    /// # Errors
    /// The problems of the text, if it does not compile.
    pub fn scenario(&self, name: &str, left_out: &[String]) -> Result<(String, DataComparison), String> {
        let plan = compare::plan(&self.text(name, &[], left_out), &self.data)?;
        let written = self.text(name, &compare::other_indexes(&plan, &self.model, &self.samples), left_out);
        Ok((written, compare::compare(&plan, &self.model, &self.trees)))
    }
}
