//! Fields that repeat a field of the record beside them.

use std::collections::{HashMap, HashSet};

use bson::{Bson, RawBsonRef, RawDocument, RawDocumentBuf};

use super::references::Reference;
use super::sample::{CollectionSample, Probe, key_of};

/// Pairs of a document and its target that are compared.
const PAIRS: usize = 200;
/// The fewest pairs, and different values, that say anything.
const FEWEST: (usize, usize) = (20, 5);
/// The least share of equal pairs of a copy, and of one that is behind or historic.
const EQUAL: (f64, f64) = (0.98, 0.6);

/// A field with the field of the target that it repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct Copy {
    /// The field beside the reference.
    pub field: String,
    /// The field of the target.
    pub of: String,
    /// The share of pairs that are equal.
    pub equal: f64,
}

impl Copy {
    /// Whether it always follows its source, rather than being the value of some time.
    pub fn is_exact(&self) -> bool {
        self.equal >= EQUAL.0
    }
}

/// The copies beside a reference to an `_id`.
pub fn find(samples: &[CollectionSample], reference: &Reference, probe: &mut impl Probe) -> Vec<Copy> {
    let Some((key, owner)) = reference.path.split_last().filter(|_| reference.field == "_id") else {
        return Vec::new();
    };
    let mut owners = Vec::new();
    for document in &samples[reference.collection].documents {
        collect_owners(RawBsonRef::Document(document), owner, &mut owners);
        if owners.len() >= PAIRS {
            break;
        }
    }
    let id = |owner: &RawDocument| Bson::try_from(owner.get(key).ok()??).ok();
    let pairs: Vec<(Bson, &RawDocument)> =
        owners.into_iter().take(PAIRS).filter_map(|owner| Some((id(owner)?, owner))).collect();
    let targets = targets(&samples[reference.target], &pairs, probe);
    let paired: Vec<(&RawDocument, &RawDocumentBuf)> =
        pairs.iter().filter_map(|(id, owner)| Some((*owner, targets.get(&key_of(id))?))).collect();
    let mut names: Vec<&str> = Vec::new();
    for (owner, _) in &paired {
        names.extend(owner.iter().map_while(Result::ok).map(|(name, _)| name.as_str()));
    }
    let mut seen = HashSet::new();
    names.retain(|name| *name != key && *name != "_id" && seen.insert(*name));
    names.into_iter().filter_map(|name| best(name, &paired)).collect()
}

/// The field of the targets that equals a field most often.
fn best(name: &str, paired: &[(&RawDocument, &RawDocumentBuf)]) -> Option<Copy> {
    let value =
        |document: &RawDocument, name: &str| document.get(name).ok().flatten().and_then(|one| Bson::try_from(one).ok());
    let own: Vec<(Bson, &RawDocumentBuf)> =
        paired.iter().filter_map(|(owner, target)| Some((value(owner, name)?, *target))).collect();
    let different: HashSet<Vec<u8>> = own.iter().map(|(value, _)| key_of(value)).collect();
    if own.len() < FEWEST.0 || different.len() <= FEWEST.1 {
        return None;
    }
    let (_, first) = own.first()?;
    let fields =
        first.iter().map_while(Result::ok).map(|(field, _)| field.as_str().to_owned()).filter(|field| field != "_id");
    let compared = fields.map(|of| {
        let equal =
            own.iter().filter(|(mine, target)| value(target, &of).is_some_and(|other| key_of(&other) == key_of(mine)));
        let equal = equal.count() as f64 / own.len() as f64;
        Copy { field: name.to_owned(), of, equal }
    });
    // A field of the same name wins among equal ones.
    let rank = |copy: &Copy| ((copy.equal * 1e3) as u64, copy.of == name);
    compared.max_by_key(rank).filter(|copy| copy.equal >= EQUAL.1)
}

fn targets(
    sample: &CollectionSample,
    pairs: &[(Bson, &RawDocument)],
    probe: &mut impl Probe,
) -> HashMap<Vec<u8>, RawDocumentBuf> {
    let mut seen = HashSet::new();
    let ids: Vec<Bson> = pairs.iter().map(|(id, _)| id.clone()).filter(|id| seen.insert(key_of(id))).collect();
    let found = if sample.is_whole { sample.documents.clone() } else { probe.records(&sample.name, &ids) };
    let found = if found.is_empty() { sample.documents.clone() } else { found };
    let keyed = |document: RawDocumentBuf| {
        let id = Bson::try_from(document.get("_id").ok()??).ok()?;
        Some((key_of(&id), document))
    };
    found.into_iter().filter_map(keyed).filter(|(id, _)| seen.contains(id)).collect()
}

fn collect_owners<'d>(value: RawBsonRef<'d>, path: &[String], found: &mut Vec<&'d RawDocument>) {
    match (value, path) {
        (RawBsonRef::Document(document), []) => found.push(document),
        (RawBsonRef::Document(document), [part, rest @ ..]) => {
            if let Ok(Some(value)) = document.get(part) {
                collect_owners(value, rest, found);
            }
        }
        (RawBsonRef::Array(array), [part, rest @ ..]) if part == "[]" => {
            array.into_iter().map_while(Result::ok).for_each(|element| collect_owners(element, rest, found));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::super::references;
    use super::super::references::tests::{sample, trees};
    use super::super::sample::NoProbe;
    use super::*;

    #[test]
    fn copies_and_values_of_some_time_are_told_apart() {
        let products = sample(
            "products",
            (0..50).map(|n| doc! { "_id": format!("p{n:03}"), "title": format!("t{n}"), "price": n * 3 }),
        );
        let lines = |n: i32| {
            let product = (n * 7) % 50;
            let price = if n % 5 == 0 { 9_999 } else { product * 3 };
            doc! { "product": format!("p{product:03}"), "name": format!("t{product}"), "price": price, "n": n % 3 }
        };
        let orders = sample("orders", (0..100).map(|n| doc! { "_id": n, "lines": [lines(n), lines(n + 1)] }));
        let samples = [products, orders];
        let found = references::find(&samples, &trees(&samples), &mut NoProbe).found;
        let copies = find(&samples, &found[0], &mut NoProbe);
        let told: Vec<(&str, &str, bool)> = copies.iter().map(|one| (&*one.field, &*one.of, one.is_exact())).collect();
        assert_eq!(told, [("name", "title", true), ("price", "price", false)]);
    }
}
