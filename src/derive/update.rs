//! `update`: changes of a record, of its copies and of numbers about it.

use crate::scenario::Node;

use super::build::{all, is_empty, map, with};
use super::located::Located;
use super::model::{option, text_option};
use super::refusal::{Derived, refuse, refuse_shape};
use super::split::SplitUpdate;
use super::totals::FollowedSums;
use super::translate::{Options, Translation};
use super::write::{Write, changed, fail, missing};

/// What an update has found, in expressions.
struct UpdateReply {
    /// Whether there was no such record.
    missed: String,
    /// Whether it changed something; empty: always.
    modified: String,
    /// The outcome.
    result: String,
}

impl Translation<'_, '_> {
    pub fn update(&mut self, argument: &str, options: &Options, is_inner: bool) -> Derived<Write> {
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
        self.check_changed(entity, &keys)?;
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
        let is_whole = sums.as_ref().is_some_and(|sums| sums.is_all);
        let UpdateReply { missed, modified, result } =
            self.changed_with(&mut write, &place, &guarded, update, sums.as_ref());
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
        let is_added = changes("set").is_empty() || is_whole;
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

    /// Refuses changes of fields that an update cannot change.
    fn check_changed(&self, entity: usize, keys: &[String]) -> Derived<()> {
        let model = self.model();
        self.check_fields(entity, keys)?;
        self.check_newest(entity, "puts in another order", keys)?;
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
        Ok(())
    }

    /// Adds an update that tells what it has found. It returns the old numbers, if these alone tell whether it has changed something.
    fn changed_with(
        &mut self,
        write: &mut Write,
        place: &Located,
        guarded: &Located,
        update: Node,
        sums: Option<&FollowedSums>,
    ) -> UpdateReply {
        if let Some(sums) = sums.filter(|sums| sums.is_all) {
            let change = changed(guarded, update, sums.projection.clone());
            write.steps.push(with(change, "as", sums.old.as_str()));
            let modified = sums.differs.join(" || ");
            let result = if modified.is_empty() { "ok()".to_owned() } else { format!("{modified} ? ok() : same()") };
            return UpdateReply { missed: format!("{} == null", sums.old), modified, result };
        }
        if let Some(sums) = sums {
            write.steps.push(with(place.find(Some(sums.projection.clone())), "as", sums.old.as_str()));
            write.steps.push(fail(&format!("{} == null", sums.old), "not_found()"));
        }
        let changed = self.fresh("changed");
        write.steps.push(with(guarded.update(update), "as", changed.as_str()));
        UpdateReply {
            missed: format!("{changed}.matched == 0"),
            modified: format!("{changed}.modified > 0"),
            result: format!("outcome({changed})"),
        }
    }
}

/// Refuses to return what a write of more than one document made, or of one that may be gone.
fn not_returned<T>() -> Derived<T> {
    let message = "`returning` of a record that is in an array, has copies or numbers elsewhere, or may be gone";
    refuse(message, "not derived", "write this operation by hand")
}
