//! `docshape capacity`.

pub mod search;
