//! Questions to the user.

use std::io::{self, BufRead, IsTerminal};

use super::output;

/// Asks a question on the terminal, and returns whether the answer is yes; `None` without a terminal.
pub async fn ask(question: &str) -> Option<bool> {
    let question = question.to_owned();
    // On a thread of its own, so that Ctrl-C is still noticed.
    tokio::task::spawn_blocking(move || ask_now(&question)).await.ok().flatten()
}

/// Whether there is a terminal to ask on.
pub fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// [`ask`] outside of the runtime.
pub fn ask_now(question: &str) -> Option<bool> {
    if !can_ask() {
        return None;
    }
    output::message(&format!("{question} [y/N] "));
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    Some(read.is_ok() && ["y", "yes"].contains(&line.trim().to_ascii_lowercase().as_str()))
}
