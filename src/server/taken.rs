//! Names of databases that exist already, and who has them.

use std::fmt;

use super::owner::Owner;
use super::process::ProcessState;

/// Databases that exist already; those without an owner lack docshape's mark.
#[derive(Debug)]
pub struct Taken(pub(super) Vec<(String, Option<Owner>)>);

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
    format!("{databases} {} {are} already on the server: {}", names.join(", "), holder(owner))
}

/// Who has a database, and what to do.
fn holder(owner: Option<&Owner>) -> String {
    let Some(owner) = owner else {
        return "without docshape's mark, so somebody else's; take other names with --db-prefix".to_owned();
    };
    let run = &owner.run;
    let advice = match owner.process.state() {
        ProcessState::Alive => "wait for its end, or take other names with --db-prefix".to_owned(),
        ProcessState::Ended => "remove what it has left with `docshape clean --uri URI`".to_owned(),
        ProcessState::Elsewhere => format!(
            "wait for its end, take other names with --db-prefix, or, if it has ended, remove what it has left with `docshape clean \
             --uri URI --run {run}`"
        ),
    };
    format!("of {owner}; {advice}")
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::*;

    #[test]
    fn the_message_has_all_databases_by_owner() {
        let alive = Owner::of_run("3f9a");
        let taken = [
            ("docshape_s", Some(alive.clone())),
            ("docshape_s_a", Some(alive)),
            ("docshape_s_b", None),
            ("docshape_s_c", Some(Owner::read(&rawdoc! { "run": "77aa", "host": "box" }))),
        ];
        let text = Taken(taken.map(|(database, owner)| (database.to_owned(), owner)).into()).to_string();
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
    }
}
