//! The thresholds of a run, and whether they were kept.

use crate::results::RunRecord;
use crate::stats::{Measurement, Threshold};

use super::format::{count, counted, percent, plain, three, time};

/// A threshold in a report.
#[derive(Debug, Clone)]
pub struct ThresholdView {
    /// As it was written.
    pub text: String,
    /// Whether it was kept.
    pub has_passed: bool,
    /// The number, or why there is none.
    pub found: String,
}

impl ThresholdView {
    /// Whether it was kept, in a word.
    pub fn word(&self) -> &'static str {
        if self.has_passed { "passed" } else { "failed" }
    }
}

/// What the run says of each threshold.
pub(super) fn thresholds(record: &RunRecord) -> Vec<ThresholdView> {
    let view = |text: &String| {
        let (has_passed, found) = match text.parse::<Threshold>() {
            Ok(threshold) => {
                let check = threshold.check(record);
                (check.has_passed, check.found.map_or_else(|| "there are too few calls to tell".into(), written))
            }
            Err(error) => (false, plain(&error.to_string())),
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
        Measurement::Messages(messages) if messages.fract() == 0.0 => count(messages as u64),
        Measurement::Messages(messages) => three(messages),
    }
}

#[cfg(test)]
mod tests {
    use crate::report::{Markdown, Renderer, Report, Terminal};
    use crate::stats::sample;

    #[test]
    fn both_reports_say_what_was_kept_and_the_command_asks_for_it_again() {
        let mut run = sample::run(8);
        assert!(!Report::new(&run).has_failed_thresholds());
        run.settings.thresholds =
            ["linked.read_post.p50<9ms", "linked.add_comment.failed<1", "linked.count.p99<1s", "x"]
                .map(str::to_owned)
                .to_vec();
        let report = Report::new(&run);
        assert!(report.has_failed_thresholds());
        let mut text = String::new();
        Terminal { width: 100, colour: false }.render(&report, &mut text).unwrap();
        let section = text.split("\nThresholds\n").nth(1).unwrap().split("\n\n").next().unwrap();
        insta::assert_snapshot!("thresholds_terminal", section);
        let mut text = String::new();
        Markdown.render(&report, &mut text).unwrap();
        let section = text.split("## Thresholds\n").nth(1).unwrap().split("\n## ").next().unwrap();
        insta::assert_snapshot!("thresholds_markdown", section);
        assert!(text.contains("--threshold 'linked.read_post.p50<9ms'"), "{text}");
    }
}
