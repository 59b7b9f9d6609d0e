//! `docshape grow`.

use std::fs;

use docshape::results;
use docshape::studies::growth::record::GrowthRecord;

use super::{COUNTER, Place, Running, finish, without_page};

#[test]
fn growth_ends_when_a_document_is_full_and_nothing_is_lost() {
    let place = Place::new();
    let folder = place.run();
    let grow = "grow blog-comments --set comment_bytes=200000 --sample latest --per-day 10";
    let ended = place.finish(&format!("{grow} --strategies embedded,linked --no-verify --out")).ok();
    let record = results::load_as::<GrowthRecord>(&folder).unwrap();
    assert!(record.is_reached, "{record:?}");
    let [embedded, linked] = record.ends.as_slice() else { panic!("{record:?}") };
    // Ten comments were loaded, and 83 of them fill a document.
    assert_eq!((embedded.refused.as_deref(), embedded.failed), (Some("size"), 0));
    assert!((70..=74).contains(&embedded.succeeded), "{embedded:?}");
    assert_eq!((linked.refused.as_deref(), linked.failed), (None, 0));
    assert!(linked.succeeded > embedded.succeeded, "{linked:?}");
    for end in &record.ends {
        assert!(!end.audits.is_empty() && end.audits.iter().all(|audit| audit.anomalies() == 0), "{end:?}");
    }
    let largest = |strategy: usize| -> Vec<u64> {
        let cells = record.stages.iter().filter_map(|stage| stage.cells[strategy].as_ref());
        cells.map(docshape::studies::growth::curve::largest_document).collect()
    };
    assert!(largest(0).is_sorted() && largest(0).last() > Some(&16_000_000), "{:?}", largest(0));
    assert!(largest(1).iter().all(|bytes| *bytes < 300_000), "{:?}", largest(1));
    assert!(ended.stdout.contains("embedded refused add_comment (size) after"), "{}", ended.stdout);
    let again = place.finish("report").ok();
    assert_eq!(without_page(&again.stdout), without_page(&ended.stdout));
    assert!(fs::read_to_string(folder.join("report.html")).unwrap().contains("stage-times-0"));
    place.assert_nothing_left();
}

#[test]
fn growth_ends_at_a_size_or_is_interrupted() {
    let place = Place::new();
    let folder = place.run();
    place.finish("grow blog-comments --strategies embedded --sample latest --until 200KB --out").ok();
    assert_eq!(results::load_as::<GrowthRecord>(&folder).unwrap().stages.len(), 2, "105 KB, then 314 KB");

    let folder = place.path("interrupted");
    let grow = ["grow", "blog-comments", "--strategies", "embedded", "--out", folder.to_str().unwrap()];
    let mut running = Running::start(place.docshape(&grow));
    running.wait_for("after 138 calls");
    let ended = running.interrupt();
    assert!(results::load_as::<GrowthRecord>(&folder).unwrap().stages.len() > 1);
    assert!(ended.stdout.contains("later stages are missing"), "{}", ended.stdout);
    place.assert_nothing_left();
}

#[test]
fn growth_of_nothing_is_refused() {
    let place = Place::new();
    let fails = |arguments: &[&str], words: &[&str]| {
        finish(place.docshape(&[&["grow", COUNTER], arguments].concat())).error(2, words);
    };
    fails(&[], &["does not say which operation", "--operation"]);
    fails(&["--operation", "ad"], &["never calls ad", "did you mean `add`"]);
    fails(&["--operation", "add", "--sample", "nothing"], &["never calls nothing"]);
    let ended = finish(place.docshape(&["grow", COUNTER, "--operation", "add", "--until", "5 apples"]));
    assert_eq!(ended.code(), Some(2), "{ended:?}");
    assert!(ended.stderr.contains("--until") && ended.stderr.contains("4MB"), "{}", ended.stderr);
    place.assert_nothing_left();
}
