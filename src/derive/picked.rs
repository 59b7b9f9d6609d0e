//! Fields of a record in the expression of a reply.

/// `'owner': {'name': OWNER.name}`, or `'owner': OWNER` without fields.
pub(super) fn picked(name: &str, owner: &str, fields: &[String]) -> String {
    if fields.is_empty() {
        format!("'{name}': {owner}")
    } else {
        format!("'{name}': {{{}}}", picked_fields(owner, fields))
    }
}

/// `'name': OWNER.name`, for each of the fields.
pub(super) fn picked_fields(owner: &str, fields: &[String]) -> String {
    let all: Vec<String> = fields.iter().map(|field| format!("'{field}': {owner}.{field}")).collect();
    all.join(", ")
}

/// The field of a record with a copy of a field of the one that it belongs or refers to.
pub(super) fn copy_of(up: &str, field: &str) -> String {
    if field == "_id" { up.to_owned() } else { format!("{up}_{field}") }
}

/// Fields of the one that a record belongs or refers to, from its copies.
pub(super) fn picked_copies(up: &str, record: &str, fields: &[String]) -> String {
    let all: Vec<String> = fields.iter().map(|field| format!("'{field}': {record}.{}", copy_of(up, field))).collect();
    format!("{{{}}}", all.join(", "))
}
