//! Ctrl-C: the first one stops what runs, cleanly; the second one leaves at once.

use std::sync::atomic::{AtomicUsize, Ordering};

static INTERRUPTS: AtomicUsize = AtomicUsize::new(0);

/// Listens for Ctrl-C and termination.
pub fn install() {
    let handler = || {
        if INTERRUPTS.fetch_add(1, Ordering::SeqCst) > 0 {
            std::process::exit(130);
        }
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        tracing::warn!("Ctrl-C will end the program at once: {error}");
    }
}

/// Whether Ctrl-C was pressed since the last [`reset`].
pub fn is_interrupted() -> bool {
    INTERRUPTS.load(Ordering::SeqCst) > 0
}

/// Forgets earlier interrupts; for the next statement of an interactive session.
pub fn reset() {
    INTERRUPTS.store(0, Ordering::SeqCst);
}
