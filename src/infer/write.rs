//! The scenario as text.

use std::fmt::Write as _;

use super::entities::{EntityDraft, InferredModel};
use super::generator::text;
use super::layout::{EntityPlace, FieldPlace, InferredOperation};

/// The longest line of a mapping that stays on one line.
const WIDTH: usize = 140;

/// Where a model comes from, and what that leaves open.
#[derive(Debug)]
pub struct ModelOrigin {
    /// The first comment.
    pub written: &'static str,
    /// `about` of the scenario.
    pub about: &'static str,
    /// What the user is asked first.
    pub todo: &'static [&'static str],
    /// A comment above the weights; empty where they are known.
    pub weights: &'static str,
    /// The name, the sentence and the label of the strategy.
    pub strategy: [&'static str; 3],
}

impl ModelOrigin {
    /// A sample of a database whose operations are guessed.
    pub const SAMPLE: ModelOrigin = ModelOrigin {
        written: "Written by `docshape init` from a sample of a database: lengths, shares, ranges and made-up tokens, no value of a document.",
        about: "The data and the schema of a database that is in use.",
        todo: &[
            "the mix: how often is each operation called? Its weights are invented",
            "the operations: they are guesses from keys, references and indexes. What does the application do, which fields does it read, what belongs together?",
        ],
        weights: "TODO the weights: nobody has observed the operations",
        strategy: ["present", "The schema as it is.", "as it is"],
    };

    /// The same with operations and shares that somebody has observed.
    pub const OBSERVED: ModelOrigin = ModelOrigin { todo: &[], weights: "", ..ModelOrigin::SAMPLE };

    /// Answers to the questions of `docshape init`.
    pub const ANSWERS: ModelOrigin = ModelOrigin {
        written: "Written by `docshape init` from four answers. What to change next, the most valuable first:",
        about: "The data and the operations of an application, before it has a database.",
        todo: &[
            "the weights in `mixes`: how often is each operation called? They decide the ranking",
            "the numbers in `parameters`: how many records are there, how many belong to one? They are few, so that trying is quick",
            "the fields that `with` reads, and the lengths of texts: documents as large as yours",
            "the skew: zipf(x) draws some records far more often than others, uniform(x) all equally often; zipf_count(n) is n on average, mostly fewer, at most 10 n",
        ],
        weights: "TODO the weights: how often is each operation called?",
        strategy: ["referenced", "Each record has a document of its own.", "references"],
    };
}

/// What the text of a scenario is made of.
#[derive(Debug)]
pub struct ScenarioText<'s> {
    /// Its name.
    pub name: &'s str,
    /// The model.
    pub model: &'s InferredModel,
    /// The operations.
    pub operations: &'s [InferredOperation],
    /// Where the model comes from.
    pub origin: &'s ModelOrigin,
    /// Indexes of the database that the model does not derive, as comments.
    pub other_indexes: &'s [String],
    /// What was read: collections that were left out and why.
    pub left_out: &'s [String],
}

impl ScenarioText<'_> {
    /// The text.
    pub fn text(&self) -> String {
        let mut made = String::new();
        self.header(&mut made);
        self.entities(&mut made);
        self.operations(&mut made);
        self.mixes(&mut made);
        self.strategies(&mut made);
        made
    }

    fn header(&self, made: &mut String) {
        comment(made, "", self.origin.written);
        if let Some(folder) = &self.model.data {
            let said = format!(
                "Fields with `line` have real values, from {folder}/: the values of one record belong together."
            );
            comment(made, "", &said);
        }
        for question in self.todo() {
            comment(made, "", &format!("TODO {question}"));
        }
        for left_out in self.left_out {
            comment(made, "", left_out);
        }
        let title = format!("{}: which document shape?", self.name);
        let _ = writeln!(made, "format: 1\nname: {}\ntitle: {}", self.name, text(&title));
        let _ = writeln!(made, "about: {}", self.origin.about);
        let parameters: Vec<String> = self
            .model
            .drafts
            .iter()
            .filter_map(|draft| draft.parameter.as_ref())
            .map(|(name, value, _)| format!("{name}: {value}"))
            .collect();
        if !parameters.is_empty() {
            made.push_str("parameters:\n");
            parameters.iter().for_each(|one| made.push_str(&format!("  {one}\n")));
        }
    }

    /// What only the user knows, the most valuable first.
    fn todo(&self) -> Vec<String> {
        let mut all: Vec<String> = self.origin.todo.iter().map(|question| (*question).to_owned()).collect();
        all.extend(self.model.questions.iter().cloned());
        let copied: Vec<&str> = self
            .model
            .shape
            .iter()
            .filter(|(_, words)| words.iter().any(|word| word.contains('(')))
            .map(|(key, _)| key.as_str())
            .collect();
        if !copied.is_empty() {
            all.push(format!("copies ({}): may they lag behind a change? Then the strategy can have `writes: versions`; an operation that changes what is copied shows the cost", copied.join(", ")));
        }
        let growing = self.model.layout.entities.iter().zip(&self.model.drafts).filter(|(place, draft)| {
            place.array.is_some() && draft.children.iter().max().is_some_and(|most| *most > 50)
        });
        all.extend(growing.map(|(place, _)| {
            format!(
                "{}: does this array have a bound?",
                place.array.as_ref().map_or(String::new(), |path| path.join("."))
            )
        }));
        all
    }

    fn entities(&self, made: &mut String) {
        made.push_str("entities:\n");
        for (place, draft) in self.model.layout.entities.iter().zip(&self.model.drafts) {
            let notes = draft.notes.iter().filter(|_| self.model.data.is_none());
            draft.comments.iter().chain(notes).for_each(|line| comment(made, "  ", line));
            self.entity(place, draft, made);
        }
    }

    fn entity(&self, place: &EntityPlace, draft: &EntityDraft, made: &mut String) {
        let _ = writeln!(made, "  {}:", place.entity);
        if let Some(parent) = &place.parent {
            let _ = writeln!(made, "    of: {}\n    as: {}", parent.entity, parent.relation);
        }
        let _ = writeln!(made, "    count: {}", text(&draft.count));
        if place.array.is_none() {
            let _ = writeln!(made, "    collection: {}", text(&place.collection));
        }
        if let Some(folder) = &self.model.data
            && place.fields.iter().any(|field| field.is_value)
        {
            let _ = writeln!(made, "    from: {}", text(&format!("{folder}/{}.ndjson", place.entity)));
        }
        let helpers = used(&draft.helpers, &place.fields);
        if !helpers.is_empty() {
            made.push_str("    let:\n");
            helpers.iter().for_each(|(name, value)| made.push_str(&format!("      {name}: {value}\n")));
        }
        made.push_str("    fields:\n");
        for field in &place.fields {
            let _ = writeln!(made, "      {}: {}", text(&field.field), field.generator);
        }
        let sort: Vec<String> = place.sort.iter().map(|(field, direction)| format!("{field}: {direction}")).collect();
        let _ = writeln!(made, "    sort: {{ {} }}", sort.join(", "));
        if draft.arrives_sorted {
            made.push_str("    arrives_sorted: true\n");
        }
        if let Some((list, inverse)) = &draft.inverse {
            let _ = writeln!(made, "    inverse: {{ {list}: {inverse} }}");
        }
    }

    fn operations(&self, made: &mut String) {
        made.push_str("operations:\n");
        for operation in self.operations {
            operation.comments.iter().for_each(|line| comment(made, "  ", line));
            let arguments: Vec<String> =
                operation.arguments.iter().map(|(name, value)| format!("{name}: {}", text(value))).collect();
            let arguments = if arguments.is_empty() {
                String::new()
            } else {
                format!("arguments: {{ {} }}, ", arguments.join(", "))
            };
            let line = format!("  {}: {{ {arguments}does: {} }}", operation.name, operation.does);
            if line.len() <= WIDTH {
                let _ = writeln!(made, "{line}");
                continue;
            }
            let _ = writeln!(made, "  {}:", operation.name);
            if !arguments.is_empty() {
                let _ = writeln!(made, "    {}", arguments.trim_end_matches(", "));
            }
            let _ = writeln!(made, "    does: {}", operation.does);
        }
    }

    fn mixes(&self, made: &mut String) {
        made.push_str("mixes:\n");
        if !self.origin.weights.is_empty() {
            comment(made, "  ", self.origin.weights);
        }
        mapping(made, "  default:", self.operations.iter().map(|one| format!("{}: {}", one.name, one.weight)));
        comment(made, "  ", "few records and every operation equally often, so that rare ones are verified, too");
        let parameters = self.model.drafts.iter().filter_map(|draft| draft.parameter.as_ref());
        let parameters: Vec<String> = parameters.map(|(name, _, verified)| format!("{name}: {verified}")).collect();
        let parameters = (!parameters.is_empty()).then(|| format!("parameters: {{ {} }}", parameters.join(", ")));
        mapping(
            made,
            "  verify:",
            parameters.into_iter().chain(self.operations.iter().map(|one| format!("{}: 1", one.name))),
        );
    }

    fn strategies(&self, made: &mut String) {
        made.push_str("strategies:\n");
        let [name, about, label] = self.origin.strategy;
        comment(made, "  ", &format!("{about} `docshape explore` derives what else it could be."));
        self.other_indexes.iter().for_each(|line| comment(made, "  ", line));
        let _ = writeln!(made, "  {name}:\n    about: {about}\n    label: {label}\n    default: true");
        if self.model.shape.is_empty() {
            made.push_str("    shape: {}\n");
            return;
        }
        made.push_str("    shape:\n");
        for (key, words) in &self.model.shape {
            let one = |word: &String| if word.contains(',') { format!("\"{word}\"") } else { word.clone() };
            let words: Vec<String> = words.iter().map(one).collect();
            let words = if let [only] = words.as_slice() { only.clone() } else { format!("[{}]", words.join(", ")) };
            let _ = writeln!(made, "      {key}: {words}");
        }
    }
}

/// The helpers that fields name, or helpers after them.
fn used<'h>(helpers: &'h [(String, String)], fields: &'h [FieldPlace]) -> Vec<&'h (String, String)> {
    let mut texts: Vec<&str> = fields.iter().map(|field| field.generator.as_str()).collect();
    let mut used = Vec::new();
    for helper in helpers.iter().rev() {
        if texts.iter().any(|text| text.contains(&helper.0)) {
            texts.push(&helper.1);
            used.push(helper);
        }
    }
    used.reverse();
    used
}

/// A mapping on one line, or on a line for each entry.
fn mapping(made: &mut String, start: &str, entries: impl Iterator<Item = String>) {
    let entries: Vec<String> = entries.collect();
    let line = format!("{start} {{ {} }}\n", entries.join(", "));
    if line.len() <= WIDTH {
        made.push_str(&line);
        return;
    }
    let _ = writeln!(made, "{start}");
    let indent = " ".repeat(start.len() - start.trim_start().len() + 2);
    entries.iter().for_each(|entry| made.push_str(&format!("{indent}{entry}\n")));
}

/// A comment, on as many lines as it needs. Whatever names contain, it stays a comment.
fn comment(made: &mut String, indent: &str, line: &str) {
    let line: String =
        line.chars().map(|c| if c.is_control() || ('\u{2028}'..='\u{202e}').contains(&c) { ' ' } else { c }).collect();
    let mut length = 0;
    for (place, word) in line.split(' ').enumerate() {
        let is_first = place == 0;
        if is_first || length + word.chars().count() > WIDTH - 20 {
            made.push_str(if is_first { "" } else { "\n" });
            let _ = write!(made, "{indent}# ");
            length = 0;
        } else {
            made.push(' ');
        }
        made.push_str(word);
        length += word.chars().count() + 1;
    }
    made.push('\n');
}
