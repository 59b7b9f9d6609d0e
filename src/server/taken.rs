//! Names of databases that exist already, and who has them.

use std::fmt;

use super::owner::Owner;
use super::process::ProcessState;

/// Databases that exist already.
#[derive(Debug, Default)]
pub struct Taken(Vec<(String, Option<Owner>)>);

impl Taken {
    /// Returns one database; without an owner it lacks docshape's mark.
    pub(super) fn one(database: &str, owner: Option<Owner>) -> Taken {
        Taken(vec![(database.to_owned(), owner)])
    }

    pub(super) fn add(&mut self, database: &str, owner: Option<Owner>) {
        self.0.push((database.to_owned(), owner));
    }

    /// Returns itself as an error unless it is empty.
    pub(super) fn check(self) -> Result<(), Taken> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl fmt::Display for Taken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups = self.0.chunk_by(|(_, one), (_, other)| run(one) == run(other));
        let texts: Vec<String> = groups.map(|group| describe(group, group[0].1.as_ref())).collect();
        formatter.write_str(&texts.join("; "))
    }
}

impl std::error::Error for Taken {}

fn run(owner: &Option<Owner>) -> Option<&str> {
    owner.as_ref().map(|owner| owner.run.as_str())
}

/// Databases of one owner.
fn describe(group: &[(String, Option<Owner>)], owner: Option<&Owner>) -> String {
    let names: Vec<&str> = group.iter().map(|(name, _)| name.as_str()).collect();
    let (databases, are) = if names.len() == 1 { ("database", "is") } else { ("databases", "are") };
    format!("{databases} {} {are} already on the server: {}", names.join(", "), Holder(owner))
}

/// Who has a database, and what to do.
struct Holder<'o>(Option<&'o Owner>);

impl fmt::Display for Holder<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(owner) = self.0 else {
            return formatter
                .write_str("without docshape's mark, so somebody else's; take other names with --db-prefix");
        };
        write!(formatter, "of {owner}; ")?;
        match owner.process.state() {
            ProcessState::Alive => formatter.write_str("wait for its end, or take other names with --db-prefix"),
            ProcessState::Ended => formatter.write_str("remove what it has left with `docshape clean --uri URI`"),
            ProcessState::Elsewhere => write!(
                formatter,
                "wait for its end, take other names with --db-prefix, or, if it has ended, remove what it has left with `docshape \
                 clean --uri URI --run {}`",
                owner.run
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::*;

    #[test]
    fn the_message_has_all_databases_by_owner() {
        let mut taken = Taken::default();
        let alive = Owner::of_run("3f9a");
        taken.add("docshape_s", Some(alive.clone()));
        taken.add("docshape_s_a", Some(alive));
        taken.add("docshape_s_b", None);
        taken.add("docshape_s_c", Some(Owner::read(&rawdoc! { "run": "77aa", "host": "box" })));
        let text = taken.check().unwrap_err().to_string();
        assert!(
            text.starts_with("databases docshape_s, docshape_s_a are already on the server: of run 3f9a ("),
            "{text}"
        );
        for words in [
            "which is alive; wait for its end, or take other names with --db-prefix; database docshape_s_b is already",
            "without docshape's mark, so somebody else's",
            "docshape_s_c is already on the server: of run 77aa (process 0 on box, ), which may be alive",
            "`docshape clean --uri URI --run 77aa`",
        ] {
            assert!(text.contains(words), "{words} is not in {text}");
        }
        assert!(Taken::default().check().is_ok());
    }
}
