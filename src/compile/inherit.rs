//! `like`: a strategy takes from another what it does not give itself.

use crate::scenario::{
    CollectionDefinition, Diagnostic, Diagnostics, Implementation, Node, Spanned, StrategyDefinition, nearest,
};

/// Every strategy with what it inherits. Strategies whose `like` leads nowhere are left out, with a diagnostic.
pub fn inherit(strategies: &[StrategyDefinition], diagnostics: &mut Diagnostics) -> Vec<StrategyDefinition> {
    strategies.iter().filter_map(|strategy| whole(strategy, strategies, diagnostics)).collect()
}

fn whole(
    strategy: &StrategyDefinition,
    all: &[StrategyDefinition],
    diagnostics: &mut Diagnostics,
) -> Option<StrategyDefinition> {
    let mut line = vec![strategy];
    while let Some(like) = &line[line.len() - 1].like {
        let Some(next) = all.iter().find(|other| other.name.value == like.value) else {
            diagnostics.push(unknown(like, all));
            return None;
        };
        if line.iter().any(|seen| seen.name.value == next.name.value) {
            let message = format!("cyclic `like`: `{}` inherits from itself", next.name.value);
            diagnostics
                .push(Diagnostic::error(like.span, message).help("remove `like` from one strategy of the circle"));
            return None;
        }
        line.push(next);
    }
    let mut made = strategy.clone();
    for ancestor in &line[1..] {
        take_collections(&mut made.collections, &ancestor.collections);
        take_implementations(&mut made.operations, &ancestor.operations);
        take_implementations(&mut made.state, &ancestor.state);
        made.load = made.load.or_else(|| ancestor.load.clone());
    }
    made.parameters = parameters(&line);
    Some(made)
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

fn unknown(like: &Spanned<String>, all: &[StrategyDefinition]) -> Diagnostic {
    let known: Vec<&str> = all.iter().map(|strategy| strategy.name.value.as_str()).collect();
    let help = nearest(&like.value, &known);
    Diagnostic::error(like.span, format!("unknown strategy `{}`", like.value)).help(help)
}

fn take_collections(own: &mut Vec<CollectionDefinition>, inherited: &[CollectionDefinition]) {
    for collection in inherited {
        if !own.iter().any(|other| other.name.value == collection.name.value) {
            own.push(collection.clone());
        }
    }
}

fn take_implementations(own: &mut Vec<Implementation>, inherited: &[Implementation]) {
    for implementation in inherited {
        if !own.iter().any(|other| other.name.value == implementation.name.value) {
            own.push(implementation.clone());
        }
    }
}
