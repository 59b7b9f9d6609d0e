//! Reads fields of replies. The server writes a number as whichever type it chose.

use bson::{RawBsonRef, RawDocument};

/// Returns the value at a path with dots between keys.
pub(super) fn at<'d>(document: &'d RawDocument, path: &str) -> Option<RawBsonRef<'d>> {
    match path.split_once('.') {
        Some((section, rest)) => at(document.get_document(section).ok()?, rest),
        None => document.get(path).ok()?,
    }
}

/// Returns a number as a whole one; a double loses its fraction.
pub(super) fn whole(value: RawBsonRef<'_>) -> Option<i64> {
    value.as_i64().or_else(|| value.as_i32().map(i64::from)).or_else(|| value.as_f64().map(|number| number as i64))
}

/// Returns a number as a double.
pub(super) fn double(value: RawBsonRef<'_>) -> Option<f64> {
    value.as_f64().or_else(|| whole(value).map(|number| number as f64))
}
