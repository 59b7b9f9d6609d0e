//! A connection string in a wrong place: an error that repeats it would show its password.

use std::ffi::{OsStr, OsString};

use super::exit::CliError;

/// Returns the error of a command line with a connection string that no option takes.
pub fn misplaced_uri(arguments: impl IntoIterator<Item = OsString>) -> Option<CliError> {
    let (mut last, mut before) = (OsString::new(), OsString::new());
    for argument in arguments {
        if is_uri(&argument) && !is_expected(&last, &before) {
            return Some(CliError::usage(
                "a connection string is the value of an option: did you mean --uri? (It is not repeated here, because it may hold \
                 a password.)",
            ));
        }
        before = std::mem::replace(&mut last, argument);
    }
    None
}

fn is_uri(argument: &OsStr) -> bool {
    let text = argument.to_string_lossy().trim_start().to_ascii_lowercase();
    ["mongodb://", "mongodb+srv://"].iter().any(|scheme| text.starts_with(scheme))
}

/// Whether a connection string may follow these two arguments.
fn is_expected(last: &OsStr, before: &OsStr) -> bool {
    last == "--uri"
        || last == "--from"
        || last == "--ab"
        || before == "--ab"
        || last.to_string_lossy().starts_with("--ab=")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(line: &str) -> Option<String> {
        misplaced_uri(line.split(' ').map(OsString::from)).map(|error| error.message)
    }

    #[test]
    fn connection_strings_without_an_option_are_not_repeated() {
        for line in [
            "docshape run x mongodb://ann:s3cret@h",
            "docshape MongoDB+srv://ann:s3cret@h",
            "docshape run x --urii mongodb://ann:s3cret@h",
            "docshape run x --ab mongodb://a mongodb://b mongodb://ann:s3cret@h",
        ] {
            let text = error(line).unwrap();
            assert!(text.contains("did you mean --uri?") && !text.contains("s3cret"), "{line}: {text}");
        }
    }

    #[test]
    fn values_of_options_are_accepted() {
        for line in [
            "docshape run x --uri mongodb://ann:s3cret@h",
            "docshape run x --uri=mongodb://ann:s3cret@h",
            "docshape run x --ab mongodb://a mongodb://b",
            "docshape run x --ab=mongodb://a mongodb://b",
            "docshape run x",
        ] {
            assert_eq!(error(line), None, "{line}");
        }
    }
}
