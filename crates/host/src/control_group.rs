//! The control groups that limit this process: its own and all above it.

use std::path::Path;

use crate::system_file;

/// The two kinds of control groups, whose files have other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

/// The folders of this process's groups for a controller, from the root down, where they may be mounted. Not all of
/// them need exist.
pub(crate) fn folders(root: &Path, controller: &str) -> Vec<(Version, String)> {
    let groups = system_file::text(root, "proc/self/cgroup").unwrap_or_default();
    let mut folders = Vec::new();
    for line in groups.lines() {
        // The hierarchy's number, its controllers, and the path in it.
        let Ok([_, controllers, path]) =
            <[&str; 3]>::try_from(line.splitn(3, ':').collect::<Vec<_>>())
        else {
            continue;
        };
        let (version, mounts) = match controllers {
            "" => (Version::Two, ["", "unified"]),
            some if some.split(',').any(|one| one == controller) => {
                (Version::One, [some, controller])
            }
            _ => continue,
        };
        // Inside a container the path may contain `..` and lead out of what is mounted.
        let path: Vec<&str> =
            path.split('/').filter(|name| !["", ".", ".."].contains(name)).collect();
        for depth in 0..=path.len() {
            let group = path[..depth].join("/");
            folders.extend(mounts.map(|at| (version, format!("sys/fs/cgroup/{at}/{group}"))));
        }
    }
    folders
}
