//! What is tried next: all combinations, or where they are too many those along one relation after another; then other ways to read
//! and write the first ones.

use super::ranking::{estimate, ranked};
use super::record::{ExploreRecord, RelationRecord, TriedOutcome, TriedRecord};
use super::shapes::{Combination, combinations, count, strategies, variants};

/// The most combinations that are all tried.
pub const MOST_COMBINATIONS: u64 = 200;

/// How often each start of a search goes through all relations.
const PASSES: usize = 2;

/// How many of the first shapes are also tried in other ways.
const VARIED: usize = 4;

/// The strategies to try next, which follow from what was tried so far; empty when all are.
pub fn next(record: &ExploreRecord) -> Vec<TriedRecord> {
    let is_new = |strategy: &TriedRecord| found(record, strategy).is_none();
    let combined = next_combinations(record);
    if !combined.is_empty() {
        return combined.iter().flat_map(|one| strategies(record, one)).filter(is_new).collect();
    }
    let ranked = ranked(record).into_iter().map(|(tried, _)| record.shape_of(tried));
    let plain = ranked.filter(|tried| !tried.is_of_scenario() && tried.ways().next().is_none());
    plain.take(VARIED).flat_map(variants).filter(is_new).collect()
}

/// The relations of which no measured shape has other words than those that hold without an entry.
pub fn untried(record: &ExploreRecord) -> Vec<&str> {
    let measured: Vec<&TriedRecord> = record.tried.iter().filter(|one| one.measured().is_some()).collect();
    let is_varied = |relation: &&RelationRecord| {
        measured.iter().any(|one| one.shape.iter().any(|(key, words)| *key == relation.key && *words != relation.plain))
    };
    let untried = record.relations.iter().filter(|one| one.choices.len() > 1 && !is_varied(one));
    untried.map(|relation| relation.key.as_str()).collect()
}

/// The combinations to try next.
///
/// A search begins with every relation as it is without an entry, and once more with all that can be embedded embedded. It tries all
/// choices of one relation, goes on from the one with the lowest estimate, and does the same with the next relation.
fn next_combinations(record: &ExploreRecord) -> Vec<Combination> {
    let is_new =
        |combination: &Combination| strategies(record, combination).iter().any(|one| found(record, one).is_none());
    if count(&record.relations) <= MOST_COMBINATIONS {
        return combinations(&record.relations).into_iter().filter(is_new).collect();
    }
    for mut current in starts(record) {
        for _ in 0..PASSES {
            let before = current.clone();
            for (relation, choices) in record.relations.iter().map(|relation| relation.choices.len()).enumerate() {
                let with = |choice| {
                    let mut varied = current.clone();
                    varied[relation] = choice;
                    varied
                };
                let varied: Vec<Combination> = (0..choices).map(with).collect();
                let new: Vec<Combination> = varied.iter().filter(|one| is_new(one)).cloned().collect();
                if !new.is_empty() {
                    return new;
                }
                let best = varied.into_iter().min_by(|one, other| cost(record, one).total_cmp(&cost(record, other)));
                current = best.filter(|best| cost(record, best) < cost(record, &current)).unwrap_or(current);
            }
            if current == before {
                break;
            }
        }
    }
    Vec::new()
}

/// The combinations from which a search starts.
fn starts(record: &ExploreRecord) -> [Combination; 2] {
    let embedded = |choices: &Vec<Vec<String>>| choices.iter().position(|words| *words == ["embed"]).unwrap_or(0);
    [record.relations.iter().map(|_| 0).collect(), record.relations.iter().map(|one| embedded(&one.choices)).collect()]
}

/// The lowest estimate of the strategies of a combination; infinite where none was measured.
fn cost(record: &ExploreRecord, combination: &Combination) -> f64 {
    let all = strategies(record, combination);
    let known = all.iter().filter_map(|one| estimate(record, measured(record, found(record, one)?)?));
    known.fold(f64::INFINITY, f64::min)
}

/// What was tried with the shape of a strategy.
pub fn found<'r>(record: &'r ExploreRecord, strategy: &TriedRecord) -> Option<&'r TriedRecord> {
    record
        .tried
        .iter()
        .find(|one| !one.is_of_scenario() && one.shape == strategy.shape && one.ways().eq(strategy.ways()))
}

/// The strategy whose commands something has that was tried: another one, or itself.
fn measured<'r>(record: &'r ExploreRecord, tried: &'r TriedRecord) -> Option<&'r TriedRecord> {
    match &tried.outcome {
        TriedOutcome::Same(name) => record.named(name),
        _ => Some(tried),
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::MeasuredShape;
    use super::*;

    /// A model of so many relations, each of which may be embedded, or have its records listed.
    fn record(relations: usize) -> ExploreRecord {
        let words = |word: &str| vec![word.to_owned()];
        let relation = |place: usize| RelationRecord {
            key: format!("a.r{place}"),
            plain: words("reference"),
            choices: ["reference", "embed", "list"].map(words).to_vec(),
        };
        let relations = (0..relations).map(relation).collect();
        ExploreRecord { relations, weights: vec![("read".to_owned(), 1.0)], ..ExploreRecord::default() }
    }

    /// Tries all that comes next with these costs, until nothing does.
    fn searched(mut record: ExploreRecord, time: impl Fn(&[(String, Vec<String>)]) -> Option<f64>) -> ExploreRecord {
        loop {
            let next = next(&record);
            if next.is_empty() {
                return record;
            }
            for mut tried in next {
                tried.outcome = match time(&tried.shape) {
                    Some(time) => {
                        TriedOutcome::Measured(MeasuredShape { times: vec![Some(time)], ..MeasuredShape::default() })
                    }
                    None => TriedOutcome::Refused("no".to_owned()),
                };
                record.tried.push(tried);
            }
        }
    }

    fn number(shape: &[(String, Vec<String>)], word: &str) -> f64 {
        shape.iter().filter(|(_, words)| *words == [word]).count() as f64
    }

    #[test]
    fn few_combinations_are_all_tried_and_the_first_in_other_ways() {
        let found = searched(record(3), |shape| Some(10.0 - number(shape, "embed")));
        let other: Vec<&TriedRecord> = found.tried.iter().filter(|one| one.ways().next().is_some()).collect();
        assert_eq!((found.tried.len(), other.len()), (27 + VARIED, VARIED));
        assert!(other.iter().all(|one| number(&one.shape, "embed") > 1.0 && one.join.as_deref() == Some("lookup")));
    }

    #[test]
    fn a_strategy_of_the_scenario_is_tried_in_other_ways_by_its_shape() {
        let mut found = record(1);
        found.tried.push(TriedRecord { name: "own".to_owned(), ..TriedRecord::default() });
        found.tried[0].outcome =
            TriedOutcome::Measured(MeasuredShape { times: vec![Some(1.0)], ..MeasuredShape::default() });
        for mut tried in next(&found) {
            tried.outcome = TriedOutcome::Refused("no".to_owned());
            if tried.shape[0].1 == ["embed"] {
                tried.outcome = TriedOutcome::Same("own".to_owned());
            }
            found.tried.push(tried);
        }
        let names: Vec<String> = next(&found).into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["r0_embed_lookup"]);
    }

    #[test]
    fn many_are_searched_relation_by_relation() {
        // 59,049 combinations; the last relation cannot be embedded.
        let found = searched(record(10), |shape| {
            let is_refused = shape[9].1 == ["embed"];
            (!is_refused).then(|| 100.0 - 3.0 * number(shape, "embed") + number(shape, "list"))
        });
        assert!(found.tried.len() < 65, "{}", found.tried.len());
        let best = found.tried.iter().filter_map(|one| Some((estimate(&found, one)?, one)));
        let (cost, best) = best.min_by(|one, other| one.0.total_cmp(&other.0)).unwrap();
        assert_eq!((cost, number(&best.shape, "embed")), (73.0, 9.0));
    }
}
