//! What the application does, whatever the schema.

use super::{LogicalStep, Node, Spanned};

/// A logical operation.
#[derive(Debug, Clone)]
pub struct OperationDefinition {
    /// The name for mixes and strategies.
    pub name: Spanned<String>,
    /// `arguments`, in order: name and CEL expression.
    pub arguments: Vec<(Spanned<String>, Node)>,
    /// Whether some are missing, because of a problem that is reported already.
    pub is_broken: bool,
    /// `returns`: a type (`entity`, `value`, `[T]`, `{ set: T }`, `{ field: T }`); none for an operation that only acts.
    pub returns: Option<Node>,
    /// `serial`: CEL of the arguments; calls with equal values keep their order in verification.
    pub serial: Option<Node>,
    /// `job`: whether calls of other operations while one of it runs are measured apart, too.
    pub is_job: bool,
    /// `does`: logical steps, and others that are taken over as they are; none if it is not given.
    pub does: Vec<LogicalStep>,
    /// Whether something in `does` is wrong, which is reported already.
    pub does_is_broken: bool,
}

/// A named mix of operations.
#[derive(Debug, Clone)]
pub struct MixDefinition {
    /// The name for `--mix`.
    pub name: Spanned<String>,
    /// `parameters`: values for runs of this mix.
    pub parameters: Vec<(Spanned<String>, Node)>,
    /// The operations and their weights: CEL, a number >= 0, relative to the other weights of the mix.
    pub weights: Vec<(Spanned<String>, Node)>,
}
