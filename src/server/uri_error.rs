//! What is wrong with a connection string, without any part of it that may be secret.

/// Options of connection strings. Only these names are shown: in a mistyped string any text may be the password.
const OPTIONS: &str = "\
    appName authMechanism authMechanismProperties authSource compressors connectTimeoutMS directConnection \
    heartbeatFrequencyMS journal loadBalanced localThresholdMS maxIdleTimeMS maxPoolSize maxStalenessSeconds \
    minPoolSize readConcernLevel readPreference readPreferenceTags replicaSet retryReads retryWrites \
    serverMonitoringMode serverSelectionTimeoutMS socketTimeoutMS srvMaxHosts srvServiceName tls \
    tlsAllowInvalidCertificates tlsCAFile tlsCertificateKeyFile waitQueueTimeoutMS wTimeoutMS";
/// Names less alike are others.
const ALIKE: f64 = 0.85;

/// Returns why the driver refused a connection string, where its message may not be shown or does not suffice. The driver
/// quotes the parts that it could not read.
pub(super) fn reason(uri: &str, message: &str) -> Option<String> {
    let lower = uri.to_ascii_lowercase();
    if lower.contains("tlsallowinvalidhostnames") {
        let reason = "docshape's driver does not know tlsAllowInvalidHostnames; connect by a host name of the server's certificate, \
                      or use tlsAllowInvalidCertificates=true for a test"
            .to_owned();
        return Some(reason);
    }
    let secrets = ["@", "password", "authmechanismproperties"].iter().any(|mark| lower.contains(mark));
    secrets.then(|| {
        format!(
            "{}its parts are not shown because it holds credentials; check that special characters in the user name and the \
             password are percent-encoded, and that the host name of a mongodb+srv string resolves",
            culprit(&lower, message).unwrap_or_default()
        )
    })
}

/// Names what is wrong by the names of options alone.
fn culprit(uri: &str, message: &str) -> Option<String> {
    let message = message.to_ascii_lowercase();
    let (_, options) = uri.rsplit_once('?')?;
    let given: Vec<&str> = options.split('&').filter_map(|option| Some(option.split_once('=')?.0)).collect();
    for name in given.iter().filter(|name| message.contains(&format!("{name:?}")) || message.contains(*name)) {
        if let Some(known) = OPTIONS.split(' ').find(|known| known.eq_ignore_ascii_case(name)) {
            return Some(format!("option {known} has an invalid value; "));
        }
        let alike = |known: &&str| strsim::jaro_winkler(&known.to_ascii_lowercase(), name);
        let nearest =
            OPTIONS.split(' ').max_by(|a, b| alike(a).total_cmp(&alike(b))).filter(|known| alike(known) > ALIKE);
        if let Some(known) = nearest {
            return Some(format!("it has an unknown option, did you mean {known}? "));
        }
    }
    message.contains("port").then(|| "a port is not a number from 1 to 65535; ".to_owned())
}

/// Whether a failed connection failed in the TLS handshake.
pub(super) fn is_tls(message: &str) -> bool {
    let lower = message.to_ascii_lowercase();
    ["certificate", "unknownissuer", "fatal alert", "handshake", "invalidcontenttype", "tls"]
        .iter()
        .any(|word| lower.contains(word))
}
