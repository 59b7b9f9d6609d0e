//! `scripts/install-mongod.sh` without a network: scripts at the front of PATH replace uname, ldconfig and pip.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let stage = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(stage.folder.path().join("bin")).unwrap();
        stage.play("ldconfig", "echo libcurl.so.4 libssl.so.3 libcrypto.so.3");
        stage.play("uname", "[ \"$1\" = -m ] && echo x86_64 || echo Linux");
        stage
    }

    fn program(path: &Path, script: &str) {
        fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn play(&self, name: &str, script: &str) {
        Self::program(&self.folder.path().join("bin").join(name), script);
    }

    fn data_home(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let path = std::env::var("PATH").unwrap();
        Command::new("bash")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/install-mongod.sh"))
            .args(arguments)
            .env("PATH", format!("{}:{path}", self.folder.path().join("bin").display()))
            .env("XDG_DATA_HOME", self.data_home())
            .output()
            .unwrap()
    }

    fn refused(&self) -> String {
        let output = self.run(&[]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let left = self.data_home().join("docshape/mongod/6.0.5");
        assert!(!left.exists(), "no partial installation is left");
        let text = String::from_utf8(output.stderr).unwrap();
        for way in ["DOCSHAPE_MONGOD", "docker compose run", "--uri"] {
            assert!(text.contains(way), "{text}");
        }
        text
    }
}

#[test]
fn installed_mongod_is_kept_and_its_path_is_the_last_line() {
    let stage = Stage::new();
    let prefix = stage.folder.path().join("given");
    for (arguments, place) in [
        (vec![], stage.data_home().join("docshape/mongod/6.0.5")),
        (vec!["--prefix", prefix.to_str().unwrap()], prefix.clone()),
    ] {
        fs::create_dir_all(&place).unwrap();
        Stage::program(&place.join("mongod"), "echo db version v6.0.5");
        let output = stage.run(&arguments);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("already there"), "{text}");
        assert_eq!(text.lines().last(), place.join("mongod").to_str());
    }
}

#[test]
fn unsupported_platforms_are_rejected_before_the_download() {
    let stage = Stage::new();
    stage.play("uname", "[ \"$1\" = -m ] && echo arm64 || echo Darwin");
    assert!(stage.refused().contains("this machine is arm64 Darwin"));
    let stage = Stage::new();
    stage.play("ldconfig", "echo libcurl.so.4 libssl.so.1.1");
    assert!(stage.refused().contains("apt-get install libssl3"));
    let stage = Stage::new();
    stage.play("ldconfig", "echo libssl.so.3 libcrypto.so.3");
    assert!(stage.refused().contains("apt-get install libcurl4"));
    let stage = Stage::new();
    stage.play("python3", "exit 1");
    assert!(stage.refused().contains("python3-pip"));
}

#[test]
fn failed_or_unexpected_download_leaves_no_files() {
    let stage = Stage::new();
    stage.play("python3", "[ \"$3\" = --version ] && exit 0; echo no network >&2; exit 1");
    assert!(stage.refused().contains("no network"));
    let wrong = "[ \"$3\" = --version ] && exit 0
        while [ \"$1\" != --dest ]; do shift; done
        echo other > \"$2/other.whl\"";
    let stage = Stage::new();
    stage.play("python3", wrong);
    assert!(stage.refused().contains("SHA-256"));
}

#[test]
fn files_of_a_killed_installation_are_removed() {
    let stage = Stage::new();
    let left = stage.data_home().join("docshape/mongod/6.0.5/.install-abcdef");
    fs::create_dir_all(&left).unwrap();
    fs::write(left.join("package.whl"), "half").unwrap();
    stage.play("python3", "[ \"$3\" = --version ] && exit 0; echo no network >&2; exit 1");
    stage.refused();
}

#[test]
fn usage_on_invalid_arguments() {
    let stage = Stage::new();
    for arguments in [&["--prefix"][..], &["--target", "x"]] {
        let output = stage.run(arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8(output.stderr).unwrap().contains("usage: scripts/install-mongod.sh"));
    }
    assert!(stage.run(&["--help"]).status.success());
}
