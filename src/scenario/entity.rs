//! Logical data, whatever the schema.

use super::{Node, Spanned};

/// One kind of logical record.
#[derive(Debug, Clone)]
pub struct Entity {
    /// Its name, as generators and types use it.
    pub name: Spanned<String>,
    /// `of`: the entity whose records own these.
    pub parent: Option<Spanned<String>>,
    /// `as`: the name under which a parent's record lists its children; given exactly when `parent` is.
    pub children_name: Option<Spanned<String>>,
    /// `count`: CEL; records in all, or per parent for a child.
    pub count: Node,
    /// `fields`, in document order.
    pub fields: Vec<Field>,
}

/// One field of an entity.
#[derive(Debug, Clone)]
pub struct Field {
    /// The key in the document.
    pub name: Spanned<String>,
    /// CEL: scalar text, or a list or mapping of expressions.
    pub value: Node,
}
