//! One number about many records: `count` and `sum`.

use crate::scenario::{Node, Scalar, Span, Tree};

use super::build::{is_empty, map};
use super::model::PathEnd;
use super::refusal::{Derived, refuse};
use super::reply::LogicalReply;
use super::rows::Rows;
use super::shape::Word;
use super::stage::{prefix_keys, prefixed};
use super::translate::{Options, Translation};

/// The number of a pipeline that gives one document, or none.
const NUMBER: &str = "size(reply) == 0 ? 0 : reply[0].n";

impl Translation<'_, '_> {
    pub fn count(&mut self, target: &str, options: &Options) -> Derived<LogicalReply> {
        let subject = self.subject(target, true)?;
        let (shape, model) = (self.documents.shape, self.model());
        let filter = self.condition(model.entity_of(&subject), options, "where")?;
        if let Some(reply) = self.stored_total(&subject, &filter, None) {
            return Ok(reply);
        }
        if let Some((_, rows, filter)) = self.pairs_only(&subject, &filter, None) {
            return Ok(LogicalReply::of(rows.counted(&filter)));
        }
        if let PathEnd::Many(from, relation, true) = &subject
            && shape.word(*relation) != Word::Reference
            && shape.home(model, model.relations[*relation].one).1.is_empty()
            && is_empty(&filter)
        {
            let this = &model.relations[*relation];
            let size = map! { "_id" => 0, "n" => map! { "$size" => format!("${}", this.down()) } };
            let rows = self.record_rows(from, this.one).then([map! { "$project" => size }]);
            return Ok(LogicalReply::piped(rows, NUMBER));
        }
        self.index_selection(&subject, &filter, &[]);
        let rows = self.rows(&subject, &filter, true)?;
        if rows.path.is_empty() {
            return Ok(LogicalReply::of(rows.counted(&filter)));
        }
        if let (PathEnd::All(_), [array], true) = (&subject, &rows.path[..], is_empty(&filter)) {
            let size = map! { "$sum" => map! { "$size" => format!("${array}") } };
            return Ok(grouped(Rows { stages: Vec::new(), ..rows }, &filter, size));
        }
        Ok(grouped(rows, &filter, map! { "$sum" => 1 }))
    }

    pub fn sum(&mut self, target: &str, options: &Options) -> Derived<LogicalReply> {
        let Some((path, field)) = target.rsplit_once('.') else {
            return refuse("`sum` of no field", "a path ends with a field", "for example `sum: order.lines.cents`");
        };
        let subject = self.subject(path, true)?;
        let entity = self.model().entity_of(&subject);
        self.check_fields(entity, &[field.to_owned()])?;
        self.check_main(entity, &[field.to_owned()], "the sum")?;
        let filter = self.condition(entity, options, "where")?;
        if let Some(reply) = self.stored_total(&subject, &filter, Some(field)) {
            return Ok(reply);
        }
        if let Some((pairs, rows, filter)) = self.pairs_only(&subject, &filter, Some(field)) {
            return Ok(grouped(rows, &filter, map! { "$sum" => format!("${}", pairs.field(field)) }));
        }
        self.index_fields(&subject, &filter, &[], Some(field));
        let rows = self.rows(&subject, &filter, true)?;
        let sum = map! { "$sum" => format!("${}", prefixed(&rows.path, field)) };
        Ok(grouped(rows, &filter, sum))
    }
}

/// One number about rows.
pub(super) fn grouped(rows: Rows, filter: &Node, number: Node) -> LogicalReply {
    let wanted = (!is_empty(filter)).then(|| map! { "$match" => prefix_keys(filter, &rows.path) });
    let null = Node { span: Span::default(), tree: Tree::Scalar(Scalar::Null) };
    let group = map! { "$group" => map! { "_id" => null, "n" => number } };
    LogicalReply::piped(rows.then(wanted).then([group]), NUMBER)
}
