//! The memory allocator of Flott's programs: mimalloc, told how to treat the buffers of batches.
//!
//! A program that uses Flott as a library chooses its own allocator and does without this crate.

use libmimalloc_sys::{mi_option_set, mi_option_t};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// `mi_option_purge_decommits`, which the crate with mimalloc's other options does not name; its place
/// is the same in versions 2 and 3.
const PURGE_DECOMMITS: mi_option_t = 5;

/// Sets the allocator up; to be called first in `main`.
///
/// Batches make and drop buffers of megabytes all the time. By default mimalloc gives such memory
/// back to the system at once, which clears it when it comes again: a quarter of the time of queries with
/// large rows. Now it is marked as free for the system to take when memory is short, and is else used again
/// as it is.
pub fn install() {
    // SAFETY: the function stores a number; it may be called at any time, from any thread.
    #[allow(unsafe_code)]
    unsafe {
        mi_option_set(PURGE_DECOMMITS, 0);
    }
}
