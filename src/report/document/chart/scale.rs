//! Axes: positions of values, and tick values.

/// An axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    is_log: bool,
}

/// Mantissas of ticks on a logarithmic axis, from coarse to fine.
const MANTISSAS: [&[f64]; 5] = [
    &[1.0],
    &[1.0, 3.0],
    &[1.0, 2.0, 5.0],
    &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
    &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
];

impl Scale {
    /// A linear axis from 0, or the lowest value if it is negative, to at least the highest value.
    pub fn linear(values: impl Iterator<Item = f64>, from: f64, to: f64, ticks: usize) -> Scale {
        let (low, high) = extent(values.chain([0.0]));
        let high = if high > low { high } else { low + 1.0 };
        let step = step(high - low, ticks);
        Scale::between((low / step).floor() * step, (high / step).ceil() * step, from, to)
    }

    /// A linear axis between two values.
    pub fn between(low: f64, high: f64, from: f64, to: f64) -> Scale {
        let high = if high > low { high } else { low + 1.0 };
        Scale { low, high, from, to, is_log: false }
    }

    /// An axis between two values, which are positive if it is logarithmic. A single value is in its middle.
    pub fn exactly((low, high): (f64, f64), from: f64, to: f64, is_log: bool) -> Scale {
        let (low, high) = if high > low {
            (low, high)
        } else if is_log {
            (low / 2.0, low * 2.0)
        } else {
            (low - 1.0, low + 1.0)
        };
        Scale { low, high, from, to, is_log }
    }

    /// The powers of ten on a logarithmic axis.
    pub fn powers_of_ten(&self) -> Vec<f64> {
        self.decades(MANTISSAS[0])
    }

    /// A logarithmic axis that contains all positive values, with some space at both ends.
    pub fn log(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Scale {
        let (low, high) = extent(values.filter(|value| *value > 0.0));
        let (low, high) = if low <= high { (low, high) } else { (1.0, 10.0) };
        let room = ((high / low).ln() * 0.05).max(0.05).exp();
        Scale { low: low / room, high: high * room, from, to, is_log: true }
    }

    /// The position of a value, clamped to the ends of the axis.
    pub fn at(&self, value: f64) -> f64 {
        let share = if self.is_log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        self.from + (self.to - self.from) * share
    }

    /// At most `most` tick values, ascending.
    pub fn ticks(&self, most: usize) -> Vec<f64> {
        if !self.is_log {
            return self.even(most);
        }
        let fitting = MANTISSAS.iter().map(|mantissas| self.decades(mantissas)).take_while(|ticks| ticks.len() <= most);
        match fitting.last() {
            Some(ticks) if ticks.len() >= 3 => ticks,
            // Over less than a factor of two even steps read better; over many decades some are left out.
            _ if self.high / self.low < 10.0 => self.even(most),
            _ => {
                let ticks = self.decades(MANTISSAS[0]);
                let every = ticks.len().div_ceil(most.max(1)).max(1);
                ticks.into_iter().step_by(every).collect()
            }
        }
    }

    fn decades(&self, mantissas: &[f64]) -> Vec<f64> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let all =
            (first..=last).flat_map(|decade| mantissas.iter().map(move |mantissa| mantissa * 10_f64.powi(decade)));
        all.filter(|tick| *tick >= self.low && *tick <= self.high).collect()
    }

    fn even(&self, most: usize) -> Vec<f64> {
        let step = step(self.high - self.low, most);
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last).map(|place| place as f64 * step).collect()
    }
}

/// The smallest and the largest finite value.
pub(super) fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    values.filter(|value| value.is_finite()).fold(start, |(low, high), value| (low.min(value), high.max(value)))
}

/// A round step that divides a span into at most `parts` parts.
fn step(span: f64, parts: usize) -> f64 {
    let least = span / parts.max(1) as f64;
    if !(least.is_finite() && least > 0.0) {
        return 1.0;
    }
    let decade = 10_f64.powf(least.log10().floor());
    let fits = [1.0, 2.0, 2.5, 5.0].into_iter().find(|mantissa| mantissa * decade >= least * (1.0 - 1e-9));
    fits.unwrap_or(10.0) * decade
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn linear_axes_begin_at_zero_and_end_on_a_round_value() {
        let axis = Scale::linear([3.0, 47.0].into_iter(), 100.0, 0.0, 5);
        assert_eq!(axis.ticks(5), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
        assert_eq!((axis.at(0.0), axis.at(25.0), axis.at(50.0), axis.at(99.0)), (100.0, 50.0, 0.0, 0.0));
    }

    #[test]
    fn logarithmic_axes_name_round_values() {
        assert_eq!(Scale::log([0.4, 2.1].into_iter(), 0.0, 1.0).ticks(4), [0.5, 1.0, 2.0]);
        assert_eq!(Scale::log([1e3, 4e6].into_iter(), 0.0, 1.0).ticks(4), [1e3, 1e4, 1e5, 1e6]);
        let narrow = Scale::log([0.97, 1.04].into_iter(), 0.0, 1.0).ticks(6);
        assert!(narrow.len() >= 3 && narrow.contains(&1.0), "{narrow:?}");
    }

    proptest! {
        #[test]
        fn ticks_lie_on_the_axis_and_are_few(low in 1e-6_f64..1e12, factor in 1.0_f64..1e15, most in 2_usize..9) {
            for axis in [
                Scale::log([low, low * factor].into_iter(), 0.0, 100.0),
                Scale::linear([low, low * factor].into_iter(), 0.0, 100.0, most),
            ] {
                let ticks = axis.ticks(most);
                prop_assert!(ticks.len() <= most + 1, "{ticks:?}");
                prop_assert!(ticks.iter().all(|tick| (0.0..=100.0).contains(&axis.at(*tick))));
                prop_assert!(ticks.is_sorted());
            }
        }
    }
}
