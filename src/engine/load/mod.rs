//! Concurrent calls: the clients of a slice on their load threads, and with open load the pacer that releases their calls.

pub(crate) mod arrivals;
pub(crate) mod clients;
pub(crate) mod job_watch;
pub(crate) mod load_threads;
pub(crate) mod pacer;
pub(crate) mod queue;
pub(crate) mod slice;
pub(crate) mod stop;
