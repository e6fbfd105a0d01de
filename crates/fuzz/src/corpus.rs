//! What inputs are made of.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::Target;

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The folder of a target's own corpus: inputs that once did harm.
pub(crate) fn own(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name)
}

/// All examples of a target. Those that once did harm come first.
///
/// # Errors
/// A file cannot be read.
pub(crate) fn examples(target: &Target) -> io::Result<Vec<Vec<u8>>> {
    let own = own(target);
    let mut all = if own.exists() { contents(&own)? } else { Vec::new() };
    for path in target.real {
        all.extend(contents(&root().join(path))?);
    }
    all.extend((target.made)());
    all.extend((target.wrong)());
    Ok(all)
}

/// The contents of a file, or of the files in a folder, in the order of their names.
fn contents(path: &Path) -> io::Result<Vec<Vec<u8>>> {
    let named = |error: io::Error| io::Error::other(format!("read {}: {error}", path.display()));
    if !path.is_dir() {
        return Ok(vec![fs::read(path).map_err(named)?]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(named)? {
        files.push(entry.map_err(named)?.path());
    }
    files.sort();
    files.iter().map(|file| fs::read(file).map_err(named)).collect()
}
