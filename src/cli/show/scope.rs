//! What is known of the names that steps use: enough to print what they mean where JavaScript differs from CEL.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{Plan, Value};
use crate::scenario::CommandWord;

use super::helper;
use super::value;

/// What kind of value an expression gives.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Not known; may be null.
    Unknown,
    /// An int.
    Int,
    /// A double.
    Double,
    /// A string.
    Text,
    /// A bool.
    Bool,
    /// A date.
    Date,
    /// A list, never null.
    List(Box<Kind>),
    /// A document, or null where nothing was found.
    Found,
    /// A document that is there.
    Document,
    /// The reply of a write; `None` for that of a `bulkWrite`.
    Written(Option<CommandWord>),
    /// An argument, or a part of one: the value drawn, and its path.
    Drawn {
        /// The value of the call that is shown.
        value: Value,
        /// Where it comes from, such as `pair[]` for an element of the argument `pair`.
        path: String,
        /// A part of a record that is written whole, so that references in it are ids.
        inside_whole: bool,
    },
}

impl Kind {
    /// A list of something.
    pub fn list(of: Kind) -> Kind {
        Kind::List(Box::new(of))
    }

    /// The simple kind of a drawn value; any other kind as it is.
    pub fn simple(&self) -> Kind {
        let Kind::Drawn { value, .. } = self else { return self.clone() };
        match value.referenced() {
            Value::Int(_) => Kind::Int,
            Value::Double(_) => Kind::Double,
            Value::Text(_) => Kind::Text,
            Value::Bool(_) => Kind::Bool,
            Value::Date(_) => Kind::Date,
            Value::List(_) | Value::Array(_) => Kind::list(Kind::Unknown),
            Value::Document(_) | Value::Map(_) => Kind::Document,
            _ => Kind::Unknown,
        }
    }

    /// What an element of the list is; `None` when it is not known to be a list.
    pub fn element(&self) -> Option<Kind> {
        match self {
            Kind::List(inner) => Some((**inner).clone()),
            Kind::Drawn { value: value @ (Value::List(_) | Value::Array(_)), path, inside_whole } => {
                let first = value.items()?.next().unwrap_or(Value::Null);
                Some(Kind::Drawn { value: first, path: format!("{path}[]"), inside_whole: *inside_whole })
            }
            _ => None,
        }
    }

    /// Whether it is a record that is written as its id.
    pub fn is_reference(&self) -> bool {
        matches!(self, Kind::Drawn { value: Value::Record(record), .. } if !record.is_whole())
    }

    /// What is known where either may come.
    fn or(self, other: &Kind) -> Kind {
        match (self, other) {
            (same, other) if same == *other => same,
            (Kind::List(a), Kind::List(b)) => Kind::list(a.or(b)),
            (Kind::List(_), _) if matches!(other.simple(), Kind::List(_)) => Kind::list(Kind::Unknown),
            _ => Kind::Unknown,
        }
    }
}

/// What is learnt while the code of a strategy is printed.
#[derive(Debug)]
pub struct Context<'p> {
    /// The scenario as it would run.
    pub plan: &'p Plan,
    /// Fields of entities that hold dates: JavaScript adds to a date in words of its own.
    dates: BTreeSet<String>,
    /// The helpers that the code calls.
    helpers: RefCell<BTreeSet<&'static str>>,
    /// The fields that are read of records, by the records' path; `...` for all.
    read: RefCell<BTreeMap<String, BTreeSet<String>>>,
    /// The paths whose records are printed as objects rather than as their ids.
    objects: BTreeSet<String>,
    /// The parameters that the code names.
    parameters: RefCell<BTreeSet<String>>,
}

impl<'p> Context<'p> {
    /// Nothing is learnt yet.
    pub fn new(plan: &'p Plan) -> Context<'p> {
        let mut dates = BTreeSet::new();
        for (entity, definition) in plan.data.entities.iter().enumerate().filter(|(_, entity)| !entity.is_empty()) {
            let record = plan.data.whole(entity, 0);
            for field in &definition.fields {
                if matches!(record.get(&field.name), Some(Value::Date(_))) {
                    dates.insert(field.name.to_string());
                }
            }
        }
        Context {
            plan,
            dates,
            helpers: RefCell::default(),
            read: RefCell::default(),
            objects: BTreeSet::new(),
            parameters: RefCell::default(),
        }
    }

    /// For the second time over the same steps: what was read in the first time decides what is an object.
    pub fn again(self) -> Context<'p> {
        let objects = self.read.borrow().keys().cloned().collect();
        Context { objects, ..self }
    }

    /// The fields read of the records at a path.
    pub fn fields(&self, path: &str) -> Option<BTreeSet<String>> {
        self.read.borrow().get(path).cloned()
    }

    /// The code calls a helper.
    pub fn call(&self, name: &'static str) -> &'static str {
        helper::with_needed(name, &mut self.helpers.borrow_mut());
        name
    }

    /// The parameters that were named.
    pub fn parameters(&self) -> BTreeSet<String> {
        self.parameters.borrow().clone()
    }

    /// The helpers that were called.
    pub fn helpers(&self) -> BTreeSet<&'static str> {
        self.helpers.borrow().clone()
    }
}

/// The names at a place of the steps.
#[derive(Debug, Clone)]
pub struct Scope<'c, 'p> {
    /// What is learnt.
    pub context: &'c Context<'p>,
    variables: BTreeMap<String, Kind>,
    /// Those of them that are parameters.
    parameters: BTreeSet<String>,
    /// The operation gives records rather than values.
    pub returns_records: bool,
}

impl<'c, 'p> Scope<'c, 'p> {
    /// The names that these arguments give, beside the parameters.
    pub fn new(context: &'c Context<'p>, arguments: &[(String, Value)]) -> Scope<'c, 'p> {
        let parameter = |(name, value): &(std::sync::Arc<str>, Value)| {
            let kind = Kind::Drawn { value: value.clone(), path: name.to_string(), inside_whole: true };
            (name.to_string(), kind.simple())
        };
        let mut variables: BTreeMap<String, Kind> = context.plan.parameters.iter().map(parameter).collect();
        let mut parameters: BTreeSet<String> = variables.keys().cloned().collect();
        for (name, value) in arguments {
            let kind = Kind::Drawn { value: value.clone(), path: name.clone(), inside_whole: false };
            parameters.remove(name);
            variables.insert(name.clone(), kind);
        }
        Scope { context, variables, parameters, returns_records: false }
    }

    /// Gives a name to a value.
    pub fn set(&mut self, name: &str, kind: Kind) {
        self.parameters.remove(name);
        self.variables.insert(name.to_owned(), kind);
    }

    /// What a name stands for.
    pub fn get(&self, name: &str) -> Kind {
        if self.parameters.contains(name) {
            self.context.parameters.borrow_mut().insert(name.to_owned());
        }
        self.variables.get(name).cloned().unwrap_or(Kind::Unknown)
    }

    /// What is known after one of several ways.
    pub fn join(&mut self, other: &Scope) {
        for (name, kind) in &mut self.variables {
            if let Some(theirs) = other.variables.get(name) {
                *kind = kind.clone().or(theirs);
            }
        }
        for (name, kind) in &other.variables {
            self.variables.entry(name.clone()).or_insert_with(|| kind.clone());
        }
    }

    /// The value itself, where it is written or compared: a reference is its id.
    pub fn plain(&self, code: &str, kind: &Kind) -> String {
        match kind {
            Kind::Drawn { path, inside_whole: false, .. }
                if kind.is_reference() && self.context.objects.contains(path) =>
            {
                format!("{code}._id")
            }
            Kind::Drawn { inside_whole: false, .. } => match kind.element() {
                Some(element) if element.is_reference() && self.plain("item", &element) != "item" => {
                    format!("{code}.map(item => item._id)")
                }
                _ => code.to_owned(),
            },
            _ => code.to_owned(),
        }
    }

    /// A field of what `code` gives.
    pub fn field(&self, code: &str, kind: &Kind, name: &str) -> (String, Kind) {
        if let Some(element) = kind.element() {
            if name == "size" {
                return (format!("{code}.length"), Kind::Int);
            }
            let (of_element, kind) = self.field("item", &element, name);
            let list = Kind::list(kind);
            return match of_element.as_str() {
                "item" => (code.to_owned(), list),
                _ => (format!("{code}.map(item => {of_element})"), list),
            };
        }
        match kind {
            Kind::Drawn { value, path, inside_whole } => self.drawn_field(code, (value, path, *inside_whole), name),
            Kind::Document => (member(code, ".", name), self.field_kind(name)),
            Kind::Found => (member(code, "?.", name), self.field_kind(name)),
            Kind::Written(word) => written_field(code, *word, name),
            _ => (
                format!("{}({code}, {})", self.context.call("fieldOf"), super::literal::quoted(name)),
                self.field_kind(name),
            ),
        }
    }

    fn field_kind(&self, name: &str) -> Kind {
        if self.context.dates.contains(name) { Kind::Date } else { Kind::Unknown }
    }

    fn drawn_field(&self, code: &str, (value, path, inside): (&Value, &str, bool), name: &str) -> (String, Kind) {
        let below = format!("{path}.{name}");
        let found = value.get(name).unwrap_or(Value::Null);
        match value {
            Value::Record(record) if !record.is_whole() && name == "_id" && !inside => {
                let this = Kind::Drawn { value: value.clone(), path: path.to_owned(), inside_whole: false };
                let kind = Kind::Drawn { value: found, path: below, inside_whole: true };
                (self.plain(code, &this), kind)
            }
            Value::Record(record) => {
                let is_written = record.document().get(name).is_some();
                if (record.is_whole() && !is_written) || (inside && !record.is_whole()) {
                    // What a record knows beside its own fields is no part of its document.
                    let shown = value::exact(&found.referenced()).layout(0, 0, 0);
                    let kind = Kind::Drawn { value: found, path: below, inside_whole: true };
                    return (format!("{shown} /* {code}.{name} */"), kind);
                }
                if !record.is_whole() {
                    self.read(path, name);
                }
                let kind = Kind::Drawn { value: found, path: below, inside_whole: record.is_whole() };
                (member(code, ".", name), kind)
            }
            Value::Null => (member(code, "?.", name), Kind::Unknown),
            _ => (member(code, ".", name), Kind::Drawn { value: found, path: below, inside_whole: inside }),
        }
    }

    /// Whether the result is records, or one, that were drawn, where the operation gives records: all their fields then.
    pub fn gives_records(&self, kind: &Kind) -> bool {
        let element = kind.element();
        let record = element.as_ref().unwrap_or(kind);
        let gives = self.returns_records && record.is_reference();
        if gives {
            self.reads_all(record);
        }
        gives
    }

    /// All fields of the record at a path are used.
    pub fn reads_all(&self, kind: &Kind) {
        if let Kind::Drawn { path, .. } = kind
            && kind.is_reference()
        {
            self.read(path, "...");
        }
    }

    fn read(&self, path: &str, name: &str) {
        self.context.read.borrow_mut().entry(path.to_owned()).or_default().insert(name.to_owned());
    }
}

/// `code.name`, or with brackets where JavaScript takes it for no name.
fn member(code: &str, dot: &str, name: &str) -> String {
    match super::literal::is_identifier(name) {
        true => format!("{code}{dot}{name}"),
        false => format!("{code}{}[{}]", dot.trim_end_matches('.').replace('?', "?."), super::literal::quoted(name)),
    }
}

/// A part of the reply of a write, in the words of mongosh.
fn written_field(code: &str, word: Option<CommandWord>, name: &str) -> (String, Kind) {
    use CommandWord::{DeleteMany, DeleteOne, InsertMany, InsertOne};
    let inserts = matches!(word, Some(InsertOne | InsertMany));
    let deletes = matches!(word, Some(DeleteOne | DeleteMany));
    let updates = !inserts && !deletes;
    let text = match name {
        "matched" if updates => format!("{code}.matchedCount"),
        "modified" if updates => format!("{code}.modifiedCount"),
        "upserted_id" if word.is_none() => format!("Object.values({code}.upsertedIds)[0]"),
        "upserted_id" if updates => format!("{code}.upsertedId"),
        "inserted" if word.is_none() => format!("{code}.insertedCount"),
        "inserted" if word == Some(InsertOne) => "1".to_owned(),
        "inserted" if inserts => format!("Object.keys({code}.insertedIds).length"),
        "deleted" if deletes || word.is_none() => format!("{code}.deletedCount"),
        "errors" if word.is_none() => return (format!("({code}.errors ?? [])"), Kind::list(Kind::Document)),
        "upserted_id" => "null".to_owned(),
        _ => "0".to_owned(),
    };
    (text, if name == "upserted_id" { Kind::Unknown } else { Kind::Int })
}

#[cfg(test)]
pub(super) mod tests {
    use crate::plan::{Choice, Plan, Value, compile};
    use crate::scenario::{Diagnostics, Source, read};

    use super::*;

    /// A plan with two entities, of which one refers to the other.
    pub fn plan() -> Plan {
        let text = "\
format: 1
name: x
title: x
parameters: { most: 5 }
entities:
  person: { count: 3, fields: { _id: index, name: \"'Ann'\", born: clock() } }
  task: { count: 3, fields: { _id: index, owner: \"record(person, 1)\" } }
operations: { o: { arguments: { task: \"record(task, 0)\" } } }
mixes: { default: { o: 1 } }
strategies:
  s:
    collections: { people: { each: person }, tasks: { each: task } }
    operations: { o: { findOne: tasks, filter: { _id: <task> } } }
";
        let source = Source::new("x", text);
        let mut diagnostics = Diagnostics::new();
        let scenario = read(&source, &mut diagnostics);
        let plan = scenario.and_then(|scenario| compile(&scenario, &Choice::default(), &mut diagnostics).unwrap());
        plan.unwrap_or_else(|| panic!("{}", diagnostics.render(&source, false)))
    }

    fn task(plan: &Plan) -> Vec<(String, Value)> {
        vec![
            ("task".to_owned(), plan.data.reference(1, 0)),
            ("tasks".to_owned(), Value::list(vec![plan.data.reference(1, 0)])),
        ]
    }

    fn shown(text: &str, scope: &Scope) -> String {
        let made = super::super::cel::script(text, scope);
        scope.plain(&made.code, &made.kind)
    }

    #[test]
    fn a_record_is_its_id_until_its_fields_are_read() {
        let plan = plan();
        let context = Context::new(&plan);
        let arguments = task(&plan);
        assert_eq!(shown("task", &Scope::new(&context, &arguments)), "task");
        assert_eq!(shown("task._id", &Scope::new(&context, &arguments)), "task");
        assert_eq!(value::argument(&arguments[0].1, "task", &context).flat(), "0");
        shown("task.owner.name", &Scope::new(&context, &arguments));
        shown("tasks.owner", &Scope::new(&context, &arguments));
        let context = context.again();
        let scope = Scope::new(&context, &arguments);
        assert_eq!(shown("task", &scope), "task._id");
        assert_eq!(shown("task.owner", &scope), "task.owner._id");
        assert_eq!(shown("task.owner.name", &scope), "task.owner.name");
        assert_eq!(shown("tasks", &scope), "tasks.map(item => item._id)");
        assert_eq!(shown("tasks.owner", &scope), "tasks.map(item => item.owner)");
        assert_eq!(
            value::argument(&arguments[0].1, "task", &context).flat(),
            "{ _id: 0, owner: { _id: 1, name: 'Ann' } }"
        );
    }

    #[test]
    fn expressions_mean_in_javascript_what_they_mean_in_a_scenario() {
        let plan = plan();
        let context = Context::new(&plan);
        let mut scope = Scope::new(&context, &task(&plan));
        scope.set("found", Kind::Found);
        scope.set("rows", Kind::list(Kind::Document));
        scope.set("done", Kind::Written(Some(CommandWord::UpdateOne)));
        for (text, wanted) in [
            ("found.n + 1", "found?.n + 1"),
            ("found.born + 1000", "new Date((found?.born).getTime() + 1000)"),
            ("found.list + [1]", "(found?.list ?? []).concat([1])"),
            ("(most - 1) / 2 * 3", "Math.trunc((most - 1) / 2) * 3"),
            ("1 - (2 - 3)", "1 - (2 - 3)"),
            ("rows.n", "rows.map(item => item.n)"),
            ("rows[0].n", "rows[0]?.n"),
            ("size(rows) == 0 ? null : rows.size", "rows.length == 0 ? null : rows.length"),
            ("found.a.b", "fieldOf(found?.a, 'b')"),
            ("found.a == found.b", "equal(found?.a, found?.b)"),
            ("found.a != task._id", "found?.a != task"),
            ("found == null || !(found.n < 3)", "found == null || !(found?.n < 3)"),
            ("done.matched == 0", "done.matchedCount == 0"),
            ("done.inserted", "0"),
            ("reverse(found.list)", "[...(found?.list ?? [])].reverse()"),
            ("rows.filter(r, r.n in [1, 2])", "rows.filter(r => contains([1, 2], r.n))"),
            ("range(0, most).map(i, {'i': i})", "[...Array(Math.max(0, most)).keys()].map(i => ({ i: i }))"),
            ("refused('size')", "'refused: size'"),
        ] {
            assert_eq!(shown(text, &scope), wanted, "{text}");
        }
    }
}
