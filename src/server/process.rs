//! A process by which its owner is known: on which machine it runs, and when it started.

use std::fs;

use bson::{RawDocument, RawDocumentBuf, rawdoc};
use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::{Pid, gethostname};

use super::field::{at, whole};

/// A process of this or another machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The name of its machine, for readers.
    pub host: String,
    /// Where its id means something: the machine since its start, and its own processes if it is a container. Containers
    /// and cloned machines may share a host name.
    realm: String,
    /// Its id.
    pub id: i64,
    /// When it started, in clock ticks since the machine did, so that a later process of the same id is another one.
    start: i64,
}

/// What is known of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    /// It runs.
    Alive,
    /// It has ended.
    Ended,
    /// It is of another machine or container, or of this machine before its last start, so this cannot be known.
    Elsewhere,
}

impl Process {
    /// Returns this process.
    pub fn this() -> Process {
        let host = gethostname().ok().and_then(|name| name.into_string().ok()).unwrap_or_default();
        let id = i64::from(std::process::id());
        Process { host, realm: realm().unwrap_or_default(), id, start: start_time(id).unwrap_or_default() }
    }

    /// Returns whether it still runs.
    pub fn state(&self) -> ProcessState {
        if self.realm.is_empty() || realm().as_ref() != Some(&self.realm) {
            return ProcessState::Elsewhere;
        }
        let is_alive = match start_time(self.id) {
            Some(start) => start == self.start,
            // Where processes of other users are hidden, they still cannot be sent signals.
            None => i32::try_from(self.id).is_ok_and(|id| kill(Pid::from_raw(id), None) != Err(Errno::ESRCH)),
        };
        if is_alive { ProcessState::Alive } else { ProcessState::Ended }
    }

    /// Reads it from a document.
    pub(super) fn read(document: &RawDocument) -> Process {
        let text = |key| at(document, key).and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default();
        let number = |key| at(document, key).and_then(whole).unwrap_or_default();
        Process { host: text("host"), realm: text("realm"), id: number("process"), start: number("start") }
    }

    /// Writes the fields that [`Process::read`] reads.
    pub(super) fn fields(&self) -> RawDocumentBuf {
        rawdoc! { "host": &*self.host, "realm": &*self.realm, "process": self.id, "start": self.start }
    }
}

/// Where ids of processes mean something now: this start of the machine, and this container.
fn realm() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), namespace.display()))
}

/// Returns when a process started, in clock ticks since the machine did: field 22 of its `stat` file.
pub(super) fn start_time(id: i64) -> Option<i64> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The second field is the program's name in parentheses and may contain spaces.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn this_process_lives_and_an_ended_one_does_not() {
        let this = Process::this();
        assert_eq!(this.state(), ProcessState::Alive);
        assert_eq!(Process { start: this.start + 1, ..this.clone() }.state(), ProcessState::Ended, "a reused id");
        let mut child = Command::new("true").spawn().unwrap();
        let ended = Process { id: child.id().into(), ..this };
        child.wait().unwrap();
        assert_eq!(ended.state(), ProcessState::Ended);
    }

    #[test]
    fn processes_of_other_machines_are_not_judged() {
        let this = Process::this();
        let restarted = Process { realm: "another start".into(), ..this.clone() };
        assert_eq!(restarted.state(), ProcessState::Elsewhere, "the host name alone proves nothing");
        assert_eq!(Process { realm: String::new(), ..this }.state(), ProcessState::Elsewhere);
    }

    #[test]
    fn fields_are_read_back() {
        let this = Process::this();
        assert_eq!(Process::read(&this.fields()), this);
    }
}
