//! The claims of the scenario. Their results are not stored: reports decide them.

use serde::{Deserialize, Serialize};

use crate::record::Relation;

/// A claim of the scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimRecord {
    /// The id by which reports refer to it.
    pub id: String,
    /// The claim as a sentence.
    pub says: String,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The metric, as the scenario names it.
    pub metric: String,
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
    /// The same metric of another strategy.
    Strategy(String),
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
            source: None,
            metric: "round_trips".into(),
            operation: Some("read".into()),
            strategy: "embedded".into(),
            relation: Relation::Equals,
            than: Than::Number(1.0),
        };
        let other = ClaimRecord { than: Than::Strategy("1".into()), operation: None, ..claim.clone() };
        run.claims = vec![claim, other];
        let written = serde_json::to_value(&run).unwrap();
        assert_eq!(written["claims"][0]["relation"], "equals");
        assert_eq!((&written["claims"][0]["than"], &written["claims"][1]["than"]), (&1.0.into(), &"1".into()));
        assert_eq!(serde_json::from_value::<RunRecord>(written).unwrap(), run);
    }
}
