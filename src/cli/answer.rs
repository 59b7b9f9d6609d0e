//! Questions to the user.

use std::io::{self, BufRead, IsTerminal};

use super::output;

/// Asks a question on the terminal, and returns whether the answer is yes; `None` without a terminal.
pub async fn ask(question: &str) -> Option<bool> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return None;
    }
    output::message(&format!("{question} [y/N] "));
    // On a thread of its own, so that Ctrl-C is still noticed.
    let answer = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).map(|_| line)
    });
    let line = answer.await.ok().and_then(Result::ok).unwrap_or_default();
    Some(["y", "yes"].contains(&line.trim().to_ascii_lowercase().as_str()))
}
