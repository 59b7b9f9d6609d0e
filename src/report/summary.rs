//! Several runs on one page, as Markdown: what each found, what became of the claims, how all were measured.

use std::collections::BTreeMap;
use std::fmt;

use super::claims::ClaimView;
use super::escape::escape;
use super::format::counted;
use super::{ClaimVerdict, HTML_FILE, Report};

/// Reports with the folders that hold them, relative to the page.
#[derive(Debug)]
pub struct Summary<'r> {
    runs: Vec<(&'r str, &'r Report)>,
}

/// What is told of how the runs were measured: once where all agree, else in a table.
const MEASURED: [&str; 12] = [
    "docshape",
    "preset",
    "rounds",
    "measured",
    "load",
    "clients",
    "load threads",
    "verification",
    "write concern",
    "server",
    "cache",
    "client machine",
];

impl<'r> Summary<'r> {
    /// A summary of these, in this order.
    pub fn new(runs: Vec<(&'r str, &'r Report)>) -> Summary<'r> {
        Summary { runs }
    }

    /// Writes the page.
    ///
    /// # Errors
    /// When `out` refuses; a `String` never does.
    pub fn render(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(out, "# Published results\n")?;
        writeln!(out, "{}. Each row leads to its report; `report.html` beside it is the same with", self.counts())?;
        writeln!(out, "more pictures, and `run.json` holds the data.\n")?;
        self.verdicts(out)?;
        self.claims(out)?;
        self.measured(out)
    }

    fn claims_of(&self) -> impl Iterator<Item = (&'r str, &'r Report, &'r ClaimView)> {
        self.runs.iter().flat_map(|(folder, report)| report.claims.iter().map(|claim| (*folder, *report, claim)))
    }

    fn counts(&self) -> String {
        let verdicts = [ClaimVerdict::Confirmed, ClaimVerdict::Refuted, ClaimVerdict::Undecided];
        let counts = verdicts.map(|verdict| {
            let count = self.claims_of().filter(|(_, _, claim)| claim.verdict == verdict).count();
            format!("{count} {}", verdict.word())
        });
        let runs = counted(self.runs.len() as u64, "run");
        let claims = counted(self.claims_of().count() as u64, "claim");
        format!("{runs}; {claims}: {}", counts.join(", "))
    }

    fn verdicts(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(out, "## Verdicts\n\n| scenario | question | answer |\n|---|---|---|")?;
        self.runs.iter().try_for_each(|(folder, report)| {
            let answer = match (report.is_invalid(), &report.headline.incomplete) {
                (true, _) => "this run is invalid".to_owned(),
                (false, Some(status)) => escape(status),
                (false, None) => escape(&report.headline.sentences.join(" ")),
            };
            let (name, title) = (escape(&report.headline.scenario), escape(&report.headline.title));
            writeln!(out, "| [{name}](<{folder}/report.md>) ([page](<{folder}/{HTML_FILE}>)) | {title} | {answer} |")
        })
    }

    fn claims(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        if self.claims_of().next().is_none() {
            return Ok(());
        }
        writeln!(out, "\n## Claims\n\nSentences that people say, and what these runs say of them.\n")?;
        writeln!(out, "| scenario | claim | verdict | found |\n|---|---|---|---|")?;
        self.claims_of().try_for_each(|(folder, report, claim)| {
            let source = claim.source.as_ref().map_or(String::new(), |source| format!(" ({})", escape(source)));
            let (name, says, found) = (escape(&report.headline.scenario), escape(&claim.says), escape(&claim.found));
            let id = escape(&claim.id);
            let verdict = format!("{} **{}**", claim.verdict.mark(), claim.verdict.word());
            writeln!(out, "| [{name}](<{folder}/report.md>) {id} | {says}{source} | {verdict} | {found} |")
        })
    }

    fn measured(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let of = |report: &Report| -> BTreeMap<&str, String> {
            let wanted = MEASURED.into_iter();
            // Of settings that have one name, the first is docshape's own, and the second what the server says.
            let first =
                |name| report.settings.iter().find(|(key, _)| key == name).map(|(_, value)| (name, value.clone()));
            wanted.filter_map(first).collect()
        };
        let all: Vec<BTreeMap<&str, String>> = self.runs.iter().map(|(_, report)| of(report)).collect();
        let agree = |name: &&str| all.windows(2).all(|pair| pair[0].get(*name) == pair[1].get(*name));
        let (shared, others): (Vec<&str>, Vec<&str>) = MEASURED.iter().partition(|name| agree(name));
        writeln!(out, "\n## How they were measured\n")?;
        for name in shared {
            let value = all.first().and_then(|pairs| pairs.get(name));
            value.into_iter().try_for_each(|value| writeln!(out, "- {name}: {}", escape(value)))?;
        }
        if others.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n| scenario | {} |\n|---|{}", others.join(" | "), "---|".repeat(others.len()))?;
        self.runs.iter().zip(&all).try_for_each(|((_, report), pairs)| {
            let values: Vec<String> =
                others.iter().map(|name| pairs.get(name).map_or(String::new(), |v| escape(v))).collect();
            writeln!(out, "| {} | {} |", escape(&report.headline.scenario), values.join(" | "))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::results::Preset;
    use crate::stats::sample;

    use super::*;

    fn summary(reports: &[Report]) -> String {
        let runs = reports.iter().map(|report| (report.headline.scenario.as_str(), report)).collect();
        let mut text = String::new();
        Summary::new(runs).render(&mut text).unwrap();
        text
    }

    #[test]
    fn runs_claims_and_what_differs_between_runs_have_rows() {
        let mut runs = [sample::run(8), sample::run(8)];
        runs[1].scenario.name = "other".into();
        runs[1].settings.preset = Preset::Full;
        insta::assert_snapshot!(summary(&runs.map(|run| Report::new(&run))));
    }

    #[test]
    fn a_run_that_did_not_end_says_so_in_place_of_an_answer() {
        let mut run = sample::run(7);
        (run.status, run.settings.rounds) = (crate::results::Status::Interrupted, 8);
        let text = summary(&[Report::new(&run)]);
        assert!(text.contains("| This run was interrupted: 7 of 8 rounds complete"), "{text}");
    }
}
