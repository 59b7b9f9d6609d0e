//! Joins: the queries that the stages of a pipeline make in other collections.

use bson::raw::CString;
use bson::{RawArray, RawArrayBuf, RawDocument, RawDocumentBuf, rawdoc};

/// What a `$lookup` or `$graphLookup` looks for in its collection, as a command of its own. The plans of the command that
/// contains the stage do not say how the server finds it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Join {
    /// The stage.
    pub(super) stage: &'static str,
    /// The collection.
    pub(super) from: String,
    /// The `aggregate` that finds what belongs to one value. Values do not change its plan, so all are 0.
    pub(super) query: RawDocumentBuf,
}

/// Returns the joins of a command's pipeline, those inside of others included.
pub(super) fn joins(command: &RawDocument) -> Vec<Join> {
    let mut found = Vec::new();
    if let Ok(pipeline) = command.get_array("pipeline") {
        let variables = command.get_document("let").map(names).unwrap_or_default();
        of_stages(pipeline, &variables, &mut found);
    }
    found
}

fn of_stages(pipeline: &RawArray, variables: &[CString], found: &mut Vec<Join>) {
    for (name, value) in pipeline.into_iter().flatten().filter_map(|stage| stage.as_document()?.iter().next()?.ok()) {
        let Some(stage) = value.as_document() else { continue };
        match name.as_str() {
            "$lookup" => of_lookup(stage, variables, found),
            "$graphLookup" => found.extend(of_graph(stage)),
            "$facet" => {
                let facets = stage.iter().flatten().filter_map(|(_, pipeline)| pipeline.as_array());
                facets.for_each(|pipeline| of_stages(pipeline, variables, found));
            }
            "$unionWith" => {
                let pipeline = stage.get_array("pipeline");
                pipeline.into_iter().for_each(|pipeline| of_stages(pipeline, &[], found));
            }
            _ => {}
        }
    }
}

fn of_lookup(stage: &RawDocument, outer: &[CString], found: &mut Vec<Join>) {
    let mut variables = outer.to_vec();
    variables.extend(stage.get_document("let").map(names).unwrap_or_default());
    let mut pipeline = RawArrayBuf::new();
    if let Ok(field) = stage.get_str("foreignField") {
        pipeline.push(equals(field));
    }
    if let Ok(own) = stage.get_array("pipeline") {
        own.into_iter().flatten().for_each(|stage| pipeline.push(stage));
        of_stages(own, &variables, found);
    }
    let Ok(from) = stage.get_str("from") else { return };
    let mut values = RawDocumentBuf::new();
    variables.iter().for_each(|name| values.append(name, 0));
    let query = rawdoc! { "aggregate": from, "pipeline": pipeline, "let": values, "cursor": {} };
    found.push(Join { stage: "$lookup", from: from.to_owned(), query });
}

fn of_graph(stage: &RawDocument) -> Option<Join> {
    let (from, field) = (stage.get_str("from").ok()?, stage.get_str("connectToField").ok()?);
    let mut pipeline = RawArrayBuf::new();
    pipeline.push(equals(field));
    if let Ok(restriction) = stage.get_document("restrictSearchWithMatch") {
        pipeline.push(rawdoc! { "$match": restriction.to_owned() });
    }
    let query = rawdoc! { "aggregate": from, "pipeline": pipeline, "cursor": {} };
    Some(Join { stage: "$graphLookup", from: from.to_owned(), query })
}

fn equals(field: &str) -> RawDocumentBuf {
    let mut filter = RawDocumentBuf::new();
    if let Ok(field) = CString::try_from(field) {
        filter.append(field, 0);
    }
    rawdoc! { "$match": filter }
}

fn names(variables: &RawDocument) -> Vec<CString> {
    variables.iter().flatten().map(|(name, _)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_join_is_the_query_for_one_value() {
        let inner = rawdoc! { "$lookup": { "from": "c", "let": { "y": "$y" }, "pipeline": [{ "$sort": { "n": 1 } }], "as": "c" } };
        let outer = rawdoc! { "$lookup": { "from": "b", "localField": "x", "foreignField": "k", "let": { "x": "$x" },
        "pipeline": [inner.clone()], "as": "b" } };
        let graph = rawdoc! { "$graphLookup": { "from": "g", "startWith": "$p", "connectFromField": "p",
        "connectToField": "q", "restrictSearchWithMatch": { "t": 1 }, "as": "g" } };
        let command = rawdoc! { "aggregate": "a", "pipeline": [outer, { "$facet": { "f": [graph] } }], "cursor": {} };
        let [c, b, g] = joins(&command).try_into().unwrap();
        assert_eq!((c.stage, c.from.as_str()), ("$lookup", "c"));
        assert_eq!(c.query.get_document("let").unwrap().to_owned(), rawdoc! { "x": 0, "y": 0 });
        assert_eq!(
            b.query,
            rawdoc! { "aggregate": "b", "pipeline": [{ "$match": { "k": 0 } }, inner], "let": { "x": 0 }, "cursor": {} }
        );
        let graph = rawdoc! { "aggregate": "g", "pipeline": [{ "$match": { "q": 0 } }, { "$match": { "t": 1 } }], "cursor": {} };
        assert_eq!(g, Join { stage: "$graphLookup", from: "g".into(), query: graph });
    }
}
