//! The report of a sweep: where the order of the strategies flips, and the times at every point.

use crate::results::{
    ConclusionRecord, ConditionRecord, FindingRecord, Part, RunRecord, SweepRecord, condition_number, condition_unit,
    condition_unit_size,
};
use crate::stats::{
    CollectionGrowth, Curve, CurveOrder, CurvePoint, Flip, NetworkPrediction, OwnCost, Swept, SweptPair, SweptQuantity,
    geometric_mean,
};

use super::Report;
use super::cell::{Cell, Tone};
use super::chart::sweep::{RatioChart, RatioLine, WinnerCell, WinnerMap};
use super::chart::{self, Charts, Series};
use super::conditions::conditions;
use super::format::{NOTHING, bytes, counted, interval, listed, plain, three, time};
use super::section::{Finding, Headline, Section};
use super::table::{Column, Forms, Kind, Measure, Row, Table};

/// What a sweep says where no point shows an order.
pub(super) const NO_DIFFERENCE: &str = "no difference shown";

/// Flips in the verdict; all are in the table.
const STATED: usize = 3;

/// The time of a strategy at a point.
struct PointTime {
    mean: Option<f64>,
    /// Calls per second at saturation.
    calls_per_second: Option<f64>,
    best: Option<f64>,
    rounds: u64,
}

/// A flip is shown in bold.
fn answer_tone(curve: &Curve) -> Tone {
    if curve.flips.is_empty() { Tone::Plain } else { Tone::Strong }
}

/// What a strategy stores at a point.
struct PointSizes {
    documents: f64,
    largest: f64,
    data: f64,
    indexes: f64,
}

impl PointSizes {
    fn of(collections: &[CollectionGrowth]) -> PointSizes {
        let sum = |of: fn(&CollectionGrowth) -> f64| collections.iter().map(of).sum();
        PointSizes {
            documents: sum(|one| one.documents.after),
            largest: collections.iter().map(|one| one.max.after).fold(0.0, f64::max),
            data: sum(|one| one.size.after),
            indexes: sum(|one| one.indexes.after),
        }
    }
}

/// Where two strategies change places on a slower network.
struct NetworkTurn {
    strategies: String,
    prediction: NetworkPrediction,
    predicted: String,
    measured: String,
    /// The measured ratio with the most latency.
    ratio: String,
}

/// A sweep as it is reported.
struct SweepResults<'s> {
    record: &'s SweepRecord,
    runs: &'s [RunRecord],
    swept: Swept<'s>,
}

impl Report {
    /// Computes the report of a sweep from the runs of its points.
    pub fn of_sweep(record: &SweepRecord, runs: &[RunRecord]) -> Report {
        let sweep = SweepResults { record, runs, swept: Swept::of(record, runs) };
        let pairs = sweep.swept.pairs();
        let winners = sweep.winners(&pairs);
        let network = sweep.network(&pairs);
        let sections = [
            Some(sweep.orders(&pairs)),
            network,
            winners,
            Some(sweep.times()),
            sweep.costs(),
            Some(sweep.sizes()),
            Some(sweep.list()),
        ];
        Report::of(sweep.headline(&pairs), sections.into_iter().flatten())
    }
}

/// What a sweep has found; `None` without runs.
pub fn sweep_conclusion(record: &SweepRecord, runs: &[RunRecord]) -> Option<ConclusionRecord> {
    let sweep = SweepResults { record, runs, swept: Swept::of(record, runs) };
    let conditions = sweep.conditions(runs.first()?);
    let finding = |pair: &SweptPair| FindingRecord {
        place: sweep.place(pair),
        strategies: [pair.one, pair.other].map(|place| sweep.strategy(place)),
        answer: sweep.sentence(pair),
        flips: !pair.curve.flips.is_empty(),
        mix: pair.quantity.is_mix(),
    };
    Some(ConclusionRecord { conditions, findings: sweep.swept.pairs().iter().map(finding).collect() })
}

impl SweepResults<'_> {
    /// The server, the machine, the length and what was set.
    fn conditions(&self, run: &RunRecord) -> String {
        let length = [format!("preset {}", run.settings.preset.name()), counted(self.rounds(), "round")];
        conditions(run, &length, |name| self.record.vary.iter().any(|condition| condition.name == name))
    }

    fn headline(&self, pairs: &[SweptPair]) -> Headline {
        let condition = |condition: &ConditionRecord| {
            format!("{} = {}", plain(&condition.name), plain(&condition.values.join(", ")))
        };
        let conditions: Vec<String> = self.record.vary.iter().map(condition).collect();
        let mix = self.runs.first().map_or_else(String::new, |run| plain(&run.mix.name));
        let flipped = pairs.iter().filter(|one| !one.curve.flips.is_empty());
        let varied = self.record.vary.first().map_or_else(String::new, |condition| plain(&condition.name));
        let findings: Vec<Finding> = flipped
            .map(|one| Finding {
                name: self.place(one),
                text: format!("{} ({varied})", self.sentence(one)),
                is_difference: true,
            })
            .collect();
        // The mix first: it stands after the operations.
        let said = |finding: &Finding| format!("{}: {}.", finding.name, finding.text);
        let mut sentences: Vec<String> = findings.iter().rev().take(STATED).map(said).collect();
        if findings.is_empty() {
            sentences.push(self.no_flip());
        }
        let missing = self.record.points.iter().filter(|point| point.error.is_some()).count() as u64;
        Headline {
            scenario: plain(&self.record.scenario),
            title: plain(&self.record.title),
            subject: vec![
                self.record.question.as_deref().map(plain).unwrap_or_default(),
                format!("{}; mix {mix}, {}.", conditions.join("; "), counted(self.rounds(), "round")),
            ]
            .into_iter()
            .filter(|line| !line.is_empty())
            .collect(),
            mix: mix.clone(),
            incomplete: (missing > 0 || !self.record.complete).then(|| self.incomplete(missing)),
            sentences,
            findings_lead: "The order of strategies flips",
            findings,
            ..Headline::default()
        }
    }

    fn incomplete(&self, failed: u64) -> String {
        if failed > 0 {
            return format!("{} failed or may not be used; see the points below.", counted(failed, "point"));
        }
        "The sweep is not complete: `docshape sweep --resume` continues it.".to_owned()
    }

    fn no_flip(&self) -> String {
        let range = self.record.vary.first().map_or_else(String::new, |condition| {
            let values = &condition.values;
            let (first, last) = (values.first(), values.last());
            let ends = first.zip(last).map(|(first, last)| format!(" between {} and {}", plain(first), plain(last)));
            format!("{}{}", plain(&condition.name), ends.unwrap_or_default())
        });
        format!("No order of two strategies is shown to flip: {range}.")
    }

    /// Complete rounds of the point that has fewest.
    fn rounds(&self) -> u64 {
        self.record.points.iter().map(|point| point.rounds).min().unwrap_or(0)
    }

    fn strategy(&self, place: usize) -> String {
        self.runs.first().and_then(|run| run.strategies.get(place)).map_or_else(String::new, |one| plain(&one.name))
    }

    fn name(&self, quantity: SweptQuantity) -> String {
        match quantity {
            SweptQuantity::Own(operation) => self
                .runs
                .first()
                .and_then(|run| run.operations.get(operation))
                .map_or_else(String::new, |name| plain(name)),
            SweptQuantity::Rate => "mix at the common rate".to_owned(),
            SweptQuantity::Saturation => "mix at saturation".to_owned(),
        }
    }

    /// The operation or mix of a pair, and the value of the second condition.
    fn place(&self, pair: &SweptPair) -> String {
        let name = self.name(pair.quantity);
        let Some(second) = self.record.vary.get(1) else { return name };
        format!("{name}, {} = {}", plain(&second.name), plain(&pair.under))
    }

    /// What a curve says, as a sentence.
    fn sentence(&self, pair: &SweptPair) -> String {
        let SweptPair { one, other, curve, .. } = pair;
        let (one, other) = (self.strategy(*one), self.strategy(*other));
        if !curve.flips.is_empty() {
            let flip = |Flip { below, low, high, .. }: &Flip| {
                let (first, then) = if *below == CurveOrder::Faster { (&one, &other) } else { (&other, &one) };
                format!("{first} is faster below {}, {then} above", self.range(*low, *high))
            };
            return listed(&curve.flips.iter().map(flip).collect::<Vec<_>>());
        }
        let Some(order) = curve.order() else { return NO_DIFFERENCE.to_owned() };
        let decided: Vec<_> = curve.points.iter().filter(|point| point.order != CurveOrder::Undecided).collect();
        let faster = if order == CurveOrder::Faster { &one } else { &other };
        let factor = |ratio: f64| if order == CurveOrder::Faster { ratio.recip() } else { ratio };
        let factors = decided.iter().map(|point| factor(point.ratio));
        let least = factors.clone().fold(f64::INFINITY, f64::min);
        let most = factors.fold(0.0, f64::max);
        let by = if three(least) == three(most) { three(least) } else { interval(least, most) };
        let places = if decided.len() == curve.points.len() {
            String::new()
        } else {
            format!(" at {}", listed(&decided.iter().map(|point| self.label(point.x)).collect::<Vec<_>>()))
        };
        format!("{faster} is {by}x faster{places}")
    }

    /// A number of the first condition in the unit of its values.
    fn value(&self, x: f64) -> String {
        let unit = self
            .record
            .vary
            .first()
            .and_then(|condition| condition.values.last())
            .map_or("", |value| condition_unit(value));
        let size = condition_unit_size(unit);
        format!("{}{unit}", three(x / size))
    }

    /// A value of the first condition as it was written.
    fn label(&self, x: f64) -> String {
        let mut values = self.record.vary.iter().flat_map(|condition| &condition.values);
        values.find(|value| condition_number(value) == Some(x)).map_or_else(|| self.value(x), |value| plain(value))
    }

    /// From one number of the first condition to another.
    fn range(&self, low: f64, high: f64) -> String {
        let (low, high) = (self.value(low), self.value(high));
        if low == high { low } else { format!("{low} to {high}") }
    }

    fn orders(&self, pairs: &[SweptPair]) -> Section {
        type PairMeasure = Measure<(String, String, Curve)>;
        let measures = [
            PairMeasure::text("strategies", "strategies", "The two strategies.", |one| Cell::text(one.0.as_str()))
                .only(Forms::MARKDOWN.and(Forms::JSON)),
            PairMeasure::text(
                "answer",
                "answer",
                "Which is faster where. A range contains the flip with 95 % confidence.",
                |one| Cell::text(one.1.as_str()).tone(answer_tone(&one.2)),
            )
            .only(Forms::MARKDOWN.and(Forms::JSON)),
            PairMeasure::text("said", "answer", "The two strategies, and which is faster where.", |one| {
                Cell::text(format!("{}: {}", one.0, one.1)).tone(answer_tone(&one.2))
            })
            .only(Forms::TERMINAL.and(Forms::HTML)),
            PairMeasure::data(
                "flips",
                "Where the ratio of their times crosses 1: the range and the best guess.",
                |one| {
                    let flip = |flip: &Flip| vec![flip.low, flip.at, flip.high];
                    Cell::value(one.2.flips.iter().flat_map(flip).collect::<Vec<f64>>())
                },
            )
            .of(Kind::Numbers),
            PairMeasure::data("values", "The values of the first condition.", |one| {
                Cell::value(one.2.points.iter().map(|point| point.x).collect::<Vec<f64>>())
            })
            .of(Kind::Numbers),
            PairMeasure::data(
                "ratios",
                "The time of the first strategy divided by that of the second one, at each value.",
                |one| Cell::value(one.2.points.iter().map(|point| point.ratio).collect::<Vec<f64>>()),
            )
            .of(Kind::Numbers),
        ];
        let rows = pairs.iter().map(|one| {
            let pair = format!("{}, {}", self.strategy(one.one), self.strategy(one.other));
            (Row::new(self.place(one)), (pair, self.sentence(one), one.curve.clone()))
        });
        let about = "An operation, or the mix, and the value of the second condition.";
        let table = Table::new(
            "orders",
            "Which strategy is faster where",
            Column::text("place", "operation", about),
            &measures,
            rows,
        )
        .list_in(Forms::TERMINAL.and(Forms::HTML));
        let charts = self.ratio_charts(pairs);
        let charts = Charts::of(self.series(), move |series| chart::sweep::ratios(&charts, series), "");
        let baseline = self.swept.strategies.first().map_or_else(String::new, |place| self.strategy(*place));
        let lead = format!(
            "The charts show the time of each strategy divided by that of {baseline}, with the interval of the ratio."
        );
        Section::new("orders", "Which strategy is faster where").lead(lead).charts(charts).table(table).note(
            "Between two points, the ratio of two strategies and the ends of its interval are straight lines on logarithmic axes; \
             a flip is where they cross 1. The intervals of all points of a line hold together, with 95 % confidence.",
        )
    }

    fn network_turn(&self, pair: &SweptPair) -> Option<NetworkTurn> {
        let prediction = self.swept.network_prediction(pair)?;
        let flips: Vec<String> = pair.curve.flips.iter().map(|flip| self.range(flip.low, flip.high)).collect();
        let point = pair.curve.points.iter().find(|point| point.x == prediction.most)?;
        let ends = point.interval.map(|ends| format!(" ({})", interval(ends.low, ends.high)));
        Some(NetworkTurn {
            strategies: format!("{}, {}", self.strategy(pair.one), self.strategy(pair.other)),
            predicted: prediction.turn.map_or_else(|| "none".to_owned(), |turn| self.value(turn)),
            measured: if flips.is_empty() { "none shown".to_owned() } else { listed(&flips) },
            ratio: format!("{}{}", three(point.ratio), ends.unwrap_or_default()),
            prediction,
        })
    }

    /// What the point without an added latency predicts, and what was measured; `None` unless the first condition is the latency.
    fn network(&self, pairs: &[SweptPair]) -> Option<Section> {
        let condition = self.record.vary.first().filter(|condition| condition.name == "rtt")?;
        let measures = [
            Measure::new("round_trips", "trips", "Round trips per call of the first strategy.", |one: &NetworkTurn| {
                Cell::number(Some(one.prediction.round_trips[0]), three)
            }),
            Measure::new("other_round_trips", "of the other", "Those of the second strategy.", |one| {
                Cell::number(Some(one.prediction.round_trips[1]), three)
            }),
            Measure::text(
                "predicted_turn",
                "predicted turn",
                "The added latency at which both take the same time.",
                |one| Cell::text(one.predicted.as_str()),
            ),
            Measure::text("measured_turn", "measured turn", "Where their order flips, with 95 % confidence.", |one| {
                Cell::text(one.measured.as_str())
            }),
            Measure::new(
                "predicted_ratio",
                "predicted ratio",
                "The time of the first strategy divided by that of the second, with the most latency.",
                |one| Cell::number(Some(one.prediction.ratio), three),
            ),
            Measure::text("measured_ratio", "measured ratio", "The same as measured, with its interval.", |one| {
                Cell::text(one.ratio.as_str())
            }),
        ];
        let mut pairs: Vec<&SweptPair> = pairs.iter().collect();
        pairs.sort_by_key(|pair| (pair.one, pair.other));
        let row = |pair: &SweptPair| {
            let turn = self.network_turn(pair)?;
            Some((Row::new(self.place(pair)).group(Cell::text(turn.strategies.as_str())), turn))
        };
        let rows = pairs.into_iter().filter_map(row);
        let name = Column::text("place", "operation", "An operation, or the mix.");
        let title = "Predicted and measured";
        let group = Column::text("strategies", "strategies", "The two strategies.");
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
        let baseline = self.swept.strategies.first().copied().unwrap_or(0);
        let condition = self.record.vary.first().map_or_else(String::new, |condition| plain(&condition.name));
        let mut charts: Vec<RatioChart> = Vec::new();
        for one in pairs.iter().filter(|one| one.one == baseline && one.curve.points.len() > 1) {
            // The curve divides the baseline's time by the other's.
            let turned = |point: &CurvePoint| {
                let ends = point.interval.map(|interval| (interval.high.recip(), interval.low.recip()));
                (point.x, point.ratio.recip(), ends)
            };
            let line = RatioLine { strategy: one.other, points: one.curve.points.iter().map(turned).collect() };
            let values = one.curve.points.iter().map(|point| (point.x, self.label(point.x)));
            match charts.iter_mut().find(|chart| chart.title == self.place(one)) {
                Some(chart) => chart.lines.push(line),
                None => charts.push(RatioChart {
                    title: self.place(one),
                    condition: condition.clone(),
                    values: values.collect(),
                    baseline,
                    lines: vec![line],
                }),
            }
        }
        charts
    }

    fn series(&self) -> Vec<Series> {
        let strategies = self.runs.first().map_or(0, |run| run.strategies.len());
        Series::named((0..strategies).map(|place| self.strategy(place)))
    }

    /// The fastest strategies over two conditions.
    fn winners(&self, pairs: &[SweptPair]) -> Option<Section> {
        let [first, second] = self.record.vary.as_slice() else { return None };
        let mut maps: Vec<WinnerMap> = Vec::new();
        for &quantity in &self.swept.quantities {
            if !pairs.iter().any(|pair| pair.quantity == quantity) {
                continue;
            }
            let row = |under: &String| {
                let cells = first.values.iter().map(|value| self.winner(pairs, quantity, value, under));
                (plain(under), cells.collect())
            };
            maps.push(WinnerMap {
                title: self.name(quantity),
                conditions: [plain(&first.name), plain(&second.name)],
                columns: first.values.iter().map(|value| plain(value)).collect(),
                rows: second.values.iter().map(row).collect(),
            });
        }
        let measures = [Measure::text(
            "fastest",
            "fastest",
            "The strategy that is faster than every other one; none where no difference is shown.",
            |one: &String| Cell::text(one.as_str()),
        )];
        let rows = maps.iter().flat_map(|map| {
            map.rows.iter().flat_map(move |(under, cells)| {
                let group = format!("{}, {under}", map.title);
                let row = move |(value, cell): (&String, &WinnerCell)| {
                    (Row::new(value.as_str()).group(Cell::text(group.as_str())), cell.text.clone())
                };
                map.columns.iter().zip(cells).map(row)
            })
        });
        let rows: Vec<_> = rows.collect();
        let name = Column::text("value", plain(&first.name), "The value of the first condition.");
        let group =
            Column::text("place", "operation and value", "The operation and the value of the second condition.");
        let table = Table::new("winners", "The fastest strategy", name, &measures, rows)
            .grouped(group)
            .side_by_side(Forms::READ);
        let charts = Charts::of(self.series(), move |series| chart::sweep::winners(&maps, series), "");
        Some(Section::new("winners", "The fastest strategy").charts(charts).table(table))
    }

    /// The strategy that is faster than every other one at a point.
    fn winner(&self, pairs: &[SweptPair], quantity: SweptQuantity, value: &str, under: &str) -> WinnerCell {
        let x = condition_number(value);
        let here = pairs.iter().filter(|one| one.quantity == quantity && one.under == under);
        let points: Vec<_> =
            here.filter_map(|one| Some((one, one.curve.points.iter().find(|point| Some(point.x) == x)?))).collect();
        let beats = |place: usize, (one, point): &(&SweptPair, &CurvePoint)| match point.order {
            CurveOrder::Faster => one.one == place,
            CurveOrder::Slower => one.other == place,
            CurveOrder::Undecided => false,
        };
        let is_in = |place: usize, (one, _): &(&SweptPair, &CurvePoint)| one.one == place || one.other == place;
        let wins = |place: &usize| {
            let mut own = points.iter().filter(|point| is_in(*place, point)).peekable();
            own.peek().is_some() && own.all(|point| beats(*place, point))
        };
        let winner = self.swept.strategies.iter().copied().find(wins);
        let text = winner.map_or_else(|| NOTHING.to_owned(), |winner| self.strategy(winner));
        let found = winner.map_or_else(
            || "no strategy is shown to be the fastest".to_owned(),
            |winner| format!("{} is the fastest", self.strategy(winner)),
        );
        WinnerCell { winner, text, words: format!("{} and {}: {found}", plain(value), plain(under)) }
    }

    fn times(&self) -> Section {
        let measures = [
            Measure::new("mean_ns", "mean", "The geometric mean over rounds of the mean time.", |one: &PointTime| {
                let is_best = one.mean.is_some() && one.mean == one.best;
                Cell::number(one.mean, time).tone(if is_best { Tone::Good } else { Tone::Plain })
            }),
            Measure::new("calls_per_second", "calls/s", "Calls per second at saturation.", |one| {
                Cell::number(one.calls_per_second, three)
            }),
            Measure::data("times_best", "The mean divided by that of the fastest strategy.", |one| {
                Cell::value(one.mean.zip(one.best).map(|(mean, best)| mean / best))
            }),
            Measure::data("rounds", "The rounds that it comes from.", |one| Cell::value(one.rounds)),
        ];
        let mut rows = Vec::new();
        for &quantity in &self.swept.quantities {
            for (number, (point, run)) in self.record.points.iter().zip(&self.swept.points).enumerate() {
                let means: Vec<_> =
                    self.swept.strategies.iter().map(|place| geometric_mean(&run.times(quantity, *place))).collect();
                let best = means.iter().flatten().copied().reduce(f64::min);
                let group = format!("{}, {}", self.name(quantity), plain(&point.values.join(", ")));
                for (place, mean) in self.swept.strategies.iter().zip(means) {
                    let row = Row::new(self.strategy(*place)).group(Cell::text(group.as_str())).series(*place);
                    let clients = self.runs.get(number).map_or(0.0, |run| run.settings.clients as f64);
                    let calls_per_second =
                        mean.filter(|_| quantity == SweptQuantity::Saturation).map(|mean| clients / mean * 1e9);
                    rows.push((row, PointTime { mean, calls_per_second, best, rounds: point.rounds }));
                }
            }
        }
        let table = Table::new("point_times", "Times at the points", Column::strategy(), &measures, rows)
            .grouped(Column::text("point", "operation and value", "What was measured, under which condition."))
            .side_by_side(Forms::READ);
        let parts = self.swept.quantities.iter().map(|quantity| quantity.part());
        let is_own = parts.clone().any(|part| part == Part::Own);
        let is_rate = parts.clone().any(|part| part == Part::Rate);
        let own = if is_own { "An operation has its own time: by itself, with one client. " } else { "" };
        let rate = if is_rate {
            "The common rate is half of what the slowest strategy can do at that point, unless --rate or a condition sets it. "
        } else {
            ""
        };
        Section::new("times", "Times at the points")
            .table(table)
            .note(format!("{own}{rate}The fastest strategy is marked."))
    }

    /// What operations cost the server at every point; `None` where they were not measured by themselves.
    fn costs(&self) -> Option<Section> {
        let measures = [
            Measure::new("round_trips", "trips", "Round trips per call.", |one: &OwnCost| {
                Cell::number(Some(one.round_trips as f64 / one.calls as f64), three)
            }),
            Measure::new("cpu_ns", "~ CPU", "CPU time of the server per call.", |one| {
                Cell::number(one.per_call("cpu_us").map(|microseconds| microseconds * 1e3), time)
            }),
            Measure::new(
                "read_bytes",
                "read into cache",
                "Bytes that the server read into its cache per call.",
                |one| Cell::number(one.per_call("cache_bytes_read"), bytes),
            ),
            Measure::new("oplog_bytes", "oplog", "Bytes of oplog per call.", |one| {
                Cell::number(one.per_call("oplog_bytes"), bytes)
            }),
        ];
        let mut rows = Vec::new();
        for &quantity in &self.swept.quantities {
            for (point, run) in self.record.points.iter().zip(&self.swept.points) {
                let group = format!("{}, {}", self.name(quantity), plain(&point.values.join(", ")));
                let row = |place: &usize| {
                    let row = Row::new(self.strategy(*place)).group(Cell::text(group.as_str())).series(*place);
                    Some((row, run.own_cost(quantity, *place)?))
                };
                rows.extend(self.swept.strategies.iter().filter_map(row));
            }
        }
        let title = "Costs at the points";
        let table = Table::new("point_costs", title, Column::strategy(), &measures, rows)
            .grouped(Column::text("point", "operation and value", "What was measured, under which condition."))
            .folded();
        let note = "Per call of an operation by itself, from the server's counters.";
        Section::new("point_costs", title).table(table).note(note).only(Forms::DETAILED).with_rows()
    }

    /// Data and indexes at every point.
    fn sizes(&self) -> Section {
        let measures = [
            Measure::new("documents", "documents", "Documents in all collections.", |one: &PointSizes| {
                Cell::number(Some(one.documents), three)
            }),
            Measure::new("largest_bytes", "largest", "The largest document.", |one| {
                Cell::number(Some(one.largest), bytes)
            }),
            Measure::new("data_bytes", "data", "All documents, uncompressed.", |one| {
                Cell::number(Some(one.data), bytes)
            }),
            Measure::new("index_bytes", "indexes", "The files of all indexes.", |one| {
                Cell::number(Some(one.indexes), bytes)
            }),
            Measure::new("index_bytes_per_document", "per document", "Bytes of indexes per document.", |one| {
                Cell::number((one.documents > 0.0).then(|| one.indexes / one.documents), bytes)
            }),
        ];
        let rows = self.record.points.iter().zip(&self.swept.points).flat_map(|(point, run)| {
            let group = plain(&point.values.join(", "));
            let row = move |place: &usize| {
                let row = Row::new(self.strategy(*place)).group(Cell::text(group.as_str())).series(*place);
                (row, PointSizes::of(&run.collections(*place)))
            };
            self.swept.strategies.iter().map(row).collect::<Vec<_>>()
        });
        let title = "Sizes at the points";
        let names: Vec<String> = self.record.vary.iter().map(|condition| plain(&condition.name)).collect();
        let table = Table::new("point_sizes", title, Column::strategy(), &measures, rows)
            .grouped(Column::text("point", names.join(", "), "The values of the conditions."))
            .folded();
        let note = "After the calls. Files of indexes grow in steps and lag behind, so that small ones say little.";
        Section::new("point_sizes", title).table(table).note(note).only(Forms::DETAILED)
    }

    fn list(&self) -> Section {
        let measures = [
            Measure::new("rounds", "rounds", "Complete rounds.", |one: &(u64, String, String)| Cell::count(one.0)),
            Measure::text("folder", "folder", "The folder of its run.", |one| Cell::text(one.1.as_str())),
            Measure::text("error", "remark", "Why it has no more rounds, or may not be used.", |one| {
                Cell::text(one.2.as_str()).tone(Tone::Bad)
            }),
        ];
        let rows = self.record.points.iter().map(|point| {
            let error = point.error.as_deref().map(plain).unwrap_or_default();
            (Row::new(plain(&point.values.join(", "))), (point.rounds, plain(&point.folder), error))
        });
        let names: Vec<String> = self.record.vary.iter().map(|condition| plain(&condition.name)).collect();
        let table = Table::new(
            "points",
            "Points",
            Column::text("values", names.join(", "), "The values of the conditions."),
            &measures,
            rows,
        );
        Section::new("points", "Points")
            .table(table)
            .note("`docshape report FOLDER` prints the whole report of a point.")
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::report::tests::in_every_form;
    use crate::results::{PointRecord, SWEEP_FORMAT};
    use crate::stats::sample;

    /// A sweep over two added latencies and two lengths, with this text in every place.
    pub(in crate::report) fn sweep(run: &RunRecord, text: &str) -> (SweepRecord, Vec<RunRecord>) {
        let own = || text.to_owned();
        let condition = |name: &str, values: [&str; 2]| ConditionRecord {
            name: name.to_owned(),
            values: values.map(str::to_owned).to_vec(),
        };
        let point = |values: [&str; 2]| PointRecord {
            values: values.map(str::to_owned).to_vec(),
            folder: own(),
            rounds: 6,
            error: None,
        };
        let values = [["0", text], ["0", "other"], ["1ms", text], ["1ms", "other"]];
        let mut record = SweepRecord {
            format: SWEEP_FORMAT,
            version: own(),
            scenario: own(),
            title: own(),
            question: Some(own()),
            started: own(),
            complete: true,
            vary: vec![condition("rtt", ["0", "1ms"]), condition(text, [text, "other"])],
            points: values.map(point).to_vec(),
            conclusion: None,
        };
        record.points[1].error = Some(own());
        let runs = vec![run.clone(); 4];
        record.conclusion = sweep_conclusion(&record, &runs);
        (record, runs)
    }

    /// A sweep with every section and table.
    pub(in crate::report) fn named(run: &RunRecord, text: &str) -> Report {
        let (record, runs) = sweep(run, text);
        Report::of_sweep(&record, &runs)
    }

    pub(in crate::report) fn complete() -> Report {
        named(&sample::whole(&sample::run(6)), "length")
    }

    #[test]
    fn a_point_that_failed_is_marked_and_left_out() {
        let [terminal, markdown] = in_every_form(&complete());
        assert!(terminal.contains("1 point failed or may not be used"), "{terminal}");
        insta::assert_snapshot!("two_conditions_markdown", markdown);
    }
}
