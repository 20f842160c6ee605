//! What the operators over windows share: the wall clock that windows are cut by, reading times, and
//! the arithmetic of windows.

mod session_map;
mod slices;
mod times;
mod wall_clock;

pub(super) use session_map::{Session, SessionMap};
pub(super) use slices::Slices;
pub(crate) use times::instants;
pub(super) use times::timestamps;
pub(crate) use wall_clock::WallClock;
