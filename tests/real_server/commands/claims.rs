//! `docshape run --claims`.

use std::fs;
use std::path::Path;

use docshape::results::{self, ClaimsRecord, Status};

use super::{COUNTER, Place, Running, finish};

const CLAIMS: [&str; 10] = ["run", COUNTER, "--claims", "--calls", "1000", "--rounds", "1", "--slices", "2", "--out"];

fn claims_record(folder: &Path) -> ClaimsRecord {
    serde_json::from_str(&fs::read_to_string(folder.join(results::CLAIMS_FILE)).unwrap()).unwrap()
}

#[test]
fn claims_are_measured_with_what_they_need() {
    let place = Place::new();
    let folder = place.run();
    let ended = finish(place.docshape(&[&CLAIMS[..], &[folder.to_str().unwrap()]].concat())).ok();
    for text in ["5 measured claims: 5 confirmed, 0 refuted, 0 undecided; 1 by design.", "✓ confirmed", "By design"] {
        assert!(ended.stdout.contains(text), "{text}: {}", ended.stdout);
    }
    // All are decided.
    assert!(
        ended.stderr.contains(&format!("Next: docshape report {}/1-default\n", folder.display())),
        "{}",
        ended.stderr
    );
    let record = claims_record(&folder);
    assert!(record.complete && record.server.is_some() && record.scenario_sha256.len() == 64, "{record:?}");
    let verdicts: Vec<(&str, &str)> =
        record.claims.iter().map(|one| (one.claim.id.as_str(), one.outcome().name())).collect();
    let confirmed = ["one-trip", "twice", "lost", "kept", "sold-out", "large"].map(|id| (id, "confirmed"));
    assert_eq!(verdicts, confirmed);
    assert_eq!(
        (record.claims[0].claim.by_design, record.claims[1].result.value, record.claims[1].result.against),
        (true, Some(2.0), Some(1.9))
    );
    let folders: Vec<&str> = record.runs.iter().map(|run| run.folder.as_str()).collect();
    assert_eq!(folders, ["1-default", "2-reading"]);
    let run = results::load(&folder.join("1-default")).unwrap();
    assert_eq!((run.claims.len(), run.parts.len(), run.status), (5, 2, Status::Complete));
    assert!(folder.join("2-reading/report.html").is_file());
    place.assert_nothing_left();
}

#[test]
fn an_interrupt_keeps_the_claims_of_complete_runs() {
    let place = Place::new();
    let folder = place.run();
    let ids = ["run", COUNTER, "--claims=sold-out,large"];
    let mut running = Running::start(place.docshape(&[&ids[..], &CLAIMS[3..], &[folder.to_str().unwrap()]].concat()));
    running.wait_for("round 1 of 1: ");
    let ended = running.interrupt();
    let record = claims_record(&folder);
    assert!(!record.complete, "{record:?}");
    let confirmed = record.claims.iter().filter(|one| one.outcome().name() == "confirmed").count();
    assert_eq!((confirmed, record.claims.len()), (1, 2), "{record:?}");
    assert!(ended.stdout.contains("Not all runs are complete."), "{}", ended.stdout);
    place.assert_nothing_left();
}
