//! Which strategy is faster where: orders and flips, the predicted network, and the winners over two conditions.

use crate::report::document::chart::lines::{Band, StrategyLine};
use crate::report::document::format::NOTHING;
use crate::report::{
    Cell, Charts, Forms, Kind, Measure, Row, Section, Table, Tone, column, interval, listed, plain, three,
};
use crate::results::{FastestAtRecord, FastestRecord, Reason};
use crate::stats::Verdict;
use crate::studies::sweep::chart::{self, RatioChart, WinnerCell, WinnerMap};
use crate::studies::sweep::crossover::{Curve, CurvePoint, Flip};
use crate::studies::sweep::record::condition_number;
use crate::studies::sweep::swept::{NetworkPrediction, Swept, SweptPair, SweptQuantity};

/// Where two strategies change places on a slower network.
struct NetworkFlip {
    prediction: NetworkPrediction,
    predicted: String,
    measured: String,
    /// The measured ratio with the most latency.
    ratio: String,
}

/// What an open load shows besides times.
#[derive(Default)]
struct Overloaded {
    /// How many strategies could not keep up with it.
    count: usize,
    /// Those that can be compared.
    others: Vec<usize>,
}

/// The strategies at a point that no other one is shown to beat.
struct Unbeaten {
    /// None where the point was not measured.
    unbeaten: Vec<usize>,
    /// How many strategies were measured there.
    measured: usize,
}

impl Swept<'_> {
    /// The order of every pair of strategies.
    pub(crate) fn orders(&self, pairs: &[SweptPair]) -> Section {
        type Pair = (String, String, Curve);
        let read = Forms::TERMINAL.and(Forms::HTML);
        let other = Forms::MARKDOWN.and(Forms::JSON);
        // A flip is shown in bold.
        fn answer(text: String, curve: &Curve) -> Cell {
            Cell::text(text).tone(if curve.flips.is_empty() { Tone::Plain } else { Tone::Strong })
        }
        let about = "Which is faster where. A range contains the flip with 95 % confidence.";
        let flips = "Where the ratio of their times crosses 1: the range and the best guess.";
        let ratios = "The time of the first strategy divided by that of the second one, at each value.";
        let measures = [
            column("strategies", "strategies", "The two strategies.").text(|one: &Pair| one.0.clone()).only(other),
            column("answer", "answer", about).text(|one: &Pair| answer(one.1.clone(), &one.2)).only(other),
            column("said", "answer", "The two strategies, and which is faster where.")
                .text(|one: &Pair| answer(format!("{}: {}", one.0, one.1), &one.2))
                .only(read),
            Measure::data("flips", flips, |one: &Pair| {
                one.2.flips.iter().flat_map(|flip| [flip.low, flip.at, flip.high]).collect::<Vec<f64>>()
            })
            .of(Kind::Numbers),
            Measure::data("values", "The values of the first condition.", |one: &Pair| {
                one.2.points.iter().map(|point| point.x).collect::<Vec<f64>>()
            })
            .of(Kind::Numbers),
            Measure::data("ratios", ratios, |one: &Pair| {
                one.2.points.iter().map(|point| point.ratio).collect::<Vec<f64>>()
            })
            .of(Kind::Numbers),
        ];
        let rows = pairs
            .iter()
            .map(|one| (Row::new(self.place(one)), (self.strategies_of(one), self.sentence(one), one.curve.clone())));
        let about = "An operation, or the mix, and the value of the second condition.";
        let (title, name) = ("Which strategy is faster where", column("place", "operation", about));
        let table = Table::new("orders", title, name, &measures, rows).list_in(read);
        let charts = self.ratio_charts(pairs);
        let baseline = self.strategies.first().map_or_else(String::new, |place| self.strategy(*place));
        let is_any_shaded = charts.iter().flat_map(|chart| &chart.lines).any(|line| !line.bands.is_empty());
        let shaded = if is_any_shaded {
            format!(" A strip over their whole height is where the order of a strategy and {baseline} flips.")
        } else {
            String::new()
        };
        let lead = format!(
            "The charts of the page show the time of each strategy divided by that of {baseline}, with the interval of the ratio.{shaded}"
        );
        let charts = Charts::of(self.series(), move |series| chart::ratios(&charts, series), "");
        Section::new("orders", title).lead(lead).charts(charts).table(table).note(
            "Between two points, the ratio of two strategies and the ends of its interval are straight lines on logarithmic axes; \
             a flip is where they cross 1. The intervals of all points of a line hold together, with 95 % confidence.",
        )
    }

    fn strategies_of(&self, pair: &SweptPair) -> String {
        format!("{}, {}", self.strategy(pair.one), self.strategy(pair.other))
    }

    fn network_flip(&self, pair: &SweptPair) -> Option<NetworkFlip> {
        let prediction = self.network_prediction(pair)?;
        let flips: Vec<String> = pair.curve.flips.iter().map(|flip| self.range(flip.low, flip.high)).collect();
        let point = pair.curve.points.iter().find(|point| point.x == prediction.most)?;
        let ends = point.interval.map(|ends| format!(" ({})", interval(ends.low, ends.high)));
        Some(NetworkFlip {
            predicted: prediction.flip.map_or_else(|| "none".to_owned(), |flip| self.value(flip)),
            measured: if flips.is_empty() { "none shown".to_owned() } else { listed(&flips) },
            ratio: format!("{}{}", three(point.ratio), ends.unwrap_or_default()),
            prediction,
        })
    }

    /// What the point without an added latency predicts, and what was measured; `None` unless the first condition is the latency.
    pub(crate) fn network(&self, pairs: &[SweptPair]) -> Option<Section> {
        let condition = self.record.vary.first().filter(|condition| condition.name == "rtt")?;
        let about = "The time of the first strategy divided by that of the second, with the most latency.";
        let flip = "The added latency at which both take the same time.";
        let trips = "Round trips per call of the first strategy.";
        let measures = [
            column("round_trips", "trips", trips).number(three, |one: &NetworkFlip| one.prediction.round_trips[0]),
            column("other_round_trips", "of the other", "Those of the second strategy.")
                .number(three, |one| one.prediction.round_trips[1]),
            column("predicted_flip", "predicted flip", flip).text(|one| one.predicted.clone()),
            column("measured_flip", "measured flip", "Where their order flips, with 95 % confidence.")
                .text(|one| one.measured.clone()),
            column("predicted_ratio", "predicted ratio", about).number(three, |one| one.prediction.ratio),
            column("measured_ratio", "measured ratio", "The same as measured, with its interval.")
                .text(|one| one.ratio.clone()),
        ];
        let mut pairs: Vec<&SweptPair> = pairs.iter().collect();
        pairs.sort_by_key(|pair| (pair.one, pair.other));
        let row = |pair: &SweptPair| {
            Some((Row::new(self.place(pair)).group(self.strategies_of(pair)), self.network_flip(pair)?))
        };
        let rows = pairs.into_iter().filter_map(row);
        let name = column("place", "operation", "An operation, or the mix.");
        let title = "Predicted and measured";
        let group = column("strategies", "strategies", "The two strategies.");
        let table = Table::new("network", title, name, &measures, rows).grouped(group);
        let note = format!(
            "Predicted from the times at {} alone: each round trip takes the added latency longer. Ratios are those at {}.",
            condition.values.first().map_or_else(String::new, |value| plain(value)),
            condition.values.last().map_or_else(String::new, |value| plain(value)),
        );
        Section::new("network", title).table(table).note(note).only(Forms::DETAILED).with_rows()
    }

    /// A chart for every operation and value of the second condition: all strategies relative to the first one.
    fn ratio_charts(&self, pairs: &[SweptPair]) -> Vec<RatioChart> {
        let baseline = self.strategies.first().copied().unwrap_or(0);
        let mut charts: Vec<RatioChart> = Vec::new();
        // The mix, which is the answer, goes first.
        let mut pairs: Vec<&SweptPair> =
            pairs.iter().filter(|one| one.one == baseline && one.curve.points.len() > 1).collect();
        pairs.sort_by_key(|one| one.quantity.operation.is_some());
        for one in pairs {
            // The curve divides the baseline's time by the other's.
            let flipped = |point: &CurvePoint| {
                let ends = point.interval.map(|interval| (interval.high.recip(), interval.low.recip()));
                (point.x, point.ratio.recip(), ends)
            };
            let points = one.curve.points.iter().map(flipped).collect();
            let line = StrategyLine { strategy: one.other, points, bands: self.flip_ranges(one) };
            match charts.iter_mut().find(|chart| chart.title == self.place(one)) {
                Some(chart) => chart.lines.push(line),
                None => charts.push(RatioChart {
                    title: self.place(one),
                    condition: self.varied(),
                    values: self.axis(),
                    baseline,
                    lines: vec![line],
                }),
            }
        }
        charts
    }

    /// All values of the first condition that are numbers, ascending, with their labels.
    fn axis(&self) -> Vec<(f64, String)> {
        let values = self.record.vary.first().map_or(&[][..], |condition| &condition.values);
        let mut values: Vec<(f64, String)> =
            values.iter().filter_map(|value| Some((condition_number(value)?, plain(value)))).collect();
        values.sort_by(|one, other| one.0.total_cmp(&other.0));
        values
    }

    /// Where the second strategy of a pair changes places with the first.
    fn flip_ranges(&self, pair: &SweptPair) -> Vec<Band> {
        let [one, other] = [pair.one, pair.other].map(|place| self.strategy(place));
        let range = |flip: &Flip| Band {
            ends: (flip.low, flip.high),
            words: format!("{other} and {one} change places at {}", self.range(flip.low, flip.high)),
        };
        pair.curve.flips.iter().map(range).collect()
    }

    /// The fastest strategies over two conditions.
    pub(crate) fn winners(&self, pairs: &[SweptPair]) -> Option<Section> {
        let [first, second] = self.record.vary.as_slice() else { return None };
        let compared = self.quantities.iter().filter(|quantity| pairs.iter().any(|pair| pair.quantity == **quantity));
        let map = |quantity: &SweptQuantity| {
            let row = |under: &String| {
                let cells = first.values.iter().map(|value| self.winner(pairs, *quantity, value, under));
                (plain(under), cells.collect())
            };
            WinnerMap {
                title: self.name(*quantity),
                conditions: [plain(&first.name), plain(&second.name)],
                columns: first.values.iter().map(|value| plain(value)).collect(),
                rows: second.values.iter().map(row).collect(),
            }
        };
        let maps: Vec<WinnerMap> = compared.map(map).collect();
        let about = "The only strategy that no other one is shown to beat; none where there are several.";
        let measures = [column("fastest", "fastest", about).text(String::clone)];
        let rows = maps.iter().flat_map(|map| {
            map.rows.iter().flat_map(move |(under, cells)| {
                let group = format!("{}, {under}", map.title);
                let row = move |(value, cell): (&String, &WinnerCell)| {
                    (Row::new(value.as_str()).group(group.as_str()), cell.text.clone())
                };
                map.columns.iter().zip(cells).map(row)
            })
        });
        let rows: Vec<_> = rows.collect();
        let name = column("value", plain(&first.name), "The value of the first condition.");
        let group = column("place", "operation and value", "The operation and the value of the second condition.");
        let table = Table::new("winners", "The fastest strategy", name, &measures, rows)
            .grouped(group)
            .side_by_side(Forms::READ);
        let charts = Charts::of(self.series(), move |series| chart::winners(&maps, series), "");
        Some(Section::new("winners", "The fastest strategy").charts(charts).table(table))
    }

    /// The fastest strategies in the mix, for each value of the second condition.
    pub(crate) fn fastest(&self, pairs: &[SweptPair]) -> Vec<FastestRecord> {
        let mixes = self.quantities.iter().filter(|quantity| quantity.operation.is_none());
        let unders = self.record.second_values();
        let places = mixes.flat_map(|quantity| unders.iter().map(move |under| (*quantity, under)));
        let record = |(quantity, under): (SweptQuantity, &String)| {
            let point = |value: &String| {
                let Unbeaten { measured, unbeaten } = self.unbeaten(pairs, quantity, value, under);
                // All of them are where no difference is shown.
                let is_decided = unbeaten.len() < measured;
                let is_measured = !unbeaten.is_empty();
                let strategies =
                    unbeaten.into_iter().filter(|_| is_decided).map(|place| self.strategy(place)).collect();
                let left_out = self.left_out(quantity, [value, under]);
                is_measured.then_some(FastestAtRecord { value: value.clone(), strategies, left_out })
            };
            let values = &self.record.vary.first()?.values;
            let points: Vec<FastestAtRecord> = values.iter().filter_map(point).collect();
            let is_open = |value: &&String| !points.iter().any(|point| point.value == **value);
            let open = values.iter().filter(is_open).cloned().collect();
            let record = FastestRecord { place: self.place_of(quantity, under), points, open };
            (!record.points.is_empty()).then_some(record)
        };
        places.filter_map(record).collect()
    }

    /// The strategies at a point that no other one is shown to beat.
    fn unbeaten(&self, pairs: &[SweptPair], quantity: SweptQuantity, value: &str, under: &str) -> Unbeaten {
        let x = condition_number(value);
        let here = pairs.iter().filter(|one| one.quantity == quantity && one.under == under);
        let points: Vec<_> =
            here.filter_map(|one| Some((one, one.curve.points.iter().find(|point| Some(point.x) == x)?))).collect();
        let beats = |(one, point): &(&SweptPair, &CurvePoint), place: usize| match point.verdict {
            Verdict::Faster => one.other == place,
            Verdict::Slower => one.one == place,
            Verdict::Same { .. } | Verdict::NoDifference { .. } | Verdict::Inconclusive(_) => false,
        };
        let is_in = |place: usize| points.iter().any(|(one, _)| one.one == place || one.other == place);
        let mut measured: Vec<usize> = self.strategies.iter().copied().filter(|place| is_in(*place)).collect();
        let overloaded = self.overloaded(quantity, [value, under]);
        if let [only] = overloaded.others[..]
            && overloaded.count > 0
        {
            // No pair has the only one that kept up.
            measured = vec![only];
        }
        let is_unbeaten = |place: &usize| !points.iter().any(|point| beats(point, *place));
        let count = measured.len() + overloaded.count;
        Unbeaten { measured: count, unbeaten: measured.into_iter().filter(is_unbeaten).collect() }
    }

    /// How many strategies could not keep up with the load at the point of these values, and which others have times there.
    fn overloaded(&self, quantity: SweptQuantity, values: [&str; 2]) -> Overloaded {
        let Some(point) = self.point_of(values) else { return Overloaded::default() };
        let why = |strategy: usize| self.obstacle(point, quantity, strategy);
        let has_times = |strategy: usize| self.points[point].times(quantity, strategy).iter().any(Option::is_some);
        let is_over = |place: &&usize| matches!(why(**place), Some(Reason::Overloaded { .. }));
        let is_other = |place: &usize| why(*place).is_none() && has_times(*place);
        Overloaded {
            count: self.strategies.iter().filter(is_over).count(),
            others: self.strategies.iter().copied().filter(is_other).collect(),
        }
    }

    /// The strategies that a run at the point of these values would not compare; one that is overloaded has lost.
    fn left_out(&self, quantity: SweptQuantity, values: [&str; 2]) -> Vec<String> {
        let Some(point) = self.point_of(values) else { return Vec::new() };
        let is_left_out = |place: &usize| {
            let why = self.obstacle(point, quantity, *place);
            why.is_some_and(|why| !matches!(why, Reason::Overloaded { .. }))
        };
        self.strategies.iter().copied().filter(is_left_out).map(|place| self.strategy(place)).collect()
    }

    /// The place of the usable point with these values.
    fn point_of(&self, [value, under]: [&str; 2]) -> Option<usize> {
        let is_here = |values: &[String]| values[0] == value && values.get(1).is_none_or(|second| second == under);
        self.record.points.iter().position(|point| point.error.is_none() && is_here(&point.values))
    }

    /// The strategy that alone is unbeaten at a point.
    fn winner(&self, pairs: &[SweptPair], quantity: SweptQuantity, value: &str, under: &str) -> WinnerCell {
        let winner = match self.unbeaten(pairs, quantity, value, under).unbeaten[..] {
            [winner] => Some(winner),
            _ => None,
        };
        let text = winner.map_or_else(|| NOTHING.to_owned(), |winner| self.strategy(winner));
        let found = if winner.is_some() { &text } else { "no strategy" };
        let found = format!("{found} is {}the fastest", if winner.is_some() { "" } else { "shown to be " });
        WinnerCell { winner, text, words: format!("{} and {}: {found}", plain(value), plain(under)) }
    }
}
