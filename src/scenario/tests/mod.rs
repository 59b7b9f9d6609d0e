//! What is generated from the tables of keys, and the tests that it is fresh.

mod key_tables;
mod schema;
