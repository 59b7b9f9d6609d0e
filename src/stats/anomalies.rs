//! The anomalies that audits found in a run.

use crate::results::RunRecord;

use super::view::{cells, grouped};

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
    let audits = cells(record, strategy).flat_map(|cell| &cell.audits);
    let of_audit = |(audit, counts): (&String, Vec<u64>)| Anomalies {
        audit: audit.clone(),
        cells: counts.len() as u64,
        wrong: counts.iter().filter(|count| **count > 0).count() as u64,
        total: counts.iter().sum(),
    };
    grouped(audits.map(|audit| (&audit.audit, audit.anomalies()))).into_iter().map(of_audit).collect()
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
