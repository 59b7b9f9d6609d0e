//! `docshape init` without a database: answers on standard input, examples, and copies of scenarios.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use docshape::cli::catalogue::SCENARIOS;
use tempfile::TempDir;

/// The program in a folder, with these lines on standard input.
fn docshape(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_docshape"));
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").env_remove("MONGODB_URI");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that refuses its arguments may have ended before.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn ok(folder: &Path, arguments: &[&str], input: &str) -> String {
    let ended = docshape(folder, arguments, input);
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert!(ended.status.success() && !stderr.contains("warning"), "{stderr}");
    stderr + &String::from_utf8(ended.stdout).unwrap()
}

/// Asserts that a command refuses its arguments with these words, and that nothing was written.
fn refused(folder: &Path, arguments: &[&str], input: &str, words: &[&str]) {
    let before: Vec<_> = fs::read_dir(folder).unwrap().collect();
    let ended = docshape(folder, arguments, input);
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{stderr}");
    words.iter().for_each(|word| assert!(stderr.contains(word), "{word:?} is missing in {stderr}"));
    assert_eq!(fs::read_dir(folder).unwrap().count(), before.len(), "{arguments:?}");
}

fn place() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn answers_become_a_file_that_passes_check() {
    let place = place();
    let answers = "author 100, tag 20, post, comment\npost of author 4, comment of post 2-9\n\
                   author: name, email; tag: name; post: title, tags, text 2000, created; comment: author, text, created\n\
                   read post with author and comment 60, list post of tag, read author by email, add comment, set post.title\n";
    let said = ok(place.path(), &["init", "blog"], answers);
    assert!(
        said.contains("4 entities, 5 operations, 1 strategy") && said.contains("docshape verify blog.yaml"),
        "{said}"
    );
    assert!(!said.contains("examples take the place"), "{said}");
    let text = fs::read_to_string(place.path().join("blog.yaml")).unwrap();
    for words in [
        "name: blog",
        "posts_per_author: 4",
        "text: text(2000)",
        "does: { list: tag.posts, reverse: true, limit: 10 }",
        "default: { read_post: 60, list_posts_of_tag: 30,",
        "TODO the weights",
        "post of author 4, comment of post 2-9",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 140), "{text}");
    ok(place.path(), &["check", "blog.yaml"], "");
}

#[test]
fn examples_take_the_place_of_missing_answers() {
    let place = place();
    let said = ok(place.path(), &["init", "shop"], "");
    assert!(said.contains("0 of 4 answers on standard input"), "{said}");
    ok(place.path(), &["check", "shop.yaml"], "");
    let said = ok(place.path(), &["init", "books"], "author 30, book\n\n");
    assert!(said.contains("1 of 4 answers"), "{said}");
    let text = fs::read_to_string(place.path().join("books.yaml")).unwrap();
    assert!(text.contains("books_per_author: 5"), "{text}");
    ok(place.path(), &["check", "books.yaml"], "");
}

#[test]
fn standard_input_that_stays_open_is_not_waited_for() {
    let place = place();
    let mut command = Command::new(env!("CARGO_BIN_EXE_docshape"));
    command.args(["init", "shop"]).current_dir(place.path()).stdin(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let input = child.stdin.take();
    assert!(child.wait().unwrap().success());
    drop(input);
    assert!(place.path().join("shop.yaml").exists());
}

#[test]
fn answers_that_are_not_understood_write_nothing() {
    let place = place();
    for (answers, words) in [
        ("user 10k\n", ["answer 1: `10k`", "nothing was written"]),
        ("user 5, order\nordr of user\n", ["answer 2: `ordr`", "did you mean `order`?"]),
        ("user 5\nnone\nuser: name txt\n", ["answer 3: `txt`", "did you mean `text`?"]),
        ("user 5\nnone\nuser: name\nraed user\n", ["answer 4: `raed user`", "did you mean `read`?"]),
        ("a\nb\nc\nd\ne\n", ["5 lines", "expected at most 4"]),
    ] {
        refused(place.path(), &["init", "shop"], answers, &words);
    }
}

#[test]
fn existing_files_need_force() {
    let place = place();
    ok(place.path(), &["init", "shop"], "");
    refused(place.path(), &["init", "shop"], "", &["shop.yaml exists", "--force"]);
    refused(place.path(), &["init", "shop", "--like", "tasks"], "", &["shop.yaml exists", "--force"]);
    ok(place.path(), &["init", "shop", "--like", "tasks", "--force"], "");
    assert!(fs::read_to_string(place.path().join("shop.yaml")).unwrap().contains("\nname: shop\n"));
    refused(place.path(), &["init", "Shop"], "", &["cannot be the name of a scenario"]);
}

#[test]
fn copies_of_all_scenarios_pass_check() {
    let place = place();
    let mut check = vec!["check".to_owned()];
    for (number, (name, text)) in SCENARIOS.iter().enumerate() {
        let copy = format!("copy-{number}");
        ok(place.path(), &["init", &copy, "--like", name], "");
        check.push(format!("{copy}.yaml"));
        let copied = fs::read_to_string(place.path().join(&check[number + 1])).unwrap();
        let (first, rest) = copied.split_once('\n').unwrap();
        assert_eq!(first, format!("# A copy of the scenario {name}, by `docshape init`."));
        assert_eq!(rest, text.replacen(&format!("name: {name}\n"), &format!("name: {copy}\n"), 1));
    }
    ok(place.path(), &check.iter().map(String::as_str).collect::<Vec<_>>(), "");
}

#[test]
fn sources_that_cannot_be_used_are_named() {
    let place = place();
    refused(place.path(), &["init", "a", "--like", "blog-coments"], "", &["did you mean `blog-comments`?"]);
    refused(place.path(), &["init", "a", "--like", "tasks", "--from", "x"], "", &["--like", "--from"]);
    refused(place.path(), &["init", "a", "--json"], "", &["--from <SOURCE>"]);
}
