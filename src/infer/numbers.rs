//! Numbers as expressions: weights of few values, quantiles of many. Nothing has more than two digits of the data, in a
//! narrow range of their distances from a round number.

/// At most so many different values are listed.
const FEW: usize = 20;
/// The quantiles that are written. The ends of the range would be values of single documents.
const PERCENTS: [f64; 11] = [0.5, 1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5];
/// The dates that have a written form, in milliseconds: the years 1 to 9999.
const DATES: (i64, i64) = (-62_135_596_800_000, 253_402_214_400_000);
const DAY: i64 = 86_400_000;

/// Rounds to two digits.
pub fn two_digits(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return 0.0;
    }
    let scale = 10_f64.powi(x.abs().log10().floor() as i32 - 1);
    if !scale.is_finite() || scale == 0.0 {
        return 0.0;
    }
    let rounded = (x / scale).round() * scale;
    // 0.30000000000000004 would be a strange number to read.
    format!("{rounded:.2e}").parse().unwrap_or(rounded)
}

/// The value below which this share of sorted values lies.
pub fn quantile(sorted: &[f64], percent: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let place = (percent / 100.0 * last as f64).round() as usize;
    sorted.get(place.min(last)).copied().unwrap_or(0.0)
}

/// Numbers as they come: sorted, those that are none left out.
pub fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().filter(|x| x.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The expression of ints that are distributed as these.
pub fn ints(values: impl IntoIterator<Item = f64>) -> String {
    expression(&sorted(values), |x| format!("{}", x.clamp(-9e18, 9e18) as i64))
}

/// The expression of counts, most of which are small: those are as frequent as they were, and only larger ones are quantiles.
pub fn counts(values: impl IntoIterator<Item = f64>) -> String {
    const SMALL: f64 = 20.0;
    let values = sorted(values);
    let plain = ints(values.iter().copied());
    if !plain.starts_with("quantiles(") {
        return plain;
    }
    let below = |x: f64| values.partition_point(|value| *value < x) as f64 / values.len() as f64 * 100.0;
    let (mut cuts, mut percents) = (Vec::new(), Vec::new());
    let mut small: Vec<f64> = values.iter().copied().take_while(|value| *value < SMALL).collect();
    small.dedup();
    for value in small {
        cuts.extend([value, value]);
        percents.extend([below(value), below(value + 1.0)]);
    }
    let rest = &values[values.partition_point(|value| *value < SMALL)..];
    let start = below(SMALL);
    for percent in [0.0, 10.0, 25.0, 50.0, 75.0, 90.0, 97.0].into_iter().filter(|_| !rest.is_empty()) {
        cuts.push(two_digits(quantile(rest, percent)));
        percents.push(start + (100.0 - start) * percent / 100.0);
    }
    // The greatest one would be that of a single record.
    cuts.push(two_digits(quantile(&values, 99.5)).max(cuts.last().copied().unwrap_or(0.0)));
    percents.push(100.0);
    percents[0] = 0.0;
    let written =
        |all: &[f64]| all.iter().map(|x| format!("{}", (x * 10.0).round() / 10.0)).collect::<Vec<_>>().join(", ");
    format!("quantiles([{}], [{}])", written(&cuts), written(&percents))
}

/// The expression of doubles that are distributed as these.
pub fn doubles(values: impl IntoIterator<Item = f64>) -> String {
    expression(&sorted(values), double)
}

/// A double as an expression.
pub fn double(x: f64) -> String {
    let plain = if x.abs() >= 1e15 || (x != 0.0 && x.abs() < 1e-4) { format!("{x:e}") } else { x.to_string() };
    if plain.contains(['.', 'e']) { plain } else { plain + ".0" }
}

/// The expression of dates that are distributed as these, in milliseconds. They are rounded to days or months.
pub fn dates(values: impl IntoIterator<Item = i64>) -> String {
    let values = sorted(values.into_iter().map(|millis| millis.clamp(DATES.0, DATES.1) as f64));
    if values.is_empty() {
        return "null".to_owned();
    }
    let (first, last) = (quantile(&values, PERCENTS[0]), quantile(&values, 99.5));
    let step = if last - first > (730 * DAY) as f64 { 30 * DAY } else { DAY } as f64;
    let written = |x: f64| {
        let millis = ((x / step).round() * step).clamp(DATES.0 as f64, DATES.1 as f64) as i64;
        let date = bson::DateTime::from_millis(millis).try_to_rfc3339_string().unwrap_or_default();
        format!("timestamp('{date}')")
    };
    let (values, percents) = cuts(&values, written);
    match values.as_slice() {
        [only] => only.clone(),
        _ => format!("quantiles([{}], [{}])", values.join(", "), percents.join(", ")),
    }
}

/// Numbers far from zero and near to each other, such as years, are written by their distances from one of them: otherwise two
/// digits would make them equal.
fn expression(values: &[f64], written: impl Fn(f64) -> String) -> String {
    let (low, middle, high) = (quantile(values, PERCENTS[0]), quantile(values, 50.0), quantile(values, 99.5));
    let is_narrow = high > low && middle.abs() > 2.0 * (high - low);
    let base = if is_narrow { two_digits(middle) } else { 0.0 };
    if base == 0.0 {
        return distributed(values, written);
    }
    let distances: Vec<f64> = values.iter().map(|value| value - base).collect();
    format!("{} + {}", written(base), distributed(&distances, &written))
}

fn distributed(values: &[f64], written: impl Fn(f64) -> String) -> String {
    if values.is_empty() {
        return written(0.0);
    }
    let mut counts: Vec<(f64, u64)> = Vec::new();
    for value in values.iter().map(|value| two_digits(*value)) {
        match counts.last_mut() {
            Some((last, count)) if *last == value => *count += 1,
            _ => counts.push((value, 1)),
        }
    }
    // What one document alone has is not listed.
    let is_rare = values.len() < 3 * counts.len();
    match counts.as_slice() {
        [(only, _)] => written(*only),
        counts if counts.len() <= FEW && !is_rare => {
            let all: Vec<String> = counts.iter().map(|(value, _)| written(*value)).collect();
            let weights: Vec<String> = counts.iter().map(|(_, count)| count.to_string()).collect();
            format!("one_of([{}], [{}])", all.join(", "), weights.join(", "))
        }
        _ => {
            let (cuts, percents) = cuts(values, |x| written(two_digits(x)));
            match cuts.as_slice() {
                [only] => only.clone(),
                _ => format!("quantiles([{}], [{}])", cuts.join(", "), percents.join(", ")),
            }
        }
    }
}

/// Quantiles with their percents, from 0 to 100. In a row of equal ones the inner ones are left out.
fn cuts(sorted: &[f64], written: impl Fn(f64) -> String) -> (Vec<String>, Vec<String>) {
    let all: Vec<(String, f64)> =
        PERCENTS.iter().map(|percent| (written(quantile(sorted, *percent)), *percent)).collect();
    let is_inner = |at: usize| at > 0 && at + 1 < all.len() && all[at - 1].0 == all[at].0 && all[at].0 == all[at + 1].0;
    let mut kept: Vec<(String, f64)> = (0..all.len()).filter(|at| !is_inner(*at)).map(|at| all[at].clone()).collect();
    if kept.iter().all(|(value, _)| *value == kept[0].0) {
        kept.truncate(1);
    }
    let last = kept.len() - 1;
    kept[last].1 = 100.0;
    kept[0].1 = 0.0;
    kept.into_iter().map(|(value, percent)| (value, percent.to_string())).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_two_digits() {
        for (x, expected) in [(1234.0, 1200.0), (-0.0356, -0.036), (7.0, 7.0), (99.6, 100.0), (0.0, 0.0)] {
            assert_eq!(two_digits(x), expected);
        }
        assert_eq!(two_digits(f64::NAN), 0.0);
        assert_eq!(two_digits(f64::MIN_POSITIVE / 1e10), 0.0);
    }

    #[test]
    fn few_values_get_weights_and_many_get_quantiles() {
        assert_eq!(ints([3.0; 5]), "3");
        assert_eq!(ints([1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]), "one_of([1, 2], [3, 4])");
        let many = ints((0..1_000).map(f64::from));
        assert!(many.starts_with("quantiles([5, 10, 50, 100,") && many.ends_with("99, 100])"), "{many}");
        assert!(!many.contains("999"), "no end of the range: {many}");
        assert_eq!(doubles([f64::NAN, f64::INFINITY]), "0.0");
        assert_eq!(ints([f64::MAX; 4]), "9000000000000000000");
    }

    #[test]
    fn narrow_ranges_stay_apart() {
        let years = ints((0..300).map(|n| f64::from(1990 + n % 31)));
        assert!(
            years.starts_with("2000 + quantiles([-10, -9, -5, ") || years.starts_with("2000 + quantiles([-10, -10, "),
            "{years}"
        );
        assert_eq!(ints([501.0, 502.0, 501.0, 502.0, 501.0, 502.0]), "500 + one_of([1, 2], [3, 3])");
    }

    #[test]
    fn small_counts_are_as_frequent_as_they_were() {
        let many = |value: f64, count: usize| std::iter::repeat_n(value, count);
        let large = (0..100).map(|n| f64::from(n * 7 + 20));
        let text = counts(many(0.0, 700).chain(many(3.0, 200)).chain(large));
        assert!(
            text.starts_with("quantiles([0, 0, 3, 3, 20, 90,") && text.contains("], [0, 70, 70, 90, 90, 91,"),
            "{text}"
        );
        assert_eq!(counts([2.0; 9]), "2");
    }

    #[test]
    fn dates_are_rounded_and_stay_in_the_calendar() {
        let far = dates([i64::MAX, i64::MIN, 0]);
        assert!(far.contains("timestamp('0001-") && far.contains("timestamp('9999-"), "{far}");
        let day = dates((0..500).map(|n| 1_700_000_000_000 + n * 3_600_000));
        assert!(day.contains("T00:00:00Z'"), "{day}");
        assert_eq!(dates([]), "null");
    }
}
