//! All problems at once: file, span, what to do.

/// One problem.
#[derive(Debug)]
pub struct Diagnostic;
/// All of them.
#[derive(Debug)]
pub struct Diagnostics;
/// How bad.
#[derive(Debug)]
pub enum Severity {}
