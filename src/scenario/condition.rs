//! Conditions of `sweeps` and `--vary`.

use std::fmt;

use super::Spanned;
use super::quantity::{cache_ratio, percent, rate, round_trip_time, whole, write_concern};

/// The prefix of an operation whose share of the mix is a condition.
const SHARE: &str = "share:";

/// The most conditions of a sweep.
pub(super) const MOST_CONDITIONS: usize = 2;

/// The most values of a condition.
pub(super) const MOST_VALUES: usize = 50;

/// The conditions that have a name of their own, with some values; any other name is that of a parameter.
const NAMED: [(ConditionSubject, &str, &str); 6] = [
    (ConditionSubject::Clients, "clients", "[1, 8, 32]"),
    (ConditionSubject::Rate, "rate", "[100, 500]"),
    (ConditionSubject::Rtt, "rtt", "[0, 0.2ms, 1ms]"),
    (ConditionSubject::Cache, "cache", "[0.5, 2, 8]"),
    (ConditionSubject::Mix, "mix", "[reading, writing]"),
    (ConditionSubject::WriteConcern, "w", "[1, majority]"),
];

/// A condition of a sweep as written.
#[derive(Debug, Clone)]
pub struct ConditionDefinition {
    /// What is varied.
    pub name: Spanned<String>,
    /// The values, each as `--vary` takes it.
    pub values: Vec<Spanned<String>>,
}

/// A condition and its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// What is varied.
    pub subject: ConditionSubject,
    /// Its values as written.
    pub values: Vec<String>,
}

/// What a condition is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionSubject {
    /// A parameter of the scenario.
    Parameter(String),
    /// An operation's share of the mix.
    Share(String),
    /// Clients at saturation.
    Clients,
    /// Calls per second of open load.
    Rate,
    /// A delay of every reply.
    Rtt,
    /// Data divided by the cache.
    Cache,
    /// The mix.
    Mix,
    /// The write concern.
    WriteConcern,
}

/// Why a condition cannot have its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionError {
    /// The position of the wrong value; `None` when it is their number.
    pub value: Option<usize>,
    /// The problem.
    pub message: String,
}

impl ConditionDefinition {
    /// The condition.
    ///
    /// # Errors
    /// As those of [`Condition::new`].
    pub fn condition(&self) -> Result<Condition, ConditionError> {
        Condition::new(&self.name.value, self.values.iter().map(|value| value.value.clone()).collect())
    }
}

impl Condition {
    /// A condition of this name with these values.
    ///
    /// # Errors
    /// When there are fewer than two different values, or the condition cannot have one of them.
    pub fn new(name: &str, values: Vec<String>) -> Result<Condition, ConditionError> {
        if !(2..=MOST_VALUES).contains(&values.len()) {
            let message = format!("expected 2 to {MOST_VALUES} values, found {}", values.len());
            return Err(ConditionError { value: None, message });
        }
        let subject = ConditionSubject::named(name);
        for (place, value) in values.iter().enumerate() {
            let duplicate = || values[..place].contains(value).then(|| format!("duplicate value `{value}`"));
            if let Some(message) = subject.check(value).err().or_else(duplicate) {
                return Err(ConditionError { value: Some(place), message });
            }
        }
        Ok(Condition { subject, values })
    }
}

impl ConditionSubject {
    /// The names of those that are no parameters.
    pub fn names() -> [&'static str; 6] {
        NAMED.map(|(_, name, _)| name)
    }

    /// The subject of this name.
    pub fn named(name: &str) -> ConditionSubject {
        if let Some(operation) = name.strip_prefix(SHARE) {
            return ConditionSubject::Share(operation.trim().to_owned());
        }
        let named = NAMED.iter().find(|(_, other, _)| *other == name);
        named.map_or_else(|| ConditionSubject::Parameter(name.to_owned()), |(subject, ..)| subject.clone())
    }

    /// Checks a value, as far as that does not need the whole scenario.
    fn check(&self, value: &str) -> Result<(), String> {
        match self {
            ConditionSubject::Parameter(_) | ConditionSubject::Mix if value.is_empty() => Err("empty value".to_owned()),
            ConditionSubject::Parameter(_) | ConditionSubject::Mix => Ok(()),
            ConditionSubject::Share(_) => percent::<100>(value).map(drop),
            ConditionSubject::Clients => whole::<1, 10_000>(value).map(drop),
            ConditionSubject::Rate => rate(value).map(drop),
            ConditionSubject::Rtt => round_trip_time(value).map(drop),
            ConditionSubject::Cache => cache_ratio(value).map(drop),
            ConditionSubject::WriteConcern => write_concern(value).map(drop),
        }
    }

    /// Valid values, for diagnostics.
    pub(super) fn example(&self) -> &'static str {
        match (self, NAMED.iter().find(|(other, ..)| other == self)) {
            (_, Some((.., example))) => example,
            (ConditionSubject::Share(_), None) => "[5%, 25%, 75%]",
            (_, None) => "[10, 100, 1000]",
        }
    }
}

impl fmt::Display for ConditionSubject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConditionSubject::Parameter(name) => formatter.write_str(name),
            ConditionSubject::Share(operation) => write!(formatter, "{SHARE}{operation}"),
            named => {
                NAMED.iter().filter(|(other, ..)| other == named).try_for_each(|(_, name, _)| formatter.write_str(name))
            }
        }
    }
}

impl From<ConditionError> for String {
    fn from(error: ConditionError) -> String {
        error.message
    }
}
