//! Writes: what each becomes, and when several documents need a transaction.

use crate::scenario::{LogicalStep, Node, Tree};

use super::build::{map, slot, with, with_all};
use super::document::with_extras;
use super::model::{PathEnd, RelationKind, option, text_option, texts};
use super::refusal::{Derived, refuse, refuse_shape};
use super::shape::Word;
use super::translate::{Options, Translation, id_of};

/// The key of a step that ends the operation: `abort` inside of a transaction, `return` elsewhere. No user writes it.
const FAIL: &str = "\0fail";

/// The most attempts of a transaction or update that meets others.
const ATTEMPTS: i64 = 1_000;

/// What a logical write becomes.
#[derive(Default)]
struct Write {
    steps: Vec<Node>,
    /// The outcome after the last step; `None`: that of the reply to it.
    result: Option<String>,
    /// Whether its steps are only right together.
    is_joint: bool,
}

impl Write {
    fn one(step: Node) -> Write {
        Write { steps: vec![step], ..Write::default() }
    }
}

impl Translation<'_, '_> {
    /// The steps of a logical write, which give the outcome of the call.
    pub fn write(&mut self, word: &str, target: &str, options: &Options, writes: &[LogicalStep]) -> Derived<Vec<Node>> {
        let mut write = Write::default();
        if word == "atomically" {
            write.is_joint = true;
            write.result = Some("ok()".to_owned());
            for step in writes {
                let LogicalStep::Logical { word, target, options, writes } = step else {
                    return refuse(
                        "a step inside of `atomically` that is no logical write",
                        "not derived",
                        "move it before",
                    );
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
    fn may_be_gone(&self, argument: &str, entity: usize) -> bool {
        let is_loaded = self.model().argument(self.operation, argument).is_some_and(|one| one.is_loaded);
        !is_loaded || self.model().is_deleted(entity)
    }

    /// Whether a record is in an array and may get into another one: itself, or with the record around it.
    fn wanders(&self, entity: usize) -> bool {
        let Some(relation) = self.model().parent_of(entity) else { return false };
        let is_inside = self.documents.shape.word(relation) == Word::Embed;
        is_inside && (self.model().is_moved(entity) || self.wanders(self.model().relations[relation].one))
    }

    /// An update of a record that changes nothing else: a transaction that deletes the record conflicts with it.
    fn touch(&mut self, argument: &str, entity: usize) -> [Node; 2] {
        let (collection, path, filter) = self.locate(argument, entity);
        let mut name = "touched".to_owned();
        while self.model().has_field(entity, &name) {
            name.push('_');
        }
        let update = map! { "$inc" => map! { positional(&path, &name).0 => 1 } };
        let update = map! { "updateOne" => collection, "filter" => filter, "update" => update };
        [with_filters(update, &path, argument), fail("reply.matched == 0", "not_found()")]
    }

    fn create(&mut self, argument: &str, options: &Options, is_inner: bool) -> Derived<Write> {
        let model = self.model();
        let entity = model.record(self.operation, argument)?;
        let name = model.name(entity);
        if !model.argument(self.operation, argument).is_some_and(|one| one.is_new) {
            let help = format!("draw it with `{argument}: new({name})`");
            return refuse(
                format!("`create: {argument}` is not a record that the call makes"),
                "it exists already",
                help,
            );
        }
        let parent = model.parent_of(entity);
        let into = text_option(options, "in");
        let owner = parent.map(|relation| model.relations[relation].one);
        match (owner, into) {
            (None, None) => {}
            (Some(one), Some(into)) if model.record(self.operation, into)? == one => {}
            (Some(one), _) => {
                let one = model.name(one);
                let message = format!("`create: {argument}` does not say which `{one}` it belongs to");
                return refuse(
                    message,
                    format!("`in` needs a `{one}`"),
                    format!("try `in: {one}`, an argument of that name"),
                );
            }
            (None, Some(_)) => {
                return refuse(
                    format!("`{name}` belongs to no other entity"),
                    "`in` of a record without parent",
                    "remove `in`",
                );
            }
        }
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
        let has = |relation: usize| with_it.contains(&relation);
        let extras = self.documents.extras(entity, argument, into.unwrap_or_default(), &has);
        let document = if extras.is_empty() { slot(argument) } else { with_extras(argument, extras) };
        let apart: Vec<usize> =
            with_it.iter().copied().filter(|child| self.documents.shape.word(*child) != Word::Embed).collect();
        let mut write = Write { is_joint: !apart.is_empty(), ..Write::default() };
        let word = parent.map(|relation| self.documents.shape.word(relation));
        let (collection, _) = self.documents.shape.home(model, entity);
        let insert = map! { "insertOne" => collection, "document" => document.clone() };
        match (word, owner.zip(into).zip(parent)) {
            (Some(Word::Embed), Some(((one, into), relation))) => {
                let (collection, path, filter) = self.locate(into, one);
                let field = positional(&path, model.relations[relation].down()).0;
                let update = map! { "$push" => map! { field => document } };
                let update =
                    map! { "updateOne" => collection.as_str(), "filter" => filter.clone(), "update" => update };
                let update = with_filters(update, &path, into);
                if self.wanders(one) && !is_inner && !write.is_joint {
                    return Ok(self.followed(one, (&collection, filter), update, false));
                }
                write.steps.push(update);
                if is_inner || write.is_joint {
                    write.steps.push(fail("reply.matched == 0", "not_found()"));
                }
            }
            (Some(Word::List), Some(((one, into), relation))) => {
                let (collection, _, filter) = self.locate(into, one);
                let push = map! { model.relations[relation].down() => slot(&format!("{argument}._id")) };
                let update = map! { "$push" => push };
                write.steps.push(map! { "updateOne" => collection, "filter" => filter, "update" => update });
                if self.may_be_gone(into, one) {
                    write.steps.push(fail("reply.matched == 0", "not_found()"));
                }
                write.steps.push(insert);
                write.is_joint = true;
            }
            (_, Some(((one, into), _))) if self.may_be_gone(into, one) => {
                write.steps.extend(self.touch(into, one));
                write.steps.push(insert);
                write.is_joint = true;
            }
            _ => write.steps.push(insert),
        }
        for relation in apart {
            let child = &model.relations[relation];
            let each = self.fresh(&format!("each_{}", model.name(child.many)));
            let extras = self.documents.extras(child.many, &each, argument, &|_| false);
            let item = with_extras(&each, extras);
            let list = format!("{argument}.{}", child.down());
            let documents: Vec<Node> = vec![map! { "forEach" => map! { each.as_str() => list }, "item" => item }];
            let (collection, _) = self.documents.shape.home(model, child.many);
            write.steps.push(map! { "insertMany" => collection, "documents" => documents });
        }
        if write.steps.len() > 1 {
            write.result = Some("ok()".to_owned());
        }
        Ok(write)
    }

    fn update(&mut self, argument: &str, options: &Options, is_inner: bool) -> Derived<Write> {
        let model = self.model();
        let entity = model.record(self.operation, argument)?;
        let changes = |key: &str| option(options, key).and_then(Node::as_mapping).unwrap_or_default();
        let keys: Vec<String> =
            [changes("set"), changes("inc")].concat().into_iter().map(|(key, _)| key.value).collect();
        if keys.is_empty() {
            return refuse(
                format!("`update: {argument}` changes nothing"),
                "no `set`, no `inc`",
                "try `set: { field: <value> }`",
            );
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
        if keys.iter().any(|key| key == "_id") {
            return refuse("a change of `_id`", "records are known by it", "create another record instead");
        }
        let condition = self.condition(entity, options, "if")?;
        let has_condition = condition.as_mapping().is_some_and(|entries| !entries.is_empty());
        let otherwise = option(options, "else").and_then(Node::as_text);
        if has_condition != otherwise.is_some() {
            let help = "for example `if: { stock: { $gt: 0 } }, else: rejected('stock')`";
            return refuse("`if` and `else` of an update belong together", "one is missing", help);
        }
        let (collection, path, filter) = self.locate(argument, entity);
        let operators =
            [("$set", changes("set")), ("$inc", changes("inc"))].into_iter().filter(|(_, fields)| !fields.is_empty());
        let update = operators.fold(map! {}, |made, (operator, fields)| {
            let fields = fields.iter();
            let fields =
                fields.fold(map! {}, |made, (key, value)| with(made, &positional(&path, &key.value).0, value.clone()));
            with(made, operator, fields)
        });
        let guarded = guard(filter.clone(), &path, argument, &condition);
        let update = map! { "updateOne" => collection.as_str(), "filter" => guarded, "update" => update };
        let update = with_filters(update, &path, argument);
        // An update that passes by a record which moves must not take that for a false condition.
        let may_be_gone = self.may_be_gone(argument, entity) || self.wanders(entity);
        let Some(otherwise) = otherwise else {
            let mut write = self.followed(entity, (&collection, filter), update, is_inner);
            if is_inner && may_be_gone {
                write.steps.push(fail("reply.matched == 0", "not_found()"));
            }
            return Ok(write);
        };
        let changed = self.fresh("changed");
        let mut steps = vec![with(update, "as", changed.as_str())];
        let missed = format!("{changed}.matched == 0");
        if may_be_gone {
            // In the snapshot of the transaction the record is either gone, or the condition is false.
            let outcome = format!("reply == 0 ? not_found() : {otherwise}");
            let then: Vec<Node> =
                vec![map! { "countDocuments" => collection, "filter" => filter }, map! { FAIL => outcome }];
            steps.push(map! { "if" => missed, "then" => then });
        } else {
            steps.push(fail(&missed, otherwise));
        }
        Ok(Write { steps, result: Some(format!("outcome({changed})")), is_joint: may_be_gone })
    }

    /// An update of a record in an array. Where records move, it may pass by the one that it is for: the update waits for
    /// the move to end, and its scan goes on behind the new place. It is repeated as long as the record is there.
    fn followed(&mut self, entity: usize, place: (&str, Node), update: Node, is_inner: bool) -> Write {
        if is_inner || !self.wanders(entity) {
            return Write::one(update);
        }
        let written = self.fresh("written");
        let (collection, filter) = place;
        let look: Vec<Node> =
            vec![map! { "countDocuments" => collection, "filter" => filter }, map! { "retry_if" => "reply > 0" }];
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
            let help = format!("try `set: {{ {one}: <to> }}` with an argument `to: uniform({one})`");
            return refuse(
                format!("`{argument}` gets a parent that is not certainly a `{one}`"),
                "not an argument",
                help,
            );
        }
        let (id, target) = (slot(&format!("{argument}._id")), slot(&format!("{name}._id")));
        let (owners, outer) = self.documents.shape.home(model, this.one);
        let word = self.documents.shape.word(relation);
        if word == Word::Reference {
            let update = map! { "$set" => map! { this.up() => target } };
            let (collection, _, filter) = self.locate(argument, entity);
            let update = map! { "updateOne" => collection, "filter" => filter, "update" => update };
            if !self.may_be_gone(name, this.one) {
                return Ok(Write::one(update));
            }
            let moved = self.fresh("moved");
            let mut steps = self.touch(name, this.one).to_vec();
            steps.push(with(update, "as", moved.as_str()));
            return Ok(Write { steps, result: Some(format!("outcome({moved})")), is_joint: true });
        }
        if !outer.is_empty() {
            let message = format!("`{}: embed` moves a record between two arrays of arrays", model.key(relation));
            return refuse_shape(
                relation,
                message,
                "not derived",
                "try `reference` here, or write this operation by hand",
            );
        }
        let (old, down) = (self.fresh("old"), this.down());
        let is_embedded = word == Word::Embed;
        let field = if is_embedded { format!("{down}._id") } else { down.to_owned() };
        self.documents.index(&owners, &[(field.clone(), 1)], false);
        let pulled = if is_embedded {
            map! { "_id" => id.clone() }
        } else {
            id.clone()
        };
        let projection = if is_embedded {
            map! { format!("{down}.$") => 1 }
        } else {
            map! { "_id" => 1 }
        };
        let take = map! {
            "findOneAndUpdate" => owners.as_str(),
            "filter" => map! { field.as_str() => id.clone(), "_id" => map! { "$ne" => target.clone() } },
            "update" => map! { "$pull" => map! { down => pulled } },
            "projection" => projection,
            "as" => old.as_str(),
        };
        let here = map! { "_id" => target.clone(), field => id.clone() };
        let missed: Vec<Node> = vec![
            map! { "countDocuments" => owners.as_str(), "filter" => here },
            map! { FAIL => "reply == 0 ? not_found() : same()" },
        ];
        let mut steps = vec![take, map! { "if" => format!("{old} == null"), "then" => missed }];
        let entry = if is_embedded {
            let record = self.fresh("record");
            steps.push(map! { "let" => map! { record.as_str() => format!("{old}.{down}[0]") } });
            slot(&record)
        } else {
            id
        };
        let push = map! { "$push" => map! { down => entry } };
        steps.push(map! { "updateOne" => owners, "filter" => map! { "_id" => target }, "update" => push });
        steps.push(fail("reply.matched == 0", "not_found()"));
        Ok(Write { steps, result: Some("ok()".to_owned()), is_joint: true })
    }

    fn delete(&mut self, argument: &str, is_inner: bool) -> Derived<Write> {
        let model = self.model();
        let entity = model.record(self.operation, argument)?;
        self.check_referrers(argument, entity)?;
        let id = slot(&format!("{argument}._id"));
        let mut steps = self.below(entity, &id)?;
        let has_below = !steps.is_empty();
        let (collection, path, filter) = self.locate(argument, entity);
        let parent = model.parent_of(entity);
        if !path.is_empty() {
            let array = path.join(".$[].");
            let pull = map! { "$pull" => map! { array => map! { "_id" => id } } };
            let update = map! { "updateOne" => collection.as_str(), "filter" => filter.clone(), "update" => pull };
            if !has_below && !is_inner {
                return Ok(self.followed(entity, (&collection, filter), update, false));
            }
            steps.extend([update, fail("reply.matched == 0", "not_found()")]);
            return Ok(Write { steps, result: Some("ok()".to_owned()), is_joint: has_below });
        }
        let delete = map! { "deleteOne" => collection, "filter" => filter };
        let listing = parent.filter(|relation| self.documents.shape.word(*relation) == Word::List);
        if !has_below && !is_inner && listing.is_none() {
            return Ok(Write::one(delete));
        }
        steps.extend([delete, fail("reply.deleted == 0", "not_found()")]);
        if let Some(relation) = listing {
            let this = &model.relations[relation];
            let owners = model.collection(this.one);
            self.documents.index(&owners, &[(this.down().to_owned(), 1)], false);
            let pull = map! { "$pull" => map! { this.down() => id.clone() } };
            steps.push(map! { "updateOne" => owners, "filter" => map! { this.down() => id }, "update" => pull });
        }
        Ok(Write { steps, result: Some("ok()".to_owned()), is_joint: has_below || listing.is_some() })
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
            let (collection, _) = self.documents.shape.home(model, this.many);
            let has_below = model.children_of(this.many).next().is_some();
            match self.documents.shape.word(child) {
                Word::Embed => {
                    if let Some(apart) =
                        model.children_of(this.many).find(|below| self.documents.shape.word(*below) != Word::Embed)
                    {
                        let message = format!(
                            "`{}` is not in the documents that a delete of their owners removes",
                            model.key(apart)
                        );
                        let help = "try `embed` for both relations, or `reference` for both";
                        return refuse_shape(apart, message, "who deletes these?", help);
                    }
                }
                Word::Reference => {
                    self.documents.index(&collection, &[(this.up().to_owned(), 1)], false);
                    let filter = map! { this.up() => ids.clone() };
                    if has_below {
                        let gone = self.fresh("gone");
                        steps.push(map! { "find" => collection.as_str(), "filter" => filter.clone(), "projection" => map! { "_id" => 1 } });
                        steps.push(map! { "let" => map! { gone.as_str() => "pluck(reply, '_id')" } });
                        steps.extend(self.below(this.many, &map! { "$in" => slot(&gone) })?);
                    }
                    steps.push(map! { "deleteMany" => collection, "filter" => filter });
                }
                Word::List => {
                    let gone = self.fresh("gone");
                    let owners = model.collection(this.one);
                    let filter = map! { "_id" => ids.clone() };
                    steps
                        .push(map! { "find" => owners, "filter" => filter, "projection" => map! { this.down() => 1 } });
                    steps.push(
                        map! { "let" => map! { gone.as_str() => format!("flatten(pluck(reply, '{}'))", this.down()) } },
                    );
                    let gone = map! { "$in" => slot(&gone) };
                    steps.extend(self.below(this.many, &gone)?);
                    steps.push(map! { "deleteMany" => collection, "filter" => map! { "_id" => gone } });
                }
            }
        }
        Ok(steps)
    }

    /// Adds a record to a list of records, or removes it.
    fn link(&mut self, argument: &str, list: Option<&str>, adds: bool, is_inner: bool) -> Derived<Write> {
        let model = self.model();
        let entity = model.record(self.operation, argument)?;
        let list = list.unwrap_or_default();
        let subject = self.subject(list, true)?;
        let PathEnd::Many(owner, relation, true) = subject else {
            return refuse(
                format!("`{list}` is not a list of records"),
                "a list is needed here",
                "for example `to: product.parts`",
            );
        };
        let this = &model.relations[relation];
        if this.kind != RelationKind::Listing || this.many != entity {
            let help = "`add` and `remove` are for fields with lists of records; for children try `create`, `delete` or `update`";
            return refuse(
                format!("`{list}` is no field with a list of `{}`", model.name(entity)),
                "not such a list",
                help,
            );
        }
        let (collection, path, filter) = self.locate(&owner, this.one);
        if let (false, Some(parent)) = (path.is_empty(), model.parent_of(this.one)) {
            let message = format!("`{list}` is inside of another record: `{}` is `embed`", model.key(parent));
            return refuse_shape(parent, message, "not derived", "try `reference` here");
        }
        let id = slot(&format!("{argument}._id"));
        let down = this.down();
        let (state, operator) = if adds { (map! { "$ne" => id.clone() }, "$push") } else { (id.clone(), "$pull") };
        let change = map! { operator => map! { down => id } };
        let guarded = with(filter.clone(), down, state);
        let mut steps = vec![map! { "updateOne" => collection.as_str(), "filter" => guarded, "update" => change }];
        let may_be_gone = self.may_be_gone(&owner, this.one);
        if may_be_gone {
            let outcome = "reply == 0 ? not_found() : same()";
            let then: Vec<Node> =
                vec![map! { "countDocuments" => collection, "filter" => filter }, map! { FAIL => outcome }];
            steps.push(map! { "if" => "reply.matched == 0", "then" => then });
        } else if !is_inner {
            steps.push(fail("reply.matched == 0", "same()"));
        }
        Ok(Write { steps, result: Some("ok()".to_owned()), is_joint: may_be_gone })
    }
}

/// Ends the operation with an outcome if a condition is true.
fn fail(condition: &str, outcome: &str) -> Node {
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

/// The path of a field of a record in arrays for an update, and whether it needs an array filter.
fn positional(path: &[String], field: &str) -> (String, bool) {
    match path {
        [] => (field.to_owned(), false),
        [array] => (format!("{array}.$.{field}"), false),
        [outer, inner @ ..] => (format!("{outer}.$[].{}.$[x].{field}", inner.join(".$[].")), true),
    }
}

/// The update with the array filter of a record in two arrays.
fn with_filters(update: Node, path: &[String], argument: &str) -> Node {
    if !positional(path, "").1 {
        return update;
    }
    with(update, "arrayFilters", vec![map! { "x._id" => slot(&format!("{argument}._id")) }])
}

/// The filter of a record with a condition on its fields.
fn guard(filter: Node, path: &[String], argument: &str, condition: &Node) -> Node {
    let has_condition = condition.as_mapping().is_some_and(|entries| !entries.is_empty());
    match path.split_last() {
        _ if !has_condition => filter,
        None => with_all(filter, condition),
        Some((last, outer)) => {
            let record = with_all(map! { "_id" => slot(&format!("{argument}._id")) }, condition);
            let element = map! { last => map! { "$elemMatch" => record } };
            let element =
                outer.iter().rev().fold(element, |inner, array| map! { array => map! { "$elemMatch" => inner } });
            let kept = filter.as_mapping().unwrap_or_default().iter().filter(|(key, _)| key.value != id_of(path));
            let kept = kept.fold(map! {}, |made, (key, value)| with(made, &key.value, value.clone()));
            with_all(kept, &element)
        }
    }
}
