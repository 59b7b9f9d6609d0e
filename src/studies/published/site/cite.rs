//! How a page or a number is cited: as a text, and as an entry of BibTeX.

use crate::report::Section;
use crate::report::document::Listing;

/// Where a site is, and of which data it is made.
#[derive(Debug, Clone)]
pub struct Edition {
    /// The address of the site, which ends in a slash; empty where nobody said.
    pub url: String,
    /// What identifies its data: the beginning of a hash over all results.
    pub data: String,
    /// The day of the newest measurement.
    pub day: String,
}

/// Something to cite.
#[derive(Debug, Clone)]
pub struct Citation {
    /// The text.
    pub text: String,
    /// The entry of BibTeX.
    pub bibtex: String,
}

impl Edition {
    /// The citation of what is at a place of the site, measured on a day.
    pub fn cite(&self, key: &str, title: &str, place: &str, day: &str) -> Citation {
        let Edition { url, data, .. } = self;
        let version = env!("CARGO_PKG_VERSION");
        let address = if url.is_empty() { String::new() } else { format!("{url}{place}") };
        let year = day.split('-').next().unwrap_or_default();
        let made = format!("docshape {version}, measured {day}, data {data}");
        let lines = [
            format!("@misc{{docshape-{key},"),
            "  author = {{The docshape developers}},".to_owned(),
            format!("  title = {{{}}},", escaped(title)),
            format!("  year = {{{year}}},"),
            format!("  note = {{{}}},", escaped(&made)),
        ];
        let link = (!address.is_empty()).then(|| format!("  url = {{{address}}},"));
        let bibtex = lines.into_iter().chain(link).chain(["}".to_owned()]).collect::<Vec<_>>().join("\n");
        let text = format!("{title} {made}. {address}");
        Citation { text: text.trim_end().to_owned(), bibtex }
    }

    /// The section of a page that says how to cite it.
    pub fn section(&self, key: &str, title: &str, place: &str) -> Section {
        let Citation { text, bibtex } = self.cite(key, title, place, &self.day);
        let listing = |lead: &str, language, text: &str| Listing {
            lead: lead.to_owned(),
            language,
            lines: text.lines().map(str::to_owned).collect(),
        };
        let code = vec![listing("Text:", "text", &text), listing("BibTeX:", "bibtex", &bibtex)];
        Section { code, ..Section::new("cite", "Cite this page") }
    }
}

/// A text without characters that mean something to BibTeX.
fn escaped(text: &str) -> String {
    let one = |c: char| match c {
        '%' | '&' | '_' | '#' | '$' => format!("\\{c}"),
        '{' | '}' | '\\' => String::new(),
        _ => c.to_string(),
    };
    text.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_citation_names_version_day_data_and_place() {
        let edition = Edition { url: "https://example.org/".into(), data: "0a1b".into(), day: "2026-11-28".into() };
        let Citation { text, bibtex } =
            edition.cite("linked", "Linked {comments} take 50 %.", "index.html#linked", "2026-11-27");
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            text,
            format!(
                "Linked {{comments}} take 50 %. docshape {version}, measured 2026-11-27, data 0a1b. https://example.org/index.html#linked"
            )
        );
        assert!(bibtex.contains("title = {Linked comments take 50 \\%.}"), "{bibtex}");
        assert!(bibtex.contains("url = {https://example.org/index.html#linked}"), "{bibtex}");
        let nowhere = Edition { url: String::new(), ..edition }.cite("linked", "Title.", "x", "2026-11-27");
        assert!(!nowhere.bibtex.contains("url") && nowhere.text.ends_with("data 0a1b."), "{nowhere:?}");
    }
}
