//! The result of a comparison: of two strategies, of runs, of the sides of a claim, or of two strategies at a point of a sweep.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// The result of comparing a number with another one of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is shown to be better: less time, or more calls per second. Of what is neither good nor bad: less.
    Faster,
    /// It is shown to be worse: more time, or fewer calls per second. Of what is neither good nor bad: more.
    Slower,
    /// The whole interval is within a limit below which differences do not matter; counts differ by less.
    Same {
        /// The limit: 0.02 for 2 %.
        within: f64,
    },
    /// No difference, or none beyond the noise floor and the band of the repeat.
    NoDifference {
        /// Whether there is a significant difference that may be noise.
        within_noise: bool,
        /// The minimum detectable effect: 0.1 for 10 % more time. Infinite, in files `null`, where it is not known.
        #[serde(serialize_with = "finite", deserialize_with = "infinite_without")]
        mde: f64,
    },
    /// The data do not decide it.
    Inconclusive(Reason),
}

impl Verdict {
    /// Whether a difference is shown.
    pub fn is_difference(self) -> bool {
        matches!(self, Verdict::Faster | Verdict::Slower)
    }

    /// The same where a difference is shown.
    pub fn shown(self) -> Option<Verdict> {
        Some(self).filter(|verdict| verdict.is_difference())
    }

    /// The verdict on the other of the two.
    pub fn turned(self) -> Verdict {
        match self {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            Verdict::Same { .. } | Verdict::NoDifference { .. } | Verdict::Inconclusive(_) => self,
        }
    }

    /// Its name in data; of an inconclusive one that of the reason.
    pub fn id(self) -> String {
        match self {
            Verdict::NoDifference { within_noise: true, .. } => "within_noise".to_owned(),
            Verdict::Inconclusive(Reason::OutOfContext { .. }) => "not_in_context".to_owned(),
            Verdict::Inconclusive(Reason::WriteBack { .. } | Reason::DirtyCache { .. }) => "shared_cache".to_owned(),
            Verdict::Inconclusive(reason) => variant(&reason),
            decided => variant(&decided),
        }
    }

    /// Why the data do not decide it; `None` where they do.
    pub fn reason(self) -> Option<Reason> {
        if let Verdict::Inconclusive(reason) = self { Some(reason) } else { None }
    }
}

/// Why a comparison is inconclusive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The strategy is unsafe, or the repeat: it is shown and not judged.
    NotJudged,
    /// The strategy is the one that others are compared with.
    Reference,
    /// The strategy failed in too great a share of its calls.
    Failures {
        /// Its position in the run.
        strategy: usize,
        /// Failed calls per call.
        share: f64,
    },
    /// The strategy could not keep up with the calls that were due: its times are those of a queue.
    Overloaded {
        /// Its position in the run.
        strategy: usize,
        /// The share (0 to 1) of the calls due that it answered.
        achieved: f64,
    },
    /// The strategy had no successful call in a round in which the other had some.
    NoSuccess {
        /// Its position in the run.
        strategy: usize,
    },
    /// It sends the same commands as the baseline to the same collections: a difference would be that of other operations.
    Identical {
        /// The baseline's position in the run.
        baseline: usize,
    },
    /// Its calls by themselves do not do what they do in the mix.
    OutOfContext {
        /// Its position in the run.
        strategy: usize,
        /// The share (0 to 1) of its calls by themselves that did something.
        alone: f64,
        /// The same in the mix.
        in_mix: f64,
    },
    /// Too few of the clients had a call in flight for its throughput to be that of this many clients.
    FewInFlight {
        /// Its position in the run.
        strategy: usize,
        /// Calls in flight per client.
        share: f64,
    },
    /// On a server that strategies shared, much more was written back from the cache in its slices than it stored: it paid for
    /// others, or others for it.
    WriteBack {
        /// Its position in the run.
        strategy: usize,
        /// Bytes written back in its measured slices, per round.
        written: f64,
        /// Bytes that it stored, with the oplog, per round.
        stored: f64,
    },
    /// On a shared server the strategies left more to write than its cache absorbs, so that one paid for another.
    DirtyCache {
        /// The bytes of all strategies per round.
        dirty: f64,
        /// The cache, in bytes.
        cache: f64,
    },
    /// The two have this number of rounds in common, fewer than a verdict requires.
    TooFewRounds(usize),
    /// The minimum detectable effect is too large for "no difference" to say anything.
    Unstable {
        /// The minimum detectable effect; infinite, in files `null`, when no difference would have been found.
        #[serde(serialize_with = "finite", deserialize_with = "infinite_without")]
        mde: f64,
    },
    /// Separate runs met a machine, or a server, that differs too much for their times to be compared.
    Disturbed,
    /// The interval has differences on both sides of the limit up to which a change does not matter.
    Open,
    /// A count that varies is lower in some rounds and higher in others.
    RoundsDisagree,
    /// No anomaly happened, which does not show that none can.
    NotSeen,
    /// In too many rounds too few calls lie beyond the quantile.
    FewCalls,
    /// It needs a run with the mix, the clients or the parameters that the claim names.
    OtherSettings,
    /// It needs a sharded cluster.
    NeedsCluster,
    /// It follows from commands and shard keys, and not from a run.
    NeedsShardKeys,
    /// A strategy or operation is not part of the run.
    NotInRun(ClaimName),
    /// The run is invalid.
    InvalidRun,
    /// The smoke preset is too short for verdicts.
    SmokePreset,
    /// The server does not report the metric, or the run ended before it was measured.
    NotReported,
    /// File sizes were read without a flush before.
    NotCheckpointed,
    /// This build does not know the metric, or cannot compare it in this way.
    UnknownMetric,
}

/// The name of an enum's variant in files.
fn variant(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(name)) => name,
        Ok(Value::Object(fields)) => fields.into_iter().map(|(name, _)| name).collect(),
        _ => String::new(),
    }
}

/// A name in a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimName {
    /// The strategy whose number it is.
    Strategy,
    /// The operation.
    Operation,
    /// The strategy that it is compared with.
    OtherStrategy,
    /// The operation that it is compared with.
    OtherOperation,
}

/// JSON has no infinite numbers.
fn finite<S: Serializer>(number: &f64, out: S) -> Result<S::Ok, S::Error> {
    Some(*number).filter(|number| number.is_finite()).serialize(out)
}

fn infinite_without<'de, D: Deserializer<'de>>(text: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(text)?.unwrap_or(f64::INFINITY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_effects_are_null_in_files() {
        let unstable = Verdict::Inconclusive(Reason::Unstable { mde: f64::INFINITY });
        let none = Verdict::NoDifference { within_noise: false, mde: 0.25 };
        for (verdict, text) in [
            (unstable, r#"{"inconclusive":{"unstable":{"mde":null}}}"#),
            (none, r#"{"no_difference":{"within_noise":false,"mde":0.25}}"#),
            (
                Verdict::Inconclusive(Reason::NotInRun(ClaimName::Operation)),
                r#"{"inconclusive":{"not_in_run":"operation"}}"#,
            ),
            (Verdict::Slower, r#""slower""#),
        ] {
            assert_eq!(serde_json::to_string(&verdict).unwrap(), text);
            assert_eq!(serde_json::from_str::<Verdict>(text).unwrap(), verdict);
        }
        let reasons = [Reason::NotInRun(ClaimName::Operation), Reason::SmokePreset, Reason::TooFewRounds(2)];
        let ids = [unstable, none, Verdict::Slower].into_iter().chain(reasons.map(Verdict::Inconclusive));
        let expected = ["unstable", "no_difference", "slower", "not_in_run", "smoke_preset", "too_few_rounds"];
        assert!(ids.map(Verdict::id).eq(expected));
    }
}
