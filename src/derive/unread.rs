//! Words of a strategy that change nothing but writes: what they store is read by no operation.

use crate::scenario::{Diagnostic, Diagnostics, LogicalStep, Node, Scalar, Span, StrategyDefinition, Tree};

use super::document::DerivedDocuments;
use super::model::Model;
use super::shape::ModelShape;
use super::translate::Translation;
use super::words::copyable;

/// The texts under the words of a shape that it warns of.
const ONLY_COSTS: &str = "only costs writes";
const SAME: &str = "the same strategy without it";

/// Whether a problem is that a word of a shape changes nothing but writes, or nothing.
pub fn is_in_vain(problem: &Diagnostic) -> bool {
    [ONLY_COSTS, SAME].contains(&problem.label.as_str())
}

/// Warns of words of the strategy's own shape without which its reads are the same, and of a `join` or `writes` without which all
/// its operations are.
pub(super) fn check_unread(
    model: &Model,
    shape: &ModelShape,
    strategy: &StrategyDefinition,
    diagnostics: &Diagnostics,
) {
    let operations = || 0..model.scenario.operations.len();
    let reads = |position: &usize| model.scenario.operations[*position].does.iter().any(is_read);
    let all = Operations { model, positions: operations().collect() };
    let reading = Operations { model, positions: operations().filter(reads).collect() };
    let warn = |span: Span, message: String, help: String| {
        Diagnostic::warning(span, message).label(ONLY_COSTS).help(help).add_to(diagnostics);
    };
    let own = strategy.shape.iter().flatten().map(|(key, _)| key.value.as_str());
    for relation in own.filter_map(|key| (0..model.relations.len()).find(|relation| model.key(*relation) == key)) {
        let mut vain = Vec::new();
        for (words, less) in shape.without_copies(model, relation) {
            let word = words.split('(').next().unwrap_or_default().to_owned();
            if !vain.contains(&word) && reading.are_same(shape, &less) {
                vain.push(word);
                let key = model.key(relation);
                let (span, help) = (shape.place(relation).unwrap_or_default(), help(model, relation, &words));
                warn(span, format!("no operation reads what `{words}` of `{key}` stores"), help);
            }
        }
    }
    let own = strategy.shape.iter().flatten().map(|(key, _)| key.value.as_str());
    for (entity, split) in own.filter_map(|key| shape.splits.iter().find(|(entity, _)| model.name(**entity) == key)) {
        if all.steps(shape).is_some_and(|steps| !shape.is_split_used(model, *entity, &steps)) {
            let name = model.name(*entity);
            let message = format!("no operation needs one of the two documents of `{name}: split` alone");
            let help = format!("a step that names other `fields` of `{name}` would; otherwise remove it");
            warn(split.span, message, help);
        }
    }
    for (word, less) in [
        (&strategy.join, ModelShape { is_joined: false, ..shape.clone() }),
        (&strategy.writes, ModelShape { is_ordered: false, is_plain: false, ..shape.clone() }),
    ] {
        let is_other =
            less.is_joined != shape.is_joined || (less.is_ordered, less.is_plain) != (shape.is_ordered, shape.is_plain);
        if let Some(word) = word.as_ref().filter(|_| is_other && all.are_same(shape, &less)) {
            let message = format!("`{}` changes no command of this shape", word.value);
            Diagnostic::warning(word.span, message).label(SAME).help("remove it, or the strategy").add_to(diagnostics);
        }
    }
}

impl ModelShape {
    /// The words of a relation that only store something twice, each with the shape without it; fields one by one if some are
    /// copied and the word as a whole is not in vain.
    fn without_copies(&self, model: &Model, relation: usize) -> Vec<(String, ModelShape)> {
        let mut all = Vec::new();
        for (at, (word, arguments)) in self.placements[relation].words.iter().enumerate() {
            let is_id = matches!(*word, "reference" | "list" | "link");
            if !matches!(*word, "counted" | "sum" | "newest") && (arguments.is_empty() || !is_id) {
                continue;
            }
            let kept = |kept: Option<Vec<String>>| {
                let mut shape = self.clone();
                let words = &mut shape.placements[relation].words;
                match kept {
                    Some(arguments) => words[at].1 = arguments,
                    None => drop(words.remove(at)),
                }
                shape
            };
            let word = self.placements[relation].written(word);
            let written = |arguments: &[String]| match arguments {
                [] => word.to_owned(),
                arguments => format!("{word}({})", arguments.join(", ")),
            };
            all.push((written(arguments), kept(is_id.then(Vec::new))));
            let this = &model.relations[relation];
            let source = if word == "reference" && !this.is_turned { this.one } else { this.many };
            let is_some = word != "newest" && arguments.len() > 1 && *arguments != copyable(model, source);
            for field in arguments.iter().filter(|_| is_some) {
                let others = arguments.iter().filter(|other| *other != field).cloned().collect();
                all.push((written(std::slice::from_ref(field)), kept(Some(others))));
            }
        }
        all
    }
}

/// Operations that are derived twice.
struct Operations<'m> {
    model: &'m Model<'m>,
    positions: Vec<usize>,
}

impl Operations<'_> {
    /// Whether another shape, which can do the same, has the same commands.
    fn are_same(&self, one: &ModelShape, other: &ModelShape) -> bool {
        let steps = self.steps(one);
        steps.is_some() && steps == self.steps(other)
    }

    fn steps(&self, shape: &ModelShape) -> Option<Vec<Vec<Node>>> {
        let mut documents = DerivedDocuments::new(self.model, shape).ok()?;
        let mut steps = |position: &usize| Translation::new(&mut documents, *position).steps(Span::default()).ok();
        self.positions.iter().map(|position| Some(steps(position)?.iter().map(without_exclusions).collect())).collect()
    }
}

fn is_read(step: &LogicalStep) -> bool {
    matches!(step, LogicalStep::Logical { .. }) && !step.is_write()
}

/// What would read the words of a relation.
fn help(model: &Model, relation: usize, words: &str) -> String {
    let (key, this) = (model.key(relation), &model.relations[relation]);
    let (word, fields) = words.split_once('(').unwrap_or((words, ""));
    let fields = fields.trim_end_matches(')');
    let first = fields.split(',').next().unwrap_or_default();
    let reader = match word {
        "counted" => format!("`count: {key}` without `where`"),
        "sum" => format!("`sum: {key}.{first}` without `where`"),
        "newest" => format!("`list: {key}, reverse: true` with a `limit` of no more than {fields}"),
        "list" => format!("a `list` of all of them with no other fields than `fields: [_id, {fields}]`"),
        "link" => format!("a `list` with no other fields than `fields: [_id, {fields}]`"),
        _ => format!("a step that asks for nothing else of it, such as `with: {{ {}: [{fields}] }}`,", this.up()),
    };
    format!("{reader} would; otherwise remove it")
}

/// A step without the fields that a projection leaves out, as they are not read.
fn without_exclusions(node: &Node) -> Node {
    let tree = match &node.tree {
        Tree::Scalar(scalar) => Tree::Scalar(scalar.clone()),
        Tree::List(items) => Tree::List(items.iter().map(without_exclusions).collect()),
        Tree::Mapping(entries) => {
            let is_kept = |(_, value): &&(_, Node)| value.tree != Tree::Scalar(Scalar::Int(0));
            let inner = entries.iter().filter(is_kept).map(|(key, value)| (key.clone(), without_exclusions(value)));
            Tree::Mapping(inner.filter(|(_, value)| value.tree != Tree::Mapping(Vec::new())).collect())
        }
    };
    Node { span: node.span, tree }
}
