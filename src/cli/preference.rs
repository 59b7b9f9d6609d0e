//! Reads that other members than the primary may answer.

use crate::plan::Plan;

use super::exit::CliError;
use super::session::Session;

/// Rejects read preferences that the server or the client would ignore without a word.
///
/// # Errors
/// When there is no secondary, or the client does not see it.
pub fn check_members(plan: &Plan, session: &Session) -> Result<(), CliError> {
    let members = session.deployment.topology.members();
    let mut preferring = plan.preferring().map(|(place, command)| (place, &command.label, command.read_preference.as_deref()));
    let is_hidden = members > 1 && session.target.is_direct;
    let is_lost = |preference: Option<&str>| is_hidden || (preference == Some("secondary") && session.is_single());
    let Some((place, label, preference)) = preferring.find(|(.., preference)| is_lost(*preference)) else {
        return Ok(());
    };
    let step = format!("{place}: `{label}` has `readPreference: {}`", preference.unwrap_or_default());
    Err(CliError::usage(if is_hidden {
        format!("{step}, but directConnection=true keeps docshape at one member: omit it from the connection string")
    } else {
        format!("{step}, and this replica set has no secondary: use --members 3, or `secondaryPreferred`")
    }))
}

/// What reports say of such reads; `None` without any.
pub fn stale_reads(plan: &Plan) -> Option<String> {
    let (place, command) = plan.preferring().next()?;
    let preference = command.read_preference.as_deref().unwrap_or_default();
    Some(format!(
        "Reads with `readPreference` ({place}: {preference}) may return older data than the primary has: verification reads from the \
         primary, where all strategies must return the same. Counters are those of the primary, without what other members read."
    ))
}
