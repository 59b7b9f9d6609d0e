//! Audits: counts of what must not exist in the stored data.

use super::{Node, Spanned, StepDefinition};

/// An audit as written.
#[derive(Debug, Clone)]
pub struct AuditDefinition {
    /// The key under `audits`.
    pub name: Spanned<String>,
    /// `about`: the anomaly in one sentence.
    pub about: Option<String>,
    /// `expect`: CEL, the expected number of rows, by default 0.
    pub expect: Option<Node>,
    /// `live: true`: also counted while calls run.
    pub is_live: Option<Spanned<bool>>,
    /// The command that counts, by strategy.
    pub check: AuditCommand,
}

/// The commands of an audit.
#[derive(Debug, Clone)]
pub enum AuditCommand {
    /// One command for the named strategies, or for all of them (`None`).
    Shared(Option<Vec<Spanned<String>>>, Vec<StepDefinition>),
    /// A command per strategy.
    PerStrategy(Vec<(Spanned<String>, Vec<StepDefinition>)>),
}

impl AuditDefinition {
    /// Returns the command for a strategy as a single step; `None` if the audit does not apply to it.
    pub fn steps(&self, strategy: &str) -> Option<&[StepDefinition]> {
        match &self.check {
            AuditCommand::Shared(None, steps) => Some(steps),
            AuditCommand::Shared(Some(names), steps) => {
                names.iter().any(|name| name.value == strategy).then_some(steps)
            }
            AuditCommand::PerStrategy(commands) => {
                commands.iter().find(|(name, _)| name.value == strategy).map(|(_, steps)| steps.as_slice())
            }
        }
    }

    /// Returns the strategies that the audit names.
    pub fn strategies(&self) -> Vec<&Spanned<String>> {
        match &self.check {
            AuditCommand::Shared(names, _) => names.iter().flatten().collect(),
            AuditCommand::PerStrategy(commands) => commands.iter().map(|(name, _)| name).collect(),
        }
    }
}
