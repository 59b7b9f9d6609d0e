//! `--threshold` and `--junit`, checked before anything is measured.

use std::path::Path;

use crate::cli::exit::CliError;
use crate::plan::Plan;
use crate::scenario::suggest;
use crate::stats::Threshold;

/// Rejects thresholds on what this run will not measure.
///
/// # Errors
/// When a strategy or operation is not part of the run, or its mix never calls the operation.
pub fn check(thresholds: &[Threshold], plan: &Plan) -> Result<(), CliError> {
    let strategies: Vec<&str> = plan.arms.iter().map(|arm| arm.name.as_str()).collect();
    for threshold in thresholds {
        let option = format!("--threshold '{threshold}'");
        place(&option, "strategy", &threshold.strategy, &strategies)?;
        called(&option, &threshold.operation, plan)?;
    }
    Ok(())
}

/// Returns the position of the operation that an option names.
///
/// # Errors
/// When there is none, or the mix never calls it.
pub fn called(option: &str, name: &str, plan: &Plan) -> Result<usize, CliError> {
    let operations: Vec<&str> = plan.operations.iter().map(|operation| &*operation.name).collect();
    let place = place(option, "operation", name, &operations)?;
    if plan.mix.weights[place] > 0.0 {
        return Ok(place);
    }
    Err(CliError::usage(format!(
        "{option}: mix {} never calls {name}; try another operation or another --mix",
        plan.mix.name
    )))
}

fn place(option: &str, what: &str, name: &str, known: &[&str]) -> Result<usize, CliError> {
    known.iter().position(|other| *other == name).ok_or_else(|| {
        let nearest = suggest(name, known.iter().copied());
        let nearest = nearest.map_or(String::new(), |nearest| format!("did you mean {nearest}? "));
        CliError::usage(format!("{option}: unknown {what} {name}; {nearest}expected one of {}", known.join(", ")))
    })
}

/// Rejects a file that could not be written after the run.
///
/// # Errors
/// When its folder does not exist, or it is a folder itself.
pub fn check_file(file: Option<&Path>) -> Result<(), CliError> {
    let Some(file) = file else { return Ok(()) };
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (folder.is_dir(), file.is_dir()) {
        (true, false) => Ok(()),
        (true, true) => Err(CliError::usage(format!("--junit {}: is a folder; name a file", file.display()))),
        (false, _) => {
            let (file, folder) = (file.display(), folder.display());
            Err(CliError::usage(format!("--junit {file}: no folder {folder}; create it, or name another file")))
        }
    }
}
