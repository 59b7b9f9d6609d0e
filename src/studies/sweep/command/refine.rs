//! `--refine`: more values of a condition where the order of two strategies changes.

use crate::results::RunRecord;
use crate::studies::sweep::crossover::Curve;
use crate::studies::sweep::record::{
    ConditionRecord, SweepRecord, condition_number, condition_unit, condition_unit_size,
};
use crate::studies::sweep::swept::Swept;

/// Neighbouring values of a condition, and how much another value between them would say.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Gap {
    low: f64,
    high: f64,
    /// Curves that change their order there.
    curves: f64,
}

impl Gap {
    /// The value halfway: on a logarithmic axis where that is possible.
    fn middle(self) -> f64 {
        if self.low > 0.0 { (self.low * self.high).sqrt() } else { f64::midpoint(self.low, self.high) }
    }

    /// What another value would say: the number of curves, times the width.
    fn weight(self) -> f64 {
        self.curves * if self.low > 0.0 { (self.high / self.low).ln() } else { 1.0 }
    }

    fn halves(self) -> [Gap; 2] {
        [Gap { high: self.middle(), ..self }, Gap { low: self.middle(), ..self }]
    }
}

/// At most `count` values to add to the only condition of a sweep, in ascending order: halfway between values at which the
/// order of two strategies differs, first where most pairs change it over the widest distance. Pairs whose order flips go
/// before those that only become undecided.
pub fn refined(record: &SweepRecord, runs: &[RunRecord], count: u64) -> Vec<String> {
    let pairs = Swept::of(record, runs).pairs();
    let curves: Vec<&Curve> = pairs.iter().map(|pair| &pair.curve).collect();
    let mut gaps = gaps(curves.iter().filter(|curve| !curve.flips.is_empty()));
    if gaps.is_empty() {
        gaps = self::gaps(curves.iter());
    }
    let Some(condition) = record.vary.first() else { return Vec::new() };
    let mut added: Vec<(f64, String)> = Vec::new();
    while added.len() < usize::try_from(count).unwrap_or(usize::MAX) {
        let Some(place) = (0..gaps.len()).max_by(|one, other| gaps[*one].weight().total_cmp(&gaps[*other].weight()))
        else {
            break;
        };
        let gap = gaps.swap_remove(place);
        let text = written(gap.middle(), condition);
        let is_new = condition_number(&text).is_some_and(|number| gap.low < number && number < gap.high);
        // Between whole numbers there is not always another one.
        if is_new {
            added.push((gap.middle(), text));
            gaps.extend(gap.halves());
        }
    }
    added.sort_by(|one, other| one.0.total_cmp(&other.0));
    added.into_iter().map(|(_, text)| text).collect()
}

/// The gaps of some curves, each once, with the number of curves that have it.
fn gaps<'c>(curves: impl Iterator<Item = &'c &'c Curve>) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = Vec::new();
    for (low, high) in curves.flat_map(|curve| curve.gaps()) {
        match gaps.iter_mut().find(|gap| (gap.low, gap.high) == (low, high)) {
            Some(gap) => gap.curves += 1.0,
            None => gaps.push(Gap { low, high, curves: 1.0 }),
        }
    }
    gaps
}

/// A number as a value of a condition: with its unit, and whole if all of its values are.
fn written(number: f64, condition: &ConditionRecord) -> String {
    let unit = condition.values.iter().map(|value| condition_unit(value)).find(|unit| !unit.is_empty()).unwrap_or("");
    let number = number / condition_unit_size(unit).unwrap_or(1.0);
    let is_whole = |value: &String| value.parse::<u64>().is_ok();
    if condition.values.iter().all(is_whole) {
        return format!("{}{unit}", number.round());
    }
    // Three significant digits.
    let digits = (2.0 - number.abs().log10().floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{number:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(values: &[&str]) -> ConditionRecord {
        ConditionRecord { name: "n".into(), values: values.iter().map(|&value| value.to_owned()).collect() }
    }

    #[test]
    fn values_are_written_in_the_unit_of_their_condition() {
        for (number, values, expected) in [
            (173.2, &["100", "300"][..], "173"),
            (0.000_3, &["0", "0.2ms", "0.4ms"], "0.3ms"),
            (0.021_213, &["1%", "4%"], "2.12%"),
            (1.414, &["0.5", "1", "2"], "1.41"),
            (1500.4, &["0.5", "5000"], "1500"),
        ] {
            assert_eq!(written(number, &condition(values)), expected, "{values:?}");
        }
    }

    #[test]
    fn a_gap_is_split_in_its_middle() {
        let gap = Gap { low: 100.0, high: 10_000.0, curves: 2.0 };
        assert!((gap.middle() - 1000.0).abs() < 1e-9);
        assert!((gap.halves()[0].weight() - gap.weight() / 2.0).abs() < 1e-9);
        assert_eq!(Gap { low: 0.0, ..gap }.middle(), 5000.0);
    }
}
