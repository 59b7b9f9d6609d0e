//! `docshape show`: the documents, indexes and commands of each strategy, as mongosh statements.

mod code;
mod literal;
mod preamble;
mod recording;
mod sample;
mod statement;

use std::fmt::Write as _;
use std::sync::Arc;

use bson::{Document, RawDocument};

use crate::compile::{self, Choice};
use crate::derive;
use crate::engine::{Loader, arm_database, create_command, indexes};
use crate::plan::{Arm, Collection, EvalError, Frame, Plan, Program, call_id};
use crate::report::counted;
use crate::scenario::{CollectionDefinition, Diagnostics, Scenario, StrategyDefinition};
use crate::server::namespace::{Namespace, await_majority};

use super::argument::{ShowArguments, SubjectArguments};
use super::exit::{CliError, Exit};
use super::next::NextCommand;
use super::output;
use super::reservation::databases;
use super::run::Invocation;
use super::scenario::prepare;
use super::session::Session;

use code::Code;
use literal::Detail;
use preamble::{comment, filling, preamble};
pub use statement::statement;

use sample::{SampleCall, as_bson, sample_document};

/// Prints the documents, indexes and commands of the strategies.
///
/// # Errors
/// When the scenario cannot be used, the server is lost, or the text cannot be written.
pub fn show(arguments: &ShowArguments) -> Result<Exit, CliError> {
    let ShowArguments { set, mix, strategies, .. } = arguments.clone();
    let choice = Choice { set, mix, strategies, ..Choice::default() };
    let mut ready = prepare(&arguments.scenario, &choice)?;
    let derived = compile::derived(&ready.scenario, &Choice { mix: choice.mix.clone(), ..Choice::default() });
    if let Some(name) = &arguments.yaml {
        let strategy = derived.iter().flat_map(|derived| &derived.strategies).find(|(strategy, _)| strategy == name);
        let missing = || {
            CliError::usage(format!(
                "nothing is derived for strategy {name} itself: it has no `shape`, `join` or `writes`, or there is no such strategy"
            ))
        };
        let (name, node) = strategy.ok_or_else(missing)?;
        output::print(&derive::entry(name, node))?;
        return Ok(Exit::Success);
    }
    if arguments.strategies.is_empty() {
        // A plain choice leaves out those that are not compared by default; here all are of interest.
        ready.plan = ready.plan_of_all(choice).map_or(ready.plan, Arc::new);
    }
    // The scenario has compiled, so that this finds no problems.
    let written = derived.as_ref().map_or(&ready.scenario, |derived| &derived.scenario);
    let strategies = compile::inherit(&written.strategies, &Diagnostics::new());
    let namespace = arguments.server.databases.namespace(&ready.plan.name, &Invocation::now().id);
    let names = databases(&namespace, &ready.plan);
    let (plan, strategies, call) = (&ready.plan, &strategies, arguments.call);
    let showing = Showing { plan, strategies, call, namespace: &namespace, session: None };
    let preamble = preamble(&ready.scenario, &ready.plan);
    let exit = match arguments.server.choice() {
        Ok(choice) => Session::run(choice, async |session| {
            let show = async || {
                output::print(&preamble)?;
                Showing { session: Some(&session), ..showing }.print().await
            };
            session.with_databases(&namespace, &names, show).await
        })?,
        // A program that was named is to be used.
        Err(error) if arguments.server.embedded.mongod.is_some() => return Err(error),
        Err(missing) => {
            output::print(&preamble)?;
            let mut text = "//\n".to_owned();
            comment(&mut text, "", &format!("Commands that depend on replies are missing: {missing}"));
            output::print(&text)?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.map_err(failed)?.block_on(showing.print())?
        }
    };
    if exit == Exit::Success {
        let ShowArguments { set, mix, strategies, server, .. } = arguments.clone();
        let subject = SubjectArguments { set, mix, strategies, ..SubjectArguments::default() };
        NextCommand::new(["verify", &arguments.scenario]).subject(&subject).server(&server).print();
    }
    Ok(exit)
}

fn plain_document(raw: &RawDocument) -> Result<Document, EvalError> {
    Document::try_from(raw).map_err(|error| EvalError::new(error.to_string()))
}

/// One invocation of `docshape show`.
struct Showing<'s> {
    plan: &'s Plan,
    strategies: &'s [StrategyDefinition],
    call: u64,
    namespace: &'s Namespace,
    /// The server, if there is one.
    session: Option<&'s Session>,
}

impl Showing<'_> {
    /// Prints one strategy after the other, each on data of its own if there is a server.
    async fn print(&self) -> Result<Exit, CliError> {
        for arm in self.plan.arms.iter() {
            if self.session.is_some_and(|session| session.stop.is_set()) {
                return Ok(Exit::Interrupted);
            }
            let text = self.strategy(arm).await;
            let dropped = match self.session {
                Some(session) => self.namespace.drop(&session.target, &self.database(arm)).await,
                None => Ok(()),
            };
            output::print(&text?)?;
            dropped?;
        }
        Ok(Exit::Success)
    }

    /// The database with a strategy's data.
    fn database(&self, arm: &Arm) -> String {
        arm_database(&self.namespace.names, arm)
    }

    async fn strategy(&self, arm: &Arm) -> Result<String, CliError> {
        let control = if arm.is_unsafe { " (a negative control: known to be wrong)" } else { "" };
        let mut text = format!("\n// ---- {}{control} ----\n", arm.name);
        comment(&mut text, "", &arm.about);
        text.push_str(&documents_of(self.plan, arm, self.strategies)?);
        if let Some(session) = self.session {
            self.fill(arm, session).await?;
        }
        if let Some(load) = &arm.load {
            text.push_str("\n// Once, after the collections are filled\n");
            let frame = Frame::new(&self.plan.data, self.plan.data.seed, 0, load.slots);
            text.push_str(&self.called(arm, load, frame).await);
        }
        if let Some(session) = self.session {
            await_majority(&session.target, &self.database(arm)).await.map_err(failed)?;
        }
        for (operation, program) in arm.operations.iter().enumerate() {
            let undrawn = |error| CliError::usage(format!("call {} cannot be drawn: {error}", self.call));
            text.push_str(&self.operation(arm, operation, program).await.map_err(undrawn)?);
        }
        Ok(text)
    }

    /// Fills the collections of a strategy.
    async fn fill(&self, arm: &Arm, session: &Session) -> Result<(), CliError> {
        let (Session { target, stop, .. }, name) = (session, &self.database(arm));
        self.namespace.create(target, name).await?;
        let loader = Loader { plan: self.plan, arm, target, database: name, observer: &(), stop };
        loader.collections().await.map_err(failed)?;
        Ok(stop.check()?)
    }

    /// The sample call of an operation.
    async fn operation(&self, arm: &Arm, operation: usize, program: &Program) -> Result<String, EvalError> {
        // Numbers of their own, so that two operations that make a new record do not make the same one.
        let number = call_id::sample(operation, self.call);
        let frame = self.plan.arguments(operation, self.plan.round_seed(0), number, program.slots)?;
        let operation = &self.plan.operations[operation];
        let arguments = operation.arguments.iter().map(|argument| {
            let given = literal::value(&as_bson(frame.slot(argument.slot))?, Detail::Short);
            Ok((format!("{}: ", argument.name), given))
        });
        let arguments = arguments.collect::<Result<Vec<(String, Code)>, EvalError>>()?;
        let arguments = if arguments.is_empty() { Vec::new() } else { vec![Code::Object(arguments)] };
        let mut text = "\n".to_owned();
        commented(&mut text, &Code::Call(operation.name.to_string(), arguments));
        Ok(text + &self.called(arm, program, frame).await)
    }

    /// The statements of one call, each with its reply.
    async fn called(&self, arm: &Arm, program: &Program, frame: Frame) -> String {
        let call = match self.session {
            Some(session) => SampleCall::on_server(&session.target, &self.database(arm), program, frame).await,
            None => SampleCall::without_server(program, frame).await,
        };
        let mut text = String::new();
        for sent in call.sent {
            let _ = writeln!(text, "{}", sent.statements);
            comment(&mut text, "", &sent.gist);
        }
        comment(&mut text, "", &call.end.unwrap_or_default());
        text
    }
}

/// What a strategy keeps: its name, its sentence, and a document of each collection with its indexes, as mongosh statements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownStrategy {
    /// Its name.
    pub name: String,
    /// Its label, in two or three words; empty without one.
    pub label: String,
    /// What it does, in a sentence.
    pub about: String,
    /// The documents and indexes.
    pub documents: String,
}

/// What the strategies of a scenario keep: those that are compared by default, and negative controls.
///
/// # Errors
/// When the scenario cannot be used, or a document cannot be made.
pub fn shown_strategies(scenario: &Scenario, plan: &Plan) -> Result<Vec<ShownStrategy>, CliError> {
    let derived = compile::derived(scenario, &Choice::default());
    let written = derived.as_ref().map_or(scenario, |derived| &derived.scenario);
    let strategies = compile::inherit(&written.strategies, &Diagnostics::new());
    let shown = |arm: &Arm| {
        let label =
            strategies.iter().find(|strategy| strategy.name.value == arm.name).and_then(|one| one.label.clone());
        let [name, about] = [&*arm.name, &*arm.about].map(str::to_owned);
        Ok(ShownStrategy {
            name,
            label: label.unwrap_or_default(),
            about,
            documents: documents_of(plan, arm, &strategies)?,
        })
    };
    plan.arms.iter().map(shown).collect()
}

/// One document of each collection of a strategy, with its options and indexes.
fn documents_of(plan: &Plan, arm: &Arm, strategies: &[StrategyDefinition]) -> Result<String, CliError> {
    let strategy = strategies.iter().find(|strategy| strategy.name.value == arm.name);
    let definition = |name: &str| strategy?.collections.iter().find(|collection| collection.name.value == name);
    let shown = |series: &[Collection]| {
        let name = &series[0].name;
        documents_in(plan, series, definition(&series[0].written)).map_err(|error| {
            CliError::usage(format!("no document of {name} in strategy {} can be made: {error}", arm.name))
        })
    };
    arm.series().map(shown).collect()
}

/// One document of a collection, its options and its indexes; of several collections of one `for` the first.
fn documents_in(
    plan: &Plan,
    series: &[Collection],
    definition: Option<&CollectionDefinition>,
) -> Result<String, EvalError> {
    let mut text = "\n".to_owned();
    let collection = &series[0];
    let mut title = format!("{}: {}", collection.name, definition.map(filling).unwrap_or_default());
    if series.len() > 1 {
        let _ = write!(title, ", and {} like it", counted(series.len() as u64 - 1, "collection"));
    }
    match sample_document(collection, plan)? {
        Some((document, bytes)) => {
            comment(&mut text, "", &format!("{title}; this one has {bytes} bytes"));
            commented(&mut text, &literal::document(&document, Detail::Short));
        }
        None => comment(&mut text, "", &title),
    }
    if collection.options.is_some() {
        let mut create = plain_document(&create_command(plan, collection)?)?;
        create.remove("create");
        create.remove("writeConcern");
        let _ = writeln!(text, "{}", statement::create_collection(&collection.name, &create));
    }
    for index in indexes(plan, collection)? {
        let index = plain_document(&index)?;
        let _ = writeln!(text, "{}", statement::create_index(&collection.name, &index));
    }
    Ok(text)
}

fn failed(error: impl std::fmt::Display) -> CliError {
    CliError::failure(error.to_string())
}

/// Adds code as comment lines: truncated values could not be pasted.
fn commented(text: &mut String, code: &Code) {
    for line in code.layout(0, 3, 0).lines() {
        let _ = writeln!(text, "// {line}");
    }
}
