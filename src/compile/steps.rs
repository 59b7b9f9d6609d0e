//! Steps as written to a [`Program`].

use std::collections::BTreeSet;

use crate::plan::program::{most_writes, writes};
use crate::plan::{
    Bulk, Caught, Command, Concerns, Expression, Implicit, Places, Program, ReplyShape, Retry, Skeleton, Step,
    Template, While,
};
use crate::scenario::{CatchKey, Node, Spanned, StepDefinition, StepKind};

use super::bulk;
use super::crud::{CrudCompiler, reply_shape};
use super::foreign::{check_command, check_pipeline};
use super::lint::{collections_of, writes_elsewhere};
use super::parts::all;
use super::reply::check_condition;
use super::resolve::{resolve, resolve_records};
use super::scope::{Origin, Scope};
use super::series::Instance;

/// Compiles the steps of one operation, load or state.
pub struct StepCompiler<'r, 'a> {
    /// The names known at the start: the arguments.
    pub scope: Scope<'a>,
    /// The collections that the strategy declares.
    pub collections: &'r [Instance<'r>],
    /// What every command carries that is outside of transactions.
    pub concerns: &'r Concerns,
    /// The slot of `reply`.
    pub reply: usize,
    /// Whether it is an operation, whose reads may be sent to any member: others are to find what was written.
    pub is_operation: bool,
    /// Whether the present step is inside of a `transaction`.
    in_transaction: bool,
    /// The collections named so far; `None` after a name that is not known.
    used: Option<BTreeSet<String>>,
    places: Places,
}

impl<'r, 'a> StepCompiler<'r, 'a> {
    /// A compiler for one program.
    pub fn new(mut scope: Scope<'a>, collections: &'r [Instance<'r>], concerns: &'r Concerns) -> StepCompiler<'r, 'a> {
        let reply = scope.assign("reply", Origin::Reply, None);
        let (used, places) = (Some(BTreeSet::new()), Places::default());
        let (is_operation, in_transaction) = (false, false);
        StepCompiler { scope, collections, concerns, reply, is_operation, in_transaction, used, places }
    }

    /// The program; `None` when there were problems. `returns` says whether a result is declared.
    pub fn compile(mut self, steps: &[StepDefinition], returns: bool) -> Option<Program> {
        let compiled = self.steps(steps)?;
        let implicit = match compiled.last() {
            _ if returns => Implicit::Reply,
            Some(Step::Bulk(_)) if writes(&compiled) == 1 => Implicit::Outcome,
            Some(Step::Command(last)) if last.reply.has_outcome() && writes(&compiled) == 1 => Implicit::Outcome,
            _ => Implicit::Ok,
        };
        let most = most_writes(&compiled);
        Some(Program {
            steps: compiled,
            slots: self.scope.slots,
            reply: self.reply,
            implicit,
            writes_again: most > 1,
            changes: most > 0,
            collections: self.used,
            places: self.places,
        })
    }

    /// Some of the steps of a program.
    pub fn steps(&mut self, steps: &[StepDefinition]) -> Option<Vec<Step>> {
        let compiled: Option<Vec<[Step; 2]>> = all(steps.iter().map(|step| {
            let at = Step::At(self.places.0.len());
            self.places.0.push(self.scope.names.lines.place(step.span));
            self.step(step).map(|compiled| [at, compiled])
        }));
        compiled.map(|steps| steps.into_iter().flatten().collect())
    }

    fn step(&mut self, step: &StepDefinition) -> Option<Step> {
        let concerns = (!self.in_transaction).then_some(self.concerns);
        match &step.kind {
            StepKind::Command { word, collection, options, alias } => {
                self.use_collection(collection);
                let pipelines = options.iter().filter(|(option, _)| option.value == "pipeline");
                for (_, pipeline) in pipelines {
                    check_pipeline(pipeline, self.scope.diagnostics);
                    collections_of(pipeline).iter().for_each(|named| self.use_collection(named));
                    if writes_elsewhere(pipeline) {
                        self.used = None;
                    }
                }
                self.check_read_options(options);
                let word = word.value;
                let command = CrudCompiler { word, collection, options, scope: &mut self.scope }.compile(concerns);
                let alias = self.set_reply(alias.as_ref(), reply_shape(word));
                Some(Step::Command(Box::new(Command { alias, ..command? })))
            }
            StepKind::BulkWrite(definition) => {
                self.use_collection(&definition.collection);
                let bulk = bulk::compile(definition, concerns, &mut self.scope);
                let alias = self.set_reply(definition.alias.as_ref(), ReplyShape::Bulk);
                Some(Step::Bulk(Box::new(Bulk { alias, ..bulk? })))
            }
            StepKind::Raw { command, alias } => {
                check_command(command, self.scope.diagnostics);
                let template = self.scope.template(command, false);
                let command = template.map(|template| raw_command(command, template));
                self.used = None;
                let alias = self.set_reply(alias.as_ref(), ReplyShape::Whole);
                Some(Step::Command(Box::new(Command { alias, ..command? })))
            }
            StepKind::Let(assignments) => self.assignments(assignments),
            StepKind::If { condition, then, otherwise } => {
                let condition = self.condition(condition, "if");
                let (then, otherwise) = self.branches(then, otherwise)?;
                Some(Step::If { condition: condition?, then, otherwise })
            }
            StepKind::ForEach { name, list, body } => self.for_each(name, list, body),
            StepKind::While { condition, max_iterations, body } => self.repeat(condition, *max_iterations, body),
            StepKind::Retry { errors, attempts, delay, body } => {
                let body = self.steps(body)?;
                let (errors, attempts, delay) = (errors.clone(), *attempts, *delay);
                Some(Step::Retry(Box::new(Retry { errors, attempts, delay, body })))
            }
            StepKind::Try { body, catches } => self.attempt(body, catches),
            StepKind::RetryIf(condition) => self.condition(condition, "retry_if").map(Step::RetryIf),
            StepKind::Return(value) => resolve(value, &mut self.scope).map(Step::Return),
            StepKind::Transaction { attempts, body } => {
                let outer = std::mem::replace(&mut self.in_transaction, true);
                let body = self.steps(body);
                self.in_transaction = outer;
                Some(Step::Transaction { attempts: *attempts, w: self.concerns.write.as_str().into(), body: body? })
            }
            StepKind::Abort(value) => resolve(value, &mut self.scope).map(Step::Abort),
        }
    }

    /// An expression that is to be a bool.
    fn condition(&mut self, node: &Node, word: &str) -> Option<Expression> {
        let condition = resolve(node, &mut self.scope)?;
        check_condition(&condition, word, node.span, &self.scope);
        Some(condition)
    }

    /// The two branches of an `if`. Afterwards a variable holds a known reply if both branches agree, or one ends the operation.
    fn branches(&mut self, then: &[StepDefinition], otherwise: &[StepDefinition]) -> Option<(Vec<Step>, Vec<Step>)> {
        let before = self.scope.replies();
        let made_then = self.steps(then);
        let after_then = self.scope.replies();
        self.scope.set_replies(&before);
        let made_otherwise = self.steps(otherwise);
        match (returns(then), returns(otherwise)) {
            (true, _) => {}
            (false, true) => self.scope.set_replies(&after_then),
            (false, false) => self.scope.meet_replies(&after_then),
        }
        made_then.zip(made_otherwise)
    }

    /// After a `try`, a variable holds a known reply if all branches that reach the end agree.
    fn attempt(&mut self, body: &[StepDefinition], catches: &[(CatchKey, Vec<StepDefinition>)]) -> Option<Step> {
        let mut ends = Vec::new();
        let made = self.steps(body);
        ends.extend((!returns(body)).then(|| self.scope.replies()));
        let catches = all(catches.iter().map(|(caught, steps)| {
            // The last step that succeeded is not known.
            self.scope.set_replies(&[]);
            let caught = match caught {
                CatchKey::Code(code) => Caught::Code(*code),
                CatchKey::Size => Caught::Size,
            };
            let made = self.steps(steps);
            ends.extend((!returns(steps)).then(|| self.scope.replies()));
            Some((caught, made?))
        }));
        if let Some((first, others)) = ends.split_first() {
            self.scope.set_replies(first);
            others.iter().for_each(|other| self.scope.meet_replies(other));
        }
        Some(Step::Try { body: made?, catches: catches? })
    }

    /// Reports options of a read where docshape decides what it sees.
    fn check_read_options(&self, options: &[(Spanned<String>, Node)]) {
        let writes = options.iter().any(|(name, node)| name.value == "pipeline" && writes_elsewhere(node));
        for (name, _) in options {
            let reason = match name.value.as_str() {
                "readConcern" | "readPreference" if self.in_transaction => {
                    "a transaction reads a snapshot of the primary"
                }
                "readConcern" | "readPreference" if !self.is_operation => {
                    "states and audits have to find what was written, on the primary"
                }
                "readPreference" if writes => "the primary executes a pipeline that writes",
                _ => continue,
            };
            let message = format!("`{}` is not possible here", name.value);
            self.scope.diagnostics.error(name.span, message, format!("remove it: {reason}"));
        }
    }

    /// Notes a collection that is used. Reports an undeclared one: the server would silently create a new, empty one.
    fn use_collection(&mut self, collection: &Spanned<String>) {
        if collection.value.contains('<') {
            self.used = None;
            return;
        }
        if let Some(used) = &mut self.used {
            used.insert(collection.value.clone());
        }
        let known = self.collections.iter().map(|instance| instance.name.as_str());
        self.scope.diagnostics.is_known("collection", collection, "", known);
    }

    /// Returns the slot of a step's `as`; it and `reply` now have the reply to the step.
    fn set_reply(&mut self, alias: Option<&Spanned<String>>, reply: ReplyShape) -> Option<usize> {
        let slot = alias.and_then(|alias| self.name(alias, Origin::Reply, None));
        for slot in slot.into_iter().chain([self.reply]) {
            self.scope.slot_mut(slot).reply = Some(reply);
        }
        slot
    }

    /// The slot of a name that a step gives to its reply, as an ordinary variable.
    pub fn reply_name(&mut self, name: &Spanned<String>) -> Option<usize> {
        self.name(name, Origin::Let, None)
    }

    /// A name that a step gives; hiding an argument is an error.
    fn name(&mut self, name: &Spanned<String>, origin: Origin, entity: Option<usize>) -> Option<usize> {
        let taken = self.scope.variable(&name.value).is_some_and(|variable| variable.origin == Origin::Argument);
        let message = if taken {
            format!("the name `{}` is already an argument", name.value)
        } else if name.value == "reply" {
            "the name `reply` is reserved for the reply to the previous command".to_owned()
        } else {
            return Some(self.scope.assign(&name.value, origin, entity));
        };
        self.scope.diagnostics.reject(name.span, message, "choose another name")
    }

    fn assignments(&mut self, assignments: &[(Spanned<String>, Node)]) -> Option<Step> {
        let assignments = all(assignments.iter().map(|(name, value)| {
            let (value, entity) = resolve_records(value, &mut self.scope);
            self.name(name, Origin::Let, entity).zip(value)
        }));
        assignments.map(Step::Let)
    }

    fn for_each(&mut self, name: &Spanned<String>, list: &Node, body: &[StepDefinition]) -> Option<Step> {
        let (list, entity) = resolve_records(list, &mut self.scope);
        let slot = self.name(name, Origin::Let, entity);
        // An iteration may see the variables of the previous one.
        self.scope.set_replies(&[]);
        let body = self.steps(body);
        self.scope.set_replies(&[]);
        Some(Step::ForEach { slot: slot?, list: list?, body: body? })
    }

    fn repeat(&mut self, condition: &Node, max_iterations: u32, body: &[StepDefinition]) -> Option<Step> {
        // An iteration may see the variables of the previous one.
        self.scope.set_replies(&[]);
        let made = self.condition(condition, "while");
        let body = self.steps(body);
        self.scope.set_replies(&[]);
        let label = condition.as_literal().map_or("while".to_owned(), |condition| format!("while {}", condition.value));
        Some(Step::While(Box::new(While { label, condition: made?, max_iterations, body: body? })))
    }
}

/// Whether the operation ends with these steps.
fn returns(steps: &[StepDefinition]) -> bool {
    matches!(steps.last(), Some(last) if matches!(last.kind, StepKind::Return(_) | StepKind::Abort(_)))
}

fn raw_command(written: &Node, template: Template) -> Command {
    /// Raw commands that change nothing.
    const READS: [&str; 7] = ["find", "aggregate", "count", "distinct", "getMore", "listIndexes", "ping"];
    let name = written.as_mapping().and_then(<[_]>::first).map_or("", |(name, _)| name.value.as_str());
    Command {
        label: format!("command {name}").trim_end().to_owned(),
        document: Skeleton::new(template),
        documents: None,
        reply: ReplyShape::Whole,
        alias: None,
        read_concern: None,
        read_preference: None,
        writes: true,
        changes: !READS.contains(&name),
    }
}
