//! Reads that other members than the primary may answer.

use crate::plan::Plan;

use super::exit::CliError;
use super::session::Session;

/// The steps that another member than the primary may answer, in words, and their read preferences.
fn preferring(plan: &Plan) -> impl Iterator<Item = (String, &str)> {
    plan.commands().filter_map(|(place, command)| {
        let preference = command.read_preference.as_deref()?;
        Some((format!("{place}: `{}` has `readPreference: {preference}`", command.label), preference))
    })
}

/// Rejects read preferences that the server or the client would ignore without a word.
///
/// # Errors
/// When there is no secondary, or the client does not see it.
pub fn check_members(plan: &Plan, session: &Session) -> Result<(), CliError> {
    let members = session.deployment.topology.members();
    let is_hidden = members > 1 && session.target.is_direct;
    let is_lost = |preference: &str| is_hidden || (preference == "secondary" && session.is_single());
    let Some((step, _)) = preferring(plan).find(|(_, preference)| is_lost(preference)) else { return Ok(()) };
    Err(CliError::usage(if is_hidden {
        format!("{step}, but directConnection=true keeps docshape at one member: omit it from the connection string")
    } else {
        format!("{step}, and this replica set has no secondary: use --members 3, or `secondaryPreferred`")
    }))
}

/// What reports say of such reads; `None` without any.
pub fn stale_reads(plan: &Plan) -> Option<String> {
    let (step, _) = preferring(plan).next()?;
    Some(format!(
        "{step}: such a read may return older data than the primary has. Verification reads from the primary, where all strategies \
         must return the same. Counters are those of the primary, without what other members read."
    ))
}
