//! The values of a shard key in a collection, in the order of an index: how many there are, how often each, and whether they
//! grow with the time of writing.

use bson::{Bson, RawDocument, RawDocumentBuf, rawdoc};

use super::bounds::KeyRange;
use super::order::compare_tuples;

/// How many of the most common values are kept.
const COMMON: usize = 5;

/// From this correlation on the server calls a key monotonic (`monotonicityCorrelationCoefficientThreshold`).
const MONOTONIC: f64 = 0.7;

/// The distinct values of a key with their documents.
#[derive(Debug, Clone, Default)]
pub struct KeyOrder {
    /// The values in order, and how many documents have each.
    values: Vec<(Vec<Bson>, u64)>,
    /// The record ids of all documents, in order.
    ids: Vec<i64>,
    /// Whether record ids are numbers, as they are unless the collection is clustered.
    has_record_ids: bool,
}

/// The lower ends of all parts of a key but the first: parts of about as many documents each, none of which divides a value.
#[derive(Debug, Clone, Default)]
pub struct KeyParts {
    ends: Vec<Vec<Bson>>,
    /// The share (0 to 1) of the documents in the largest part.
    pub largest: f64,
}

impl KeyOrder {
    /// No documents yet.
    pub fn new() -> KeyOrder {
        KeyOrder { has_record_ids: true, ..KeyOrder::default() }
    }

    /// What a `find` returns of each document: its values in the index, and its record id.
    pub fn projection() -> RawDocumentBuf {
        // A field that is included, which no document has, leaves out all others.
        rawdoc! { "_id": 0, "docshape": 1, "values": { "$meta": "indexKey" }, "record": { "$meta": "recordId" } }
    }

    /// Adds the next document in the order of the index.
    pub fn add(&mut self, row: &RawDocument) {
        let values = row.get_document("values").into_iter().flat_map(|values| values.iter().flatten());
        let values: Vec<Bson> = values.map(|(_, value)| Bson::try_from(value).unwrap_or(Bson::Null)).collect();
        match row.get_i64("record") {
            Ok(id) => self.ids.push(id),
            Err(_) => self.has_record_ids = false,
        }
        match self.values.last_mut() {
            Some((last, count)) if compare_tuples(last, &values).is_eq() => *count += 1,
            _ => self.values.push((values, 1)),
        }
    }

    /// The place of a field that no document has, if there are documents.
    pub fn missing(&self) -> Option<usize> {
        let fields = self.values.first()?.0.len();
        (0..fields).find(|field| self.values.iter().all(|(values, _)| values[*field] == Bson::Null))
    }

    /// The number of documents.
    pub fn documents(&self) -> u64 {
        self.values.iter().map(|(_, count)| count).sum()
    }

    /// The number of distinct values.
    pub fn distinct(&self) -> u64 {
        self.values.len() as u64
    }

    /// The documents of each of the most common values, the most common first.
    pub fn most_common(&self) -> Vec<u64> {
        let mut counts: Vec<u64> = self.values.iter().map(|(_, count)| *count).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts.truncate(COMMON);
        counts
    }

    /// Pearson's correlation of the place in the index with the record id; `None` where record ids are no numbers. It is that of
    /// `analyzeShardKey` (`computeCorrelationCoefficient` in the server's source).
    pub fn coefficient(&self) -> Option<f64> {
        self.has_record_ids.then(|| correlation(&self.ids))
    }

    /// Whether a coefficient is that of a monotonic key.
    pub fn is_monotonic(coefficient: f64) -> bool {
        coefficient.abs() >= MONOTONIC
    }

    /// Divides the values into at most this many parts.
    pub fn parts(&self, count: u64) -> KeyParts {
        let total = self.documents();
        let (mut ends, mut sizes, mut before, mut last) = (Vec::new(), vec![0_u64], 0, 0);
        for (values, documents) in &self.values {
            // All documents of a value are in the part where the middle one is.
            let part = (2 * before + documents) * count / (2 * total).max(1);
            if part > last && before > 0 {
                ends.push(values.clone());
                sizes.push(0);
            }
            if let Some(size) = sizes.last_mut() {
                *size += documents;
            }
            (before, last) = (before + documents, part);
        }
        let largest = sizes.iter().max().copied().unwrap_or(0) as f64 / total.max(1) as f64;
        KeyParts { ends, largest }
    }
}

/// Pearson's correlation of some numbers with their places.
fn correlation(ids: &[i64]) -> f64 {
    let n = ids.len() as f64;
    let (place, id) = ((n + 1.0) / 2.0, ids.iter().map(|id| *id as f64).sum::<f64>() / n);
    let (mut both, mut places, mut deviations) = (0.0, 0.0, 0.0);
    for (at, value) in ids.iter().enumerate() {
        let (x, y) = (at as f64 + 1.0 - place, *value as f64 - id);
        both += x * y;
        places += x * x;
        deviations += y * y;
    }
    if places > 0.0 && deviations > 0.0 { both / (places * deviations).sqrt() } else { 0.0 }
}

impl KeyParts {
    /// The number of parts.
    pub fn count(&self) -> usize {
        self.ends.len() + 1
    }

    /// The parts in which some ranges are, a bit each.
    pub fn of(&self, ranges: &[KeyRange]) -> u128 {
        ranges.iter().fold(0, |found, range| {
            let first = self.ends.partition_point(|end| compare_tuples(end, &range.low).is_le());
            let last = self.ends.partition_point(|end| {
                let order = compare_tuples(end, &range.high);
                if range.includes_high { order.is_le() } else { order.is_lt() }
            });
            (first..=last.max(first)).fold(found, |found, part| found | 1 << part)
        })
    }
}

#[cfg(test)]
mod tests {
    use bson::bson;

    use super::*;

    /// Documents whose keys are these, written in this order of record ids.
    fn order(rows: &[(i32, i64)]) -> KeyOrder {
        let mut order = KeyOrder::new();
        rows.iter().for_each(|(key, id)| order.add(&rawdoc! { "values": { "a": *key }, "record": *id }));
        order
    }

    fn range(low: i32, high: i32) -> KeyRange {
        KeyRange { low: vec![bson!(low)], high: vec![bson!(high)], includes_high: true }
    }

    #[test]
    fn values_are_counted_and_correlated() {
        let rising = order(&[(1, 1), (2, 2), (2, 3), (5, 4)]);
        assert_eq!((rising.documents(), rising.distinct(), rising.most_common()), (4, 3, vec![2, 1, 1]));
        assert!((rising.coefficient().unwrap() - 1.0).abs() < 1e-12);
        // By hand: places 1 to 4, ids 2 4 1 3; both deviate by 5 in square, and together by 0.
        assert!(order(&[(1, 2), (2, 4), (3, 1), (4, 3)]).coefficient().unwrap().abs() < 1e-12);
        assert_eq!(order(&[(1, 1)]).coefficient(), Some(0.0));
        let mut clustered = KeyOrder::new();
        clustered.add(&rawdoc! { "values": { "a": 1 }, "record": "x" });
        assert_eq!(clustered.coefficient(), None);
    }

    #[test]
    fn parts_have_about_as_many_documents_and_divide_no_value() {
        let even: Vec<(i32, i64)> = (0..8).map(|key| (key, i64::from(key))).collect();
        let parts = order(&even).parts(4);
        assert_eq!((parts.count(), parts.largest), (4, 0.25));
        assert_eq!(parts.of(&[range(0, 1)]), 0b0001);
        assert_eq!(parts.of(&[range(1, 2)]), 0b0011);
        assert_eq!(parts.of(&[range(0, 0), range(7, 9)]), 0b1001);
        assert_eq!(parts.of(&[range(0, 9)]), 0b1111);
        let open = KeyRange { includes_high: false, ..range(0, 2) };
        assert_eq!(parts.of(&[open]), 0b0001);
        let skewed = order(&[(1, 1), (1, 2), (1, 3), (2, 4)]).parts(4);
        assert_eq!((skewed.count(), skewed.largest), (2, 0.75));
        assert_eq!(KeyOrder::new().parts(4).count(), 1);
    }
}
