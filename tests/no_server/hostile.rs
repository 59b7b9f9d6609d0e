//! Scenarios that are written to exhaust memory, the stack or patience: each is refused at once, with its place.
//!
//! `docshape check` runs in a process with 512 MiB of address space and 5 s of processor time, so that these limits do not
//! depend on how busy the machine is.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};

/// What makes a scenario hostile: YAML for some of its places; the others are harmless.
#[derive(Clone)]
struct Places {
    parameter: String,
    count: String,
    children: String,
    field: String,
    argument: String,
    document: String,
    steps: String,
    load: String,
    audit: String,
    /// More lines at the end: strategies, or keys of the scenario.
    more: String,
}

fn harmless() -> Places {
    Places {
        parameter: "1".into(),
        count: "3".into(),
        children: "2".into(),
        field: "1".into(),
        argument: "1".into(),
        document: "{ ...: <post> }".into(),
        steps: "{ findOne: posts, filter: { _id: <post> } }".into(),
        load: "[{ find: posts }]".into(),
        audit: "0".into(),
        more: String::new(),
    }
}

impl Places {
    fn text(&self) -> String {
        let Places { parameter, count, children, field, argument, document, steps, load, audit, more } = self;
        format!(
            "format: 1
name: hostile
title: Hostile
parameters: {{ p: {parameter} }}
entities:
  post: {{ count: {count}, fields: {{ _id: index, n: {field} }} }}
  comment: {{ of: post, as: comments, count: {children}, fields: {{ _id: index }} }}
operations:
  read: {{ arguments: {{ post: zipf(post), n: {argument} }} }}
mixes: {{ default: {{ read: 1 }} }}
audits: {{ all: {{ strategies: [a], find: posts, expect: {audit} }} }}
strategies:
  a:
    collections: {{ posts: {{ each: post, document: {document} }}, comments: {{ each: comment }} }}
    load: {load}
    operations: {{ read: {steps} }}
{more}"
        )
    }
}

/// An expression as YAML.
fn quoted(expression: &str) -> String {
    format!("\"{}\"", expression.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Expressions that are refused wherever they are, because they are too long.
fn long_expressions() -> Vec<(&'static str, String)> {
    let chain = |first: &str, term: &str, times: usize| format!("{first}{}", term.repeat(times));
    vec![
        ("100,000 sums", chain("1", " + 1", 100_000)),
        ("8,600 sums", chain("1", " + 1", 8_600)),
        ("10,000 conditions", chain("true", " && true", 10_000)),
        ("10,000 choices", chain("", "true ? 1 : ", 10_000) + "1"),
        ("11,000 fields", chain("[1]", ".a", 11_000)),
        ("9,000 indexes", chain("[1]", "[0]", 9_000)),
        ("100,000 negations", chain("", "!", 100_000) + "true"),
        ("50,000 parentheses", "(".repeat(50_000) + "1" + &")".repeat(50_000)),
        ("50,000 lists", "[".repeat(50_000) + &"]".repeat(50_000)),
        ("20,000 calls", "size([".repeat(20_000) + &"])".repeat(20_000)),
        ("20,000 keys", format!("{{{}}}", chain("'a': 1", ", 'a': 1", 20_000))),
        ("a long text", format!("'{}'", "x".repeat(500_000))),
    ]
}

/// Expressions that are refused where they are evaluated before a run: they make too much, or never end.
fn large_expressions() -> Vec<(&'static str, String)> {
    let doubling = |first: &str, times: usize| format!("[{first}]{}[0]", ".map(s, s + s)".repeat(times));
    vec![
        ("a doubled text", doubling("'x'", 40)),
        ("a doubled list", doubling("[1]", 40)),
        ("nested ranges", "range(0, 3000).map(a, range(0, 3000).map(b, [a, b]))".into()),
        ("sums of nested ranges", "sum(range(0, 100000).map(a, sum(range(0, 100000).map(b, 1))))".into()),
        ("three nested ranges", "range(0, 999).all(a, range(0, 999).all(b, range(0, 999).all(c, true)))".into()),
        ("a long range", "range(0, 9223372036854775807)".into()),
        ("a range of all ints", "range(-9223372036854775807, 9223372036854775807)".into()),
        ("ten million elements", "range(0, 10000000)".into()),
        ("flattened references", "flatten(range(0, 3000).map(a, range(0, 3000)))".into()),
        ("one list very often", "[range(0, 100000)].map(l, flatten(range(0, 1000).map(a, l)))".into()),
        ("a product of rows", "reorder(range(0, 100000).map(n, {'k': n}), 'k', range(0, 100000))".into()),
        ("comparisons of large lists", "[range(0, 100000)].map(l, range(0, 100000).filter(a, l == l))".into()),
        ("a search per element", "[range(0, 100000)].map(l, range(0, 100000).filter(a, -1 in l))".into()),
        ("an index per element", "[range(0, 100000)].map(l, range(0, 100000).map(a, index_of(l, -1)))".into()),
        ("slices of everything", "[range(0, 10000)].map(l, range(0, 10000).map(a, slice(l, 0, 10000)))".into()),
        ("450 lists", format!("{}1{}", "[".repeat(450), "]".repeat(450))),
        ("450 calls", format!("{}1{}", "size([".repeat(450), "])".repeat(450))),
        ("1,000 sums", format!("1{}", " + 1".repeat(1_000))),
    ]
}

/// Expressions with generators, which parameters do not take.
fn large_draws() -> Vec<(&'static str, String)> {
    [
        "words(9223372036854775807)",
        "words(2305843009213693952)",
        "words(999999999)",
        "words(16000000)",
        "text(9223372036854775807)",
        "text(2000000000)",
        "bytes(3000000000)",
        "bytes(134217729)",
        "range(0, 100).map(i, bytes(16777216))",
        "join(range(0, 1000).map(i, text(100000)))",
        "[text(16000000)].map(t, join(range(0, 1000).map(i, t)))",
        "[text(16000000)].map(t, range(0, 100000).filter(i, t + 'a' == t))",
        "[text(16000000)].map(t, range(0, 1000000).filter(i, t == t))",
        "size(split(text(16000000), ''))",
        "[text(16000000)].map(t, range(0, 100000).filter(i, contains(t, 'q')))",
        "string(poisson_count(1e18))",
        "sample(range(0, 1000), 9000000)",
        "range(0, 4000000).map(i, uniform(0, 9))",
    ]
    .into_iter()
    .map(|draw| (draw, draw.to_owned()))
    .collect()
}

/// Every hostile scenario with its name.
fn scenarios() -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut add = |name: String, places: Places| all.push((name, places.text()));
    for (name, expression) in long_expressions() {
        let value = quoted(&expression);
        add(format!("{name} in a parameter"), Places { parameter: value.clone(), ..harmless() });
        add(format!("{name} in a count"), Places { count: value.clone(), ..harmless() });
        add(format!("{name} in a field"), Places { field: value.clone(), ..harmless() });
        add(format!("{name} in a step"), Places { steps: format!("[{{ let: {{ x: {value} }} }}]"), ..harmless() });
        add(format!("{name} in an audit"), Places { audit: value, ..harmless() });
    }
    for (number, (name, expression)) in large_expressions().into_iter().enumerate() {
        let value = quoted(&expression);
        // In turn, because each takes up to a second.
        let (place, places) = match number % 3 {
            0 => ("a parameter", Places { parameter: value, ..harmless() }),
            1 => ("a count of children", Places { children: value, ..harmless() }),
            _ => ("an argument", Places { argument: value, ..harmless() }),
        };
        add(format!("{name} in {place}"), places);
    }
    for (name, expression) in large_draws() {
        let value = quoted(&expression);
        add(format!("{name} in a field"), Places { field: value.clone(), ..harmless() });
        add(format!("{name} in an argument"), Places { argument: value, ..harmless() });
    }
    let mut records = |name: &str, places: Places| add(name.to_owned(), places);
    records("too many records", Places { count: "9223372036854775807".into(), ..harmless() });
    records("a billion records", Places { count: "1000000000".into(), ..harmless() });
    records("a billion children", Places { children: "999999999".into(), ..harmless() });
    records("children of very many", Places { count: "900000000".into(), ..harmless() });
    let endless = quoted("index == 0 ? 0 : record(post, index - 1).n + 1");
    records("a record that needs all before it", Places { count: "100000".into(), field: endless, ..harmless() });
    let everything = quoted("size(all(post))");
    records(
        "all of very many",
        Places { count: "90000000".into(), children: "0".into(), argument: everything, ..harmless() },
    );
    let itself = quoted("size(referrers(post.n, record(post, 0)))");
    records("an index that needs itself", Places { field: itself, ..harmless() });
    let strategies = |from: usize, to: usize, like: fn(usize) -> String| {
        (from..to).fold(String::new(), |mut text, number| {
            let _ = writeln!(text, "  s{number}: {{ like: {} }}", like(number));
            text
        })
    };
    let chain = |number: usize| if number == 0 { "a".to_owned() } else { format!("s{}", number - 1) };
    for length in [10, 31, 500, 999, 2_000, 10_000] {
        records(&format!("a line of {length} strategies"), Places { more: strategies(0, length, chain), ..harmless() });
    }
    records("500 strategies", Places { more: strategies(0, 500, |_| "a".into()), ..harmless() });
    records("a circle of strategies", Places { more: "  b: { like: c }\n  c: { like: b }\n".into(), ..harmless() });
    let keys = |count: usize, key: fn(usize) -> String| {
        (0..count).fold(String::new(), |mut text, number| {
            let _ = writeln!(text, "{}: 1", key(number));
            text
        })
    };
    for count in [1_100, 8_000, 50_000] {
        records(&format!("one key {count} times"), Places { more: keys(count, |_| "k".into()), ..harmless() });
        records(&format!("{count} unknown keys"), Places { more: keys(count, |n| format!("k{n}")), ..harmless() });
    }
    let fields = |count: usize| format!("{{ {} }}", (0..count).map(|n| format!("f{n}: 1, ")).collect::<String>());
    records("a document of 50,000 fields", Places { document: fields(50_000), ..harmless() });
    records("a load of 50,000 words", Places { load: format!("[{}]", "x, ".repeat(50_000)), ..harmless() });
    let merged = |count: usize| format!("base: &b {{ x: 1 }}\nmore:\n  <<: [{}]\n", "*b, ".repeat(count));
    let large = quoted("text(6000000)");
    let three = "{ _id: <post._id>, a: <post.n>, b: <post.n>, c: <post.n> }";
    records("a document of 18 MB", Places { field: large, document: three.into(), ..harmless() });
    let matrix = "{ forEach: { x: 'range(0, 3000)' }, item: [{ forEach: { y: 'range(0, 3000)' }, item: <y> }] }";
    records(
        "a document of a matrix",
        Places { document: format!("{{ _id: <post._id>, a: [{matrix}] }}"), ..harmless() },
    );
    records("50,000 merged aliases", Places { more: merged(50_000), ..harmless() });
    records("one merged alias", Places { more: merged(1), ..harmless() });
    let laughs = (1..12).fold("l0: &l0 [x, x]\n".to_owned(), |mut text, level| {
        let _ = writeln!(text, "l{level}: &l{level} [{}]", format!("*l{}, ", level - 1).repeat(9));
        text
    });
    records("a billion laughs", Places { more: laughs, ..harmless() });
    let fragments = |count: usize, line: fn(usize) -> String, first: &str| {
        let lines: String = (0..count).map(|number| format!("  f{number}: {}\n", line(number))).collect();
        Places { document: "{ a: { use: f0 } }".into(), more: format!("fragments:\n{lines}{first}"), ..harmless() }
    };
    let twice = |number: usize| format!("[{{ use: f{next} }}, {{ use: f{next} }}]", next = number + 1);
    records("fragments that use others twice", fragments(40, twice, "  f40: 1\n"));
    let chained = |number: usize| format!("{{ use: f{} }}", number + 1);
    records("a line of 999 fragments", fragments(999, chained, "  f999: 1\n"));
    records("a circle of 1,000 fragments", fragments(1_000, |n| format!("{{ use: f{} }}", (n + 1) % 1_000), ""));
    let often = |_| format!("[{}]", "{ use: f1000 }, ".repeat(30));
    records("a fragment 30,000 times", fragments(999, often, "  f1000: [a, b, c, d, e]\n"));
    records("900 unknown fragments", fragments(900, |number| format!("{{ use: g{number} }}"), ""));
    for depth in [70, 5_000, 100_000] {
        let lists = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        records(&format!("{depth} lists"), Places { document: lists, ..harmless() });
        let ifs = "[{ if: true, then: ".repeat(depth) + "[]" + &" }]".repeat(depth);
        records(&format!("{depth} conditions"), Places { steps: ifs, ..harmless() });
        let lines: String = (0..depth.min(900)).map(|level| format!("{}k:\n", " ".repeat(level))).collect();
        records(&format!("{depth} lines, each deeper"), Places { more: format!("x:\n{lines}"), ..harmless() });
    }
    let name = "n".repeat(400_000);
    records("a long name twice", Places { more: format!("{name}: 1\n{name}x: 1\n"), ..harmless() });
    records("a long unknown slot", Places { document: format!("{{ a: <{name}> }}"), ..harmless() });
    records("a long collection", Places { steps: format!("{{ findOne: {name}, filter: {{}} }}"), ..harmless() });
    records(
        "20,000 slots",
        Places { document: format!("{{ a: {} }}", quoted(&"<post.x>".repeat(20_000))), ..harmless() },
    );
    records(
        "a long text of <",
        Places { document: format!("{{ a: {} }}", quoted(&format!("{}none>", "<".repeat(400_000)))), ..harmless() },
    );
    records(
        "20,000 unknown steps",
        Places { steps: format!("[{}]", "{ finds: posts }, ".repeat(20_000)), ..harmless() },
    );
    records("50,000 wrong steps", Places { steps: format!("[{}]", "{}, ".repeat(50_000)), ..harmless() });
    let huge = "x".repeat(1_100_000);
    records("a file that is too large", Places { more: format!("# {huge}\n"), ..harmless() });
    all
}

/// Runs `docshape check` with little memory and little time.
fn check(file: &Path) -> Output {
    let script = "ulimit -v 524288; ulimit -t 5; exec \"$0\" check \"$1\"";
    let docshape = env!("CARGO_BIN_EXE_docshape");
    Command::new("sh").args(["-c", script, docshape]).arg(file).env("NO_COLOR", "1").output().unwrap()
}

#[test]
fn hostile_scenarios_are_refused_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let scenarios = scenarios();
    assert_eq!(scenarios.len(), 164, "docs/reliability.md says how many there are");
    let mut failures = Vec::new();
    for (name, text) in scenarios {
        let file = folder.path().join("hostile.yaml");
        std::fs::write(&file, text).unwrap();
        let output = check(&file);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let has_place = said.contains("hostile.yaml:") || said.contains("hostile.yaml is larger");
        if output.status.code() != Some(2) || !has_place || said.len() > 200_000 {
            let start: String = said.chars().take(300).collect();
            failures.push(format!("{name}: {}, {} bytes: {start}", output.status, said.len()));
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn the_harmless_scenario_passes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hostile.yaml");
    std::fs::write(&file, harmless().text()).unwrap();
    let output = check(&file);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
