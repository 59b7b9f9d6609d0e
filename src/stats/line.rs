//! Lines through points.

/// Returns the slope of the least-squares line and its standard error; `None` with fewer than three points, or with none apart.
pub fn slope(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x_mean, y_mean) = (mean(|point| point.0), mean(|point| point.1));
    let products: f64 = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    let squares: f64 = points.iter().map(|(x, _)| (x - x_mean).powi(2)).sum();
    let slope = products / squares;
    let rest: f64 = points.iter().map(|(x, y)| (y - y_mean - slope * (x - x_mean)).powi(2)).sum();
    (points.len() > 2 && squares > 0.0).then(|| (slope, (rest / (count - 2.0) / squares).sqrt()))
}
