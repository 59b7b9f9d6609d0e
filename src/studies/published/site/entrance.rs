//! The first page: numbers to cite, and every question with its answer.

use askama::Template;

use crate::report::write::html::Assets;

use super::cite::{Citation, Edition};
use super::numbers::{Number, note};
use crate::cli::onward::{INDEX_FILE, MATRIX_FILE, RULES_FILE};

/// A question and its answer.
#[derive(Debug, Clone)]
pub struct Question {
    /// The address of the page of its scenario.
    pub page: String,
    /// The question.
    pub title: String,
    /// The answer in a sentence.
    pub answer: String,
}

/// Questions about one decision.
#[derive(Debug, Clone)]
pub struct QuestionGroup {
    /// The decision.
    pub title: String,
    /// Its questions.
    pub questions: Vec<Question>,
}

/// What the template shows.
#[derive(Template)]
#[template(path = "entrance.html")]
struct EntrancePage<'e> {
    assets: Assets,
    numbers: Vec<(&'e Number, Citation)>,
    groups: &'e [QuestionGroup],
    /// What was measured, in a line.
    subject: &'e str,
    /// The machines of the runs.
    machine: &'e str,
    /// What holds for all numbers.
    note: String,
    edition: &'e Edition,
    whole: Citation,
}

/// Writes the page. The texts say what was measured, on which machines, and how far another session may be.
pub fn page(
    numbers: &[Number],
    groups: &[QuestionGroup],
    [subject, machine, further]: [&str; 3],
    edition: &Edition,
) -> String {
    let cited = |number: &'_ Number| {
        let place = format!("{INDEX_FILE}#{}", number.id);
        let found = [number.figure.as_str(), &number.range].into_iter().filter(|text| !text.is_empty());
        let mut found = found.collect::<Vec<_>>().join(", ").replace("95 % CI", "95 % CI of one session");
        if found.contains("95 % CI") && !further.is_empty() {
            found = format!("{found}; {further}");
        }
        let conditions = format!("{}: {found}; {}", number.scenario, number.conditions);
        edition.cite(&number.id, (&number.says, &conditions), &place, &number.measured)
    };
    let style = [include_str!("../../../report/write/html/report.css"), include_str!("entrance.css")].concat();
    let page = EntrancePage {
        assets: Assets::new(style, include_str!("../../../report/write/html/report.js").to_owned()),
        numbers: numbers.iter().map(|number| (number, cited(number))).collect(),
        groups,
        subject,
        machine,
        note: note(further),
        edition,
        whole: edition.cite(
            "results",
            ("Which MongoDB schema? Published results of docshape.", ""),
            INDEX_FILE,
            &edition.newest,
        ),
    };
    format!("{page}\n")
}

#[cfg(test)]
mod tests {
    use crate::studies::published::site::cite::MeasuredOn;

    use super::*;

    #[test]
    fn a_cited_interval_says_what_another_session_may_give() {
        let measured = MeasuredOn::new("2026-11-27T10:00:00Z", "0.2.0");
        let edition = Edition { url: String::new(), data: "0a1b".into(), newest: measured.clone() };
        let text = |range: &str| {
            let number = Number {
                id: "one".into(),
                figure: "× 2.00".into(),
                range: range.into(),
                says: "It takes twice as long.".into(),
                conditions: "mix default".into(),
                scenario: "trees".into(),
                claim: "C1".into(),
                page: RULES_FILE.into(),
                data: None,
                command: "docshape run trees".into(),
                measured: measured.clone(),
            };
            page(&[number], &[], ["", "", "another session may differ by a further 10 % in own time"], &edition)
        };
        let of_session =
            "× 2.00, 95 % CI of one session 1.80-2.20; another session may differ by a further 10 % in own time;";
        assert!(text("95 % CI 1.80-2.20").contains(of_session));
        assert!(!text("against 4").contains("against 4; another session"));
    }
}
