//! The machine that made the load. No host or user name is read.

use std::fs;

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
}

impl Environment {
    /// Reads it.
    pub fn read() -> Environment {
        Environment {
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            kernel: text("/proc/sys/kernel/osrelease"),
            cpu: line("/proc/cpuinfo", "model name"),
            cores: std::thread::available_parallelism().ok().map(|cores| cores.get() as u64),
            governor: text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            memory: line("/proc/meminfo", "MemTotal").and_then(|total| kilobytes(&total)),
        }
    }
}

fn text(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// The value of the first `name : value` line.
fn line(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let (_, value) = text.lines().find(|line| line.starts_with(name))?.split_once(':')?;
    Some(value.trim().to_owned())
}

fn kilobytes(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
