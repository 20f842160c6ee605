//! Places where a test lets the process die.

/// A step after which the process may die and must lose and repeat nothing. In debug builds it dies at the
/// `n`-th passage of the one that the environment names: `FLOTT_CRASH_AT='manifest written:2'`. In release
/// builds this is nothing.
#[inline]
pub fn crash_point(_name: &str) {
    #[cfg(debug_assertions)]
    at::pass(_name);
}

#[cfg(debug_assertions)]
mod at {
    use std::process::Command;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    struct At {
        name: String,
        left: AtomicU64,
    }

    static AT: OnceLock<Option<At>> = OnceLock::new();

    pub(super) fn pass(name: &str) {
        let Some(at) = AT.get_or_init(wanted) else { return };
        if at.name == name && at.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            kill();
        }
    }

    fn wanted() -> Option<At> {
        let at = std::env::var("FLOTT_CRASH_AT").ok()?;
        let (name, count) = at.split_once(':').unwrap_or((&at, "1"));
        Some(At { name: name.to_string(), left: AtomicU64::new(count.parse().ok()?) })
    }

    /// Kills this process as somebody else would, without a chance to tidy up; other threads go on until then.
    fn kill() -> ! {
        let killed = Command::new("sh").args(["-c", "kill -9 $PPID"]).status();
        if killed.is_err() {
            std::process::abort();
        }
        loop {
            std::thread::park();
        }
    }
}
