//! Writes: what each becomes, and when several documents need a transaction.

use crate::scenario::{LogicalStep, Node, Spanned, Tree};

use super::build::{all, is_empty, keep, map, slot, update_one, with};
use super::document::{Made, each, with_extras};
use super::model::{PathEnd, RelationKind, option, text_option, texts};
use super::refusal::{Derived, refuse, refuse_shape};
use super::shape::{Word, entry};
use super::totals::{sum_of, together};
use super::translate::{Located, Options, Translation};

/// The key of a step that ends the operation: `abort` inside of a transaction, `return` elsewhere. No user writes it.
const FAIL: &str = "\0fail";

/// The most attempts of a transaction or update that meets others.
const ATTEMPTS: i64 = 1_000;

/// What a logical write becomes.
#[derive(Default)]
pub(super) struct Write {
    pub steps: Vec<Node>,
    /// The outcome after the last step; `None`: that of the reply to it.
    pub result: Option<String>,
    /// Whether its steps are only right together.
    pub is_joint: bool,
}

impl Write {
    fn one(step: Node) -> Write {
        Write { steps: vec![step], ..Write::default() }
    }

    fn then(&mut self, other: Write) {
        if !other.steps.is_empty() {
            self.steps.extend(other.steps);
            self.is_joint |= other.is_joint;
            self.result = other.result;
        }
    }

    fn joint(steps: Vec<Node>) -> Write {
        Write { steps, result: Some("ok()".to_owned()), is_joint: true }
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
        } else {
            write = self.one_write(word, target, options, false)?;
        }
        let is_transaction = write.is_joint && !self.documents.shape.is_plain;
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
    fn wanders(&self, entity: usize) -> bool {
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
                Word::Reference => None,
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
        }
        for relation in apart {
            let child = &model.relations[relation];
            let name = self.fresh(&format!("each_{}", model.name(child.many)));
            let list = made.lists.get(&relation).cloned().unwrap_or_default();
            let item = with_extras(&name, self.documents.extras(child.many, &name, argument, Some(&made)));
            let collection = model.collection(child.many);
            write.steps.push(map! { "insertMany" => collection, "documents" => each(&name, &list, item) });
        }
        if write.steps.len() > 1 && !is_followed {
            write.result = Some("ok()".to_owned());
        }
        Ok(write)
    }

    /// The document of a record that the call makes.
    pub fn new_document(&self, entity: usize, argument: &str, into: &str, made: &Made) -> Node {
        let extras = self.documents.extras(entity, argument, into, Some(made));
        if extras.is_empty() { slot(argument) } else { with_extras(argument, extras) }
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
            if keys.len() > 1 || is_inner || option(options, "if").is_some() {
                let help = "make it an operation of its own, without `if` and other fields";
                return refuse(format!("`update: {argument}` moves a record and does more"), "not derived", help);
            }
            return self.relocate(argument, entity, relation, to);
        }
        self.check_fields(entity, &keys)?;
        self.check_newest(entity, "puts in another order", &keys)?;
        if let Some(relation) = (0..model.relations.len()).find(|relation| {
            let this = &model.relations[*relation];
            this.one == entity
                && self.documents.shape.is_mutual(model, *relation)
                && keys.iter().any(|key| key == this.down())
        }) {
            let message = format!("`{}` is in both directions, and all of it is changed", model.key(relation));
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
        let place = self.locate(argument, entity);
        let (mut write, copies) = self.changed_copies(entity, changes("set"))?;
        let set = [changes("set"), copies.as_mapping().unwrap_or_default()].concat();
        let mut update = map! {};
        for (operator, fields) in [("$set", &set[..]), ("$inc", changes("inc"))] {
            let put =
                |made, (key, value): &(Spanned<String>, Node)| with(made, &place.field(&key.value), value.clone());
            if !fields.is_empty() {
                update = with(update, operator, fields.iter().fold(map! {}, put));
            }
        }
        let update = place.guarded(&condition).update(update);
        let changed_fields = [("$set", changes("set")), ("$inc", changes("inc"))];
        let (before, sums) = self.follow_sums(argument, entity, changed_fields)?;
        write.steps.extend(before);
        let follow = [self.follow(argument, entity, changed_fields), sums].concat();
        // An update that passes by a record which moves must not take that for a false condition.
        let may_be_gone = self.may_be_gone(argument, entity) || self.wanders(entity);
        if otherwise.is_none() && follow.is_empty() && !write.is_joint {
            write.then(self.followed(entity, &place, update, is_inner));
            if is_inner && may_be_gone {
                write.steps.push(fail("reply.matched == 0", "not_found()"));
            }
            return Ok(write);
        }
        let changed = self.fresh("changed");
        let missed = format!("{changed}.matched == 0");
        write.steps.push(with(update, "as", changed.as_str()));
        match otherwise {
            // In the snapshot of the transaction the record is either gone, or the condition is false.
            Some(otherwise) if may_be_gone => {
                write.steps.push(missing(&missed, &place, &format!("reply == 0 ? not_found() : {otherwise}")));
            }
            Some(otherwise) => write.steps.push(fail(&missed, otherwise)),
            None if may_be_gone => write.steps.push(fail(&missed, "not_found()")),
            None => {}
        }
        write.is_joint |= otherwise.is_some() && may_be_gone || !follow.is_empty();
        if !follow.is_empty() {
            write.steps.push(map! { "if" => format!("{changed}.modified > 0"), "then" => follow });
        }
        Ok(Write { result: Some(format!("outcome({changed})")), ..write })
    }

    /// An update of a record in an array. Where records move, it may pass by the one that it is for: the update waits for
    /// the move to end, and its scan goes on behind the new place. It is repeated as long as the record is there.
    fn followed(&mut self, entity: usize, place: &Located, update: Node, is_inner: bool) -> Write {
        if is_inner || !self.wanders(entity) {
            return Write::one(update);
        }
        let written = self.fresh("written");
        let look: Vec<Node> = vec![place.count(), map! { "retry_if" => "reply > 0" }];
        let look = map! { "if" => format!("{written}.matched == 0"), "then" => look };
        let body: Vec<Node> = vec![with(update, "as", written.as_str()), look];
        let step = map! { "retry" => map! { "attempts" => ATTEMPTS }, "do" => body };
        Write { steps: vec![step], result: Some(format!("outcome({written})")), is_joint: false }
    }

    /// Gives a record another parent.
    fn relocate(&mut self, argument: &str, entity: usize, relation: usize, to: &Node) -> Derived<Write> {
        let model = self.model();
        let this = &model.relations[relation];
        let name = to.as_text().and_then(|text| text.strip_prefix('<')?.strip_suffix('>')).unwrap_or_default();
        if model.argument(self.operation, name).and_then(|one| one.entity) != Some(this.one) {
            let one = model.name(this.one);
            let message = format!("`{argument}` gets a parent that is not certainly a `{one}`");
            let help = format!("try `set: {{ {one}: <to> }}` with an argument `to: uniform({one})`");
            return refuse(message, "not an argument", help);
        }
        self.check_newest(entity, "moves", &[])?;
        self.check_bucket(entity, "moves")?;
        let (id, target) = (slot(&format!("{argument}._id")), slot(&format!("{name}._id")));
        let shape = self.documents.shape;
        let (word, is_copied) = (shape.word(relation), !shape.referenced(relation).is_empty());
        let set = map! { this.up() => target.clone() };
        if word == Word::Reference {
            let to = self.locate(name, this.one);
            let is_certain = !self.may_be_gone(name, this.one);
            if shape.has_totals(relation) {
                return Ok(self.relocate_counted((argument, entity), relation, name, &to));
            }
            if is_certain && !is_copied {
                return Ok(Write::one(self.locate(argument, entity).update(map! { "$set" => set })));
            }
            let moved = self.fresh("moved");
            let (mut write, source) = self.source(relation, &to, None, is_certain);
            let copies = self.copied_from(relation, &source, set);
            let update = self.locate(argument, entity).update(map! { "$set" => copies });
            write.steps.push(with(update, "as", moved.as_str()));
            return Ok(Write { result: Some(format!("outcome({moved})")), ..write });
        }
        let (owners, outer) = self.documents.shape.home(model, this.one);
        if !outer.is_empty() {
            let message = format!("`{}: embed` moves a record between two arrays of arrays", model.key(relation));
            let help = "try `reference` here, or write this operation by hand";
            return refuse_shape(relation, message, "not derived", help);
        }
        let (old, down) = (self.fresh("old"), this.down());
        let has_entries = word == Word::Embed || !shape.listed(relation).is_empty();
        let (field, pulled, projection) = if has_entries {
            let entry = map! { "_id" => id.clone() };
            (format!("{down}._id"), entry, map! { format!("{down}.$") => 1 })
        } else {
            (down.to_owned(), id.clone(), map! { "_id" => 1 })
        };
        self.documents.index(&owners, &[(field.clone(), 1)], false);
        let here = map! { "_id" => target.clone(), field.as_str() => id.clone() };
        let here = Located { collection: owners.clone(), path: Vec::new(), filter: here, id: id.clone() };
        let mut steps = Vec::new();
        let values = self.fresh("values");
        if !shape.sums(relation).is_empty() {
            let sums = all(shape.sums(relation), 1);
            steps.push(with(self.locate(argument, entity).find(Some(sums)), "as", values.as_str()));
            steps.push(fail(&format!("{values} == null"), "not_found()"));
        }
        let [less, more] = [false, true].map(|comes| self.totals(relation, &values, comes, &mut steps));
        let pull = together(map! { "$pull" => map! { down => pulled } }, &less);
        let take = map! {
            "findOneAndUpdate" => owners.as_str(),
            "filter" => map! { field.as_str() => id.clone(), "_id" => map! { "$ne" => target.clone() } },
            "update" => pull,
            "projection" => projection,
            "as" => old.as_str(),
        };
        steps.push(take);
        steps.push(missing(&format!("{old} == null"), &here, "reply == 0 ? not_found() : same()"));
        let mut entry = id;
        if has_entries {
            let record = self.fresh("record");
            steps.push(keep(&record, format!("{old}.{down}[0]")));
            entry = slot(&record);
        }
        let push = together(map! { "$push" => map! { down => entry } }, &more);
        if shape.up_word(relation) == Word::Reference {
            let place = self.document(&format!("{name}._id"), this.one);
            let (read, source) = self.source(relation, &place, Some(push), false);
            steps.extend(read.steps);
            let copies = self.copied_from(relation, &source, set);
            steps.push(self.locate(argument, entity).update(map! { "$set" => copies }));
        } else {
            steps.push(update_one(&owners, map! { "_id" => target }, push));
            steps.push(fail("reply.matched == 0", "not_found()"));
        }
        Ok(Write::joint(steps))
    }

    /// The same where both parents have totals, and the record the `_id` of its parent.
    fn relocate_counted(&mut self, record: (&str, usize), relation: usize, name: &str, to: &Located) -> Write {
        let (model, shape) = (self.model(), self.documents.shape);
        let this = &model.relations[relation];
        let place = self.locate(record.0, record.1);
        let old = self.fresh("old");
        let fields: Vec<&str> = shape.sums(relation).iter().map(String::as_str).chain([this.up()]).collect();
        let mut steps = vec![
            with(place.find(Some(all(&fields, 1))), "as", old.as_str()),
            fail(&format!("{old} == null"), "not_found()"),
            fail(&format!("{old}.{} == {name}._id", this.up()), "same()"),
        ];
        let [less, more] = [false, true].map(|comes| self.totals(relation, &old, comes, &mut steps));
        let (read, source) = self.source(relation, to, Some(more), false);
        steps.extend(read.steps);
        let owner = map! { "_id" => slot(&format!("{old}.{}", this.up())) };
        steps.push(update_one(&to.collection, owner, less));
        let copies = self.copied_from(relation, &source, map! { this.up() => slot(&format!("{name}._id")) });
        steps.push(place.update(map! { "$set" => copies }));
        Write::joint(steps)
    }

    fn delete(&mut self, argument: &str, is_inner: bool) -> Derived<Write> {
        let model = self.model();
        let entity = model.record(self.operation, argument)?;
        self.check_referrers(argument, entity)?;
        self.check_newest(entity, "deletes", &[])?;
        self.check_bucket(entity, "deletes")?;
        let id = slot(&format!("{argument}._id"));
        let mut steps = [self.below(entity, &id)?, self.leave_lists(entity, &id)].concat();
        let has_below = !steps.is_empty();
        let place = self.locate(argument, entity);
        if !place.path.is_empty() {
            let pull = map! { "$pull" => map! { place.path.join(".$[].") => map! { "_id" => id } } };
            let parent = model.parent_of(entity).unwrap_or_default();
            let pull = together(pull, &self.totals(parent, "", false, &mut steps));
            let update = update_one(&place.collection, place.filter.clone(), pull);
            if !has_below && !is_inner {
                return Ok(self.followed(entity, &place, update, false));
            }
            steps.extend([update, fail("reply.matched == 0", "not_found()")]);
            return Ok(Write { is_joint: has_below, ..Write::joint(steps) });
        }
        let (shape, parent) = (self.documents.shape, model.parent_of(entity));
        let kept = parent.filter(|relation| shape.word(*relation) == Word::List || shape.has_totals(*relation));
        let mut delete = map! { "deleteOne" => place.collection, "filter" => place.filter };
        let Some(relation) = kept else {
            if !has_below && !is_inner {
                return Ok(Write::one(delete));
            }
            steps.extend([delete, fail("reply.deleted == 0", "not_found()")]);
            return Ok(Write { is_joint: has_below, ..Write::joint(steps) });
        };
        let this = &model.relations[relation];
        let mut change = map! {};
        if shape.word(relation) == Word::List {
            let has_copies = !shape.listed(relation).is_empty();
            let entry = if has_copies {
                map! { "_id" => id.clone() }
            } else {
                id.clone()
            };
            change = map! { "$pull" => map! { this.down() => entry } };
        }
        let mut old = String::new();
        if shape.has_totals(relation) {
            old = self.fresh("old");
            let fields: Vec<&str> = shape.sums(relation).iter().map(String::as_str).chain([this.up()]).collect();
            let filter = delete.get("filter").cloned().unwrap_or_else(|| map! {});
            delete = map! { "findOneAndDelete" => model.collection(entity), "filter" => filter };
            delete = with(with(delete, "projection", all(&fields, 1)), "as", old.as_str());
            steps.extend([delete, fail(&format!("{old} == null"), "not_found()")]);
        } else {
            steps.extend([delete, fail("reply.deleted == 0", "not_found()")]);
        }
        let totals = self.totals(relation, &old, false, &mut steps);
        let filter = self.owner_filter(relation, argument, &old);
        steps.push(update_one(&model.collection(this.one), filter, together(change, &totals)));
        Ok(Write::joint(steps))
    }

    /// Refuses a record with a list of records that others have a part of, where only its owner is known.
    fn check_lists(&self, entity: usize, what: &str) -> Derived<()> {
        let (model, shape) = (self.model(), self.documents.shape);
        let is_shared = |relation: &usize| {
            let this = &model.relations[*relation];
            let has_copies = shape.is_mutual(model, *relation) || !shape.listed(*relation).is_empty();
            this.one == entity && this.kind == RelationKind::Listing && has_copies
        };
        match (0..model.relations.len()).find(is_shared) {
            None => Ok(()),
            Some(relation) => {
                let message = format!(
                    "`{}` has copies or both directions, and a `{}` {what}",
                    model.key(relation),
                    model.name(entity)
                );
                refuse_shape(relation, message, "not derived", "try `list` without fields")
            }
        }
    }

    /// Refuses to delete what other records refer to.
    fn check_referrers(&self, argument: &str, entity: usize) -> Derived<()> {
        let model = self.model();
        let refers = |relation: &usize| match model.relations[*relation].kind {
            RelationKind::Children => false,
            RelationKind::Reference => model.relations[*relation].one == entity,
            RelationKind::Listing => model.relations[*relation].many == entity,
        };
        if let Some(relation) = (0..model.relations.len()).find(refers) {
            let message = format!("`delete: {argument}` leaves `{}` without its record", model.key(relation));
            let help = "nothing says what becomes of it: mark the record with a field, or write the operation by hand";
            return refuse(message, "others refer to it", help);
        }
        for child in model.children_of(entity) {
            self.check_referrers(argument, model.relations[child].many)?;
        }
        Ok(())
    }

    /// The steps that delete what belongs to the records of these ids and is not in their documents.
    fn below(&mut self, entity: usize, ids: &Node) -> Derived<Vec<Node>> {
        let model = self.model();
        let mut steps = Vec::new();
        for child in model.children_of(entity) {
            let this = &model.relations[child];
            self.check_bucket(this.many, "deletes with the one that they belong to")?;
            self.check_lists(this.many, "is deleted with the record that it belongs to")?;
            let word = self.documents.shape.word(child);
            let mut below = model.children_of(this.many).peekable();
            if word == Word::Embed {
                if let Some(apart) = below.find(|below| self.documents.shape.word(*below) != Word::Embed) {
                    let key = model.key(apart);
                    let message = format!("`{key}` is not in the documents that a delete of their owners removes");
                    let help = "try `embed` for both relations, or `reference` for both";
                    return refuse_shape(apart, message, "who deletes these?", help);
                }
                continue;
            }
            let collection = model.collection(this.many);
            let by_owner = map! { this.up() => ids.clone() };
            // Where the `_id`s of the children are, and which documents have to be deleted.
            let is_listed = self.documents.shape.up_word(child) == Word::List;
            let (holders, by, field, value) = if is_listed {
                let all = format!("flatten(pluck(reply, '{}'))", this.down());
                let has_copies = !self.documents.shape.listed(child).is_empty();
                let value = if has_copies { format!("pluck({all}, '_id')") } else { all };
                (model.collection(this.one), map! { "_id" => ids.clone() }, this.down(), value)
            } else {
                self.documents.index(&collection, &[(this.up().to_owned(), 1)], false);
                (collection.clone(), by_owner.clone(), "_id", "pluck(reply, '_id')".to_owned())
            };
            let mut filter = by_owner;
            if is_listed || below.peek().is_some() {
                let gone = self.fresh("gone");
                steps.push(map! { "find" => holders, "filter" => by, "projection" => map! { field => 1 } });
                steps.push(keep(&gone, value));
                let gone = map! { "$in" => slot(&gone) };
                steps.extend(self.below(this.many, &gone)?);
                if is_listed {
                    filter = map! { "_id" => gone };
                }
            }
            steps.push(map! { "deleteMany" => collection, "filter" => filter });
        }
        Ok(steps)
    }

    /// Adds a record to a list of records, or removes it.
    fn link(&mut self, argument: &str, list: Option<&str>, adds: bool, is_inner: bool) -> Derived<Write> {
        let model = self.model();
        let entity = model.record(self.operation, argument)?;
        let list = list.unwrap_or_default();
        let PathEnd::Many(owner, relation, true) = self.subject(list, true)? else {
            let message = format!("`{list}` is not a list of records");
            return refuse(message, "a list is needed here", "for example `to: product.parts`");
        };
        let this = &model.relations[relation];
        if this.kind != RelationKind::Listing || this.many != entity {
            let message = format!("`{list}` is no field with a list of `{}`", model.name(entity));
            let help = "`add` and `remove` are for fields with lists of records; for children try `create`, `delete` or `update`";
            return refuse(message, "not such a list", help);
        }
        let place = self.locate(&owner, this.one);
        if let (false, Some(parent)) = (place.path.is_empty(), model.parent_of(this.one)) {
            let message = format!("`{list}` is inside of another record: `{}` is `embed`", model.key(parent));
            return refuse_shape(parent, message, "not derived", "try `reference` here");
        }
        let (shape, id) = (self.documents.shape, slot(&format!("{argument}._id")));
        let (listed, is_mutual) = (shape.listed(relation), shape.is_mutual(model, relation));
        let list_id = shape.list_id(model, relation);
        let other = self.document(&format!("{argument}._id"), entity);
        if is_inner && is_mutual {
            let message = format!("`{list}` is in both directions, and changed inside of `atomically`");
            return refuse_shape(relation, message, "not derived", "make it an operation of its own, or try `list`");
        }
        let mut steps = Vec::new();
        let mut source = argument.to_owned();
        if adds && !listed.is_empty() {
            source = self.fresh("source");
            // The other record is written later, or now, so that a change of its fields conflicts.
            let projection = all(listed, 1);
            let is_touched = !is_mutual && model.is_changed(entity, listed);
            let read = if is_touched {
                changed(&other, self.touch(&other, entity), projection)
            } else {
                other.find(Some(projection))
            };
            steps.push(with(read, "as", source.as_str()));
        }
        let of_id = |has_copies: bool, id: &Node| {
            if has_copies {
                map! { "_id" => id.clone() }
            } else {
                id.clone()
            }
        };
        let (state, operator, entry) = if adds {
            (map! { "$ne" => id.clone() }, "$push", entry(listed, argument, &source))
        } else {
            (id.clone(), "$pull", of_id(!listed.is_empty(), &id))
        };
        let guarded = Located { filter: with(place.filter.clone(), &list_id, state), ..self.locate(&owner, this.one) };
        let change = map! { operator => map! { this.down() => entry } };
        let copied = shape.referenced(relation);
        let (mut reply, mut missed) = ("reply".to_owned(), "reply.matched == 0".to_owned());
        if is_mutual && adds && !copied.is_empty() {
            reply = self.fresh("owner");
            missed = format!("{reply} == null");
            steps.push(with(changed(&guarded, change, all(copied, 1)), "as", reply.as_str()));
        } else {
            steps.push(guarded.update(change));
        }
        let may_be_gone = self.may_be_gone(&owner, this.one);
        if may_be_gone {
            steps.push(missing(&missed, &place, "reply == 0 ? not_found() : same()"));
        } else if !is_inner {
            steps.push(fail(&missed, "same()"));
        }
        if is_mutual {
            let back =
                if adds { shape.back_entry(relation, &owner, &reply) } else { of_id(!copied.is_empty(), &place.id) };
            steps.push(other.update(map! { operator => map! { this.up() => back } }));
        }
        Ok(Write { is_joint: may_be_gone || is_mutual || steps.len() > 2, ..Write::joint(steps) })
    }
}

/// A change of a document that returns fields of it.
pub(super) fn changed(place: &Located, change: Node, projection: Node) -> Node {
    let (collection, filter) = (place.collection.as_str(), place.filter.clone());
    map! { "findOneAndUpdate" => collection, "filter" => filter, "update" => change, "projection" => projection }
}

/// Where a condition is true, looks whether the record is there, and ends the operation with an outcome.
fn missing(condition: &str, place: &Located, outcome: &str) -> Node {
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
