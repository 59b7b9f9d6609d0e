//! What the first screen of a run says.

use serde::Serialize;

use super::format::capitalised;

/// How many of the places where the answer flips, and of its drawbacks, are on the first screen.
const IN_SHORT: usize = 3;

/// The decision that a run supports. Texts are single lines without control characters, but not escaped for any form; in all
/// but the scale and the answer, names are between backticks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
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
    /// Where another strategy is faster: other mixes, shares of an operation, slower networks; or that none was found. Of level
    /// strategies, where they differ.
    pub flips: Vec<String>,
    /// What the choice costs, the most important first.
    pub but: Vec<String>,
    /// What to do after the run, with the command.
    pub next: String,
}

impl Decision {
    /// What the first screen may shorten, in full.
    pub(crate) fn lists(&self) -> [&[String]; 2] {
        [&self.flips, &self.but]
    }

    /// What the first screen says below the answer: names of lines, and a text of each. Names in texts are between backticks. The
    /// next step is left to each form: a terminal has the command with the options of the user.
    pub(crate) fn lines(&self) -> Vec<(&'static str, String)> {
        let in_short = |all: &[String]| {
            let first: Vec<&str> = all.iter().take(IN_SHORT).map(String::as_str).collect();
            (!first.is_empty()).then(|| format!("{}.", capitalised(&first.join("; "))))
        };
        let lines = [
            ("How sure", self.sure.clone()),
            ("Why", self.why.clone()),
            ("Flips", in_short(&self.flips)),
            ("Trade-offs", in_short(&self.but)),
        ];
        lines.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
    }
}
