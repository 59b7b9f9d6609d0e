//! Aggregations that are a find, a count or a sum, with or without `$lookup`.

use bson::{Bson, Document};

use crate::infer::layout::Layout;

use super::access::root;
use super::condition::shown;
use super::shape::{StatementShape, slot};
use super::statement::number;
use super::with::{Lookup, lookup};

/// What an aggregation returns.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Returns {
    Records,
    Count,
    /// The sum of the field with this path.
    Sum(String),
}

/// A read as a find would say it, and what comes with each record.
#[derive(Debug)]
pub(super) struct Pipeline<'l> {
    pub(super) shape: StatementShape,
    pub(super) lookups: Vec<Lookup<'l>>,
    pub(super) result: Returns,
}

/// Reads the stages of an aggregation.
///
/// # Errors
/// The first stage that no logical step can say.
pub(super) fn read_pipeline<'l>(layout: &'l Layout, shape: &StatementShape) -> Result<Pipeline<'l>, String> {
    let mut read = Pipeline { shape: shape.clone(), lookups: Vec::new(), result: Returns::Records };
    read.shape.pipeline.clear();
    for (number, stage) in shape.pipeline.iter().enumerate() {
        let Some((name, body)) = stage.iter().next() else { continue };
        if read.result != Returns::Records && !matches!(name.as_str(), "$project" | "$unset") {
            return Err(shown(name));
        }
        read.stage(layout, number, name, body)?;
    }
    Ok(read)
}

impl<'l> Pipeline<'l> {
    fn stage(&mut self, layout: &'l Layout, at: usize, name: &str, body: &Bson) -> Result<(), String> {
        let is_late = self.shape.limit > 0 || self.shape.skip.is_some();
        match (name, body) {
            ("$match", Bson::Document(filter)) if at == 0 => self.shape.filter = filter.clone(),
            ("$sort", Bson::Document(sort)) if !is_late => self.shape.sort = sort.clone(),
            ("$skip", body) if self.shape.limit == 0 => self.shape.skip = slot(body).map(|(slot, _)| slot),
            ("$limit", body) => self.shape.limit = number(Some(body)),
            ("$count", _) => self.result = Returns::Count,
            ("$group", Bson::Document(group)) => self.result = total(group)?,
            ("$project", Bson::Document(projection)) => self.shape.projection = projection.clone(),
            ("$unset", Bson::String(path)) => drop(self.shape.projection.insert(path, 0)),
            ("$unwind", body) if self.unwinds_a_lookup(body) => {}
            ("$lookup", Bson::Document(body)) => {
                let from = root(layout, &self.shape.collection).ok_or("a collection that is not in the model")?;
                self.lookups.push(lookup(layout, from, body)?);
            }
            (name, _) => return Err(shown(name)),
        }
        Ok(())
    }

    fn unwinds_a_lookup(&self, body: &Bson) -> bool {
        let path = body.as_document().map_or(body.as_str(), |body| body.get_str("path").ok());
        let path = path.unwrap_or_default().trim_start_matches('$');
        self.lookups.iter().any(|lookup| lookup.result == path)
    }
}

/// One number over all records: how many, or the sum of a field.
fn total(group: &Document) -> Result<Returns, String> {
    let refused = || "$group".to_owned();
    let is_constant = !matches!(group.get("_id"), Some(Bson::Document(_) | Bson::Array(_) | Bson::String(_)));
    let mut results = group.iter().filter(|(key, _)| *key != "_id");
    let (Some((_, Bson::Document(result))), None, true) = (results.next(), results.next(), is_constant) else {
        return Err(refused());
    };
    match result.iter().next() {
        Some((operator, Bson::Int32(1) | Bson::Int64(1))) if operator == "$sum" => Ok(Returns::Count),
        Some((operator, Bson::Document(nothing))) if operator == "$count" && nothing.is_empty() => Ok(Returns::Count),
        Some((operator, Bson::String(path))) if operator == "$sum" => {
            path.strip_prefix('$').map(|path| Returns::Sum(path.to_owned())).ok_or_else(refused)
        }
        _ => Err(refused()),
    }
}
