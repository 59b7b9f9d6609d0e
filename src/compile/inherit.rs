//! `like`: a strategy, or one collection of it, takes from another what it does not give itself.

use crate::scenario::{
    CollectionDefinition, Diagnostics, LONGEST_LINE, MOST_STRATEGIES, Node, Spanned, StrategyDefinition,
};

/// Every strategy with what it inherits. Strategies whose `like` leads nowhere are left out, with a diagnostic.
pub fn inherit(strategies: &[StrategyDefinition], diagnostics: &Diagnostics) -> Vec<StrategyDefinition> {
    if let Some(beyond) = strategies.get(MOST_STRATEGIES) {
        let message = format!("{} strategies, and a scenario may have {MOST_STRATEGIES}", strategies.len());
        diagnostics.error(beyond.name.span, message, "divide them among scenarios");
        return Vec::new();
    }
    strategies.iter().filter_map(|strategy| whole(strategy, strategies, diagnostics)).collect()
}

fn whole(
    strategy: &StrategyDefinition,
    all: &[StrategyDefinition],
    diagnostics: &Diagnostics,
) -> Option<StrategyDefinition> {
    let mut line = vec![strategy];
    while let Some(like) = &line[line.len() - 1].like {
        diagnostics.is_known("strategy", like, "", all.iter().map(|strategy| strategy.name.value.as_str()));
        let next = all.iter().find(|other| other.name.value == like.value)?;
        if line.iter().any(|seen| seen.name.value == next.name.value) {
            let message = format!("cyclic `like`: `{}` inherits from itself", next.name.value);
            return diagnostics.reject(like.span, message, "remove `like` from one strategy of the cycle");
        }
        if line.len() > LONGEST_LINE {
            let message = format!("`{}` inherits from more than {LONGEST_LINE} strategies", strategy.name.value);
            return diagnostics.reject(like.span, message, "let it be `like` the strategy that has the parts");
        }
        line.push(next);
    }
    let mut made = strategy.clone();
    for ancestor in &line[1..] {
        take(&mut made.collections, &ancestor.collections, |collection| &collection.name);
        take(&mut made.operations, &ancestor.operations, |(name, _)| name);
        take(&mut made.state, &ancestor.state, |(name, _)| name);
        made.load = made.load.or_else(|| ancestor.load.clone());
    }
    made.parameters = parameters(&line);
    for collection in &mut made.collections {
        complete(collection, all, diagnostics)?;
    }
    Some(made)
}

/// Gives a collection the keys that it takes from the collections of its name that it is `like`, nearest first.
fn complete(
    collection: &mut CollectionDefinition,
    all: &[StrategyDefinition],
    diagnostics: &Diagnostics,
) -> Option<()> {
    let mut next = collection.like.clone();
    for _ in 0..LONGEST_LINE {
        let Some(like) = next else { return Some(()) };
        diagnostics.is_known("strategy", &like, "", all.iter().map(|strategy| strategy.name.value.as_str()));
        let strategy = all.iter().find(|other| other.name.value == like.value)?;
        let Some(source) = collection_of(strategy, &collection.name.value, all) else {
            let message = format!("strategy `{}` has no collection `{}`", like.value, collection.name.value);
            let help = "`like` in a collection takes the keys of the collection of the same name";
            return diagnostics.reject(like.span, message, help);
        };
        collection.series = collection.series.take().or_else(|| source.series.clone());
        collection.options = collection.options.take().or_else(|| source.options.clone());
        collection.each = collection.each.take().or_else(|| source.each.clone());
        collection.load_order = collection.load_order.take().or_else(|| source.load_order.clone());
        collection.document = collection.document.take().or_else(|| source.document.clone());
        collection.indexes = collection.indexes.take().or_else(|| source.indexes.clone());
        collection.shard = collection.shard.take().or_else(|| source.shard.clone());
        collection.skips_large |= source.skips_large;
        next = source.like.clone();
    }
    let name = &collection.name;
    let message = format!("cyclic `like`: collection `{}` takes its keys from itself", name.value);
    diagnostics.reject(name.span, message, "remove `like` from one collection of the cycle")
}

/// The collection of this name that a strategy has, or that its nearest ancestor has.
fn collection_of<'s>(
    strategy: &'s StrategyDefinition,
    name: &str,
    all: &'s [StrategyDefinition],
) -> Option<&'s CollectionDefinition> {
    strategy.line(all).flat_map(|strategy| &strategy.collections).find(|collection| collection.name.value == name)
}

/// The names of a strategy and of those that it is `like`, nearest first. The line of a strategy that [`inherit`] returns
/// is complete.
pub fn line_of<'s>(strategy: &'s StrategyDefinition, all: &'s [StrategyDefinition]) -> Vec<&'s str> {
    strategy.line(all).map(|strategy| strategy.name.value.as_str()).collect()
}

/// Inherited parameters come first, so that a strategy's own may use them; an own one takes the place of its namesake.
fn parameters(line: &[&StrategyDefinition]) -> Vec<(Spanned<String>, Node)> {
    let mut all: Vec<(Spanned<String>, Node)> = Vec::new();
    for parameter in line.iter().rev().flat_map(|strategy| &strategy.parameters) {
        match all.iter_mut().find(|(name, _)| name.value == parameter.0.value) {
            Some(inherited) => *inherited = parameter.clone(),
            None => all.push(parameter.clone()),
        }
    }
    all
}

/// Adds the inherited parts of whose names there is none.
fn take<T: Clone>(own: &mut Vec<T>, inherited: &[T], name: fn(&T) -> &Spanned<String>) {
    for part in inherited {
        if !own.iter().any(|other| name(other).value == name(part).value) {
            own.push(part.clone());
        }
    }
}
