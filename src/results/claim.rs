//! The claims of the scenario, and what a run says of them. A run does not store that: reports decide them.

use serde::{Deserialize, Serialize};

use crate::record::{Metric, MetricUse, Relation};

use super::is_default;
use super::verdict::Verdict;

/// A claim of the scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(Default))]
pub struct ClaimRecord {
    /// The id by which reports refer to it.
    pub id: String,
    /// The claim as a sentence.
    pub says: String,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Whether it follows from the scenario itself, so that it is not counted among the results.
    #[serde(default, skip_serializing_if = "is_default")]
    pub by_design: bool,
    /// Whether only a sharded cluster decides it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub needs_cluster: bool,
    /// The mix of the runs that decide it; `None`: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<String>,
    /// The clients of the runs that decide it; `None`: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<u64>,
    /// Parameters and their values in the runs that decide it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<(String, serde_json::Value)>,
    /// The metric, as the scenario names it; empty for a claim on an audit, or on the share of an outcome.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub metric: String,
    /// The audit whose anomalies are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<String>,
    /// The outcome of the calls whose times count, or, without a metric, whose share is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The operation; `None` for a metric of a whole strategy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The strategy whose metric it is.
    pub strategy: String,
    /// How the metric compares, as the claim has it.
    pub relation: Relation,
    /// What the metric is compared with.
    pub than: Than,
}

/// What a metric is compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Than {
    /// A number.
    Number(f64),
    /// The same number of another strategy.
    Strategy(String),
    /// A number that follows from the parameters.
    Evaluated {
        /// The expression.
        expression: String,
        /// Its value in this run.
        number: f64,
    },
    /// The same number of another strategy or operation, or a multiple of it.
    Other {
        /// The strategy.
        strategy: String,
        /// The operation; `None` for a number of a whole strategy.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        operation: Option<String>,
        /// The factor in this run.
        times: f64,
        /// The expression of the factor; `None` for a plain number.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expression: Option<String>,
    },
}

/// What a run says of a claim, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClaimResult {
    /// How the number of the strategy compares with the other one.
    pub verdict: Verdict,
    /// The number of the strategy: nanoseconds, calls per second, a count or bytes per call, bytes, or a share.
    pub value: Option<f64>,
    /// The number that it is compared with, multiplied by its factor.
    pub against: Option<f64>,
    /// The value divided by the other, for a metric that is measured over rounds.
    pub ratio: Option<f64>,
    /// The lower and upper end of the 95 % CI of the ratio, simultaneous for all claims that are decided over rounds.
    pub interval: Option<[f64; 2]>,
}

impl ClaimResult {
    /// The numbers of the two sides themselves: the factor that the claim allows is taken out.
    #[must_use]
    pub fn without_factor(self, claim: &ClaimRecord) -> ClaimResult {
        let times = claim.factor();
        ClaimResult {
            against: self.against.map(|against| against / times),
            ratio: self.ratio.map(|ratio| ratio * times),
            interval: self.interval.map(|ends| ends.map(|end| end * times)),
            ..self
        }
    }
}

/// What a verdict makes of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// The numbers confirm it.
    Confirmed,
    /// The numbers show the opposite.
    Refuted,
    /// The run does not decide it.
    Undecided,
}

impl ClaimOutcome {
    /// In a word.
    pub fn name(self) -> &'static str {
        ["confirmed", "refuted", "undecided"][self as usize]
    }
}

impl ClaimRecord {
    /// By what the other side is multiplied; 1 where it is compared as it is.
    pub fn factor(&self) -> f64 {
        if let Than::Other { times, .. } = self.than { times } else { 1.0 }
    }

    /// The metric; `None` for a claim on an audit or an outcome, or where this build does not know it.
    pub fn known_metric(&self) -> Option<Metric> {
        Metric::named(&self.metric, MetricUse::Claim)
    }

    /// What a verdict on its number makes of it.
    pub fn outcome(&self, verdict: Verdict) -> ClaimOutcome {
        let more = if self.known_metric() == Some(Metric::Throughput) { Verdict::Faster } else { Verdict::Slower };
        let is_confirmed = match (verdict, self.relation) {
            (Verdict::Faster | Verdict::Slower, Relation::Above) => verdict == more,
            (Verdict::Faster | Verdict::Slower, Relation::Below) => verdict != more,
            (Verdict::Faster | Verdict::Slower, Relation::Equals) => false,
            (Verdict::Same { .. }, Relation::Equals) => true,
            // Exactly equal counts.
            (Verdict::Same { within: 0.0 }, Relation::Above | Relation::Below) => false,
            _ => return ClaimOutcome::Undecided,
        };
        if is_confirmed { ClaimOutcome::Confirmed } else { ClaimOutcome::Refuted }
    }
}

#[cfg(test)]
impl Default for Than {
    fn default() -> Than {
        Than::Number(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RunRecord, sample};
    use super::*;

    #[test]
    fn claims_are_plain_data_and_old_records_have_none() {
        let mut run = sample::run(&[1_000]);
        let old = serde_json::to_value(&run).unwrap();
        assert!(old.get("claims").is_none());
        assert_eq!(serde_json::from_value::<RunRecord>(old).unwrap(), run);
        let claim = ClaimRecord {
            id: "C1".into(),
            says: "One read is enough.".into(),
            metric: "round_trips".into(),
            operation: Some("read".into()),
            strategy: "embedded".into(),
            relation: Relation::Equals,
            ..ClaimRecord::default()
        };
        let other = ClaimRecord { than: Than::Strategy("1".into()), operation: None, ..claim.clone() };
        let evaluated = Than::Evaluated { expression: "posts / 4".into(), number: 50.0 };
        let half = Than::Other { strategy: "linked".into(), operation: None, times: 0.5, expression: None };
        let set = vec![("posts".to_owned(), 5.into())];
        let audit = ClaimRecord { metric: String::new(), audit: Some("lost".into()), than: evaluated, ..claim.clone() };
        let scaled = ClaimRecord { by_design: true, clients: Some(3), set, than: half, ..claim.clone() };
        run.claims = vec![claim, other, audit, scaled];
        let written = serde_json::to_value(&run).unwrap();
        assert_eq!(written["claims"][0]["relation"], "equals");
        assert_eq!((&written["claims"][0]["than"], &written["claims"][1]["than"]), (&1.0.into(), &"1".into()));
        assert_eq!(serde_json::from_value::<RunRecord>(written).unwrap(), run);
    }
}
