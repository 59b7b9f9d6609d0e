//! `docshape sweep`.

use std::fs;

use docshape::results::{self, Part};
use docshape::stats::{RoundSeries, SeriesKey};
use docshape::studies::sweep::record::SweepRecord;

use super::{COUNTER, Place, Running, finish, without_page};

const SWEEP: [&str; 12] = [
    "sweep", COUNTER, "--vary", "padding=1,20000", "--calls", "200", "--only", "own", "--rounds", "3", "--no-verify",
    "--out",
];

#[test]
fn sweeps_measure_every_point_in_turns_and_are_resumed() {
    let place = Place::new();
    let folder = place.run();
    let run = folder.to_str().unwrap();
    let mut running = Running::start(place.docshape(&[&SWEEP[..], &[run]].concat()));
    running.wait_for("round 2 of 3");
    let ended = running.interrupt();
    assert!(ended.stderr.contains("sweep --resume"), "{}", ended.stderr);
    let record = results::load_as::<SweepRecord>(&folder).unwrap();
    let done: Vec<u64> = record.points.iter().map(|point| point.rounds).collect();
    assert!(!record.complete && done.iter().all(|rounds| (1..3).contains(rounds)), "{done:?}");

    let resumed = finish(place.docshape(&["sweep", "--resume", run])).ok();
    let record = results::load_as::<SweepRecord>(&folder).unwrap();
    assert!(record.complete && record.points.iter().all(|point| point.rounds == 3), "{record:?}");
    for point in &record.points {
        let run = results::load(&folder.join(&point.folder)).unwrap();
        let padding = run.parameters.iter().find(|(name, _)| name == "padding").unwrap();
        assert_eq!(padding.1.to_string(), point.values[0], "every point has its value");
        assert_eq!((run.complete_rounds(), run.parts.len(), run.strategies.len()), (3, 1, 2), "{:?}", run.strategies);
    }
    for text in ["padding = 1, 20000", "read, 20000", "Points"] {
        assert!(resumed.stdout.contains(text), "{text}: {}", resumed.stdout);
    }
    let again = finish(place.docshape(&["report", run])).ok();
    assert_eq!(without_page(&again.stdout), without_page(&resumed.stdout));
    assert!(finish(place.docshape(&["sweep", "--resume", run])).ok().stderr.contains("nothing to resume"));
    place.assert_nothing_left();
}

#[test]
fn a_sweep_over_two_conditions_has_a_grid_and_a_delay() {
    let place = Place::new();
    let folder = place.run();
    let sweep = format!("sweep {COUNTER} --vary rtt=0,20ms --vary share:buy=0%,50%");
    let ended = place.finish(&format!("{sweep} --calls 60 --only own --rounds 3 --no-verify --out")).ok();
    // read_first sends more commands, each of which waits for the network.
    assert!(ended.stdout.contains("increment is"), "{}", ended.stdout);
    let record = results::load_as::<SweepRecord>(&folder).unwrap();
    assert_eq!(record.points.len(), 4);
    for point in &record.points {
        let own = results::load(&folder.join(&point.folder)).unwrap().part(Part::Own).unwrap();
        let shares: f64 = own.mix.weights.iter().map(|(_, weight)| weight).sum();
        let buy = own.mix.weights.iter().find(|(name, _)| name == "buy").map_or(0.0, |(_, weight)| weight / shares);
        assert!((buy - if point.values[1] == "0%" { 0.0 } else { 0.5 }).abs() < 1e-9, "{point:?}: {buy}");
        let key = SeriesKey::new(docshape::record::Metric::MEAN, 0, Some(0));
        let times = RoundSeries::alone(&own, key).rounds;
        let is_late = times.iter().flatten().all(|time| *time > 20e6);
        assert_eq!(is_late, point.values[0] == "20ms", "{point:?}: {times:?}");
    }
    assert!(fs::read_to_string(folder.join("report.html")).unwrap().contains("winners-0"));
    place.assert_nothing_left();
}

#[test]
fn a_sweep_adds_values_where_the_order_flips() {
    let place = Place::new();
    // Without a network the large document takes longer, with one the second read.
    let read = "findOne: points, filter: { _id: <point> }";
    let small = format!("{{ {read}, projection: {{ _id: 1 }} }}");
    let scenario = format!(
        "format: 1\nname: flip\ntitle: One large read or two small ones?\n\
         entities: {{ point: {{ count: 4, fields: {{ _id: index, text: text(6000000) }} }} }}\n\
         operations: {{ read: {{ arguments: {{ point: uniform(point) }}, returns: point }} }}\n\
         mixes: {{ default: {{ read: 1 }} }}\n\
         strategies:\n\
         \x20 one: {{ collections: {{ points: {{ each: point }} }}, operations: {{ read: [{{ {read} }}, {{ return: reply._id }}] }} }}\n\
         \x20 two: {{ like: one, operations: {{ read: [{small}, {small}, {{ return: reply._id }}] }} }}\n"
    );
    fs::write(place.path("flip.yaml"), scenario).unwrap();
    let sweep = "sweep ./flip.yaml --vary rtt=0,40ms --refine 1 --write-concern 1";
    let ended = place.finish(&format!("{sweep} --calls 40 --only own --rounds 3 --no-verify --out")).ok();
    assert!(ended.stderr.contains("--refine adds 20ms"), "{}", ended.stderr);
    assert!(ended.stdout.contains("read, 20ms"), "{}", ended.stdout);
    let record = results::load_as::<SweepRecord>(&place.run()).unwrap();
    assert_eq!(record.vary[0].values, ["0", "20ms", "40ms"]);
    assert!(record.complete && record.points.iter().all(|point| point.rounds == 3), "{record:?}");
    for point in &record.points {
        let settings = results::load(&place.run().join(&point.folder)).unwrap().settings;
        assert_eq!((settings.write_concern.as_str(), settings.rtt > 0.0), ("1", point.values[0] != "0"));
    }
    place.assert_nothing_left();
}

#[test]
fn invalid_sweeps_are_refused_before_anything_is_made() {
    let place = Place::new();
    let fails = |arguments: &[&str], words: &[&str]| {
        finish(place.docshape(&[&["sweep", COUNTER], arguments].concat())).error(2, words);
    };
    fails(&[], &["defines no sweep", "--vary"]);
    fails(&["--vary", "paddin=1,2"], &["no parameter `paddin`", "did you mean `padding`"]);
    fails(&["--vary", "padding=1,big"], &["invalid value `big` for parameter `padding`"]);
    fails(&["--vary", "share:ad=1%,2%"], &["no operation `ad`"]);
    fails(&["--vary", "padding=1,2", "--strategies", "increment,overwrite"], &["fewer than two", "--strategies"]);
    fails(&["--vary", "mix=default,reading", "--refine", "2"], &["--refine", "whose values are numbers"]);
    fails(&["--vary", "cache=1,4"], &["so that the cache would have", "load more data"]);
    fails(&["--vary", "cache=1,4", "--uri", "mongodb://127.0.0.1:1"], &["needs embedded servers"]);
    fails(&["--vary", "padding=1,2", "--rounds", "1000", "--duration", "5h"], &["days", "leave out values"]);
    fails(&["--vary", "padding=1,2", "--threshold", "a.b.p99<1s"], &["docshape run"]);
    finish(place.docshape(&["sweep", "--resume", "/nonexistent"])).error(2, &["no such folder"]);
    // Values are refused by the parser of the command line, which points to --help in a line of its own.
    let values = [
        ("share:add=1%,200%", "expected a percentage from 0 to 100"),
        ("rtt=1,2", "expected a time from 0 to 10s"),
        ("w=0,1", "no write is acknowledged"),
    ];
    for (vary, words) in values {
        let ended = finish(place.docshape(&["sweep", COUNTER, "--vary", vary]));
        assert!(
            ended.code() == Some(2) && ended.stderr.contains("--vary") && ended.stderr.contains(words),
            "{ended:?}"
        );
    }
    place.assert_nothing_left();
}
