//! What must hold of the stored data, whatever happened.

use super::{Node, Spanned, Step};

/// A count of anomalies.
#[derive(Debug, Clone)]
pub struct Audit {
    /// Its name.
    pub name: Spanned<String>,
    /// `about`: one sentence on the anomaly.
    pub about: Option<String>,
    /// `expect`: CEL, the number of rows that there must be; 0 when not given.
    pub expect: Option<Node>,
    /// `live: true`: also counted while calls run.
    pub is_live: Option<Spanned<bool>>,
    /// How it is counted, and where.
    pub check: Check,
}

/// How an audit counts, by strategy.
#[derive(Debug, Clone)]
pub enum Check {
    /// The same command for the named strategies; `None`: for all of them.
    Same(Option<Vec<Spanned<String>>>, Vec<Step>),
    /// A command per strategy.
    Each(Vec<(Spanned<String>, Vec<Step>)>),
}

impl Audit {
    /// The command for a strategy, as a single step; `None` where the audit does not apply.
    pub fn steps(&self, strategy: &str) -> Option<&[Step]> {
        match &self.check {
            Check::Same(None, steps) => Some(steps),
            Check::Same(Some(names), steps) => names.iter().any(|name| name.value == strategy).then_some(steps),
            Check::Each(commands) => {
                commands.iter().find(|(name, _)| name.value == strategy).map(|(_, steps)| steps.as_slice())
            }
        }
    }

    /// The strategies that it names.
    pub fn strategies(&self) -> Vec<&Spanned<String>> {
        match &self.check {
            Check::Same(names, _) => names.iter().flatten().collect(),
            Check::Each(commands) => commands.iter().map(|(name, _)| name).collect(),
        }
    }
}
