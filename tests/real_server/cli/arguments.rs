//! Help, and rejected arguments.

use clap::CommandFactory;
use docshape::cli::EXIT_CODES;
use docshape::command_line::{Arguments, RARE};

use super::{docshape, fails, run};

#[test]
fn help_and_exit_code_2_without_a_command() {
    let ended = run(&mut docshape(&[]));
    assert_eq!((ended.code, ended.out.as_str()), (2, ""));
    for command in ["run", "check", "show", "list", "report", "compare", "server"] {
        assert!(ended.err.contains(&format!("\n  {command} ")), "{}", ended.err);
    }
    assert!(!ended.err.contains("exec-mongod"), "{}", ended.err);
    assert_eq!(run(&mut docshape(&["server"])).code, 2);
}

#[test]
fn help_has_exit_codes_and_defaults() {
    let ended = run(&mut docshape(&["--help"]));
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
    assert!(ended.out.contains(EXIT_CODES), "{}", ended.out);
    assert_eq!(run(&mut docshape(&["--version"])).out, format!("docshape {}\n", env!("CARGO_PKG_VERSION")));

    let help = run(&mut docshape(&["run", "--help"])).out;
    assert!(help.contains(EXIT_CODES), "{help}");
    for default in [
        "8", "auto", "poisson", "all", "new data in every round", "1", "10s", "quick", "the preset's",
        "results/SCENARIO/TIME-ID",
    ] {
        assert!(help.contains(&format!("[default: {default}]")), "no default {default}: {help}");
    }
    let words: Vec<&str> = help.split_whitespace().collect();
    for (rounds, calls, seconds) in
        [("1 round", 6, "0.2"), ("8 rounds", 60, "1.5"), ("12 rounds", 200, "5"), ("20 rounds", 200, "5")]
    {
        let preset = format!(
            "; {rounds}; per strategy at least {calls} calls of each operation by itself, {seconds} s with open load, {seconds} s \
             at saturation"
        );
        assert!(words.join(" ").contains(&preset), "{preset} is not in {help}");
    }
}

#[test]
fn short_help_fits_a_screen() {
    for command in ["", "run"] {
        let arguments = [command, "-h"].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>();
        let help = run(docshape(&arguments).env("COLUMNS", "80")).out;
        assert!((24..=33).contains(&help.lines().count()), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 80) && !help.contains("Exit codes"), "{help}");
        assert_eq!(
            help.matches("  docshape ").count() + help.matches("Examples: docshape ").count(),
            if command.is_empty() { 3 } else { 0 }
        );
    }
}

#[test]
fn every_rare_option_exists() {
    let mut command = Arguments::command();
    command.build();
    let known: Vec<_> = command.get_subcommands().flat_map(clap::Command::get_arguments).collect();
    for name in RARE.split_whitespace() {
        assert!(known.iter().any(|option| option.get_id() == name), "{name}");
    }
}

#[test]
fn every_option_with_a_value_shows_its_default() {
    let mut command = Arguments::command();
    command.build();
    let with_values: Vec<_> = command
        .get_subcommands()
        .filter(|subcommand| !subcommand.is_hide_set())
        .flat_map(|subcommand| subcommand.get_subcommands().chain([subcommand]).collect::<Vec<_>>())
        .flat_map(|subcommand| subcommand.get_opts().map(|option| (subcommand.get_name(), option)).collect::<Vec<_>>())
        .collect();
    assert!(with_values.len() > 20, "{}", with_values.len());
    for (subcommand, option) in with_values {
        let has_default = option.get_help().is_some_and(|help| help.to_string().contains("[default: "));
        let repeated = option.get_id() == "set" || option.is_required_set();
        assert!(has_default || repeated || !option.get_default_values().is_empty(), "{subcommand} {option}");
    }
}

/// The first line of an option's help has at most 100 columns.
#[test]
fn help_has_one_line_per_option() {
    let mut command = Arguments::command();
    command.build();
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        for argument in subcommand.get_arguments() {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(!help.contains('\n') && help.len() <= 100, "{} {argument}: {help}", subcommand.get_name());
        }
    }
}

#[test]
fn help_never_shows_a_connection_string() {
    let help = run(docshape(&["run", "--help"]).env("MONGODB_URI", "mongodb://ann:secret@db/")).out;
    assert!(help.contains("[env: MONGODB_URI]") && !help.contains("secret"), "{help}");
}

#[test]
fn numbers_and_times_out_of_range_are_rejected() {
    let count = "expected a whole number from 1 to";
    let time = "expected a time from 1ms to 24h";
    let cases = [
        ("--clients", "0", count),
        ("--clients", "-2", count),
        ("--rate", "0", "from 0.001 to 1000000, such as 500, or auto"),
        ("--rate", "-5", "from 0.001 to 1000000, such as 500, or auto"),
        ("--rate", "NaN", "from 0.001 to 1000000, such as 500, or auto"),
        ("--rate", "fast", "from 0.001 to 1000000, such as 500, or auto"),
        ("--arrivals", "even", "[possible values: poisson, uniform]"),
        ("--only", "", "[possible values: own, saturation, rate]"),
        ("--only", "own,all", "[possible values: own, saturation, rate]"),
        ("--threads", "0", count),
        ("--calls", "0", count),
        ("--rounds", "0", count),
        ("--slices", "x", count),
        ("--duration", "-3s", time),
        ("--duration", "0s", time),
        ("--duration", "3", time),
        ("--timeout", "10 days", time),
        ("--seed", "-1", "expected a whole number from 0 to"),
        ("--cache-gb", "0.1", "from 0.25 to 10000"),
        ("--set", "posts", "expected name=value"),
        ("--strategies", "a,,b", "empty name"),
        ("--mix", "", "empty name"),
        ("--preset", "slow", "[possible values: smoke, quick, full, publish]"),
        ("--uri", "", "unset MONGODB_URI to use an embedded server"),
    ];
    for (option, value, words) in cases {
        fails(&["run", "blog-comments", option, value], 2, &[option, words]);
    }
}

#[test]
fn invalid_thresholds_are_rejected_before_the_run() {
    let cases = [
        ("linked.read_post<5ms", "unknown metric `read_post`; expected p50,"),
        ("linked.read_post.p101<5ms", "unknown metric `p101`; expected p50,"),
        ("linked.read_post.p99<5", "missing unit (us, ms or s) in `5`"),
        ("linkde.read_post.p99<5ms", "unknown strategy linkde; did you mean linked?"),
        ("linked.read_pots.p99<5ms", "unknown operation read_pots; did you mean read_post?"),
        // A negative control, which runs only on request.
        ("bucket_rmw.read_post.p99<5ms", "unknown strategy bucket_rmw"),
    ];
    for (threshold, words) in cases {
        fails(&["run", "blog-comments", "--threshold", threshold], 2, &[words]);
    }
    let never = ["run", "blog-comments", "--mix", "hot-post", "--threshold", "linked.edit.p99<5ms"];
    fails(&never, 2, &["mix hot-post never calls edit", "another --mix"]);
    fails(
        &["run", "blog-comments", "--junit", "no/such/file.xml"],
        2,
        &["--junit no/such/file.xml", "no folder no/such"],
    );
    fails(&["run", "--resume", ".", "--threshold", "linked.read_post.p99<5ms"], 2, &["--resume", "--threshold"]);
}

#[test]
fn invalid_objectives_are_rejected_with_the_nearest_form() {
    let cases = [
        ("p99", "missing `<` in `p99`; for example p99<20ms"),
        ("p99<20", "missing unit (us, ms or s) in `20`; try p99<5ms"),
        ("p99<-1ms", "expected a time above 0, found `-1ms`; try p99<5ms"),
        ("p100<5ms", "unknown metric `p100`; expected p50, p90, p99, p999, mean"),
        ("median<5ms", "unknown metric `median`; expected p50, p90, p99, p999, mean"),
        ("p99.99999<5ms", "needs 100000000 calls per trial, which is too many; try p9999<5ms"),
        (
            "add.p99<5ms",
            "unknown operation add; did you mean add_comment? expected one of add_comment, post, read_post",
        ),
    ];
    for (objective, words) in cases {
        fails(&["capacity", "blog-comments", "--objective", objective], 2, &[words]);
    }
    let never = ["capacity", "blog-comments", "--mix", "hot-post", "--objective", "edit.p99<5ms"];
    fails(&never, 2, &["mix hot-post never calls edit", "another --mix"]);
    fails(&["capacity", "blog-comments"], 2, &["--objective <OBJECTIVE>"]);
    fails(&["selftest", "--rounds", "5"], 2, &["expected a whole number from 6 to 100"]);
}

#[test]
fn conflicting_arguments_are_rejected() {
    let cannot = "cannot be used with";
    fails(&["run", "x", "--only"], 2, &["a value is required for '--only <PARTS>'"]);
    fails(&["run", "--resume", ".", "--only", "own"], 2, &["--resume", "--only", cannot]);
    fails(&["run", "--resume", ".", "--same-data"], 2, &["--resume", "--same-data", cannot]);
    for (option, value) in [("--rate", "500"), ("--rate", "auto"), ("--arrivals", "uniform")] {
        let omit = format!("omit {option}");
        fails(&["run", "x", "--only", "own,saturation", option, value], 2, &["add `rate` to --only", &omit]);
    }
    fails(&["run", "x", "--calls", "10", "--duration", "1s"], 2, &["--calls", "--duration", cannot]);
    fails(&["run", "x", "--strategies", "a", "--all-strategies"], 2, &["--strategies", "--all-strategies", cannot]);
    fails(&["run", "x", "--uri", "mongodb://db", "--mongod", "/bin/true"], 2, &["--uri", "--mongod", cannot]);
    fails(&["run", "x", "--uri", "mongodb://db", "--cache-gb", "2"], 2, &["--uri", "--cache-gb", cannot]);
    fails(&["run", "x", "--threads", "3", "--clients", "2"], 2, &["--threads 3", "--clients 2", "try --clients 3"]);
    fails(&["capacity", "x", "--objective", "p99<5ms", "--threads", "3", "--workers", "2"], 2, &["--clients 2"]);
}

#[test]
fn faults_that_cannot_be_caused_are_rejected() {
    for fault in ["reboot", "kill@5s", ""] {
        fails(&["verify", "blog-comments", "--fault", fault], 2, &["--fault", "expected stepdown, kill, stop"]);
    }
    fails(&["verify", "blog-comments", "--fault", "kill", "--call", "3"], 2, &["cannot be used with"]);
    let uri = ["verify", "blog-comments", "--uri", "mongodb://127.0.0.1:1", "--fault"];
    fails(&[&uri[..], &["kill", "--yes"]].concat(), 2, &["needs embedded servers", "or use stepdown"]);
    fails(&[&uri[..], &["stepdown"]].concat(), 2, &["for everybody who uses it", "--yes"]);
}

#[test]
fn unknown_arguments_are_rejected_with_the_nearest_one() {
    fails(&["chekc", "x"], 2, &["'chekc'", "'check'"]);
    fails(&["run", "x", "--client", "2"], 2, &["'--client'", "'--clients'"]);
    fails(&["run"], 2, &["<SCENARIO>"]);
    fails(&["check"], 2, &["<FILE>"]);
    fails(&["server", "stop"], 2, &["'stop'"]);
    fails(&["report", ".", "--format", "pdf"], 2, &["possible values: terminal, markdown, html"]);
}
