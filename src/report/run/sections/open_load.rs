//! Whether strategies kept up with an open load.

use crate::report::document::format::{percent, three, time};
use crate::report::document::{Column, Forms, Section, Table, column};
use crate::report::run::Evaluation;
use crate::stats::OpenLoad;

use super::strategy_rows;

/// The offered and the achieved rate; `None` with closed load.
pub(crate) fn section(run: &Evaluation) -> Option<Section> {
    let metrics = [
        column("offered", "offered/s", "Calls per second that were due.")
            .number(three, |open: &&OpenLoad| open.offered),
        column("achieved", "achieved/s", "Calls per second that were sent in time.")
            .number(three, |open| open.achieved),
        column("share", "share", "The share (0 to 1) that was sent in time.")
            .number(percent, |open: &&OpenLoad| open.share)
            .only(Forms::JSON),
        column("skipped", "skipped", "Calls that waited longer than the timeout.").count(|open| open.skipped),
        column("never_started", "never started", "Calls that were never started.").count(|open| open.never_started),
        column("lag_p50_ns", "lag p50", "The pacer's lag: from the intended start to the release.")
            .time(|open: &&OpenLoad| open.pacer_lag.quantile(0.5))
            .only(Forms::DETAILED),
        column("lag_p99_ns", "lag p99", "Its 99th percentile.").time(|open| open.pacer_lag.quantile(0.99)),
        column("lag_max_ns", "lag max", "Its maximum.").time(|open: &&OpenLoad| open.pacer_lag.max()).only(Forms::JSON),
        column("wait_p50_ns", "wait p50", "Queue wait: from the release until a client was free.")
            .time(|open: &&OpenLoad| open.queue_wait.quantile(0.5))
            .only(Forms::DETAILED),
        column("wait_p99_ns", "wait p99", "Its 99th percentile.").time(|open| open.queue_wait.quantile(0.99)),
        column("wait_max_ns", "wait max", "Its maximum.")
            .time(|open: &&OpenLoad| open.queue_wait.max())
            .only(Forms::JSON),
        column("service_mean_ns", "service", "The mean service time of answered calls.")
            .number(time, |open: &&OpenLoad| open.service_mean)
            .only(Forms::DETAILED),
        column("response_mean_ns", "response", "Their mean response time.")
            .number(time, |open: &&OpenLoad| open.response_mean)
            .only(Forms::DETAILED),
    ];
    let rows = strategy_rows(run, |strategy| &strategy.open);
    let table = Table::new("open_load", "Offered and achieved load", Column::strategy(), &metrics, rows);
    let note = "achieved: sent in time, within a second and before the last call was due. lag: from the intended start to the \
                release by the pacer; wait: from there until a client was free. skipped: waited longer than the timeout. never \
                started: dropped at the end of the window. service, response: means of answered calls.";
    Section::new("open-load", "Offered and achieved load").table(table).note(note).with_rows()
}
