//! Pins the calling thread to a core.

use crate::affinity::Mask;
use crate::{HostError, format_cpu_list};

/// Pins the calling thread, and all threads that it starts from now on, to core `cpu`.
///
/// # Errors
/// [`HostError::CpuUnusable`] if the kernel does not let this process run there.
pub fn pin(cpu: usize) -> Result<(), HostError> {
    Mask::only(cpu).and_then(|only| only.set().ok()).ok_or_else(|| HostError::CpuUnusable {
        cpu,
        problem: "not online, or not allowed",
        allowed: allowed_cpus().map_or_else(|_| "unknown".to_owned(), |all| format_cpu_list(&all)),
    })
}

/// The cores on which the calling thread may run, ascending.
///
/// # Errors
/// [`HostError::System`] if the kernel does not tell.
pub fn allowed_cpus() -> Result<Vec<usize>, HostError> {
    let mask =
        Mask::get().map_err(HostError::system("read the allowed cores (sched_getaffinity)"))?;
    Ok(mask.cpus().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_stays_on_its_core() {
        // A thread of its own: the mask is inherited, and must not leak to other tests.
        std::thread::spawn(|| {
            let last = *allowed_cpus().unwrap().last().unwrap();
            pin(last).unwrap();
            assert_eq!(allowed_cpus().unwrap(), [last]);
            assert_eq!(rustix::thread::sched_getcpu(), last);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_core_beyond_1024_is_asked_for_like_any_other() {
        // Machines have that many. Where there is none, the kernel says so, and no limit of a mask.
        let error = pin(8000).unwrap_err().to_string();
        assert!(error.contains("not online, or not allowed"), "{error}");
    }

    #[test]
    fn a_core_that_is_not_there_is_named() {
        let error = pin(1 << 20).unwrap_err();
        assert!(error.to_string().contains("1048576"), "{error}");
    }
}
