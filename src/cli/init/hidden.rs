//! Numbers in place of names, for `--hide-names`.

use std::collections::HashMap;

use bson::{Bson, Document, RawDocumentBuf};

use crate::infer::sample::{CollectionSample, Probe};

use super::source::Read;

/// Names and their numbers.
#[derive(Debug, Default)]
pub struct Hidden {
    fields: HashMap<String, String>,
    collections: HashMap<String, String>,
    real: HashMap<String, String>,
}

impl Hidden {
    /// Replaces the names of all samples, as if the database had these.
    pub fn hide(&mut self, read: &mut Read) {
        for sample in &mut read.samples {
            let number = self.collections.len() + 1;
            let hidden = format!("c{number:02}");
            self.collections.insert(hidden.clone(), std::mem::replace(&mut sample.name, hidden));
            self.hide_sample(sample);
        }
        for line in &mut read.left_out {
            *line = "a collection was left out".to_owned();
        }
    }

    fn hide_sample(&mut self, sample: &mut CollectionSample) {
        for document in &mut sample.documents {
            let Ok(plain) = Document::try_from(&**document) else { continue };
            if let Ok(hidden) = RawDocumentBuf::try_from(&self.document(plain)) {
                *document = hidden;
            }
        }
        for (path, _) in sample.indexes.iter_mut().flat_map(|index| &mut index.keys) {
            *path = path.split('.').map(|part| self.field(part)).collect::<Vec<_>>().join(".");
        }
    }

    /// Asks the database by its own names.
    pub fn probe<'h, P>(&'h mut self, probe: &'h mut P) -> HiddenProbe<'h, P> {
        HiddenProbe { names: self, probe }
    }

    fn field(&mut self, name: &str) -> String {
        if name == "_id" {
            return name.to_owned();
        }
        let number = self.fields.len() + 1;
        let hidden = self.fields.entry(name.to_owned()).or_insert_with(|| format!("f{number:02}"));
        self.real.insert(hidden.clone(), name.to_owned());
        hidden.clone()
    }

    fn document(&mut self, document: Document) -> Document {
        document.into_iter().map(|(name, value)| (self.field(&name), self.value(value))).collect()
    }

    fn value(&mut self, value: Bson) -> Bson {
        match value {
            Bson::Document(inner) => Bson::Document(self.document(inner)),
            Bson::Array(items) => Bson::Array(items.into_iter().map(|item| self.value(item)).collect()),
            other => other,
        }
    }

    fn real_path(&self, path: &str) -> String {
        path.split('.').map(|part| self.real.get(part).map_or(part, String::as_str)).collect::<Vec<_>>().join(".")
    }

    fn real_collection<'n>(&'n self, name: &'n str) -> &'n str {
        self.collections.get(name).map_or(name, String::as_str)
    }
}

/// A probe of a database whose names are hidden.
#[derive(Debug)]
pub struct HiddenProbe<'h, P> {
    names: &'h mut Hidden,
    probe: &'h mut P,
}

impl<P: Probe> Probe for HiddenProbe<'_, P> {
    fn contained(&mut self, collection: &str, field: &str, values: &[Bson]) -> Option<u64> {
        let names = &*self.names;
        self.probe.contained(names.real_collection(collection), &names.real_path(field), values)
    }

    fn occurrences(&mut self, collection: &str, path: &str, array: Option<&str>, values: &[Bson]) -> Option<Vec<u64>> {
        let names = &*self.names;
        let array = array.map(|array| names.real_path(array));
        self.probe.occurrences(names.real_collection(collection), &names.real_path(path), array.as_deref(), values)
    }

    fn records(&mut self, collection: &str, ids: &[Bson]) -> Vec<RawDocumentBuf> {
        let found = self.probe.records(self.names.real_collection(collection), ids);
        let hidden =
            |one: RawDocumentBuf| RawDocumentBuf::try_from(&self.names.document(Document::try_from(&*one).ok()?)).ok();
        found.into_iter().filter_map(hidden).collect()
    }
}
