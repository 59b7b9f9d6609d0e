//! Cells: a text, how it looks, and the value behind it.

use serde_json::Value;

use super::format::{NOTHING, count, time};

/// How a text looks where a form has colours or weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// As everything else.
    #[default]
    Plain,
    /// Emphasised.
    Strong,
    /// Less important.
    Faint,
    /// Better.
    Good,
    /// Worse, or wrong.
    Bad,
    /// The best of its row.
    Best,
    /// Worse than the best, by this level: the higher, the darker.
    Heat(usize),
    /// Not comparable with the best.
    Hatched,
}

/// Where a cell leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// The row with this id.
    Row(String),
    /// A file: its address relative to the report.
    File(String),
}

/// A cell: its text and the value behind it. Texts are single lines without control characters, but not escaped for any form.
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use]
pub struct Cell {
    /// The text.
    pub text: String,
    /// What is written smaller after the text, such as an interval.
    pub remark: String,
    /// How it looks.
    pub tone: Tone,
    /// Where the details are.
    pub link: Option<Link>,
    /// The value in JSON; without one it is the text in columns of texts and `null` in others.
    pub value: Option<Value>,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell::text(text)
    }
}

impl Cell {
    /// A cell without a text.
    pub const BLANK: Cell =
        Cell { text: String::new(), remark: String::new(), tone: Tone::Plain, link: None, value: None };

    /// A text.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), ..Cell::default() }
    }

    /// A number and how it is written; a dash without one.
    pub fn number(value: Option<f64>, text: impl Fn(f64) -> String) -> Cell {
        let cell = Cell::text(value.map_or_else(|| NOTHING.to_owned(), text));
        cell.with_value(value.map_or(Value::Null, Value::from))
    }

    /// A count.
    pub fn count(value: u64) -> Cell {
        Cell::text(count(value)).with_value(value)
    }

    /// A time in nanoseconds, known as a whole number; a dash without one.
    pub fn time(nanoseconds: Option<u64>) -> Cell {
        Cell::number(nanoseconds.map(|time| time as f64), time).with_value(nanoseconds)
    }

    /// A value for JSON alone.
    pub fn value(value: impl Into<Value>) -> Cell {
        Cell::default().with_value(value)
    }

    /// The same cell with this value in JSON.
    pub fn with_value(self, value: impl Into<Value>) -> Cell {
        Cell { value: Some(value.into()), ..self }
    }

    /// The same cell in this tone.
    pub fn tone(self, tone: Tone) -> Cell {
        Cell { tone, ..self }
    }

    /// The same cell with a remark.
    pub fn remark(self, remark: impl Into<String>) -> Cell {
        Cell { remark: remark.into(), ..self }
    }

    /// The same cell with a link.
    pub fn link(self, link: Option<Link>) -> Cell {
        Cell { link, ..self }
    }

    /// The text, with the remark in brackets.
    pub fn named(&self) -> String {
        if self.remark.is_empty() { self.text.clone() } else { format!("{} ({})", self.text, self.remark) }
    }

    /// The text and the remark on one line.
    pub fn line(&self) -> String {
        let gap = if self.text.is_empty() || self.remark.is_empty() { "" } else { " " };
        format!("{}{gap}{}", self.text, self.remark)
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.text.is_empty() && self.remark.is_empty()
    }
}
