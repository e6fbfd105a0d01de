//! Small files in which the kernel describes itself, under a root that tests can replace.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Largest number of bytes read from a file: enough for the first processors in `/proc/cpuinfo`.
const LONGEST: u64 = 1 << 16;

/// The file's text without surrounding white space; `None` if it is empty or cannot be read.
pub(crate) fn text(root: &Path, relative: &str) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(root.join(relative)).ok()?.take(LONGEST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned()).filter(|text| !text.is_empty())
}

/// The number in the file.
pub(crate) fn number<T: std::str::FromStr>(root: &Path, relative: &str) -> Option<T> {
    text(root, relative)?.parse().ok()
}

/// All numbers n for which `folder` has an entry `prefix` followed by n, in ascending order.
pub(crate) fn numbered(root: &Path, folder: &str, prefix: &str) -> Vec<usize> {
    let Ok(entries) = std::fs::read_dir(root.join(folder)) else { return Vec::new() };
    let mut found: Vec<usize> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_prefix(prefix)?.parse().ok())
        .collect();
    found.sort_unstable();
    found
}
