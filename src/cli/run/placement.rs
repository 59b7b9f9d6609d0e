//! Where the strategies of a run are measured: each on a server of its own if memory allows.

use crate::cli::server::ServerChoice;
use crate::server::embedded::EmbeddedOptions;
use crate::server::memory;

/// Where the strategies of a run are measured.
#[derive(Debug)]
pub enum Placement {
    /// All on one server.
    Shared(ServerChoice),
    /// Each on an embedded server of its own.
    PerStrategy(EmbeddedOptions),
}

impl Placement {
    /// Places a run of `arms` strategies, on one server if that is asked for. Returns what the user should know, too.
    pub fn of(choice: ServerChoice, arms: usize, is_shared: bool) -> (Placement, Option<String>) {
        match choice {
            ServerChoice::Embedded(options) if !is_shared => within(memory::available(), options, arms),
            choice => (Placement::Shared(choice), None),
        }
    }
}

/// Places a run within this many bytes of memory.
fn within(available: Option<u64>, options: EmbeddedOptions, arms: usize) -> (Placement, Option<String>) {
    let Some(available) = available else { return (Placement::PerStrategy(options), None) };
    let (wanted, megabytes) = (options.cache_gb, available / 1_000_000);
    let servers = match options.members {
        1 => format!("{arms} servers, one per strategy,"),
        members => format!("{arms} replica sets of {members} servers, one per strategy,"),
    };
    match memory::fitting_cache(available, arms * options.members, wanted) {
        None => {
            let warning = format!("{servers} do not fit into the available {megabytes} MB of memory");
            (Placement::Shared(ServerChoice::Embedded(options)), Some(warning))
        }
        Some(cache_gb) => {
            let warning = (cache_gb < wanted).then(|| {
                format!(
                    "caches have {cache_gb} GB instead of {wanted} GB, so that {servers} fit into the available {megabytes} MB of memory"
                )
            });
            (Placement::PerStrategy(EmbeddedOptions { cache_gb, ..options }), warning)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(gigabytes: f64) -> (Option<f64>, String) {
        let options = EmbeddedOptions::new("mongod".into(), "docshape".into(), "/tmp".into());
        let (placement, warning) = within(Some((gigabytes * f64::from(1 << 30)) as u64), options, 4);
        let cache = match placement {
            Placement::PerStrategy(options) => Some(options.cache_gb),
            Placement::Shared(_) => None,
        };
        (cache, warning.unwrap_or_default())
    }

    #[test]
    fn caches_shrink_before_servers_are_shared() {
        assert_eq!(placed(6.0), (Some(1.0), String::new()));
        let (cache, warning) = placed(4.0);
        assert_eq!(cache, Some(0.7));
        assert!(warning.contains("caches have 0.7 GB instead of 1 GB") && warning.contains("4 servers"), "{warning}");
        let (cache, warning) = placed(1.0);
        assert_eq!(cache, None);
        assert!(warning.contains("do not fit into the available 1073 MB"), "{warning}");
    }

    #[test]
    fn a_run_may_ask_for_one_server() {
        let options = EmbeddedOptions::new("mongod".into(), "docshape".into(), "/tmp".into());
        let (placement, warning) = Placement::of(ServerChoice::Embedded(options), 4, true);
        assert!(matches!(placement, Placement::Shared(ServerChoice::Embedded(_))), "{placement:?}");
        assert_eq!(warning, None);
    }
}
