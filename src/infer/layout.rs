//! Where the records of a model's entities lie in the documents of the database that was read, and the operations that
//! were seen or guessed, as the model has them.

/// The entities of a model with their places.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layout {
    /// In the order of the model: parents first.
    pub entities: Vec<EntityPlace>,
}

/// Where the records of one entity lie.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EntityPlace {
    /// The entity's name in the model.
    pub entity: String,
    /// The collection that contains the records.
    pub collection: String,
    /// The path of the array in the collection's documents that holds the records; none if each has its own document.
    pub array: Option<Vec<String>>,
    /// The entity and relation of `of` and `as`.
    pub parent: Option<ParentPlace>,
    /// How many records there are, estimated where only a sample was read.
    pub count: u64,
    /// Every field of the model, in the order of the documents. `_id` is the first.
    pub fields: Vec<FieldPlace>,
    /// Fields of the documents that are copies, which a shape names instead: each has `copy_of`.
    pub copies: Vec<FieldPlace>,
    /// The default order of lists, as in `sort` of the model: field and direction.
    pub sort: Vec<(String, i32)>,
}

/// The parent of an entity.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParentPlace {
    /// The parent's entity.
    pub entity: String,
    /// The name of the relation from the parent, as of `as`.
    pub relation: String,
    /// The path in the child's documents that holds the parent's `_id`; none if only the parent knows (`list`, `embed`).
    pub reference: Option<Vec<String>>,
    /// The path in the parent's documents that holds the children's `_id`s, for `list`.
    pub list: Option<Vec<String>>,
}

/// One field of an entity.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FieldPlace {
    /// The field's name in the model.
    pub field: String,
    /// Its path below the record.
    pub path: Vec<String>,
    /// The generator of the model, as an expression or a YAML mapping on one line.
    pub generator: String,
    /// The entity that the values refer to.
    pub refers: Option<String>,
    /// Whether the field contains a list of references.
    pub is_list: bool,
    /// Where the values are copies: the field with the reference, and the field of its target.
    pub copy_of: Option<(String, String)>,
    /// Whether values are unique, so that an operation may find the record by it.
    pub unique: bool,
    /// Whether values are no more than that: no key, reference, copy or time of creation.
    pub is_value: bool,
}

/// One operation of the model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InferredOperation {
    /// Its name.
    pub name: String,
    /// Comments in the file: where it comes from, what is a guess.
    pub comments: Vec<String>,
    /// Names of arguments with their generators.
    pub arguments: Vec<(String, String)>,
    /// The logical step, or steps, as YAML flow text: `{ get: order, with: { lines: } }`.
    pub does: String,
    /// The share of calls, in percent.
    pub weight: f64,
}
