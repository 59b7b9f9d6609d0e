//! The forest plot: every strategy's time divided by the baseline's, with its interval, per operation.

use crate::report::document::chart::{Chart, ChartLayout, Gallery, Series, cut, gallery, scale::Scale, svg::Svg};
use crate::report::document::format::{NOTHING, interval, percent, short, three};
use crate::report::run::{Evaluation, OperationResults};
use crate::stats::Verdict;

/// Dimensions of a forest plot: one set for wide pages, one for phones.
#[derive(Clone)]
struct PlotLayout {
    id: &'static str,
    width: f64,
    /// Left and right end of the axis.
    axis: (f64, f64),
    /// Height of a strategy's row.
    step: f64,
    /// Distance from the top of a row to its line.
    line: f64,
    /// Left end of a strategy's name.
    name: f64,
    /// Distance from the top of a row to the baseline of its text.
    words: f64,
    /// Whether an operation's name is above its strategies, not to their left.
    is_stacked: bool,
    ticks: usize,
}

const WIDE: PlotLayout = PlotLayout {
    id: "forest",
    width: 920.0,
    axis: (290.0, 720.0),
    step: 21.0,
    line: 10.5,
    name: 168.0,
    words: 14.5,
    is_stacked: false,
    ticks: 7,
};

const NARROW: PlotLayout = PlotLayout {
    id: "forest-narrow",
    width: 360.0,
    axis: (12.0, 348.0),
    step: 36.0,
    line: 25.0,
    name: 26.0,
    words: 12.0,
    is_stacked: true,
    ticks: 5,
};

/// Height of the tick labels above the rows.
const TOP: f64 = 46.0;

/// Approximate width of a character.
const LETTER: f64 = 7.0;

/// Room for the label of a tick.
const LABEL: f64 = 44.0;

/// Distance between operations.
const GAP: f64 = 12.0;

/// Draws the plot for wide pages and the plot for phones; none if nothing is compared.
pub fn forest(run: &Evaluation, series: &[Series]) -> Vec<Gallery> {
    let is_compared = run.cells().any(|cell| cell.ratio().is_some());
    let layouts = [WIDE.with_room_for(series), NARROW];
    let draw = |layout: &PlotLayout| Plot { run, series, layout, axis: axis(run, layout) }.draw();
    gallery(ChartLayout::Whole, layouts.iter().filter(|_| is_compared).map(draw).collect())
}

impl PlotLayout {
    /// Moves the axis to the end of the longest name, within limits.
    fn with_room_for(&self, series: &[Series]) -> PlotLayout {
        let longest = series.iter().map(|series| series.name.chars().count()).max().unwrap_or(0);
        let begin = self.name + LETTER * longest as f64 + 2.0 * GAP;
        PlotLayout { axis: (begin.clamp(self.axis.0, self.axis.0 + 110.0), self.axis.1), ..self.clone() }
    }

    /// The most characters of a strategy's name that are shown.
    fn letters(&self) -> usize {
        let end = if self.is_stacked { 166.0 } else { self.axis.0 - GAP };
        ((end - self.name) / LETTER) as usize
    }
}

fn axis(run: &Evaluation, layout: &PlotLayout) -> Scale {
    let judged = run.rows.iter().flat_map(|row| row.cells.iter().zip(&run.strategies));
    let ratios = judged.filter(|(_, strategy)| !strategy.is_repeat).filter_map(|(cell, _)| cell.ratio());
    let ends = ratios.flat_map(|ratio| {
        let interval = ratio.interval.map_or([ratio.mean; 2], |interval| [interval.low, interval.high]);
        // A very wide interval must not squeeze the others.
        [ratio.mean, interval[0].max(ratio.mean / 30.0), interval[1].min(ratio.mean * 30.0)]
    });
    Scale::log(ends.chain([0.8, 1.25]), layout.axis.0, layout.axis.1)
}

struct Plot<'p> {
    run: &'p Evaluation,
    series: &'p [Series],
    layout: &'p PlotLayout,
    axis: Scale,
}

impl Plot<'_> {
    fn draw(&self) -> Chart {
        let layout = self.layout;
        // Stripes and noise bands are drawn below the grid, marks above it.
        let (mut svg, mut rows, mut top) = (Svg::default(), Svg::default(), TOP);
        for row in self.run.mix_first() {
            top = self.row(&mut svg, &mut rows, row, top) + GAP;
        }
        self.frame(&mut svg, top - GAP);
        svg.append(&rows);
        let intervals = if self.run.has_intervals() { ", with 95 % intervals" } else { "" };
        Chart {
            id: layout.id.into(),
            description: format!(
                "Mean {} times divided by those of {}, per operation and strategy{intervals}, on a logarithmic axis; left of \
                 1 is faster.",
                self.run.times(),
                self.run.baseline()
            ),
            size: (layout.width, top),
            body: svg,
        }
    }

    fn frame(&self, svg: &mut Svg, bottom: f64) {
        let (from, to) = self.layout.axis;
        svg.text("note", (from, 14.0), &format!("← less time than {}", cut(self.run.baseline(), 22)));
        svg.text("note e", (to, 14.0), "more time →");
        if !self.layout.is_stacked {
            let (margin, words) = if self.run.has_intervals() { (8.0, "ratio, 95 % CI") } else { (126.0, "ratio") };
            svg.text("note e", (self.layout.width - margin, 14.0), words);
        }
        for tick in self.axis.ticks(self.layout.ticks) {
            let x = self.axis.at(tick);
            let is_one = (tick - 1.0).abs() < 1e-9;
            svg.line(if is_one { "one" } else { "grid" }, (x, TOP - 8.0), (x, bottom));
            // A label at an end of the axis stays within the picture.
            let middle = x.clamp(LABEL / 2.0, self.layout.width - LABEL / 2.0);
            svg.text("tick m", (middle, TOP - 14.0), &format!("× {}", short(&three(tick))));
        }
        if !self.axis.ticks(self.layout.ticks).iter().any(|tick| (tick - 1.0).abs() < 1e-9) {
            svg.line("one", (self.axis.at(1.0), TOP - 8.0), (self.axis.at(1.0), bottom));
        }
    }

    /// Draws an operation; returns its lower end.
    fn row(&self, back: &mut Svg, svg: &mut Svg, row: &OperationResults, top: f64) -> f64 {
        let layout = self.layout;
        let shown = || self.series.iter().skip(1).filter(|series| !series.is_repeat());
        let name = row.label();
        let share = row.share.map_or(String::new(), |share| format!("{} of calls", percent(share)));
        let first = if layout.is_stacked { top + 18.0 } else { top };
        let bottom = first + layout.step * shown().count() as f64;
        let margin = row.band.unwrap_or(0.0).max(self.run.noise).max(0.0);
        let (low, high) = (self.axis.at(1.0 / (1.0 + margin)), self.axis.at(1.0 + margin));
        back.rect("stripe", (0.0, top - 3.0), layout.width, bottom - top + 6.0);
        back.group("", &format!("{name}: differences up to {} are noise", percent(margin)), |svg| {
            // On phones the text is above each line, and the noise band must not overlap it.
            let bands = if layout.is_stacked { shown().count() } else { 1 };
            for place in 0..bands {
                let (top, height) = if layout.is_stacked {
                    (first + layout.step * place as f64 + layout.line - 8.0, 16.0)
                } else {
                    (first - 1.0, bottom - first + 2.0)
                };
                svg.rect("noise", (low, top), high - low, height);
            }
        });
        if layout.is_stacked {
            svg.text("head", (8.0, top + 12.0), &cut(name, 30));
            svg.text("note halo e", (layout.width - 8.0, top + 12.0), &share);
        } else {
            svg.text("head", (8.0, first + layout.words), &cut(name, 18));
            if shown().count() > 1 {
                svg.text("note", (8.0, first + layout.words + 16.0), &share);
            }
        }
        for (place, series) in shown().enumerate() {
            self.strategy(svg, series, row, first + layout.step * place as f64);
        }
        bottom
    }

    fn strategy(&self, svg: &mut Svg, series: &Series, row: &OperationResults, top: f64) {
        let (layout, cell) = (self.layout, &row.cells[series.place]);
        let role = if self.run.strategies[series.place].is_unsafe { " (unsafe)" } else { "" };
        let name = format!("{}{role}", series.name);
        let difference = self.run.difference(cell);
        let Some(ratio) = cell.ratio() else {
            svg.group(&series.class(), "", |svg| {
                svg.text("label", (layout.name, top + layout.words), &cut(&name, layout.letters()));
                svg.text("note e", (layout.width - 8.0, top + layout.words), NOTHING);
            });
            return;
        };
        let interval = ratio.interval.map(|bounds| interval(bounds.low, bounds.high));
        let said = match difference {
            Some(Verdict::Faster) => ": faster",
            Some(_) => ": slower",
            None => ": no difference reported",
        };
        let (words, mean) = (interval.clone().map_or(String::new(), |text| format!(" ({text})")), three(ratio.mean));
        let title = format!("{name}, {}: × {mean}{words}{said}", row.name);
        svg.group(&format!("mark {}", series.class()), &title, |svg| {
            let y = top + layout.line;
            svg.text("label halo", (layout.name, top + layout.words), &cut(&name, layout.letters()));
            series.marker(svg, "dot", (layout.name - 12.0, top + layout.words - 4.0), 4.0);
            let point = (self.axis.at(ratio.mean), y);
            if let Some(interval) = ratio.interval {
                let (low, high) = (self.axis.at(interval.low), self.axis.at(interval.high));
                svg.line("interval", (low, y), (high, y));
                [low, high].iter().for_each(|x| svg.line("interval", (*x, y - 4.0), (*x, y + 4.0)));
            }
            series.marker(svg, if difference.is_some() { "dot" } else { "hollow" }, point, 5.0);
            let (end, base) = (layout.width - 8.0, top + layout.words);
            let class = if difference.is_some() { "value strong halo e" } else { "value halo e" };
            let mean_end = if interval.is_some() || !layout.is_stacked { end - 118.0 } else { end };
            svg.text(class, (mean_end, base), &format!("× {mean}"));
            interval.iter().for_each(|text| svg.text("note halo e", (end, base), text));
            svg.rect("hit", (0.0, top), layout.width, layout.step);
        });
    }
}
