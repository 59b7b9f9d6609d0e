use std::collections::BTreeMap;

use crate::record::LatencyHistogram;
use crate::results::{
    AuditRecord, ClaimName, ClaimOutcome, ClaimRecord, Preset, Reason, Relation, RunRecord, Than, TimesRecord,
};
use crate::stats::sample;

use super::*;

/// A claim in short form: `p50 read_post linked below embedded`; `-` for no operation.
fn claim(text: &str) -> ClaimRecord {
    let words: Vec<&str> = text.split(' ').collect();
    ClaimRecord {
        metric: words[0].into(),
        operation: (words[1] != "-").then(|| words[1].to_owned()),
        strategy: words[2].into(),
        relation: match words[3] {
            "below" => Relation::Below,
            "above" => Relation::Above,
            _ => Relation::Equals,
        },
        than: words[4].parse().map_or_else(|_| Than::Strategy(words[4].into()), Than::Number),
        ..ClaimRecord::default()
    }
}

fn found(mut run: RunRecord, text: &str) -> ClaimResult {
    run.claims = vec![claim(text)];
    let run = if run.parts.is_empty() { sample::whole(&run) } else { run };
    claim_results(&run, &run.all_parts()).remove(0)
}

/// The counters of embedded in the first round, per operation.
fn own_counters(run: &mut RunRecord) -> &mut Vec<BTreeMap<String, f64>> {
    &mut run.parts.get_mut(&Part::Own).unwrap()[0].cells[0].own_counters
}

fn outcome(run: RunRecord, text: &str) -> ClaimOutcome {
    claim(text).outcome(found(run, text).verdict)
}

fn reason(run: RunRecord, text: &str) -> Reason {
    let verdict = found(run, text).verdict;
    verdict.reason().unwrap_or_else(|| panic!("{text}: {verdict:?}"))
}

#[test]
fn measured_metrics_are_decided_by_their_interval() {
    let run = || sample::run(8);
    for (text, expected) in [
        ("p50 add_comment linked below embedded", ClaimOutcome::Confirmed),
        ("p50 add_comment linked above embedded", ClaimOutcome::Refuted),
        ("p50 add_comment embedded above linked", ClaimOutcome::Confirmed),
        ("mean read_post linked above embedded", ClaimOutcome::Confirmed),
        ("mean read_post embedded below linked", ClaimOutcome::Confirmed),
        ("mean read_post linked below embedded", ClaimOutcome::Refuted),
        ("mean read_post bucket_rmw below linked", ClaimOutcome::Confirmed),
        ("throughput - linked above embedded", ClaimOutcome::Confirmed),
        ("throughput - embedded above linked", ClaimOutcome::Refuted),
    ] {
        assert_eq!(outcome(run(), text), expected, "{text}");
    }
}

#[test]
fn equal_counts_refute_that_one_is_above_the_other() {
    for (relation, expected) in [
        (Relation::Above, ClaimOutcome::Refuted),
        (Relation::Below, ClaimOutcome::Refuted),
        (Relation::Equals, ClaimOutcome::Confirmed),
    ] {
        let claim = ClaimRecord { relation, ..ClaimRecord::default() };
        for (value, against) in [(89.7, 89.7), (0.0, 0.0), (0.1 + 0.2, 0.3)] {
            assert_eq!(
                claim.outcome(count::counted(value, against, relation).verdict),
                expected,
                "{value} {relation:?}"
            );
        }
        let near = if relation == Relation::Equals { ClaimOutcome::Confirmed } else { ClaimOutcome::Undecided };
        assert_eq!(claim.outcome(count::counted(100.0, 100.4, relation).verdict), near, "{relation:?}");
    }
    let varying = |rounds: usize, last: f64| {
        let mut values = vec![Some(3.0); rounds];
        let against = values.clone();
        values[0] = Some(3.0 - last);
        values[1] = Some(3.0 + last);
        let result = count::varying(&values, &against, Relation::Above).unwrap();
        ClaimRecord { relation: Relation::Above, ..ClaimRecord::default() }.outcome(result.verdict)
    };
    assert_eq!(varying(6, 0.0), ClaimOutcome::Refuted);
    assert_eq!(varying(3, 0.0), ClaimOutcome::Undecided, "too few rounds");
    assert_eq!(varying(6, 1.0), ClaimOutcome::Undecided, "equal only in the mean");
}

#[test]
fn claims_over_rounds_are_one_family() {
    let alone = "mean read_post linked above embedded";
    let one = found(sample::run(8), alone);
    let mut run = sample::run(8);
    run.claims = [alone, "mean count linked below embedded", "round_trips count linked equals 1"].map(claim).to_vec();
    let run = sample::whole(&run);
    let together = claim_results(&run, &run.all_parts());
    let width = |result: &ClaimResult| result.interval.map(|[low, high]| high / low).unwrap();
    assert!(width(&together[0]) > width(&one), "{one:?} {together:?}");
    let turned = found(sample::run(8), "mean read_post embedded below linked");
    let (interval, turned) = (one.interval.unwrap(), turned.interval.unwrap());
    assert!((interval[0] * turned[1] - 1.0).abs() < 1e-12 && interval[0] > 1.0);
    let quantile = found(sample::run(8), "p50 read_post linked above embedded");
    // 940 to 610 µs, times the place of the typical call in the distribution.
    assert!((quantile.ratio.unwrap() / (940.0 / 610.0) - 1.0).abs() < 0.02, "{quantile:?}");
}

#[test]
fn times_that_cannot_be_compared_are_undecided() {
    let text = "p50 add_comment linked below embedded";
    let run = || sample::run(8);
    let with = |change: &dyn Fn(&mut RunRecord)| {
        let mut run = run();
        change(&mut run);
        run
    };
    assert_eq!(reason(sample::run(5), text), Reason::TooFewRounds(5));
    assert_eq!(reason(sample::run(0), text), Reason::NotInRun(ClaimName::Operation));
    assert_eq!(reason(with(&|run| run.settings.preset = Preset::Smoke), text), Reason::SmokePreset);
    assert_eq!(reason(with(&|run| run.rounds[0].cells[0].connections_created = 1), text), Reason::InvalidRun);
    assert_eq!(found(with(&|run| run.settings.noise = 5.0), text).verdict.id(), "same");
    assert_eq!(reason(run(), "p50 add_comment other below linked"), Reason::NotInRun(ClaimName::Strategy));
    assert_eq!(reason(run(), "p50 remove linked below embedded"), Reason::NotInRun(ClaimName::Operation));
    assert_eq!(reason(run(), "p99 read_post linked above embedded"), Reason::FewCalls);
    assert_eq!(reason(run(), "p50 add_comment linked equals embedded"), Reason::UnknownMetric);
    assert_eq!(reason(run(), "p50 add_comment linked below 5"), Reason::UnknownMetric);
    // A repeat with the times of linked makes its difference noise.
    let repeat = with(&|run| {
        (run.strategies[2].is_repeat, run.strategies[2].is_unsafe) = (true, false);
        run.rounds.iter_mut().for_each(|round| round.cells[2] = round.cells[1].clone());
    });
    assert_eq!(found(repeat, text).verdict.id(), "within_noise");
    // Its mean is above in some rounds and below in others.
    assert_eq!(found(run(), "mean count linked below embedded").verdict.id(), "no_difference");
    let refused = with(&|run| {
        run.rounds[3].cells[1].operations[0].outcomes.remove(0);
    });
    assert_eq!(reason(refused, text), Reason::NoSuccess { strategy: 1 });
}

#[test]
fn a_shared_cache_decides_no_claim_over_rounds() {
    let mut run = sample::whole(&sample::run(8));
    for cell in run.parts.values_mut().flatten().flat_map(|round| &mut round.cells) {
        for counters in cell.own_counters.iter_mut().chain([&mut cell.counters]) {
            counters.insert("cache_bytes_written".into(), 90e6);
            counters.insert("oplog_bytes".into(), 0.0);
        }
    }
    let found = reason(run.clone(), "mean read_post linked above embedded");
    assert!(matches!(found, Reason::WriteBack { strategy: 1, .. }), "{found:?}");
    assert_eq!(outcome(run, "round_trips read_post linked equals 2"), ClaimOutcome::Confirmed);
}

#[test]
fn counts_are_exact() {
    let run = || sample::run(1);
    for (text, expected) in [
        ("round_trips read_post linked equals 2", ClaimOutcome::Confirmed),
        ("round_trips read_post linked equals 1", ClaimOutcome::Refuted),
        ("round_trips read_post embedded below linked", ClaimOutcome::Confirmed),
        ("round_trips read_post embedded above linked", ClaimOutcome::Refuted),
        ("round_trips read_post linked above 1", ClaimOutcome::Confirmed),
        ("round_trips add_comment linked equals embedded", ClaimOutcome::Confirmed),
        ("round_trips add_comment linked below embedded", ClaimOutcome::Refuted),
        ("keys_examined count linked equals 1.004", ClaimOutcome::Confirmed),
        ("bytes_out count linked above 36400", ClaimOutcome::Refuted),
        ("bytes_out count linked above 36000", ClaimOutcome::Undecided),
        ("documents_examined count linked equals 0", ClaimOutcome::Undecided),
        ("oplog_bytes count linked below embedded", ClaimOutcome::Undecided),
        ("storage_bytes - linked below embedded", ClaimOutcome::Confirmed),
        ("sunshine count linked below embedded", ClaimOutcome::Undecided),
    ] {
        assert_eq!(outcome(run(), text), expected, "{text}");
    }
    let mut run = sample::whole(&run());
    for (grown, documents) in own_counters(&mut run).iter_mut().zip([420.0, 0.0, 0.0]) {
        grown.insert("documents_examined".into(), documents);
        grown.insert("oplog_bytes".into(), documents);
    }
    assert_eq!(outcome(run.clone(), "documents_examined add_comment embedded equals 21"), ClaimOutcome::Confirmed);
    assert_eq!(outcome(run.clone(), "oplog_bytes read_post embedded equals 0"), ClaimOutcome::Confirmed);
    assert_eq!(found(run, "documents_examined add_comment embedded equals 20").value, Some(21.0));
}

#[test]
fn files_without_a_checkpoint_decide_nothing() {
    let mut run = sample::run(2);
    run.rounds[1].cells[1].after[1].checkpointed = false;
    assert_eq!(reason(run, "storage_bytes - linked below embedded"), Reason::NotCheckpointed);
    assert_eq!(reason(sample::run(0), "storage_bytes - linked below embedded"), Reason::NotReported);
}

/// The result of a claim in a whole run.
fn decided(run: &RunRecord, claim: ClaimRecord) -> ClaimResult {
    let mut run = if run.parts.is_empty() { sample::whole(run) } else { run.clone() };
    run.claims = vec![claim];
    claim_results(&run, &run.all_parts()).remove(0)
}

/// What a whole run says of a claim.
fn result_of(run: &RunRecord, claim: ClaimRecord) -> ClaimOutcome {
    claim.outcome(decided(run, claim.clone()).verdict)
}

/// The other side of a comparison: `linked read_post 0.5`, `-` for no operation.
fn other(text: &str) -> Than {
    let words: Vec<&str> = text.split(' ').collect();
    let operation = (words[1] != "-").then(|| words[1].to_owned());
    Than::Other { strategy: words[0].into(), operation, times: words[2].parse().unwrap(), expression: None }
}

#[test]
fn two_operations_and_factors_are_compared() {
    let run = sample::run(8);
    let claim = |text: &str, than: &str| ClaimRecord { than: other(than), ..claim(text) };
    for (text, than, expected) in [
        ("mean read_post linked below 1", "linked count 1.0", ClaimOutcome::Refuted),
        ("mean read_post linked above 1", "linked count 2.0", ClaimOutcome::Confirmed),
        ("mean read_post linked above 1", "embedded read_post 2.0", ClaimOutcome::Refuted),
        ("mean read_post linked above 1", "embedded read_post 1.2", ClaimOutcome::Confirmed),
        ("round_trips read_post linked equals 1", "embedded add_comment 2.0", ClaimOutcome::Confirmed),
        ("throughput - linked above 1", "embedded - 1.5", ClaimOutcome::Confirmed),
        ("throughput - linked above 1", "embedded - 2.5", ClaimOutcome::Refuted),
    ] {
        assert_eq!(result_of(&run, claim(text, than)), expected, "{text} {than}");
    }
    let plain = decided(&run, claim("mean read_post linked above 1", "embedded read_post 1.0"));
    let half = decided(&run, claim("mean read_post linked above 1", "embedded read_post 0.5"));
    assert!((half.ratio.unwrap() / plain.ratio.unwrap() - 2.0).abs() < 1e-9, "{plain:?} {half:?}");
    assert!((half.against.unwrap() / plain.against.unwrap() - 0.5).abs() < 1e-9);
    let absent = decided(&run, claim("mean read_post linked above 1", "gone lost 1.0"));
    assert_eq!(absent.verdict.reason(), Some(Reason::NotInRun(ClaimName::OtherStrategy)));
    let absent = decided(&run, claim("mean read_post linked above 1", "embedded lost 1.0"));
    assert_eq!(absent.verdict.reason(), Some(Reason::NotInRun(ClaimName::OtherOperation)));
}

#[test]
fn another_mix_or_number_of_clients_or_parameter_measures_nothing() {
    let mut run = sample::whole(&sample::run(8));
    run.parameters = vec![("posts".into(), 200.into())];
    let claim = claim("round_trips read_post linked equals 2");
    let of = |claim: ClaimRecord| result_of(&run, claim);
    let (mix, clients) = (Some(run.mix.name.clone()), Some(run.settings.clients as u64));
    let set = vec![("posts".to_owned(), 200.into())];
    let fitting = ClaimRecord { mix, clients, set, ..claim.clone() };
    assert_eq!(of(fitting.clone()), ClaimOutcome::Confirmed);
    let set = vec![("posts".to_owned(), 5.into())];
    for other in [
        ClaimRecord { mix: Some("hot".into()), ..claim.clone() },
        ClaimRecord { clients: Some(3), ..claim.clone() },
        ClaimRecord { set, ..claim },
    ] {
        assert_eq!(decided(&run, other).verdict, Verdict::Inconclusive(Reason::OtherSettings));
    }
}

#[test]
fn audits_count_anomalies_even_where_these_make_the_run_invalid() {
    let mut run = sample::whole(&sample::run(2));
    let last = run.parts.get_mut(&Part::Saturation).unwrap();
    for (round, found) in last.iter_mut().zip([3, 0]) {
        for (cell, found) in round.cells.iter_mut().zip([found, 0]) {
            cell.audits = vec![AuditRecord { audit: "lost".into(), found, expected: [0, 0], example: None }];
        }
    }
    let claim = |relation, strategy: &str, than| {
        let (audit, metric) = (Some("lost".to_owned()), String::new());
        ClaimRecord {
            audit,
            metric,
            operation: None,
            relation,
            strategy: strategy.into(),
            than,
            ..claim("x - y equals 0")
        }
    };
    let found = decided(&run, claim(Relation::Above, "embedded", Than::Number(0.0)));
    assert_eq!((found.verdict, found.value), (Verdict::Slower, Some(1.5)));
    let equal = |strategy| result_of(&run, claim(Relation::Equals, strategy, Than::Number(0.0)));
    assert_eq!([equal("embedded"), equal("linked")], [ClaimOutcome::Refuted, ClaimOutcome::Confirmed]);
    let below = claim(Relation::Below, "linked", Than::Strategy("embedded".into()));
    assert_eq!(result_of(&run, below), ClaimOutcome::Confirmed);
    let race = decided(&run, claim(Relation::Above, "linked", Than::Number(0.0)));
    assert_eq!((race.verdict.reason(), race.value), (Some(Reason::NotSeen), Some(0.0)));
    let mut unknown = claim(Relation::Equals, "linked", Than::Number(0.0));
    unknown.audit = Some("gone".into());
    assert_eq!(decided(&run, unknown).verdict.reason(), Some(Reason::NotReported));
}

#[test]
fn outcomes_have_shares_and_times() {
    let run = sample::run(8);
    let rejected = |text: &str| ClaimRecord { metric: String::new(), outcome: Some("rejected".into()), ..claim(text) };
    // 12 of 600 calls.
    let share = decided(&run, rejected("- add_comment embedded above 0.01"));
    assert_eq!((share.verdict, share.value), (Verdict::Slower, Some(0.02)));
    assert_eq!(result_of(&run, rejected("- count embedded equals 0")), ClaimOutcome::Confirmed);
    let of =
        |outcome: &str| ClaimRecord { outcome: Some(outcome.into()), ..claim("p50 add_comment embedded above linked") };
    assert_eq!(result_of(&run, of("ok")), ClaimOutcome::Confirmed);
    assert_eq!(decided(&run, of("rejected")).verdict.reason(), Some(Reason::FewCalls));
    assert_eq!(decided(&run, of("lost")).verdict.reason(), Some(Reason::UnknownMetric));
}

#[test]
fn counts_that_vary_need_rounds_that_agree() {
    let run = sample::run(8);
    let retries = "retries add_comment linked above 0.05";
    assert_eq!(outcome(run.clone(), retries), ClaimOutcome::Confirmed);
    let few = Reason::TooFewRounds(5);
    assert_eq!(reason(sample::run(5), retries), few);
    assert_eq!(outcome(run.clone(), "retries add_comment embedded equals 0"), ClaimOutcome::Confirmed);
    let mut mixed = run.clone();
    mixed.rounds[0].cells[1].operations[0].retries.clear();
    assert_eq!(reason(mixed, retries), Reason::RoundsDisagree);
    let mut run = sample::whole(&run);
    for round in run.parts.get_mut(&Part::Own).unwrap() {
        for (strategy, cell) in round.cells.iter_mut().enumerate() {
            let counters = &mut cell.own_counters[0];
            let names = ["cache_bytes_read", "cache_bytes_written", "cursor_insert_calls", "cpu_us"];
            counters.extend(names.map(|name| (name.to_owned(), 20.0 * (strategy + 1) as f64)));
        }
    }
    for text in [
        "cache_bytes add_comment linked above embedded",
        "entries_inserted add_comment linked above embedded",
        "cpu_us add_comment linked above embedded",
    ] {
        assert_eq!(outcome(run.clone(), text), ClaimOutcome::Confirmed, "{text}");
    }
    assert!(found(run.clone(), "cpu_us add_comment linked above embedded").interval.is_some());
    let calls = run.parts[&Part::Own][0].cells[1].operations[0].calls as f64;
    assert_eq!(found(run, "cache_bytes add_comment linked above embedded").value, Some(80.0 / calls));
}

#[test]
fn sizes_are_those_after_the_calls() {
    let mut run = sample::run(2);
    run.rounds[0].cells[1].after[0].max = 5_000_000;
    let largest = found(run.clone(), "largest_document - linked above embedded");
    assert_eq!((largest.verdict, largest.value), (Verdict::Slower, Some(5e6)));
    let [indexes, all] = ["index_bytes", "storage_bytes"]
        .map(|name| found(run.clone(), &format!("{name} - linked below embedded")).value.unwrap());
    assert!(indexes > 0.0 && indexes < all, "{indexes} {all}");
    run.rounds[1].cells[1].after[1].checkpointed = false;
    assert_eq!(reason(run.clone(), "index_bytes - linked below 5"), Reason::NotCheckpointed);
    assert_eq!(outcome(run, "largest_document - linked above 4000000"), ClaimOutcome::Confirmed);
}

#[test]
fn calls_that_write_once_have_no_inconsistency_window() {
    let mut run = sample::run(8);
    let times = (1..=2_000).map(|n| n * 1_000);
    for round in &mut run.rounds {
        let mut window = LatencyHistogram::new(std::time::Duration::from_secs(10));
        times.clone().for_each(|time| window.record(time));
        round.cells[0].operations[0].inconsistency = None;
        round.cells[1].operations[0].inconsistency = Some(TimesRecord::new(&window));
    }
    let text = "inconsistency_p99 add_comment linked above embedded";
    let found = found(run.clone(), text);
    assert_eq!((found.verdict, found.against), (Verdict::Slower, Some(0.0)));
    for round in &mut run.rounds {
        let mut window = LatencyHistogram::new(std::time::Duration::from_secs(10));
        times.clone().for_each(|time| window.record(time / 2));
        round.cells[0].operations[0].inconsistency = Some(TimesRecord::new(&window));
    }
    let ratio = self::found(run, text).ratio.unwrap();
    assert!((ratio - 2.0).abs() < 0.01, "{ratio}");
}

#[test]
fn conflicts_in_transactions_are_write_conflicts() {
    let mut run = sample::run(6);
    for round in &mut run.rounds {
        // The server counts those of linked; those of embedded are in transactions, and the client sees them.
        for (place, counted) in [(0, 0.0), (1, 3.0)] {
            round.cells[place].counters.insert("write_conflicts".into(), counted);
            round.cells[place].operations.iter_mut().for_each(|operation| operation.retries.clear());
        }
        let add = &mut round.cells[0].operations[0];
        add.retries =
            [("TransientTransactionError", 90), ("112", 9), ("11000", 500)].map(|(k, n)| (k.to_owned(), n)).into();
        add.errors.insert("112".into(), 1);
    }
    let found = found(run, "write_conflicts - embedded above linked");
    assert_eq!((found.verdict, found.value), (Verdict::Slower, Some(100.0 / 915.0)));
}
