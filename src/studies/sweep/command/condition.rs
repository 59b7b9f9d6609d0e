//! What a sweep varies.

use std::fmt;

use crate::cli::value::{rate, round_trip_time, share, whole, write_concern};
use crate::compile::Choice;
use crate::results::{CLIENTS_AT_RATE, LoadModel, Part, RunSettings};
use crate::scenario::SHARE;
use crate::studies::sweep::record::ConditionRecord;

/// The most values of a condition.
const MOST_VALUES: usize = 50;

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
    /// Calls per second of the common rate.
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

impl ConditionSubject {
    /// The subject of this name.
    fn of(name: &str) -> ConditionSubject {
        match (name, name.strip_prefix(SHARE)) {
            (_, Some(operation)) => ConditionSubject::Share(operation.trim().to_owned()),
            ("clients", None) => ConditionSubject::Clients,
            ("rate", None) => ConditionSubject::Rate,
            ("rtt", None) => ConditionSubject::Rtt,
            ("cache", None) => ConditionSubject::Cache,
            ("mix", None) => ConditionSubject::Mix,
            ("w", None) => ConditionSubject::WriteConcern,
            (name, None) => ConditionSubject::Parameter(name.to_owned()),
        }
    }

    /// The parts in which the condition changes anything.
    fn parts(&self) -> &'static [Part] {
        match self {
            ConditionSubject::Parameter(_)
            | ConditionSubject::Rtt
            | ConditionSubject::Cache
            | ConditionSubject::WriteConcern => &[Part::Own, Part::Rate],
            ConditionSubject::Share(_) | ConditionSubject::Mix => &[Part::Rate, Part::Saturation],
            ConditionSubject::Rate => &[Part::Rate],
            ConditionSubject::Clients => &[Part::Saturation],
        }
    }

    /// Gives a point this value of the condition. That of a cache acts on servers.
    ///
    /// # Errors
    /// When the condition cannot have this value.
    pub fn apply(&self, value: &str, choice: &mut Choice, settings: &mut RunSettings) -> Result<(), String> {
        match self {
            // The last value of a parameter counts.
            ConditionSubject::Parameter(name) => choice.set.push((name.clone(), value.to_owned())),
            ConditionSubject::Share(operation) => {
                choice.shares.retain(|(other, _)| other != operation);
                choice.shares.push(share(&format!("{operation}={value}"))?);
            }
            ConditionSubject::Clients => {
                settings.clients = whole::<1, 10_000>(value)? as usize;
                settings.clients_at_rate = CLIENTS_AT_RATE.max(settings.clients);
            }
            ConditionSubject::Rate => {
                if let LoadModel::Open { rate: common, .. } = &mut settings.load {
                    *common = rate(value)?.per_second();
                }
            }
            ConditionSubject::Rtt => settings.rtt = round_trip_time(value)?.as_secs_f64(),
            ConditionSubject::Cache => drop(cache_ratio(value)?),
            ConditionSubject::Mix => choice.mix = Some(value.to_owned()),
            ConditionSubject::WriteConcern => choice.write_concern = Some(write_concern(value)?),
        }
        settings.set.clone_from(&choice.set);
        settings.shares.clone_from(&choice.shares);
        Ok(())
    }
}

/// Data divided by the cache.
///
/// # Errors
/// When it is not a number from 0.01 to 100.
pub fn cache_ratio(value: &str) -> Result<f64, String> {
    let ratio = value.parse().ok().filter(|ratio| (0.01..=100.0).contains(ratio));
    ratio.ok_or_else(|| "expected data divided by cache, a number from 0.01 to 100, such as 4".to_owned())
}

/// The parts in which some conditions change anything.
pub fn parts(conditions: &[Condition]) -> Vec<Part> {
    let is_changed = |part: &Part| conditions.iter().any(|condition| condition.subject.parts().contains(part));
    Part::ALL.into_iter().filter(is_changed).collect()
}

impl fmt::Display for ConditionSubject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConditionSubject::Parameter(name) => formatter.write_str(name),
            ConditionSubject::Share(operation) => write!(formatter, "{SHARE}{operation}"),
            ConditionSubject::Clients => formatter.write_str("clients"),
            ConditionSubject::Rate => formatter.write_str("rate"),
            ConditionSubject::Rtt => formatter.write_str("rtt"),
            ConditionSubject::Cache => formatter.write_str("cache"),
            ConditionSubject::Mix => formatter.write_str("mix"),
            ConditionSubject::WriteConcern => formatter.write_str("w"),
        }
    }
}

impl From<&Condition> for ConditionRecord {
    fn from(condition: &Condition) -> ConditionRecord {
        ConditionRecord { name: condition.subject.to_string(), values: condition.values.clone() }
    }
}

/// `name=value,value,...`.
///
/// # Errors
/// When there is no name, or fewer than two different values.
pub fn condition(text: &str) -> Result<Condition, String> {
    const EXPECTED: &str = "expected name=value,value,..., such as posts=100,1000,10000";
    let (name, values) = text.split_once('=').ok_or(EXPECTED)?;
    let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
    Condition::new(name.trim(), values)
}

impl Condition {
    /// A condition of this name with these values.
    ///
    /// # Errors
    /// When there is no name, or fewer than two different values.
    pub fn new(name: &str, values: Vec<String>) -> Result<Condition, String> {
        if name.is_empty() || values.iter().any(String::is_empty) {
            return Err("expected name=value,value,..., such as posts=100,1000,10000".to_owned());
        }
        if !(2..=MOST_VALUES).contains(&values.len()) {
            return Err(format!("expected 2 to {MOST_VALUES} values, found {}; separate them by commas", values.len()));
        }
        if let Some(twice) = values.iter().enumerate().find(|(place, value)| values[..*place].contains(value)) {
            return Err(format!("value {} is given twice", twice.1));
        }
        Ok(Condition { subject: ConditionSubject::of(name), values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        let posts = condition("posts = 10, 100").unwrap();
        assert_eq!(
            (posts.subject.to_string().as_str(), posts.values.as_slice()),
            ("posts", &["10".into(), "100".into()][..])
        );
        let share = condition("share:read_post=5%,75%").unwrap();
        assert_eq!(share.subject, ConditionSubject::Share("read_post".into()));
        for (text, expected) in [
            ("posts", "expected name=value,value"),
            ("=1,2", "expected name=value,value"),
            ("posts=1,,2", "expected name=value,value"),
            ("posts=1", "expected 2 to 50 values, found 1"),
            ("posts=1,2,1", "value 1 is given twice"),
        ] {
            assert!(condition(text).unwrap_err().contains(expected), "{text}");
        }
    }
}
