//! How a page or a number is cited: as a text, and as an entry of BibTeX.

use crate::report::document::Listing;
use crate::report::{Section, plain};

/// Where a site is, and of which data it is made.
#[derive(Debug, Clone)]
pub struct Edition {
    /// The address of the site, which ends in a slash; empty without one.
    pub url: String,
    /// What identifies its data: the beginning of a hash over all summaries, claims, sweeps and growth.
    pub data: String,
    /// When the newest of its runs and claims was measured.
    pub newest: MeasuredOn,
}

/// When something was measured, and by which version.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MeasuredOn {
    /// The day, `2026-11-28`.
    pub day: String,
    /// The version of docshape.
    pub version: String,
}

impl MeasuredOn {
    /// That of a record which was started then, RFC 3339.
    pub fn new(started: &str, version: &str) -> MeasuredOn {
        MeasuredOn { day: plain(started.split('T').next().unwrap_or_default()), version: plain(version) }
    }
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
    /// The citation of what is at a place of the site. `conditions` say how it was measured; they may be empty.
    pub fn cite(
        &self,
        key: &str,
        (title, conditions): (&str, &str),
        place: &str,
        MeasuredOn { day, version }: &MeasuredOn,
    ) -> Citation {
        let Edition { url, data, .. } = self;
        let address = if url.is_empty() { String::new() } else { format!("{url}{place}") };
        let year = day.split('-').next().unwrap_or_default();
        let made = format!("docshape {version}, measured {day}, data {data}");
        let [shown, noted] = match conditions {
            "" => Default::default(),
            _ => [format!(" ({conditions}.)"), format!("{conditions}; ")],
        };
        let lines = [
            format!("@misc{{docshape-{key},"),
            "  author = {{The docshape developers}},".to_owned(),
            format!("  title = {{{{{}}}}},", escaped(title)),
            format!("  year = {{{year}}},"),
            format!("  note = {{{}}},", escaped(&(noted + &made))),
        ];
        let link = (!address.is_empty()).then(|| format!("  url = {{{address}}},"));
        let bibtex = lines.into_iter().chain(link).chain(["}".to_owned()]).collect::<Vec<_>>().join("\n");
        let text = format!("{title}{shown} {made}. {address}");
        Citation { text: text.trim_end().to_owned(), bibtex }
    }

    /// The section of a page that says how to cite it.
    pub fn section(&self, key: &str, title: &str, place: &str, measured: &MeasuredOn) -> Section {
        let Citation { text, bibtex } = self.cite(key, (title, ""), place, measured);
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
        '{' | '}' | '\\' | '~' | '^' => String::new(),
        _ => c.to_string(),
    };
    text.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_citation_names_conditions_version_day_data_and_place() {
        let measured = MeasuredOn::new("2026-11-27T10:00:00Z", "0.2.0");
        let edition = Edition { url: "https://example.org/".into(), data: "0a1b".into(), newest: measured.clone() };
        let cited = ("Linked {comments} take 50 %.", "trees: mix default");
        let cite = |edition: &Edition| edition.cite("linked", cited, "index.html#linked", &measured);
        let Citation { text, bibtex } = cite(&edition);
        let made = "docshape 0.2.0, measured 2026-11-27, data 0a1b";
        let conditions = "trees: mix default";
        let place = "https://example.org/index.html#linked";
        assert_eq!(text, format!("Linked {{comments}} take 50 %. ({conditions}.) {made}. {place}"));
        assert!(bibtex.contains("title = {{Linked comments take 50 \\%.}}"), "{bibtex}");
        assert!(bibtex.contains(&format!("note = {{{conditions}; {made}}}")), "{bibtex}");
        assert!(bibtex.contains(&format!("url = {{{place}}}")), "{bibtex}");
        let nowhere = cite(&Edition { url: String::new(), ..edition });
        assert!(!nowhere.bibtex.contains("url") && nowhere.text.ends_with("data 0a1b."), "{nowhere:?}");
    }
}
