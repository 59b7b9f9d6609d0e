//! `docshape clean`: removes the databases that ended runs have left on a server.

use clap::Args;

use crate::server::namespace;
use crate::server::process::ProcessState;
use crate::server::survey::{MarkedDatabase, Survey};

use super::answer::ask;
use super::argument::ConnectionString;
use super::exit::{CliError, Exit};
use super::output;
use super::server::ServerChoice;
use super::session::Session;

/// `clean`.
#[derive(Debug, Args)]
pub struct CleanArguments {
    /// URI of the server [env: MONGODB_URI] [default: none]
    #[arg(long, value_name = "URI")]
    pub uri: Option<ConnectionString>,
    /// Remove the databases of ended runs without asking
    #[arg(long)]
    pub yes: bool,
    /// Also remove those of this run of another host, which must have ended [default: none]
    #[arg(long, value_name = "ID")]
    pub run: Vec<String>,
    /// Also remove those of all runs of this other host, which must have ended [default: none]
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
}

impl CleanArguments {
    /// Whether a database may be removed: no run uses it.
    fn covers(&self, database: &MarkedDatabase) -> bool {
        let owner = &database.owner;
        match owner.process.state() {
            ProcessState::Ended => true,
            ProcessState::Alive => false,
            ProcessState::Elsewhere => self.run.contains(&owner.run) || self.host.contains(&owner.process.host),
        }
    }
}

/// Lists the databases with docshape's mark, and removes those that no run uses any more.
///
/// # Errors
/// When the server cannot be used. The exit code 1 says that databases of ended runs are left.
pub fn clean(arguments: &CleanArguments) -> Result<Exit, CliError> {
    let choice = ServerChoice::of_user(arguments.uri.as_ref(), true);
    let unnamed = "name the server to clean with --uri; embedded servers clean up after themselves";
    let choice = choice.ok_or_else(|| CliError::usage(unnamed))?;
    Session::run(choice, async |session| {
        let survey = Survey::read(&session.target).await;
        let survey = survey.map_err(|failure| CliError::failure(format!("cannot list the databases: {failure}")))?;
        check_names(arguments, &survey)?;
        output::print(&listed(&survey, arguments))?;
        let ended: Vec<&MarkedDatabase> = survey.marked.iter().filter(|database| arguments.covers(database)).collect();
        if ended.is_empty() {
            return output::print("nothing to remove\n").map(|()| Exit::Success);
        }
        let question = format!("Remove the {} databases of runs that have ended?", ended.len());
        if !arguments.yes && ask(&question).await != Some(true) {
            let kept = "nothing was removed; use --yes to remove the databases of runs that have ended\n";
            return output::print(kept).map(|()| Exit::CheckFailed);
        }
        remove(&session, &ended).await
    })
}

/// Rejects runs and hosts without a database: their names may be mistyped.
fn check_names(arguments: &CleanArguments, survey: &Survey) -> Result<(), CliError> {
    let has = |is: &dyn Fn(&MarkedDatabase) -> bool| survey.marked.iter().any(is);
    let run = arguments.run.iter().find(|run| !has(&|database| database.owner.run == **run));
    let host = arguments.host.iter().find(|host| !has(&|database| database.owner.process.host == **host));
    let option = run.map(|run| format!("--run {run}")).or(host.map(|host| format!("--host {host}")));
    let unknown = |option| format!("{option}: it has no databases on this server; omit the option to list all");
    option.map_or(Ok(()), |option| Err(CliError::usage(unknown(option))))
}

/// A line per database, and how to remove those of other hosts.
fn listed(survey: &Survey, arguments: &CleanArguments) -> String {
    let mut text: String =
        survey.marked.iter().map(|database| format!("{}  of {}\n", database.name, database.owner)).collect();
    let is_unknown = |database: &&MarkedDatabase| {
        database.owner.process.state() == ProcessState::Elsewhere && !arguments.covers(database)
    };
    if let Some(MarkedDatabase { owner, .. }) = survey.marked.iter().find(is_unknown) {
        text.push_str(&format!(
            "whether runs of other hosts are alive cannot be seen from here; if run {0} has ended: --run {0}\n",
            owner.run
        ));
    }
    text
}

/// Removes databases. One that cannot be removed does not keep the others.
async fn remove(session: &Session, ended: &[&MarkedDatabase]) -> Result<Exit, CliError> {
    let (mut removed, mut first_error) = (0, None);
    for MarkedDatabase { name, owner } in ended {
        match namespace::drop_of(&session.target, name, owner).await {
            Ok(true) => removed += 1,
            Ok(false) => output::print(&format!("{name} has another owner now: left alone\n"))?,
            Err(error) => first_error = first_error.or(Some(CliError::from(error))),
        }
    }
    output::print(&format!("{removed} of {} databases removed\n", ended.len()))?;
    first_error.map_or(Ok(Exit::Success), Err)
}
