//! Warnings of templates that are valid, though something else was probably meant.

use crate::scenario::{Diagnostic, Diagnostics, Node, Span, Spanned, Tree};

use super::scope::{Origin, Scope};

/// Keys whose texts name fields or types, or are expressions.
const OTHER_TEXTS: [&str; 5] = ["$rename", "$type", "$literal", "$currentDate", "forEach"];

/// Warns of texts in an option of a command that are the names of variables. Those in a pipeline are mostly names of
/// fields, so only what its `$match` stages compare is looked at.
pub fn check_option(option: &str, node: &Node, scope: &Scope, diagnostics: &mut Diagnostics) {
    match option {
        "pipeline" => check_matches(node, scope, diagnostics),
        "update" if matches!(node.tree, Tree::List(_)) => check_matches(node, scope, diagnostics),
        "filter" | "update" | "replacement" | "document" | "documents" | "arrayFilters" => {
            check_texts(node, scope, diagnostics);
        }
        _ => {}
    }
}

fn check_matches(node: &Node, scope: &Scope, diagnostics: &mut Diagnostics) {
    node.walk(None, &mut |key, node| {
        if key == Some("$match") {
            check_texts(node, scope, diagnostics);
        }
        key != Some("$match")
    });
}

/// Warns of unquoted texts that are the names of variables: `{ _id: cart }` for `{ _id: <cart> }`.
pub fn check_texts(node: &Node, scope: &Scope, diagnostics: &mut Diagnostics) {
    node.walk(None, &mut |key, node| {
        if key.is_some_and(|key| OTHER_TEXTS.contains(&key)) {
            return false;
        }
        let text = node.as_text().unwrap_or_default();
        let is_quoted = node.span.end - node.span.start != text.len();
        let is_given = scope.variable(text).is_some_and(|variable| variable.origin != Origin::Reply);
        if is_given && !is_quoted {
            let message = format!("`{text}` is plain text here, not the variable");
            let help = format!("did you mean `<{text}>`? quote it if the text is meant");
            diagnostics.push(Diagnostic::warning(node.span, message).help(help));
        }
        true
    });
}

/// Warns of `key: <record>` where `record` is written whole; `wholes` are the names of such records.
pub fn check_wholes(node: &Node, wholes: &[&str], scope: &Scope, diagnostics: &mut Diagnostics) {
    node.walk(None, &mut |key, node| {
        let slot = node.as_text().and_then(|text| text.strip_prefix('<')?.strip_suffix('>'));
        if let Some(name) = slot.filter(|name| key.is_some_and(|key| key != "...") && wholes.contains(name)) {
            diagnostics.push(whole(name, node.span, scope));
        }
        true
    });
}

fn whole(name: &str, span: Span, scope: &Scope) -> Diagnostic {
    let entity = scope.variable(name).and_then(|variable| variable.entity);
    let has_id = entity.is_some_and(|entity| scope.names.member(entity, "_id").is_some());
    let meant = if has_id { format!("did you mean `<{name}._id>`? ") } else { String::new() };
    Diagnostic::warning(span, format!("`<{name}>` writes the whole record here"))
        .help(format!("{meant}if the whole record is meant, write `{{ ...: <{name}> }}`"))
}

/// Warns of what looks like a slot and is none; `text` begins with its `<`.
pub fn check_slot(text: &str, span: Span, scope: &Scope, diagnostics: &mut Diagnostics) {
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
    diagnostics.push(Diagnostic::warning(span, format!("`<{inside}>` is plain text, not a slot")).help(help));
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

#[cfg(test)]
mod tests {
    use super::super::fixture::messages;

    const WHOLE: &str = "{ ...: <cart> }";

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
    fn what_looks_like_a_slot_and_is_none_is_reported() {
        let steps = |filter: &str| format!("{{ find: carts, filter: {{ a: \"{filter}\" }} }}");
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
