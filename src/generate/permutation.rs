//! Orders of popularity: which record has which rank, without a table.

use super::{Label, Seed, Stream};

/// A random order of the numbers below a bound, the same for equal seeds and labels.
///
/// A Feistel network of four rounds over the next power of four, which is repeated for numbers at or above the bound
/// (cycle walking: Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002): under four repetitions on average.
#[derive(Debug, Clone)]
pub struct Permutation {
    bound: u64,
    half_bits: u32,
    keys: [Seed; 4],
}

impl Permutation {
    /// The order of the numbers below `bound`.
    pub fn new(bound: u64, seed: Seed, label: Label) -> Permutation {
        let bits = u64::BITS - bound.saturating_sub(1).leading_zeros();
        let keys = [0, 1, 2, 3].map(|round| seed.derive(label, round));
        Permutation { bound, half_bits: bits.div_ceil(2).max(1), keys }
    }

    /// Returns the number at this position; a position at or above the bound stays itself.
    pub fn place(&self, position: u64) -> u64 {
        if position >= self.bound {
            return position;
        }
        let mut number = self.shuffled(position);
        while number >= self.bound {
            number = self.shuffled(number);
        }
        number
    }

    fn shuffled(&self, number: u64) -> u64 {
        /// Sets the rounds apart from other draws of their seeds.
        const ROUND: Label = Label::new("permutation");
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (number >> self.half_bits, number & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (Stream::new(key, ROUND, right).bits() & mask));
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn order(bound: u64, seed: u64, label: &str) -> Vec<u64> {
        let permutation = Permutation::new(bound, Seed::new(seed), Label::new(label));
        (0..bound).map(|position| permutation.place(position)).collect()
    }

    #[test]
    fn every_number_has_one_position() {
        for bound in [0, 1, 2, 3, 4, 5, 17, 64, 65, 1_000] {
            let places: HashSet<u64> = order(bound, 7, "reads").into_iter().collect();
            assert_eq!(places, (0..bound).collect(), "{bound}");
        }
    }

    #[test]
    fn orders_depend_on_seed_and_name() {
        assert_eq!(order(100, 7, "reads"), order(100, 7, "reads"));
        assert_ne!(order(100, 7, "reads"), order(100, 7, "writes"));
        assert_ne!(order(100, 7, "reads"), order(100, 8, "reads"));
        let moved = order(1_000, 7, "reads").iter().enumerate().filter(|(at, place)| *at as u64 != **place).count();
        assert!(moved > 980, "{moved}");
    }

    #[test]
    fn neighbours_do_not_stay_neighbours() {
        let order = order(10_000, 7, "reads");
        let near = order.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) < 100).count();
        // About 2 % of random pairs are that near.
        assert!((100..320).contains(&near), "{near}");
    }
}
