//! The documents of a collection, in the order in which they are loaded.

use std::collections::BTreeMap;

use bson::RawDocumentBuf;

use crate::generate::{Label, Stream};
use crate::plan::{Collection, EvalError, Frame, LoadOrder, Loop, LoopOver, Plan, Value, Writer};

/// Groups of documents are interleaved in blocks that hold about this many values of loops, so that memory does not grow
/// with the data.
const BLOCK: usize = 4_096;

/// The documents of a collection, drawn one at a time by its nested loops.
///
/// Children are interleaved over their parents, since an application does not write all children of one parent in a row.
/// The documents of a parent are spread evenly over the loading of its block, in their own order, each at an instant
/// that is drawn from the part of the time that is its.
pub struct Documents<'d> {
    collection: &'d Collection,
    loops: &'d [Loop],
    plan: &'d Plan,
    order: LoadOrder,
    /// The only record of the outermost loop; `None` for all.
    only: Option<u64>,
    frame: Frame,
    /// The number of the next group that is in no block yet.
    next_group: u64,
    /// Groups that have a document, by the bits of its instant, which are ordered as the instants are, and their number.
    block: BTreeMap<(u64, u64), DocumentGroup<'d>>,
    /// The group of the present document.
    present: Option<DocumentGroup<'d>>,
}

/// Documents that keep their order: those of one parent, or of the whole collection.
struct DocumentGroup<'d> {
    number: u64,
    /// Documents so far.
    made: u64,
    /// The loops that are open, the outermost first.
    open: Vec<OpenLoop<'d>>,
}

struct OpenLoop<'d> {
    left: Box<dyn Iterator<Item = Value> + 'd>,
    length: u64,
    taken: u64,
    present: Value,
}

impl<'d> Documents<'d> {
    /// Starts before the first document, in this order, such as the collection's.
    pub fn new(plan: &'d Plan, collection: &'d Collection, order: LoadOrder) -> Documents<'d> {
        let frame = Frame::new(&plan.data, plan.data.seed, 0, collection.slots);
        let loops = collection.loops.as_deref().unwrap_or_default();
        let block = BTreeMap::new();
        Documents { collection, loops, plan, order, only: None, frame, next_group: 0, block, present: None }
    }

    /// Only the documents of one record of the entity of the outermost loop.
    pub fn of_record(plan: &'d Plan, collection: &'d Collection, ordinal: u64) -> Documents<'d> {
        Documents { only: Some(ordinal), ..Documents::new(plan, collection, LoadOrder::Grouped) }
    }

    /// Writes the next document under a key; `false` after the last.
    pub(super) fn write(&mut self, key: &str, writer: &mut Writer) -> Result<bool, EvalError> {
        if !self.advance()? {
            return Ok(false);
        }
        self.collection.document.write(key, writer, &mut self.frame)?;
        Ok(true)
    }

    /// Puts the values of the next document's loops into the frame; `false` after the last.
    fn advance(&mut self) -> Result<bool, EvalError> {
        if let Some(group) = self.present.take() {
            self.queue(group)?;
        }
        if self.block.is_empty() {
            self.begin_block()?;
        }
        let Some((_, group)) = self.block.pop_first() else { return Ok(false) };
        group.enter(self.loops, &mut self.frame);
        self.present = Some(group);
        Ok(true)
    }

    fn begin_block(&mut self) -> Result<(), EvalError> {
        let (groups, mut held) = (self.groups(), 0);
        while held < BLOCK && self.next_group < groups {
            let outermost = self.outermost(self.next_group)?;
            held += self.queue(DocumentGroup { number: self.next_group, made: 0, open: vec![outermost] })?;
            self.next_group += 1;
        }
        Ok(())
    }

    /// Puts a group into the block if it has another document. Returns how many values it holds.
    fn queue(&mut self, mut group: DocumentGroup<'d>) -> Result<usize, EvalError> {
        while let Some(innermost) = group.open.last_mut() {
            if !innermost.advance() {
                group.open.pop();
            } else if group.open.len() < self.loops.len() {
                group.enter(self.loops, &mut self.frame);
                let inner = self.open(&self.loops[group.open.len()].over)?;
                group.open.push(inner);
            } else {
                group.made += 1;
                let held = 1 + group.open[1..].iter().map(|inner| inner.length as usize).sum::<usize>();
                self.block.insert((self.instant(&group).to_bits(), group.number), group);
                return Ok(held);
            }
        }
        Ok(0)
    }

    /// When a group's present document is loaded, from 0 up to 1.
    fn instant(&self, group: &DocumentGroup) -> f64 {
        const LABEL: Label = Label::new("load");
        let (mut start, mut width) = (0.0, 1.0);
        for each in &group.open {
            width /= each.length as f64;
            start += width * (each.taken - 1) as f64;
        }
        let seed = self.plan.data.seed.derive(LABEL, group.number);
        start + width * Stream::new(seed, LABEL, group.made).unit()
    }

    /// The number of groups.
    fn groups(&self) -> u64 {
        let data = &self.plan.data;
        match (self.order, self.loops.first().map(|outermost| &outermost.over)) {
            (_, None) => 0,
            (LoadOrder::Interleaved, Some(LoopOver::Entity(entity))) => {
                data.len(data.entities[*entity].parent.unwrap_or(*entity))
            }
            (LoadOrder::Interleaved | LoadOrder::Grouped, Some(LoopOver::Entity(_) | LoopOver::List(_))) => 1,
        }
    }

    /// The outermost loop of a group.
    fn outermost(&mut self, group: u64) -> Result<OpenLoop<'d>, EvalError> {
        let data = &self.plan.data;
        if let (Some(only), LoopOver::Entity(entity)) = (self.only, &self.loops[0].over) {
            return Ok(self.records(*entity, only..only + 1));
        }
        match (self.order, &self.loops[0].over) {
            (LoadOrder::Interleaved, LoopOver::Entity(entity)) => Ok(match data.entities[*entity].parent {
                Some(_) => self.records(*entity, data.children_of(*entity, group)),
                None => self.records(*entity, group..group + 1),
            }),
            (LoadOrder::Interleaved | LoadOrder::Grouped, over) => self.open(over),
        }
    }

    fn open(&mut self, over: &'d LoopOver) -> Result<OpenLoop<'d>, EvalError> {
        match over {
            LoopOver::Entity(entity) => Ok(self.records(*entity, 0..self.plan.data.len(*entity))),
            LoopOver::List(list) => {
                let list = list.evaluate(&mut self.frame)?;
                let no_list = || EvalError::new(format!("`each`: expected a list, found {}", list.kind()));
                let values: Vec<Value> = list.items().ok_or_else(no_list)?.collect();
                Ok(OpenLoop::new(values.len() as u64, values.into_iter()))
            }
        }
    }

    fn records(&self, entity: usize, ordinals: std::ops::Range<u64>) -> OpenLoop<'d> {
        let data = &self.plan.data;
        OpenLoop::new(ordinals.end - ordinals.start, ordinals.map(move |ordinal| data.whole(entity, ordinal)))
    }
}

impl DocumentGroup<'_> {
    /// Puts the present values of its loops into the frame.
    fn enter(&self, loops: &[Loop], frame: &mut Frame) {
        for (open, each) in self.open.iter().zip(loops) {
            frame.set(each.slot, open.present.clone());
        }
    }
}

impl<'d> OpenLoop<'d> {
    /// Starts before the first value.
    fn new(length: u64, left: impl Iterator<Item = Value> + 'd) -> OpenLoop<'d> {
        OpenLoop { left: Box::new(left), length, taken: 0, present: Value::Null }
    }

    /// Goes to the next value; `false` after the last.
    fn advance(&mut self) -> bool {
        let Some(value) = self.left.next() else { return false };
        self.present = value;
        self.taken += 1;
        true
    }
}

/// The documents, one at a time, up to the first error.
impl Iterator for Documents<'_> {
    type Item = Result<RawDocumentBuf, EvalError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.advance() {
            Ok(true) => Some(self.collection.document.bind(&mut self.frame)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use bson::{Bson, Document};

    use super::*;
    use crate::compile::Choice;
    use crate::compile::fixture::chosen;

    const TEXT: &str = "
format: 1
name: test
title: Test
parameters: { posts: 40, mean: 12 }
entities:
  post: { count: posts, fields: { _id: index } }
  comment: { of: post, as: comments, count: zipf_count(mean), fields: { _id: index, n: number } }
  reply: { of: comment, as: replies, count: 'uniform(0, 2)', fields: { _id: index } }
operations:
  read: { arguments: { post: uniform(post) }, returns: value }
mixes: { default: { read: 1 } }
strategies:
  plain:
    collections:
      posts: { each: post }
      comments: { each: comment, document: { _id: <comment._id>, group: <comment.post>, n: <comment.n> } }
      grouped:
        each: comment
        load_order: grouped
        document: { _id: <comment._id>, group: <comment.post>, n: <comment.n> }
      values: { each: { post: all(post), twice: '[post._id * 2]' }, document: { _id: <post._id>, twice: <twice> } }
      buckets:
        each: { post: all(post), bucket: 'chunks(post.comments, 3)' }
        document: { group: <post._id>, n: <bucket.number>, comments: <bucket.items> }
      replies:
        each: { post: all(post), comment: post.comments, reply: comment.replies }
        document: { _id: <reply._id>, group: <post._id>, n: <reply._id>, comment: <comment._id> }
    operations: { read: { findOne: posts, filter: { _id: <post> } } }
    state: { comment: { find: comments }, reply: { find: replies } }
";

    fn all<'d>(documents: Documents<'d>) -> Vec<Document> {
        documents.map(|raw| Document::try_from(&*raw.unwrap()).unwrap()).collect()
    }

    fn loaded(plan: &Plan, name: &str) -> Vec<Document> {
        let collection = plan.arms[0].collections.iter().find(|known| known.name == name).unwrap();
        all(Documents::new(plan, collection, collection.load_order))
    }

    fn grouped(plan: &Plan, name: &str) -> Vec<Document> {
        let collection = plan.arms[0].collections.iter().find(|known| known.name == name).unwrap();
        all(Documents::new(plan, collection, LoadOrder::Grouped))
    }

    fn number(document: &Document, field: &str) -> i64 {
        match document.get(field) {
            Some(Bson::Int32(number)) => i64::from(*number),
            other => panic!("{other:?}"),
        }
    }

    /// Neighbours of one group, as a share of all neighbours.
    fn clustering(documents: &[Document]) -> f64 {
        let same = documents.windows(2).filter(|pair| pair[0].get("group") == pair[1].get("group"));
        same.count() as f64 / (documents.len() - 1) as f64
    }

    #[test]
    fn children_are_interleaved_and_keep_their_own_order() {
        let plan = chosen(TEXT, &Choice::default());
        for name in ["comments", "buckets", "replies"] {
            let (mut documents, mut expected) = (loaded(&plan, name), grouped(&plan, name));
            assert!(clustering(&documents) < 0.2, "{name}: {}", clustering(&documents));
            assert!(clustering(&expected) > 0.5, "{name}: {}", clustering(&expected));
            for group in 0..40 {
                let own = documents.iter().filter(|document| number(document, "group") == group);
                assert!(own.is_sorted_by_key(|document| number(document, "n")), "{name}");
            }
            for documents in [&mut documents, &mut expected] {
                documents.sort_by_key(|document| (number(document, "group"), number(document, "n")));
            }
            assert_eq!(documents, expected, "{name}");
        }
    }

    #[test]
    fn documents_of_a_parent_are_spread_over_the_whole_loading() {
        let plan = chosen(TEXT, &Choice::default());
        let documents = loaded(&plan, "comments");
        let most = (0..40).max_by_key(|post| plan.data.children_of(1, *post).count()).unwrap() as i64;
        let places: Vec<usize> =
            (0..documents.len()).filter(|place| number(&documents[*place], "group") == most).collect();
        let half = places.iter().filter(|place| **place < documents.len() / 2).count();
        assert!(half.abs_diff(places.len() / 2) <= 2 + places.len() / 10, "{half} of {}", places.len());
    }

    #[test]
    fn what_is_grouped_or_has_no_children_keeps_the_order_of_its_loops() {
        let plan = chosen(TEXT, &Choice::default());
        for name in ["posts", "grouped", "values"] {
            let documents = loaded(&plan, name);
            assert!(documents.is_sorted_by_key(|document| number(document, "_id")), "{name}");
        }
        assert_eq!(loaded(&plan, "grouped"), grouped(&plan, "comments"));
    }

    #[test]
    fn the_order_depends_on_the_data_alone() {
        let plan = chosen(TEXT, &Choice::default());
        assert_eq!(loaded(&plan, "comments"), loaded(&chosen(TEXT, &Choice::default()), "comments"));
        let other = plan.of_round(1).unwrap();
        assert_ne!(loaded(&plan, "comments"), loaded(&other, "comments"));
        assert_eq!(loaded(&other, "comments"), loaded(&other, "comments"));
    }

    #[test]
    fn many_parents_are_interleaved_block_by_block() {
        let set = [("posts", "9000"), ("mean", "2")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let text = TEXT.replace("zipf_count(mean)", "mean");
        let plan = chosen(&text, &Choice { set: set.into(), ..Choice::default() });
        for name in ["comments", "buckets"] {
            let documents = loaded(&plan, name);
            assert_eq!(documents.len(), grouped(&plan, name).len());
            assert!(clustering(&documents) < 0.01, "{name}");
            let (first, last) = (number(&documents[0], "group"), number(&documents[documents.len() - 1], "group"));
            assert!(first < BLOCK as i64 && last >= 2 * BLOCK as i64, "{name}: {first} {last}");
        }
    }
}
