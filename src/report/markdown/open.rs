//! Whether the strategies kept up with calls that fell due at fixed times.

use std::fmt;

use crate::report::format::{NOTHING, count, three, time};
use crate::report::{Report, StrategyView};
use crate::stats::{Distribution, OpenLoad};

use super::{name_of, table_head, table_row, words};

/// Writes the table; nothing in the closed model.
pub(super) fn write(report: &Report, out: &mut dyn fmt::Write) -> fmt::Result {
    if report.strategies.iter().all(|strategy| strategy.open.is_none()) {
        return Ok(());
    }
    writeln!(out, "## Offered and achieved\n")?;
    let names = [
        "strategy",
        "offered per second",
        "achieved per second",
        "skipped",
        "never started",
        "pacer lag p50",
        "p99",
        "queue wait p50",
        "p99",
        "mean service time",
        "mean response time",
    ];
    table_head(out, &words(&names), 1)?;
    for strategy in &report.strategies {
        if let Some(open) = &strategy.open {
            table_row(out, &row(strategy, open))?;
        }
    }
    writeln!(
        out,
        "\nCalls that fell due, and calls that were sent in time: neither skipped, as they had waited longer than the timeout, \
         nor still waiting when the last call of their slice fell due. Never started are those that were given up when their \
         slice was over. The pacer's lag is from the intended time to the release, the queue's wait from there to a free \
         worker; both are part of the response time. The means are over all successful calls.\n"
    )
}

fn row(strategy: &StrategyView, open: &OpenLoad) -> Vec<String> {
    let quantile = |times: &Distribution, share| times.quantile(share).map(|value| value as f64);
    let shown = |value: Option<f64>| value.map_or_else(|| NOTHING.into(), time);
    let mut texts = vec![name_of(strategy), three(open.offered), three(open.achieved)];
    texts.extend([count(open.skipped), count(open.never_started)]);
    for times in [&open.pacer_lag, &open.queue_wait] {
        texts.extend([0.5, 0.99].map(|share| shown(quantile(times, share))));
    }
    texts.extend([shown(open.service_mean), shown(open.response_mean)]);
    texts
}
