//! A verification in at most [`MOST_LINES`] lines of a terminal, the verdict last.

use crate::report::document::{Listing, Tone, counted, enumerated, plain, wrap};
use crate::report::write::brief::{ToneLine, block, wrapped};
use crate::results::verification::Verification;

use super::finding::findings_of_safe;
use super::{caught, conclusion, gaps, headline};

/// The most lines, without the command to run next.
const MOST_LINES: usize = 29;

/// The most lines of one finding.
const MOST_OF_FINDING: usize = 9;

/// What was compared, what is wrong with safe strategies, and the verdict. Negative controls that fail, as they should, are a line.
pub(crate) fn lines(verification: &Verification, width: usize) -> Vec<ToneLine> {
    let headline = headline(verification);
    let wrapped = |tone: Tone, text: &str| wrapped(tone, text, width);
    let mut before = vec![(Tone::Strong, format!("{}: {}", headline.scenario, headline.title))];
    before.extend(headline.subject.iter().flat_map(|text| wrapped(Tone::Faint, text)));
    let asides = caught(verification).into_iter().map(|text| (Tone::Plain, text));
    let asides = asides.chain(missed(verification).map(|text| (Tone::Bad, text)));
    let asides = asides.chain(gaps(verification).map(|text| (Tone::Bad, text)));
    let mut after = block(asides.flat_map(|(tone, text)| wrapped(tone, &text)).collect());
    after.push((Tone::Plain, String::new()));
    after.extend(conclusion(verification).iter().flat_map(|text| wrapped(headline.tone, text)));
    let findings: Vec<Vec<ToneLine>> = findings_of_safe(verification).iter().map(|one| problem(one, width)).collect();
    let warnings: Vec<Vec<ToneLine>> =
        verification.warnings.iter().map(|warning| wrapped(Tone::Faint, &plain(warning))).collect();
    // The number of warnings has its place below the findings.
    let kept = after.len() + if warnings.is_empty() { 0 } else { 2 };
    let room = MOST_LINES.saturating_sub(before.len() + kept);
    before.extend(fitting(findings, "finding", room, 1));
    if !warnings.is_empty() {
        before.push((Tone::Plain, String::new()));
        let room = MOST_LINES.saturating_sub(before.len() + after.len());
        before.extend(fitting(warnings, "warning", room, 0));
    }
    before.extend(after);
    before
}

/// A finding with its details.
fn problem(listing: &Listing, width: usize) -> Vec<ToneLine> {
    let mut lines = vec![(Tone::Plain, String::new())];
    lines.extend(wrap(&listing.lead, width).into_iter().map(|line| (Tone::Bad, line)));
    let details = listing.lines.iter().flat_map(|line| wrap(line, width.saturating_sub(4)));
    lines.extend(details.take(MOST_OF_FINDING).map(|line| (Tone::Plain, format!("    {line}"))));
    lines
}

/// The blocks for which there is room, at least the first `always`, and the number of what is left out.
fn fitting(all: Vec<Vec<ToneLine>>, what: &str, room: usize, always: usize) -> Vec<ToneLine> {
    let mut found: Vec<ToneLine> = Vec::new();
    let blocks = all.len();
    for (place, lines) in all.into_iter().enumerate() {
        // The last one needs no line about what is left out.
        let more = usize::from(place + 1 < blocks);
        if place >= always && found.len() + lines.len() + more > room {
            let what = if place == 0 { what.to_owned() } else { format!("more {what}") };
            let more = counted((blocks - place) as u64, &what);
            found.push((Tone::Faint, format!("{more}: --full shows all.")));
            break;
        }
        found.extend(lines);
    }
    found
}

/// The negative controls that were not caught.
fn missed(verification: &Verification) -> Option<String> {
    let missed = verification.strategies.iter().filter(|one| one.is_unsafe && one.is_clean() && one.phases.len() > 1);
    let names = enumerated(missed.map(|one| plain(&one.name)))?;
    Some(format!("Not caught: {names}. More calls (--calls) may show it, or the control is right."))
}
