//! Which records of a list are asked for, and in which order.

use crate::scenario::{Node, Scalar, Tree};

use super::build::{is_empty, keep, map, mapping, slot, with_all};
use super::model::{PathEnd, RelationKind, flag, option, text_option, texts};
use super::order::directions;
use super::refusal::{Derived, refuse};
use super::shape::covers;
use super::stage::{prefix_keys, prefixed};
use super::translate::{Options, Translation};

/// In which order records come, and which of them.
#[derive(Clone)]
pub(super) struct Selection {
    /// The fields with directions; none where the order does not count.
    pub sort: Vec<(String, i64)>,
    /// Whether an array or list of a parent has this order already, or its reverse.
    pub by_arrival: bool,
    pub is_reverse: bool,
    /// Whether it is that of the entity.
    pub is_natural: bool,
    pub is_unordered: bool,
    /// Whether no index is derived for its condition and order.
    pub has_no_index: bool,
    pub filter: Node,
    pub skip: Option<Node>,
    pub limit: Option<Node>,
    pub fields: Vec<String>,
    /// The number of a page, and its size, as they are written.
    pub page: Option<(String, String)>,
    /// Steps that compute `skip` and `limit`.
    pub before: Vec<Node>,
}

impl Selection {
    pub fn is_whole(&self) -> bool {
        self.skip.is_none() && self.limit.is_none()
    }

    /// The condition and the order that an index is derived for.
    pub fn indexed(&self) -> (Node, &[(String, i64)]) {
        if self.has_no_index { (map! {}, &[]) } else { (self.filter.clone(), &self.sort) }
    }

    /// Whether an array as it is, or one part of it, has them.
    pub fn is_array(&self) -> bool {
        is_empty(&self.filter) && (self.is_whole() || self.by_arrival && !self.is_reverse_page())
    }

    /// Whether the reversed array has them, behind others.
    pub fn is_reverse_page(&self) -> bool {
        is_empty(&self.filter) && self.by_arrival && self.is_reverse && self.skip.is_some()
    }

    /// Takes how many are left out at first, and how many follow at most.
    pub fn take_part(&mut self) -> (Node, Node) {
        let (skip, limit) = (self.skip.take(), self.limit.take());
        (skip.unwrap_or_else(|| 0.into()), limit.unwrap_or_else(|| i64::from(i32::MAX).into()))
    }

    /// The fields that put them in order, unless an array has it.
    pub fn order(&self) -> impl Iterator<Item = &String> {
        self.sort.iter().map(|(field, _)| field).filter(|_| !self.by_arrival)
    }

    /// The fields that are returned, and those that the order needs.
    pub fn named(&self) -> impl Iterator<Item = &String> {
        self.fields.iter().chain(self.order())
    }

    /// Whether these copies are all that is asked for.
    pub fn is_covered(&self, copied: &[String]) -> bool {
        let named: Vec<String> = self.named().cloned().collect();
        !self.fields.is_empty() && covers(copied, &named)
    }

    /// How many of the last records are asked for, if nothing else is.
    pub fn newest_limit(&self) -> Option<&Node> {
        let is_newest = self.is_natural && self.is_reverse && self.skip.is_none() && is_empty(&self.filter);
        self.limit.as_ref().filter(|_| is_newest)
    }

    pub fn sort_node(&self, path: &[String]) -> Node {
        mapping(self.sort.iter().map(|(field, direction)| (prefixed(path, field), (*direction).into())).collect())
    }

    /// The stages that select among rows.
    pub fn stages(&self, path: &[String]) -> Vec<Node> {
        let mut stages = Vec::new();
        if !is_empty(&self.filter) {
            stages.push(map! { "$match" => prefix_keys(&self.filter, path) });
        }
        if !self.sort.is_empty() {
            stages.push(map! { "$sort" => self.sort_node(path) });
        }
        stages.extend(self.skip.iter().map(|skip| map! { "$skip" => skip.clone() }));
        stages.extend(self.limit.iter().map(|limit| map! { "$limit" => limit.clone() }));
        stages
    }
}

impl Translation<'_, '_> {
    /// Reads the options of a list.
    pub fn selection(&mut self, target: &str, subject: &PathEnd, options: &Options) -> Derived<Selection> {
        let model = self.model();
        let entity = model.entity_of(subject);
        let fields = texts(option(options, "fields"));
        self.check_fields(entity, &fields)?;
        let mut filter = self.condition(entity, options, "where")?;
        let natural = model.entity(entity).sort.as_ref();
        let is_listing = model.is_listing(subject);
        let is_unordered = flag(options, "unordered");
        let own = option(options, "sort");
        let written = own.or(natural.filter(|_| !is_listing)).filter(|_| !is_unordered);
        let mut sort = directions(written);
        let sorted: Vec<String> = sort.iter().map(|(field, _)| field.clone()).collect();
        self.check_fields(entity, &sorted)?;
        self.check_main(entity, &sorted, "an order")?;
        if !sort.is_empty() && !sort.iter().any(|(field, _)| field == "_id") {
            let fields: Vec<String> = sort.iter().map(|(field, direction)| format!("{field}: {direction}")).collect();
            let message = format!("the order of `list: {target}` is not total: two records may have equal fields");
            let help = format!("try `sort: {{ {}, _id: 1 }}`, or `unordered: true`", fields.join(", "));
            return refuse(message, "every strategy could return another order", help);
        }
        let is_reverse = flag(options, "reverse");
        let is_cut = ["limit", "page", "after", "reverse"].iter().any(|key| option(options, key).is_some());
        if sort.is_empty() && is_cut {
            let message = format!("`list: {target}` takes a part of records that have no order");
            return refuse(message, "which part?", "give the entity or the step a `sort` that ends with `_id`");
        }
        if is_reverse {
            sort.iter_mut().for_each(|(_, direction)| *direction = -*direction);
        }
        if let Some(last) = text_option(options, "after") {
            self.model().record(self.operation, last.split('.').next().unwrap_or_default())?;
            filter = with_all(filter, &after(last, &sort)?);
        }
        let mut before = Vec::new();
        let (skip, limit) = match (option(options, "page"), option(options, "size"), option(options, "limit")) {
            (Some(page), Some(size), None) => {
                let name = self.fresh("skip");
                before.push(keep(&name, format!("({} - 1) * ({})", cel(page), cel(size))));
                (Some(slot(&name)), Some(self.amount(size, "size", &mut before)))
            }
            (None, None, Some(limit)) => (None, Some(self.amount(limit, "limit", &mut before))),
            (None, None, None) => (None, None),
            _ => {
                let message = "`page` without `size`, or with `limit`";
                return refuse(message, "a page has both", "try `page: page, size: 20`");
            }
        };
        let page = option(options, "page").zip(option(options, "size")).map(|(page, size)| (cel(page), cel(size)));
        let is_child = matches!(subject, PathEnd::Many(_, relation, true) if model.relations[*relation].kind == RelationKind::Children);
        let arrives = model.entity(entity).arrives_sorted && !model.is_moved(entity);
        let by_arrival = own.is_none() && !sort.is_empty() && is_child && arrives;
        Ok(Selection {
            sort,
            by_arrival,
            is_reverse,
            is_natural: own.is_none(),
            is_unordered,
            has_no_index: option(options, "index").is_some_and(|node| node.tree == Tree::Scalar(Scalar::Bool(false))),
            filter,
            skip,
            limit,
            fields,
            page,
            before,
        })
    }
}

/// The condition of the records behind one in an order of two ascending fields.
fn after(last: &str, sort: &[(String, i64)]) -> Derived<Node> {
    let [(first, 1), (second, 1)] = sort else {
        let help = "for example `sort: { created_on: 1, _id: 1 }`";
        return refuse("`after` in an order that is not of two ascending fields", "not derived", help);
    };
    let value = |field: &String| slot(&format!("{last}.{field}"));
    let later: Vec<Node> = [first, second].map(|field| map! { field => map! { "$gt" => value(field) } }).into();
    Ok(map! { first => map! { "$gte" => value(first) }, "$or" => later })
}

/// The text of a scalar expression.
fn cel(node: &Node) -> String {
    node.as_literal().map(|text| text.value).unwrap_or_default()
}
