//! Writes: what each becomes, and when several documents need a transaction.

use crate::scenario::{LogicalStep, Node, Tree};

use super::build::{all, is_empty, keep, map, with};
use super::document::{Made, each};
use super::model::{option, text_option, texts};
use super::refusal::{Derived, refuse, refuse_shape};
use super::shape::Word;
use super::split::SplitUpdate;
use super::summary::sum_of;
use super::totals::{merged, together};
use super::translate::{Located, Options, Translation};

/// The key of a step that ends the operation: `abort` inside of a transaction, `return` elsewhere. No user writes it.
pub(super) const FAIL: &str = "\0fail";

/// The most attempts of a transaction or update that meets others.
pub(super) const ATTEMPTS: i64 = 1_000;

/// What a logical write becomes.
#[derive(Default)]
pub(super) struct Write {
    pub steps: Vec<Node>,
    /// The outcome after the last step; `None`: that of the reply to it.
    pub result: Option<String>,
    /// Whether its steps are only right together.
    pub is_joint: bool,
    /// Whether all but the first step add to numbers, which may follow later.
    pub is_ordered: bool,
}

impl Write {
    pub fn one(step: Node) -> Write {
        Write { steps: vec![step], ..Write::default() }
    }

    fn then(&mut self, other: Write) {
        if !other.steps.is_empty() {
            self.steps.extend(other.steps);
            self.is_joint |= other.is_joint;
            self.result = other.result;
        }
    }

    pub fn joint(steps: Vec<Node>) -> Write {
        Write { steps, result: Some("ok()".to_owned()), is_joint: true, is_ordered: false }
    }
}

impl Translation<'_, '_> {
    /// The steps of a logical write, which give the outcome of the call.
    pub fn write(&mut self, word: &str, target: &str, options: &Options, writes: &[LogicalStep]) -> Derived<Vec<Node>> {
        let mut write = Write::joint(Vec::new());
        if word == "atomically" {
            for step in writes {
                let LogicalStep::Logical { word, target, options, writes } = step else {
                    let message = "a step inside of `atomically` that is no logical write";
                    return refuse(message, "not derived", "move it before");
                };
                if !writes.is_empty() || !step.is_write() {
                    return refuse(format!("`{}` inside of `atomically`", word.value), "only writes", "move it before");
                }
                let part = self.one_write(&word.value, &target.value, options, true)?;
                write.steps.extend(part.steps);
            }
            write.steps = merged(write.steps);
        } else {
            write = self.one_write(word, target, options, false)?;
        }
        self.is_joint = write.is_joint && !write.is_ordered;
        let is_transaction = self.is_joint && self.protects();
        let is_single = write.steps.len() == 1 && write.result.is_none();
        let word = if is_transaction { "abort" } else { "return" };
        let mut steps: Vec<Node> = write.steps.iter().map(|step| ended(step, word)).collect();
        if is_transaction {
            steps = vec![map! { "transaction" => steps, "attempts" => ATTEMPTS }];
        }
        if !is_single {
            steps.push(map! { "return" => write.result.unwrap_or_else(|| "ok()".to_owned()) });
        }
        Ok(steps)
    }

    fn one_write(&mut self, word: &str, target: &str, options: &Options, is_inner: bool) -> Derived<Write> {
        match word {
            "create" => self.create(target, options, is_inner),
            "update" => self.update(target, options, is_inner),
            "delete" => self.delete(target, is_inner),
            "add" => self.link(target, text_option(options, "to"), true, is_inner),
            _ => self.link(target, text_option(options, "from"), false, is_inner),
        }
    }

    /// Whether the record of an argument may not be there when the call is made.
    pub fn may_be_gone(&self, argument: &str, entity: usize) -> bool {
        let is_loaded = self.model().argument(self.operation, argument).is_some_and(|one| one.is_loaded);
        !is_loaded || self.model().is_deleted(entity)
    }

    /// Whether a record is in an array and may get into another one: itself, or with the record around it.
    pub fn wanders(&self, entity: usize) -> bool {
        let Some(relation) = self.model().parent_of(entity) else { return false };
        let is_inside = self.documents.shape.word(relation) == Word::Embed;
        is_inside && (self.model().is_moved(entity) || self.wanders(self.model().relations[relation].one))
    }

    /// A change of a record's document that means nothing: a transaction that deletes the record conflicts with it.
    pub fn touch(&self, place: &Located, entity: usize) -> Node {
        let mut name = "touched".to_owned();
        while self.model().has_field(entity, &name) {
            name.push('_');
        }
        map! { "$inc" => map! { place.field(&name) => 1 } }
    }

    fn create(&mut self, argument: &str, options: &Options, is_inner: bool) -> Derived<Write> {
        let model = self.model();
        let entity = model.record(self.operation, argument)?;
        let name = model.name(entity);
        if !model.argument(self.operation, argument).is_some_and(|one| one.is_new) {
            let message = format!("`create: {argument}` is not a record that the call makes");
            return refuse(message, "it exists already", format!("draw it with `{argument}: new({name})`"));
        }
        let owner = self.owner(argument, entity, text_option(options, "in"))?;
        let mut with_it = Vec::new();
        for child in texts(option(options, "with")) {
            match model.children_of(entity).find(|relation| model.relations[*relation].down() == child) {
                Some(relation) => with_it.push(relation),
                None => {
                    let help = "`with` has names of lists of children, as in `new(order, {'lines': 2})`";
                    return refuse(format!("`{name}` has no children `{child}`"), "not children", help);
                }
            }
        }
        let is_split = self.documents.shape.splits.contains_key(&entity);
        if let Some(write) =
            self.versioned_create(argument, entity, owner, is_inner || !with_it.is_empty() || is_split)?
        {
            return Ok(write);
        }
        let (mut write, mut made) = (Write::default(), Made::default());
        for relation in self.copied_fields(entity) {
            let this = &model.relations[relation];
            let place = self.document(&format!("{argument}.{}._id", this.up()), this.one);
            let (read, source) = self.source(relation, &place, None, true);
            write.then(read);
            made.sources.insert(relation, source);
        }
        self.new_lists(argument, entity, &mut write, &mut made);
        for child in &with_it {
            let this = &model.relations[*child];
            self.check_lists(this.many, "is made with the record that it belongs to")?;
            let list = format!("{argument}.{}", this.down());
            for field in self.copied_fields(this.many) {
                self.check_unversioned(field, "is made with others", "only a transaction keeps these together")?;
            }
            let list = self.with_copies(this.many, list, &mut write, &mut made);
            for field in self.documents.shape.sums(*child) {
                let sum = self.fresh("sum");
                write.steps.push(keep(&sum, format!("sum({list}.map(x, x.{field}))")));
                made.sums.insert(sum_of(this.down(), field), sum);
            }
            made.lists.insert(*child, list);
        }
        let is_apart = |child: &usize| self.documents.shape.word(*child) != Word::Embed;
        let apart: Vec<usize> = with_it.iter().copied().filter(is_apart).collect();
        write.is_joint |= !apart.is_empty();
        if let Some(relation) = apart.iter().find(|child| self.documents.shape.word(**child) == Word::Bucket) {
            let message =
                format!("`{}: bucket` of records that are made with the one that they belong to", model.key(*relation));
            return refuse_shape(*relation, message, "not derived", "make it an operation of its own, or try `embed`");
        }
        let is_inside = owner.is_some_and(|(relation, _)| self.documents.shape.word(relation) == Word::Embed);
        let mut is_followed = false;
        if let Some((relation, into)) = owner {
            let this = &model.relations[relation];
            let place = self.locate(into, this.one);
            let may_be_gone = self.may_be_gone(into, this.one);
            let change = match self.documents.shape.word(relation) {
                Word::Embed => {
                    let document = self.new_document(entity, argument, into, &made);
                    Some(map! { "$push" => map! { place.field(this.down()) => document } })
                }
                Word::List => {
                    let entry = self.documents.shape.list_entry(relation, argument);
                    Some(map! { "$push" => map! { this.down() => entry } })
                }
                Word::Bucket => return self.append(argument, (relation, into), &made, is_inner, write),
                Word::Reference | Word::Link => None,
            };
            let totals = self.totals(relation, argument, true, &mut write.steps);
            let change =
                if is_empty(&totals) { change } else { Some(together(change.unwrap_or_else(|| map! {}), &totals)) };
            if !is_inside {
                let (read, source) = self.source(relation, &place, change, !may_be_gone);
                write.then(read);
                made.sources.insert(relation, source);
            } else if let Some(change) = change {
                let update = place.update(change);
                is_followed = self.wanders(this.one) && !is_inner && !write.is_joint;
                if is_followed {
                    write.then(self.followed(this.one, &place, update, false));
                } else {
                    write.steps.push(update);
                }
                if !is_followed && (is_inner || write.steps.len() > 1 || write.is_joint) {
                    write.steps.push(fail("reply.matched == 0", "not_found()"));
                }
            }
        }
        if !is_inside {
            let document = self.new_document(entity, argument, owner.map_or("", |(_, into)| into), &made);
            write.steps.push(map! { "insertOne" => model.collection(entity), "document" => document });
            write.steps.extend(self.new_rest(entity, argument));
            write.is_joint |= is_split;
        }
        // The owner stays, and nothing of it is copied: its numbers may follow.
        let follows = |(relation, into): (usize, &str)| {
            let (shape, this) = (self.documents.shape, &model.relations[relation]);
            let is_counted = shape.commutes(model, relation) && shape.referenced(relation).is_empty();
            is_counted && write.steps.len() == 2 && !self.may_be_gone(into, this.one)
        };
        if owner.is_some_and(follows)
            && write.steps[1].get("insertOne").is_some()
            && write.steps[0].get("updateOne").is_some()
        {
            write.steps.swap(0, 1);
            write.is_ordered = true;
        }
        for relation in apart {
            let child = &model.relations[relation];
            let name = self.fresh(&format!("each_{}", model.name(child.many)));
            let list = made.lists.get(&relation).cloned().unwrap_or_default();
            let extras = self.documents.extras(child.many, &name, argument, Some(&made));
            let item = self.documents.document(child.many, &name, extras);
            let collection = model.collection(child.many);
            write.steps.push(map! { "insertMany" => collection, "documents" => each(&name, &list, item) });
            write.steps.extend(self.new_rests(child.many, &name, &list));
        }
        if write.steps.len() > 1 && !is_followed {
            write.result = Some("ok()".to_owned());
        }
        Ok(write)
    }

    /// The document of a record that the call makes.
    pub fn new_document(&self, entity: usize, argument: &str, into: &str, made: &Made) -> Node {
        let extras = self.documents.extras(entity, argument, into, Some(made));
        self.documents.document(entity, argument, extras)
    }

    /// The relation by which a new record belongs to another one, with the argument of that.
    fn owner<'o>(&self, argument: &str, entity: usize, into: Option<&'o str>) -> Derived<Option<(usize, &'o str)>> {
        let model = self.model();
        match (model.parent_of(entity), into) {
            (None, None) => Ok(None),
            (Some(relation), Some(into)) if model.record(self.operation, into)? == model.relations[relation].one => {
                Ok(Some((relation, into)))
            }
            (Some(relation), _) => {
                let one = model.name(model.relations[relation].one);
                let message = format!("`create: {argument}` does not say which `{one}` it belongs to");
                refuse(message, format!("`in` needs a `{one}`"), format!("try `in: {one}`, an argument of that name"))
            }
            (None, Some(_)) => {
                let message = format!("`{}` belongs to no other entity", model.name(entity));
                refuse(message, "`in` of a record without parent", "remove `in`")
            }
        }
    }

    fn update(&mut self, argument: &str, options: &Options, is_inner: bool) -> Derived<Write> {
        let model = self.model();
        let entity = model.record(self.operation, argument)?;
        let changes = |key: &str| option(options, key).and_then(Node::as_mapping).unwrap_or_default();
        let keys: Vec<String> =
            [changes("set"), changes("inc")].concat().into_iter().map(|(key, _)| key.value).collect();
        if keys.is_empty() {
            let message = format!("`update: {argument}` changes nothing");
            return refuse(message, "no `set`, no `inc`", "try `set: { field: <value> }`");
        }
        if let Some(relation) = model.parent_of(entity)
            && let Some(to) = option(options, "set").and_then(|set| set.get(model.relations[relation].up()))
        {
            if keys.len() > 1 || is_inner || option(options, "if").or(option(options, "returning")).is_some() {
                let help = "make it an operation of its own, without `if`, `returning` and other fields, or write this one by hand";
                return refuse(format!("`update: {argument}` moves a record and does more"), "not derived", help);
            }
            return self.relocate(argument, entity, relation, to);
        }
        self.check_fields(entity, &keys)?;
        self.check_newest(entity, "puts in another order", &keys)?;
        if let Some(relation) = (0..model.relations.len()).find(|relation| {
            let own = model.relations[*relation].own_list();
            self.documents.shape.back_list(model, *relation).is_some()
                && keys.iter().any(|key| own == Some((entity, key)))
        }) {
            let message = format!("`{}` is in other records, and all of it is changed", model.key(relation));
            return refuse_shape(relation, message, "not derived", "change it by `add` and `remove`");
        }
        if keys.iter().any(|key| key == "_id") {
            return refuse("a change of `_id`", "records are known by it", "create another record instead");
        }
        let condition = self.condition(entity, options, "if")?;
        let otherwise = option(options, "else").and_then(Node::as_text);
        if is_empty(&condition) != otherwise.is_none() {
            let help = "for example `if: { stock: { $gt: 0 } }, else: rejected('stock')`";
            return refuse("`if` and `else` of an update belong together", "one is missing", help);
        }
        let returning = text_option(options, "returning");
        let needed = condition.as_mapping().unwrap_or_default().iter().map(|(key, _)| key.value.clone());
        let needed: Vec<String> = needed.chain(returning.map(str::to_owned)).collect();
        let SplitUpdate { place, set, inc, rest } =
            self.divided(argument, entity, [changes("set"), changes("inc")], &needed)?;
        let changes = |key: &str| if key == "set" { &set[..] } else { &inc[..] };
        let is_guarded = !is_empty(&condition) || is_inner || rest.is_some();
        if let Some(write) = self.versioned_update(argument, entity, [changes("set"), changes("inc")], is_guarded)? {
            return if returning.is_some() { not_returned() } else { Ok(write) };
        }
        let (mut write, copies) = self.changed_copies(entity, changes("set"))?;
        write.is_joint |= rest.is_some();
        let all_set = [changes("set"), copies.as_mapping().unwrap_or_default()].concat();
        let changed_fields = [("$set", changes("set")), ("$inc", changes("inc"))];
        let added_up = self.added_up(entity, &place, [("$set", &all_set), ("$inc", changes("inc"))], is_guarded)?;
        let update = added_up.unwrap_or_else(|| place.change(&all_set, changes("inc")));
        let sums = self.follow_sums(argument, entity, changed_fields)?;
        let follow = self.follow(argument, entity, changed_fields);
        let has_copies = !follow.is_empty();
        let follow = [follow, sums.iter().flat_map(|sums| sums.after.clone()).collect()].concat();
        // An update that passes by a record which moves must not take that for a false condition.
        let may_be_gone = self.may_be_gone(argument, entity) || self.wanders(entity);
        let guarded = place.guarded(&condition);
        if let Some(field) = returning {
            let is_more = write.is_joint || !write.steps.is_empty() || !follow.is_empty() || sums.is_some();
            if is_more || is_inner || may_be_gone || !place.path.is_empty() {
                return not_returned();
            }
            self.check_fields(entity, &[field.to_owned()])?;
            let now = self.fresh("now");
            let change = with(changed(&guarded, update, all(&[field], 1)), "returnDocument", "after");
            write.steps.push(with(change, "as", now.as_str()));
            write.steps.extend(otherwise.map(|otherwise| fail(&format!("{now} == null"), otherwise)));
            return Ok(Write { result: Some(format!("{now}.{field}")), ..write });
        }
        if otherwise.is_none() && follow.is_empty() && !write.is_joint {
            write.then(self.followed(entity, &place, guarded.update(update), is_inner));
            if is_inner && may_be_gone {
                write.steps.push(fail("reply.matched == 0", "not_found()"));
            }
            return Ok(write);
        }
        // The update returns the old numbers, if these alone tell whether it has changed something.
        let whole = sums.as_ref().filter(|sums| sums.is_all);
        let (missed, modified, result) = if let Some(sums) = whole {
            let change = changed(&guarded, update, sums.projection.clone());
            write.steps.push(with(change, "as", sums.old.as_str()));
            let differs = sums.differs.join(" || ");
            let result = if differs.is_empty() { "ok()".to_owned() } else { format!("{differs} ? ok() : same()") };
            (format!("{} == null", sums.old), differs, result)
        } else {
            if let Some(sums) = &sums {
                write.steps.push(with(place.find(Some(sums.projection.clone())), "as", sums.old.as_str()));
                write.steps.push(fail(&format!("{} == null", sums.old), "not_found()"));
            }
            let changed = self.fresh("changed");
            write.steps.push(with(guarded.update(update), "as", changed.as_str()));
            (format!("{changed}.matched == 0"), format!("{changed}.modified > 0"), format!("outcome({changed})"))
        };
        match otherwise {
            // In the snapshot of the transaction the record is either gone, or the condition is false.
            Some(otherwise) if may_be_gone => {
                write.steps.push(missing(&missed, &place, &format!("reply == 0 ? not_found() : {otherwise}")));
            }
            Some(otherwise) => write.steps.push(fail(&missed, otherwise)),
            None if may_be_gone => write.steps.push(fail(&missed, "not_found()")),
            None => {}
        }
        let parent = model.parent_of(entity).filter(|relation| self.documents.shape.commutes(model, *relation));
        let is_first = !(write.is_joint || has_copies || otherwise.is_some() && may_be_gone);
        let is_added = changes("set").is_empty() || whole.is_some();
        write.is_ordered = is_first && parent.is_some() && is_added && !model.is_moved(entity);
        write.is_joint |= otherwise.is_some() && may_be_gone || !follow.is_empty();
        let result = match rest {
            Some(rest) => {
                let name = self.fresh("rest");
                write.steps.push(with(rest, "as", name.as_str()));
                if modified.is_empty() { result } else { format!("{modified} ? ok() : outcome({name})") }
            }
            None => result,
        };
        if modified.is_empty() {
            write.steps.extend(follow);
        } else if !follow.is_empty() {
            write.steps.push(map! { "if" => modified, "then" => follow });
        }
        Ok(Write { result: Some(result), ..write })
    }

    /// An update of a record in an array. Where records move, it may pass by the one that it is for: the update waits for
    /// the move to end, and its scan goes on behind the new place. It is repeated as long as the record is there.
    pub fn followed(&mut self, entity: usize, place: &Located, update: Node, is_inner: bool) -> Write {
        if is_inner || !self.wanders(entity) {
            return Write::one(update);
        }
        let written = self.fresh("written");
        let look: Vec<Node> = vec![place.count(), map! { "retry_if" => "reply > 0" }];
        let look = map! { "if" => format!("{written}.matched == 0"), "then" => look };
        let body: Vec<Node> = vec![with(update, "as", written.as_str()), look];
        let step = map! { "retry" => map! { "attempts" => ATTEMPTS }, "do" => body };
        Write { result: Some(format!("outcome({written})")), ..Write::one(step) }
    }
}

/// Refuses to return what a write of more than one document made, or of one that may be gone.
fn not_returned<T>() -> Derived<T> {
    let message = "`returning` of a record that is in an array, has copies or numbers elsewhere, or may be gone";
    refuse(message, "not derived", "write this operation by hand")
}

/// A change of a document that returns fields of it.
pub(super) fn changed(place: &Located, change: Node, projection: Node) -> Node {
    let (collection, filter) = (place.collection.as_str(), place.filter.clone());
    map! { "findOneAndUpdate" => collection, "filter" => filter, "update" => change, "projection" => projection }
}

/// Where a condition is true, looks whether the record is there, and ends the operation with an outcome.
pub(super) fn missing(condition: &str, place: &Located, outcome: &str) -> Node {
    map! { "if" => condition, "then" => vec![place.count(), map! { FAIL => outcome }] }
}

/// Ends the operation with an outcome if a condition is true.
pub(super) fn fail(condition: &str, outcome: &str) -> Node {
    map! { "if" => condition, "then" => map! { FAIL => outcome } }
}

/// The step with the word that ends the operation here.
fn ended(node: &Node, word: &str) -> Node {
    let tree = match &node.tree {
        Tree::Scalar(scalar) => Tree::Scalar(scalar.clone()),
        Tree::List(items) => Tree::List(items.iter().map(|item| ended(item, word)).collect()),
        Tree::Mapping(entries) => {
            let entries = entries.iter().cloned().map(|(mut key, value)| {
                if key.value == FAIL {
                    word.clone_into(&mut key.value);
                }
                (key, ended(&value, word))
            });
            Tree::Mapping(entries.collect())
        }
    };
    Node { span: node.span, tree }
}
