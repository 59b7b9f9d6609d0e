//! Strategies: collections, and steps for every operation.

use super::{Node, Spanned, StepDefinition};

/// A strategy as written.
#[derive(Debug, Clone)]
pub struct StrategyDefinition {
    /// The key under `strategies`.
    pub name: Spanned<String>,
    /// `about`: one sentence. Never inherited.
    pub about: Option<String>,
    /// `label`: the strategy in two or three words. Never inherited.
    pub label: Option<String>,
    /// `like`: the strategy to inherit from.
    pub like: Option<Spanned<String>>,
    /// `unsafe: true` marks a negative control. Never inherited.
    pub is_unsafe: bool,
    /// `unsafe_with`: a negative control in mixes that call one of these operations. Never inherited.
    pub unsafe_with: Vec<Spanned<String>>,
    /// `default: true`: compared by a plain run; at most three of them.
    pub is_default: Option<Spanned<bool>>,
    /// `tolerates`: live audits whose anomalies may exist while calls run. Never inherited.
    pub tolerates: Vec<Spanned<String>>,
    /// `parameters` of this strategy only.
    pub parameters: Vec<(Spanned<String>, Node)>,
    /// `shape`: relations with the words that say where their records are. The rest of such a strategy is derived.
    pub shape: Option<Vec<(Spanned<String>, Node)>>,
    /// `join` of a derived strategy.
    pub join: Option<Spanned<String>>,
    /// `writes` of a derived strategy.
    pub writes: Option<Spanned<String>>,
    /// `collections`, in order.
    pub collections: Vec<CollectionDefinition>,
    /// `load`: steps that run once after the collections are filled. `None` is inherited by `like`.
    pub load: Option<Vec<StepDefinition>>,
    /// `operations`: the steps of each.
    pub operations: Vec<(Spanned<String>, Vec<StepDefinition>)>,
    /// `state`: the steps that return the logical rows of an entity.
    pub state: Vec<(Spanned<String>, Vec<StepDefinition>)>,
}

/// The most strategies of a scenario. Each may inherit nearly all of the file.
pub const MOST_STRATEGIES: usize = 32;

/// The most strategies that one inherits from, one after the other.
pub const LONGEST_LINE: usize = 8;

impl StrategyDefinition {
    /// Whether a plain run compares it: `default: true`.
    pub fn is_compared(&self) -> bool {
        self.is_default.as_ref().is_some_and(|mark| mark.value)
    }

    /// Whether it is a negative control where these operations are called.
    pub fn is_unsafe_with(&self, called: &[&str]) -> bool {
        self.is_unsafe || self.unsafe_with.iter().any(|operation| called.contains(&operation.value.as_str()))
    }

    /// The strategy and those that it is `like`, nearest first; cut off where they are too many, as in a cycle.
    pub fn line<'s>(&'s self, all: &'s [StrategyDefinition]) -> impl Iterator<Item = &'s StrategyDefinition> + Clone {
        let next = |one: &&'s StrategyDefinition| {
            let like = one.like.as_ref()?;
            all.iter().find(|other| other.name.value == like.value)
        };
        std::iter::successors(Some(self), next).take(LONGEST_LINE + 1)
    }
}

/// A collection as written.
#[derive(Debug, Clone)]
pub struct CollectionDefinition {
    /// The key under `collections`.
    pub name: Spanned<String>,
    /// `like`: the strategy whose collection of the same name has the keys that are not given here.
    pub like: Option<Spanned<String>>,
    /// `for`: one collection per element, whose name contains the element.
    pub series: Option<(Spanned<String>, Node)>,
    /// `options` of the `create` command: a template.
    pub options: Option<Node>,
    /// `on_size: skip`: documents that are too large are not loaded.
    pub skips_large: bool,
    /// `each`: an entity's name (scalar), or a mapping of loop names to CEL lists. `None`: starts empty.
    pub each: Option<Node>,
    /// `load_order`: `interleaved` or `grouped`; `None`: interleaved, where `each` runs over children.
    pub load_order: Option<Spanned<String>>,
    /// `document`: a template, evaluated per record of `each`; `None`: the whole record.
    pub document: Option<Node>,
    /// `indexes`: a list of key documents or `{ key, unique, ... }`; templates are allowed.
    pub indexes: Option<Node>,
    /// `shard`: the key by which a cluster distributes the documents.
    pub shard: Option<ShardDefinition>,
}

/// `shard` of a collection as written.
#[derive(Debug, Clone)]
pub struct ShardDefinition {
    /// `key`: fields, each with `1` or `hashed`.
    pub key: Node,
    /// `chunks` that are made before loading; `None`: one per shard.
    pub chunks: Option<u32>,
}
