//! Decisions about records whose causes are known, and their numbers recomputed from `run.json`.

use std::time::Duration;

use serde_json::Value;

use crate::record::{CallOutcome, LatencyHistogram, Part, StoredHistogram};
use crate::report::Report;
use crate::results::{OperationRecord, OutcomeRecord, RunRecord};
use crate::stats::sample;

use super::*;

fn decision(record: &RunRecord) -> Decision {
    Report::new(record).headline.decision.unwrap()
}

/// See [`run_of`].
fn run(change: impl Fn(Part, usize, &mut crate::results::CellRecord)) -> RunRecord {
    run_of(2, change)
}

/// Eight rounds of `embedded`, `linked` and as many more, in which every part takes the same time but for what `change` does
/// to a cell: it gets the part, the strategy and the round.
fn run_of(strategies: usize, change: impl Fn(Part, usize, &mut crate::results::CellRecord)) -> RunRecord {
    let mut run = sample::whole(&sample::run(8));
    run.strategies.truncate(strategies);
    run.strategies.iter_mut().for_each(|strategy| strategy.is_unsafe = false);
    for (part, rounds) in &mut run.parts {
        for round in rounds {
            round.cells.truncate(strategies);
            let noise = 1.0 + (round.index * 7 % 5) as f64 * 0.004;
            for (strategy, cell) in round.cells.iter_mut().enumerate() {
                let calls = cell.calls;
                cell.operations.iter_mut().for_each(|operation| {
                    operation.retries.clear();
                    operation.errors.clear();
                    let time = if *part == Part::Own { 400_000.0 } else { 800_000.0 };
                    set_time(operation, time * noise * (1.0 + strategy as f64 * 0.001));
                });
                cell.seconds = calls as f64 * 0.000_8 * noise / 7.0;
                cell.counters.remove("keys_examined");
                change(*part, strategy, cell);
            }
        }
    }
    run
}

/// All calls of an operation are answered in about this time, in nanoseconds.
pub(super) fn set_time(operation: &mut OperationRecord, time: f64) {
    let mut service = LatencyHistogram::new(Duration::from_secs(10));
    (0..operation.calls).for_each(|_| service.record(time as u64));
    let (saturated, sum) = (service.saturated(), service.sum());
    let has_response = operation.outcomes.first().is_some_and(|outcome| outcome.response.is_some());
    let service = StoredHistogram::new(&service);
    let response = crate::results::TimesRecord { count: operation.calls, saturated, sum, histogram: service.clone() };
    operation.outcomes = vec![OutcomeRecord {
        outcome: CallOutcome::Ok,
        count: operation.calls,
        saturated,
        sum,
        service,
        response: has_response.then_some(response),
    }];
}

/// An operation by itself examines so many index entries per call, and finds one document.
fn examine(cell: &mut crate::results::CellRecord, operation: usize, entries: f64) {
    let (counters, calls) = (&mut cell.own_counters[operation], cell.operations[operation].calls as f64);
    let used = [
        ("keys_examined", entries),
        ("documents_examined", 1.0),
        ("documents_returned", 1.0),
        ("documents_updated", 0.0),
        ("documents_deleted", 0.0),
    ];
    counters.extend(used.map(|(counter, per_call)| (counter.to_owned(), per_call * calls)));
}

/// `embedded` takes three times as long in the mix.
fn slow_mix(part: Part, strategy: usize, cell: &mut crate::results::CellRecord) {
    if part != Part::Own && strategy == 0 {
        cell.operations.iter_mut().for_each(|operation| set_time(operation, 2_400_000.0));
        cell.seconds *= 3.0;
    }
}

#[test]
fn equal_strategies_have_no_winner_and_no_reason() {
    let decision = decision(&run(|_, _, _| {}));
    assert_eq!(
        decision.answer,
        "Between embedded and linked no difference found (2.0 % would have shown). embedded needs 99 % less index."
    );
    assert_eq!(decision.winner, None);
    assert_eq!(decision.why.as_deref(), Some("No difference is found in all operations alone."));
    assert_eq!(decision.flips, ["no realistic share of a single operation makes a difference of 2.0 % (estimated)"]);
    assert!(decision.sure.unwrap().starts_with("High: a difference below 2.0 % may exist. Calls/s of 7 clients: "));
    assert_eq!(
        decision.next,
        "Try your own numbers: `docshape run blog-comments --set posts=400` (here 200; `docshape show blog-comments` \
         lists all)."
    );
}

#[test]
fn one_dear_operation_is_named_with_its_share() {
    let run = run(|part, strategy, cell| {
        slow_mix(part, strategy, cell);
        if part == Part::Own {
            *cell.own_counters[1].get_mut("cpu_us").unwrap() *= if strategy == 0 { 9.0 } else { 1.0 };
            examine(cell, 1, if strategy == 0 { 31.0 } else { 1.0 });
        }
    });
    let decision = decision(&run);
    assert_eq!(decision.answer, "Choose linked: 3.00x the calls/s of embedded (one client: no difference found).");
    let why = decision.why.unwrap();
    assert_eq!(why, "`embedded`, 3.00x: `read_post` (33 % of calls) walks 31 entries to find 1 (`linked`: 1 entry).");
}

#[test]
fn time_without_cpu_is_own_time() {
    let run = run(|part, strategy, cell| {
        slow_mix(part, strategy, cell);
        if part == Part::Own && strategy == 0 {
            set_time(&mut cell.operations[0], 1_900_000.0);
            cell.operations[0].round_trips *= 5;
        }
    });
    let why = decision(&run).why.unwrap();
    assert_eq!(why, "`embedded`, 3.00x: `add_comment` (65 % of calls) needs 5 commands instead of 1.");
}

#[test]
fn a_lock_is_waiting_without_evidence() {
    let why = decision(&run(slow_mix)).why.unwrap();
    assert!(
        why.starts_with("`embedded`, 3.00x: under load, calls take 5.95x as long as alone (`linked`: 2.00x)"),
        "{why}"
    );
    assert!(why.ends_with("; no counter shows what they wait for."), "{why}");
}

#[test]
fn a_retry_storm_is_waiting_with_evidence() {
    let run = run(|part, strategy, cell| {
        slow_mix(part, strategy, cell);
        cell.counters.insert("write_conflicts".into(), 0.0);
        if part != Part::Own && strategy == 0 {
            let operation = &mut cell.operations[0];
            operation.retries.insert("112 (WriteConflict)".into(), operation.calls * 4);
            cell.counters.insert("write_conflicts".into(), cell.calls as f64 * 2.0);
        }
    });
    let why = decision(&run).why.unwrap();
    let expected = "`add_comment` collides with other clients and is repeated 4.00 times per call (`linked`: 0).";
    assert!(why.ends_with(expected), "{why}");
}

#[test]
fn nothing_is_claimed_to_be_known_that_no_kind_predicts() {
    let run = run(|part, strategy, cell| {
        // The throughput differs and the times do not.
        if part == Part::Saturation && strategy == 0 {
            cell.seconds *= 3.0;
        }
    });
    let decision = decision(&run);
    if let Some(why) = &decision.why {
        assert!(why.starts_with("Not known"), "{decision:?}");
    }
}

#[test]
fn calls_per_second_decide_what_times_leave_open() {
    let slow = |part: Part, strategy: usize, cell: &mut crate::results::CellRecord, open: usize| {
        if strategy == 2 {
            slow_mix(part, 0, cell);
        }
        if part == Part::Saturation && strategy == open {
            cell.operations.iter_mut().for_each(|operation| set_time(operation, 1_200_000.0));
            cell.seconds *= 1.5;
        }
    };
    let settled = decision(&run_of(3, |part, strategy, cell| slow(part, strategy, cell, 1)));
    assert_eq!(
        settled.answer,
        "Choose embedded: 1.50x the calls/s of linked (one client: no difference found), 3.00x the calls/s of \
         bucket_rmw (one client: no difference found)."
    );
    let sure = settled.sure.unwrap();
    assert!(
        sure.starts_with("Moderate. Calls/s of 7 clients: ahead of `linked` in 8 of 8 rounds (95 % CI")
            && sure.contains(" and of `bucket_rmw` in 8 of 8 (")
            && sure.contains(". Time with one client: against `linked` and `bucket_rmw` no difference found (2."),
        "{sure}"
    );
    // The load at which response times are measured is a guess, and they decide nothing.
    let other = decision(&run_of(3, |part, strategy, cell| slow(part, strategy, cell, 0)));
    assert!(other.answer.starts_with("Choose linked: 1.50x the calls/s of embedded"), "{other:?}");
}

#[test]
fn what_cannot_be_compared_is_not_called_a_tie() {
    let decision = decision(&run(|part, strategy, cell| {
        if part == Part::Own && strategy == 0 {
            cell.operations.iter_mut().for_each(|operation| set_time(operation, 1_200_000.0));
        }
        // Its clients are mostly idle.
        if part == Part::Saturation && strategy == 0 {
            cell.seconds *= 3.0;
        }
    }));
    assert_eq!(decision.answer, "Choose linked: 2.97x faster with one client than embedded (calls/s: undecided).");
    let sure = decision.sure.unwrap();
    assert!(
        sure.starts_with("Moderate. Calls/s of 7 clients: not compared with `embedded` (embedded kept only "),
        "{sure}"
    );
}

#[test]
fn what_is_faster_by_itself_and_makes_fewer_calls_is_a_trade_off() {
    let decision = decision(&run(|part, strategy, cell| {
        slow_mix(part, strategy, cell);
        if part == Part::Own && strategy == 1 {
            cell.operations.iter_mut().for_each(|operation| set_time(operation, 600_000.0));
        }
    }));
    assert_eq!(
        decision.answer,
        "Trade-off between linked and embedded: linked makes 3.00x the calls/s, embedded is 1.49x faster with one client."
    );
    assert_eq!(decision.winner, None);
    let sure = decision.sure.unwrap();
    assert!(
        sure.starts_with("Both sides are shown. ")
            && sure.contains("Time with one client: `linked` behind `embedded` in 8 of 8 rounds (95 % CI"),
        "{sure}"
    );
}

#[test]
fn an_answer_that_a_slightly_different_share_turns_is_not_of_high_certainty() {
    // `linked` adds a comment faster than `embedded`, and reads a post in `read` ns. In the mix, `embedded` takes `ratio` times as long.
    let sure = |read: f64, ratio: f64| {
        let decision = decision(&run(|part, strategy, cell| {
            if part == Part::Own {
                let times =
                    if strategy == 0 { [1_000_000.0, 400_000.0, 400_000.0] } else { [400_000.0, read, 400_000.0] };
                cell.operations.iter_mut().zip(times).for_each(|(operation, time)| set_time(operation, time));
            } else if strategy == 0 {
                cell.operations.iter_mut().for_each(|operation| set_time(operation, 800_000.0 * ratio));
                cell.seconds *= ratio;
            }
        }));
        assert!(decision.answer.starts_with("Choose linked"), "{decision:?}");
        decision.sure.unwrap()
    };
    assert!(sure(1_480_000.0, 1.051).starts_with("Moderate. "), "{}", sure(1_420_000.0, 1.079));
    assert!(sure(500_000.0, 1.83).starts_with("High. "), "{}", sure(500_000.0, 1.83));
}

#[test]
fn a_slow_network_turns_no_order_of_equal_round_trips() {
    // A call of `embedded` makes 100 round trips, a call of `linked`, the winner, `more` of them.
    let flips = |more: u64| {
        let decision = decision(&run(|part, strategy, cell| {
            slow_mix(part, strategy, cell);
            if part == Part::Own && strategy == 0 {
                cell.operations.iter_mut().for_each(|operation| set_time(operation, 1_200_000.0));
            }
            for operation in &mut cell.operations {
                operation.round_trips = operation.calls * if strategy == 1 { 100 + more } else { 100 };
            }
        }));
        assert!(decision.answer.starts_with("Choose linked"), "{decision:?}");
        decision.flips.join("; ")
    };
    assert!(flips(100).contains("`embedded` is faster with one client once the network adds"), "{}", flips(100));
    assert!(!flips(1).contains("network"), "{}", flips(1));
}

#[test]
fn winners_are_named_in_at_most_24_words() {
    for rounds in [6, 8, 12] {
        let decision = decision(&sample::whole(&sample::run(rounds)));
        assert!(decision.winner.is_none() || decision.answer.split_whitespace().count() <= 24, "{decision:?}");
    }
}

#[test]
fn too_few_rounds_have_no_verdict() {
    let decision = decision(&sample::whole(&sample::run(2)));
    assert_eq!(decision.answer, "No verdict: 6 rounds are required, and this run has 2.");
    assert_eq!((decision.winner, decision.why), (None, None));
}

/// The mean of all answered calls of an operation, over the rounds of a part, as a geometric mean: from the JSON alone.
fn mean(run: &Value, part: &str, strategy: usize, operation: usize) -> f64 {
    let rounds = run["parts"][part].as_array().unwrap();
    let logs = rounds.iter().map(|round| {
        let outcomes = round["cells"][strategy]["operations"][operation]["outcomes"].as_array().unwrap();
        let total = |key: &str| outcomes.iter().map(|one| one[key].as_f64().unwrap()).sum::<f64>();
        (total("sum") / total("count")).ln()
    });
    (logs.sum::<f64>() / rounds.len() as f64).exp()
}

/// What a counter of an operation by itself grew per call, over all rounds: from the JSON alone.
fn own_counter(run: &Value, counter: &str, strategy: usize, operation: usize) -> f64 {
    let rounds = run["parts"]["own"].as_array().unwrap();
    let sum = |of: &dyn Fn(&Value) -> f64| rounds.iter().map(|round| of(&round["cells"][strategy])).sum::<f64>();
    sum(&|cell| cell["own_counters"][operation][counter].as_f64().unwrap())
        / sum(&|cell| cell["operations"][operation]["calls"].as_f64().unwrap())
}

/// The numbers of a sentence in their order, without those in names.
fn numbers(text: &str) -> Vec<f64> {
    let words = text.split(|c: char| c.is_whitespace() || "(),;:".contains(c));
    words.filter_map(|word| word.trim_end_matches(['x', '.']).parse().ok()).collect()
}

fn assert_close(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 0.02, "{found} instead of {expected}");
}

#[test]
fn numbers_of_why_and_but_follow_from_run_json() {
    let record = run(|part, strategy, cell| {
        slow_mix(part, strategy, cell);
        if part == Part::Own {
            let factor = if strategy == 0 { 9.0 } else { 1.0 };
            *cell.own_counters[1].get_mut("cpu_us").unwrap() *= factor;
            examine(cell, 1, factor);
            // What linked, the winner, does worse.
            set_time(&mut cell.operations[2], if strategy == 0 { 200_000.0 } else { 520_000.0 });
        }
    });
    let decision = decision(&record);
    let json: Value = serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap();
    let weights: Vec<f64> =
        json["mix"]["weights"].as_array().unwrap().iter().map(|one| one[1].as_f64().unwrap()).collect();
    let total: f64 = weights.iter().sum();
    let keys = |strategy: usize| own_counter(&json, "keys_examined", strategy, 1);
    let [factor, calls, slow, .., fast] = numbers(decision.why.as_ref().unwrap())[..] else { panic!("{decision:?}") };
    assert_close(factor, 3.0);
    assert_close(calls, weights[1] / total * 100.0);
    assert_close(slow, keys(0));
    assert_close(fast, keys(1));

    let lost =
        decision.but.iter().find(|text| text.starts_with("`count` alone (")).unwrap_or_else(|| panic!("{decision:?}"));
    let [share, times] = numbers(lost)[..] else { panic!("{lost}") };
    assert_close(share, weights[2] / total * 100.0);
    assert_close(times, mean(&json, "own", 1, 2) / mean(&json, "own", 0, 2));
    let flip = decision.flips.iter().find(|text| text.contains("once `count`"));
    assert!(flip.is_none(), "own times do not predict this mix, so no flip may be estimated: {flip:?}");

    let price = decision.but.iter().find(|text| text.starts_with("index:")).unwrap();
    let [most, least] = numbers(price)[..] else { panic!("{price}") };
    let bytes = |strategy: usize| {
        let rounds = json["parts"]["saturation"].as_array().unwrap();
        let sums = rounds.iter().map(|round| {
            let collections = round["cells"][strategy]["after"].as_array().unwrap();
            collections.iter().map(|one| one["indexes"]["_id_"].as_f64().unwrap()).sum::<f64>()
        });
        sums.sum::<f64>() / rounds.len() as f64 / 1e3
    };
    assert_close(most, bytes(1));
    assert_close(least, bytes(0));
}

#[test]
fn a_lead_within_the_spread_of_sessions_is_named() {
    let record = run(|part, strategy, cell| {
        if part == Part::Saturation && strategy == 1 {
            cell.operations.iter_mut().for_each(|operation| set_time(operation, 400_000.0));
            cell.seconds /= 2.0;
        }
    });
    let parts = crate::report::run::parts::PartEvaluations::new(&record);
    let judged = Judged::of(&parts).unwrap();
    assert_eq!(judged.answer.winner(), Some(1), "{}", judged.answer().concat());
    assert_eq!((judged.within(&|_| 0.5), judged.within(&|_| 1.5)), (vec![], vec![0]));
}

/// `read_post` of the winner takes as long as always, but while a job runs `met` µs for each of 100 of its calls in a round.
fn with_job(met: f64) -> Decision {
    decision(&run(|part, strategy, cell| {
        slow_mix(part, strategy, cell);
        if part == Part::Saturation && strategy == 1 {
            let mut times = LatencyHistogram::new(Duration::from_secs(10));
            (0..100).for_each(|_| times.record((met * 1e3) as u64));
            cell.operations[1].beside_job = Some(crate::results::TimesRecord::new(&times));
        }
    }))
}

#[test]
fn what_a_job_does_to_the_winner_is_said_where_it_is_much() {
    let says = |decision: &Decision| decision.but.iter().find(|text| text.starts_with("while a job runs")).cloned();
    assert_eq!(
        says(&with_job(1_600.0)).as_deref(),
        Some("while a job runs, `read_post` is 3.89x slower (mean 1.60 ms)")
    );
    assert_eq!(says(&with_job(900.0)), None, "less than one and a half times");
}

#[test]
fn what_another_session_may_give_is_one_sentence() {
    use super::phrase::{other_session, session_distance, sessions_disagree};
    let text = other_session(&[("calls/s", 0.12), ("own time", 0.0), ("server CPU", 0.034)]);
    assert_eq!(
        text.as_deref(),
        Some("another session may differ by a further 12 % in calls/s and 3.4 % in server CPU")
    );
    assert_eq!(other_session(&[("calls/s", 0.0)]), None);
    assert_eq!(session_distance(1.234), "1.2 times the usual difference of two sessions");
    let winners = [(Some("linked"), 2), (None, 1)];
    assert_eq!(sessions_disagree(&winners), "Sessions disagree: linked is best in 2 of 3 and no strategy in 1 of 3.");
}
