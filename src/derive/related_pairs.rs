//! The other records of the pairs of each of several rows.

use crate::scenario::Node;

use super::added::Added;
use super::build::{map, with};
use super::order::sorted;
use super::pairs::Pairs;
use super::read::found_in;
use super::refusal::Derived;
use super::related::{ROWS, Related, Route};
use super::stage::lookup;
use super::translate::Translation;

impl Translation<'_, '_> {
    /// The part of each row with the others: from the pairs, if these have all that is asked for, otherwise from their documents.
    pub fn pairs_of_rows(
        &mut self,
        (depth, row): (usize, &str),
        route: &Route,
        mut one: Related,
        pairs: &Pairs,
        made: &mut Added,
    ) -> Derived<String> {
        let (near, far) = (pairs.near.as_str(), pairs.far.as_str());
        let covered = self.of_pairs(pairs, one.entity, &one.selection);
        let sort = covered.as_ref().map(|(selection, _)| selection.sort.clone()).unwrap_or_default();
        self.documents.index(&pairs.collection, &pairs.index_for(&map! {}, &sort), false);
        if covered.is_none() && !one.selection.fields.is_empty() {
            // What puts them in order, and tells which they are.
            let order = one.selection.order().cloned().chain(["_id".to_owned()]).collect::<Vec<_>>();
            let missing = order.into_iter().filter(|field| !one.selection.fields.contains(field)).collect::<Vec<_>>();
            one.selection.fields.extend(missing);
        }
        let mut stages = Vec::new();
        let ids = |rows: &str| format!("{rows}.map({}, {row}._id)", ROWS[depth]);
        let belonging = |list: &str, owner: &str| format!("{list}.filter(o, o.{owner} == {row}._id)");
        let (others, list) = match (route, covered) {
            (Route::Queries(rows), Some((selection, shown))) => {
                // The field that tells of which row a record is.
                let mut owner = near.to_owned();
                while self.model().has_field(one.entity, &owner) {
                    owner.push('_');
                }
                let others = self.queried(ids(rows), &one.name, made, |_, keys| {
                    let shown = with(shown, &owner, format!("${near}"));
                    found_in(&pairs.collection, map! { near => keys }, &selection, Some(shown))
                });
                let list = belonging(&others, &owner);
                (others, list)
            }
            (Route::Queries(rows), None) => {
                let links = self.queried(ids(rows), "links", made, |_, keys| {
                    let shown = map! { "_id" => 0, near => 1, far => 1 };
                    let filter = map! { near => keys };
                    map! { "find" => pairs.collection.as_str(), "filter" => filter, "projection" => shown }
                });
                let sort = std::mem::take(&mut one.selection.sort);
                let find = |this: &Self, keys| this.find(one.entity, map! { "_id" => keys }, &one.selection);
                let others = self.queried(format!("pluck({links}, '{far}')"), &one.name, made, find);
                let list = format!("reorder({others}, '_id', pluck({}, '{far}'))", belonging(&links, near));
                (others, if sort.is_empty() { list } else { sorted(&list, &sort) })
            }
            // Each row has its own: records in arrays, whose document would have them, have no pairs.
            (_, covered) => {
                stages = match covered {
                    Some((selection, shown)) => [selection.stages(&[]), vec![map! { "$project" => shown }]].concat(),
                    None => self.unpaired(&one, pairs),
                };
                let others = route.joined(row, &one.name);
                (others.clone(), others)
            }
        };
        let ends = [pairs.collection.as_str(), "_id", near];
        let value = self.with_joined((depth, row), (list, &others), route, &mut one, (ends, stages), made)?;
        Ok(format!("'{}': {value}", one.name))
    }

    /// The stages that make pairs the other records.
    fn unpaired(&mut self, one: &Related, pairs: &Pairs) -> Vec<Node> {
        let mut stages = vec![
            lookup(&pairs.others, &pairs.far, "_id", Vec::new(), "joined"),
            map! { "$unwind" => "$joined" },
            map! { "$replaceWith" => "$joined" },
        ];
        stages.extend(self.inner(one.entity, &mut one.selection.clone(), false));
        stages
    }
}
