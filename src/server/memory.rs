//! Memory for embedded servers.

use std::fs;
use std::path::Path;

/// What a server needs besides its cache, in bytes: its program, connections and sorts.
const BESIDES_CACHE: u64 = 300 << 20;
/// A GB of `--wiredTigerCacheSizeGB` in bytes.
const GB: f64 = (1_u64 << 30) as f64;

/// The memory in bytes that programs can take now without swapping; `None` where the system does not say.
pub fn available() -> Option<u64> {
    available_below(Path::new("/"))
}

fn available_below(root: &Path) -> Option<u64> {
    let text = |path: &str| fs::read_to_string(root.join(path)).ok();
    let bytes = |path: &str| text(path)?.trim().parse::<u64>().ok();
    let machine = text("proc/meminfo").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1_024)
    });
    // A container may have less than the machine; without a limit the file says "max".
    let container = bytes("sys/fs/cgroup/memory.max")
        .zip(bytes("sys/fs/cgroup/memory.current"))
        .map(|(limit, used)| limit.saturating_sub(used));
    machine.into_iter().chain(container).min()
}

/// The largest cache in GB, at most `wanted`, with which this number of servers fits into `available` bytes; `None` when
/// not even the smallest cache fits.
pub fn fitting_cache(available: u64, servers: usize, wanted: f64) -> Option<f64> {
    let each = (available / servers.max(1) as u64).saturating_sub(BESIDES_CACHE);
    let largest = (each as f64 / GB * 100.0).floor() / 100.0;
    Some(largest.min(wanted)).filter(|cache| *cache >= super::embedded::SMALLEST_CACHE_GB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_share_what_is_available() {
        let gigabytes = |gb: f64| (gb * GB) as u64;
        assert_eq!(fitting_cache(gigabytes(6.0), 4, 1.0), Some(1.0));
        assert_eq!(fitting_cache(gigabytes(4.0), 4, 1.0), Some(0.7));
        assert_eq!(fitting_cache(gigabytes(2.2), 4, 1.0), Some(0.25));
        assert_eq!(fitting_cache(gigabytes(2.0), 4, 1.0), None);
        assert_eq!(fitting_cache(0, 0, 1.0), None);
    }

    #[test]
    fn a_container_may_have_less_than_its_machine() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(available_below(root.path()), None);
        write("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    2048 kB\n");
        write("sys/fs/cgroup/memory.current", "1000\n");
        write("sys/fs/cgroup/memory.max", "max\n");
        assert_eq!(available_below(root.path()), Some(2_097_152));
        write("sys/fs/cgroup/memory.max", "5000\n");
        assert_eq!(available_below(root.path()), Some(4_000));
        assert!(available().is_some_and(|bytes| bytes > 0));
    }
}
