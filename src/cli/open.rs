//! `--open`: a page in the browser.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::output;

/// How often an opener is asked whether it has failed, and how long after each other. One that goes on is the browser itself.
const LOOKS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(100);

/// Opens a page with the system's opener, and says where the page is if that fails: the page is there without it.
pub fn open(page: &Path) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    if let Err(reason) = start(opener, page) {
        output::line(&format!("--open: {reason}; open {} yourself", page.display()));
    }
}

fn start(opener: &str, page: &Path) -> Result<(), String> {
    let mut command = Command::new(opener);
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("cannot run {opener}: {error}"))?;
    for _ in 0..LOOKS {
        match child.try_wait() {
            Ok(Some(status)) if !status.success() => return Err(format!("{opener} found no browser ({status})")),
            Ok(None) => thread::sleep(PAUSE),
            Ok(Some(_)) | Err(_) => break,
        }
    }
    Ok(())
}
