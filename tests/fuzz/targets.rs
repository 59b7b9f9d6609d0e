//! What bytes from outside go through. No bytes may panic, overflow the stack, take much memory or never end.

#![allow(dead_code)]

use std::path::Path;

use docshape::compile::{Choice, compile};
use docshape::infer::layout::{EntityPlace, FieldPlace, Layout};
use docshape::observe::{log, operations};
use docshape::plan::{Plan, Raw, Value, find_function, outcome, written};
use docshape::report::{Html, Json, Markdown, Renderer, Report, Terminal, csv};
use docshape::results::{IntervalLog, RunRecord, load, save};
use docshape::scenario::{Diagnostics, Source, read};

/// The reader, the compiler and the diagnostics: a scenario file.
pub fn scenario(bytes: &[u8]) {
    let _ = compiled(String::from_utf8_lossy(bytes).into_owned());
}

fn compiled(text: String) -> Option<Plan> {
    let source = Source::new("fuzz.yaml", text);
    let diagnostics = Diagnostics::new();
    let scenario = read(&source, &diagnostics);
    let plan = scenario.and_then(|scenario| compile(&scenario, &Choice::default(), &diagnostics).ok().flatten());
    assert!(plan.is_some() || diagnostics.has_errors(), "neither a plan nor an error");
    let said = diagnostics.render(&source, false);
    assert!(said.len() < 10_000_000, "{} bytes of diagnostics", said.len());
    plan
}

/// An expression as a field, as an argument and in a step; the last one is evaluated, too.
pub fn expression(bytes: &[u8]) {
    let quoted = serde_json::to_string(&String::from_utf8_lossy(bytes)).unwrap();
    let text = |field: &str, argument: &str| {
        format!(
            "format: 1\nname: fuzz\ntitle: Fuzz\nentities:\n  thing: {{ count: 5, fields: {{ _id: index, n: {field} }} }}\n\
             operations: {{ act: {{ arguments: {{ thing: zipf(thing), n: {argument} }} }} }}\nmixes: {{ default: {{ act: 1 }} }}\n\
             strategies:\n  s:\n    collections: {{ things: {{ each: thing, document: {{ ...: <thing> }} }} }}\n    \
             operations: {{ act: [{{ findOne: things, filter: {{ _id: <thing> }} }}, {{ return: {quoted} }}] }}\n"
        )
    };
    for (field, argument) in [("1", quoted.as_str()), (quoted.as_str(), "1")] {
        let Some(plan) = compiled(text(field, argument)) else { continue };
        for index in 0..3 {
            let drawn = plan.draw(plan.round_seed(0), index, 0);
            drop(drawn.map(|(_, frame)| written(frame.slot(1))));
            drop(plan.data.whole(0, index).content());
        }
    }
}

/// A run record, from its JSON to all forms of its report.
pub fn run_record(bytes: &[u8]) {
    let Ok(record) = serde_json::from_slice::<RunRecord>(bytes) else { return };
    let folder = tempfile::tempdir().unwrap();
    save(&record, folder.path()).unwrap();
    // A record that passes the checks of a file on disk has a report.
    let Ok(record) = load(folder.path()) else { return };
    let report = Report::new(&record);
    let mut text = String::new();
    for renderer in [&Terminal { width: 80, colour: true, full: true } as &dyn Renderer, &Markdown, &Html, &Json] {
        renderer.render(&report, &mut text).unwrap();
    }
    csv(&record, &mut text).unwrap();
}

/// The log of a run that is resumed.
pub fn interval_log(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("latency.hlog");
    std::fs::write(&path, bytes).unwrap();
    let resume = |path: &Path| IntervalLog::resume(path, 0.0, 2).map(drop).and_then(|()| std::fs::read(path));
    let kept = resume(&path).unwrap();
    assert!(kept.len() <= bytes.len());
    assert_eq!(resume(&path).unwrap(), kept, "resuming twice removes more");
}

/// The log of a server, whose operations are inferred.
pub fn server_log(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mongod.log");
    std::fs::write(&path, bytes).unwrap();
    let field = |name: &str| FieldPlace { field: name.into(), path: vec![name.into()], ..FieldPlace::default() };
    let place = |collection: &str| EntityPlace {
        entity: collection.into(),
        collection: collection.into(),
        count: 9,
        fields: ["_id", "name", "sku", "status"].map(field).into(),
        ..EntityPlace::default()
    };
    let layout = Layout { entities: ["users", "products", "orders", "reviews"].map(place).into() };
    if let Ok(observations) = log::read(&[path], "shop") {
        let observed = operations(&observations, &layout);
        assert!(observed.summary().len() < 10_000_000);
    }
}

/// What a server may reply: read in place, by every function, and written back.
pub fn reply(bytes: &[u8]) {
    let Ok(document) = bson::RawDocumentBuf::from_bytes(bytes.to_vec()) else { return };
    let raw = Raw::new(document);
    let value = Value::Document(raw.clone());
    drop(written(&value));
    drop((raw.count(), raw.pluck("a"), outcome(&value), value.equals(&value), value.entries()));
    let fields: Vec<Value> = raw.iter().map(|(_, field)| field).take(100).collect();
    for field in &fields {
        drop((field.field("a"), field.at(0), field.len(), field.compare(&value), field.sort_order(&value)));
        let _ = field.items().map(Iterator::count);
    }
    let arguments = [Value::Document(raw), Value::list(fields), Value::Int(1), Value::text("a")];
    let functions = "chunks contains double flatten index_of int join merge object outcome pluck range reverse size slice \
                     sort_by split string sum timestamp";
    for function in functions.split(' ').filter_map(find_function) {
        for first in &arguments {
            for second in &arguments {
                let given = [first.clone(), second.clone(), Value::Int(2)];
                for count in function.arity.0..=function.arity.1.min(3) {
                    let _ = (function.body)(&given[..count]).map(|made| written(&made));
                }
            }
        }
    }
}
