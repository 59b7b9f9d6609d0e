//! Under which conditions something was measured, in a line: what a sentence needs that is cited without its report.

use crate::report::document::format::{counted, plain};
use crate::results::{RunRecord, in_percent, members};

/// The server, the machine, the mix and everything that was set but what `is_varied`. `length` is how long it was measured.
pub(crate) fn conditions(run: &RunRecord, length: &[String], is_varied: impl Fn(&str) -> bool) -> String {
    let settings = &run.settings;
    let set = settings.set.iter().map(|(name, value)| (name.clone(), format!("{name} = {value}")));
    let shares = settings.shares.iter();
    let shares =
        shares.map(|(name, share)| (format!("share:{name}"), format!("share of {name} {} %", in_percent(*share))));
    let has_concern = settings.write_concern != "majority";
    let concern = has_concern.then(|| ("w".to_owned(), format!("write concern {}", settings.write_concern)));
    let network = (settings.rtt > 0.0).then(|| ("rtt".to_owned(), format!("network of {} ms", settings.rtt * 1e3)));
    let members = members(&run.server.topology).map(|members| ("members".to_owned(), format!("{members} members")));
    let mix = [("mix".to_owned(), format!("mix {}", run.mix.name))];
    let named = mix.into_iter().chain(set).chain(shares).chain(members).chain(concern).chain(network);
    let named = named.filter(|(name, _)| !is_varied(name)).map(|(_, text)| text);
    let server = [format!("MongoDB {}", run.server.version)];
    let cores = run.environment.cores.map(|cores| counted(cores, "core"));
    let all = server.into_iter().chain(cores).chain(length.iter().cloned()).chain(named);
    plain(&all.collect::<Vec<_>>().join(", "))
}
