//! Seeded data: every value is a pure function of (seed, label, ordinal), so that any client can make record 712 or
//! call 90,001 without making the ones before.

mod distribution;
mod identifier;
mod permutation;
mod seed;
mod text;
mod vocabulary;
mod zipf;

pub use distribution::{normal, poisson, uniform_float, uniform_int};
pub use identifier::{bytes, object_id, uuid};
pub use permutation::Permutation;
pub use seed::{Label, Seed, Stream};
pub use text::{city, full_name, full_name_of, ip, text, words};
pub use zipf::{DEFAULT_EXPONENT, Zipf, ZipfCount};
