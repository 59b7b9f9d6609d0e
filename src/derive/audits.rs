//! Audits of what a shape has twice: copies and their sources, counters and what they count, both ends of a relation.

use crate::scenario::{AuditDefinition, AuditRule, Diagnostics, Node, Span, Spanned, read_audit};

use super::build::{map, pipeline, place, slot, with};
use super::document::unwinds;
use super::model::{Model, RelationKind};
use super::shape::{Copies, ModelShape, Word};
use super::summary::sum_of;

/// The audits of one strategy: a name, a sentence, the command that counts.
pub(super) type Audits = Vec<(String, String, Node)>;

/// What must be equal in two parts of the data: a collection, stages, and the expressions of a key and of a number.
pub(super) struct Balanced {
    pub collection: String,
    pub stages: Vec<Node>,
    pub key: Node,
    pub number: Node,
}

/// The audits of a shape.
pub(super) fn of_shape(model: &Model, shape: &ModelShape) -> Audits {
    let mut audits: Audits = shape.copies(model).iter().map(|copies| of_copies(model, copies)).collect();
    audits.extend(shape.split_audits(model));
    for (relation, this) in model.relations.iter().enumerate() {
        let (down, one) = (this.down(), model.name(this.one));
        let literal = |number: i64| map! { "$literal" => number };
        let path = |field: &str| Node::from(format!("${field}"));
        let list_id = shape.list_id(model, relation);
        let (ones, manys) = (model.collection(this.one), model.collection(this.many));
        let listed = |number: Node| {
            let stages = unwinds(&[down.to_owned()]);
            Balanced {
                collection: ones.clone(),
                stages,
                key: map! { "many" => path(&list_id), "one" => path("_id") },
                number,
            }
        };
        if shape.is_mutual(model, relation) {
            let back =
                if shape.referenced(relation).is_empty() { this.up().to_owned() } else { format!("{}._id", this.up()) };
            let key = map! { "many" => path("_id"), "one" => path(&back) };
            let other =
                Balanced { collection: manys, stages: unwinds(&[this.up().to_owned()]), key, number: literal(-1) };
            let about = format!("Records of {down} that only one of the two knows of the other.");
            audits.push((format!("{one}_{down}_differ"), about, balance(listed(literal(1)), other)));
            continue;
        }
        if !shape.keeps_own_list(model, relation) {
            let id_only = vec![map! { "$project" => map! { "_id" => 1 } }];
            let none: Vec<Node> = Vec::new();
            let none = map! { "$match" => map! { "found_" => none } };
            let found = |from: &str, local: &str| super::stage::lookup(from, local, "_id", id_only, "found_");
            let (collection, stages, about) = match shape.pairs(model, relation, true) {
                Some(pairs) => {
                    let about = format!("Pairs of a {one} that does not exist.");
                    (pairs.collection, vec![found(&ones, &pairs.near), none], about)
                }
                None => {
                    let about = format!("Records of {down} that a {one} lists and that do not exist.");
                    (ones, [unwinds(&[down.to_owned()]), vec![found(&manys, &list_id), none]].concat(), about)
                }
            };
            audits.push((format!("{one}_{down}_differ"), about, pipeline(&collection, stages)));
            continue;
        }
        if this.kind != RelationKind::Children {
            continue;
        }
        if shape.word(relation) == Word::Bucket {
            let size = shape.bucket_size(relation);
            let size = size.parse::<i64>().map_or_else(|_| slot(size), Node::from);
            let records = || map! { "$size" => path(down) };
            let [wrong, too_many]: [Vec<Node>; 2] = [vec![path("count"), records()], vec![records(), size]];
            let differs: Vec<Node> = vec![map! { "$ne" => wrong }, map! { "$gt" => too_many }];
            let stages = vec![map! { "$match" => map! { "$expr" => map! { "$or" => differs } } }];
            let about = format!("Buckets of {down} whose count is wrong, or with too many.");
            let (buckets, _) = shape.home(model, this.many);
            audits.push((format!("{}_buckets_differ", model.name(this.many)), about, pipeline(&buckets, stages)));
        }
        let is_referenced = shape.up_word(relation) == Word::Reference;
        if shape.word(relation) == Word::List {
            let mut side = listed(literal(-1));
            let mut key = map! { "many" => path("_id"), "one" => path(this.up()) };
            if !is_referenced {
                (side.key, key) = (path(&list_id), path("_id"));
            }
            let all = Balanced { collection: manys.clone(), stages: Vec::new(), key, number: literal(1) };
            let about = format!("Records of {down} that are not listed once, by the {one} that they belong to.");
            audits.push((format!("{one}_{down}_differ"), about, balance(all, side)));
        }
        let numbers = shape.counter(model, relation).map(|field| (field, None)).into_iter();
        let sums = shape.sums(relation).iter().map(|field| (sum_of(down, field), Some(field)));
        for (field, sum) in numbers.chain(sums) {
            let about = format!("Records of {one} whose {field} is not that of their {down}.");
            let command = if is_referenced {
                let total =
                    Balanced { collection: ones.clone(), stages: Vec::new(), key: path("_id"), number: path(&field) };
                let times: Option<Vec<Node>> = sum.map(|sum| vec![path(sum), (-1).into()]);
                let number = times.map_or_else(|| literal(-1), |times| map! { "$multiply" => times });
                let all = Balanced { collection: manys.clone(), stages: Vec::new(), key: path(this.up()), number };
                balance(total, all)
            } else {
                let is_inside = shape.word(relation) == Word::Embed;
                let lookup = sum.filter(|_| !is_inside);
                let lookup = lookup.map(|_| super::stage::lookup(&manys, &list_id, "_id", Vec::new(), "records_"));
                let actual = match sum {
                    Some(sum) if is_inside => map! { "$sum" => format!("${down}.{sum}") },
                    Some(sum) => map! { "$sum" => format!("$records_.{sum}") },
                    None => map! { "$size" => path(down) },
                };
                let parts: Vec<Node> = vec![path(&field), actual];
                let differs = map! { "$match" => map! { "$expr" => map! { "$ne" => parts } } };
                pipeline(&ones, lookup.into_iter().chain([differs]).collect())
            };
            audits.push((format!("{one}_{field}_differs"), about, command));
        }
    }
    audits
}

/// Copies that are not what their source says.
fn of_copies(model: &Model, copies: &Copies) -> (String, String, Node) {
    let at = |field: &str| [&copies.path[..], &[field.to_owned()]].concat().join(".");
    let (holder, source) = (model.name(copies.holder(model)), model.name(copies.source));
    let differs = copies.fields.iter().map(|field| {
        let parts: Vec<Node> =
            vec![format!("${}", at(&copies.field(field))).into(), map! { "$first" => format!("$source_.{field}") }];
        map! { "$ne" => parts }
    });
    let differs: Vec<Node> = differs.collect();
    let mut stages = unwinds(&copies.path);
    stages.push(super::stage::lookup(&model.collection(copies.source), &at(&copies.id), "_id", Vec::new(), "source_"));
    stages.push(map! { "$match" => map! { "$expr" => map! { "$or" => differs } } });
    let about = format!("Copies in {holder} of fields of a {source} that are not what the {source} says.");
    (copies.audit(model), about, pipeline(&copies.collection, stages))
}

/// Counts the keys whose numbers do not add up to 0.
pub(super) fn balance(one: Balanced, other: Balanced) -> Node {
    let project = |side: Balanced| {
        let mut stages = side.stages;
        stages.push(map! { "$project" => map! { "_id" => side.key, "n" => side.number } });
        (side.collection, stages)
    };
    let ((collection, mut stages), (coll, inner)) = (project(one), project(other));
    stages.push(map! { "$unionWith" => map! { "coll" => coll, "pipeline" => inner } });
    stages.push(map! { "$group" => map! { "_id" => "$_id", "n" => map! { "$sum" => "$n" } } });
    stages.push(map! { "$match" => map! { "n" => map! { "$ne" => 0 } } });
    pipeline(&collection, stages)
}

/// The audits of all derived strategies; a strategy without one does not inherit it.
pub(super) fn definitions(strategies: &[(String, Span, Audits)], diagnostics: &Diagnostics) -> Vec<AuditDefinition> {
    let mut names: Vec<&String> = Vec::new();
    for (name, ..) in strategies.iter().flat_map(|(.., audits)| audits) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let definition = |name: &String| {
        let mut made: Option<AuditDefinition> = None;
        let rule = |(strategy, span, audits): &(String, Span, Audits)| {
            let found = audits.iter().find(|(other, ..)| other == name).and_then(|(_, about, command)| {
                let mut node = with(with(command.clone(), "about", about.as_str()), "live", true);
                place(&mut node, *span);
                read_audit(&(Spanned::new(name.clone(), *span), node), diagnostics)
            });
            let steps = found.as_ref().and_then(|audit| audit.rules.first()?.steps.clone());
            made = made.take().or(found);
            AuditRule { strategy: Some(Spanned::new(strategy.clone(), *span)), is_inherited: true, steps }
        };
        let rules = strategies.iter().map(rule).collect();
        made.map(|audit| AuditDefinition { rules, ..audit })
    };
    names.into_iter().filter_map(definition).collect()
}
