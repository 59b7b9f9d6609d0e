//! The comparison of two runs as Markdown.

use std::fmt;

use super::super::escape::escape;
use super::super::format::{NOTHING, bytes_change, count, count_change, plain, three};
use super::{RunComparisonReport, cells, described};

impl RunComparisonReport<'_> {
    /// As Markdown.
    ///
    /// # Errors
    /// When `out` refuses; a `String` never does.
    pub fn markdown(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(out, "# {}: two runs compared\n", escape(&self.title))?;
        for (name, run) in ["A", "B"].into_iter().zip(&self.runs) {
            writeln!(out, "- **{name}** {}", escape(run))?;
        }
        writeln!(out, "\n**{}**", escape(&self.verdict.join(" ")))?;
        for (heading, entries) in [("Worse", &self.worse), ("Better", &self.better)] {
            if !entries.is_empty() {
                writeln!(out, "\n## {heading}\n")?;
                entries
                    .iter()
                    .try_for_each(|(name, text)| writeln!(out, "- **{}**: {}", escape(name), escape(text)))?;
            }
        }
        self.times_table(out)?;
        self.sizes_table(out)?;
        if !self.differs.is_empty() {
            writeln!(out, "\n## What differs\n\n| what | A | B |\n|---|---|---|")?;
            for (name, old, new) in &self.differs {
                writeln!(out, "| {} | {} | {} |", escape(name), escape(old), escape(new))?;
            }
        }
        if !self.warnings.is_empty() {
            writeln!(out, "\n## Warnings\n")?;
            self.warnings.iter().try_for_each(|warning| writeln!(out, "- {}", escape(warning)))?;
        }
        Ok(())
    }

    fn times_table(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(out, "\n## Time per call\n")?;
        writeln!(out, "| strategy | operation | metric | A | B | ratio | 95 % interval | relative |")?;
        writeln!(out, "|---|---|---|---:|---:|---:|---:|---:|")?;
        for strategy in &self.found.strategies {
            let name = escape(&plain(&strategy.name));
            for row in &strategy.rows {
                let operation = escape(&Self::mix_name(row));
                for (metric, change) in [("mean", Some(&row.mean)), ("p99", row.p99.as_ref())] {
                    let Some(change) = change else { continue };
                    let [before, after, ratio, interval] = cells(change);
                    let relative = row.relative.filter(|_| metric == "mean").map_or_else(String::new, three);
                    let ratio = escape(&ratio);
                    writeln!(
                        out,
                        "| {name} | {operation} | {metric} | {before} | {after} | {ratio} | {interval} | {relative} |"
                    )?;
                }
            }
            if let Some((before, after)) = strategy.throughput {
                let (ratio, before, after) =
                    (three(after / before), count(before.round() as u64), count(after.round() as u64));
                writeln!(out, "| {name} | mix | calls per second | {before} | {after} | {ratio} | | |")?;
            }
        }
        described(self.found).map_or(Ok(()), |words| writeln!(out, "\n{}", escape(&words)))?;
        writeln!(out, "\n{}", escape(&self.how))
    }

    fn sizes_table(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        if self.found.strategies.iter().all(|strategy| strategy.collections.is_empty()) {
            return Ok(());
        }
        writeln!(out, "\n## Collections after the calls of a round, A → B\n")?;
        writeln!(
            out,
            "| strategy | collection | documents | mean size | storage | indexes |\n|---|---|---:|---:|---:|---:|"
        )?;
        for strategy in &self.found.strategies {
            for (collection, old, new) in &strategy.collections {
                let pair = |of: &dyn Fn(&crate::stats::CollectionGrowth) -> f64| {
                    old.as_ref().map(of).zip(new.as_ref().map(of))
                };
                let bytes = |of: &dyn Fn(&crate::stats::CollectionGrowth) -> f64| {
                    pair(of).map_or_else(|| NOTHING.to_owned(), |(old, new)| bytes_change(old, new))
                };
                let documents = pair(&|growth| growth.documents.after);
                let documents = documents.map_or_else(|| NOTHING.to_owned(), |(old, new)| count_change(old, new));
                let (mean, storage, indexes) = (
                    bytes(&|growth| growth.mean.after),
                    bytes(&|growth| growth.storage.after),
                    bytes(&|growth| growth.indexes.after),
                );
                let (strategy, collection) = (escape(&plain(&strategy.name)), escape(&plain(collection)));
                writeln!(out, "| {strategy} | {collection} | {documents} | {mean} | {storage} | {indexes} |")?;
            }
        }
        Ok(())
    }
}
