//! Pins the calling thread to a core.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::{HostError, format_cpu_list};

/// Pins the calling thread, and all threads that it starts from now on, to core `cpu`.
///
/// # Errors
/// [`HostError::CpuUnusable`] if the kernel does not let this process run there.
pub fn pin(cpu: usize) -> Result<(), HostError> {
    let refused = |problem| HostError::CpuUnusable {
        cpu,
        problem,
        allowed: allowed_cpus().map_or_else(|_| "unknown".to_owned(), |all| format_cpu_list(&all)),
    };
    if cpu >= CpuSet::MAX_CPU {
        return Err(refused("beyond the kernel's affinity mask"));
    }
    let mut only = CpuSet::new();
    only.set(cpu);
    sched_setaffinity(None, &only).map_err(|_| refused("not online, or not allowed"))
}

/// The cores on which the calling thread may run, ascending.
///
/// # Errors
/// [`HostError::System`] if the kernel does not tell.
pub fn allowed_cpus() -> Result<Vec<usize>, HostError> {
    let mask = sched_getaffinity(None)
        .map_err(HostError::system("read the allowed cores (sched_getaffinity)"))?;
    Ok((0..CpuSet::MAX_CPU).filter(|cpu| mask.is_set(*cpu)).collect())
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
    fn a_core_that_is_not_there_is_named() {
        let error = pin(1 << 20).unwrap_err();
        assert!(error.to_string().contains("1048576"), "{error}");
    }
}
