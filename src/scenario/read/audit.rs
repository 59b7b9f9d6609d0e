//! `audits`.

use std::sync::Arc;

use crate::scenario::command::COMMANDS as ALL_COMMANDS;
use crate::scenario::{
    AuditDefinition, AuditRule, CommandWord, Diagnostic, Diagnostics, Node, Spanned, StepDefinition, StepKind, Tree,
    keys, list_of, quote,
};

use super::entry::Entry;
use super::fields::Fields;
use super::{step, value};

const EXAMPLE: &str = "wrong_counts: { find: pages, filter: { $expr: { $ne: [$count, { $size: $comments }] } } }";

/// The commands that count.
const COMMANDS: [CommandWord; 4] =
    [CommandWord::Find, CommandWord::Aggregate, CommandWord::CountDocuments, CommandWord::Distinct];

/// An audit; `None` when its command cannot be understood.
pub(crate) fn audit(entry: &Entry, diagnostics: &Diagnostics) -> Option<AuditDefinition> {
    let name = entry.0.clone();
    value::check_name(&name, "an audit", diagnostics);
    let entries = value::filled_mapping(entry, EXAMPLE, diagnostics)?;
    let is_option = |key: &str| keys::AUDIT.iter().any(|option| option.name == key);
    let (options, commands): (Vec<Entry>, Vec<Entry>) =
        entries.iter().cloned().partition(|(key, _)| is_option(&key.value));
    let (excluded, commands): (Vec<Entry>, Vec<Entry>) = commands.into_iter().partition(is_exclusion);
    let what = format!("audit {}", quote(&name.value));
    let fields = Fields::read(&options, &what, name.span, keys::AUDIT, diagnostics);
    let (expect, live) = (fields.node("expect"), fields.boolean("live").filter(|live| live.value));
    if let (Some(live), Some(expect)) = (&live, &expect) {
        Diagnostic::error(live.span, "`live: true` with `expect`")
            .label("counted while calls run")
            .also(expect.span, "a number that is only known after the calls")
            .help("return the anomalies themselves, of which 0 are expected, or leave out `live`")
            .add_to(diagnostics);
    }
    if commands.is_empty() {
        let help = format!("for example: `{EXAMPLE}`");
        diagnostics.labelled(name.span, format!("missing command in {what}"), "counts nothing", help);
        return None;
    }
    // A strategy may have the name of a step that is not a command, such as `transaction`.
    let is_shared = commands.iter().any(|(key, _)| CommandWord::named(&key.value).is_some());
    let strategies = fields.entry("strategies");
    let inherited =
        |name: &Spanned<String>, steps| AuditRule { strategy: Some(name.clone()), is_inherited: true, steps };
    let mut rules: Vec<AuditRule> = excluded.iter().map(|(name, _)| inherited(name, None)).collect();
    if is_shared {
        let command = Node { span: entry.1.span, tree: Tree::Mapping(commands) };
        let steps = Some(counting(&(name.clone(), command), diagnostics)?);
        match strategies {
            Some(_) => rules.extend(fields.texts("strategies").iter().map(|name| listed(name, steps.clone()))),
            None => rules.push(AuditRule { strategy: None, is_inherited: false, steps }),
        }
    } else {
        if let Some(strategies) = strategies {
            let message = "`strategies` with a command per strategy";
            let help = "leave out `strategies`, or write one command for all of them";
            diagnostics.labelled(strategies.0.span, message, "names them a second time", help);
        }
        let rule = |command: &Entry| Some(inherited(&command.0, Some(counting(command, diagnostics)?)));
        rules.extend(commands.iter().filter_map(rule));
    }
    Some(AuditDefinition { name, expect, is_live: live.is_some(), rules })
}

/// Whether it is `NAME: none`, and `none` is not the value of a command's key.
fn is_exclusion((key, node): &Entry) -> bool {
    let mut keys = ALL_COMMANDS.iter().flat_map(|(_, keys)| keys.iter());
    node.as_text() == Some("none") && keys.all(|option| option.name != key.value)
}

/// The rule for an item of `strategies`: `NAME`, or `like NAME`.
fn listed(item: &Spanned<String>, steps: Option<Arc<[StepDefinition]>>) -> AuditRule {
    let like = item.value.strip_prefix("like ").map(str::trim);
    let strategy = Spanned::new(like.unwrap_or(&item.value).to_owned(), item.span);
    AuditRule { strategy: Some(strategy), is_inherited: like.is_some(), steps }
}

/// The one step of an audit, which must be a command that reads.
fn counting(entry: &Entry, diagnostics: &Diagnostics) -> Option<Arc<[StepDefinition]>> {
    let steps = step::steps(entry, diagnostics);
    match steps.as_slice() {
        [] => None,
        [StepDefinition { kind: StepKind::Command { word, .. }, .. }] if COMMANDS.contains(&word.value) => {
            Some(steps.into())
        }
        [step, ..] => {
            let help = format!("try one of {}", list_of(&COMMANDS.map(CommandWord::name)));
            diagnostics.labelled(step.span, "expected one command that reads and counts rows", "something else", help);
            None
        }
    }
}
