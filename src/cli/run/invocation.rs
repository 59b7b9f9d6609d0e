//! One invocation of a command: its id and start.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::results;

/// One invocation of a command: its id and start.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// Part of the names of its databases and of its folder.
    pub id: String,
    /// Since the Unix epoch.
    pub started: Duration,
}

impl Invocation {
    /// Returns the one that starts now.
    pub fn now() -> Invocation {
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let id = format!("{:08x}", started.subsec_nanos() ^ std::process::id().rotate_left(16));
        Invocation { id, started }
    }

    /// Returns its start, RFC 3339, UTC.
    pub fn started_text(&self) -> String {
        let millis = i64::try_from(self.started.as_millis()).unwrap_or(0);
        bson::DateTime::from_millis(millis).try_to_rfc3339_string().unwrap_or_default()
    }

    /// Returns the folder for its results, unless the user names one.
    pub fn folder(&self, out: Option<&Path>, scenario: &str) -> PathBuf {
        let default = || {
            let stamp = results::stamp(i64::try_from(self.started.as_millis()).unwrap_or(0));
            Path::new("results").join(scenario).join(format!("{stamp}-{}", self.id))
        };
        out.map_or_else(default, Path::to_owned)
    }
}
