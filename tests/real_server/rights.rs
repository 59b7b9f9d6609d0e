//! A user with the role that `docshape rights` prints, and nothing else. Needs openssl, and a `mongod`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use bson::{RawArrayBuf, RawDocumentBuf, rawdoc};
use docshape::server::client::MongoTarget;
use docshape::server::embedded::{EmbeddedMongod, EmbeddedOptions};
use docshape::server::{ReplyKind, Target};

use crate::harness;

const SMALL: [&str; 10] =
    ["run", "blog-comments", "--set", "posts=30", "--set", "comments_per_post=10", "--calls", "300", "--rate", "150"];

/// Asserts the exit code and that these words are in what was printed.
fn expect(output: &Output, code: i32, words: &[&str]) {
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{text}");
    for word in words {
        assert!(text.contains(word), "{word} is not in {text}");
    }
}

/// Runs openssl in a folder.
fn openssl(folder: &Path, arguments: &str) {
    let output = Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "openssl {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The databases and actions of the role that `docshape rights` prints.
fn printed_role(text: &str) -> RawArrayBuf {
    let is_database = |line: &&str| line.trim_start().starts_with("\"docshape_");
    let databases = text.lines().filter(is_database).map(|line| line.trim().trim_matches([',', '"']));
    let actions = text.split("actions: [").nth(1).unwrap().split(']').next().unwrap();
    let actions: RawArrayBuf = actions.split(", ").map(|action| action.trim_matches('"')).collect();
    let privilege = |db: &str| rawdoc! { "resource": { "db": db, "collection": "" }, "actions": actions.clone() };
    databases.map(privilege).collect()
}

#[tokio::test]
async fn the_printed_role_suffices() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("key"), "c2VjcmV0").unwrap();
    fs::set_permissions(path.join("key"), PermissionsExt::from_mode(0o600)).unwrap();
    fs::write(path.join("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n").unwrap();
    openssl(path, "req -x509 -newkey rsa:2048 -nodes -days 2 -keyout ca.key -out ca.pem -subj /CN=ca");
    openssl(path, "req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=localhost");
    let sign =
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out server.crt -extfile names";
    openssl(path, sign);
    let both = ["server.key", "server.crt"].map(|name| fs::read_to_string(path.join(name)).unwrap());
    fs::write(path.join("server.pem"), both.concat()).unwrap();
    let shown = path.display();
    let extra_arguments = [
        format!("--keyFile={shown}/key"),
        // The embedded server is started without TLS by docshape itself.
        "--tlsMode=preferTLS".to_owned(),
        format!("--tlsCertificateKeyFile={shown}/server.pem"),
        format!("--tlsCAFile={shown}/ca.pem"),
        "--tlsAllowConnectionsWithoutCertificates".to_owned(),
    ];
    let extra_arguments = extra_arguments.map(Into::into).into();
    let server = EmbeddedMongod::start(&EmbeddedOptions { extra_arguments, ..harness::options(path) }).await.unwrap();
    let with = |user: &str| {
        let uri = server.uri().replace("mongodb://", &format!("mongodb://{user}:s3cret@"));
        format!("{uri}&tls=true&tlsCAFile={shown}/ca.pem")
    };
    let admin = async |uri: String, command: RawDocumentBuf| {
        let target = MongoTarget::connect(&uri, 1).await.unwrap();
        target.run("admin", command, ReplyKind::Single).await.unwrap().into_document()
    };
    let user = |name: &str, role: &str| rawdoc! { "createUser": name, "pwd": "s3cret", "roles": [role] };
    admin(server.uri(), user("root", "root")).await;

    let docshape = async |arguments: Vec<String>| {
        let mut command = harness::docshape(&[]);
        command.args(arguments).current_dir(path);
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
    };
    let owned = |arguments: &[&str]| arguments.iter().map(|argument| (*argument).to_owned()).collect::<Vec<_>>();
    let role = docshape(owned(&["rights", "blog-comments"])).await;
    expect(
        &role,
        0,
        &["passwordPrompt()", "// serverStatus: ", "\"docshape_blog-comments_repeat\"", "\"dropDatabase\""],
    );
    let privileges = printed_role(&String::from_utf8_lossy(&role.stdout));
    admin(with("root"), rawdoc! { "createRole": "docshape", "privileges": privileges, "roles": [] }).await;
    admin(with("root"), user("ann", "docshape")).await;

    let uri = with("ann");
    let more = ["--rounds", "1", "--slices", "2", "--uri", &uri, "--out", "run"];
    let run = docshape(owned(&[&SMALL[..], &more].concat())).await;
    expect(&run, 2, &["TLS on", "the user may not list the databases of this server", "--yes"]);
    let run = docshape(owned(&[&SMALL[..], &more, &["--yes"]].concat())).await;
    let refused =
        "The server refused serverStatus, hostInfo, getDefaultRWConcern, getParameter, dbStats of local to the user";
    expect(&run, 0, &[]);
    let report = fs::read_to_string(path.join("run/report.md")).unwrap();
    for words in [refused, "Nothing was flushed", "no counters", "docshape rights"] {
        assert!(report.contains(words), "{words} is not in {report}");
    }
    let verify =
        ["verify", "blog-comments", "--calls", "40", "--strategies", "linked,embedded", "--yes", "--uri", &uri];
    expect(&docshape(owned(&verify)).await, 0, &[]);
    let reply = admin(with("root"), rawdoc! { "listDatabases": 1, "nameOnly": true }).await;
    assert_eq!(reply.get_array("databases").unwrap().into_iter().count(), 3, "admin, config and local");
    // Another name is not theirs.
    let other = docshape(owned(&["verify", "tasks", "--yes", "--uri", &uri])).await;
    expect(&other, 3, &["not authorized", "`docshape rights SCENARIO`"]);
}
