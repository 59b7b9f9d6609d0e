//! Mistakes of the translator of models: what is changed in the text of which derived strategies.

/// How much of `verify` is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phases {
    /// Sequential calls.
    Sequential,
    /// All phases, with these weights, so that many pairs are of the operations that matter.
    All(&'static str),
}

/// A mistake in one derived operation, or in a collection.
#[derive(Debug, Clone, Copy)]
pub struct Translation {
    /// What is wrong.
    pub name: &'static str,
    /// A file of `examples`, or beside this one.
    pub model: &'static str,
    /// The operation, or the collection.
    pub operation: &'static str,
    /// What of the finding names it: the operation, or `the model` where the first read shows what a write has left.
    pub shown_by: &'static str,
    /// What finds it.
    pub phases: Phases,
    /// The strategies that are compared, with each text of the operation and what replaces it everywhere.
    pub changes: &'static [(&'static str, &'static [(&'static str, &'static str)])],
}

const fn of(
    name: &'static str,
    [model, operation, shown_by]: [&'static str; 3],
    phases: Phases,
    changes: &'static [(&'static str, &'static [(&'static str, &'static str)])],
) -> Translation {
    Translation { name, model, operation, shown_by, phases, changes }
}

/// The steps of a transaction one by one.
const NO_TRANSACTION: &[(&str, &str)] = &[
    ("- transaction:\n", "- if: 'true'\n          then:\n"),
    ("          attempts: 1000\n", ""),
    ("abort:", "return:"),
];

const NO_LOOK: &[(&str, &str)] =
    &[("            - { if: 'reply.matched == 0', then: { abort: 'not_found()' } }\n", "")];

const NO_SECOND_LOOK: &[(&str, &str)] = &[("reply > 0", "reply > 9")];

const ANOTHER_PRODUCT: &[(&str, &str)] = &[("o._id == s.product", "o._id != s.product")];

const FIRST_PRODUCT: &[(&str, &str)] = &[("lines.map(s, s.product)", "slice(lines.map(s, s.product), 0, 1)")];

const NOT_FOLLOWED: &[(&str, &str)] = &[("if: changed.modified > 0", "if: changed.modified > 1")];

const PAIRS_STAY: &[(&str, &str)] =
    &[("            - { deleteMany: product_parts, filter: { product: <product._id> } }\n", "")];

const ANOTHER_PAIR: &[(&str, &str)] = &[("product: <product._id>, part: <part._id>", "product: <product._id>")];

/// All mistakes. Where all strategies of a file share one, nothing but the model tells it.
pub const TRANSLATIONS: &[Translation] = &[
    of(
        "where_forgotten",
        ["model", "bought", "bought("],
        Phases::Sequential,
        &[
            ("referenced", &[("filter: { product: <product> }", "filter: {}")]),
            ("lines_inside", &[("$match: { lines.product: <product> }", "$match: {}")]),
            ("all_inside", &[("$match: { orders.lines.product: <product> }", "$match: {}")]),
        ],
    ),
    of(
        "limit_off_by_one",
        ["model", "bought", "bought("],
        Phases::Sequential,
        &[
            ("referenced", &[("limit: 10", "limit: 1")]),
            ("lines_inside", &[("$limit: 10", "$limit: 1")]),
            ("all_inside", &[("$limit: 10", "$limit: 1")]),
        ],
    ),
    of(
        "sort_reversed",
        ["model", "newest", "newest("],
        Phases::Sequential,
        &[
            ("referenced", &[("{ placed: -1, _id: -1 }", "{ placed: 1, _id: 1 }")]),
            ("lines_inside", &[("{ placed: -1, _id: -1 }", "{ placed: 1, _id: 1 }")]),
            ("all_inside", &[("[$orders, -3]", "[$orders, 3]"), ("reverse(reply.orders)", "reply.orders")]),
        ],
    ),
    of(
        "limit_ignored",
        ["model", "newest", "newest("],
        Phases::Sequential,
        &[
            ("referenced", &[(", limit: 3", "")]),
            ("lines_inside", &[("        limit: 3\n", "")]),
            ("all_inside", &[("[$orders, -3]", "[$orders, -1000]")]),
        ],
    ),
    of(
        "rows_instead_of_sum",
        ["model", "pieces", "pieces("],
        Phases::Sequential,
        &[
            ("referenced", &[("$sum: $quantity", "$sum: 1")]),
            ("lines_inside", &[("$sum: $lines.quantity", "$sum: 1")]),
            ("all_inside", &[("$sum: $orders.lines.quantity", "$sum: 1")]),
        ],
    ),
    of(
        "another_field_projected",
        ["model", "order_page", "order_page("],
        Phases::Sequential,
        &[
            ("referenced", &[("projection: { name: 1", "projection: { city: 1")]),
            ("lines_inside", &[("projection: { name: 1", "projection: { city: 1")]),
            ("all_inside", &[("orders.$: 1, name: 1", "orders.$: 1, city: 1")]),
        ],
    ),
    of(
        "product_of_another_line",
        ["model", "order_page", "order_page("],
        Phases::Sequential,
        &[("referenced", ANOTHER_PRODUCT), ("lines_inside", ANOTHER_PRODUCT), ("all_inside", ANOTHER_PRODUCT)],
    ),
    of(
        "products_of_the_first_line_only",
        ["model", "order_page", "order_page("],
        Phases::Sequential,
        &[("referenced", FIRST_PRODUCT), ("lines_inside", FIRST_PRODUCT), ("all_inside", FIRST_PRODUCT)],
    ),
    of(
        "condition_forgotten",
        ["model", "add_line", "add_line("],
        Phases::Sequential,
        &[
            ("referenced", &[(", stock: { $gt: 0 }", "")]),
            ("lines_inside", &[(", stock: { $gt: 0 }", "")]),
            ("all_inside", &[(", stock: { $gt: 0 }", "")]),
        ],
    ),
    of(
        "condition_off_by_one",
        ["model", "add_line", "add_line("],
        Phases::Sequential,
        &[
            ("referenced", &[("$gt: 0", "$gte: 0")]),
            ("lines_inside", &[("$gt: 0", "$gte: 0")]),
            ("all_inside", &[("$gt: 0", "$gte: 0")]),
        ],
    ),
    of(
        "counter_off",
        ["model", "add_line", "add_line("],
        Phases::Sequential,
        &[
            ("referenced", &[("stock: -1", "stock: -2")]),
            ("lines_inside", &[("stock: -1", "stock: -2")]),
            ("all_inside", &[("stock: -1", "stock: -2")]),
        ],
    ),
    of(
        "parent_not_looked_for",
        ["model", "add_line", "add_line("],
        Phases::Sequential,
        &[("referenced", NO_LOOK), ("lines_inside", NO_LOOK), ("all_inside", NO_LOOK)],
    ),
    of(
        "nothing_undone",
        ["model", "add_line", "add_line("],
        Phases::Sequential,
        &[("referenced", NO_TRANSACTION), ("lines_inside", NO_TRANSACTION), ("all_inside", NO_TRANSACTION)],
    ),
    of(
        "parent_read_and_not_written",
        ["model", "add_line", "add_line("],
        Phases::All("place: 10, add_line: 20, cancel: 20"),
        &[(
            "referenced",
            &[
                (
                    "{ updateOne: orders, filter: { _id: <order._id> }, update: { $inc: { touched: 1 } } }",
                    "{ countDocuments: orders, filter: { _id: <order._id> } }",
                ),
                ("'reply.matched == 0'", "'reply == 0'"),
            ],
        )],
    ),
    of(
        "children_stay",
        ["model", "cancel", "the model"],
        Phases::Sequential,
        &[("referenced", &[("            - { deleteMany: lines, filter: { order: <order._id> } }\n", "")])],
    ),
    of(
        "delete_of_what_is_gone",
        ["model", "cancel", "cancel("],
        Phases::Sequential,
        &[
            ("referenced", &[("abort: 'not_found()'", "abort: 'ok()'")]),
            (
                "lines_inside",
                &[(
                    "{ deleteOne: orders, filter: { _id: <order._id> } }",
                    "[{ deleteOne: orders, filter: { _id: <order._id> } }, { return: 'ok()' }]",
                )],
            ),
        ],
    ),
    of(
        "all_elements_updated",
        ["model", "set_quantity", "the model"],
        Phases::Sequential,
        &[
            (
                "referenced",
                &[("updateOne", "updateMany"), ("filter: { _id: <line._id> }", "filter: { order: <line.order._id> }")],
            ),
            ("lines_inside", &[("lines.$.quantity", "'lines.$[].quantity'")]),
        ],
    ),
    of(
        "children_left_out_of_a_new_record",
        ["model", "place", "the model"],
        Phases::Sequential,
        &[
            ("referenced", &[("order.lines }", "'[]' }")]),
            ("lines_inside", &[("lines: <order.lines>", "lines: []")]),
            ("all_inside", &[("lines: <order.lines>", "lines: []")]),
        ],
    ),
    of(
        "page_off_by_one",
        ["model-moves", "page", "page("],
        Phases::Sequential,
        &[
            ("referenced", &[("(number - 1)", "number")]),
            ("embedded", &[("(number - 1)", "number")]),
            ("listed", &[("(number - 1)", "number")]),
        ],
    ),
    of(
        "after_includes_the_last_one",
        ["model-moves", "later", "later("],
        Phases::Sequential,
        &[
            ("referenced", &[("$gt: <task._id>", "$gte: <task._id>")]),
            ("embedded", &[("$gt: <task._id>", "$gte: <task._id>")]),
            ("listed", &[("$gt: <task._id>", "$gte: <task._id>")]),
        ],
    ),
    of(
        "end_of_a_range_included",
        ["model-moves", "due", "due("],
        Phases::Sequential,
        &[
            ("referenced", &[("$lt: <end>", "$lte: <end>")]),
            ("embedded", &[("$lt: <end>", "$lte: <end>")]),
            ("listed", &[("$lt: <end>", "$lte: <end>")]),
        ],
    ),
    of(
        "all_counted",
        ["model-moves", "open", "open("],
        Phases::Sequential,
        &[
            ("referenced", &[(", done: false", "")]),
            ("embedded", &[("$match: { tasks.done: false }", "$match: {}")]),
            ("listed", &[("$match: { joined.done: false }", "$match: {}")]),
        ],
    ),
    of(
        "where_forgotten_in_with",
        ["model-moves", "person", "person("],
        Phases::Sequential,
        &[
            ("referenced", &[(", done: false", "")]),
            ("embedded", &[("$match: { tasks.done: false }", "$match: {}")]),
            ("listed", &[(", done: false", "")]),
        ],
    ),
    of(
        "order_of_a_list_lost",
        ["model-moves", "tags", "tags("],
        Phases::Sequential,
        &[
            ("referenced", &[("reorder(rows, '_id', ids)", "rows")]),
            ("embedded", &[("reorder(rows, '_id', ids)", "rows")]),
            ("listed", &[("reorder(rows, '_id', ids)", "rows")]),
        ],
    ),
    of(
        "added_twice",
        ["model-moves", "add_tag", "add_tag("],
        Phases::Sequential,
        &[
            ("referenced", &[(", tags: { $ne: <tag._id> }", "")]),
            ("embedded", &[(", tags: { $ne: <tag._id> }", "")]),
            ("listed", &[(", tags: { $ne: <tag._id> }", "")]),
        ],
    ),
    of(
        "incremented_twice",
        ["model-moves", "finish", "the model"],
        Phases::Sequential,
        &[
            ("referenced", &[("points: 1", "points: 2")]),
            ("embedded", &[("points: 1", "points: 2")]),
            ("listed", &[("points: 1", "points: 2")]),
        ],
    ),
    of(
        "gone_taken_for_a_false_condition",
        ["model-moves", "finish", "finish("],
        Phases::Sequential,
        &[
            ("referenced", &[("reply == 0 ? not_found() : ", "")]),
            ("embedded", &[("reply == 0 ? not_found() : ", "")]),
            ("listed", &[("reply == 0 ? not_found() : ", "")]),
        ],
    ),
    of(
        "move_to_the_same_owner",
        ["model-moves", "move", "move("],
        Phases::Sequential,
        &[("embedded", &[("same()", "ok()")]), ("listed", &[("same()", "ok()")])],
    ),
    of(
        "all_elements_pulled",
        ["model-moves", "move", "move("],
        Phases::Sequential,
        &[
            ("embedded", &[("$pull: { tasks: { _id: <task._id> } }", "$pull: { tasks: { due: { $gte: 0 } } }")]),
            ("listed", &[("$pull: { tasks: <task._id> }", "$pull: { tasks: { $ne: 0 } }")]),
        ],
    ),
    of(
        "id_stays_in_the_list",
        ["model-moves", "remove", "the model"],
        Phases::Sequential,
        &[(
            "listed",
            &[(
                "            - { updateOne: people, filter: { tasks: <task._id> }, update: { $pull: { tasks: <task._id> } } }\n",
                "",
            )],
        )],
    ),
    of(
        "moved_by_two_updates",
        ["model-moves", "move", "move("],
        Phases::All("move: 20, edit: 20"),
        &[("embedded", NO_TRANSACTION)],
    ),
    of(
        "no_second_look",
        ["model-moves", "edit", "edit("],
        Phases::All("move: 20, edit: 20"),
        &[("embedded", NO_SECOND_LOOK)],
    ),
    of(
        "second_document_stays",
        ["model-split", "drop", "the model"],
        Phases::Sequential,
        &[("split", &[("            - { deleteOne: product_details, filter: { _id: <product._id> } }\n", "")])],
    ),
    of(
        "update_of_the_other_document",
        ["model-split", "describe", "the model"],
        Phases::Sequential,
        &[("split", &[("updateOne: product_details", "updateOne: products")])],
    ),
    of(
        "second_document_left_out",
        ["model-split", "revise", "the model"],
        Phases::Sequential,
        &[("split", &[("$set: { description: <text> }", "$unset: { none: 1 }")])],
    ),
    of(
        "both_documents_by_two_updates",
        ["model-split", "revise", "revise("],
        Phases::All("revise: 20, offer: 5"),
        &[("split", NO_TRANSACTION)],
    ),
    of(
        "lists_keep_what_is_gone",
        ["sets", "discard", "used("],
        Phases::Sequential,
        &[("listed", &[("            - updateMany: parts\n", "            - updateOne: parts\n")])],
    ),
    of("copies_in_lists_stay", ["sets", "retitle", "used("], Phases::Sequential, &[("listed", NOT_FOLLOWED)]),
    of(
        "added_to_a_list_twice",
        ["sets", "add", "add("],
        Phases::Sequential,
        &[("listed", &[(", products._id: { $ne: <product._id> }", "")])],
    ),
    of(
        "pairs_of_what_is_gone",
        ["sets", "discard", "how_many("],
        Phases::Sequential,
        &[("pairs", PAIRS_STAY), ("copied", PAIRS_STAY)],
    ),
    of(
        "another_pair_deleted",
        ["sets", "drop", "drop("],
        Phases::Sequential,
        &[("pairs", ANOTHER_PAIR), ("copied", ANOTHER_PAIR)],
    ),
    of(
        "pairs_without_a_unique_index",
        ["sets", "shelf_parts", "put("],
        Phases::All("put: 40, places: 10"),
        &[("pairs", &[("{ key: { shelf: 1, part: 1 }, unique: true }", "{ shelf: 1, part: 1 }")])],
    ),
    of("copies_in_pairs_stay", ["sets", "rename", "page("], Phases::Sequential, &[("copied", NOT_FOLLOWED)]),
    of(
        "pairs_copy_what_was_loaded",
        ["sets", "make", "page("],
        Phases::Sequential,
        &[("copied", &[("reorder(found, '_id', ids)", "product.parts")])],
    ),
    of(
        "source_of_a_pair_not_written",
        ["sets", "add", "product_parts_copies_differ"],
        Phases::All("add: 20, drop: 20, rename: 20"),
        &[(
            "copied",
            &[
                ("findOneAndUpdate: parts", "findOne: parts"),
                (
                    "filter: { _id: <part._id> }\n              update: { $inc: { touched: 1 } }\n",
                    "filter: { _id: <part._id> }\n",
                ),
            ],
        )],
    ),
];
