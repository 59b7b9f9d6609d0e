//! The verdict of a report as a picture of 1200 x 630, the size that slides and previews of links have.

use std::fmt;

use crate::report::document::chart::svg::Svg;
use crate::report::document::chart::{COLUMNS, Chart, cut, svg_file};
use crate::report::document::format::wrap;
use crate::report::{Renderer, Report};

use super::line::answer;

/// The name of the file with a card.
pub const CARD_FILE: &str = "card.svg";

/// Writes the question, the answer, how sure it is, and the charts of the first screen, as SVG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Card;

const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 630.0;
const MARGIN: f64 = 32.0;
const GAP: f64 = 26.0;
/// Above it is the space of the charts, below it the conditions.
const BOTTOM: f64 = 586.0;
/// The lines of a text.
const MOST_LINES: usize = 3;
/// The first chart is alone where it can be enlarged this much; otherwise the second one is beside it.
const ENLARGED: f64 = 1.4;

const FONTS: &str = ".chart .question{font-size:36px;font-weight:600}.chart .answer{font-size:25px;font-weight:600}\
.chart .small{font-size:17px;fill:var(--muted)}.chart .scale{font-size:15px;fill:var(--muted)}";

impl Renderer for Card {
    fn render(&self, report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
        let headline = &report.headline;
        let decision = headline.decision.as_ref();
        let mut svg = Svg::default();
        let mix = if headline.mix.is_empty() { String::new() } else { format!(", mix {}", headline.mix) };
        svg.text("small strong", (MARGIN, 44.0), "docshape");
        svg.text("small e", (WIDTH - MARGIN, 44.0), &cut(&format!("{}{mix}", headline.scenario), 100));
        let mut top = 50.0;
        let sure = decision.and_then(|decision| decision.sure.as_deref()).unwrap_or_default();
        for (class, text, letters, height) in [
            ("question", headline.title.as_str(), 54, 44.0),
            ("answer", &answer(report), 72, 32.0),
            ("small", sentences(&sure.replace('`', ""), 2 * LETTERS - 20), LETTERS, 24.0),
        ] {
            top = lines(&mut svg, class, text, letters, (top, height));
        }
        charts(&mut svg, report, top + 20.0);
        let scale = decision.map_or_else(|| headline.subject.join(" "), |decision| decision.scale.clone());
        svg.text("scale", (MARGIN, HEIGHT - 16.0), &cut(&scale.replace('`', ""), 146));
        out.write_str(&svg_file((WIDTH, HEIGHT), &headline.title, FONTS, &svg))
    }
}

/// The letters of a line of small text, in the widest of the fonts.
const LETTERS: usize = 128;

/// The first sentences that have at most `most` characters together; the first one in any case.
fn sentences(text: &str, most: usize) -> &str {
    let ends = text.match_indices(". ").map(|(end, _)| end + 1).chain([text.len()]);
    let fitting = ends.enumerate().take_while(|(place, end)| *place == 0 || text[..*end].chars().count() <= most);
    fitting.last().map_or(text, |(_, end)| &text[..end])
}

/// Writes at most three lines below `top`, each of some letters and of this height; returns their lower end.
fn lines(svg: &mut Svg, class: &str, text: &str, letters: usize, (top, height): (f64, f64)) -> f64 {
    let mut lines = wrap(text, letters);
    if lines.len() > MOST_LINES {
        let last = cut(&lines.split_off(MOST_LINES - 1).join(" "), letters);
        lines.push(last);
    }
    lines.retain(|line| !line.is_empty());
    for (place, line) in lines.iter().enumerate() {
        svg.text(class, (MARGIN, top + height * (place + 1) as f64), line);
    }
    top + height * lines.len() as f64 + if lines.is_empty() { 0.0 } else { 10.0 }
}

/// Places the charts of the first screen between `top` and [`BOTTOM`]: the first one alone where it can be large, else two.
fn charts(svg: &mut Svg, report: &Report, top: f64) {
    let drawn = report.headline.charts.iter().flat_map(|charts| charts.draw()).next();
    let drawn: Vec<Chart> = drawn.map_or_else(Vec::new, |gallery| gallery.charts);
    let width = WIDTH - 2.0 * MARGIN;
    let fits = |chart: &Chart, width: f64| (width / chart.size.0).min((BOTTOM - top) / chart.size.1);
    let is_alone = drawn.first().is_some_and(|chart| fits(chart, width) >= ENLARGED);
    let shown = &drawn[..drawn.len().min(if is_alone { 1 } else { COLUMNS })];
    let room = (width - GAP * shown.len().saturating_sub(1) as f64) / shown.len().max(1) as f64;
    let scale = shown.iter().map(|chart| fits(chart, room)).fold(f64::INFINITY, f64::min);
    for (place, chart) in shown.iter().enumerate() {
        svg.scaled((MARGIN + (room + GAP) * place as f64, top), scale, &chart.body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::chart::svg::escape;
    use crate::stats::sample;

    fn card(report: &Report) -> String {
        let mut text = String::new();
        Card.render(report, &mut text).unwrap();
        text
    }

    #[test]
    fn a_card_has_the_answer_of_the_first_screen_and_its_charts() {
        let report = Report::new(&sample::whole(&sample::run(8)));
        let text = card(&report);
        let answer = &report.headline.decision.as_ref().unwrap().answer;
        assert!(wrap(answer, 72).iter().all(|line| text.contains(&escape(line))), "{answer}: {text}");
        assert!(text.contains("blog-comments, mix default") && text.contains("class=\"bar\""), "{text}");
        assert!(!text.contains('`') && !text.contains("NaN"), "{text}");
    }

    #[test]
    fn long_texts_end_inside_of_the_card() {
        let mut report = Report::new(&sample::whole(&sample::run(8)));
        report.headline.title = "word ".repeat(100);
        report.headline.charts = None;
        let text = card(&report);
        assert_eq!(text.matches("class=\"question\"").count(), MOST_LINES, "{text}");
        assert!(text.contains('…'), "{text}");
    }

    #[test]
    fn an_invalid_run_has_no_winner() {
        let mut broken = sample::whole(&sample::run(8));
        broken.rounds = Vec::new();
        let cells = broken.parts.values_mut().flatten().flat_map(|round| &mut round.cells);
        cells.for_each(|cell| cell.connections_created = 3);
        let text = card(&Report::new(&broken));
        assert!(text.contains("INVALID RUN: "), "{text}");
    }
}
