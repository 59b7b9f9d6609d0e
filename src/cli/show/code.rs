//! JavaScript values and calls as a tree, and their layout on lines.

/// The widest line.
pub const WIDTH: usize = 100;
const INDENT: usize = 2;

/// A piece of JavaScript that can be broken over lines.
#[derive(Debug, Clone, PartialEq)]
pub enum Code {
    /// Text that stays on one line.
    Atom(String),
    /// `{ key: value }`, each part with its prefix: `key: `, or none for a comment.
    Object(Vec<(String, Code)>),
    /// `[a, b]`.
    Array(Vec<Code>),
    /// `name(a, b)`.
    Call(String, Vec<Code>),
    /// Codes that follow each other without a line break between them: `db.c.find({}).sort({ a: 1 })`.
    Chain(Vec<Code>),
}

impl Code {
    /// Returns the code at `indent` columns, after `before` columns of the first line and followed by `after` columns.
    pub fn layout(&self, indent: usize, before: usize, after: usize) -> String {
        let flat = self.flat();
        if before + width(&flat) + after <= WIDTH {
            return flat;
        }
        match self {
            Code::Atom(_) => flat,
            Code::Object(parts) => {
                broken("{", parts.iter().map(|(prefix, value)| (prefix.as_str(), value)), "}", indent)
            }
            Code::Array(items) => broken("[", items.iter().map(|item| ("", item)), "]", indent),
            Code::Call(name, arguments) => match arguments.as_slice() {
                [] => flat,
                [only] => format!("{name}({})", only.layout(indent, before + width(name) + 1, after + 1)),
                several => broken(&format!("{name}("), several.iter().map(|argument| ("", argument)), ")", indent),
            },
            // A line that begins with a dot would be a statement of its own to the shell that it is pasted into.
            Code::Chain(codes) => codes.iter().fold(String::new(), |text, code| {
                let column = text.rfind('\n').map_or(before + width(&text), |at| width(&text[at + 1..]));
                let next = code.layout(indent, column, after);
                text + &next
            }),
        }
    }

    fn flat(&self) -> String {
        let joined = |items: &[Code]| items.iter().map(Code::flat).collect::<Vec<_>>().join(", ");
        match self {
            Code::Atom(text) => text.clone(),
            Code::Object(parts) if parts.is_empty() => "{}".to_owned(),
            Code::Object(parts) => {
                let parts: Vec<String> =
                    parts.iter().map(|(prefix, value)| format!("{prefix}{}", value.flat())).collect();
                format!("{{ {} }}", parts.join(", "))
            }
            Code::Array(items) => format!("[{}]", joined(items)),
            Code::Call(name, arguments) => format!("{name}({})", joined(arguments)),
            Code::Chain(codes) => codes.iter().map(Code::flat).collect(),
        }
    }
}

/// Lays out a part per line.
fn broken<'c>(open: &str, parts: impl Iterator<Item = (&'c str, &'c Code)>, close: &str, indent: usize) -> String {
    let inner = indent + INDENT;
    let mut text = format!("{open}\n");
    for (prefix, part) in parts {
        let part = part.layout(inner, inner + width(prefix), 1);
        text.push_str(&format!("{:inner$}{prefix}{part},\n", ""));
    }
    text + &format!("{:indent$}{close}", "")
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atom(text: &str) -> Code {
        Code::Atom(text.to_owned())
    }

    fn object(key: &str, value: Code) -> Code {
        Code::Object(vec![(format!("{key}: "), value)])
    }

    fn call(name: &str, arguments: Vec<Code>) -> Code {
        Code::Call(name.to_owned(), arguments)
    }

    #[test]
    fn short_code_stays_on_one_line() {
        let update = object("$push", object("comments", atom("1")));
        let code = call("db.posts.updateOne", vec![object("_id", atom("2")), update]);
        assert_eq!(code.layout(0, 0, 0), "db.posts.updateOne({ _id: 2 }, { $push: { comments: 1 } })");
    }

    #[test]
    fn long_code_is_broken_from_the_outside() {
        let long = atom(&format!("'{}'", "x".repeat(50)));
        let filter = object("_id", atom("2"));
        let code = call("db.posts.updateOne", vec![filter.clone(), object("text", long.clone()), filter]);
        insta::assert_snapshot!(code.layout(2, 2, 0), @r"
        db.posts.updateOne(
            { _id: 2 },
            { text: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' },
            { _id: 2 },
          )
        ");
        let code = call("db.c.aggregate", vec![Code::Array(vec![long, atom("/* 2 more */")])]);
        insta::assert_snapshot!(code.layout(0, 40, 0), @r"
        db.c.aggregate([
          'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
          /* 2 more */,
        ])
        ");
    }

    #[test]
    fn calls_on_a_result_follow_on_the_same_line() {
        let filter = Code::Object(vec![("a: ".into(), atom(&"n".repeat(60))), ("b: ".into(), atom(&"n".repeat(40)))]);
        let code = Code::Chain(vec![call("db.c.find", vec![filter]), call(".limit", vec![atom("10")])]);
        insta::assert_snapshot!(code.layout(0, 0, 0), @r"
        db.c.find({
          a: nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn,
          b: nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn,
        }).limit(10)
        ");
    }
}
