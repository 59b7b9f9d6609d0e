//! Runs of other mixes, in the sibling folders of a run, or next to a published one.

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};

use super::{RunRecord, Status, is_run_folder, load};

/// The most folders that are looked at.
const MOST: usize = 30;

/// Complete runs of other mixes in sibling folders of a run (`SCENARIO/RUN`), or on the same server and machine as a published one
/// (`SCENARIO/MIX/SERVER-AND-MACHINE`), with the same scenario, `--set`, strategies and server version: of each
/// mix the newest with its folder, by the mix's name. What cannot be read is left out.
pub fn other_mixes(folder: &Path, record: &RunRecord) -> Vec<(PathBuf, RunRecord)> {
    // The names of folders of runs start with the time.
    let mut folders = siblings(folder);
    folders.sort_by_key(|path| Reverse(path.file_name().map(ToOwned::to_owned)));
    let of_mixes = folder.parent().map_or_else(Vec::new, siblings).into_iter();
    folders.extend(of_mixes.filter_map(|mix| Some(mix.join(folder.file_name()?))));
    let mut found: Vec<(PathBuf, RunRecord)> = Vec::new();
    for folder in folders.into_iter().filter(|folder| is_run_folder(folder)).take(MOST) {
        let Ok(other) = load(&folder) else { continue };
        let is_new =
            other.mix.name != record.mix.name && found.iter().all(|(_, known)| known.mix.name != other.mix.name);
        if is_new && other.status == Status::Complete && has_same_subject(&other, record) {
            found.push((folder, other));
        }
    }
    found.sort_by(|(_, a), (_, b)| a.mix.name.cmp(&b.mix.name));
    found
}

/// The other folders and files next to a folder.
fn siblings(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.parent().and_then(|parent| fs::read_dir(parent).ok()).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.file_name() != folder.file_name()).collect()
}

/// Whether two runs measured the same strategies of the same scenario on the same version of the server.
fn has_same_subject(one: &RunRecord, other: &RunRecord) -> bool {
    let names = |run: &RunRecord| run.strategies.iter().map(|strategy| strategy.name.clone()).collect::<Vec<_>>();
    one.scenario.sha256 == other.scenario.sha256
        && one.settings.set == other.settings.set
        && names(one) == names(other)
        && one.server.version == other.server.version
}

#[cfg(test)]
mod tests {
    use super::super::{sample, save};
    use super::*;

    #[test]
    fn the_newest_complete_run_of_every_other_mix_is_found() {
        let place = tempfile::tempdir().unwrap();
        let keep = |folder: &str, change: &dyn Fn(&mut RunRecord)| {
            let mut run = sample::run(&[1, 2]);
            run.status = Status::Complete;
            change(&mut run);
            let folder = place.path().join(folder);
            fs::create_dir(&folder).unwrap();
            save(&run, &folder).unwrap();
            run
        };
        let own = keep("2", &|_| {});
        keep("1", &|run| (run.mix.name, run.id) = ("writes".into(), "old".into()));
        keep("3", &|run| (run.mix.name, run.id) = ("writes".into(), "new".into()));
        keep("4", &|run| run.mix.name = "other scenario".into());
        fs::write(place.path().join("4/run.json"), "{").unwrap();
        keep("5", &|run| (run.mix.name, run.scenario.sha256) = ("reads".into(), "other".into()));
        keep("6", &|run| (run.mix.name, run.status) = ("reads".into(), Status::Interrupted));
        keep("7", &|run| (run.mix.name, run.server.version) = ("reads".into(), "1.0".into()));
        let ids: Vec<String> = other_mixes(&place.path().join("2"), &own).into_iter().map(|(_, run)| run.id).collect();
        assert_eq!(ids, ["new"]);
        assert!(other_mixes(Path::new(""), &own).is_empty());
    }
}
