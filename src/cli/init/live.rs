//! A sample of a database on a server.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use bson::{Bson, Document, RawArrayBuf, RawBson, RawDocument, RawDocumentBuf, doc, rawdoc};
use tokio::runtime::Runtime;

use crate::campaign::format_duration;
use crate::cli::exit::CliError;
use crate::cli::output;
use crate::infer::sample::{CollectionSample, Probe, SampledIndex, key_of};
use crate::observe::{Observations, live};
use crate::server::Failure;
use crate::server::reader::Reader;

use super::source::{MOST_BYTES, MOST_DOCUMENTS, Read, is_chosen, why_left_out};

/// Collections above which the user has to choose.
const MOST_COLLECTIONS: usize = 200;
/// How long samples are taken; what is left then is named.
const MOST_TIME: Duration = Duration::from_secs(60);
/// Collections with more bytes are not sorted by the server for a sample.
const LARGE: f64 = 64e6;
/// The share of documents up to which the server draws them one by one, rather than sorting the collection.
const DRAWN_SHARE: f64 = 0.049;
/// Bytes of all samples together.
const MOST_IN_ALL: usize = 128 << 20;
/// Collections whose names differ only in digits, of which one is read.
const FAMILY: usize = 4;

/// A database on a server.
#[derive(Debug)]
pub struct Live {
    runtime: Runtime,
    reader: Reader,
    database: String,
}

impl Live {
    /// Prepares reading.
    ///
    /// # Errors
    /// When the connection string is not valid, or names no database.
    pub fn connect(uri: &str) -> Result<Live, CliError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| CliError::failure(format!("cannot start: {error}")))?;
        let reader = runtime.block_on(Reader::connect(uri))?;
        let none = "--from: the connection string names no database; add it behind the host: mongodb://HOST/DATABASE";
        let database = reader.database.clone().ok_or_else(|| CliError::usage(none))?;
        Ok(Live { runtime, reader, database })
    }

    /// Reads a sample of each collection, one after the other.
    ///
    /// # Errors
    /// When the server does not answer, the user may not read, or there is nothing to read.
    pub fn read(&mut self, patterns: &[String]) -> Result<Read, CliError> {
        let hello = self.ask(rawdoc! { "hello": 1 }).map_err(|failure| self.unreadable("be reached", &failure))?;
        let mut read = Read { described: self.described(&hello), ..Read::default() };
        let names = self.collections(patterns, &mut read)?;
        let (started, mut in_all) = (Instant::now(), 0);
        for (name, family) in names {
            if started.elapsed() > MOST_TIME {
                read.left_out.push(format!("{name} was left out: {} s were over", MOST_TIME.as_secs()));
                continue;
            }
            let most = if in_all > MOST_IN_ALL { MOST_BYTES / 16 } else { MOST_BYTES };
            match self.sample(&name, most) {
                Ok(mut sample) => {
                    in_all += sample.documents.iter().map(|document| document.as_bytes().len()).sum::<usize>();
                    sample.notes.extend(family);
                    read.samples.push(sample);
                }
                Err(failure) => read.left_out.push(format!("{name} was left out: {}", failure.message)),
            }
        }
        if read.samples.is_empty() {
            let why =
                if read.left_out.is_empty() { "it has no collections".to_owned() } else { read.left_out.join("; ") };
            return Err(CliError::failure(format!("nothing of the database {} can be read: {why}", self.database)));
        }
        Ok(read)
    }

    /// The name of the database.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// Reads what happens from now on, for so long.
    ///
    /// # Errors
    /// When the user may not read counters and the oplog.
    pub fn watch(&self, time: Duration, patterns: &[String]) -> Result<Observations, CliError> {
        let names = self.collections(patterns, &mut Read::default())?;
        let names: Vec<String> = names.into_iter().map(|(name, _)| name).collect();
        output::line(&format!("watching {} for {}; nothing is switched on", self.database, format_duration(time)));
        let watched = async {
            let before = live::snapshot(&self.reader, &self.database, &names).await?;
            tokio::time::sleep(time).await;
            let after = live::snapshot(&self.reader, &self.database, &names).await?;
            live::between(&self.reader, &self.database, &before, &after).await
        };
        self.runtime.block_on(watched).map_err(|failure| self.unreadable("be watched", &failure))
    }

    /// Reads what the profiler has recorded.
    ///
    /// # Errors
    /// When the user may not read it, or there is nothing.
    pub fn profile(&self) -> Result<Observations, CliError> {
        let found = self.runtime.block_on(live::profile(&self.reader, &self.database));
        let found = found.map_err(|failure| self.unreadable("be observed by its profile", &failure))?;
        if found.statements() == 0 {
            return Err(CliError::usage(format!(
                "--profile: {}.system.profile has no statement of an application; try --watch 5m, or --log",
                self.database
            )));
        }
        Ok(found)
    }

    /// The names of collections to read, each with a comment if it stands for others.
    fn collections(&self, patterns: &[String], read: &mut Read) -> Result<Vec<(String, Option<String>)>, CliError> {
        let command = rawdoc! { "listCollections": 1, "authorizedCollections": true, "nameOnly": true };
        let listed = self.list(command, MOST_BYTES).map_err(|failure| self.unreadable("be listed", &failure))?;
        let mut names = Vec::new();
        for one in listed {
            let (name, kind) =
                (one.get_str("name").unwrap_or_default().to_owned(), one.get_str("type").unwrap_or("collection"));
            if !is_chosen(&name, patterns) {
                continue;
            }
            match why_left_out(&name).or((kind != "collection").then_some(kind)) {
                Some(why) => read.left_out.push(format!("{name} was left out: {why}")),
                None => names.push(name),
            }
        }
        names.sort();
        let names = families(names);
        let others = names.iter().filter_map(|(name, family)| Some(format!("{name} is {}", family.as_ref()?)));
        read.left_out.extend(others);
        if names.len() > MOST_COLLECTIONS {
            return Err(CliError::usage(format!(
                "{} has {} collections, and at most {MOST_COLLECTIONS} are read: choose some with --collections orders,users,log_*",
                self.database,
                names.len()
            )));
        }
        Ok(names)
    }

    fn sample(&self, name: &str, most_bytes: usize) -> Result<CollectionSample, Failure> {
        let (count, average) = self.size(name)?;
        let mut size = ((most_bytes as f64 / average.max(1.0)) as usize).clamp(1, MOST_DOCUMENTS);
        let is_whole = count <= size as u64;
        if !is_whole && size as f64 >= DRAWN_SHARE * count as f64 && count as f64 * average > LARGE {
            size = ((count as f64 * DRAWN_SHARE) as usize).max(1);
        }
        let documents = if is_whole {
            self.list(rawdoc! { "find": name, "limit": size as i64 }, most_bytes)?
        } else {
            let pipeline = [rawdoc! { "$sample": { "size": size as i64 } }].into_iter().collect::<RawArrayBuf>();
            self.list(rawdoc! { "aggregate": name, "pipeline": pipeline, "cursor": {} }, most_bytes)?
        };
        let indexes = self.list(rawdoc! { "listIndexes": name }, MOST_BYTES).unwrap_or_default();
        let indexes = indexes.iter().filter_map(|index| SampledIndex::read(index)).collect();
        let is_whole = is_whole && documents.len() as u64 >= count;
        let count = count.max(documents.len() as u64);
        Ok(CollectionSample { name: name.to_owned(), count, documents, is_whole, indexes, notes: Vec::new() })
    }

    /// How many documents a collection has, and their mean size.
    fn size(&self, name: &str) -> Result<(u64, f64), Failure> {
        if let Ok(stats) = self.ask(rawdoc! { "collStats": name }) {
            return Ok((number(&stats, "count") as u64, number(&stats, "avgObjSize").max(1.0)));
        }
        let counted = self.ask(rawdoc! { "count": name })?;
        Ok((number(&counted, "n") as u64, 1_000.0))
    }

    fn described(&self, hello: &RawDocument) -> String {
        let role = match (hello.get_bool("secondary"), hello.get_str("msg"), hello.get_str("setName")) {
            (Ok(true), ..) => "secondary",
            (_, Ok("isdbgrid"), _) => "mongos",
            (_, _, Ok(_)) => "primary",
            _ => "standalone",
        };
        let version = self.ask_admin(rawdoc! { "serverStatus": 1 }).ok();
        let version = version.and_then(|status| Some(format!(", MongoDB {}", status.get_str("version").ok()?)));
        let host = hello.get_str("me").map_or_else(|_| self.reader.address().to_owned(), str::to_owned);
        format!("{} on {host} ({role}{})", self.database, version.unwrap_or_default())
    }

    fn unreadable(&self, what: &str, failure: &Failure) -> CliError {
        let hint = match failure.code() {
            Some(13 | 18) => "; `docshape init --rights` prints the smallest role that suffices",
            _ => "; check the address, and that the server runs",
        };
        CliError::failure(format!(
            "the database {} on {} cannot {what}: {}{hint}",
            self.database,
            self.reader.address(),
            failure.message
        ))
    }

    fn ask(&self, command: RawDocumentBuf) -> Result<RawDocumentBuf, Failure> {
        self.runtime.block_on(self.reader.ask(&self.database, command))
    }

    fn ask_admin(&self, command: RawDocumentBuf) -> Result<RawDocumentBuf, Failure> {
        self.runtime.block_on(self.reader.ask("admin", command))
    }

    fn list(&self, command: RawDocumentBuf, bytes: usize) -> Result<Vec<RawDocumentBuf>, Failure> {
        self.runtime.block_on(self.reader.read(&self.database, command, bytes))
    }
}

impl Probe for Live {
    fn contained(&mut self, collection: &str, field: &str, values: &[Bson]) -> Option<u64> {
        let pipeline = vec![
            doc! { "$match": { field: { "$in": values } } },
            doc! { "$group": { "_id": format!("${field}") } },
            doc! { "$count": "n" },
        ];
        let found = self.list(aggregate(collection, pipeline)?, MOST_BYTES).ok()?;
        Some(found.first().map_or(0, |row| number(row, "n") as u64))
    }

    fn occurrences(&mut self, collection: &str, path: &str, array: Option<&str>, values: &[Bson]) -> Option<Vec<u64>> {
        let matching = doc! { "$match": { path: { "$in": values } } };
        let mut pipeline = vec![matching.clone()];
        if let Some(array) = array {
            pipeline.extend([doc! { "$unwind": format!("${array}") }, matching]);
        }
        pipeline.push(doc! { "$group": { "_id": format!("${path}"), "n": { "$sum": 1 } } });
        let found = self.list(aggregate(collection, pipeline)?, MOST_BYTES).ok()?;
        let row = |row: &RawDocumentBuf| {
            Some((key_of(&Bson::try_from(row.get("_id").ok()??).ok()?), number(row, "n") as u64))
        };
        let counts: HashMap<Vec<u8>, u64> = found.iter().filter_map(row).collect();
        Some(values.iter().map(|value| counts.get(&key_of(value)).copied().unwrap_or(0)).collect())
    }

    fn records(&mut self, collection: &str, ids: &[Bson]) -> Vec<RawDocumentBuf> {
        let filter = RawDocumentBuf::try_from(&doc! { "_id": { "$in": ids } });
        let Ok(filter) = filter else { return Vec::new() };
        self.list(rawdoc! { "find": collection, "filter": filter }, MOST_BYTES).unwrap_or_default()
    }
}

fn aggregate(collection: &str, pipeline: Vec<Document>) -> Option<RawDocumentBuf> {
    let pipeline = Bson::Array(pipeline.into_iter().map(Bson::Document).collect());
    let pipeline = RawBson::try_from(pipeline).ok()?;
    let mut command = rawdoc! { "aggregate": collection };
    command.append(bson::cstr!("pipeline"), pipeline);
    command.append(bson::cstr!("cursor"), RawDocumentBuf::new());
    Some(command)
}

fn number(document: &RawDocument, field: &str) -> f64 {
    let value = document.get(field).ok().flatten();
    value
        .and_then(|value| value.as_f64().or(value.as_i32().map(f64::from)).or(value.as_i64().map(|n| n as f64)))
        .unwrap_or(0.0)
}

/// One collection of each family of names that differ only in digits.
fn families(names: Vec<String>) -> Vec<(String, Option<String>)> {
    let form = |name: &str| name.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect::<String>();
    let mut sizes: HashMap<String, usize> = HashMap::new();
    names.iter().for_each(|name| *sizes.entry(form(name)).or_default() += 1);
    let mut seen = Vec::new();
    let mut kept = Vec::new();
    for name in names {
        let form = form(&name);
        let size = sizes.get(&form).copied().unwrap_or(1);
        if size < FAMILY {
            kept.push((name, None));
        } else if !seen.contains(&form) {
            kept.push((name, Some(format!("one of {size} collections whose names differ in digits"))));
            seen.push(form);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_with_numbers_are_read_once() {
        let names = ["a1", "a2", "b", "log_01", "log_02", "log_03", "log_04"].map(str::to_owned).to_vec();
        let kept: Vec<String> = families(names).into_iter().map(|(name, _)| name).collect();
        assert_eq!(kept, ["a1", "a2", "b", "log_01"]);
    }
}
