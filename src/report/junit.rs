//! Thresholds and validity as JUnit XML, for build servers.

use std::fmt;

use super::{Renderer, Report};

/// Writes JUnit XML: a test case for validity, and one per threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Junit;

impl Renderer for Junit {
    fn render(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        let doubts: Vec<&str> =
            report.headline.incomplete.iter().chain(&report.headline.invalid).map(String::as_str).collect();
        let validity = ("the run is valid and complete".to_owned(), doubts.join(" "));
        let thresholds = report.thresholds.iter().map(|threshold| {
            let failure = if threshold.has_passed { String::new() } else { format!("found: {}", threshold.found) };
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
            match failure.is_empty() {
                true => writeln!(out, "/>")?,
                false => {
                    let failure = escape(failure);
                    writeln!(out, ">\n      <failure message=\"{failure}\">{failure}</failure>\n    </testcase>")?;
                }
            }
        }
        writeln!(out, "  </testsuite>\n</testsuites>")
    }
}

/// Text for an attribute or an element. Characters that XML does not have are replaced.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            character if character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}');
            }
            character => escaped.push(character),
        }
    }
    escaped
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
        Junit.render(&Report::new(&run), &mut text).unwrap();
        let wanted = r#"<?xml version="1.0" encoding="UTF-8"?>
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
        assert_eq!(text, wanted);
    }

    #[test]
    fn a_run_that_failed_is_a_failure_and_its_words_are_escaped() {
        let mut run = sample::run(2);
        run.status = Status::Failed("\"a\" <b> & 'c'\u{7}".into());
        let mut text = String::new();
        Junit.render(&Report::new(&run), &mut text).unwrap();
        assert!(
            text.contains("failures=\"1\"") && text.contains("&quot;a&quot; &lt;b&gt; &amp; &apos;c&apos;"),
            "{text}"
        );
        assert_eq!(escape("a\u{ffff}\u{0}b\n"), "a\u{fffd}\u{fffd}b ");
    }
}
