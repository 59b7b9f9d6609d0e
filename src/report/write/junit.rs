//! Thresholds and validity as JUnit XML, for build servers.
//!
//! JUnit knows test cases that passed or failed, not tables, so this writer reads the thresholds and the headline of a report
//! and none of its sections.

use std::fmt;

use crate::report::document::chart::svg::escape;
use crate::report::{Renderer, Report};

/// Writes JUnit XML: a test case for validity, and one per threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Junit;

impl Renderer for Junit {
    fn render(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        let problems: Vec<&str> =
            report.headline.incomplete.iter().chain(&report.headline.invalid).map(String::as_str).collect();
        let validity = ("the run is valid and complete".to_owned(), problems.join(" "));
        let thresholds = report.run.iter().flat_map(|run| &run.thresholds).map(|threshold| {
            let failure = match threshold.passed {
                Some(true) => String::new(),
                Some(false) => format!("found: {}", threshold.found),
                None => format!("undecided: {}", threshold.found),
            };
            (threshold.text.clone(), failure)
        });
        let cases: Vec<(String, String)> = std::iter::once(validity).chain(thresholds).collect();
        let failures = cases.iter().filter(|(_, failure)| !failure.is_empty()).count();
        let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\"", cases.len());
        let suite = escape(&report.headline.scenario);
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(out, "<testsuites name=\"docshape\" {counts}>")?;
        writeln!(out, "  <testsuite name=\"{suite}\" {counts} skipped=\"0\">")?;
        for (name, failure) in &cases {
            write!(out, "    <testcase classname=\"docshape.{suite}\" name=\"{}\"", escape(name))?;
            if failure.is_empty() {
                writeln!(out, "/>")?
            } else {
                let failure = escape(failure);
                writeln!(out, ">\n      <failure message=\"{failure}\">{failure}</failure>\n    </testcase>")?;
            }
        }
        writeln!(out, "  </testsuite>\n</testsuites>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Status;
    use crate::stats::sample;

    #[test]
    fn thresholds_and_validity_are_test_cases() {
        let mut run = sample::run(8);
        run.settings.thresholds =
            ["linked.read_post.p50<9ms", "linked.add_comment.failed<1"].map(str::to_owned).to_vec();
        let mut text = String::new();
        Junit.render(&crate::report::tests::report(&run), &mut text).unwrap();
        let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="docshape" tests="3" failures="1" errors="0">
  <testsuite name="blog-comments" tests="3" failures="1" errors="0" skipped="0">
    <testcase classname="docshape.blog-comments" name="the run is valid and complete"/>
    <testcase classname="docshape.blog-comments" name="linked.read_post.p50&lt;9ms"/>
    <testcase classname="docshape.blog-comments" name="linked.add_comment.failed&lt;1">
      <failure message="found: 16 calls">found: 16 calls</failure>
    </testcase>
  </testsuite>
</testsuites>
"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn failed_runs_are_failures_and_texts_are_escaped() {
        let mut run = sample::run(2);
        run.status = Status::Failed("\"a\" <b> & 'c'\u{7}".into());
        let mut text = String::new();
        Junit.render(&crate::report::tests::report(&run), &mut text).unwrap();
        assert!(
            text.contains("failures=\"1\"") && text.contains("&quot;a&quot; &lt;b&gt; &amp; &#39;c&#39;"),
            "{text}"
        );
    }
}
