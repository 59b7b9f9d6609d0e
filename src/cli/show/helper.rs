//! Functions that the printed code calls where JavaScript has no short word for what a scenario says.

use std::collections::BTreeSet;

/// Their names, their code, and those that they call themselves.
const HELPERS: &[(&str, &str, &[&str])] = &[
    (
        "bulkWritePassing",
        "\
// A bulkWrite of which some error codes are no failure.
function bulkWritePassing(codes, collection, requests, options) {
  try {
    return collection.bulkWrite(requests, options)
  } catch (error) {
    const errors = [error.writeErrors ?? []].flat().map(({ index, code }) => ({ index, code }))
    if (errors.length == 0 || !errors.every(one => codes.includes(one.code))) throw error
    const { matchedCount, modifiedCount, insertedCount, deletedCount, upsertedIds } = error.result
    return { matchedCount, modifiedCount, insertedCount, deletedCount, upsertedIds, errors }
  }
}
",
        &[],
    ),
    (
        "chunksOf",
        "\
// Parts of a list, each of at most so many items.
function chunksOf(list, length) {
  const parts = []
  for (let at = 0; at < list.length; at += length) {
    const items = list.slice(at, at + length)
    parts.push({ number: parts.length + 1, size: items.length, items })
  }
  return parts
}
",
        &[],
    ),
    (
        "commit",
        "\
// Commits; where it is not known whether that was done, once more.
function commit(session) {
  while (true) {
    try {
      return session.commitTransaction()
    } catch (error) {
      if (!error.hasErrorLabel?.('UnknownTransactionCommitResult')) throw error
    }
  }
}
",
        &[],
    ),
    (
        "compareValues",
        "\
// The order of two values: null first, then by kind, then by value.
function compareValues(a, b) {
  const kinds = ['number', 'string', 'object', 'boolean']
  const rank = x => (x == null ? -1 : x instanceof Date ? 9 : kinds.indexOf(typeof x))
  const key = x => (x instanceof Date ? x.getTime() : x?.toHexString?.() ?? x)
  if (rank(a) != rank(b)) return rank(a) - rank(b)
  return key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0
}
",
        &[],
    ),
    (
        "contains",
        "\
// Whether a list has the element, or a document the key.
function contains(all, one) {
  if (!Array.isArray(all)) return all != null && one in all
  return all.some(item => equal(item, one))
}
",
        &["equal"],
    ),
    (
        "equal",
        "\
// Equality by value, also of ids, dates, lists and documents.
function equal(a, b) {
  return EJSON.stringify(a ?? null) == EJSON.stringify(b ?? null)
}
",
        &[],
    ),
    (
        "fieldOf",
        "\
// The field of a document, or of every document of a list.
function fieldOf(from, name) {
  return Array.isArray(from) ? from.map(item => item?.[name]) : from?.[name]
}
",
        &[],
    ),
    (
        "isTooLarge",
        "\
// Whether the error says that a document or a message would be too large.
function isTooLarge(error) {
  return [10334, 17419].includes(error.code) || /too large|larger than|out of range/.test(error.message)
}
",
        &[],
    ),
    (
        "outcomeOf",
        "\
// What a write came to.
function outcomeOf(reply) {
  const counts = [reply.insertedCount, reply.modifiedCount, reply.upsertedCount, reply.deletedCount]
  if (reply.insertedId != null || counts.some(count => count > 0)) return 'done'
  return reply.matchedCount > 0 ? 'same' : 'not_found'
}
",
        &[],
    ),
    (
        "plus",
        "\
// The sum of numbers, lists joined, or a date so many milliseconds later.
function plus(a, b) {
  if (Array.isArray(a)) return a.concat(b ?? [])
  return a instanceof Date ? new Date(a.getTime() + b) : a + b
}
",
        &[],
    ),
    (
        "sizeOf",
        "\
// The number of elements, entries, characters or bytes; 0 for null.
function sizeOf(x) {
  if (x == null) return 0
  return typeof x == 'string' ? [...x].length : x.length ?? Object.keys(x).length
}
",
        &[],
    ),
    (
        "sortedBy",
        "\
// The documents sorted by fields, by those with `-` downwards.
function sortedBy(list, fields) {
  const order = (a, b, field) =>
    field.startsWith('-')
      ? compareValues(b[field.slice(1)], a[field.slice(1)])
      : compareValues(a[field], b[field])
  return [...list].sort((a, b) => fields.reduce((found, field) => found || order(a, b, field), 0))
}
",
        &["compareValues"],
    ),
];

/// Names of the session and the loops that the code declares itself, and words that JavaScript or mongosh keeps.
const TAKEN: &[&str] = &[
    "arguments",
    "attempt",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "db",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "error",
    "eval",
    "export",
    "extends",
    "finally",
    "for",
    "function",
    "if",
    "import",
    "inside",
    "instanceof",
    "interface",
    "item",
    "let",
    "new",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "rs",
    "saved",
    "session",
    "sh",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// A name of the scenario as JavaScript may have it.
pub fn named(name: &str) -> String {
    let is_taken = TAKEN.contains(&name) || HELPERS.iter().any(|(helper, ..)| *helper == name);
    if is_taken { format!("{name}_") } else { name.to_owned() }
}

/// Adds a helper and those that it calls.
pub fn with_needed(name: &'static str, all: &mut BTreeSet<&'static str>) {
    all.insert(name);
    let needed = HELPERS.iter().find(|(helper, ..)| *helper == name).map_or(&[][..], |(.., needed)| needed);
    needed.iter().for_each(|needed| with_needed(needed, all));
}

/// The code of helpers.
pub fn code(names: &BTreeSet<&'static str>) -> String {
    let wanted = HELPERS.iter().filter(|(name, ..)| names.contains(name));
    wanted.map(|(_, code, _)| format!("\n{code}")).collect()
}
