//! A writer for the few SVG elements that charts need. Every text and every attribute goes through [`escape`].

use std::fmt::Write;

/// Elements of an SVG file.
#[derive(Debug, Default, Clone)]
pub struct Svg {
    text: String,
}

/// A point: x to the right, y down.
pub type Point = (f64, f64);

impl Svg {
    /// The written elements.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Writes a straight line.
    pub fn line(&mut self, class: &str, from: Point, to: Point) {
        self.element("line", class, &[("x1", from.0), ("y1", from.1), ("x2", to.0), ("y2", to.1)], "/>");
    }

    /// Writes a rectangle at its upper left corner, unless it is empty.
    pub fn rect(&mut self, class: &str, corner: Point, width: f64, height: f64) {
        if width > 0.0 && height > 0.0 {
            let numbers = [("x", corner.0), ("y", corner.1), ("width", width), ("height", height)];
            self.element("rect", class, &numbers, "/>");
        }
    }

    /// Writes a circle.
    pub fn circle(&mut self, class: &str, centre: Point, radius: f64) {
        self.element("circle", class, &[("cx", centre.0), ("cy", centre.1), ("r", radius)], "/>");
    }

    /// Writes a path from its commands, see [`path`].
    pub fn path(&mut self, class: &str, commands: &str) {
        self.element("path", class, &[], &format!(" d=\"{}\"/>", escape(commands)));
    }

    /// Writes a line of text; its class sets which end is anchored at the point.
    pub fn text(&mut self, class: &str, place: Point, text: &str) {
        self.element("text", class, &[("x", place.0), ("y", place.1)], &format!(">{}</text>", escape(text)));
    }

    /// Writes the area that an x axis spans, by which the page draws its cross-hair: `axis` names what the axis shows, `span` is
    /// the value at its right end.
    pub fn plane(&mut self, axis: &str, span: f64, corner: Point, (width, height): (f64, f64)) {
        let numbers = [("x", corner.0), ("y", corner.1), ("width", width), ("height", height)];
        let end = format!(" data-axis=\"{}\" data-span=\"{span:.4}\"/>", escape(axis));
        self.element("rect", "plane", &numbers, &end);
    }

    /// Writes a group of elements with a tooltip.
    pub fn group(&mut self, class: &str, title: &str, fill: impl FnOnce(&mut Svg)) {
        let title = if title.is_empty() { String::new() } else { format!("<title>{}</title>", escape(title)) };
        self.element("g", class, &[], &format!(">{title}"));
        fill(self);
        self.text.push_str("</g>");
    }

    /// Appends elements that were written separately.
    pub fn append(&mut self, other: &Svg) {
        self.text.push_str(&other.text);
    }

    /// Writes another SVG element inside this one.
    pub fn nested(&mut self, corner: Point, (width, height): (f64, f64), inner: &Svg) {
        let numbers = [("x", corner.0), ("y", corner.1), ("width", width), ("height", height)];
        self.element("svg", "", &numbers, &format!(">{}</svg>", inner.text));
    }

    /// Writes elements that were written separately at another place, enlarged by a factor.
    pub fn scaled(&mut self, (x, y): Point, factor: f64, inner: &Svg) {
        let place =
            format!(" transform=\"translate({} {}) scale({factor:.3})\">{}</g>", number(x), number(y), inner.text);
        self.element("g", "", &[], &place);
    }

    /// Writes a tag with a class, unless that is empty, and coordinates. `end` closes the tag and is not escaped.
    fn element(&mut self, name: &str, class: &str, numbers: &[(&str, f64)], end: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{}\"", escape(class)) };
        let numbers: String = numbers.iter().map(|(name, value)| format!(" {name}=\"{}\"", number(*value))).collect();
        let _ = write!(self.text, "<{name}{class}{numbers}{end}");
    }
}

/// Formats a coordinate; a tenth of a pixel is precise enough.
pub fn number(value: f64) -> String {
    let value = if value.is_finite() { (value * 10.0).round() / 10.0 } else { 0.0 };
    // Adding 0 turns -0 into 0.
    format!("{}", value + 0.0)
}

/// Returns the path commands of a line through points.
pub fn path(points: &[Point]) -> String {
    let mut commands = String::new();
    for (place, (x, y)) in points.iter().enumerate() {
        let _ = write!(commands, "{}{} {}", if place == 0 { 'M' } else { 'L' }, number(*x), number(*y));
    }
    commands
}

/// Escapes text for XML content and attributes. Replaces characters that XML does not allow.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_written_can_become_markup() {
        let mut svg = Svg::default();
        svg.group("a\"b", "<script>&'\u{1}\"", |svg| svg.text("t", (1.0, -0.01), "</text>\n"));
        assert_eq!(
            svg.as_str(),
            "<g class=\"a&quot;b\"><title>&lt;script&gt;&amp;&#39;\u{fffd}&quot;</title>\
             <text class=\"t\" x=\"1\" y=\"0\">&lt;/text&gt; </text></g>"
        );
    }

    #[test]
    fn coordinates_are_short_and_always_numbers() {
        assert_eq!([1.26, -0.04, f64::NAN, f64::INFINITY].map(number), ["1.3", "0", "0", "0"]);
        assert_eq!(path(&[(1.0, 2.0), (3.05, 4.0)]), "M1 2L3.1 4");
    }

    #[test]
    fn characters_that_xml_does_not_have_are_replaced() {
        assert_eq!(escape("a\u{ffff}\u{0}b\n"), "a\u{fffd}\u{fffd}b ");
    }
}
