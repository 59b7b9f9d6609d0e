//! How a schema does it: collections, and steps for every operation.

use super::{Node, Spanned, Step};

/// One schema of a scenario.
#[derive(Debug, Clone)]
pub struct Strategy {
    /// Its name.
    pub name: Spanned<String>,
    /// `about`: one sentence. Never inherited.
    pub about: Option<String>,
    /// `like`: the strategy whose collections, load, operations and state are taken where not given here.
    pub like: Option<Spanned<String>>,
    /// `unsafe: true` marks a negative control. Never inherited.
    pub is_unsafe: bool,
    /// `default: true`: compared by a plain run; at most three of them.
    pub is_default: Option<Spanned<bool>>,
    /// `parameters` of this strategy only.
    pub parameters: Vec<(Spanned<String>, Node)>,
    /// `collections`, in order.
    pub collections: Vec<Collection>,
    /// `load`: steps run once after the collections are filled. `None` when not given (then inherited by `like`).
    pub load: Option<Vec<Step>>,
    /// `operations`: the steps of each.
    pub operations: Vec<Implementation>,
    /// `state`: per entity the steps that return its logical rows.
    pub state: Vec<Implementation>,
}

/// One collection of a strategy.
#[derive(Debug, Clone)]
pub struct Collection {
    /// Its name.
    pub name: Spanned<String>,
    /// `each`: an entity's name (scalar), or a mapping of loop names to CEL lists. `None`: starts empty.
    pub each: Option<Node>,
    /// `document`: a template, evaluated per record of `each`; `None`: the record whole.
    pub document: Option<Node>,
    /// `indexes`: a list of key documents or `{ key, unique, ... }`; templates are allowed.
    pub indexes: Option<Node>,
}

/// The steps that stand under a name: an operation of the scenario, or an entity for `state`.
#[derive(Debug, Clone)]
pub struct Implementation {
    /// The operation or entity.
    pub name: Spanned<String>,
    /// What is done, in order.
    pub steps: Vec<Step>,
}
