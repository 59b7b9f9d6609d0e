//! `docshape init`: writes a model from four answers, from a sample of a database that it only reads, or as a copy of a scenario.

mod argument;
mod files;
mod hidden;
mod keep;
mod live;
mod observe;
mod questions;
mod rights;
mod source;
mod summary;

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::infer::compare;
use crate::infer::inferred::Inferred;
use crate::infer::sample::Probe;
use crate::observe::operations;
use crate::report::counted;
use crate::scenario::Source;

use super::catalogue;
use super::exit::{CliError, Exit, write_error};
use super::next::NextCommand;
use super::output;
pub use argument::InitArguments;
use hidden::Hidden;
use keep::KeptData;
use source::{InitSource, Read};

/// Writes a model.
///
/// # Errors
/// When the name or the source cannot be used, the file exists, or nothing can be read.
pub fn init(arguments: &InitArguments) -> Result<Exit, CliError> {
    if arguments.rights {
        return output::print(&rights::statements(arguments.from.as_ref())).map(|()| Exit::Success);
    }
    let Some(name) = &arguments.name else { return Err(CliError::usage("init needs a NAME")) };
    let file = check_name(name)?;
    if !arguments.force && Path::new(&file).exists() {
        return Err(CliError::usage(format!("{file} exists; choose another name, or replace it with --force")));
    }
    match (&arguments.from, &arguments.copied) {
        (Some(from), _) => {
            if !infer_from(arguments, name, &file, from.reveal())? {
                return output::print("nothing was written\n").map(|()| Exit::CheckFailed);
            }
        }
        (None, Some(other)) => copy(name, &file, other, arguments.force)?,
        (None, None) => describe(name, &file, arguments.force)?,
    }
    NextCommand::new(["verify", &file]).print();
    Ok(Exit::Success)
}

/// Asks what the model is, and writes it.
fn describe(name: &str, file: &str, replaces: bool) -> Result<(), CliError> {
    let questions::Answered { described, operations, notes } = questions::ask(file)?;
    let text = described.text(name, &operations, &notes);
    compare::plan(&text, Path::new("")).map_err(|problems| invalid(&problems))?;
    write(file, &text, replaces)?;
    let (lines, records) = (text.lines().count(), counted(described.model.drafts.len() as u64, "entity"));
    let steps = counted(operations.len() as u64, "operation");
    output::print(&format!(
        "wrote {file} ({lines} lines): {records}, {steps}, 1 strategy\n\
         weights, numbers of records and sizes of documents are examples, marked TODO\n"
    ))
}

/// Writes a copy of a scenario under another name.
fn copy(name: &str, file: &str, other: &str, replaces: bool) -> Result<(), CliError> {
    let Source { text, .. } = catalogue::open(other)?;
    let renamed = |line| if str::starts_with(line, "name: ") { format!("name: {name}\n") } else { line.to_owned() };
    let text: String = text.split_inclusive('\n').map(renamed).collect();
    let whole = format!("# A copy of the scenario {other}, by `docshape init`.\n{text}");
    write(file, &whole, replaces)?;
    output::print(&format!("wrote {file} ({} lines): a copy of {other}\n", whole.lines().count()))
}

/// Reads a sample, infers a model, and writes it, unless the user does not want real values to be copied.
fn infer_from(arguments: &InitArguments, name: &str, file: &str, from: &str) -> Result<bool, CliError> {
    let folder = keep::folder(arguments)?;
    let mut origin = InitSource::of(from)?;
    // Before docshape reads a sample, which would be in the counters.
    let observations = observe::observe(arguments, &origin)?;
    let mut read = origin.read(&arguments.collections)?;
    let inferred = if arguments.hide_names {
        let mut hidden = Hidden::default();
        hidden.hide(&mut read);
        infer(&mut read, &mut hidden.probe(&mut origin))?
    } else {
        infer(&mut read, &mut origin)?
    };
    let (inferred, kept) = match &folder {
        Some(folder) => {
            let Some(kept) = KeptData::of(&inferred, folder, arguments.yes)? else { return Ok(false) };
            (inferred.with_data(folder, kept.staged()), Some(kept))
        }
        None => (inferred, None),
    };
    let observed = observations.map(|seen| operations(&seen, &inferred.model.layout));
    let inferred = match &observed {
        Some(observed) => inferred.with_observed(&observed.operations),
        None => inferred,
    };
    let (text, comparison) = inferred.scenario(name, &read.left_out).map_err(|problems| invalid(&problems))?;
    kept.iter().try_for_each(KeptData::place)?;
    write(file, &text, arguments.force)?;
    if arguments.json {
        return output::print(&summary::json(&inferred, &comparison, &read)).map(|()| true);
    }
    output::print(&observed.as_ref().map(summary::observed).unwrap_or_default())?;
    let copied = kept.map(|kept| format!(" It takes values of files: copied {}.", kept.described)).unwrap_or_default();
    let lines = format!("{} lines", text.lines().count());
    output::print(&summary::text(&inferred, &comparison, &read, (file, &lines, &copied))).map(|()| true)
}

fn invalid(problems: &str) -> CliError {
    CliError::failure(format!(
        "the scenario is not valid, which is a mistake of docshape; please report it:\n{problems}"
    ))
}

fn infer(read: &mut Read, probe: &mut impl Probe) -> Result<Inferred, CliError> {
    let samples = std::mem::take(&mut read.samples);
    let (empty, samples): (Vec<_>, Vec<_>) = samples.into_iter().partition(|sample| sample.documents.is_empty());
    read.left_out.extend(empty.iter().map(|sample| format!("{} was left out: it has no documents", sample.name)));
    if samples.is_empty() {
        return Err(CliError::usage(format!(
            "{}: no collection has documents, so there is nothing to infer",
            read.described
        )));
    }
    Ok(Inferred::of(samples, probe))
}

/// The file of a scenario of this name.
fn check_name(name: &str) -> Result<String, CliError> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.starts_with('-') || name.len() > 40 || !name.chars().all(is_plain) {
        return Err(CliError::usage(format!(
            "{name} cannot be the name of a scenario: use lower-case letters, digits and `-`"
        )));
    }
    Ok(format!("{name}.yaml"))
}

/// Writes the file as a whole, or not at all.
fn write(file: &str, text: &str, replaces: bool) -> Result<(), CliError> {
    let path = Path::new(file);
    // As any file of the user's, rather than readable for himself alone.
    let permissions = Permissions::from_mode(0o666);
    let made = tempfile::Builder::new().prefix(".docshape").permissions(permissions).tempfile_in(".");
    let mut beside = made.map_err(|error| write_error(path, &error))?;
    beside.write_all(text.as_bytes()).map_err(|error| write_error(path, &error))?;
    let kept = if replaces { beside.persist(path).map(drop) } else { beside.persist_noclobber(path).map(drop) };
    kept.map_err(|error| write_error(path, &error.error))
}
