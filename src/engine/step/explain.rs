//! Query plans: how the server finds the documents of a command.

use std::cell::{Cell, RefCell};

use bson::{RawArray, RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};

use crate::server::wrapper::{Sending, TargetWrapper};
use crate::server::{Failure, Reply, ReplyKind, Target};

use super::join::joins;
use super::missing_index::{IndexKeys, MissingIndex, Query, integer};

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
    /// The bytes of the documents in all replies.
    received: Cell<u64>,
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
    /// Whether it sorts what it finds in memory.
    sorts: bool,
    /// The indexes that it and its joins lack.
    missing: Vec<MissingIndex>,
}

impl<'t, T: Target> ExplainTarget<'t, T> {
    pub(crate) fn new(target: &'t T) -> ExplainTarget<'t, T> {
        ExplainTarget { target, plans: RefCell::default(), received: Cell::default() }
    }

    /// Returns the bytes of the documents in all replies.
    pub(crate) fn received(&self) -> u64 {
        self.received.get()
    }

    fn receive(&self, reply: &Reply) {
        let bytes: usize = reply.batches().iter().map(|batch| batch.as_bytes().len()).sum();
        self.received.set(self.received.get() + bytes as u64);
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
        let mut plan = self.plan(database, command, name, collection).await;
        if let Some(plan) = &mut plan {
            plan.missing.extend(self.missing(database, command, plan, None).await);
            for join in joins(command) {
                if let Some(inner) = self.plan(database, &join.query, "aggregate", &join.from).await {
                    plan.missing
                        .extend(self.missing(database, &join.query, &inner, Some((&plan.step, join.stage))).await);
                }
            }
        }
        self.plans.borrow_mut().push((shape, plan));
    }

    /// Asks for the plan of one command; `None` when the server does not explain it.
    async fn plan(&self, database: &str, command: &RawDocument, name: &str, collection: &str) -> Option<QueryPlan> {
        let explain = rawdoc! { "explain": stripped(command), "verbosity": "queryPlanner" };
        let reply = self.target.run(database, explain, ReplyKind::Single).await.ok()?;
        let plan = QueryPlan::read(reply.batches().first()?, name, collection);
        (!plan.stages.is_empty()).then_some(plan)
    }

    /// The index that a plan lacks; with a join, the query is that of its stage, of a command.
    async fn missing(
        &self,
        database: &str,
        command: &RawDocument,
        plan: &QueryPlan,
        join: Option<(&str, &str)>,
    ) -> Option<MissingIndex> {
        let (query, collection) = (Query::of(command), command.iter().next()?.ok()?.1.as_str()?);
        let (scans, sorts, keys) = (plan.scans, plan.sorts && query.is_sorted(), query.keys());
        if keys.is_empty() || !(scans || sorts) {
            return None;
        }
        let listed = self.ask(database, rawdoc! { "listIndexes": collection }).await;
        let listed = listed.iter().flat_map(|rows| rows.into_iter().flatten().filter_map(|row| row.as_document()));
        let exists = listed.filter_map(IndexKeys::listed).any(|index| keys.contains(&index));
        // The values of a join's query are none of a call.
        let filters = if join.is_none() { query.filters() } else { &[] };
        let step = join.map_or_else(|| plan.step.clone(), |(step, stage)| format!("{step}: {stage} from {collection}"));
        let scan = if scans { Some(self.count(database, collection, &[]).await) } else { None };
        let sort = match (sorts, join) {
            (false, _) => None,
            (true, Some(_)) => Some(None),
            (true, None) => Some(self.count(database, collection, filters).await),
        };
        Some(MissingIndex { step, scan, sort, keys, exists })
    }

    /// How many documents match; `None` when the server does not say.
    async fn count(&self, database: &str, collection: &str, filters: &[&RawDocument]) -> Option<u64> {
        let matched = filters.iter().map(|filter| rawdoc! { "$match": (*filter).to_owned() });
        let pipeline: RawArrayBuf = matched.chain([rawdoc! { "$count": "n" }]).collect();
        let rows = self.ask(database, rawdoc! { "aggregate": collection, "pipeline": pipeline, "cursor": {} }).await?;
        match rows.into_iter().next() {
            None => Some(0),
            Some(row) => u64::try_from(integer(row.ok()?.as_document()?.get("n").ok()??)?).ok(),
        }
    }

    /// The first batch of a command's reply.
    async fn ask(&self, database: &str, command: RawDocumentBuf) -> Option<RawArrayBuf> {
        let reply = self.target.run(database, command, ReplyKind::Single).await.ok()?;
        Some(reply.batches().first()?.get_document("cursor").ok()?.get_array("firstBatch").ok()?.to_owned())
    }
}

impl<T: Target> TargetWrapper for ExplainTarget<'_, T> {
    fn inner(&self) -> &impl Target {
        self.target
    }

    async fn pass(&self, sending: Sending<'_>) -> Result<Reply, Failure> {
        self.explain(sending.database, &sending.command).await;
        sending.send(self.target).await.inspect(|reply| self.receive(reply))
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
        // The output of a group or a join has no index.
        let mut inner = plan.stages.iter().skip_while(|stage| *stage != "SORT").skip(1);
        plan.sorts = plan.has("SORT") && !inner.any(|stage| stage == "GROUP" || stage == "EQ_LOOKUP");
        plan
    }

    fn has(&self, stage: &str) -> bool {
        self.stages.iter().any(|known| known == stage)
    }

    /// Finds the plans in a reply: directly, under a pipeline's stages, or per shard.
    fn descend(&mut self, reply: &RawDocument) {
        if let Ok(planner) = reply.get_document("queryPlanner") {
            return planner.get_document("winningPlan").into_iter().for_each(|winner| self.walk(winner));
        }
        if let Ok(stages) = reply.get_array("stages") {
            self.descend_stages(stages);
        }
        if let Ok(shards) = reply.get_document("shards") {
            shards.iter().flatten().filter_map(|(_, shard)| shard.as_document()).for_each(|shard| self.descend(shard));
        }
    }

    /// Records the stages of a pipeline; later ones are the outer ones.
    fn descend_stages(&mut self, stages: &RawArray) {
        let stages: Vec<&RawDocument> = stages.into_iter().flatten().filter_map(|stage| stage.as_document()).collect();
        for stage in stages.into_iter().rev() {
            let Some(Ok((name, value))) = stage.iter().next() else { continue };
            match (name.as_str(), value.as_document()) {
                ("$cursor", Some(cursor)) => self.descend(cursor),
                (name, inner) => {
                    self.stages.push(name.to_owned());
                    let other = inner.filter(|_| name == "$unionWith").map(|union| union.get_array("pipeline"));
                    other.into_iter().flatten().for_each(|pipeline| self.descend_stages(pipeline));
                }
            }
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

    /// Takes the indexes that it lacks.
    pub(crate) fn take_missing(&mut self) -> Vec<MissingIndex> {
        std::mem::take(&mut self.missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reply: &RawDocument) -> (Vec<String>, Vec<String>, [bool; 2]) {
        let plan = QueryPlan::read(reply, "find", "comments");
        (plan.stages, plan.indexes, [plan.scans, plan.sorts])
    }

    fn scan() -> RawDocumentBuf {
        rawdoc! { "stage": "COLLSCAN", "filter": { "post": { "$eq": 1 } }, "direction": "forward" }
    }

    #[test]
    fn a_classic_plan_is_walked_to_its_leaves() {
        let fetch = rawdoc! { "stage": "FETCH", "inputStage": { "stage": "IXSCAN", "indexName": "post_1" } };
        let reply = rawdoc! { "queryPlanner": { "winningPlan": fetch, "rejectedPlans": [scan()] } };
        assert_eq!(read(&reply), (vec!["FETCH".into(), "IXSCAN".into()], vec!["post_1".into()], [false; 2]));
    }

    #[test]
    fn filtered_scan_and_sort_are_problems_but_full_scan_is_not() {
        let sort = rawdoc! { "stage": "SORT", "inputStage": scan() };
        let problems = read(&rawdoc! { "queryPlanner": { "winningPlan": sort } }).2;
        assert_eq!(problems, [true; 2]);
        let all = rawdoc! { "queryPlanner": { "winningPlan": { "stage": "COLLSCAN", "direction": "forward" } } };
        assert_eq!(read(&all).2, [false; 2]);
        assert!(QueryPlan::read(&all, "distinct", "c").scans);
        let groups =
            rawdoc! { "stage": "SORT", "inputStage": { "stage": "GROUP", "inputStage": { "stage": "IXSCAN" } } };
        assert_eq!(read(&rawdoc! { "queryPlanner": { "winningPlan": groups } }).2, [false; 2]);
    }

    #[test]
    fn slot_based_pipelines_and_shards_have_plans() {
        let slot =
            rawdoc! { "queryPlanner": { "winningPlan": { "queryPlan": scan(), "slotBasedPlan": { "stages": "x" } } } };
        assert_eq!(read(&slot).0, ["COLLSCAN"]);
        let cursor = rawdoc! { "$cursor": { "queryPlanner": { "winningPlan": scan() } } };
        let pipeline = rawdoc! { "stages": [cursor.clone(), { "$lookup": { "from": "users" } }] };
        assert_eq!(read(&pipeline).0, ["$lookup", "COLLSCAN"]);
        let other = rawdoc! { "$cursor": { "queryPlanner": { "winningPlan": { "stage": "IXSCAN" } } } };
        let union = rawdoc! { "stages": [cursor, { "$unionWith": { "coll": "b", "pipeline": [other] } }] };
        assert_eq!(read(&union).0, ["$unionWith", "IXSCAN", "COLLSCAN"]);
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
