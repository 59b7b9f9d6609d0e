//! `for`: one collection per element of a list, whose name contains the element.

use crate::plan::{Value, written};
use crate::scenario::{CollectionDefinition, Diagnostics, StrategyDefinition};

use super::parameter::parameter_value;
use super::scope::Names;

/// The most collections of one `for`: each is a file and has at least one index, another file.
const MOST_COLLECTIONS: usize = 20_000;

/// A collection of a strategy.
pub struct Instance<'s> {
    /// The collection as written.
    pub definition: &'s CollectionDefinition,
    /// The name of the collection in the database.
    pub name: String,
    /// What its expressions and templates may name, the element included; `None`: what all of the strategy may.
    pub names: Option<Names>,
}

/// Returns the collections of a strategy, those of a `for` one by one.
pub fn expand<'s>(strategy: &'s StrategyDefinition, names: &Names, diagnostics: &Diagnostics) -> Vec<Instance<'s>> {
    let instances = |definition: &'s CollectionDefinition| match &definition.series {
        None => vec![Instance { definition, name: definition.name.value.clone(), names: None }],
        Some(_) => series(definition, names, diagnostics).unwrap_or_default(),
    };
    strategy.collections.iter().flat_map(instances).collect()
}

fn series<'s>(
    definition: &'s CollectionDefinition,
    names: &Names,
    diagnostics: &Diagnostics,
) -> Option<Vec<Instance<'s>>> {
    let (name, list) = definition.series.as_ref()?;
    let elements: Vec<Value> = match parameter_value(list, names, diagnostics)?.elements() {
        Ok(elements) => elements.take(MOST_COLLECTIONS + 1).collect(),
        Err(error) => {
            let help = "for example `range(0, kinds)`, with a parameter";
            return diagnostics.reject(list.span, error.to_string(), help);
        }
    };
    if elements.len() > MOST_COLLECTIONS {
        let message = format!("more than {MOST_COLLECTIONS} collections");
        return diagnostics.reject(list.span, message, "each is a file and has an index, another file: try fewer");
    }
    let instance = |element: Value| {
        let text = match &element {
            Value::Text(text) => text.to_string(),
            other => written(other),
        };
        let mut names = names.clone();
        names.set_parameter(&name.value, element);
        let name = definition.name.value.replace(&format!("<{}>", name.value), &text);
        Instance { definition, name, names: Some(names) }
    };
    Some(elements.into_iter().map(instance).collect())
}
