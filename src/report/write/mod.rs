//! Writers: a report in one form each.

pub(crate) mod brief;
pub(crate) mod card;
pub(crate) mod csv;
pub(crate) mod escape;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod junit;
pub(crate) mod line;
pub(crate) mod markdown;
pub(crate) mod smoke;
pub(crate) mod terminal;
