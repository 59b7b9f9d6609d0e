//! The machine that makes the load, sampled around each slice. What the system does not report is left out.

use std::fs;
use std::time::Duration;

use crate::results::MachineRecord;

/// The CPU time of all processors together in ticks since boot, from `/proc/stat`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CpuTicks {
    all: u64,
    idle: u64,
    steal: u64,
}

impl CpuTicks {
    /// Reads the file; `None` on a system without it.
    pub(super) fn read() -> Option<CpuTicks> {
        CpuTicks::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// Parses the first line: `cpu user nice system idle iowait irq softirq steal guest guest_nice`. Guest time is part of
    /// user time.
    fn parse(text: &str) -> Option<CpuTicks> {
        let mut fields = text.lines().next()?.split_whitespace();
        if fields.next() != Some("cpu") {
            return None;
        }
        let fields: Vec<u64> = fields.take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
        let [.., idle, iowait, _, _, steal] = fields[..] else { return None };
        (fields.len() == 8).then(|| CpuTicks { all: fields.iter().sum(), idle: idle + iowait, steal })
    }
}

/// Samples the machine over the slices of a cell.
#[derive(Debug, Clone, Default)]
pub(super) struct MachineSampler {
    /// Those of all slices.
    ticks: CpuTicks,
    /// CPU time of each load thread.
    threads: Vec<Duration>,
    /// Seconds of the slices with known CPU times.
    seconds: f64,
}

impl MachineSampler {
    /// Adds a slice: the ticks before and after it, the CPU time of each load thread, and its length.
    pub(super) fn add(
        &mut self,
        ticks: Option<(CpuTicks, CpuTicks)>,
        threads: impl Iterator<Item = Option<Duration>>,
        seconds: f64,
    ) {
        if let Some((before, after)) = ticks {
            self.ticks.all += after.all.saturating_sub(before.all);
            self.ticks.idle += after.idle.saturating_sub(before.idle);
            self.ticks.steal += after.steal.saturating_sub(before.steal);
        }
        if let Some(threads) = threads.collect::<Option<Vec<Duration>>>() {
            self.threads.resize(threads.len(), Duration::ZERO);
            self.threads.iter_mut().zip(threads).for_each(|(sum, time)| *sum += time);
            self.seconds += seconds;
        }
    }

    /// What is kept of it, with the load average at the end of the cell.
    pub(super) fn into_record(self) -> MachineRecord {
        let CpuTicks { all, idle, steal } = self.ticks;
        let share = |ticks: u64| (all > 0).then(|| ticks as f64 / all as f64);
        let busiest = self.threads.iter().max().filter(|_| self.seconds > 0.0);
        MachineRecord {
            steal: share(steal),
            busy: share(all.saturating_sub(idle).saturating_sub(steal)),
            load_thread_busy: busiest.map(|busiest| busiest.as_secs_f64() / self.seconds),
            load_average: fs::read_to_string("/proc/loadavg").ok().and_then(|text| load_average(&text)),
        }
    }
}

fn load_average(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_line_counts_and_guest_time_only_once() {
        let text = "cpu  100 5 40 800 30 0 10 15 77 7\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(CpuTicks::parse(text), Some(CpuTicks { all: 1_000, idle: 830, steal: 15 }));
        for text in ["", "cpu 1 2 3", "cpu a b c d e f g h", "intr 1 2 3 4 5 6 7 8", "cpu0 1 2 3 4 5 6 7 8"] {
            assert_eq!(CpuTicks::parse(text), None, "{text}");
        }
    }

    #[test]
    fn slices_add_up_to_shares() {
        let ticks = |all, idle, steal| Some(CpuTicks { all, idle, steal });
        let time = |millis| Some(Duration::from_millis(millis));
        let mut machine = MachineSampler::default();
        machine.add(ticks(0, 0, 0).zip(ticks(100, 50, 10)), [time(40), time(20)].into_iter(), 0.05);
        // Time between the slices does not count.
        machine.add(ticks(900, 90, 90).zip(ticks(1_000, 110, 100)), [time(10), time(40)].into_iter(), 0.05);
        machine.add(None, [None, time(50)].into_iter(), 1.0);
        let record = machine.into_record();
        assert_eq!((record.steal, record.busy), (Some(0.1), Some(0.55)));
        assert!((record.load_thread_busy.unwrap() - 0.6).abs() < 1e-12, "{record:?}");
        let idle = MachineSampler::default().into_record();
        assert_eq!(MachineRecord { load_average: None, ..idle }, MachineRecord::default());
        assert_eq!(load_average("0.52 0.6 0.7 1/200 77\n"), Some(0.52));
    }

    #[test]
    fn processors_have_ticks() {
        assert!(CpuTicks::read().is_some());
    }
}
