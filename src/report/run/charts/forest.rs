//! The forest plot: every strategy's time divided by the baseline's, with its interval, per operation.

use crate::report::document::chart::scale::Scale;
use crate::report::document::chart::series::Series;
use crate::report::document::chart::svg::{Point, Svg};
use crate::report::document::chart::{Chart, cut};
use crate::report::document::format::{NOTHING, interval, percent, short, three};
use crate::report::run::evaluation::{Evaluation, Measured, OperationResults};
use crate::stats::{Ratio, Verdict};

/// Dimensions of a forest plot: one set for wide pages, one for phones.
#[derive(Clone)]
struct Layout {
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

const WIDE: Layout = Layout {
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

const NARROW: Layout = Layout {
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

/// Distance between operations.
const GAP: f64 = 12.0;

/// Draws the plot for wide pages and the plot for phones; none if nothing is compared.
pub fn forest(run: &Evaluation, series: &[Series]) -> Option<[Chart; 2]> {
    let compared = run.rows.iter().flat_map(|row| &row.cells).any(|cell| ratio_of(cell).is_some());
    let wide = WIDE.with_room_for(series);
    compared.then(|| [&wide, &NARROW].map(|layout| Plot { run, series, layout, axis: axis(run, layout) }.draw()))
}

impl Layout {
    /// Moves the axis to the end of the longest name, within limits.
    fn with_room_for(&self, series: &[Series]) -> Layout {
        let longest = series.iter().map(|series| series.name.chars().count()).max().unwrap_or(0);
        let begin = self.name + LETTER * longest as f64 + 2.0 * GAP;
        Layout { axis: (begin.clamp(self.axis.0, self.axis.0 + 110.0), self.axis.1), ..self.clone() }
    }

    /// The most characters of a strategy's name that are shown.
    fn letters(&self) -> usize {
        let end = if self.is_stacked { 166.0 } else { self.axis.0 - GAP };
        ((end - self.name) / LETTER) as usize
    }
}

fn ratio_of(cell: &Measured) -> Option<Ratio> {
    cell.comparison.as_ref()?.ratio
}

fn axis(run: &Evaluation, layout: &Layout) -> Scale {
    let judged = run.rows.iter().flat_map(|row| row.cells.iter().zip(&run.strategies));
    let ratios = judged.filter(|(_, strategy)| !strategy.is_repeat).filter_map(|(cell, _)| ratio_of(cell));
    let ends = ratios.flat_map(|ratio| {
        let interval = ratio.interval.map_or([ratio.mean; 2], |interval| [interval.low, interval.high]);
        // A very wide interval must not squeeze the others.
        [ratio.mean, interval[0].max(ratio.mean / 30.0), interval[1].min(ratio.mean * 30.0)]
    });
    Scale::log(ends.chain([0.8, 1.25]), layout.axis.0, layout.axis.1)
}

/// The interval of a ratio as text.
fn interval_text(ratio: &Ratio) -> Option<String> {
    ratio.interval.map(|bounds| interval(bounds.low, bounds.high))
}

struct Plot<'p> {
    run: &'p Evaluation,
    series: &'p [Series],
    layout: &'p Layout,
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
        let baseline = self.series.first().map_or("the baseline", |series| &series.name);
        let intervals = if self.has_intervals() { ", with 95 % intervals" } else { "" };
        Chart {
            id: layout.id.into(),
            description: format!(
                "Mean {} times divided by those of {baseline}, per operation and strategy{intervals}, on a logarithmic axis; \
                 left of 1 is faster.",
                self.run.times()
            ),
            size: (layout.width, top),
            body: svg,
        }
    }

    fn has_intervals(&self) -> bool {
        let has_interval = |cell: &Measured| ratio_of(cell).is_some_and(|ratio| ratio.interval.is_some());
        self.run.rows.iter().flat_map(|row| &row.cells).any(has_interval)
    }

    fn frame(&self, svg: &mut Svg, bottom: f64) {
        let (from, to) = self.layout.axis;
        let baseline = self.series.first().map_or("", |series| &series.name);
        svg.text("note", (from, 14.0), &format!("← less time than {}", cut(baseline, 22)));
        svg.text("note e", (to, 14.0), "more time →");
        if !self.layout.is_stacked {
            let (end, words) = if self.has_intervals() {
                (self.layout.width - 8.0, "ratio, 95 % CI")
            } else {
                (self.layout.width - 126.0, "ratio")
            };
            svg.text("note e", (end, 14.0), words);
        }
        for tick in self.axis.ticks(self.layout.ticks) {
            let x = self.axis.at(tick);
            let is_one = (tick - 1.0).abs() < 1e-9;
            svg.line(if is_one { "one" } else { "grid" }, (x, TOP - 8.0), (x, bottom));
            svg.text("tick m", (x, TOP - 14.0), &format!("× {}", short(&three(tick))));
        }
        if !self.axis.ticks(self.layout.ticks).iter().any(|tick| (tick - 1.0).abs() < 1e-9) {
            svg.line("one", (self.axis.at(1.0), TOP - 8.0), (self.axis.at(1.0), bottom));
        }
    }

    /// Draws an operation; returns its lower end.
    fn row(&self, back: &mut Svg, svg: &mut Svg, row: &OperationResults, top: f64) -> f64 {
        let layout = self.layout;
        let shown = || {
            let cells = self.series.iter().zip(&self.run.strategies).zip(&row.cells).skip(1);
            cells.filter(|((_, strategy), _)| !strategy.is_repeat)
        };
        let name = super::title(row);
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
            svg.text("head", (8.0, top + 12.0), &cut(&name, 30));
            svg.text("note halo e", (layout.width - 8.0, top + 12.0), &share);
        } else {
            svg.text("head", (8.0, first + layout.words), &cut(&name, 18));
            if shown().count() > 1 {
                svg.text("note", (8.0, first + layout.words + 16.0), &share);
            }
        }
        for (place, ((series, strategy), cell)) in shown().enumerate() {
            let top = first + layout.step * place as f64;
            let name = if strategy.is_unsafe { format!("{} (unsafe)", series.name) } else { series.name.clone() };
            self.strategy(svg, (series, &name), row, cell, top);
        }
        bottom
    }

    fn strategy(
        &self,
        svg: &mut Svg,
        (series, name): (&Series, &str),
        row: &OperationResults,
        cell: &Measured,
        top: f64,
    ) {
        let layout = self.layout;
        let difference = self.run.difference(cell);
        let Some(ratio) = ratio_of(cell) else {
            svg.group(&series.class(), "", |svg| {
                svg.text("label", (layout.name, top + layout.words), &cut(name, layout.letters()));
                svg.text("note e", (layout.width - 8.0, top + layout.words), NOTHING);
            });
            return;
        };
        let interval = interval_text(&ratio);
        let said = match difference {
            Some(Verdict::Faster) => ": faster",
            Some(_) => ": slower",
            None => ": no difference reported",
        };
        let (words, mean) = (interval.clone().map_or(String::new(), |text| format!(" ({text})")), three(ratio.mean));
        let title = format!("{name}, {}: × {mean}{words}{said}", row.name);
        svg.group(&format!("mark {}", series.class()), &title, |svg| {
            let y = top + layout.line;
            svg.text("label halo", (layout.name, top + layout.words), &cut(name, layout.letters()));
            series.marker(svg, "dot", (layout.name - 12.0, top + layout.words - 4.0), 4.0);
            let point: Point = (self.axis.at(ratio.mean), y);
            if let Some(interval) = ratio.interval {
                let (low, high) = (self.axis.at(interval.low), self.axis.at(interval.high));
                svg.line("interval", (low, y), (high, y));
                svg.line("interval", (low, y - 4.0), (low, y + 4.0));
                svg.line("interval", (high, y - 4.0), (high, y + 4.0));
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
