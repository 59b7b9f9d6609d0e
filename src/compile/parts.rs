//! Collects the compiled parts of a whole.

/// Compiles all parts, so that every problem is reported; `None` when one had a problem.
pub fn all<T, C: FromIterator<T>>(parts: impl Iterator<Item = Option<T>>) -> Option<C> {
    parts.collect::<Vec<_>>().into_iter().collect()
}

/// Returns a part that may be missing; `None` when it had a problem.
pub fn optional<T>(part: Option<Option<T>>) -> Option<Option<T>> {
    part.map_or(Some(None), |part| part.map(Some))
}
