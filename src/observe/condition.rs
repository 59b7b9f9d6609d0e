//! The conditions of a filter, and the records that they find.

use crate::infer::layout::{EntityPlace, FieldPlace, Layout};

use super::access::{KEY, Named, named, root};
use super::shape::{Operand, StatementShape, StatementTerm};

/// Why nothing can be said of a collection.
pub(super) const UNKNOWN_COLLECTION: &str = "a collection that is not in the model";

/// One comparison, with what it names in the model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NamedComparison<'l> {
    pub(super) named: Named<'l>,
    pub(super) operator: String,
    pub(super) operand: Operand,
}

/// How a filter finds records; the first of these that it has is used.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum By<'l> {
    Key(Operand),
    /// A list of keys, which is one of the conditions.
    Keys,
    Unique(&'l FieldPlace, Operand),
    Parent(Operand),
    /// The record whose list has this child.
    ListedChild(&'l EntityPlace, Operand),
    /// Conditions alone.
    Conditions,
}

/// The records of a filter.
#[derive(Debug)]
pub(super) struct Access<'l> {
    pub(super) entity: &'l EntityPlace,
    pub(super) by: By<'l>,
    pub(super) rest: Vec<NamedComparison<'l>>,
}

/// What the filter of a statement finds, or what of the statement no logical step can say.
pub(super) fn access<'l>(layout: &'l Layout, shape: &StatementShape) -> Result<Access<'l>, String> {
    if let Some(unsaid) = &shape.unsaid {
        return Err(unsaid.clone());
    }
    let root = root(layout, &shape.collection).ok_or(UNKNOWN_COLLECTION)?;
    let comparisons = shape.filter.iter().map(|one| NamedComparison::new(layout, &shape.collection, one));
    let mut rest = comparisons.collect::<Result<Vec<_>, _>>()?;
    let owner = |comparison: &NamedComparison<'l>| comparison.named.owner(layout);
    let depth = |entity: &&EntityPlace| entity.array.as_ref().map_or(0, Vec::len);
    let entity = rest.iter().filter_map(owner).max_by_key(depth).unwrap_or(root);
    if entity.array.is_some() {
        // The key of the record inside is enough; other conditions on what is around it cannot be said.
        rest.retain(|one| owner(one) != Some(root) || !one.is_key());
        if rest.iter().any(|one| owner(one) != Some(entity)) {
            return Err("conditions on records inside of others and on these".to_owned());
        }
    }
    let found = rest.iter().enumerate().filter_map(|(at, one)| one.by().map(|(rank, by)| (rank, at, by)));
    let by = match found.min_by_key(|(rank, ..)| *rank) {
        None => By::Conditions,
        Some((_, _, By::Keys)) => By::Keys,
        Some((_, at, by)) => {
            rest.remove(at);
            by
        }
    };
    Ok(Access { entity, by, rest })
}

impl<'l> NamedComparison<'l> {
    fn new(layout: &'l Layout, collection: &str, comparison: &StatementTerm) -> Result<Self, String> {
        let StatementTerm { path, operator, operand } = comparison.clone();
        match named(layout, collection, &path).ok_or("a condition on a field that is not in the model")? {
            Named::Field { below: true, .. } => Err("a condition on a part of a field".to_owned()),
            named => Ok(NamedComparison { named, operator, operand }),
        }
    }

    fn is_key(&self) -> bool {
        matches!(self.named, Named::Field { field, .. } if field.field == KEY)
    }

    /// How this finds records, after those of a lower rank.
    fn by(&self) -> Option<(usize, By<'l>)> {
        let operand = self.operand.clone();
        match (self.named, self.operator.as_str(), &self.operand) {
            (_, "$eq", _) if self.is_key() => Some((0, By::Key(operand))),
            (_, "$in", Operand::List(_)) if self.is_key() => Some((1, By::Keys)),
            (Named::Field { field, .. }, "$eq", _) if field.unique => Some((2, By::Unique(field, operand))),
            (Named::Parent { .. }, "$eq", _) => Some((3, By::Parent(operand))),
            (Named::Children { child }, "$eq", _) => Some((4, By::ListedChild(child, operand))),
            _ => None,
        }
    }
}

/// The names of comparisons, for a comment.
pub(super) fn names_of(comparisons: &[NamedComparison<'_>]) -> String {
    comparisons.iter().map(|one| one.named.name()).collect::<Vec<_>>().join(", ")
}
