//! What a run's first screen says: the answer, how sure it is, why, and what speaks against it.

mod answer;
mod but;
mod flips;
pub(crate) mod phrase;
mod scale;
#[cfg(test)]
mod tests;
mod why;

use serde::Serialize;

use crate::results::RunRecord;

use super::parts::PartEvaluations;
use super::verdict_text::capitalised;
pub(crate) use answer::Judged;

/// How many of the places where the answer flips, and of its drawbacks, are on the first screen.
const IN_SHORT: usize = 3;

/// The decision that a run supports. Texts are single lines without control characters, but not escaped for any form; in all
/// but the scale and the answer, names are between backticks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Decision {
    /// Documents, bytes against the cache, load, server and cores.
    pub scale: String,
    /// The strategy to choose and how far it is ahead, or why there is none; at most 12 words where one wins.
    pub answer: String,
    /// The strategy to choose; `null` where none is shown to be better than all others.
    pub winner: Option<String>,
    /// The answer before the winner's name, the name, and after it; all in the first without a winner.
    #[serde(skip)]
    pub(crate) pieces: [String; 3],
    /// Rounds, intervals and the baseline measured twice; `null` without a comparison of the mix.
    pub sure: Option<String>,
    /// What makes the slower strategy slower; `null` where no strategy is shown to be slower.
    pub why: Option<String>,
    /// Where another strategy is faster: other mixes, shares of an operation, slower networks; or that none was found. Empty
    /// where no strategy is shown to be slower.
    pub flips: Vec<String>,
    /// What the choice costs, the most important first.
    pub but: Vec<String>,
}

impl Decision {
    /// The decision of a run. `others` are runs of other mixes.
    pub(crate) fn new(record: &RunRecord, parts: &PartEvaluations, others: &[RunRecord]) -> Decision {
        let scale = scale::scale(record, parts);
        let none = |answer: String| Decision {
            scale: scale.clone(),
            pieces: [answer.clone(), String::new(), String::new()],
            answer,
            winner: None,
            sure: None,
            why: None,
            flips: Vec::new(),
            but: Vec::new(),
        };
        if let Some(reason) = &parts.main().no_verdict {
            return none(reason.clone());
        }
        let Some(judged) = Judged::of(parts) else {
            return none("No verdict about the mix: only own costs were measured.".into());
        };
        let pieces = judged.answer();
        Decision {
            scale: scale.clone(),
            answer: pieces.concat(),
            winner: judged.answer.winner().map(|place| judged.name(place).to_owned()),
            pieces,
            sure: Some(judged.sure()),
            why: why::why(&judged),
            flips: flips::flips(&judged, others),
            but: but::but(&judged),
        }
    }

    /// What the first screen may shorten, in full.
    pub(crate) fn lists(&self) -> [&[String]; 2] {
        [&self.flips, &self.but]
    }

    /// What the first screen says below the answer: names of lines, and a text of each. Names in texts are between backticks.
    pub(crate) fn lines(&self) -> Vec<(&'static str, String)> {
        let in_short = |all: &[String]| {
            let first: Vec<&str> = all.iter().take(IN_SHORT).map(String::as_str).collect();
            (!first.is_empty()).then(|| format!("{}.", capitalised(&first.join("; "))))
        };
        let lines = [
            ("Sure", self.sure.clone()),
            ("Why", self.why.clone()),
            ("Flips", in_short(&self.flips)),
            ("But", in_short(&self.but)),
        ];
        lines.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
    }
}
