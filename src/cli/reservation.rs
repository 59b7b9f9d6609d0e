//! Databases on a server of the user's: the server is agreed to, their names are free, and none is left unnamed.

use crate::engine::arm_database;
use crate::plan::Plan;
use crate::report::counted;
use crate::server::deployment::Topology;
use crate::server::namespace::Namespace;
use crate::server::process::ProcessState;
use crate::server::steady::SteadyTarget;
use crate::server::survey::Survey;

use super::answer::ask;
use super::exit::CliError;
use super::output;
use super::session::{Session, unless_stopped};

/// The most databases of others that a message names.
const NAMED: usize = 5;

impl Session {
    /// Does some work that creates databases of these names. On a server of the user's they are reserved first, and what
    /// is left of them when the work fails is named.
    ///
    /// # Errors
    /// When the server may not be used or a name is not free, or the work's own.
    pub async fn with_databases<R>(
        &self,
        namespace: &Namespace,
        names: &[String],
        work: impl AsyncFnOnce() -> Result<R, CliError>,
    ) -> Result<R, CliError> {
        let Some(is_confirmed) = self.is_confirmed else { return work().await };
        unless_stopped(&self.stop, self.admit(is_confirmed, namespace)).await?;
        namespace.reserve(&self.target, names).await?;
        let result = work().await;
        self.release(namespace, result).await
    }

    /// Asks whether a server that holds other data may be used, and names what ended runs have left on it.
    async fn admit(&self, is_confirmed: bool, namespace: &Namespace) -> Result<(), CliError> {
        let survey = Survey::read(&self.target).await;
        let survey = survey.map_err(|failure| CliError::failure(format!("cannot list the databases: {failure}")))?;
        // A run that is resumed drops its own.
        let others = survey.marked.iter().filter(|database| !namespace.is_of_run(&database.owner));
        let ended = others.filter(|database| database.owner.process.state() == ProcessState::Ended);
        let names: Vec<String> = ended.map(|database| database.name.clone()).collect();
        if !names.is_empty() {
            let (count, are) = (counted(names.len() as u64, "database"), if names.len() == 1 { "is" } else { "are" });
            let names = listed(&names);
            output::line(&format!(
                "note: {count} of runs that have ended {are} left on the server ({names}): see `docshape clean --uri URI`"
            ));
        }
        let Some(found) = foreign(&survey).filter(|_| !is_confirmed) else { return Ok(()) };
        let question = "docshape loads the server, and writes all its data to disk (fsync)";
        match ask(&format!("{found}; {question}. Use it?")).await {
            Some(true) => Ok(()),
            Some(false) => Err(CliError::usage("the server was not used; name another one with --uri")),
            None => {
                Err(CliError::usage(format!("{found}; {question}: name another server, or use this one with --yes")))
            }
        }
    }

    /// Ends the reservation, and names the databases that failed work has left.
    async fn release<R>(&self, namespace: &Namespace, result: Result<R, CliError>) -> Result<R, CliError> {
        let reservation = namespace.names.reservation();
        let left = namespace.left();
        // If others are left, too, the server is lost or refuses, and would do so again, at the latest after a timeout.
        let is_alone = left.len() == 1 && left[0] == reservation;
        let is_left = left.contains(&reservation) && (result.is_ok() || is_alone);
        let released = if is_left { namespace.drop(&SteadyTarget(&self.target), &reservation).await } else { Ok(()) };
        let result = result.and_then(|value| released.map(|()| value).map_err(CliError::from));
        result.map_err(|error| explained(error, &namespace.left()))
    }

    /// What the counters of a cluster do not contain.
    pub fn router_note(&self) -> Option<&'static str> {
        (self.deployment.topology == Topology::Sharded).then_some(
            "The counters are those of the cluster's router: CPU time, documents examined and bytes written are not those of the shards.",
        )
    }

    /// What a run cannot say because the server refused it to the user.
    pub fn missing_rights(&self) -> Option<String> {
        let refused = &self.deployment.refused;
        (!refused.is_empty() && self.is_confirmed.is_some()).then(|| {
            format!(
                "The server refused {} to the user, so what they say is missing here; `docshape rights` prints the role with them.",
                refused.join(", ")
            )
        })
    }
}

/// Adds to an error which databases are left, and for a user without rights how to get them, whichever command was refused.
fn explained(mut error: CliError, left: &[String]) -> CliError {
    if !left.is_empty() {
        let left = left.join(", ");
        error = error.with(&format!("left on the server: {left}; remove them with `docshape clean --uri URI`"));
    }
    if !error.message.contains("not authorized") || error.message.contains("docshape rights") {
        return error;
    }
    error.with("`docshape rights SCENARIO` prints a role with the rights that the user of the connection string needs")
}

/// The databases of a plan, each one at a time.
pub fn databases(namespace: &Namespace, plan: &Plan) -> Vec<String> {
    plan.arms.iter().map(|arm| arm_database(&namespace.names, arm)).collect()
}

/// Describes what others have on a server, if anything.
fn foreign(survey: &Survey) -> Option<String> {
    match (survey.others.as_slice(), survey.is_complete) {
        ([], true) => None,
        ([], false) => Some("the user may not list the databases of this server, so it may hold other data".to_owned()),
        (others, _) => Some(format!("this server holds data that is not docshape's (databases {})", listed(others))),
    }
}

/// Names, the first few of them.
fn listed(names: &[String]) -> String {
    let shown = names[..names.len().min(NAMED)].join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
