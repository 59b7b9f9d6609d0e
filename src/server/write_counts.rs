//! The server's counts of a write.

use bson::{Bson, Document, RawDocument, RawDocumentBuf};

use super::field::{at, whole};

/// The numbers of a write's reply. Upserted documents count as matched.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WriteCounts {
    /// Documents inserted, deleted or matched (`n`).
    pub n: i64,
    /// Documents changed by an update (`nModified`).
    pub modified: i64,
    /// The upserted documents, as `{index, _id}`.
    pub upserted: Vec<RawDocumentBuf>,
}

impl WriteCounts {
    /// Reads a reply that is bytes.
    pub(super) fn read(reply: &RawDocument) -> WriteCounts {
        let made = reply.get_array("upserted").into_iter().flatten().flatten();
        let upserted = made.filter_map(|one| one.as_document().map(RawDocument::to_owned)).collect();
        WriteCounts { n: count(reply), modified: number_at(reply, "nModified"), upserted }
    }

    /// Reads a reply that the driver has parsed into a tree; `None` when it has errors or unexpected types.
    pub(super) fn of(reply: &Document) -> Option<WriteCounts> {
        let mut counts = WriteCounts::default();
        for (name, value) in reply {
            match name.as_str() {
                "n" => counts.n = number(value)?,
                "nModified" => counts.modified = number(value)?,
                "upserted" => {
                    let made = value.as_array()?.iter();
                    counts.upserted =
                        made.map(|one| RawDocumentBuf::try_from(one.as_document()?).ok()).collect::<Option<_>>()?;
                }
                "writeErrors" | "writeConcernError" => return None,
                _ => {}
            }
        }
        Some(counts)
    }
}

/// The `n` of a reply, or of a document in one; 0 without it.
pub fn count(reply: &RawDocument) -> i64 {
    number_at(reply, "n")
}

fn number_at(reply: &RawDocument, name: &str) -> i64 {
    at(reply, name).and_then(whole).unwrap_or(0)
}

/// As [`whole`].
fn number(value: &Bson) -> Option<i64> {
    value.as_i32().map(i64::from).or_else(|| value.as_i64()).or_else(|| value.as_f64().map(|number| number as i64))
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    fn read(reply: &Document) -> WriteCounts {
        WriteCounts::read(&RawDocumentBuf::try_from(reply).unwrap())
    }

    #[test]
    fn bytes_and_tree_have_the_same_counts() {
        for reply in [
            doc! { "n": 1, "ok": 1.0, "opTime": { "t": 5_i64 } },
            doc! { "n": 2_i64, "nModified": 1.0, "ok": 1.0 },
            doc! { "n": 2, "nModified": 0, "upserted": [{ "index": 0, "_id": "a" }, { "index": 1, "_id": { "b": 1 } }], "ok": 1.0 },
            doc! { "ok": 1.0 },
        ] {
            assert_eq!(WriteCounts::of(&reply), Some(read(&reply)), "{reply}");
        }
        let upserted = read(&doc! { "n": 1, "upserted": [{ "index": 0, "_id": 7 }] });
        assert_eq!((upserted.n, upserted.upserted[0].get_i32("_id").unwrap()), (1, 7));
    }

    #[test]
    fn replies_with_errors_have_no_counts() {
        assert_eq!(WriteCounts::of(&doc! { "n": 0, "writeErrors": [{ "code": 11000 }], "ok": 1.0 }), None);
        assert_eq!(WriteCounts::of(&doc! { "n": 1, "writeConcernError": { "code": 64 }, "ok": 1.0 }), None);
        assert_eq!(WriteCounts::of(&doc! { "n": "one" }), None);
    }
}
