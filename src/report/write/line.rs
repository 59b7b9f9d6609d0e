//! The verdict of a report in one line, for scripts and the summaries of build steps.

use std::fmt;

use crate::report::run::decision::Judged;
use crate::report::{Renderer, Report};

/// Writes one line: scenario, mix and verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerdictLine;

impl Renderer for VerdictLine {
    fn render(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        let headline = &report.headline;
        let subject = [headline.scenario.as_str(), headline.mix.as_str()];
        let subject: Vec<&str> = subject.into_iter().filter(|name| !name.is_empty()).collect();
        writeln!(out, "{}: {}", subject.join(" "), verdict(report).trim_end_matches('.'))
    }
}

fn verdict(report: &Report) -> String {
    let winner = report.headline.decision.as_ref().and_then(|decision| decision.winner.as_ref());
    let run = report.run.as_ref().filter(|_| winner.is_some() && !report.is_invalid());
    let judged = run.and_then(|run| Judged::of(&run.parts));
    judged.map_or_else(|| answer(report), |judged| judged.line())
}

/// The answer of the first screen, or why there is none.
pub(super) fn answer(report: &Report) -> String {
    let headline = &report.headline;
    match (headline.invalid.first(), &headline.decision) {
        (Some(reason), _) => format!("INVALID RUN: {reason}"),
        (None, Some(decision)) => decision.answer.clone(),
        (None, None) => headline.sentences.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::sample;

    fn line(record: &crate::results::RunRecord) -> String {
        let mut text = String::new();
        VerdictLine.render(&Report::new(record), &mut text).unwrap();
        text
    }

    #[test]
    fn verdicts_have_one_line() {
        let run = sample::whole(&sample::run(8));
        let text = line(&run);
        assert!(
            text.starts_with("blog-comments default: linked, 2.00x the calls/s of embedded (")
                && text.ends_with("), 8 of 8 rounds\n"),
            "{text}"
        );
        let few = line(&sample::whole(&sample::run(2)));
        assert_eq!(few, "blog-comments default: No verdict: 6 rounds are required, and this run has 2\n");
        let mut broken = run;
        broken.rounds = Vec::new();
        let cells = broken.parts.values_mut().flatten().flat_map(|round| &mut round.cells);
        cells.for_each(|cell| cell.connections_created = 3);
        let text = line(&broken);
        assert!(text.starts_with("blog-comments default: INVALID RUN: ") && text.lines().count() == 1, "{text}");
    }
}
