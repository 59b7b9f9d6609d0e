//! Groups of statements as operations of a model.

use std::collections::BTreeMap;

use crate::infer::layout::{InferredOperation, Layout};

use super::argument::DrawnArguments;
use super::calls::{Calls, Group, GroupKind, calls};
use super::interval::wilson;
use super::observations::Observations;
use super::observed::{LeftOut, Observed};
use super::read::{ReadStep, StepTranslation, joined, read};
use super::shape::StatementShape;
use super::text::identifier;
use super::write::{WrittenSteps, write};

/// An operation before its weight is known.
#[derive(Debug)]
struct Draft {
    title: String,
    does: String,
    arguments: Vec<(String, String)>,
    comments: Vec<String>,
    calls: u64,
    statements: u64,
    /// The most calls of one of the groups that it was made of: their arguments are the best known.
    largest: u64,
}

/// The operations of what was observed, in the model of a layout: the most frequent first.
pub fn operations(observations: &Observations, layout: &Layout) -> Observed {
    let calls = calls(observations, layout);
    let mut translator =
        Translator { observations, layout, calls: &calls, drafts: Vec::new(), left_out: BTreeMap::new() };
    for group in &calls.groups {
        translator.group(group);
    }
    translator.finish()
}

struct Translator<'a> {
    observations: &'a Observations,
    layout: &'a Layout,
    calls: &'a Calls,
    drafts: Vec<Draft>,
    /// By what they are: calls.
    left_out: BTreeMap<String, u64>,
}

/// What one group is in the model.
struct Said {
    does: String,
    arguments: DrawnArguments,
    comments: Vec<String>,
}

impl Translator<'_> {
    fn group(&mut self, group: &Group) {
        match group.kind {
            GroupKind::Transaction => self.transaction(group),
            GroupKind::Pair { .. } => self.pair(group),
            GroupKind::Single => self.single(group, 0),
        }
    }

    fn shape(&self, group: &Group, part: usize) -> &StatementShape {
        &self.calls.shapes[group.parts[part].shape]
    }

    /// A part of a group as an operation of its own.
    fn single(&mut self, group: &Group, part: usize) {
        let shape = self.shape(group, part).clone();
        let mut arguments = DrawnArguments::default();
        let mut translation = StepTranslation { layout: self.layout, part, arguments: &mut arguments };
        let calls = self.calls_of(group, part);
        let said = if shape.verb.reads() {
            read(&mut translation, &shape).map(|step| (step.text(), step.comments))
        } else {
            match write(&mut translation, &shape) {
                Ok(WrittenSteps::Implied(what)) => {
                    *self
                        .left_out
                        .entry(format!("{what} ({} on {})", shape.verb.name(), shape.collection))
                        .or_default() += calls;
                    return;
                }
                Ok(WrittenSteps::Steps(steps, comments)) => Ok((together(steps), comments)),
                Err(reason) => Err(reason),
            }
        };
        match said {
            Ok((does, comments)) => {
                self.add(group, &shape, Said { does, arguments, comments }, calls, calls);
            }
            Err(reason) => self.leave_out(&shape, &reason, calls),
        }
    }

    fn pair(&mut self, group: &Group) {
        let GroupKind::Pair { together, first, second } = group.kind else { return };
        let (one, other) = (self.shape(group, 0).clone(), self.shape(group, 1).clone());
        if one.verb.reads() && other.verb.reads() {
            for (order, [from, to]) in [[(0, &one), (1, &other)], [(1, &other), (0, &one)]].into_iter().enumerate() {
                if let Some((step, arguments)) = self.read_together(from, to) {
                    let mut comments = step.comments.clone();
                    let whole = if order == 0 { first } else { second };
                    comments.push(format!(
                        "two statements, taken as one operation: together in {together} of {whole} calls"
                    ));
                    let said = Said { does: step.text(), arguments, comments };
                    let statements = self.calls_of(group, 0) + self.calls_of(group, 1);
                    self.add(group, from.1, said, group.calls, statements);
                    return;
                }
            }
        }
        // Writes without a transaction are not one step of the model, and unrelated reads are two.
        self.single(group, 0);
        self.single(group, 1);
    }

    fn read_together(
        &self,
        from: (usize, &StatementShape),
        to: (usize, &StatementShape),
    ) -> Option<(ReadStep<'_>, DrawnArguments)> {
        let mut arguments = DrawnArguments::default();
        let first = read(&mut StepTranslation { layout: self.layout, part: from.0, arguments: &mut arguments }, from.1);
        // What names the records of the second statement comes from the first.
        let mut unused = DrawnArguments::default();
        let second = read(&mut StepTranslation { layout: self.layout, part: to.0, arguments: &mut unused }, to.1);
        joined(self.layout, &first.ok()?, &second.ok()?).map(|step| (step, arguments))
    }

    fn transaction(&mut self, group: &Group) {
        let mut arguments = DrawnArguments::default();
        let (mut steps, mut comments) = (Vec::new(), Vec::new());
        // A record that a write finds is made or changed with what is inserted: inserts come last.
        let mut parts: Vec<usize> = (0..group.parts.len()).collect();
        parts.sort_by_key(|part| self.shape(group, *part).verb == super::shape::Verb::Insert);
        let mut reads = 0;
        for part in parts {
            let shape = self.shape(group, part).clone();
            if shape.verb.reads() {
                reads += 1;
                continue;
            }
            let times = repeats(group, part);
            if times > 1.0 {
                let what = format!("{} on {}", shape.verb.name(), shape.collection);
                comments.push(format!("{what}: {} times in each transaction", decimal(times)));
            }
            for _ in 0..times.round().max(1.0) as usize {
                let mut translation = StepTranslation { layout: self.layout, part, arguments: &mut arguments };
                match write(&mut translation, &shape) {
                    Ok(WrittenSteps::Steps(written, said)) => {
                        steps.extend(written);
                        comments.extend(said.into_iter().filter(|said| !comments.contains(said)).collect::<Vec<_>>());
                    }
                    Ok(WrittenSteps::Implied(what)) => {
                        comments.push(format!("without {what} ({} on {})", shape.verb.name(), shape.collection));
                        break;
                    }
                    Err(reason) => {
                        let what =
                            format!("a transaction with {} on {}, {reason}", shape.verb.name(), shape.collection);
                        *self.left_out.entry(what).or_default() += group.calls;
                        return;
                    }
                }
            }
        }
        if steps.is_empty() {
            *self.left_out.entry("transactions that only read".to_owned()).or_default() += group.calls;
            return;
        }
        if reads > 0 {
            comments.push(format!("{reads} reads of the transaction are left out"));
        }
        comments.push("a transaction".to_owned());
        let statements: u64 = (0..group.parts.len()).map(|part| self.calls_of(group, part)).sum();
        let title = self.shape(group, group.parts.len() - 1).clone();
        self.add(group, &title, Said { does: together(steps), arguments, comments }, group.calls, statements);
    }

    fn calls_of(&self, group: &Group, part: usize) -> u64 {
        group.parts[part].statements.iter().map(|statement| self.observations.statements[*statement].calls).sum()
    }

    fn add(&mut self, group: &Group, shape: &StatementShape, said: Said, calls: u64, statements: u64) {
        let mut said = said;
        said.arguments.keep_used(&said.does);
        let (arguments, more) = said.arguments.written(self.observations, group);
        let mut comments = said.comments;
        comments.extend(more);
        let same = |draft: &&mut Draft| {
            let names = |all: &[(String, String)]| all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
            draft.does == said.does && names(&draft.arguments) == names(&arguments)
        };
        if let Some(known) = self.drafts.iter_mut().find(same) {
            (known.calls, known.statements) = (known.calls + calls, known.statements + statements);
            if calls > known.largest {
                (known.arguments, known.comments, known.largest) = (arguments, comments, calls);
            }
            return;
        }
        let title = shape.name.as_deref().map_or_else(|| title(&said.does), identifier);
        let does = said.does;
        self.drafts.push(Draft { title, does, arguments, comments, calls, statements, largest: calls });
    }

    fn leave_out(&mut self, shape: &StatementShape, reason: &str, calls: u64) {
        let what = format!("{} on {} with {reason}: no logical step", shape.verb.name(), shape.collection);
        *self.left_out.entry(what).or_default() += calls;
    }

    fn finish(mut self) -> Observed {
        self.drafts.sort_by_key(|draft| std::cmp::Reverse(draft.calls));
        let all = self.calls.all;
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        let operation = |draft: &Draft| {
            let times = names.entry(draft.title.clone()).or_default();
            *times += 1;
            let name = if *times == 1 { draft.title.clone() } else { format!("{}_{times}", draft.title) };
            let (low, high) = wilson(draft.calls, all);
            let weight = percent(draft.calls, all);
            let seen =
                format!("{} calls, {weight:.1} % (95 % CI {:.1}-{:.1} %)", draft.calls, 100.0 * low, 100.0 * high);
            InferredOperation {
                name,
                comments: [seen].into_iter().chain(draft.comments.clone()).collect(),
                arguments: draft.arguments.clone(),
                does: draft.does.clone(),
                weight,
            }
        };
        let operations: Vec<InferredOperation> = self.drafts.iter().map(operation).collect();
        if self.observations.unattributed > 0 {
            self.left_out.insert("reads that use no index: not attributed".to_owned(), self.observations.unattributed);
        }
        let mut left_out: Vec<LeftOut> = self
            .left_out
            .into_iter()
            .map(|(what, calls)| LeftOut { what, calls, share: percent(calls, all) })
            .collect();
        left_out.sort_by_key(|left| std::cmp::Reverse(left.calls));
        let mut lines = self.observations.left_out;
        lines.aborted = self.calls.aborted;
        Observed {
            operations,
            calls_of: self.drafts.iter().map(|draft| draft.calls).collect(),
            calls: all,
            statements: self.observations.statements(),
            said_statements: self.drafts.iter().map(|draft| draft.statements).sum(),
            rare: self.calls.rare,
            left_out,
            lines,
            limits: self.observations.limits.clone(),
            has_names: self.observations.has_names(),
        }
    }
}

/// Several writes are one step of the model.
fn together(mut steps: Vec<String>) -> String {
    match (steps.len(), steps.pop()) {
        (1, Some(step)) => step,
        (_, last) => {
            steps.extend(last);
            format!("{{ atomically: [{}] }}", steps.join(", "))
        }
    }
}

/// How often the statements of a part are in one transaction.
fn repeats(group: &Group, part: usize) -> f64 {
    group.parts[part].statements.len() as f64 / group.calls.max(1) as f64
}

fn decimal(number: f64) -> String {
    if number.fract() < 0.05 { format!("{number:.0}") } else { format!("on average {number:.1}") }
}

fn percent(calls: u64, all: u64) -> f64 {
    // Two digits after the point are more than any of these shares is known to.
    (10_000.0 * calls as f64 / all.max(1) as f64).round() / 100.0
}

/// A name from a logical step: its verb, its subject, and what it is about.
fn title(does: &str) -> String {
    // What a transaction makes is what it is for.
    let made = does.find("{ create:").filter(|_| does.starts_with("{ atomically"));
    let inner = made.map_or(does, |at| &does[at..]).trim_start_matches("{ atomically: [");
    let words: Vec<&str> = inner.split(|c: char| !(c.is_alphanumeric() || "_.".contains(c))).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let about = words.iter().skip_while(|word| !["by", "where", "set", "inc"].contains(word)).nth(1);
    let first = words.iter().take(2).copied();
    let text = first.chain(about.copied()).map(|word| word.trim_start_matches("new_")).collect::<Vec<_>>().join("_");
    identifier(&text.replace('.', "_"))
}
