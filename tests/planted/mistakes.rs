//! The mistakes: what is changed in which strategy, and what finds it.

use Way::{Check, Concurrent, Fatal, Mix, Run, Sequential, Show, Verify};

/// How a mistake is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// `check` says it, as an error or a warning.
    Check,
    /// Sequential calls show it, in `verify` and before a run.
    Sequential,
    /// The scenario cannot be run to its end, and `verify` and `run` say why.
    Fatal,
    /// `verify` finds it while or after calls run concurrently, at the latest with the last of a few seeds.
    Concurrent,
    /// The same with this mix.
    Mix(&'static str),
    /// `verify` says it and passes nevertheless.
    Verify,
    /// `show` says it.
    Show,
    /// `run` says it and does not measure.
    Run,
}

/// A change that makes a scenario wrong, and what is said about it.
#[derive(Debug, Clone, Copy)]
pub struct Mistake {
    /// Of the snapshot with the message.
    pub name: &'static str,
    /// A scenario of the catalogue, or `chat`.
    pub scenario: &'static str,
    /// Whose text is changed; empty: the whole file.
    pub strategy: &'static str,
    /// What is compared, the baseline first; empty: the strategy with the scenario's baseline.
    strategies: &'static str,
    /// How it is found.
    pub way: Way,
    /// The essential words of the message.
    pub says: &'static str,
    /// Each text, which occurs once, and what replaces it.
    pub changes: &'static [(&'static str, &'static str)],
}

impl Mistake {
    /// Returns the strategies to compare, the baseline first.
    pub fn strategies(&self) -> String {
        match self.strategies {
            "" => format!("{},{}", baseline(self.scenario), self.strategy),
            named => named.to_owned(),
        }
    }

    /// Returns the exit code of the command that finds it.
    pub fn code(&self) -> i32 {
        match self.way {
            Way::Verify | Way::Show => 0,
            Way::Check if self.says.starts_with("warning") => 0,
            Way::Sequential | Way::Concurrent | Way::Mix(_) | Way::Run => 1,
            Way::Check | Way::Fatal => 2,
        }
    }
}

fn baseline(scenario: &str) -> &'static str {
    match scenario {
        "chat" => "linked",
        "library-checkout" => "single_doc",
        "tasks" => "parent_ref",
        "log-messages" => "parent_ref",
        "parts-products" => "child_refs_applookup",
        "trees" => "parent",
        "blog-comments" => "linked",
        "soft-deletion" => "flag",
        "bookings" => "nights",
        "reactions" => "map",
        "read-receipts" => "receipts",
        "archive" => "one_collection",
        "schema-versions" => "all_before",
        "revisions" => "current_and_history",
        "translations" => "fields",
        "followers" => "one_array",
        other => panic!("no baseline for {other}"),
    }
}

const fn of(
    [name, scenario, strategy, strategies]: [&'static str; 4],
    (way, says): (Way, &'static str),
    changes: &'static [(&'static str, &'static str)],
) -> Mistake {
    Mistake { name, scenario, strategy, strategies, way, says, changes }
}

/// All mistakes: name, scenario, changed and compared strategies; what finds it, and says what; the changes.
pub const MISTAKES: &[Mistake] = &[
    of(
        ["sort_in_the_wrong_direction", "chat", "bucketed", ""],
        (Sequential, "differs: page("),
        &[(
            r"- $sort: { at: -1, _id: -1 }
            - $skip",
            r"- $sort: { at: 1, _id: 1 }
            - $skip",
        )],
    ),
    of(
        ["sort_by_the_wrong_field", "chat", "linked", "bucketed,linked"],
        (Sequential, "differs: by_author("),
        &[("sort: { at: -1, _id: -1 }, limit: 10", "sort: { text: 1 }, limit: 10")],
    ),
    of(
        ["sort_is_missing", "chat", "bucketed", ""],
        (Sequential, "differs: by_author("),
        &[(
            r"          - $sort: { at: -1, _id: -1 }
          - $limit: 10",
            "          - $limit: 10",
        )],
    ),
    of(
        ["sort_after_limit", "chat", "bucketed", ""],
        (Sequential, "differs: by_author("),
        &[(
            r"          - $sort: { at: -1, _id: -1 }
          - $limit: 10",
            r"          - $limit: 10
          - $sort: { at: -1, _id: -1 }",
        )],
    ),
    of(
        ["page_counted_from_one", "chat", "bucketed", ""],
        (Sequential, "differs: page("),
        &[("skip: page * page_size", "skip: (page + 1) * page_size")],
    ),
    of(
        ["page_skips_pages_as_rows", "chat", "bucketed", ""],
        (Sequential, "differs: page("),
        &[("skip: page * page_size", "skip: page")],
    ),
    of(
        ["limit_off_by_one", "chat", "bucketed", ""],
        (Sequential, "differs: by_author("),
        &[("- $limit: 10", "- $limit: 9")],
    ),
    of(
        ["in_does_not_keep_the_order", "parts-products", "child_refs_lookup", ""],
        (Sequential, "differs from the model: parts_full("),
        &[(
            "    join: lookup\n",
            r#"    join: lookup
    operations:
      parts_full:
        - aggregate: products
          pipeline:
            - $match: { catalog_number: <product.catalog_number> }
            - $lookup: { from: parts, localField: parts, foreignField: _id, pipeline: [{ $sort: { _id: 1 } }], as: joined }
        - return: "reply[0].joined"
"#,
        )],
    ),
    of(
        ["unwound_rows_not_filtered_again", "chat", "bucketed", ""],
        (Sequential, "differs: by_author("),
        &[(
            r"          - $match: { author: <person> }
",
            "",
        )],
    ),
    of(
        ["wrong_field_name_in_a_filter", "chat", "linked", "bucketed,linked"],
        (Sequential, "differs: page("),
        &[("- $match: { room: <room> }", "- $match: { roomId: <room> }")],
    ),
    of(
        ["wrong_type_in_a_filter", "chat", "copied", ""],
        (Sequential, "differs: delete("),
        &[(
            r"    operations:
",
            r"    operations:
      delete:
        - let: { id: string(message._id) }
        - { deleteOne: messages, filter: { _id: <id> } }
",
        )],
    ),
    of(
        ["arguments_swapped", "chat", "linked", "bucketed,linked"],
        (Sequential, "differs: join("),
        &[(
            "document: { room: <room>, person: <person>, unread: 0 }",
            "document: { room: <person>, person: <room>, unread: 0 }",
        )],
    ),
    of(
        ["guard_forgotten", "chat", "linked", "bucketed,linked"],
        (Sequential, "rejected("),
        &[("filter: { _id: <message._id>, author: <by> }", "filter: { _id: <message._id> }")],
    ),
    of(
        ["guard_against_twins_forgotten", "chat", "bucketed", ""],
        (Sequential, "differs: join("),
        &[("filter: { _id: <room>, members.person: { $ne: <person> } }", "filter: { _id: <room> }")],
    ),
    of(
        ["stock_not_guarded", "library-checkout", "single_doc", "doc_per_copy,single_doc"],
        (Sequential, "differs: checkout("),
        &[(
            "filter: { _id: <book>, available: { $gt: 0 }, checkout.by: { $ne: <patron> } }",
            "filter: { _id: <book>, checkout.by: { $ne: <patron> } }",
        )],
    ),
    of(
        ["second_copy_not_guarded", "library-checkout", "single_doc", "doc_per_copy,single_doc"],
        (Sequential, "differs: checkout("),
        &[("available: { $gt: 0 }, checkout.by: { $ne: <patron> } }", "available: { $gt: 0 } }")],
    ),
    of(
        ["too_many_rows_deleted", "chat", "linked", "bucketed,linked"],
        (Sequential, "differ"),
        &[(
            "leave: { deleteOne: members, filter: { room: <room>, person: <person> } }",
            "leave: { deleteMany: members, filter: { person: <person> } }",
        )],
    ),
    of(
        ["free_copies_counted_wrong", "library-checkout", "doc_per_copy", ""],
        (Sequential, "differs: available("),
        &[(
            "countDocuments: copies, filter: { book: <book>, by: null }",
            "countDocuments: copies, filter: { book: <book> }",
        )],
    ),
    of(
        ["day_in_seconds", "tasks", "embed", ""],
        (Sequential, "differs from the model: due("),
        &[("- let: { next: day + 86400000 }", "- let: { next: day + 86400 }")],
    ),
    of(
        ["lookup_by_the_wrong_field", "chat", "linked", "bucketed,linked"],
        (Sequential, "differs: members("),
        &[("localField: _id, foreignField: room, as: members", "localField: _id, foreignField: person, as: members")],
    ),
    of(
        ["projection_without_a_field", "chat", "bucketed", ""],
        (Sequential, "differs: rooms_of("),
        &[("sort: { _id: 1 }, projection: { members: 0 }", "sort: { _id: 1 }, projection: { _id: 1 }")],
    ),
    of(
        ["ok_instead_of_same", "chat", "bucketed", ""],
        (Sequential, "differs: join("),
        &[(r#"- return: "reply.matched == 0 ? same() : ok()""#, "- return: ok()")],
    ),
    of(
        ["ok_instead_of_not_found", "chat", "linked", "bucketed,linked"],
        (Sequential, "differs: edit("),
        &[(
            r#""reply == 0 ? not_found() : rejected('not the author')""#,
            r#""reply == 0 ? ok() : rejected('not the author')""#,
        )],
    ),
    of(
        ["another_reason_of_rejection", "chat", "bucketed", ""],
        (Sequential, "rejected("),
        &[("rejected('not the author')", "rejected('forbidden')")],
    ),
    of(
        ["zero_instead_of_null", "chat", "linked", "bucketed,linked"],
        (Concurrent, "reads differ after the concurrent calls"),
        &[("- return: reply.unread", r#"- return: "reply == null ? 0 : reply.unread""#)],
    ),
    of(
        ["document_instead_of_value", "chat", "bucketed", ""],
        (Sequential, "differs: unread("),
        &[(r#"- return: "reply.members[0].unread""#, r#"- return: "reply.members[0]""#)],
    ),
    of(
        ["before_instead_of_after", "parts-products", "embed_all_versioned", ""],
        (Sequential, "differs from the model: adjust_qty("),
        &[(
            r"          update: { $inc: { qty: <change>, version: 1 } }
          returnDocument: after
",
            r"          update: { $inc: { qty: <change>, version: 1 } }
",
        )],
    ),
    of(
        ["value_drawn_per_strategy", "chat", "bucketed", ""],
        (Sequential, "differ"),
        &[(
            r"      react:
        updateOne: buckets
        filter: { messages._id: <message._id> }
        update: { $addToSet: { messages.$.reactions: { by: <by>, emoji: <emoji> } } }",
            r#"      react:
        - let: { mine: "one_of(['+1', 'heart'])" }
        - updateOne: buckets
          filter: { messages._id: <message._id> }
          update: { $addToSet: { messages.$.reactions: { by: <by>, emoji: <mine> } } }"#,
        )],
    ),
    of(
        ["counter_not_incremented", "chat", "bucketed", ""],
        (Sequential, "rows of person differ"),
        &[(
            r"        - { updateOne: people, filter: { _id: <message.author> }, update: { $inc: { posted: 1 } } }
",
            "",
        )],
    ),
    of(
        ["counter_incremented_twice", "chat", "bucketed", ""],
        (Sequential, "rows of person differ"),
        &[("update: { $inc: { posted: 1 } }", "update: { $inc: { posted: 2 } }")],
    ),
    of(
        ["returned_copy_keeps_its_borrower", "library-checkout", "doc_per_copy", "doc_per_copy,single_doc"],
        (Sequential, "differ"),
        &[("update: { $set: { by: null, date: null } }", "update: { $set: { date: null } }")],
    ),
    of(
        ["returned_copy_not_counted", "library-checkout", "single_doc", "doc_per_copy,single_doc"],
        (Sequential, "differ"),
        &[(
            "update: { $inc: { available: 1 }, $pull: { checkout: { by: <held.patron> } } }",
            "update: { $pull: { checkout: { by: <held.patron> } } }",
        )],
    ),
    of(
        ["compensation_left_out", "library-checkout", "counter_loans_compensate", ""],
        (Sequential, "copies_do_not_add_up"),
        &[(
            r"              - { updateOne: books, filter: { _id: <book> }, update: { $inc: { available: 1 } } }
",
            "",
        )],
    ),
    of(
        ["own_messages_unread", "chat", "linked", "bucketed,linked"],
        (Sequential, "differ"),
        &[(
            r"        - { updateOne: members, filter: { room: <room>, person: <message.author> }, update: { $set: { unread: 0 } } }
",
            "",
        )],
    ),
    of(
        ["all_elements_instead_of_one", "chat", "bucketed", ""],
        (Sequential, "differ"),
        &[("$set: { members.$.unread: 0 }", r#""$set": { "members.$[].unread": 0 }"#)],
    ),
    of(
        ["push_instead_of_add_to_set", "chat", "bucketed", ""],
        (Sequential, "differ"),
        &[("$addToSet: { messages.$.reactions", "$push: { messages.$.reactions")],
    ),
    of(
        ["unset_instead_of_pull", "chat", "bucketed", ""],
        (Sequential, "Cannot create field 'unread'"),
        &[("update: { $pull: { members: { person: <person> } } }", "update: { $unset: { members.$: 1 } }")],
    ),
    of(
        ["pull_by_the_wrong_field", "chat", "bucketed", ""],
        (Sequential, "differs: delete("),
        &[("$pull: { messages: { _id: <message._id> } }", "$pull: { messages: { id: <message._id> } }")],
    ),
    of(
        ["pull_takes_too_much", "chat", "bucketed", ""],
        (Sequential, "differ"),
        &[("$pull: { messages: { _id: <message._id> } }", "$pull: { messages: { author: <message.author> } }")],
    ),
    of(
        ["upsert_of_a_deleted_record", "chat", "copied", ""],
        (Sequential, "differs: react("),
        &[(
            r"    operations:
",
            r"    operations:
      react:
        updateOne: messages
        filter: { _id: <message._id> }
        update: { $addToSet: { reactions: { by: <by>, emoji: <emoji> } } }
        upsert: true
",
        )],
    ),
    of(
        ["wrong_field_written", "chat", "bucketed", ""],
        (Sequential, "differ"),
        &[("$set: { messages.$.text: <text> }", "$set: { messages.$.body: <text> }")],
    ),
    of(
        ["bucket_stays_full", "chat", "bucketed", ""],
        (Sequential, "E11000"),
        &[(
            r#""last == null ? 1 : last.used < bucket_size ? last.number : last.number + 1""#,
            r#""last == null ? 1 : last.number""#,
        )],
    ),
    of(
        ["cap_off_by_one", "log-messages", "hybrid_slice", ""],
        (Sequential, "differ"),
        &[("$sort: { time: 1, seq: 1 }, $slice: <keep> } } }", "$sort: { time: 1, seq: 1 }, $slice: -4 } } }")],
    ),
    of(
        ["cap_from_the_wrong_end", "log-messages", "hybrid_slice", ""],
        (Sequential, "differ"),
        &[("$slice: <keep> } } }", "$slice: <cap> } } }")],
    ),
    of(
        ["rename_not_propagated", "chat", "copied", ""],
        (Sequential, "differs: page("),
        &[(
            r"            - { updateMany: messages, filter: { author: <person> }, update: { $set: { name: <name> } } }
",
            "",
        )],
    ),
    of(
        ["rename_of_one_copy", "chat", "copied", ""],
        (Sequential, "differs: page("),
        &[("updateMany: messages", "updateOne: messages")],
    ),
    of(
        ["rename_inherited", "chat", "copied", ""],
        (Sequential, "differs: page("),
        &[(
            r"      rename:
        - transaction:
            - { updateOne: people, filter: { _id: <person> }, update: { $set: { name: <name> } }, as: write }
            - { updateMany: messages, filter: { author: <person> }, update: { $set: { name: <name> } } }
          attempts: 1000
        - return: outcome(write)
",
            "",
        )],
    ),
    of(
        ["copy_of_the_generated_value", "chat", "copied", ""],
        (Sequential, "differs: page("),
        &[("name: <author.name>", "name: <message.author.name>")],
    ),
    of(
        ["copy_not_loaded", "chat", "copied", ""],
        (Sequential, "differs: page("),
        &[("room: <message.room>, name: <message.author.name>", "room: <message.room>")],
    ),
    of(
        ["copy_loaded_from_another_field", "chat", "copied", ""],
        (Sequential, "differs: page("),
        &[("name: <message.author.name> }", "name: <message.text> }")],
    ),
    of(
        ["delete_not_propagated", "tasks", "child_ref", ""],
        (Sequential, "person_tasks_differ"),
        &[(
            "    shape: { person.tasks: list }\n    operations:\n",
            r"    shape: { person.tasks: list }
    operations:
      delete:
        - transaction:
            - { deleteOne: tasks, filter: { _id: <task._id> } }
            - if: reply.deleted == 0
              then: { abort: not_found() }
        - return: ok()
",
        )],
    ),
    of(
        ["creation_not_propagated", "tasks", "", "parent_ref,two_way_txn"],
        (Sequential, "differs from the model: person_tasks("),
        &[(
            "    shape: { person.tasks: [reference, list] }\n",
            r"    shape: { person.tasks: [reference, list] }
    operations:
      create: { insertOne: tasks, document: { ...: <task>, person: <person> } }
",
        )],
    ),
    of(
        ["old_list_keeps_the_task", "tasks", "", "parent_ref,two_way_txn"],
        (Sequential, "differ"),
        &[(
            "    shape: { person.tasks: [reference, list] }\n",
            r#"    shape: { person.tasks: [reference, list] }
    operations:
      reassign:
        - transaction:
            - updateOne: tasks
              filter: { _id: <task._id>, person: { $ne: <to> } }
              update: { $set: { person: <to> } }
            - if: reply.matched == 0
              then:
                - { countDocuments: tasks, filter: { _id: <task._id> } }
                - return: "reply == 0 ? not_found() : same()"
            - { updateOne: people, filter: { _id: <to> }, update: { $push: { tasks: <task._id> } } }
        - return: ok()
"#,
        )],
    ),
    of(
        ["part_renamed_in_no_product", "parts-products", "denorm_both_txn", ""],
        (Sequential, "differs from the model: part_names("),
        &[("arrayFilters: [{ copy._id: <part> }]", "arrayFilters: [{ copy.id: <part> }]")],
    ),
    of(
        ["first_match_only_of_the_copies", "parts-products", "denorm_both_txn", ""],
        (Sequential, "differs from the model: part_names("),
        &[("- updateMany: products", "- updateOne: products")],
    ),
    of(
        ["state_with_a_limit", "chat", "bucketed", ""],
        (Sequential, "rows of message differ"),
        &[(
            "pipeline: [{ $unwind: $messages }, { $replaceWith",
            "pipeline: [{ $limit: 3 }, { $unwind: $messages }, { $replaceWith",
        )],
    ),
    of(
        ["state_with_a_match", "chat", "bucketed", ""],
        (Sequential, "rows of member differ"),
        &[(
            "pipeline: [{ $unwind: $members }, { $replaceWith",
            "pipeline: [{ $unwind: $members }, { $match: { members.unread: { $gt: 0 } } }, { $replaceWith",
        )],
    ),
    of(
        ["state_without_the_parent", "chat", "bucketed", ""],
        (Sequential, "rows of member differ"),
        &[("{ $mergeObjects: [$members, { room: $_id }] }", "$members")],
    ),
    of(
        ["state_with_rows_that_are_none", "library-checkout", "doc_per_copy", ""],
        (Sequential, "rows of loan differ"),
        &[("loan: { find: copies, filter: { by: { $gt: 0 } } }", "loan: { find: copies }")],
    ),
    of(
        ["reference_not_loaded", "chat", "linked", "bucketed,linked"],
        (Fatal, "collection members: E11000"),
        &[("document: { ...: <member>, room: <member.room> }", "document: <member>")],
    ),
    of(
        ["wrong_counter_loaded", "library-checkout", "counter_loans_compensate", ""],
        (Sequential, "copies_do_not_add_up"),
        &[("document: { ...: <book>, available: <left> }", "document: { ...: <book>, available: <book.copies> }")],
    ),
    of(
        ["baseline_sorts_wrong", "chat", "linked", "linked,copied,bucketed"],
        (Sequential, "differs: by_author("),
        &[(
            "by_author: { find: messages, filter: { author: <person> }, sort: { at: -1, _id: -1 }, limit: 10 }",
            "by_author: { find: messages, filter: { author: <person> }, sort: { at: 1, _id: 1 }, limit: 10 }",
        )],
    ),
    of(
        ["unique_index_forgotten", "chat", "linked", "bucketed,linked"],
        (Sequential, "differs: join("),
        &[("{ key: { room: 1, person: 1 }, unique: true }", "{ room: 1, person: 1 }")],
    ),
    of(
        ["unique_index_of_the_patron_forgotten", "library-checkout", "doc_per_copy", ""],
        (Sequential, "differs: checkout("),
        &[(
            r"          - { key: { by: 1, book: 1 }, unique: true, partialFilterExpression: { by: { $gt: 0 } } }
",
            r"          - { by: 1, book: 1 }
",
        )],
    ),
    of(
        ["unique_index_on_too_few_fields", "chat", "bucketed", ""],
        (Fatal, "collection buckets: E11000"),
        &[("{ key: { room: 1, number: 1 }, unique: true }", "{ key: { room: 1 }, unique: true }")],
    ),
    of(
        ["slot_of_a_document_not_found", "chat", "linked", "bucketed,linked"],
        (Fatal, "has no value"),
        &[(
            "delete: { deleteOne: messages, filter: { _id: <message._id> } }",
            r"delete:
        - { findOne: messages, filter: { _id: <message._id> }, as: found }
        - { deleteOne: messages, filter: { _id: <found._id> } }",
        )],
    ),
    of(
        ["hint_of_no_index", "chat", "linked", "bucketed,linked"],
        (Sequential, "hint"),
        &[("sort: { at: -1, _id: -1 }, limit: 10 }", "sort: { at: -1, _id: -1 }, limit: 10, hint: { author: 1 } }")],
    ),
    of(
        ["unknown_operator", "chat", "bucketed", "linked,copied,bucketed"],
        (Check, "error: unknown update operator `$addToset`"),
        &[("$addToSet", "$addToset")],
    ),
    of(
        ["audit_expects_the_wrong_number", "chat", "", "linked,copied,bucketed"],
        (Sequential, "audit lost_messages fails"),
        &[(
            "expect: size(all(message)) + calls.post.ok - calls.delete.ok",
            "expect: size(all(message)) + calls.post.ok",
        )],
    ),
    of(
        ["counter_read_then_written", "chat", "linked", "bucketed,linked"],
        (Concurrent, "rows of person differ"),
        &[(
            r"        - { updateOne: people, filter: { _id: <message.author> }, update: { $inc: { posted: 1 } } }
",
            r"        - { findOne: people, filter: { _id: <message.author> }, as: author }
        - let: { posted: author.posted + 1 }
        - { updateOne: people, filter: { _id: <message.author> }, update: { $set: { posted: <posted> } } }
",
        )],
    ),
    of(
        ["guard_against_full_buckets_forgotten", "chat", "bucketed", ""],
        (Concurrent, "over_full_buckets"),
        &[(", used: { $lt: <bucket_size> } }", " }")],
    ),
    of(
        ["retry_of_another_error", "chat", "bucketed", ""],
        (Concurrent, "calls fail"),
        &[("retry: { errors: [11000] }", "retry: { errors: [112] }")],
    ),
    of(
        ["one_attempt", "chat", "copied", ""],
        (Concurrent, "calls fail"),
        &[(
            r"update: { $set: { unread: 0 } } }
          attempts: 1000",
            r"update: { $set: { unread: 0 } } }
          attempts: 1",
        )],
    ),
    of(
        ["pushed_again_by_a_retry", "chat", "bucketed", ""],
        (Concurrent, "records of message are stored twice"),
        &[
            (
                r"          do:
            - { findOne: buckets, filter: { room: <room> }, sort: { number: -1 }, projection: { number: 1, used: 1 }, as: last }
",
                r"          do:
            - { findOne: buckets, filter: { room: <room> }, sort: { number: -1 }, projection: { number: 1, used: 1 }, as: last }
            - { findOne: people, filter: { _id: <message.author> }, as: author }
",
            ),
            (
                r"              upsert: true
        - updateOne: rooms
",
                r"              upsert: true
            - updateOne: people
              filter: { _id: <message.author>, posted: <author.posted> }
              update: { $inc: { posted: 1 } }
            - retry_if: reply.matched == 0
        - updateOne: rooms
",
            ),
            (
                r"          arrayFilters: [{ other.person: { $ne: <message.author> } }, { own.person: <message.author> }]
        - { updateOne: people, filter: { _id: <message.author> }, update: { $inc: { posted: 1 } } }
",
                r"          arrayFilters: [{ other.person: { $ne: <message.author> } }, { own.person: <message.author> }]
",
            ),
        ],
    ),
    of(
        ["checked_then_inserted", "library-checkout", "naive", ""],
        (Concurrent, "fail"),
        &[(
            r"    unsafe: true
", "",
        )],
    ),
    of(
        ["transaction_left_out", "chat", "copied", ""],
        (Mix("renaming"), "audit stale_names "),
        &[(
            r"        - transaction:
            - findOneAndUpdate: people
              filter: { _id: <message.author> }
              update: { $inc: { posted: 1 } }
              as: author
            - { insertOne: messages, document: { ...: <message>, room: <room>, name: <author.name> } }
            - { updateMany: members, filter: { room: <room>, person: { $ne: <message.author> } }, update: { $inc: { unread: 1 } } }
            - { updateOne: members, filter: { room: <room>, person: <message.author> }, update: { $set: { unread: 0 } } }
          attempts: 1000
",
            r"        - findOneAndUpdate: people
          filter: { _id: <message.author> }
          update: { $inc: { posted: 1 } }
          as: author
        - { insertOne: messages, document: { ...: <message>, room: <room>, name: <author.name> } }
        - { updateMany: members, filter: { room: <room>, person: { $ne: <message.author> } }, update: { $inc: { unread: 1 } } }
        - { updateOne: members, filter: { room: <room>, person: <message.author> }, update: { $set: { unread: 0 } } }
",
        )],
    ),
    of(
        ["read_outside_of_the_transaction", "chat", "copied", ""],
        (Mix("renaming"), "audit stale_names "),
        &[(
            r"        - transaction:
            - findOneAndUpdate: people
              filter: { _id: <message.author> }
              update: { $inc: { posted: 1 } }
              as: author
",
            r"        - { findOne: people, filter: { _id: <message.author> }, as: author }
        - transaction:
            - { updateOne: people, filter: { _id: <message.author> }, update: { $inc: { posted: 1 } } }
",
        )],
    ),
    of(
        ["transaction_that_only_reads", "chat", "copied", ""],
        (Mix("renaming"), "audit stale_names "),
        &[(
            r"            - findOneAndUpdate: people
              filter: { _id: <message.author> }
              update: { $inc: { posted: 1 } }
              as: author
",
            r"            - { findOne: people, filter: { _id: <message.author> }, as: author }
",
        )],
    ),
    of(
        ["task_moved_without_a_transaction", "tasks", "embed_two_updates", ""],
        (Concurrent, "fail"),
        &[(
            r"    unsafe: true
", "",
        )],
    ),
    of(
        ["owner_read_outside_of_the_transaction", "tasks", "", "parent_ref,two_way_txn"],
        (Concurrent, "fail"),
        &[(
            "    shape: { person.tasks: [reference, list] }\n",
            r"    shape: { person.tasks: [reference, list] }
    operations:
      reassign:
        - { findOne: tasks, filter: { _id: <task._id> }, as: old }
        - if: old == null
          then: { return: not_found() }
        - if: old.person == to
          then: { return: same() }
        - transaction:
            - { updateOne: tasks, filter: { _id: <task._id> }, update: { $set: { person: <to> } } }
            - bulkWrite: people
              requests:
                - updateOne: { filter: { _id: <old.person> }, update: { $pull: { tasks: <task._id> } } }
                - updateOne: { filter: { _id: <to> }, update: { $push: { tasks: <task._id> } } }
          attempts: 1000
        - return: ok()
",
        )],
    ),
    of(
        ["serial_forgotten", "chat", "", "linked,bucketed"],
        (Concurrent, "the final rows of"),
        &[(
            r"  post:
    arguments: { room: zipf(room), message: new(message) }
    serial: room
",
            r"  post:
    arguments: { room: zipf(room), message: new(message) }
",
        )],
    ),
    of(
        ["operation_without_a_weight", "chat", "", "linked,copied"],
        (Verify, "Not covered: rename"),
        &[(
            r"    rooms_of: 4
    rename: 4
",
            r"    rooms_of: 4
",
        )],
    ),
    of(
        ["run_of_different_results", "chat", "bucketed", ""],
        (Run, "the strategies do not return the same results"),
        &[("skip: page * page_size", "skip: page")],
    ),
    of(
        ["show_of_an_unknown_stage", "chat", "bucketed", ""],
        (Show, "Unrecognized pipeline stage"),
        &[(
            r"          - $sort: { at: -1, _id: -1 }
          - $limit: 10",
            r"          - $push: { at: -1, _id: -1 }
          - $limit: 10",
        )],
    ),
    of(
        ["misspelt_collection", "chat", "bucketed", ""],
        (Check, "unknown collection `bucket`"),
        &[(
            r"join:
        - updateOne: rooms",
            r"join:
        - updateOne: bucket",
        )],
    ),
    of(
        ["collection_in_another_case", "chat", "linked", "bucketed,linked"],
        (Check, "unknown collection `Members`"),
        &[("$lookup: { from: members", "$lookup: { from: Members")],
    ),
    of(
        ["unknown_slot", "chat", "bucketed", ""],
        (Check, "unknown"),
        &[("filter: { _id: <room>, members.person: <person> }", "filter: { _id: <room>, members.person: <user> }")],
    ),
    of(
        ["unknown_field_of_a_record", "chat", "bucketed", ""],
        (Check, "unknown"),
        &[("$push: { messages: <message> }", "$push: { messages: <message.body> }")],
    ),
    of(
        ["unknown_option", "chat", "linked", "bucketed,linked"],
        (Check, "unknown"),
        &[("$set: { text: <text> } }, as: write }", "$set: { text: <text> } }, upserts: true, as: write }")],
    ),
    of(
        ["operation_not_implemented", "chat", "bucketed", ""],
        (Check, "rename"),
        &[(
            r"      rename: { updateOne: people, filter: { _id: <person> }, update: { $set: { name: <name> } } }
",
            "",
        )],
    ),
    of(
        ["state_not_defined", "chat", "bucketed", ""],
        (Check, "message"),
        &[(
            r"      message:
        aggregate: buckets
        pipeline: [{ $unwind: $messages }, { $replaceWith: { $mergeObjects: [$messages, { room: $room }] } }]
",
            "",
        )],
    ),
    of(
        ["abort_outside_of_a_transaction", "library-checkout", "counter_loans_txn", ""],
        (Check, "abort"),
        &[(
            r"        - transaction:
            - use: delete_loan
            - if: reply.deleted == 0
              then: { abort: not_found() }
            - { updateOne: books, filter: { _id: <held.book> }, update: { $inc: { available: 1 } } }
          attempts: 1000
",
            r"        - use: delete_loan
        - if: reply.deleted == 0
          then: { abort: not_found() }
        - { updateOne: books, filter: { _id: <held.book> }, update: { $inc: { available: 1 } } }
",
        )],
    ),
    of(
        ["retry_around_the_error_inside_a_transaction", "chat", "copied", ""],
        (Check, "transaction"),
        &[(
            r"        - transaction:
            - { updateOne: people, filter: { _id: <person> }, update: { $set: { name: <name> } }, as: write }
",
            r"        - transaction:
            - { updateOne: people, filter: { _id: <person> }, update: { $set: { name: <name> } }, as: write }
            - retry: { errors: [112] }
              do: { updateOne: people, filter: { _id: <person> }, update: { $set: { name: <name> } } }
",
        )],
    ),
    of(
        ["retry_without_a_cause", "chat", "bucketed", ""],
        (Check, "without a cause"),
        &[("retry: { errors: [11000] }", "retry: {}")],
    ),
    of(
        ["text_without_a_second_pair_of_quotes", "chat", "bucketed", ""],
        (Check, "unknown"),
        &[("rejected('not the author')", "rejected(author)")],
    ),
    of(
        ["audit_of_a_missing_collection", "chat", "", ""],
        (Check, "unknown collection `messages`"),
        &[(
            r"    strategies: [bucketed, bucketed_unguarded]
    live: true
    find: buckets",
            r"    strategies: [bucketed, bucketed_unguarded]
    live: true
    find: messages",
        )],
    ),
    of(
        ["operation_above_its_earlier_one", "chat", "", ""],
        (Check, "earlier"),
        &[(
            r#"made: earlier(post)
      message: "uniform(1, 3) == 1"#,
            r#"made: earlier(join)
      message: "uniform(1, 3) == 1"#,
        )],
    ),
    of(
        ["weight_of_an_unknown_operation", "chat", "", ""],
        (Check, "unknown"),
        &[(
            r"    react: 12
", r"    reacts: 12
",
        )],
    ),
    of(
        ["lost_update_without_an_audit", "chat", "copied", "linked,copied"],
        (Concurrent, "lead to neither of their orders"),
        &[(
            r"        - return: outcome(write)
",
            r#"        - return: outcome(write)
      react:
        - { findOne: messages, filter: { _id: <message._id> }, as: found }
        - if: found == null
          then: { return: not_found() }
        - if: "found.reactions.exists(r, r.by == by && r.emoji == emoji)"
          then: { return: same() }
        - let: { reactions: "found.reactions + [{'by': by, 'emoji': emoji}]" }
        - { updateOne: messages, filter: { _id: <message._id> }, update: { $set: { reactions: <reactions> } } }
        - return: ok()
"#,
        )],
    ),
    of(
        ["counter_raised_again_by_a_retry", "chat", "bucketed", ""],
        (Concurrent, "lead to neither of their orders"),
        &[
            (
                r"          do:
            - { findOne: buckets, filter: { room: <room> }, sort: { number: -1 }, projection: { number: 1, used: 1 }, as: last }
",
                r"          do:
            - { updateOne: people, filter: { _id: <message.author> }, update: { $inc: { posted: 1 } } }
            - { findOne: buckets, filter: { room: <room> }, sort: { number: -1 }, projection: { number: 1, used: 1 }, as: last }
",
            ),
            (
                r"          arrayFilters: [{ other.person: { $ne: <message.author> } }, { own.person: <message.author> }]
        - { updateOne: people, filter: { _id: <message.author> }, update: { $inc: { posted: 1 } } }
",
                r"          arrayFilters: [{ other.person: { $ne: <message.author> } }, { own.person: <message.author> }]
",
            ),
        ],
    ),
    of(
        ["half_of_a_transaction_visible", "library-checkout", "counter_loans_txn", ""],
        (Concurrent, "finds anomalies while calls run"),
        &[(
            r"        - transaction:
            - use: delete_loan
            - if: reply.deleted == 0
              then: { abort: not_found() }
            - { updateOne: books, filter: { _id: <held.book> }, update: { $inc: { available: 1 } } }
          attempts: 1000
",
            r"        - use: delete_loan
        - if: reply.deleted == 0
          then: { return: not_found() }
        - { updateOne: books, filter: { _id: <held.book> }, update: { $inc: { available: 1 } } }
",
        )],
    ),
    of(
        ["state_of_all_with_a_limit", "chat", "linked", "linked,copied"],
        (Sequential, "right after loading"),
        &[(
            r"      rename: { updateOne: people, filter: { _id: <person> }, update: { $set: { name: <name> } } }
",
            r"      rename: { updateOne: people, filter: { _id: <person> }, update: { $set: { name: <name> } } }
    state:
      message: { find: messages, sort: { _id: 1 }, limit: 3 }
",
        )],
    ),
    of(
        ["load_of_all_without_a_field", "chat", "linked", "linked,copied"],
        (Sequential, "right after loading"),
        &[(
            "document: { ...: <member>, room: <member.room> }",
            "document: { room: <member.room>, person: <member.person> }",
        )],
    ),
    of(
        ["filter_that_matches_nothing_anywhere", "chat", "", "linked,copied,bucketed"],
        (Verify, "Vacuous"),
        &[(
            r"arguments: { person: zipf(person) }
    returns: [message]",
            r"arguments: { person: zipf(person).name }
    returns: [message]",
        )],
    ),
    of(
        ["write_that_changes_nothing_anywhere", "chat", "", "linked,copied,bucketed"],
        (Verify, "Vacuous"),
        &[(
            r"  mark_read:
    arguments: { member: uniform(member) }
    serial: member.room",
            r#"  mark_read:
    arguments: { other: uniform(room), member: "{'room': other.topic, 'person': 1}" }
    serial: member.room"#,
        )],
    ),
    of(
        ["more_bytes_for_the_same_answer", "blog-comments", "embedded", "linked,embedded"],
        (Verify, "Bytes received"),
        &[(
            "    shape: { post.comments: embed }\n    operations:\n",
            "    shape: { post.comments: embed }\n    operations:\n      post: { findOne: posts, filter: { _id: <post> } }\n",
        )],
    ),
    of(
        ["index_missing", "chat", "linked", "bucketed,linked"],
        (Verify, "COLLSCAN"),
        &[(", { author: 1, at: -1, _id: -1 }]", "]")],
    ),
    of(
        ["index_missing_in_lookup", "chat", "linked", "bucketed,linked"],
        (Verify, "COLLSCAN"),
        &[("{ key: { room: 1, person: 1 }, unique: true }", "{ key: { person: 1, room: 1 }, unique: true }")],
    ),
    of(
        ["sort_in_memory", "chat", "linked", "bucketed,linked"],
        (Verify, "in memory"),
        &[("{ room: 1, at: -1, _id: -1 }", "{ room: 1, at: 1, _id: -1 }")],
    ),
    of(
        ["index_on_a_field_that_nothing_writes", "chat", "linked", "bucketed,linked"],
        (Check, "warning: nothing writes"),
        &[(
            "indexes: [{ room: 1, at: -1, _id: -1 }, { author: 1, at: -1, _id: -1 }]",
            "indexes: [{ room: 1, at: -1, _id: -1 }, { authro: 1, at: -1, _id: -1 }]",
        )],
    ),
    of(
        ["index_missing_in_graph_lookup", "trees", "child", ""],
        (Verify, "$graphLookup from nodes scans"),
        &[("        indexes: [{ children: 1 }]\n", "")],
    ),
    of(
        ["whole_record_as_an_id", "chat", "copied", ""],
        (Check, "warning: `<message>` is the whole new record"),
        &[("{ ...: <message>, room: <room>, name", "{ ...: <message>, _id: <message>, room: <room>, name")],
    ),
    of(
        ["parameter_of_another_kind_in_a_mix", "chat", "", "linked,copied"],
        (Check, "warning: mix `verify` changes parameter `page_size`"),
        &[("page_size: 5,", "page_size: 5.0,")],
    ),
    of(
        ["list_read_then_written", "blog-comments", "embedded", "linked,embedded"],
        (Concurrent, "acknowledged records of comment are not stored"),
        &[(
            "    shape: { post.comments: embed }\n    operations:\n",
            r#"    shape: { post.comments: embed }
    operations:
      add_comment:
        - { findOne: posts, filter: { _id: <post> }, as: found }
        - let: { comments: "found.comments + [comment]" }
        - { updateOne: posts, filter: { _id: <post> }, update: { $set: { comments: <comments> } } }
        - return: outcome(reply)
"#,
        )],
    ),
    of(
        ["overlap_at_the_boundary", "bookings", "", "nights,locked"],
        (Sequential, "rejected("),
        &[(
            "overlaps_in_room: { room: <room>, first: { $lt: <booking.end>",
            "overlaps_in_room: { room: <room>, first: { $lte: <booking.end>",
        )],
    ),
    of(
        ["write_skew_in_a_transaction", "bookings", "locked", ""],
        (Concurrent, "audit booked_twice fails"),
        &[(
            r"            - { updateOne: rooms, filter: { _id: <room> }, update: { $inc: { version: 1 } } }
",
            "",
        )],
    ),
    of(
        ["number_taken_before_the_transaction", "invoice-numbers", "", "highest,counter_txn"],
        (Sequential, "audit gaps fails"),
        &[(
            r"    - try:
        transaction:
          - { use: next }
          - let: { number: reply.last }
",
            r"    - { use: next }
    - let: { number: reply.last }
    - try:
        transaction:
",
        )],
    ),
    of(
        ["trash_counted", "soft-deletion", "absent", ""],
        (Sequential, "differs: count("),
        &[(
            "countDocuments: notes, filter: { account: <account>, deleted: { $exists: false } }",
            "countDocuments: notes, filter: { account: <account> }",
        )],
    ),
    of(
        ["reaction_counted_again", "reactions", "counted", ""],
        (Sequential, "wrong_counts"),
        &[(
            r#"        - try:
            transaction:
              - { insertOne: reactions, document: { message: <message>, emoji: <emoji>, user: <user> } }
              - { updateOne: messages, filter: { _id: <message> }, update: { $inc: { "counts.<emoji>": 1 } } }
          catch: { 11000: { return: same() } }
        - return: ok()
"#,
            r#"        - transaction:
            - updateOne: reactions
              filter: { message: <message>, emoji: <emoji>, user: <user> }
              update: { $set: { emoji: <emoji> } }
              upsert: true
              as: write
            - { updateOne: messages, filter: { _id: <message> }, update: { $inc: { "counts.<emoji>": 1 } } }
        - return: outcome(write)
"#,
        )],
    ),
    of(
        ["one_emoji_forgotten", "reactions", "", "linked,map"],
        (Sequential, "differs: show("),
        &[(
            r"      reactions.thumb: <user>
      reactions.wow: <user>
",
            r"      reactions.thumb: <user>
",
        )],
    ),
    of(
        ["field_missing_in_new_documents", "read-receipts", "readers", ""],
        (Sequential, "$size"),
        &[(", room: <room>, readers: [] }", ", room: <room> }")],
    ),
    of(
        ["last_call_instead_of_latest_time", "read-receipts", "watermark", ""],
        (Sequential, "differs: show("),
        &[("update: { $max: { seen: <at> } }", "update: { $set: { seen: <at> } }")],
    ),
    of(
        ["archived_and_not_deleted", "archive", "moved", ""],
        (Sequential, "in_both"),
        &[(
            r"        - { deleteMany: orders, filter: { date: { $lt: <before> } } }
",
            "",
        )],
    ),
    of(
        ["search_of_the_new_version_only", "schema-versions", "on_write", ""],
        (Sequential, "differs: by_number("),
        &[(
            "filter: { $or: [{ phones.number: <number> }, { home: <number> }, { work: <number> }] }",
            "filter: { phones.number: <number> }",
        )],
    ),
    of(
        ["version_not_raised", "schema-versions", "", "all_before,on_write"],
        (Sequential, "mixed_documents"),
        &[(
            r"            - $phones
        schema_version: 2
",
            r"            - $phones
",
        )],
    ),
    of(
        ["job_overwrites_changes", "schema-versions", "background", ""],
        (Concurrent, "the final rows of contact differ"),
        &[(
            r"        - { find: contacts, filter: { schema_version: 1 }, projection: { _id: 1 }, limit: <batch>, hint: old, as: found }
        - if: size(found) > 0
          then:
            - let: { ids: found._id }
            - { updateMany: contacts, filter: { _id: { $in: <ids> }, schema_version: 1 }, update: { use: upgrade } }
        - return: ok()
",
            r"        - { find: contacts, filter: { schema_version: 1 }, limit: <batch>, hint: old, as: old }
        - forEach: { found: old }
          do:
            - use: read_both
            - replaceOne: contacts
              filter: { _id: <found._id> }
              replacement: { name: <found.name>, note: <found.note>, phones: <phones>, schema_version: 2 }
        - return: ok()
",
        )],
    ),
    of(
        ["version_not_checked", "revisions", "in_document", ""],
        (Concurrent, "acknowledged records of revision are not stored"),
        &[("filter: { _id: <article>, current.version: <before> }", "filter: { _id: <article> }")],
    ),
    of(
        ["language_without_a_fallback", "translations", "fields", "linked,fields"],
        (Sequential, "differs: show("),
        &[("found.t[lang] == null ? found.t.en : found.t[lang]", "found.t[lang]")],
    ),
    of(
        ["language_pushed_twice", "translations", "array", ""],
        (Concurrent, "lead to neither of their orders"),
        &[("filter: { _id: <product>, t.lang: { $ne: <lang> } }", "filter: { _id: <product> }")],
    ),
    of(
        ["elements_matched_separately", "roles", "array", "assignments,array"],
        (Sequential, "differs: may("),
        &[(
            "roles: { $elemMatch: { project: <project>, role: <role> } }",
            "roles.project: <project>, roles.role: <role>",
        )],
    ),
    of(
        ["read_without_the_tenant", "tenants", "shared", "per_tenant,shared"],
        (Sequential, "differs: read("),
        &[(
            "findOne: tickets, filter: { _id: <ticket>, tenant: <tenant> }",
            "findOne: tickets, filter: { _id: <ticket> }",
        )],
    ),
    of(
        ["document_replaced_by_merge", "followers", "two_arrays", ""],
        (Sequential, "right after loading"),
        &[("whenMatched: merge, whenNotMatched", "whenMatched: replace, whenNotMatched")],
    ),
    of(
        ["totals_never_refreshed", "computed-totals", "periodic", "on_read,periodic"],
        (Sequential, "returns what was right at none of the last 100 calls"),
        &[(
            "            - use: add_up\n            - $project",
            "            - $match: { units: 0 }\n            - use: add_up\n            - $project",
        )],
    ),
    of(
        ["old_rank_counted_from_zero", "ranks", "stored", "count,stored"],
        (Sequential, "returns what was right at none of the last 100 calls"),
        &[("{ return: reply.rank }", "{ return: reply.rank - 1 }")],
    ),
];
