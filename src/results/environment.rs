//! The machine that generated the load. No host or user name is read.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// What is known of the machine; what could not be read is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Operating system and architecture.
    pub platform: String,
    /// Kernel version.
    pub kernel: Option<String>,
    /// CPU model.
    pub cpu: Option<String>,
    /// Cores that this process may use.
    pub cores: Option<u64>,
    /// Frequency governor of the first core.
    pub governor: Option<String>,
    /// Memory in bytes.
    pub memory: Option<u64>,
    /// Whether the kernel hands out large pages by itself: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// Files and connections that this process may have open.
    pub open_files: Option<String>,
    /// The driver and its version.
    pub driver: Option<String>,
    /// Connections for calls, over all load threads.
    pub connections: Option<u64>,
    /// How long the server's disk takes to flush the journal, in seconds: the median of some writes that wait for it, less that of
    /// writes that do not. `None` where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal_flush: Option<f64>,
}

impl Environment {
    /// Reads it.
    pub fn read() -> Environment {
        let cores = std::thread::available_parallelism().ok().map(|cores| cores.get() as u64);
        Environment { cores, ..Environment::read_below(Path::new("/")) }
    }

    /// Reads the files below a root.
    fn read_below(root: &Path) -> Environment {
        let text = |path: &str| fs::read_to_string(root.join(path)).ok();
        let whole = |path: &str| text(path).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        Environment {
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            kernel: whole("proc/sys/kernel/osrelease"),
            cpu: text("proc/cpuinfo").and_then(|text| value(&text, "model name")),
            governor: whole("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            memory: text("proc/meminfo").and_then(|text| kilobytes(&value(&text, "MemTotal")?)),
            transparent_huge_pages: text("sys/kernel/mm/transparent_hugepage/enabled").and_then(|text| chosen(&text)),
            open_files: text("proc/self/limits").and_then(|text| open_files(&text)),
            ..Environment::default()
        }
    }
}

/// The value of the first `name : value` line.
fn value(text: &str, name: &str) -> Option<String> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = lines.into_iter().find(|(key, _)| key.trim() == name)?;
    Some(value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// The word in brackets: `always [madvise] never`.
fn chosen(text: &str) -> Option<String> {
    let (word, _) = text.split_once('[')?.1.split_once(']')?;
    Some(word.to_owned())
}

/// The soft limit, which counts.
fn open_files(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next().map(str::to_owned)
}

fn kilobytes(text: &str) -> Option<u64> {
    text.strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn files_are_understood() {
        let root = tempfile::tempdir().unwrap();
        let processor = "processor\t: 0\nmodel name\t: Example CPU @ 2.00GHz\n\n";
        write(root.path(), "proc/cpuinfo", &processor.repeat(2));
        write(root.path(), "proc/meminfo", "MemFree:  5 kB\nMemTotal:       2048 kB\n");
        write(root.path(), "proc/sys/kernel/osrelease", "6.8.0\n");
        write(root.path(), "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
        write(root.path(), "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
        let limits = "Limit          Soft Limit  Hard Limit  Units\nMax open files  1024        1048576     files\n";
        write(root.path(), "proc/self/limits", limits);
        let read = Environment::read_below(root.path());
        let text = |text: &str| Some(text.to_owned());
        assert_eq!((read.cpu, read.memory), (text("Example CPU @ 2.00GHz"), Some(2_097_152)));
        assert_eq!((read.kernel, read.governor), (text("6.8.0"), text("powersave")));
        assert_eq!((read.transparent_huge_pages, read.open_files), (text("madvise"), text("1024")));
    }

    #[test]
    fn what_is_missing_or_garbage_is_not_known() {
        let root = tempfile::tempdir().unwrap();
        let nothing = Environment::read_below(root.path());
        assert_eq!(nothing, Environment { platform: nothing.platform.clone(), ..Environment::default() });
        write(root.path(), "proc/cpuinfo", "no colon\n:\n::\nmodel name:\n");
        write(root.path(), "proc/meminfo", "MemTotal: many kB\n");
        write(root.path(), "proc/sys/kernel/osrelease", "\n");
        write(root.path(), "sys/kernel/mm/transparent_hugepage/enabled", "always never\n");
        write(root.path(), "proc/self/limits", "Max open files\n");
        assert_eq!(Environment::read_below(root.path()), nothing);
        write(root.path(), "proc/meminfo", "MemTotal: 18446744073709551615 kB\n");
        assert_eq!(Environment::read_below(root.path()), nothing);
    }

    #[test]
    fn this_machine_is_known() {
        let read = Environment::read();
        assert!(read.cores.is_some_and(|cores| cores > 0));
        assert!(read.platform.contains(std::env::consts::ARCH));
    }
}
