//! Memory of a benchmark's process.

/// Returns the resident memory of this process in MB, or NaN if the system does not report it.
pub fn memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) * 1_024.0 / 1e6
}
