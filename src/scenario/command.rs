//! The CRUD commands and their keys.

use super::keys::{AS, KeyDefinition, Keys, ORDERED, Takes, optional, required};

/// The CRUD commands, named as in the MongoDB CRUD specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandWord {
    /// `insertOne`
    InsertOne,
    /// `insertMany`
    InsertMany,
    /// `findOne`
    FindOne,
    /// `find`
    Find,
    /// `aggregate`
    Aggregate,
    /// `countDocuments`
    CountDocuments,
    /// `distinct`
    Distinct,
    /// `updateOne`
    UpdateOne,
    /// `updateMany`
    UpdateMany,
    /// `replaceOne`
    ReplaceOne,
    /// `deleteOne`
    DeleteOne,
    /// `deleteMany`
    DeleteMany,
    /// `findOneAndUpdate`
    FindOneAndUpdate,
    /// `findOneAndReplace`
    FindOneAndReplace,
    /// `findOneAndDelete`
    FindOneAndDelete,
}

impl CommandWord {
    /// The commands that may be requests of a `bulkWrite`.
    pub const REQUESTS: [CommandWord; 6] = {
        use CommandWord::*;
        [InsertOne, UpdateOne, UpdateMany, ReplaceOne, DeleteOne, DeleteMany]
    };

    /// Returns the command of this name.
    pub fn named(name: &str) -> Option<CommandWord> {
        COMMANDS.iter().find(|(_, keys)| keys[0].name == name).map(|(word, _)| *word)
    }

    /// Returns its keys, of which the first is its name.
    pub(super) fn keys(self) -> Keys {
        COMMANDS[self as usize].1
    }

    /// Returns the name in scenarios and in the MongoDB CRUD specification.
    pub fn name(self) -> &'static str {
        self.keys()[0].name
    }

    /// Whether it finds a document, changes it and returns it.
    pub fn finds_and_modifies(self) -> bool {
        use CommandWord::*;
        matches!(self, FindOneAndUpdate | FindOneAndReplace | FindOneAndDelete)
    }

    /// Whether it changes at most one document, which a filter finds.
    pub fn changes_one(self) -> bool {
        use CommandWord::*;
        matches!(self, UpdateOne | ReplaceOne | DeleteOne) || self.finds_and_modifies()
    }

    /// Whether it inserts, and so has no filter.
    pub fn inserts(self) -> bool {
        matches!(self, CommandWord::InsertOne | CommandWord::InsertMany)
    }

    /// Whether the command changes data.
    pub fn writes(self) -> bool {
        use CommandWord::*;
        !matches!(self, FindOne | Find | Aggregate | CountDocuments | Distinct)
    }
}

const DOCUMENT: KeyDefinition = required("document", Takes::Document, "the document to insert").example("<comment>");
const DOCUMENTS: KeyDefinition = required("documents", Takes::Items, "the documents to insert").example("[<comment>]");
const FILTER: KeyDefinition = optional("filter", Takes::Document, "which documents").example("{ _id: <post> }");
const THE_FILTER: KeyDefinition = required("filter", Takes::Document, "which documents").example("{ _id: <post> }");
const PROJECTION: KeyDefinition =
    optional("projection", Takes::Document, "which fields to return").example("{ comments: 1 }");
const SORT: KeyDefinition = optional("sort", Takes::Document, "the order").example("{ created_on: -1 }");
const SKIP: KeyDefinition = optional("skip", Takes::Count, "how many documents to skip").example("10");
const LIMIT: KeyDefinition = optional("limit", Takes::Count, "the most documents").example("10");
const BATCH_SIZE: KeyDefinition =
    optional("batchSize", Takes::Count, "documents per batch of the cursor").example("1000");
const HINT: KeyDefinition = optional("hint", Takes::Hint, "the index to use").example("{ post: 1 }");
const COLLATION: KeyDefinition =
    optional("collation", Takes::Document, "how texts compare").example("{ locale: en, strength: 2 }");
const READ_CONCERN: KeyDefinition = optional(
    "readConcern",
    Takes::OneOf(&["local", "available", "majority", "linearizable", "snapshot"]),
    "which writes a read sees",
)
.default("`local`", "local")
.example("majority");
const READ_PREFERENCE: KeyDefinition = optional(
    "readPreference",
    Takes::OneOf(&["primary", "primaryPreferred", "secondary", "secondaryPreferred", "nearest"]),
    "which members may answer",
)
.default("`primary`", "primary")
.example("secondaryPreferred");
const PIPELINE: KeyDefinition =
    required("pipeline", Takes::Items, "the stages").example("[{ $match: { post: <post> } }]");
const DISTINCT_KEY: KeyDefinition = required("key", Takes::Text, "the path whose values are returned").example("name");
const UPDATE: KeyDefinition =
    required("update", Takes::Update, "update operators, or a pipeline").example("{ $set: { text: <text> } }");
const REPLACEMENT: KeyDefinition =
    required("replacement", Takes::Document, "the new document").example("{ text: <text> }");
const UPSERT: KeyDefinition = optional("upsert", Takes::Boolean, "insert a document if none matches").example("true");
const ARRAY_FILTERS: KeyDefinition =
    optional("arrayFilters", Takes::Items, "filters for `$[name]`").example("[{ item._id: <comment> }]");
const RETURN_DOCUMENT: KeyDefinition =
    optional("returnDocument", Takes::OneOf(&["before", "after"]), "the document before or after the change")
        .example("after");

/// A CRUD command with its keys: first its name, whose value is the collection, last `as`.
macro_rules! command {
    ($word:ident, $name:literal, [$($option:expr),*]) => {
        (
            CommandWord::$word,
            &[required($name, Takes::Text, "the collection").example("posts"), $($option,)* AS],
        )
    };
}

/// Every command, in the order of the format's documentation, which is that of [`CommandWord`].
pub(super) static COMMANDS: [(CommandWord, Keys); 15] = [
    command!(InsertOne, "insertOne", [DOCUMENT]),
    command!(InsertMany, "insertMany", [DOCUMENTS, ORDERED]),
    command!(FindOne, "findOne", [FILTER, PROJECTION, SORT, SKIP, HINT, COLLATION, READ_CONCERN, READ_PREFERENCE]),
    command!(
        Find,
        "find",
        [FILTER, PROJECTION, SORT, SKIP, LIMIT, BATCH_SIZE, HINT, COLLATION, READ_CONCERN, READ_PREFERENCE]
    ),
    command!(Aggregate, "aggregate", [PIPELINE, BATCH_SIZE, HINT, COLLATION, READ_CONCERN, READ_PREFERENCE]),
    command!(CountDocuments, "countDocuments", [FILTER, SKIP, LIMIT, HINT, COLLATION, READ_CONCERN, READ_PREFERENCE]),
    command!(Distinct, "distinct", [DISTINCT_KEY, FILTER, COLLATION, READ_CONCERN, READ_PREFERENCE]),
    command!(UpdateOne, "updateOne", [THE_FILTER, UPDATE, SORT, UPSERT, ARRAY_FILTERS, HINT, COLLATION]),
    command!(UpdateMany, "updateMany", [THE_FILTER, UPDATE, UPSERT, ARRAY_FILTERS, HINT, COLLATION]),
    command!(ReplaceOne, "replaceOne", [THE_FILTER, REPLACEMENT, SORT, UPSERT, HINT, COLLATION]),
    command!(DeleteOne, "deleteOne", [THE_FILTER, HINT, COLLATION]),
    command!(DeleteMany, "deleteMany", [THE_FILTER, HINT, COLLATION]),
    command!(
        FindOneAndUpdate,
        "findOneAndUpdate",
        [THE_FILTER, UPDATE, PROJECTION, SORT, UPSERT, RETURN_DOCUMENT, ARRAY_FILTERS, HINT, COLLATION]
    ),
    command!(
        FindOneAndReplace,
        "findOneAndReplace",
        [THE_FILTER, REPLACEMENT, PROJECTION, SORT, UPSERT, RETURN_DOCUMENT, HINT, COLLATION]
    ),
    command!(FindOneAndDelete, "findOneAndDelete", [THE_FILTER, PROJECTION, SORT, HINT, COLLATION]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_in_the_order_of_their_words() {
        for (index, (word, keys)) in COMMANDS.iter().enumerate() {
            assert_eq!((*word as usize, CommandWord::named(keys[0].name)), (index, Some(*word)));
        }
    }
}
