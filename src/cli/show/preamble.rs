//! Title, parameters and argument expressions of a scenario, as comments.

use std::fmt::Write as _;

use crate::plan::{Plan, written};
use crate::report::{plain, wrap};
use crate::scenario::{CollectionDefinition, Node, Scenario, Spanned};

use super::code;

/// Returns the title, the parameters, and how the arguments of the operations are drawn.
pub fn preamble(scenario: &Scenario, plan: &Plan) -> String {
    let mut text = String::new();
    comment(&mut text, "", &format!("{}: {}", plan.name, plan.title));
    comment(&mut text, "", &plan.about);
    if !plan.parameters.is_empty() {
        text.push_str("//\n// Parameters\n");
        for (name, value) in &plan.parameters {
            comment(&mut text, "  ", &format!("{name} = {}", written(value)));
        }
    }
    text.push_str("//\n// Operations, and how their arguments are drawn\n");
    for operation in &scenario.operations {
        let arguments = operation.arguments.iter();
        let drawn = arguments.map(|(name, value)| format!("{} = {}", name.value, as_written(value)));
        comment(&mut text, "  ", &format!("{}({})", operation.name.value, drawn.collect::<Vec<_>>().join(", ")));
    }
    text.push_str("//\n");
    comment(
        &mut text,
        "",
        "Below, every operation of each strategy is called once: the statements are the commands that docshape sends, \
         followed by the server's reply in short. They can be pasted into mongosh, where ids that a server makes are \
         others. Helpers omit readConcern local and writeConcern majority, the server's defaults.",
    );
    text
}

/// Returns which documents a collection has before the first call.
pub fn filling(collection: &CollectionDefinition) -> String {
    let Some(each) = &collection.each else { return "empty at first".to_owned() };
    match each.as_mapping() {
        None => format!("one document per {}", each.as_text().unwrap_or_default()),
        Some(loops) => {
            let one = |(name, list): &(Spanned<String>, Node)| format!("{} of {}", name.value, as_written(list));
            format!("one document per {}", loops.iter().map(one).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Returns an expression as the scenario writes it.
fn as_written(node: &Node) -> String {
    node.on_one_line(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Adds comment lines of at most the usual width, indented, and more so from the second line on. What a scenario says stays a
/// comment and does nothing to a terminal.
pub fn comment(text: &mut String, indent: &str, sentence: &str) {
    let lines = wrap(&plain(sentence), code::WIDTH - "// ".len() - 2 * indent.len());
    for (place, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let indent = indent.repeat(1 + place.min(1));
        let _ = writeln!(text, "//{indent} {line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_scenario_stay_comments() {
        let mut text = String::new();
        comment(&mut text, "", "evil\ndb.dropDatabase()\r\u{2028}db.x.drop() \u{1b}[2J \u{202e}");
        assert!(text.lines().all(|line| line.starts_with("// ")), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{2028}', '\r']), "{text}");
    }
}
