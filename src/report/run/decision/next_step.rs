//! What to do after a run: what would decide it, or what tells more.

use crate::report::document::format::{counted, marked, plain};
use crate::report::run::sections::method::quoted;
use crate::report::run::{PartEvaluations, validity};
use crate::results::{CellRecord, Part, Preset, Reason, RunRecord, in_percent};
use crate::stats::{MINIMUM_ROUNDS, MixEstimate, ShareFlip, effect};

use super::answer::Judged;
use super::{flips, scale};

/// What to do after a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NextStep {
    /// Find out why the run is invalid.
    SelfTest,
    /// Measure the same with another preset.
    Preset(Preset),
    /// Measure the same with an option and its value; a flag has an empty one.
    Option(&'static str, String),
    /// Measure shares of an operation, as `sweep --vary` takes them. `at_flip`: where an estimate says that the answer changes.
    Sweep {
        /// `share:read_post=10%,12%`
        vary: String,
        /// See above.
        at_flip: bool,
    },
    /// Look at what the strategies do.
    Explain,
    /// Read the whole report.
    Report,
}

impl NextStep {
    /// After a run that is valid or not. `others` are runs of other mixes.
    pub(crate) fn of(parts: &PartEvaluations, others: &[RunRecord], is_invalid: bool) -> NextStep {
        let preset = parts.main_record().or_else(|| parts.record(Part::Own)).map(|record| record.settings.preset);
        let judged = Judged::of(parts);
        let judged = judged.as_ref();
        let settling = validity::settling_time(parts);
        let undecided = || judged.and_then(Remedy::of).and_then(|remedy| remedy.step);
        match preset {
            _ if is_invalid => NextStep::SelfTest,
            Some(Preset::Smoke) => NextStep::Preset(Preset::Quick),
            _ if settling.is_some() => NextStep::Option("duration", settling.unwrap_or_default()),
            _ if judged.is_none_or(|judged| judged.answer.winner().is_some()) => {
                NextStep::after_answer(parts, judged, others)
            }
            _ => undecided().unwrap_or_else(|| NextStep::after_answer(parts, judged, others)),
        }
    }

    /// Where no longer run is needed.
    fn after_answer(parts: &PartEvaluations, judged: Option<&Judged>, others: &[RunRecord]) -> NextStep {
        let own = parts.record(Part::Own);
        match own.zip(judged).and_then(|(own, judged)| sweep(own, judged, others)) {
            Some(sweep) => sweep,
            None if own.is_some() => NextStep::Explain,
            None => NextStep::Report,
        }
    }

    /// What it is good for, and the command, with names between backticks. `record` is the whole run.
    pub(crate) fn sentence(&self, record: &RunRecord, parts: &PartEvaluations) -> String {
        let name = record.scenario.opened();
        let command = |command: &str, options: &[&str]| {
            let subject = record.subject().into_iter().flat_map(|(name, value)| [format!("--{name}"), value]);
            let words = ["docshape", command, name].map(str::to_owned).into_iter().chain(subject);
            let words = words.chain(options.iter().map(|option| (*option).to_owned()));
            marked(&words.map(|word| quoted(&plain(&word))).collect::<Vec<_>>().join(" "))
        };
        match self {
            NextStep::SelfTest => "Find out what disturbs this machine: `docshape selftest`.".to_owned(),
            NextStep::Preset(Preset::Quick) => format!("Measure it: {}.", command("run", &[])),
            NextStep::Preset(preset) => {
                format!("Measure more rounds: {}.", command("run", &["--preset", &preset.to_string()]))
            }
            NextStep::Option(name, value) => {
                let name = format!("--{name}");
                let options: Vec<&str> = [name.as_str(), value].into_iter().filter(|word| !word.is_empty()).collect();
                format!("Measure again: {}.", command("run", &options))
            }
            NextStep::Sweep { vary, at_flip } => {
                let what = if *at_flip { "Measure around the flip" } else { "Measure other shares" };
                format!("{what}: {}.", command("sweep", &["--vary", vary]))
            }
            NextStep::Explain | NextStep::Report => {
                let parameter = record.parameters.iter().find_map(|(own, value)| Some((own, value.as_i64()?)));
                let own = parameter.map(|(own, value)| {
                    let set = format!("{own}={}", value.saturating_mul(2));
                    format!(
                        "Try your own numbers: {} (here {value}; {} lists all).",
                        command("run", &["--set", &set]),
                        marked(&format!("docshape show {}", quoted(&plain(name))))
                    )
                });
                let own = own.unwrap_or_else(|| {
                    format!("Measure it on your own server: {}.", command("run", &["--uri", "URI"]))
                });
                let beyond = is_in_memory(record, parts).then(|| {
                    format!(
                        " All data were in the cache: to measure beyond it, load more data and run {}.",
                        command("sweep", &["--vary", "cache=0.5,4"])
                    )
                });
                own + &beyond.unwrap_or_default()
            }
        }
    }
}

/// Whether calls read nothing from disk: data and indexes of every strategy are a small part of a cache of its own.
fn is_in_memory(record: &RunRecord, parts: &PartEvaluations) -> bool {
    let (documents, size) = scale::data(parts).unwrap_or_default();
    record.server.embedded
        && documents > 0.0
        && record.server.cache_bytes.is_some_and(|cache| size < 0.1 * cache as f64)
}

/// The sweep that a run leads to: across the nearest flip, or towards a measured one, or where none can be estimated, of the
/// operation that speaks most for a beaten strategy.
fn sweep(own: &RunRecord, judged: &Judged, others: &[RunRecord]) -> Option<NextStep> {
    let across = |ShareFlip { operation, measured, share }: ShareFlip| {
        let shares = [measured, share, share + share - measured];
        Some(NextStep::Sweep { vary: vary(own.operations.get(operation)?, &shares), at_flip: true })
    };
    if judged.answer.beaten().is_empty() {
        return across(flips::end_of_tie(judged)?.1);
    }
    let flips = flips::shares(judged);
    if let Some((_, nearest)) = flips.iter().flatten().next() {
        return across(*nearest);
    }
    if let Some((operation, here, there)) = flips::towards_flip(judged, others) {
        return Some(NextStep::Sweep {
            vary: vary(operation, &[here, f64::midpoint(here, there), there]),
            at_flip: true,
        });
    }
    let operation = flips::disputed(judged).filter(|_| flips.is_none())?;
    let measured = MixEstimate::new(own).share(operation);
    let shares = [measured / 2.0, measured, measured * 2.0];
    Some(NextStep::Sweep { vary: vary(own.operations.get(operation)?, &shares), at_flip: false })
}

/// Shares of an operation as `sweep --vary` takes them.
fn vary(operation: &str, shares: &[f64]) -> String {
    // Three digits.
    let percent = |share: &f64| {
        let share = share.clamp(1e-5, 0.99);
        let digits = 10_f64.powf(2.0 - share.log10().floor());
        in_percent((share * digits).round() / digits)
    };
    let mut shares: Vec<f64> = shares.iter().map(percent).collect();
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    let shares: Vec<String> = shares.iter().map(|share| format!("{share}%")).collect();
    format!("share:{operation}={}", shares.join(","))
}

/// What would decide an undecided run.
pub(super) struct Remedy {
    /// What is wrong, and what to try.
    pub(super) text: String,
    step: Option<NextStep>,
}

impl Remedy {
    /// Where a comparison of the best strategy shows nothing; `None` where all would have shown a difference.
    pub(super) fn of(judged: &Judged) -> Option<Remedy> {
        let open = judged.answer.tied().find(|one| effect(one.verdict).is_none())?;
        let record = judged.parts.main_record()?;
        let name = |place: usize| judged.marked(place);
        let (text, step) = match open.verdict.reason() {
            None | Some(Reason::Unstable { .. } | Reason::RoundsDisagree) => {
                let next = longer(record.settings.preset);
                let try_it = next.map_or_else(
                    || "more --rounds, or a machine that does nothing else".to_owned(),
                    |preset| format!("--preset {preset} (about {})", counted(minutes(judged, preset), "minute")),
                );
                (format!("Rounds differ too much: try {try_it}"), next.map(NextStep::Preset))
            }
            Some(Reason::FewInFlight { strategy, .. }) => {
                let clients = record.settings.clients * 4;
                let text = format!("The clients of {} were mostly idle: try --clients {clients}", name(strategy));
                (text, Some(NextStep::Option("clients", clients.to_string())))
            }
            Some(Reason::WriteBack { .. } | Reason::DirtyCache { .. }) => (
                "The strategies disturbed each other in one cache: try --isolate".to_owned(),
                Some(NextStep::Option("isolate", String::new())),
            ),
            Some(Reason::Failures { strategy, .. }) => (format!("Too many calls of {} failed", name(strategy)), None),
            Some(Reason::NoSuccess { strategy }) => {
                (format!("{} had a round without a successful call", name(strategy)), None)
            }
            Some(Reason::TooFewRounds(_)) => {
                let rounds = MINIMUM_ROUNDS.to_string();
                (format!("Try --rounds {rounds}"), Some(NextStep::Option("rounds", rounds)))
            }
            Some(_) => return None,
        };
        Some(Remedy { text, step })
    }
}
/// The preset to try after one.
fn longer(preset: Preset) -> Option<Preset> {
    Preset::ALL.into_iter().skip_while(|one| *one != preset).nth(1)
}

/// About how long another preset measures, in minutes: what loading took in each round, the windows of that preset, and the calls
/// by themselves, of which it makes more.
fn minutes(judged: &Judged, preset: Preset) -> u64 {
    let of = |record: &RunRecord| {
        let cells = record.rounds.iter().flat_map(|round| &round.cells);
        let [had, next] = [record.settings.preset, preset].map(Preset::length);
        let window = |cell: &CellRecord| match record.part {
            Some(Part::Own) => cell.seconds * next.own_calls as f64 / had.own_calls as f64,
            _ => next.warmup_seconds + next.seconds,
        };
        let sum: f64 = cells.map(|cell| cell.load_seconds + window(cell)).sum();
        sum / record.rounds.len().max(1) as f64 * next.rounds as f64
    };
    let seconds: f64 = judged.parts.all_records().values().map(of).sum();
    (seconds / 60.0).ceil().max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::sample;

    #[test]
    fn shares_have_three_digits() {
        assert_eq!(vary("refresh", &[0.001_01, 0.000_666, 0.000_322]), "share:refresh=0.0322%,0.0666%,0.101%");
        assert_eq!(vary("read", &[0.1, 0.1212, 2.0 * 0.1212 - 0.1]), "share:read=10%,12.1%,14.2%");
        assert_eq!(vary("read", &[0.8, 1.3, 1.6]), "share:read=80%,99%");
    }

    #[test]
    fn data_that_fit_into_a_part_of_the_cache_are_said_to() {
        let next = |cache: u64, embedded: bool| {
            let mut run = sample::whole(&sample::run(8));
            (run.server.cache_bytes, run.server.embedded) = (Some(cache), embedded);
            NextStep::Explain.sentence(&run, &PartEvaluations::new(&run))
        };
        let said = " and run `docshape sweep blog-comments --vary cache=0.5,4`.";
        assert!(next(1 << 40, true).ends_with(said), "{}", next(1 << 40, true));
        assert!(!next(1, true).contains("cache") && !next(1 << 40, false).contains("cache"));
    }

    #[test]
    fn a_run_leads_to_what_it_lacks() {
        let of = |rounds: u64, preset: Preset, is_invalid: bool| {
            let mut run = sample::whole(&sample::run(rounds));
            run.settings.preset = preset;
            run.parts.values_mut().flatten().for_each(|round| round.cells.truncate(3));
            run.mix.name = "writing".into();
            run.settings.write_concern = if rounds == 1 { "1" } else { "majority" }.into();
            let parts = PartEvaluations::new(&run);
            NextStep::of(&parts, &[], is_invalid).sentence(&run, &parts)
        };
        assert_eq!(of(8, Preset::Quick, true), "Find out what disturbs this machine: `docshape selftest`.");
        assert_eq!(
            of(1, Preset::Smoke, false),
            "Measure it: `docshape run blog-comments --mix writing --write-concern 1`."
        );
        assert_eq!(
            of(2, Preset::Quick, false),
            "Measure again: `docshape run blog-comments --mix writing --rounds 6`."
        );
        let own = of(8, Preset::Quick, false);
        assert!(
            own.starts_with("Try your own numbers: `docshape run blog-comments --mix writing --set posts=400`"),
            "{own}"
        );
    }
}
