//! A thread per side, as in docshape: the allocator treats the main thread differently from others.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{mpsc, oneshot};

use super::recording::Calls;
use super::{Speed, thread_cpu};

type Order = (Arc<Calls>, oneshot::Sender<Speed>);

/// A thread that makes the calls of one side.
pub struct Side {
    orders: mpsc::UnboundedSender<Order>,
}

impl Side {
    /// Starts the thread under a name for profilers. `make` creates the state with which `work` makes calls.
    pub fn start<S>(
        name: &str,
        make: impl AsyncFnOnce() -> S + Send + 'static,
        work: impl AsyncFn(&mut S, &Calls) + Send + 'static,
    ) -> Side {
        let (orders, mut receiver) = mpsc::unbounded_channel::<Order>();
        let body = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let mut state = make().await;
                while let Some((calls, speed)) = receiver.recv().await {
                    let (begun, before) = (Instant::now(), thread_cpu());
                    work(&mut state, &calls).await;
                    let (seconds, cpu) = (begun.elapsed().as_secs_f64(), thread_cpu() - before);
                    let calls = calls.len() as f64;
                    let _ = speed.send(Speed { rate: calls / seconds, cpu: cpu * 1e6 / calls });
                }
            });
        };
        std::thread::Builder::new().name(name.to_owned()).spawn(body).expect("a thread");
        Side { orders }
    }

    /// Makes the calls of a slice.
    pub async fn slice(&self, calls: &Arc<Calls>) -> Speed {
        let (speed, measured) = oneshot::channel();
        self.orders.send((Arc::clone(calls), speed)).expect("the thread lives");
        measured.await.expect("the calls are made")
    }
}
