//! Groups of statements as operations of a model.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::infer::layout::{InferredOperation, Layout};

use super::argument::StepTranslation;
use super::calls::{Calls, Group, GroupKind, LayoutShapes, calls};
use super::interval::wilson;
use super::observations::Observations;
use super::observed::{LeftOut, Observed};
use super::shape::Verb;
use super::text::{free, identifier};
use super::write::Unwritten;

/// An operation before its weight is known.
struct Draft {
    operation: InferredOperation,
    calls: u64,
    statements: u64,
    /// The most calls of one of the groups that it was made of: their arguments are the best known.
    largest: u64,
}

/// The operations of what was observed, in the model of a layout: the most frequent first.
pub fn operations(observations: &Observations, layout: &Layout) -> Observed {
    let shapes = LayoutShapes::new(observations, layout);
    let calls = calls(observations, &shapes);
    let mut translator = GroupTranslator { layout, drafts: Vec::new(), left_out: BTreeMap::new() };
    for group in &calls.groups {
        translator.group(group);
    }
    translator.finish(observations, &calls)
}

struct GroupTranslator<'l> {
    layout: &'l Layout,
    drafts: Vec<Draft>,
    /// By what they are: calls.
    left_out: BTreeMap<String, u64>,
}

impl GroupTranslator<'_> {
    fn group(&mut self, group: &Group<'_>) {
        match group.kind {
            GroupKind::Transaction => self.transaction(group),
            GroupKind::Pair(together) if self.pair(group, together) => {}
            // Writes without a transaction are not one step of the model, and unrelated reads are two.
            GroupKind::Pair(_) | GroupKind::Single => (0..group.parts.len()).for_each(|part| self.single(group, part)),
        }
    }

    /// A part of a group as an operation of its own.
    fn single(&mut self, group: &Group<'_>, part: usize) {
        let (shape, calls) = (group.parts[part].shape, group.parts[part].calls());
        let mut translation = StepTranslation::new(self.layout, group, part);
        let does = match shape.verb {
            Verb::Read => translation.read().map(|step| step.text()).map_err(Unwritten::Unsaid),
            _ => translation.write().map(together),
        };
        match does {
            Ok(does) => self.add(translation, does, calls, calls),
            Err(Unwritten::Unsaid(reason)) => {
                self.leave_out(format!("{} with {reason}: no logical step", shape.described()), calls);
            }
            Err(Unwritten::Implied(what)) => self.leave_out(format!("{what} ({})", shape.described()), calls),
        }
    }

    /// Two reads as one; false if they are not related.
    fn pair(&mut self, group: &Group<'_>, times: u64) -> bool {
        if group.parts.iter().any(|part| part.shape.verb != Verb::Read) {
            return false;
        }
        for (from, to) in [(0, 1), (1, 0)] {
            let mut translation = StepTranslation::new(self.layout, group, from);
            let first = translation.read();
            // What names the records of the second statement comes from the first: it will not be used.
            translation.part = to;
            let second = translation.read();
            translation.part = from;
            let (Ok(first), Ok(second)) = (first, second) else { continue };
            if let Some(step) = first.joined(self.layout, second) {
                let whole = group.parts[from].calls();
                translation
                    .comment(format!("two statements, taken as one operation: together in {times} of {whole} calls"));
                let statements = whole + group.parts[to].calls();
                self.add(translation, step.text(), group.calls, statements);
                return true;
            }
        }
        false
    }

    fn transaction(&mut self, group: &Group<'_>) {
        let mut translation = StepTranslation::new(self.layout, group, 0);
        // A record that a write finds is made or changed with what is inserted: inserts come last.
        let mut writes: Vec<usize> = (0..group.parts.len()).collect();
        writes.retain(|part| group.parts[*part].shape.verb != Verb::Read);
        writes.sort_by_key(|part| group.parts[*part].shape.verb == Verb::Insert);
        let reads = group.parts.len() - writes.len();
        let mut steps = Vec::new();
        for part in writes {
            translation.part = part;
            let what = group.parts[part].shape.described();
            let times = group.parts[part].statements.len() as f64 / group.calls.max(1) as f64;
            if times > 1.0 {
                translation.comment(format!("{what}: {} times in each transaction", decimal(times)));
            }
            for _ in 0..times.round().max(1.0) as usize {
                match translation.write() {
                    Ok(written) => steps.extend(written),
                    Err(Unwritten::Implied(implied)) => translation.comment(format!("without {implied} ({what})")),
                    Err(Unwritten::Unsaid(reason)) => {
                        return self.leave_out(format!("a transaction with {what}, {reason}"), group.calls);
                    }
                }
            }
        }
        if steps.is_empty() {
            return self.leave_out("transactions that only read".to_owned(), group.calls);
        }
        if reads > 0 {
            translation.comment(format!("{reads} reads of the transaction are left out"));
        }
        translation.comment("a transaction");
        let statements: u64 = group.parts.iter().map(|part| part.calls()).sum();
        self.add(translation, together(steps), group.calls, statements);
    }

    fn leave_out(&mut self, what: String, calls: u64) {
        *self.left_out.entry(what).or_default() += calls;
    }

    /// Adds an operation, or calls of one that does the same.
    fn add(&mut self, translation: StepTranslation<'_, '_>, does: String, calls: u64, statements: u64) {
        let name = translation.shape().name.as_deref().map_or_else(|| title(&does), identifier);
        let (arguments, comments) = translation.finish(&does);
        let draft = Draft {
            operation: InferredOperation { name, comments, arguments, does, weight: 0.0 },
            calls,
            statements,
            largest: calls,
        };
        let is_same = |known: &&mut Draft| {
            let (known, new) = (&known.operation, &draft.operation);
            known.does == new.does
                && known.arguments.iter().map(|(name, _)| name).eq(new.arguments.iter().map(|(name, _)| name))
        };
        match self.drafts.iter_mut().find(is_same) {
            Some(known) => {
                let (calls, statements) = (known.calls + calls, known.statements + statements);
                if draft.largest > known.largest {
                    let name = std::mem::take(&mut known.operation.name);
                    *known = Draft { operation: InferredOperation { name, ..draft.operation }, ..draft };
                }
                (known.calls, known.statements) = (calls, statements);
            }
            None => self.drafts.push(draft),
        }
    }

    fn finish(mut self, observations: &Observations, calls: &Calls<'_>) -> Observed {
        if observations.unattributed > 0 {
            self.leave_out("reads that use no index: not attributed".to_owned(), observations.unattributed);
        }
        self.drafts.sort_by_key(|draft| Reverse(draft.calls));
        // Two digits after the point are more than any of these shares is known to.
        let percent = |calls_of: u64| (10_000.0 * calls_of as f64 / calls.all.max(1) as f64).round() / 100.0;
        let mut operations: Vec<InferredOperation> = Vec::new();
        for Draft { operation, calls: calls_of, .. } in &self.drafts {
            let weight = percent(*calls_of);
            let (low, high) = wilson(*calls_of, calls.all);
            let seen = format!("{calls_of} calls, {weight:.1} % (95 % CI {:.1}-{:.1} %)", 100.0 * low, 100.0 * high);
            let name = free(&operation.name, |name| operations.iter().any(|known| known.name == name));
            let comments = [seen].into_iter().chain(operation.comments.clone()).collect();
            operations.push(InferredOperation { name, comments, weight, ..operation.clone() });
        }
        let left_out = self.left_out.into_iter().map(|(what, calls)| LeftOut { what, calls, share: percent(calls) });
        let mut left_out: Vec<LeftOut> = left_out.collect();
        left_out.sort_by_key(|left| Reverse(left.calls));
        let mut lines = observations.left_out;
        lines.aborted = calls.aborted;
        Observed {
            operations,
            calls_of: self.drafts.iter().map(|draft| draft.calls).collect(),
            calls: calls.all,
            statements: observations.statements(),
            said_statements: self.drafts.iter().map(|draft| draft.statements).sum(),
            rare: calls.rare,
            left_out,
            lines,
            limits: observations.limits.clone(),
            has_names: observations.has_names(),
        }
    }
}

/// Several writes are one step of the model.
fn together(steps: Vec<String>) -> String {
    if let [step] = steps.as_slice() { step.clone() } else { format!("{{ atomically: [{}] }}", steps.join(", ")) }
}

fn decimal(number: f64) -> String {
    if number.fract() < 0.05 { format!("{number:.0}") } else { format!("on average {number:.1}") }
}

/// A name from a logical step: its verb, its subject, and what it is about.
fn title(does: &str) -> String {
    // What a transaction makes is what it is for.
    let made = does.find("{ create:").filter(|_| does.starts_with("{ atomically"));
    let inner = made.map_or(does, |at| &does[at..]).trim_start_matches("{ atomically: [");
    let words = inner.split(|c: char| !(c.is_alphanumeric() || "_.".contains(c))).filter(|word| !word.is_empty());
    let about = words.clone().skip_while(|word| !["by", "where", "set", "inc"].contains(word)).nth(1);
    let words = words.take(2).chain(about).map(|word| word.trim_start_matches("new_"));
    identifier(&words.collect::<Vec<_>>().join("_"))
}
