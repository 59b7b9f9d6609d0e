//! The four questions that take the place of a database.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::cli::answer::can_ask;
use crate::cli::exit::{CliError, Exit};
use crate::cli::output;
use crate::described::model::DescribedModel;
use crate::described::{
    RECORDS, belongings, example_belongings, example_fields, example_steps, fields, operations, records,
};
use crate::infer::layout::InferredOperation;
use crate::report::wrap;

/// The questions, each with what an answer may have.
const QUESTIONS: [[&str; 2]; 4] = [
    ["Which records are there, and how many?", "Records that belong to others need no number."],
    ["What belongs to what, and how many each?", "`5` is an average, `1-4` a range; `none` if nothing does."],
    [
        "Which fields do they have?",
        "The name of other records is a reference to one, in the plural to several. A type may follow: text, number, \
         decimal, bool, date, bytes, or the length of a text.",
    ],
    [
        "What does the application do, most frequent first, with the share of calls?",
        "Steps: read, list, count, add, set, delete; `with` reads or adds related records.",
    ],
];
/// The columns of a question.
const WIDTH: usize = 80;
/// How long a program may take to write its answers.
const PATIENCE: Duration = Duration::from_secs(3);
/// The longest answers.
const MOST_BYTES: u64 = 1 << 20;

/// What the answers say.
#[derive(Debug)]
pub struct Answered {
    /// The model.
    pub described: DescribedModel,
    /// The operations.
    pub operations: Vec<InferredOperation>,
    /// The answers, as comments of the file.
    pub notes: Vec<String>,
}

/// Asks the questions on the terminal, or reads the answers from standard input, a line each.
///
/// # Errors
/// When the input ends before the last answer, or a line is not understood.
pub fn ask(file: &str) -> Result<Answered, CliError> {
    let mut answers = Answers::open(file)?;
    let made = answers.ask(RECORDS, records)?;
    let made = answers.ask(&example_belongings(&made), |answer| belongings(answer, &made))?;
    let described = answers.ask(&example_fields(&made), |answer| {
        let made = fields(answer, &made)?;
        made.check(&operations(&format!("read {}", made.name(0)), &made)?)?;
        Ok(made)
    })?;
    let operations = answers.ask(&example_steps(&described), |answer| {
        let made = operations(answer, &described)?;
        described.check(&made)?;
        Ok(made)
    })?;
    let notes =
        answers.given.iter().zip(QUESTIONS).map(|(given, [question, _])| format!("{question} {given}")).collect();
    Ok(Answered { described, operations, notes })
}

/// Where answers come from, and those so far.
struct Answers {
    /// Lines of standard input; `None` on a terminal.
    lines: Option<VecDeque<String>>,
    given: Vec<String>,
}

impl Answers {
    fn open(file: &str) -> Result<Answers, CliError> {
        if can_ask() {
            output::message(&format!("Four questions, then {file} is written. Enter takes the example in [ ].\n"));
            return Ok(Answers { lines: None, given: Vec::new() });
        }
        let lines = if io::stdin().is_terminal() { VecDeque::new() } else { piped() };
        let (found, asked) = (lines.len(), QUESTIONS.len());
        if found > asked {
            return Err(CliError::usage(format!(
                "standard input has {found} lines; expected at most {asked}, an answer each; nothing was written"
            )));
        }
        if found < asked {
            output::line(&format!(
                "{found} of {asked} answers on standard input: examples take the place of the others. On a terminal `docshape init` asks."
            ));
        }
        Ok(Answers { lines: Some(lines), given: Vec::new() })
    }

    /// The next answer; on a terminal it is asked again until it is understood.
    fn ask<T>(&mut self, example: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<T, CliError> {
        let number = self.given.len() + 1;
        if self.lines.is_none() {
            let [question, help] = QUESTIONS[number - 1];
            let help = wrap(help, WIDTH - 3).into_iter().chain(wrap(&format!("[{example}]"), WIDTH - 3));
            let help: String = help.map(|line| format!("   {line}\n")).collect();
            output::message(&format!("\n{number}. {question}\n{help}"));
        }
        loop {
            let line = match &mut self.lines {
                Some(lines) => lines.pop_front().unwrap_or_default(),
                None => typed()?,
            };
            let answer = if line.trim().is_empty() { example } else { line.trim() };
            match (read(answer), &self.lines) {
                (Ok(made), _) => {
                    self.given.push(answer.to_owned());
                    return Ok(made);
                }
                (Err(why), None) => wrap(&why, WIDTH - 3).iter().for_each(|line| output::line(&format!("   {line}"))),
                (Err(why), Some(_)) => {
                    return Err(CliError::usage(format!("answer {number}: {why}; nothing was written")));
                }
            }
        }
    }
}

/// A line of the terminal.
fn typed() -> Result<String, CliError> {
    output::message("> ");
    let mut line = String::new();
    match io::stdin().lock().read_line(&mut line) {
        Ok(0) | Err(_) => {
            output::message("\n");
            Err(CliError::new(Exit::Interrupted, "the input ended before the last answer; nothing was written"))
        }
        Ok(_) => Ok(line),
    }
}

/// The lines that another program has written. One that keeps standard input open without a word is not waited for.
fn piped() -> VecDeque<String> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut text = String::new();
        let read = io::stdin().lock().take(MOST_BYTES).read_to_string(&mut text);
        let _ = send.send(read.map(|_| text));
    });
    let text = receive.recv_timeout(PATIENCE).ok().and_then(Result::ok).unwrap_or_default();
    text.trim_end().lines().map(str::to_owned).collect()
}
