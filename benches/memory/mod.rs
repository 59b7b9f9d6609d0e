//! What a benchmark's process holds.

/// Megabytes of memory that this process holds; not a number where the system does not tell.
pub fn memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) * 1_024.0 / 1e6
}
