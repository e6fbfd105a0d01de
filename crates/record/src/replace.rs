//! Atomic replacement of a file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use tempfile::NamedTempFile;

/// Writes a file atomically: a reader finds the old contents or the new ones, even after a crash of the machine. The
/// file keeps the permissions of the one that it replaces.
///
/// # Errors
/// Errors of the file system. The old contents remain, unless only the sync of the directory failed.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = beside(path)?;
    if let Ok(old) = fs::metadata(path) {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.as_file_mut().write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    // The new name lives in the directory, which must reach the disk as well.
    File::open(parent(path))?.sync_all()
}

/// Checks that [`replace`] can create its temporary file.
///
/// # Errors
/// Errors of the file system.
pub fn can_replace(path: &Path) -> io::Result<()> {
    beside(path).map(drop)
}

/// A temporary file in the same directory.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    // The umask still applies to the mode. Errors do not name this file, since its name helps nobody.
    let open = |path: &Path| OpenOptions::new().write(true).create_new(true).mode(0o666).open(path);
    tempfile::Builder::new().prefix(".unfinished-").make_in(parent(path), open)
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_keeps_its_permissions_and_its_contents_until_the_new_ones_are_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        replace(&path, b"first").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        // Who has the old file open still reads it: the new one is another.
        let mut before = File::open(&path).unwrap();
        replace(&path, b"second").unwrap();
        assert_eq!(io::read_to_string(&mut before).unwrap(), "first");
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let nowhere = folder.path().join("none/run.json");
        assert!(can_replace(&nowhere).is_err());
        let error = replace(&nowhere, b"").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!error.to_string().contains(".unfinished-"), "{error}");
    }
}
