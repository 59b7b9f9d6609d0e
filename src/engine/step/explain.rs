//! Query plans: how the server finds the documents of a command.

use std::cell::RefCell;

use bson::{RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};

use crate::server::{Failure, Reply, ReplyKind, Target, Transaction};

/// The commands that find documents.
const EXPLAINABLE: [&str; 7] = ["find", "aggregate", "count", "distinct", "update", "delete", "findAndModify"];

/// Fields of a command that `explain` refuses, or that would make it part of a transaction.
const NOT_EXPLAINABLE: [&str; 6] =
    ["readConcern", "writeConcern", "lsid", "txnNumber", "startTransaction", "autocommit"];

/// Parts of a plan's description without stages.
const NOT_STAGES: [&str; 6] =
    ["filter", "rejectedPlans", "parsedQuery", "indexBounds", "slotBasedPlan", "optimizedPipeline"];

/// A target that also has the server explain each command, once per shape. Commands that the server does not explain
/// have no plan.
pub(crate) struct ExplainTarget<'t, T> {
    target: &'t T,
    /// The shapes seen, and their plans.
    plans: RefCell<Vec<(String, Option<QueryPlan>)>>,
}

/// How the server executes one command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct QueryPlan {
    /// The command and its collection.
    pub(crate) step: String,
    /// The stages, outermost first.
    pub(crate) stages: Vec<String>,
    /// The indexes used.
    pub(crate) indexes: Vec<String>,
    /// Whether it examines every document of a collection to find some.
    scans: bool,
}

impl<'t, T: Target> ExplainTarget<'t, T> {
    pub(crate) fn new(target: &'t T) -> ExplainTarget<'t, T> {
        ExplainTarget { target, plans: RefCell::default() }
    }

    /// Returns the plans in the order of their commands.
    pub(crate) fn into_plans(self) -> impl Iterator<Item = QueryPlan> {
        self.plans.into_inner().into_iter().filter_map(|(_, plan)| plan)
    }

    async fn explain(&self, database: &str, command: &RawDocument) {
        let Some((name, collection)) = explainable(command) else { return };
        let shape = shape(RawBsonRef::Document(command));
        if self.plans.borrow().iter().any(|(seen, _)| *seen == shape) {
            return;
        }
        let explain = rawdoc! { "explain": stripped(command), "verbosity": "queryPlanner" };
        let reply = self.target.run(database, explain, ReplyKind::Single).await.ok();
        let plan =
            reply.and_then(|reply| reply.batches().first().map(|reply| QueryPlan::read(reply, name, collection)));
        self.plans.borrow_mut().push((shape, plan.filter(|plan| !plan.stages.is_empty())));
    }
}

impl<T: Target> Target for ExplainTarget<'_, T> {
    async fn run(&self, database: &str, command: RawDocumentBuf, kind: ReplyKind) -> Result<Reply, Failure> {
        self.explain(database, &command).await;
        self.target.run(database, command, kind).await
    }

    async fn begin(&self) -> Result<Transaction, Failure> {
        self.target.begin().await
    }

    async fn run_in(
        &self,
        transaction: &mut Transaction,
        database: &str,
        command: RawDocumentBuf,
        kind: ReplyKind,
    ) -> Result<Reply, Failure> {
        self.explain(database, &command).await;
        self.target.run_in(transaction, database, command, kind).await
    }

    async fn commit(&self, transaction: &mut Transaction) -> Result<(), Failure> {
        self.target.commit(transaction).await
    }

    async fn abort(&self, transaction: &mut Transaction) -> Result<(), Failure> {
        self.target.abort(transaction).await
    }
}

/// The name and collection of a command that can be explained.
pub(super) fn explainable(command: &RawDocument) -> Option<(&str, &str)> {
    let (name, collection) = command.iter().next()?.ok()?;
    let name = name.as_str();
    let writes = command.get_array("pipeline").is_ok_and(|pipeline| {
        let mut stages = pipeline.into_iter().flatten().filter_map(|stage| stage.as_document());
        stages.any(|stage| stage.get("$out").is_ok_and(|out| out.is_some()) || stage.get_document("$merge").is_ok())
    });
    (EXPLAINABLE.contains(&name) && !writes).then_some((name, collection.as_str()?))
}

/// The command without the fields that `explain` refuses.
pub(super) fn stripped(command: &RawDocument) -> RawDocumentBuf {
    let mut stripped = RawDocumentBuf::new();
    for (name, value) in command.iter().flatten().filter(|(name, _)| !NOT_EXPLAINABLE.contains(&name.as_str())) {
        stripped.append(name, value);
    }
    stripped
}

/// The names in a command without its values: commands that differ only in values have one plan. The collection is a
/// name, too.
fn shape(value: RawBsonRef<'_>) -> String {
    match value {
        RawBsonRef::Document(document) => {
            let fields = document.iter().flatten().map(|(name, value)| match value {
                RawBsonRef::String(text) if EXPLAINABLE.contains(&name.as_str()) => format!("{name}={text}"),
                value => format!("{name}:{}", shape(value)),
            });
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
        RawBsonRef::Array(items) => {
            let mut shapes: Vec<String> = items.into_iter().flatten().map(shape).collect();
            shapes.dedup();
            format!("[{}]", shapes.join(","))
        }
        _ => "?".to_owned(),
    }
}

impl QueryPlan {
    fn read(reply: &RawDocument, name: &str, collection: &str) -> QueryPlan {
        let mut plan = QueryPlan { step: format!("{name} {collection}"), ..QueryPlan::default() };
        plan.descend(reply);
        // `distinct` without a filter must examine all documents, unless there is an index.
        plan.scans |= name == "distinct" && plan.has("COLLSCAN");
        plan
    }

    fn has(&self, stage: &str) -> bool {
        self.stages.iter().any(|known| known == stage)
    }

    /// Finds the plans in a reply: directly, under a pipeline's stages, or per shard.
    fn descend(&mut self, reply: &RawDocument) {
        if let Ok(planner) = reply.get_document("queryPlanner") {
            if let Ok(winner) = planner.get_document("winningPlan") {
                self.walk(winner);
            }
            return;
        }
        if let Ok(stages) = reply.get_array("stages") {
            // Later stages of a pipeline are the outer ones.
            let stages: Vec<&RawDocument> =
                stages.into_iter().flatten().filter_map(|stage| stage.as_document()).collect();
            for stage in stages.into_iter().rev() {
                let Some(Ok((name, value))) = stage.iter().next() else { continue };
                match value.as_document().filter(|_| name.as_str() == "$cursor") {
                    Some(cursor) => self.descend(cursor),
                    None => self.stages.push(name.as_str().to_owned()),
                }
            }
        }
        if let Ok(shards) = reply.get_document("shards") {
            shards.iter().flatten().filter_map(|(_, shard)| shard.as_document()).for_each(|shard| self.descend(shard));
        }
    }

    /// Records a stage and all stages below it, under any field.
    fn walk(&mut self, plan: &RawDocument) {
        if let Ok(stage) = plan.get_str("stage") {
            self.stages.push(stage.to_owned());
            let has_filter = plan.get_document("filter").is_ok_and(|filter| !filter.is_empty());
            self.scans |= stage == "COLLSCAN" && has_filter;
        }
        if let Ok(index) = plan.get_str("indexName")
            && !self.indexes.iter().any(|known| known == index)
        {
            self.indexes.push(index.to_owned());
        }
        for (name, value) in plan.iter().flatten().filter(|(name, _)| !NOT_STAGES.contains(&name.as_str())) {
            match value {
                RawBsonRef::Document(_) if name.as_str() == "queryPlanner" => self.descend(plan),
                RawBsonRef::Document(inner) => self.walk(inner),
                RawBsonRef::Array(items) => {
                    items.into_iter().flatten().filter_map(|item| item.as_document()).for_each(|item| self.walk(item));
                }
                _ => {}
            }
        }
    }

    /// What is wrong with the plan, as the predicate of a sentence about the command.
    pub(crate) fn problems(&self) -> impl Iterator<Item = &'static str> {
        let scans = self.scans.then_some("scans the whole collection (COLLSCAN)");
        // The output of a group or a join has no index.
        let inner = self.stages.iter().skip_while(|stage| *stage != "SORT").skip(1);
        let has_no_index = |stage: &String| stage == "GROUP" || stage == "EQ_LOOKUP";
        let sorts = (self.has("SORT") && !inner.into_iter().any(has_no_index)).then_some("sorts in memory (SORT)");
        scans.into_iter().chain(sorts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reply: &RawDocument) -> (Vec<String>, Vec<String>, Vec<&'static str>) {
        let plan = QueryPlan::read(reply, "find", "comments");
        (plan.stages.clone(), plan.indexes.clone(), plan.problems().collect())
    }

    fn scan() -> RawDocumentBuf {
        rawdoc! { "stage": "COLLSCAN", "filter": { "post": { "$eq": 1 } }, "direction": "forward" }
    }

    #[test]
    fn a_classic_plan_is_walked_to_its_leaves() {
        let fetch = rawdoc! { "stage": "FETCH", "inputStage": { "stage": "IXSCAN", "indexName": "post_1" } };
        let reply = rawdoc! { "queryPlanner": { "winningPlan": fetch, "rejectedPlans": [scan()] } };
        assert_eq!(read(&reply), (vec!["FETCH".into(), "IXSCAN".into()], vec!["post_1".into()], vec![]));
    }

    #[test]
    fn filtered_scan_and_sort_are_problems_but_full_scan_is_not() {
        let sort = rawdoc! { "stage": "SORT", "inputStage": scan() };
        let problems = read(&rawdoc! { "queryPlanner": { "winningPlan": sort } }).2;
        assert_eq!(problems, ["scans the whole collection (COLLSCAN)", "sorts in memory (SORT)"]);
        let all = rawdoc! { "queryPlanner": { "winningPlan": { "stage": "COLLSCAN", "direction": "forward" } } };
        assert_eq!(read(&all).2, Vec::<&str>::new());
        assert_eq!(QueryPlan::read(&all, "distinct", "c").problems().count(), 1);
        let groups =
            rawdoc! { "stage": "SORT", "inputStage": { "stage": "GROUP", "inputStage": { "stage": "IXSCAN" } } };
        assert_eq!(read(&rawdoc! { "queryPlanner": { "winningPlan": groups } }).2, Vec::<&str>::new());
    }

    #[test]
    fn slot_based_pipelines_and_shards_have_plans() {
        let slot =
            rawdoc! { "queryPlanner": { "winningPlan": { "queryPlan": scan(), "slotBasedPlan": { "stages": "x" } } } };
        assert_eq!(read(&slot).0, ["COLLSCAN"]);
        let cursor = rawdoc! { "$cursor": { "queryPlanner": { "winningPlan": scan() } } };
        let pipeline = rawdoc! { "stages": [cursor, { "$lookup": { "from": "users" } }] };
        assert_eq!(read(&pipeline).0, ["$lookup", "COLLSCAN"]);
        let sharded = rawdoc! { "shards": { "a": pipeline } };
        assert_eq!(read(&sharded).0, ["$lookup", "COLLSCAN"]);
        let merge = rawdoc! { "stage": "SHARD_MERGE", "shards": [{ "shardName": "a", "winningPlan": scan() }] };
        assert_eq!(read(&rawdoc! { "queryPlanner": { "winningPlan": merge } }).0, ["SHARD_MERGE", "COLLSCAN"]);
        assert_eq!(read(&rawdoc! { "ok": 1 }).0, Vec::<String>::new());
    }

    #[test]
    fn commands_that_differ_only_in_values_have_one_shape() {
        let command = |post: i32, list: Vec<i32>| {
            let list: bson::RawArrayBuf = list.into_iter().collect();
            shape(RawBsonRef::Document(
                &rawdoc! { "find": "comments", "filter": { "post": post, "_id": { "$in": list } } },
            ))
        };
        assert_eq!(command(1, vec![1, 2]), command(2, vec![3]));
        let other = shape(RawBsonRef::Document(&rawdoc! { "find": "posts", "filter": { "post": 1 } }));
        assert_ne!(command(1, vec![1]), other);
    }
}
