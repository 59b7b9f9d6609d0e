//! The thresholds of a run and their results.

use crate::record::Unit;
use crate::report::document::format::{counted, percent, plain, time};
use crate::report::document::{Cell, Kind, Row, Section, Table, Tone, column};
use crate::results::RunRecord;
use crate::stats::{Measurement, Threshold};

/// A threshold and its result.
#[derive(Debug, Clone)]
pub struct ThresholdView {
    /// As it was written.
    pub text: String,
    /// Whether it passed.
    pub has_passed: bool,
    /// The number, or why there is none.
    pub found: String,
}

impl ThresholdView {
    /// The result in a word.
    pub fn word(&self) -> &'static str {
        if self.has_passed { "passed" } else { "failed" }
    }
}

/// Whether each threshold passed; `None` without thresholds.
pub(crate) fn section(thresholds: &[ThresholdView]) -> Option<Section> {
    let measures = [
        column("passed", "result", "Whether it passed.")
            .cell(|one: &&ThresholdView| {
                let (mark, tone) = if one.has_passed { ("✓", Tone::Good) } else { ("✗", Tone::Bad) };
                Cell::text(format!("{mark} {}", one.word())).tone(tone).with_value(one.has_passed)
            })
            .of(Kind::Flag),
        column("found", "found", "The number, or why there is none.").text(|one| Cell::text(&one.found)),
    ];
    let rows = thresholds.iter().map(|one| (Row::new(one.text.as_str()), one));
    let name = column("threshold", "threshold", "As it was written.");
    let table = Table::new("thresholds", "Thresholds", name, &measures, rows).list();
    Section::new("thresholds", "Thresholds").table(table).with_rows()
}

/// The result of each threshold.
pub(crate) fn thresholds(record: &RunRecord) -> Vec<ThresholdView> {
    let view = |text: &String| {
        let (has_passed, found) = match text.parse::<Threshold>() {
            Ok(threshold) => {
                let found = threshold.find(record);
                (threshold.has_passed(found), found.map_or_else(|| "too few calls".into(), written))
            }
            Err(error) => (false, plain(&error)),
        };
        ThresholdView { text: plain(text), has_passed, found }
    };
    record.settings.thresholds.iter().map(view).collect()
}

fn written(found: Measurement) -> String {
    match found {
        Measurement::Nanoseconds(nanoseconds) => time(nanoseconds),
        Measurement::Share(share) => format!("{} of the calls", percent(share)),
        Measurement::Calls(calls) => counted(calls as u64, "call"),
        Measurement::Messages(messages) => Unit::Count.text(messages),
    }
}

#[cfg(test)]
mod tests {
    use crate::stats::sample;

    #[test]
    fn thresholds_have_a_result_and_stay_in_the_command() {
        let mut run = sample::run(8);
        assert!(!crate::report::tests::report(&run).has_failed_thresholds());
        run.settings.thresholds =
            ["linked.read_post.p50<9ms", "linked.add_comment.failed<1", "linked.count.p99<1s", "x"]
                .map(str::to_owned)
                .to_vec();
        let report = crate::report::tests::report(&run);
        assert!(report.has_failed_thresholds());
        let details = report.run.unwrap();
        let found: Vec<String> =
            details.thresholds.iter().map(|one| format!("{} {}: {}", one.text, one.word(), one.found)).collect();
        insta::assert_snapshot!(found.join("\n"));
        assert!(details.facts.command.contains("--threshold 'linked.read_post.p50<9ms'"), "{}", details.facts.command);
    }
}
