//! The mistakes: what is changed in which strategy, and what finds it.

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
        other => panic!("no baseline for {other}"),
    }
}

/// All mistakes.
pub const MISTAKES: &[Mistake] = &[
    Mistake {
        name: "sort_in_the_wrong_direction",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "differs: page(",
        changes: &[(
            r"- $sort: { at: -1, _id: -1 }
            - $skip",
            r"- $sort: { at: 1, _id: 1 }
            - $skip",
        )],
    },
    Mistake {
        name: "sort_by_the_wrong_field",
        scenario: "chat",
        strategy: "linked",
        strategies: "bucketed,linked",
        way: Way::Sequential,
        says: "differs: by_author(",
        changes: &[("sort: { at: -1, _id: -1 }, limit: 10", "sort: { text: 1 }, limit: 10")],
    },
    Mistake {
        name: "sort_is_missing",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "differs: by_author(",
        changes: &[(
            r"          - $sort: { at: -1, _id: -1 }
          - $limit: 10",
            "          - $limit: 10",
        )],
    },
    Mistake {
        name: "sort_after_limit",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "differs: by_author(",
        changes: &[(
            r"          - $sort: { at: -1, _id: -1 }
          - $limit: 10",
            r"          - $limit: 10
          - $sort: { at: -1, _id: -1 }",
        )],
    },
    Mistake {
        name: "page_counted_from_one",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "differs: page(",
        changes: &[("skip: page * page_size", "skip: (page + 1) * page_size")],
    },
    Mistake {
        name: "page_skips_pages_as_rows",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "differs: page(",
        changes: &[("skip: page * page_size", "skip: page")],
    },
    Mistake {
        name: "limit_off_by_one",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "differs: by_author(",
        changes: &[("- $limit: 10", "- $limit: 9")],
    },
    Mistake {
        name: "in_does_not_keep_the_order",
        scenario: "parts-products",
        strategy: "child_refs_applookup",
        strategies: "child_refs_lookup,child_refs_applookup",
        way: Way::Sequential,
        says: "differs: parts_full(",
        changes: &[(r#"- return: "reorder(reply, '_id', found.parts)""#, "- return: reply")],
    },
    Mistake {
        name: "unwound_rows_not_filtered_again",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "differs: by_author(",
        changes: &[(
            r"          - $match: { author: <person> }
",
            "",
        )],
    },
    Mistake {
        name: "wrong_field_name_in_a_filter",
        scenario: "chat",
        strategy: "linked",
        strategies: "bucketed,linked",
        way: Way::Sequential,
        says: "differs: page(",
        changes: &[("- $match: { room: <room> }", "- $match: { roomId: <room> }")],
    },
    Mistake {
        name: "wrong_type_in_a_filter",
        scenario: "chat",
        strategy: "copied",
        strategies: "",
        way: Way::Sequential,
        says: "differs: delete(",
        changes: &[(
            r"    operations:
",
            r"    operations:
      delete:
        - let: { id: string(message._id) }
        - { deleteOne: messages, filter: { _id: <id> } }
",
        )],
    },
    Mistake {
        name: "arguments_swapped",
        scenario: "chat",
        strategy: "linked",
        strategies: "bucketed,linked",
        way: Way::Sequential,
        says: "differs: join(",
        changes: &[(
            "document: { room: <room>, person: <person>, unread: 0 }",
            "document: { room: <person>, person: <room>, unread: 0 }",
        )],
    },
    Mistake {
        name: "guard_forgotten",
        scenario: "chat",
        strategy: "linked",
        strategies: "bucketed,linked",
        way: Way::Sequential,
        says: "rejected(",
        changes: &[("filter: { _id: <message._id>, author: <by> }", "filter: { _id: <message._id> }")],
    },
    Mistake {
        name: "guard_against_twins_forgotten",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "differs: join(",
        changes: &[("filter: { _id: <room>, members.person: { $ne: <person> } }", "filter: { _id: <room> }")],
    },
    Mistake {
        name: "stock_not_guarded",
        scenario: "library-checkout",
        strategy: "single_doc",
        strategies: "doc_per_copy,single_doc",
        way: Way::Sequential,
        says: "differs: checkout(",
        changes: &[(
            "filter: { _id: <book>, available: { $gt: 0 }, checkout.by: { $ne: <patron> } }",
            "filter: { _id: <book>, checkout.by: { $ne: <patron> } }",
        )],
    },
    Mistake {
        name: "second_copy_not_guarded",
        scenario: "library-checkout",
        strategy: "single_doc",
        strategies: "doc_per_copy,single_doc",
        way: Way::Sequential,
        says: "differs: checkout(",
        changes: &[("available: { $gt: 0 }, checkout.by: { $ne: <patron> } }", "available: { $gt: 0 } }")],
    },
    Mistake {
        name: "too_many_rows_deleted",
        scenario: "chat",
        strategy: "linked",
        strategies: "bucketed,linked",
        way: Way::Sequential,
        says: "differ",
        changes: &[(
            "leave: { deleteOne: members, filter: { room: <room>, person: <person> } }",
            "leave: { deleteMany: members, filter: { person: <person> } }",
        )],
    },
    Mistake {
        name: "free_copies_counted_wrong",
        scenario: "library-checkout",
        strategy: "doc_per_copy",
        strategies: "",
        way: Way::Sequential,
        says: "differs: available(",
        changes: &[(
            "countDocuments: copies, filter: { book: <book>, by: null }",
            "countDocuments: copies, filter: { book: <book> }",
        )],
    },
    Mistake {
        name: "day_in_seconds",
        scenario: "tasks",
        strategy: "embed",
        strategies: "",
        way: Way::Sequential,
        says: "differs: due(",
        changes: &[("- let: { next: day + 86400000 }", "- let: { next: day + 86400 }")],
    },
    Mistake {
        name: "lookup_by_the_wrong_field",
        scenario: "chat",
        strategy: "linked",
        strategies: "bucketed,linked",
        way: Way::Sequential,
        says: "differs: members(",
        changes: &[(
            "localField: _id, foreignField: room, as: members",
            "localField: _id, foreignField: person, as: members",
        )],
    },
    Mistake {
        name: "projection_without_a_field",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "differs: rooms_of(",
        changes: &[("sort: { _id: 1 }, projection: { members: 0 }", "sort: { _id: 1 }, projection: { _id: 1 }")],
    },
    Mistake {
        name: "ok_instead_of_same",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "differs: join(",
        changes: &[(r#"- return: "reply.matched == 0 ? same() : ok()""#, "- return: ok()")],
    },
    Mistake {
        name: "ok_instead_of_not_found",
        scenario: "chat",
        strategy: "linked",
        strategies: "bucketed,linked",
        way: Way::Sequential,
        says: "differs: edit(",
        changes: &[(
            r#""reply == 0 ? not_found() : rejected('not the author')""#,
            r#""reply == 0 ? ok() : rejected('not the author')""#,
        )],
    },
    Mistake {
        name: "another_reason_of_rejection",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "rejected(",
        changes: &[("rejected('not the author')", "rejected('forbidden')")],
    },
    Mistake {
        name: "zero_instead_of_null",
        scenario: "chat",
        strategy: "linked",
        strategies: "bucketed,linked",
        way: Way::Concurrent,
        says: "reads differ after the concurrent calls",
        changes: &[("- return: reply.unread", r#"- return: "reply == null ? 0 : reply.unread""#)],
    },
    Mistake {
        name: "document_instead_of_value",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "differs: unread(",
        changes: &[(r#"- return: "reply.members[0].unread""#, r#"- return: "reply.members[0]""#)],
    },
    Mistake {
        name: "before_instead_of_after",
        scenario: "parts-products",
        strategy: "child_refs_applookup",
        strategies: "embed_all_versioned,child_refs_applookup",
        way: Way::Sequential,
        says: "differs: adjust_qty(",
        changes: &[(
            r"          projection: { qty: 1 }
          returnDocument: after
",
            r"          projection: { qty: 1 }
",
        )],
    },
    Mistake {
        name: "value_drawn_per_strategy",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "differ",
        changes: &[(
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
    },
    Mistake {
        name: "counter_not_incremented",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "rows of person differ",
        changes: &[(
            r"        - { updateOne: people, filter: { _id: <message.author> }, update: { $inc: { posted: 1 } } }
",
            "",
        )],
    },
    Mistake {
        name: "counter_incremented_twice",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "rows of person differ",
        changes: &[("update: { $inc: { posted: 1 } }", "update: { $inc: { posted: 2 } }")],
    },
    Mistake {
        name: "returned_copy_keeps_its_borrower",
        scenario: "library-checkout",
        strategy: "doc_per_copy",
        strategies: "doc_per_copy,single_doc",
        way: Way::Sequential,
        says: "differ",
        changes: &[("update: { $set: { by: null, date: null } }", "update: { $set: { date: null } }")],
    },
    Mistake {
        name: "returned_copy_not_counted",
        scenario: "library-checkout",
        strategy: "single_doc",
        strategies: "doc_per_copy,single_doc",
        way: Way::Sequential,
        says: "differ",
        changes: &[(
            "update: { $inc: { available: 1 }, $pull: { checkout: { by: <held.patron> } } }",
            "update: { $pull: { checkout: { by: <held.patron> } } }",
        )],
    },
    Mistake {
        name: "compensation_left_out",
        scenario: "library-checkout",
        strategy: "counter_loans_compensate",
        strategies: "",
        way: Way::Sequential,
        says: "copies_do_not_add_up",
        changes: &[(
            r"              - { updateOne: books, filter: { _id: <book> }, update: { $inc: { available: 1 } } }
",
            "",
        )],
    },
    Mistake {
        name: "own_messages_unread",
        scenario: "chat",
        strategy: "linked",
        strategies: "bucketed,linked",
        way: Way::Sequential,
        says: "differ",
        changes: &[(
            r"        - { updateOne: members, filter: { room: <room>, person: <message.author> }, update: { $set: { unread: 0 } } }
",
            "",
        )],
    },
    Mistake {
        name: "all_elements_instead_of_one",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "differ",
        changes: &[("$set: { members.$.unread: 0 }", r#""$set": { "members.$[].unread": 0 }"#)],
    },
    Mistake {
        name: "push_instead_of_add_to_set",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "differ",
        changes: &[("$addToSet: { messages.$.reactions", "$push: { messages.$.reactions")],
    },
    Mistake {
        name: "unset_instead_of_pull",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "Cannot create field 'unread'",
        changes: &[("update: { $pull: { members: { person: <person> } } }", "update: { $unset: { members.$: 1 } }")],
    },
    Mistake {
        name: "pull_by_the_wrong_field",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "differs: delete(",
        changes: &[("$pull: { messages: { _id: <message._id> } }", "$pull: { messages: { id: <message._id> } }")],
    },
    Mistake {
        name: "pull_takes_too_much",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "differ",
        changes: &[(
            "$pull: { messages: { _id: <message._id> } }",
            "$pull: { messages: { author: <message.author> } }",
        )],
    },
    Mistake {
        name: "upsert_of_a_deleted_record",
        scenario: "chat",
        strategy: "copied",
        strategies: "",
        way: Way::Sequential,
        says: "differs: react(",
        changes: &[(
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
    },
    Mistake {
        name: "wrong_field_written",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "differ",
        changes: &[("$set: { messages.$.text: <text> }", "$set: { messages.$.body: <text> }")],
    },
    Mistake {
        name: "bucket_stays_full",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "E11000",
        changes: &[(
            r#""last == null ? 1 : last.used < bucket_size ? last.number : last.number + 1""#,
            r#""last == null ? 1 : last.number""#,
        )],
    },
    Mistake {
        name: "cap_off_by_one",
        scenario: "log-messages",
        strategy: "hybrid_slice",
        strategies: "",
        way: Way::Sequential,
        says: "differ",
        changes: &[(
            "$sort: { time: 1, seq: 1 }, $slice: <keep> } } }",
            "$sort: { time: 1, seq: 1 }, $slice: -4 } } }",
        )],
    },
    Mistake {
        name: "cap_from_the_wrong_end",
        scenario: "log-messages",
        strategy: "hybrid_slice",
        strategies: "",
        way: Way::Sequential,
        says: "differ",
        changes: &[("$slice: <keep> } } }", "$slice: <cap> } } }")],
    },
    Mistake {
        name: "rename_not_propagated",
        scenario: "chat",
        strategy: "copied",
        strategies: "",
        way: Way::Sequential,
        says: "differs: page(",
        changes: &[(
            r"            - { updateMany: messages, filter: { author: <person> }, update: { $set: { name: <name> } } }
",
            "",
        )],
    },
    Mistake {
        name: "rename_of_one_copy",
        scenario: "chat",
        strategy: "copied",
        strategies: "",
        way: Way::Sequential,
        says: "differs: page(",
        changes: &[("updateMany: messages", "updateOne: messages")],
    },
    Mistake {
        name: "rename_inherited",
        scenario: "chat",
        strategy: "copied",
        strategies: "",
        way: Way::Sequential,
        says: "differs: page(",
        changes: &[(
            r"      rename:
        - transaction:
            - { updateOne: people, filter: { _id: <person> }, update: { $set: { name: <name> } }, as: write }
            - { updateMany: messages, filter: { author: <person> }, update: { $set: { name: <name> } } }
          attempts: 1000
        - return: outcome(write)
",
            "",
        )],
    },
    Mistake {
        name: "copy_of_the_generated_value",
        scenario: "chat",
        strategy: "copied",
        strategies: "",
        way: Way::Sequential,
        says: "differs: page(",
        changes: &[("name: <author.name>", "name: <message.author.name>")],
    },
    Mistake {
        name: "copy_not_loaded",
        scenario: "chat",
        strategy: "copied",
        strategies: "",
        way: Way::Sequential,
        says: "differs: page(",
        changes: &[("room: <message.room>, name: <message.author.name>", "room: <message.room>")],
    },
    Mistake {
        name: "copy_loaded_from_another_field",
        scenario: "chat",
        strategy: "copied",
        strategies: "",
        way: Way::Sequential,
        says: "differs: page(",
        changes: &[("name: <message.author.name> }", "name: <message.text> }")],
    },
    Mistake {
        name: "delete_not_propagated",
        scenario: "tasks",
        strategy: "child_ref",
        strategies: "",
        way: Way::Sequential,
        says: "listed",
        changes: &[(
            r"            - { updateOne: people, filter: { tasks: <task._id> }, update: { $pull: { tasks: <task._id> } } }
",
            "",
        )],
    },
    Mistake {
        name: "creation_not_propagated",
        scenario: "tasks",
        strategy: "",
        strategies: "parent_ref,two_way_txn",
        way: Way::Sequential,
        says: "differs: person_tasks(",
        changes: &[(
            r"        - { updateOne: people, filter: { _id: <person> }, update: { $push: { tasks: <entry> } } }
",
            "",
        )],
    },
    Mistake {
        name: "old_list_keeps_the_task",
        scenario: "tasks",
        strategy: "",
        strategies: "parent_ref,two_way_txn",
        way: Way::Sequential,
        says: "differ",
        changes: &[(
            r"            - updateOne: { filter: { _id: <old.owner> }, update: { $pull: { tasks: <entry> } } }
            - updateOne: { filter: { _id: <to> }",
            "            - updateOne: { filter: { _id: <to> }",
        )],
    },
    Mistake {
        name: "part_renamed_in_no_product",
        scenario: "parts-products",
        strategy: "denorm_many_to_one_txn",
        strategies: "",
        way: Way::Sequential,
        says: "differs: part_names(",
        changes: &[("arrayFilters: [{ copy.id: <part> }]", "arrayFilters: [{ copy._id: <part> }]")],
    },
    Mistake {
        name: "first_match_only_of_the_copies",
        scenario: "parts-products",
        strategy: "denorm_many_to_one_txn",
        strategies: "",
        way: Way::Sequential,
        says: "differs: part_names(",
        changes: &[("- updateMany: products", "- updateOne: products")],
    },
    Mistake {
        name: "state_with_a_limit",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "rows of message differ",
        changes: &[(
            "pipeline: [{ $unwind: $messages }, { $replaceWith",
            "pipeline: [{ $limit: 3 }, { $unwind: $messages }, { $replaceWith",
        )],
    },
    Mistake {
        name: "state_with_a_match",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "rows of member differ",
        changes: &[(
            "pipeline: [{ $unwind: $members }, { $replaceWith",
            "pipeline: [{ $unwind: $members }, { $match: { members.unread: { $gt: 0 } } }, { $replaceWith",
        )],
    },
    Mistake {
        name: "state_without_the_parent",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Sequential,
        says: "rows of member differ",
        changes: &[("{ $mergeObjects: [$members, { room: $_id }] }", "$members")],
    },
    Mistake {
        name: "state_with_rows_that_are_none",
        scenario: "library-checkout",
        strategy: "doc_per_copy",
        strategies: "",
        way: Way::Sequential,
        says: "rows of loan differ",
        changes: &[("loan: { find: copies, filter: { by: { $gt: 0 } } }", "loan: { find: copies }")],
    },
    Mistake {
        name: "reference_not_loaded",
        scenario: "chat",
        strategy: "linked",
        strategies: "bucketed,linked",
        way: Way::Fatal,
        says: "collection members: E11000",
        changes: &[("document: { ...: <member>, room: <member.room> }", "document: <member>")],
    },
    Mistake {
        name: "wrong_counter_loaded",
        scenario: "library-checkout",
        strategy: "counter_loans_compensate",
        strategies: "",
        way: Way::Sequential,
        says: "copies_do_not_add_up",
        changes: &[(
            "document: { ...: <book>, available: <left> }",
            "document: { ...: <book>, available: <book.copies> }",
        )],
    },
    Mistake {
        name: "baseline_sorts_wrong",
        scenario: "chat",
        strategy: "linked",
        strategies: "linked,copied,bucketed",
        way: Way::Sequential,
        says: "differs: by_author(",
        changes: &[(
            "by_author: { find: messages, filter: { author: <person> }, sort: { at: -1, _id: -1 }, limit: 10 }",
            "by_author: { find: messages, filter: { author: <person> }, sort: { at: 1, _id: 1 }, limit: 10 }",
        )],
    },
    Mistake {
        name: "unique_index_forgotten",
        scenario: "chat",
        strategy: "linked",
        strategies: "bucketed,linked",
        way: Way::Sequential,
        says: "differs: join(",
        changes: &[("{ key: { room: 1, person: 1 }, unique: true }", "{ room: 1, person: 1 }")],
    },
    Mistake {
        name: "unique_index_of_the_patron_forgotten",
        scenario: "library-checkout",
        strategy: "doc_per_copy",
        strategies: "",
        way: Way::Sequential,
        says: "differs: checkout(",
        changes: &[(
            r"          - { key: { by: 1, book: 1 }, unique: true, partialFilterExpression: { by: { $gt: 0 } } }
",
            r"          - { by: 1, book: 1 }
",
        )],
    },
    Mistake {
        name: "unique_index_on_too_few_fields",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Fatal,
        says: "collection buckets: E11000",
        changes: &[("{ key: { room: 1, number: 1 }, unique: true }", "{ key: { room: 1 }, unique: true }")],
    },
    Mistake {
        name: "slot_of_a_document_not_found",
        scenario: "chat",
        strategy: "linked",
        strategies: "bucketed,linked",
        way: Way::Fatal,
        says: "has no value",
        changes: &[(
            "delete: { deleteOne: messages, filter: { _id: <message._id> } }",
            r"delete:
        - { findOne: messages, filter: { _id: <message._id> }, as: found }
        - { deleteOne: messages, filter: { _id: <found._id> } }",
        )],
    },
    Mistake {
        name: "hint_of_no_index",
        scenario: "chat",
        strategy: "linked",
        strategies: "bucketed,linked",
        way: Way::Sequential,
        says: "hint",
        changes: &[(
            "sort: { at: -1, _id: -1 }, limit: 10 }",
            "sort: { at: -1, _id: -1 }, limit: 10, hint: { author: 1 } }",
        )],
    },
    Mistake {
        name: "unknown_operator",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "linked,copied,bucketed",
        way: Way::Check,
        says: "error: unknown update operator `$addToset`",
        changes: &[("$addToSet", "$addToset")],
    },
    Mistake {
        name: "audit_expects_the_wrong_number",
        scenario: "chat",
        strategy: "",
        strategies: "linked,copied,bucketed",
        way: Way::Sequential,
        says: "audit lost_messages fails",
        changes: &[(
            "expect: size(all(message)) + calls.post.ok - calls.delete.ok",
            "expect: size(all(message)) + calls.post.ok",
        )],
    },
    Mistake {
        name: "counter_read_then_written",
        scenario: "chat",
        strategy: "linked",
        strategies: "bucketed,linked",
        way: Way::Concurrent,
        says: "rows of person differ",
        changes: &[(
            r"        - { updateOne: people, filter: { _id: <message.author> }, update: { $inc: { posted: 1 } } }
",
            r"        - { findOne: people, filter: { _id: <message.author> }, as: author }
        - let: { posted: author.posted + 1 }
        - { updateOne: people, filter: { _id: <message.author> }, update: { $set: { posted: <posted> } } }
",
        )],
    },
    Mistake {
        name: "guard_against_full_buckets_forgotten",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Concurrent,
        says: "over_full_buckets",
        changes: &[(", used: { $lt: <bucket_size> } }", " }")],
    },
    Mistake {
        name: "retry_of_another_error",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Concurrent,
        says: "calls fail",
        changes: &[("retry: { errors: [11000] }", "retry: { errors: [112] }")],
    },
    Mistake {
        name: "one_attempt",
        scenario: "chat",
        strategy: "copied",
        strategies: "",
        way: Way::Concurrent,
        says: "calls fail",
        changes: &[(
            r"update: { $set: { unread: 0 } } }
          attempts: 1000",
            r"update: { $set: { unread: 0 } } }
          attempts: 1",
        )],
    },
    Mistake {
        name: "pushed_again_by_a_retry",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Concurrent,
        says: "records of message are stored twice",
        changes: &[
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
    },
    Mistake {
        name: "checked_then_inserted",
        scenario: "library-checkout",
        strategy: "naive",
        strategies: "",
        way: Way::Concurrent,
        says: "fail",
        changes: &[(
            r"    unsafe: true
",
            "",
        )],
    },
    Mistake {
        name: "transaction_left_out",
        scenario: "chat",
        strategy: "copied",
        strategies: "",
        way: Way::Mix("renaming"),
        says: "audit stale_names ",
        changes: &[(
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
    },
    Mistake {
        name: "read_outside_of_the_transaction",
        scenario: "chat",
        strategy: "copied",
        strategies: "",
        way: Way::Mix("renaming"),
        says: "audit stale_names ",
        changes: &[(
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
    },
    Mistake {
        name: "transaction_that_only_reads",
        scenario: "chat",
        strategy: "copied",
        strategies: "",
        way: Way::Mix("renaming"),
        says: "audit stale_names ",
        changes: &[(
            r"            - findOneAndUpdate: people
              filter: { _id: <message.author> }
              update: { $inc: { posted: 1 } }
              as: author
",
            r"            - { findOne: people, filter: { _id: <message.author> }, as: author }
",
        )],
    },
    Mistake {
        name: "task_moved_without_a_transaction",
        scenario: "tasks",
        strategy: "embed_two_updates",
        strategies: "",
        way: Way::Concurrent,
        says: "fail",
        changes: &[(
            r"    unsafe: true
",
            "",
        )],
    },
    Mistake {
        name: "owner_read_outside_of_the_transaction",
        scenario: "tasks",
        strategy: "",
        strategies: "parent_ref,two_way_txn",
        way: Way::Concurrent,
        says: "fail",
        changes: &[(
            r#"    - transaction:
        - findOneAndUpdate: tasks
          filter: { _id: <task._id>, owner: { $ne: <to> } }
          update: { $set: { owner: <to> } }
          projection: { _id: 0, owner: 1 }
          as: old
        - if: old == null
          then:
            - { countDocuments: tasks, filter: { _id: <task._id> } }
            - return: "reply == 0 ? not_found() : same()"
"#,
            r"    - { findOne: tasks, filter: { _id: <task._id> }, as: old }
    - if: old == null
      then: { return: not_found() }
    - if: old.owner == to
      then: { return: same() }
    - transaction:
        - { updateOne: tasks, filter: { _id: <task._id> }, update: { $set: { owner: <to> } } }
",
        )],
    },
    Mistake {
        name: "serial_forgotten",
        scenario: "chat",
        strategy: "",
        strategies: "linked,bucketed",
        way: Way::Concurrent,
        says: "the final rows of",
        changes: &[(
            r"  post:
    arguments: { room: zipf(room), message: new(message) }
    serial: room
",
            r"  post:
    arguments: { room: zipf(room), message: new(message) }
",
        )],
    },
    Mistake {
        name: "operation_without_a_weight",
        scenario: "chat",
        strategy: "",
        strategies: "linked,copied",
        way: Way::Verify,
        says: "Not covered: rename",
        changes: &[(
            r"    rooms_of: 4
    rename: 4
",
            r"    rooms_of: 4
",
        )],
    },
    Mistake {
        name: "run_of_different_results",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Run,
        says: "the strategies do not return the same results",
        changes: &[("skip: page * page_size", "skip: page")],
    },
    Mistake {
        name: "show_of_an_unknown_stage",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Show,
        says: "Unrecognized pipeline stage",
        changes: &[(
            r"          - $sort: { at: -1, _id: -1 }
          - $limit: 10",
            r"          - $push: { at: -1, _id: -1 }
          - $limit: 10",
        )],
    },
    Mistake {
        name: "misspelt_collection",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Check,
        says: "unknown collection `bucket`",
        changes: &[(
            r"join:
        - updateOne: rooms",
            r"join:
        - updateOne: bucket",
        )],
    },
    Mistake {
        name: "collection_in_another_case",
        scenario: "chat",
        strategy: "linked",
        strategies: "bucketed,linked",
        way: Way::Check,
        says: "unknown collection `Members`",
        changes: &[("$lookup: { from: members", "$lookup: { from: Members")],
    },
    Mistake {
        name: "unknown_slot",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Check,
        says: "unknown",
        changes: &[(
            "filter: { _id: <room>, members.person: <person> }",
            "filter: { _id: <room>, members.person: <user> }",
        )],
    },
    Mistake {
        name: "unknown_field_of_a_record",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Check,
        says: "unknown",
        changes: &[("$push: { messages: <message> }", "$push: { messages: <message.body> }")],
    },
    Mistake {
        name: "unknown_option",
        scenario: "chat",
        strategy: "linked",
        strategies: "bucketed,linked",
        way: Way::Check,
        says: "unknown",
        changes: &[("$set: { text: <text> } }, as: write }", "$set: { text: <text> } }, upserts: true, as: write }")],
    },
    Mistake {
        name: "operation_not_implemented",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Check,
        says: "rename",
        changes: &[(
            r"      rename: { updateOne: people, filter: { _id: <person> }, update: { $set: { name: <name> } } }
",
            "",
        )],
    },
    Mistake {
        name: "state_not_defined",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Check,
        says: "message",
        changes: &[(
            r"      message:
        aggregate: buckets
        pipeline: [{ $unwind: $messages }, { $replaceWith: { $mergeObjects: [$messages, { room: $room }] } }]
",
            "",
        )],
    },
    Mistake {
        name: "abort_outside_of_a_transaction",
        scenario: "library-checkout",
        strategy: "counter_loans_txn",
        strategies: "",
        way: Way::Check,
        says: "abort",
        changes: &[(
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
    },
    Mistake {
        name: "retry_around_the_error_inside_a_transaction",
        scenario: "chat",
        strategy: "copied",
        strategies: "",
        way: Way::Check,
        says: "transaction",
        changes: &[(
            r"        - transaction:
            - { updateOne: people, filter: { _id: <person> }, update: { $set: { name: <name> } }, as: write }
",
            r"        - transaction:
            - { updateOne: people, filter: { _id: <person> }, update: { $set: { name: <name> } }, as: write }
            - retry: { errors: [112] }
              do: { updateOne: people, filter: { _id: <person> }, update: { $set: { name: <name> } } }
",
        )],
    },
    Mistake {
        name: "retry_without_a_cause",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Check,
        says: "without a cause",
        changes: &[("retry: { errors: [11000] }", "retry: {}")],
    },
    Mistake {
        name: "text_without_a_second_pair_of_quotes",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Check,
        says: "unknown",
        changes: &[("rejected('not the author')", "rejected(author)")],
    },
    Mistake {
        name: "audit_of_a_missing_collection",
        scenario: "chat",
        strategy: "",
        strategies: "",
        way: Way::Check,
        says: "unknown collection `messages`",
        changes: &[(
            r"    strategies: [bucketed, bucketed_unguarded]
    live: true
    find: buckets",
            r"    strategies: [bucketed, bucketed_unguarded]
    live: true
    find: messages",
        )],
    },
    Mistake {
        name: "operation_above_its_earlier_one",
        scenario: "chat",
        strategy: "",
        strategies: "",
        way: Way::Check,
        says: "earlier",
        changes: &[(
            r#"made: earlier(post)
      message: "uniform(1, 3) == 1"#,
            r#"made: earlier(join)
      message: "uniform(1, 3) == 1"#,
        )],
    },
    Mistake {
        name: "weight_of_an_unknown_operation",
        scenario: "chat",
        strategy: "",
        strategies: "",
        way: Way::Check,
        says: "unknown",
        changes: &[(
            r"    react: 12
",
            r"    reacts: 12
",
        )],
    },
    Mistake {
        name: "lost_update_without_an_audit",
        scenario: "chat",
        strategy: "copied",
        strategies: "linked,copied",
        way: Way::Concurrent,
        says: "lead to neither of their orders",
        changes: &[(
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
    },
    Mistake {
        name: "counter_raised_again_by_a_retry",
        scenario: "chat",
        strategy: "bucketed",
        strategies: "",
        way: Way::Concurrent,
        says: "lead to neither of their orders",
        changes: &[
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
    },
    Mistake {
        name: "half_of_a_transaction_visible",
        scenario: "library-checkout",
        strategy: "counter_loans_txn",
        strategies: "",
        way: Way::Concurrent,
        says: "finds anomalies while calls run",
        changes: &[(
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
    },
    Mistake {
        name: "state_of_all_with_a_limit",
        scenario: "chat",
        strategy: "linked",
        strategies: "linked,copied",
        way: Way::Sequential,
        says: "right after loading",
        changes: &[(
            r"      rename: { updateOne: people, filter: { _id: <person> }, update: { $set: { name: <name> } } }
",
            r"      rename: { updateOne: people, filter: { _id: <person> }, update: { $set: { name: <name> } } }
    state:
      message: { find: messages, sort: { _id: 1 }, limit: 3 }
",
        )],
    },
    Mistake {
        name: "load_of_all_without_a_field",
        scenario: "chat",
        strategy: "linked",
        strategies: "linked,copied",
        way: Way::Sequential,
        says: "right after loading",
        changes: &[(
            "document: { ...: <member>, room: <member.room> }",
            "document: { room: <member.room>, person: <member.person> }",
        )],
    },
    Mistake {
        name: "filter_that_matches_nothing_anywhere",
        scenario: "chat",
        strategy: "",
        strategies: "linked,copied,bucketed",
        way: Way::Verify,
        says: "Vacuous",
        changes: &[(
            r"arguments: { person: zipf(person) }
    returns: [message]",
            r"arguments: { person: zipf(person).name }
    returns: [message]",
        )],
    },
    Mistake {
        name: "write_that_changes_nothing_anywhere",
        scenario: "chat",
        strategy: "",
        strategies: "linked,copied,bucketed",
        way: Way::Verify,
        says: "Vacuous",
        changes: &[(
            r"  mark_read:
    arguments: { member: uniform(member) }
    serial: member.room",
            r#"  mark_read:
    arguments: { other: uniform(room), member: "{'room': other.topic, 'person': 1}" }
    serial: member.room"#,
        )],
    },
    Mistake {
        name: "more_bytes_for_the_same_answer",
        scenario: "blog-comments",
        strategy: "embedded",
        strategies: "linked,embedded",
        way: Way::Verify,
        says: "Bytes received",
        changes: &[(
            "post: { findOne: posts, filter: { _id: <post> }, projection: { comments: 0 } }",
            "post: { findOne: posts, filter: { _id: <post> } }",
        )],
    },
    Mistake {
        name: "index_missing",
        scenario: "chat",
        strategy: "linked",
        strategies: "bucketed,linked",
        way: Way::Verify,
        says: "COLLSCAN",
        changes: &[(", { author: 1, at: -1, _id: -1 }]", "]")],
    },
    Mistake {
        name: "index_missing_in_lookup",
        scenario: "chat",
        strategy: "linked",
        strategies: "bucketed,linked",
        way: Way::Verify,
        says: "COLLSCAN",
        changes: &[("{ key: { room: 1, person: 1 }, unique: true }", "{ key: { person: 1, room: 1 }, unique: true }")],
    },
    Mistake {
        name: "sort_in_memory",
        scenario: "chat",
        strategy: "linked",
        strategies: "bucketed,linked",
        way: Way::Verify,
        says: "in memory",
        changes: &[("{ room: 1, at: -1, _id: -1 }", "{ room: 1, at: 1, _id: -1 }")],
    },
    Mistake {
        name: "index_on_a_field_that_nothing_writes",
        scenario: "chat",
        strategy: "linked",
        strategies: "bucketed,linked",
        way: Way::Check,
        says: "warning: nothing writes",
        changes: &[(
            "indexes: [{ room: 1, at: -1, _id: -1 }, { author: 1, at: -1, _id: -1 }]",
            "indexes: [{ room: 1, at: -1, _id: -1 }, { authro: 1, at: -1, _id: -1 }]",
        )],
    },
    Mistake {
        name: "index_missing_in_graph_lookup",
        scenario: "trees",
        strategy: "child",
        strategies: "",
        way: Way::Verify,
        says: "$graphLookup from nodes scans",
        changes: &[("        indexes: [{ children: 1 }]\n", "")],
    },
    Mistake {
        name: "whole_record_as_an_id",
        scenario: "chat",
        strategy: "copied",
        strategies: "",
        way: Way::Check,
        says: "warning: `<message>` is the whole new record",
        changes: &[("{ ...: <message>, room: <room>, name", "{ ...: <message>, _id: <message>, room: <room>, name")],
    },
    Mistake {
        name: "parameter_of_another_kind_in_a_mix",
        scenario: "chat",
        strategy: "",
        strategies: "linked,copied",
        way: Way::Check,
        says: "warning: mix `verify` changes parameter `page_size`",
        changes: &[("page_size: 5,", "page_size: 5.0,")],
    },
    Mistake {
        name: "list_read_then_written",
        scenario: "blog-comments",
        strategy: "embedded",
        strategies: "linked,embedded",
        way: Way::Concurrent,
        says: "acknowledged records of comment are not stored",
        changes: &[(
            "      add_comment: { updateOne: posts, filter: { _id: <post> }, update: { $push: { comments: <comment> } } }\n",
            r#"      add_comment:
        - { findOne: posts, filter: { _id: <post> }, as: found }
        - let: { comments: "found.comments + [comment]" }
        - { updateOne: posts, filter: { _id: <post> }, update: { $set: { comments: <comments> } } }
        - return: outcome(reply)
"#,
        )],
    },
];
