//! The arguments of `docshape explore`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::run::StudyArguments;
use crate::cli::value::{duration, name, seed};
use crate::compile::DEFAULT_SEED;
use crate::results::{Preset, RunSettings};
use crate::scenario::quantity::whole;

/// `explore`.
#[derive(Debug, Clone, Args)]
pub struct ExploreArguments {
    /// The model, and where it is measured.
    #[command(flatten)]
    pub study: StudyArguments,
    /// Compare at most N of the shapes by a run in the end
    ///
    /// Besides them the best one that shares no documents, and the best strategy of the scenario.
    #[arg(long, value_name = "N", default_value = "4", value_parser = whole::<1, 12>, allow_hyphen_values = true)]
    pub keep: u64,
    /// Rank the shapes by this mix, too; may be repeated [default: by --mix alone]
    #[arg(long, value_name = "MIX", value_parser = name)]
    pub also: Vec<String>,
    /// Try only these words, such as 'order.lines: embed'; may be repeated [default: all]
    #[arg(long, value_name = "RELATION:WORDS", value_parser = only)]
    pub only: Vec<(String, Vec<String>)>,
    /// Never try this word, such as list; may be repeated [default: none]
    #[arg(long, value_name = "WORD", value_parser = name)]
    pub never: Vec<String>,
    /// Try no more shapes after this time; the run in the end comes on top
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = duration, allow_hyphen_values = true)]
    pub budget: Duration,
    /// Rank the shapes, and leave out the run in the end
    #[arg(long)]
    pub no_finals: bool,
    /// Print why each shape was refused or left out
    #[arg(long)]
    pub why: bool,
    /// Print all shapes that were measured, not only the first ones
    #[arg(long)]
    pub all: bool,
    /// How long the run in the end measures
    #[arg(long, value_enum, value_name = "NAME", default_value = "quick")]
    pub preset: Preset,
    /// Go on with, or print again, what is in DIR [default: explore anew]
    #[arg(long, value_name = "DIR", conflicts_with_all = ["scenario", "SubjectArguments", "also", "keep", "only", "never", "budget", "no_finals", "preset",
                                                          "seed", "out"])]
    pub resume: Option<PathBuf>,
    /// Write the shapes at these places, such as 1,3, into the scenario's file [default: none]
    ///
    /// They become strategies. Requires --resume.
    #[arg(long, value_name = "PLACES", value_delimiter = ',', requires = "resume", value_parser = whole::<1, 1_000>)]
    pub write: Vec<u64>,
    /// Seed of the generated data and of the sequence of calls
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED, value_parser = seed, allow_hyphen_values = true)]
    pub seed: u64,
    /// Folder, which must be new or empty [default: results/SCENARIO/explore/TIME-ID]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

impl ExploreArguments {
    /// How the shapes are compared in the end.
    pub fn settings(&self) -> RunSettings {
        RunSettings {
            seed: self.seed,
            set: self.study.subject.set.clone(),
            shares: self.study.subject.share.clone(),
            cache_gb: Some(self.study.server.embedded.cache_gb()),
            ..RunSettings::of(self.preset)
        }
    }
}

/// Reads a relation with its words: `order.lines: embed, counted`.
fn only(text: &str) -> Result<(String, Vec<String>), String> {
    let (relation, words) = text.split_once(':').ok_or("expected RELATION:WORDS, for example 'order.lines: embed'")?;
    let (mut made, mut depth) = (vec![String::new()], 0_u32);
    for symbol in words.chars() {
        match symbol {
            ',' if depth == 0 => made.push(String::new()),
            symbol => {
                depth = if symbol == '(' {
                    depth + 1
                } else if symbol == ')' {
                    depth.saturating_sub(1)
                } else {
                    depth
                };
                made.last_mut().into_iter().for_each(|word| word.push(symbol));
            }
        }
    }
    let made: Vec<String> = made.iter().map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect();
    let kind = |word: &String| word.split('(').next().unwrap_or_default().to_owned();
    let kinds: Vec<String> = made.iter().map(kind).collect();
    if let Some(twice) = kinds.iter().enumerate().find(|(place, kind)| kinds[..*place].contains(kind)) {
        let word = twice.1;
        Err(format!("words after a colon are combined, and `{word}` is there twice; repeat --only for another choice"))
    } else if made.is_empty() {
        Err("expected words after the colon, for example 'order.lines: embed'".to_owned())
    } else {
        Ok((relation.trim().to_owned(), made))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_relation_are_divided_by_commas_outside_of_parentheses() {
        let words =
            |words: &[&str]| Ok(("a.b".to_owned(), words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()));
        assert_eq!(only("a.b: embed"), words(&["embed"]));
        assert_eq!(only("a.b:reference(x, y), counted"), words(&["reference(x, y)", "counted"]));
        assert!(only("a.b").is_err() && only("a.b: ").is_err());
        assert!(only("a.b: reference, reference(x)").is_err_and(|why| why.contains("`reference` is there twice")));
    }
}
