//! `--rights`: the smallest role with which a database can be read.

use crate::cli::value::ConnectionString;

/// Statements of mongosh that create the role.
pub fn statements(from: Option<&ConnectionString>) -> String {
    let database = from.and_then(|uri| database(uri.reveal())).unwrap_or_else(|| "YOUR_DATABASE".to_owned());
    let name = serde_json::to_string(&database).unwrap_or_default();
    format!(
        "// The smallest role for `docshape init` with the database {database}; the role `read` on it has more, and suffices, too.\n\
         // Run this in mongosh as a user who may create roles and users.\n\
         db.getSiblingDB(\"admin\").createRole({{\n  role: \"docshapeInit\",\n  privileges: [\n    \
         {{ resource: {{ db: {name}, collection: \"\" }}, actions: [\"find\", \"collStats\", \"listCollections\", \"listIndexes\"] }},\n  \
         ],\n  roles: [],\n}})\n\n\
         // Optional, for operations that are observed instead of guessed: counters of indexes and collections, and the oplog.\n\
         // db.getSiblingDB(\"admin\").grantPrivilegesToRole(\"docshapeInit\", [\n\
         //   {{ resource: {{ db: {name}, collection: \"\" }}, actions: [\"indexStats\"] }},\n\
         //   {{ resource: {{ cluster: true }}, actions: [\"top\", \"serverStatus\"] }},\n\
         //   {{ resource: {{ db: \"local\", collection: \"oplog.rs\" }}, actions: [\"find\"] }},\n// ])\n\n\
         // A user with this role, and a prompt for his password\n\
         db.getSiblingDB(\"admin\").createUser({{ user: \"docshapeInit\", pwd: passwordPrompt(), roles: [\"docshapeInit\"] }})\n"
    )
}

/// The database of a connection string.
fn database(uri: &str) -> Option<String> {
    let (_, rest) = uri.split_once("://")?;
    let path = rest.split('?').next()?.rsplit('@').next()?;
    let (_, database) = path.split_once('/')?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    (!database.is_empty() && database.chars().all(is_plain)).then(|| database.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_is_that_of_the_connection_string_and_nothing_else_is() {
        let text = |uri: &str| statements(Some(&uri.parse().unwrap()));
        assert!(text("mongodb://ann:s3cret@h:1/shop?x=1").contains("db: \"shop\""));
        assert!(!text("mongodb://ann:s3cret@h:1/shop?x=1").contains("s3cret"));
        assert!(text("mongodb://ann:s3cr/et@h").contains("YOUR_DATABASE"));
        assert!(statements(None).contains("YOUR_DATABASE"));
    }
}
