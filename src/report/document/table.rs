//! Tables of cells: what a report shows, without how any form writes it.
//!
//! A table is long: a row has the thing that it is about (its group, such as an operation), its name (such as a strategy) and a
//! cell per column. [`Table::grid`] gives the rows and columns that one form shows, with the names side by side where
//! [`Table::side_by_side`] asks for it; JSON has a record per row. A [`Measure`] is a column together with how to get its cell,
//! so that a new number is one line in the list of its section.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::cell::Cell;

/// The forms that show something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forms(u8);

impl Forms {
    /// The text on a terminal: compact.
    pub const TERMINAL: Forms = Forms(1);
    /// Markdown.
    pub const MARKDOWN: Forms = Forms(2);
    /// The page.
    pub const HTML: Forms = Forms(4);
    /// The report as data.
    pub const JSON: Forms = Forms(8);
    /// Every form.
    pub const ALL: Forms = Forms(15);
    /// Every form that people read.
    pub const READ: Forms = Forms(7);
    /// Every form with room for details.
    pub const DETAILED: Forms = Forms(14);
    /// The forms that are documents.
    pub const DOCUMENT: Forms = Forms(6);

    /// No form.
    const NONE: Forms = Forms(0);

    /// These forms and others.
    pub const fn and(self, other: Forms) -> Forms {
        Forms(self.0 | other.0)
    }

    /// Those of these forms that are also among others.
    pub const fn within(self, other: Forms) -> Forms {
        Forms(self.0 & other.0)
    }

    /// Whether all of some forms are among these.
    pub const fn contains(self, other: Forms) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Every form shows what is not limited to some.
impl Default for Forms {
    fn default() -> Forms {
        Forms::ALL
    }
}

/// What the values of a column are in JSON; numbers and texts may be `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// A text.
    #[default]
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    Flag,
    /// A list of numbers.
    Numbers,
    /// A list of texts.
    Texts,
    /// Numbers or texts by name.
    Map,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use]
pub struct Column {
    /// Its name in JSON.
    pub key: &'static str,
    /// Its heading for people.
    pub heading: String,
    /// What its values are, in a sentence or two.
    pub about: &'static str,
    /// What they are in JSON.
    pub kind: Kind,
    /// The forms that show it.
    pub forms: Forms,
}

/// A column of texts: its name in JSON, its heading, and what its values are.
pub fn column(key: &'static str, heading: impl Into<String>, about: &'static str) -> Column {
    Column { key, heading: heading.into(), about, ..Column::default() }
}

impl Column {
    /// The column of strategies.
    pub fn strategy() -> Column {
        column("strategy", "strategy", "The strategy.")
    }

    /// The column of operations and the mix.
    pub fn operation() -> Column {
        column("operation", "operation", "The operation, or `mix`.")
    }

    /// Numbers in a unit; a dash where there is none.
    pub fn number<'m, T: 'm, N: Into<Option<f64>> + 'm>(
        self,
        unit: fn(f64) -> String,
        number: fn(&T) -> N,
    ) -> Measure<'m, T> {
        self.measure(Kind::Number, move |item| Cell::number(number(item).into(), unit))
    }

    /// Counts.
    pub fn count<'m, T: 'm>(self, count: fn(&T) -> u64) -> Measure<'m, T> {
        self.measure(Kind::Number, move |item| Cell::count(count(item)))
    }

    /// Times in whole nanoseconds; a dash where there is none.
    pub fn time<'m, T: 'm, N: Into<Option<u64>> + 'm>(self, time: fn(&T) -> N) -> Measure<'m, T> {
        self.measure(Kind::Number, move |item| Cell::time(time(item).into()))
    }

    /// Texts.
    pub fn text<'m, T: 'm, C: Into<Cell> + 'm>(self, text: fn(&T) -> C) -> Measure<'m, T> {
        self.measure(Kind::Text, move |item| text(item).into())
    }

    /// Numbers with a look of their own.
    pub fn cell<'m, T: 'm>(self, cell: fn(&T) -> Cell) -> Measure<'m, T> {
        self.measure(Kind::Number, cell)
    }

    /// Values of a kind with a look of their own.
    pub fn measure<'m, T>(self, kind: Kind, cell: impl Fn(&T) -> Cell + 'm) -> Measure<'m, T> {
        Measure { column: Column { kind, ..self }, cell: Box::new(cell) }
    }
}

/// A column and how a row's item gives its cell.
#[must_use]
pub struct Measure<'m, T> {
    column: Column,
    cell: Box<dyn Fn(&T) -> Cell + 'm>,
}

/// Every form shows a measure unless it is [`only`](Self::only) for some.
impl<'m, T: 'm> Measure<'m, T> {
    /// Numbers for JSON alone.
    pub fn data<V: Into<Value> + 'm>(key: &'static str, about: &'static str, value: fn(&T) -> V) -> Self {
        column(key, "", about).measure(Kind::Number, move |item| Cell::value(value(item))).only(Forms::JSON)
    }

    /// Texts for JSON alone.
    pub fn word<C: Into<Cell> + 'm>(key: &'static str, about: &'static str, text: fn(&T) -> C) -> Self {
        column(key, "", about).text(text).only(Forms::JSON)
    }

    /// `true` or `false`, for JSON alone.
    pub fn flag(key: &'static str, about: &'static str, flag: fn(&T) -> bool) -> Self {
        Measure::data(key, about, flag).of(Kind::Flag)
    }

    /// The same with other values than numbers.
    pub fn of(mut self, kind: Kind) -> Self {
        self.column.kind = kind;
        self
    }

    /// The same in these forms alone.
    pub fn only(mut self, forms: Forms) -> Self {
        self.column.forms = forms;
        self
    }
}

/// A row.
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use]
pub struct Row {
    /// The thing that the row and its neighbours are about; blank where a table has no groups.
    pub group: Cell,
    /// Its name.
    pub name: Cell,
    /// A cell per column.
    pub cells: Vec<Cell>,
    /// The series whose colour it has and with which it is switched off.
    pub series: Option<usize>,
    /// By which links find it.
    pub id: Option<String>,
    /// The forms that show it.
    pub forms: Forms,
}

impl Row {
    /// A row of this name in every form.
    pub fn new(name: impl Into<Cell>) -> Row {
        Row { name: name.into(), ..Row::default() }
    }

    /// The same in a group.
    pub fn group(self, group: impl Into<Cell>) -> Row {
        Row { group: group.into(), ..self }
    }

    /// The same in the colour of a series.
    pub fn series(self, series: usize) -> Row {
        Row { series: Some(series), ..self }
    }

    /// The same where links find it.
    pub fn id(self, id: Option<String>) -> Row {
        Row { id, ..self }
    }

    /// The same in these forms alone.
    pub fn only(self, forms: Forms) -> Row {
        Row { forms, ..self }
    }
}

/// A table.
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use]
pub struct Table {
    /// Its name in JSON.
    pub id: &'static str,
    /// What it shows.
    pub title: String,
    /// What the groups are; `None` where there are none.
    pub group: Option<Column>,
    /// What the rows are named by.
    pub name: Column,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows; those of a group follow each other.
    pub rows: Vec<Row>,
    /// The forms in which the names of a group stand side by side.
    pub side_by_side: Forms,
    /// The forms in which rows are entries: a name, and its cells as lines of text.
    pub list: Forms,
    /// Whether the page folds it.
    pub is_folded: bool,
    /// The forms that show it.
    pub forms: Forms,
}

impl Table {
    /// A table with rows of these items, in every form.
    pub fn new<T>(
        id: &'static str,
        title: impl Into<String>,
        name: Column,
        metrics: &[Measure<'_, T>],
        rows: impl IntoIterator<Item = (Row, T)>,
    ) -> Table {
        let cells = |item: &T| metrics.iter().map(|metric| (metric.cell)(item)).collect();
        let columns = metrics.iter().map(|metric| metric.column.clone()).collect();
        let rows = rows.into_iter().map(|(row, item)| Row { cells: cells(&item), ..row }).collect();
        Table { columns, rows, ..Table::empty(id, title, name) }
    }

    /// A table without columns and rows, in every form.
    pub fn empty(id: &'static str, title: impl Into<String>, name: Column) -> Table {
        Table { id, title: title.into(), name, side_by_side: Forms::NONE, list: Forms::NONE, ..Table::default() }
    }

    /// The same with groups.
    pub fn grouped(self, group: Column) -> Table {
        Table { group: Some(group), ..self }
    }

    /// The same with the names of a group side by side in some forms.
    pub fn side_by_side(self, forms: Forms) -> Table {
        Table { side_by_side: forms, ..self }
    }

    /// The same as a list of entries.
    pub fn list(self) -> Table {
        self.list_in(Forms::ALL)
    }

    /// The same as a list of entries in some forms.
    pub fn list_in(self, forms: Forms) -> Table {
        Table { list: forms, ..self }
    }

    /// The same folded on the page.
    pub fn folded(self) -> Table {
        Table { is_folded: true, ..self }
    }

    /// The same in these forms alone.
    pub fn only(self, forms: Forms) -> Table {
        Table { forms, ..self }
    }

    /// The rows and columns that a form shows; `None` without rows.
    pub fn grid(&self, form: Forms) -> Option<Grid<'_>> {
        let rows: Vec<&Row> = self.rows.iter().filter(|row| row.forms.contains(form)).collect();
        let grid = if self.side_by_side.contains(form) { Table::side_by_side_grid } else { Table::stacked_grid };
        (!rows.is_empty() && self.forms.contains(form)).then(|| grid(self, &rows, form))
    }

    /// The columns of a form that have a text in some of the rows.
    fn shown(&self, rows: &[&Row], form: Forms) -> Vec<usize> {
        let has_text = |place: usize| rows.iter().any(|row| row.cells.get(place).is_some_and(|cell| !cell.is_blank()));
        let is_shown = |place: &usize| self.columns[*place].forms.contains(form) && has_text(*place);
        (0..self.columns.len()).filter(is_shown).collect()
    }

    fn stacked_grid<'t>(&'t self, rows: &[&'t Row], form: Forms) -> Grid<'t> {
        let shown = self.shown(rows, form);
        let mut lines = Vec::new();
        let mut group: Option<&Cell> = None;
        for &row in rows {
            if group != Some(&row.group) && self.group.is_some() {
                let own = || rows.iter().filter(|other| other.group == row.group);
                let series = row.series.filter(|series| own().all(|other| other.series == Some(*series)));
                lines.push(Line { is_heading: true, name: &row.group, series, id: None, cells: Vec::new() });
                group = Some(&row.group);
            }
            let cells = shown.iter().map(|place| row.cells.get(*place)).collect();
            lines.push(Line { is_heading: false, name: &row.name, series: row.series, id: row.id.as_deref(), cells });
        }
        let columns = shown.into_iter().map(|place| &self.columns[place]).collect();
        Grid { corner: &self.name, blocks: vec![Block { heading: None, series: None, columns }], lines }
    }

    fn side_by_side_grid<'t>(&'t self, rows: &[&'t Row], form: Forms) -> Grid<'t> {
        let (mut names, mut groups): (Vec<&Row>, Vec<&Row>) = (Vec::new(), Vec::new());
        let mut at: HashMap<(&str, &str), &Row> = HashMap::with_capacity(rows.len());
        let mut known = HashSet::new();
        for &row in rows {
            if known.insert(row.name.text.as_str()) {
                names.push(row);
            }
            if groups.last().is_none_or(|last| last.group.text != row.group.text) {
                groups.push(row);
            }
            at.insert((&row.group.text, &row.name.text), row);
        }
        let shown = names.iter().map(|name| {
            let own: Vec<&Row> = rows.iter().copied().filter(|row| row.name.text == name.name.text).collect();
            self.shown(&own, form)
        });
        let shown: Vec<Vec<usize>> = shown.collect();
        let line = |first: &'t Row| {
            let cells = names.iter().zip(&shown).flat_map(|(name, places)| {
                let row = at.get(&(first.group.text.as_str(), name.name.text.as_str())).copied();
                places.iter().map(move |place| row.and_then(|row| row.cells.get(*place)))
            });
            Line { is_heading: false, name: &first.group, series: None, id: None, cells: cells.collect() }
        };
        let lines = groups.into_iter().map(line).collect();
        let blocks = names.iter().zip(&shown).map(|(row, places)| Block {
            heading: Some(&row.name),
            series: row.series,
            columns: places.iter().map(|place| &self.columns[*place]).collect(),
        });
        let blocks = blocks.filter(|block| !block.columns.is_empty()).collect();
        Grid { corner: self.group.as_ref().unwrap_or(&self.name), blocks, lines }
    }

    /// The rows as JSON records.
    pub fn records(&self) -> Value {
        let rows = self.rows.iter().filter(|row| row.forms.contains(Forms::JSON));
        let record = |row: &Row| {
            let group = self.group.iter().map(|column| (column, &row.group));
            let named = group.chain([(&self.name, &row.name)]);
            let cells = self.columns.iter().zip(&row.cells).filter(|(column, _)| column.forms.contains(Forms::JSON));
            named.chain(cells).map(|(column, cell)| (column.key.to_owned(), value(column, cell))).collect()
        };
        Value::Array(rows.map(record).map(Value::Object).collect())
    }
}

fn value(column: &Column, cell: &Cell) -> Value {
    match (&cell.value, column.kind) {
        (Some(value), _) => value.clone(),
        (None, Kind::Text) if !cell.is_blank() => Value::from(cell.text.as_str()),
        (None, _) => Value::Null,
    }
}

/// A table as one form shows it.
#[derive(Debug)]
pub struct Grid<'t> {
    /// The column of the names.
    pub corner: &'t Column,
    /// Columns that belong together.
    pub blocks: Vec<Block<'t>>,
    /// The lines below the headings.
    pub lines: Vec<Line<'t>>,
}

/// Columns under a common heading.
#[derive(Debug)]
pub struct Block<'t> {
    /// The heading; `None` where there is one block alone.
    pub heading: Option<&'t Cell>,
    /// The series of all its cells.
    pub series: Option<usize>,
    /// The columns.
    pub columns: Vec<&'t Column>,
}

/// A line of a grid.
#[derive(Debug)]
pub struct Line<'t> {
    /// Whether it is the heading of the lines after it, without cells.
    pub is_heading: bool,
    /// Its name.
    pub name: &'t Cell,
    /// The series of the whole line.
    pub series: Option<usize>,
    /// By which links find it.
    pub id: Option<&'t str>,
    /// A cell per column of all blocks, where there is one.
    pub cells: Vec<Option<&'t Cell>>,
}

impl Grid<'_> {
    /// The columns of all blocks with the series of their block, as [`Line::cells`] has their cells.
    pub fn columns(&self) -> impl Iterator<Item = (Option<usize>, &Column)> {
        self.blocks.iter().flat_map(|block| block.columns.iter().map(|column| (block.series, *column)))
    }

    /// Whether every block has columns enough that it needs a heading above theirs.
    pub fn has_two_headings(&self) -> bool {
        self.blocks.iter().any(|block| block.heading.is_some() && block.columns.len() > 1)
    }
}
