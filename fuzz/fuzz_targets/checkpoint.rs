//! No bytes make the checkpoint reader panic: a manifest with a valid checksum and any contents, and the pieces it
//! points to.

#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use flott_runtime::Checkpoint;
use libfuzzer_sys::fuzz_target;
use xxhash_rust::xxh3::xxh3_64;

/// A folder of this process, in memory where there is one.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let base = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let folder = base.join(format!("flott-fuzz-{}", std::process::id())).join("chk-1");
    fs::create_dir_all(&folder).expect("a folder of its own");
    fs::write(folder.join("0"), [7; 64]).expect("a file of pieces");
    folder
});

fuzz_target!(|body: &[u8]| {
    // As it is, and as the body of a manifest of each version whose frame is right.
    let _ = load(body);
    for version in [1u16, 2] {
        let mut manifest = [b"FLCP".as_slice(), &version.to_le_bytes(), body].concat();
        manifest.extend_from_slice(&xxh3_64(&manifest).to_le_bytes());
        let _ = load(&manifest);
    }
});

fn load(manifest: &[u8]) -> Result<(), String> {
    fs::write(FOLDER.join("_metadata"), manifest).expect("a manifest");
    let checkpoint = Checkpoint::load(&FOLDER).map_err(|error| error.to_string())?;
    let _ = format!("{checkpoint:?}");
    Ok(())
}
