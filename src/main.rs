//! The `docshape` command.

fn main() {}
