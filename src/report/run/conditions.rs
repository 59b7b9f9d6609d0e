//! Under which conditions something was measured, in a line: what a sentence needs that is cited without its report.

use crate::report::document::format::{counted, plain};
use crate::results::{RunRecord, in_percent};

/// The server, the machine, the mix and everything that was set but what `is_varied`. `length` is how long it was measured.
pub(crate) fn conditions(run: &RunRecord, length: &[String], is_varied: impl Fn(&str) -> bool) -> String {
    let settings = &run.settings;
    let set = settings.set.iter().map(|(name, value)| (name.clone(), format!("{name} = {value}")));
    let shares = settings.shares.iter();
    let shares =
        shares.map(|(name, share)| (format!("share:{name}"), format!("share of {name} {} %", in_percent(*share))));
    let others = [
        ("w", settings.write_concern != "majority", format!("write concern {}", settings.write_concern)),
        ("rtt", settings.rtt > 0.0, format!("network of {} ms", settings.rtt * 1e3)),
    ];
    let others =
        others.into_iter().filter(|(_, is_unusual, _)| *is_unusual).map(|(name, _, text)| (name.to_owned(), text));
    let named =
        [("mix".to_owned(), format!("mix {}", run.mix.name))].into_iter().chain(set).chain(shares).chain(others);
    let named = named.filter(|(name, _)| !is_varied(name)).map(|(_, text)| text);
    let server = [format!("MongoDB {}", run.server.version)];
    let cores = run.environment.cores.map(|cores| counted(cores, "core"));
    let all = server.into_iter().chain(cores).chain(length.iter().cloned()).chain(named);
    plain(&all.collect::<Vec<_>>().join(", "))
}
