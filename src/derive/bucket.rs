//! Records in buckets: documents with an array of records, all full but the last one. That holds while no record is removed.

use crate::scenario::Node;

use super::build::{find_one, keep, map, slot, update_one, with};
use super::document::{Made, unwinds};
use super::refusal::{Derived, refuse_shape};
use super::reply::LogicalReply;
use super::rows::Rows;
use super::selection::Selection;
use super::translate::Translation;
use super::write::Write;

/// The error of a second document with the same unique key.
const DUPLICATE_KEY: i64 = 11_000;

/// The most attempts to append to a bucket that others fill.
const ATTEMPTS: i64 = 1_000;

impl Translation<'_, '_> {
    /// The collection of buckets, with its index, and the filter of those of a record.
    fn buckets(&mut self, from: &str, relation: usize) -> (String, Node) {
        let this = &self.model().relations[relation];
        let (collection, _) = self.documents.shape.home(self.model(), this.many);
        self.documents.index(&collection, &[(this.up().to_owned(), 1), ("page".to_owned(), 1)], true);
        (collection, map! { this.up() => slot(&format!("{from}._id")) })
    }

    /// The rows of all records of one, in the order of its buckets.
    pub fn bucket_rows(&mut self, from: &str, relation: usize) -> Rows {
        let path = vec![self.model().relations[relation].down().to_owned()];
        let (collection, filter) = self.buckets(from, relation);
        let mut stages = vec![map! { "$match" => filter }, map! { "$sort" => map! { "page" => 1 } }];
        stages.extend(unwinds(&path));
        Rows { collection, stages, path }
    }

    /// All records in their own order, one page of the size of the buckets, or the last ones; `None` for other parts.
    pub fn pages(&mut self, from: &str, relation: usize, selection: &Selection) -> Option<LogicalReply> {
        let down = self.model().relations[relation].down();
        let size = self.documents.shape.bucket_size(relation);
        let is_other = !super::build::is_empty(&selection.filter) || !selection.by_arrival;
        let (collection, filter) = self.buckets(from, relation);
        match (&selection.page, selection.newest_limit()) {
            _ if is_other => None,
            (Some((page, own)), _) if own == size && !selection.is_reverse => {
                let number = self.fresh("number");
                let filter = with(filter, "page", slot(&number));
                let steps = vec![keep(&number, page.clone()), find_one(&collection, filter, Some(map! { down => 1 }))];
                Some(LogicalReply { steps, value: format!("reply == null ? [] : reply.{down}") })
            }
            (None, Some(limit)) if selection.before.is_empty() => {
                let limit = limit.as_literal()?.value;
                let limit = limit.trim_matches(['<', '>']);
                let pages = self.fresh("pages");
                let find = map! { "find" => collection, "filter" => filter, "sort" => map! { "page" => -1 }, "limit" => slot(&pages) };
                // The last bucket may have a single record.
                let steps = vec![keep(&pages, format!("({limit} - 1 + {size} - 1) / {size} + 1")), find];
                let all = format!("reverse(flatten(pluck(reverse(reply), '{down}')))");
                Some(LogicalReply { steps, value: format!("slice({all}, 0, {limit})") })
            }
            (None, None) if selection.is_whole() => {
                let find = map! { "find" => collection, "filter" => filter, "sort" => map! { "page" => 1 } };
                let all = format!("flatten(pluck(reply, '{down}'))");
                let value = if selection.is_reverse { format!("reverse({all})") } else { all };
                Some(LogicalReply { steps: vec![find], value })
            }
            _ => None,
        }
    }

    /// How many records one has: all its buckets but the last are full.
    pub fn count_pages(&mut self, from: &str, relation: usize) -> LogicalReply {
        let size = self.documents.shape.bucket_size(relation);
        let (collection, filter) = self.buckets(from, relation);
        let find = find_one(&collection, filter, Some(map! { "_id" => 0, "page" => 1, "count" => 1 }));
        let step = with(find, "sort", map! { "page" => -1 });
        let value = format!("reply == null ? 0 : (reply.page - 1) * {size} + reply.count");
        LogicalReply { steps: vec![step], value }
    }

    /// Puts a new record into the last bucket, or begins another one. Of two that begin the same one, or fill the last place,
    /// one fails by the unique index and looks again.
    pub fn append(
        &mut self,
        argument: &str,
        (relation, into): (usize, &str),
        made: &Made,
        is_inner: bool,
        mut write: Write,
    ) -> Derived<Write> {
        let model = self.model();
        let this = &model.relations[relation];
        let key = model.key(relation);
        if self.may_be_gone(into, this.one) {
            let message = format!("`{key}: bucket` of a record that may be gone");
            return refuse_shape(relation, message, "its bucket would be left alone", "try `embed` or `reference`");
        }
        if is_inner || write.is_joint {
            let message = format!("`{key}: bucket` of a record that is made in a transaction");
            let help = "try `embed` or `reference`, or make it an operation of its own";
            return refuse_shape(relation, message, "no transaction goes on after a duplicate key", help);
        }
        let size = self.documents.shape.bucket_size(relation);
        let (collection, filter) = self.buckets(into, relation);
        let (last, page) = (self.fresh("last"), self.fresh("page"));
        let seen = find_one(&collection, filter.clone(), Some(map! { "_id" => 0, "page" => 1, "count" => 1 }));
        let seen = with(with(seen, "sort", map! { "page" => -1 }), "as", last.as_str());
        let number = format!("{last} == null ? 1 : {last}.count < {size} ? {last}.page : {last}.page + 1");
        let size = size.parse::<i64>().map_or_else(|_| slot(size), Node::from);
        let open = with(with(filter, "page", slot(&page)), "count", map! { "$lt" => size });
        let document = self.new_document(this.many, argument, into, made);
        let change = map! { "$push" => map! { this.down() => document }, "$inc" => map! { "count" => 1 } };
        let update = with(update_one(&collection, open, change), "upsert", true);
        let errors: Vec<Node> = vec![DUPLICATE_KEY.into()];
        let body: Vec<Node> = vec![seen, keep(&page, number), update];
        write.steps.push(map! { "retry" => map! { "errors" => errors, "attempts" => ATTEMPTS }, "do" => body });
        write.result = Some("ok()".to_owned());
        Ok(write)
    }

    /// Refuses to take a record out of its bucket.
    pub fn check_bucket(&self, entity: usize, what: &str) -> Derived<()> {
        match self.documents.shape.bucketed(self.model(), entity) {
            None => Ok(()),
            Some(relation) => {
                let message = format!("`{}: bucket` of records that an operation {what}", self.model().key(relation));
                refuse_shape(relation, message, "buckets would not stay full", "try `embed` or `reference`")
            }
        }
    }
}
