//! The anomalies that audits found in a run.

use crate::results::RunRecord;

use super::view::cells;

/// One audit of one strategy, over all its cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anomalies {
    /// The audit.
    pub audit: String,
    /// Cells that it counted.
    pub cells: u64,
    /// Cells in which it found anomalies.
    pub wrong: u64,
    /// All anomalies counted.
    pub total: u64,
}

/// An entry per audit of a strategy, in the order of the scenario.
pub fn anomalies(record: &RunRecord, strategy: usize) -> Vec<Anomalies> {
    let mut all: Vec<Anomalies> = Vec::new();
    for audit in cells(record, strategy).flat_map(|cell| &cell.audits) {
        let count = audit.anomalies();
        let place = all.iter().position(|known| known.audit == audit.audit).unwrap_or_else(|| {
            all.push(Anomalies { audit: audit.audit.clone(), cells: 0, wrong: 0, total: 0 });
            all.len() - 1
        });
        all[place].cells += 1;
        all[place].wrong += u64::from(count > 0);
        all[place].total += count;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::results::AuditRecord;

    #[test]
    fn cells_add_up() {
        let mut run = sample::run(3);
        for (round, found) in [(0, 0), (1, 4), (2, 5)] {
            let audit = AuditRecord { audit: "lost".into(), found, expected: [0, 0], example: None };
            run.rounds[round].cells[1].audits = vec![audit];
        }
        assert_eq!(anomalies(&run, 0), []);
        assert_eq!(anomalies(&run, 1), [Anomalies { audit: "lost".into(), cells: 3, wrong: 2, total: 9 }]);
    }
}
