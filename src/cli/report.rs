//! `docshape report`.

use std::fs;
use std::path::Path;

use crate::report::verification::brief;
use crate::report::{
    CSV_FILE, Card, HTML_FILE, Html, Json, MARKDOWN_FILE, Markdown, Onward, Renderer, Report, Terminal, VerdictLine,
    csv, plain,
};
use crate::results::verification::Verification;
use crate::results::{self, RunRecord, StudyKind};
use crate::scenario::{self, Diagnostics, Source};

use super::argument::{ReportArguments, ReportFormat};
use super::exit::{CliError, Exit, write_error};
use super::next::{NextCommand, after_report};
use super::onward::{self, Form};
use super::open::open;
use super::output;

/// Renders the results of a run again.
///
/// # Errors
/// When the run cannot be read or the report cannot be written.
pub fn report_run(arguments: &ReportArguments) -> Result<Exit, CliError> {
    if arguments.open && arguments.out.is_none() {
        return open_page(&arguments.run);
    }
    let record = results::load(&arguments.run)?;
    let folder = folder_of(&arguments.run);
    let mut report = report_of(&record, &arguments.run).in_folder(&folder.display().to_string());
    if let Some(folder) = &arguments.out {
        write_files(&record, &report.with_files(), folder)?;
        return if arguments.open { open_page(folder) } else { Ok(Exit::Success) };
    }
    // A printed report has no pictures next to it.
    if arguments.format == ReportFormat::Terminal {
        report = match [HTML_FILE, MARKDOWN_FILE].into_iter().find(|name| folder.join(name).is_file()) {
            Some(HTML_FILE) => report.with_files(),
            Some(page) => report.in_folder(&folder.join(page).display().to_string()),
            None => report,
        };
    }
    let text = in_format(&report, arguments.format, arguments.full);
    output::print(&text.unwrap_or_else(|| metrics(&record)))?;
    if arguments.format == ReportFormat::Terminal {
        after_report(&record, &report, folder).print();
    }
    Ok(Exit::Success)
}

/// Opens the page that lies in a folder.
fn open_page(run: &Path) -> Result<Exit, CliError> {
    let page = folder_of(run).join(HTML_FILE);
    if !page.is_file() {
        let shown = page.display();
        return Err(CliError::usage(format!(
            "--open: {shown} is missing; `docshape report {} --out DIR --open` writes one",
            run.display()
        )));
    }
    open(&page);
    Ok(Exit::Success)
}

/// The report of a run in a folder, with what runs of other mixes next to it found, and the labels of its strategies.
pub fn report_of(record: &RunRecord, folder: &Path) -> Report {
    Report::among(record, results::other_mixes(folder, record)).with_labels(labels(record))
}

/// The labels that the scenario of a run gives its strategies.
fn labels(record: &RunRecord) -> Vec<(String, String)> {
    let source = Source::new(record.scenario.name.clone(), record.scenario.text.clone());
    let defined = scenario::read(&source, &Diagnostics::new()).map_or_else(Vec::new, |scenario| scenario.strategies);
    let labelled = |name: &String| {
        let strategy = defined.iter().find(|strategy| strategy.name.value == *name)?;
        Some((plain(name), label(name, strategy.label.as_deref().unwrap_or_default())))
    };
    let all = record.strategies.iter().filter(|one| !one.is_repeat).filter_map(|one| labelled(&one.name));
    Some(all.collect::<Vec<_>>()).filter(|all| all.iter().any(|(_, label)| !label.is_empty())).unwrap_or_default()
}

/// The label of a strategy; empty where it says no more than the name.
pub fn label(name: &str, label: &str) -> String {
    let label = plain(label);
    if label.replace(' ', "_") == name { String::new() } else { label }
}

/// The folder of a run: that of its record, if the user named that.
fn folder_of(run: &Path) -> &Path {
    let parent = run.parent().filter(|parent| !parent.as_os_str().is_empty());
    if run.is_file() { parent.unwrap_or(Path::new(".")) } else { run }
}

/// Writes the page and the Markdown report of a study into its folder, and prints the report and what to do next.
///
/// # Errors
/// When one of them cannot be written.
pub fn conclude_study(report: Report, folder: &Path, next: &NextCommand) -> Result<(), CliError> {
    let report = write_study(report, folder)?;
    output::print(&terminal(&report))?;
    next.print();
    Ok(())
}

/// Writes the page and the Markdown report of a study into its folder; returns the report, which knows of these files.
///
/// # Errors
/// When one of them cannot be written.
pub fn write_study(report: Report, folder: &Path) -> Result<Report, CliError> {
    let report = report.in_folder(&folder.display().to_string());
    let data = StudyKind::of(folder)?.file();
    write_both(&report, folder, |form| onward::of_study(folder, form, &report.headline.scenario, data))?;
    Ok(report.with_files())
}

/// Prints a report that is not about a single run, and what to do next.
///
/// # Errors
/// When the form is that of a run alone, or it cannot be printed.
pub fn print_without_run(arguments: &ReportArguments, (report, next): (Report, NextCommand)) -> Result<Exit, CliError> {
    let subject = StudyKind::of(&arguments.run)?;
    if arguments.open && arguments.out.is_none() {
        return open_page(&arguments.run);
    }
    let report = report.in_folder(&arguments.run.display().to_string());
    if arguments.out.is_some() {
        return Err(CliError::usage(format!("{subject} has no report in files; try --format markdown")));
    }
    let no_csv = || CliError::usage(format!("{subject} has no CSV; try --format json"));
    output::print(&in_format(&report, arguments.format, true).ok_or_else(no_csv)?)?;
    if arguments.format == ReportFormat::Terminal {
        next.print();
    }
    Ok(Exit::Success)
}

/// Writes the page, the Markdown report with its pictures, and the table of what was measured, each whole or not at all.
///
/// # Errors
/// When the folder or a file cannot be created.
pub fn write_files(record: &RunRecord, report: &Report, folder: &Path) -> Result<(), CliError> {
    fs::create_dir_all(folder).map_err(|error| write_error(folder, &error))?;
    write(folder, CSV_FILE, &metrics(record))?;
    write_pages(record, report, folder)
}

/// Writes the page, and the Markdown report with its pictures, into a folder that is there.
///
/// # Errors
/// When a file cannot be written.
pub fn write_pages(record: &RunRecord, report: &Report, folder: &Path) -> Result<(), CliError> {
    report.pictures().iter().try_for_each(|picture| write(folder, picture.file, &picture.text))?;
    write_both(report, folder, |form| onward::of_run(folder, form, record, &report.others))
}

/// Writes the page and the Markdown report with their links. The files to which these lead come first.
fn write_both(report: &Report, folder: &Path, onward: impl Fn(Form) -> Vec<Onward>) -> Result<(), CliError> {
    let with = |form| report.clone().leading_to(onward(form));
    write(folder, HTML_FILE, &written(&Html, &with(Form::Html)))?;
    write(folder, MARKDOWN_FILE, &written(&Markdown, &with(Form::Markdown)))
}

fn write(folder: &Path, name: &str, text: &str) -> Result<(), CliError> {
    let path = folder.join(name);
    results::write_whole(&path, text).map_err(|error| write_error(&path, &error))
}

/// A report in a format; `None` for CSV, which only a run has. `full` is the whole report of a run on the terminal.
pub fn in_format(report: &Report, format: ReportFormat, full: bool) -> Option<String> {
    Some(match format {
        ReportFormat::Terminal => terminal_of_run(report, full),
        ReportFormat::Markdown => written(&Markdown, report),
        ReportFormat::Html => written(&Html, report),
        ReportFormat::Json => written(&Json, report),
        ReportFormat::Line => written(&VerdictLine, report),
        ReportFormat::Card => written(&Card, report),
        ReportFormat::Csv => return None,
    })
}

/// The table of what was measured; writing to a `String` never fails.
fn metrics(record: &RunRecord) -> String {
    let mut text = String::new();
    let _ = csv(record, &mut text);
    text
}

/// A report as text; writing to a `String` never fails.
pub fn written(renderer: &dyn Renderer, report: &Report) -> String {
    let mut text = String::new();
    let _ = renderer.render(report, &mut text);
    text
}

/// The terminal's report, as wide as the terminal.
pub fn terminal(report: &Report) -> String {
    terminal_of_run(report, true)
}

/// A verification as the terminal shows it: in short, or all of it.
pub fn terminal_of_verification(verification: &Verification, full: bool) -> String {
    if full {
        return terminal(&Report::of_verification(verification));
    }
    let width = output::width();
    Terminal { width, colour: true, full }.brief(&brief::lines(verification, width))
}

/// The terminal's report of a run: its first screen, or all of it.
pub fn terminal_of_run(report: &Report, full: bool) -> String {
    written(&Terminal { width: output::width(), colour: true, full }, report)
}
