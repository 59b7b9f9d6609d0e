//! The built-in scenarios, and the lookup of a scenario by name or file.

use std::path::Path;

use crate::scenario::{self, Diagnostics, GROUPS, Scenario, Source, suggest};

use super::exit::CliError;

/// Name and text of every scenario of the catalogue, in the order of `docshape list`.
pub const SCENARIOS: [(&str, &str); 51] = [
    ("person-address", include_str!("../../scenarios/person-address.yaml")),
    ("person-addresses", include_str!("../../scenarios/person-addresses.yaml")),
    ("blog-comments", include_str!("../../scenarios/blog-comments.yaml")),
    ("tasks", include_str!("../../scenarios/tasks.yaml")),
    ("publisher-books", include_str!("../../scenarios/publisher-books.yaml")),
    ("authors-books", include_str!("../../scenarios/authors-books.yaml")),
    ("books-categories", include_str!("../../scenarios/books-categories.yaml")),
    ("followers", include_str!("../../scenarios/followers.yaml")),
    ("product-reviews", include_str!("../../scenarios/product-reviews.yaml")),
    ("outlier", include_str!("../../scenarios/outlier.yaml")),
    ("reactions", include_str!("../../scenarios/reactions.yaml")),
    ("roles", include_str!("../../scenarios/roles.yaml")),
    ("translations", include_str!("../../scenarios/translations.yaml")),
    ("revisions", include_str!("../../scenarios/revisions.yaml")),
    ("schema-versions", include_str!("../../scenarios/schema-versions.yaml")),
    ("vehicles", include_str!("../../scenarios/vehicles.yaml")),
    ("parts-products", include_str!("../../scenarios/parts-products.yaml")),
    ("nested-lookups", include_str!("../../scenarios/nested-lookups.yaml")),
    ("extended-reference", include_str!("../../scenarios/extended-reference.yaml")),
    ("computed-totals", include_str!("../../scenarios/computed-totals.yaml")),
    ("product-attributes", include_str!("../../scenarios/product-attributes.yaml")),
    ("trees", include_str!("../../scenarios/trees.yaml")),
    ("friends", include_str!("../../scenarios/friends.yaml")),
    ("log-messages", include_str!("../../scenarios/log-messages.yaml")),
    ("read-receipts", include_str!("../../scenarios/read-receipts.yaml")),
    ("feed-reader", include_str!("../../scenarios/feed-reader.yaml")),
    ("paging", include_str!("../../scenarios/paging.yaml")),
    ("ticketing", include_str!("../../scenarios/ticketing.yaml")),
    ("library-checkout", include_str!("../../scenarios/library-checkout.yaml")),
    ("transaction-cost", include_str!("../../scenarios/transaction-cost.yaml")),
    ("work-queue", include_str!("../../scenarios/work-queue.yaml")),
    ("unread-counts", include_str!("../../scenarios/unread-counts.yaml")),
    ("ranks", include_str!("../../scenarios/ranks.yaml")),
    ("approximation", include_str!("../../scenarios/approximation.yaml")),
    ("invoice-numbers", include_str!("../../scenarios/invoice-numbers.yaml")),
    ("bookings", include_str!("../../scenarios/bookings.yaml")),
    ("retention", include_str!("../../scenarios/retention.yaml")),
    ("archive", include_str!("../../scenarios/archive.yaml")),
    ("measurements", include_str!("../../scenarios/measurements.yaml")),
    ("index-count", include_str!("../../scenarios/index-count.yaml")),
    ("field-order", include_str!("../../scenarios/field-order.yaml")),
    ("soft-deletion", include_str!("../../scenarios/soft-deletion.yaml")),
    ("tenants", include_str!("../../scenarios/tenants.yaml")),
    ("log-collections", include_str!("../../scenarios/log-collections.yaml")),
    ("shard-keys", include_str!("../../scenarios/shard-keys.yaml")),
    ("projection", include_str!("../../scenarios/projection.yaml")),
    ("document-growth", include_str!("../../scenarios/document-growth.yaml")),
    ("case-insensitive", include_str!("../../scenarios/case-insensitive.yaml")),
    ("nearest-drivers", include_str!("../../scenarios/nearest-drivers.yaml")),
    ("big-objects", include_str!("../../scenarios/big-objects.yaml")),
    ("bloated-documents", include_str!("../../scenarios/bloated-documents.yaml")),
];

/// The scenarios by the decision that they are about, in the order of the format's table.
///
/// # Errors
/// When a built-in scenario cannot be read.
pub fn by_group() -> Result<Vec<(&'static str, Vec<Scenario>)>, CliError> {
    let read = |(name, text): &(&str, &str)| {
        let scenario = scenario::read(&Source::new(*name, *text), &Diagnostics::new());
        scenario.ok_or_else(|| CliError::failure(format!("the built-in scenario {name} is damaged")))
    };
    let scenarios: Vec<Scenario> = SCENARIOS.iter().map(read).collect::<Result<_, _>>()?;
    let of_group = |group| {
        let own = scenarios.iter().filter(|scenario| scenario.group.as_deref() == Some(group));
        (group, own.cloned().collect::<Vec<_>>())
    };
    Ok(GROUPS.iter().copied().map(of_group).filter(|(_, scenarios)| !scenarios.is_empty()).collect())
}

/// The scenario that `name_or_path` means: a name of the catalogue, or a file.
///
/// # Errors
/// When there is no such scenario, or its file cannot be read.
pub fn open(name_or_path: &str) -> Result<Source, CliError> {
    match SCENARIOS.into_iter().find(|(name, _)| *name == name_or_path) {
        Some((name, text)) => Ok(Source::new(name, text)),
        None if is_path(name_or_path) || Path::new(name_or_path).is_file() => Ok(Source::load(name_or_path)?),
        None => Err(unknown(name_or_path)),
    }
}

/// Whether a word can only mean a file.
fn is_path(word: &str) -> bool {
    let extension = Path::new(word).extension().and_then(|extension| extension.to_str());
    word.contains(std::path::is_separator) || matches!(extension, Some("yaml" | "yml"))
}

fn unknown(word: &str) -> CliError {
    let nearest = suggest(word, SCENARIOS.iter().map(|(name, _)| *name));
    let guess = nearest.map(|name| format!("did you mean `{name}`? ")).unwrap_or_default();
    CliError::usage(format!(
        "unknown scenario `{word}`: {guess}`docshape list` prints the built-in ones; name a scenario of your own by its \
         file, for example ./{word}.yaml"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_the_catalogue_and_paths_to_files() {
        assert_eq!(open("blog-comments").unwrap().path, "blog-comments");
        assert_eq!(open("scenarios/blog-comments.yaml").unwrap().path, "scenarios/blog-comments.yaml");
        assert_eq!(open("Cargo.toml").unwrap().path, "Cargo.toml");
        let text = open("blog-comments.yaml").unwrap_err().message;
        assert!(text.contains("cannot read scenario file blog-comments.yaml"), "{text}");
    }

    #[test]
    fn unknown_names_have_a_suggestion() {
        let text = open("blog_coments").unwrap_err().message;
        assert!(text.contains("did you mean `blog-comments`?") && text.contains("docshape list"), "{text}");
        assert!(!open("zzz").unwrap_err().message.contains("did you mean"));
    }

    #[test]
    fn every_scenario_is_in_a_group() {
        let listed: usize = by_group().unwrap().iter().map(|(_, scenarios)| scenarios.len()).sum();
        assert_eq!(listed, SCENARIOS.len());
    }

    #[test]
    fn scenarios_are_listed_under_their_names() {
        for (name, text) in SCENARIOS {
            assert!(text.lines().any(|line| line == format!("name: {name}")), "{name}");
        }
    }
}
