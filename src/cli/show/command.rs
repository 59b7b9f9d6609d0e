//! A command step as the call that one would make in mongosh.

use crate::scenario::{CommandWord, Node, Request, Spanned};

use super::code::{Code, Key};
use super::helper::named;
use super::literal::{each, is_identifier, template, template_text};
use super::scope::Scope;

/// Methods of a database in mongosh, which a collection of that name does not hide.
const METHODS: &[&str] = &["aggregate", "auth", "commandHelp", "help", "hello", "logout", "stats", "version", "watch"];

type Options = [(Spanned<String>, Node)];

/// `db.posts.updateOne({ ... }, { ... })`; `database` is what `db` is there. Cursors are read to their end.
pub fn call(word: CommandWord, (database, collection): (&str, &str), options: &Options, scope: &Scope) -> Code {
    let positional = |options: &Options, names: &[&str], least| positional(options, names, least, scope);
    let arguments = match word {
        CommandWord::Find => return find((database, collection), options, scope),
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
    let mut calls = vec![(format!("{}.{}", handle(database, collection, scope), word.name()), arguments)];
    if word == CommandWord::Aggregate {
        calls.push(("toArray".to_owned(), Vec::new()));
    }
    Code::Chain(calls)
}

/// `db.runCommand({ ... })`.
pub fn raw(database: &str, command: &Node, scope: &Scope) -> Code {
    Code::Chain(vec![(format!("{database}.runCommand"), vec![template(command, scope)])])
}

/// `db.posts.bulkWrite([{ updateOne: { ... } }], { ordered: false })`.
pub fn bulk(
    (database, collection): (&str, &str),
    requests: &[Request],
    (ordered, errors): (bool, &[i32]),
    scope: &Scope,
) -> Code {
    let requests = Code::Array(requests.iter().map(|one| request(one, scope)).collect());
    let options = match ordered {
        true => None,
        false => Some(Code::Object(vec![(Key::Name("ordered".to_owned()), Code::Atom("false".to_owned()))])),
    };
    let handle = handle(database, collection, scope);
    if errors.is_empty() {
        let arguments = std::iter::once(requests).chain(options).collect();
        return Code::Chain(vec![(format!("{handle}.bulkWrite"), arguments)]);
    }
    let codes = Code::Array(errors.iter().map(|code| Code::Atom(code.to_string())).collect());
    let arguments = [codes, Code::Atom(handle), requests].into_iter().chain(options).collect();
    Code::Chain(vec![(scope.context.call("bulkWritePassing").to_owned(), arguments)])
}

fn request(request: &Request, scope: &Scope) -> Code {
    match request {
        Request::One { word, options } => {
            let part =
                |(name, value): &(Spanned<String>, Node)| (Key::Name(name.value.clone()), template(value, scope));
            let body = Code::Object(options.iter().map(part).collect());
            Code::Object(vec![(Key::Name(word.value.name().to_owned()), body)])
        }
        Request::Each { name, list, item } => {
            let (list, inner) = each(&name.value, list, scope);
            Code::Each { list, name: named(&name.value), item: Box::new(self::request(item, &inner)) }
        }
    }
}

/// The collection as an expression of mongosh.
pub fn handle(database: &str, collection: &str, scope: &Scope) -> String {
    match is_identifier(collection) && !METHODS.contains(&collection) {
        true => format!("{database}.{collection}"),
        false => format!("{database}.getCollection({})", template_text(collection, scope)),
    }
}

/// Options as a cursor takes them.
fn find((database, collection): (&str, &str), options: &Options, scope: &Scope) -> Code {
    let (before, after): (Vec<_>, Vec<_>) =
        options.iter().cloned().partition(|(name, _)| matches!(name.value.as_str(), "filter" | "projection"));
    let first = positional(&before, &["filter", "projection"], 0, scope);
    let mut calls = vec![(format!("{}.find", handle(database, collection, scope)), first)];
    calls.extend(after.iter().map(|(name, value)| (name.value.clone(), vec![template(value, scope)])));
    calls.push(("toArray".to_owned(), Vec::new()));
    Code::Chain(calls)
}

/// The arguments `names` in their order, then all other options as an object. Trailing arguments that were not given
/// are left out unless they are among the first `least`.
fn positional(options: &Options, names: &[&str], least: usize, scope: &Scope) -> Vec<Code> {
    let given =
        |name: &str| options.iter().find(|(option, _)| option.value == name).map(|(_, value)| template(value, scope));
    let rest: Vec<(Key, Code)> = options
        .iter()
        .filter(|(name, _)| !names.contains(&name.value.as_str()))
        .map(|(name, value)| (Key::Name(name.value.clone()), template(value, scope)))
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
