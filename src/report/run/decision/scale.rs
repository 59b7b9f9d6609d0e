//! How large the measurement was, in a line.

use crate::report::document::format::{bytes, count, counted, percent, plain, time};
use crate::report::run::PartEvaluations;
use crate::results::{Part, RunRecord, members};

/// Documents and bytes of the largest strategy, the load, and the server.
pub(crate) fn scale(record: &RunRecord, parts: &PartEvaluations) -> String {
    let data = data(parts).map(|(documents, size)| {
        let cache = record.server.cache_bytes.filter(|cache| *cache > 0);
        let cache = cache.map_or_else(String::new, |cache| format!(" ({} of the cache)", percent(size / cache as f64)));
        format!("{} documents, {}{cache}", count(documents as u64), bytes(size))
    });
    let loads = parts.iter().filter(|(part, _)| *part != Part::Own).map(|(_, run)| run.load.as_str());
    let loads = loads.collect::<Vec<_>>().join(", then ");
    let rounds = format!("{}, {}", counted(parts.main().rounds, "round"), record.settings.preset);
    let cores = record.environment.cores.map(|cores| {
        let shared = if record.server.embedded { " shared with the client" } else { " of the client" };
        format!("{}{shared}", counted(cores, "core"))
    });
    let members = members(&record.server.topology).map(|members| format!(", {members} members")).unwrap_or_default();
    let server = format!("MongoDB {}{members}", plain(&record.server.version));
    let flush = record.environment.journal_flush.map(|seconds| format!("journal flush {}", time(seconds * 1e9)));
    let all = [data, Some(format!("mix {}", parts.main().mix)), Some(loads), Some(rounds), Some(server), cores, flush];
    all.into_iter().flatten().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// The most documents and bytes, with indexes, that a strategy had in the end.
pub(super) fn data(parts: &PartEvaluations) -> Option<(f64, f64)> {
    let documents = parts.most_stored(|one| one.documents.after);
    let size = parts.most_stored(|one| one.size.after + one.indexes.after);
    (documents > 0.0).then_some((documents, size))
}
