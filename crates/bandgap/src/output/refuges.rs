//! Places for a run that cannot be kept where it should be.

use std::path::PathBuf;

/// Where a run is written that its own directory does not take: where temporary files are, on other disks, in memory.
pub fn refuges() -> impl Iterator<Item = PathBuf> {
    let mut places = Vec::new();
    let named = [std::env::temp_dir()].into_iter();
    let others = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
    let home = std::env::var_os("HOME").map(PathBuf::from);
    // A place that depends on where somebody is would not be found again.
    for place in named.chain(others).chain(home) {
        if place.is_absolute() && !places.contains(&place) {
            places.push(place);
        }
    }
    places.into_iter()
}
