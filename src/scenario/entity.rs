//! Logical data, whatever the schema.

use super::{Node, Spanned};

/// One kind of logical record.
#[derive(Debug, Clone)]
pub struct EntityDefinition {
    /// The name for generators and types.
    pub name: Spanned<String>,
    /// `of`: the parent entity.
    pub parent: Option<Spanned<String>>,
    /// `as`: the name of the parent's list of children; present if `parent` is.
    pub children_name: Option<Spanned<String>>,
    /// `count`: CEL, the number of records, per parent for a child.
    pub count: Node,
    /// `from`: a file of documents, by its path from the folder of the scenario.
    pub from: Option<Spanned<String>>,
    /// `let`: values for the fields, in no document.
    pub helpers: Vec<(Spanned<String>, Node)>,
    /// `fields`, in document order: the key in the document, and CEL: scalar text, or a list or mapping of expressions.
    pub fields: Vec<(Spanned<String>, Node)>,
    /// `sort`: the natural order, for logical steps.
    pub sort: Option<Node>,
    /// `arrives_sorted`: records are created in that order.
    pub arrives_sorted: bool,
    /// `inverse`: by the name of a list of records, the name of the other direction.
    pub inverse: Option<Node>,
    /// `collection` of derived strategies.
    pub collection: Option<Spanned<String>>,
}

impl EntityDefinition {
    /// Whether a field is a list whose order does not count.
    pub(crate) fn is_set(&self, field: &str) -> bool {
        self.fields.iter().any(|(name, value)| name.value == field && value.as_set().is_some())
    }
}
