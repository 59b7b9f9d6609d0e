//! Cells: how a strategy compares with the best of its row, in a word or a factor.

use crate::record::{Metric, OPLOG_BYTES};
use crate::report::document::{NOTHING, three};
use crate::report::interval;
use crate::report::run::decision::phrase::NO_DIFFERENCE;
use crate::results::{MetricRecord, PublishedMetric, Standing};
use crate::stats::{AGREEMENT, WRITTEN};

/// Ratios below it read as 1.00.
const EQUAL: f64 = 1.005;

/// The ratios from which a cell has the next darker shade.
const SHADES: [f64; 6] = [1.1, 1.3, 1.7, 2.5, 4.0, 8.0];

/// Cells and what they say, with the classes of their looks.
pub(crate) const LEGEND: [(&str, &str, &str); 6] = [
    ("k3", "× 2", "the best of the row makes twice the calls per second, or needs half"),
    ("b", "best", "the strategy to choose, shown to be better than all others (95 % confidence; an estimate: by 20 %)"),
    ("t", "tied best", "it leads, with no difference found between those that do"),
    ("l", "highest", "the best number, but not shown to be better, or another number decides; of times, \"lowest\""),
    ("x", "undecided", "not compared with the others, for a reason that is given below"),
    ("u", "unsafe", "wrong on purpose"),
];

/// What may stand beside a cell.
pub(crate) const REMARKS: [(&str, &str); 2] = [
    ("choose", "the strategy to choose, by another number"),
    ("est.", "estimated from the times of single operations, without the waits of calls for each other"),
];

/// How a cell looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Look {
    /// The strategy to choose; or estimated to be far better than all others.
    Best,
    /// One of those with the best number, which are not told apart, while others are worse.
    TiedBest,
    /// No difference between any strategies is shown.
    NoDifference,
    /// The best number, of a strategy that is not the one to choose, or where numbers are not tested.
    Lowest,
    /// A number of times the best.
    Times,
    /// A negative control.
    Unsafe,
    /// The comparison with the best is inconclusive.
    Undecided,
    /// A number without a best one.
    Value,
    /// Not measured.
    #[default]
    Nothing,
}

/// A strategy in one number of a row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MatrixCell {
    /// How it looks.
    pub look: Look,
    /// How many times the best.
    pub ratio: Option<f64>,
    /// The number for people.
    pub value: String,
    /// What another session would give, in 95 % of cases, in parentheses; empty of a single session.
    pub quoted: String,
    /// Whether more is better.
    is_rate: bool,
}

impl MatrixCell {
    /// The text.
    pub fn text(&self) -> String {
        match (self.look, self.ratio) {
            (Look::Best, _) => "best".to_owned(),
            (Look::TiedBest, _) => "tied best".to_owned(),
            (Look::NoDifference, _) => NO_DIFFERENCE.to_owned(),
            (Look::Lowest, _) => if self.is_rate { "highest" } else { "lowest" }.to_owned(),
            (Look::Undecided, _) => "undecided".to_owned(),
            (Look::Times | Look::Unsafe, Some(ratio)) => format!("× {}", three(ratio)),
            (Look::Times | Look::Unsafe | Look::Value, _) => self.value.clone(),
            (Look::Nothing, _) => NOTHING.to_owned(),
        }
    }

    /// The number behind a word or a factor, and the quoted interval of a factor; empty where the text has all.
    pub fn remark(&self) -> String {
        match self.look {
            Look::Best | Look::TiedBest | Look::NoDifference | Look::Lowest | Look::Undecided => self.value.clone(),
            Look::Times | Look::Unsafe if self.ratio.is_some() => {
                format!("{} {}", self.value, self.quoted).trim().to_owned()
            }
            _ => self.quoted.clone(),
        }
    }

    /// Whether its strategy alone has the best number of the row.
    pub fn is_first(&self) -> bool {
        matches!(self.look, Look::Best | Look::Lowest)
    }

    /// The remark, and whether the number is estimated.
    pub fn full_remark(&self, is_estimated: bool) -> String {
        let estimated = if is_estimated && self.look != Look::Nothing { "est." } else { "" };
        format!("{} {estimated}", self.remark()).trim().to_owned()
    }

    /// The class of its look on the page.
    pub fn class(&self) -> String {
        match self.look {
            Look::Best => "b",
            Look::TiedBest => "t",
            Look::NoDifference => "d",
            Look::Lowest => "l",
            Look::Times => match self.ratio {
                Some(ratio) => return format!("k{}", SHADES.iter().filter(|from| ratio >= **from).count()),
                None => "v",
            },
            Look::Unsafe => "u",
            Look::Undecided => "x",
            Look::Value => "v",
            Look::Nothing => "n",
        }
        .to_owned()
    }
}

/// A strategy's number in a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PublishedNumber {
    pub record: MetricRecord,
    pub is_unsafe: bool,
    /// Whether its ratio and interval are of several sessions.
    pub is_quoted: bool,
}

/// The cells of one metric, from the number of each strategy, and whether its differences were tested.
pub(crate) fn cells(metric: PublishedMetric, is_tested: bool, entries: &[Option<PublishedNumber>]) -> Vec<MatrixCell> {
    let judged = || entries.iter().flatten().filter(|entry| !entry.is_unsafe);
    let has_worse = judged().any(|entry| entry.record.standing == Some(Standing::Worse));
    let pick = if metric.is_rate() { f64::max } else { f64::min };
    let best = judged().map(|entry| entry.record.value).reduce(pick).filter(|_| judged().count() > 1);
    let cell = |entry: &Option<PublishedNumber>| {
        let Some(PublishedNumber { record, is_unsafe, is_quoted }) = entry else { return MatrixCell::default() };
        let plain = best.map(|best| factor(metric, record.value, best));
        // The ratio over rounds where there is one: the report has the same.
        let tested = record.ratio.map(|ratio| if metric.is_rate() { ratio.recip() } else { ratio });
        let ratio = tested.or(plain).filter(|ratio| ratio.is_finite() && *ratio > 0.0);
        let look = match record.standing {
            _ if *is_unsafe => Look::Unsafe,
            Some(Standing::Best) => Look::Best,
            Some(Standing::First) => Look::Lowest,
            Some(Standing::Tied) if has_worse => Look::TiedBest,
            Some(Standing::Tied) => Look::NoDifference,
            Some(Standing::Worse) => Look::Times,
            Some(Standing::Undecided) => Look::Undecided,
            None if is_tested || ratio.is_none() => Look::Value,
            None if ratio.is_some_and(|ratio| ratio < EQUAL) => Look::Lowest,
            None => Look::Times,
        };
        let ends = |[low, high]: [f64; 2]| {
            if metric.is_rate() { interval(high.recip(), low.recip()) } else { interval(low, high) }
        };
        let quoted = record.interval.filter(|_| *is_quoted).map(ends);
        let quoted = quoted.map_or_else(String::new, |quoted| format!("({quoted})"));
        let value = metric.metric().unit().text(record.value);
        MatrixCell { look, ratio, value, quoted, is_rate: metric.is_rate() }
    };
    entries.iter().map(cell).collect()
}

/// The cells of a metric of a mix that was not measured: own times estimate times and how calls per second compare, and no other
/// number. Estimates within [`AGREEMENT`] of each other do not say which is faster, because as much is tolerated where they are held
/// against measurements.
pub(crate) fn estimated(metric: PublishedMetric, times: &[Option<PublishedNumber>]) -> Vec<MatrixCell> {
    let is_time = matches!(metric, PublishedMetric::RESPONSE_MEAN | PublishedMetric::OWN_TIME);
    if !is_time && metric != PublishedMetric::CALLS_PER_SECOND {
        return vec![MatrixCell::default(); times.len()];
    }
    let mut cells = cells(PublishedMetric::OWN_TIME, false, times);
    if !is_time {
        cells.iter_mut().for_each(|cell| (cell.value, cell.is_rate) = (String::new(), true));
    }
    let is_near = |cell: &MatrixCell| {
        matches!(cell.look, Look::Lowest | Look::Times) && cell.ratio.is_some_and(|ratio| ratio <= 1.0 + AGREEMENT)
    };
    if cells.iter().filter(|cell| is_near(cell)).count() == 1 {
        cells.iter_mut().filter(|cell| cell.look == Look::Lowest).for_each(|cell| cell.look = Look::Best);
    }
    cells
}

/// How many times the best a number is: for a rate, how many times as high the best is.
fn factor(metric: PublishedMetric, value: f64, best: f64) -> f64 {
    match metric.metric() {
        _ if metric.is_rate() => best / value,
        // The server also writes when nobody does.
        Metric::Counter(counter) if counter.name == OPLOG_BYTES => value.max(WRITTEN) / best.max(WRITTEN),
        _ => value / best,
    }
}
