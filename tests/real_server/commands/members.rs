//! Runs on embedded sets of three members, and reads by other members than the primary.

use std::fs;

use docshape::results::{Part, Status};
use docshape::stats;

use super::{Place, finish};

/// Two strategies of which one reads from a secondary.
const SCENARIO: &str = "
format: 1
name: places
title: Places
about: Notes of places, read where it is allowed to be late.
entities: { place: { count: 30, fields: { _id: index, notes: 0 } } }
operations:
  read: { arguments: { place: uniform(place) }, returns: value }
  note: { arguments: { place: uniform(place) } }
mixes: { default: { read: 50, note: 50 } }
strategies:
  primary:
    about: Reads from the primary.
    collections: { places: { each: place } }
    operations:
      read: [{ findOne: places, filter: { _id: <place> }, readConcern: majority }, { return: reply._id }]
      note: { updateOne: places, filter: { _id: <place> }, update: { $inc: { notes: 1 } } }
  secondary:
    like: primary
    about: Reads from a secondary.
    operations:
      read: [{ findOne: places, filter: { _id: <place> }, readPreference: secondary }, { return: reply._id }]
";

fn scenario(place: &Place) -> String {
    let path = place.path("places.yaml");
    fs::write(&path, SCENARIO).unwrap();
    path.display().to_string()
}

#[test]
fn a_run_on_three_members_is_valid_and_says_so() {
    let place = Place::new();
    let path = scenario(&place);
    let line =
        ["run", &path, "--members", "3", "--cache-gb", "0.25", "--preset", "smoke", "--calls", "300", "--rate", "200"];
    let mut command = place.docshape(&line);
    command.arg("--out").arg(place.run());
    let ended = finish(command).ok();
    assert!(
        ended.stderr.contains("3 replica sets of 3 members, whose caches have 2.25 GB together"),
        "{}",
        ended.stderr
    );
    place.assert_nothing_left();
    let record = place.record();
    assert_eq!((&record.status, record.settings.members), (&Status::Complete, Some(3)));
    assert_eq!(record.settings.read_concern, "local, majority");
    assert_eq!(record.server.topology, "a replica set of 3 data-bearing members");
    assert!(
        record
            .warnings
            .iter()
            .any(|warning| warning.contains("places.yaml:22: `findOne places` has `readPreference: secondary`")),
        "{:?}",
        record.warnings
    );
    let markdown = fs::read_to_string(place.run().join("report.md")).unwrap();
    assert!(
        markdown.contains("3 on one machine") && !markdown.contains("something else used the server"),
        "{markdown}"
    );

    assert!(markdown.contains("The set has 3 members"), "{markdown}");
    let screen = finish(place.docshape(&["report", &place.run().display().to_string()])).ok().stdout;
    assert!(screen.replace('\n', " ").contains(&format!("MongoDB {}, 3 members", record.server.version)), "{screen}");

    // The primary answers the reads of one strategy, and the writes of both.
    let part = record.part(Part::Saturation).unwrap();
    let sum = |strategy, counter: &str| stats::cells(&part, strategy).map(|cell| cell.counters[counter]).sum::<f64>();
    assert!(sum(0, "opcounters_query") > 100.0 && sum(1, "opcounters_query") == 0.0, "{}", sum(1, "opcounters_query"));
    assert!(sum(1, "opcounters_update") > 100.0 && sum(1, "member_requests") > 0.0);
    let oplog = [0, 1].map(|strategy| sum(strategy, "oplog_bytes") / sum(strategy, "opcounters_update"));
    assert!((oplog[0] / oplog[1] - 1.0).abs() < 0.1 && oplog[0] < 400.0, "bytes of an entry, counted once: {oplog:?}");

    finish(place.docshape(&["run", "--resume", &place.run().display().to_string(), "--members", "1"])).ok();
    let mut run = record;
    run.status = Status::Unfinished;
    fs::write(place.run().join("run.json"), serde_json::to_string(&run).unwrap()).unwrap();
    let resumed = place.docshape(&["run", "--resume", &place.run().display().to_string(), "--members", "1"]);
    finish(resumed).error(2, &["was measured with --members 3: omit --members"]);
}

#[test]
fn verification_reads_from_the_primary_and_one_member_has_no_secondary() {
    let place = Place::new();
    let path = scenario(&place);
    let verified =
        finish(place.docshape(&["verify", &path, "--members", "3", "--cache-gb", "0.25", "--calls", "40"])).ok();
    let text = verified.stdout.replace('\n', " ");
    assert!(text.contains("may return older data") && text.contains("Verification reads from the primary"), "{text}");
    let alone = finish(place.docshape(&["verify", &path]));
    alone.error(2, &["places.yaml:22: `findOne places` has `readPreference: secondary`", "use --members 3"]);
    let disturbed = finish(place.docshape(&["verify", &path, "--members", "3", "--fault", "kill"]));
    disturbed.error(2, &["--fault needs a set", "omit --members"]);
    fs::write(place.path("places.yaml"), SCENARIO.replace("secondary }", "secondaryPreferred }")).unwrap();
    finish(place.docshape(&["verify", &path, "--calls", "40"])).ok();
    place.assert_nothing_left();
}
