//! What the process used, from the system's own account (Linux; zero elsewhere).

/// User and system seconds of all threads so far.
pub fn cpu_seconds() -> f64 {
    let Ok(stat) = std::fs::read_to_string("/proc/self/stat") else { return 0.0 };
    // The second field, a name in parentheses, may hold blanks.
    let Some((_, fields)) = stat.rsplit_once(')') else { return 0.0 };
    let ticks = |index: usize| -> f64 {
        fields.split_whitespace().nth(index).and_then(|text| text.parse().ok()).unwrap_or(0.0)
    };
    // utime and stime are fields 14 and 15 of the line; a tick is 1/100 s.
    (ticks(11) + ticks(12)) / 100.0
}

/// The most memory the process had at any time, in bytes.
pub fn peak_memory() -> u64 {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return 0 };
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok())
        .map_or(0, |kib| kib * 1024)
}
