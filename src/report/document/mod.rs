//! What every report is made of: cells, tables and charts. Nothing here knows MongoDB.

pub(crate) mod cell;
pub(crate) mod chart;
pub(crate) mod decision;
pub(crate) mod format;
pub(crate) mod section;
pub(crate) mod table;

pub use cell::{Cell, Link, Tone};
pub(crate) use decision::Decision;
pub(crate) use format::{
    NOTHING, bytes, capitalised, count, counted, enumerated, listed, percent, plain, short, three, time, unmarked,
    visible, wrap,
};
pub use section::{Finding, Headline, Listing, Onward, Paragraph, Section};
pub use table::{Block, Column, Forms, Grid, Kind, Line, Measure, Row, Table, column};
