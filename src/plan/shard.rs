//! Shard keys: by which fields a cluster distributes the documents of a collection.

use std::fmt;

use bson::raw::CString;
use bson::{RawDocument, RawDocumentBuf};

/// A shard key. Whether a server takes it is not known here.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ShardKey {
    /// Its fields in order, at least one.
    pub fields: Vec<ShardField>,
}

/// A field of a shard key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ShardField {
    /// Its path.
    pub path: String,
    /// Whether documents are distributed by the hash of its value.
    pub is_hashed: bool,
}

/// How a collection is sharded, where the server is a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sharding {
    /// The key.
    pub key: ShardKey,
    /// The chunks that are made before it is loaded; `None`: one per shard.
    pub chunks: Option<u32>,
}

impl ShardKey {
    /// The key that an index has, if a collection can be sharded by it: ascending fields, at most one of them hashed.
    pub fn of_index(key: &RawDocument) -> Option<ShardKey> {
        let field = |(path, direction): (&bson::raw::CStr, bson::RawBsonRef<'_>)| {
            let is_hashed = direction.as_str() == Some("hashed");
            let number =
                direction.as_f64().or(direction.as_i32().map(f64::from)).or(direction.as_i64().map(|n| n as f64));
            let is_plain = !path.as_str().contains('$');
            (is_plain && (is_hashed || number.is_some_and(|number| number != 0.0)))
                .then(|| ShardField { path: path.as_str().to_owned(), is_hashed })
        };
        let fields: Option<Vec<ShardField>> = key.iter().map(|entry| field(entry.ok()?)).collect();
        let fields = fields.filter(|fields| fields.iter().filter(|field| field.is_hashed).count() < 2)?;
        (!fields.is_empty()).then_some(ShardKey { fields })
    }

    /// As `shardCollection` and `createIndexes` take it.
    pub fn document(&self) -> RawDocumentBuf {
        let mut document = RawDocumentBuf::new();
        for ShardField { path, is_hashed } in &self.fields {
            let Ok(path) = CString::try_from(path.as_str()) else { continue };
            if *is_hashed { document.append(path, "hashed") } else { document.append(path, 1) }
        }
        document
    }

    /// Whether a field of it is hashed.
    pub fn is_hashed(&self) -> bool {
        self.fields.iter().any(|field| field.is_hashed)
    }

    /// Whether a unique index with these fields keeps all values apart that it must: those of one value of the key are on one
    /// shard.
    pub fn allows_unique<'p>(&self, mut fields: impl Iterator<Item = &'p str>) -> bool {
        !self.is_hashed() && self.fields.iter().all(|field| fields.next() == Some(&field.path))
    }
}

impl fmt::Display for ShardKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = |field: &ShardField| format!("{}: {}", field.path, if field.is_hashed { "hashed" } else { "1" });
        write!(formatter, "{{ {} }}", self.fields.iter().map(field).collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::*;

    #[test]
    fn keys_of_indexes_that_can_shard_are_ascending_or_hashed() {
        let text = |key: RawDocumentBuf| ShardKey::of_index(&key).map(|key| key.to_string());
        assert_eq!(text(rawdoc! { "post": 1, "at": -1 }).unwrap(), "{ post: 1, at: 1 }");
        assert_eq!(text(rawdoc! { "feed": 1, "_id": "hashed" }).unwrap(), "{ feed: 1, _id: hashed }");
        let refused = [
            rawdoc! { "text": "text" },
            rawdoc! { "$**": 1 },
            rawdoc! { "at": "2dsphere" },
            rawdoc! { "a": "hashed", "b": "hashed" },
            rawdoc! {},
        ];
        assert!(refused.into_iter().all(|key| text(key).is_none()));
    }

    #[test]
    fn unique_indexes_begin_with_the_key() {
        let key = ShardKey::of_index(&rawdoc! { "book": 1 }).unwrap();
        assert!(key.allows_unique(["book", "by"].into_iter()));
        assert!(!key.allows_unique(["by", "book"].into_iter()));
        let hashed = ShardKey::of_index(&rawdoc! { "book": "hashed" }).unwrap();
        assert!(!hashed.allows_unique(["book"].into_iter()));
    }
}
