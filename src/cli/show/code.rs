//! JavaScript values and calls as a tree, and how the tree is laid out on lines.

/// The widest line.
pub const WIDTH: usize = 100;
const INDENT: usize = 2;

/// A piece of JavaScript that can be broken over lines.
#[derive(Debug, Clone, PartialEq)]
pub enum Code {
    /// Stays as it is.
    Atom(String),
    /// A comment among the parts of an object or array.
    Comment(String),
    /// `{ key: value, ...spread }`.
    Object(Vec<(Key, Code)>),
    /// `[a, b]`.
    Array(Vec<Code>),
    /// `head(a, b).name(c)`: a call, and calls on what it gives.
    Chain(Vec<(String, Vec<Code>)>),
    /// `list.map(name => item)` as part of an array.
    Each {
        /// The list, an expression.
        list: String,
        /// What an item of it is called.
        name: String,
        /// What is made of it.
        item: Box<Code>,
    },
}

/// The key of a part of an object.
#[derive(Debug, Clone, PartialEq)]
pub enum Key {
    /// Written before a colon.
    Name(String),
    /// `...value`.
    Spread,
    /// The value is a comment.
    None,
}

impl Code {
    /// The code at `indent` columns, after `before` columns of the first line and followed by `after` columns.
    pub fn layout(&self, indent: usize, before: usize, after: usize) -> String {
        let flat = self.flat();
        if before + flat.chars().count() + after <= WIDTH {
            return flat;
        }
        match self {
            Code::Atom(_) | Code::Comment(_) => flat,
            Code::Object(entries) if entries.is_empty() => flat,
            Code::Object(entries) => {
                broken(("{", "}"), indent, entries.iter().map(|(key, value)| (key.prefix(), value)))
            }
            Code::Array(items) => broken(("[", "]"), indent, items.iter().map(|item| (String::new(), item))),
            Code::Chain(calls) => chain(calls, indent, before),
            Code::Each { list, name, item } => {
                let head = format!("...{list}.map({name} => ");
                let item = item.layout(indent, before + head.chars().count() + 1, 2);
                format!("{head}{})", in_parentheses(item))
            }
        }
    }

    /// The code on one line.
    pub fn flat(&self) -> String {
        let joined = |items: &[Code]| items.iter().map(Code::flat).collect::<Vec<_>>().join(", ");
        match self {
            Code::Atom(text) => text.clone(),
            Code::Comment(text) => format!("/* {text} */"),
            Code::Object(entries) if entries.is_empty() => "{}".to_owned(),
            Code::Object(entries) => {
                let parts: Vec<String> = entries.iter().map(|(key, value)| key.prefix() + &value.flat()).collect();
                format!("{{ {} }}", parts.join(", "))
            }
            Code::Array(items) => format!("[{}]", joined(items)),
            Code::Chain(calls) => {
                let call = |(name, arguments): &(String, Vec<Code>)| format!("{name}({})", joined(arguments));
                calls.iter().map(call).collect::<Vec<_>>().join(".")
            }
            Code::Each { list, name, item } => format!("...{list}.map({name} => {})", in_parentheses(item.flat())),
        }
    }
}

impl Key {
    fn prefix(&self) -> String {
        match self {
            Key::Name(name) => format!("{name}: "),
            Key::Spread => "...".to_owned(),
            Key::None => String::new(),
        }
    }
}

/// An arrow function's body in braces would be statements.
fn in_parentheses(code: String) -> String {
    if code.starts_with('{') { format!("({code})") } else { code }
}

/// A part per line.
fn broken<'c>((open, close): (&str, &str), indent: usize, parts: impl Iterator<Item = (String, &'c Code)>) -> String {
    let inner = indent + INDENT;
    let mut text = format!("{open}\n");
    for (prefix, part) in parts {
        let before = inner + prefix.chars().count();
        let end = if matches!(part, Code::Comment(_)) { "" } else { "," };
        text.push_str(&format!("{:inner$}{prefix}{}{end}\n", "", part.layout(inner, before, end.len())));
    }
    text + &format!("{:indent$}{close}", "")
}

/// One call keeps its parentheses on the lines of its head and tail; several calls get a line each.
fn chain(calls: &[(String, Vec<Code>)], indent: usize, before: usize) -> String {
    let mut text = String::new();
    for (position, (name, arguments)) in calls.iter().enumerate() {
        let (dot, indent, before) = match position {
            0 => (String::new(), indent, before),
            _ => (format!("\n{:1$}.", "", indent + INDENT), indent + INDENT, indent + INDENT + 1),
        };
        text.push_str(&format!(
            "{dot}{name}({})",
            call_arguments(arguments, indent, before + name.chars().count() + 1)
        ));
    }
    text
}

fn call_arguments(arguments: &[Code], indent: usize, before: usize) -> String {
    let flat = arguments.iter().map(Code::flat).collect::<Vec<_>>().join(", ");
    match arguments {
        // One is left for the closing parenthesis.
        _ if before + flat.chars().count() < WIDTH => flat,
        [only] => only.layout(indent, before, 1),
        _ => {
            let lines = broken(("", ""), indent, arguments.iter().map(|argument| (String::new(), argument)));
            lines.trim_end_matches(' ').to_owned() + &" ".repeat(indent)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atom(text: &str) -> Code {
        Code::Atom(text.to_owned())
    }

    fn object(entries: &[(&str, Code)]) -> Code {
        Code::Object(entries.iter().map(|(key, value)| (Key::Name((*key).to_owned()), value.clone())).collect())
    }

    fn call(name: &str, arguments: Vec<Code>) -> (String, Vec<Code>) {
        (name.to_owned(), arguments)
    }

    #[test]
    fn what_fits_stays_on_its_line() {
        let update = object(&[("$push", object(&[("comments", atom("comment"))]))]);
        let code = Code::Chain(vec![call("db.posts.updateOne", vec![object(&[("_id", atom("post"))]), update])]);
        assert_eq!(code.layout(0, 0, 0), "db.posts.updateOne({ _id: post }, { $push: { comments: comment } })");
    }

    #[test]
    fn what_does_not_fit_is_broken_from_the_outside() {
        let long = atom(&format!("'{}'", "x".repeat(50)));
        let filter = object(&[("_id", atom("post"))]);
        let code = Code::Chain(vec![call(
            "db.posts.updateOne",
            vec![filter.clone(), object(&[("text", long.clone())]), filter],
        )]);
        insta::assert_snapshot!(code.layout(2, 2, 0), @r"
        db.posts.updateOne(
            { _id: post },
            { text: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' },
            { _id: post },
          )
        ");
        let code = Code::Chain(vec![call(
            "db.c.aggregate",
            vec![Code::Array(vec![long.clone(), Code::Comment("2 more".into())])],
        )]);
        insta::assert_snapshot!(code.layout(0, 40, 0), @r"
        db.c.aggregate([
          'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
          /* 2 more */
        ])
        ");
    }

    #[test]
    fn a_long_chain_has_a_line_per_call() {
        let filter = object(&[("_id", atom("post")), ("name", atom(&"n".repeat(60)))]);
        let code = Code::Chain(vec![
            call("db.c.find", vec![filter]),
            call("sort", vec![object(&[("a", atom("1"))])]),
            call("limit", vec![atom("10")]),
        ]);
        insta::assert_snapshot!(code.layout(0, 0, 0), @r"
        db.c.find({ _id: post, name: nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn })
          .sort({ a: 1 })
          .limit(10)
        ");
    }

    #[test]
    fn repeated_items_are_a_map_of_the_list() {
        let item = Box::new(object(&[("_id", atom("x"))]));
        let code = Code::Array(vec![Code::Each { list: "parts".into(), name: "x".into(), item }]);
        assert_eq!(code.layout(0, 0, 0), "[...parts.map(x => ({ _id: x }))]");
    }
}
