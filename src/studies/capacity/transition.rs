//! The logistic model of trials: a rate keeps the objective with probability 1/(1 + exp((ln rate - location)/width)).
//!
//! Every search has a location of its own, the ln of the rate that is kept every other time, because the machine and the
//! data differ between rounds. All searches share the width. Both are the maximum of the likelihood with weak priors, as
//! the likelihood has none where one rate divides the results of a search.

use super::record::TrialRecord;

/// The prior of the width is ln-normal with this median and a standard deviation of ln of 1.
const WIDTH: f64 = 0.03;

/// The widths that are compared: this many, each 20 % above the last.
const WIDTHS: i32 = 24;

/// The smallest width that is compared.
const SMALLEST_WIDTH: f64 = 0.005;

/// Halvings of the range in which a location is sought.
const HALVINGS: u32 = 24;

/// Returns the location of every search. A search's prior is normal around the median of its own ln(rates) with a standard
/// deviation of 1, so that no search is pulled towards the others.
pub(crate) fn locations(searches: &[&[TrialRecord]]) -> Vec<f64> {
    let searches: Vec<Results> = searches.iter().map(|trials| Results::of(trials)).collect();
    let fit = |width: f64| {
        let locations: Vec<f64> = searches.iter().map(|search| search.location(width)).collect();
        let pairs = searches.iter().zip(&locations);
        let likelihood: f64 = pairs.map(|(search, location)| search.log_likelihood(*location, width)).sum();
        (likelihood - (width / WIDTH).ln().powi(2) / 2.0, locations)
    };
    let fits = (0..WIDTHS).map(|step| fit(SMALLEST_WIDTH * 1.2_f64.powi(step)));
    fits.max_by(|one, other| one.0.total_cmp(&other.0)).map_or_else(Vec::new, |(_, locations)| locations)
}

/// The trials of one search.
struct Results {
    /// ln(rate), and whether the objective was kept.
    trials: Vec<(f64, bool)>,
    /// The median of ln(rate).
    median: f64,
}

impl Results {
    fn of(trials: &[TrialRecord]) -> Results {
        let trials: Vec<(f64, bool)> = trials.iter().map(|trial| (trial.rate.ln(), trial.passed)).collect();
        let mut rates: Vec<f64> = trials.iter().map(|(rate, _)| *rate).collect();
        rates.sort_by(f64::total_cmp);
        Results { median: rates.get(rates.len() / 2).copied().unwrap_or_default(), trials }
    }

    /// The most likely location: where the slope of the concave log likelihood is 0.
    fn location(&self, width: f64) -> f64 {
        let (mut low, mut high) = (self.median - 2.0, self.median + 2.0);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            let pull: f64 = self.trials.iter().map(|(rate, kept)| surprise((rate - middle) / width, *kept)).sum();
            if pull / width > middle - self.median {
                low = middle;
            } else {
                high = middle;
            }
        }
        f64::midpoint(low, high)
    }

    fn log_likelihood(&self, location: f64, width: f64) -> f64 {
        let each = self.trials.iter().map(|(rate, kept)| {
            let distance = (rate - location) / width * if *kept { 1.0 } else { -1.0 };
            // ln(1 + exp(x)) without overflow.
            -(distance.max(0.0) + (-distance.abs()).exp().ln_1p())
        });
        each.sum::<f64>() - (location - self.median).powi(2) / 2.0
    }
}

/// The result (1 for kept) less its probability.
fn surprise(distance: f64, kept: bool) -> f64 {
    let probability = 1.0 / (1.0 + distance.exp());
    if kept { 1.0 - probability } else { -probability }
}

#[cfg(test)]
mod tests {
    use super::super::simulation::trial;
    use super::*;

    #[test]
    fn a_single_border_is_in_the_middle() {
        let trials = [(100.0, true), (200.0, true), (400.0, false), (283.0, false), (238.0, true)];
        let trials: Vec<TrialRecord> = trials.map(|(rate, kept)| trial(rate, kept)).into();
        let [found] = locations(&[&trials])[..] else { panic!("one") };
        assert!((found.exp() / (238.0_f64 * 283.0).sqrt() - 1.0).abs() < 0.01, "{}", found.exp());
    }

    #[test]
    fn contradictory_results_weigh_against_each_other() {
        // Symmetric around ln(100), in each of two searches.
        let around = |factor: f64| {
            let results = [(0.9, true), (0.95, false), (1.0 / 0.95, true), (1.0 / 0.9, false)];
            results.map(|(at, kept)| trial(100.0 * factor * at, kept)).to_vec()
        };
        let (one, other) = (around(1.0), around(3.0));
        let found = locations(&[&one, &other]);
        assert!((found[0] - 100.0_f64.ln()).abs() < 2e-3 && (found[1] - 300.0_f64.ln()).abs() < 2e-3, "{found:?}");
    }

    #[test]
    fn equal_results_have_a_finite_location() {
        let kept: Vec<TrialRecord> = [100.0, 110.0, 120.0].map(|rate| trial(rate, true)).into();
        let found = locations(&[&kept])[0].exp();
        assert!(found > 120.0 && found < 200.0, "{found}");
        assert_eq!(locations(&[]), Vec::<f64>::new());
    }
}
