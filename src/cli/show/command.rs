//! A command step as the call that one would make in mongosh.

use crate::scenario::{CommandWord, Node, Request, Spanned};

use super::code::{Code, Key};
use super::literal::{expression, is_identifier, template, template_text};

type Options = [(Spanned<String>, Node)];

/// `db.posts.updateOne({ ... }, { ... })`.
pub fn call(word: CommandWord, collection: &str, options: &Options) -> Code {
    let arguments = match word {
        CommandWord::Find => return find(collection, options),
        // mongosh names the fields to return by the second argument, not by an option.
        CommandWord::FindOne => positional(options, &["filter", "projection"], 1),
        CommandWord::CountDocuments => positional(options, &["filter"], 0),
        CommandWord::Distinct => positional(options, &["key", "filter"], 1),
        CommandWord::InsertOne => positional(options, &["document"], 1),
        CommandWord::InsertMany => positional(options, &["documents"], 1),
        CommandWord::Aggregate => positional(options, &["pipeline"], 1),
        CommandWord::UpdateOne | CommandWord::UpdateMany | CommandWord::FindOneAndUpdate => {
            positional(options, &["filter", "update"], 2)
        }
        CommandWord::ReplaceOne | CommandWord::FindOneAndReplace => positional(options, &["filter", "replacement"], 2),
        CommandWord::DeleteOne | CommandWord::DeleteMany | CommandWord::FindOneAndDelete => {
            positional(options, &["filter"], 1)
        }
    };
    Code::Chain(vec![(format!("{}.{}", handle(collection), word.name()), arguments)])
}

/// `db.runCommand({ ... })`.
pub fn raw(command: &Node) -> Code {
    Code::Chain(vec![("db.runCommand".to_owned(), vec![template(command)])])
}

/// `db.posts.bulkWrite([{ updateOne: { ... } }], { ordered: false })`, and the errors that are no failure.
pub fn bulk(collection: &str, requests: &[Request], ordered: bool, errors: &[i32]) -> Code {
    let mut arguments = vec![Code::Array(requests.iter().map(request).collect())];
    let mut options = Vec::new();
    if !ordered {
        options.push((Key::Name("ordered".to_owned()), Code::Atom("false".to_owned())));
    }
    if !errors.is_empty() {
        let codes: Vec<String> = errors.iter().map(i32::to_string).collect();
        options.push((Key::None, Code::Comment(format!("errors that pass: {}", codes.join(", ")))));
    }
    if !options.is_empty() {
        arguments.push(Code::Object(options));
    }
    Code::Chain(vec![(format!("{}.bulkWrite", handle(collection)), arguments)])
}

fn request(request: &Request) -> Code {
    match request {
        Request::One { word, options } => {
            let part = |(name, value): &(Spanned<String>, Node)| (Key::Name(name.value.clone()), template(value));
            let body = Code::Object(options.iter().map(part).collect());
            Code::Object(vec![(Key::Name(word.value.name().to_owned()), body)])
        }
        Request::Each { name, list, item } => Code::Each {
            list: expression(list).layout(0, 0, 0),
            name: name.value.clone(),
            item: Box::new(self::request(item)),
        },
    }
}

/// The collection as an expression of mongosh.
pub fn handle(collection: &str) -> String {
    match is_identifier(collection) {
        true => format!("db.{collection}"),
        false => format!("db.getCollection({})", template_text(collection)),
    }
}

/// Options as a cursor takes them.
fn find(collection: &str, options: &Options) -> Code {
    let (before, after): (Vec<_>, Vec<_>) =
        options.iter().cloned().partition(|(name, _)| matches!(name.value.as_str(), "filter" | "projection"));
    let mut calls = vec![(format!("{}.find", handle(collection)), positional(&before, &["filter", "projection"], 0))];
    calls.extend(after.iter().map(|(name, value)| (name.value.clone(), vec![template(value)])));
    Code::Chain(calls)
}

/// The arguments `names` in their order, then all other options as an object. Trailing arguments that were not given
/// are left out unless they are among the first `least`.
fn positional(options: &Options, names: &[&str], least: usize) -> Vec<Code> {
    let given = |name: &str| options.iter().find(|(option, _)| option.value == name).map(|(_, value)| template(value));
    let rest: Vec<(Key, Code)> = options
        .iter()
        .filter(|(name, _)| !names.contains(&name.value.as_str()))
        .map(|(name, value)| (Key::Name(name.value.clone()), template(value)))
        .collect();
    let last_given = names.iter().rposition(|name| given(name).is_some()).map_or(0, |position| position + 1);
    let shown = if rest.is_empty() { last_given.max(least.min(names.len())) } else { names.len() };
    let mut arguments: Vec<Code> =
        names[..shown].iter().map(|name| given(name).unwrap_or_else(|| Code::Object(Vec::new()))).collect();
    if !rest.is_empty() {
        arguments.push(Code::Object(rest));
    }
    arguments
}
