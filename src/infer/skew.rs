//! How unevenly references are distributed: the exponent of `zipf`, and how many children a record has.

/// Ranks whose shares are added up one by one; those of the rest by an integral.
const EXACT: u64 = 500;
/// The greatest exponent that is found.
const GREATEST: f64 = 3.0;

/// The exponent from how often each value occurs among references to `records`. It needs no scan, and no order of the records.
pub fn exponent(counts: &[u64], records: u64) -> f64 {
    let n: f64 = counts.iter().map(|count| *count as f64).sum();
    let same: f64 = counts.iter().map(|count| *count as f64 * (*count as f64 - 1.0)).sum();
    exponent_of_chance(same / (n * (n - 1.0)), records)
}

/// The exponent for which two draws give the same of `records` with this chance: it is H(2s) / H(s)^2, where H(s) is the sum of
/// rank^-s.
pub fn exponent_of_chance(same: f64, records: u64) -> f64 {
    let records = records.max(2);
    if !same.is_finite() || same <= 1.0 / records as f64 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, GREATEST);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if harmonic(2.0 * middle, records) / harmonic(middle, records).powi(2) < same {
            low = middle
        } else {
            high = middle
        }
    }
    (low * 100.0).round() / 100.0
}

/// How many of `children` each of `records` has by this exponent: at most 300 ranks, evenly spaced.
pub fn fan_out(exponent: f64, records: u64, children: u64) -> Vec<u64> {
    let whole = harmonic(exponent, records.max(1));
    let ranks = records.clamp(1, 300);
    let share = |place: u64| ((place as f64 + 0.5) * records as f64 / ranks as f64 + 0.5).powf(-exponent) / whole;
    (0..ranks).map(|place| (children as f64 * share(place)).round() as u64).collect()
}

/// The sum of i^-s for i from 1 to n: the first terms one by one, the rest as an integral.
fn harmonic(s: f64, n: u64) -> f64 {
    let first = n.min(EXACT);
    let sum: f64 = (1..=first).map(|i| (i as f64).powf(-s)).sum();
    if n == first {
        return sum;
    }
    let (from, to) = (first as f64 + 0.5, n as f64 + 0.5);
    sum + if (s - 1.0).abs() < 1e-6 { (to / from).ln() } else { (to.powf(1.0 - s) - from.powf(1.0 - s)) / (1.0 - s) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::generate::{Label, Seed, Stream, Zipf};

    #[test]
    fn the_exponent_of_drawn_references_is_found_again() {
        for expected in [0.0, 0.6, 1.0, 1.3] {
            let law = Zipf::new(500, expected).unwrap();
            let mut counts: HashMap<u64, u64> = HashMap::new();
            for draw in 0..20_000 {
                let mut stream = Stream::new(Seed::new(3), Label::new("test"), draw);
                *counts.entry(law.sample(&mut stream)).or_default() += 1;
            }
            let found = exponent(&counts.into_values().collect::<Vec<_>>(), 500);
            assert!((found - expected).abs() < 0.06, "{found} instead of {expected}");
        }
    }

    #[test]
    fn children_add_up() {
        let counts = fan_out(0.8, 200, 10_000);
        assert_eq!(counts.len(), 200);
        assert!((counts.iter().sum::<u64>() as f64 / 10_000.0 - 1.0).abs() < 0.05, "{counts:?}");
        assert_eq!(exponent(&[1, 1, 1], 1_000), 0.0);
        assert_eq!(exponent(&[], 0), 0.0);
    }
}
