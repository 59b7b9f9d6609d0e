//! Results to standard output, messages to standard error.
//!
//! Colours are removed when the stream is not a terminal or `NO_COLOR` is set. Whatever names and texts of scenarios and
//! records contain, it steers no terminal.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use indicatif::ProgressBar;

use crate::report::steers;

use super::exit::CliError;

/// Writes a result to standard output. A closed pipe, as in `docshape list | head -1`, is not an error.
///
/// # Errors
/// When it cannot be written, for example because the disk is full.
pub fn print(text: &str) -> Result<(), CliError> {
    // What a program reads keeps its characters.
    let text = if io::stdout().is_terminal() { harmless(text) } else { text.into() };
    let mut stream = anstream::stdout().lock();
    match stream.write_all(text.as_bytes()).and_then(|()| stream.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CliError::failure(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// What is drawn on the terminal and stays below all messages.
static DRAWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Keeps what is drawn below the messages that come; `None` when nothing is drawn any more.
pub fn keep_below(drawn: Option<ProgressBar>) {
    *DRAWN.lock().unwrap_or_else(PoisonError::into_inner) = drawn;
}

/// Writes a message to standard error. Its failure has nowhere to be reported.
pub fn message(text: &str) {
    let write = || {
        let mut stream = anstream::stderr().lock();
        let _ = stream.write_all(harmless(text).as_bytes()).and_then(|()| stream.flush());
    };
    let drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match drawn {
        Some(drawn) => drawn.suspend(write),
        None => write(),
    }
}

/// Writes a message that is a line.
pub fn line(text: &str) {
    message(&format!("{text}\n"));
}

/// A text without characters that steer a terminal, except for colours and the ends of lines.
fn harmless(text: &str) -> Cow<'_, str> {
    let is_kept = |c: char| c == '\n' || c == '\t' || !steers(c);
    if text.chars().all(is_kept) {
        return text.into();
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let colour = colour_length(rest);
        let length = colour.unwrap_or(c.len_utf8());
        kept.push_str(if colour.is_some() || is_kept(c) { &rest[..length] } else { "\u{fffd}" });
        rest = &rest[length..];
    }
    kept.into()
}

/// The length of the colour at the start of a text: `ESC [`, digits and `;`, `m`.
fn colour_length(text: &str) -> Option<usize> {
    let codes = text.strip_prefix("\u{1b}[")?;
    let end = codes.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    codes[end..].starts_with('m').then_some(2 + end + 1)
}

/// Returns the columns of standard output: the terminal's, else those of `COLUMNS`, else 100; at least 80, at most 120.
pub fn width() -> usize {
    let of_terminal = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    of_terminal.or_else(columns).unwrap_or(100).clamp(80, 120)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_colours_and_ends_of_lines_steers_the_terminal() {
        for kept in ["plain\tänd 日本\n", "\u{1b}[1;31mred\u{1b}[0m\n\u{1b}[m"] {
            assert_eq!(harmless(kept), kept);
        }
        for (text, expected) in [
            ("a\u{1b}[2Jb", "a\u{fffd}[2Jb"),
            ("\u{1b}]0;title\u{7}", "\u{fffd}]0;title\u{fffd}"),
            ("x\ry\u{9b}31m\u{202e}", "x\u{fffd}y\u{fffd}31m\u{fffd}"),
            ("\u{1b}[31", "\u{fffd}[31"),
            ("\u{1b}[31mred\u{1b}[0K", "\u{1b}[31mred\u{fffd}[0K"),
        ] {
            assert_eq!(harmless(text), expected, "{text:?}");
        }
    }
}
