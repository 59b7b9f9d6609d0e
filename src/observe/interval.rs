//! The interval of a share.

/// The quantile of the normal distribution for 95 %.
const Z: f64 = 1.96;

/// The 95 % interval of a share of calls (Wilson 1927), which also holds for rare operations.
pub(super) fn wilson(calls: u64, all: u64) -> (f64, f64) {
    if all == 0 {
        return (0.0, 1.0);
    }
    let (n, p) = (all as f64, calls as f64 / all as f64);
    let middle = p + Z * Z / (2.0 * n);
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    (((middle - half) / scale).max(0.0), ((middle + half) / scale).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_intervals() {
        let (low, high) = wilson(10, 100);
        assert!((low - 0.0552).abs() < 1e-3 && (high - 0.1744).abs() < 1e-3, "{low} {high}");
        let (low, high) = wilson(0, 100);
        assert!(low == 0.0 && (high - 0.037).abs() < 1e-3, "{low} {high}");
    }
}
