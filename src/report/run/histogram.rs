//! Latency histograms as text.

use crate::report::document::format::{percent, times};

use super::evaluation::{Evaluation, OperationResults};

/// Width of the longest bar.
const BAR: usize = 16;

/// Width of a share, such as `< 0.1 %`.
const SHARE: usize = 8;

/// Strategies side by side.
const ABREAST: usize = 4;

/// Draws the histograms of every operation.
pub(crate) fn draw(run: &Evaluation) -> Vec<String> {
    run.rows.iter().filter(|row| !row.is_mix).filter_map(|row| operation(run, row)).collect()
}

/// An operation's histograms: a line per range of times, a bar per strategy; `None` without times.
fn operation(run: &Evaluation, row: &OperationResults) -> Option<String> {
    let all = || row.cells.iter().map(|cell| &cell.distribution);
    let (min, max) = (all().filter_map(|d| d.min()).min()?, all().filter_map(|d| d.max()).max()?);
    let edges = edges(min, max);
    let share = |count: u64, calls: u64| count as f64 / calls.max(1) as f64;
    let shares: Vec<Vec<f64>> =
        all().map(|times| times.bins(&edges).into_iter().map(|count| share(count, times.calls())).collect()).collect();
    let largest = shares.iter().flatten().copied().fold(0.0, f64::max);
    let labels: Vec<String> = edges.windows(2).map(|edge| times(edge[0] as f64, edge[1] as f64)).collect();
    let indent = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0).max(row.name.chars().count());
    let names: Vec<&str> = run.strategies.iter().map(|strategy| strategy.name.as_str()).collect();
    let mut lines = Vec::new();
    for (names, shares) in names.chunks(ABREAST).zip(shares.chunks(ABREAST)) {
        let heading: String = names.iter().map(|name| format!("  {name:0$}", BAR + SHARE)).collect();
        lines.push(format!("{:indent$}{}", row.name, heading.trim_end_matches(' ')));
        for (bin, label) in labels.iter().enumerate() {
            let bars: String = shares.iter().map(|shares| format!("  {}", bar(shares[bin], largest))).collect();
            lines.push(format!("{label:>indent$}{bars}").trim_end().to_owned());
        }
    }
    Some(lines.join("\n"))
}

/// A bar and its share in words; blank when there is nothing.
fn bar(share: f64, largest: f64) -> String {
    let eighths = (share / largest * (BAR * 8) as f64).round() as usize;
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    let drawn = format!("{}{rest}", "█".repeat(eighths / 8));
    let words = if share > 0.0 { percent(share) } else { String::new() };
    format!("{:1$}", format!("{drawn} {words}").trim_start(), BAR + SHARE)
}

/// 1, 2, 5, 10, 20... from the last at most `min` to the first above `max`.
fn edges(min: u64, max: u64) -> Vec<u64> {
    let all: Vec<u64> = (0..19).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power))).take(56).collect();
    let first = all.partition_point(|edge| *edge <= min).saturating_sub(1);
    let last = all.partition_point(|edge| *edge <= max).min(all.len() - 1);
    all[first..=last].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_enclose_all_times() {
        assert_eq!(edges(1, 1), [1, 2]);
        assert_eq!(edges(150, 999), [100, 200, 500, 1_000]);
        assert_eq!(edges(200, 1_000), [200, 500, 1_000, 2_000]);
        assert!(edges(0, u64::MAX).len() > 50);
    }

    #[test]
    fn bars_are_as_long_as_their_share() {
        assert_eq!(bar(0.5, 0.5).trim_end(), "████████████████ 50 %");
        assert_eq!(bar(0.25, 0.5).trim_end(), "████████ 25 %");
        assert_eq!(bar(0.0, 0.5).trim_end(), "");
        assert_eq!(bar(0.0001, 0.5).trim_end(), "< 0.1 %");
    }
}
