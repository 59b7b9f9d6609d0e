//! A strict markup parser for tests: every browser parses accepted markup in the same way.

use std::collections::BTreeMap;

/// An element.
#[derive(Debug, Default)]
pub struct Element {
    /// Its name.
    pub name: String,
    /// Its attributes, with resolved entities.
    pub attributes: BTreeMap<String, String>,
    /// Its text and the text of its descendants, with resolved entities.
    pub text: String,
    /// The elements within it.
    pub children: Vec<Element>,
}

/// Elements without an end tag.
const VOID: [&str; 6] = ["meta", "link", "input", "br", "wbr", "!DOCTYPE"];

/// Elements whose text is not markup.
const RAW: [&str; 2] = ["style", "script"];

impl Element {
    /// All descendants with a name, in document order.
    pub fn all(&self, name: &str) -> Vec<&Element> {
        let mut found = Vec::new();
        for child in &self.children {
            found.extend((child.name == name).then_some(child));
            found.extend(child.all(name));
        }
        found
    }

    /// The value of an attribute, or an empty text.
    pub fn get(&self, attribute: &str) -> &str {
        self.attributes.get(attribute).map_or("", String::as_str)
    }

    /// All descendants.
    pub fn walk(&self, visit: &mut dyn FnMut(&Element)) {
        for child in &self.children {
            visit(child);
            child.walk(visit);
        }
    }
}

/// Parses a whole text.
///
/// # Panics
/// When it is not well-formed.
pub fn read(text: &str) -> Element {
    let mut open = vec![Element::default()];
    let mut rest = text;
    while !rest.is_empty() {
        let (words, tag) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
        open.last_mut().unwrap().text.push_str(&resolved(words));
        let Some(tag) = tag.strip_prefix('<') else { break };
        let (inside, more) = tag.split_once('>').expect("a tag ends");
        rest = more;
        if let Some(name) = inside.strip_prefix('/') {
            let closed = open.pop().unwrap();
            assert_eq!(closed.name, name, "ends here: {}", more.chars().take(80).collect::<String>());
            let parent = open.last_mut().expect("no end without a beginning");
            parent.text.push_str(&closed.text);
            parent.children.push(closed);
            continue;
        }
        let element = element(inside.trim_end_matches('/'));
        if VOID.contains(&element.name.as_str()) || inside.ends_with('/') {
            open.last_mut().unwrap().children.push(element);
        } else if RAW.contains(&element.name.as_str()) {
            let (raw, more) = rest.split_once(&format!("</{}>", element.name)).expect("an end");
            open.last_mut().unwrap().children.push(Element { text: raw.to_owned(), ..element });
            rest = more;
        } else {
            open.push(element);
        }
    }
    assert_eq!(open.len(), 1, "not ended: {}", open.last().unwrap().name);
    open.pop().unwrap()
}

fn element(inside: &str) -> Element {
    let (name, mut rest) = inside.split_once(' ').unwrap_or((inside, ""));
    assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '!'), "{name}");
    let mut attributes = BTreeMap::new();
    while !rest.trim().is_empty() {
        let end = rest.find([' ', '=']).unwrap_or(rest.len());
        let (key, more) = rest.split_at(end);
        assert!(key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{inside}");
        let value = match more.strip_prefix("=\"") {
            Some(quoted) => {
                let (value, more) = quoted.split_once('"').expect("a quote ends");
                rest = more.strip_prefix(' ').unwrap_or(more);
                assert!(more.is_empty() || more.starts_with(' '), "{inside}");
                resolved(value)
            }
            None => {
                rest = more.trim_start();
                String::new()
            }
        };
        assert!(attributes.insert(key.to_owned(), value).is_none(), "twice: {inside}");
    }
    Element { name: name.to_owned(), attributes, ..Element::default() }
}

/// Resolves the entities of a text.
fn resolved(text: &str) -> String {
    let mut parts = text.split('&');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        let (entity, rest) = part.split_once(';').expect("an entity ends");
        let character = match entity {
            "amp" => "&",
            "lt" | "#60" => "<",
            "gt" | "#62" => ">",
            "quot" | "#34" => "\"",
            "#39" => "'",
            "#38" => "&",
            other => panic!("unknown: &{other};"),
        };
        all + character + rest
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_read() {
        let root =
            read("<!DOCTYPE html><p class=\"a &lt;\" hidden>x &amp; <b>y</b><br></p><script>if (a < b) {}</script>");
        let paragraph = root.all("p")[0];
        assert_eq!((paragraph.get("class"), paragraph.text.as_str()), ("a <", "x & y"));
        assert_eq!(root.all("script")[0].text, "if (a < b) {}");
    }

    #[test]
    #[should_panic(expected = "ends here")]
    fn crossed_tags_are_found() {
        read("<a><b></a></b>");
    }

    #[test]
    #[should_panic(expected = "an entity ends")]
    fn bare_ampersands_are_found() {
        read("<a>b & c</a>");
    }
}
