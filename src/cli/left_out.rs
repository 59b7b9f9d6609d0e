//! Strategies that a command left out, which its last lines and its exit code say.

use std::sync::{Mutex, PoisonError};

use crate::results::SkippedStrategy;

use super::exit::Exit;
use super::output;

/// The names of the strategies that this process left out.
static LEFT_OUT: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Remembers strategies that are left out.
pub fn note(skipped: &[SkippedStrategy]) {
    let mut names = LEFT_OUT.lock().unwrap_or_else(PoisonError::into_inner);
    for one in skipped {
        if !names.contains(&one.name) {
            names.push(one.name.clone());
        }
    }
}

/// Says what was left out, and returns how the command ends: what is about fewer strategies than were asked for is no success,
/// unless that `is_allowed`.
pub fn conclude(exit: Exit, is_allowed: bool) -> Exit {
    let names = LEFT_OUT.lock().unwrap_or_else(PoisonError::into_inner);
    if names.is_empty() {
        return exit;
    }
    let hint = if is_allowed { "" } else { "; use a newer server, or accept that with --allow-skipped" };
    output::line(&format!("not compared: {}, which this server is too old for{hint}", names.join(", ")));
    if exit == Exit::Success && !is_allowed { Exit::Invalid } else { exit }
}
