//! `list`, `check`, `show` and `report`.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use docshape::results::{FORMAT_VERSION, Preset, RunRecord, RunSettings, Status, save};

use crate::harness;

use super::{docshape, fails, run};

#[test]
fn list_prints_the_catalogue() {
    let narrow = run(docshape(&["list"]).env("COLUMNS", "80")).out;
    assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
    let ended = run(&mut docshape(&["list"]));
    assert_eq!((ended.code, ended.err.as_str()), (0, "Next: docshape run NAME --preset smoke\n"));
    let lines: Vec<String> =
        ended.out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let names = [
        "blog-comments Blog comments: embed, link or bucket?",
        "embedded, linked, bucketed, and 14 more; 3 negative controls",
    ];
    let position = |line: &str| lines.iter().position(|other| other == line).unwrap_or_else(|| panic!("{line}"));
    assert_eq!(position(names[0]) + 1, position(names[1]));
    let groups =
        ["embed or reference", "copy or join", "hierarchies", "newest N", "counters and stock", "large objects"];
    assert!(groups.is_sorted_by_key(|group| position(group)), "{}", ended.out);
}

/// When they differ, what the page would have to be is written below `target`.
/// The arguments print the page of this name in a folder.
fn assert_fresh(arguments: &[&str], folder: &str, name: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ended = run(&mut docshape(arguments));
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
    let published = fs::read_to_string(root.join(folder).join(name)).unwrap_or_default();
    let copy = root.join("target").join(name);
    if ended.out != published {
        fs::write(&copy, &ended.out).unwrap();
    }
    assert!(ended.out == published, "what it is made of has changed: copy {} to {folder}", copy.display());
}

#[test]
fn the_page_of_scenarios_is_fresh() {
    assert_fresh(&["list", "--markdown"], "docs", "scenarios.md");
}

#[test]
fn the_page_of_a_scenario_has_its_strategies_and_verdicts() {
    let verdicts = Path::new(env!("CARGO_MANIFEST_DIR")).join("results").join("claims");
    let ended = run(&mut docshape(&["list", "trees", "--verdicts", verdicts.to_str().unwrap()]));
    assert_eq!(ended.code, 0, "{}", ended.err);
    for part in ["| `nested_sets_txn` |", "Verdicts: preset ", "| source | claim | id | verdict | number |"] {
        assert!(ended.out.contains(part), "{part}: {}", ended.out);
    }
    fails(&["list", "treez"], 2, &["the catalogue has no scenario `treez`", "`trees`"]);
}

#[test]
fn pages_over_all_results_are_fresh() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let results = results.to_str().unwrap();
    assert_fresh(&["summary", results], "results", "README.md");
    assert_fresh(&["summary", results, "--rules"], "results", "rules.md");
    let ended = run(&mut docshape(&["summary", "tests", "--rules"]));
    assert!(ended.code == 2 && ended.err.contains("nothing beneath tests has rules"), "{}", ended.err);
}

#[test]
fn check_prints_one_line_per_valid_file() {
    let ended = run(&mut docshape(&["check", "blog-comments", "scenarios/blog-comments.yaml"]));
    assert_eq!((ended.code, ended.err.as_str()), (0, "Next: docshape run blog-comments --preset smoke\n"));
    let joined = ended.out.replace("\n  ", " ");
    let lines: Vec<&str> = joined.lines().collect();
    assert_eq!(lines.len(), 2);
    for (line, file) in lines.iter().zip(["blog-comments", "scenarios/blog-comments.yaml"]) {
        assert!(line.starts_with(&format!("{file}: ok, 20 strategies, ")), "{line}");
        assert!(line.contains(" mixes; records: 200 post, "), "{line}");
    }
}

#[test]
fn check_prints_all_problems_of_all_files() {
    let files =
        ["check", "tests/broken/five_problems.yaml", "blog-comments", "tests/broken/yaml_tab.yaml", "no/file.yaml"];
    let ended = run(&mut docshape(&files));
    assert_eq!(ended.code, 2);
    assert_eq!(ended.out.lines().count(), 1);
    for words in [
        "five_problems.yaml:2:7",
        " in tests/broken/five_problems.yaml",
        "1 problem in tests/broken/yaml_tab.yaml",
        "error: cannot read scenario file no/file.yaml",
    ] {
        assert!(ended.err.contains(words), "{words}: {}", ended.err);
    }
}

/// A scenario with one strategy, and with room for another one.
fn small(more: &str) -> String {
    format!(
        "format: 1\nname: small\ntitle: Small\nabout: Little.\nparameters: {{ n: 3 }}\nentities:\n  a:\n    count: n\n    fields: \
         {{ _id: index }}\noperations: {{ read: {{ arguments: {{ a: uniform(a) }}, returns: a }} }}\nmixes: {{ default: {{ read: 1 }} }}\n\
         strategies:\n  plain:\n    about: Plain.\n    collections: {{ as: {{ each: a }} }}\n    operations: {{ read: {{ findOne: as, \
         filter: {{ _id: <a> }} }} }}\n{more}"
    )
}

#[test]
fn warnings_are_not_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.yaml");
    fs::write(&path, small("").replace("about: Little.", "about: off")).unwrap();
    let ended = run(&mut docshape(&["check", path.to_str().unwrap()]));
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(ended.err.contains("warning: `off`") && ended.err.contains("1 warning in"), "{}", ended.err);
    assert!(
        ended.out.replace("\n ", "").ends_with(": ok, 1 strategy, 1 operation, 1 mix; records: 3 a\n"),
        "{}",
        ended.out
    );
}

#[test]
fn check_compiles_every_mix_and_reports_shared_steps_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.yaml");
    let text =
        small("  heir: { about: Heir., like: plain, collections: { as: { each: a, document: { _id: <a.none> } } } }\n")
            .replace("filter: { _id: <a> }", "filter: { _id: <b> }");
    fs::write(&path, text).unwrap();
    let err = run(&mut docshape(&["check", path.to_str().unwrap()])).err;
    assert_eq!(err.matches("unknown name `<b>`").count(), 1, "{err}");
    assert!(err.contains("2 problems in"), "{err}");

    fs::write(
        &path,
        small("")
            .replace("{ default: { read: 1 } }", "{ default: { read: 1 }, bad: { parameters: { n: -1 }, read: 1 } }"),
    )
    .unwrap();
    let ended = run(&mut docshape(&["check", path.to_str().unwrap()]));
    assert_eq!(ended.code, 2, "{}{}", ended.out, ended.err);
}

#[test]
fn unreadable_scenarios_are_reported_with_a_next_step() {
    fails(&["show", "blog-coments"], 2, &["`blog-coments`", "did you mean `blog-comments`?", "docshape list"]);
    fails(&["show", "zzz"], 2, &["unknown scenario `zzz`", "docshape list", "./zzz.yaml"]);
    fails(&["show", "none.yaml"], 2, &["cannot read scenario file none.yaml", "check the path"]);
    fails(&["show", "./tests/"], 2, &["./tests/", "check the path"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.yaml");
    let path = path.to_str().unwrap();
    fs::write(path, b"name: \xff\n").unwrap();
    fails(&["show", path], 2, &[path, "not UTF-8", "line 1"]);
    fs::write(path, "").unwrap();
    fails(&["show", path], 2, &["empty", path]);
}

#[test]
fn unknown_choices_are_rejected() {
    fails(&["show", "blog-comments", "--set", "post=3"], 2, &["blog-comments: ", "no parameter `post`", "posts"]);
    fails(
        &["show", "blog-comments", "--set", "posts=many"],
        2,
        &["invalid value `many` for parameter `posts`", "for example"],
    );
    fails(&["show", "blog-comments", "--strategies", "embeded"], 2, &["no strategy `embeded`", "embedded"]);
    fails(&["show", "blog-comments", "--strategies", "linked,linked"], 2, &["`linked` is named twice"]);
}

#[test]
fn show_prints_shapes_and_commands() {
    let ended = run(&mut docshape(&["show", "blog-comments"]));
    assert_eq!((ended.code, ended.err.as_str()), (0, "Next: docshape verify blog-comments\n"));
    // Long texts are not truncated.
    let is_text = |line: &str| line.trim_start().split_once(": '").is_some_and(|(_, text)| text.len() > 60);
    assert!(ended.out.lines().all(|line| line.chars().count() <= 100 || is_text(line)));
    // Generated ids start with a time of the scenario; other ids come from the server.
    let kept = |(number, part): (usize, &str)| {
        if number == 0 || part.starts_with("659") {
            part.to_owned()
        } else {
            format!("{}{}", "f".repeat(24), &part[24..])
        }
    };
    let parts: Vec<String> = ended.out.split("ObjectId('").enumerate().map(kept).collect();
    insta::assert_snapshot!("show_blog_comments", parts.join("ObjectId('"));
}

#[test]
fn show_uses_the_given_strategies_and_parameters() {
    let ended = run(&mut docshape(&["show", "blog-comments", "--strategies", "bucketed", "--set", "bucket_size=2"]));
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(ended.out.contains("// ---- bucketed ----") && !ended.out.contains("// ---- linked"), "{}", ended.out);
    assert!(ended.out.contains("bucket_size = 2\n") && ended.out.contains("  count: 2,\n"), "{}", ended.out);
}

#[test]
fn closed_pipe_is_not_an_error() {
    let mut child = docshape(&["show", "blog-comments"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), "Next: docshape verify blog-comments\n"));
}

#[test]
fn colour_is_for_terminals_without_no_color() {
    let broken = ["check", "tests/broken/five_problems.yaml", "no/file.yaml"];
    let escapes = |text: &str| text.contains('\u{1b}');
    assert!(!escapes(&run(&mut docshape(&broken)).err));
    assert!(escapes(&run(docshape(&broken).env("CLICOLOR_FORCE", "1")).err));
    let ended = run(docshape(&broken).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1"));
    assert!(!escapes(&ended.err), "{}", ended.err);
}

fn record() -> RunRecord {
    let mut record = harness::record::run("Small or large?", &["plain"]);
    record.status = Status::Interrupted;
    record.scenario.text = small("");
    record.settings = RunSettings { slices: 16, read_concern: "local".into(), ..RunSettings::of(Preset::Smoke) };
    record
}

#[test]
fn report_renders_a_run_from_its_folder_or_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    save(&record(), folder.path()).unwrap();
    let ended = run(&mut docshape(&["report", path]));
    assert!(ended.code == 0 && ended.err.starts_with("Next: docshape "), "{}", ended.err);
    assert!(ended.out.contains("Small or large?") && ended.out.contains(path), "{}", ended.out);
    let ended = run(&mut docshape(&["report", &format!("{path}/run.json"), "--format", "markdown"]));
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(ended.out.starts_with("# ") && ended.out.contains("Small or large?"), "{}", ended.out);
    let ended = run(&mut docshape(&["report", path, "--format", "html"]));
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
    assert!(ended.out.starts_with("<!DOCTYPE html>") && ended.out.ends_with("</html>\n"), "{}", ended.out);
    let below = folder.path().join("a/b");
    let ended = run(&mut docshape(&["report", path, "--out", below.to_str().unwrap()]));
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (0, "", ""));
    assert!(fs::read_to_string(below.join("report.html")).unwrap().contains("Small or large?"));
    assert!(fs::read_to_string(below.join("report.md")).unwrap().contains("Small or large?"));
    fails(&["report", path, "--out", &format!("{path}/run.json")], 3, &["cannot write", "run.json"]);
}

#[test]
fn open_hands_the_page_to_the_system() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    save(&record(), folder.path()).unwrap();
    fails(&["report", path, "--open"], 2, &["report.html is missing", "--out DIR --open"]);
    let opener = folder.path().join(if cfg!(target_os = "macos") { "open" } else { "xdg-open" });
    let open = |script: &str| {
        fs::write(&opener, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
        run(docshape(&["report", path, "--out", path, "--open"]).env("PATH", path))
    };
    let ended = open(&format!("echo \"$1\" > {path}/opened"));
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
    assert_eq!(fs::read_to_string(folder.path().join("opened")).unwrap(), format!("{path}/report.html\n"));
    let ended = open("exit 3");
    assert!(ended.code == 0 && ended.err.contains(&format!("open {path}/report.html yourself")), "{}", ended.err);
}

#[test]
fn unreadable_runs_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    fails(&["report", path], 2, &["run.json", "name a run folder"]);
    let file = folder.path().join("run.json");
    save(&record(), folder.path()).unwrap();
    let whole = fs::read_to_string(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    fails(&["report", path], 2, &["is cut off"]);
    fs::write(&file, "{}").unwrap();
    fails(&["report", path], 2, &["is not a run of docshape"]);
    fs::write(&file, whole.replacen(&format!("\"format\":{FORMAT_VERSION}"), "\"format\":99", 1)).unwrap();
    fails(&["report", path], 2, &["in format 99"]);
}

#[test]
fn columns_set_the_width_of_piped_reports() {
    let folder = tempfile::tempdir().unwrap();
    save(&RunRecord { warnings: vec!["A long warning. ".repeat(20)], ..record() }, folder.path()).unwrap();
    let longest = |columns: &str| {
        let ended = run(docshape(&["report", "--full", folder.path().to_str().unwrap()]).env("COLUMNS", columns));
        ended.out.lines().map(|line| line.chars().count()).max().unwrap()
    };
    assert!(longest("80") <= 80 && longest("120") > 100, "{} and {}", longest("80"), longest("120"));
}

#[test]
fn check_ends_with_2_for_mistakes_and_with_0_for_doubts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for (file, code, first) in [
        ("broken/yaml_tab_on_the_next_line", 2, "error: not valid YAML: while scanning a plain scalar, found a tab"),
        ("broken/step_unknown_sleep", 2, "error: unknown step `sleep`"),
        ("broken/yaml_key_without_colon", 2, "error: missing colon after key `mixes`"),
        ("broken/yaml_ambiguous_words_once_each", 0, "warning: `yes` is text here, but a boolean in YAML 1.1"),
        ("broken_plan/unknown_update_operator", 2, "error: unknown update operator `$incr`"),
        ("broken_plan/unknown_stage", 2, "error: unknown stage `$unwnd`"),
        ("broken_plan/unknown_expression_operator", 2, "error: unknown expression operator `$addd`"),
        ("broken_plan/unknown_index_option", 2, "error: unknown index option `uniqe`"),
        ("broken_plan/unknown_collection_option", 2, "error: unknown collection option `validatr`"),
        ("broken_plan/return_other_key", 2, "error: `returns` of `read` has no key `titel`"),
        ("broken_plan/parameter_without_value_in_a_sweep", 2, "error: expected an expression, found nothing"),
        (
            "broken_plan/pipeline_other_database",
            2,
            "error: `$lookup` reads only collections of the strategy's own database",
        ),
        ("valid/unused_argument", 0, "warning: strategy `b` never uses argument `page` of `read`"),
    ] {
        let path = root.join(file).with_extension("yaml");
        let ended = run(&mut docshape(&["check", path.to_str().unwrap()]));
        assert_eq!((ended.code, ended.err.lines().next()), (code, Some(first)), "{file}");
    }
}
