//! Names of operators, stages and options that no server knows. What the server would refuse is found before it is asked.
//!
//! Only keys at places of operators are looked at: not those of data, below `$literal`, or with slots.

use crate::plan::feature::FeatureKind;
use crate::scenario::{Diagnostics, Node, Spanned, Tree, suggest};

/// Stages whose fields are fixed, and those fields.
const STAGE_OPTIONS: [(&str, &str); 10] = [
    ("$bucket", "groupBy boundaries default output"),
    ("$bucketAuto", "groupBy buckets output granularity"),
    ("$densify", "field partitionByFields range"),
    ("$graphLookup", "from startWith connectFromField connectToField as maxDepth depthField restrictSearchWithMatch"),
    ("$lookup", "from localField foreignField as let pipeline"),
    ("$merge", "into on let whenMatched whenNotMatched"),
    ("$replaceRoot", "newRoot"),
    ("$sample", "size"),
    ("$setWindowFields", "partitionBy sortBy output"),
    ("$unwind", "path includeArrayIndex preserveNullAndEmptyArrays"),
];

/// Reports unknown names in an option of a command, under its name in a step or in the server's command.
pub fn check_names_in(option: &str, node: &Node, diagnostics: &Diagnostics) {
    let names = KnownNames { diagnostics };
    match option {
        "pipeline" => names.pipeline(node),
        "filter" | "query" | "q" | "validator" | "partialFilterExpression" | "arrayFilters" => names.query(node),
        "update" | "u" => names.update(node),
        "projection" | "fields" => names.expression(node),
        "collation" => names.options(node, FeatureKind::Collation),
        "updates" | "deletes" => {
            for (key, value) in items(node).flat_map(entries) {
                check_names_in(&key.value, value, diagnostics);
            }
        }
        _ => {}
    }
}

/// Reports unknown options of the indexes and of the collection itself.
pub fn check_collection_options(indexes: Option<&Node>, options: Option<&Node>, diagnostics: &Diagnostics) {
    let names = KnownNames { diagnostics };
    for index in indexes.into_iter().flat_map(items) {
        if index.get("key").is_some_and(|key| key.as_mapping().is_some()) {
            names.options(index, FeatureKind::Index);
        }
    }
    options.into_iter().for_each(|options| names.options(options, FeatureKind::Collection));
}

/// The items of a list, those of `forEach` included; a node that is no list is its only item.
fn items(node: &Node) -> impl Iterator<Item = &Node> {
    let all = node.as_list().unwrap_or(std::slice::from_ref(node));
    all.iter().map(|item| item.get("forEach").and(item.get("item")).unwrap_or(item))
}

fn entries(node: &Node) -> impl Iterator<Item = &(Spanned<String>, Node)> {
    node.as_mapping().into_iter().flatten()
}

/// Whether a mapping consists of operators, not of data.
fn has_operators(node: &Node) -> bool {
    entries(node).next().is_some_and(|(key, _)| key.value.starts_with('$'))
}

struct KnownNames<'d> {
    diagnostics: &'d Diagnostics,
}

impl KnownNames<'_> {
    /// Reports a key that no server knows here; `known` is empty for names of `kind`.
    fn check(&self, key: &Spanned<String>, kind: FeatureKind) {
        let name = key.value.as_str();
        if kind.knows(name) || name == "..." || name.contains('<') {
            return;
        }
        let message = format!("unknown {} `{name}`", kind.word());
        self.diagnostics.error(key.span, message, help(name, kind.names()));
    }

    fn operator(&self, key: &Spanned<String>, kind: FeatureKind) {
        if key.value.starts_with('$') {
            self.check(key, kind);
        }
    }

    fn options(&self, node: &Node, kind: FeatureKind) {
        for (key, value) in entries(node) {
            self.check(key, kind);
            check_names_in(&key.value, value, self.diagnostics);
        }
    }

    /// A filter, or a list of filters.
    fn query(&self, node: &Node) {
        for (key, value) in items(node).flat_map(entries) {
            self.operator(key, FeatureKind::Query);
            match key.value.as_str() {
                "$expr" => self.expression(value),
                "$and" | "$or" | "$nor" | "$not" | "$elemMatch" | "$all" => self.query(value),
                name if !name.starts_with('$') && has_operators(value) => self.query(value),
                _ => {}
            }
        }
    }

    fn update(&self, node: &Node) {
        if node.as_list().is_some() {
            return self.pipeline(node);
        }
        for (key, fields) in entries(node) {
            self.operator(key, FeatureKind::Update);
            for (_, value) in entries(fields).filter(|(_, value)| has_operators(value)) {
                match key.value.as_str() {
                    "$push" | "$addToSet" => {
                        entries(value).for_each(|(modifier, _)| self.operator(modifier, FeatureKind::Update));
                    }
                    "$pull" => self.query(value),
                    _ => {}
                }
            }
        }
    }

    fn pipeline(&self, node: &Node) {
        for (key, value) in items(node).flat_map(entries) {
            self.operator(key, FeatureKind::Stage);
            self.stage(&key.value, value);
        }
    }

    fn stage(&self, name: &str, value: &Node) {
        if let Some((_, known)) = STAGE_OPTIONS.iter().find(|(stage, _)| *stage == name) {
            for (key, _) in entries(value) {
                let is_known = known.split(' ').any(|known| known == key.value);
                if !(is_known || key.value == "..." || key.value.contains('<')) {
                    let message = format!("unknown option `{}` of `{name}`", key.value);
                    self.diagnostics.error(key.span, message, help(&key.value, known.split(' ')));
                }
            }
        }
        let part = |key: &str| value.get(key).into_iter();
        match name {
            "$match" => self.query(value),
            "$lookup" | "$unionWith" => {
                part("pipeline").for_each(|inner| self.pipeline(inner));
                part("let").for_each(|inner| self.expression(inner));
            }
            "$facet" => entries(value).for_each(|(_, inner)| self.pipeline(inner)),
            "$group" => self.fields(value, FeatureKind::Accumulator),
            "$bucket" | "$bucketAuto" | "$setWindowFields" => {
                part("output").for_each(|inner| self.fields(inner, FeatureKind::Accumulator));
                part("groupBy").chain(part("partitionBy")).for_each(|inner| self.expression(inner));
            }
            "$geoNear" => part("query").for_each(|inner| self.query(inner)),
            "$graphLookup" => {
                part("startWith").for_each(|inner| self.expression(inner));
                part("restrictSearchWithMatch").for_each(|inner| self.query(inner));
            }
            "$merge" => {
                part("whenMatched").filter(|inner| inner.as_list().is_some()).for_each(|inner| self.pipeline(inner))
            }
            "$addFields" | "$project" | "$redact" | "$replaceRoot" | "$replaceWith" | "$set" | "$sortByCount" => {
                self.expression(value);
            }
            _ => {}
        }
    }

    /// Fields that each have an operator of this kind, with an expression.
    fn fields(&self, node: &Node, kind: FeatureKind) {
        for (field, value) in entries(node) {
            for (key, inner) in entries(value) {
                let kind = if field.value == "_id" { FeatureKind::Expression } else { kind };
                self.operator(key, kind);
                if key.value != "$literal" {
                    self.expression(inner);
                }
            }
        }
    }

    fn expression(&self, node: &Node) {
        match &node.tree {
            Tree::Scalar(_) => {}
            Tree::List(_) => items(node).for_each(|item| self.expression(item)),
            Tree::Mapping(entries) => {
                for (key, value) in entries {
                    self.operator(key, FeatureKind::Expression);
                    if key.value != "$literal" {
                        self.expression(value);
                    }
                }
            }
        }
    }
}

/// The help for an unknown name: the known one that was probably meant.
fn help(name: &str, known: impl Iterator<Item = &'static str>) -> String {
    match suggest(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "no release of MongoDB that docshape knows has it; look its name up in MongoDB's manual".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::messages;

    const WHOLE: &str = "{ ...: <cart> }";

    #[test]
    fn names_that_no_server_knows_are_reported() {
        let pipeline = |stages: &str| format!("{{ aggregate: carts, pipeline: [{stages}] }}");
        let update = |text: &str| format!("{{ updateOne: carts, filter: {{}}, {text} }}");
        for (step, message) in [
            (update("update: { $incr: { n: 1 } }"), "unknown update operator `$incr`"),
            (update("update: { $push: { items: { $eachh: [1] } } }"), "unknown update operator `$eachh`"),
            (update("update: { $pull: { items: { $gtt: 1 } } }"), "unknown query operator `$gtt`"),
            (update("update: [{ $sett: { a: 1 } }]"), "unknown stage `$sett`"),
            (update("update: { $set: { a: 1 } }, arrayFilters: [{ x: { $gtt: 1 } }]"), "unknown query operator `$gtt`"),
            ("{ find: carts, filter: { $orr: [{ n: 1 }] } }".to_owned(), "unknown query operator `$orr`"),
            ("{ find: carts, filter: { $and: [{ n: { $gtt: 1 } }] } }".to_owned(), "unknown query operator `$gtt`"),
            ("{ find: carts, filter: { $expr: { $eqq: [1, 1] } } }".to_owned(), "unknown expression operator `$eqq`"),
            ("{ find: carts, projection: { n: { $siz: $a } } }".to_owned(), "unknown expression operator `$siz`"),
            ("{ find: carts, collation: { local: en } }".to_owned(), "unknown collation option `local`"),
            (pipeline("{ $unwnd: $a }"), "unknown stage `$unwnd`"),
            (pipeline("{ $group: { _id: null, n: { $sums: 1 } } }"), "unknown accumulator `$sums`"),
            (
                pipeline("{ $project: { n: { $cond: [{ $eqq: [1, 1] }, 1, 2] } } }"),
                "unknown expression operator `$eqq`",
            ),
            (pipeline("{ $lookup: { from: carts, as: a, pipeline: [{ $mach: {} }] } }"), "unknown stage `$mach`"),
            (pipeline("{ $lookup: { form: carts, as: a, pipeline: [] } }"), "unknown option `form` of `$lookup`"),
            (pipeline("{ $facet: { a: [{ $match: { n: { $gtt: 1 } } }] } }"), "unknown query operator `$gtt`"),
            (
                "{ bulkWrite: carts, requests: [{ updateOne: { filter: {}, update: { $incr: { n: 1 } } } }] }"
                    .to_owned(),
                "unknown update operator `$incr`",
            ),
            (
                "{ command: { update: carts, updates: [{ q: {}, u: { $incr: { n: 1 } } }] } }".to_owned(),
                "unknown update operator `$incr`",
            ),
        ] {
            assert_eq!(messages(WHOLE, &step), [format!("error: {message}")], "{step}");
        }
    }

    #[test]
    fn keys_of_data_and_newer_names_are_no_mistakes() {
        for step in [
            "{ find: carts, filter: { n: { $eq: { $odd: 1 } } } }",
            "{ find: carts, filter: { n: { $in: [{ $odd: 1 }] }, _id: { c: { $odd: 1 } } } }",
            "{ find: carts, filter: { _id: { $oid: '65f000000000000000000001' } } }",
            "{ aggregate: carts, pipeline: [{ $project: { a: { $literal: { $odd: 1 } } } }] }",
            "{ aggregate: carts, pipeline: [{ $densify: { field: a, range: { step: 1, bounds: full } } }] }",
            "{ aggregate: carts, pipeline: [{ $group: { _id: { $year: $at }, n: { $bottom: { output: $n, sortBy: { n: 1 } } } } }] }",
            "{ updateOne: carts, filter: {}, update: { $set: { a: { $odd: 1 } } } }",
            "{ updateOne: carts, filter: {}, update: { $push: { a: { b: 1 } }, $pull: { a: { b: { $gt: 1 } } } } }",
            "{ updateOne: carts, filter: {}, update: { $set: { a: 1 } }, sort: { a: 1 } }",
            "[{ insertOne: carts, document: { a: { $odd: 1 } } }]",
        ] {
            assert_eq!(messages(WHOLE, step), Vec::<String>::new(), "{step}");
        }
    }
}
