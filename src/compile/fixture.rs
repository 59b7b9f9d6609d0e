//! Small plans and random values for the unit tests of this folder.

use std::sync::Arc;

use bson::{Bson, Document, RawDocumentBuf};
use proptest::prelude::*;

use crate::generate::Seed;
use crate::plan::data::{Data, DataClock};
use crate::plan::program::Step;
use crate::plan::raw::Raw;
use crate::plan::skeleton::Skeleton;
use crate::plan::value::{EvalError, Value};
use crate::plan::{Expression, Frame, Plan};
use crate::scenario::{Diagnostics, Severity, Source, read};

use super::resolve::resolve_text;
use super::scope::{Names, Origin, Scope};
use super::{Choice, compile};

/// A plan of this scenario text and choice; its diagnostics fail the test.
pub fn chosen(text: &str, choice: &Choice) -> Plan {
    let source = Source::new("test.yaml", text);
    let diagnostics = Diagnostics::new();
    let scenario = read(&source, &diagnostics);
    let plan = scenario.and_then(|scenario| compile(&scenario, choice, &diagnostics).unwrap());
    plan.unwrap_or_else(|| panic!("{}", diagnostics.render(&source, false)))
}

/// A plan with the entity `thing` of ten records, its children `parts`, one operation and one strategy.
pub fn plan(arguments: &str, steps: &str) -> Plan {
    let text = format!(
        "format: 1\nname: test\ntitle: Test\nparameters: {{ limit: 7 }}\nentities:\n  \
         thing: {{ count: 10, fields: {{ _id: index, name: words(3), next: \"record(thing, 0)\", at: clock() }} }}\n  \
         part: {{ of: thing, as: parts, count: poisson_count(2), fields: {{ _id: oid(), n: number, of: thing._id }} }}\n\
         operations:\n  act: {{ arguments: {arguments}, returns: value }}\nmixes: {{ default: {{ act: 1 }} }}\n\
         strategies:\n  one:\n    collections: {{ things: {{ each: thing }}, parts: {{ each: part }} }}\n    \
         operations:\n      act: {steps}\n"
    );
    chosen(&text, &Choice::default())
}

/// Returns the messages about a strategy whose documents are `document` and whose operation has `steps`.
pub fn messages(document: &str, steps: &str) -> Vec<String> {
    let text = format!(
        "format: 1\nname: test\ntitle: Test\nentities:\n  cart: {{ count: 2, fields: {{ _id: index, n: index }} }}\n\
         operations: {{ act: {{ arguments: {{ cart: zipf(cart), n: '3' }} }} }}\nmixes: {{ default: {{ act: 1 }} }}\n\
         strategies:\n  s:\n    collections:\n      carts: {{ each: cart, document: {document} }}\n    \
         operations: {{ act: {steps} }}\n"
    );
    let diagnostics = Diagnostics::new();
    let scenario = read(&Source::new("test.yaml", text), &diagnostics).unwrap();
    compile(&scenario, &Choice::default(), &diagnostics).unwrap();
    let shown = |severity: Severity| if severity == Severity::Error { "error: " } else { "" };
    diagnostics.iter().map(|one| format!("{}{}", shown(one.severity), one.message)).collect()
}

/// A frame of the plan's operation, for call 3.
pub fn frame(plan: &Plan) -> Frame {
    plan.arguments(0, plan.round_seed(0), 3, plan.arms[0].operations[0].slots).unwrap()
}

/// The document of the plan's first command.
pub fn skeleton(plan: &Plan) -> &Skeleton {
    let command = plan.arms[0].operations[0].steps.iter().find_map(|step| match step {
        Step::Command(command) => Some(command),
        _ => None,
    });
    &command.unwrap().document
}

/// The document that the first command binds to.
pub fn bound(plan: &Plan) -> Result<Document, EvalError> {
    skeleton(plan).bind(&mut frame(plan)).map(|raw| Document::try_from(&*raw).unwrap())
}

/// An expression over `a`, `b` and `c`; `None` when it does not parse.
pub fn expression(text: &str) -> Option<Expression> {
    let names = Names::default();
    let diagnostics = Diagnostics::new();
    let mut scope = Scope::new(&names, &diagnostics, "test");
    for name in ["a", "b", "c"] {
        scope.assign(name, Origin::Let, None);
    }
    let span = crate::scenario::Span::new(0, text.len());
    resolve_text(text, span, true, &mut scope)
}

/// The value of an expression with these values of `a`, `b` and `c`.
pub fn evaluate(expression: &Expression, values: &[Value]) -> Result<Value, EvalError> {
    let data = Arc::new(Data::new(Seed::new(1), DataClock::default(), Arc::new([])));
    let mut frame = Frame::new(&data, Seed::new(1), 0, 3);
    for (slot, value) in values.iter().enumerate() {
        frame.set(slot, value.clone());
    }
    expression.evaluate(&mut frame)
}

/// The BSON of a value, by the driver's types rather than by the writer under test.
pub fn bson_of(value: &Value) -> Bson {
    match value {
        Value::Null => Bson::Null,
        Value::Bool(b) => Bson::Boolean(*b),
        Value::Int(i) => i32::try_from(*i).map_or(Bson::Int64(*i), Bson::Int32),
        Value::Double(d) => Bson::Double(*d),
        Value::Text(text) => Bson::String(text.to_string()),
        Value::ObjectId(id) => Bson::ObjectId(*id),
        Value::Date(millis) => Bson::DateTime(bson::DateTime::from_millis(*millis)),
        Value::Binary(subtype, bytes) => {
            Bson::Binary(bson::Binary { subtype: (*subtype).into(), bytes: bytes.to_vec() })
        }
        Value::Other(other) => (**other).clone(),
        Value::List(items) => Bson::Array(items.iter().map(bson_of).collect()),
        Value::Map(entries) => Bson::Document(entries.iter().map(|(k, v)| (k.to_string(), bson_of(v))).collect()),
        Value::Document(raw) => Bson::Document(Document::try_from(raw.document()).unwrap()),
        Value::Array(raw) => Bson::Array(raw.items().map(|item| bson_of(&item)).collect()),
        Value::Record(_) | Value::Outcome(_) => panic!("no plain value"),
    }
}

/// The same value as the server would send it: nested lists and maps become raw BSON.
pub fn raw(value: &Value) -> Value {
    let holder = bson::doc! { "value": bson_of(value) };
    Raw::new(RawDocumentBuf::try_from(&holder).unwrap()).get("value").unwrap()
}

/// Plain values of every kind, nested three deep, some of them raw.
pub fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-4_i64..60).prop_map(Value::Int),
        any::<i64>().prop_map(Value::Int),
        Just(Value::Int(i64::MIN)),
        any::<f64>().prop_map(Value::Double),
        Just(Value::Double(f64::NAN)),
        "[a-z$<> é]{0,6}".prop_map(|text| Value::text(&text)),
        any::<[u8; 12]>().prop_map(|bytes| Value::ObjectId(bytes.into())),
        any::<i64>().prop_map(Value::Date),
        prop::collection::vec(any::<u8>(), 0..9).prop_map(|bytes| Value::Binary(0, bytes.into())),
        Just(Value::Other(Arc::new(Bson::MinKey))),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        let map = prop::collection::btree_map("[a-c]{1,2}", inner.clone(), 0..5)
            .prop_map(|entries| Value::Map(entries.into_iter().map(|(k, v)| (Arc::from(k.as_str()), v)).collect()));
        let list = prop::collection::vec(inner, 0..5).prop_map(Value::list);
        prop_oneof![map.clone(), list.clone(), map.prop_map(|map| raw(&map)), list.prop_map(|list| raw(&list))]
    })
}
