//! `--log`, `--watch`, `--profile`: what an application was seen to do.

use crate::cli::exit::CliError;
use crate::observe::{Observations, log};

use super::InitArguments;
use super::source::InitSource;

/// Reads what was observed; `None` where nobody asked for it.
///
/// # Errors
/// When it cannot be read, or the source has none.
pub fn observe(arguments: &InitArguments, origin: &InitSource) -> Result<Option<Observations>, CliError> {
    if !arguments.log.is_empty() {
        let database = origin.database().ok_or_else(|| {
            CliError::usage("--log: files of mongoexport do not say of which database they are; use mongodb://HOST/DATABASE, or a folder of mongodump")
        })?;
        return log::read(&arguments.log, database).map(Some).map_err(CliError::usage);
    }
    if arguments.watch.is_none() && !arguments.profile {
        return Ok(None);
    }
    let InitSource::Live(live) = origin else {
        return Err(CliError::usage("--watch and --profile need a server: --from mongodb://HOST/DATABASE"));
    };
    match arguments.watch {
        Some(time) => live.watch(time, &arguments.collections),
        None => live.profile(),
    }
    .map(Some)
}
