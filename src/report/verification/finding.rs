//! What a verification found wrong: problems, audits that fail and anomalies that snapshots saw, each once.

use crate::report::document::{
    Cell, Column, Forms, Kind, Listing, Measure, Row, Section, Table, column, count, counted, listed, plain, visible,
};
use crate::results::AuditRecord;
use crate::results::verification::{
    AnomalyCounts, LiveRecord, PhaseFindings, StrategyFindings, Verification, VerifyPhase,
};

use super::PHASES;

/// A problem, or the audits of a phase that found anomalies.
struct FoundProblem {
    strategy: String,
    phase: &'static str,
    title: String,
    count: u64,
    call: Option<u64>,
    lines: Vec<String>,
}

/// What is wrong, with the first case of each kind; `None` for nothing.
pub(super) fn findings(verification: &Verification) -> Option<Section> {
    let all: Vec<FoundProblem> =
        verification.strategies.iter().flat_map(|strategy| of_strategy(verification, strategy)).collect();
    let code = groups(verification, &all).iter().map(|group| listing(verification, group)).collect();
    let measures = [
        column("phase", "", "`sequential`, `ordered`, `unordered` or `pairs`.").text(|one: &FoundProblem| one.phase),
        column("finding", "", "What is wrong.").text(|one| Cell::text(&one.title)),
        Measure::data("count", "How many times.", |one| one.count),
        Measure::data("call", "The first call that shows it; `null` for concurrent calls.", |one| one.call),
        Measure::data("details", "The first case.", |one: &FoundProblem| one.lines.clone()).of(Kind::Texts),
    ];
    let rows = all.into_iter().map(|one| (Row::new(one.strategy.as_str()), one));
    let table = Table::new("findings", "Findings", Column::strategy(), &measures, rows).only(Forms::JSON);
    Section { code, ..Section::new("findings", "Findings") }.table(table).with_rows()
}

/// What is wrong with strategies that should be right.
pub(super) fn findings_of_safe(verification: &Verification) -> Vec<Listing> {
    let safe = verification.strategies.iter().filter(|strategy| !strategy.is_unsafe);
    let all: Vec<FoundProblem> = safe.flat_map(|strategy| of_strategy(verification, strategy)).collect();
    groups(verification, &all).iter().map(|group| listing(verification, group)).collect()
}

/// Groups the same findings of several strategies, so that each is shown once: equal ones, and those that all safe strategies
/// share, whose particulars may differ.
fn groups<'f>(verification: &Verification, all: &'f [FoundProblem]) -> Vec<Vec<&'f FoundProblem>> {
    let safe: Vec<String> =
        verification.strategies.iter().filter(|one| !one.is_unsafe).map(|one| plain(&one.name)).collect();
    let is_alike = |one: &FoundProblem, other: &FoundProblem| one.phase == other.phase && one.title == other.title;
    let is_common = |one: &FoundProblem| {
        let has = |name: &String| all.iter().any(|other| other.strategy == *name && is_alike(one, other));
        safe.len() > 1 && safe.iter().all(has)
    };
    let mut groups: Vec<Vec<&FoundProblem>> = Vec::new();
    for one in all {
        let belongs = |group: &Vec<&FoundProblem>| {
            is_alike(group[0], one) && (group[0].own_lines() == one.own_lines() || is_common(one))
        };
        match groups.iter_mut().find(|group| belongs(group)) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

/// Shows a group of findings by its first one.
fn listing(verification: &Verification, group: &[&FoundProblem]) -> Listing {
    let first = group[0];
    let names: Vec<String> = group.iter().map(|one| one.strategy.clone()).collect();
    let is_all = names.len() > 1 && names.len() == verification.strategies.len();
    let names = if is_all { "all strategies".to_owned() } else { listed(&names) };
    let times = if first.count > 1 { format!(" ({} times)", count(first.count)) } else { String::new() };
    let is_example = group.iter().any(|one| one.own_lines() != first.own_lines());
    let example = is_example.then(|| format!("for example in {}", first.strategy));
    Listing {
        lead: format!("{names}, {}: {}{times}", first.phase, first.title),
        language: "text",
        lines: example.into_iter().chain(first.lines.iter().cloned()).collect(),
    }
}

impl FoundProblem {
    /// The lines without the command that repeats the call, which names the strategy.
    fn own_lines(&self) -> &[String] {
        let own = self.lines.iter().position(|line| line.starts_with(REPEAT)).unwrap_or(self.lines.len());
        &self.lines[..own]
    }
}

/// How the line with the command that repeats a call starts.
const REPEAT: &str = "repeat    ";

fn of_strategy(verification: &Verification, strategy: &StrategyFindings) -> Vec<FoundProblem> {
    let finding = |phase: &PhaseFindings, title: String, lines: Vec<String>| FoundProblem {
        strategy: plain(&strategy.name),
        phase: PHASES.iter().find(|(which, ..)| *which == phase.phase).map_or("", |(_, name, _)| name),
        title: plain(&title),
        count: 1,
        call: None,
        lines: lines.iter().map(|line| visible(line)).collect(),
    };
    let of_phase = |phase: &PhaseFindings| {
        let problems = phase.problems.iter().map(|problem| {
            // What concurrent calls return cannot be repeated sequentially.
            let call = problem.call.filter(|_| phase.phase == VerifyPhase::Sequential);
            let repeat = call.filter(|_| !strategy.is_unsafe).map(|call| repeat(verification, strategy, call));
            let lines = problem.lines.iter().cloned().chain(repeat).collect();
            FoundProblem { count: problem.count, call, ..finding(phase, problem.title.clone(), lines) }
        });
        let failing: Vec<&AuditRecord> = phase.audits.iter().filter(|audit| audit.anomalies() > 0).collect();
        let audits = (!failing.is_empty()).then(|| {
            let title = match failing.as_slice() {
                [only] => format!("audit {} fails", only.audit),
                several => format!("audits {} fail", listed(several.iter().map(|audit| &audit.audit))),
            };
            let lines = failing.into_iter().flat_map(|audit| audited(verification, phase.phase, audit));
            finding(phase, title, lines.collect())
        });
        // What is still there at the end is a finding already.
        let lasts =
            |live: &&LiveRecord| phase.audits.iter().any(|audit| audit.audit == live.audit && audit.anomalies() > 0);
        let is_new = |live: &&LiveRecord| phase.phase == VerifyPhase::Unordered && live.fails() && !lasts(live);
        let live = strategy.live.iter().filter(is_new).map(|live| {
            if let Some(reason) = &live.unread {
                let title = format!("audit {} could not be read in a snapshot while calls ran", live.audit);
                return finding(phase, title, vec![plain(reason)]);
            }
            let AnomalyCounts { reads, found, max } = live.snapshot;
            let (found, max) = (counted(found, "snapshot"), counted(max, "row"));
            let seen = format!("seen      in {found} of {}, at most {max} at once", count(reads));
            let example = live.example.iter().map(|row| format!("such as   {row}"));
            let title = format!("audit {} finds anomalies while calls run", live.audit);
            finding(phase, title, std::iter::once(seen).chain(example).collect())
        });
        problems.chain(audits).chain(live).collect::<Vec<_>>()
    };
    strategy.phases.iter().flat_map(of_phase).collect()
}

fn repeat(verification: &Verification, strategy: &StrategyFindings, call: u64) -> String {
    let Verification { command, baseline, seed, .. } = verification;
    let strategies =
        if strategy.name == *baseline { baseline.clone() } else { format!("{baseline},{}", strategy.name) };
    format!("{REPEAT}{command} --strategies {strategies} --seed {seed} --call {call}")
}

/// An audit that found anomalies.
fn audited(verification: &Verification, phase: VerifyPhase, audit: &AuditRecord) -> Vec<String> {
    let AuditRecord { audit: name, found, expected: [least, most], example } = audit;
    let expected = match (least == most, most) {
        (true, 0) => String::new(),
        (true, _) => format!(" ({found} rows, {least} expected)"),
        (false, _) => format!(" ({found} rows, {least} to {most} expected)"),
    };
    let example = example.as_ref().map_or_else(String::new, |row| format!(", such as {row}"));
    let doubt = fails_everywhere(verification, phase, name)
        .then(|| format!("{name} fails in every strategy: all have the same mistake, or the audit is wrong"));
    std::iter::once(format!("{name}: {}{expected}{example}", audit.anomalies())).chain(doubt).collect()
}

/// Whether several safe strategies have this audit, and it fails in all of them.
fn fails_everywhere(verification: &Verification, phase: VerifyPhase, audit: &str) -> bool {
    let safe = verification.strategies.iter().filter(|strategy| !strategy.is_unsafe);
    let phases = safe.flat_map(|strategy| strategy.phases.iter().filter(|found| found.phase == phase));
    let records: Vec<_> = phases.flat_map(|found| found.audits.iter().filter(|record| record.audit == audit)).collect();
    records.len() > 1 && records.iter().all(|record| record.anomalies() > 0)
}
