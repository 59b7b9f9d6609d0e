//! A loop on the driver with commands that are ready as bytes; it drops the replies. The least work for the driver.

use std::cell::Cell;

use bson::RawDocumentBuf;
use docshape::server::ReplyKind;
use futures_util::StreamExt;
use futures_util::future::join_all;
use mongodb::Database;

use super::recording::{Calls, Recorded};

/// A driver client with docshape's options.
pub async fn client(uri: &str, clients: u32) -> mongodb::Client {
    let mut options = mongodb::options::ClientOptions::parse(uri).await.expect("the URI of the embedded server");
    options.min_pool_size = Some(clients);
    options.max_pool_size = Some(clients);
    options.retry_reads = Some(false);
    options.retry_writes = Some(false);
    mongodb::Client::with_options(options).expect("a client")
}

/// Makes the calls with concurrent clients.
pub async fn slice(database: &Database, calls: &Calls, clients: usize) {
    let next = Cell::new(0);
    let worker = async || {
        while let Some(call) = calls.get(next.replace(next.get() + 1)) {
            for Recorded { command, kind } in call {
                send(database, command.clone(), *kind).await;
            }
        }
    };
    join_all((0..clients).map(|_| worker())).await;
}

/// Sends a command and drops its reply.
pub async fn send(database: &Database, command: RawDocumentBuf, kind: ReplyKind) {
    if kind == ReplyKind::Cursor {
        let mut cursor = database.run_raw_cursor_command(command).batch().await.expect("a reply");
        while let Some(batch) = cursor.next().await {
            std::hint::black_box(batch.expect("a batch"));
        }
    } else {
        std::hint::black_box(database.run_raw_command(command).await.expect("a reply"));
    }
}
