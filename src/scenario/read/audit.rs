//! `audits`.

use super::fields::{Entry, Fields};
use super::{step, value};
use crate::scenario::audit::{Audit, Check};
use crate::scenario::quote;
use crate::scenario::{CommandWord, Diagnostic, Diagnostics, Node, Spanned, Step, StepKind, Tree};

const EXAMPLE: &str = "wrong_counts: { find: pages, filter: { $expr: { $ne: [$count, { $size: $comments }] } } }";

/// Keys beside the command, or beside the strategies' commands.
const OPTIONS: [&str; 4] = ["about", "strategies", "expect", "live"];

/// The commands that count.
const COMMANDS: [CommandWord; 4] =
    [CommandWord::Find, CommandWord::Aggregate, CommandWord::CountDocuments, CommandWord::Distinct];

/// The audits; those whose command cannot be understood are left out.
pub(super) fn audits(entries: &[Entry], diagnostics: &mut Diagnostics) -> Vec<Audit> {
    entries.iter().filter_map(|entry| audit(entry, diagnostics)).collect()
}

fn audit(entry: &Entry, diagnostics: &mut Diagnostics) -> Option<Audit> {
    let name = entry.0.clone();
    value::check_name(&name, "an audit", diagnostics);
    let entries = value::filled_mapping(entry, EXAMPLE, diagnostics)?;
    let (options, rest): (Vec<Entry>, Vec<Entry>) =
        entries.iter().cloned().partition(|(key, _)| OPTIONS.contains(&key.value.as_str()));
    let mut fields = Fields::new(&options, format!("audit {}", quote(&name.value)), name.span);
    let about = fields.optional("about").and_then(|entry| value::text(entry, "about: Lost comments.", diagnostics));
    let expect = fields.optional("expect").and_then(|entry| value::expression(entry, "expect: 0", diagnostics));
    let is_live = fields.optional("live").and_then(|entry| value::boolean(entry, "live: true", diagnostics));
    if let (Some(live), Some(expect)) = (&is_live, &expect)
        && live.value
    {
        diagnostics.push(
            Diagnostic::error(live.span, "an audit that is counted while calls run cannot `expect` a number of them")
                .also(expect.span, "expected here")
                .help("make it return the anomalies themselves, of which 0 are expected, or leave out `live`"),
        );
    }
    let strategies = fields.optional("strategies").map(|entry| strategies(entry, diagnostics));
    if rest.is_empty() {
        diagnostics.push(
            Diagnostic::error(name.span, format!("audit {} counts nothing", quote(&name.value)))
                .label("no command")
                .help(format!("write for example `{EXAMPLE}`")),
        );
        return None;
    }
    let about = about.map(|about| about.value);
    // A strategy may be called as a step that is no command, say `transaction`.
    if rest.iter().any(|(key, _)| CommandWord::ALL.iter().any(|word| word.name() == key.value)) {
        let command = Node { span: entry.1.span, tree: Tree::Mapping(rest) };
        let steps = counting(&(name.clone(), command), diagnostics)?;
        return Some(Audit { name, about, expect, is_live, check: Check::Same(strategies, steps) });
    }
    if let Some(entry) = options.iter().find(|(key, _)| key.value == "strategies") {
        diagnostics.push(
            Diagnostic::error(entry.0.span, "the strategies have commands of their own here")
                .help("leave `strategies` out, or give one command for all of them"),
        );
    }
    let commands: Vec<_> =
        rest.iter().filter_map(|command| Some((command.0.clone(), counting(command, diagnostics)?))).collect();
    Some(Audit { name, about, expect, is_live, check: Check::Each(commands) })
}

fn strategies(entry: &Entry, diagnostics: &mut Diagnostics) -> Vec<Spanned<String>> {
    let example = "strategies: [bucketed]";
    let items: &[Node] = value::list(entry, example, diagnostics).unwrap_or(&[]);
    items.iter().filter_map(|item| value::text(&(entry.0.clone(), item.clone()), example, diagnostics)).collect()
}

/// The one step of an audit, which must be a command that reads.
fn counting(entry: &Entry, diagnostics: &mut Diagnostics) -> Option<Vec<Step>> {
    let steps = step::steps(entry, diagnostics);
    match steps.as_slice() {
        [] => None,
        [Step { kind: StepKind::Command { word, .. }, .. }] if COMMANDS.contains(&word.value) => Some(steps),
        [step, ..] => {
            let problem = "an audit is one command that reads and counts rows";
            let names: Vec<String> = COMMANDS.iter().map(|word| quote(word.name())).collect();
            diagnostics.push(
                Diagnostic::error(step.span, problem)
                    .label("something else")
                    .help(format!("use one of {}", names.join(", "))),
            );
            None
        }
    }
}
