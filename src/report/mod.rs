//! Words and tables from a run's record.
//!
//! [`Report::new`] computes everything once; a [`Renderer`] only writes it down. Nothing here prints, reads a clock, or
//! measures: a record from last year gives the same report.

mod answers;
mod assemble;
mod between;
mod capacity;
mod chart;
mod claims;
mod cost;
mod csv;
mod facts;
mod format;
#[cfg(test)]
mod hostile;
mod html;
mod json;
mod junit;
mod markdown;
mod method;
mod summary;
mod table;
mod terminal;
mod thresholds;
mod validity;
mod verification;
mod words;

use std::fmt;

use crate::stats::{
    Anomalies, CollectionGrowth, Comparison, Distribution, FollowedGrowth, OpenLoad, RoundTimes, Spread, Tally,
};

pub use between::{BetweenReport, Side};
pub use capacity::CapacityReport;
pub use chart::Picture;
pub use claims::{ClaimCell, ClaimVerdict, ClaimView};
pub use cost::{COLUMNS, Costs, Inconsistent, METRICS, Metric, MixCost, OperationCost};
pub use csv::{CSV_COLUMNS, CSV_FILE, csv};
pub use facts::{Facts, Machine, Parameter, Server, Verification};
pub use format::{count, counted, time};
pub use html::{HTML_FILE, Html};
pub use json::{JSON_FORMAT, Json};
pub use junit::Junit;
pub use markdown::Markdown;
pub use summary::Summary;
pub use terminal::Terminal;
pub use thresholds::ThresholdView;
pub use verification::VerificationReport;

/// Writes a report in one form.
pub trait Renderer {
    /// Writes it.
    ///
    /// # Errors
    /// When `out` refuses; a `String` never does.
    fn render(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result;
}

/// Everything that a report says. Texts are single lines without control characters, but not escaped for any form.
#[derive(Debug, Clone)]
pub struct Report {
    /// The scenario's name.
    pub scenario: String,
    /// Its question.
    pub title: String,
    /// What the application does.
    pub about: String,
    /// The mix.
    pub mix: String,
    /// Complete rounds.
    pub rounds: u64,
    /// Calls per strategy and round; `None` when they differ.
    pub calls: Option<u64>,
    /// Whether calls had intended times: the times in the report are response times then, else service times.
    pub is_open: bool,
    /// Why the run is not valid, in sentences; empty when it is.
    pub void: Vec<String>,
    /// What to know first of a run that did not come to its end.
    pub status: Option<String>,
    /// The verdict for the mix, in sentences.
    pub verdict: Vec<String>,
    /// Operation, and what is claimed of it, where something is.
    pub claims: Vec<(String, String)>,
    /// Operation, and what was found of it where nothing is claimed.
    pub unclaimed: Vec<(String, String)>,
    /// The claims of the scenario, and what the run says of them.
    pub scenario_claims: Vec<ClaimView>,
    /// The bounds that were asked for, and whether they were kept.
    pub thresholds: Vec<ThresholdView>,
    /// How sure the verdict is.
    pub notes: Vec<String>,
    /// The strategies, the reference first.
    pub strategies: Vec<StrategyView>,
    /// A row per operation that was called, then the mix.
    pub rows: Vec<Row>,
    /// What calls cost the server.
    pub costs: Costs,
    /// How it was measured: name and value.
    pub measured: Vec<(String, String)>,
    /// The command line that measures it again.
    pub command: String,
    /// What a reader should know.
    pub warnings: Vec<String>,
    /// Where the run's files are, when the caller said so.
    pub folder: Option<String>,
    /// Whether the page and the pictures are there, too, when the caller said so.
    pub has_files: bool,
    /// A ratio this close to 1 (0.02 for 2 %) is never called a difference.
    pub noise: f64,
    /// The scenario's file as the user wrote it: many lines, and any characters.
    pub text: String,
    /// The run as data.
    pub facts: Facts,
}

/// A strategy in a report.
#[derive(Debug, Clone)]
pub struct StrategyView {
    /// Its name.
    pub name: String,
    /// One sentence.
    pub about: String,
    /// A negative control, left out of the verdict.
    pub is_unsafe: bool,
    /// The reference a second time, left out of the verdict.
    pub is_control: bool,
    /// Finished calls per second of all workers together; in the open model those that were sent in time.
    pub calls_per_second: Option<f64>,
    /// Whether it kept up with the calls that fell due; `None` in the closed model.
    pub open: Option<OpenLoad>,
    /// What its calls came to.
    pub tally: Tally,
    /// What its audits counted.
    pub audits: Vec<Anomalies>,
    /// What became of its collections.
    pub collections: Vec<CollectionGrowth>,
    /// What became of its followed documents after each of [`FOLLOWED_AT`].
    pub followed: Vec<FollowedGrowth>,
    /// The same after each of [`FOLLOWED_STEPS`] equal parts of the calls, and before them.
    pub growth: Vec<FollowedGrowth>,
    /// Calls per second of each slice, over the rounds.
    pub slice_rates: Vec<Option<Spread>>,
    /// Calls per second of each round.
    pub round_rates: Vec<Option<f64>>,
    /// Median and 99th percentile of the calls of each round.
    pub round_times: Vec<RoundTimes>,
}

/// The shares of the calls after which followed documents are shown.
pub const FOLLOWED_AT: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// The parts of the calls that a picture of growth has points for.
pub const FOLLOWED_STEPS: u32 = 16;

/// An operation, or the mix.
#[derive(Debug, Clone)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Whether it is the mix.
    pub is_mix: bool,
    /// Its share (0 to 1) of the mix; `None` for the mix.
    pub share: Option<f64>,
    /// How far from 1 (0.02 for 2 %) the control's ratio may be by noise alone; `None` without a control.
    pub band: Option<f64>,
    /// The strategy that may be called the fastest, by its place; `None` where none may.
    pub fastest: Option<usize>,
    /// A cell per strategy.
    pub cells: Vec<Measured>,
}

impl Row {
    /// What it is called where there are others beside it.
    pub fn label(&self) -> &str {
        if self.is_mix { "whole mix" } else { &self.name }
    }
}

/// An operation of one strategy over all rounds.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The geometric mean over rounds of the mean time, in nanoseconds.
    pub mean: Option<f64>,
    /// It against the reference; `None` for the reference itself.
    pub comparison: Option<Comparison>,
    /// The times of the successful calls.
    pub distribution: Distribution,
    /// What the calls came to.
    pub tally: Tally,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{LatencyHistogram, StoredHistogram};
    use crate::results::{Arrivals, LoadModel, OpenRecord, OutcomeRecord, RunRecord, Status, TimesRecord};
    use crate::stats::sample;

    fn terminal(record: &RunRecord, width: usize, colour: bool) -> String {
        let mut text = String::new();
        let report = Report::new(record).in_folder("results/blog-comments/2026-01-31T12-00-00Z-7f3a");
        Terminal { width, colour }.render(&report, &mut text).unwrap();
        text
    }

    fn markdown(record: &RunRecord) -> String {
        let mut text = String::new();
        Markdown.render(&Report::new(record), &mut text).unwrap();
        text
    }

    /// A text without its colours.
    fn bare(text: &str) -> String {
        let mut parts = text.split('\u{1b}');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |bare, part| bare + part.split_once('m').map_or("", |(_, rest)| rest))
    }

    #[test]
    fn whatever_can_be_loaded_can_be_reported() {
        for run in sample::edited() {
            assert!(!terminal(run, 80, false).is_empty());
            assert!(!markdown(run).is_empty());
        }
    }

    #[test]
    fn eight_rounds() {
        let run = sample::run(8);
        insta::assert_snapshot!("eight_rounds_100_columns", terminal(&run, 100, false));
        insta::assert_snapshot!("eight_rounds_80_columns", terminal(&run, 80, false));
        insta::assert_snapshot!("eight_rounds_markdown", markdown(&run));
    }

    #[test]
    fn two_rounds() {
        let run = sample::run(2);
        insta::assert_snapshot!("two_rounds_100_columns", terminal(&run, 100, false));
        insta::assert_snapshot!("two_rounds_markdown", markdown(&run));
    }

    #[test]
    fn colours_change_nothing_but_colour() {
        for width in [40, 80, 100, 200] {
            let run = sample::run(8);
            let coloured = terminal(&run, width, true);
            assert!(coloured.contains('\u{1b}'));
            assert_eq!(bare(&coloured), terminal(&run, width, false));
        }
    }

    #[test]
    fn lines_fit_and_do_not_end_in_blanks() {
        for width in [80, 100, 120] {
            for line in terminal(&sample::run(8), width, false).lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
                assert_eq!(line.trim_end(), line);
            }
        }
    }

    /// The sample run as if its calls had fallen due at 500 per second and waited 300 us each.
    fn open_run() -> RunRecord {
        let mut run = sample::run(8);
        run.settings.load = LoadModel::Open { rate: 500.0, arrivals: Arrivals::Poisson };
        run.settings.workers = 64;
        let later = |times: &StoredHistogram, by: u64| {
            let mut made = LatencyHistogram::new(std::time::Duration::from_secs(10));
            for value in times.open().as_hdr().iter_recorded() {
                (0..value.count_at_value()).for_each(|_| made.record(value.value_iterated_to() + by));
            }
            TimesRecord::new(&made)
        };
        for cell in run.rounds.iter_mut().flat_map(|round| &mut round.cells) {
            let mut waits = LatencyHistogram::new(std::time::Duration::from_secs(10));
            for outcome in cell.operations.iter_mut().flat_map(|operation| &mut operation.outcomes) {
                outcome.response = Some(later(&outcome.service, 300_000));
                (0..outcome.count).for_each(|call| waits.record(100_000 + call * 500));
            }
            cell.open = Some(OpenRecord {
                offered: cell.calls + 7,
                seconds: cell.calls as f64 / 500.0,
                waiting: 40,
                skipped: 0,
                never_started: 7,
                pacer_lag: TimesRecord::new(&waits),
                queue_wait: TimesRecord::new(&waits),
            });
        }
        run
    }

    #[test]
    fn an_open_run_speaks_of_response_times_and_of_what_was_offered() {
        let run = open_run();
        let (terminal, markdown) = (terminal(&run, 100, false), markdown(&run));
        for (text, words) in [
            (&terminal, "Response time per call"),
            (&terminal, "offered and achieved"),
            (&markdown, "## Mean response time in relation to embedded"),
            (&markdown, "open model, 500 calls per second of each strategy, poisson arrivals, at most 64 workers"),
            (&markdown, "--rate 500 --arrivals poisson --workers 64"),
            (&markdown, "| embedded | 504 | 482 | 0 | 56 |"),
        ] {
            assert!(text.to_lowercase().contains(&words.to_lowercase()), "{words} is not in {text}");
        }
        assert!(!terminal.contains("Service time per call") && !markdown.contains("Service times of"));
    }

    #[test]
    fn smoke_gives_no_verdict_but_the_table() {
        let mut run = sample::run(1);
        run.settings.preset = "smoke".into();
        let text = terminal(&run, 100, false);
        assert!(text.contains("no verdict: 1 round.") && text.contains("calls per second"), "{text}");
        assert!(!text.contains('*'));
    }

    #[test]
    fn runs_that_did_not_end_say_so_first() {
        let cases = [
            (Status::Interrupted, "This run was interrupted: 7 of 8 rounds complete"),
            (Status::Unfinished, "This run is still going on, or was ended from outside: 7 of 8 rounds complete"),
            (Status::Failed("server\nlost".into()), "This run failed (server lost): 7 of 8 rounds complete"),
        ];
        for (status, wanted) in cases {
            let mut run = sample::run(7);
            (run.status, run.settings.rounds) = (status, 8);
            for text in [terminal(&run, 100, false), markdown(&run)] {
                let place = text.find(wanted).unwrap_or_else(|| panic!("{wanted} is not in {text}"));
                assert!(place < text.find("fastest in mix").or(text.find("no claim")).unwrap());
            }
        }
    }

    #[test]
    fn a_run_without_rounds_renders() {
        let mut run = sample::run(0);
        run.status = Status::Failed("server lost".into());
        run.settings.calls = None;
        insta::assert_snapshot!("no_round_80_columns", terminal(&run, 80, false));
        assert!(markdown(&run).contains("no verdict: no round is complete"));
    }

    #[test]
    fn an_arm_that_fails_is_not_ranked() {
        let mut run = sample::run(8);
        for operation in run.rounds.iter_mut().flat_map(|round| &mut round.cells[1].operations) {
            operation.outcomes.iter_mut().filter(|outcome| outcome.outcome == "failed").for_each(|o| o.count = 40);
        }
        assert!(
            Report::new(&run).void[0].starts_with("linked failed in 4.4 % of its calls, and the error budget is 1.0 %")
        );
        // With a budget for it there is a verdict again.
        run.settings.error_budget = 0.05;
        let report = Report::new(&run);
        assert!(report.verdict[0].starts_with("linked is fastest"), "{:?}", report.verdict);
        run.settings.error_budget = 0.0;
        let report = Report::new(&run);
        assert_eq!(report.verdict, ["no verdict: the run is not valid."]);
        assert!(report.rows.iter().flat_map(|row| &row.cells).all(|cell| report.claimed(cell).is_none()));
    }

    #[test]
    fn an_operation_that_fails_is_not_ranked_where_the_whole_does_well() {
        let mut run = sample::run(8);
        for round in &mut run.rounds {
            let failed = round.cells[1].operations[0].outcomes[1].clone();
            round.cells[1].operations[1].outcomes.push(OutcomeRecord { count: 5, ..failed });
        }
        let report = Report::new(&run);
        let reasons: Vec<&str> = report.unclaimed.iter().map(|(operation, _)| operation.as_str()).collect();
        assert_eq!(reasons, ["read_post", "count"]);
        assert_eq!(report.unclaimed[0].1, "no claim: linked failed in 1.7 % of its calls");
        assert!(report.verdict[0].starts_with("linked is fastest"));
    }

    #[test]
    fn what_the_numbers_warn_of_is_said() {
        let mut run = sample::run(6);
        run.settings.duration = Some(3.0);
        run.rounds[2].cells[2].connections_created = 1;
        run.rounds[2].cells[1].machine.steal = Some(0.3);
        run.rounds.iter_mut().for_each(|round| round.cells[0].machine.load_thread_busy = Some(0.96));
        let warnings = Report::new(&run).warnings.join("\n");
        for wanted in [
            "1 connection was made while calls of bucket_rmw were measured",
            "others in 1 of 18 cells: linked in round 3 (30 %)",
            "96.0 % of its time with embedded: closed-loop throughput is a lower bound",
            "the states differ",
        ] {
            assert!(warnings.contains(wanted), "{wanted} is not in {warnings}");
        }
    }

    #[test]
    fn a_run_that_is_not_valid_says_so_first_and_names_no_winner() {
        let mut run = sample::run(8);
        run.rounds[2].cells[0].connections_created = 2;
        run.rounds[2].cells[1].operations[0].outcomes[0].saturated = 4;
        let report = Report::new(&run);
        assert_eq!(report.verdict, ["no verdict: the run is not valid."]);
        assert!(report.claims.is_empty() && report.unclaimed.is_empty());
        let (shown, text) = (terminal(&run, 100, true), markdown(&run));
        assert!(shown.starts_with("\u{1b}[1m\u{1b}[31mTHIS RUN IS NOT VALID"), "{shown}");
        assert!(text.contains("\n\n> **This run is not valid"), "{text}");
        for text in [bare(&shown).replace('\n', " "), text] {
            for wanted in ["2 connections were made while calls of embedded", "4 calls of linked took longer"] {
                assert!(text.contains(wanted), "{wanted} is not in {text}");
            }
            assert!(!text.contains("fastest"), "{text}");
        }
    }

    #[test]
    fn overloaded_arms_are_named_in_the_verdict_and_not_ranked() {
        let times = |values: u64| crate::results::TimesRecord {
            count: 0,
            saturated: 0,
            sum: 0,
            histogram: crate::record::StoredHistogram::new(&crate::record::LatencyHistogram::new(
                std::time::Duration::from_secs(values),
            )),
        };
        let with = |overloaded: usize| {
            let mut run = sample::run(8);
            run.strategies[2].is_unsafe = false;
            for cell in run.rounds.iter_mut().map(|round| &mut round.cells[overloaded]) {
                let (pacer_lag, queue_wait) = (times(1), times(1));
                let (offered, waiting) = (1_000, 90);
                cell.open = Some(crate::results::OpenRecord {
                    offered,
                    seconds: 1.0,
                    waiting,
                    skipped: 0,
                    never_started: 0,
                    pacer_lag,
                    queue_wait,
                });
            }
            Report::new(&run).verdict.join(" ")
        };
        let verdict = with(2);
        assert!(verdict.starts_with("linked is fastest in mix default"), "{verdict}");
        let wanted = "bucket_rmw was overloaded: it kept up with 91.0 % of the calls that fell due";
        assert!(verdict.contains(wanted), "{verdict}");
        let verdict = with(0);
        assert!(verdict.starts_with("no claim: embedded was overloaded"), "{verdict}");
    }

    #[test]
    fn between_leaders_there_is_a_description_but_no_claim() {
        let mut run = sample::run(8);
        run.strategies[2].is_unsafe = false;
        let verdict = Report::new(&run).verdict.join(" ");
        assert!(
            verdict.starts_with(
                "bucket_rmw is fastest in mix default with 8 calls in flight: per call it takes 52 % less"
            ),
            "{verdict}"
        );
        assert!(verdict.ends_with("bucket_rmw was also below linked's in all 8 rounds."), "{verdict}");
        for (place, round) in run.rounds.iter_mut().enumerate() {
            round.cells[2] = round.cells[1].clone();
            // In some rounds better, in some worse.
            let other = if place % 2 == 0 { 0 } else { 2 };
            round.cells[2].operations[other] = round.cells[0].operations[other].clone();
        }
        let verdict = Report::new(&run).verdict.join(" ");
        assert!(
            verdict.starts_with(
                "In mix default with 8 calls in flight, per call, linked takes 41 % less time than embedded"
            ),
            "{verdict}"
        );
        assert!(verdict.contains("linked was also below bucket_rmw's in 5 of 8 rounds."), "{verdict}");
        assert!(verdict.contains("bucket_rmw against embedded: unstable: only a difference of 55 %"), "{verdict}");
    }

    #[test]
    fn a_reference_that_is_best_is_called_so() {
        let mut run = sample::run(8);
        run.strategies.swap(0, 1);
        run.rounds.iter_mut().for_each(|round| round.cells.swap(0, 1));
        let verdict = Report::new(&run).verdict.join(" ");
        assert!(
            verdict
                .starts_with("linked is fastest in mix default with 8 calls in flight: per call embedded takes 71 % more time than linked (6"),
            "{verdict}"
        );
    }

    #[test]
    fn no_difference_comes_with_what_would_have_shown_and_noise_with_advice() {
        let mut run = sample::run(8);
        run.rounds.iter_mut().for_each(|round| round.cells[1] = round.cells[0].clone());
        let wanted = "no difference found; one of 2.0 % or more would have shown";
        assert_eq!(Report::new(&run).verdict, [format!("In mix default with 8 calls in flight {wanted}.")]);
        assert!(Report::new(&run).unclaimed.iter().all(|(_, reason)| reason == wanted));
        let wild = sample::run(8);
        for place in [0, 3, 5, 6] {
            run.rounds[place].cells[1] = wild.rounds[place].cells[2].clone();
        }
        run.rounds[7].cells[0] = wild.rounds[7].cells[2].clone();
        run.rounds[4].cells[0] = wild.rounds[7].cells[2].clone();
        let verdict = Report::new(&run).verdict.join(" ");
        assert!(
            verdict.contains("unstable: only a difference of") && verdict.contains("use a longer preset"),
            "{verdict}"
        );
    }

    #[test]
    fn an_unsafe_reference_leaves_nothing_to_claim_against() {
        let mut run = sample::run(8);
        run.strategies[2].is_unsafe = false;
        run.strategies[0].is_unsafe = true;
        let report = Report::new(&run);
        assert_eq!(report.verdict, ["no verdict: embedded is the reference, and unsafe; name a safe strategy first."]);
        assert!(report.rows.iter().flat_map(|row| &row.cells).all(|cell| report.claimed(cell).is_none()));
    }

    /// The sample run with a control arm: the reference again, with this much added to its time per round and percent.
    fn with_control(percent: f64) -> RunRecord {
        let mut run = sample::run(8);
        run.strategies[2] = crate::results::StrategyRecord {
            name: "embedded(A/A)".into(),
            about: run.strategies[0].about.clone(),
            is_unsafe: false,
            control: true,
            collections: Vec::new(),
        };
        for round in &mut run.rounds {
            round.cells[2] = round.cells[0].clone();
            for outcome in round.cells[2].operations.iter_mut().flat_map(|operation| &mut operation.outcomes) {
                let mut service = crate::record::LatencyHistogram::new(std::time::Duration::from_secs(10));
                for value in outcome.service.open().as_hdr().iter_recorded() {
                    let slower = value.value_iterated_to() as f64 * (1.0 + percent / 100.0);
                    (0..value.count_at_value()).for_each(|_| service.record(slower as u64));
                }
                outcome.sum = service.sum();
                outcome.service = crate::record::StoredHistogram::new(&service);
            }
        }
        run
    }

    #[test]
    fn a_control_arm_has_a_band_and_no_part_in_the_verdict() {
        let report = Report::new(&with_control(1.0));
        assert!(
            report.verdict[0].starts_with("linked is fastest") && report.verdict.len() == 1,
            "{:?}",
            report.verdict
        );
        assert!(report.notes[1].contains("adjusted for all 3 comparisons"), "{}", report.notes[1]);
        assert!(report.notes[1].contains("the band of embedded(A/A), the reference measured twice (for the mix 1."));
        assert!(report.rows.iter().all(|row| report.claimed(&row.cells[2]).is_none()));
        assert!(!report.command.contains("(A/A)"), "{}", report.command);
        // Noise as great as what was found leaves nothing to claim.
        let report = Report::new(&with_control(150.0));
        assert!(report.claims.is_empty(), "{:?}", report.claims);
        assert!(Report::new(&sample::run(8)).notes[1].contains("no control arm"));
    }

    #[test]
    fn an_unsafe_strategy_is_never_praised() {
        let report = Report::new(&sample::run(8));
        let said = report.verdict.iter().chain(report.claims.iter().map(|(_, claim)| claim));
        said.for_each(|sentence| assert!(!sentence.contains("bucket_rmw"), "{sentence}"));
        assert!(report.rows.iter().all(|row| report.claimed(&row.cells[2]).is_none()));
    }

    #[test]
    fn foreign_text_steers_neither_terminal_nor_markdown() {
        let mut run = sample::run(2);
        let hostile = "\u{1b}[2J|`<script>alert(1)</script>\n# no\r\u{202e}";
        run.scenario.title = hostile.into();
        run.scenario.name = hostile.into();
        run.strategies[1].name = hostile.into();
        run.operations[0] = hostile.into();
        run.warnings = vec![hostile.into()];
        run.status = Status::Failed(hostile.into());
        for text in [terminal(&run, 80, false), markdown(&run)] {
            assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
        }
        let text = markdown(&run);
        let outside: String = text.split("```").step_by(2).collect();
        assert!(!outside.contains("<script") && !outside.contains("\n# no"), "{outside}");
        let columns = |line: &str| line.replace(r"\|", "").matches('|').count();
        let latency: Vec<usize> =
            outside.lines().skip_while(|l| *l != "## Latency").skip(2).take(8).map(columns).collect();
        assert_eq!(latency, [8; 8]);
    }

    #[test]
    fn records_with_missing_parts_render() {
        let mut run = sample::run(2);
        run.rounds[0].cells.pop();
        run.rounds[1].cells[0].operations.pop();
        run.mix.weights.clear();
        run.strategies.truncate(2);
        assert!(!terminal(&run, 80, false).is_empty() && !markdown(&run).is_empty());
        run.strategies.clear();
        assert!(!terminal(&run, 80, false).is_empty() && !markdown(&run).is_empty());
    }
}
