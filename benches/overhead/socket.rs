//! The same commands as bytes on sockets, without a driver: the floor for any client on this machine.
//!
//! A message is a header of four little-endian 32-bit numbers (length, request id, response to, opcode), flag bits, the
//! kind of the only section, and a document: see OP_MSG in the MongoDB wire protocol.

use std::cell::Cell;

use bson::raw::{RawDocument, cstr};
use futures_util::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::recording::Calls;

const OP_MSG: i32 = 2013;
const HEADER: usize = 16;
/// Flag bits, and the kind of the only section.
const BEFORE_BODY: usize = 5;

/// One connection per client.
pub struct Sockets {
    connections: Vec<Connection>,
}

struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Sockets {
    /// Connects to the server at `mongodb://HOST:PORT/...`.
    pub async fn connect(uri: &str, clients: usize) -> Sockets {
        let address = uri.trim_start_matches("mongodb://").split('/').next().expect("the URI of the embedded server");
        let mut connections = Vec::new();
        for _ in 0..clients {
            let stream = TcpStream::connect(address).await.expect("the server");
            stream.set_nodelay(true).expect("an open socket");
            connections.push(Connection { stream, buffer: Vec::new() });
        }
        Sockets { connections }
    }

    /// Makes the calls, one at a time on each connection.
    pub async fn slice(&mut self, database: &str, calls: &Calls) {
        let next = Cell::new(0);
        let next = &next;
        let clients = self.connections.iter_mut().map(async |connection| {
            while let Some(call) = calls.get(next.replace(next.get() + 1)) {
                for recorded in call {
                    let mut command = recorded.command.clone();
                    command.append(cstr!("$db"), database);
                    connection.send(command.as_bytes()).await;
                }
            }
        });
        join_all(clients).await;
    }
}

impl Connection {
    async fn send(&mut self, body: &[u8]) {
        self.buffer.clear();
        let length = (HEADER + BEFORE_BODY + body.len()) as i32;
        for number in [length, 1, 0, OP_MSG, 0] {
            self.buffer.extend_from_slice(&number.to_le_bytes());
        }
        self.buffer.push(0);
        self.buffer.extend_from_slice(body);
        self.stream.write_all(&self.buffer).await.expect("the server");
        let length = self.stream.read_i32_le().await.expect("a reply") as usize;
        self.buffer.resize(length - 4, 0);
        self.stream.read_exact(&mut self.buffer).await.expect("a reply");
        let reply = RawDocument::from_bytes(&self.buffer[HEADER - 4 + BEFORE_BODY..]).expect("a document");
        assert_eq!(reply.get_f64("ok").expect("a number in every reply"), 1.0, "{reply:?}");
        let cursor = reply.get_document("cursor").and_then(|cursor| cursor.get_i64("id"));
        assert!(matches!(cursor, Err(_) | Ok(0)), "the reply has a cursor, from which the driver would fetch more");
    }
}
