//! The words and the table of a check of equivalence.

use std::fmt::{self, Write};

use crate::results::AuditRecord;
use crate::results::verification::{LiveRecord, PhaseFindings, StrategyFindings, Verification, VerifyPhase};

use super::format::{listed, percent, wrap};
use super::table::Tone;

/// The phases and the headings of their columns.
const PHASES: [(VerifyPhase, &str); 3] =
    [(VerifyPhase::Sequential, "one by one"), (VerifyPhase::Ordered, "in order"), (VerifyPhase::Unordered, "free")];

/// Particulars stand this far in.
const INDENT: &str = "    ";

/// Writes a check of equivalence for a terminal.
#[derive(Debug)]
pub struct VerificationReport<'v> {
    /// What was found.
    pub verification: &'v Verification,
    /// Columns of the terminal.
    pub width: usize,
    /// Whether it shows colours.
    pub colour: bool,
}

impl fmt::Display for VerificationReport<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.head(out)?;
        self.table(out)?;
        for strategy in &self.verification.strategies {
            for phase in &strategy.phases {
                self.findings(out, strategy, phase)?;
            }
        }
        self.live(out)?;
        self.conclusion(out)
    }
}

impl VerificationReport<'_> {
    fn line(&self, out: &mut fmt::Formatter<'_>, tone: Tone, text: &str) -> fmt::Result {
        wrap(text, self.width).iter().try_for_each(|line| writeln!(out, "{}", tone.paint(line, self.colour)))
    }

    /// Whether there were phases in which many calls ran at once.
    fn is_concurrent(&self) -> bool {
        self.verification.strategies.iter().any(|strategy| strategy.phases.len() > 1)
    }

    fn head(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verification { scenario, mix, seed, calls, clients, baseline, not_covered, .. } = self.verification;
        let then = match self.is_concurrent() {
            true => format!(", then by {clients} clients at once: calls of equal `serial` in order, and free"),
            false => String::new(),
        };
        let line =
            format!("{scenario}: {calls} calls of mix {mix}, seed {seed}; one by one compared with {baseline}{then}");
        self.line(out, Tone::Plain, &line)?;
        match not_covered.as_slice() {
            [] => Ok(()),
            names => {
                let line = format!(
                    "never called, so nothing is known of it: {}; give it a weight, or more --calls",
                    names.join(", ")
                );
                self.line(out, Tone::Bad, &line)
            }
        }
    }

    fn table(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strategies = &self.verification.strategies;
        let names = strategies.iter().map(|strategy| strategy.name.chars().count()).max().unwrap_or(0);
        let names = names.max("strategy".len());
        write!(out, "\n{:names$}", "strategy")?;
        for (_, heading) in PHASES {
            write!(out, "  {heading:>10}")?;
        }
        writeln!(out)?;
        for strategy in strategies {
            write!(out, "{:names$}", strategy.name)?;
            for (phase, _) in PHASES {
                let found = strategy.phases.iter().find(|found| found.phase == phase);
                let (text, tone) = match found {
                    None if strategy.rejected_at.is_some() => ("too large", Tone::Faint),
                    None => ("-", Tone::Faint),
                    Some(found) if found.is_clean() => ("ok", Tone::Plain),
                    Some(_) if strategy.is_unsafe => ("fails", Tone::Plain),
                    Some(_) => ("FAILS", Tone::Bad),
                };
                write!(out, "  {}", tone.paint(&format!("{text:>10}"), self.colour))?;
            }
            let (words, tone) = remark(strategy, self.is_concurrent());
            writeln!(out, "  {}", tone.paint(&words, self.colour))?;
        }
        Ok(())
    }

    fn findings(
        &self,
        out: &mut fmt::Formatter<'_>,
        strategy: &StrategyFindings,
        phase: &PhaseFindings,
    ) -> fmt::Result {
        if phase.is_clean() {
            return Ok(());
        }
        let heading = PHASES.iter().find(|(known, _)| *known == phase.phase).map_or("", |(_, heading)| heading);
        for problem in &phase.problems {
            let times = if problem.count > 1 { format!(" ({} times)", problem.count) } else { String::new() };
            let tone = if strategy.is_unsafe { Tone::Strong } else { Tone::Bad };
            writeln!(out)?;
            self.line(out, tone, &format!("{}, {heading}: {}{times}", strategy.name, problem.title))?;
            for line in &problem.lines {
                writeln!(out, "{INDENT}{line}")?;
            }
            // What calls come to at once cannot be repeated one by one.
            if let (Some(call), VerifyPhase::Sequential, false) = (problem.call, phase.phase, strategy.is_unsafe) {
                writeln!(out, "{INDENT}repeat    {}", self.repeat(strategy, call))?;
            }
        }
        let failing: Vec<&AuditRecord> = phase.audits.iter().filter(|audit| audit.anomalies() > 0).collect();
        if let Some(first) = failing.first() {
            writeln!(out)?;
            let tone = if strategy.is_unsafe { Tone::Strong } else { Tone::Bad };
            let words =
                if failing.len() == 1 { format!("audit {} fails", first.audit) } else { "audits fail".to_owned() };
            self.line(out, tone, &format!("{}, {heading}: {words}", strategy.name))?;
            for audit in failing {
                writeln!(out, "{INDENT}{}", counted(audit))?;
            }
        }
        Ok(())
    }

    fn repeat(&self, strategy: &StrategyFindings, call: u64) -> String {
        let Verification { command, baseline, seed, .. } = self.verification;
        format!("{command} --strategies {baseline},{} --seed {seed} --call {call}", strategy.name)
    }

    fn live(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strategies = &self.verification.strategies;
        let seen: Vec<(&str, &LiveRecord)> = strategies
            .iter()
            .flat_map(|strategy| strategy.live.iter().map(|record| (strategy.name.as_str(), record)))
            .filter(|(_, record)| record.snapshot.found + record.plain.found > 0)
            .collect();
        if seen.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        self.line(out, Tone::Strong, "Seen by readers while the free calls ran")?;
        for (strategy, record) in seen {
            let share = |found: u64, reads: u64| percent(found as f64 / reads.max(1) as f64);
            let line = format!(
                "{strategy}, {}: in {} of snapshots (at most {} rows), in {} of plain reads (at most {})",
                record.audit,
                share(record.snapshot.found, record.snapshot.reads),
                record.snapshot.max,
                share(record.plain.found, record.plain.reads),
                record.plain.max
            );
            for (place, part) in wrap(&line, self.width.saturating_sub(INDENT.len() + 2)).iter().enumerate() {
                writeln!(out, "{INDENT}{}{part}", if place == 0 { "" } else { "  " })?;
            }
        }
        Ok(())
    }

    fn conclusion(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strategies = &self.verification.strategies;
        let (controls, safe): (Vec<_>, Vec<_>) = strategies.iter().partition(|strategy| strategy.is_unsafe);
        let clean = safe.iter().filter(|strategy| strategy.is_clean()).count();
        let mut line = String::new();
        match (clean == safe.len(), safe.len()) {
            (true, 1) => line.push_str("Nothing is wrong with the one strategy; there was none to compare it with"),
            (true, 0) => line.push_str("There is no safe strategy"),
            (true, count) => write!(line, "All {count} strategies do the same")?,
            (false, count) => write!(line, "{} of {count} strategies fail", count - clean)?,
        }
        let refused: Vec<String> = safe
            .iter()
            .filter(|strategy| strategy.rejected_at.is_some())
            .map(|strategy| strategy.name.clone())
            .collect();
        if !refused.is_empty() {
            write!(line, " (of {} only the calls before it refused one for its size are known)", listed(&refused))?;
        }
        if !controls.is_empty() && self.is_concurrent() {
            let caught = controls.iter().filter(|strategy| strategy.is_caught()).count();
            write!(line, "; {caught} of {} negative controls caught", controls.len())?;
        }
        writeln!(out)?;
        let tone = if self.verification.passes() { Tone::Good } else { Tone::Bad };
        self.line(out, tone, &line)
    }
}

/// What stands behind a strategy's row.
fn remark(strategy: &StrategyFindings, is_concurrent: bool) -> (String, Tone) {
    let mut remarks = Vec::new();
    let mut tone = Tone::Faint;
    match (strategy.is_unsafe, strategy.is_caught()) {
        (true, true) => remarks.push("negative control, caught".to_owned()),
        (true, false) if !is_concurrent => remarks.push("negative control".to_owned()),
        (true, false) => {
            remarks.push("negative control, NOT caught: more --calls, or a mix that crowds its calls".to_owned());
            tone = Tone::Bad;
        }
        _ => {}
    }
    if let Some(call) = strategy.rejected_at {
        remarks.push(format!("compared up to call {call}, which it refuses for its size"));
    }
    let reordered: u64 = strategy.phases.iter().map(|phase| phase.out_of_order).sum();
    if reordered > 0 {
        remarks.push(format!("{reordered} reads with the right rows in another order"));
    }
    let unknown: u64 = strategy.phases.iter().map(|phase| phase.unknown).sum();
    if unknown > 0 {
        remarks.push(format!("{unknown} calls with an unknown outcome"));
    }
    let retries: u64 = strategy.phases.iter().map(|phase| phase.retries).sum();
    if retries > 0 {
        remarks.push(format!("{retries} attempts begun again"));
    }
    (remarks.join(", "), tone)
}

/// An audit that found what must not be.
fn counted(audit: &AuditRecord) -> String {
    let AuditRecord { audit: name, found, expected: [least, most], example } = audit;
    let anomalies = audit.anomalies();
    let expected = match (least == most, most) {
        (true, 0) => String::new(),
        (true, _) => format!(" ({found} rows, {least} expected)"),
        (false, _) => format!(" ({found} rows, {least} to {most} expected)"),
    };
    let example = example.as_ref().map_or_else(String::new, |row| format!(", such as {row}"));
    format!("{name}: {anomalies}{expected}{example}")
}
