//! Where the order of strategies flips from one mix to another.

use std::collections::BTreeSet;

use crate::report::run::decision::phrase;

use super::MatrixStrategy;
use super::cell::Look;
use super::row::{MixRow, Setup};

/// A mix with one best strategy.
struct Won<'r> {
    row: &'r MixRow,
    best: usize,
}

impl Won<'_> {
    fn of(row: &MixRow) -> Option<Won<'_>> {
        let best = row.first().iter().position(|cell| cell.look == Look::Best)?;
        Some(Won { row, best })
    }

    /// Whether a difference to the best is reported, or estimated.
    fn loses(&self, strategy: usize) -> bool {
        self.row.first().get(strategy).is_some_and(|cell| cell.look == Look::Times)
    }

    /// Whether the best strategies of the two mixes lose to each other.
    fn is_flipped(&self, other: &Won) -> bool {
        self.best != other.best && self.loses(other.best) && other.loses(self.best)
    }
}

/// A sentence per server and machine on which the order flips.
pub(crate) fn sentences(rows: &[MixRow], strategies: &[MatrixStrategy]) -> Vec<String> {
    let setups: BTreeSet<&Setup> = rows.iter().filter_map(|row| row.setup.as_ref()).collect();
    let sentence = |setup: &&Setup| {
        let of_setup = rows.iter().filter(|row| row.setup.as_ref() == Some(*setup));
        let won: Vec<Won> = of_setup.filter_map(Won::of).collect();
        let flipped: Vec<&Won> = won.iter().filter(|one| won.iter().any(|other| one.is_flipped(other))).collect();
        let place = if setups.len() > 1 { format!(" ({setup})") } else { String::new() };
        let winners: Vec<String> =
            (0..strategies.len()).filter_map(|strategy| wins(&flipped, strategy, strategies)).collect();
        (!winners.is_empty()).then(|| format!("The order flips{place}: {}.", winners.join("; ")))
    };
    setups.iter().filter_map(sentence).collect()
}

/// In which mixes a strategy is faster than those that are best in others.
fn wins(flipped: &[&Won], strategy: usize, strategies: &[MatrixStrategy]) -> Option<String> {
    let (mut mixes, mut losers): (Vec<String>, BTreeSet<usize>) = Default::default();
    for won in flipped.iter().filter(|won| won.best == strategy) {
        losers.extend(flipped.iter().filter(|other| won.is_flipped(other)).map(|other| other.best));
        let mix = won.row.name_with_kind();
        if !mixes.contains(&mix) {
            mixes.push(mix);
        }
    }
    let losers: Vec<String> = losers.into_iter().map(|loser| strategies[loser].name.clone()).collect();
    (!mixes.is_empty()).then(|| phrase::wins(&strategies[strategy].name, &losers, &mixes))
}
