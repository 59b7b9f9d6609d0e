//! What the conditions of a sweep change.

use crate::cli::value::share;
use crate::compile::Choice;
use crate::results::{CLIENTS_AT_RATE, LoadModel, Part, RunSettings};
use crate::scenario::quantity::{cache_ratio, rate, round_trip_time, whole, write_concern};
use crate::scenario::{Condition, ConditionSubject};
use crate::studies::sweep::record::ConditionRecord;

/// The parts that measure what decides, as far as a condition changes it.
fn parts_of(subject: &ConditionSubject) -> &'static [Part] {
    match subject {
        ConditionSubject::Parameter(_)
        | ConditionSubject::Rtt
        | ConditionSubject::Cache
        | ConditionSubject::WriteConcern => &[Part::Own, Part::Saturation],
        ConditionSubject::Rate => &[Part::Rate],
        ConditionSubject::Share(_) | ConditionSubject::Mix | ConditionSubject::Clients => &[Part::Saturation],
    }
}

/// The parts that measure what some conditions change, and an open load where one was asked for.
pub fn parts(conditions: &[Condition], is_open: bool) -> Vec<Part> {
    let is_changed = |part: &Part| conditions.iter().any(|condition| parts_of(&condition.subject).contains(part));
    Part::ALL.into_iter().filter(|part| is_changed(part) || (is_open && *part == Part::Rate)).collect()
}

/// Gives a point a value of a condition. That of a cache acts on servers.
///
/// # Errors
/// When the condition cannot have this value.
pub fn apply(
    subject: &ConditionSubject,
    value: &str,
    choice: &mut Choice,
    settings: &mut RunSettings,
) -> Result<(), String> {
    match subject {
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
                settings.is_named_rate = *common > 0.0;
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

impl From<&Condition> for ConditionRecord {
    fn from(condition: &Condition) -> ConditionRecord {
        ConditionRecord { name: condition.subject.to_string(), values: condition.values.clone() }
    }
}

/// `name=value,value,...`.
///
/// # Errors
/// When there is no name, there are fewer than two different values, or the condition cannot have one of them.
pub fn condition(text: &str) -> Result<Condition, String> {
    const EXPECTED: &str = "expected name=value,value,..., such as posts=100,1000,10000";
    let (name, values) = text.split_once('=').ok_or(EXPECTED)?;
    let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
    if name.trim().is_empty() || values.iter().any(String::is_empty) {
        return Err(EXPECTED.to_owned());
    }
    Ok(Condition::new(name.trim(), values)?)
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
            ("rtt=0,fast", "expected a time from 0 to 10s"),
            ("posts=1,2,1", "duplicate value `1`"),
        ] {
            assert!(condition(text).unwrap_err().contains(expected), "{text}");
        }
    }

    #[test]
    fn an_open_load_is_measured_where_it_is_asked_for() {
        let parts = |text: &str, is_open: bool| super::parts(&[condition(text).unwrap()], is_open);
        assert_eq!(parts("posts=1,2", false), [Part::Own, Part::Saturation]);
        assert_eq!(parts("posts=1,2", true), [Part::Own, Part::Saturation, Part::Rate]);
        assert_eq!(parts("share:read_post=5%,75%", false), [Part::Saturation]);
        assert_eq!(parts("rate=100,200", true), [Part::Rate]);
    }
}
