//! The machine that makes the load, looked at around each measured slice. What the system does not tell is left out.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::results::MachineRecord;

/// What `/proc/stat` says of all processors together, in ticks since the machine began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticks {
    all: u64,
    idle: u64,
    steal: u64,
}

impl Ticks {
    /// Reads them; a system without the file has none.
    pub(super) fn read() -> Option<Ticks> {
        Ticks::of(&read(Path::new("/proc/stat"))?)
    }

    /// From the first line: `cpu user nice system idle iowait irq softirq steal guest guest_nice`. Guests' time is in that
    /// of users already.
    fn of(text: &str) -> Option<Ticks> {
        let mut fields = text.lines().next()?.split_whitespace();
        if fields.next() != Some("cpu") {
            return None;
        }
        let fields: Vec<u64> = fields.take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
        let [.., idle, iowait, _, _, steal] = fields[..] else { return None };
        (fields.len() == 8).then(|| Ticks { all: fields.iter().sum(), idle: idle + iowait, steal })
    }
}

fn read(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// The machine over the slices of a cell.
#[derive(Debug, Clone, Default)]
pub(super) struct Machine {
    all: u64,
    idle: u64,
    steal: u64,
    /// Time that each load thread was computing.
    threads: Vec<Duration>,
    /// Seconds of the slices whose threads told.
    seconds: f64,
    load_average: Option<f64>,
}

impl Machine {
    /// Adds a slice of so many seconds: the ticks before and after it, and how long each load thread was computing.
    pub(super) fn add(
        &mut self,
        (before, after): (Option<Ticks>, Option<Ticks>),
        threads: &[Option<Duration>],
        seconds: f64,
    ) {
        if let (Some(before), Some(after)) = (before, after) {
            self.all += after.all.saturating_sub(before.all);
            self.idle += after.idle.saturating_sub(before.idle);
            self.steal += after.steal.saturating_sub(before.steal);
        }
        if let Some(threads) = threads.iter().copied().collect::<Option<Vec<Duration>>>() {
            self.threads.resize(threads.len(), Duration::ZERO);
            self.threads.iter_mut().zip(threads).for_each(|(sum, time)| *sum += time);
            self.seconds += seconds;
        }
    }

    /// Reads the load average, which counts at a cell's end.
    pub(super) fn end(&mut self) {
        self.load_average = read(Path::new("/proc/loadavg")).and_then(|text| load_average(&text));
    }

    /// What is kept.
    pub(super) fn into_record(self) -> MachineRecord {
        let share = |ticks: u64| (self.all > 0).then(|| ticks as f64 / self.all as f64);
        let busiest = self.threads.iter().max().filter(|_| self.seconds > 0.0);
        MachineRecord {
            steal: share(self.steal),
            busy: share(self.all.saturating_sub(self.idle).saturating_sub(self.steal)),
            load_thread_busy: busiest.map(|busiest| busiest.as_secs_f64() / self.seconds),
            load_average: self.load_average,
        }
    }
}

fn load_average(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok()
}

/// The processor time that this thread has used so far.
#[cfg(target_os = "linux")]
pub(super) fn thread_time() -> Option<Duration> {
    nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID.now().ok().map(Duration::from)
}

/// The processor time that this thread has used so far.
#[cfg(not(target_os = "linux"))]
pub(super) fn thread_time() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_counts_and_guests_do_not_count_twice() {
        let text = "cpu  100 5 40 800 30 0 10 15 77 7\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(Ticks::of(text), Some(Ticks { all: 1_000, idle: 830, steal: 15 }));
        for text in ["", "cpu 1 2 3", "cpu a b c d e f g h", "intr 1 2 3 4 5 6 7 8", "cpu0 1 2 3 4 5 6 7 8"] {
            assert_eq!(Ticks::of(text), None, "{text}");
        }
    }

    #[test]
    fn slices_add_up_to_shares() {
        let ticks = |all, idle, steal| Some(Ticks { all, idle, steal });
        let time = |millis| Some(Duration::from_millis(millis));
        let mut machine = Machine::default();
        machine.add((ticks(0, 0, 0), ticks(100, 50, 10)), &[time(40), time(20)], 0.05);
        // What happens between the slices does not count.
        machine.add((ticks(900, 90, 90), ticks(1_000, 110, 100)), &[time(10), time(40)], 0.05);
        machine.add((None, ticks(5_000, 0, 0)), &[None, time(50)], 1.0);
        let made = machine.into_record();
        assert_eq!((made.steal, made.busy, made.load_average), (Some(0.1), Some(0.55), None));
        assert!((made.load_thread_busy.unwrap() - 0.6).abs() < 1e-12, "{made:?}");
        assert_eq!(Machine::default().into_record(), MachineRecord::default());
        assert_eq!(load_average("0.52 0.6 0.7 1/200 77\n"), Some(0.52));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_computes_uses_time() {
        let before = thread_time().unwrap();
        let mut sum = 0_u64;
        while thread_time().unwrap() - before < Duration::from_millis(2) {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(sum > 0 && Ticks::read().is_some());
    }
}
