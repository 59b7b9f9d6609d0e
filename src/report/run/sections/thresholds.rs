//! The thresholds of a run and their results.

use crate::record::Unit;
use crate::report::document::format::{counted, percent, plain, time};
use crate::report::document::{Cell, Kind, Row, Section, Table, Tone, column};
use crate::results::RunRecord;
use crate::stats::{Doubt, Measurement, Threshold};

/// A threshold and its result.
#[derive(Debug, Clone)]
pub struct ThresholdView {
    /// As it was written.
    pub text: String,
    /// Whether it passed; `None` where the run does not decide it.
    pub passed: Option<bool>,
    /// The number, or why there is none, and why it does not decide.
    pub found: String,
}

impl ThresholdView {
    /// The result in a word.
    pub fn word(&self) -> &'static str {
        self.passed.map_or("undecided", |passed| if passed { "passed" } else { "failed" })
    }

    /// The sign of the result, and its tone.
    pub(crate) fn mark(&self) -> (&'static str, Tone) {
        self.passed.map_or(("?", Tone::Bad), |passed| if passed { ("✓", Tone::Good) } else { ("✗", Tone::Bad) })
    }
}

/// Whether each threshold passed; `None` without thresholds.
pub(crate) fn section(thresholds: &[ThresholdView]) -> Option<Section> {
    let measures = [
        column("passed", "result", "Whether it passed; `null` where the run does not decide it.")
            .cell(|one: &&ThresholdView| {
                let (mark, tone) = one.mark();
                Cell::text(format!("{mark} {}", one.word())).tone(tone).with_value(one.passed)
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
        let (passed, found) = match text.parse::<Threshold>() {
            Ok(threshold) => {
                let found = threshold.find(record);
                let number = found.map_or_else(|| "too few calls".into(), written);
                match threshold.doubt(record, found) {
                    Some(doubt) => (None, format!("{number}, but {}", reason(doubt, &plain(&threshold.strategy)))),
                    None => (Some(threshold.has_passed(found)), number),
                }
            }
            Err(error) => (Some(false), plain(&error)),
        };
        ThresholdView { text: plain(text), passed, found }
    };
    record.settings.thresholds.iter().map(view).collect()
}

fn reason(doubt: Doubt, strategy: &str) -> String {
    match doubt {
        Doubt::Overloaded(share) => format!("{strategy} kept up with only {} of the calls due", percent(share)),
        Doubt::Steal(cells) => {
            format!("the hypervisor took more than 5 % of the processors from {} of the cells", percent(cells))
        }
        Doubt::Repeat(ratio) => {
            format!("two measurements of the baseline differ by {}", percent(ratio.max(ratio.recip()) - 1.0))
        }
    }
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
        assert_eq!(crate::report::tests::report(&run).has_passed_thresholds(), Some(true));
        run.settings.thresholds =
            ["linked.read_post.p50<9ms", "linked.add_comment.failed<1", "linked.count.p99<1s", "x"]
                .map(str::to_owned)
                .to_vec();
        let report = crate::report::tests::report(&run);
        assert_eq!(report.has_passed_thresholds(), Some(false));
        let details = report.run.unwrap();
        let found: Vec<String> =
            details.thresholds.iter().map(|one| format!("{} {}: {}", one.text, one.word(), one.found)).collect();
        insta::assert_snapshot!(found.join("\n"));
        assert!(details.facts.command.contains("--threshold 'linked.read_post.p50<9ms'"), "{}", details.facts.command);
    }

    #[test]
    fn overload_and_a_busy_machine_decide_no_time() {
        let of = |run: &crate::results::RunRecord| {
            let report = crate::report::tests::report(run);
            let all: Vec<String> = report
                .run
                .iter()
                .flat_map(|run| &run.thresholds)
                .map(|one| format!("{} {}", one.word(), one.found))
                .collect();
            (report.has_passed_thresholds(), all.join("; "))
        };
        let mut run = sample::run(8);
        run.settings.thresholds =
            ["linked.read_post.p50<9ms", "linked.read_post.p50<1us", "linked.add_comment.failed<1"]
                .map(str::to_owned)
                .to_vec();
        run.rounds.iter_mut().flat_map(|round| &mut round.cells).for_each(|cell| cell.machine.steal = Some(0.2));
        let (passed, found) = of(&run);
        assert_eq!(passed, Some(false), "{found}");
        let texts: Vec<&str> = found.split("; ").collect();
        assert!(texts[0].starts_with("passed ") && texts[2].starts_with("failed "), "{found}");
        assert!(texts[1].starts_with("undecided ") && texts[1].ends_with("100 % of the cells"), "{found}");
        run.settings.thresholds.pop();
        assert_eq!(of(&run).0, None);
        let mut run = sample::whole(&sample::run(8));
        run.settings.thresholds = vec!["linked.read_post.p50<9s".to_owned()];
        assert_eq!(of(&run).0, Some(true));
        let cells =
            run.parts.get_mut(&crate::record::Part::Rate).unwrap().iter_mut().flat_map(|round| &mut round.cells);
        cells.filter_map(|cell| cell.open.as_mut()).for_each(|open| open.waiting = open.offered * 6 / 10);
        let (passed, found) = of(&run);
        assert!(passed.is_none() && found.ends_with("linked kept up with only 40 % of the calls due"), "{found}");
    }
}
