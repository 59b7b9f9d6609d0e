//! Warnings of templates that are valid, though something else was probably meant.

use crate::scenario::{Diagnostics, Node, Span, Spanned, Tree};

use super::known_names::check_names_in;
use super::resolve::is_computed;
use super::scope::{Origin, Scope};

/// Keys whose texts name fields or types, or are expressions.
const OTHER_TEXTS: [&str; 5] = ["$rename", "$type", "$literal", "$currentDate", "forEach"];

/// Reports unknown names in an option of a command, and warns of texts that are the names of variables. Those in a pipeline are mostly names of
/// fields, so only what its `$match` stages compare is looked at.
pub fn check_option(option: &str, node: &Node, scope: &Scope) {
    check_names_in(option, node, scope.diagnostics);
    match option {
        "pipeline" => check_matches(node, scope),
        "update" if matches!(node.tree, Tree::List(_)) => check_matches(node, scope),
        "filter" | "update" | "replacement" | "document" | "documents" | "arrayFilters" => {
            check_texts(node, scope);
            check_ids(node, scope);
        }
        _ => {}
    }
}

/// Warns of `_id: <comment>` where `comment` is a new record, which is written whole.
fn check_ids(node: &Node, scope: &Scope) {
    let is_new = |name: &str| scope.variable(name).is_some_and(|variable| variable.is_new);
    node.walk(None, &mut |key, node| {
        let is_id = key.is_some_and(|key| key == "_id" || key.ends_with("._id"));
        if let Some(name) = slot_of(node).filter(|name| is_id && is_new(name)) {
            let message = format!("`<{name}>` is the whole new record, not its `_id`");
            let help = format!(
                "did you mean `<{name}._id>`? only records that exist before the call are written as their `_id`"
            );
            scope.diagnostics.warn(node.span, message, help);
        }
        true
    });
}

/// The name in a text that is nothing but `<name>`.
fn slot_of(node: &Node) -> Option<&str> {
    node.as_text().and_then(|text| text.strip_prefix('<')?.strip_suffix('>'))
}

fn check_matches(node: &Node, scope: &Scope) {
    node.walk(None, &mut |key, node| {
        if key == Some("$match") {
            check_texts(node, scope);
        }
        key != Some("$match")
    });
}

/// Warns of unquoted texts that are the names of variables: `{ _id: cart }` for `{ _id: <cart> }`.
pub fn check_texts(node: &Node, scope: &Scope) {
    node.walk(None, &mut |key, node| {
        if key.is_some_and(|key| OTHER_TEXTS.contains(&key)) {
            return false;
        }
        if let Some(((message, help), _)) = written_as_text(key.unwrap_or_default(), node, scope) {
            scope.diagnostics.warn(node.span, message, help);
        }
        true
    });
}

/// What is wrong with the text of a key that a variable or an expression was probably meant by, and whether it is the name of a
/// variable.
pub fn written_as_text(key: &str, node: &Node, scope: &Scope) -> Option<((String, String), bool)> {
    let text = node.as_text()?;
    let is_quoted = node.span.end - node.span.start != text.len();
    let is_given = |name: &str| scope.variable(name).is_some_and(|variable| variable.origin != Origin::Reply);
    if is_quoted {
        return None;
    }
    if is_given(text) {
        let message = format!("`{text}` is plain text here, not the variable");
        return Some(((message, format!("did you mean `<{text}>`? quote it if the text is meant")), true));
    }
    let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    if text.contains('<') || !words.any(is_given) || !is_computed(text) {
        return None;
    }
    let is_path = super::path_length(&format!("<{text}>")) == Some(text.len() + 2);
    let (slot, field) =
        (text.trim(), key.rsplit('.').next().filter(|field| !field.starts_with('$')).unwrap_or("value"));
    let help = if is_path {
        format!("did you mean `<{slot}>`? quote it if the text is meant")
    } else {
        format!(
            "compute it in a step before, `let: {{ {field}: \"{slot}\" }}`, and write `<{field}>` here; quote it if the text is meant"
        )
    };
    Some(((format!("`{text}` is plain text here, which nothing computes"), help), false))
}

/// Warns of `key: <record>` where `record` is written whole; `wholes` are the names of such records.
pub fn check_wholes(node: &Node, wholes: &[&str], scope: &Scope) {
    node.walk(None, &mut |key, node| {
        if let Some(name) = slot_of(node).filter(|name| key.is_some_and(|key| key != "...") && wholes.contains(name)) {
            let entity = scope.variable(name).and_then(|variable| variable.entity);
            let has_id = entity.is_some_and(|entity| scope.names.member(entity, "_id").is_some());
            let meant = if has_id { format!("did you mean `<{name}._id>`? ") } else { String::new() };
            let help = format!("{meant}if the whole record is meant, write `{{ ...: <{name}> }}`");
            scope.diagnostics.warn(node.span, format!("`<{name}>` writes the whole record here"), help);
        }
        true
    });
}

/// Warns of what looks like a slot and is none; `text` begins with its `<`.
pub fn check_slot(text: &str, span: Span, scope: &Scope) {
    // No slot is that long, and a text may be nothing but `<`.
    const LONGEST: usize = 100;
    let Some(end) = text.as_bytes().iter().take(LONGEST).position(|byte| *byte == b'>') else { return };
    let inside = &text[1..end];
    let trimmed = inside.trim();
    let end = trimmed.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(trimmed.len());
    let first = &trimmed[..end];
    if scope.variable(first).is_none() && scope.parameter(first).is_none() {
        return;
    }
    let help = match super::path_length(&format!("<{trimmed}>")) {
        Some(_) => format!("write `<{trimmed}>`"),
        None => "a slot is a name or a path: compute with `let` first, in a collection with a name of `each`".into(),
    };
    scope.diagnostics.warn(span, format!("`<{inside}>` is plain text, not a slot"), help);
}

/// The collections that the stages of a pipeline read, at any depth. Those that `$out` and `$merge` make need no declaration.
pub fn collections_of(node: &Node) -> Vec<Spanned<String>> {
    let mut found = Vec::new();
    node.walk(None, &mut |key, node| {
        let place = match key {
            Some("$lookup" | "$graphLookup") => node.get("from"),
            Some("$unionWith") => node.get("coll").or(Some(node)),
            _ => None,
        };
        found.extend(place.and_then(|place| Some(Spanned::new(place.as_text()?.to_owned(), place.span))));
        key != Some("$literal")
    });
    found
}

/// Whether a stage of a pipeline writes a collection.
pub fn writes_elsewhere(pipeline: &Node) -> bool {
    let mut found = false;
    pipeline.walk(None, &mut |key, _| {
        found |= matches!(key, Some("$out" | "$merge"));
        key != Some("$literal")
    });
    found
}

/// Reports options of a collection that contradict each other or its indexes, where the server would refuse them late or keep
/// other documents than was meant.
pub fn check_options(options: &Node, indexes: Option<&Node>, diagnostics: &Diagnostics) {
    let Some(capped) = options.get("capped") else { return };
    let mut indexes = indexes.and_then(Node::as_list).into_iter().flatten();
    if let Some(ttl) = indexes.find_map(|index| index.get("expireAfterSeconds")) {
        let help = "remove `capped`, or `expireAfterSeconds`: the oldest documents go by number or by age";
        diagnostics.error(ttl.span, "a capped collection cannot have a TTL index", help);
    }
    if options.get("timeseries").is_some() {
        let message = "a time-series collection cannot be capped";
        diagnostics.error(capped.span, message, "remove `capped`, and use `expireAfterSeconds` of the collection");
    }
    if options.get("size").is_none() {
        let help = "add `size`, its bytes at most; `max` is the documents at most";
        diagnostics.error(capped.span, "`capped` without `size`", help);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::messages;
    use super::super::{Choice, compile};
    use crate::scenario::{Diagnostics, Source, read};

    const WHOLE: &str = "{ ...: <cart> }";

    /// The warnings of a scenario with these steps, and this parameter in a mix that is not chosen.
    fn warnings(steps: &str, parameter: &str) -> Vec<String> {
        let text = format!(
            "format: 1\nname: test\ntitle: Test\nparameters: {{ limit: 3, rate: 0.5, word: \"'a'\" }}\nentities:\n  \
             post: {{ count: 2, fields: {{ _id: index }} }}\n  note: {{ count: 2, fields: {{ _id: oid() }} }}\noperations:\n  \
             add: {{ arguments: {{ post: uniform(post), note: new(note) }} }}\nmixes:\n  default: {{ add: 1 }}\n  \
             other: {{ add: 1, parameters: {{ {parameter} }} }}\nstrategies:\n  one:\n    \
             collections: {{ posts: {{ each: post }}, notes: {{ each: note }} }}\n    operations: {{ add: {steps} }}\n"
        );
        let diagnostics = Diagnostics::new();
        let scenario = read(&Source::new("test.yaml", text), &diagnostics).unwrap();
        compile(&scenario, &Choice::default(), &diagnostics).unwrap();
        assert!(!diagnostics.has_errors(), "{:?}", diagnostics.iter().collect::<Vec<_>>());
        diagnostics.iter().map(|one| one.message.clone()).collect()
    }

    const ADD: &str = "{ insertOne: notes, document: <note> }";

    #[test]
    fn a_new_record_as_an_id_is_reported() {
        let message = "`<note>` is the whole new record, not its `_id`";
        for steps in [
            "{ insertOne: notes, document: { _id: <note> } }",
            "{ updateOne: posts, filter: { _id: <post> }, update: { $push: { notes: { _id: <note> } } } }",
            "{ deleteOne: posts, filter: { note._id: <note> } }",
        ] {
            assert_eq!(warnings(steps, "limit: 4"), [message], "{steps}");
        }
        for steps in [
            ADD,
            "{ insertOne: notes, document: { _id: <note._id>, post: <post>, note: <note> } }",
            "[{ let: { note2: note._id } }, { deleteOne: notes, filter: { _id: <note2> } }]",
        ] {
            assert_eq!(warnings(steps, "limit: 4"), Vec::<String>::new(), "{steps}");
        }
    }

    #[test]
    fn a_parameter_of_another_kind_in_a_mix_is_reported() {
        assert_eq!(warnings(ADD, "limit: 4.0"), ["mix `other` changes parameter `limit` from an int to a double"]);
        assert_eq!(warnings(ADD, "rate: 1"), ["mix `other` changes parameter `rate` from a double to an int"]);
        assert_eq!(warnings(ADD, "limit: \"'4'\""), ["mix `other` changes parameter `limit` from an int to a string"]);
        assert_eq!(warnings(ADD, "rate: 1.0, limit: 1, word: \"'b'\""), Vec::<String>::new());
    }

    #[test]
    fn text_that_is_a_variables_name_is_reported() {
        for steps in [
            "{ find: carts, filter: { _id: cart } }",
            "{ updateOne: carts, filter: {}, update: { $set: { a: [{ b: cart }] } } }",
            "{ aggregate: carts, pipeline: [{ $match: { _id: cart } }, { $project: { a: cart } }] }",
            "[{ insertOne: carts, document: { a: cart } }]",
        ] {
            assert_eq!(messages(WHOLE, steps), ["`cart` is plain text here, not the variable"], "{steps}");
        }
        for steps in [
            "{ find: carts, filter: { _id: 'cart' } }",
            "{ find: carts, filter: { cart: <cart> }, hint: cart }",
            "{ distinct: carts, key: cart }",
            "{ updateOne: carts, filter: {}, update: { $rename: { a: cart } } }",
            "{ aggregate: carts, pipeline: [{ $lookup: { from: carts, localField: cart, foreignField: n, as: n } }] }",
        ] {
            assert_eq!(messages(WHOLE, steps), Vec::<String>::new(), "{steps}");
        }
    }

    #[test]
    fn text_that_is_an_expression_is_reported() {
        for text in ["n + 1", "cart.n", "cart.n * 2", "string(n)"] {
            let steps = format!("{{ updateOne: carts, filter: {{}}, update: {{ $set: {{ a: {text} }} }} }}");
            assert_eq!(messages(WHOLE, &steps), [format!("`{text}` is plain text here, which nothing computes")]);
        }
        for text in ["'n + 1'", "n or m", "in-n", "a.b", "n.", "1 + 2", "<n> + 1", "10:30 n"] {
            let steps = format!("{{ updateOne: carts, filter: {{}}, update: {{ $set: {{ a: {text} }} }} }}");
            assert_eq!(messages(WHOLE, &steps), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn what_looks_like_a_slot_and_is_none_is_reported() {
        let steps = |filter: &str| format!("{{ find: carts, filter: {{ n: \"{filter}\" }} }}");
        for filter in ["<cart.n + 1>", "<cart.n >", "<cart.items[0].at>", "x <n * 2>"] {
            let slot = &filter[filter.find('<').unwrap()..];
            assert_eq!(messages(WHOLE, &steps(filter)), [format!("`{slot}` is plain text, not a slot")], "{filter}");
        }
        for filter in ["<b class='n'>", "1 < 2", "<n> <= <cart>", "<>"] {
            assert_eq!(messages(WHOLE, &steps(filter)), Vec::<String>::new(), "{filter}");
        }
    }

    #[test]
    fn a_whole_record_under_a_key_is_reported() {
        let steps = "{ find: carts }";
        for document in ["{ cart: <cart> }", "{ _id: { cart: <cart> } }", "{ a: [{ b: <cart> }] }"] {
            assert_eq!(messages(document, steps), ["`<cart>` writes the whole record here"], "{document}");
        }
        for document in ["{ _id: <cart._id>, all: { ...: <cart> } }", "{ a: [<cart>] }"] {
            assert_eq!(messages(document, steps), Vec::<String>::new(), "{document}");
        }
    }

    #[test]
    fn stages_name_declared_collections() {
        let aggregate = |stage: &str| format!("{{ aggregate: carts, pipeline: [{stage}] }}");
        for stage in [
            "{ $lookup: { from: cartz, as: a, pipeline: [] } }",
            "{ $unionWith: cartz }",
            "{ $unionWith: { coll: cartz, pipeline: [] } }",
            "{ $facet: { a: [{ $graphLookup: { from: cartz } }] } }",
        ] {
            assert_eq!(messages(WHOLE, &aggregate(stage)), ["error: unknown collection `cartz`"], "{stage}");
            assert_eq!(messages(WHOLE, &aggregate(&stage.replace("cartz", "carts"))), Vec::<String>::new(), "{stage}");
        }
        for stage in ["{ $lookup: { from: \"c_<n>\", as: a } }", "{ $out: cartz }"] {
            assert_eq!(messages(WHOLE, &aggregate(stage)), Vec::<String>::new(), "{stage}");
        }
    }
}
